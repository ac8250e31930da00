//! Benchmarks that compare in one run and print ratios, one file for each paper or peer.
//!
//! Times on a shared machine are noise; states, and ratios of times taken one right after the other, are not.
//! `cargo bench -p cyrano-benches --bench foil` runs one of them.

//! Two independent ways to every answer, compared.
//!
//! The reference interpreter enumerates executions from the axioms; the explorer runs an operational semantics. They share no code
//! but the IR. Here they are compared on the whole library ([`corpus`]) and on random programs ([`generate`]); every
//! violation is replayed; and with a deliberate bug in the explorer the comparison must fail.
//!
//! `cargo run --release -p cyrano-conformance -- random 20000` compares that many programs and writes each
//! disagreement, shrunk, into `library/litmus/` or, where the native language has no words for it, into this crate's `programs/`;
//! both are part of the corpus from then on. `random-c 2000` does the same with C programs ([`random_c`]) and all three engines, `units 2000` with programs of
//! sections and operations under all models and a random one each ([`models`]); both print the first disagreement, shrunk.
//! `related 20000` compares reference and symbolic engine under models about relations until that many programs were compared, and prints how many under which model
//! and with what in them ([`related`]); `twins 20000` does so with models that are written down twice ([`mod@twins`]).
//! `termination 2000` compares the explorer with brute force on programs that may not end ([`mod@termination`]).

pub mod certified;
pub mod compare;
pub mod corpus;
pub mod dress;
pub mod exchanges;
pub mod generate;
pub mod hangs;
pub mod memories;
pub mod models;
pub mod pinned;
pub mod random_c;
pub mod related;
pub mod relations;
pub mod states;
pub mod stream;
pub mod termination;
pub mod twins;
pub mod words;

pub use compare::{
    Disagreement, Effort, Tally, agree, agree_under, compare, compare_checks, compare_with, limits, outcomes_grow,
};

//! What "correct" means, independent of how executions are produced.
//!
//! - [`criterion`]: the criteria as values, and what each asks.
//! - [`history`]: histories over FOIL's alphabet of memory events, and their text form.
//! - [`oracle`]: the definitions of section 2.4.2 of FOIL, by brute force: slow and obviously right.
//! - [`monitor`]: the same criteria as small deterministic automata for n threads and k variables, for exploration.
//! - [`values`]: histories of calls and replies with values (Guerraoui and Kapalka), judged by what the reads returned.
//! - [`table`]: the criteria with their names and words, for everybody who offers or describes them.
//! - [`structure`]: FOIL's structural properties of a memory's language, for the reduction to two threads and two variables.
//! - [`spec`]: specifications as automata, the paper's two among them, and the comparison of their languages.
//!
//! This crate knows neither programs nor how histories come about.

pub mod criterion;
pub mod history;
pub mod monitor;
pub mod oracle;
pub mod spec;
pub mod structure;
pub mod table;
pub mod values;

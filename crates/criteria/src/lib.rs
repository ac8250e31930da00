//! What "correct" means, independent of how executions are produced.
//!
//! - [`atomicity`]: atomic blocks as operations, for the question whether some serial order of them ends alike.
//! - [`history`]: histories over FOIL's alphabet of memory events, and their text form.
//! - [`oracle`]: the definitions of section 2.4.2 of FOIL, by brute force: slow and obviously right.
//! - [`monitor`]: the same criteria as small deterministic automata for n threads and k variables, for exploration.
//! - [`values`]: histories of calls and replies with values (Guerraoui and Kapalka), judged by what the reads returned.
//! - [`table`]: the criteria with their names and words, for everybody who offers or describes them.
//! - [`spec`]: specifications as automata, the paper's two among them, and the comparison of their languages.
//!
//! This crate does not know how histories come about.

pub mod atomicity;
pub mod history;
pub mod monitor;
pub mod oracle;
pub mod spec;
pub mod table;
pub mod values;

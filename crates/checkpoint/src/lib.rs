//! Checkpoints: what a search needs of a disk so that it can be resumed.
//!
//! A checkpoint is a directory that one process has at a time ([`mod@lock`]), with files that only grow and are checked when they are read
//! ([`mod@files`]) of records ([`mod@log`], [`mod@record`]), and a manifest that says which bytes of them count ([`mod@manifest`]). Every manifest says which search it is of and what that
//! has found out ([`mod@heading`]); the rest is up to the search: `disk` keeps one log and sorted runs, each process of a cluster a log for
//! each of its workers.
//!
//! This crate reads and writes files, which engines do not do. It prints nothing.

mod error;
pub mod files;
pub mod heading;
mod info;
pub mod lock;
pub mod log;
pub mod manifest;
pub mod record;

pub use error::{Error, Result};
pub use info::Info;

use std::path::PathBuf;
use std::time::Duration;

/// Where and how a search is kept, so that it can be resumed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory, for this search alone; it is made if it is not there. Each process of a cluster has one of its own in it, so that all can name
    /// the same, on one file system or on many.
    pub dir: PathBuf,
    /// Whether to go on from the checkpoint there.
    pub resume: bool,
    /// How often a checkpoint is written.
    pub every: Duration,
    /// What users are told about the search, by name: names are single words.
    pub about: Vec<(String, String)>,
}

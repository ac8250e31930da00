//! Checkpoints: what a search needs of a disk so that it can be resumed.
//!
//! A checkpoint is a directory that one process has at a time ([`mod@lock`]), with files that only grow and are checked when they are read
//! ([`mod@files`]) and are made of records ([`mod@record`]), and a manifest that says which bytes of them count ([`mod@manifest`]). Every manifest says which search it is of and what that
//! has found out ([`mod@heading`]); the rest is up to the search: `disk` keeps one log and sorted runs, each process of a cluster a log for
//! each of its workers.
//!
//! This crate reads and writes files, which engines do not do. It prints nothing.

mod error;
pub mod files;
pub mod heading;
pub mod lock;
pub mod manifest;
pub mod record;

pub use error::{Error, Result};

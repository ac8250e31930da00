//! What is in a checkpoint, for people.

use std::path::Path;

use cyrano_checkpoint::Result;

use crate::saved::{End, Saved};

/// What is in a checkpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Info {
    /// Which search it is of, by name.
    pub identity: Vec<(String, String)>,
    /// What was said about it when it began, by name.
    pub about: Vec<(String, String)>,
    /// States so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// The level that is being expanded.
    pub depth: u64,
    /// States that have not been expanded.
    pub frontier: u64,
    /// How long the search has taken.
    pub seconds: f64,
    /// When it was written, in seconds since 1970.
    pub time: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many sorted runs there are.
    pub runs: usize,
    /// Whether there is anything left to do, and whether something was found.
    pub end: &'static str,
}

/// Reads the manifest of a directory. The files that it names are not looked at.
pub fn info(dir: &Path) -> Result<Info> {
    let saved = Saved::load(dir)?;
    let progress = &saved.progress;
    let (frontier, end) = match progress.end {
        End::Open => (progress.states.saturating_sub(progress.position), "not complete"),
        End::Complete => (0, "complete"),
        End::Found(..) => (progress.states.saturating_sub(progress.position), "complete: a path to show was found"),
    };
    let files = saved.runs.iter().map(|run| run.sum).chain(progress.parts).chain([progress.log]);
    Ok(Info {
        states: progress.states,
        transitions: progress.summary.transitions,
        depth: progress.depth,
        frontier,
        seconds: progress.seconds,
        time: saved.time,
        bytes: files.map(|sum| sum.length).sum(),
        runs: saved.runs.len(),
        end,
        identity: saved.heading.identity,
        about: saved.heading.about,
    })
}

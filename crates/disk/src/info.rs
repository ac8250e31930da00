//! What is in a checkpoint, for people.

use std::path::Path;

use cyrano_checkpoint::Result;

use crate::saved::{End, Saved};

/// What is in a checkpoint.
pub type Info = cyrano_checkpoint::Info<More>;

/// What only a search in files tells.
#[derive(Clone, PartialEq, Debug)]
pub struct More {
    /// The level that is being expanded.
    pub depth: u64,
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
        frontier,
        seconds: progress.seconds,
        time: saved.time,
        bytes: files.map(|sum| sum.length).sum(),
        more: More { depth: progress.depth, runs: saved.runs.len(), end },
        identity: saved.heading.identity,
        about: saved.heading.about,
    })
}

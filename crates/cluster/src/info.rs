//! What is in the parts of a cluster's checkpoints, for people.

use std::path::Path;

use cyrano_checkpoint::Result;
use cyrano_checkpoint::files::names;

use crate::part::all_in;
use crate::saved::Saved;

/// What one process has: its states, transitions from them, and its files.
pub type Info = cyrano_checkpoint::Info<Part>;

/// Which part it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Which process, and of how many.
    pub process: usize,
    /// How many processes there are.
    pub processes: usize,
    /// The levels of which it has a part, the last one first; what else is told is about that one.
    pub levels: Vec<Level>,
}

/// A checkpoint. Parts belong together if all of it is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level {
    /// How often the search was begun again because timestamps were too close together.
    pub round: u64,
    /// The level that is to be expanded next.
    pub level: u64,
    /// A random number of the run that wrote it.
    pub run: u64,
    /// Whether nothing is left to do.
    pub complete: bool,
}

/// Reads the manifests of a directory: of one process, or of those with directories in it, in their order. None if there are none. The files that the
/// manifests name are not looked at.
pub fn info(dir: &Path) -> Result<Vec<Info>> {
    let own = all_in(dir)?;
    if !own.is_empty() {
        return Ok(one(&own).into_iter().collect());
    }
    let mut found = Vec::new();
    for name in names(dir)?.iter().filter(|name| name.starts_with("process-")) {
        found.extend(one(&all_in(&dir.join(name))?));
    }
    found.sort_by_key(|info: &Info| info.more.process);
    Ok(found)
}

fn one(all: &[Saved]) -> Option<Info> {
    let saved = all.last()?;
    let number = |name: &str| {
        let line = saved.heading.identity.iter().find(|(known, _)| known == name);
        line.and_then(|(_, value)| value.parse().ok()).unwrap_or_default()
    };
    let level = |saved: &Saved| Level {
        round: saved.stamp.moment.round,
        level: saved.stamp.moment.level(),
        run: saved.stamp.run,
        complete: saved.complete,
    };
    Some(Info {
        identity: saved.heading.identity.clone(),
        about: saved.heading.about.clone(),
        states: saved.pieces.iter().map(|piece| piece.states).sum(),
        transitions: saved.pieces.iter().map(|piece| piece.summary.transitions).sum(),
        frontier: saved.pieces.iter().map(|piece| piece.frontier).sum(),
        seconds: saved.seconds,
        time: saved.written,
        bytes: saved.pieces.iter().map(|piece| piece.log.length).sum(),
        more: Part {
            process: number("process"),
            processes: number("processes"),
            levels: all.iter().rev().map(level).collect(),
        },
    })
}

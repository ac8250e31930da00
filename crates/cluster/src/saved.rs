//! What one process's part of a checkpoint says: which search it is of, of which moment, and what each of its workers had then.
//!
//! **Invariant:** parts belong together if and only if they have the same [`Stamp`]. Levels alone do not say so: two runs of the same search
//! have the same states in a level, but find them in another order and so give them other places.

use std::path::Path;

use cyrano_checkpoint::files::Sum;
use cyrano_checkpoint::heading::{Heading, add_summary, numbers, read_summary};
use cyrano_checkpoint::manifest::Manifest;
use cyrano_checkpoint::{Error, Result};
use cyrano_explore::Summary;

/// A moment of a search: everybody has all states of a level, and none of them was expanded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment {
    /// How often the search was begun again because timestamps were too close together.
    pub round: u64,
    /// The time of the level; level 0 has time 1.
    pub time: u64,
}

impl Moment {
    /// The level, as users know it.
    pub fn level(self) -> u64 {
        self.time.saturating_sub(1)
    }

    /// The name of its manifest.
    pub fn name(self) -> String {
        format!("level-{}-{}", self.round, self.level())
    }

    /// The moment of a manifest with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let (round, level) = name.strip_prefix("level-")?.split_once('-')?;
        let moment = Self { round: round.parse().ok()?, time: level.parse::<u64>().ok()?.checked_add(1)? };
        // Only one name is that of a moment.
        (moment.name() == name).then_some(moment)
    }
}

/// What tells a checkpoint from all others: when it was written, and by which run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Stamp {
    pub moment: Moment,
    /// A random number of the run that wrote it.
    pub run: u64,
}

/// What one worker had.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Piece {
    /// The file with its states.
    pub log: Sum,
    pub states: u64,
    /// How many of them, the last ones, were not expanded.
    pub frontier: u64,
    pub depth: u64,
    /// What was found out when the others were.
    pub summary: Summary,
}

/// A part of a checkpoint.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Saved {
    pub heading: Heading,
    pub stamp: Stamp,
    /// Whether nothing is left to do.
    pub complete: bool,
    pub seconds: f64,
    /// Seconds since 1970.
    pub written: u64,
    /// For each worker of the process.
    pub pieces: Vec<Piece>,
}

impl Saved {
    pub fn save(&self, dir: &Path) -> Result<()> {
        let mut out = Manifest::default();
        self.heading.add_to(&mut out);
        out.add("round", self.stamp.moment.round);
        out.add("time", self.stamp.moment.time);
        out.add("run", self.stamp.run);
        out.add("complete", self.complete);
        out.add("seconds", self.seconds);
        out.add("written", self.written);
        out.add("workers", self.pieces.len());
        for (worker, piece) in self.pieces.iter().enumerate() {
            let Piece { log, states, frontier, depth, summary } = piece;
            out.add(&format!("log-{worker}"), log);
            out.add(&format!("places-{worker}"), format_args!("{states} {frontier} {depth}"));
            add_summary(&mut out, &format!("-{worker}"), summary);
        }
        out.save_as(dir, &self.stamp.moment.name())
    }

    pub fn load(dir: &Path, moment: Moment) -> Result<Self> {
        let text = Manifest::load_as(dir, &moment.name())?;
        let found = Moment { round: text.need("round")?, time: text.need("time")? };
        if found != moment {
            return Err(text.wrong("it is of another level than its name says"));
        }
        let heading = Heading::of(&text)?;
        if heading.widened.len() as u64 != moment.round {
            return Err(text.senseless("widened"));
        }
        let workers: usize = text.need("workers")?;
        let pieces: Result<Vec<Piece>> = (0..workers).map(|worker| piece(&text, worker)).collect();
        Ok(Self {
            heading,
            stamp: Stamp { moment, run: text.need("run")? },
            complete: text.need("complete")?,
            seconds: text.need("seconds")?,
            written: text.need("written")?,
            pieces: pieces?,
        })
    }
}

/// What a manifest says about a worker.
fn piece(text: &Manifest, worker: usize) -> Result<Piece> {
    let wrong = || -> Error { text.senseless(&format!("places-{worker}")) };
    let places = text.get(&format!("places-{worker}")).and_then(numbers::<u64>);
    let Some(&[states, frontier, depth]) = places.as_deref() else { return Err(wrong()) };
    if frontier > states {
        return Err(wrong());
    }
    let summary = read_summary(text, &format!("-{worker}"))?;
    let log = text.need(&format!("log-{worker}"))?;
    Ok(Piece { log, states, frontier, depth, summary })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let summary = Summary {
            transitions: 7,
            ended: true,
            outcomes: [vec![1, -2], vec![]].into(),
            notes: 5,
            limited: Some((1, 9)),
        };
        let log = Sum { length: 1, blocks: 2, chain: u64::MAX };
        let piece = Piece { log, states: 10, frontier: 4, depth: 3, summary };
        let moment = Moment { round: 1, time: 5 };
        let saved = Saved {
            heading: Heading {
                identity: vec![("version".into(), "1 2".into())],
                about: vec![("file".into(), "a\nb".into())],
                widened: vec![3],
            },
            stamp: Stamp { moment, run: 77 },
            complete: false,
            seconds: 1.5,
            written: 12,
            pieces: vec![piece, Piece::default()],
        };
        saved.save(dir.path()).expect("it can be saved");
        assert_eq!(Saved::load(dir.path(), moment).ok(), Some(saved));
        let manifest = Manifest::load_as(dir.path(), "level-1-4").expect("it is there");
        manifest.save_as(dir.path(), "level-1-6").expect("it can be saved");
        assert!(matches!(Saved::load(dir.path(), Moment { round: 1, time: 7 }), Err(Error::Damaged { .. })));
    }

    #[test]
    fn names_of_moments() {
        let moment = Moment { round: 2, time: 14 };
        assert_eq!(moment.name(), "level-2-13");
        assert_eq!(Moment::of_name("level-2-13"), Some(moment));
        for other in
            ["level-2-13.new", "level-2", "level-02-13", "level-2--1", "states-0-0", "level-2-18446744073709551615"]
        {
            assert_eq!(Moment::of_name(other), None, "{other}");
        }
    }
}

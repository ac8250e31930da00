//! One process's part of the checkpoints of a search: a directory with a log for each worker and a manifest for each of the last two moments.
//!
//! **A checkpoint is of use only if all processes have it.** Everybody writes its part when it begins a level that was marked
//! ([`crate::checkpointer`]), and nobody begins the level behind that one before all parts are on their disks. So when somebody writes a
//! part, all have that of the checkpoint before; two of them are kept, and whenever a crash happens, whatever it
//! hits, there is one that all have.
//!
//! **Invariant:** a manifest names what is on the disk: logs are synced before it takes its name, and it is gone before they are cut. Logs only
//! grow, so that what the older manifest names is the beginning of what the newer one does. A log belongs to one round; the first
//! checkpoint of a new round leaves those of the old one as they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cyrano_checkpoint::files::{make_dir, names, remove, sync_dir};
use cyrano_checkpoint::heading::{Heading, must_agree, now};
use cyrano_checkpoint::lock::Lock;
use cyrano_checkpoint::{Error, Result};

use crate::Settings;
use crate::log;
use crate::saved::{Moment, Piece, Saved, Stamp};

/// How many checkpoints are kept.
const KEPT: usize = 2;

/// The directory of a process in that of all.
pub(crate) fn directory(dir: &Path, process: usize) -> PathBuf {
    dir.join(format!("process-{process}"))
}

/// A directory that is ours.
pub(crate) struct Part {
    dir: PathBuf,
    every: Duration,
    resume: bool,
    identity: Vec<(String, String)>,
    about: Vec<(String, String)>,
    workers: usize,
    started: Instant,
    /// What was there when it was opened, by age.
    found: Vec<Saved>,
    state: Mutex<PartState>,
    _lock: Lock,
}

#[derive(Default)]
struct PartState {
    /// The random number of this run, when it has begun.
    run: Option<u64>,
    widened: Vec<u32>,
    /// Seconds that runs before took.
    seconds: f64,
    /// The manifests that are there, by age.
    kept: Vec<Moment>,
    /// What workers have handed in for a checkpoint that is not complete.
    waiting: BTreeMap<Moment, Vec<Option<Piece>>>,
    remarks: Vec<String>,
}

impl Part {
    /// Takes a directory. What is in it must be of the search with this identity, and there must be nothing if the search is a new one.
    pub fn open(settings: &Settings, process: usize, workers: usize, identity: Vec<(String, String)>) -> Result<Self> {
        let dir = directory(&settings.dir, process);
        make_dir(&dir)?;
        let lock = Lock::take(&dir)?;
        let found = all_in(&dir)?;
        if !settings.resume && !found.is_empty() {
            return Err(Error::Occupied(dir));
        }
        for saved in &found {
            must_agree(&saved.heading.identity, &identity)?;
            if saved.pieces.len() != workers {
                let what = format!("{}: it has another number of workers than it says", saved.stamp.moment.name());
                return Err(Error::damaged(&dir, what));
            }
        }
        let kept = found.iter().map(|saved| saved.stamp.moment).collect();
        Ok(Self {
            dir,
            every: settings.every,
            resume: settings.resume,
            identity,
            about: settings.about.clone(),
            workers,
            started: Instant::now(),
            found,
            state: Mutex::new(PartState { kept, ..PartState::default() }),
            _lock: lock,
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How often a checkpoint is wanted.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// Whether to go on from a checkpoint.
    pub fn resumes(&self) -> bool {
        self.resume
    }

    /// The checkpoints of which it has a part.
    pub fn offers(&self) -> impl Iterator<Item = Stamp> {
        self.found.iter().map(|saved| saved.stamp)
    }

    /// Its part of a checkpoint.
    pub fn saved(&self, moment: Moment) -> Option<&Saved> {
        self.found.iter().find(|saved| saved.stamp.moment == moment)
    }

    /// Whether there is a checkpoint to go on from.
    pub fn has_checkpoint(&self) -> bool {
        !self.state().kept.is_empty()
    }

    /// How long the search has taken, with what was before.
    pub fn seconds(&self) -> f64 {
        self.state().seconds + self.started.elapsed().as_secs_f64()
    }

    /// Remembers something that users should know.
    pub fn remark(&self, text: String) {
        let remarks = &mut self.state().remarks;
        if !remarks.contains(&text) {
            remarks.push(text);
        }
    }

    /// What users should know.
    pub fn remarks(&self) -> Vec<String> {
        self.state().remarks.clone()
    }

    fn state(&self) -> MutexGuard<'_, PartState> {
        self.state.lock().expect("nobody panics while holding the state")
    }

    /// Begins a run with this number, perhaps from a checkpoint: newer parts, which not all processes have, are removed. Every worker does so
    /// before it touches its log; the first one counts.
    pub fn begin(&self, run: u64, from: Option<Moment>) -> Result<()> {
        let mut state = self.state();
        if state.run == Some(run) {
            return Ok(());
        }
        if let Some(saved) = from.and_then(|moment| self.saved(moment)) {
            state.widened.clone_from(&saved.heading.widened);
            state.seconds = saved.seconds;
        }
        self.remove_newer(&mut state, from)?;
        state.run = Some(run);
        Ok(())
    }

    /// The search begins again, for the reason in these notes; `last` is the last checkpoint that all processes have. It stays until there are
    /// new ones. Every worker says so; the first one counts.
    pub fn widen(&self, round: u64, notes: u32, last: Option<Moment>) -> Result<()> {
        let mut state = self.state();
        if state.widened.len() as u64 == round {
            self.remove_newer(&mut state, last)?;
            state.waiting.clear();
            state.widened.push(notes);
        }
        Ok(())
    }

    /// Removes parts of checkpoints that not all processes have.
    fn remove_newer(&self, state: &mut PartState, last: Option<Moment>) -> Result<()> {
        while let Some(newest) = state.kept.last().copied().filter(|newest| Some(*newest) > last) {
            remove(&self.dir.join(newest.name()))?;
            state.kept.pop();
        }
        sync_dir(&self.dir)
    }

    /// Takes what a worker of this process has to say, its log being on the disk; the last one writes the manifest.
    pub fn hand_in(&self, moment: Moment, local: usize, piece: Piece, complete: bool) -> Result<()> {
        let mut state = self.state();
        let pieces = state.waiting.entry(moment).or_insert_with(|| vec![None; self.workers]);
        pieces[local] = Some(piece);
        if pieces.iter().any(Option::is_none) {
            return Ok(());
        }
        let pieces = state.waiting.remove(&moment).unwrap_or_default().into_iter().flatten().collect();
        let widened = state.widened.iter().take(moment.round as usize).copied().collect();
        let saved = Saved {
            heading: Heading { identity: self.identity.clone(), about: self.about.clone(), widened },
            stamp: Stamp { moment, run: state.run.unwrap_or_default() },
            complete,
            seconds: state.seconds + self.started.elapsed().as_secs_f64(),
            written: now(),
            pieces,
        };
        saved.save(&self.dir)?;
        // The last level may be written twice: when it begins, being marked, and as the end of the search.
        if state.kept.last() != Some(&moment) {
            state.kept.push(moment);
        }
        self.forget(&mut state);
        Ok(())
    }

    /// Removes what is too old to be needed. What cannot be removed is in nobody's way.
    fn forget(&self, state: &mut PartState) {
        while state.kept.len() > KEPT {
            let _ = remove(&self.dir.join(state.kept.remove(0).name()));
        }
        let needed = |round: u64| state.kept.iter().any(|moment| moment.round == round);
        for name in names(&self.dir).unwrap_or_default() {
            if name.ends_with(".new") || log::round_of_name(&name).is_some_and(|round| !needed(round)) {
                let _ = remove(&self.dir.join(name));
            }
        }
    }
}

/// The parts of checkpoints in a directory, by age. One that was never finished has no such name.
pub(crate) fn all_in(dir: &Path) -> Result<Vec<Saved>> {
    let mut moments: Vec<Moment> = names(dir)?.iter().filter_map(|name| Moment::of_name(name)).collect();
    moments.sort();
    moments.into_iter().map(|moment| Saved::load(dir, moment)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(dir: &Path, resume: bool) -> Settings {
        Settings { dir: dir.to_owned(), resume, every: Duration::ZERO, about: Vec::new() }
    }

    fn identity(version: &str) -> Vec<(String, String)> {
        vec![("version".to_owned(), version.to_owned())]
    }

    fn open(dir: &Path, resume: bool) -> Result<Part> {
        Part::open(&settings(dir, resume), 1, 2, identity("1"))
    }

    fn levels(part: &Part) -> Vec<u64> {
        part.offers().map(|stamp| stamp.moment.level()).collect()
    }

    #[test]
    fn the_last_two_are_kept_and_newer_ones_are_forgotten() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let part = open(dir.path(), false).expect("it is empty");
        part.begin(7, None).expect("it can begin");
        let write = |part: &Part, round: u64, level: u64| {
            let moment = Moment { round, time: level + 1 };
            part.hand_in(moment, 1, Piece::default(), false).expect("it can be written");
            assert!(Saved::load(part.dir(), moment).is_err(), "one worker is missing");
            part.hand_in(moment, 0, Piece::default(), false).expect("it can be written");
        };
        drop(cyrano_checkpoint::files::Appender::create(log::path(part.dir(), 0, 0)).expect("it can be written"));
        [0, 3, 4].iter().for_each(|level| write(&part, 0, *level));
        let again = Moment { round: 0, time: 5 };
        (0..2).for_each(|local| part.hand_in(again, local, Piece::default(), true).expect("it can be written"));
        assert!(open(dir.path(), true).is_err(), "somebody has it");
        drop(part);
        assert!(matches!(open(dir.path(), false), Err(Error::Occupied(_))));
        let other = Part::open(&settings(dir.path(), true), 1, 2, identity("2"));
        assert!(matches!(other, Err(Error::Different(lines)) if lines[0].contains("version: the checkpoint has 1")));
        let part = open(dir.path(), true).expect("it can be opened");
        assert_eq!(levels(&part), [3, 4]);
        part.begin(8, Some(Moment { round: 0, time: 4 })).expect("it can begin");
        drop(part);
        let part = open(dir.path(), true).expect("it can be opened");
        assert_eq!(levels(&part), [3]);
        // A new round: the old log stays until no manifest names it.
        part.begin(9, Some(Moment { round: 0, time: 4 })).expect("it can begin");
        for _ in 0..2 {
            part.widen(0, 1, Some(Moment { round: 0, time: 4 })).expect("nothing is in the way");
        }
        write(&part, 1, 0);
        assert!(log::path(part.dir(), 0, 0).exists());
        write(&part, 1, 1);
        assert!(!log::path(part.dir(), 0, 0).exists());
        drop(part);
        let found = all_in(&directory(dir.path(), 1)).expect("they can be read");
        let stamps: Vec<_> = found.iter().map(|saved| (saved.stamp.moment.round, saved.stamp.run)).collect();
        assert_eq!(stamps, [(1, 9), (1, 9)]);
    }
}

//! The visited set: tables in memory and, when these are full, sorted runs on disk with delayed duplicate detection.
//!
//! A state belongs to one of [`PARTS`] parts by its hash; parts know nothing of each other. A part has a table of recent states and
//! runs of older ones. A state that is found and is not in the table is put there and is *pending*: it may be in a run. Pending states are settled
//! all at once: they are sorted and compared with each run in one pass ([`crate::runs`]); those in no run are new and go to the log. Where there
//! are no runs yet, all pending states are new.
//!
//! **Invariant:** every state of the log is in exactly one run or in a table, unmarked, and never in two places. States with numbers below
//! `in_runs` are in runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use cyrano_checkpoint::files::Reader;
use cyrano_checkpoint::{Error, Result};

use crate::budget::Budget;
use crate::log::{Log, Out};
use crate::record;
use crate::runs::{self, Run, Writer};
use crate::sort::{Entry, sort};
use crate::table::{Address, Batch, Table};

/// How many parts there are.
pub(crate) const PARTS: usize = 16;
/// With fewer pending states than this one worker is enough.
const WORTH_SHARING: usize = 1 << 13;
/// So many runs of about the same size become one.
const ALIKE: usize = 4;
/// A part never has more runs than this.
const MOST_RUNS: usize = 12;

/// The part of a state.
#[inline]
pub(crate) fn part_of(hash: u64) -> usize {
    (hash >> 60) as usize
}

/// The states of one part.
#[derive(Default)]
pub(crate) struct Part {
    table: Table,
    /// Where pending states begin, and how many are before.
    mark: Address,
    settled: usize,
    pub runs: Vec<Run>,
}

/// The visited set.
pub(crate) struct Store {
    dir: PathBuf,
    pub budget: Budget,
    parts: Vec<Mutex<Part>>,
    pub log: Mutex<Log>,
    pub reader: Reader,
    /// States with smaller numbers are in runs.
    pub in_runs: u64,
    next_run: AtomicU64,
    /// Runs that the manifest on disk names, and nobody else.
    garbage: Mutex<Vec<Run>>,
    workers: usize,
}

impl Store {
    pub fn new(dir: &Path, log: Log, memory: u64, workers: usize) -> Result<Self> {
        let reader = log.reader()?;
        Ok(Self {
            dir: dir.to_owned(),
            budget: Budget::new(memory, PARTS, workers),
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            log: Mutex::new(log),
            reader,
            in_runs: 0,
            next_run: AtomicU64::new(0),
            garbage: Mutex::default(),
            workers,
        })
    }

    /// Gives a part a run that was read.
    pub fn adopt(&mut self, part: usize, run: Run) {
        self.budget.take(run.bytes());
        let next = self.next_run.get_mut();
        *next = (*next).max(run.number + 1);
        self.parts[part].get_mut().expect("nobody panics with a part").runs.push(run);
    }

    pub fn part(&self, part: usize) -> MutexGuard<'_, Part> {
        self.parts[part].lock().expect("nobody panics with a part")
    }

    /// The log.
    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("nobody panics with the log")
    }

    /// Inserts the states of a batch, all of one part.
    pub fn insert(&self, part: usize, batch: &mut Batch) {
        if !batch.is_empty() {
            self.part(part).table.insert(batch, &self.budget);
        }
    }

    /// All states in tables are known to be new, and in the log.
    pub fn accept(&mut self) {
        for part in &mut self.parts {
            part.get_mut().expect("nobody panics with a part").accept();
        }
    }

    /// How many states are pending.
    pub fn pending(&self) -> usize {
        (0..PARTS).map(|part| self.part(part).pending()).sum()
    }

    /// Settles pending states: those that are new are in the log then.
    pub fn settle(&self) -> Result<()> {
        let workers = if self.pending() < WORTH_SHARING { 1 } else { self.workers };
        self.for_each_part(workers, || Out::new(&self.log), |_, part, out| part.settle(out), Out::flush)
    }

    /// Writes everything that is in tables to runs, and empties the tables. If it fails, nothing has changed. Nothing must be pending.
    pub fn spill(&mut self) -> Result<()> {
        let states = self.log().states();
        self.spill_up_to(states)
    }

    /// The same for tables that have the states with smaller numbers.
    pub fn spill_up_to(&mut self, states: u64) -> Result<()> {
        let written = Mutex::new(Vec::new());
        let one = |number: usize, part: &mut Part, _: &mut ()| {
            if let Some(run) = part.write(&self.dir, self.new_number())? {
                written.lock().expect("nobody panics with runs").push((number, run));
            }
            Ok(())
        };
        let all = self.for_each_part(self.workers, || (), one, |()| Ok(()));
        let written = written.into_inner().expect("nobody panics with runs");
        if let Err(error) = all {
            written.iter().for_each(|(_, run)| run.remove());
            return Err(error);
        }
        for (number, run) in written {
            self.budget.take(run.bytes());
            self.part(number).runs.push(run);
        }
        for part in 0..PARTS {
            self.part(part).clear(&self.budget);
        }
        self.in_runs = states;
        self.budget.relax();
        self.merge()
    }

    /// Makes one run of several where there are many. No room on the disk is no reason to stop: merging only saves time.
    fn merge(&self) -> Result<()> {
        let one = |_: usize, part: &mut Part, _: &mut ()| {
            let from = part.worth_merging();
            if part.runs.len() - from < 2 {
                return Ok(());
            }
            let number = self.new_number();
            match Writer::create(&self.dir, number).and_then(|out| runs::merge(&part.runs[from..], out)) {
                Ok(run) => {
                    self.budget.take(run.bytes());
                    let old: Vec<Run> = part.runs.splice(from.., [run]).collect();
                    self.discard(old);
                    Ok(())
                }
                Err(Error::Full { .. }) => {
                    let _ = std::fs::remove_file(runs::path(&self.dir, number));
                    Ok(())
                }
                Err(error) => Err(error),
            }
        };
        self.for_each_part(self.workers, || (), one, |()| Ok(()))
    }

    fn discard(&self, runs: Vec<Run>) {
        let mut garbage = self.garbage.lock().expect("nobody panics with runs");
        for run in runs {
            self.budget.give(run.bytes());
            if run.named { garbage.push(run) } else { run.remove() }
        }
    }

    fn new_number(&self) -> u64 {
        self.next_run.fetch_add(1, Ordering::Relaxed)
    }

    /// Has everything on the disk itself that a manifest may name.
    pub fn sync(&self) -> Result<()> {
        self.log().sync()?;
        for part in 0..PARTS {
            self.part(part).runs.iter().filter(|run| !run.named).try_for_each(Run::sync)?;
        }
        Ok(())
    }

    /// A manifest that names all runs is on the disk: others can go.
    pub fn named(&self) {
        for part in 0..PARTS {
            self.part(part).runs.iter_mut().for_each(|run| run.named = true);
        }
        let garbage = std::mem::take(&mut *self.garbage.lock().expect("nobody panics with runs"));
        garbage.iter().for_each(Run::remove);
    }

    /// Bytes of files that only wait for the next manifest.
    pub fn garbage(&self) -> u64 {
        self.garbage.lock().expect("nobody panics with runs").iter().map(|run| run.sum.length).sum()
    }

    /// Removes files of runs that are not ours: left over by a crash.
    pub fn sweep(&self) {
        let parts = (0..PARTS).map(|part| self.part(part).runs.iter().map(|run| run.number).collect::<Vec<_>>());
        sweep(&self.dir, &parts.flatten().collect());
    }

    /// Does something with every part, by several workers, each with something of its own.
    fn for_each_part<W>(
        &self,
        workers: usize,
        start: impl Fn() -> W + Sync,
        work: impl Fn(usize, &mut Part, &mut W) -> Result<()> + Sync,
        end: impl Fn(&mut W) -> Result<()> + Sync,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut own = start();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= PARTS {
                    return end(&mut own);
                }
                work(number, &mut self.part(number), &mut own)?;
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(worker)).collect();
            let mut all = worker();
            for other in others {
                all = all.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        })
    }
}

/// Removes the files of runs but for these.
pub(crate) fn sweep(dir: &Path, keep: &BTreeSet<u64>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("run-")).and_then(|text| text.parse().ok());
        if number.is_some_and(|number: u64| !keep.contains(&number)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Part {
    fn pending(&self) -> usize {
        self.table.len() - self.settled
    }

    fn accept(&mut self) {
        self.mark = self.table.end();
        self.settled = self.table.len();
    }

    fn settle(&mut self, out: &mut Out<'_>) -> Result<()> {
        if self.pending() == 0 {
            return Ok(());
        }
        if !self.runs.is_empty() {
            self.mark_old()?;
        }
        let mut done = Ok(());
        self.table.for_each(self.mark, |_, record| {
            if done.is_ok() && !record::is_old(record) {
                done = out.push(record);
            }
        });
        done?;
        self.accept();
        Ok(())
    }

    /// Marks the pending states that are in runs.
    fn mark_old(&mut self) -> Result<()> {
        let mut entries = Vec::with_capacity(self.pending());
        self.table.for_each(self.mark, |address, _| entries.push(Entry::new(address)));
        sort(&mut entries, |address| self.table.state(address));
        for run in &self.runs {
            let mut old = Vec::new();
            run.join(entries.len(), |at| self.table.state(entries[at].address), |at| old.push(at))?;
            let mut old = old.into_iter().peekable();
            let mut at = 0;
            entries.retain(|entry| {
                let known = old.next_if_eq(&at).is_some();
                at += 1;
                if known {
                    self.table.mark_old(entry.address);
                }
                !known
            });
        }
        Ok(())
    }

    /// Writes the states that are in no run as one. Nothing must be pending.
    fn write(&self, dir: &Path, number: u64) -> Result<Option<Run>> {
        let mut entries = Vec::with_capacity(self.table.len());
        self.table.for_each(Address::default(), |address, record| {
            if !record::is_old(record) {
                entries.push(Entry::new(address));
            }
        });
        if entries.is_empty() {
            return Ok(None);
        }
        sort(&mut entries, |address| self.table.state(address));
        let run = Writer::create(dir, number).and_then(|mut out| {
            entries.iter().try_for_each(|entry| out.push(self.table.state(entry.address)))?;
            out.finish()
        });
        if run.is_err() {
            let _ = std::fs::remove_file(runs::path(dir, number));
        }
        run.map(Some)
    }

    fn clear(&mut self, budget: &Budget) {
        self.table.clear(budget);
        self.accept();
    }

    /// From which run on it is worth to make one of them: where they are alike, or too many.
    fn worth_merging(&self) -> usize {
        let count = self.runs.len();
        let mut from = count.saturating_sub(1);
        let mut states = self.runs.last().map_or(0, |run| run.states);
        while from > 0 && self.runs[from - 1].states <= 2 * states {
            from -= 1;
            states += self.runs[from].states;
        }
        match count {
            _ if count - from >= ALIKE => from,
            _ if count > MOST_RUNS => from.min(count - ALIKE),
            _ => count,
        }
    }
}

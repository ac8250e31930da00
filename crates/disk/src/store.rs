//! The visited set: the explorer's table in memory and, when that is full, sorted runs on disk with delayed duplicate detection.
//!
//! A state that is found and is not in the table is put there and is *pending*: it may be in a run. Pending states are settled
//! all at once: they are sorted and compared with each run in one pass ([`crate::runs`]); those in no run are new and go to the log. Where there
//! are no runs yet, all pending states are new.
//!
//! Runs belong to one of [`PARTS`] parts, by the hashes of their states, so that several workers can sort and merge, and that what is sorted
//! at a time is a part of all. The part of a state stands beside its parent in the table.
//!
//! **Invariant:** every state of the log is in exactly one run or in the table, unmarked, and never in two places. States with numbers below
//! `in_runs` are in runs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cyrano_checkpoint::files::{Reader, names};
use cyrano_checkpoint::log::Log;
use cyrano_checkpoint::{Error, Result};
use cyrano_explore::Explore;
use cyrano_explore::store::{Address, ByteKeys, Store as Table, Writer, bytes_hash};

use crate::budget::Budget;
use crate::log::NO_PARENT;
use crate::runs::{self, Run};
use crate::sort::{Entry, sort};

/// How many parts there are.
pub(crate) const PARTS: usize = 16;
/// With fewer pending states than this one worker is enough.
const WORTH_SHARING: u64 = 1 << 13;
/// So many runs of about the same size become one.
const ALIKE: usize = 4;
/// A part never has more runs than this.
const MOST_RUNS: usize = 12;

/// Bytes of what the table keeps with a state: the number of its parent, its part, and whether it turned out to be an old one.
const BESIDE: usize = 6;
const PART: u64 = NO_PARENT + 1;
const OLD: u64 = 1 << 47;

/// Adds a state to those that wait for their insertion.
#[inline]
pub(crate) fn push(keys: &mut ByteKeys, parent: u64, state: &[u8]) {
    let hash = bytes_hash(state);
    keys.push_hashed(hash, Address(parent + (hash >> 60) * PART), state);
}

/// The visited set.
pub(crate) struct Store {
    dir: PathBuf,
    table: Table<BESIDE>,
    pub budget: Budget,
    /// The records of the table: those that are settled, and those that are pending.
    settled: Vec<Range<u64>>,
    pending: Vec<Range<u64>>,
    /// How many are settled.
    settled_states: u64,
    runs: Vec<Vec<Run>>,
    pub log: Log,
    pub reader: Reader,
    /// States with smaller numbers are in runs.
    pub in_runs: u64,
    next_run: AtomicU64,
    /// Runs that the manifest on disk names, and nobody else.
    garbage: Vec<Run>,
    workers: usize,
}

impl Store {
    pub fn new(dir: &Path, log: Log, explore: &Explore, memory: u64, workers: usize) -> Result<Self> {
        let (reader, budget) = (log.reader()?, Budget::new(memory, PARTS, workers));
        Ok(Self {
            dir: dir.to_owned(),
            table: Table::in_chunks(budget.chunk, explore, workers),
            budget,
            settled: Vec::new(),
            pending: Vec::new(),
            settled_states: 0,
            runs: (0..PARTS).map(|_| Vec::new()).collect(),
            log,
            reader,
            in_runs: 0,
            next_run: AtomicU64::new(0),
            garbage: Vec::new(),
            workers,
        })
    }

    /// Gives a part a run that was read.
    pub fn adopt(&mut self, part: usize, run: Run) {
        let next = self.next_run.get_mut();
        *next = (*next).max(run.number + 1);
        self.add_run(part, run);
    }

    fn add_run(&mut self, part: usize, run: Run) {
        self.budget.runs += run.bytes();
        self.runs[part].push(run);
    }

    /// All runs, each with its part.
    pub fn runs(&self) -> impl Iterator<Item = (usize, &Run)> {
        self.runs.iter().enumerate().flat_map(|(part, runs)| runs.iter().map(move |run| (part, run)))
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> u64 {
        self.budget.bytes(self.table.bytes())
    }

    /// Whether more memory is in use than there should be.
    pub fn is_full(&self) -> bool {
        self.table.bytes() > self.budget.room()
    }

    /// How many states are pending.
    pub fn pending(&self) -> u64 {
        self.table.len().saturating_sub(self.settled_states)
    }

    /// The longest state that fits.
    pub fn longest(&self) -> usize {
        self.table.longest()
    }

    /// Inserts states while others do so too. False if there is no room for all; then some are left.
    #[inline]
    pub fn insert(&self, keys: &mut ByteKeys, writer: &mut Writer) -> bool {
        self.table.insert(keys, writer)
    }

    /// Takes note of what a writer has written. Before anything else is done with the states, for all writers.
    pub fn gather(&mut self, writer: &mut Writer) {
        self.table.settle(writer);
        self.pending.extend(writer.take_spans().into_iter().map(|span| span.range));
    }

    /// Makes room in the table; false if there is no memory for that.
    pub fn make_room(&mut self) -> bool {
        self.table.make_room::<ByteKeys>(self.budget.room(), self.workers)
    }

    /// The same with more memory than there should be.
    pub fn force_room(&mut self) -> bool {
        self.table.make_room::<ByteKeys>(u64::MAX, self.workers)
    }

    /// All states in the table are known to be new, and in the log.
    pub fn accept(&mut self) {
        self.settled.append(&mut self.pending);
        self.settled_states = self.table.len();
    }

    /// Settles pending states: those that are new are in the log then.
    pub fn settle(&mut self) -> Result<()> {
        if !self.pending.is_empty() && self.runs().next().is_some() {
            self.mark_old()?;
        }
        let Self { table, pending, log, .. } = self;
        log.forget_waiting();
        for at in records(table, pending).filter(|at| table.parent(*at).0 & OLD == 0) {
            log.push(table.parent(at).0 & NO_PARENT, table.state(at))?;
        }
        log.flush()?;
        self.accept();
        Ok(())
    }

    /// Marks the pending states that are in runs.
    fn mark_old(&mut self) -> Result<()> {
        let workers = if self.pending() < WORTH_SHARING { 1 } else { self.workers };
        let (found, done) = self.for_each_part(workers, |part| {
            let mut entries = self.sorted(&self.pending, part);
            let mut all = Vec::new();
            for run in &self.runs[part] {
                let mut old = Vec::new();
                run.join(entries.len(), |at| self.table.state(entries[at].address), |at| old.push(at))?;
                all.extend(old.iter().map(|at| entries[*at].address));
                let (mut old, mut at) = (old.into_iter().peekable(), 0..entries.len());
                entries.retain(|_| at.next().is_none_or(|at| old.next_if_eq(&at).is_none()));
            }
            Ok(all)
        });
        done?;
        for at in found.into_iter().flat_map(|(_, old)| old) {
            self.table.set_parent(at, Address(self.table.parent(at).0 | OLD));
        }
        Ok(())
    }

    /// The records of a part among these that are not old, by their states.
    fn sorted(&self, spans: &[Range<u64>], part: usize) -> Vec<Entry> {
        let wanted = |at: &Address| self.table.parent(*at).0 & !NO_PARENT == part as u64 * PART;
        let mut entries: Vec<Entry> = records(&self.table, spans).filter(wanted).map(Entry::new).collect();
        sort(&mut entries, |address| self.table.state(address));
        entries
    }

    /// Writes everything that is in the table to runs, and empties it. If it fails, nothing has changed. Nothing must be pending; writers have to begin
    /// anew.
    pub fn spill(&mut self) -> Result<()> {
        self.spill_up_to(self.log.records())
    }

    /// The same for a table that has the states with smaller numbers.
    pub fn spill_up_to(&mut self, states: u64) -> Result<()> {
        let (written, done) = self.for_each_part(self.workers, |part| self.write(part));
        let written = written.into_iter().filter_map(|(part, run)| run.map(|run| (part, run)));
        if let Err(error) = done {
            written.for_each(|(_, run)| run.remove());
            return Err(error);
        }
        written.for_each(|(part, run)| self.add_run(part, run));
        self.settled.clear();
        self.settled_states = 0;
        self.table.clear(self.budget.room() / 2);
        self.in_runs = states;
        self.merge()
    }

    /// Writes the settled states of a part as one run.
    fn write(&self, part: usize) -> Result<Option<Run>> {
        let entries = self.sorted(&self.settled, part);
        if entries.is_empty() {
            return Ok(None);
        }
        self.new_run(|mut out| {
            entries.iter().try_for_each(|entry| out.push(self.table.state(entry.address)))?;
            out.finish()
        })
        .map(Some)
    }

    /// Makes one run of several where there are many. No room on the disk is no reason to stop: merging only saves time.
    fn merge(&mut self) -> Result<()> {
        let (merged, done) = self.for_each_part(self.workers, |part| {
            let from = worth_merging(&self.runs[part]);
            if self.runs[part].len() - from < 2 {
                return Ok(None);
            }
            match self.new_run(|out| runs::merge(&self.runs[part][from..], out)) {
                Ok(run) => Ok(Some((from, run))),
                Err(Error::Full { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        });
        for (part, merged) in merged {
            let Some((from, run)) = merged else { continue };
            for old in self.runs[part].split_off(from) {
                self.budget.runs -= old.bytes();
                if old.named { self.garbage.push(old) } else { old.remove() }
            }
            self.add_run(part, run);
        }
        done
    }

    /// A new run; nothing is left of one that fails.
    fn new_run(&self, write: impl FnOnce(runs::Writer) -> Result<Run>) -> Result<Run> {
        let number = self.next_run.fetch_add(1, Ordering::Relaxed);
        let run = runs::Writer::create(&self.dir, number).and_then(write);
        if run.is_err() {
            let _ = std::fs::remove_file(runs::path(&self.dir, number));
        }
        run
    }

    /// Has everything on the disk itself that a manifest may name.
    pub fn sync(&self) -> Result<()> {
        self.log.sync()?;
        self.runs().filter(|(_, run)| !run.named).try_for_each(|(_, run)| run.sync())
    }

    /// A manifest that names all runs is on the disk: others can go.
    pub fn named(&mut self) {
        self.runs.iter_mut().flatten().for_each(|run| run.named = true);
        self.garbage.drain(..).for_each(|run| run.remove());
    }

    /// Bytes of files that only wait for the next manifest.
    pub fn garbage(&self) -> u64 {
        self.garbage.iter().map(|run| run.sum.length).sum()
    }

    /// Removes files of runs that are not ours: left over by a crash.
    pub fn sweep(&self) {
        let keep: BTreeSet<u64> = self.runs().map(|(_, run)| run.number).collect();
        for name in names(&self.dir).unwrap_or_default() {
            let number = name.strip_prefix("run-").and_then(|text| text.parse().ok());
            if number.is_some_and(|number: u64| !keep.contains(&number)) {
                let _ = std::fs::remove_file(self.dir.join(name));
            }
        }
    }

    /// Does something for every part, by several workers: what came of it, as far as they got.
    fn for_each_part<T: Send>(
        &self,
        workers: usize,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> (Vec<(usize, T)>, Result<()>) {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = || {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= PARTS {
                    return Ok(());
                }
                let done = work(part)?;
                found.lock().expect("nobody panics with what was found").push((part, done));
            }
        };
        let done = std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(worker)).collect();
            let mut all = worker();
            for other in others {
                all = all.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        });
        (found.into_inner().expect("nobody panics with what was found"), done)
    }
}

/// The records of some spans, in order.
fn records<'t>(table: &'t Table<BESIDE>, spans: &'t [Range<u64>]) -> impl Iterator<Item = Address> + 't {
    spans.iter().flat_map(|span| {
        let after = |at: &Address| Some(table.after(*at)).filter(|at| at.0 < span.end);
        std::iter::successors(Some(Address(span.start)).filter(|at| at.0 < span.end), after)
    })
}

/// From which run on it is worth to make one of them: where they are alike, or too many.
fn worth_merging(runs: &[Run]) -> usize {
    let count = runs.len();
    let mut from = count.saturating_sub(1);
    let mut states = runs.last().map_or(0, |run| run.states);
    while from > 0 && runs[from - 1].states <= 2 * states {
        from -= 1;
        states += runs[from].states;
    }
    match count {
        _ if count - from >= ALIKE => from,
        _ if count > MOST_RUNS => from.min(count - ALIKE),
        _ => count,
    }
}

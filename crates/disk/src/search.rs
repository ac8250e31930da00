//! Breadth-first search that can be interrupted at any moment: the explorer's loop ([`cyrano_explore::rounds`]) over blocks of the log.
//!
//! A round ends when the table is full, a checkpoint is due, a limit is reached, or something went wrong. A block that was taken is done to its end.
//!
//! **Invariant:** after pending states are settled, the log and the number of the first state that was not expanded say everything: whoever has both
//! can go on. [`DiskRun::known`] is how it stood then; it is what a checkpoint says, also when the disk is full and what came after is lost.
//!
//! The search is exact: levels are those of the explorer's own search without ample sets, and so are the numbers of states and transitions. Within a level
//! states come in another order, so that of several shortest paths another one may be found.

use std::path::Path;
use std::time::{Duration, Instant};

use cyrano_checkpoint::files::{self, Block, Reader};
use cyrano_checkpoint::heading::now;
use cyrano_checkpoint::record::Records;
use cyrano_checkpoint::{Error, Result};
use cyrano_engine::{Answer, Cause, Counters, Stats, Stop};
use cyrano_explore::rounds::{self, Round, Visited};
use cyrano_explore::store::{ByteKeys, Writer};
use cyrano_explore::{Packing, Summary, Wrong};

use crate::job::Job;
use crate::log::{self, NO_PARENT};
use crate::parts::Parts;
use crate::runs::Run;
use crate::saved::{End, Reached, RunLine, Saved};
use crate::store::{Store, push};
use crate::worker::{Worker, fits};

/// How often the first worker looks at limits.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// At the end of a level a checkpoint is written if the last one is at least this part of the usual time ago.
const LEVEL_SHARE: u32 = 10;
/// With so many states a search stops: their numbers must fit a record, with those of the states that are pending.
const MOST_STATES: u64 = NO_PARENT / 2;
/// Files that only wait for the next checkpoint may take this many bytes.
const GARBAGE: u64 = 1 << 28;

/// How a search ended.
pub(crate) enum Outcome {
    Answer(Box<Answer>),
    /// Timestamps were too close together.
    GaveUp(Summary),
    /// Something goes wrong before the first state.
    AtOnce,
}

impl Outcome {
    fn of(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

/// Why a search stops without a verdict.
enum Halt {
    Limit(Stop),
    DiskFull(Error),
}

/// A search under way.
pub(crate) struct DiskRun<'s> {
    job: Job<'s>,
    store: Store,
    /// The meaning of packed states, if they are packed.
    parts: Option<Parts>,
    /// What is left of the level under way.
    level: Vec<Block>,
    level_end: u64,
    depth: u64,
    /// What was found out before the workers began.
    before: Summary,
    seconds: f64,
    started: Instant,
    checkpointed: Option<Instant>,
    /// The limit that was reached before it could go on.
    stopped: Option<Stop>,
    /// What a manifest says beside what is known.
    saved: Saved,
    known: Reached,
}

impl<'s> DiskRun<'s> {
    /// A search from the beginning. `saved` says what it is a search for.
    pub fn start(job: Job<'s>, saved: Saved) -> Result<Self> {
        let dir = &job.settings.dir;
        let store = Store::new(dir, log::create(dir)?, job.explore, job.limits.memory, job.workers())?;
        store.sweep();
        let parts = job.packing.map(|_| Parts::create(dir)).transpose()?;
        Ok(Self::with(job, store, parts, saved))
    }

    /// Goes on where a checkpoint was written. All files are read and must be what the checkpoint says.
    pub fn resume(job: Job<'s>, saved: Saved) -> Result<Self> {
        let dir = &job.settings.dir;
        let Reached { log: sum, parts, states, position, level_end, end, .. } = saved.progress;
        let runs = open_runs(dir, &saved.runs)?;
        let mut blocks = read_log(dir, &saved.progress)?;
        let fresh = blocks.split_off(blocks.partition_point(|block| block.first < level_end));
        let log = log::reopen(dir, sum, states, fresh)?;
        let mut store = Store::new(dir, log, job.explore, job.limits.memory, job.workers())?;
        let parts = job.packing.zip(parts).map(|(packing, sum)| Parts::reopen(dir, sum, packing)).transpose()?;
        runs.into_iter().for_each(|(part, run)| store.adopt(part, run));
        store.in_runs = saved.in_runs;
        store.sweep();
        let mut search = Self::with(job, store, parts, saved);
        search.level = blocks.split_off(blocks.partition_point(|block| block.first < position));
        search.checkpointed = Some(Instant::now());
        if end == End::Open {
            search.refill()?;
        }
        Ok(search)
    }

    fn with(job: Job<'s>, store: Store, parts: Option<Parts>, saved: Saved) -> Self {
        let known = saved.progress.clone();
        Self {
            job,
            store,
            parts,
            level: Vec::new(),
            level_end: known.level_end,
            depth: known.depth,
            before: known.summary.clone(),
            seconds: known.seconds,
            started: Instant::now(),
            checkpointed: None,
            stopped: None,
            saved,
            known,
        }
    }

    /// Fills the table with the states that are in no run. A limit may be reached before; then the checkpoint stays as it is.
    fn refill(&mut self) -> Result<()> {
        let (mut payload, mut keys, mut writer) = (Vec::new(), ByteKeys::default(), Writer::default());
        let (mut offset, sum, spills) = (0, self.known.log, self.job.spill);
        while offset < sum.length && self.stopped.is_none() {
            let block = self.store.reader.header(offset, sum.length)?;
            offset = block.end();
            if block.first < self.store.in_runs {
                continue;
            }
            self.store.reader.payload(&block, &mut payload)?;
            fits(&self.store, Records(&payload).flatten().map(|(_, state)| state.len()).max().unwrap_or(0))?;
            Records(&payload).flatten().for_each(|(_, state)| push(&mut keys, NO_PARENT, state));
            let mut room = true;
            while room && !self.store.insert(&mut keys, &mut writer) {
                self.store.gather(&mut writer);
                room = self.store.make_room() || spills && self.store.force_room();
            }
            self.store.gather(&mut writer);
            self.store.accept();
            self.note_bytes();
            if room && spills && self.store.is_full() {
                self.store.spill_up_to(block.first + u64::from(block.items))?;
                writer = Writer::default();
            }
            let full = !room || self.store.is_full() && !spills;
            self.stopped = self.job.limits.exceeded(0).or(full.then_some(Stop::Memory));
        }
        Ok(())
    }

    /// Searches to the end, or to a limit.
    pub fn run(mut self) -> Result<Outcome> {
        match self.known.end {
            End::Open => {}
            End::Complete => return self.answer(None).map(Outcome::of),
            End::Found(wrong, number) => return self.found(wrong, number).map(Outcome::of),
        }
        if self.stopped.is_some() {
            return self.answer(self.stopped).map(Outcome::of);
        }
        let mut workers: Vec<_> = (0..self.job.workers()).map(|_| Worker::new(self.job.walker())).collect();
        if self.known.states == 0 && workers[0].seed(&self.store)?.is_some() {
            return Ok(Outcome::AtOnce);
        }
        match self.begin(&mut workers).and_then(|()| rounds::search(&mut self, &mut workers)) {
            Err(error @ Error::Full { .. }) => self.halt(Halt::DiskFull(error)).map(Outcome::of),
            other => other,
        }
    }

    /// The first level of a new search, and a checkpoint of it.
    fn begin(&mut self, workers: &mut [Worker<'s>]) -> Result<()> {
        if self.known.states == 0 {
            self.settle(workers)?;
            self.next_blocks();
            self.checkpoint()?;
        }
        Ok(())
    }

    /// What has to be done after a round. The outcome, if that was the last one.
    fn after_round(&mut self, workers: &mut [Worker<'s>]) -> Result<Option<Outcome>> {
        if let Some(error) = workers.iter_mut().find_map(|worker| worker.error.take()) {
            return Err(error);
        }
        let remembered: u64 = workers.iter().map(|worker| worker.walker.bytes()).sum();
        self.store.budget.remember(remembered + self.job.packing.map_or(0, Packing::bytes));
        workers.iter_mut().for_each(|worker| worker.looked = None);
        let summary = self.summary(workers);
        let hit = workers.iter().filter_map(|worker| worker.hit).min();
        if summary.must_give_up() && (hit.is_none() || self.job.space.wider(&summary, self.job.limits).is_some()) {
            return Ok(Some(Outcome::GaveUp(summary)));
        }
        if let Some((wrong, number)) = hit {
            return self.hit(workers, wrong, number).map(|answer| Some(Outcome::of(answer)));
        }
        let stop = self.job.limits.exceeded(0).or((self.known.states >= MOST_STATES).then_some(Stop::Size));
        let crowded = self.flush(workers);
        let (full, due) = (crowded || self.store.is_full(), self.is_due(self.job.settings.every));
        if stop.is_some() || full || due {
            self.settle(workers)?;
        }
        let stop = stop.or((full && !self.job.spill).then_some(Stop::Memory));
        if let Some(stop) = stop {
            return self.halt(Halt::Limit(stop)).map(|answer| Some(Outcome::of(answer)));
        }
        if full {
            self.store.spill()?;
            workers.iter_mut().for_each(|worker| worker.writer = Writer::default());
        }
        if due {
            self.checkpoint()?;
        }
        Ok(None)
    }

    /// The level is done. The outcome, if that was the last one.
    fn after_level(&mut self, workers: &mut [Worker<'s>]) -> Result<Option<Outcome>> {
        self.settle(workers)?;
        if !self.next_blocks() {
            self.known.end = End::Complete;
            self.checkpoint()?;
            return self.answer(None).map(Outcome::of).map(Some);
        }
        if self.is_due(self.job.settings.every / LEVEL_SHARE) || self.store.garbage() > GARBAGE {
            self.checkpoint()?;
        }
        Ok(None)
    }

    /// Inserts what waits, and makes room for it; true if that took more memory than there is.
    fn flush(&mut self, workers: &mut [Worker<'s>]) -> bool {
        let mut crowded = false;
        workers.iter_mut().for_each(|worker| self.store.gather(&mut worker.writer));
        for Worker { keys, writer, .. } in workers {
            while !self.store.insert(keys, writer) {
                self.store.gather(writer);
                // What was expanded must be settled as a whole, so there is no going back.
                crowded |= !self.store.make_room() && self.store.force_room();
            }
            self.store.gather(writer);
        }
        self.note_bytes();
        crowded
    }

    fn note_bytes(&mut self) {
        self.store.budget.peak = self.store.budget.peak.max(self.store.bytes());
    }

    /// Tells how it goes, and whether to pause: a limit is reached, or a checkpoint is due. However often checkpoints are due, some of a round is done before.
    fn look(&self, block: &Block, begins: bool) -> bool {
        let states = self.store.log.records() + self.store.pending();
        let frontier = states - block.first.min(states);
        self.job.watch.progress(Counters {
            states,
            frontier,
            depth: self.depth,
            bytes: self.store.bytes(),
            share: None,
        });
        !begins && self.is_due(self.job.settings.every) || self.job.limits.exceeded(0).is_some()
    }

    /// What was found out so far.
    fn summary(&self, workers: &[Worker<'s>]) -> Summary {
        let mut summary = self.before.clone();
        workers.iter().for_each(|worker| summary.absorb(worker.walker.summary()));
        summary
    }

    /// Settles pending states; what is known then is all there is.
    fn settle(&mut self, workers: &mut [Worker<'s>]) -> Result<()> {
        self.flush(workers);
        if let (Some(parts), Some(packing)) = (&mut self.parts, self.job.packing) {
            parts.update(packing)?;
        }
        self.store.settle()?;
        let summary = self.summary(workers);
        let (log, states) = (self.store.log.sum(), self.store.log.records());
        let parts = self.parts.as_ref().map(Parts::sum);
        let position = self.level.first().map_or(self.level_end, |block| block.first);
        let (depth, level_end, seconds) = (self.depth, self.level_end, self.elapsed());
        self.known = Reached { log, parts, states, depth, position, level_end, summary, seconds, end: End::Open };
        Ok(())
    }

    /// Goes to the next level; false if there is none. Nothing must be pending.
    fn next_blocks(&mut self) -> bool {
        self.level = self.store.log.take_fresh();
        if self.level.is_empty() {
            return false;
        }
        // The level of the initial states is level 0.
        self.depth += u64::from(self.level_end > 0);
        self.known.position = self.level_end;
        self.level_end = self.known.states;
        (self.known.depth, self.known.level_end) = (self.depth, self.level_end);
        true
    }

    fn is_due(&self, after: Duration) -> bool {
        self.checkpointed.is_none_or(|last| last.elapsed() >= after)
    }

    fn elapsed(&self) -> f64 {
        self.seconds + self.started.elapsed().as_secs_f64()
    }

    /// Has all that is known written to the disk itself, and a manifest that says so.
    fn checkpoint(&mut self) -> Result<()> {
        self.store.sync()?;
        self.parts.as_ref().map_or(Ok(()), Parts::sync)?;
        // A manifest must not be there before the names of the files that it names.
        files::sync_dir(&self.job.settings.dir)?;
        let line = |(part, run): (usize, &Run)| RunLine { part, number: run.number, sum: run.sum, states: run.states };
        let runs = self.store.runs().map(line).collect();
        self.saved.progress = self.known.clone();
        self.saved.in_runs = self.store.in_runs;
        self.saved.runs = runs;
        self.saved.time = now();
        self.saved.save(&self.job.settings.dir)?;
        self.store.named();
        self.checkpointed = Some(Instant::now());
        Ok(())
    }

    /// Something goes wrong at a state. What is pending does not matter any more, but for the numbers.
    fn hit(&mut self, workers: &mut [Worker<'s>], wrong: Wrong, number: u64) -> Result<Answer> {
        let kept = self.settle(workers).and_then(|()| {
            self.known.end = End::Found(wrong, number);
            self.checkpoint()
        });
        match kept {
            Ok(()) | Err(Error::Full { .. }) => {}
            Err(error) => return Err(error),
        }
        self.found(wrong, number)
    }

    fn found(&mut self, wrong: Wrong, number: u64) -> Result<Answer> {
        let path = self.job.plain(log::path_to(&self.store.reader, self.known.log, number)?)?;
        let stats = self.stats();
        Ok(self.job.space.answer(&path, Some(wrong), &self.known.summary, None, stats, self.job.limits))
    }

    /// Stops with what is known.
    fn halt(&mut self, why: Halt) -> Result<Answer> {
        match why {
            Halt::Limit(stop) => match self.checkpoint() {
                Err(error @ Error::Full { .. }) => self.halt(Halt::DiskFull(error)),
                Err(error) => Err(error),
                Ok(()) => self.answer(Some(stop)),
            },
            Halt::DiskFull(error) => {
                // What came after was not written completely. If not even the manifest can be written, the last one counts.
                let _ = self.store.log.rewind(self.known.log, self.known.states);
                let kept = self.checkpoint();
                let mut answer = self.answer(Some(Stop::Memory))?;
                let what = if kept.is_ok() { "what was found" } else { "the last checkpoint" };
                let text = format!("{error}; {what} is kept, --resume goes on when there is room");
                answer.reason = Some(Cause::Trouble(text));
                Ok(answer)
            }
        }
    }

    fn answer(&mut self, stop: Option<Stop>) -> Result<Answer> {
        let stats = self.stats();
        Ok(self.job.space.answer(&[], None, &self.known.summary, stop, stats, self.job.limits))
    }

    fn stats(&self) -> Stats {
        let Reached { states, depth, .. } = self.known;
        let transitions = self.known.summary.transitions;
        let (seconds, peak_bytes) = (self.elapsed(), self.store.budget.peak);
        Stats { states, transitions, depth, seconds, peak_bytes, ..Stats::default() }
    }
}

impl<'s> Visited<Worker<'s>> for DiskRun<'s> {
    type Span = Block;
    type End = Result<Outcome>;

    fn level(&mut self) -> &mut Vec<Block> {
        &mut self.level
    }

    fn expand(&self, worker: &mut Worker<'s>, block: Block, round: &Round<'_>) -> Option<Block> {
        if round.first && worker.looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            let begins = worker.looked.is_none();
            worker.looked = Some(Instant::now());
            if self.look(&block, begins) {
                round.pause();
            }
        }
        worker.expand(&self.store, &block);
        if worker.is_over() || self.store.is_full() {
            round.pause();
        }
        None
    }

    fn rest(&mut self, workers: &mut Vec<Worker<'s>>) -> Option<Result<Outcome>> {
        self.after_round(workers).transpose()
    }

    fn next_level(&mut self, workers: &mut Vec<Worker<'s>>) -> Option<Result<Outcome>> {
        self.after_level(workers).transpose()
    }
}

fn open_runs(dir: &Path, lines: &[RunLine]) -> Result<Vec<(usize, Run)>> {
    lines.iter().map(|line| Ok((line.part, Run::open(dir, line.number, line.sum, line.states)?))).collect()
}

/// Reads the log and looks whether it is what the checkpoint says.
fn read_log(dir: &Path, progress: &Reached) -> Result<Vec<Block>> {
    let reader = Reader::open(log::path(dir))?;
    let mut states = 0;
    let mut blocks = Vec::new();
    reader.verify(progress.log, |block, payload| {
        if block.first != states || Records(payload).count_whole() != Some(block.items as usize) {
            return Err(log::senseless(&reader, block));
        }
        states += u64::from(block.items);
        if states > progress.position {
            blocks.push(*block);
        }
        Ok(())
    })?;
    if states != progress.states {
        return Err(Error::damaged(reader.path(), "it has another number of states than it should"));
    }
    Ok(blocks)
}

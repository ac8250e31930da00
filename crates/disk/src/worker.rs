//! One thread's part of a search: it takes blocks of the frontier and puts the successors of their states into the tables.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cyrano_checkpoint::files::Block;
use cyrano_checkpoint::{Error, Result};
use cyrano_engine::{Limits, Progress, Watch};
use cyrano_explore::{Walker, Wrong};

use crate::log::senseless;
use crate::record::{NO_PARENT, Records};
use crate::store::{PARTS, Store, part_of};
use crate::table::{Batch, hash};

/// How often the first worker looks at limits.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A worker.
pub(crate) struct Worker<'s> {
    pub walker: Walker<'s>,
    batches: Vec<Batch>,
    payload: Vec<u8>,
    /// Where something goes wrong.
    pub hit: Option<(Wrong, u64)>,
    pub error: Option<Error>,
}

/// What the workers of a round share.
pub(crate) struct Round<'r> {
    pub store: &'r Store,
    pub blocks: &'r [Block],
    pub next: AtomicUsize,
    pub pause: AtomicBool,
    pub limits: &'r Limits,
    pub watch: &'r dyn Watch,
    pub depth: u64,
    /// When the next checkpoint is due.
    pub due: Option<Instant>,
}

impl Round<'_> {
    /// How many blocks were done, when all workers are.
    pub fn done(&self) -> usize {
        self.next.load(Ordering::Relaxed).min(self.blocks.len())
    }

    fn pause(&self) {
        self.pause.store(true, Ordering::Relaxed);
    }

    /// Tells how it goes, and pauses if a limit is reached or a checkpoint is due. However often checkpoints are due, some of a round is done before.
    fn look(&self, begins: bool) {
        let known = self.store.log().states();
        let states = known + self.store.pending() as u64;
        let at = self.blocks.get(self.done()).map_or(known, |block| block.first);
        let bytes = self.store.budget.bytes();
        self.watch.progress(Progress { states, frontier: states - at.min(states), depth: self.depth, bytes });
        let due = !begins && self.due.is_some_and(|due| Instant::now() >= due);
        if due || self.limits.exceeded(0).is_some() {
            self.pause();
        }
    }
}

impl<'s> Worker<'s> {
    pub fn new(walker: Walker<'s>) -> Self {
        let batches = (0..PARTS).map(|_| Batch::default()).collect();
        Self { walker, batches, payload: Vec::new(), hit: None, error: None }
    }

    /// Finds the initial states; says if one of them goes wrong at once.
    pub fn seed(&mut self, store: &Store) -> Option<Wrong> {
        let Self { walker, batches, .. } = self;
        let wrong = walker.initial(|state| put(store, batches, NO_PARENT, state));
        self.hand_in(store);
        wrong
    }

    /// Expands blocks until there are none left or somebody says stop. A block that was taken is done to its end, unless something went wrong.
    pub fn work(&mut self, round: &Round<'_>, first: bool) {
        let mut looked: Option<Instant> = None;
        while !round.pause.load(Ordering::Relaxed) {
            if first && looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
                round.look(looked.is_none());
                looked = Some(Instant::now());
                if round.pause.load(Ordering::Relaxed) {
                    break;
                }
            }
            let Some(block) = round.blocks.get(round.next.fetch_add(1, Ordering::Relaxed)) else { break };
            if let Err(error) = self.expand(round.store, block) {
                self.error = Some(error);
            }
            let over = self.error.is_some() || self.hit.is_some() || self.walker.must_give_up();
            if over || round.store.budget.is_full() {
                round.pause();
            }
        }
        self.hand_in(round.store);
    }

    fn expand(&mut self, store: &Store, block: &Block) -> Result<()> {
        let Self { walker, batches, payload, .. } = self;
        store.reader.payload(block, payload)?;
        for (number, record) in (block.first..).zip(Records(payload)) {
            let (_, state) = record.ok_or_else(|| senseless(&store.reader, block))?;
            if let Some(wrong) = walker.expand(state, |next| put(store, batches, number, next)) {
                self.hit = Some((wrong, number));
                break;
            }
        }
        Ok(())
    }

    /// Inserts what waits.
    fn hand_in(&mut self, store: &Store) {
        for (part, batch) in self.batches.iter_mut().enumerate() {
            store.insert(part, batch);
        }
    }
}

#[inline]
fn put(store: &Store, batches: &mut [Batch], parent: u64, state: &[u8]) {
    let hash = hash(state);
    let part = part_of(hash);
    if batches[part].push(hash, parent, state) {
        store.insert(part, &mut batches[part]);
    }
}

/// Fills tables from the log.
pub(crate) struct Refill(Vec<Batch>);

impl Refill {
    pub fn new() -> Self {
        Self((0..PARTS).map(|_| Batch::default()).collect())
    }

    pub fn put(&mut self, store: &Store, state: &[u8]) {
        put(store, &mut self.0, NO_PARENT, state);
    }

    pub fn hand_in(&mut self, store: &Store) {
        self.0.iter_mut().enumerate().for_each(|(part, batch)| store.insert(part, batch));
    }
}

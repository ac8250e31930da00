//! Breadth-first search, level by level, by one worker or several: the first violation found has the fewest steps.
//!
//! The records of a level lie in spans. Workers claim spans one at a time until none is left, so that none waits while
//! there is work; the records they find make the next level. One worker takes spans and records in the order in which they
//! were found, so that its search is always the same; several find the same states and levels in another order.
//!
//! A *round* is as much of a level as is done before somebody has to stop all: the table must grow, states need another shape, a limit
//! is reached, something went wrong. Between rounds only this thread runs.

pub(crate) mod deadlocks;
pub(crate) mod observer;
pub(crate) mod plain;
pub(crate) mod reached;
pub(crate) mod space;
pub(crate) mod witness;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use cyrano_engine::{Limits, Progress, Stats, Stop, Watch};
use cyrano_ir::{LocId, Property, Ty};

use crate::criteria::judge::{Hit, Judge};
use crate::encoding::dictionary::Cut;
use crate::encoding::tuples;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::Notes;
use crate::store::{Address, BATCH, Keys, Store, Writer};

/// How often the limits are looked at, in expanded states.
const CHECK_EVERY: u64 = 1024;
/// With fewer spans than this one worker is enough.
const WORTH_SHARING: usize = 8;

/// Values beyond this one, and beyond every initial value, suggest that there is no end to them.
const SUSPICIOUS: u128 = 64;

/// Searches with remembered steps, with long states compressed, or with states as bytes: whatever serves first.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Found<'m, 'a> {
    let tuples = |cut: Cut| tuples::search(m, cut, property, limits, watch);
    tuples(Cut::Fine).or_else(|| tuples(Cut::Coarse)).unwrap_or_else(|| plain::search(m, property, limits, watch))
}

/// What turns stored states into their successors.
pub(crate) trait Expander<'m, 'a>: Send {
    type Keys: Keys + Send;
    /// Finds the initial states.
    fn seed(&mut self) -> Result<(), Reshape>;
    /// Finds the successors of a record's state. If stored states have to change their shape first, nothing has happened.
    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape>;
    /// The states that wait for their insertion.
    fn keys(&mut self) -> &mut Self::Keys;
    fn judge(&self) -> &Judge<'m, 'a>;
    fn notes(&self) -> Notes;
    /// Which instructions threads have come to.
    fn reached(&self) -> &[bool];
    /// How many bytes it takes itself.
    fn bytes(&self) -> u64;
    /// How many bytes all workers have in common, beside the store.
    fn shared_bytes(&self) -> u64;
    fn finish(self) -> Judge<'m, 'a>;
}

/// Stored states have to change their shape before the search can go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reshape;

/// A search under way.
pub(crate) struct Search<'m, 'a> {
    m: &'m Machine<'m>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
    started: Instant,
    pub store: Store,
    /// What is left of the level under way.
    level: Vec<Range<u64>>,
    /// The next level so far.
    next: Vec<Range<u64>>,
    pub stats: Stats,
    expanded: u64,
    stop: Option<Stop>,
    seeded: bool,
    writers: Vec<Writer>,
    /// What workers that are gone found out.
    judge: Judge<'m, 'a>,
    notes: Notes,
    reached: Vec<bool>,
    /// The most bytes that were in use.
    peak: u64,
}

/// One of the workers, on cache lines of its own.
#[repr(align(128))]
struct Worker<E> {
    expander: E,
    /// What is left of the span it was at.
    rest: Option<Range<u64>>,
    expanded: u64,
    reshape: bool,
    stop: Option<Stop>,
}

impl<E> Worker<E> {
    fn new(expander: E) -> Self {
        Self { expander, rest: None, expanded: 0, reshape: false, stop: None }
    }
}

/// What the workers of a round share.
struct Round<'r> {
    store: &'r Store,
    spans: &'r [Range<u64>],
    next: AtomicUsize,
    pause: AtomicBool,
    limits: &'r Limits,
    watch: &'r dyn Watch,
    /// Where the search stood before the round.
    before: Progress,
    own_bytes: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It is over: all is known, something was found, or a limit was reached.
    Over,
    /// States have to change their shape.
    Reshape,
}

impl<'m, 'a> Search<'m, 'a> {
    pub fn new(
        m: &'m Machine<'m>,
        property: Option<&'a Property>,
        store: Store,
        limits: &'m Limits,
        watch: &'m dyn Watch,
    ) -> Self {
        Self {
            m,
            limits,
            watch,
            started: Instant::now(),
            store,
            level: Vec::new(),
            next: Vec::new(),
            stats: Stats::default(),
            expanded: 0,
            stop: None,
            seeded: false,
            writers: (0..limits.workers).map(|_| Writer::default()).collect(),
            judge: Judge::new(m, property),
            notes: Notes::default(),
            reached: vec![false; m.instructions()],
            peak: 0,
        }
    }

    /// Goes on with the workers that `expander` is called for: with one at first, and with all once there is enough to do.
    pub fn run<E: Expander<'m, 'a>>(&mut self, expander: impl Fn() -> E) -> End {
        let mut workers = vec![Worker::new(expander())];
        let end = self.search(&mut workers, &expander);
        for worker in workers {
            self.notes = self.notes.or(worker.expander.notes());
            crate::search::reached::add(&mut self.reached, worker.expander.reached());
            self.judge.absorb(worker.expander.finish());
        }
        end
    }

    fn search<E: Expander<'m, 'a>>(&mut self, workers: &mut Vec<Worker<E>>, expander: &impl Fn() -> E) -> End {
        if !self.seeded {
            if workers[0].expander.seed().is_err() {
                return End::Reshape;
            }
            self.seeded = true;
            self.flush(workers);
            self.store.next_level(&mut self.writers);
            self.level = std::mem::take(&mut self.next);
        }
        while !self.level.is_empty() {
            if workers.len() < self.limits.workers && self.level.len() >= WORTH_SHARING {
                workers.resize_with(self.limits.workers, || Worker::new(expander()));
            }
            let over = self.round(workers);
            if over || self.flush(workers) {
                return End::Over;
            }
            if workers.iter().any(|worker| worker.reshape) {
                workers.iter_mut().for_each(|worker| worker.reshape = false);
                return End::Reshape;
            }
            if self.level.is_empty() {
                self.store.next_level(&mut self.writers);
                self.level = std::mem::take(&mut self.next);
                self.stats.depth += u64::from(!self.level.is_empty());
            }
        }
        End::Over
    }

    /// One round; true if the search is over.
    fn round<E: Expander<'m, 'a>>(&mut self, workers: &mut [Worker<E>]) -> bool {
        let own_bytes = own_bytes(workers);
        let before = Progress { states: self.expanded, depth: self.stats.depth, ..Progress::default() };
        let (next, pause) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (limits, watch) = (self.limits, self.watch);
        let round = Round { store: &self.store, spans: &self.level, next, pause, limits, watch, before, own_bytes };
        if workers.len() == 1 || self.level.len() < WORTH_SHARING {
            workers[0].work(&round, &mut self.writers[0], true);
        } else {
            std::thread::scope(|scope| {
                let mut pairs = workers.iter_mut().zip(&mut self.writers);
                let first = pairs.next();
                for (worker, writer) in pairs {
                    scope.spawn(|| worker.work(&round, writer, false));
                }
                first.into_iter().for_each(|(worker, writer)| worker.work(&round, writer, true));
            });
        }
        let claimed = round.next.into_inner().min(self.level.len());
        let rests: Vec<Range<u64>> = workers.iter_mut().filter_map(|worker| worker.rest.take()).collect();
        self.level.splice(..claimed, rests);
        self.expanded += workers.iter_mut().map(|worker| std::mem::take(&mut worker.expanded)).sum::<u64>();
        self.stop = workers.iter_mut().find_map(|worker| worker.stop.take());
        self.stop.is_some() || workers.iter().any(|worker| worker.expander.judge().is_over() || worker.gives_up())
    }

    /// Inserts what waits, and makes room for it; true if there is no room.
    fn flush<E: Expander<'m, 'a>>(&mut self, workers: &mut [Worker<E>]) -> bool {
        let own = own_bytes(workers);
        self.writers.iter_mut().for_each(|writer| self.store.settle(writer));
        self.peak = self.peak.max(self.store.bytes() + own);
        for (worker, writer) in workers.iter_mut().zip(&mut self.writers) {
            while !self.store.insert(worker.expander.keys(), writer) {
                self.store.settle(writer);
                if self.store.make_room::<E::Keys>(self.limits.memory.saturating_sub(own), self.limits.workers) {
                    continue;
                }
                self.stop = Some(Stop::Memory);
                return true;
            }
            self.store.settle(writer);
            self.next.extend(writer.take_spans().into_iter().map(|span| span.range));
        }
        false
    }

    /// What was found out, and the states. `canonical` is the encoded form of a stored state.
    pub fn finish(mut self, own_bytes: u64, canonical: impl Fn(&[u8]) -> Vec<u8>) -> (Found<'m, 'a>, Store) {
        self.stats.states = self.store.len();
        self.stats.peak_bytes = self.peak.max(self.store.bytes() + own_bytes);
        self.stats.transitions = self.judge.transitions;
        self.stats.seconds = self.started.elapsed().as_secs_f64();
        if self.notes.too_large && self.judge.hit.is_none() {
            self.stop = Some(Stop::Size);
        }
        let last = self.level.first().filter(|_| self.stop.is_some());
        let last = last.map(|span| canonical(self.store.state(Address(span.start))));
        let growing = last.and_then(|bytes| growing(self.m, &bytes));
        let shown = self.judge.hit.as_ref().filter(|_| !self.store.keeps_fingerprints());
        let path = shown.map(|hit| self.store.path(hit.record)).unwrap_or_default();
        let path = path.into_iter().map(|record| canonical(self.store.state(record))).collect();
        let reached = Some(self.reached);
        let (stop, judge, notes, stats) = (self.stop, self.judge, self.notes, self.stats);
        (Found { stop, path, judge, notes, reached, stats, growing }, self.store)
    }
}

impl<'m, 'a, E: Expander<'m, 'a>> Worker<E> {
    /// Expands records until there are none left, or somebody says stop.
    fn work(&mut self, round: &Round<'_>, writer: &mut Writer, first: bool) {
        while let Some(span) = round.spans.get(round.next.fetch_add(1, Ordering::Relaxed)) {
            let mut at = Address(span.start);
            while at.0 < span.end {
                if round.pause.load(Ordering::Relaxed) || !self.one(round, at, first) {
                    round.pause.store(true, Ordering::Relaxed);
                    self.rest = Some(at.0..span.end);
                    return;
                }
                at = round.store.after(at);
                if self.expander.judge().is_over() || !self.insert(round, writer) {
                    round.pause.store(true, Ordering::Relaxed);
                    self.rest = (at.0 < span.end).then_some(at.0..span.end);
                    return;
                }
            }
        }
    }

    /// Expands one record; false if that was not possible.
    #[inline]
    fn one(&mut self, round: &Round<'_>, at: Address, first: bool) -> bool {
        if first && self.expanded.is_multiple_of(CHECK_EVERY) && self.limit(round) || self.gives_up() {
            return false;
        }
        self.reshape = self.expander.expand(round.store, at).is_err();
        self.expanded += u64::from(!self.reshape);
        !self.reshape
    }

    #[inline]
    fn insert(&mut self, round: &Round<'_>, writer: &mut Writer) -> bool {
        self.expander.keys().len() < BATCH || round.store.insert(self.expander.keys(), writer)
    }

    /// Whether it found a state that it cannot hold.
    fn gives_up(&self) -> bool {
        let notes = self.expander.notes();
        notes.end_search() || self.expander.judge().is_content(notes)
    }

    fn limit(&mut self, round: &Round<'_>) -> bool {
        let bytes = round.store.bytes() + round.own_bytes;
        let states = round.store.len();
        let frontier = states.saturating_sub(round.before.states + self.expanded);
        round.watch.progress(Progress { states, frontier, depth: round.before.depth, bytes });
        self.stop = round.limits.exceeded(bytes);
        self.stop.is_some()
    }
}

/// What workers take beside the store.
fn own_bytes<'m, 'a, E: Expander<'m, 'a>>(workers: &[Worker<E>]) -> u64 {
    let each: u64 = workers.iter().map(|worker| worker.expander.bytes()).sum();
    each + workers.first().map_or(0, |worker| worker.expander.shared_bytes())
}

/// What a search found out.
pub(crate) struct Found<'m, 'a> {
    pub stop: Option<Stop>,
    /// The states on the way to the hit.
    pub path: Vec<Vec<u8>>,
    pub judge: Judge<'m, 'a>,
    pub notes: Notes,
    /// Which instructions threads have come to, if that is known.
    pub reached: Option<Vec<bool>>,
    pub stats: Stats,
    /// When a limit was reached: the location with the largest value in the last state, if that is suspiciously large.
    pub growing: Option<(LocId, i128)>,
}

impl Found<'_, '_> {
    pub fn hit(&self) -> Option<&Hit> {
        self.judge.hit.as_ref()
    }
}

/// The location with the largest value in a state, if that is suspiciously large.
fn growing(m: &Machine<'_>, bytes: &[u8]) -> Option<(LocId, i128)> {
    let mut state: State = m.initial();
    m.decode(bytes, &mut state);
    let locations = &m.program.locations;
    let usual = locations.iter().map(|l| l.init.unsigned_abs()).max().unwrap_or(0).max(SUSPICIOUS);
    let values = state.memory.iter().zip(locations).enumerate().filter(|(_, (_, l))| l.ty == Ty::Int);
    let (at, (value, _)) = values.max_by_key(|(_, (value, _))| value.unsigned_abs())?;
    (value.unsigned_abs() > usual).then(|| (LocId::new(at), *value))
}

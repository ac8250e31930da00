//! Breadth-first search with states in memory: the first violation found has the fewest steps. The loop is [`rounds`], the set of states
//! [`crate::store`]; what turns states into their successors is an [`Expander`].
//!
//! The records of a level lie in spans, and the records that workers find make the next level. One worker takes spans and records in the order in which they
//! were found, so that its search is always the same; several find the same states and levels in another order.

pub(crate) mod configurations;
pub(crate) mod deadlocks;
mod lts;
pub mod members;
pub(crate) mod observer;
pub(crate) mod plain;
pub(crate) mod reached;
pub mod rounds;
pub(crate) mod space;
pub(crate) mod witness;

use std::ops::Range;
use std::time::Instant;

use cyrano_engine::{Counters, Limits, Stats, Stop, Watch};
use cyrano_ir::{LocId, Property, Ty};

use crate::criteria::judge::{Hit, Judge};
use crate::encoding::dictionary::Cut;
use crate::encoding::tuples;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper};
use crate::store::{Address, BATCH, Keys, Store, Writer};
use rounds::{Round, Visited, WORTH_SHARING};

/// How often the limits are looked at, in expanded states.
const CHECK_EVERY: u64 = 1024;

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
    if !m.exchanges.is_empty() {
        return tuples(Cut::Fine).unwrap_or_else(|| m.cannot_exchange(property));
    }
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
    fn stepper(&self) -> &Stepper<'m>;
    /// How many bytes it takes itself.
    fn bytes(&self) -> u64;
    /// How many bytes all workers have in common, beside the store.
    fn shared_bytes(&self) -> u64;
    /// Leaves what it has learnt to those who come after it, when stored states change their shape.
    fn leave(&mut self) {}
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
    /// Where workers append, while there are none.
    writers: Vec<Writer>,
    /// What workers that are gone found out.
    judge: Judge<'m, 'a>,
    notes: Notes,
    reached: Vec<bool>,
    /// The bytes that workers take, and the most bytes that were in use.
    own: u64,
    peak: u64,
}

/// One of the workers, on cache lines of its own.
#[repr(align(128))]
struct Worker<E> {
    expander: E,
    writer: Writer,
    expanded: u64,
    reshape: bool,
    stop: Option<Stop>,
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
            own: 0,
            peak: 0,
        }
    }

    /// Goes on with the workers that `expander` is called for: with one at first, and with all once there is enough to do.
    pub fn run<E: Expander<'m, 'a>>(&mut self, expander: impl Fn() -> E + Sync) -> End {
        let (mut workers, mut running) = (Vec::new(), Running { search: self, expander });
        let end = running.begin(&mut workers).unwrap_or_else(|| rounds::search(&mut running, &mut workers));
        for mut worker in workers {
            if end == End::Reshape {
                worker.expander.leave();
            }
            let stepper = worker.expander.stepper();
            self.notes = self.notes.or(stepper.notes);
            reached::add(&mut self.reached, &stepper.reached);
            self.judge.absorb(worker.expander.finish());
            self.writers.push(worker.writer);
        }
        end
    }

    /// Inserts what waits, and makes room for it; true if there is no room.
    fn flush<E: Expander<'m, 'a>>(&mut self, workers: &mut [Worker<E>]) -> bool {
        let each: u64 = workers.iter().map(|worker| worker.expander.bytes()).sum();
        self.own = each + workers.first().map_or(0, |worker| worker.expander.shared_bytes());
        workers.iter_mut().for_each(|worker| self.store.settle(&mut worker.writer));
        self.peak = self.peak.max(self.store.bytes() + self.own);
        for Worker { expander, writer, .. } in workers {
            while !self.store.insert(expander.keys(), writer) {
                self.store.settle(writer);
                if self.store.make_room::<E::Keys>(self.limits.memory.saturating_sub(self.own), self.limits.workers) {
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

    /// Goes to the next level.
    fn turn<E>(&mut self, workers: &mut [Worker<E>]) {
        self.store.next_level(workers.iter_mut().map(|worker| &mut worker.writer));
        self.level = std::mem::take(&mut self.next);
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

/// A search with those who make its workers.
struct Running<'r, 'm, 'a, X> {
    search: &'r mut Search<'m, 'a>,
    expander: X,
}

impl<'m, 'a, E: Expander<'m, 'a>, X: Fn() -> E> Running<'_, 'm, 'a, X> {
    /// Has a first worker, who finds the initial states if nobody has done so.
    fn begin(&mut self, workers: &mut Vec<Worker<E>>) -> Option<End> {
        self.hire(workers);
        if !self.search.seeded {
            if workers[0].expander.seed().is_err() {
                return Some(End::Reshape);
            }
            self.search.seeded = true;
            self.search.flush(workers);
            self.search.turn(workers);
        }
        self.hire(workers);
        None
    }

    /// Has as many workers as there is enough to do for.
    fn hire(&mut self, workers: &mut Vec<Worker<E>>) {
        let wanted = if self.search.level.len() < WORTH_SHARING { 1 } else { self.search.limits.workers };
        while workers.len() < wanted {
            let writer = self.search.writers.pop().unwrap_or_default();
            workers.push(Worker { expander: (self.expander)(), writer, expanded: 0, reshape: false, stop: None });
        }
    }
}

impl<'m, 'a, E: Expander<'m, 'a>, X: Fn() -> E + Sync> Visited<Worker<E>> for Running<'_, 'm, 'a, X> {
    type Span = Range<u64>;
    type End = End;

    fn level(&mut self) -> &mut Vec<Range<u64>> {
        &mut self.search.level
    }

    #[inline]
    fn expand(&self, worker: &mut Worker<E>, span: Range<u64>, round: &Round<'_>) -> Option<Range<u64>> {
        let mut at = Address(span.start);
        while at.0 < span.end {
            if round.is_paused() || !worker.one(self.search, at, round.first) {
                return Some(at.0..span.end);
            }
            at = self.search.store.after(at);
            if worker.expander.judge().is_over() || !worker.insert(self.search) {
                round.pause();
                return (at.0 < span.end).then_some(at.0..span.end);
            }
        }
        None
    }

    fn rest(&mut self, workers: &mut Vec<Worker<E>>) -> Option<End> {
        let search = &mut *self.search;
        search.expanded += workers.iter_mut().map(|worker| std::mem::take(&mut worker.expanded)).sum::<u64>();
        search.stop = workers.iter_mut().find_map(|worker| worker.stop.take());
        let over = |worker: &Worker<E>| worker.expander.judge().is_over() || worker.gives_up();
        if search.stop.is_some() || workers.iter().any(over) || search.flush(workers) {
            return Some(End::Over);
        }
        workers.iter().any(|worker| worker.reshape).then_some(End::Reshape)
    }

    fn next_level(&mut self, workers: &mut Vec<Worker<E>>) -> Option<End> {
        self.search.turn(workers);
        if self.search.level.is_empty() {
            return Some(End::Over);
        }
        self.search.stats.depth += 1;
        self.hire(workers);
        None
    }
}

impl<'m, 'a, E: Expander<'m, 'a>> Worker<E> {
    /// Expands one record; false if that was not possible.
    #[inline]
    fn one(&mut self, search: &Search<'_, '_>, at: Address, first: bool) -> bool {
        if first && self.expanded.is_multiple_of(CHECK_EVERY) && self.limit(search) || self.gives_up() {
            return false;
        }
        self.reshape = self.expander.expand(&search.store, at).is_err();
        self.expanded += u64::from(!self.reshape);
        !self.reshape
    }

    #[inline]
    fn insert(&mut self, search: &Search<'_, '_>) -> bool {
        self.expander.keys().len() < BATCH || search.store.insert(self.expander.keys(), &mut self.writer)
    }

    /// Whether it found a state that it cannot hold.
    fn gives_up(&self) -> bool {
        let notes = self.expander.stepper().notes;
        notes.end_search() || self.expander.judge().is_content(notes)
    }

    fn limit(&mut self, search: &Search<'_, '_>) -> bool {
        let (states, bytes) = (search.store.len(), search.store.bytes() + search.own);
        let frontier = states.saturating_sub(search.expanded + self.expanded);
        search.watch.progress(Counters { states, frontier, depth: search.stats.depth, bytes, share: None });
        self.stop = search.limits.exceeded(bytes);
        self.stop.is_some()
    }
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

//! The memory order, built from its first event on: may this event be placed next, and what does it read then?
//!
//! Enumeration and replay ask the same question of the same code. Axioms 1 to 3 are the sets in [`Event`] (see `issue`),
//! axioms 4 to 6, 8 and 10 are decided here, axiom 7 concerns whole executions and is in `thin_air`.
//!
//! **Invariant:** the placed events always form a prefix of a memory order that satisfies axioms 1 to 6 and 8 among its events;
//! whether the values that the events claim to have read are the right ones is for the caller to compare.

pub(crate) mod thin_air;

use std::ops::Range;

use cyrano_ir::guards::ALIVE;
use cyrano_ir::{AccessKind, EvalError, InstrId, LocId, Program, ThreadId};
use cyrano_memory::Model;

use crate::set::EventSet;

/// What is known of the value that an event writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// It writes nothing: a load or a failed compare-and-swap.
    Nothing,
    /// This value.
    Value(i128),
    /// It depends on a value that is missing (replay only).
    Unknown,
}

impl Written {
    /// The value, if it is known.
    pub(crate) fn value(self) -> Option<i128> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

/// One access of one thread. The sets hold program-earlier events of the same thread.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) thread: ThreadId,
    /// Its number among the thread's accesses.
    pub(crate) index: u32,
    pub(crate) kind: AccessKind,
    pub(crate) instr: InstrId,
    pub(crate) loc: LocId,
    /// The header that it looks at (axiom 10), and what goes wrong if that is not alive.
    pub(crate) guard: Option<(LocId, EvalError)>,
    /// What it claims to have read; none for stores and where the value is missing.
    pub(crate) read: Option<i128>,
    pub(crate) written: Written,
    /// What axioms 1, 2 and 3 put before it.
    pub(crate) before: EventSet,
    /// The part of `before` that axiom 2 is responsible for.
    pub(crate) fenced: EventSet,
    /// The part of `before` that axiom 3 is responsible for.
    pub(crate) depends: EventSet,
    /// The reading events that its written value and its address were computed from, whatever the model keeps.
    pub(crate) flow: EventSet,
    /// Whether the value it writes is computed from the one it reads itself: a fetch-and-add.
    pub(crate) computes: bool,
    /// The unit of axiom 6 that it belongs to, numbered per thread.
    pub(crate) unit: Option<u32>,
    /// Whether it is the last of an operation that its thread does not finish, under a serial model.
    pub(crate) unfinished: bool,
    /// What a call or a response names, as far as it is known.
    pub(crate) said: Vec<Option<i128>>,
}

/// The events of all threads, numbered thread by thread in program order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) list: Vec<Event>,
    /// The number of each thread's first event.
    pub(crate) start: Vec<usize>,
    /// The setup thread, if there is one.
    pub(crate) setup: Option<ThreadId>,
    /// What headers hold in the beginning, by location; nothing in a program without headers.
    headers: Vec<i128>,
}

impl Events {
    /// No events of a program yet.
    pub(crate) fn of(program: &Program) -> Self {
        let headers = if program.has_headers() { program.initial_memory() } else { Vec::new() };
        Self { setup: program.setup, headers, ..Self::default() }
    }

    /// The events of the setup thread that an event has to wait for (axiom 8).
    fn setup_before(&self, event: usize) -> Range<usize> {
        let Some(setup) = self.setup.filter(|setup| *setup != self.list[event].thread) else { return 0..0 };
        let end = self.start.get(setup.index() + 1).copied().unwrap_or(self.list.len());
        self.start[setup.index()]..end
    }

    /// Adds the next thread's events, whose sets are in the thread's own numbering.
    pub(crate) fn push_thread(&mut self, events: &[Event]) {
        let by = self.list.len();
        self.start.push(by);
        self.list.extend(events.iter().map(|event| Event {
            before: event.before.shifted(by),
            fenced: event.fenced.shifted(by),
            depends: event.depends.shifted(by),
            flow: event.flow.shifted(by),
            ..event.clone()
        }));
    }

    /// Whether an event looks at a header that some event writes.
    pub(crate) fn may_be_freed(&self, event: usize) -> bool {
        let writes = |other: &Event, header| other.loc == header && other.written != Written::Nothing;
        self.list[event].guard.is_some_and(|(header, _)| {
            self.headers[header.index()] != ALIVE || self.list.iter().any(|other| writes(other, header))
        })
    }

    /// Whether two events with consecutive numbers belong to one unit.
    fn joined(&self, first: usize) -> bool {
        let (Some(a), Some(b)) = (self.list.get(first), self.list.get(first + 1)) else {
            return false;
        };
        a.unit.is_some() && a.unit == b.unit && a.thread == b.thread
    }

    /// Whether an event stands in a unit with others, or with what its thread leaves undone.
    pub(crate) fn in_company(&self, event: usize) -> bool {
        self.list[event].unfinished || self.joined(event) || event > 0 && self.joined(event - 1)
    }
}

/// Where a read takes its value from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Nowhere: the location still has its initial value.
    Initial,
    /// A store that has been placed.
    Placed(usize),
    /// A store of its own thread that has not been placed.
    Forwarded(usize),
}

impl Origin {
    /// The store, if there is one.
    pub(crate) fn store(self) -> Option<usize> {
        match self {
            Self::Initial => None,
            Self::Placed(store) | Self::Forwarded(store) => Some(store),
        }
    }
}

/// Why an event may not be placed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// It has been placed.
    Twice,
    /// Axiom 6: this event has to come next.
    UnitOpen(usize),
    /// Axiom 6: its unit is not at this event.
    UnitBroken,
    /// Axiom 6: the operation of this event is not finished, so nothing comes after it.
    Unfinished(usize),
    /// Axioms 1 to 3: this event has to come first.
    Before(usize),
    /// Axiom 5: it would take the value of `store`, which depends on `load`.
    NotKnown { store: usize, load: usize },
    /// Axiom 8: this event of the setup thread has to come first.
    Setup(usize),
}

/// A memory order under construction.
pub(crate) struct Placing<'e> {
    model: &'e Model,
    pub(crate) events: &'e Events,
    pub(crate) placed: EventSet,
    pub(crate) order: Vec<usize>,
    /// The last placed store of each location.
    pub(crate) latest: Vec<Option<usize>>,
    /// Where each placed reading event took its value from.
    pub(crate) origins: Vec<Option<Origin>>,
    /// The placed events that found their object freed, in this order.
    pub(crate) freed: Vec<usize>,
    /// For each placed event what `latest` was before it.
    undo: Vec<Option<usize>>,
}

impl<'e> Placing<'e> {
    /// Nothing is placed.
    pub(crate) fn new(model: &'e Model, events: &'e Events, locations: usize) -> Self {
        Self {
            model,
            events,
            placed: EventSet::default(),
            order: Vec::with_capacity(events.list.len()),
            latest: vec![None; locations],
            origins: vec![None; events.list.len()],
            freed: Vec::new(),
            undo: Vec::new(),
        }
    }

    /// Whether every event is placed.
    pub(crate) fn is_complete(&self) -> bool {
        self.order.len() == self.events.list.len()
    }

    /// The event that has to come next because a unit is open (axiom 6).
    pub(crate) fn forced(&self) -> Option<usize> {
        let last = *self.order.last()?;
        self.events.joined(last).then_some(last + 1)
    }

    /// Whether the event may be placed next, and where it reads from then.
    pub(crate) fn admit(&self, event: usize) -> Result<Option<Origin>, Obstacle> {
        let facts = &self.events.list[event];
        if self.placed.contains(event) {
            return Err(Obstacle::Twice);
        }
        if let Some(last) = self.order.last().filter(|last| self.events.list[**last].unfinished) {
            return Err(Obstacle::Unfinished(*last));
        }
        match self.forced() {
            Some(forced) if forced != event => return Err(Obstacle::UnitOpen(forced)),
            None if event > 0 && self.events.joined(event - 1) => return Err(Obstacle::UnitBroken),
            _ => {}
        }
        if let Some(setup) = self.events.setup_before(event).find(|setup| !self.placed.contains(*setup)) {
            return Err(Obstacle::Setup(setup));
        }
        if !facts.before.within(&self.placed) {
            return Err(Obstacle::Before(self.first_missing(&facts.before)));
        }
        facts.kind.reads().then(|| self.origin(event)).transpose()
    }

    /// Axioms 4 and 5: the latest visible store.
    ///
    /// Own stores that are not placed come later than all that is placed. Among them the last in program order is the last
    /// in memory order, for every model keeps two stores to one address in order.
    fn origin(&self, event: usize) -> Result<Origin, Obstacle> {
        let loc = self.events.list[event].loc;
        if let Some(store) = self.own_waiting_store(event, loc).filter(|_| self.model.reordering().forwarding) {
            return self.value_is_known(store).map(|()| Origin::Forwarded(store));
        }
        Ok(self.latest[loc.index()].map_or(Origin::Initial, Origin::Placed))
    }

    /// The last store to `loc` that stands before `event` in its thread and is not placed.
    pub(crate) fn own_waiting_store(&self, event: usize, loc: LocId) -> Option<usize> {
        let first = self.events.start[self.events.list[event].thread.index()];
        (first..event).rev().find(|earlier| {
            let earlier_facts = &self.events.list[*earlier];
            let writes = earlier_facts.written != Written::Nothing;
            writes && earlier_facts.loc == loc && !self.placed.contains(*earlier)
        })
    }

    /// Axiom 5.
    fn value_is_known(&self, store: usize) -> Result<(), Obstacle> {
        let facts = &self.events.list[store];
        if facts.depends.within(&self.placed) {
            return Ok(());
        }
        Err(Obstacle::NotKnown { store, load: self.first_missing(&facts.depends) })
    }

    fn first_missing(&self, set: &EventSet) -> usize {
        let missing = set.iter().find(|event| !self.placed.contains(*event));
        missing.expect("asked only for sets that are not placed as a whole")
    }

    /// What a read from there returns; none if the value is missing.
    pub(crate) fn value(&self, origin: Origin, initial: i128) -> Option<i128> {
        match origin.store() {
            None => Some(initial),
            Some(store) => self.events.list[store].written.value(),
        }
    }

    /// Places an event that [`Placing::admit`] admitted.
    pub(crate) fn place(&mut self, event: usize, origin: Option<Origin>) {
        let facts = &self.events.list[event];
        if facts.guard.is_some_and(|(header, _)| !self.is_alive(header)) {
            self.freed.push(event);
        }
        let latest = &mut self.latest[facts.loc.index()];
        self.undo.push(*latest);
        if facts.written != Written::Nothing {
            *latest = Some(event);
        }
        self.origins[event] = origin;
        self.placed.insert(event);
        self.order.push(event);
    }

    /// Axiom 10: what an access at this place finds in a header. Own stores to it that are not placed are later in program order.
    fn is_alive(&self, header: LocId) -> bool {
        let latest = self.latest[header.index()].and_then(|store| self.events.list[store].written.value());
        latest.unwrap_or(self.events.headers[header.index()]) == ALIVE
    }

    /// The errors of axiom 10, as far as events are placed.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (ThreadId, InstrId, EvalError)> {
        let errors = self.freed.iter().map(|event| &self.events.list[*event]);
        errors.filter_map(|facts| facts.guard.map(|(_, error)| (facts.thread, facts.instr, error)))
    }

    /// Takes the last placed event back.
    pub(crate) fn take_back(&mut self) {
        let event = self.order.pop().expect("an event was placed");
        let latest = self.undo.pop().expect("one entry per placed event");
        self.latest[self.events.list[event].loc.index()] = latest;
        self.origins[event] = None;
        if self.freed.last() == Some(&event) {
            self.freed.pop();
        }
        self.placed.remove(event);
    }

    /// Memory as the placed events leave it; none if the last value is missing.
    pub(crate) fn memory(&self, initial: &[i128]) -> Vec<i128> {
        let values = self.latest.iter().zip(initial).map(|(latest, initial)| {
            let written = latest.and_then(|store| self.events.list[store].written.value());
            written.unwrap_or(*initial)
        });
        values.collect()
    }
}

//! The memory orders of one combination of traces, by depth-first placement.
//!
//! A state is what decides the future: which events are placed, the latest store of each location and, where axiom 7 is
//! checked at the end, where the reads that it looks at took their values from. A state is visited once.
//!
//! **Eager loads.** An event that reads and does not write, stands in no unit with others and does not matter to axiom 7 is
//! placed as soon as it may be placed and would read its value; nothing else is tried then. No order is lost: in any order
//! that continues from here the event can be moved to the front. Its own conditions hold there; those of the events that
//! it moves past only ask for more to be placed, and what they read depends on stores alone. An event that looks at a header which somebody
//! writes is not eager: when it is placed decides whether it goes wrong (axiom 10). That something has gone wrong is part of a state.

use std::ops::ControlFlow;

use cyrano_engine::Stop;
use cyrano_memory::Model;
use rustc_hash::FxHashSet;

use crate::meter::Meter;
use crate::order::thin_air;
use crate::order::{Events, Origin, Placing, Written};
use crate::set::EventSet;

/// What stops a search: a limit, or the visitor.
pub(crate) enum Halt {
    /// A limit was reached.
    Limit(Stop),
    /// The visitor has seen enough.
    Enough,
}

/// Which unfinished memory orders are visited as well, those that stop inside of a unit apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prefixes {
    /// None.
    None,
    /// One for each set of placed events and each memory.
    Moments,
    /// All: nothing is visited once for several orders.
    Orders,
}

/// A search over memory orders.
pub(crate) struct Enumeration<'e, 'm, 'p, V> {
    placing: Placing<'e>,
    initial: &'e [i128],
    check_flow: bool,
    /// The reads whose origins matter to axiom 7.
    tracked: EventSet,
    /// The events whose place decides whether they find their object freed.
    looking: EventSet,
    eager: bool,
    prefixes: Prefixes,
    seen: FxHashSet<Box<[u8]>>,
    meter: &'m mut Meter<'p>,
    visit: V,
}

impl<'e, 'm, 'p, V: FnMut(&Placing<'e>) -> ControlFlow<()>> Enumeration<'e, 'm, 'p, V> {
    /// Visits at least one memory order for each final memory, until the visitor breaks off.
    pub(crate) fn run(
        model: &'e Model,
        events: &'e Events,
        initial: &'e [i128],
        meter: &'m mut Meter<'p>,
        prefixes: Prefixes,
        visit: V,
    ) -> Result<(), Halt> {
        let eager = prefixes == Prefixes::None;
        Self { eager, prefixes, ..Self::new(model, events, initial, meter, visit) }.explore()
    }

    pub(crate) fn new(
        model: &'e Model,
        events: &'e Events,
        initial: &'e [i128],
        meter: &'m mut Meter<'p>,
        visit: V,
    ) -> Self {
        let check_flow = model.reordering().may_invent_values();
        let tracked = if check_flow { thin_air::sources(events) } else { EventSet::default() };
        let placing = Placing::new(model, events, initial.len());
        let looking = (0..events.list.len()).filter(|event| events.may_be_freed(*event));
        let looking = looking.fold(EventSet::default(), |mut set, event| {
            set.insert(event);
            set
        });
        let seen = FxHashSet::default();
        Self {
            placing,
            initial,
            check_flow,
            tracked,
            looking,
            eager: true,
            prefixes: Prefixes::None,
            seen,
            meter,
            visit,
        }
    }

    /// The same search without eager loads, to compare with.
    #[cfg(test)]
    pub(crate) fn patient(mut self) -> Self {
        self.eager = false;
        self
    }

    pub(crate) fn explore(&mut self) -> Result<(), Halt> {
        self.meter.tick().map_err(Halt::Limit)?;
        if self.placing.is_complete() {
            if self.check_flow && !self.tracked.is_empty() && thin_air::occurs(&self.placing) {
                return Ok(());
            }
            return self.show();
        }
        if self.prefixes != Prefixes::Orders && !self.seen.insert(self.key()) {
            return Ok(());
        }
        if self.prefixes != Prefixes::None && self.placing.forced().is_none() {
            self.show()?;
        }
        let next = self.next();
        for (event, origin) in next {
            self.placing.place(event, origin);
            self.meter.stats.transitions += 1;
            self.explore()?;
            self.placing.take_back();
        }
        Ok(())
    }

    fn show(&mut self) -> Result<(), Halt> {
        match (self.visit)(&self.placing) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Enough),
        }
    }

    /// The events to try next, each with its origin.
    fn next(&self) -> Vec<(usize, Option<Origin>)> {
        let mut next = Vec::new();
        for event in 0..self.placing.events.list.len() {
            let Ok(origin) = self.placing.admit(event) else { continue };
            if !self.reads_its_value(event, origin) {
                continue;
            }
            if self.eager && self.may_go_first(event) {
                return vec![(event, origin)];
            }
            next.push((event, origin));
        }
        next
    }

    fn reads_its_value(&self, event: usize, origin: Option<Origin>) -> bool {
        let facts = &self.placing.events.list[event];
        let (Some(origin), Some(read)) = (origin, facts.read) else { return true };
        self.placing.value(origin, self.initial[facts.loc.index()]) == Some(read)
    }

    fn may_go_first(&self, event: usize) -> bool {
        let facts = &self.placing.events.list[event];
        let only_reads = facts.written == Written::Nothing && facts.kind.reads();
        only_reads
            && !self.looking.contains(event)
            && !self.tracked.contains(event)
            && !self.placing.events.in_company(event)
    }

    /// The state as bytes; every event number fits into one.
    fn key(&self) -> Box<[u8]> {
        let byte = |event: Option<usize>| event.map_or(u8::MAX, |event| event as u8);
        let placed = self.placing.placed.low_bits().to_le_bytes();
        let latest = self.placing.latest.iter().map(|latest| byte(*latest));
        let origins = self.tracked.iter().map(|read| match self.placing.origins[read] {
            None => u8::MAX - 1,
            Some(origin) => byte(origin.store()),
        });
        let wrong = u8::from(!self.placing.freed.is_empty());
        placed.into_iter().chain(latest).chain(origins).chain([wrong]).collect()
    }
}

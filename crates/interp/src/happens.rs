//! Happens-before, by vector clocks along a memory order, and races by their definition.
//!
//! The events are *units*: single accesses, and atomic sections as a whole. A unit *synchronises* if it is a section, a read-modify-write or an access
//! that is marked (`Tags::SYNC`, `Tags::ATOMIC`); other accesses are *plain*. Two accesses conflict if they are to one location and one of them writes, be it only by
//! its kind. Happens-before is the transitive closure of program order; of the memory order between two synchronising units that conflict (the
//! synchronisation order of Adve and Hill, DRF0); and of the setup before everything else. A race is a pair of conflicting accesses of two threads, not
//! both in synchronising units, that happens-before does not order.
//!
//! The explorer looks for two units that follow one another directly instead; see `cyrano_explore`'s `races` for why that is the same.

use std::ops::ControlFlow;

use cyrano_engine::{Cut, Execution, Racing, Violation};
use cyrano_ir::{Program, Tags};

use crate::combine::{Found, Goal, Want};
use crate::goals::{cut, error};
use crate::order::{Event, Events};
use crate::trace::Trace;

/// For each thread how many of its units are known to have happened.
type Clock = Vec<usize>;

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

/// A unit: the steps of its accesses in the memory order.
struct Unit {
    thread: usize,
    steps: std::ops::Range<usize>,
    synchronises: bool,
    /// What had happened when it did, itself included.
    clock: Clock,
}

/// The memory order so far, cut into units.
pub(crate) struct Order<'e> {
    program: &'e Program,
    events: Vec<&'e Event>,
    units: Vec<Unit>,
}

impl<'e> Order<'e> {
    /// The clocks of a memory order, given by the numbers of its events.
    pub(crate) fn new(program: &'e Program, events: &'e Events, order: &[usize]) -> Self {
        let events: Vec<&Event> = order.iter().map(|event| &events.list[*event]).collect();
        let mut all = Self { program, events, units: Vec::new() };
        let mut from = 0;
        while from < all.events.len() {
            let first = all.events[from];
            let joined =
                |event: &&&Event| first.unit.is_some() && (event.thread, event.unit) == (first.thread, first.unit);
            let to = from + 1 + all.events[from + 1..].iter().take_while(joined).count();
            all.push(from..to);
            from = to;
        }
        all
    }

    fn push(&mut self, steps: std::ops::Range<usize>) {
        let first = self.events[steps.start];
        let (thread, threads) = (first.thread.index(), self.program.threads.len());
        let synchronises = steps.clone().all(|step| self.synchronises(step));
        let mut clock = vec![0; threads];
        for earlier in &self.units {
            let setup = self.program.setup.is_some_and(|setup| setup.index() == earlier.thread);
            let meets = synchronises && earlier.synchronises && self.conflict(earlier, &steps).is_some();
            if earlier.thread == thread || setup || meets {
                join(&mut clock, &earlier.clock);
            }
        }
        clock[thread] += 1;
        self.units.push(Unit { thread, steps, synchronises, clock });
    }

    fn synchronises(&self, step: usize) -> bool {
        let event = self.events[step];
        let op = &self.program.instr(event.thread, event.instr).op;
        event.unit.is_some()
            || event.kind == cyrano_ir::AccessKind::Rmw
            || op.has_tag(Tags::SYNC)
            || op.has_tag(Tags::ATOMIC)
    }

    /// Two accesses of different units that conflict, by their steps.
    fn conflict(&self, one: &Unit, other: &std::ops::Range<usize>) -> Option<(usize, usize)> {
        one.steps.clone().find_map(|a| other.clone().find(|b| self.conflicts(a, *b)).map(|b| (a, b)))
    }

    fn conflicts(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.events[a], self.events[b]);
        a.loc == b.loc && (a.kind.writes() || b.kind.writes())
    }

    /// A race of the last unit with one before it.
    pub(crate) fn race(&self) -> Option<Violation> {
        let (last, earlier) = self.units.split_last()?;
        let (first, second) = earlier.iter().find_map(|unit| self.races(unit, last))?;
        let racing = |step: usize| Racing { thread: self.events[step].thread, instr: self.events[step].instr, step };
        Some(Violation::Race { first: racing(first), second: racing(second) })
    }

    /// Two accesses, one of each unit, that race.
    fn races(&self, earlier: &Unit, later: &Unit) -> Option<(usize, usize)> {
        let ordered = earlier.clock[earlier.thread] <= later.clock[earlier.thread];
        let synchronised = earlier.synchronises && later.synchronises;
        let can_race = earlier.thread != later.thread && !ordered && !synchronised;
        self.conflict(earlier, &later.steps).filter(|_| can_race)
    }

    /// Whether these two accesses race, in the order of the execution.
    pub(crate) fn has_race(&self, first: Racing, second: Racing) -> bool {
        let is_there = |racing: Racing| {
            self.events
                .get(racing.step)
                .is_some_and(|event| (event.thread, event.instr) == (racing.thread, racing.instr))
        };
        let unit = |racing: Racing| self.units.iter().find(|unit| unit.steps.contains(&racing.step));
        let (Some(earlier), Some(later)) = (unit(first), unit(second)) else { return false };
        is_there(first)
            && is_there(second)
            && first.step < second.step
            && self.conflicts(first.step, second.step)
            && self.races(earlier, later).is_some()
    }
}

/// Races in all memory orders.
pub(crate) struct Races<'p> {
    program: &'p Program,
    pub(crate) cut: Option<Cut>,
    pub(crate) violation: Option<(Violation, Execution)>,
}

impl<'p> Races<'p> {
    /// Nothing is known yet.
    pub(crate) fn new(program: &'p Program) -> Self {
        Self { program, cut: None, violation: None }
    }
}

impl Goal for Races<'_> {
    fn admits(&self, _: &Trace<'_>) -> bool {
        true
    }

    fn wants(&self, _: &[&Trace<'_>]) -> Want {
        Want::AllOrders
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        let only_looks = |event: &usize| {
            let event = &found.placing.events.list[*event];
            found.combination[event.thread.index()].only_looks(event.index as usize)
        };
        let order: Vec<usize> = found.placing.order.iter().copied().filter(|event| !only_looks(event)).collect();
        let mut violation = Order::new(self.program, found.placing.events, &order).race();
        if found.placing.is_complete() {
            self.cut = self.cut.or_else(|| cut(found.combination));
            violation = violation.or_else(|| error(found));
        }
        let Some(violation) = violation else { return ControlFlow::Continue(()) };
        let endless = match &violation {
            Violation::AtomicDiverges { thread, .. } => Some(*thread),
            _ => None,
        };
        self.violation = Some((violation, found.execution(endless)));
        ControlFlow::Break(())
    }
}

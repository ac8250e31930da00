//! Stubborn sets (reduction `stubborn-sets`): under a program's own order only some of the accesses that can be performed are tried in a state.
//!
//! Out of order nearly every access of a call may come next, and most orders of them make no difference: two loads of one thread, or accesses of
//! two threads to different locations, can be exchanged. In each state a set of *units* (accesses and atomic sections that have not been performed) is
//! chosen, and only those of them that are ready are performed. The set is closed under these rules.
//!
//! 1. A unit that is *ready* brings with it every other unit that it must not be exchanged with: those that may touch a location that it touches, unless both only
//!    read it, of all threads; and of its own thread those that it may have to follow (axiom 9 of `cyrano_memory`).
//! 2. A unit that is not ready brings with it one that it follows in any case and that has not been performed. If there is none, what it needs is not known yet: then
//!    the whole thread is in the set.
//! 3. Where the accesses behind the end of a thread's region may touch something that a ready unit of another thread touches, a unit of the region that is
//!    executed in any case is in the set; if there is none, the whole thread.
//! 4. A thread that stands before a call or another barrier is in the set as a whole or not at all. If it is, every other thread is in it as by rule 3.
//!
//! It begins with a unit that is executed in any case, is ready and waits for nobody. Of all sets that begin so the one with the fewest ready units is taken.
//!
//! **Argument.** Take an execution from the state to its end, in which the guesses that were made are right. It performs a unit of the set, for it performs the one
//! that the set began with: nobody can prevent that. Let `a` be the first unit of the set in it. It is ready now: otherwise one that comes before it would be in the
//! set (rule 2). What it performs is known, so it is the same now and later. Whatever comes before it is not in the set; so it touches nothing that `a` touches but what both read
//! (rules 1 and 3), and `a` does not follow it. Hence `a` can be moved to the front: every unit reads what it read before, and the order of the program is kept. So from every state a step is
//! taken that leads to an execution with the same values, and since code with an order of its own has no jumps back, there is an end to that: each
//! final state and each state in which nothing can go on is found. If `a` waits for somebody, or is left out for another reason, so that there is no step at all, all are taken.
//!
//! An execution that goes wrong is one that could be completed but for the thread that goes wrong (`declared::witness`), so the same holds of it, completed. If
//! no unit of the set comes before the end of it, `a` is moved there all the same, and changes nothing for the others.
//!
//! *Calls and responses.* With this reduction a call is a step of its own, and a response comes with the last access. An execution in which each call comes
//! right before its first access is rearranged as it is, and the call goes first only by rule 4. Then no other
//! thread responds or calls before it in the execution, for each would have to perform a unit of the set first; so the order of calls is kept, with each other
//! (`client-symmetry` depends on it) and with responses. A response may come earlier than before, with `a` or with what is then the last access of its call. That
//! loses no violation: the history has the same responses and more, and more real time (`crate::criteria::values`).
//!
//! *Choices.* A choice within a call is a step of its own, too; it concerns nobody else. One that is made in any case is a set by itself, all its values. One of which that is
//! open is made only where the whole thread is in the set: whoever needs it is not ready, and then rule 2 has the whole thread. An assumption may stop a thread for ever, and
//! then nothing is sure to be performed; so threads with assumptions outside of atomic sections are taken as a whole, unless some choice always fulfils them (`region::assume`).
//!
//! *What is touched.* An access whose address is open may touch a whole array, but not the elements with which an open condition that leads to it would not
//! hold (`look`): `if (owner != tx) state[owner].cas(…)` does not touch `state[tx]`.
//!
//! Not used where moments are judged (invariants, races), where the order of responses is, and where objects can be freed.
//! A violation that is found may not be the shortest; so a shorter one is looked for without this reduction, with limited work.

use cyrano_ir::{OwnOrder, TxCriterion};

use crate::reductions::ample::{Footprint, Futures};
use crate::semantics::declared::{Look, Open, Units};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

/// What a thread that is taken as a whole counts for, if it is not known how many steps it has.
const MANY: usize = 8;

/// What a thread has before it: all that a choice of units needs to know of it. It depends on the thread's own part only.
pub(crate) struct Plan {
    /// It is at its end.
    done: bool,
    /// It stands before a call, or for another reason is taken as a whole only.
    whole: bool,
    /// It makes a choice within a call.
    chooses: bool,
    units: Vec<Unit>,
    /// The unit that is taken along where it only matters that the thread does not get past its region.
    pledge: Option<usize>,
    /// What its next steps touch.
    next: Footprint,
    /// What it can touch behind its region, or at all if it is taken as a whole.
    later: Footprint,
}

/// A unit that has not been performed.
struct Unit {
    pc: u32,
    number: usize,
    certain: bool,
    ready: bool,
    footprint: Footprint,
    /// The units of its thread that are taken with it; none if that is the whole thread.
    with: Option<With>,
}

#[derive(Clone, Copy)]
struct With {
    units: Units,
    /// How many of them are ready, and what these touch.
    ready: usize,
    footprint: Footprint,
}

/// What a step does: the first access that it performs, by its instruction, and whether it makes a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deed {
    performs: Option<u32>,
    chooses: bool,
}

impl Deed {
    pub fn of(step: &Successor) -> Self {
        Self { performs: step.accesses.first().map(|access| access.index), chooses: !step.own_choices.is_empty() }
    }
}

/// What is taken of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Taken {
    #[default]
    Nothing,
    /// Units, by their numbers.
    Units(Units),
    Whole,
}

impl Machine<'_> {
    /// What threads can touch, if stubborn sets are used.
    pub(crate) fn futures_for_stubborn(&self, criterion: Option<TxCriterion>) -> Option<Futures> {
        let ordered = matches!(criterion, Some(TxCriterion::InOrder(_) | TxCriterion::Spec(_)));
        let moments = self.named.is_some() || self.races || self.tells || self.notes_deeds;
        let goes_on = self.stops || self.liveness.is_some() || self.program.restarts();
        let used = self.config.stubborn_sets && self.own_order.is_some() && !self.config.certifies;
        (used && !ordered && !moments && !goes_on && self.headers.is_empty()).then(|| Futures::new(self))
    }
}

impl Plan {
    /// A thread that is taken as a whole or not at all.
    fn as_a_whole(done: bool, next: Footprint, later: Footprint) -> Self {
        Self { done, whole: true, chooses: false, units: Vec::new(), pledge: None, next, later }
    }

    fn new(look: &Look, later: Footprint) -> Self {
        let ready = look.open.iter().filter(|open| open.ready);
        let next = ready.fold(Footprint::default(), |all, open| all.or(open.footprint));
        let unit = |open: &Open| Unit {
            pc: open.pc,
            number: open.unit,
            certain: open.certain,
            ready: open.ready,
            footprint: open.footprint,
            with: with(&look.open, open),
        };
        let units: Vec<Unit> = look.open.iter().map(unit).collect();
        let pledges = units.iter().enumerate().filter(|(_, unit)| unit.certain && unit.ready);
        let pledge = pledges.min_by_key(|(_, unit)| unit.with.map_or(usize::MAX, |with| with.ready)).map(|(at, _)| at);
        Self { done: false, whole: false, chooses: false, units, pledge, next, later }
    }

    /// Whether a step is among those that are taken.
    pub fn takes(&self, taken: Taken, step: Deed) -> bool {
        let unit = self.units.iter().find(|unit| Some(unit.pc) == step.performs);
        match taken {
            Taken::Nothing => false,
            Taken::Whole => true,
            Taken::Units(units) => unit.is_some_and(|unit| units.contains(unit.number)) && !step.chooses,
        }
    }

    /// How many steps that are, about.
    fn count(&self, taken: Taken) -> usize {
        let ready = self.units.iter().filter(|unit| unit.ready);
        match taken {
            Taken::Nothing => 0,
            Taken::Whole if self.whole => MANY,
            Taken::Whole => 1 + ready.count(),
            Taken::Units(units) => ready.filter(|unit| units.contains(unit.number)).count(),
        }
    }
}

/// The units of a thread that come with one of them by the first two rules; none if that is the whole thread.
fn with(all: &[Open], one: &Open) -> Option<With> {
    let mut found = With { units: Units::default(), ready: 0, footprint: Footprint::default() };
    found.units.insert(one.unit);
    let mut work = vec![one];
    while let Some(open) = work.pop() {
        let comes = |other: &&Open| open.may.contains(other.unit) || open.footprint.meets(other.footprint);
        if open.ready {
            found.ready += 1;
            found.footprint = found.footprint.or(open.footprint);
            for other in all.iter().filter(comes).filter(|other| other.unit != open.unit) {
                if !found.units.contains(other.unit) {
                    found.units.insert(other.unit);
                    work.push(other);
                }
            }
        } else if !all.iter().any(|other| open.must.contains(other.unit) && found.units.contains(other.unit)) {
            let first = all.iter().find(|other| open.must.contains(other.unit))?;
            found.units.insert(first.unit);
            work.push(first);
        }
    }
    Some(found)
}

/// What is taken of each thread, if that is not everything.
pub(crate) fn choose<P: AsRef<Plan>>(plans: &[P]) -> Option<Vec<Taken>> {
    if let Some(thread) = plans.iter().position(|plan| plan.as_ref().chooses) {
        let mut taken = vec![Taken::Nothing; plans.len()];
        taken[thread] = Taken::Whole;
        return Some(taken);
    }
    let mut best: Option<(usize, Vec<Taken>)> = None;
    for thread in 0..plans.len() {
        for (at, unit) in plans[thread].as_ref().units.iter().enumerate() {
            if !(unit.certain && unit.ready) {
                continue;
            }
            let mut closing = Closing::new(plans);
            closing.take(thread, at);
            closing.close();
            let count = closing.count();
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                best = Some((count, closing.taken));
            }
            if count == 1 {
                return best.map(|(_, taken)| taken);
            }
        }
    }
    let all = |taken: &[Taken]| {
        plans.iter().zip(taken).all(|(plan, taken)| plan.as_ref().done || matches!(taken, Taken::Whole))
    };
    best.map(|(_, taken)| taken).filter(|taken| !all(taken))
}

/// A set that is being closed.
struct Closing<'p, P> {
    plans: &'p [P],
    taken: Vec<Taken>,
    /// What the ready units of each thread touch.
    touched: Vec<Footprint>,
    grows: bool,
}

impl<'p, P: AsRef<Plan>> Closing<'p, P> {
    fn new(plans: &'p [P]) -> Self {
        let (taken, touched) = (vec![Taken::Nothing; plans.len()], vec![Footprint::default(); plans.len()]);
        Self { plans, taken, touched, grows: false }
    }

    fn count(&self) -> usize {
        self.plans.iter().zip(&self.taken).map(|(plan, taken)| plan.as_ref().count(*taken)).sum()
    }

    fn take_whole(&mut self, thread: usize) {
        if self.taken[thread] != Taken::Whole {
            self.taken[thread] = Taken::Whole;
            self.touched[thread] = self.touched[thread].or(self.plans[thread].as_ref().next);
            self.grows = true;
        }
    }

    /// Takes a unit of a thread, by its place.
    fn take(&mut self, thread: usize, at: usize) {
        let unit = &self.plans[thread].as_ref().units[at];
        let before = match self.taken[thread] {
            Taken::Nothing => Units::default(),
            Taken::Units(units) => units,
            Taken::Whole => return,
        };
        if before.contains(unit.number) {
            return;
        }
        let Some(with) = &unit.with else { return self.take_whole(thread) };
        self.taken[thread] = Taken::Units(before | with.units);
        self.touched[thread] = self.touched[thread].or(with.footprint);
        self.grows = true;
    }

    /// Sees to it that a thread does not get past its region without a unit that is taken.
    fn hold(&mut self, thread: usize) {
        let plan = self.plans[thread].as_ref();
        let held = match self.taken[thread] {
            Taken::Nothing => false,
            Taken::Units(units) => plan.units.iter().any(|unit| unit.certain && units.contains(unit.number)),
            Taken::Whole => true,
        };
        match plan.pledge {
            _ if held => {}
            Some(at) => self.take(thread, at),
            None => self.take_whole(thread),
        }
    }

    fn close(&mut self) {
        while std::mem::take(&mut self.grows) {
            for thread in 0..self.plans.len() {
                if self.taken[thread] != Taken::Nothing {
                    self.bring(thread);
                }
            }
        }
    }

    /// Takes what comes with what is taken of a thread.
    fn bring(&mut self, thread: usize) {
        let touched = self.touched[thread];
        let calls = self.plans[thread].as_ref().whole;
        for other in (0..self.plans.len()).filter(|other| *other != thread) {
            let plan = self.plans[other].as_ref();
            if plan.done {
                continue;
            }
            for (at, _) in plan.units.iter().enumerate().filter(|(_, unit)| touched.meets(unit.footprint)) {
                self.take(other, at);
            }
            if calls || touched.meets(plan.later) {
                self.hold(other);
            }
        }
    }
}

impl Stepper<'_> {
    /// What a thread has before it.
    pub(crate) fn plan(&mut self, order: &OwnOrder, state: &State, thread: usize) -> Plan {
        let nothing = Footprint::default();
        let Some(futures) = self.m.stubborn.as_ref().filter(|_| !self.m.done(state, thread)) else {
            return Plan::as_a_whole(true, nothing, nothing);
        };
        let known = self.looked(order, state, thread);
        let (region, look) = (&known.0, &known.1);
        let odd = look.wrong || look.dropped || look.limited.is_some() || look.error.is_some();
        if odd || look.open.is_empty() || region.may_stop {
            let next = self.next_footprint(state, thread);
            return Plan::as_a_whole(false, next, futures.of(self.m, state, thread));
        }
        if region.size > 0 && look.choices.iter().any(|choice| choice.certain) {
            return Plan { chooses: true, ..Plan::as_a_whole(false, nothing, nothing) };
        }
        let ends = look.ends.iter().map(|end| futures.from(thread, *end));
        Plan::new(look, ends.fold(nothing, Footprint::or))
    }

    /// The steps under a program's own order that are taken from a state.
    pub(crate) fn stubborn_successors(&mut self, order: &OwnOrder, state: &State, out: &mut Successors) {
        let threads = 0..self.m.threads.len();
        if self.m.stubborn.is_some() {
            let plans: Vec<Box<Plan>> = threads.clone().map(|t| Box::new(self.plan(order, state, t))).collect();
            if let Some(taken) = choose(&plans) {
                for thread in threads.clone().filter(|thread| taken[*thread] != Taken::Nothing) {
                    let first = out.len();
                    self.own_steps(order, state, thread, out);
                    for index in first..out.len() {
                        let step = out.at(index);
                        step.dropped |= step.event.is_none() && !plans[thread].takes(taken[thread], Deed::of(step));
                    }
                }
                if out.iter_mut().any(|step| !step.dropped) {
                    self.notes.stubborn = true;
                    return;
                }
                out.clear();
            }
        }
        threads.for_each(|thread| self.own_steps(order, state, thread, out));
    }
}

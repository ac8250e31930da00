//! Ample sets (reduction `ample-sets`): in a state in which one thread's next steps concern nobody else, only these are taken.
//!
//! A thread's next steps are an *ample set* of a state if
//! 1. there is one, and none of them goes wrong;
//! 2. no location that they touch can ever be touched by another thread from where it is now, unless both only read it;
//! 3. each of them brings the thread forward: to a later instruction or, at the same one, to a shorter queue.
//!
//! **Argument.** By 2, whatever the others do before the thread steps, the same steps are possible with the same effect, and they
//! commute with all of it; so every execution from the state can be rearranged to begin with one of them. Hence all states in which
//! nothing can go on any more, deadlocks and final states, are still found, and with them outcomes and conditions on final
//! states. Steps that go wrong by themselves (a failed assertion, an error) depend on the thread's own part and what it reads, and
//! are kept by the same rearrangement, if no thread is put off for ever: a cycle of states in which only ample sets are taken would,
//! by 3, bring some thread forward for ever, and a thread's code and its queue are finite. So on every cycle there is a state from
//! which all steps are taken.
//!
//! What a thread can touch later is read off its code: all accesses that can be reached from its program counter, whole arrays where the
//! index is not a constant, what waits in its queue, and the headers that these accesses look at. Sets of locations are words; beyond 64 locations some share a bit,
//! which only makes sets larger.
//!
//! Under an invariant a fourth condition holds: none of the steps is seen by it (`invariant`, which has the argument); for races see `races`.
//!
//! With this reduction the first violation found may not be the shortest; so when one is found, the search is repeated without.

use cyrano_ir::{AccessKind, Addr, Op, Program};

use crate::semantics::guards::Headers;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::Stepper;

/// Locations that are read and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Footprint {
    pub reads: u64,
    pub writes: u64,
}

impl Footprint {
    /// Adds an access, with the header that it looks at.
    fn add(&mut self, headers: &Headers, kind: AccessKind, loc: u32) {
        if let Some(header) = headers.guard(loc, kind) {
            self.reads |= 1 << (header % 64);
        }
        let bit = 1 << (loc % 64);
        if kind != AccessKind::Store {
            self.reads |= bit;
        }
        if kind != AccessKind::Load {
            self.writes |= bit;
        }
    }

    /// An access of this kind to one of these locations, which have no headers.
    pub fn of(kind: AccessKind, locations: impl Iterator<Item = u32>) -> Self {
        let bits = locations.fold(0, |bits, loc| bits | 1 << (loc % 64));
        let (reads, writes) = (kind != AccessKind::Store, kind != AccessKind::Load);
        Self { reads: if reads { bits } else { 0 }, writes: if writes { bits } else { 0 } }
    }

    pub fn or(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }

    /// Whether it touches something that the other touches as well, and not both only read it.
    #[inline]
    pub fn meets(self, other: Self) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }
}

/// The footprints of several threads, so that those of all but one can be told.
#[derive(Clone, Copy, Default)]
pub(crate) struct Crowd {
    /// What some thread touches.
    once: Footprint,
    /// What at least two threads touch.
    twice: Footprint,
}

impl Crowd {
    #[inline]
    pub fn add(&mut self, one: Footprint) {
        self.twice.reads |= self.once.reads & one.reads;
        self.twice.writes |= self.once.writes & one.writes;
        self.once = self.once.or(one);
    }

    /// What the others touch, where this one was added.
    #[inline]
    pub fn without(self, one: Footprint) -> Footprint {
        Footprint {
            reads: self.once.reads & !one.reads | self.twice.reads,
            writes: self.once.writes & !one.writes | self.twice.writes,
        }
    }
}

/// For each thread and instruction, what it can touch from there on.
pub(crate) struct Futures(Vec<Vec<Footprint>>);

impl Futures {
    pub fn new(m: &Machine<'_>) -> Self {
        Self((0..m.program.threads.len()).map(|thread| of_thread(m, thread)).collect())
    }

    /// What a thread can touch from an instruction on.
    pub fn from(&self, thread: usize, pc: u32) -> Footprint {
        self.0[thread][pc as usize]
    }

    /// What a thread can touch from where it is now.
    pub fn of(&self, m: &Machine<'_>, state: &State, thread: usize) -> Footprint {
        let rests = &state.threads[thread];
        let mut found = self.0[thread][rests.pc as usize];
        for entry in &rests.queue {
            if let Some(kind) = entry.access() {
                found.add(&m.headers, kind, entry.loc);
            }
        }
        found
    }
}

fn of_thread(m: &Machine<'_>, thread: usize) -> Vec<Footprint> {
    let code = &m.program.threads[thread].code;
    let own: Vec<Footprint> = code.iter().map(|instr| accesses(m, &instr.op)).collect();
    let mut found = own.clone();
    loop {
        let before = found.clone();
        for pc in (0..code.len()).rev() {
            let after = |to: usize| found.get(to).copied().unwrap_or_default();
            let next = match &code[pc].op {
                Op::Halt => Footprint::default(),
                Op::Jump(to) => after(to.index()),
                Op::Branch { then_to, else_to, .. } => after(then_to.index()).or(after(else_to.index())),
                _ => after(pc + 1),
            };
            found[pc] = own[pc].or(next);
        }
        if found == before {
            return found;
        }
    }
}

/// What an instruction touches, whatever the registers are.
fn accesses(m: &Machine<'_>, op: &Op) -> Footprint {
    let mut found = Footprint::default();
    if let (Some(kind), Some(addr)) = (op.access_kind(), op.addr()) {
        each_location(m.program, addr, |loc| found.add(&m.headers, kind, loc));
    }
    found
}

fn each_location(program: &Program, addr: &Addr, visit: impl FnMut(u32)) {
    match addr {
        Addr::Fixed(loc) => std::iter::once(loc.0).for_each(visit),
        Addr::Indexed { array, index } => {
            let mut constant = true;
            index.for_each_var(&mut |_| constant = false);
            if constant {
                let element = crate::semantics::local::eval(index, &[]).and_then(|at| program.element(*array, at));
                element.into_iter().map(|loc| loc.0).for_each(visit);
            } else {
                let array = &program.arrays[array.index()];
                (array.base.0..array.base.0 + array.len).for_each(visit);
            }
        }
    }
}

impl Stepper<'_> {
    /// What the next steps of a thread touch. Locations are those of [`Stepper::touched`].
    pub(crate) fn next_footprint(&mut self, state: &State, thread: usize) -> Footprint {
        let Some(order) = self.m.own_order else { return self.m.next_footprint(state, thread) };
        let mut found = Footprint::default();
        let touched = self.own_touched(order, state, thread);
        touched.into_iter().for_each(|(loc, kind)| found.add(&self.m.headers, kind, loc));
        found
    }
}

impl Machine<'_> {
    pub(crate) fn next_footprint(&self, state: &State, thread: usize) -> Footprint {
        let mut found = Footprint::default();
        for entry in &state.threads[thread].queue {
            if let Some(kind) = entry.access() {
                found.add(&self.headers, kind, entry.loc);
            }
        }
        let op = self.op(thread, state.threads[thread].pc);
        let kind = op.access_kind().unwrap_or(AccessKind::Rmw);
        self.touched_at_pc(state, thread).into_iter().for_each(|loc| found.add(&self.headers, kind, loc));
        found
    }
}

/// Whether a step brings a thread forward. Code with an order of its own has no jumps back.
pub(crate) fn forward(m: &Machine<'_>, before: &State, after: &State, thread: usize) -> bool {
    let place = |state: &State| (state.threads[thread].pc, usize::MAX - state.threads[thread].queue.len());
    m.own_order.is_some() || place(after) > place(before)
}

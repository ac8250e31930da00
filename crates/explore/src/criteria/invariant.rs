//! Invariants: a condition at every moment of every execution (`cyrano_engine::moments` defines moments).
//!
//! States are rests of threads, and a macro-step passes moments on its way. So threads rest where the invariant would see them move: an instruction
//! is *visible* if behind it its thread stands at other points that the invariant names, or if it writes a register that the invariant reads, and a thread
//! rests before every visible instruction. It also rests at a fence as long as an access before it, which nothing behind the fence may overtake any more, is
//! outstanding; such a thread is not past the fence (rule 2). The invariant is judged in every state.
//!
//! **Argument** (macro-steps). A step performs one access, or one section, from the queue or at the program counter, or executes one local instruction at
//! which its thread rests; then the thread runs on over instructions that are not visible and touch no memory. The moments on the way have the memory, the points
//! and the named registers of the state at the end, so the invariant has the same value in all of them. That a thread stops earlier than it would otherwise
//! changes no execution: what it does between rests nobody else sees. Resting at the fence changes none either: whatever comes behind it, in
//! program order, comes behind the outstanding access in every memory order, so performing that access first is no loss. And every state is a moment: what is
//! in a queue is deferred by the model (rule 2), conditions that were passed were known (rule 3), sections are issued and performed as a whole (rule 4).
//!
//! **Argument** (ample sets). A step that an ample set consists of alone must not be visible to the invariant: the thread stands at the same points before and behind
//! it, named registers and locations stay what they are. Then putting it first leaves the sequence of what the invariant sees as it was, up to repetitions,
//! and with the conditions of `ample` every value that some moment shows is still found (Peled's conditions C0 to C3 for stuttering).
//!
//! **Argument** (dead registers). A register that the invariant reads is live everywhere. Timestamps that it reads are not renumbered. Threads are not exchanged.

use cyrano_engine::Violation;
use cyrano_ir::dataflow::{successors, writes};
use cyrano_ir::{FenceSet, InstrId, Invariant, Op, Program, Property, StateVar, ThreadId};

use crate::faults::Fault;
use crate::semantics::machine::Machine;
use crate::semantics::state::{State, What};

/// What an invariant sees.
pub(crate) struct Named {
    invariant: Invariant,
    threads: Vec<Seen>,
    /// The locations that it reads.
    locations: Vec<u32>,
}

/// What an invariant sees of one thread.
struct Seen {
    /// For every instruction whether the thread rests before it.
    visible: Vec<bool>,
    /// For every instruction at which of the named points the thread stands there.
    points: Vec<Vec<bool>>,
    registers: Vec<u32>,
    /// Whether it sees anything of it.
    any: bool,
}

impl Named {
    /// What the property sees, if it is an invariant.
    pub fn of(program: &Program, property: &Property) -> Option<Self> {
        let Property::Invariant(invariant) = property else { return None };
        let mut locations = Vec::new();
        invariant.cond.for_each_var(&mut |var| {
            if let StateVar::Loc(loc) = var {
                locations.push(loc.0);
            }
        });
        locations.sort_unstable();
        locations.dedup();
        let threads = program.thread_ids().map(|thread| Seen::of(program, invariant, thread)).collect();
        Some(Self { invariant: invariant.clone(), threads, locations })
    }

    /// The locations that it reads, and the threads that it sees something of.
    pub fn depends(&self) -> (&[u32], impl Iterator<Item = usize>) {
        let threads = self.threads.iter().enumerate().filter(|(_, seen)| seen.any).map(|(thread, _)| thread);
        (&self.locations, threads)
    }
}

impl Seen {
    fn of(program: &Program, invariant: &Invariant, thread: ThreadId) -> Self {
        let code = &program.thread(thread).code;
        let points = invariant.points().into_iter().map(|point| program.point(point));
        let points: Vec<_> = points.filter(|point| point.thread == thread).collect();
        let stands = |pc: usize| points.iter().map(|point| point.has(InstrId::new(pc))).collect::<Vec<bool>>();
        let points: Vec<Vec<bool>> = (0..code.len()).map(stands).collect();
        let registers = invariant.registers(thread);
        let any = !registers.is_empty() || points.iter().flatten().any(|stands| *stands);
        let visible = code.iter().enumerate().map(|(pc, instr)| {
            let moves = successors(&instr.op, InstrId::new(pc)).any(|next| points[next.index()] != points[pc]);
            let written = writes(&instr.op).into_iter().flat_map(|write| write.registers());
            // Behind a section is where it ends, by whatever way.
            any && (moves
                || matches!(instr.op, Op::AtomicBegin)
                || written.into_iter().any(|reg| registers.contains(&reg)))
        });
        let visible = visible.collect();
        Self { visible, points, registers: registers.into_iter().map(|register| register.0).collect(), any }
    }
}

impl Machine<'_> {
    /// Whether a thread rests before an instruction because the invariant sees it executed, or because it may be stopped there.
    #[inline]
    pub(crate) fn is_visible(&self, thread: usize, pc: u32) -> bool {
        if self.stops {
            return self.may_stop_before(thread, pc);
        }
        let named = self.named.as_ref().filter(|_| !self.config.has_fault(Fault::PassPoints));
        named.is_some_and(|named| named.threads[thread].visible[pc as usize])
    }

    /// The registers of a thread that the invariant reads.
    pub(crate) fn named_registers(&self, thread: usize) -> &[u32] {
        self.named.as_ref().map_or(&[], |named| &named.threads[thread].registers)
    }

    /// Whether a thread waits at a fence: an access before it is outstanding that nothing behind it may overtake.
    pub(crate) fn waits_at(&self, state: &State, thread: usize, fence: FenceSet) -> bool {
        if self.named.is_none() {
            return false;
        }
        let mut fences = fence;
        state.threads[thread].queue.iter().rev().any(|entry| match entry.what {
            What::Fence(set) => {
                fences |= set;
                false
            }
            What::Access(kind) => !self.model.reordering().may_be_outstanding(kind, fences),
            _ => false,
        })
    }

    /// Whether the invariant sees a difference between two states that a step of a thread leads between.
    pub(crate) fn sees_step(&self, before: &State, after: &State, thread: usize) -> bool {
        let Some(named) = &self.named else { return false };
        let (seen, base) = (&named.threads[thread], self.threads[thread].base);
        let stands = |state: &State| &seen.points[state.threads[thread].pc as usize];
        let differ = |values: fn(&State) -> &Vec<i128>, at: usize| values(before)[at] != values(after)[at];
        stands(before) != stands(after)
            || seen.registers.iter().any(|register| differ(|state| &state.regs, base + *register as usize))
            || named.locations.iter().any(|loc| differ(|state| &state.memory, *loc as usize))
    }

    /// What is wrong with a state, if the invariant does not hold in it; and whether a thread stands at a point that it names.
    pub(crate) fn moment(&self, state: &State) -> (Option<Violation>, bool) {
        let Some(named) = self.named.as_ref().filter(|_| self.unfinished_setup(state).is_none()) else {
            return (None, false);
        };
        let value = named.invariant.cond.eval(&mut |var| {
            Ok(match var {
                StateVar::Loc(loc) => state.memory[loc.index()],
                StateVar::Reg(thread, register) => state.regs[self.threads[thread.index()].base + register.index()],
                StateVar::At(point) => {
                    let point = self.program.point(*point);
                    point.has(InstrId(state.threads[point.thread.index()].pc)).into()
                }
            })
        });
        let at = |(seen, thread): (&Seen, &crate::semantics::state::ThreadState)| {
            seen.points[thread.pc as usize].iter().any(|stands| *stands)
        };
        let stood = named.threads.iter().zip(&state.threads).any(at);
        // A condition that has no value does not hold.
        let broken = value.map_or(true, |value| value == 0);
        (broken.then(|| self.standing(state)), stood)
    }

    /// The violation with where threads stand, if the state has a history.
    pub(crate) fn standing(&self, state: &State) -> Violation {
        Violation::Invariant {
            standing: state.threads.iter().map(|thread| (thread.issued, InstrId(thread.pc))).collect(),
        }
    }
}

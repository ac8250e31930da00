//! Idle iterations of loops (reduction `idle-iterations`): an iteration that changes nothing is not followed by another one.
//!
//! A retry loop goes round again because somebody else was faster; a spinning loop because it has nothing to do yet. Such an iteration
//! writes nothing, and the next one starts where it started. Bounds that had to allow for all of them grow with everything that other threads do; without
//! them a loop is repeated only as often as its own iterations change memory.
//!
//! **Which loops.** No register that is live before the head is written anywhere in the loop ([`candidates`]). No operation begins or ends in it, and
//! the head is not inside an atomic section. An iteration is *idle* if it comes back to the head and
//! executes no store, no read-modify-write that writes and no assertion, and no computation in it goes wrong.
//!
//! **Argument.** Take an execution and leave out all accesses, fences, choices and sections of an idle iteration; keep the memory order between the rest.
//!
//! - The thread does the rest as before: it starts from the head with the same live registers, which hold the same values, computed from the same loads.
//! - Kept pairs, the program's own order, fences between two accesses, dependencies (registers have the same sources; control has fewer), sections and
//!   axiom 7 ask for a subset of what they asked for. Values: no store is gone, and which stores a load sees depends on the order of the load and of stores only.
//! - Final memory, final registers that matter, errors, assertions, limits, and threads that wait before a section are the same.
//!
//! So whatever can be asked about is shown by an execution without idle iterations, but for threads that never come to an end: in a prefix that shows an
//! error another thread may be left with nothing but idle iterations. Therefore idle iterations are not forbidden: a thread
//! *stops* after the first one, which is the end of a prefix like any other ([`crate::walk`]). It has not halted, so it
//! shows no outcome and no deadlock, and under a serial model its operation is unfinished.
//! A loop that can only idle needs no bound: going round for ever is not an outcome.
//!
//! Range analysis does not use this: under some models its ranges must not rest on which stores are executed.

use cyrano_ir::dataflow::{Liveness, writes};
use cyrano_ir::{InstrId, Op, Thread};

use crate::event::Run;
use crate::gates::Gates;
use crate::lit::Lit;
use crate::loops::{LoopId, Loops};

/// How much of a run there was when an iteration began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    events: usize,
    errors: usize,
    asserted: usize,
}

impl Mark {
    /// Now.
    pub(crate) fn of(run: &Run) -> Self {
        Self { events: run.events.len(), errors: run.errors.len(), asserted: run.asserted.len() }
    }

    /// Whether anything has been changed or asserted, or gone wrong, since then.
    ///
    /// Blocks are followed in the order of their keys, in which each iteration of a loop is one piece; and each of these literals implies
    /// that its instruction is executed. So what is new since the head was followed is what this iteration did.
    pub(crate) fn effects(self, gates: &mut Gates, run: &Run) -> Lit {
        let stores = run.events[self.events..].iter().filter_map(|event| event.write.as_ref());
        let noticed = run.errors[self.errors..].iter().chain(&run.asserted[self.asserted..]);
        let effects: Vec<Lit> = stores.map(|(_, writes)| *writes).chain(noticed.copied()).collect();
        gates.any(effects)
    }
}

/// For each loop whether its iterations can be idle.
pub(crate) fn candidates(thread: &Thread, loops: &Loops, live: &Liveness) -> Vec<bool> {
    let keeps = |id: LoopId, head: InstrId| {
        let mut body = thread.code.iter().enumerate().filter(|(pc, _)| loops.contains(id, InstrId::new(*pc)));
        body.all(|(_, instr)| {
            let bounds = matches!(instr.op, Op::OperationBegin(_) | Op::OperationEnd | Op::Transaction(_));
            let mut written = writes(&instr.op).into_iter().flat_map(|write| write.registers());
            !bounds && !written.any(|register| live.is_live(head, register))
        })
    };
    (0u32..).map(LoopId).zip(&loops.heads).map(|(id, head)| keeps(id, *head)).collect()
}

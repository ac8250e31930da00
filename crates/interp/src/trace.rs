//! What one thread does when its loads return certain values: the material that memory orders are tried on.

use cyrano_ir::{EvalError, InstrId};

use crate::issue;
use crate::machine::Machine;
use crate::order::{Event, Written};
use crate::set::EventSet;

/// Why a trace ends where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// The thread ran to its end.
    Done,
    /// An `assume` outside atomic sections did not hold.
    Dropped,
    /// The thread waits at the start of the section at this instruction.
    Waiting(InstrId),
    /// The thread has not begun its next operation, or what comes next outside of operations. Under a serial model an operation that is not finished excludes
    /// what comes after it, so that not going on is a way for others to do so.
    Paused,
    /// The bound on jumps back, or on instructions, was reached.
    Stopped,
    /// The `limit` at this instruction does not hold. The events from number `cut` on stand for what the section around it
    /// looks at, if there is one; they write nothing.
    Limited {
        /// The instruction.
        instr: InstrId,
        /// The number of events before the section, or of all events.
        cut: usize,
    },
    /// The thread has not started, because the setup thread is not done.
    NotStarted,
    /// The way on, an address or an index could not be computed.
    Failed(InstrId, EvalError),
    /// The section that starts at this instruction does not end. The events from number `cut` on stand for what the section
    /// looks at; they write nothing.
    Diverges {
        /// The start of the section.
        instr: InstrId,
        /// The number of events before it.
        cut: usize,
    },
}

/// A path of one thread.
#[derive(Clone)]
pub(crate) struct Trace<'p> {
    /// The machine at the end, for a waiting thread before the section.
    pub(crate) machine: Machine<'p>,
    pub(crate) events: Vec<Event>,
    pub(crate) status: Status,
    /// Numbers of the location-value pairs that it reads, apart from initial values; see `combine`.
    pub(crate) needs: EventSet,
    /// Numbers of the location-value pairs that it writes.
    pub(crate) offers: EventSet,
}

impl<'p> Trace<'p> {
    /// The trace of a machine that stops.
    pub(crate) fn new(machine: Machine<'p>, status: Status) -> Self {
        let events = issue::events(&machine);
        Self { machine, events, status, needs: EventSet::default(), offers: EventSet::default() }
    }

    /// The trace of a machine that was `before` a section and is now `inside` it without an end in sight.
    pub(crate) fn diverging(before: Machine<'p>, inside: Machine<'p>) -> Self {
        let status = Status::Diverges { instr: before.pc, cut: before.events.len() };
        Self::looking(before, inside, status)
    }

    /// The trace of a machine that was `before` a section and is now at a `limit` `inside` it that does not hold. What goes
    /// wrong in the section does not count, for it is never performed.
    pub(crate) fn limited(before: Machine<'p>, mut inside: Machine<'p>) -> Self {
        let status = Status::Limited { instr: inside.pc, cut: before.events.len() };
        inside.failed.clone_from(&before.failed);
        inside.errors.clone_from(&before.errors);
        inside.errors_before = before.errors_before;
        inside.asserted = before.asserted;
        Self::looking(before, inside, status)
    }

    /// The section is never performed, so its accesses only look. One access per location and kind is enough: they
    /// are consecutive, so later ones meet the same order and see what the section itself left.
    fn looking(before: Machine<'p>, mut inside: Machine<'p>, status: Status) -> Self {
        let cut = before.events.len();
        let mut seen = Vec::new();
        let mut touched = Vec::new();
        let mut kept = inside.events.split_off(cut);
        kept.retain_mut(|event| {
            event.written = Written::Nothing;
            if touched.contains(&event.loc) {
                event.read = None;
            } else {
                touched.push(event.loc);
            }
            for set in [&mut event.data, &mut event.flow, &mut event.address, &mut event.control] {
                *set = set.below(cut);
            }
            let key = (event.loc, event.kind);
            let fresh = !seen.contains(&key);
            if fresh {
                seen.push(key);
            }
            fresh
        });
        inside.events.append(&mut kept);
        // What a fence inside puts before one access of the section comes before all of it.
        inside.fences.iter_mut().for_each(|(at, _)| *at = (*at).min(cut));
        inside.choices = before.choices;
        let mut trace = Self::new(inside, status);
        trace.events[cut..].iter_mut().for_each(|event| event.guard = None);
        trace
    }

    /// Whether the event of this number only stands for what a section that is never performed looks at.
    pub(crate) fn only_looks(&self, index: usize) -> bool {
        match self.status {
            Status::Diverges { cut, .. } | Status::Limited { cut, .. } => index >= cut,
            _ => false,
        }
    }

    /// Whether a bound or a `limit` cut it off.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.status, Status::Stopped | Status::Limited { .. })
    }

    /// Whether the execution goes wrong in this thread, apart from waiting for ever.
    pub(crate) fn is_wrong(&self) -> bool {
        let stops = matches!(self.status, Status::Failed(..) | Status::Diverges { .. });
        stops || !self.machine.failed.is_empty() || !self.machine.errors.is_empty()
    }

    /// Whether it ends in a final state that counts: no computation went wrong. A failed assertion does not matter here.
    pub(crate) fn is_final(&self) -> bool {
        self.status == Status::Done && self.machine.errors.is_empty()
    }

    /// An estimate of its size.
    pub(crate) fn bytes(&self) -> u64 {
        let events = self.events.len() * (size_of::<Event>() + size_of::<issue::Issued>());
        (events + self.machine.registers.len() * 64 + size_of::<Self>()) as u64
    }
}

//! Threads that have performed accesses ahead of the text, under a program's own order (axiom 9 of `cyrano_memory`).
//!
//! A thread stands at the first access of its region of which it is not so that everything before it was performed before everything behind it: one that is
//! not performed, or one that a later access has overtaken. What it has read up to there is in its registers; accesses and choices further
//! on are *ahead*. Regions, from one full fence, call or response to the next, have no jumps back, so an access ahead is known by its instruction. What a thread can do
//! from here on depends on its place, its registers, and the accesses ahead with what they have read, in their order: two moments at which these agree have
//! the same future.
//!
//! Which choices have been made by a moment is not recorded. A choice counts as made if something behind it is performed, and where nothing is, as long as it takes no name.

use cyrano_engine::StepFacts;
use cyrano_ir::dataflow::{Held, Live, Names, successors};
use cyrano_ir::{AccessKind, FenceSet, InstrId, Op, RegId, ThreadId};

use super::Claim;
use super::rest::{Ahead, Rest, Until};
use crate::error::ReplayError;

/// A choice of the whole execution.
struct Chosen {
    instr: InstrId,
    register: Option<RegId>,
    value: i128,
    /// How many accesses and choices of its thread stand before it.
    accesses: usize,
    number: usize,
}

impl Rest<'_> {
    /// What is ahead, as values that may be looked at again.
    pub(super) fn live_ahead(&self, thread: ThreadId) -> impl Iterator<Item = Live> {
        let values = self.ahead.iter().filter_map(|ahead| ahead.value);
        values.map(move |(register, value)| (thread, register.index(), value))
    }
}

impl<'a> Claim<'a> {
    /// Whether the program's own order is followed.
    pub(super) fn is_out_of_order(&self) -> bool {
        self.model.own_order(self.program).is_some()
    }

    /// All threads after so many steps.
    pub(super) fn rests_out_of_order(&self, steps: usize) -> Result<Vec<Rest<'a>>, ReplayError> {
        self.program.thread_ids().map(|thread| self.rest_out_of_order(thread, steps)).collect()
    }

    fn rest_out_of_order(&self, thread: ThreadId, steps: usize) -> Result<Rest<'a>, ReplayError> {
        let chosen = self.chosen(thread)?;
        let own = self.own(thread, steps);
        let first = first_missing(&own);
        let here = self.rest_at(thread, steps, first, &chosen)?;
        let overtaken = |at: &usize| {
            let place = own.iter().position(|step| number(step) == *at);
            place.is_none_or(|place| own[..place].iter().any(|step| number(step) > *at))
        };
        let front = (region_start(&here)..first).find(overtaken).unwrap_or(first);
        let mut rest = if front == first { here } else { self.rest_at(thread, steps, front, &chosen)? };
        let beyond: Vec<&StepFacts> = own.into_iter().filter(|step| number(step) >= front).collect();
        let made = rest.machine.choices.len();
        let last = beyond.iter().map(|step| number(step)).max();
        let before = |choice: &&Chosen| choice.number >= made && last.is_some_and(|last| choice.accesses <= last);
        let choices = chosen.iter().filter(before).map(|choice| Ahead {
            instr: choice.instr,
            value: choice.register.map(|register| (register, choice.value)),
        });
        rest.ahead = beyond.into_iter().map(|step| self.access_ahead(step)).chain(choices).collect();
        Ok(rest)
    }

    /// A thread after so many of its accesses, before the next name that it takes.
    fn rest_at(
        &self,
        thread: ThreadId,
        steps: usize,
        issued: usize,
        chosen: &[Chosen],
    ) -> Result<Rest<'a>, ReplayError> {
        let names = self.names()?;
        let takes = |choice: &&Chosen| choice.accesses >= issued && names.pool_at(thread, choice.instr).is_some();
        let choices = chosen.iter().find(takes).map_or(chosen.len(), |choice| choice.number);
        self.rest(thread, &self.steps[..steps], Until { issued, choices }, &mut |_, _| {})
    }

    fn access_ahead(&self, step: &StepFacts) -> Ahead {
        let op = &self.program.instr(step.access.thread, step.instr).op;
        let register = op.dst().map(|dst| RegId::new(dst.registers().start));
        Ahead { instr: step.instr, value: register.zip(step.access.read) }
    }

    /// The choices of a thread in the order of the text.
    fn chosen(&self, thread: ThreadId) -> Result<Vec<Chosen>, ReplayError> {
        let mut chosen = Vec::new();
        let all = self.execution.choices[thread.index()].len();
        let until = Until { issued: self.made(thread, self.steps), choices: all };
        self.rest(thread, self.steps, until, &mut |machine, value| {
            let register = machine.op().dst().map(|dst| RegId::new(dst.registers().start));
            let (accesses, number) = (machine.events.len(), machine.choices.len());
            chosen.push(Chosen { instr: machine.pc, register, value, accesses, number });
        })?;
        Ok(chosen)
    }

    /// The steps of a thread among the first so many.
    fn own(&self, thread: ThreadId, steps: usize) -> Vec<&'a StepFacts> {
        self.steps[..steps].iter().filter(|step| step.access.thread == thread).collect()
    }

    /// Which names are held right before a thread's access of this number, the first one behind its choice of a name.
    pub(super) fn held_out_of_order(
        &self,
        names: &Names,
        thread: ThreadId,
        access: usize,
    ) -> Result<Held, ReplayError> {
        let is_it = |step: &StepFacts| step.access.thread == thread && number(step) == access;
        let steps = self.steps.iter().position(is_it).unwrap_or(self.steps.len());
        let rests = self.rests_out_of_order(steps)?;
        let each = self.program.thread_ids().zip(&rests);
        let of = |(thread, rest): (ThreadId, &Rest<'_>)| {
            self.live(thread, &rest.machine).into_iter().chain(rest.live_ahead(thread)).collect::<Vec<_>>()
        };
        let live: Vec<Live> = each.flat_map(of).collect();
        Ok(names.held(&self.memory(&self.steps[..steps]), &live))
    }

    /// Whether all that a thread could still do in its region comes after the section that it stands at, which is closed at every moment of a round.
    pub(super) fn stays_blocked_out_of_order(&self, thread: ThreadId) -> Result<bool, ReplayError> {
        let own = self.own(thread, self.lasso.stem.steps);
        let first = first_missing(&own);
        let rest = self.rest_at(thread, self.lasso.stem.steps, first, &self.chosen(thread)?)?;
        let Some(order) = self.model.own_order(self.program).filter(|_| self.stays_blocked(&rest.machine)) else {
            return Ok(false);
        };
        let code = &self.program.thread(thread).code;
        let begin = rest.machine.pc.index();
        let end = (begin..code.len()).find(|at| matches!(code[*at].op, Op::AtomicEnd)).unwrap_or(code.len());
        let (mut work, mut reached) = (vec![end], vec![false; code.len()]);
        while let Some(at) = work.pop() {
            let Some(op) = code.get(at).map(|instr| &instr.op).filter(|op| !is_barrier(op)) else { continue };
            if !std::mem::replace(&mut reached[at], true) {
                work.extend(successors(op, InstrId::new(at)).map(InstrId::index));
            }
        }
        // Whatever follows the section through the text lists it; the accesses of another section follow it together.
        let mut at = end + 1;
        while at < code.len() {
            let inside = matches!(code[at].op, Op::AtomicBegin);
            let rest = code[at..].iter().position(|instr| matches!(instr.op, Op::AtomicEnd)).filter(|_| inside);
            let unit = at..at + rest.unwrap_or(0) + 1;
            let listed =
                |at: usize| order.of(thread, InstrId::new(at)).iter().any(|from| (begin..=end).contains(&from.index()));
            let performed = |at: usize| own.iter().any(|step| number(step) >= first && step.instr.index() == at);
            let access = |at: &usize| code[*at].op.access_kind().is_some();
            let after = unit.clone().any(listed);
            if reached[at] && !after && unit.clone().filter(access).any(|at| !performed(at)) {
                return Ok(false);
            }
            at = unit.end;
        }
        Ok(true)
    }
}

/// The number of an access among those of its thread.
fn number(step: &StepFacts) -> usize {
    step.access.index as usize
}

/// The number of the first access that is not performed.
fn first_missing(own: &[&StepFacts]) -> usize {
    let mut performed: Vec<usize> = own.iter().map(|step| number(step)).collect();
    performed.sort_unstable();
    performed.iter().enumerate().find(|(at, number)| at != *number).map_or(performed.len(), |(at, _)| at)
}

/// Whether a region ends here.
fn is_barrier(op: &Op) -> bool {
    match op {
        Op::Fence(fence) => fence.pairs().contains(FenceSet::FULL),
        Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) | Op::Halt => true,
        _ => false,
    }
}

/// The number of the first access of the region that a thread is in.
fn region_start(rest: &Rest<'_>) -> usize {
    let full = rest.machine.fences.iter().filter(|(_, set)| set.contains(FenceSet::FULL)).map(|(at, _)| *at);
    let marks = rest.machine.events.iter().enumerate().filter(|(_, event)| event.kind == AccessKind::Mark);
    full.chain(marks.map(|(at, _)| at + 1)).max().unwrap_or(0)
}

//! Loops: how often a thread has jumped back, and whether it changes anything.
//!
//! **Idle iterations.** A thread that comes again to where a loop begins, with the registers of the last time, and has only read, passed fences, chosen, and in
//! read-modify-writes written what it had read since, does not go on:
//! it [spins](Status::Spins). *Argument.* Take an execution in which it does go on, and take the iteration out of it: the thread does the same afterwards, others see
//! no difference, and every relation of the models here that could forbid the execution becomes smaller (`po` and `fr` lose events, happens-before loses what the
//! reads synchronised with, nothing is added; who read from such a read-modify-write reads from what that read, with which it synchronised as well). So whatever is observed of executions that end is observed without idle iterations. What only an idle iteration shows,
//! a race, is there where the thread goes on after one of them ([`crate::races`]). A read of a spinning thread can be revisited like any other, and the thread goes on then.

use cyrano_ir::InstrId;

use super::{Next, Runner, Status};
use crate::code::Code;
use crate::faults::Fault;
use crate::rows::EventId;

impl Runner {
    /// Of a thread that spins, or jumped back too often, where the loop begins, and the events of an iteration that changed nothing but, perhaps, wrote what it had
    /// read.
    pub(crate) fn spins_at(&self) -> Option<(InstrId, &[EventId])> {
        let round = match self.status() {
            Some(Status::Spins) => self.frame().head,
            Some(Status::Stopped) => self.frame().round,
            _ => None,
        };
        round.map(|(head, events)| (head, &self.events[events as usize..]))
    }

    /// Lets a thread that spins go through its loop once more.
    pub(crate) fn go_round(&mut self, code: &Code<'_>) {
        if self.spins_at().is_some() {
            self.frame_mut().head = None;
            self.advance(code);
        }
    }

    /// Whether the thread stands where a loop begins as it did the last time, and has changed nothing since.
    pub(super) fn is_idle(&mut self, code: &Code<'_>, head: InstrId) -> bool {
        let last = self.frame().head;
        let same = last.is_some_and(|(last, _)| last == head) && self.is_as_kept(code, head);
        if same {
            if !code.lingers || self.frame().lingered {
                return true;
            }
            self.frame_mut().lingered = true;
        }
        let events = self.events.len() as u32;
        self.frame_mut().head = Some((head, events));
        self.keep(code);
        false
    }

    /// Whether the registers that matter where a loop begins hold what they held the last time.
    fn is_as_kept(&mut self, code: &Code<'_>, head: InstrId) -> bool {
        let registers = self.registers_mut(code);
        let looks = |_: &&usize| code.fault != Some(Fault::IdleRegisters);
        code.heads[head.index()]
            .iter()
            .flatten()
            .filter(looks)
            .all(|register| registers[*register] == registers[code.kept + register])
    }

    fn keep(&mut self, code: &Code<'_>) {
        self.registers_mut(code).copy_within(..code.registers, code.kept);
    }

    /// Goes on there, unless the thread has jumped back too often.
    pub(super) fn jump(&mut self, code: &Code<'_>, to: InstrId) -> Option<Next> {
        let from = std::mem::replace(&mut self.frame_mut().pc, to);
        if to > from {
            return None;
        }
        let count = &mut self.registers_mut(code)[code.counters[from.index()]?];
        *count += 1;
        if *count <= code.iterations {
            return None;
        }
        let head = self.frame().head.filter(|(head, _)| *head == to && code.heads[to.index()].is_some());
        self.frame_mut().round = head.filter(|_| self.is_as_kept(code, to));
        Some(Next::End(Status::Stopped))
    }
}

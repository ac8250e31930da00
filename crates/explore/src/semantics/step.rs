//! Steps: from a resting state to its successors.
//!
//! A step of a thread performs one access (or one atomic section), or takes a decision, and then runs the thread on to its
//! next rest. Between rests only registers, the thread's own queue and its program counter change, which no other thread can
//! see; so it does not matter when that happens, and doing it at once is sound (reduction `macro-steps`).
//!
//! A thread rests at
//! - an access that is not deferred under the model, or an atomic section with one;
//! - an event of a transaction that cannot happen yet or, where events are steps of their own, any;
//! - a choice: resting there, paths that lead to the same state are found to be the same;
//! - a branch or `assume` whose condition is pending;
//! - a deferred access when the queue is as long as it may get (the result is then `bounded`);
//! - an `assume` or `limit` that failed: this execution is dropped, but what others do in it still counts;
//! - its end;
//! - an event of a transaction, where the set of all histories is asked about;
//! - where an invariant sees it move, and a fence that it is not past for the invariant (`invariant`);
//! - any access or section, and wherever it stands when memory has performed something for it, if threads may be stopped (`operations`);
//! - any local instruction, once it has run for [`PATIENCE`] instructions without a rest, so that a loop without shared
//!   accesses becomes a cycle of states instead of a hang.

use cyrano_ir::{AccessKind, Op};

use crate::faults::Fault;
use crate::reductions::timestamps::Increment;
use crate::semantics::declared::Looks;
use crate::semantics::machine::Machine;
use crate::semantics::queue::section_end;
use crate::semantics::state::State;

pub(crate) use super::access::record_error;
pub(crate) use super::notes::Notes;
pub(crate) use super::successors::{MOST_SUCCESSORS, Successor, Successors};

/// How many instructions a thread runs between rests at most.
pub(crate) const PATIENCE: usize = 4096;

/// Computes successors.
pub(crate) struct Stepper<'m> {
    pub m: &'m Machine<'m>,
    pub notes: Notes,
    /// The timestamps of the state that the current step starts from.
    pub started_with: Vec<(cyrano_ir::dataflow::Class, i128)>,
    /// Which instructions threads have come to; see `reached`.
    pub reached: Vec<bool>,
    /// Whether there was a call or a response since somebody cleared this.
    pub speaks: bool,
    /// Whether criteria do not listen: what they would hear is written down; see `hearing`.
    pub apart: bool,
    /// What timestamps are incremented, if that is to be written down; see `timestamps`.
    pub increments: Option<Vec<Increment>>,
    /// What hurried accesses would touch, if they are to be named instead of performed.
    pub hurried: Option<Vec<u32>>,
    /// What accesses would touch, if they are to be named instead of performed; see `declared`.
    pub touching: Option<Vec<(u32, AccessKind)>>,
    /// What regions look like; see `declared`.
    pub looks: Looks,
}

impl<'m> Stepper<'m> {
    pub fn new(m: &'m Machine<'m>) -> Self {
        Self {
            m,
            notes: Notes::default(),
            started_with: Vec::new(),
            reached: vec![false; m.instructions()],
            speaks: false,
            apart: false,
            increments: None,
            hurried: None,
            touching: None,
            looks: Looks::default(),
        }
    }

    /// The states in which every thread has run to its first rest. More than one if a thread begins with a choice.
    pub fn initial(&mut self, out: &mut Successors) {
        out.clear();
        out.start(&self.m.initial(), 0);
        if self.m.own_order.is_some() {
            return;
        }
        if self.m.program.setup.is_some() {
            self.start_setup(out);
        } else {
            for thread in 0..self.m.threads.len() {
                for index in 0..out.len() {
                    out.at(index).thread = thread;
                    self.drain(out, index, thread);
                }
            }
        }
        self.sort_queues(out, 0);
    }

    /// All successors of a resting state.
    pub fn successors(&mut self, state: &State, out: &mut Successors) {
        out.clear();
        self.note_timestamps(state);
        if let Some(order) = self.m.own_order {
            self.stubborn_successors(order, state, out);
            return self.note_progress(state, out);
        }
        match self.m.amid(state) {
            Some(thread) => self.steps_of(state, thread, out),
            None if self.m.shadows.is_some() && !self.m.symmetric_threads.is_empty() => {
                let looks = self.m.looks_like(state);
                let first = looks.iter().enumerate().filter(|(thread, like)| thread == *like);
                first.for_each(|(thread, _)| self.steps_of(state, thread, out));
            }
            None => (0..self.m.threads.len()).for_each(|thread| self.steps_of(state, thread, out)),
        }
        self.run_whole(out);
        self.compare_shadows(out);
        self.note_progress(state, out);
    }

    /// The steps of one thread, behind what is there already.
    pub(crate) fn steps_of(&mut self, state: &State, thread: usize, out: &mut Successors) {
        if let Some(order) = self.m.own_order {
            return self.own_steps(order, state, thread, out);
        }
        let setup = self.m.unfinished_setup(state);
        let waits = state.running != 0 && usize::from(state.running - 1) != thread;
        if setup.is_some_and(|setup| setup != thread) || waits || self.m.rests(thread) {
            return;
        }
        let from = out.len();
        self.perform_deferred(state, thread, out);
        let at_pc = out.len();
        self.step_at_pc(state, thread, out);
        out.iter_mut().skip(at_pc).for_each(|step| step.moves = true);
        match setup {
            Some(setup) => {
                self.start_others(setup, out);
                self.sort_queues(out, from);
            }
            None => self.canonicalise(out, from),
        }
    }

    /// The steps of one thread as far as they depend on its own part and what it touches.
    pub(crate) fn local_steps_of(&mut self, state: &State, thread: usize, out: &mut Successors) {
        match self.m.own_order {
            Some(order) => self.own_steps_by_guess(order, state, thread, out),
            None => self.steps_of(state, thread, out),
        }
    }

    /// One successor for every deferred access that is ready; an atomic section counts as one.
    fn perform_deferred(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let queue = &state.threads[thread].queue;
        let (mut position, mut oldest) = (0, true);
        while position < queue.len() {
            if queue[position].access().is_some() {
                if self.m.ready(queue, position) {
                    let index = out.start(state, thread);
                    out.at(index).oldest = oldest;
                    self.perform_section(out, index, position);
                    if !self.m.stops {
                        self.drain(out, index, thread);
                    }
                }
                oldest = false;
                position = section_end(queue, position).unwrap_or(queue.len());
            }
            position += 1;
        }
    }

    /// Performs the deferred access at `position` and the rest of its atomic section.
    fn perform_section(&mut self, out: &mut Successors, index: usize, mut position: usize) {
        let successor = out.at(index);
        loop {
            let thread = successor.thread;
            let chained = successor.state.threads[thread].queue[position].chained;
            self.perform_entry(successor, position);
            if !chained {
                self.open_blocks(successor, position);
                break;
            }
            let queue = &successor.state.threads[thread].queue;
            let next = (position..queue.len()).find(|p| queue[*p].access().is_some());
            position = next.expect("a section that is performed was issued completely");
        }
    }

    /// The step that a thread can take at its program counter, if any.
    pub(crate) fn step_at_pc(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let pc = state.threads[thread].pc;
        let op = self.m.op(thread, pc);
        match op {
            Op::Access(_) => {
                if op.access_kind().is_some_and(|kind| !self.m.defers(kind)) {
                    let index = out.start(state, thread);
                    if self.access_now(out.at(index), state.threads[thread].queue.len()) {
                        self.after_access(out.at(index), pc);
                        self.drain(out, index, thread);
                    } else {
                        out.retract(index);
                    }
                } else if self.m.is_visible(thread, pc) {
                    self.leave(state, thread, out);
                }
            }
            Op::AtomicBegin if !self.m.config.has_fault(Fault::SplitAtomic) => {
                let issued = self.m.is_visible(thread, pc) && self.m.defers_any() && self.leave(state, thread, out);
                if !issued {
                    self.section_now(state, thread, out);
                }
            }
            Op::Halt => {}
            Op::Choose { dst, from } => {
                for value in from {
                    self.step_by_choice(state, thread, dst, *value, out);
                }
            }
            Op::Transaction(event) if !self.m.can_happen(&state.threads[thread].queue, *event) => {}
            Op::Transaction(event) if self.m.events_wait => {
                let index = out.start(state, thread);
                self.happens(out.at(index), *event);
                out.at(index).state.threads[thread].pc = pc + 1;
                self.drain(out, index, thread);
            }
            Op::Invoke { .. } | Op::Respond(_) => {
                if state.threads[thread].queue.is_empty() {
                    let index = out.start(state, thread);
                    self.pass_call(out, index);
                    if !self.m.returns_wait {
                        self.hurry(out, index);
                    }
                }
            }
            _ => self.wake(state, thread, out),
        }
    }

    /// Makes a choice and, where choices are lazy, performs the access that comes next in the same step.
    ///
    /// *Lazy choices* (reduction `lazy-choices`): a choice and what follows it up to the next access are invisible to the
    /// other threads, so every execution has the same accesses in the same order as one in which each choice is made right
    /// before that access. Only if the choice leads to a deferred access, which could be performed without the next one, or if
    /// the next access cannot be performed now, the state in between is kept.
    fn step_by_choice(
        &mut self,
        state: &State,
        thread: usize,
        dst: &cyrano_ir::Place,
        value: i128,
        out: &mut Successors,
    ) {
        let index = out.start(state, thread);
        self.take_choice(out.at(index), dst, value);
        self.drain(out, index, thread);
        if self.m.limits_repeats && index + 1 == out.len() && self.m.repeats(state, out.at(index)) {
            self.notes.repeats = true;
            return out.retract(index);
        }
        let queue = out.at(index).state.threads[thread].queue.len();
        if queue != state.threads[thread].queue.len() {
            return;
        }
        if self.m.lazy_choices && queue == 0 && matches!(self.rests_at(out, index), Op::Invoke { .. }) {
            self.pass_call(out, index);
        }
        self.hurry(out, index);
    }

    /// Where the thread of a successor rests.
    fn rests_at(&self, out: &mut Successors, index: usize) -> &'m Op {
        let successor = out.at(index);
        self.m.op(successor.thread, successor.state.threads[successor.thread].pc)
    }

    /// A call begins, or a response comes, and the thread runs on.
    fn pass_call(&mut self, out: &mut Successors, index: usize) {
        let successor = out.at(index);
        let thread = successor.thread;
        let pc = successor.state.threads[thread].pc;
        if successor.event.is_none() {
            self.speak(successor, pc);
            successor.state.threads[thread].pc = pc + 1;
            if !successor.dropped {
                self.drain(out, index, thread);
            }
        }
    }

    /// Where choices are lazy, performs the access that the thread of a successor rests at.
    fn hurry(&mut self, out: &mut Successors, index: usize) {
        let next = self.rests_at(out, index);
        let chosen = out.at(index);
        let lazy = self.m.lazy_choices && chosen.event.is_none() && !chosen.dropped;
        if !lazy || next.access_kind().is_none_or(|kind| self.m.defers(kind)) {
            return;
        }
        let thread = chosen.thread;
        if let Some(hurried) = &mut self.hurried {
            return hurried.extend(self.m.touched_at_pc(&chosen.state, thread));
        }
        let rests = &chosen.state.threads[thread];
        let (between, pc, queue) = (chosen.clone(), rests.pc, rests.queue.len());
        if self.access_now(out.at(index), queue) {
            self.after_access(out.at(index), pc);
            self.drain(out, index, thread);
        } else {
            *out.at(index) = between;
        }
    }

    /// A thread that rests at a local instruction has run out of patience, or waits for a pending condition, or was dropped.
    fn wake(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let pc = state.threads[thread].pc;
        if let Op::Branch { cond, .. } | Op::Assume(cond) | Op::Limit { cond, .. } = self.m.op(thread, pc) {
            if self.m.loads_wait && self.m.capture(state, thread, &[cond]).is_some() {
                return;
            }
            if self.m.refuses(state, thread) {
                if matches!(self.m.op(thread, pc), Op::Limit { .. }) {
                    self.limited(thread, pc);
                }
                return;
            }
        }
        self.leave(state, thread, out);
    }

    /// Executes the local instruction at which a thread rests, or defers the access or section there, and runs the thread on; false if it has to stay, or
    /// by some choice in a section.
    fn leave(&mut self, state: &State, thread: usize, out: &mut Successors) -> bool {
        let index = out.start(state, thread);
        self.run_on(out, index, thread, true);
        if self.m.named.is_none() && !self.m.stops {
            return true;
        }
        let mut goes = true;
        for at in (index..out.len()).rev() {
            let left = out.at(at);
            // One that goes round in a circle may be stopped for ever, or not; see `operations`.
            let stays = if self.m.stops { !left.moves } else { left.state == *state };
            if left.event.is_none() && stays {
                out.retract(at);
                goes = false;
            }
        }
        goes
    }

    /// Notes that a `limit` does not hold.
    pub(crate) fn limited(&mut self, thread: usize, pc: u32) {
        if !self.m.config.has_fault(Fault::ForgetLimits) {
            self.notes.limited.get_or_insert((thread, pc));
        }
    }
}

//! Running a thread on to its next rest.

use cyrano_engine::Violation;
use cyrano_ir::{AccessKind, InstrId, Op, Tags, ThreadId};

use crate::faults::Fault;
use crate::semantics::local::{eval, location, register};
use crate::semantics::queue::evaluate_captured;
use crate::semantics::state::{Data, Entry, State, What};
use crate::semantics::step::{MOST_SUCCESSORS, PATIENCE, Stepper, Successor, Successors, record_error};

/// An atomic section that is being issued.
#[derive(Clone)]
pub(crate) struct Issuing {
    /// The state at its beginning, to which the thread goes back if the section cannot be deferred.
    before: Box<State>,
    choices: usize,
    event: Option<Violation>,
    /// Whether the step had a program step before.
    moves: bool,
    /// How many instructions of it have run.
    steps: usize,
}

/// A deferred store of a known value.
pub(crate) fn plain_store(loc: u32, value: i128) -> Entry {
    Entry::new(What::Access(AccessKind::Store), 0, loc, Data::Known(value, 0))
}

/// Whether a store undoes others. Its entry remembers the instruction, and with it the fact.
fn is_rollback(op: &Op) -> bool {
    op.has_tag(Tags::ROLLBACK)
}

/// What comes after an instruction.
enum Flow {
    /// The instruction at this position.
    To(u32),
    /// A rest, at the instruction itself.
    Rest,
    /// A rest, because the thread failed.
    Fail,
    /// The atomic section cannot be deferred.
    Undo,
}

impl Stepper<'_> {
    /// Runs the thread from its program counter to its next rest; choices fork successors.
    pub(crate) fn drain(&mut self, out: &mut Successors, index: usize, thread: usize) {
        self.run_on(out, index, thread, false);
    }

    /// The same for a thread that rests at a local instruction, which it executes in any case.
    pub(crate) fn run_on(&mut self, out: &mut Successors, index: usize, thread: usize, mut awake: bool) {
        let mut work = Vec::new();
        let mut next = Some((index, None));
        while let Some((index, issuing)) = next {
            if issuing.is_some() || out.at(index).event.is_none() {
                self.run(out, index, thread, issuing, (&mut work, awake));
            }
            awake = false;
            next = work.pop();
        }
    }

    fn run(
        &mut self,
        out: &mut Successors,
        index: usize,
        thread: usize,
        mut issuing: Option<Issuing>,
        (work, awake): (&mut Vec<(usize, Option<Issuing>)>, bool),
    ) {
        let patience = if self.m.config.macro_steps || self.m.shadows.is_some() { PATIENCE } else { 1 };
        let mut steps = 0;
        loop {
            let successor = out.at(index);
            let pc = successor.state.threads[thread].pc;
            self.reaches(thread, pc);
            let op = self.m.op(thread, pc);
            if issuing.is_none() && matches!(op, Op::Choose { .. }) {
                return;
            }
            let stops_itself = op.access_kind().is_some() || matches!(op, Op::AtomicBegin | Op::Halt);
            let tired = steps >= patience && !stops_itself;
            if tired && self.m.shadows.as_ref().is_some_and(|s| s.threads[thread].uncommitted[pc as usize]) {
                // Its block would commit too late.
                self.notes.too_large = true;
            }
            let seen = self.m.is_visible(thread, pc) && !(awake && steps == 0);
            if issuing.is_none() && (tired || seen || successor.event.is_some()) {
                return;
            }
            if let Op::Choose { dst, from } = op {
                self.choose(out, index, dst, from, &issuing, work);
            } else {
                let flow = self.instruction(successor, pc, op, &mut issuing);
                match flow {
                    Flow::To(next) => successor.state.threads[thread].pc = next,
                    Flow::Rest | Flow::Fail => return,
                    Flow::Undo => return undo(successor, issuing.expect("only an atomic section is undone")),
                }
            }
            steps += 1;
            out.at(index).moves = true;
            if let Some(section) = &mut issuing {
                section.steps += 1;
                if section.steps > PATIENCE {
                    return undo(out.at(index), issuing.expect("just seen"));
                }
            }
        }
    }

    /// Takes the first choice and forks for the others.
    fn choose(
        &mut self,
        out: &mut Successors,
        index: usize,
        dst: &cyrano_ir::Place,
        from: &[i128],
        issuing: &Option<Issuing>,
        work: &mut Vec<(usize, Option<Issuing>)>,
    ) {
        let others: Vec<usize> = from[1..].iter().filter_map(|_| self.fork(out, index)).collect();
        for (target, value) in std::iter::once(index).chain(others.iter().copied()).zip(from) {
            self.take_choice(out.at(target), dst, *value);
        }
        work.extend(others.into_iter().map(|other| (other, issuing.clone())));
    }

    /// A copy of a successor for another choice, unless there are too many already.
    pub(crate) fn fork(&mut self, out: &mut Successors, index: usize) -> Option<usize> {
        if out.len() >= MOST_SUCCESSORS {
            self.notes.too_large = true;
            return None;
        }
        Some(out.fork(index))
    }

    /// Writes a chosen value and goes on behind the `choose`.
    pub(crate) fn take_choice(&mut self, successor: &mut Successor, dst: &cyrano_ir::Place, value: i128) {
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let state = &mut successor.state;
        match register(dst, &state.regs[base..]) {
            Ok(reg) => self.set_register(state, thread, reg, value),
            Err(error) => record_error(&mut successor.event, thread, state.threads[thread].pc, error),
        }
        successor.choices.push((thread, value));
        self.chosen_for_shadow(successor, value);
        successor.state.threads[thread].pc += 1;
    }

    fn instruction(&mut self, successor: &mut Successor, pc: u32, op: &Op, issuing: &mut Option<Issuing>) -> Flow {
        match op {
            Op::Access(_) => self.issue(successor, pc, op, issuing.is_some()),
            Op::Fence(fence) if self.m.waits_at(&successor.state, successor.thread, fence.pairs()) => Flow::Rest,
            Op::Fence(fence) => {
                self.issue_fence(successor, fence.pairs());
                Flow::To(pc + 1)
            }
            Op::AtomicBegin => {
                if self.m.config.has_fault(Fault::SplitAtomic) {
                    return Flow::To(pc + 1);
                }
                if !self.m.defers_any() || self.queue_is_full(successor) {
                    return Flow::Rest;
                }
                let before = Box::new(successor.state.clone());
                let (choices, event, moves) = (successor.choices.len(), successor.event.clone(), successor.moves);
                *issuing = Some(Issuing { before, choices, event, moves, steps: 0 });
                Flow::To(pc + 1)
            }
            Op::AtomicEnd => {
                if let Some(section) = issuing.take() {
                    self.close_section(successor);
                    let thread = successor.thread;
                    if successor.state.threads[thread].issued > section.before.threads[thread].issued {
                        self.after_unit(successor, pc, false);
                    }
                }
                Flow::To(pc + 1)
            }
            Op::Transaction(event) => {
                if !self.m.events_wait && self.happens(successor, *event) {
                    Flow::To(pc + 1)
                } else {
                    Flow::Rest
                }
            }
            Op::Invoke { .. } => Flow::Rest,
            Op::Respond(code) => {
                // It happens at once; see `values`.
                if !successor.state.threads[successor.thread].queue.is_empty() || self.m.waits_to_respond(code) {
                    return Flow::Rest;
                }
                self.speak(successor, pc);
                Flow::To(pc + 1)
            }
            Op::BlockBegin(_) => {
                self.block_begin(successor);
                Flow::To(pc + 1)
            }
            Op::BlockCommit => {
                successor.block_committed = true;
                self.unit_commits(successor);
                Flow::To(pc + 1)
            }
            Op::BlockEnd(_) => {
                self.unit_ends(successor, pc);
                self.note_end(successor, pc);
                Flow::To(pc + 1)
            }
            Op::OperationBegin(_) => Flow::To(pc + 1),
            Op::Progress(label) => {
                successor.passes |= self.m.asks_about(label.as_deref());
                Flow::To(pc + 1)
            }
            Op::OperationEnd => {
                successor.passes |= self.m.asks_about_operations();
                successor.state.running = 0;
                Flow::To(pc + 1)
            }
            Op::Halt => {
                successor.state.running = 0;
                Flow::Rest
            }
            _ => self.local(successor, pc, op, issuing.is_some()),
        }
    }

    /// An instruction that touches registers only.
    fn local(&mut self, successor: &mut Successor, pc: u32, op: &Op, in_section: bool) -> Flow {
        let thread = successor.thread;
        let pending = if in_section { Flow::Undo } else { Flow::Rest };
        match op {
            Op::Jump(to) => Flow::To(to.0),
            Op::Branch { cond, then_to, else_to } => match self.condition(successor, pc, cond) {
                Some(Ok(holds)) => Flow::To(if holds { then_to.0 } else { else_to.0 }),
                Some(Err(())) => Flow::Fail,
                None => pending,
            },
            Op::Assume(cond) => match self.condition(successor, pc, cond) {
                Some(Ok(true)) => Flow::To(pc + 1),
                Some(Err(())) => Flow::Fail,
                Some(Ok(false)) | None => pending,
            },
            Op::Limit { cond, .. } => match self.condition(successor, pc, cond) {
                Some(Ok(true)) => Flow::To(pc + 1),
                Some(Err(())) => Flow::Fail,
                Some(Ok(false)) if !in_section => {
                    self.limited(thread, pc);
                    Flow::Rest
                }
                Some(Ok(false)) | None => pending,
            },
            Op::Assign { .. } | Op::Assert { .. } => {
                if self.compute(successor, pc, op) {
                    Flow::To(pc + 1)
                } else {
                    Flow::Fail
                }
            }
            _ => unreachable!("{op:?} of thread {thread} is not local"),
        }
    }

    /// The truth of a condition; `None` while it is pending.
    pub(crate) fn condition(
        &mut self,
        successor: &mut Successor,
        pc: u32,
        cond: &cyrano_ir::LocalExpr,
    ) -> Option<Result<bool, ()>> {
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let state = &successor.state;
        if self.m.loads_wait && self.m.capture(state, thread, &[cond]).is_some() {
            return None;
        }
        let value = eval(cond, &state.regs[base..]);
        if self.m.timestamps.is_some() {
            self.note_increment(&successor.state, thread, pc, None);
        }
        Some(value.map(|v| v != 0).map_err(|error| record_error(&mut successor.event, thread, pc, error)))
    }

    /// An assignment or assertion: at once if its operands are known, else as a queue entry. False if the thread has to stop
    /// because the destination does not exist.
    pub(crate) fn compute(&mut self, successor: &mut Successor, pc: u32, op: &Op) -> bool {
        let thread = successor.thread;
        let (data, error) = self.m.operands(&successor.state, thread, op);
        error.into_iter().for_each(|error| record_error(&mut successor.event, thread, pc, error));
        if let Data::Known(value, _) = data {
            self.note_increment(&successor.state, thread, pc, None);
            return self.finish_computation(successor, pc, op, value);
        }
        let what = if matches!(op, Op::Assert { .. }) { What::Assert } else { What::Assign };
        self.push(successor, Entry::new(what, pc, 0, data), op, pc)
    }

    fn finish_computation(&mut self, successor: &mut Successor, pc: u32, op: &Op, value: i128) -> bool {
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let Op::Assign { dst, .. } = op else {
            self.judge(successor, pc, value);
            return true;
        };
        match register(dst, &successor.state.regs[base..]) {
            Ok(reg) => self.set_register(&mut successor.state, thread, reg, value),
            Err(error) => {
                record_error(&mut successor.event, thread, pc, error);
                return false;
            }
        }
        true
    }

    /// An assertion's condition is known.
    fn judge(&mut self, successor: &mut Successor, pc: u32, value: i128) {
        self.notes.asserted = true;
        if value == 0 && self.m.judge_assertions && self.m.shadows.is_none() && self.m.liveness.is_none() {
            let failed = Violation::Assertion { thread: ThreadId::new(successor.thread), instr: InstrId(pc) };
            successor.event.get_or_insert(failed);
        }
    }

    /// Appends an entry; if it delivers a value, the destination is pending from now on.
    fn push(&mut self, successor: &mut Successor, entry: Entry, op: &Op, pc: u32) -> bool {
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let state = &mut successor.state;
        state.threads[thread].queue.push(entry);
        let position = state.threads[thread].queue.len();
        if let Some(dst) = op.dst() {
            match register(dst, &state.regs[base..]) {
                Ok(reg) => state.pending[base + reg as usize] = position as u16,
                Err(error) => {
                    record_error(&mut successor.event, thread, pc, error);
                    return false;
                }
            }
        }
        true
    }

    fn issue_fence(&mut self, successor: &mut Successor, mut set: cyrano_ir::FenceSet) {
        use cyrano_ir::FenceSet;
        if self.m.config.has_fault(Fault::IgnoreStoreLoadFence) {
            set = set.without(FenceSet::SL);
        }
        if self.m.config.has_fault(Fault::IgnoreStoreStoreFence) {
            set = set.without(FenceSet::SS);
        }
        let thread = successor.thread;
        let queue = &mut successor.state.threads[thread].queue;
        match queue.last_mut().map(|entry| &mut entry.what) {
            None => return,
            Some(What::Fence(last)) => *last |= set,
            Some(_) => {
                queue.push(Entry::new(What::Fence(set), 0, 0, Data::NONE));
            }
        }
        self.m.prune_fences(&mut successor.state, thread);
    }

    fn queue_is_full(&mut self, successor: &Successor) -> bool {
        let thread = successor.thread;
        let full = successor.state.threads[thread].deferred() >= self.m.threads[thread].bound;
        self.notes.bounded |= full;
        full
    }

    /// An access on its way into the queue.
    fn issue(&mut self, successor: &mut Successor, pc: u32, op: &Op, in_section: bool) -> Flow {
        let kind = op.access_kind().expect("an access");
        if !self.m.defers(kind) {
            return if in_section { Flow::Undo } else { Flow::Rest };
        }
        if !in_section && self.queue_is_full(successor) {
            return Flow::Rest;
        }
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let state = &mut successor.state;
        let addr = op.addr().expect("an access has an address");
        let loc = match location(self.m.program, addr, &state.regs[base..]) {
            Ok(loc) => loc,
            Err(error) => {
                record_error(&mut successor.event, thread, pc, error);
                return Flow::Fail;
            }
        };
        let (data, error) = self.m.operands(state, thread, op);
        error.into_iter().for_each(|error| record_error(&mut successor.event, thread, pc, error));
        if matches!(data, Data::Known(..)) && kind.writes() {
            self.note_increment(&successor.state, thread, pc, None);
        }
        let needs_instr = kind == AccessKind::Rmw || matches!(data, Data::Waiting(_)) || is_rollback(op);
        // An access that may find its object freed has to say where it stands.
        let needs_instr = needs_instr || self.m.headers.guard(loc, kind).is_some() || self.m.config.certifies;
        let instr = if needs_instr { pc } else { 0 };
        let index = successor.state.threads[thread].issued;
        successor.state.threads[thread].issued += 1;
        let entry = Entry { chained: in_section, index, ..Entry::new(What::Access(kind), instr, loc, data) };
        if !self.push(successor, entry, op, pc) {
            return Flow::Fail;
        }
        self.issued_for_shadow(successor, pc, false);
        Flow::To(pc + 1)
    }

    /// The last access of a section is chained to nothing.
    fn close_section(&mut self, successor: &mut Successor) {
        let queue = &mut successor.state.threads[successor.thread].queue;
        if let Some(last) = queue.iter_mut().rfind(|entry| entry.access().is_some()) {
            last.chained = false;
        }
    }

    /// Computes whatever has become computable in the thread's queue.
    pub(crate) fn resolve(&mut self, successor: &mut Successor) {
        let thread = successor.thread;
        loop {
            let queue = &mut successor.state.threads[thread].queue;
            let known = |e: &Entry| matches!(e.data, Data::Waiting(_)) && !e.data.is_pending() && !e.is_mark();
            let Some(position) = queue.iter().position(known) else {
                return;
            };
            let (what, pc) = (queue[position].what, queue[position].instr);
            let op = self.m.op(thread, pc);
            let Data::Waiting(captured) = std::mem::replace(&mut queue[position].data, Data::NONE) else {
                unreachable!("it was waiting");
            };
            let (first, second, error) = evaluate_captured(op, &captured);
            error.into_iter().for_each(|error| record_error(&mut successor.event, thread, pc, error));
            self.note_increment_captured(thread, op, &captured);
            match what {
                What::Assign => {
                    self.m.remove_entry(&mut successor.state, thread, position, Some(first));
                }
                What::Assert => {
                    self.m.remove_entry(&mut successor.state, thread, position, None);
                    self.judge(successor, pc, first);
                }
                _ => {
                    let entry = &mut successor.state.threads[thread].queue[position];
                    entry.data = Data::Known(first, second);
                    let looks = self.m.headers.guard(entry.loc, AccessKind::Store).is_some() || self.m.config.certifies;
                    if entry.what == What::Access(AccessKind::Store) && !is_rollback(op) && !looks {
                        entry.instr = 0;
                    }
                }
            }
        }
    }
}

/// Goes back to the beginning of an atomic section, to wait there until it can be performed as a whole.
fn undo(successor: &mut Successor, section: Issuing) {
    successor.state.clone_from(&section.before);
    successor.choices.truncate(section.choices);
    successor.event = section.event;
    successor.moves = section.moves;
}

//! Performing: which accesses may take the next place in the memory order, what they read, and what becomes known by it.

use cyrano_engine::configuration::{Configuration, Deferred, Entry, Mark, Operands, Value};
use cyrano_ir::guards::ALIVE;
use cyrano_ir::{AccessKind, Change, EvalError, FenceSet, InstrId, LocId, Op, ThreadId, TxEvent};

use super::values::evaluate;
use super::{Beyond, Performed, Step, Steps};

/// What a load finds among the waiting stores of its own thread.
enum Own {
    Nothing,
    Value(i128),
    /// A store whose value is not known yet.
    Unknown,
}

impl Steps<'_> {
    /// One step for every access that waits and may be performed; an atomic section counts as one. The thread has not run on yet.
    pub(super) fn deferred_steps(&self, at: &Configuration, thread: ThreadId) -> Vec<Step> {
        let queue = &at.threads[thread.index()].queue;
        let mut steps = Vec::new();
        let mut position = 0;
        while position < queue.len() {
            if self.waiting(thread, &queue[position]).is_some() {
                let end = self.chain_end(thread, queue, position);
                if let Some(end) = end.filter(|end| self.is_ready(thread, queue, position, *end)) {
                    steps.push(self.perform_chain(at, thread, position, end));
                }
                position = end.unwrap_or(queue.len());
            }
            position += 1;
        }
        steps
    }

    /// The steps that a thread takes where it rests, which are not those of its queue. It has not run on yet.
    pub(super) fn steps_at_pc(&self, at: &Configuration, thread: ThreadId) -> Result<Vec<Step>, Beyond> {
        let lane = &at.threads[thread.index()];
        let pc = lane.pc;
        let here = || Step::new(thread, pc, at.clone());
        let mut steps = Vec::new();
        match self.op(thread, pc) {
            Op::Access(access) if !self.defers(access.kind) => {
                let mut step = here();
                if self.perform_now(&mut step, thread, lane.queue.len())? {
                    self.note_operation(&mut step, thread, pc);
                    self.performed_at_pc(&mut step, thread, pc)?;
                    steps.push(step);
                }
            }
            Op::AtomicBegin => {
                let mut issued = false;
                if self.is_seen(thread, pc) && self.defers.contains(&true) {
                    (steps, issued) = self.leave(at, thread)?;
                }
                if !issued {
                    steps.extend(self.sections_now(at, thread)?);
                }
            }
            Op::Choose { dst, from } => {
                for value in from {
                    let mut step = here();
                    self.choose(&mut step, thread, dst, *value)?;
                    steps.push(step);
                }
            }
            Op::Transaction(event) if self.may_happen(thread, &lane.queue, *event) => {
                let mut step = here();
                let (loc, read, written) = (None, None, None);
                step.performed.push(Performed { instr: pc, kind: AccessKind::Mark, loc, read, written, stale: false });
                if *event != TxEvent::ReadFinish {
                    step.lane(thread).queue.iter_mut().for_each(|deferred| match deferred {
                        Deferred::Op(entry) => entry.stale = true,
                        Deferred::Fence(_) | Deferred::Mark(_) => {}
                    });
                }
                step.lane(thread).pc = InstrId(pc.0 + 1);
                steps.push(step);
            }
            Op::Invoke { .. } | Op::Respond(_) if lane.queue.is_empty() => {
                let mut step = here();
                step.lane(thread).pc = InstrId(pc.0 + 1);
                steps.push(step);
            }
            Op::Halt | Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => {}
            _ if self.is_seen(thread, pc) => (steps, _) = self.leave(at, thread)?,
            _ => {}
        }
        Ok(steps)
    }

    /// Under a serial model, the operation of this instruction is under way from now on.
    pub(super) fn note_operation(&self, step: &mut Step, thread: ThreadId, pc: InstrId) {
        if self.model.reordering().serial && self.in_operation[thread.index()][pc.index()] {
            step.to.running = Some(thread);
        }
    }

    /// Whether nothing that waits has to precede an event of a transaction.
    fn may_happen(&self, thread: ThreadId, queue: &[Deferred], event: TxEvent) -> bool {
        let precedes =
            |(kind, loc): (AccessKind, LocId)| event.follows(kind, self.program.transactional.contains(&loc));
        !queue.iter().filter_map(|deferred| self.waiting(thread, deferred)).any(precedes)
    }

    /// The position of the last access of the section that begins at this one.
    fn chain_end(&self, thread: ThreadId, queue: &[Deferred], position: usize) -> Option<usize> {
        let mut at = position;
        while queue[at].entry()?.chained {
            at = (at + 1..queue.len()).find(|next| self.waiting(thread, &queue[*next]).is_some())?;
        }
        Some(at)
    }

    /// Axioms 1, 2 and 10: whether an access of this kind has to wait for one of these entries.
    pub(super) fn must_wait(&self, thread: ThreadId, earlier: &[Deferred], kind: AccessKind, loc: LocId) -> bool {
        let mut before = FenceSet::NONE;
        earlier.iter().any(|deferred| match (deferred, self.waiting(thread, deferred)) {
            (Deferred::Fence(kinds), _) => !(*kinds & before & FenceSet::from_second(kind)).is_empty(),
            (_, None) => false,
            (_, Some((first, other))) => {
                before |= FenceSet::from_first(first);
                let same = other == loc && !self.program.is_witness(loc);
                self.model.reordering().keeps(first, kind, same) || self.program.is_tied(other, loc)
            }
        })
    }

    /// Axioms 4 and 5: the last store to a location among these entries.
    fn own_store(&self, thread: ThreadId, earlier: &[Deferred], loc: LocId) -> Own {
        if !self.model.reordering().forwarding {
            return Own::Nothing;
        }
        let stores = |deferred: &&Deferred| {
            self.waiting(thread, deferred).is_some_and(|(kind, other)| kind.writes() && other == loc)
        };
        match earlier.iter().rfind(stores).and_then(Deferred::entry).map(|entry| &entry.operands) {
            None => Own::Nothing,
            Some(Operands::Known(values)) => values.first().map_or(Own::Unknown, |value| Own::Value(*value)),
            Some(Operands::Waiting(_)) => Own::Unknown,
        }
    }

    /// Whether the accesses from `start` to `end`, one or a whole section, may be performed now.
    fn is_ready(&self, thread: ThreadId, queue: &[Deferred], start: usize, end: usize) -> bool {
        let earlier = &queue[..start];
        // What will be known of the entries from `start` on when it is their turn.
        let mut known = Vec::with_capacity(end + 1 - start);
        for deferred in &queue[start..=end] {
            let operands = deferred.entry().map(|entry| &entry.operands);
            let captured = match operands {
                Some(Operands::Waiting(captured)) => &captured[..],
                _ => &[],
            };
            let will_be = |value: &Value| match value {
                Value::Pending(at) => (*at as usize).checked_sub(start).and_then(|at| known.get(at)) == Some(&true),
                Value::Known(_) | Value::Forgotten => true,
            };
            let is_known = captured.iter().all(|(_, value)| will_be(value));
            if let Some((kind, loc)) = self.waiting(thread, deferred) {
                let blind = || kind == AccessKind::Load && matches!(self.own_store(thread, earlier, loc), Own::Unknown);
                if !is_known || self.must_wait(thread, earlier, kind, loc) || blind() {
                    return false;
                }
            }
            known.push(is_known);
        }
        true
    }

    fn perform_chain(&self, at: &Configuration, thread: ThreadId, start: usize, end: usize) -> Step {
        let instr = at.threads[thread.index()].queue[start].entry().map_or(InstrId(0), |entry| entry.instr);
        let mut step = Step::new(thread, instr, at.clone());
        let accesses = at.threads[thread.index()].queue[start..=end].iter();
        let accesses = accesses.filter(|deferred| self.waiting(thread, deferred).is_some()).count();
        let mut position = start;
        for _ in 0..accesses {
            let queue = &step.to.threads[thread.index()].queue;
            let next = (position..queue.len()).find(|next| self.waiting(thread, &queue[*next]).is_some());
            let Some(next) = next else { break };
            self.perform_entry(&mut step, thread, next);
            position = next.min(step.to.threads[thread.index()].queue.len());
        }
        self.opens(&mut step, thread, position);
        step
    }

    /// Performs the access at a position of the queue.
    fn perform_entry(&self, step: &mut Step, thread: ThreadId, position: usize) {
        let queue = &step.to.threads[thread.index()].queue;
        let (Some(entry), Some((kind, loc))) =
            (queue[position].entry().cloned(), self.waiting(thread, &queue[position]))
        else {
            return;
        };
        let Operands::Known(operands) = &entry.operands else { return };
        let own = self.own_store(thread, &queue[..position], loc);
        let done = self.perform(step, thread, (entry.instr, entry.stale), (kind, loc), own, operands);
        self.overtakes(step, thread, position);
        self.remove(step, thread, position, done.read);
        self.resolve(step, thread);
        self.prune_fences(step, thread);
    }

    /// Performs the access that a thread rests at, if none of the first `earlier` entries of its queue forbids it. Says whether it was.
    pub(super) fn perform_now(&self, step: &mut Step, thread: ThreadId, earlier: usize) -> Result<bool, Beyond> {
        let pc = step.lane(thread).pc;
        let op = self.op(thread, pc);
        let Op::Access(access) = op else { return Ok(false) };
        let loc = match step.look(thread, pc).location(self.program, &access.addr)? {
            Ok(loc) => loc,
            Err(error) => {
                step.error(thread, pc, error);
                return Ok(true);
            }
        };
        let (operands, error) = step.look(thread, pc).operands(op)?;
        let queue = &step.to.threads[thread.index()].queue;
        let own = self.own_store(thread, queue, loc);
        let blind = access.kind == AccessKind::Load && matches!(own, Own::Unknown);
        let Operands::Known(operands) = operands else { return Ok(false) };
        if self.must_wait(thread, &queue[..earlier], access.kind, loc) || blind {
            return Ok(false);
        }
        error.into_iter().for_each(|error| step.error(thread, pc, error));
        let done = self.perform(step, thread, (pc, false), (access.kind, loc), own, &operands);
        if let (Some(dst), Some(value)) = (&access.dst, done.read) {
            self.set(step, thread, pc, dst, Value::Known(value))?;
            if step.wrong.is_some() {
                return Ok(true);
            }
        }
        step.lane(thread).pc = InstrId(pc.0 + 1);
        let all = step.lane(thread).queue.len();
        self.overtakes(step, thread, all);
        Ok(true)
    }

    /// Gives an access its place in the memory order.
    fn perform(
        &self,
        step: &mut Step,
        thread: ThreadId,
        (instr, stale): (InstrId, bool),
        (kind, loc): (AccessKind, LocId),
        own: Own,
        operands: &[i128],
    ) -> Performed {
        if self.program.guard(loc, kind).is_some_and(|header| step.to.memory[header.index()] != ALIVE) {
            step.error(thread, instr, self.program.guard_error(loc));
        }
        let old = step.to.memory[loc.index()];
        let read = kind.reads().then_some(match own {
            Own::Value(value) if kind == AccessKind::Load => value,
            _ => old,
        });
        let written = self.op(thread, instr).change().and_then(|change| {
            let written = written(change, old, operands);
            written.unwrap_or_else(|error| {
                step.error(thread, instr, error);
                Some(0)
            })
        });
        written.into_iter().for_each(|value| step.to.memory[loc.index()] = value);
        let performed = Performed { instr, kind, loc: Some(loc), read, written, stale };
        step.performed.push(performed);
        performed
    }

    /// Takes an entry out of the queue; whoever waits for what it delivers has it.
    pub(super) fn remove(&self, step: &mut Step, thread: ThreadId, position: usize, delivers: Option<i128>) {
        let lane = step.lane(thread);
        lane.queue.remove(position);
        let here = position as u32;
        let arrive = |value: &mut Value| match *value {
            Value::Pending(at) if at == here => *value = Value::Known(delivers.unwrap_or(0)),
            Value::Pending(at) if at > here => *value = Value::Pending(at - 1),
            _ => {}
        };
        lane.registers.iter_mut().for_each(arrive);
        for deferred in &mut lane.queue[position..] {
            match deferred {
                Deferred::Op(Entry { operands: Operands::Waiting(captured), .. })
                | Deferred::Mark(Mark::End { handed: captured, .. }) => {
                    captured.iter_mut().for_each(|(_, value)| arrive(value));
                }
                Deferred::Mark(Mark::Commit(after)) => arrive(after),
                Deferred::Op(_) | Deferred::Fence(_) | Deferred::Mark(Mark::Begin) => {}
            }
        }
    }

    /// Computes what has become computable.
    fn resolve(&self, step: &mut Step, thread: ThreadId) {
        loop {
            let queue = &mut step.lane(thread).queue;
            let ripe = |deferred: &Deferred| match deferred.entry().map(|entry| &entry.operands) {
                Some(Operands::Waiting(captured)) => {
                    captured.iter().all(|(_, value)| !matches!(value, Value::Pending(_)))
                }
                _ => false,
            };
            let Some(position) = queue.iter().position(ripe) else { return };
            let Deferred::Op(entry) = &mut queue[position] else { return };
            let (instr, op) = (entry.instr, self.op(thread, entry.instr));
            let Operands::Waiting(captured) = &entry.operands else { return };
            let (values, error) = evaluate(op, captured);
            let first = values.first().copied().unwrap_or(0);
            entry.operands = Operands::Known(values);
            error.into_iter().for_each(|error| step.error(thread, instr, error));
            match op {
                Op::Assign { .. } => self.remove(step, thread, position, Some(first)),
                Op::Assert { .. } => {
                    self.remove(step, thread, position, None);
                    step.judge(thread, instr, first);
                }
                _ => {}
            }
        }
    }

    /// Drops what fences no longer order, and fences that order nothing.
    pub(super) fn prune_fences(&self, step: &mut Step, thread: ThreadId) {
        let mut before = FenceSet::NONE;
        let mut position = 0;
        while position < step.lane(thread).queue.len() {
            let deferred = &mut step.lane(thread).queue[position];
            if let Deferred::Fence(kinds) = deferred {
                *kinds = *kinds & before;
                if kinds.is_empty() {
                    self.remove(step, thread, position, None);
                    continue;
                }
            } else if let Some((kind, _)) = self.waiting(thread, &step.to.threads[thread.index()].queue[position]) {
                before |= FenceSet::from_first(kind);
            }
            position += 1;
        }
    }
}

/// What is written over an old value, if anything.
fn written(change: &Change, old: i128, operands: &[i128]) -> Result<Option<i128>, EvalError> {
    match (change, operands) {
        (Change::Set(_), [value]) => Ok(Some(*value)),
        (Change::Add(_), [by]) => old.checked_add(*by).map(Some).ok_or(EvalError::Overflow),
        (Change::Cas { .. }, [expected, new]) => Ok((old == *expected).then_some(*new)),
        _ => Ok(None),
    }
}

//! A thread runs on to its next rest: what it computes, and what it issues.
//!
//! A section is issued as a chain of entries if each of its accesses may be overtaken and nothing in it is decided by a value that it reads itself.
//! Otherwise the thread goes back to the section's beginning and rests there (`section`): everything behind the section has to follow it then, for an
//! access in it lets nothing pass, or a load in it decides a branch in it and with that the order of all that comes later.

use cyrano_engine::configuration::{Deferred, Entry, MOST_DEFERRED, Operands, Value};
use cyrano_ir::{Access, FenceSet, InstrId, LocId, LocalExpr, Op, Place, Thread, ThreadId};

use super::values::Look;
use super::{Beyond, MOST_WAYS, Step, Steps, Why};

/// A thread that runs this long without a rest is given up.
pub(super) const MOST_INSTRUCTIONS: usize = 100_000;

/// A section that is being issued.
#[derive(Clone)]
struct Section {
    /// Where the thread goes back to if it cannot be.
    before: Box<Step>,
    /// How many entries the queue had.
    start: usize,
}

/// A thread on its way.
#[derive(Clone)]
struct Way {
    step: Step,
    section: Option<Section>,
}

/// Where a way leads.
enum Ran {
    /// To a rest.
    Rested(Box<Step>),
    /// To a choice.
    Forked(Vec<Way>),
}

/// What comes after an instruction.
pub(super) enum Flow {
    /// The instruction at this place.
    To(InstrId),
    /// A rest, or in a section that is being issued the way back.
    Rest,
    /// The thread cannot go on: something went wrong.
    Stop,
}

/// For every instruction of a thread, whether it belongs to an operation.
pub(super) fn in_operation(thread: &Thread) -> Vec<bool> {
    if !thread.has_operations() {
        return vec![true; thread.code.len()];
    }
    let mut inside: Vec<Option<bool>> = vec![None; thread.code.len()];
    let mut todo = vec![(InstrId(0), false)];
    while let Some((pc, mut within)) = todo.pop() {
        if inside.get(pc.index()).is_none_or(Option::is_some) {
            continue;
        }
        inside[pc.index()] = Some(within);
        let op = &thread.code[pc.index()].op;
        within = match op {
            Op::OperationBegin(_) => true,
            Op::OperationEnd => false,
            _ => within,
        };
        todo.extend(cyrano_ir::dataflow::successors(op, pc).map(|next| (next, within)));
    }
    inside.into_iter().map(|within| within.unwrap_or(false)).collect()
}

impl<'p> Steps<'p> {
    /// Lets threads run on, one after the other, and whoever starts with their end.
    pub(super) fn run_all(&self, mut steps: Vec<Step>, threads: Vec<ThreadId>) -> Result<Vec<Step>, Beyond> {
        for thread in threads {
            let mut next = Vec::new();
            for step in steps {
                next.extend(if step.wrong.is_some() { vec![step] } else { self.run(step, thread)? });
            }
            steps = next;
        }
        Ok(steps)
    }

    /// Lets a thread run on; if it is the setup thread and ends, the others begin.
    pub(super) fn run_on(&self, step: Step, thread: ThreadId) -> Result<Vec<Step>, Beyond> {
        let steps = self.run_all(vec![step], vec![thread])?;
        if self.program.setup != Some(thread) {
            return Ok(steps);
        }
        let others: Vec<ThreadId> = self.program.thread_ids().filter(|other| *other != thread).collect();
        let (done, going): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(|step| self.is_done(&step.to, thread));
        Ok(self.run_all(done, others)?.into_iter().chain(going).collect())
    }

    fn run(&self, step: Step, thread: ThreadId) -> Result<Vec<Step>, Beyond> {
        self.run_from(step, thread, false)
    }

    /// The same for a thread that leaves the instruction it rests before (`awake`), though it is seen.
    pub(super) fn run_from(&self, step: Step, thread: ThreadId, mut awake: bool) -> Result<Vec<Step>, Beyond> {
        let mut todo = vec![Way { step, section: None }];
        let mut rested = Vec::new();
        while let Some(mut way) = todo.pop() {
            if todo.len() + rested.len() > MOST_WAYS {
                let instr = way.step.lane(thread).pc;
                return Err(Beyond { thread, instr, why: Why::Ways });
            }
            match self.run_way(way, thread, std::mem::take(&mut awake))? {
                Ran::Rested(step) => rested.push(*step),
                Ran::Forked(ways) => todo.extend(ways),
            }
        }
        Ok(rested)
    }

    fn run_way(&self, mut way: Way, thread: ThreadId, awake: bool) -> Result<Ran, Beyond> {
        for instructions in 0..MOST_INSTRUCTIONS {
            let pc = way.step.lane(thread).pc;
            let seen = self.is_seen(thread, pc) && !(awake && instructions == 0);
            if way.section.is_none() && (seen || way.step.wrong.is_some()) {
                return Ok(Ran::Rested(Box::new(way.step)));
            }
            match self.op(thread, pc) {
                Op::Choose { dst, from } if way.section.is_some() => {
                    let ways = from.iter().map(|value| {
                        let mut way = way.clone();
                        self.choose(&mut way.step, thread, dst, *value).map(|()| way)
                    });
                    return Ok(Ran::Forked(ways.collect::<Result<_, _>>()?));
                }
                op => match self.instruction(&mut way, thread, pc, op)? {
                    Flow::To(next) => way.step.lane(thread).pc = next,
                    Flow::Stop => return Ok(Ran::Rested(Box::new(way.step))),
                    Flow::Rest => return Ok(Ran::Rested(Box::new(way.back()))),
                },
            }
        }
        let instr = way.step.lane(thread).pc;
        Err(Beyond { thread, instr, why: Why::Endless })
    }

    fn instruction(&self, way: &mut Way, thread: ThreadId, pc: InstrId, op: &'p Op) -> Result<Flow, Beyond> {
        let next = Flow::To(InstrId(pc.0 + 1));
        let step = &mut way.step;
        Ok(match op {
            Op::Access(access) if !self.defers(access.kind) => Flow::Rest,
            Op::Access(access) => self.issue(way, thread, pc, access)?,
            Op::Fence(fence) if self.waits_at_fence(thread, &step.lane(thread).queue, fence.pairs()) => Flow::Rest,
            Op::Fence(fence) => {
                self.issue_fence(step, thread, fence.pairs());
                next
            }
            Op::AtomicBegin if !self.defers.contains(&true) => Flow::Rest,
            Op::AtomicBegin => {
                let start = step.lane(thread).queue.len();
                way.section = Some(Section { before: Box::new(step.clone()), start });
                next
            }
            Op::AtomicEnd => {
                if let Some(section) = way.section.take() {
                    self.close_chain(step, thread);
                    self.issued_section(step, thread, pc, section.start)?;
                }
                next
            }
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => {
                self.mark(step, thread, pc, op)?;
                next
            }
            Op::Respond(_) if step.lane(thread).queue.is_empty() => next,
            Op::Choose { .. } | Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => Flow::Rest,
            Op::OperationEnd => {
                step.to.running = None;
                next
            }
            Op::Halt => {
                step.to.running = None;
                Flow::Rest
            }
            Op::OperationBegin(_) | Op::Progress(_) => next,
            Op::Assume(cond) | Op::Limit { cond, .. } | Op::Branch { cond, .. } => {
                let start = way.section.as_ref().map(|section| section.start);
                self.decide(step, thread, (pc, op), cond, start)?
            }
            Op::Jump(to) => Flow::To(*to),
            Op::Assign { .. } | Op::Assert { .. } => self.compute(step, thread, pc, op)?,
        })
    }

    /// A branch, an `assume` or a `limit`; `section` is where the entries of the section begin that is being issued.
    pub(super) fn decide(
        &self,
        step: &mut Step,
        thread: ThreadId,
        (pc, op): (InstrId, &Op),
        cond: &LocalExpr,
        section: Option<usize>,
    ) -> Result<Flow, Beyond> {
        let look = step.look(thread, pc);
        let waits = look.waits_for(cond)?;
        if !waits.is_empty() {
            let outside = |start: usize| self.come_from_before(&step.to.threads[thread.index()].queue, &waits, start);
            if section.is_some_and(outside) {
                return Err(Beyond { thread, instr: pc, why: Why::Outside });
            }
            return Ok(Flow::Rest);
        }
        let holds = match look.value(cond)? {
            Ok(value) => value != 0,
            Err(error) => {
                step.error(thread, pc, error);
                return Ok(Flow::Stop);
            }
        };
        Ok(match op {
            Op::Branch { then_to, else_to, .. } => Flow::To(if holds { *then_to } else { *else_to }),
            _ if holds => Flow::To(InstrId(pc.0 + 1)),
            Op::Limit { .. } => return Err(Beyond { thread, instr: pc, why: Why::Limit }),
            _ => Flow::Rest,
        })
    }

    /// Whether something that entries from `start` on wait for stands before them.
    fn come_from_before(&self, queue: &[Deferred], waits: &[u32], start: usize) -> bool {
        let mut todo = waits.to_vec();
        while let Some(at) = todo.pop() {
            if (at as usize) < start {
                return true;
            }
            let operands = queue[at as usize].entry().map(|entry| &entry.operands);
            if let Some(Operands::Waiting(captured)) = operands {
                todo.extend(captured.iter().filter_map(|(_, value)| match value {
                    Value::Pending(at) => Some(*at),
                    Value::Known(_) | Value::Forgotten => None,
                }));
            }
        }
        false
    }

    /// An assignment or an assertion: at once, or once its values are there.
    pub(super) fn compute(&self, step: &mut Step, thread: ThreadId, pc: InstrId, op: &Op) -> Result<Flow, Beyond> {
        let (operands, error) = step.look(thread, pc).operands(op)?;
        error.into_iter().for_each(|error| step.error(thread, pc, error));
        if let Operands::Known(values) = &operands {
            let value = values.first().copied().unwrap_or(0);
            let Op::Assign { dst, .. } = op else {
                step.judge(thread, pc, value);
                return Ok(Flow::To(InstrId(pc.0 + 1)));
            };
            return self.set(step, thread, pc, dst, Value::Known(value));
        }
        let entry = Entry { instr: pc, loc: None, operands, chained: false, stale: false };
        self.push(step, thread, entry, op.dst())
    }

    /// Puts a value into the register that a place denotes, and goes on.
    pub(super) fn set(
        &self,
        step: &mut Step,
        thread: ThreadId,
        pc: InstrId,
        dst: &Place,
        value: Value,
    ) -> Result<Flow, Beyond> {
        match step.look(thread, pc).register(dst)? {
            Ok(register) => {
                step.lane(thread).registers[register.index()] = value;
                Ok(Flow::To(InstrId(pc.0 + 1)))
            }
            Err(error) => {
                step.error(thread, pc, error);
                Ok(Flow::Stop)
            }
        }
    }

    /// Makes a choice, and goes on behind it.
    pub(super) fn choose(&self, step: &mut Step, thread: ThreadId, dst: &Place, value: i128) -> Result<(), Beyond> {
        let pc = step.lane(thread).pc;
        step.choices.push(value);
        self.chooses(step, thread, pc, value);
        if let Flow::To(next) = self.set(step, thread, pc, dst, Value::Known(value))? {
            step.lane(thread).pc = next;
        }
        Ok(())
    }

    fn issue(&self, way: &mut Way, thread: ThreadId, pc: InstrId, access: &Access) -> Result<Flow, Beyond> {
        let (step, op) = (&mut way.step, self.op(thread, pc));
        let loc: LocId = match step.look(thread, pc).location(self.program, &access.addr)? {
            Ok(loc) => loc,
            Err(error) => {
                step.error(thread, pc, error);
                return Ok(Flow::Stop);
            }
        };
        let (operands, error) = step.look(thread, pc).operands(op)?;
        error.into_iter().for_each(|error| step.error(thread, pc, error));
        let chained = way.section.is_some();
        let entry = Entry { instr: pc, loc: Some(loc), operands, chained, stale: false };
        let flow = self.push(step, thread, entry, access.dst.as_ref())?;
        if matches!(flow, Flow::To(_)) {
            self.issued(step, thread, pc, chained)?;
        }
        Ok(flow)
    }

    /// Appends an entry to a queue; what it delivers is pending from now on.
    fn push(&self, step: &mut Step, thread: ThreadId, entry: Entry, dst: Option<&Place>) -> Result<Flow, Beyond> {
        let (pc, position) = (entry.instr, step.lane(thread).queue.len());
        if position >= MOST_DEFERRED {
            return Err(Beyond { thread, instr: pc, why: Why::Crowded });
        }
        step.lane(thread).queue.push(Deferred::Op(entry));
        match dst {
            Some(dst) => self.set(step, thread, pc, dst, Value::Pending(position as u32)),
            None => Ok(Flow::To(InstrId(pc.0 + 1))),
        }
    }

    fn issue_fence(&self, step: &mut Step, thread: ThreadId, kinds: FenceSet) {
        let queue = &mut step.lane(thread).queue;
        match queue.last_mut() {
            None => return,
            Some(Deferred::Fence(last)) => *last |= kinds,
            Some(Deferred::Op(_) | Deferred::Mark(_)) => queue.push(Deferred::Fence(kinds)),
        }
        self.prune_fences(step, thread);
    }

    /// The last access of a section is chained to nothing.
    fn close_chain(&self, step: &mut Step, thread: ThreadId) {
        let queue = &mut step.lane(thread).queue;
        let accesses = queue.iter_mut().rev().filter_map(|deferred| match deferred {
            Deferred::Op(entry) if entry.loc.is_some() => Some(entry),
            _ => None,
        });
        { accesses }.next().into_iter().for_each(|last| last.chained = false);
    }
}

impl Way {
    /// The step as it was before the section that is being issued, if one is.
    fn back(self) -> Step {
        self.section.map_or(self.step, |section| *section.before)
    }
}

impl Step {
    pub(super) fn look(&self, thread: ThreadId, instr: InstrId) -> Look<'_> {
        Look { thread, instr, registers: &self.to.threads[thread.index()].registers }
    }

    /// An assertion's condition is known.
    pub(super) fn judge(&mut self, thread: ThreadId, instr: InstrId, value: i128) {
        self.asserted = true;
        if value == 0 {
            self.failed.get_or_insert((thread, instr));
        }
    }
}

//! One thread at work, from event to event, given what its reads return.
//!
//! **Invariant:** the thread is the same whoever drives it: what it does next follows from the values that its reads and choices were given, so that a thread
//! can be run again on the values of a graph. Dependencies are not kept, since no model that this engine takes asks for them.

use cyrano_ir::{
    Access, AccessKind, Change, EvalError, Fence, InstrId, LocId, LocalExpr, Op, Place, Program, Tags, ThreadId,
};

/// Why a thread does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It ran to its end.
    Done,
    /// An `assume` did not hold.
    Blocked,
    /// It jumped back too often, or ran for too long.
    Stopped,
    /// The `limit` at this instruction does not hold.
    Limited(InstrId),
    /// A computation went wrong at this instruction.
    Failed(InstrId, EvalError),
}

/// A write that comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Writing {
    pub(crate) loc: LocId,
    pub(crate) value: i128,
    pub(crate) tags: Tags,
    /// The event of the thread that is the read of the same read-modify-write.
    pub(crate) half: Option<usize>,
    /// Whether it is an access of its own, and not the second half of one.
    own: bool,
}

/// What a thread does next.
#[derive(Clone, Debug)]
pub(crate) enum Next<'p> {
    /// It takes one of these values.
    Choice(&'p [i128]),
    /// It reads.
    Read(&'p Access, LocId),
    /// It writes.
    Write(Writing),
    /// It passes a fence.
    Fence(Fence),
    /// Nothing; its status says why.
    End,
}

/// The atomic section that a thread is in.
#[derive(Clone, Copy, Debug)]
struct Section {
    /// How many events and accesses there were before it.
    events: usize,
    accesses: usize,
    /// Whether it may write as well as read.
    updates: bool,
    read: Option<usize>,
}

/// No thread runs longer.
const INSTRUCTION_LIMIT: usize = 100_000;

/// A thread on its way.
#[derive(Clone, Debug)]
pub(crate) struct Runner<'p> {
    program: &'p Program,
    pub(crate) thread: ThreadId,
    pc: InstrId,
    pub(crate) registers: Vec<i128>,
    /// How many events it has had.
    events: usize,
    /// For each access the events that are its read and its write.
    pub(crate) accesses: Vec<(Option<usize>, Option<usize>)>,
    section: Option<Section>,
    /// The write of a read-modify-write whose read is done.
    pending: Option<Writing>,
    ended: Option<Status>,
    /// Whether its last read is what went wrong.
    broken: bool,
    jumps: Vec<(InstrId, usize)>,
    iterations: usize,
    instructions: usize,
    /// The first assertion that failed.
    pub(crate) failed: Option<InstrId>,
    /// Whether an assertion was evaluated.
    pub(crate) asserted: bool,
}

impl<'p> Runner<'p> {
    /// A thread at its start, which may go around loops so often.
    pub(crate) fn new(program: &'p Program, thread: ThreadId, iterations: usize) -> Self {
        Self {
            program,
            thread,
            pc: InstrId(0),
            registers: program.thread(thread).registers.iter().map(|register| register.init).collect(),
            events: 0,
            accesses: Vec::new(),
            section: None,
            pending: None,
            ended: None,
            broken: false,
            jumps: Vec::new(),
            iterations,
            instructions: 0,
            failed: None,
            asserted: false,
        }
    }

    /// Whether it is in the middle of something that nobody sees a half of.
    pub(crate) fn is_busy(&self) -> bool {
        self.ended.is_none()
            && (self.pending.is_some() || self.section.is_some_and(|section| self.events > section.events))
    }

    /// How it ended, if it has.
    pub(crate) fn status(&self) -> Option<Status> {
        self.ended
    }

    /// The events and accesses that count: a section that waits has done nothing.
    pub(crate) fn counted(&self) -> (usize, usize) {
        match (self.ended, self.section) {
            (Some(Status::Blocked), Some(section)) => (section.events, section.accesses),
            // A read that goes wrong has not been made.
            (Some(Status::Failed(..)), _) if self.broken => (self.events - 1, self.accesses.len() - 1),
            _ => (self.events, self.accesses.len()),
        }
    }

    /// Goes on to its next event.
    pub(crate) fn next(&mut self) -> Next<'p> {
        if let Some(writing) = self.pending {
            return Next::Write(writing);
        }
        while self.ended.is_none() {
            self.instructions += 1;
            if self.instructions > INSTRUCTION_LIMIT {
                self.ended = Some(Status::Stopped);
                break;
            }
            match self.step() {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(error) => self.ended = Some(Status::Failed(self.pc, error)),
            }
        }
        Next::End
    }

    fn value(&self, expr: &LocalExpr) -> Result<i128, EvalError> {
        expr.value(&*self.registers)
    }

    fn set(&mut self, dst: &Place, value: i128) -> Result<(), EvalError> {
        let register = dst.register(&*self.registers)?;
        self.registers[register.index()] = value;
        Ok(())
    }

    fn step(&mut self) -> Result<Option<Next<'p>>, EvalError> {
        let program = self.program;
        match &program.instr(self.thread, self.pc).op {
            Op::Assign { dst, value } => {
                let register = dst.register(&*self.registers)?;
                self.registers[register.index()] = self.value(value)?;
            }
            Op::Access(access) => return self.access(access).map(Some),
            Op::Fence(fence) => return Ok(Some(Next::Fence(*fence))),
            Op::Choose { from, .. } => return Ok(Some(Next::Choice(from))),
            Op::Assume(cond) if self.value(cond)? == 0 => {
                self.ended = Some(Status::Blocked);
                return Ok(None);
            }
            Op::Limit { cond, .. } if self.value(cond)? == 0 => {
                self.ended = Some(Status::Limited(self.pc));
                return Ok(None);
            }
            Op::Assert { cond, .. } => {
                self.asserted = true;
                if self.value(cond)? == 0 {
                    self.failed.get_or_insert(self.pc);
                }
            }
            Op::Branch { cond, then_to, else_to } => {
                let to = if self.value(cond)? != 0 { *then_to } else { *else_to };
                self.jump(to);
                return Ok(None);
            }
            Op::Jump(to) => {
                self.jump(*to);
                return Ok(None);
            }
            Op::Halt => {
                self.ended = Some(Status::Done);
                return Ok(None);
            }
            Op::AtomicBegin => {
                let stores = |_, op: &Op| op.access_kind().is_some_and(AccessKind::writes);
                let updates = program.thread(self.thread).section_has(self.pc, stores);
                let (events, accesses) = (self.events, self.accesses.len());
                self.section = Some(Section { events, accesses, updates, read: None });
            }
            Op::AtomicEnd => self.section = None,
            Op::Assume(_) | Op::Limit { .. } => {}
            Op::OperationBegin(_) | Op::OperationEnd | Op::Progress(_) => {}
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => {}
            Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => unreachable!("such programs are refused"),
        }
        self.pc = InstrId(self.pc.0 + 1);
        Ok(None)
    }

    /// Goes on there, unless the thread has jumped back too often.
    fn jump(&mut self, to: InstrId) {
        let from = std::mem::replace(&mut self.pc, to);
        if to > from {
            return;
        }
        let at = self.jumps.iter().position(|(instr, _)| *instr == from);
        let at = at.unwrap_or_else(|| {
            self.jumps.push((from, 0));
            self.jumps.len() - 1
        });
        self.jumps[at].1 += 1;
        if self.jumps[at].1 > self.iterations {
            self.ended = Some(Status::Stopped);
        }
    }

    fn access(&self, access: &'p Access) -> Result<Next<'p>, EvalError> {
        let loc = access.addr.location(self.program, &*self.registers)?;
        let Some(set) = access.stored() else { return Ok(Next::Read(access, loc)) };
        let half = self.section.and_then(|section| section.read);
        let tags = self.said(access.tags, false);
        Ok(Next::Write(Writing { loc, value: self.value(set)?, tags, half, own: true }))
    }

    /// Read-modify-writes and what is in an atomic section synchronise threads, marked or not.
    fn said(&self, tags: Tags, rmw: bool) -> Tags {
        if rmw || self.section.is_some() { tags | Tags::SYNC } else { tags }
    }

    /// Whether a read of this access belongs to a read-modify-write, and its tags if it returns this value; or why it goes wrong then.
    pub(crate) fn reading(&self, access: &Access, value: i128) -> (bool, Tags) {
        let written = self.written(access, value).ok().flatten();
        let failed = access.failed.filter(|_| written.is_none());
        let updates = self.section.is_some_and(|section| section.updates);
        let rmw = access.kind == AccessKind::Rmw;
        (rmw || updates, self.said(failed.unwrap_or(access.tags), rmw))
    }

    fn written(&self, access: &Access, value: i128) -> Result<Option<i128>, EvalError> {
        let change = access.change.as_ref();
        change.map_or(Ok(None), |change: &Change| change.apply(value, |operand| self.value(operand)))
    }

    /// Its read returns this value.
    pub(crate) fn read(&mut self, access: &Access, loc: LocId, value: i128) {
        let read = self.events;
        self.events += 1;
        let written = self.written(access, value);
        self.accesses.push((Some(read), None));
        let set = access.dst.as_ref().map_or(Ok(()), |dst| self.set(dst, value));
        match (written, set) {
            (Err(error), _) | (_, Err(error)) => {
                self.ended = Some(Status::Failed(self.pc, error));
                self.broken = true;
            }
            (Ok(None), Ok(())) => self.pc = InstrId(self.pc.0 + 1),
            (Ok(Some(value)), Ok(())) => {
                let tags = self.said(access.tags, true);
                self.pending = Some(Writing { loc, value, tags, half: Some(read), own: false });
            }
        }
        if let Some(section) = &mut self.section {
            section.read = Some(read);
        }
    }

    /// Its write is done.
    pub(crate) fn wrote(&mut self, writing: &Writing) {
        let write = Some(self.events);
        self.events += 1;
        self.pending = None;
        if writing.own {
            self.accesses.push((None, write));
        } else if let Some(access) = self.accesses.last_mut() {
            access.1 = write;
        }
        self.pc = InstrId(self.pc.0 + 1);
    }

    /// It passes its fence.
    pub(crate) fn fenced(&mut self) {
        self.events += 1;
        self.pc = InstrId(self.pc.0 + 1);
    }

    /// It takes this value.
    pub(crate) fn choose(&mut self, value: i128) {
        self.events += 1;
        let program = self.program;
        let Op::Choose { dst, .. } = &program.instr(self.thread, self.pc).op else {
            unreachable!("asked for a choice at another instruction")
        };
        match self.set(dst, value) {
            Ok(()) => self.pc = InstrId(self.pc.0 + 1),
            Err(error) => self.ended = Some(Status::Failed(self.pc, error)),
        }
    }
}

//! One thread at work, from event to event, given what its reads return.
//!
//! **Invariant:** the thread is the same whoever drives it: what it does next follows from the values that its reads and choices were given. Where it stood is kept
//! after each of its events ([`Frame`]), so that a thread that loses its last events goes on from there and need not be run again. Dependencies are not kept,
//! since no model that this engine takes asks for them.

mod choices;
mod loops;
mod pairs;
pub(crate) mod weak;

use cyrano_ir::guards::header_tags;
use cyrano_ir::{
    Access, AccessKind, Addr, Change, EvalError, Fence, InstrId, LocId, LocalExpr, Op, Place, RegId, Tags, Ty,
};

use crate::code::Code;
use crate::faults::Fault;
use crate::names::{Wrong, is_name, unseen};
use crate::rows::EventId;

pub(crate) use pairs::FAILS;

/// Why a thread does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It ran to its end.
    Done,
    /// An `assume` did not hold.
    Blocked,
    /// It went through a loop and changed nothing.
    Spins,
    /// A weak compare-and-swap failed without a reason where there was one ([`weak`]).
    Again,
    /// It jumped back too often, or ran for too long.
    Stopped,
    /// The `limit` at this instruction does not hold.
    Limited(InstrId),
    /// A computation went wrong at this instruction.
    Failed(InstrId, EvalError),
    /// It is about to look at this name ([`crate::names`]), or to compute with this pointer ([`crate::symmetry::moves`]).
    Sees(i128),
}

/// A write that comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Writing {
    pub(crate) loc: LocId,
    pub(crate) value: i128,
    pub(crate) tags: Tags,
    /// Which event of the thread is the read of the same read-modify-write.
    pub(crate) half: Option<u32>,
    /// Whether it is an access of its own, and not the second half of one.
    pub(crate) own: bool,
    /// Whether it is the second half of one that read the same value.
    silent: bool,
}

impl Writing {
    /// An access of its own.
    pub(crate) fn whole(loc: LocId, value: i128, tags: Tags) -> Self {
        Self { loc, value, tags, half: None, own: true, silent: false }
    }

    /// The second half of a read-modify-write, whose read is this event of the thread.
    pub(crate) fn half(loc: LocId, value: i128, tags: Tags, read: u32) -> Self {
        Self { half: Some(read), own: false, ..Self::whole(loc, value, tags) }
    }
}

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It takes one of some values.
    Choice,
    /// It reads.
    Read(LocId),
    /// It writes.
    Write(Writing),
    /// It passes a fence.
    Fence(Fence),
    /// It begins a thread.
    Spawn(usize),
    /// It waits for the end of a thread.
    Join(usize),
    /// Nothing more.
    End(Status),
}

/// The atomic section that a thread is in.
#[derive(Clone, Copy, Debug)]
struct Section {
    begin: InstrId,
    /// How many events there were before it.
    events: u32,
    /// Whether it is a read-modify-write.
    updates: bool,
    /// Its last read.
    read: Option<(u32, LocId)>,
}

/// No thread runs longer.
const INSTRUCTION_LIMIT: u32 = 100_000;

/// Where a thread stands: in front of an event, or at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pc: InstrId,
    instructions: u32,
    pub(crate) next: Next,
    section: Option<Section>,
    /// Where a loop began last and after how many events, if the thread has changed nothing since but its registers.
    head: Option<(InstrId, u32)>,
    /// Whether it has gone on after an iteration that changed nothing.
    lingered: bool,
    /// Of a thread that jumped back too often, the iteration before that if it changed nothing.
    round: Option<(InstrId, u32)>,
    /// The load-exclusive that a store-exclusive would belong to, by the number of its event.
    exclusive: Option<(u32, LocId)>,
    /// Whether its last read is what went wrong.
    broken: bool,
    /// Whether the write that comes next belongs to the read before it.
    pending: bool,
    /// Which of its objects others may know of ([`crate::fresh`]).
    pub(crate) published: u64,
    /// Whether an assertion was evaluated.
    pub(crate) asserted: bool,
    /// The first assertion that failed.
    pub(crate) failed: Option<InstrId>,
}

/// A thread on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runner {
    /// Its events.
    pub(crate) events: Vec<EventId>,
    /// Where it stood at first and after each event.
    frames: Vec<Frame>,
    /// The registers at each of these, and how often it has jumped back.
    registers: Vec<i128>,
}

impl Runner {
    /// A thread at its start.
    pub(crate) fn new(code: &Code<'_>) -> Self {
        let mut registers = vec![0; code.stride];
        let initial = &code.program.thread(code.thread).registers;
        registers.iter_mut().zip(initial).for_each(|(value, register)| *value = register.init);
        let frame = Frame {
            pc: InstrId(0),
            instructions: 0,
            next: Next::End(Status::Done),
            section: None,
            head: None,
            lingered: false,
            round: None,
            exclusive: None,
            broken: false,
            pending: false,
            published: 0,
            asserted: false,
            failed: None,
        };
        let mut runner = Self { events: Vec::new(), frames: vec![frame], registers };
        runner.advance(code);
        runner
    }

    /// Becomes a copy of the first events of another.
    pub(crate) fn copy_prefix(&mut self, code: &Code<'_>, from: &Self, events: usize) {
        self.events.clear();
        self.events.extend_from_slice(&from.events[..events]);
        self.frames.clear();
        self.frames.extend_from_slice(&from.frames[..=events]);
        self.registers.clear();
        self.registers.extend_from_slice(&from.registers[..(events + 1) * code.stride]);
    }

    #[inline]
    pub(crate) fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    #[inline]
    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// What its registers hold.
    pub(crate) fn registers(&self, code: &Code<'_>) -> &[i128] {
        &self.registers[self.registers.len() - code.stride..][..code.registers]
    }

    fn registers_mut(&mut self, code: &Code<'_>) -> &mut [i128] {
        let start = self.registers.len() - code.stride;
        &mut self.registers[start..]
    }

    /// Whether it is in the middle of something that nobody sees a half of.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        let frame = self.frame();
        let in_section = frame.section.is_some_and(|section| self.events.len() > section.events as usize);
        !matches!(frame.next, Next::End(_)) && (frame.pending || in_section)
    }

    /// How it ended, if it has.
    #[inline]
    pub(crate) fn status(&self) -> Option<Status> {
        if let Next::End(status) = self.frame().next { Some(status) } else { None }
    }

    /// The section that it waits at, if it does.
    pub(crate) fn waits_at(&self) -> Option<InstrId> {
        let waits = self.status() == Some(Status::Blocked);
        self.frame().section.filter(|_| waits).map(|section| section.begin)
    }

    /// Whether an event belongs to what the one before it began.
    pub(crate) fn goes_on_at(&self, event: usize) -> bool {
        let frame = &self.frames[event];
        frame.pending || frame.section.is_some_and(|section| (section.events as usize) < event)
    }

    /// Where the section began, by the number of events before it, that an event belongs to.
    pub(crate) fn section_at(&self, event: usize) -> Option<u32> {
        self.frames[event].section.map(|section| section.events)
    }

    /// The instruction of an event.
    pub(crate) fn instr_at(&self, event: usize) -> InstrId {
        self.frames[event].pc
    }

    /// The instruction that it stands at.
    pub(crate) fn instr(&self) -> InstrId {
        self.frame().pc
    }

    /// Forgets how it came to where it stands.
    pub(crate) fn forget(&mut self, code: &Code<'_>) {
        self.frames.swap_remove(0);
        self.frames.truncate(1);
        self.registers.drain(..self.registers.len() - code.stride);
    }

    /// The kind of the access that it stands at.
    pub(crate) fn kind(&self, code: &Code<'_>) -> Option<AccessKind> {
        code.op(self.frame().pc).access_kind()
    }

    /// Whether it is in an execution that is none, as an `assume` outside of sections does not hold.
    pub(crate) fn is_dropped(&self) -> bool {
        let frame = self.frame();
        self.status() == Some(Status::Blocked) && frame.section.is_none() && frame.failed.is_none()
    }

    /// How many of its events count: a section that waits has done nothing.
    pub(crate) fn counted(&self) -> usize {
        let frame = self.frame();
        match (self.status(), frame.section) {
            (Some(Status::Blocked), Some(section)) => section.events as usize,
            // A read that goes wrong has not been made.
            (Some(Status::Failed(..)), _) if frame.broken => self.events.len() - 1,
            _ => self.events.len(),
        }
    }

    /// Takes back its last event.
    pub(crate) fn pop(&mut self, code: &Code<'_>) {
        self.events.pop();
        self.frames.pop();
        self.registers.truncate(self.registers.len() - code.stride);
    }

    fn push(&mut self, code: &Code<'_>, event: EventId) {
        self.events.push(event);
        self.frames.push(*self.frame());
        self.registers.extend_from_within(self.registers.len() - code.stride..);
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.registers.capacity() * size_of::<i128>() + self.frames.capacity() * size_of::<Frame>()
    }

    #[inline]
    fn value(&self, code: &Code<'_>, expr: &LocalExpr) -> Result<i128, Wrong> {
        let registers = self.registers(code);
        let value = code.names.value(expr, registers);
        if !value.is_ok_and(is_name) {
            code.moves.keep(expr, registers)?;
        }
        value
    }

    #[inline]
    fn holds(&self, code: &Code<'_>, cond: &LocalExpr) -> Result<bool, Wrong> {
        Ok(unseen(self.value(code, cond)?)? != 0)
    }

    fn register(&self, code: &Code<'_>, place: &Place) -> Result<RegId, Wrong> {
        if let Place::Elem { index, .. } = place {
            code.names.blind(index, self.registers(code))?;
            code.moves.blind(index, self.registers(code))?;
        }
        Ok(place.register(self.registers(code))?)
    }

    fn set(&mut self, code: &Code<'_>, dst: &Place, value: i128) -> Result<(), Wrong> {
        let register = self.register(code, dst)?;
        self.registers_mut(code)[register.index()] = value;
        Ok(())
    }

    fn end(&mut self, status: Status) {
        self.frame_mut().next = Next::End(status);
    }

    fn fail(&mut self, why: Wrong) {
        let pc = self.frame().pc;
        self.end(match why {
            Wrong::Error(error) => Status::Failed(pc, error),
            Wrong::Sees(name) => Status::Sees(name),
        });
    }

    /// Goes on to its next event.
    fn advance(&mut self, code: &Code<'_>) {
        loop {
            let frame = self.frame_mut();
            frame.instructions += 1;
            if frame.instructions > INSTRUCTION_LIMIT {
                return self.end(Status::Stopped);
            }
            match self.step(code) {
                Ok(None) => {}
                Ok(Some(next)) => {
                    self.frame_mut().next = next;
                    return;
                }
                Err(error) => return self.fail(error),
            }
        }
    }

    fn step(&mut self, code: &Code<'_>) -> Result<Option<Next>, Wrong> {
        let pc = self.frame().pc;
        if code.heads[pc.index()].is_some() && self.is_idle(code, pc) {
            return Ok(Some(Next::End(Status::Spins)));
        }
        match code.op(pc) {
            Op::Assign { dst, value } => {
                let register = self.register(code, dst)?;
                let value = self.value(code, value)?;
                self.registers_mut(code)[register.index()] = value;
            }
            Op::Access(access) => return self.access(code, access).map(Some),
            Op::Fence(fence) => return Ok(Some(Next::Fence(*fence))),
            Op::Choose { .. } => return Ok(Some(Next::Choice)),
            Op::Assume(cond) if !self.holds(code, cond)? => return Ok(Some(Next::End(Status::Blocked))),
            Op::Limit { cond, .. } if !self.holds(code, cond)? => {
                return Ok(Some(Next::End(Status::Limited(pc))));
            }
            Op::Assert { cond, .. } => {
                let holds = self.holds(code, cond)?;
                let frame = self.frame_mut();
                frame.asserted = true;
                if !holds {
                    frame.failed.get_or_insert(pc);
                }
            }
            Op::Branch { cond, then_to, else_to } => {
                let to = if self.holds(code, cond)? { *then_to } else { *else_to };
                return Ok(self.jump(code, to));
            }
            Op::Jump(to) => return Ok(self.jump(code, *to)),
            Op::Halt => return Ok(Some(Next::End(Status::Done))),
            Op::AtomicBegin if code.revives[pc.index()] => {}
            Op::AtomicBegin => {
                let (events, updates) = (self.events.len() as u32, code.updates[pc.index()]);
                self.frame_mut().section = Some(Section { begin: pc, events, updates, read: None });
            }
            Op::AtomicEnd => self.frame_mut().section = None,
            Op::Assume(_) | Op::Limit { .. } => {}
            Op::OperationBegin(_) | Op::OperationEnd | Op::Progress(_) => {}
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => {}
            Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => unreachable!("such programs are refused"),
        }
        self.frame_mut().pc = InstrId(pc.0 + 1);
        Ok(None)
    }

    fn access(&self, code: &Code<'_>, access: &Access) -> Result<Next, Wrong> {
        if let Addr::Indexed { index, .. } = &access.addr {
            code.names.blind(index, self.registers(code))?;
        }
        let registers = self.registers(code);
        let loc = code.moves.reach(&access.addr, access.addr.location(code.program, registers), registers)?;
        let Some(set) = access.stored() else { return Ok(Next::Read(loc)) };
        if access.tags.contains(Tags::EXCLUSIVE) {
            // What it is computed from goes wrong first, whether or not it succeeds.
            self.value(code, set)?;
            access.dst.as_ref().map(|dst| self.register(code, dst)).transpose()?;
            return Ok(Next::Choice);
        }
        // Of a section that need not write, what stands right before is the other half.
        let last = self.events.len() as u32;
        let is_half = |section: &Section, (read, of)| section.updates || read + 1 == last && of == loc;
        let section = self.frame().section.as_ref();
        let half = section.and_then(|section| section.read.filter(|read| is_half(section, *read)));
        let half = half.map(|(read, _)| read);
        let tags = self.said(code, loc, access.tags, false);
        Ok(Next::Write(Writing { loc, value: self.value(code, set)?, tags, half, own: true, silent: false }))
    }

    /// Read-modify-writes and what is in an atomic section synchronise threads, marked or not; accesses to headers in a way of their own.
    #[inline]
    fn said(&self, code: &Code<'_>, loc: LocId, tags: Tags, rmw: bool) -> Tags {
        if code.has_headers && code.program.location(loc).ty == Ty::Header {
            return header_tags(if rmw { AccessKind::Rmw } else { AccessKind::Store });
        }
        if rmw || self.frame().section.is_some() { tags | Tags::SYNC } else { tags }
    }

    /// The access that it stands at.
    fn accessed<'p>(&self, code: &Code<'p>) -> &'p Access {
        let Op::Access(access) = code.op(self.frame().pc) else { unreachable!("a thread that is to read") };
        access
    }

    /// Whether its next read belongs to a read-modify-write, and its tags if it returns this value.
    pub(crate) fn reading(&self, code: &Code<'_>, loc: LocId, value: i128) -> (bool, Tags) {
        let access = self.accessed(code);
        let rmw = access.kind == AccessKind::Rmw;
        let written = if rmw { self.written(code, access, value).ok().flatten() } else { None };
        let failed = access.failed.filter(|_| written.is_none());
        (self.may_update(code), self.said(code, loc, failed.unwrap_or(access.tags), rmw))
    }

    /// Whether its next read belongs to a read-modify-write.
    pub(crate) fn may_update(&self, code: &Code<'_>) -> bool {
        self.accessed(code).kind == AccessKind::Rmw || self.frame().section.is_some_and(|section| section.updates)
    }

    fn written(&self, code: &Code<'_>, access: &Access, value: i128) -> Result<Option<i128>, Wrong> {
        let change = access.change.as_ref();
        if let (Some(Change::Add(operand)), false) = (change, code.moves.is_empty()) {
            code.moves.stay(value)?;
            let operand = self.value(code, operand)?;
            code.moves.stay(operand)?;
            code.moves.stay(value.saturating_add(operand))?;
        }
        let looked_at = match change {
            Some(Change::Cas { expected: operand, .. } | Change::Add(operand)) => Some(operand),
            Some(Change::Set(_)) | None => None,
        };
        if let Some(operand) = looked_at.filter(|_| !code.names.is_empty()) {
            unseen(value)?;
            let operand = unseen(self.value(code, operand)?)?;
            if let Some(Change::Add(_)) = change {
                unseen(value.saturating_add(operand))?;
            }
        }
        change.map_or(Ok(None), |change: &Change| change.apply(value, |operand| self.value(code, operand)))
    }

    /// Its next read is this event and returns this value.
    pub(crate) fn read(&mut self, code: &Code<'_>, event: EventId, loc: LocId, value: i128) {
        let access = self.accessed(code);
        let read = self.events.len() as u32;
        let written = self.written(code, access, value);
        self.push(code, event);
        let set = access.dst.as_ref().map_or(Ok(()), |dst| self.set(code, dst, value));
        if let Some(section) = &mut self.frame_mut().section {
            section.read = Some((read, loc));
        }
        if access.tags.contains(Tags::EXCLUSIVE) {
            self.frame_mut().exclusive = Some((read, loc));
        }
        match (written, set) {
            (Err(error), _) | (_, Err(error)) => {
                self.frame_mut().broken = true;
                self.fail(error);
            }
            (Ok(None), Ok(())) => {
                self.go_on(code);
                if self.fails_again(code, loc, value) {
                    self.end(Status::Again);
                }
            }
            (Ok(Some(new)), Ok(())) => {
                let (tags, silent, value) = (self.said(code, loc, access.tags, true), new == value, new);
                let frame = self.frame_mut();
                frame.pending = true;
                frame.next = Next::Write(Writing { loc, value, tags, half: Some(read), own: false, silent });
            }
        }
    }

    fn go_on(&mut self, code: &Code<'_>) {
        let frame = self.frame_mut();
        frame.pc = InstrId(frame.pc.0 + 1);
        self.advance(code);
    }

    /// Its next write is this event.
    pub(crate) fn wrote(&mut self, code: &Code<'_>, event: EventId) {
        let Frame { next, head, mut published, section, .. } = *self.frame();
        let mut silent = false;
        if let Next::Write(writing) = &next {
            silent = code.fault == Some(Fault::IdleWrites)
                || writing.silent
                || section.is_none() && code.overwrites(head, published, writing);
            published |= code.publishes(writing.value);
        }
        self.push(code, event);
        let frame = self.frame_mut();
        frame.published = published;
        frame.pending = false;
        frame.head = frame.head.filter(|_| silent);
        self.go_on(code);
    }

    /// Its next fence is this event.
    pub(crate) fn fenced(&mut self, code: &Code<'_>, event: EventId) {
        self.push(code, event);
        self.go_on(code);
    }
}

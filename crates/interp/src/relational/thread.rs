//! One thread alone: what it does when its reads return certain values.
//!
//! **Invariant:** dependencies are those of the text. A register depends on the reads that its value was computed from, whatever the value; a branch, an `assume`
//! and a `limit` make everything after them depend on what they look at. In a program whose branches are scoped a branch does so until its ways meet.
//!
//! A section of one load and one store to one address is one instruction to the model: its write does not depend on its read. One that makes an object alive again is
//! no section to the model (`cyrano_ir::guards`).

mod access;
mod section;

use std::rc::Rc;

use cyrano_ir::dataflow::joins;
use cyrano_ir::{
    Access, AccessKind, EvalError, Fence, InstrId, LocId, LocalExpr, Op, Place, Program, RegId, Tags, ThreadId,
};
use cyrano_memory::cat::What;

pub(super) use self::access::Reading;
pub(super) use self::section::Beginning;
use self::section::Section;
use super::hang::Lap;
use super::taint::Sources;
use crate::set::EventSet;

/// Why a thread does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It ran to its end.
    Done,
    /// An `assume` did not hold; in a section the thread waits at its beginning.
    Dropped,
    /// It jumped back too often, or ran for too long.
    Stopped,
    /// The `limit` at this instruction does not hold.
    Limited(InstrId),
    /// A computation went wrong at this instruction.
    Failed(InstrId, EvalError),
}

/// The event of a read-modify-write that a write belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Half {
    /// The read is part of the same instruction.
    Amo(usize),
    /// The read is a load-exclusive.
    Exclusive(usize),
}

/// An event of a thread; other events are given by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The access that it belongs to, by its number; of a fence none.
    pub(super) access: Option<usize>,
    pub(super) what: What,
    pub(super) loc: Option<LocId>,
    pub(super) value: i128,
    pub(super) tags: Tags,
    pub(super) rmw: bool,
    pub(super) half: Option<Half>,
    pub(super) addr: Sources,
    pub(super) data: Sources,
    pub(super) ctrl: EventSet,
    pub(super) compared: EventSet,
}

/// An access of a thread: its events have the numbers of its read and of its write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Performed {
    pub(super) instr: InstrId,
    pub(super) kind: AccessKind,
    pub(super) loc: LocId,
    pub(super) read: Option<usize>,
    pub(super) write: Option<usize>,
    /// Whether it is a compare-and-swap that succeeds and keeps its register ([`Reading::Keeping`]).
    pub(super) kept: bool,
}

/// A thread on its way.
#[derive(Clone, Debug)]
pub(super) struct Run<'p> {
    program: &'p Program,
    pub(super) thread: ThreadId,
    pub(super) pc: InstrId,
    pub(super) registers: Vec<i128>,
    taints: Vec<Sources>,
    ctrl: EventSet,
    /// The branches that it is in: where the ways of each meet, and what everything depended on before it.
    scopes: Vec<(InstrId, EventSet)>,
    /// Where the ways of a branch meet, if branches have an end.
    joins: Option<Rc<Vec<Option<InstrId>>>>,
    pub(super) events: Vec<Event>,
    pub(super) accesses: Vec<Performed>,
    pub(super) choices: Vec<i128>,
    /// The load-exclusive that a store-exclusive would belong to.
    exclusive: Option<usize>,
    section: Option<Section>,
    /// How many sections it has entered, and the one that it waits at.
    sections: usize,
    waits: Option<Box<Beginning>>,
    /// How often each instruction has jumped back.
    jumps: Vec<(InstrId, usize)>,
    /// The last moments at which it jumped back, two for each place at most.
    pub(super) laps: Vec<Lap>,
    iterations: usize,
    /// How many accesses it may have: it stops in front of a store that would be one more.
    most: usize,
    instructions: usize,
    /// The first assertion that failed.
    pub(super) failed: Option<InstrId>,
    /// Whether an assertion was evaluated.
    pub(super) asserted: bool,
}

/// What a thread needs in order to go on.
#[derive(Clone, Debug)]
pub(super) enum Need<'p> {
    /// One of these values.
    Choice(&'p [i128]),
    /// What this access reads.
    Read(&'p Access, LocId),
    /// Whether this store succeeds.
    Success(&'p Access, LocId),
    /// To be told which way to go, if that is not for its condition to say.
    Way(&'p Op),
    /// Nothing: it does not go on.
    End(Status),
}

/// No thread runs longer.
const INSTRUCTION_LIMIT: usize = 100_000;

impl<'p> Run<'p> {
    /// A thread at its start.
    pub(super) fn new(program: &'p Program, thread: ThreadId, iterations: usize) -> Self {
        let registers: Vec<i128> = program.thread(thread).registers.iter().map(|register| register.init).collect();
        Self {
            program,
            thread,
            pc: InstrId(0),
            taints: vec![Sources::default(); registers.len()],
            registers,
            ctrl: EventSet::default(),
            scopes: Vec::new(),
            joins: program.scoped.then(|| Rc::new(joins(program.thread(thread)))),
            events: Vec::new(),
            accesses: Vec::new(),
            choices: Vec::new(),
            exclusive: None,
            section: None,
            sections: 0,
            waits: None,
            jumps: Vec::new(),
            laps: Vec::new(),
            iterations,
            most: usize::MAX,
            instructions: 0,
            failed: None,
            asserted: false,
        }
    }

    /// A thread at its start that is not to go further than a record of so many accesses: stores need nothing, so that it would run on through them.
    pub(super) fn recorded(program: &'p Program, thread: ThreadId, accesses: usize) -> Self {
        Self { most: accesses, ..Self::new(program, thread, usize::MAX) }
    }

    /// The accesses that look at a header, by number, with it and what is wrong if the object is not alive.
    pub(super) fn guards(&self) -> impl Iterator<Item = (usize, LocId, EvalError)> + '_ {
        let has_headers = self.program.has_headers();
        let accesses = self.accesses.iter().enumerate().filter(move |_| has_headers);
        accesses.filter_map(|(number, done)| {
            let header = self.program.guard(done.loc, done.kind)?;
            Some((number, header, self.program.guard_error(done.loc)))
        })
    }

    /// How often each instruction has jumped back.
    pub(super) fn jumps(&self) -> &[(InstrId, usize)] {
        &self.jumps
    }

    /// Forgets what it has done so far, if only what it writes from now on matters.
    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.accesses.clear();
        self.taints.iter_mut().for_each(|taint| *taint = Sources::default());
        (self.ctrl, self.section, self.exclusive) = (EventSet::default(), None, None);
        self.scopes.clear();
        self.laps.clear();
    }

    pub(super) fn op(&self) -> &'p Op {
        &self.program.instr(self.thread, self.pc).op
    }

    /// Goes on until something is needed. With `ways` it stops at every condition.
    pub(super) fn proceed(&mut self, ways: bool) -> Need<'p> {
        loop {
            self.instructions += 1;
            if self.instructions > INSTRUCTION_LIMIT {
                return Need::End(Status::Stopped);
            }
            match self.step(ways) {
                Ok(None) => {}
                Ok(Some(need)) => return need,
                Err(error) => return Need::End(Status::Failed(self.pc, error)),
            }
        }
    }

    fn step(&mut self, ways: bool) -> Result<Option<Need<'p>>, EvalError> {
        while let Some((_, before)) = self.scopes.pop_if(|(join, _)| *join == self.pc) {
            self.ctrl = before;
        }
        let op = self.op();
        match op {
            Op::Assign { dst, value } => {
                let mut sources = self.taint(value);
                let register = self.destination(dst, &mut sources)?;
                let value = value.value(&*self.registers)?;
                self.set(register, value, sources);
            }
            Op::Access(access) => return self.access(access),
            Op::Fence(fence) => self.fence(*fence),
            Op::Choose { from, .. } => return Ok(Some(Need::Choice(from))),
            Op::Assume(_) | Op::Limit { .. } | Op::Branch { .. } if ways => return Ok(Some(Need::Way(op))),
            Op::Assume(cond) => {
                if !self.decide(cond)? {
                    self.leave_section();
                    return Ok(Some(Need::End(Status::Dropped)));
                }
            }
            Op::Limit { cond, .. } => {
                if !self.decide(cond)? {
                    return Ok(Some(Need::End(Status::Limited(self.pc))));
                }
            }
            Op::Assert { cond, .. } => {
                self.asserted = true;
                if cond.value(&*self.registers)? == 0 {
                    self.failed.get_or_insert(self.pc);
                }
            }
            Op::Branch { cond, then_to, else_to } => {
                if let Some(join) = self.joins.as_ref().and_then(|joins| joins[self.pc.index()]) {
                    self.scopes.push((join, self.ctrl.clone()));
                }
                let to = if self.decide(cond)? { *then_to } else { *else_to };
                return Ok(self.jump(to));
            }
            Op::Jump(to) => return Ok(self.jump(*to)),
            Op::Halt => return Ok(Some(Need::End(Status::Done))),
            Op::AtomicBegin if self.program.revives(self.program.thread(self.thread), self.pc) => {}
            Op::AtomicBegin => self.enter_section(),
            Op::AtomicEnd => self.section = None,
            // What these mean is asked of other models (`supports`).
            Op::OperationBegin(_) | Op::OperationEnd | Op::Progress(_) => {}
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => {}
            Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => unreachable!("such programs are refused"),
        }
        self.pc = InstrId(self.pc.0 + 1);
        Ok(None)
    }

    /// Goes on there, unless the thread has jumped back too often.
    fn jump(&mut self, to: InstrId) -> Option<Need<'p>> {
        let from = std::mem::replace(&mut self.pc, to);
        if to > from {
            return None;
        }
        let found = self.jumps.iter().position(|(instr, _)| *instr == from);
        let at = found.unwrap_or_else(|| {
            self.jumps.push((from, 0));
            self.jumps.len() - 1
        });
        self.jumps[at].1 += 1;
        self.note_lap(to);
        (self.jumps[at].1 > self.iterations).then_some(Need::End(Status::Stopped))
    }

    fn decide(&mut self, cond: &LocalExpr) -> Result<bool, EvalError> {
        let sources = self.taint(cond);
        self.ctrl.absorb(&sources.all);
        Ok(cond.value(&*self.registers)? != 0)
    }

    /// Goes a way that its condition may not be for; not too often back.
    pub(super) fn go(&mut self, way: bool) -> bool {
        let to = match self.op() {
            Op::Branch { then_to, else_to, .. } => {
                if way {
                    *then_to
                } else {
                    *else_to
                }
            }
            _ => InstrId(self.pc.0 + 1),
        };
        self.jump(to).is_none()
    }

    fn taint(&self, expr: &LocalExpr) -> Sources {
        Sources::of(expr, &self.registers, &self.taints)
    }

    fn destination(&self, dst: &Place, sources: &mut Sources) -> Result<RegId, EvalError> {
        if let Place::Elem { index, .. } = dst {
            sources.absorb(&self.taint(index));
        }
        dst.register(&*self.registers)
    }

    fn set(&mut self, register: RegId, value: i128, sources: Sources) {
        self.registers[register.index()] = value;
        self.taints[register.index()] = sources;
    }

    fn fence(&mut self, fence: Fence) {
        let at = if let Fence::Named { at, .. } = fence { at } else { None };
        let event = self.event(What::Fence(fence), at, fence.tags());
        self.events.push(event);
    }

    fn event(&self, what: What, loc: Option<LocId>, tags: Tags) -> Event {
        Event {
            access: None,
            what,
            loc,
            value: 0,
            tags,
            rmw: false,
            half: None,
            addr: Sources::default(),
            data: Sources::default(),
            ctrl: self.ctrl.clone(),
            compared: EventSet::default(),
        }
    }

    /// Completes a choice.
    pub(super) fn choose(&mut self, value: i128) -> Result<(), EvalError> {
        let Op::Choose { dst, .. } = self.op() else { unreachable!("asked for a choice at another instruction") };
        let mut sources = Sources::default();
        let register = self.destination(dst, &mut sources)?;
        self.choices.push(value);
        self.set(register, value, sources);
        self.pc = InstrId(self.pc.0 + 1);
        Ok(())
    }
}

//! One thread at work, one instruction at a time.
//!
//! The machine knows no memory: whoever drives it supplies what loads return and what `choose` picks, so the same semantics
//! serves enumeration (every candidate value) and replay (the recorded value, or none yet).
//!
//! **Invariant:** `events` are the accesses in program order with their dependencies as axiom 3 defines them: a register carries the
//! set of reading events that its value was computed from, and a decided branch, `assume` or `limit` adds to the control set of
//! everything later. An assertion adds nothing.

pub(crate) mod section;
pub(crate) mod stepped;

use cyrano_ir::{
    Access, AccessKind, Addr, Change, EvalError, FenceSet, InstrId, LocId, LocalExpr, Miss, Op, OwnOrder, Place,
    Program, RegId, Thread, ThreadId,
};
use cyrano_memory::Model;

use crate::eval::{index_taint, taint};
use crate::issue::Issued;
use crate::machine::stepped::{Mark, MarkKind, Request, Step};
use crate::order::Written;
use crate::set::EventSet;

/// After this many instructions an atomic section counts as one that does not end.
pub(crate) const SECTION_LIMIT: usize = 10_000;

/// What a thread runs, and under which model.
#[derive(Clone, Copy)]
pub(crate) struct Code<'p> {
    pub(crate) program: &'p Program,
    pub(crate) model: &'p Model,
    pub(crate) thread: ThreadId,
    /// The program's own order, under a model that follows it (axiom 9).
    pub(crate) own_order: Option<&'p OwnOrder>,
    /// Whether the whole thread is one unit of axiom 6.
    whole: bool,
    has_blocks: bool,
}

impl<'p> Code<'p> {
    /// The code of one thread.
    pub(crate) fn new(program: &'p Program, model: &'p Model, thread: ThreadId) -> Self {
        let whole = model.reordering().serial && !program.thread(thread).has_operations();
        Self { program, model, thread, own_order: model.own_order(program), whole, has_blocks: program.has_blocks() }
    }

    /// The thread.
    pub(crate) fn thread(self) -> &'p Thread {
        self.program.thread(self.thread)
    }

    /// Whether the thread runs before all others.
    pub(crate) fn is_setup(self) -> bool {
        self.program.setup == Some(self.thread)
    }

    /// The instruction's operation; the end of the code is a halt.
    pub(crate) fn op(self, pc: InstrId) -> &'p Op {
        let instr = self.program.thread(self.thread).code.get(pc.index());
        instr.map_or(&Op::Halt, |instr| &instr.op)
    }
}

/// The state of one thread.
#[derive(Clone)]
pub(crate) struct Machine<'p> {
    pub(crate) code: Code<'p>,
    pub(crate) pc: InstrId,
    pub(crate) registers: Vec<Option<i128>>,
    pub(crate) taints: Vec<EventSet>,
    pub(crate) control: EventSet,
    /// Under an own order, what each executed instruction hands on to those that follow it, by instruction: an access itself.
    handed: Vec<(InstrId, EventSet)>,
    /// What the section that is under way follows so far.
    inside: EventSet,
    sections: u32,
    operations: u32,
    units: u32,
    /// Each fence with the number of events before it; not one that adds nothing to those behind the same event, so that a loop of fences is a circle.
    pub(crate) fences: Vec<(usize, FenceSet)>,
    pub(crate) events: Vec<Issued>,
    pub(crate) choices: Vec<i128>,
    /// The marks of atomic blocks that were passed, in a program that has blocks.
    pub(crate) marks: Vec<Mark>,
    /// The choices made outside of blocks.
    pub(crate) outside_choices: Vec<i128>,
    /// The assertions that failed.
    pub(crate) failed: Vec<InstrId>,
    /// How many computations had gone wrong when the first of them failed.
    pub(crate) errors_before: usize,
    /// Computations that went wrong without stopping the thread.
    pub(crate) errors: Vec<(InstrId, EvalError)>,
    /// Whether any assertion was evaluated.
    pub(crate) asserted: bool,
}

/// Unwraps a value or ends the step.
macro_rules! known {
    ($value:expr) => {
        match $value {
            Ok(value) => value,
            Err(Miss::Unknown) => return Step::Missing,
            Err(Miss::Failed(error)) => return Step::Failed(error),
        }
    };
}

impl<'p> Machine<'p> {
    /// A thread at its start.
    pub(crate) fn new(code: Code<'p>) -> Self {
        let registers: Vec<_> = code.program.thread(code.thread).registers.iter().map(|r| Some(r.init)).collect();
        Self {
            code,
            pc: InstrId(0),
            taints: vec![EventSet::default(); registers.len()],
            registers,
            control: EventSet::default(),
            handed: Vec::new(),
            inside: EventSet::default(),
            sections: 0,
            operations: 0,
            units: 0,
            fences: Vec::new(),
            events: Vec::new(),
            choices: Vec::new(),
            marks: Vec::new(),
            outside_choices: Vec::new(),
            failed: Vec::new(),
            errors_before: 0,
            errors: Vec::new(),
            asserted: false,
        }
    }

    /// What comes next.
    pub(crate) fn op(&self) -> &'p Op {
        self.code.op(self.pc)
    }

    /// Whether the next instruction starts an atomic section (and not one inside another).
    pub(crate) fn at_section(&self) -> bool {
        self.sections == 0 && matches!(self.op(), Op::AtomicBegin)
    }

    /// Whether it is inside an atomic section.
    pub(crate) fn in_section(&self) -> bool {
        self.sections > 0
    }

    /// Whether the thread may be left here under a serial model: before an operation, that is at its marker or where a thread that is one operation starts, and
    /// outside of operations before an access or a section.
    pub(crate) fn may_pause(&self) -> bool {
        let starts = self.code.whole && self.pc.index() == 0 && self.events.is_empty();
        let outside = self.unit().is_none() && (self.op().access_kind().is_some() || self.at_section());
        self.code.model.reordering().serial && (starts || outside || matches!(self.op(), Op::OperationBegin(_)))
    }

    /// The unit of axiom 6 that an access now would belong to.
    pub(crate) fn unit(&self) -> Option<u32> {
        let operation = self.code.model.reordering().serial && self.operations > 0;
        (self.code.whole || operation || self.sections > 0).then_some(self.units)
    }

    /// Executes one instruction, or says what is needed for it.
    pub(crate) fn step(&mut self) -> Step<'p> {
        match self.op() {
            Op::Assign { dst, value } => return self.assign(dst, value),
            Op::Access(access) => return self.access(access),
            Op::Choose { from, .. } => return Step::Choose(from),
            Op::Assume(cond) => return self.assume(cond, Step::Refused),
            Op::Limit { cond, .. } => return self.assume(cond, Step::Limited),
            Op::Assert { cond, .. } => self.assert(cond),
            Op::Branch { cond, then_to, else_to } => {
                let holds = known!(cond.value(&*self.registers)) != 0;
                self.decide(cond);
                return self.go(if holds { *then_to } else { *else_to });
            }
            Op::Jump(target) => return self.go(*target),
            Op::Halt => return Step::Halted,
            Op::Transaction(_) => {
                let mark = self.issued(LocId(0), AccessKind::Mark, EventSet::default());
                self.events.push(mark);
            }
            Op::Invoke { .. } | Op::Respond(_) => self.call(),
            Op::Progress(_) => {}
            Op::BlockBegin(_) => self.mark(MarkKind::Begin),
            Op::BlockCommit => self.mark(MarkKind::Commit),
            Op::BlockEnd(_) => self.mark(MarkKind::End),
            Op::Fence(fence) => self.pass(fence.pairs()),
            Op::AtomicEnd => {
                self.bracket(&Op::AtomicEnd);
                let step = self.advance();
                self.mark_outside();
                return step;
            }
            op @ (Op::AtomicBegin | Op::OperationBegin(_) | Op::OperationEnd) => self.bracket(op),
        }
        self.advance()
    }

    /// Whether it is in an atomic block.
    pub(crate) fn in_block(&self) -> bool {
        let mut marks = self.marks.iter().rev();
        marks.next().is_some_and(|mark| !mark.kind.ends())
    }

    fn mark(&mut self, kind: MarkKind) {
        let (events, control) = (self.events.len(), self.control.clone());
        self.marks.push(Mark { kind, pc: self.pc, events, control, registers: self.registers.clone() });
    }

    /// Marks the end of an access or a section outside of blocks.
    fn mark_outside(&mut self) {
        let issued = self.marks.last().map_or(0, |mark| mark.events) < self.events.len();
        if self.code.has_blocks && issued && self.sections == 0 && !self.in_block() {
            self.mark(MarkKind::After);
        }
    }

    /// A fence.
    fn pass(&mut self, pairs: FenceSet) {
        let events = self.events.len();
        let here = self.fences.iter().rev().take_while(|(before, _)| *before == events);
        let known = here.fold(FenceSet::NONE, |all, (_, set)| all | *set);
        if known | pairs != known {
            self.fences.push((events, pairs));
        }
    }

    fn advance(&mut self) -> Step<'p> {
        self.pc = InstrId(self.pc.0 + 1);
        Step::Local
    }

    /// Goes to another instruction.
    pub(crate) fn go(&mut self, target: InstrId) -> Step<'p> {
        let from = std::mem::replace(&mut self.pc, target);
        if target <= from {
            // A thread that goes on for ever: what its calls follow stands in the same call.
            self.handed.clear();
        }
        if target <= from { Step::Back(from) } else { Step::Local }
    }

    /// Records that the way on was decided by this condition.
    pub(crate) fn decide(&mut self, cond: &LocalExpr) {
        let mut sources = EventSet::default();
        taint(&self.registers, &self.taints, cond, &mut sources);
        self.control.absorb(&sources);
        self.hand_on(&mut sources);
    }

    /// What the next instruction follows because the program's own order lists it (axiom 9).
    fn listed(&self) -> EventSet {
        let mut found = EventSet::default();
        let Some(order) = self.code.own_order else { return found };
        for from in order.of(self.code.thread, self.pc) {
            if let Ok(at) = self.handed.binary_search_by_key(from, |(instr, _)| *instr) {
                found.absorb(&self.handed[at].1);
            }
        }
        found
    }

    /// Under an own order, adds to what the next instruction was computed from all else that it follows, and hands that on.
    fn hand_on(&mut self, sources: &mut EventSet) {
        if self.code.own_order.is_none() {
            return;
        }
        sources.absorb(&self.listed());
        if self.sections > 0 {
            self.inside.absorb(sources);
        }
        self.handed.push((self.pc, sources.clone()));
    }

    /// Hands on the access that was just issued.
    fn hand_on_access(&mut self) {
        if self.code.own_order.is_some() {
            let mut access = EventSet::default();
            access.insert(self.events.len() - 1);
            self.handed.push((self.pc, access));
        }
    }

    /// Sections and operations. A unit starts when no unit is open; what starts inside a unit is part of it.
    fn bracket(&mut self, op: &Op) {
        let outside = self.unit().is_none();
        match op {
            Op::AtomicBegin => {
                if self.sections == 0 {
                    self.inside = self.listed();
                }
                self.sections += 1;
            }
            Op::AtomicEnd => self.sections = self.sections.saturating_sub(1),
            Op::OperationBegin(_) => self.operations += 1,
            _ => self.operations = self.operations.saturating_sub(1),
        }
        if outside && self.unit().is_some() {
            self.units += 1;
        }
    }

    /// A value whose computation orders nothing: an error is recorded and the value is 0.
    fn compute(&mut self, expr: &LocalExpr) -> (Option<i128>, EventSet) {
        let mut sources = EventSet::default();
        taint(&self.registers, &self.taints, expr, &mut sources);
        let value = match expr.value(&*self.registers) {
            Ok(value) => Some(value),
            Err(Miss::Unknown) => None,
            Err(Miss::Failed(error)) => {
                self.errors.push((self.pc, error));
                Some(0)
            }
        };
        (value, sources)
    }

    fn assign(&mut self, dst: &Place, value: &LocalExpr) -> Step<'p> {
        let register = known!(dst.register(&*self.registers));
        let (value, mut sources) = self.compute(value);
        index_taint(&self.registers, &self.taints, dst, &mut sources);
        self.hand_on(&mut sources);
        self.set(register, value, sources);
        self.advance()
    }

    fn set(&mut self, register: RegId, value: Option<i128>, sources: EventSet) {
        self.registers[register.index()] = value;
        self.taints[register.index()] = sources;
    }

    fn assume(&mut self, cond: &LocalExpr, otherwise: Step<'p>) -> Step<'p> {
        if known!(cond.value(&*self.registers)) == 0 {
            return otherwise;
        }
        self.decide(cond);
        self.advance()
    }

    /// Evaluates an assertion, if its values are there, and goes on in any case.
    fn assert(&mut self, cond: &LocalExpr) {
        match cond.value(&*self.registers) {
            Err(Miss::Unknown) => return,
            Ok(0) => {
                if self.failed.is_empty() {
                    self.errors_before = self.errors.len();
                }
                self.failed.push(self.pc);
            }
            Ok(_) => {}
            Err(Miss::Failed(error)) => self.errors.push((self.pc, error)),
        }
        self.asserted = true;
    }

    /// The location and what it was computed from.
    fn address(&self, addr: &Addr) -> Result<(LocId, EventSet), Miss> {
        let mut sources = EventSet::default();
        if let Addr::Indexed { index, .. } = addr {
            taint(&self.registers, &self.taints, index, &mut sources);
        }
        Ok((addr.location(self.code.program, &*self.registers)?, sources))
    }

    fn access(&mut self, access: &Access) -> Step<'p> {
        let (loc, address) = known!(self.address(&access.addr));
        if access.kind == AccessKind::Store {
            let event = self.issued(loc, AccessKind::Store, address);
            self.issue(event, None);
            return Step::Stored;
        }
        let mut index = EventSet::default();
        let dst = match &access.dst {
            None => None,
            Some(place) => {
                index_taint(&self.registers, &self.taints, place, &mut index);
                Some(known!(place.register(&*self.registers)))
            }
        };
        Step::Read(Request { loc, kind: access.kind, dst, index, address })
    }

    fn issued(&self, loc: LocId, kind: AccessKind, address: EventSet) -> Issued {
        let mut follows = self.listed();
        if self.sections > 0 {
            follows.absorb(&self.inside);
        }
        Issued {
            kind,
            instr: self.pc,
            loc,
            read: None,
            written: Written::Nothing,
            data: EventSet::default(),
            flow: EventSet::default(),
            address,
            control: self.control.clone(),
            follows,
            computes: false,
            unit: self.unit(),
            said: Vec::new(),
        }
    }

    /// A call or a response, with the values it names.
    fn call(&mut self) {
        let mut mark = self.issued(LocId(0), AccessKind::Mark, EventSet::default());
        mark.said = self.op().operands().into_iter().map(|value| self.compute(value).0).collect();
        self.events.push(mark);
    }

    /// Completes a read: the value it returned, or none if it is deferred.
    pub(crate) fn read(&mut self, request: Request, value: Option<i128>) {
        let mut event = self.issued(request.loc, request.kind, request.address);
        event.read = value;
        let mut sources = request.index;
        event.follows.absorb(&sources);
        sources.insert(self.events.len());
        self.issue(event, request.dst.map(|dst| (dst, value, sources)));
    }

    /// Issues an access of the instruction ahead, puts what it read into a register, and goes on.
    fn issue(&mut self, mut event: Issued, result: Option<(RegId, Option<i128>, EventSet)>) {
        if let Some(change) = self.op().change() {
            self.change(change, &mut event);
        }
        self.events.push(event);
        self.hand_on_access();
        if let Some((register, value, sources)) = result {
            self.set(register, value, sources);
        }
        self.advance();
        self.mark_outside();
    }

    /// What is written. All operands are evaluated, also those that a failed compare-and-swap does not use.
    fn change(&mut self, change: &Change, event: &mut Issued) {
        let known = |value: Option<i128>| value.map_or(Written::Unknown, Written::Value);
        event.written = match change {
            Change::Set(value) => known(self.operand(value, event)),
            Change::Add(value) => {
                event.computes = true;
                let operands = event.read.zip(self.operand(value, event));
                known(operands.map(|(old, by)| self.sum(old, by)))
            }
            Change::Cas { expected, new } => {
                let (expected, compared) = self.compute(expected);
                event.data.absorb(&compared);
                let new = known(self.operand(new, event));
                match event.read.zip(expected) {
                    None => Written::Unknown,
                    Some((old, expected)) if old != expected => Written::Nothing,
                    Some(_) => new,
                }
            }
        };
    }

    /// What a compare-and-swap that comes next compares with.
    pub(crate) fn expected(&self) -> Option<i128> {
        let Some(Change::Cas { expected, .. }) = self.op().change() else { return None };
        expected.value(&*self.registers).ok()
    }

    fn operand(&mut self, value: &LocalExpr, event: &mut Issued) -> Option<i128> {
        let (value, sources) = self.compute(value);
        event.data.absorb(&sources);
        event.flow.absorb(&sources);
        value
    }

    fn sum(&mut self, old: i128, by: i128) -> i128 {
        old.checked_add(by).unwrap_or_else(|| {
            self.errors.push((self.pc, EvalError::Overflow));
            0
        })
    }

    /// Completes a choice. Fails like any instruction whose destination cannot be computed.
    pub(crate) fn choose(&mut self, value: i128) -> Step<'p> {
        let Op::Choose { dst, .. } = self.op() else {
            unreachable!("asked for a choice at another instruction");
        };
        let register = known!(dst.register(&*self.registers));
        let mut sources = EventSet::default();
        index_taint(&self.registers, &self.taints, dst, &mut sources);
        self.choices.push(value);
        if self.code.has_blocks && !self.in_block() {
            self.outside_choices.push(value);
        }
        self.hand_on(&mut sources);
        self.set(register, Some(value), sources);
        self.advance()
    }
}

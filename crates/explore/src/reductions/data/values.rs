//! The values of an execution that was found on the collapsed program.
//!
//! Loads are performed in program order there, so a load takes the latest deferred store of its own thread to the location, or else what
//! memory holds; running each thread up to the access that comes next in the memory order gives all values.

use cyrano_engine::{Access, Execution};
use cyrano_ir::{Addr, Change, LocId, LocalExpr, Op, Place, Program};

/// The execution with the values of the program; none if it is not one of the program's.
pub(crate) fn with_values(program: &Program, execution: &Execution) -> Option<Execution> {
    let mut memory = program.initial_memory();
    let mut lanes: Vec<Lane<'_>> = (0..program.threads.len()).map(|t| Lane::new(program, t, execution)).collect();
    let mut order = Vec::with_capacity(execution.order.len());
    for access in &execution.order {
        let lane = lanes.get_mut(access.thread.index())?;
        order.push(lane.perform(access, &mut memory)?);
    }
    Some(Execution { order, choices: execution.choices.clone(), relations: None })
}

/// A thread on its way.
struct Lane<'p> {
    program: &'p Program,
    thread: usize,
    pc: usize,
    registers: Vec<i128>,
    choices: std::slice::Iter<'p, i128>,
    /// How many accesses and marks it has issued.
    issued: u32,
    /// Issued stores that have not been performed: number, location, value.
    deferred: Vec<(u32, LocId, i128)>,
}

impl<'p> Lane<'p> {
    fn new(program: &'p Program, thread: usize, execution: &'p Execution) -> Self {
        let registers = program.threads[thread].registers.iter().map(|register| register.init).collect();
        let choices = execution.choices.get(thread).map_or(&[][..], Vec::as_slice).iter();
        Self { program, thread, pc: 0, registers, choices, issued: 0, deferred: Vec::new() }
    }

    /// Performs the access of this number, which the thread issues now or has issued as a store.
    fn perform(&mut self, access: &Access, memory: &mut [i128]) -> Option<Access> {
        if let Some(at) = self.deferred.iter().position(|(index, ..)| *index == access.index) {
            let (_, loc, value) = self.deferred.remove(at);
            memory[loc.index()] = value;
            return Some(Access { written: Some(value), ..*access });
        }
        while self.issued < access.index {
            self.issue()?;
        }
        if self.issued > access.index {
            // A mark that was issued before.
            return (access.read.is_none() && access.written.is_none()).then_some(*access);
        }
        while self.op()?.event_kind().is_none() {
            self.local()?;
        }
        self.issued += 1;
        let op = self.op()?;
        self.pc += 1;
        self.at_once(op, access, memory)
    }

    fn op(&self) -> Option<&'p Op> {
        self.program.threads[self.thread].code.get(self.pc).map(|instr| &instr.op)
    }

    /// Issues the next store or mark; a load would have to be performed first.
    fn issue(&mut self) -> Option<()> {
        while self.op()?.event_kind().is_none() {
            self.local()?;
        }
        match self.op()? {
            Op::Access(store) => {
                let (loc, value) = (self.location(&store.addr)?, self.value(store.stored()?)?);
                self.deferred.push((self.issued, loc, value));
            }
            Op::Transaction(_) => {}
            _ => return None,
        }
        self.issued += 1;
        self.pc += 1;
        Some(())
    }

    /// An access that is performed as it is issued.
    fn at_once(&mut self, op: &Op, access: &Access, memory: &mut [i128]) -> Option<Access> {
        let (mut read, mut written) = (None, None);
        if let Some(addr) = op.addr() {
            let loc = self.location(addr)?;
            let own = self.deferred.iter().rev().find(|(_, other, _)| *other == loc);
            let old = own.map_or(memory[loc.index()], |(.., value)| *value);
            read = op.access_kind().filter(|kind| kind.reads()).map(|_| old);
            if let Some(change) = op.change() {
                written = self.modified(change, old)?;
            }
            if let Some(value) = written {
                memory[loc.index()] = value;
            }
        }
        if let (Some(dst), Some(value)) = (op.dst(), read) {
            self.write(dst, value)?;
        }
        Some(Access { read, written, ..*access })
    }

    fn modified(&self, change: &Change, old: i128) -> Option<Option<i128>> {
        change.apply(old, |operand| operand.value(&*self.registers)).ok()
    }

    /// One instruction without an access.
    fn local(&mut self) -> Option<()> {
        let mut next = self.pc + 1;
        match self.op()? {
            Op::Assign { dst, value } => {
                let value = self.value(value)?;
                self.write(dst, value)?;
            }
            Op::Choose { dst, .. } => {
                let value = *self.choices.next()?;
                self.write(dst, value)?;
            }
            Op::Branch { cond, then_to, else_to } => {
                next = if self.value(cond)? != 0 { then_to.index() } else { else_to.index() };
            }
            Op::Jump(to) => next = to.index(),
            Op::Halt => return None,
            _ => {}
        }
        self.pc = next;
        Some(())
    }

    fn location(&self, addr: &Addr) -> Option<LocId> {
        addr.location(self.program, &*self.registers).ok()
    }

    fn value(&self, expr: &LocalExpr) -> Option<i128> {
        expr.value(&*self.registers).ok()
    }

    fn write(&mut self, place: &Place, value: i128) -> Option<()> {
        let at = place.register(&*self.registers).ok()?;
        self.registers[at.index()] = value;
        Some(())
    }
}

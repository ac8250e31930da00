//! What a reader wants to see at every step: registers as they change, and the operations that steps belong to.
//!
//! Each thread is run again on its own (`rerun`) with the values that the replay established, so nothing is decided here.
//!
//! **When a register changes.** After a step a thread is taken to have run up to the first access that comes behind everything it has performed
//! so far in program order. A register that then waits for a load which is deferred (performed only by a later step) has no
//! value, and gets it at that later step. Whatever the replay says about the end is what the last changes lead to.

use cyrano_engine::Execution;
use cyrano_ir::{Op, Program, ThreadId};

use crate::explain;
use crate::record::{Parts, is_told};
use crate::rerun::{self, Assigned};
use crate::schema::{OperationInfo, RegisterChange};
use crate::told::{ToldCall, ToldThread};

/// A register has a value from a step on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) n: usize,
    pub(crate) thread: ThreadId,
    pub(crate) register: usize,
    pub(crate) value: Option<i128>,
}

/// How registers change, in the order of the steps; the values before the first step have the number 0.
pub(crate) fn changes(parts: &Parts<'_>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for thread in parts.program.thread_ids() {
        let mut lane = Lane::new(parts, thread);
        lane.start(&mut changes);
        for (at, access) in parts.execution.order.iter().enumerate().filter(|(_, access)| access.thread == thread) {
            lane.perform(at + 1, access.index, &mut changes);
        }
        lane.end(parts.execution.order.len(), &mut changes);
    }
    // Stable: the threads stay in the program's order within one step.
    changes.sort_by_key(|change| change.n);
    changes
}

/// Those of registers that a reader is told about.
pub(crate) fn registers(program: &Program, changes: &[Change]) -> Vec<RegisterChange> {
    let told = changes.iter().filter_map(|change| {
        let thread = program.thread(change.thread);
        let declared = thread.registers.get(change.register).filter(|register| is_told(program, &register.name))?;
        let value = explain::named(program, &declared.name, declared.ty, change.value);
        Some(RegisterChange { n: change.n, thread: thread.name.clone(), value })
    });
    told.collect()
}

/// One thread on its way through the steps.
struct Lane<'a> {
    parts: &'a Parts<'a>,
    thread: ThreadId,
    /// All assignments in program order; those before `next` have been made.
    assigned: Vec<Assigned>,
    next: usize,
    /// The last assignment to each register; `None` while it has its first value.
    last: Vec<Option<usize>>,
    /// What was told last about each register.
    told: Vec<Option<i128>>,
    /// How many accesses the thread has issued.
    issued: usize,
}

impl<'a> Lane<'a> {
    fn new(parts: &'a Parts<'a>, thread: ThreadId) -> Self {
        let declared = &parts.program.thread(thread).registers;
        Self {
            parts,
            thread,
            assigned: rerun::assignments(parts.program, parts.execution, thread),
            next: 0,
            last: vec![None; declared.len()],
            told: declared.iter().map(|register| Some(register.init)).collect(),
            issued: 0,
        }
    }

    /// The registers when nothing has been performed.
    fn start(&mut self, changes: &mut Vec<Change>) {
        self.advance();
        for register in 0..self.last.len() {
            self.told[register] = self.value(register, 0);
            self.tell(0, register, changes);
        }
    }

    /// An access is performed as step `n`.
    fn perform(&mut self, n: usize, index: u32, changes: &mut Vec<Change>) {
        self.issued = self.issued.max(index as usize + 1);
        self.advance();
        for register in 0..self.last.len() {
            self.update(n, register, self.value(register, n), changes);
        }
    }

    /// The end, as the replay has it.
    fn end(&mut self, n: usize, changes: &mut Vec<Change>) {
        let last = self.parts.replayed.registers.get(self.thread.index());
        for (register, value) in last.into_iter().flatten().enumerate() {
            self.update(n, register, *value, changes);
        }
    }

    fn update(&mut self, n: usize, register: usize, value: Option<i128>, changes: &mut Vec<Change>) {
        let told = self.told.get_mut(register);
        if told.is_some_and(|told| std::mem::replace(told, value) != value) {
            self.tell(n, register, changes);
        }
    }

    fn advance(&mut self) {
        while let Some(assigned) = self.assigned.get(self.next).filter(|assigned| assigned.issued <= self.issued) {
            self.last[assigned.register] = Some(self.next);
            self.next += 1;
        }
    }

    fn value(&self, register: usize, n: usize) -> Option<i128> {
        match self.last[register] {
            None => self.told[register],
            Some(at) => self.assigned[at].value.filter(|_| self.assigned[at].known <= n),
        }
    }

    fn tell(&self, n: usize, register: usize, changes: &mut Vec<Change>) {
        changes.push(Change { n, thread: self.thread, register, value: self.told[register] });
    }
}

/// The operations of the client-visible interface and the atomic blocks of which at least one access was performed, thread by thread.
pub(crate) fn operations(program: &Program, execution: &Execution, told: &[ToldThread]) -> Vec<OperationInfo> {
    program.thread_ids().flat_map(|thread| operations_of(program, execution, thread, &told[thread.index()])).collect()
}

/// A part of a thread, by the numbers of its accesses.
struct Part {
    name: String,
    from: usize,
    /// Behind the last one.
    to: usize,
    ended: bool,
    result: Option<String>,
}

fn operations_of(program: &Program, execution: &Execution, thread: ThreadId, told: &ToldThread) -> Vec<OperationInfo> {
    let mut found = if told.calls.is_empty() { marked(program, execution, thread) } else { told_parts(told) };
    // What is outside comes before what is inside it.
    found.sort_by_key(|part| (part.from, std::cmp::Reverse(part.to)));
    let accesses = execution.order.iter().enumerate().filter(|(_, access)| access.thread == thread);
    let performed: Vec<(usize, u32)> = accesses.map(|(at, access)| (at + 1, access.index)).collect();
    let name = &program.thread(thread).name;
    found.into_iter().filter_map(|part| operation(part, name, &performed)).collect()
}

/// The calls that the program tells of.
fn told_parts(told: &ToldThread) -> Vec<Part> {
    let part = |call: &ToldCall| Part {
        name: call.name.clone(),
        from: call.from,
        to: call.to,
        ended: call.ended,
        result: call.result.clone(),
    };
    told.calls.iter().map(part).collect()
}

/// The operations and atomic blocks that are marked in the code.
fn marked(program: &Program, execution: &Execution, thread: ThreadId) -> Vec<Part> {
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut found: Vec<Part> = Vec::new();
    let issued = rerun::walk(program, execution, thread, &mut |op, issued| match op {
        Op::OperationBegin(name) | Op::BlockBegin(name) => open.push((name.clone(), issued)),
        Op::OperationEnd | Op::BlockEnd(_) => {
            found.extend(open.pop().map(|(name, from)| Part { name, from, to: issued, ended: true, result: None }));
        }
        _ => {}
    });
    found.extend(open.into_iter().map(|(name, from)| Part { name, from, to: issued, ended: false, result: None }));
    found
}

/// The accesses of an operation that has none: from the second to the first.
pub(crate) const NO_ACCESS: (u32, u32) = (1, 0);

/// An operation with its steps; `performed` has the number of each step and that of its access.
fn operation(part: Part, thread: &str, performed: &[(usize, u32)]) -> Option<OperationInfo> {
    let own = performed.iter().filter(|(_, index)| (part.from..part.to).contains(&(*index as usize)));
    let mut steps: Vec<usize> = own.map(|(n, _)| *n).collect();
    let finished = part.ended && steps.len() == part.to - part.from;
    if part.from == part.to && part.result.is_some() {
        // A call that accesses nothing comes right behind what its thread did before.
        let before = performed.iter().filter(|(_, index)| (*index as usize) < part.from);
        steps.push(before.map(|(n, _)| *n).max().unwrap_or(0));
    }
    Some(OperationInfo {
        name: part.name,
        thread: thread.to_owned(),
        first: steps.iter().copied().min()?,
        last: steps.iter().copied().max()?,
        po: match part.to > part.from {
            true => (u32::try_from(part.from).ok()?, u32::try_from(part.to - 1).ok()?),
            false => NO_ACCESS,
        },
        status: if finished { "finished" } else { "unfinished" }.to_owned(),
        result: part.result.filter(|_| finished),
        transaction: None,
    })
}

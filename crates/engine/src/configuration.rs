//! Configurations: where a program stands, in the words of the axioms.
//!
//! A thread *issues* its accesses in program order and *performs* them in memory order. So a configuration is memory as the performed accesses left it
//! and, for each thread, its next instruction, its registers, and what it has issued and not performed, in program order.
//! It is what the checker of certificates (`cyrano_interp::steps`) steps from and what an engine writes down in a certificate; it belongs to neither.
//!
//! **Invariant** ([`Configuration::fits`]): every number in it points at something that the program has, and an entry waits for earlier entries only.
//! Whether a configuration can be *reached* is another matter: a set of configurations that has the initial ones and every step is a proof, whatever else is in it.

mod serial;

use cyrano_ir::{FenceSet, InstrId, LocId, Op, Program, RegId, Thread, ThreadId};

pub use serial::{Copied, HandedOn, Serial, SharedRun, Single, Way};

/// Where a program stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configuration {
    /// Shared memory.
    pub memory: Vec<i128>,
    /// The threads.
    pub threads: Vec<Lane>,
    /// Under a serial model, the thread whose operation is under way.
    pub running: Option<ThreadId>,
}

/// A configuration with what a criterion remembers of the way to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    /// The configuration.
    pub at: Configuration,
    /// The state of the criterion's monitor as it writes it; empty where there is none.
    pub monitor: Vec<u8>,
    /// For commit-atomicity, what the serial run of the blocks has come to.
    pub serial: Option<Serial>,
}

/// Part of a configuration of any number of threads: what all share, and some members of families of equal threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View {
    /// Shared memory.
    pub memory: Vec<i128>,
    /// The threads that are in no family.
    pub fixed: Vec<Single>,
    /// The members, each with the number of its family.
    pub members: Vec<(usize, Single)>,
    /// For commit-atomicity, what threads share of the serial run.
    pub serial: Option<SharedRun>,
}

/// For each thread and each instruction that it rests at, ascending, the registers that are [forgotten](Value::Forgotten) there, ascending.
pub type Forgets = Vec<Vec<(InstrId, Vec<RegId>)>>;

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lane {
    /// Its next instruction.
    pub pc: InstrId,
    /// Its registers.
    pub registers: Vec<Value>,
    /// What it has issued and not performed, in program order.
    pub queue: Vec<Deferred>,
    /// For commit-atomicity, whether the access that was issued last has been performed.
    pub latest_done: bool,
}

/// The value of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// It is known.
    Known(i128),
    /// It is what the entry at this position of the thread's queue will deliver.
    Pending(u32),
    /// Any value: whoever looks at it cannot go on, so a configuration stands for all that differ in it.
    Forgotten,
}

/// Something that is issued and not performed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Deferred {
    /// A fence; only the kinds are kept that have something to order before it.
    Fence(FenceSet),
    /// An access, or a computation or an assertion that waits for a value.
    Op(Entry),
    /// For commit-atomicity, where a unit begins, commits or ends: nothing to memory.
    Mark(Mark),
}

/// A mark of a *unit*, an atomic block or an access outside of blocks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mark {
    /// A block begins, and none of its accesses has been performed.
    Begin,
    /// A unit commits as soon as this value is there: the one that an access in the queue stands for, whether it reads or writes.
    Commit(Value),
    /// A unit whose last instruction this is ends as soon as nothing before it is outstanding.
    End {
        /// The instruction.
        instr: InstrId,
        /// The registers that it hands on then, ascending, as they were when it was issued.
        handed: Vec<(RegId, Value)>,
    },
}

/// An instruction that was issued and is not done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// The instruction.
    pub instr: InstrId,
    /// The location of an access.
    pub loc: Option<LocId>,
    /// What it computes with.
    pub operands: Operands,
    /// Whether the next access in the queue belongs to the same atomic section.
    pub chained: bool,
    /// Whether the transaction that issued it has ended; for commit-atomicity, whether a later access of its thread has been performed.
    pub stale: bool,
}

/// What an instruction computes with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operands {
    /// The values of its operands, in their order; of a load there are none.
    Known(Vec<i128>),
    /// The registers that its operands name, ascending, as they were when it was issued. At least one is pending.
    Waiting(Vec<(RegId, Value)>),
}

impl Deferred {
    /// The entry, if it is no fence.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Fence(_) | Self::Mark(_) => None,
            Self::Op(entry) => Some(entry),
        }
    }
}

/// How many entries a queue may have.
pub const MOST_DEFERRED: usize = 1024;

impl Configuration {
    /// What is wrong with it as a configuration of this program, if anything; see the module doc.
    pub fn fits(&self, program: &Program) -> Result<(), String> {
        let count = |what: &str, found: usize, wanted: usize| {
            if found == wanted { Ok(()) } else { Err(format!("{found} {what}; the program has {wanted}")) }
        };
        count("locations", self.memory.len(), program.locations.len())?;
        count("threads", self.threads.len(), program.threads.len())?;
        if self.running.is_some_and(|running| running.index() >= self.threads.len()) {
            return Err("an operation of a thread that is not there".into());
        }
        for (lane, thread) in self.threads.iter().zip(&program.threads) {
            let fail = |what: String| Err(format!("{}: {what}", thread.name));
            if lane.pc.index() >= thread.code.len() {
                return fail(format!("there is no instruction {}", lane.pc));
            }
            count("registers", lane.registers.len(), thread.registers.len()).or_else(fail)?;
            for value in &lane.registers {
                lane.waits_within(thread, *value, lane.queue.len()).or_else(fail)?;
            }
            if lane.queue.len() > MOST_DEFERRED {
                return fail(format!("more than {MOST_DEFERRED} entries in the queue"));
            }
            for (position, deferred) in lane.queue.iter().enumerate() {
                lane.entry_fits(program, thread, position, deferred).or_else(fail)?;
            }
        }
        Ok(())
    }
}

impl Lane {
    /// A value waits for nothing, or for an entry before `position` that delivers one.
    fn waits_within(&self, thread: &Thread, value: Value, position: usize) -> Result<(), String> {
        let Value::Pending(at) = value else { return Ok(()) };
        let entry = self.queue[..position].get(at as usize).and_then(Deferred::entry);
        let op = entry.and_then(|entry| thread.code.get(entry.instr.index())).map(|instr| &instr.op);
        match op {
            Some(Op::Assign { .. }) => Ok(()),
            Some(Op::Access(access)) if access.kind.reads() => Ok(()),
            _ => Err(format!("nothing at position {at} of the queue delivers a value")),
        }
    }

    fn mark_fits(&self, thread: &Thread, position: usize, mark: &Mark) -> Result<(), String> {
        match mark {
            Mark::Begin => Ok(()),
            Mark::Commit(after) => {
                let access = match after {
                    Value::Pending(at) => self.queue[..position].get(*at as usize).and_then(Deferred::entry),
                    Value::Known(_) | Value::Forgotten => None,
                };
                let access = access.filter(|entry| entry.loc.is_some());
                access.map(drop).ok_or_else(|| "a unit commits with something that is no access".into())
            }
            Mark::End { instr, handed } => {
                let ascending = handed.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let inside = handed.iter().all(|(register, _)| register.index() < thread.registers.len());
                if !ascending || !inside || instr.index() >= thread.code.len() {
                    return Err("a unit ends nowhere, or hands on wrong registers".into());
                }
                handed.iter().try_for_each(|(_, value)| self.waits_within(thread, *value, position))
            }
        }
    }

    fn entry_fits(
        &self,
        program: &Program,
        thread: &Thread,
        position: usize,
        deferred: &Deferred,
    ) -> Result<(), String> {
        let entry = match deferred {
            Deferred::Fence(_) => return Ok(()),
            Deferred::Mark(mark) => return self.mark_fits(thread, position, mark),
            Deferred::Op(entry) => entry,
        };
        let op = thread.code.get(entry.instr.index()).map(|instr| &instr.op);
        let (accesses, operands) = match op {
            Some(op @ Op::Access(_)) => (true, op.operands().len()),
            Some(Op::Assign { .. } | Op::Assert { .. }) => (false, 1),
            _ => return Err(format!("instruction {} cannot be deferred", entry.instr)),
        };
        let inside = |loc: LocId| loc.index() < program.locations.len();
        if entry.loc.is_some() != accesses || !entry.loc.is_none_or(inside) {
            return Err(format!("the deferred instruction {} has a wrong location", entry.instr));
        }
        match &entry.operands {
            Operands::Known(values) if values.len() != operands || !accesses => {
                Err(format!("the deferred instruction {} has {} operands", entry.instr, values.len()))
            }
            Operands::Known(_) => Ok(()),
            Operands::Waiting(captured) => {
                let ascending = captured.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let forgotten = captured.iter().any(|(_, value)| *value == Value::Forgotten);
                if !ascending
                    || forgotten
                    || captured.iter().any(|(register, _)| register.index() >= thread.registers.len())
                {
                    return Err(format!("the deferred instruction {} waits for wrong registers", entry.instr));
                }
                captured.iter().try_for_each(|(_, value)| self.waits_within(thread, *value, position))
            }
        }
    }
}

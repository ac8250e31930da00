//! A state of the operational semantics, and the queue of deferred accesses.
//!
//! A thread *issues* its accesses in program order and *performs* them in memory order. An access that the model lets later
//! accesses overtake waits in the thread's queue; the queue is kept in program order and which of its ready entries is
//! performed next is chosen when it is performed, not when it is issued.
//!
//! Where loads wait too, a register may be *pending*: its value is what the queue entry at some position will deliver.
//! Positions are positions in the queue, so two states that differ only in history are equal.

use cyrano_ir::{AccessKind, FenceSet};

/// A state. Between steps every thread *rests*: its next instruction needs a decision or another thread.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct State {
    /// Shared memory.
    pub memory: Vec<i128>,
    /// The registers of all threads, one thread after the other.
    pub regs: Vec<i128>,
    /// For each register 0, or one more than the queue position that will deliver its value. Empty if no load is ever deferred.
    pub pending: Vec<u16>,
    /// The threads.
    pub threads: Vec<ThreadState>,
    /// What the criterion for transactions remembers, if one is being checked.
    pub monitor: Option<cyrano_criteria::monitor::MonitorState>,
    /// Where a specification stands, if one is asked for.
    pub spec: u32,
    /// What the criterion for histories with values remembers, if one is being checked.
    pub heard: Option<crate::criteria::values::Heard>,
    /// The serial run beside this one, if commit-atomicity is being checked; see `shadow`.
    pub shadow: Option<crate::criteria::shadow::Shadow>,
    /// Under a serial model, one more than the thread whose operation is under way, or 0.
    pub running: u16,
}

/// A thread's part of the state, without its registers.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadState {
    /// The next instruction.
    pub pc: u32,
    /// Deferred work in program order.
    pub queue: Vec<Entry>,
    /// Whether the access that was issued last has been performed; kept for `shadow` only.
    pub latest_done: bool,
    /// How many accesses were issued so far. History, kept for witnesses only; not part of the encoded state.
    pub issued: u32,
    /// What its transaction has done so far, as bits; kept for `exercise` and `progress` only.
    pub did: u8,
}

/// A queue entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// What waits.
    pub what: What,
    /// The instruction, where it is needed to go on; 0 once it is not.
    pub instr: u32,
    /// The location, for accesses.
    pub loc: u32,
    /// The values it needs.
    pub data: Data,
    /// Whether the next access in the queue belongs to the same atomic section, so that both are performed at once.
    pub chained: bool,
    /// Whether a client could have left out the command that issued it; see the module doc of `repeats`.
    pub spare: bool,
    /// Whether the transaction that issued it has ended.
    pub stale: bool,
    /// Its number among the thread's accesses. History, like [`ThreadState::issued`].
    pub index: u32,
}

/// What kind of work waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A memory access.
    Access(AccessKind),
    /// A computation whose operands are pending.
    Assign,
    /// An assertion whose operands are pending.
    Assert,
    /// An atomic block begins, and none of its accesses has been performed; see `shadow`.
    Begin,
    /// A unit commits with the access that it waits for.
    Commit,
    /// A unit ends and hands on what it has.
    End,
    /// A fence. Only the kinds that have a pending access before it are kept.
    Fence(FenceSet),
}

/// The operands of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Data {
    /// Known: the value of a store, the operands of a read-modify-write.
    Known(i128, i128),
    /// The registers that its expressions read, as they were when it was issued; at least one is pending.
    Waiting(Vec<(u32, Value)>),
}

/// The value of a register when it was captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// Known.
    Known(i128),
    /// What the entry at this queue position will deliver.
    Pending(u16),
}

impl Entry {
    /// An entry on its own.
    pub fn new(what: What, instr: u32, loc: u32, data: Data) -> Self {
        Self { what, instr, loc, data, chained: false, spare: false, stale: false, index: 0 }
    }

    /// The kind of access, if it is one.
    #[inline]
    pub fn access(&self) -> Option<AccessKind> {
        match self.what {
            What::Access(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether all operands are known.
    #[inline]
    pub fn known(&self) -> bool {
        matches!(self.data, Data::Known(..))
    }
}

impl Data {
    /// No operands.
    pub const NONE: Self = Self::Known(0, 0);

    /// Whether something it captured is still pending.
    pub fn is_pending(&self) -> bool {
        match self {
            Self::Known(..) => false,
            Self::Waiting(captured) => captured.iter().any(|(_, value)| matches!(value, Value::Pending(_))),
        }
    }
}

impl ThreadState {
    /// How many accesses wait.
    pub fn deferred(&self) -> usize {
        self.queue.iter().filter(|entry| entry.access().is_some()).count()
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the buffers of `self`, so that expanding a state allocates nothing once they have grown.
    fn clone_from(&mut self, source: &Self) {
        self.memory.clone_from(&source.memory);
        self.regs.clone_from(&source.regs);
        self.pending.clone_from(&source.pending);
        self.threads.clone_from(&source.threads);
        self.running = source.running;
        self.monitor = source.monitor;
        self.spec = source.spec;
        self.heard.clone_from(&source.heard);
        self.shadow.clone_from(&source.shadow);
    }
}

impl Clone for ThreadState {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.pc = source.pc;
        self.queue.clone_from(&source.queue);
        self.issued = source.issued;
        self.latest_done = source.latest_done;
        self.did = source.did;
    }
}

//! Infinite executions: a stem, and a round that repeats for ever.
//!
//! An [`Execution`](crate::Execution) is finite. The one that comes with a lasso has the stem and then the same round several
//! times; the lasso says where the round starts and ends. Clocks may grow from round to round, so that what repeats are states up to
//! an order-preserving renumbering of timestamps.

use cyrano_ir::{InstrId, Op, Place, Program, ThreadId};

/// An infinite execution in which one thread never commits again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// The thread that never commits again.
    pub thread: ThreadId,
    /// What happens to it instead.
    pub fate: Fate,
    /// What comes before the first round.
    pub stem: Extent,
    /// One round.
    pub round: Extent,
    /// How many rounds the execution has.
    pub rounds: usize,
}

/// A part of an execution, by its size.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// How many steps of the memory order.
    pub steps: usize,
    /// For each thread how many choices.
    pub choices: Vec<usize>,
}

/// Why a thread never commits again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// It aborts in every round.
    Aborts,
    /// It takes steps in every round, all of them within one command.
    Waits,
    /// It waits at an atomic section that is closed whenever one looks.
    Blocked,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aborts, Self::Waits, Self::Blocked];

    /// The word in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aborts => "aborts",
            Self::Waits => "waits",
            Self::Blocked => "blocked",
        }
    }

    /// The fate of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.name() == name)
    }
}

/// The instructions at which the client of a transactional memory chooses its next command; none if the thread is no such client.
pub fn client_choices(program: &Program, thread: ThreadId) -> Vec<InstrId> {
    let declared = program.thread(thread);
    let chooses = |op: &Op| match op {
        Op::Choose { dst: Place::Reg(reg), .. } => declared.registers[reg.index()].name == COMMAND,
        _ => false,
    };
    let found = declared.code.iter().enumerate().filter(|(_, instr)| chooses(&instr.op));
    found.map(|(at, _)| InstrId::new(at)).collect()
}

/// The register for the command that a client has chosen; no register of a source program starts like this.
const COMMAND: &str = "%cmd";

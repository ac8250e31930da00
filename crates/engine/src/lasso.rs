//! Infinite executions: a stem, and a round that repeats for ever.
//!
//! An [`Execution`](crate::Execution) is finite. The one that comes with a lasso has the stem and then the same round several
//! times; the lasso says where the round starts and ends, and how far each thread has come there: accesses that it has issued by then may still be deferred. Clocks may grow from round to round, so that what repeats are states up to
//! an order-preserving renumbering of timestamps.

use cyrano_ir::{InstrId, Op, Place, Program, ThreadId};

/// An infinite execution in which one thread never gets done: it does not commit again, or comes neither to its end nor to one of its marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// The thread that never gets done.
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
    /// For each thread how many accesses it issues, whether they are performed in this part or later.
    pub issued: Vec<usize>,
}

/// What happens to a thread that never gets done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// It aborts in every round.
    Aborts,
    /// It takes steps in every round, all of them within one command.
    Waits,
    /// It waits at an atomic section: one that is closed whenever one looks, if it is a transaction that does not get done, else one that is closed again and
    /// again.
    Blocked,
    /// It takes steps in every round, and comes neither to its end nor to one of its marks.
    Spins,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Aborts, Self::Waits, Self::Blocked, Self::Spins];

    /// Those of transactions.
    pub const OF_TRANSACTIONS: [Self; 3] = [Self::Aborts, Self::Waits, Self::Blocked];

    /// The word in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aborts => "aborts",
            Self::Waits => "waits",
            Self::Blocked => "blocked",
            Self::Spins => "spins",
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

//! What a file observes and asks: observables, conditions over final states, check declarations.

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::ids::{LocId, RegId, Span, ThreadId};
use crate::serial::OrderName;

/// A variable of a final state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FinalVar {
    /// A register of a thread, at its end.
    Reg(ThreadId, RegId),
    /// A shared location, once every deferred access has been performed.
    Loc(LocId),
}

/// An expression over a final state.
pub type FinalExpr = Expr<FinalVar>;

/// One column of an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observable {
    /// The column's name: `r1`, `p0.r1`, `x`.
    pub name: String,
    /// What it shows.
    pub var: FinalVar,
}

/// How a condition over final states is quantified.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// Some final state satisfies it.
    Exists,
    /// No final state satisfies it.
    Never,
    /// Every final state satisfies it.
    Always,
}

impl Quantifier {
    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Never => "never",
            Self::Always => "always",
        }
    }
}

/// What a software transactional memory promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TxCriterion {
    /// All transactions, aborted ones too, seem to run one after the other, in an order that respects real time.
    Opacity,
    /// The same for committed transactions only.
    StrictSerializability,
    /// The same without real time.
    Serializability,
    /// Every committed transaction reads from one snapshot, and of two that overlap and write one location only one commits.
    SnapshotIsolation,
    /// Committed transactions seem to run one after the other in the order that the memory itself names.
    InOrder(OrderName),
}

impl TxCriterion {
    /// Those that need no further name.
    pub const ALL: [Self; 4] =
        [Self::Opacity, Self::StrictSerializability, Self::Serializability, Self::SnapshotIsolation];

    /// Those that are defined by conflicts between memory events, as well as by values.
    pub const BY_CONFLICTS: [Self; 2] = [Self::Opacity, Self::StrictSerializability];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opacity => "opacity",
            Self::StrictSerializability => "strict-serializability",
            Self::Serializability => "serializability",
            Self::SnapshotIsolation => "snapshot-isolation",
            Self::InOrder(order) => order.criterion(),
        }
    }

    /// The criterion with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|criterion| criterion.name() == name);
        known.or_else(|| OrderName::from_criterion(name).map(Self::InOrder))
    }
}

/// What a software transactional memory promises about getting done (Samand, section 6). In every one of them a client that goes on
/// for ever without trying to commit is none of the memory's business.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// A thread that runs alone commits, wherever the others stopped.
    Solo,
    /// The same if the others stopped between transactions.
    CrashFreeSolo,
    /// Every thread commits again and again, as long as no other one crashes.
    Local,
}

impl Progress {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Solo, Self::CrashFreeSolo, Self::Local];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solo => "solo-progress",
            Self::CrashFreeSolo => "crash-free-solo-progress",
            Self::Local => "local-progress",
        }
    }

    /// The property with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|progress| progress.name() == name)
    }
}

/// A property of all executions of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No assertion fails, no execution deadlocks, no computation goes wrong.
    Assertions,
    /// Every history of transactions satisfies this criterion.
    Transactions(TxCriterion),
    /// Transactions get done.
    Progress(Progress),
    /// Whenever no thread is in an atomic block, memory is as if the blocks had been executed one at a time in the order of their commits,
    /// and every block handed on what it would have then (Flanagan, section 4).
    CommitAtomicity,
    /// No final state shows an outcome other than these (CheckFence, section 2.2), no assertion fails, no computation goes wrong.
    Observations(BTreeSet<Vec<i128>>),
    /// A quantified condition over final states.
    Final {
        /// The quantifier.
        quantifier: Quantifier,
        /// The condition.
        cond: FinalExpr,
        /// The condition as the user wrote it.
        text: String,
    },
}

impl Property {
    /// The criterion's name in reports: `assertions`, `exists`, `never`, `always`.
    pub fn criterion(&self) -> &'static str {
        match self {
            Self::Assertions => "assertions",
            Self::Transactions(criterion) => criterion.name(),
            Self::Progress(progress) => progress.name(),
            Self::CommitAtomicity => "commit-atomicity",
            Self::Observations(_) => "observations",
            Self::Final { quantifier, .. } => quantifier.name(),
        }
    }
}

/// A `check` declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// What is claimed.
    pub property: Property,
    /// The names of the models it is claimed for, as written; empty means the default.
    pub models: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

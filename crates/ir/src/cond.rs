//! What a file observes and asks: observables, conditions over final states, check declarations.

use std::collections::BTreeSet;

use cyrano_criteria::criterion::{Progress, Quantifier, Structure, TxCriterion};
use cyrano_criteria::table::Claim;

use crate::expr::Expr;
use crate::ids::{LocId, RegId, Span, ThreadId};

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

/// A property of all executions of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No assertion fails, no execution deadlocks, no computation goes wrong.
    Assertions,
    /// Every history of transactions satisfies this criterion.
    Transactions(TxCriterion),
    /// Transactions get done.
    Progress(Progress),
    /// The set of all histories is like this (FOIL, section 8).
    Structure(Structure),
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

/// A claim about a program; where it is about final states, with the condition and how the user wrote it.
pub type ProgramClaim = Claim<(FinalExpr, String)>;

impl Property {
    /// What is claimed; of observations without the ones that are allowed.
    pub fn claim(&self) -> ProgramClaim {
        match self {
            Self::Assertions => Claim::Assertions,
            Self::Transactions(criterion) => Claim::Transactions(*criterion),
            Self::Progress(progress) => Claim::Progress(progress.alone()),
            Self::Structure(structure) => Claim::Structure(*structure),
            Self::CommitAtomicity => Claim::CommitAtomicity,
            Self::Observations(_) => Claim::Observations,
            Self::Final { quantifier, cond, text } => Claim::Final(*quantifier, (cond.clone(), text.clone())),
        }
    }

    /// The properties that a claim consists of; none where it is to be found out first which observations are allowed.
    pub fn all_of(claim: &ProgramClaim) -> Vec<Self> {
        match claim {
            Claim::Assertions => vec![Self::Assertions],
            Claim::Transactions(criterion) => vec![Self::Transactions(*criterion)],
            Claim::Progress(parts) => parts.iter().copied().map(Self::Progress).collect(),
            Claim::Structure(structure) => vec![Self::Structure(*structure)],
            Claim::CommitAtomicity => vec![Self::CommitAtomicity],
            Claim::Final(quantifier, (cond, text)) => {
                vec![Self::Final { quantifier: *quantifier, cond: cond.clone(), text: text.clone() }]
            }
            Claim::Observations | Claim::Atomicity => Vec::new(),
        }
    }

    /// The criterion's name, everywhere.
    pub fn criterion(&self) -> &'static str {
        match self {
            Self::Final { quantifier, .. } => quantifier.name(),
            other => other.claim().name(),
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

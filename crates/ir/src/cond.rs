//! What a file observes and asks: observables, conditions over states, check declarations.

use std::collections::BTreeSet;

use cyrano_criteria::criterion::{Liveness, Progress, Quantifier, Structure, TxCriterion};
use cyrano_criteria::table::Claim;

use crate::expr::Expr;
use crate::ids::{InstrId, LocId, PointId, RegId, Span, ThreadId};

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

/// What an invariant reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StateVar {
    /// A register of a thread, as it is now.
    Reg(ThreadId, RegId),
    /// A shared location, as the performed stores have left it.
    Loc(LocId),
    /// Whether a thread stands at a point: 1 or 0.
    At(PointId),
}

impl StateVar {
    /// The same of a final state, if it is a variable.
    pub fn value(self) -> Option<FinalVar> {
        match self {
            Self::Reg(thread, register) => Some(FinalVar::Reg(thread, register)),
            Self::Loc(loc) => Some(FinalVar::Loc(loc)),
            Self::At(_) => None,
        }
    }
}

impl From<FinalVar> for StateVar {
    fn from(var: FinalVar) -> Self {
        match var {
            FinalVar::Reg(thread, register) => Self::Reg(thread, register),
            FinalVar::Loc(loc) => Self::Loc(loc),
        }
    }
}

/// An expression over a moment of an execution.
pub type StateExpr = Expr<StateVar>;

/// A statement of a thread that invariants name. The thread stands there while its next instruction is one of these, jumps apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The label of the statement.
    pub label: String,
    /// Whose.
    pub thread: ThreadId,
    /// Its instructions, ascending, and the jumps that lead there; none if nothing leads to the statement.
    pub places: Vec<InstrId>,
}

impl Point {
    /// Whether a thread whose next instruction is this one stands there.
    #[inline]
    pub fn has(&self, instr: InstrId) -> bool {
        self.places.binary_search(&instr).is_ok()
    }
}

/// A condition that holds at every moment of every execution; `docs/invariants.md` says which moments there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// The condition.
    pub cond: StateExpr,
    /// The condition as the user wrote it, behind its name if it has one.
    pub text: String,
}

impl Invariant {
    /// The points that it names.
    pub fn points(&self) -> BTreeSet<PointId> {
        let mut points = BTreeSet::new();
        self.cond.for_each_var(&mut |var| {
            if let StateVar::At(point) = var {
                points.insert(*point);
            }
        });
        points
    }

    /// The registers of a thread that it reads.
    pub fn registers(&self, of: ThreadId) -> BTreeSet<RegId> {
        let mut registers = BTreeSet::new();
        self.cond.for_each_var(&mut |var| {
            if let StateVar::Reg(thread, register) = var
                && *thread == of
            {
                registers.insert(*register);
            }
        });
        registers
    }

    /// Whether it reads a register.
    pub fn reads_registers(&self) -> bool {
        let mut reads = false;
        self.cond.for_each_var(&mut |var| reads |= matches!(var, StateVar::Reg(..)));
        reads
    }
}

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
    /// Threads or operations get done.
    Live(Liveness),
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
    /// A condition over every moment of every execution.
    Invariant(Invariant),
    /// Conflicting accesses of which one is plain are ordered by happens-before.
    Races,
}

/// A claim about a program; where it is about states, with the condition and how the user wrote it.
pub type ProgramClaim = Claim<(FinalExpr, String), Invariant>;

impl Property {
    /// What is claimed; of observations without the ones that are allowed.
    pub fn claim(&self) -> ProgramClaim {
        match self {
            Self::Assertions => Claim::Assertions,
            Self::Transactions(criterion) => Claim::Transactions(*criterion),
            Self::Progress(progress) => Claim::Progress(progress.alone()),
            Self::Live(liveness) => Claim::Live(*liveness),
            Self::Structure(structure) => Claim::Structure(*structure),
            Self::CommitAtomicity => Claim::CommitAtomicity,
            Self::Observations(_) => Claim::Observations,
            Self::Final { quantifier, cond, text } => Claim::Final(*quantifier, (cond.clone(), text.clone())),
            Self::Invariant(invariant) => Claim::Invariant(invariant.clone()),
            Self::Races => Claim::Races,
        }
    }

    /// The properties that a claim consists of; none where it is to be found out first which observations are allowed.
    pub fn all_of(claim: &ProgramClaim) -> Vec<Self> {
        match claim {
            Claim::Assertions => vec![Self::Assertions],
            Claim::Transactions(criterion) => vec![Self::Transactions(*criterion)],
            Claim::Progress(parts) => parts.iter().copied().map(Self::Progress).collect(),
            Claim::Live(liveness) => vec![Self::Live(*liveness)],
            Claim::Structure(structure) => vec![Self::Structure(*structure)],
            Claim::CommitAtomicity => vec![Self::CommitAtomicity],
            Claim::Final(quantifier, (cond, text)) => {
                vec![Self::Final { quantifier: *quantifier, cond: cond.clone(), text: text.clone() }]
            }
            Claim::Invariant(invariant) => vec![Self::Invariant(invariant.clone())],
            Claim::Races => vec![Self::Races],
            Claim::Observations | Claim::Linearizability | Claim::Atomicity => Vec::new(),
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

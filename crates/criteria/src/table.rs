//! The criteria, in one table: what each claims, what it looks at and what it needs, and its words for command lines, languages and reports.
//!
//! Whoever offers, reads or describes criteria does so from here. Beside these there is `serializability-by-NAME` for the orders that a memory
//! declares itself, `spec:NAME` for specifications, and `progress:LABEL` for labelled statements as marks of termination.

mod rows;

use std::convert::Infallible;

pub use rows::CRITERIA;

use crate::criterion::{Liveness, Progress, Quantifier, Structure, TxCriterion};

/// What is claimed of a program. `C` is what a condition over final states is made of, `I` an invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim<C = (), I = ()> {
    /// No assertion fails, nothing deadlocks, no computation goes wrong.
    Assertions,
    /// Every observation is one of a serial execution (CheckFence, section 2.2).
    Observations,
    /// The same, in every order of calls that an execution leaves open (Herlihy and Wing).
    Linearizability,
    /// Blocks act at their commit points (Flanagan, section 4).
    CommitAtomicity,
    /// Every final state is one of a serial order of the blocks.
    Atomicity,
    /// A condition over final states.
    Final(Quantifier, C),
    /// A condition over every moment of every execution.
    Invariant(I),
    /// Conflicting accesses are ordered by synchronisation (Adve and Hill).
    Races,
    /// What histories of transactions satisfy.
    Transactions(TxCriterion),
    /// These properties, each with a verdict of its own (Samand, section 6).
    Progress(&'static [Progress]),
    /// Threads or operations get done.
    Live(Liveness),
    /// What the memory's set of histories is like (FOIL, section 8).
    Structure(Structure),
}

impl<C, I> Claim<C, I> {
    /// Its name, everywhere.
    pub fn name(&self) -> &'static str {
        if let Self::Transactions(TxCriterion::InOrder(order)) = self {
            return order.criterion();
        }
        if let Self::Transactions(TxCriterion::Spec(spec)) = self {
            return spec.criterion();
        }
        if let Self::Live(Liveness::Passes(label)) = self {
            return label.criterion();
        }
        let Ok(plain) = self.with(|_| Ok::<_, Infallible>(()), |_| Ok(()));
        CRITERIA.iter().find(|row| row.claim == plain).map_or("unnamed", |row| row.name)
    }

    /// The same with another form of condition, and of invariant.
    pub fn with<D, J, E>(
        &self,
        condition: impl FnOnce(&C) -> Result<D, E>,
        invariant: impl FnOnce(&I) -> Result<J, E>,
    ) -> Result<Claim<D, J>, E> {
        Ok(match self {
            Self::Assertions => Claim::Assertions,
            Self::Observations => Claim::Observations,
            Self::Linearizability => Claim::Linearizability,
            Self::CommitAtomicity => Claim::CommitAtomicity,
            Self::Atomicity => Claim::Atomicity,
            Self::Final(quantifier, old) => Claim::Final(*quantifier, condition(old)?),
            Self::Invariant(old) => Claim::Invariant(invariant(old)?),
            Self::Races => Claim::Races,
            Self::Transactions(criterion) => Claim::Transactions(*criterion),
            Self::Progress(parts) => Claim::Progress(parts),
            Self::Live(liveness) => Claim::Live(*liveness),
            Self::Structure(structure) => Claim::Structure(*structure),
        })
    }

    /// What it stands for, each with its own verdict.
    pub fn parts(self) -> Vec<Self> {
        match self {
            Self::Progress(parts) => parts.iter().map(|part| Self::Progress(part.alone())).collect(),
            one => vec![one],
        }
    }
}

impl Claim {
    /// The claim with this name, also one by a memory's own order, or about a label, if there is such a thing.
    pub fn from_name(name: &str) -> Option<Self> {
        let named = Criterion::named(name).map(|criterion| criterion.claim);
        let named = named.or_else(|| TxCriterion::from_name(name).map(Self::Transactions));
        named.or_else(|| Liveness::from_name(name).map(Self::Live))
    }

    /// The claim, if it says all by itself: one about states has a condition as well.
    pub fn unconditional<C, I>(self) -> Option<Claim<C, I>> {
        self.with(|()| Err(()), |()| Err(())).ok()
    }
}

/// The name of the criterion that does without commit points.
pub const ATOMICITY: &str = "atomicity";

/// What a criterion looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabet {
    /// Every step of every execution.
    Executions,
    /// Final states.
    FinalStates,
    /// Histories of transactions, by conflicts between memory events or by values.
    Histories,
    /// Histories of transactions, by values only.
    Values,
    /// Executions that go on for ever.
    Runs,
    /// The set of all histories.
    Languages,
}

/// What a program must have for a criterion to say something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing in particular.
    Nothing,
    /// Operations whose results are observed.
    Operations,
    /// Atomic blocks.
    Blocks,
    /// A condition over states.
    Condition,
    /// Transactions.
    Transactions,
}

/// What a report says where a criterion does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violated {
    /// One word for it.
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub short: &'static str,
    /// What that means.
    pub full: &'static str,
}

/// A criterion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Criterion {
    /// Its name, everywhere.
    pub name: &'static str,
    /// What it says if it holds.
    pub holds: &'static str,
    /// What is claimed.
    pub claim: Claim,
    /// What it looks at.
    pub alphabet: Alphabet,
    /// What it needs.
    pub needs: Needs,
    /// What is said if it does not hold.
    pub violated: Violated,
}

impl Criterion {
    /// The criterion of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CRITERIA.iter().find(|criterion| criterion.name == name)
    }

    /// Those that histories of transactions are judged by.
    pub fn of_histories() -> impl Iterator<Item = (&'static Self, TxCriterion)> {
        CRITERIA.iter().filter_map(|criterion| match criterion.claim {
            Claim::Transactions(of) => Some((criterion, of)),
            _ => None,
        })
    }
}

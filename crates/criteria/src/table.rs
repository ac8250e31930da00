//! The criteria, in one table: what each claims, what it looks at and what it needs, and its words for command lines, languages and reports.
//!
//! Whoever offers, reads or describes criteria does so from here. Beside these there is `serializability-by-NAME` for the orders that a memory
//! declares itself, and `spec:NAME` for specifications.

use std::convert::Infallible;

use crate::criterion::{Progress, Quantifier, Structure, TxCriterion};

/// What is claimed of a program. `C` is what a condition over final states is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim<C = ()> {
    /// No assertion fails, nothing deadlocks, no computation goes wrong.
    Assertions,
    /// Every observation is one of a serial execution (CheckFence, section 2.2).
    Observations,
    /// Blocks act at their commit points (Flanagan, section 4).
    CommitAtomicity,
    /// Every final state is one of a serial order of the blocks.
    Atomicity,
    /// A condition over final states.
    Final(Quantifier, C),
    /// What histories of transactions satisfy.
    Transactions(TxCriterion),
    /// These properties, each with a verdict of its own (Samand, section 6).
    Progress(&'static [Progress]),
    /// What the memory's set of histories is like (FOIL, section 8).
    Structure(Structure),
}

impl<C> Claim<C> {
    /// Its name, everywhere.
    pub fn name(&self) -> &'static str {
        if let Self::Transactions(TxCriterion::InOrder(order)) = self {
            return order.criterion();
        }
        if let Self::Transactions(TxCriterion::Spec(spec)) = self {
            return spec.criterion();
        }
        let Ok(plain) = self.with(|_| Ok::<_, Infallible>(()));
        CRITERIA.iter().find(|row| row.claim == plain).map_or("unnamed", |row| row.name)
    }

    /// The same with another form of condition.
    pub fn with<D, E>(&self, condition: impl FnOnce(&C) -> Result<D, E>) -> Result<Claim<D>, E> {
        Ok(match self {
            Self::Assertions => Claim::Assertions,
            Self::Observations => Claim::Observations,
            Self::CommitAtomicity => Claim::CommitAtomicity,
            Self::Atomicity => Claim::Atomicity,
            Self::Final(quantifier, old) => Claim::Final(*quantifier, condition(old)?),
            Self::Transactions(criterion) => Claim::Transactions(*criterion),
            Self::Progress(parts) => Claim::Progress(parts),
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
    /// The claim with this name, also one by a memory's own order, if there is such a thing.
    pub fn from_name(name: &str) -> Option<Self> {
        let named = Criterion::named(name).map(|criterion| criterion.claim);
        named.or_else(|| TxCriterion::from_name(name).map(Self::Transactions))
    }

    /// The claim, if it says all by itself: one about final states has a condition as well.
    pub fn unconditional<C>(self) -> Option<Claim<C>> {
        self.with(|()| Err(())).ok()
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
    /// A condition over final states.
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

/// All of them.
pub const CRITERIA: [Criterion; 26] = [
    Criterion {
        name: "assertions",
        holds: "No assertion fails, nothing deadlocks, no computation goes wrong",
        claim: Claim::Assertions,
        alphabet: Alphabet::Executions,
        needs: Needs::Nothing,
        violated: Violated {
            name: "AssertionFails",
            short: "An assertion fails, a computation goes wrong, or nobody can go on.",
            full: "Some execution that the memory model allows reaches a failing assertion, an undefined value, a bad pointer, an overflow or a deadlock.",
        },
    },
    Criterion {
        name: "observations",
        holds: "Every final state shows an observation that some serial execution has",
        claim: Claim::Observations,
        alphabet: Alphabet::FinalStates,
        needs: Needs::Operations,
        violated: Violated {
            name: "ObservationIsNotSerial",
            short: "The program shows an observation that no serial execution has.",
            full: "Operations of a data type must look as if each took place at once. Some execution returns values that no order of whole operations explains.",
        },
    },
    Criterion {
        name: "commit-atomicity",
        holds: "Whenever nobody is in an atomic block, everything is as if the blocks had run alone in the order of their commit points",
        claim: Claim::CommitAtomicity,
        alphabet: Alphabet::Executions,
        needs: Needs::Blocks,
        violated: Violated {
            name: "NotCommitAtomic",
            short: "An atomic block does not act as if it happened at its commit point.",
            full: "Some execution interleaves a block with others so that no execution of the whole block at its commit has the same effect.",
        },
    },
    Criterion {
        name: "atomicity",
        holds: "Every final state is one that some serial order of the atomic blocks has; for threads that end",
        claim: Claim::Atomicity,
        alphabet: Alphabet::FinalStates,
        needs: Needs::Blocks,
        violated: Violated {
            name: "NotAtomic",
            short: "A final state is one that no serial order of the atomic blocks has.",
            full: "Some execution interleaves atomic blocks so that the final state is none that running them one after the other gives.",
        },
    },
    Criterion {
        name: "exists",
        holds: "Some final state satisfies the condition",
        claim: Claim::Final(Quantifier::Exists, ()),
        alphabet: Alphabet::FinalStates,
        needs: Needs::Condition,
        violated: Violated {
            name: "NoWitness",
            short: "No final state satisfies the condition.",
            full: "The file says that some execution ends in a state that satisfies the condition; none does.",
        },
    },
    Criterion {
        name: "never",
        holds: "No final state satisfies the condition",
        claim: Claim::Final(Quantifier::Never, ()),
        alphabet: Alphabet::FinalStates,
        needs: Needs::Condition,
        violated: Violated {
            name: "ForbiddenFinalState",
            short: "A final state satisfies a condition that must never hold.",
            full: "Some execution that the memory model allows ends in a state that the file forbids.",
        },
    },
    Criterion {
        name: "always",
        holds: "Every final state satisfies the condition",
        claim: Claim::Final(Quantifier::Always, ()),
        alphabet: Alphabet::FinalStates,
        needs: Needs::Condition,
        violated: Violated {
            name: "FinalStateMissesCondition",
            short: "A final state does not satisfy a condition that must always hold.",
            full: "Some execution that the memory model allows ends in a state without the property that the file asks for.",
        },
    },
    Criterion {
        name: "opacity",
        holds: "Every transaction, aborted ones too, fits into one serial order",
        claim: Claim::Transactions(TxCriterion::Opacity),
        alphabet: Alphabet::Histories,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotOpaque",
            short: "Transactions, aborted ones included, do not fit into one serial order.",
            full: "Some execution lets a transaction see a state that no serial execution of the transactions has.",
        },
    },
    Criterion {
        name: "final-state-opacity",
        holds: "At the end every transaction, aborted ones too, fits into one serial order, whatever it looked like before",
        claim: Claim::Transactions(TxCriterion::FinalStateOpacity),
        alphabet: Alphabet::Values,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotFinalStateOpaque",
            short: "At the end of an execution, transactions, aborted ones included, do not fit into one serial order.",
            full: "Some execution ends with a history in which the reads of transactions, aborted ones included, have no serial order in real time that explains them.",
        },
    },
    Criterion {
        name: "strict-serializability",
        holds: "Every committed transaction fits into one serial order that keeps real time",
        claim: Claim::Transactions(TxCriterion::StrictSerializability),
        alphabet: Alphabet::Histories,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotStrictlySerializable",
            short: "Committed transactions do not fit into one serial order that keeps real time.",
            full: "Some execution commits transactions whose reads and writes no serial order in real time explains.",
        },
    },
    Criterion {
        name: "serializability",
        holds: "Every committed transaction fits into one serial order",
        claim: Claim::Transactions(TxCriterion::Serializability),
        alphabet: Alphabet::Values,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotSerializable",
            short: "Committed transactions do not fit into one serial order.",
            full: "Some execution commits transactions whose reads and writes no serial order explains.",
        },
    },
    Criterion {
        name: "snapshot-isolation",
        holds: "Every committed transaction reads one snapshot, and of two that overlap and write one location only one commits",
        claim: Claim::Transactions(TxCriterion::SnapshotIsolation),
        alphabet: Alphabet::Values,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NoSnapshot",
            short: "A committed transaction does not read from one snapshot, or two that overlap write the same location.",
            full: "Some execution commits a transaction whose reads no single snapshot explains, or commits two overlapping writers of one location.",
        },
    },
    Criterion {
        name: "solo-progress",
        holds: "A thread that runs alone commits, wherever the others stopped",
        claim: Claim::Progress(&[Progress::Solo]),
        alphabet: Alphabet::Runs,
        needs: Needs::Transactions,
        violated: Violated {
            name: "StuckAlone",
            short: "A thread that runs alone never commits.",
            full: "Some reachable state, with the other threads stopped anywhere, lets a thread that runs alone go on for ever without committing.",
        },
    },
    Criterion {
        name: "crash-free-solo-progress",
        holds: "A thread that runs alone commits if the others stopped between transactions",
        claim: Claim::Progress(&[Progress::CrashFreeSolo]),
        alphabet: Alphabet::Runs,
        needs: Needs::Transactions,
        violated: Violated {
            name: "StuckAloneBetweenTransactions",
            short: "A thread that runs alone never commits although the others stopped between transactions.",
            full: "Some reachable state, with the other threads between transactions, lets a thread that runs alone go on for ever without committing.",
        },
    },
    Criterion {
        name: "local-progress",
        holds: "Every thread that keeps trying commits again and again",
        claim: Claim::Progress(&[Progress::Local]),
        alphabet: Alphabet::Runs,
        needs: Needs::Transactions,
        violated: Violated {
            name: "Starvation",
            short: "A thread that keeps trying commits no more.",
            full: "Some endless execution lets one thread try again and again without ever committing.",
        },
    },
    Criterion {
        name: "progress",
        holds: "All three progress properties",
        claim: Claim::Progress(&Progress::ALL),
        alphabet: Alphabet::Runs,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NoProgress",
            short: "A thread never commits.",
            full: "Some endless execution lets a thread go on without committing.",
        },
    },
    Criterion {
        name: "abort-isolation",
        holds: "Whoever sees what a transaction changed that aborts later aborts at once",
        claim: Claim::Structure(Structure::AbortIsolation),
        alphabet: Alphabet::Executions,
        needs: Needs::Transactions,
        violated: Violated {
            name: "AbortIsVisible",
            short: "A transaction that aborts is seen by one that goes on.",
            full: "Some execution lets a transaction read what another changed that aborts later, and do something else than abort next.",
        },
    },
    Criterion {
        name: "pending-isolation",
        holds: "Whoever sees what a transaction changed that is under way aborts at once",
        claim: Claim::Structure(Structure::PendingIsolation),
        alphabet: Alphabet::Executions,
        needs: Needs::Transactions,
        violated: Violated {
            name: "PendingIsVisible",
            short: "A transaction that is under way is seen by one that goes on.",
            full: "Some execution lets a transaction read what another changed that is still under way, and do something else than abort next.",
        },
    },
    Criterion {
        name: "conflict-commutativity",
        holds: "Commands that overlap can be moved apart, in the order of their conflict",
        claim: Claim::Structure(Structure::ConflictCommutativity),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotConflictCommutative",
            short: "Two commands that overlap and conflict cannot be moved apart.",
            full: "Some history has neighbouring events of two overlapping commands whose exchange, in the order of the conflict, gives no history of the memory.",
        },
    },
    Criterion {
        name: "transaction-projection",
        holds: "Without aborted transactions and some unfinished ones, every history is one of the memory (P1)",
        claim: Claim::Structure(Structure::TransactionProjection),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NoTransactionProjection",
            short: "A history is none without its aborted or unfinished transactions.",
            full: "Some history has aborted or unfinished transactions without which the memory cannot show the rest.",
        },
    },
    Criterion {
        name: "thread-symmetry",
        holds: "One thread can do what two do whose transactions do not overlap (P2)",
        claim: Claim::Structure(Structure::ThreadSymmetry),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "ThreadsMatter",
            short: "Transactions of two threads, none overlapping, cannot be those of one.",
            full: "Some history has two threads whose transactions do not overlap, and the memory cannot show it with all of them in one thread.",
        },
    },
    Criterion {
        name: "sequential-renaming",
        holds: "The same for histories that are sequential up to their last event and not about its thread (P2 as the proof uses it)",
        claim: Claim::Structure(Structure::SequentialRenaming),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "ThreadsMatterInRows",
            short: "Transactions in a row cannot be those of one thread.",
            full: "Some history is a row of transactions and one more event, and the memory cannot show it with two of the other threads as one.",
        },
    },
    Criterion {
        name: "variable-projection",
        holds: "Without the events of some variables, every history without aborts is one of the memory (P3)",
        claim: Claim::Structure(Structure::VariableProjection),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NoVariableProjection",
            short: "A history is none without the events of a variable.",
            full: "Some history without aborts has a variable without whose events the memory cannot show the rest.",
        },
    },
    Criterion {
        name: "monotonicity",
        holds: "What can come after overlapping transactions can come after the same ones in a row (P4)",
        claim: Claim::Structure(Structure::Monotonicity),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NotMonotone",
            short: "What follows overlapping transactions cannot follow them in a row.",
            full: "Some history ends with a step that the memory does not allow after the same transactions one after the other.",
        },
    },
    Criterion {
        name: "completion",
        holds: "An unfinished transaction could have committed after its last access, or without its stores after its last read",
        claim: Claim::Structure(Structure::Completion),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "CannotBeCompleted",
            short: "An unfinished transaction could not have committed.",
            full: "Some history has an unfinished transaction, and the memory has no history in which it commits after its last access, or without its stores after its last read.",
        },
    },
    Criterion {
        name: "reduction",
        holds: "Opacity for two threads and two variables, and all that carries it to any number of them (FOIL, section 8)",
        claim: Claim::Structure(Structure::Reduction),
        alphabet: Alphabet::Languages,
        needs: Needs::Transactions,
        violated: Violated {
            name: "NoReduction",
            short: "A premise of the reduction theorem does not hold.",
            full: "Some premise of the theorem that carries opacity from two threads and two variables to any number of them does not hold.",
        },
    },
];

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

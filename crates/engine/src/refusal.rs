//! Why a question is not answered: by nobody, or not by one engine.

use std::fmt;

use cyrano_ir::Tags;
use cyrano_memory::for_algorithms;

/// Why a question is not answered. The first kinds, up to [`Refusal::Lacks`], are for every engine ([`crate::Query::new`]), the others for one that says so
/// ([`crate::Engine::supports`]).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The model is for programs with orders of their own, and this one has none for it.
    NoOwnOrder {
        /// Its name.
        model: String,
    },
    /// The program is an algorithm's, but has no order for this model: its threads go on for ever.
    OnlyInOrder {
        /// The model's name.
        model: String,
    },
    /// The model reorders statements of an algorithm that says itself which of them stay in order.
    ForeignModel {
        /// Its name.
        model: String,
    },
    /// An access has tags that mean nothing under the model.
    UnknownTags {
        /// The model's name.
        model: String,
        /// The tags.
        tags: Tags,
    },
    /// The program has nothing that the property could be about.
    Lacks {
        /// The property's name on the command line.
        criterion: &'static str,
        /// What it would need.
        lack: Lack,
    },
    /// The engine never answers such a question.
    NotJudged(Subject),
    /// A limit on the size of programs.
    TooLarge(String),
    /// The program does something that the engine does not represent exactly under this model.
    Inexact(Inexact),
}

/// What a program would need for a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Lack {
    /// Atomic blocks.
    Blocks,
    /// Transactions.
    Transactions,
    /// Transactions whose calls have values.
    Calls,
    /// Transactions that go on for ever.
    EndlessTransactions,
    /// An order of this name.
    Order,
}

/// What only some engines judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Histories of transactions.
    Histories,
    /// Progress.
    Progress,
    /// Sets of histories.
    Languages,
    /// Atomic blocks with commit points.
    CommitPoints,
    /// Programs that have histories, whatever is asked.
    Transactional,
    /// What a search by levels cannot tell.
    Levels,
}

/// What an engine does not represent exactly.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Inexact {
    /// A serial model that does not keep every pair of accesses.
    SerialAndWeak {
        /// The model.
        model: String,
    },
    /// Loads go before loads that they depend on.
    Speculation {
        /// The model.
        model: String,
    },
    /// An instruction needs a value before the load that gives it is performed.
    Early {
        /// Where.
        place: String,
        /// What it does.
        need: &'static str,
        /// The model, which defers loads.
        model: String,
    },
    /// Under an order of the program's own: an instruction does what such orders do not go together with.
    OwnOrder(String),
    /// The setup thread may miss its own stores.
    BlindSetup,
    /// Progress where accesses are deferred.
    DeferredProgress {
        /// The model.
        model: String,
    },
    /// Progress where something may hold names of two kinds.
    MixedNames,
    /// Atomic blocks of a program that frees memory.
    FreedInBlocks,
}

impl Refusal {
    /// Whether the engine never answers such a question, whatever the program and the model.
    pub fn is_for_all_programs(&self) -> bool {
        matches!(self, Self::NotJudged(_))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOwnOrder { model } => {
                write!(f, "{model} is for algorithms that say themselves which of their statements stay in order")
            }
            Self::OnlyInOrder { model } => {
                write!(
                    f,
                    "threads that go on for ever run in the order of the text, under inorder or sc, not under {model}"
                )
            }
            Self::ForeignModel { model } => {
                let known = for_algorithms();
                let known: Vec<&str> = known.iter().map(|model| model.name.as_str()).collect();
                let why = "its base objects are linearizable, and it says itself which statements stay in order";
                write!(f, "an algorithm is not run under {model}: {why}; use {} or sc", known.join(", "))
            }
            Self::UnknownTags { model, tags } => write!(f, "{model} does not say what `{tags}` means"),
            Self::Lacks { criterion, lack } => write!(f, "`{criterion}` says nothing about this program: {lack}"),
            Self::NotJudged(subject) => subject.fmt(f),
            Self::TooLarge(what) => f.write_str(what),
            Self::Inexact(what) => what.fmt(f),
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocks => "it has no atomic block",
            Self::Transactions => "it has no transactions",
            Self::Calls => "it has no transactions with values",
            Self::EndlessTransactions => "it has no transactions that go on for ever",
            Self::Order => "it names no such order of its transactions",
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Histories => "this engine does not judge histories of transactions",
            Self::Progress => "this engine does not judge progress",
            Self::Languages => "this engine does not judge sets of histories",
            Self::CommitPoints => "this engine does not judge commit points",
            Self::Transactional => "transactions are judged by their histories, which this engine does not enumerate",
            Self::Levels => "this property is not for a cluster: leave --cluster out",
        })
    }
}

impl fmt::Display for Inexact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SerialAndWeak { model } => write!(f, "{model} is serial but does not keep every pair of accesses"),
            Self::Speculation { model } => {
                let what = "a load may be performed before an earlier load that it depends on";
                write!(f, "under {model} {what}, which would need speculation")
            }
            Self::Early { place, need, model } => write!(f, "{place} {need}, and {model} defers loads"),
            Self::OwnOrder(what) => f.write_str(what),
            Self::BlindSetup => f.write_str("under this model the setup thread need not see its own stores"),
            Self::DeferredProgress { model } => {
                write!(
                    f,
                    "progress is decided where nothing is deferred, under sc and inorder; {model} is another model"
                )
            }
            Self::MixedNames => f.write_str("something may hold names of two kinds"),
            Self::FreedInBlocks => f.write_str("the serial run of atomic blocks does not know freed memory"),
        }
    }
}

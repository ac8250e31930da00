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
    /// The model reorders statements of an algorithm whose base objects are more than words of memory.
    ForeignModel {
        /// Its name.
        model: String,
        /// Whether it is about relations.
        relational: bool,
    },
    /// An access has tags that mean nothing under the model.
    UnknownTags {
        /// The model's name.
        model: String,
        /// The tags.
        tags: Tags,
    },
    /// A fence has a name that means nothing under the model.
    UnknownFence {
        /// The model's name.
        model: String,
        /// The fence.
        fence: String,
    },
    /// The program has nothing that the property could be about.
    Lacks {
        /// The property's name on the command line.
        criterion: &'static str,
        /// What it would need.
        lack: Lack,
    },
    /// Races under a model that does not keep all accesses in order.
    RacesUnder {
        /// Its name.
        model: String,
    },
    /// Threads stand for any number of threads, and the question is not answered for every number.
    EveryNumber(EveryNumber),
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
    /// Threads that end or say where they get something done: what is checked are transactions of clients that go on for ever.
    OwnThreads,
    /// A statement with this label.
    Label,
}

/// What keeps a question from being answered for every number of threads.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EveryNumber {
    /// The question is about an instance, and this family has no number.
    Open {
        /// Its name.
        family: String,
    },
    /// It is not about assertions, invariants or commit points.
    Criterion,
    /// The program has transactions, an order of its own or a setup thread.
    Program,
    /// The model's steps name threads.
    Model {
        /// Its name.
        model: String,
    },
    /// Timestamps are ranked across all threads.
    Timestamps,
    /// An invariant says that somebody is at a statement, who may be anybody.
    Presence,
    /// A block makes a choice, so that the serial run is not one.
    ChoiceInBlock,
}

/// What only some engines judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Histories of transactions.
    Histories,
    /// Progress.
    Progress,
    /// Executions that go on for ever.
    EndlessRuns,
    /// Sets of histories.
    Languages,
    /// Atomic blocks with commit points.
    CommitPoints,
    /// Programs that have histories, whatever is asked.
    Transactional,
    /// What a search by levels cannot tell.
    Levels,
    /// Moments of executions.
    Moments,
    /// Races.
    Races,
    /// Executions in an order of calls.
    OrdersOfCalls,
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
    /// Endless executions under a model whose steps are not those of a queue.
    EndlessRuns {
        /// The model.
        model: String,
    },
    /// Progress where something may hold names of two kinds.
    MixedNames,
    /// Atomic blocks of a program that frees memory.
    FreedInBlocks,
    /// A model about relations between events, for an engine that reorders pairs.
    Relational {
        /// The model.
        model: String,
    },
    /// Under a model about relations, something that is said of one order of all accesses only.
    OneOrder {
        /// The model.
        model: String,
        /// What the program has.
        what: &'static str,
    },
    /// A model that execution graphs are not known to be complete for, or that shows executions as one order of all accesses.
    NoGraphs {
        /// The model.
        model: String,
        /// Of a model in cat that is not known, what in its text stands in the way.
        why: Option<String>,
    },
    /// Orders of calls, where it is not known what they ask of an execution.
    OrderOfCalls {
        /// The model.
        model: String,
        /// What stands in the way.
        what: &'static str,
    },
    /// Invariants where it is not known at every moment what threads have executed.
    NoMoments {
        /// The model.
        model: String,
    },
    /// An invariant reads a local whose load may be outstanding.
    PendingLocal {
        /// Its name.
        local: String,
        /// The model, which defers loads.
        model: String,
    },
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
            Self::ForeignModel { model, relational } => {
                let known = for_algorithms();
                let known: Vec<&str> = known.iter().map(|model| model.name.as_str()).collect();
                let why = match relational {
                    true => "under models about relations base objects have no meaning",
                    false => {
                        "a word of memory is no `arbitrary` register, does not tell which of two statements came first, and is not used again under another name"
                    }
                };
                write!(f, "this algorithm is not run under {model}: {why}; use {} or sc", known.join(", "))
            }
            Self::UnknownTags { model, tags } => write!(f, "{model} does not say what `{tags}` means"),
            Self::UnknownFence { model, fence } => write!(f, "{model} does not say what the fence `{fence}` means"),
            Self::Lacks { criterion, lack } => write!(f, "`{criterion}` says nothing about this program: {lack}"),
            Self::RacesUnder { model } => {
                let why =
                    "a program without races under sc needs no other model if what synchronises is ordered as marked";
                write!(
                    f,
                    "races are looked for under sc and under models that flag them, rc11 and lkmm, not under {model}: {why}"
                )
            }
            Self::EveryNumber(why) => why.fmt(f),
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
            Self::OwnThreads => "its threads run any transactions for ever; `progress` is about these",
            Self::Label => "no `check progress` of the file names this label",
        })
    }
}

impl fmt::Display for EveryNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INSTEAD: &str = "`--threads 2` takes two";
        match self {
            Self::Open { family } => {
                write!(f, "`{family}[*]` stands for any number of threads, and this takes so many; {INSTEAD}")
            }
            Self::Criterion => {
                let judged = "`assertions`, `invariant` and `commit-atomicity`";
                write!(f, "for every number of threads only {judged} are checked; {INSTEAD}")
            }
            Self::Program => {
                write!(f, "only `threads` without transactions are checked for every number of threads; {INSTEAD}")
            }
            Self::Model { model } => {
                write!(f, "{model} runs one thread at a time, and is not for every number of them; {INSTEAD}")
            }
            Self::Timestamps => {
                let what = "timestamps of all threads are compared, however many there are";
                write!(f, "{what}, which is not done for every number of threads; {INSTEAD}")
            }
            Self::Presence => {
                let what =
                    "for every number of threads an invariant bounds counts from above, as `count(w@cs) <= 1` does";
                write!(f, "{what}, and does not say that somebody is there; {INSTEAD}")
            }
            Self::ChoiceInBlock => {
                let what = "an atomic block makes a choice, so that there are several serial runs";
                write!(f, "{what}; this is not done for every number of threads; {INSTEAD}")
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Histories => "this engine does not judge histories of transactions",
            Self::Progress => "this engine does not judge progress",
            Self::EndlessRuns => "this engine does not judge executions that go on for ever; use --engine explore",
            Self::Languages => "this engine does not judge sets of histories",
            Self::CommitPoints => "this engine does not judge commit points",
            Self::Transactional => "transactions are judged by their histories, which this engine does not enumerate",
            Self::Moments => "this engine judges final states, not every moment",
            Self::Races => "this engine does not look for races",
            Self::OrdersOfCalls => "orders of calls are looked at by execution graphs: use --engine graphs, or none",
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
            Self::EndlessRuns { model } => {
                let why = "its executions are not built from queues of deferred accesses, so that it is not defined what fairness is";
                write!(f, "executions that go on for ever are not judged under {model}: {why}; use another model")
            }
            Self::MixedNames => f.write_str("something may hold names of two kinds"),
            Self::Relational { model } => {
                write!(f, "{model} is a model about relations between events, and this engine orders all accesses")
            }
            Self::OneOrder { model, what } => {
                write!(f, "{what} is about one order of all accesses, and {model} has none")
            }
            Self::NoGraphs { model, why } => {
                let known = "execution graphs are for sc, tso, pso, cat:sc, cat:tso, cat:pso, ra and rc11";
                match why {
                    None => write!(f, "{known}; this is about {model}"),
                    Some(why) => {
                        write!(f, "{known}, and for models in cat that promise what they need; {model}: {why}")
                    }
                }
            }
            Self::OrderOfCalls { model, what } => {
                write!(
                    f,
                    "it is not known what an order of calls asks of an execution under {model} with {what}; `observations` can be asked"
                )
            }
            Self::NoMoments { model } => {
                write!(
                    f,
                    "invariants are judged under models that perform what is known, sc, tso, pso or rmo; {model} is another one"
                )
            }
            Self::PendingLocal { local, model } => {
                write!(
                    f,
                    "the invariant reads `{local}`, whose load {model} may defer: it has no value then; name shared variables and points"
                )
            }
            Self::FreedInBlocks => f.write_str("the serial run of atomic blocks does not know freed memory"),
        }
    }
}

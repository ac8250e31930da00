//! Why a verdict is what it is, where the verdict alone does not say it.

use std::fmt;

use cyrano_ir::{EvalError, InstrId, Op, Program, ThreadId};

use crate::limits::Stop;
use crate::refusal::Refusal;

/// The limit, the bound, what was not exercised.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// A limit stopped the run.
    Stopped(Stop),
    /// A limit stopped the run, and the values of a location may have no end.
    Growing {
        /// The limit.
        stop: Stop,
        /// The location.
        location: String,
        /// Its largest value so far.
        value: i128,
    },
    /// Threads have finitely many operations, so that nobody can be overtaken for ever.
    FewOperations,
    /// Executions in which a thread comes to an `assume` that does not hold were left out, and may be those in which it waits.
    Assumed,
    /// A thread may defer more accesses than this.
    Deferred(usize),
    /// A thread may defer more accesses than this, for a client can repeat a store to transactional data for ever.
    Repeated {
        /// This many.
        bound: usize,
        /// Whether something depends on the data; else the store does not always store the initial value.
        decides: bool,
    },
    /// Only histories with at most this many events were looked at.
    Events(usize),
    /// More aborted transactions matter than an engine can remember.
    Crowded,
    /// Loops go on after so many iterations.
    Unrolled {
        /// The threads with such loops, if they are known.
        threads: Vec<String>,
        /// How often loops were unrolled.
        times: usize,
    },
    /// A `limit` of the program does not always hold; this is what it limits.
    Limit(String),
    /// Only this part of so many parts of all executions was looked at.
    Share(u16, u16),
    /// Deadlocks were not looked for.
    NoDeadlocks,
    /// Deadlocks were not looked for, because that is not done under this model.
    NoDeadlocksUnder(String),
    /// Under this model values may come out of thin air, and only some of them were tried.
    ThinAir(String),
    /// States were told apart by fingerprints, so many of them.
    Fingerprints {
        /// How many.
        states: u64,
    },
    /// Fingerprints found something wrong that was not found again.
    Unshown {
        /// After so many steps.
        depth: u64,
        /// Why it was not.
        why: Option<Box<Cause>>,
    },
    /// There are more things to be named than names (progress).
    OutOfNames,
    /// Executions raise these flags of the model, which says nothing then about the program.
    Flagged(Vec<String>),
    /// A condition has no value in the final state that is shown.
    NoValue(Option<EvalError>),
    /// Nothing was exercised; this is what is missing.
    Nothing(&'static str),
    /// Nothing wrong was found, but whether anything was exercised could not be found out.
    Unexercised {
        /// What is perhaps missing.
        missing: &'static str,
        /// Why it is not known.
        why: Box<Cause>,
    },
    /// The engine was asked in spite of its refusal.
    Refused(Refusal),
    /// No engine that may be asked answers the question.
    NoEngine {
        /// The one that comes nearest.
        engine: &'static str,
        /// Why it does not.
        why: Refusal,
        /// Those that said that they would; none if the others were not asked.
        instead: Option<Vec<&'static str>>,
    },
    /// Files, or other machines, gave trouble.
    Trouble(String),
    /// A fault of ours.
    Internal(&'static str),
}

impl Cause {
    /// The limit that stopped the run, if one did.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Stopped(stop) | Self::Growing { stop, .. } => Some(*stop),
            _ => None,
        }
    }
}

impl From<Stop> for Cause {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// The cause of a verdict that is `bounded` because the `limit` at this instruction does not always hold.
pub fn limit_reason(program: &Program, thread: ThreadId, instr: InstrId) -> Cause {
    let what = match &program.instr(thread, instr).op {
        Op::Limit { what, .. } => what,
        _ => "a limit of the program",
    };
    Cause::Limit(what.to_owned())
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(stop) => f.write_str(stop.reason()),
            Self::Growing { stop, location, value } => {
                write!(f, "{}; the values of {location} may have no end ({value} so far)", stop.reason())
            }
            Self::FewOperations => {
                f.write_str("every thread has finitely many operations, so that none can be overtaken for ever")
            }
            Self::Assumed => f.write_str(
                "executions in which an `assume` of an operation fails were left out, and with them threads that wait there",
            ),
            Self::Deferred(bound) => {
                write!(f, "executions in which a thread defers more than {bound} accesses were left out")
            }
            Self::Repeated { bound, decides } => {
                let why = match decides {
                    true => "a client can repeat stores for ever, and a decision or a computation depends on transactional data",
                    false => "a client can repeat this store for ever, and it does not always store the initial value",
                };
                let advice = "the criterion does not look at values, so store one constant, the initial value";
                write!(f, "{}; {why}: {advice}", Self::Deferred(*bound))
            }
            Self::Events(most) => write!(f, "histories of more than {most} events were left out"),
            Self::Crowded => f.write_str("executions with too many aborted transactions that matter were left out"),
            Self::Unrolled { threads, times } if threads.is_empty() => write!(f, "loops were unrolled {times} times"),
            Self::Unrolled { threads, times } => {
                write!(f, "loops of {} were unrolled {times} times only", threads.join(", "))
            }
            Self::Limit(what) => write!(f, "executions beyond a limit were left out: {what}"),
            Self::Share(part, of) => write!(f, "only part {part} of {of} of all executions was looked at"),
            Self::NoDeadlocks => f.write_str(
                "deadlocks were not looked for: a section that may wait has a choice or a loop, or the setup thread may wait",
            ),
            Self::NoDeadlocksUnder(model) => write!(f, "deadlocks are not looked for under {model}"),
            Self::ThinAir(model) => {
                write!(f, "values may come out of thin air under {model}, and only some of them were tried")
            }
            Self::Fingerprints { states } => write!(
                f,
                "nothing wrong was found, but states were told apart by 64-bit fingerprints; the probability that one was left out is at \
                 most {:.1e}",
                omission(*states)
            ),
            Self::Unshown { depth, why } => {
                let found = format!("fingerprints found something wrong after {depth} steps");
                write!(f, "{found}, but the exact search that has to show it did not: ")?;
                match why {
                    Some(why) => why.fmt(f),
                    None => f.write_str("it could not be repeated"),
                }
            }
            Self::OutOfNames => {
                f.write_str("more transactions or records are remembered at once than there are names for")
            }
            Self::Flagged(flags) => {
                write!(f, "some executions raise the flag {} of the model, which says nothing about such programs", flags.join(", "))
            }
            Self::NoValue(None) => f.write_str("the condition has no value in this final state"),
            Self::NoValue(Some(error)) => write!(f, "the condition has no value: {error}"),
            Self::Nothing(what) => f.write_str(what),
            Self::Unexercised { missing, why } => {
                write!(f, "nothing wrong was found, but perhaps {missing}; to find out more failed: {why}")
            }
            Self::Refused(why) => why.fmt(f),
            Self::NoEngine { engine, why, instead } => {
                write!(f, "{engine} cannot run this: {why}")?;
                match instead.as_deref() {
                    None => Ok(()),
                    Some([]) => f.write_str("; no other engine can"),
                    Some(names) => write!(f, "; try --engine {}", names.join(" or --engine ")),
                }
            }
            Self::Trouble(what) => f.write_str(what),
            Self::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

/// How likely two of so many random 64-bit numbers are equal: at most n (n - 1) / 2^65.
fn omission(states: u64) -> f64 {
    let pairs = states as f64 * (states as f64 - 1.0) / 2.0;
    (pairs / 2f64.powi(64)).min(1.0)
}

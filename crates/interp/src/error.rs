//! Why a recorded execution is not one of the program under the model, or does not show what it claims.

use std::fmt;

use cyrano_ir::EvalError;

/// Which axiom puts one access before another; numbers as in the documentation of `cyrano_memory`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axiom {
    /// 1: the model keeps such pairs.
    KeptPair,
    /// 2: a fence stands between.
    Fence,
    /// 3: the second depends on the first.
    Dependency,
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeptPair => "the model keeps this pair in program order (axiom 1)",
            Self::Fence => "a fence stands between them (axiom 2)",
            Self::Dependency => "it depends on it (axiom 3)",
        })
    }
}

/// What does not fit. Steps are numbered from 0 in memory order; accesses are described in words.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ReplayError {
    /// The execution has choices for another number of threads.
    ThreadCount { expected: usize, found: usize },
    /// A step names a thread that does not exist.
    NoSuchThread { step: usize, thread: usize },
    /// A recorded choice is not among the values to choose from.
    ChoiceNotOffered { thread: String, value: i128 },
    /// A step names an access that its thread does not issue.
    NoSuchAccess { step: usize, thread: String, index: u32, issued: usize },
    /// An access is performed twice.
    Twice { step: usize, access: String },
    /// A step lacks the value that was read, or has one though nothing is read.
    ReadShape { step: usize, access: String },
    /// Axioms 1 to 3.
    Order { step: usize, access: String, earlier: String, axiom: Axiom },
    /// Axiom 4: the value read is not the latest visible one.
    WrongRead { step: usize, access: String, recorded: i128, visible: i128 },
    /// Axiom 4: the latest visible store has no value yet.
    ReadOfMissing { step: usize, access: String, store: String },
    /// Axiom 5: a forwarded value is not known yet.
    NotKnown { step: usize, access: String, store: String, load: String },
    /// The value written is not the one that the program computes.
    WrongWrite { step: usize, access: String, recorded: Option<i128>, computed: Option<i128> },
    /// The value to write depends on a load that is never performed.
    WriteOfMissing { step: usize, access: String },
    /// Axiom 6: another access has to come next.
    UnitInterrupted { step: usize, access: String, expected: String },
    /// Axiom 6: the access does not follow the one before it in its section or operation.
    UnitBroken { step: usize, access: String },
    /// Axiom 6: under a serial model nothing follows an operation that is not finished.
    AfterUnfinished { step: usize, access: String, last: String },
    /// Axiom 8: the setup thread is not done.
    SetupUnfinished { step: usize, access: String, setup: String },
    /// Axiom 8: an access of the setup thread has to come first.
    BeforeSetup { step: usize, access: String, earlier: String },
    /// Axiom 7: some value comes from nowhere.
    ThinAir,
    /// The claim is about a thread that has not started, because the setup thread is not done (axiom 8).
    NotStarted { thread: String },
    /// The claimed assertion does not fail.
    NoFailure { thread: String },
    /// The claimed error does not happen.
    NoError { thread: String, error: EvalError },
    /// The section that is claimed to be endless is not.
    NotEndless { thread: String },
    /// A thread of a claimed deadlock can go on.
    NotBlocked { thread: String },
    /// The claimed deadlock names other threads than those that wait.
    OtherBlocked,
    /// A thread of a claimed final state has not finished.
    NotDone { thread: String },
    /// A computation went wrong on the way to a claimed final state.
    Broken { thread: String, error: EvalError },
    /// The final state does not show the claimed outcome.
    OtherOutcome,
    /// The outcome is among the allowed ones.
    AllowedOutcome,
    /// The condition on the final state does not have the claimed truth value.
    Condition { text: String },
    /// The history of transactions satisfies the criterion.
    HistoryIsFine { criterion: &'static str },
    /// The execution is not the endless one that it is claimed to be.
    NoLasso { why: String },
    /// The serial run of the atomic blocks does not part from the execution.
    NoDifference { why: String },
    /// The claim is of a kind that this property does not have.
    OtherProperty,
    /// The claim is that there is no execution, so there is nothing to replay.
    NothingToReplay,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_structure(f).or_else(|| self.fmt_step(f)).unwrap_or_else(|| self.fmt_claim(f))
    }
}

impl std::error::Error for ReplayError {}

/// Each part returns none for what another part prints.
impl ReplayError {
    fn fmt_structure(&self, f: &mut fmt::Formatter<'_>) -> Option<fmt::Result> {
        Some(match self {
            Self::ThreadCount { expected, found } => {
                write!(f, "the execution has choices for {found} threads; the program has {expected}")
            }
            Self::NoSuchThread { step, thread } => write!(f, "step {step}: there is no thread number {thread}"),
            Self::ChoiceNotOffered { thread, value } => write!(f, "{thread} cannot choose {value}"),
            Self::NoSuchAccess { step, thread, index, issued } => {
                write!(f, "step {step}: {thread} has no access number {index}; it issues {issued}")
            }
            Self::Twice { step, access } => write!(f, "step {step}: {access} has been performed before"),
            Self::ReadShape { step, access } => {
                write!(f, "step {step}: {access} and the record disagree on whether a value is read")
            }
            Self::ThinAir => f.write_str("a value comes from nowhere (axiom 7)"),
            _ => return None,
        })
    }

    fn fmt_step(&self, f: &mut fmt::Formatter<'_>) -> Option<fmt::Result> {
        let show = |value: &Option<i128>| value.map_or("nothing".to_owned(), |value| value.to_string());
        Some(match self {
            Self::Order { step, access, earlier, axiom } => {
                write!(f, "step {step}: {access} has to come after {earlier}: {axiom}")
            }
            Self::WrongRead { step, access, recorded, visible } => {
                write!(
                    f,
                    "step {step}: {access} is recorded to read {recorded}; the latest visible value is {visible} (axiom 4)"
                )
            }
            Self::ReadOfMissing { step, access, store } => {
                write!(f, "step {step}: {access} would take its value from {store}, which has none yet (axiom 4)")
            }
            Self::NotKnown { step, access, store, load } => {
                write!(f, "step {step}: {access} would take its value from {store}, which waits for {load} (axiom 5)")
            }
            Self::WrongWrite { step, access, recorded, computed } => {
                let (recorded, computed) = (show(recorded), show(computed));
                write!(f, "step {step}: {access} is recorded to write {recorded}; the program writes {computed}")
            }
            Self::WriteOfMissing { step, access } => {
                write!(f, "step {step}: the value of {access} depends on a load that is never performed")
            }
            Self::UnitInterrupted { step, access, expected } => {
                write!(
                    f,
                    "step {step}: {access} interrupts an atomic section or operation; {expected} has to come next (axiom 6)"
                )
            }
            Self::AfterUnfinished { step, access, last } => {
                write!(f, "step {step}: {access} comes after {last}, whose operation is not finished (axiom 6)")
            }
            Self::UnitBroken { step, access } => {
                write!(
                    f,
                    "step {step}: {access} does not directly follow its predecessor in an atomic section or operation (axiom 6)"
                )
            }
            Self::SetupUnfinished { step, access, setup } => {
                write!(f, "step {step}: {access} comes before the end of the setup thread {setup} (axiom 8)")
            }
            Self::BeforeSetup { step, access, earlier } => {
                write!(f, "step {step}: {access} has to come after {earlier}, which is part of the setup (axiom 8)")
            }
            _ => return None,
        })
    }

    fn fmt_claim(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { thread } => {
                write!(f, "{thread} has not started, for the setup thread is not done (axiom 8)")
            }
            Self::OtherOutcome => f.write_str("the final state shows another outcome than the one named"),
            Self::AllowedOutcome => f.write_str("the outcome of the final state is among the allowed ones"),
            Self::NoFailure { thread } => write!(f, "the assertion in {thread} does not fail in this execution"),
            Self::NoError { thread, error } => write!(f, "there is no {error} at that place of {thread}"),
            Self::NotEndless { thread } => write!(f, "{thread} does not stand before an endless atomic section"),
            Self::NotBlocked { thread } => write!(f, "{thread} is neither done nor blocked"),
            Self::OtherBlocked => f.write_str("other threads are blocked than the ones named"),
            Self::NotDone { thread } => write!(f, "{thread} has not finished"),
            Self::Broken { thread, error } => write!(f, "{thread} computes no final state: {error}"),
            Self::Condition { text } => write!(f, "the final state does not decide the condition {text}"),
            Self::HistoryIsFine { criterion } => write!(f, "the history of transactions satisfies {criterion}"),
            Self::NoDifference { why } => write!(f, "the serial run of the blocks does not part from it: {why}"),
            Self::NoLasso { why } => write!(f, "it does not go on for ever as claimed: {why}"),
            Self::OtherProperty => f.write_str("the property has no such violation"),
            _ => f.write_str("the claim comes without an execution; there is nothing to replay"),
        }
    }
}

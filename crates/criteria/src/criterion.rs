//! The criteria that have a name of their own: the one enumeration of what can be asked of transactions, of getting done and of final states.
//!
//! What each means is here, too, as far as it is a matter of yes and no ([`TxCriterion::is_about_committed`] and its like); monitors, oracles and
//! searches are written in these terms, not in terms of names.

use std::sync::Mutex;

use crate::table::Claim;
use crate::values::{Call, Reply};

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
        Claim::<()>::Final(self, ()).name()
    }
}

/// What a software transactional memory promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TxCriterion {
    /// All transactions, aborted ones too, seem to run one after the other, in an order that respects real time.
    Opacity,
    /// The same of the history as a whole, when it is over; what its prefixes look like does not matter.
    FinalStateOpacity,
    /// As opacity, for committed transactions only.
    StrictSerializability,
    /// The same without real time.
    Serializability,
    /// Every committed transaction reads from one snapshot, and of two that overlap and write one location only one commits.
    SnapshotIsolation,
    /// Committed transactions seem to run one after the other in the order that the memory itself names. Of a history it is asked that there is some
    /// order; which one matters at the end of a run.
    InOrder(OrderName),
    /// Every history of memory events is one of this specification, which no definition stands behind.
    Spec(SpecName),
}

impl TxCriterion {
    /// Those that need no further name.
    pub const ALL: [Self; 5] = [
        Self::Opacity,
        Self::FinalStateOpacity,
        Self::StrictSerializability,
        Self::Serializability,
        Self::SnapshotIsolation,
    ];

    /// Those that are defined by conflicts between memory events, as well as by values.
    pub const BY_CONFLICTS: [Self; 2] = [Self::Opacity, Self::StrictSerializability];

    /// Its name, everywhere.
    pub fn name(self) -> &'static str {
        Claim::<()>::Transactions(self).name()
    }

    /// The criterion with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|criterion| criterion.name() == name);
        let known = known.or_else(|| OrderName::from_criterion(name).map(Self::InOrder));
        known.or_else(|| SpecName::from_criterion(name).map(Self::Spec))
    }

    /// Whether histories of memory events are judged by it: by conflicts, or by a specification.
    pub fn is_about_memory(self) -> bool {
        self.is_by_conflicts() || matches!(self, Self::Spec(_))
    }

    /// Whether it is defined by conflicts, too.
    pub fn is_by_conflicts(self) -> bool {
        Self::BY_CONFLICTS.contains(&self)
    }

    /// Whether only committed transactions have a place in the order.
    pub const fn is_about_committed(self) -> bool {
        !matches!(self, Self::Opacity | Self::FinalStateOpacity)
    }

    /// Whether every prefix of a history has to satisfy it, or only the whole one, when it is over.
    pub const fn judges_prefixes(self) -> bool {
        !matches!(self, Self::FinalStateOpacity)
    }

    /// Whether the order keeps real time.
    pub const fn keeps_real_time(self) -> bool {
        !matches!(self, Self::Serializability | Self::InOrder(_))
    }

    /// Whether an accepted history of values can be rejected because of this reply; see [`crate::values::holds`] for the argument. No
    /// invocation can.
    pub const fn judges(self, call: Call, reply: Reply) -> bool {
        let judges = match (call, reply) {
            (Call::Commit, _) => true,
            (Call::Read(_), Reply::Value(_)) => !self.is_about_committed(),
            _ => false,
        };
        judges && self.judges_prefixes()
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

    /// Its name, everywhere.
    pub fn name(self) -> &'static str {
        Claim::<()>::Progress(self.alone()).name()
    }

    /// This one alone.
    pub fn alone(self) -> &'static [Self] {
        match self {
            Self::Solo => &[Self::Solo],
            Self::CrashFreeSolo => &[Self::CrashFreeSolo],
            Self::Local => &[Self::Local],
        }
    }

    /// The property with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|progress| progress.name() == name)
    }
}

/// What is asked of executions that go on for ever, of threads and of operations; see `docs/termination.md`. In each the scheduler is fair: a
/// thread that can always go on does, and what is deferred is performed some day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Liveness {
    /// Every thread comes to its end, or passes its `progress` marks again and again.
    Termination,
    /// The same with the statements of a label as marks.
    Passes(LabelName),
    /// Some operation gets done, whoever is stopped.
    LockFree,
    /// An operation that runs alone gets done.
    ObstructionFree,
    /// Every operation gets done, whoever is stopped.
    WaitFree,
}

impl Liveness {
    /// Those that need no further name.
    pub const ALL: [Self; 4] = [Self::Termination, Self::LockFree, Self::ObstructionFree, Self::WaitFree];

    /// Its name, everywhere.
    pub fn name(self) -> &'static str {
        Claim::<()>::Live(self).name()
    }

    /// The property with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|liveness| liveness.name() == name);
        known.or_else(|| LabelName::from_criterion(name).map(Self::Passes))
    }

    /// Whether it is about operations that have to get done while threads may be stopped for ever.
    pub fn stops_threads(self) -> bool {
        matches!(self, Self::LockFree | Self::ObstructionFree | Self::WaitFree)
    }

    /// The label whose statements are the marks that threads have to pass; none for plain `progress` marks.
    pub fn label(self) -> Option<LabelName> {
        match self {
            Self::Passes(label) => Some(label),
            _ => None,
        }
    }
}

/// What FOIL, section 8, asks of a memory so that two threads and two variables stand for any number of them; see [`crate::structure`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Structure {
    /// Who sees what a transaction changed that aborts later aborts at once.
    AbortIsolation,
    /// The same of a transaction that is under way.
    PendingIsolation,
    /// Neighbouring events of overlapping commands can be exchanged, so that the commands come in the order of their conflict.
    ConflictCommutativity,
    /// P1: without its aborted transactions, and without some that are under way, a history is one of the memory.
    TransactionProjection,
    /// P2: one thread can do what two threads do whose transactions do not overlap.
    ThreadSymmetry,
    /// P2 where the proof needs it: only in histories that are sequential up to their last event, and not about the thread of that event.
    SequentialRenaming,
    /// P3: without the events of some variables, a history without aborts is one of the memory.
    VariableProjection,
    /// P3 where the proof needs it: only if all transactions but that of the last event have committed, and that event is not left out.
    SettledProjection,
    /// P4: what can be done after overlapping transactions can be done after the same transactions one after the other.
    Monotonicity,
    /// What the proof needs beside them: an unfinished transaction could have committed after its last access, or without its stores after its last read.
    Completion,
    /// All that the reduction theorem needs, and opacity for two threads and two variables.
    Reduction,
}

impl Structure {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::AbortIsolation,
        Self::PendingIsolation,
        Self::ConflictCommutativity,
        Self::TransactionProjection,
        Self::ThreadSymmetry,
        Self::SequentialRenaming,
        Self::VariableProjection,
        Self::SettledProjection,
        Self::Monotonicity,
        Self::Completion,
        Self::Reduction,
    ];

    /// The premises of the theorem as the paper has them: P1 to P4.
    pub const PREMISES: [Self; 4] =
        [Self::TransactionProjection, Self::ThreadSymmetry, Self::VariableProjection, Self::Monotonicity];

    /// Its name, everywhere.
    pub fn name(self) -> &'static str {
        Claim::<()>::Structure(self).name()
    }

    /// The property with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|structure| structure.name() == name)
    }
}

const PREFIX: &str = "serializability-by-";

/// The name of an order, in the name of its criterion: `serializability-by-NAME`.
///
/// Criteria are small values with names that live for ever, so each different name is kept once, for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OrderName(&'static str);

static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

impl OrderName {
    /// The order of this name; none if it is no name.
    pub fn new(name: &str) -> Option<Self> {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| Self(kept(&format!("{PREFIX}{name}"))))
    }

    /// The order in a criterion's name.
    pub fn from_criterion(criterion: &str) -> Option<Self> {
        criterion.strip_prefix(PREFIX).and_then(Self::new)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        &self.0[PREFIX.len()..]
    }

    /// The name of the criterion.
    pub fn criterion(self) -> &'static str {
        self.0
    }
}

const SPEC: &str = "spec:";

/// The name of a specification ([`crate::spec::named`]), in the name of its criterion: `spec:NAME`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpecName(&'static str);

impl SpecName {
    /// The specification of this name, which need not exist.
    pub fn new(name: &str) -> Self {
        Self(kept(&format!("{SPEC}{name}")))
    }

    /// The specification in a criterion's name.
    pub fn from_criterion(criterion: &str) -> Option<Self> {
        criterion.strip_prefix(SPEC).filter(|name| !name.is_empty()).map(Self::new)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        &self.0[SPEC.len()..]
    }

    /// The name of the criterion.
    pub fn criterion(self) -> &'static str {
        self.0
    }
}

const LABEL: &str = "progress:";

/// The label of statements that threads have to pass again and again, in the name of its criterion: `progress:LABEL`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LabelName(&'static str);

impl LabelName {
    /// The label of this name, which no statement need have.
    pub fn new(name: &str) -> Self {
        Self(kept(&format!("{LABEL}{name}")))
    }

    /// The label in a criterion's name.
    pub fn from_criterion(criterion: &str) -> Option<Self> {
        criterion.strip_prefix(LABEL).filter(|name| !name.is_empty()).map(Self::new)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        &self.0[LABEL.len()..]
    }

    /// The name of the criterion.
    pub fn criterion(self) -> &'static str {
        self.0
    }
}

fn kept(name: &str) -> &'static str {
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(found) = known.iter().find(|other| **other == name) {
        return found;
    }
    let new: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.push(new);
    new
}

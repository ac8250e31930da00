//! Deliberate bugs, for testing the tests.
//!
//! With the feature `faults` (on in `crates/faulty`, which has these sources and is there for the tests) one of these can be built into the explorer; the comparison with the
//! reference interpreter must then notice. Without the feature every question below is answered `false` at compile time.

#[cfg(all(test, feature = "faults"))]
mod tests;

/// One way to break the explorer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A load does not see its own thread's deferred stores.
    NoForwarding,
    /// A load sees the oldest of its own thread's deferred stores instead of the latest.
    ForwardOldest,
    /// Store-load fences do nothing.
    IgnoreStoreLoadFence,
    /// Store-store fences do nothing.
    IgnoreStoreStoreFence,
    /// Two stores are reordered although the model keeps them.
    ReorderStores,
    /// Stores are performed at once although the model lets them wait.
    KeepStores,
    /// The write of a read-modify-write is deferred like a plain store.
    SplitRmw,
    /// A thread that has reached its end counts as done with accesses still deferred.
    NoDrain,
    /// The first live register is forgotten between steps.
    ZeroLiveRegister,
    /// States whose hashes have the same low bits are taken for one.
    ConfuseHashes,
    /// Timestamps that are further apart than one are moved together.
    CollapseTimestamps,
    /// A store whose value is still pending is performed with the value 0.
    IgnoreDataDependency,
    /// Other threads may step in the middle of an atomic section.
    SplitAtomic,
    /// Threads do not wait for the setup thread.
    IgnoreSetup,
    /// It is not noted that executions beyond a `limit` are left out.
    ForgetLimits,
    /// The next steps of one thread are taken alone whatever the others can touch.
    AmpleWithoutAsking,
    /// The next steps of one thread are taken alone even if that can go on for ever.
    AmpleForEver,
    /// Steps are remembered without the values of the locations that they touch.
    ForgetTouched,
    /// Threads pass statements that an invariant names without a rest.
    PassPoints,
    /// The next steps of one thread are taken alone although the invariant sees them.
    AmpleInSight,
    /// Synchronising accesses race with each other.
    RaceAnyway,
    /// A thread that can go on need not.
    UnfairToThreads,
    /// What is deferred may stay so for ever.
    UnfairToMemory,
    /// Performing any deferred access of a thread again and again is enough, not the oldest.
    PerformAny,
    /// A thread before a closed section counts as one that can go on.
    ClosedIsReady,
    /// A thread at an `assume` that fails counts as one that waits.
    RefusedIsStalled,
    /// A thread that passes its marks again and again has to end nevertheless.
    IgnoreMarks,
    /// A mark of one thread is good for all.
    ShareMarks,
    /// A thread is stopped only where it would rest anyway, not before every access that it defers.
    StopAtRests,
    /// What is deferred when threads are stopped may stay so for ever.
    ForgetStopped,
    /// A thread before a closed section is stuck although a deferred store may open it.
    StuckTooSoon,
    /// A thread that runs alone is not alone.
    NeverAlone,
    /// An operation that gets done counts for its own thread only, whoever asks.
    DoneForOne,
    /// The end of an operation is none.
    IgnoreOperations,
    /// Steps between operations count as steps in one.
    AlwaysInside,
    /// Memory is not compared with that of the serial run of blocks.
    AnyMemory,
    /// What a block hands on is not compared with what its serial run did.
    HandOnAnything,
    /// What a criterion makes of what it hears is remembered whatever it keeps.
    HearAlike,
    /// Parts of states are ranked alike whatever timestamps there are.
    RankAlike,
    /// Gaps between timestamps are looked at only in the state in which a step is remembered.
    ForgetGaps,
    /// Threads are exchanged whatever their computations make of it.
    ExchangeAnyway,
}

impl Fault {
    /// Those that the comparison with the reference notices.
    pub const ALL: [Self; 21] = [
        Self::NoForwarding,
        Self::ForwardOldest,
        Self::IgnoreStoreLoadFence,
        Self::IgnoreStoreStoreFence,
        Self::ReorderStores,
        Self::KeepStores,
        Self::SplitRmw,
        Self::NoDrain,
        Self::ZeroLiveRegister,
        Self::ConfuseHashes,
        Self::CollapseTimestamps,
        Self::IgnoreDataDependency,
        Self::SplitAtomic,
        Self::IgnoreSetup,
        Self::ForgetLimits,
        Self::AmpleWithoutAsking,
        Self::AmpleForEver,
        Self::ForgetTouched,
        Self::PassPoints,
        Self::AmpleInSight,
        Self::RaceAnyway,
    ];

    /// Those about fairness and progress, which the comparison with the definition of termination notices.
    pub const OF_FAIRNESS: [Self; 7] = [
        Self::UnfairToThreads,
        Self::UnfairToMemory,
        Self::PerformAny,
        Self::ClosedIsReady,
        Self::RefusedIsStalled,
        Self::IgnoreMarks,
        Self::ShareMarks,
    ];

    /// Those about commit-atomicity, which certificates show.
    pub const OF_BLOCKS: [Self; 2] = [Self::AnyMemory, Self::HandOnAnything];

    /// Those about remembered steps of transactional memories, which the comparison with the plain search notices.
    pub const OF_REMEMBERED: [Self; 4] = [Self::ForgetTouched, Self::HearAlike, Self::RankAlike, Self::ForgetGaps];

    /// Those about threads that may be stopped, which the comparison with the definitions for operations notices.
    pub const OF_STOPPING: [Self; 7] = [
        Self::StopAtRests,
        Self::ForgetStopped,
        Self::StuckTooSoon,
        Self::NeverAlone,
        Self::DoneForOne,
        Self::IgnoreOperations,
        Self::AlwaysInside,
    ];
}

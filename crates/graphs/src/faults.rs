//! Bugs that are there on purpose: each leaves out a part of a condition, and a test sees it missed.
//!
//! **Invariant:** nothing is different where no fault is asked for.

/// A part of a condition that is left out on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Revisits: a read that goes may have read from anywhere.
    AnySource,
    /// A write that goes may have been placed anywhere.
    AnyPlace,
    /// A write that goes may have been read from by what stays.
    AnyReader,
    /// The read that is revisited may have read from anywhere.
    AnyRevisited,
    /// A choice that goes may have been any.
    AnyChoice,
    /// Reads are not revisited at all.
    NoRevisits,
    /// What was added after the read goes, even if the write depends on it.
    LoseCauses,
    /// Equal threads: what they did before may go.
    Untied,
    /// It does not matter if it is not known in which order they are.
    NeverApart,
    /// Sections: others may come between what one does.
    Torn,
    /// Fresh objects: nobody gets to know of them.
    Unpublished,
    /// Nobody reads what a thread has written to its own.
    UnreadOwn,
    /// Nothing is published between a write to one's own and the one that overwrites it.
    PublishedLate,
    /// A write that is atomic is overwritten, too, where it may synchronise.
    AtomicOwn,
    /// Others need not come to an object by way of its publication: they may have its address from the start, and nobody looks.
    Strangers,
    /// A pointer may be written into an object of one's own.
    Hidden,
    /// Accesses that are not atomic may be to what is shared.
    Unmarked,
    /// Stores may be published before they are performed.
    Reordered,
    /// Stale waits: a thread waits in vain behind the last write, too.
    AnyWait,
    /// What is asked may be about what waiting threads read.
    AboutWaits,
    /// The last read of a thread that waits does not race.
    StaleRaces,
    /// Idle iterations: writes change nothing.
    IdleWrites,
    /// Registers need not be what they were.
    IdleRegisters,
    /// Races are in no idle iteration.
    NoLinger,
    /// Weak compare-and-swaps: whatever the load finds, the swap would have failed.
    AnyFailure,
}

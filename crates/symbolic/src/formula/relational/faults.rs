//! Deliberate bugs in the encoder, for testing the tests: one at a time is switched on by this crate's own unit tests, and the comparison with the reference must notice.
//! Everywhere else there is no switch, and [`Fault::is_on`] is `false` at compile time.

#[cfg(test)]
mod tests;

/// One way to break the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Events that are not executed stand between others.
    NobodyBetween,
    /// A closure is one step.
    OneStep,
    /// What a difference may contain lacks all that may be taken away, not only what must.
    StraightBounds,
    /// A read need not see a write.
    SeeNothing,
    /// An own write hides those of other threads, too.
    HideAll,
    /// The halves of a read-modify-write have nothing to do with each other.
    NoHalves,
    /// A graph that has to be acyclic lacks one of the relations it is made of.
    LackOperand,
    /// Data dependencies are forgotten.
    ForgetData,
    /// Control dependencies are forgotten.
    ForgetControl,
    /// Whatever write is left in memory at the end.
    AnyLast,
    /// Writes of different threads hit memory in the order of threads.
    OrderThreads,
    /// Accesses that may be to one location are.
    AlwaysThere,
    /// A compare-and-swap that succeeds always keeps its register.
    AlwaysKeep,
    /// What it compared with does not go into the register that it keeps.
    KeepNothing,
    /// Who spins need not have seen the latest writes.
    StaleRounds,
    /// Who spins may have other registers each time.
    OtherRegisters,
    /// An iteration that writes what it finds is idle, whoever sees that.
    IdleThoughSeen,
    /// An iteration is idle though what it reads may race.
    IdleThoughRacing,
}

#[cfg(test)]
thread_local! {
    static ON: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

impl Fault {
    /// Whether it is built in.
    #[cfg(test)]
    pub(crate) fn is_on(self) -> bool {
        ON.get() == Some(self)
    }

    /// Whether it is built in.
    #[cfg(not(test))]
    pub(crate) const fn is_on(self) -> bool {
        false
    }
}

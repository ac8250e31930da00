//! What runs: the boundary between the search and the threads that it lets go on.
//!
//! A search knows of a thread its events, what it does next, and how to tell it what its reads returned. It is generic over who that is: a thread of a program in
//! the IR, which keeps where it stood after each event ([`Runner`](crate::thread::Runner)), or one of native code, which is run again from its start
//! ([`crate::native`]).
//!
//! **Invariant:** what a thread does next follows from the values that its reads and choices were given, and from nothing else.

use std::borrow::Cow;
use std::fmt;

use cyrano_ir::{LocId, Tags};

use crate::graph::Graph;
use crate::models::consistency::Consistency;
use crate::rows::EventId;
use crate::thread::{Next, Runner, Status};

/// A thread on its way.
pub(crate) trait Run: Clone + fmt::Debug {
    /// What is known of a thread before it runs.
    type Code<'p>: Clone + fmt::Debug;

    /// Whether it is native code: threads begin others, locations are made on the way, and nobody goes on when one goes wrong.
    const IS_NATIVE: bool;

    /// Its events.
    fn events(&self) -> &[EventId];

    /// What it does next.
    fn next(&self) -> &Next;

    /// Whether it is in the middle of something that nobody sees a half of.
    fn is_busy(&self) -> bool;

    /// Whether an event belongs to what the one before it began.
    fn goes_on_at(&self, event: usize) -> bool;

    /// How many of its events count.
    fn counted(&self) -> usize;

    /// About how many bytes it takes.
    fn bytes(&self) -> usize;

    /// Becomes a copy of the first events of another.
    fn copy_prefix(&mut self, code: &Self::Code<'_>, from: &Self, events: usize);

    /// Takes back its last event.
    fn pop(&mut self, code: &Self::Code<'_>);

    /// Whether its next read belongs to a read-modify-write, and its tags if it returns this value.
    fn reading(&self, code: &Self::Code<'_>, loc: LocId, value: i128) -> (bool, Tags);

    /// Its next read is this event and returns this value.
    fn read(&mut self, code: &Self::Code<'_>, event: EventId, loc: LocId, value: i128);

    /// Its next write is this event.
    fn wrote(&mut self, code: &Self::Code<'_>, event: EventId);

    /// Its next fence is this event.
    fn fenced(&mut self, code: &Self::Code<'_>, event: EventId);

    /// It begins a thread, or knows of the end of one, by this event.
    fn tied(&mut self, code: &Self::Code<'_>, event: EventId);

    /// The values that it may take next.
    fn values<'p>(&self, code: &Self::Code<'p>) -> Cow<'p, [i128]>;

    /// Whether it chooses if a store-exclusive succeeds.
    fn tries(&self, _: &Self::Code<'_>) -> bool {
        false
    }

    /// Its next choice is this event, and takes this value.
    fn choose(&mut self, code: &Self::Code<'_>, event: EventId, value: i128);

    /// Which of its objects others may know of ([`crate::fresh`]).
    fn published(&self) -> u64 {
        0
    }

    /// Lets the threads go on that got events since the last time, up to what they do next; a model knows what happens before that.
    fn settle<M: Consistency<W, Self>, const W: usize>(graph: &mut Graph<'_, W, Self>, model: &M);

    /// How it ended, if it has.
    fn status(&self) -> Option<Status> {
        if let Next::End(status) = self.next() { Some(*status) } else { None }
    }
}

impl Run for Runner {
    type Code<'p> = crate::code::Code<'p>;

    const IS_NATIVE: bool = false;

    #[inline]
    fn events(&self) -> &[EventId] {
        &self.events
    }

    #[inline]
    fn next(&self) -> &Next {
        &self.frame().next
    }

    #[inline]
    fn is_busy(&self) -> bool {
        self.is_busy()
    }

    fn goes_on_at(&self, event: usize) -> bool {
        self.goes_on_at(event)
    }

    #[inline]
    fn published(&self) -> u64 {
        self.frame().published
    }

    fn counted(&self) -> usize {
        self.counted()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    #[inline]
    fn copy_prefix(&mut self, code: &Self::Code<'_>, from: &Self, events: usize) {
        self.copy_prefix(code, from, events);
    }

    #[inline]
    fn pop(&mut self, code: &Self::Code<'_>) {
        self.pop(code);
    }

    #[inline]
    fn reading(&self, code: &Self::Code<'_>, loc: LocId, value: i128) -> (bool, Tags) {
        self.reading(code, loc, value)
    }

    #[inline]
    fn read(&mut self, code: &Self::Code<'_>, event: EventId, loc: LocId, value: i128) {
        self.read(code, event, loc, value);
    }

    #[inline]
    fn wrote(&mut self, code: &Self::Code<'_>, event: EventId) {
        self.wrote(code, event);
    }

    #[inline]
    fn fenced(&mut self, code: &Self::Code<'_>, event: EventId) {
        self.fenced(code, event);
    }

    fn tied(&mut self, _: &Self::Code<'_>, _: EventId) {
        unreachable!("threads of a program are there at first");
    }

    fn values<'p>(&self, code: &Self::Code<'p>) -> Cow<'p, [i128]> {
        self.values(code)
    }

    fn tries(&self, code: &Self::Code<'_>) -> bool {
        self.tries(code)
    }

    fn choose(&mut self, code: &Self::Code<'_>, event: EventId, value: i128) {
        self.choose(code, event, value);
    }

    /// Such a thread goes on as soon as it gets an event.
    #[inline]
    fn settle<M: Consistency<W, Self>, const W: usize>(_: &mut Graph<'_, W, Self>, _: &M) {}
}

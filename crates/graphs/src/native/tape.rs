//! What a native thread asked for, and what it was told.

use std::borrow::Cow;
use std::rc::Rc;

use cyrano_ir::{Fence, LocId, Tags};

use crate::graph::Graph;
use crate::models::consistency::Consistency;
use crate::native::Desk;
use crate::native::settle::settle;
use crate::rows::EventId;
use crate::run::Run;
use crate::thread::{Next, Status, Writing};

/// What a read-modify-write does with what it reads, or a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// It writes nothing.
    Nothing,
    /// It writes this.
    Value(u64),
    /// The thread waits until it reads something else.
    Wait,
    /// The same, but it does so for some time only: that it waits is nothing wrong.
    Pause,
    /// One of the bits that are set is cleared, whichever.
    Bit,
}

/// What a read-modify-write does with what it reads.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// By what it reads, and its operands.
    pub apply: fn(u64, [u64; 2]) -> Written,
    /// Its operands.
    pub operands: [u64; 2],
    /// The tags of the read if nothing is written.
    pub failed: Tags,
}

impl Update {
    pub(crate) fn written(&self, value: u64) -> Written {
        match (self.apply)(value, self.operands) {
            Written::Bit if value == 0 => Written::Nothing,
            Written::Bit if value.count_ones() == 1 => Written::Value(0),
            written => written,
        }
    }
}

/// What a thread asks for: its next event.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// To read, and perhaps to write right after what it reads.
    Load(LocId, Tags, Option<Update>),
    /// To write.
    Store(LocId, Tags, u64),
    /// To pass a fence.
    Fence(Fence),
    /// A number below this one.
    Choose(u16),
    /// To begin a thread.
    Spawn(usize),
    /// To wait for the end of a thread.
    Join(usize),
}

impl Request {
    /// Whether it is for the same, as far as that can be told.
    pub fn is_like(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Load(loc, tags, update), Self::Load(at, said, of)) => {
                (loc, tags) == (at, said)
                    && match (update, of) {
                        (Some(one), Some(other)) => {
                            let mut operands = one.operands.iter().zip(&other.operands);
                            one.failed == other.failed && operands.all(|(one, other)| are_like(*one, *other))
                        }
                        (one, other) => one.is_none() && other.is_none(),
                    }
            }
            (Self::Store(loc, tags, value), Self::Store(at, said, of)) => {
                (loc, tags) == (at, said) && are_like(value, of)
            }
            (Self::Fence(one), Self::Fence(other)) => one == other,
            (Self::Choose(one), Self::Choose(other)) => one == other,
            (Self::Spawn(one), Self::Spawn(other)) | (Self::Join(one), Self::Join(other)) => one == other,
            _ => false,
        }
    }
}

/// Whether two numbers are the same, or may both be addresses, which are others in every run.
fn are_like(one: u64, other: u64) -> bool {
    const LOWEST: u64 = 1 << 32;
    one == other || one >= LOWEST && other >= LOWEST
}

/// How a thread ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It ran to its end.
    Done,
    /// It has read what it waits to see changed.
    Waits,
    /// The same, for some time; what it does when that is over is another execution.
    Pauses,
    /// Its last events, so many, are reads that it makes again and again.
    Spins(u32),
    /// The code under test wants to see no more of this execution.
    Left,
    /// It went wrong; the machine knows how.
    Wrong,
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// It has to run to say so.
    Unknown,
    /// It asks for this.
    For(Request),
    /// It is to write the second half of a read-modify-write.
    Half(LocId, Tags, u64),
    /// It is to clear one of these bits.
    Bits(LocId, Tags, u64),
    /// It has ended.
    Ended(End),
    /// Nobody has begun it.
    Unborn,
}

impl Asked {
    /// Whether it is the rest of the request before it.
    pub fn is_rest(&self) -> bool {
        matches!(self, Self::Half(..) | Self::Bits(..))
    }

    fn next(&self, read: usize) -> Next {
        let half = |loc, tags, value| Writing::half(loc, i128::from(value), tags, read as u32);
        match *self {
            Self::For(Request::Load(loc, ..)) => Next::Read(loc),
            Self::For(Request::Store(loc, tags, value)) => Next::Write(Writing::whole(loc, i128::from(value), tags)),
            Self::For(Request::Fence(fence)) => Next::Fence(fence),
            Self::For(Request::Choose(_)) | Self::Bits(..) => Next::Choice,
            Self::For(Request::Spawn(thread)) => Next::Spawn(thread),
            Self::For(Request::Join(thread)) => Next::Join(thread),
            Self::Half(loc, tags, value) => Next::Write(half(loc, tags, value)),
            Self::Ended(End::Done) | Self::Unborn => Next::End(Status::Done),
            Self::Ended(End::Waits | End::Pauses) => Next::End(Status::Blocked),
            Self::Ended(End::Spins(_)) => Next::End(Status::Spins),
            Self::Ended(End::Left | End::Wrong) | Self::Unknown => Next::End(Status::Stopped),
        }
    }
}

/// An event of a thread: what it asked for, and what it was told.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it asked for.
    pub asked: Asked,
    /// What it read or chose.
    pub value: u64,
    /// The number of the event that no other has.
    pub stamp: u64,
}

/// What a native thread asked for, and what it was told.
#[derive(Clone, Debug)]
pub struct Tape {
    events: Vec<EventId>,
    steps: Vec<Step>,
    asked: Asked,
    next: Next,
}

impl Tape {
    fn new(asked: Asked) -> Self {
        Self { events: Vec::new(), steps: Vec::new(), next: asked.next(0), asked }
    }

    /// Of the thread that is there at first.
    pub(crate) fn first() -> Self {
        Self::new(Asked::Unknown)
    }

    /// Of one that somebody will begin.
    pub fn unborn() -> Self {
        Self::new(Asked::Unborn)
    }

    /// How many events it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// An event.
    #[inline]
    pub fn step(&self, at: usize) -> &Step {
        &self.steps[at]
    }

    #[inline]
    pub(crate) fn step_mut(&mut self, at: usize) -> &mut Step {
        &mut self.steps[at]
    }

    /// Its number.
    #[inline]
    pub fn event(&self, at: usize) -> Option<EventId> {
        self.events.get(at).copied()
    }

    /// Where the thread stands.
    #[inline]
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// It says what it asks for.
    pub fn ask(&mut self, asked: Asked) {
        self.asked = asked;
        // Of a read-modify-write, where its read is: before what was chosen, if something was.
        let chosen = self.steps.last().is_some_and(|step| matches!(step.asked, Asked::Bits(..)));
        self.next = asked.next(self.steps.len().wrapping_sub(1 + usize::from(chosen)));
    }

    /// Nothing has happened to it.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.steps.clear();
        self.ask(Asked::Unborn);
    }

    fn push(&mut self, desk: &Desk, event: EventId, value: u64, then: Asked) {
        let stamp = desk.stamp.get();
        desk.stamp.set(stamp + 1);
        self.events.push(event);
        self.steps.push(Step { asked: self.asked, value, stamp });
        self.ask(then);
    }

    /// What it does after it has read this.
    fn after_read(&self, value: u64) -> Asked {
        let Asked::For(Request::Load(loc, tags, Some(update))) = self.asked else { return Asked::Unknown };
        match update.written(value) {
            Written::Nothing => Asked::Unknown,
            Written::Value(value) => Asked::Half(loc, tags, value),
            Written::Wait => Asked::Ended(End::Waits),
            Written::Pause => Asked::Ended(End::Pauses),
            Written::Bit => Asked::Bits(loc, tags, value),
        }
    }
}

impl Run for Tape {
    type Code<'p> = Rc<Desk>;

    const IS_NATIVE: bool = true;

    #[inline]
    fn events(&self) -> &[EventId] {
        &self.events
    }

    #[inline]
    fn next(&self) -> &Next {
        &self.next
    }

    #[inline]
    fn is_busy(&self) -> bool {
        self.asked.is_rest()
    }

    fn goes_on_at(&self, event: usize) -> bool {
        self.steps[event].asked.is_rest()
    }

    fn counted(&self) -> usize {
        self.events.len()
    }

    fn bytes(&self) -> usize {
        self.steps.capacity() * (size_of::<Step>() + size_of::<EventId>())
    }

    fn copy_prefix(&mut self, _: &Self::Code<'_>, from: &Self, events: usize) {
        self.events.clear();
        self.events.extend_from_slice(&from.events[..events]);
        self.steps.clear();
        self.steps.extend_from_slice(&from.steps[..events]);
        self.ask(from.steps.get(events).map_or(from.asked, |step| step.asked));
    }

    #[inline]
    fn pop(&mut self, _: &Self::Code<'_>) {
        self.events.pop();
        if let Some(step) = self.steps.pop() {
            self.ask(step.asked);
        }
    }

    fn reading(&self, _: &Self::Code<'_>, _: LocId, value: i128) -> (bool, Tags) {
        let Asked::For(Request::Load(_, tags, update)) = self.asked else { unreachable!("a thread that is to read") };
        let writes = |update: &Update| matches!(update.written(value as u64), Written::Value(_) | Written::Bit);
        let failed = update.filter(|update| !writes(update)).map(|update| update.failed);
        (update.is_some(), failed.unwrap_or(tags))
    }

    fn read(&mut self, desk: &Self::Code<'_>, event: EventId, _: LocId, value: i128) {
        let then = self.after_read(value as u64);
        self.push(desk, event, value as u64, then);
    }

    fn wrote(&mut self, desk: &Self::Code<'_>, event: EventId) {
        self.push(desk, event, 0, Asked::Unknown);
    }

    fn fenced(&mut self, desk: &Self::Code<'_>, event: EventId) {
        self.push(desk, event, 0, Asked::Unknown);
    }

    fn tied(&mut self, desk: &Self::Code<'_>, event: EventId) {
        self.push(desk, event, 0, Asked::Unknown);
    }

    fn values<'p>(&self, _: &Self::Code<'p>) -> Cow<'p, [i128]> {
        match self.asked {
            Asked::For(Request::Choose(count)) => (0..i128::from(count)).collect(),
            Asked::Bits(.., bits) => (0..64).filter(|bit| bits >> bit & 1 != 0).collect(),
            _ => unreachable!("a thread that is to choose"),
        }
    }

    fn choose(&mut self, desk: &Self::Code<'_>, event: EventId, value: i128) {
        let then = match self.asked {
            Asked::Bits(loc, tags, bits) => Asked::Half(loc, tags, bits & !(1 << value)),
            _ => Asked::Unknown,
        };
        self.push(desk, event, value as u64, then);
    }

    fn settle<M: Consistency<W, Self>, const W: usize>(graph: &mut Graph<'_, W, Self>, model: &M) {
        settle(graph, model);
    }
}

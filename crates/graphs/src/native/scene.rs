//! The threads of one graph, as whoever runs them sees them.
//!
//! **Addresses** are others in every run. So what is on the tapes of a graph is of one run, the last one: a thread that is told again what it was told before says anew what
//! it writes, reads return what was written in this run, and the tapes and the graph are brought to that. Requests with other numbers are the same request if
//! both numbers could be addresses ([`Request::is_like`]), and a comparison must come out as it did.

use cyrano_ir::LocId;

use crate::native::tape::{Asked, End, Request, Tape, Written};
use crate::rows::{EventId, INITIAL};

/// What a thread that asks hears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// What it read, or chose; and how many events that took.
    Value(u64, usize),
    /// It has to wait for others.
    Wait,
    /// It asked for something else when it was told the same before.
    Differs,
}

/// The threads of one graph.
#[derive(Debug, Default)]
pub struct Scene {
    /// What each asked for and was told.
    pub tapes: Vec<Tape>,
    /// By event, the write that it reads from, if it is a read and the write an event.
    pub(crate) sources: Vec<EventId>,
    /// By event, whether its thread was told of it, and what was written then.
    pub(crate) played: Vec<Option<u64>>,
    /// By thread, of how many events it was told, and the stamp of the last.
    told: Vec<(usize, u64)>,
    /// Threads that have come to their ends.
    ended: Vec<bool>,
    /// By thread, what happens before what it does now, as bits; of those that are to run.
    pub(crate) known: Vec<u64>,
    pub(crate) words: usize,
    /// By location, what it holds at first in this run.
    initial: Vec<u64>,
    /// Locations that were made since.
    pub(crate) made: Vec<(LocId, u64)>,
}

impl Scene {
    /// Of how many events a thread was told.
    #[inline]
    pub fn position(&self, thread: usize) -> usize {
        self.told.get(thread).map_or(0, |told| told.0)
    }

    /// Whether a thread could be told of its next event.
    pub fn may_tell(&self, thread: usize) -> bool {
        let at = self.position(thread);
        at < self.tapes[thread].len() && self.events(thread, at).is_some()
    }

    /// Whether a thread, told of its next event or begun, does what it has not done before with this past.
    pub fn is_new(&self, thread: usize) -> bool {
        let (at, tape) = (self.position(thread), &self.tapes[thread]);
        matches!(tape.asked(), Asked::Unknown) && (at..tape.len()).skip(1).all(|at| tape.step(at).asked.is_rest())
    }

    /// How many events the request at this place took, if all are there and others have done what they need.
    fn events(&self, thread: usize, at: usize) -> Option<usize> {
        let tape = &self.tapes[thread];
        let ready = match tape.step(at).asked {
            Asked::For(Request::Join(other)) => self.has_ended(other),
            _ => {
                let source = tape.event(at).map_or(INITIAL, |event| self.sources[usize::from(event)]);
                source == INITIAL || self.played[usize::from(source)].is_some()
            }
        };
        let rest = (at + 1..tape.len()).take_while(|at| tape.step(*at).asked.is_rest()).count();
        let waits = matches!(tape.asked(), Asked::Ended(End::Waits | End::Pauses)) || tape.asked().is_rest();
        (ready && !(waits && at + 1 + rest == tape.len())).then_some(1 + rest)
    }

    fn has_ended(&self, thread: usize) -> bool {
        self.ended.get(thread).copied().unwrap_or(false)
    }

    /// A thread asks.
    pub fn tell(&mut self, thread: usize, request: Request) -> Told {
        let at = self.position(thread);
        let tape = &mut self.tapes[thread];
        if at == tape.len() {
            let same = match tape.asked() {
                Asked::Unknown => true,
                Asked::For(other) => other.is_like(&request),
                _ => false,
            };
            if same {
                tape.ask(Asked::For(request));
            }
            return if same { Told::Wait } else { Told::Differs };
        }
        let same = matches!(tape.step(at).asked, Asked::For(other) if other.is_like(&request));
        if !same {
            return Told::Differs;
        }
        let Some(events) = self.events(thread, at) else { return Told::Wait };
        self.retell(thread, (at, events), request)
    }

    /// Tells a thread of these events, with what they are in this run.
    fn retell(&mut self, thread: usize, (at, events): (usize, usize), request: Request) -> Told {
        let event = |tape: &Tape, at: usize| usize::from(tape.event(at).unwrap_or_default());
        let first = event(&self.tapes[thread], at);
        let step = self.tapes[thread].step_mut(at);
        step.asked = Asked::For(request);
        let mut written = 0;
        match request {
            Request::Load(loc, _, update) => {
                let value = match self.sources[first] {
                    INITIAL => self.initial[loc.index()],
                    source => self.played[usize::from(source)].unwrap_or_default(),
                };
                step.value = value;
                let effect = update.map_or(Written::Nothing, |update| update.written(value));
                let tape = &mut self.tapes[thread];
                let last = tape.step_mut(at + events - 1);
                match (effect, &mut last.asked) {
                    (Written::Value(value), Asked::Half(.., half)) => (*half, written) = (value, value),
                    (Written::Bit, Asked::Half(.., half)) => written = *half,
                    (Written::Nothing, Asked::For(_)) => {}
                    _ => return Told::Differs,
                }
            }
            Request::Store(.., value) => written = value,
            _ => {}
        }
        let tape = &self.tapes[thread];
        for at in at..at + events {
            self.played[event(tape, at)] = Some(written);
        }
        if self.told.len() <= thread {
            self.told.resize(thread + 1, (0, 0));
        }
        self.told[thread] = (at + events, tape.step(at + events - 1).stamp);
        Told::Value(tape.step(at).value, events)
    }

    /// A thread has come to its end; says whether it did so before.
    pub fn end(&mut self, thread: usize) -> bool {
        if self.ended.len() <= thread {
            self.ended.resize(thread + 1, false);
        }
        self.ended[thread] = true;
        self.close(thread, End::Done)
    }

    /// A thread ends like this; says whether it did so before.
    pub fn close(&mut self, thread: usize, end: End) -> bool {
        let at = self.position(thread);
        let tape = &mut self.tapes[thread];
        let same = match tape.asked() {
            Asked::Unknown => true,
            Asked::Ended(other) => *other == end,
            _ => false,
        };
        if same && at == tape.len() {
            tape.ask(Asked::Ended(end));
        }
        same && at == tape.len()
    }

    /// Whether an event of a thread, or its end if it has no such event, happens before what another one does now, which is to run.
    #[inline]
    pub fn happens_before(&self, (thread, at): (usize, usize), now: usize) -> bool {
        match self.tapes[thread].event(at) {
            Some(event) => self.knows(now, event),
            None => self.has_ended(thread) && self.knows_end(now, thread),
        }
    }

    #[inline]
    fn knows(&self, now: usize, event: EventId) -> bool {
        let word = self.known.get(now * self.words + usize::from(event) / 64);
        word.is_some_and(|word| word >> (event % 64) & 1 != 0)
    }

    /// Whether somebody has waited for the end of a thread who happens before.
    fn knows_end(&self, now: usize, thread: usize) -> bool {
        self.tapes.iter().any(|tape| {
            let joins =
                |at: &usize| matches!(tape.step(*at).asked, Asked::For(Request::Join(other)) if other == thread);
            (0..tape.len()).filter(joins).any(|at| tape.event(at).is_some_and(|event| self.knows(now, event)))
        })
    }

    /// A location is made that holds this.
    pub fn make(&mut self, loc: LocId, value: u64) {
        if self.initial.len() <= loc.index() {
            self.initial.resize(loc.index() + 1, 0);
        }
        self.initial[loc.index()] = value;
        self.made.push((loc, value));
    }

    /// Whether all that threads were told is on these tapes.
    pub(crate) fn is_played(&self) -> bool {
        self.told.iter().enumerate().all(|(thread, (events, stamp))| {
            let last = events.checked_sub(1);
            let tape = self.tapes.get(thread);
            last.is_none_or(|last| tape.is_some_and(|tape| tape.len() > last && tape.step(last).stamp == *stamp))
        })
    }

    /// Nobody was told of anything.
    pub(crate) fn begin(&mut self) {
        self.told.clear();
        self.ended.clear();
        self.played.clear();
        self.made.clear();
    }
}

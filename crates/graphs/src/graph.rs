//! An execution graph: events, who reads from whom, and in which order writes hit each location.
//!
//! **Invariants**
//! - `order` lists the events as they were added. The events of a thread stand there in program order, and a write before whoever reads from it, but for a read that
//!   was revisited; so `po | rf` has no cycle.
//! - `before` holds what is before an event by `po | rf`. It does not change while the event is there.
//! - The writes to a location are a list through their events, from `first` to `last`.

use std::sync::Arc;

use cyrano_ir::{Fence, LocId, Program, Tags};

use crate::code::{Code, Rules};
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;
use crate::setup::Start;
use crate::thread::{FAILS, Next, Runner, Status, Writing};

/// What an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A read, and the write that it reads from.
    Read(EventId),
    /// A write; of a read-modify-write, with its read.
    Write(Option<EventId>),
    Fence(Fence),
    /// A choice, and whether it is the first of its values.
    Choice {
        first: bool,
    },
    /// A thread begins.
    Spawn(u16),
    /// A thread has come to its end, and this one knows.
    Join(u16),
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u16,
    pub(crate) kind: Kind,
    pub(crate) loc: Option<LocId>,
    pub(crate) value: i128,
    pub(crate) tags: Tags,
    pub(crate) rmw: bool,
    /// Whether it is an access of its own, and not the write that belongs to the read before it.
    own: bool,
    /// Of a write, its neighbours among the writes to its location.
    pub(crate) previous: EventId,
    pub(crate) next: EventId,
    /// Whether this event and those before it are like those of the equal thread before ([`crate::symmetry`]).
    pub(crate) like: bool,
}

impl Event {
    /// Whether it is an access.
    pub(crate) fn is_access(&self) -> bool {
        matches!(self.kind, Kind::Read(_) | Kind::Write(_))
    }
}

/// What is known of a location.
#[derive(Clone, Copy, Debug)]
struct Place<const W: usize> {
    first: EventId,
    last: EventId,
    /// Who reads what was there at first.
    readers: Row<W>,
}

/// An execution graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph<'p, const W: usize, R: Run = Runner> {
    pub(crate) start: &'p Start<'p>,
    pub(crate) code: Arc<[R::Code<'p>]>,
    pub(crate) events: Vec<Event>,
    pub(crate) before: Vec<Row<W>>,
    /// What an event needs: what is before it, and what equal threads did before it. Only where threads are sorted.
    pub(crate) needs: Vec<Row<W>>,
    readers: Vec<Row<W>>,
    places: Vec<Place<W>>,
    /// What memory holds at first.
    initial: Vec<i128>,
    /// Those that are there, in the order of addition.
    pub(crate) order: Vec<EventId>,
    pub(crate) alive: Row<W>,
    pub(crate) runners: Vec<R>,
    /// Of threads that others begin, the event that did; none are there if all threads are there at first.
    spawned: Vec<EventId>,
    /// Set when there was no place for an event.
    pub(crate) full: bool,
    /// Set when an access was not as [`crate::fresh`] has it.
    pub(crate) strange: bool,
}

impl<const W: usize> Place<W> {
    const NEW: Self = Self { first: INITIAL, last: INITIAL, readers: Row::EMPTY };
}

impl<'p, const W: usize> Graph<'p, W> {
    /// Nothing has happened.
    pub(crate) fn new(start: &'p Start<'p>, rules: Rules<'_>) -> Self {
        let program = &*start.program;
        let mut code: Vec<Code<'p>> = program.thread_ids().map(|thread| Code::new(program, thread, rules)).collect();
        code.iter_mut().for_each(|code| code.moves.clone_from(&start.twins.moves));
        if let Some(fresh) = &start.fresh {
            code.iter_mut().for_each(|code| code.with(fresh));
        }
        let runners = code.iter().map(Runner::new).collect();
        Self::of(start, code, runners, program.locations.iter().map(|location| location.init).collect())
    }

    /// Whether some section is held together, and is no read-modify-write.
    pub(crate) fn has_units(&self) -> bool {
        self.code.iter().any(|code| code.has_units)
    }

    /// Lets the threads that spin go through their loops once more, so that it can be seen that they do.
    pub(crate) fn go_round(&mut self) {
        for thread in 0..self.runners.len() {
            self.runners[thread].go_round(&self.code[thread]);
            while !self.full {
                match self.runners[thread].frame().next {
                    Next::Read(loc) => self.read(thread, loc, self.last(loc)),
                    Next::Fence(fence) => self.fence(thread, fence),
                    Next::Write(writing) => self.write(thread, &writing, self.last(writing.loc)),
                    _ => break,
                };
            }
        }
    }

    /// For each access of a thread that counts its read and its write.
    pub(crate) fn accesses(&self, thread: usize) -> Vec<(Option<EventId>, Option<EventId>)> {
        let mut accesses: Vec<(Option<EventId>, Option<EventId>)> = Vec::new();
        let runner = &self.runners[thread];
        for id in runner.events[..runner.counted()].iter().copied() {
            match self.event(id).kind {
                Kind::Read(_) => accesses.push((Some(id), None)),
                Kind::Write(_) if self.event(id).own => accesses.push((None, Some(id))),
                Kind::Write(_) => accesses.last_mut().into_iter().for_each(|access| access.1 = Some(id)),
                // A store-exclusive that fails is an access without events.
                Kind::Choice { .. } if self.is_exclusive(id) && self.event(id).value == FAILS => {
                    accesses.push((None, None));
                }
                Kind::Fence(_) | Kind::Choice { .. } | Kind::Spawn(_) | Kind::Join(_) => {}
            }
        }
        accesses
    }
}

impl<'p, const W: usize, R: Run> Graph<'p, W, R> {
    /// Threads at their start, and what memory holds then.
    pub(crate) fn of(start: &'p Start<'p>, code: Vec<R::Code<'p>>, runners: Vec<R>, initial: Vec<i128>) -> Self {
        Self {
            start,
            code: code.into(),
            events: Vec::new(),
            before: Vec::new(),
            needs: Vec::new(),
            readers: Vec::new(),
            places: vec![Place::NEW; initial.len()],
            initial,
            order: Vec::new(),
            alive: Row::EMPTY,
            runners,
            spawned: Vec::new(),
            full: false,
            strange: false,
        }
    }

    pub(crate) fn program(&self) -> &'p Program {
        &self.start.program
    }

    #[inline]
    pub(crate) fn event(&self, id: EventId) -> &Event {
        &self.events[usize::from(id)]
    }

    #[inline]
    fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.events[usize::from(id)]
    }

    /// Who comes next: a thread that is in the middle of a read-modify-write, else the first that goes on.
    #[inline]
    pub(crate) fn next(&self) -> Option<usize> {
        let busy = self.runners.iter().position(R::is_busy);
        busy.or_else(|| self.runners.iter().position(|runner| self.goes_on(runner)))
    }

    #[inline]
    fn goes_on(&self, runner: &R) -> bool {
        match runner.next() {
            Next::End(_) => false,
            Next::Join(thread) if R::IS_NATIVE => self.runners[*thread].status() == Some(Status::Done),
            _ => true,
        }
    }

    /// What is before the next event of a thread by program order and reads-from.
    #[inline]
    pub(crate) fn causes(&self, thread: usize) -> Row<W> {
        self.until(self.latest(thread))
    }

    /// The last event of a thread; of one that has none, the event that began it.
    #[inline]
    pub(crate) fn latest(&self, thread: usize) -> EventId {
        self.runners[thread].events().last().copied().unwrap_or_else(|| self.spawned(thread))
    }

    /// The event that began a thread.
    #[inline]
    pub(crate) fn spawned(&self, thread: usize) -> EventId {
        if R::IS_NATIVE { self.spawned.get(thread).copied().unwrap_or(INITIAL) } else { INITIAL }
    }

    /// What is before an event, and the event.
    #[inline]
    pub(crate) fn until(&self, id: EventId) -> Row<W> {
        if id == INITIAL { Row::EMPTY } else { self.before[usize::from(id)] | Row::one(id) }
    }

    /// The last write to a location.
    #[inline]
    pub(crate) fn last(&self, loc: LocId) -> EventId {
        self.places[loc.index()].last
    }

    /// The first write to a location.
    #[inline]
    pub(crate) fn first(&self, loc: LocId) -> EventId {
        self.places[loc.index()].first
    }

    /// The write that comes after one to this location.
    #[inline]
    pub(crate) fn after(&self, write: EventId, loc: LocId) -> EventId {
        if write == INITIAL { self.places[loc.index()].first } else { self.event(write).next }
    }

    /// The writes to a location as they hit it, without the initial one.
    pub(crate) fn writes(&self, loc: LocId) -> impl Iterator<Item = EventId> + '_ {
        let first = Some(self.first(loc)).filter(|id| *id != INITIAL);
        std::iter::successors(first, |id| Some(self.event(*id).next).filter(|id| *id != INITIAL))
    }

    /// Who reads from a write to this location.
    #[inline]
    pub(crate) fn readers(&self, write: EventId, loc: LocId) -> &Row<W> {
        if write == INITIAL { &self.places[loc.index()].readers } else { &self.readers[usize::from(write)] }
    }

    fn readers_mut(&mut self, write: EventId, loc: LocId) -> &mut Row<W> {
        if write == INITIAL { &mut self.places[loc.index()].readers } else { &mut self.readers[usize::from(write)] }
    }

    /// Whether somebody reads a location who is not among these.
    pub(crate) fn is_read(&self, loc: LocId, but_for: Row<W>) -> bool {
        let others = !but_for;
        self.readers(INITIAL, loc).meets(&others) || self.writes(loc).any(|id| self.readers(id, loc).meets(&others))
    }

    /// What a write wrote to this location.
    #[inline]
    pub(crate) fn written(&self, write: EventId, loc: LocId) -> i128 {
        if write == INITIAL { self.initial[loc.index()] } else { self.event(write).value }
    }

    /// What is read or written by an event after all.
    pub(crate) fn set_value(&mut self, id: EventId, value: i128) {
        self.event_mut(id).value = value;
    }

    /// What memory holds at first in a location that may be new.
    pub(crate) fn set_initial(&mut self, loc: LocId, value: i128) {
        if self.places.len() <= loc.index() {
            self.places.resize(loc.index() + 1, Place::NEW);
            self.initial.resize(loc.index() + 1, 0);
        }
        self.initial[loc.index()] = value;
    }

    /// A number for an event, none if there are too many.
    fn place_for(&mut self, event: Event, before: Row<W>) -> EventId {
        let id = self.alive.first_free().unwrap_or_else(|| {
            self.full = true;
            0
        });
        let at = usize::from(id);
        if at == self.events.len() {
            self.events.push(event);
            self.before.push(before);
            self.readers.push(Row::EMPTY);
        } else {
            self.events[at] = event;
            self.before[at] = before;
            self.readers[at] = Row::EMPTY;
        }
        self.alive.insert(id);
        self.order.push(id);
        id
    }

    fn event_of(thread: usize, kind: Kind) -> Event {
        let (loc, tags) = (None, Tags::default());
        let (previous, next) = (INITIAL, INITIAL);
        Event { thread: thread as u16, kind, loc, value: 0, tags, rmw: false, own: true, previous, next, like: false }
    }

    /// Adds the next read of a thread, from this write.
    pub(crate) fn read(&mut self, thread: usize, loc: LocId, from: EventId) -> EventId {
        let value = self.written(from, loc);
        let (rmw, tags) = self.runners[thread].reading(&self.code[thread], loc, value);
        let before = self.causes(thread) | self.until(from);
        let event = Event { loc: Some(loc), value, tags, rmw, ..Self::event_of(thread, Kind::Read(from)) };
        let id = self.place_for(event, before);
        self.readers_mut(from, loc).insert(id);
        self.compare(id);
        self.meet(id);
        self.runners[thread].read(&self.code[thread], id, loc, value);
        id
    }

    /// Lets a read that is the last event of its thread be about to happen, without giving up its place in the order.
    pub(crate) fn unread(&mut self, read: EventId) {
        let Event { thread, kind: Kind::Read(from), loc: Some(loc), .. } = *self.event(read) else { return };
        self.readers_mut(from, loc).remove(read);
        self.runners[usize::from(thread)].pop(&self.code[usize::from(thread)]);
    }

    /// Lets a read happen that is about to, from this write.
    pub(crate) fn read_again(&mut self, read: EventId, from: EventId) {
        let Event { thread, loc: Some(loc), .. } = *self.event(read) else { return };
        let thread = usize::from(thread);
        let value = self.written(from, loc);
        let (rmw, tags) = self.runners[thread].reading(&self.code[thread], loc, value);
        self.before[usize::from(read)] = self.causes(thread) | self.until(from);
        let event = self.event_mut(read);
        (event.kind, event.value, event.rmw, event.tags) = (Kind::Read(from), value, rmw, tags);
        self.readers_mut(from, loc).insert(read);
        self.compare(read);
        self.meet(read);
        self.runners[thread].read(&self.code[thread], read, loc, value);
    }

    /// Adds the next write of a thread, after this one to its location.
    pub(crate) fn write(&mut self, thread: usize, writing: &Writing, after: EventId) -> EventId {
        let Writing { loc, value, tags, half, own, .. } = *writing;
        let half = half.map(|half| self.runners[thread].events()[half as usize]);
        let next = self.after(after, loc);
        let event = Event {
            loc: Some(loc),
            value,
            tags,
            rmw: half.is_some_and(|half| !self.is_exclusive(half)),
            own,
            previous: after,
            next,
            ..Self::event_of(thread, Kind::Write(half))
        };
        let id = self.place_for(event, self.causes(thread));
        self.link(after, id, loc);
        self.link(id, next, loc);
        self.compare(id);
        self.meet(id);
        self.runners[thread].wrote(&self.code[thread], id);
        id
    }

    /// Looks at an access that its thread is about to have made.
    fn meet(&mut self, id: EventId) {
        if let Some(fresh) = &self.start.fresh {
            let published = self.runners[usize::from(self.event(id).thread)].published();
            self.strange |= fresh.meets(self, id, published);
        }
    }

    /// Makes these two neighbours.
    fn link(&mut self, before: EventId, after: EventId, loc: LocId) {
        if before == INITIAL {
            self.places[loc.index()].first = after;
        } else {
            self.event_mut(before).next = after;
        }
        if after == INITIAL {
            self.places[loc.index()].last = before;
        } else {
            self.event_mut(after).previous = before;
        }
    }

    /// Adds the next fence of a thread.
    pub(crate) fn fence(&mut self, thread: usize, fence: Fence) -> EventId {
        let loc = if let Fence::Named { at, .. } = fence { at } else { None };
        let event = Event { loc, tags: fence.tags(), ..Self::event_of(thread, Kind::Fence(fence)) };
        let id = self.place_for(event, self.causes(thread));
        self.compare(id);
        self.runners[thread].fenced(&self.code[thread], id);
        id
    }

    /// Adds the next choice of a thread.
    pub(crate) fn choose(&mut self, thread: usize, value: i128, first: bool) -> EventId {
        let tags = if self.runners[thread].tries(&self.code[thread]) { Tags::EXCLUSIVE } else { Tags::default() };
        let event = Event { value, tags, ..Self::event_of(thread, Kind::Choice { first }) };
        let id = self.place_for(event, self.causes(thread));
        self.compare(id);
        self.runners[thread].choose(&self.code[thread], id, value);
        id
    }

    /// Adds the beginning of a thread, or that one knows of the end of another.
    pub(crate) fn tie(&mut self, thread: usize, next: Next) -> EventId {
        let (kind, before) = match next {
            Next::Spawn(other) => (Kind::Spawn(other as u16), Row::EMPTY),
            Next::Join(other) => (Kind::Join(other as u16), self.until(self.latest(other))),
            _ => unreachable!("a thread that begins another or waits for its end"),
        };
        let id = self.place_for(Self::event_of(thread, kind), self.causes(thread) | before);
        if let Next::Spawn(other) = next {
            self.spawned.resize(self.runners.len(), INITIAL);
            self.spawned[other] = id;
        }
        self.runners[thread].tied(&self.code[thread], id);
        id
    }

    /// Takes back the events that were added last, until so many are left.
    pub(crate) fn truncate(&mut self, len: usize) {
        while self.order.len() > len {
            let Some(id) = self.order.pop() else { return };
            self.detach(id);
            let thread = usize::from(self.event(id).thread);
            self.runners[thread].pop(&self.code[thread]);
        }
    }

    /// Takes an event out of the relations.
    fn detach(&mut self, id: EventId) {
        self.alive.remove(id);
        let Event { kind, loc, previous, next, .. } = *self.event(id);
        match (kind, loc) {
            (Kind::Read(from), Some(loc)) => self.readers_mut(from, loc).remove(id),
            (Kind::Write(_), Some(loc)) => self.link(previous, next, loc),
            (Kind::Spawn(other), _) => self.spawned[usize::from(other)] = INITIAL,
            _ => {}
        }
    }

    /// Becomes a copy of another graph with these events only, which are the first ones of their threads.
    pub(crate) fn copy_part(&mut self, from: &Self, kept: Row<W>) {
        let Self {
            start: _,
            code,
            events,
            before,
            needs,
            readers,
            places,
            initial,
            order,
            alive,
            runners,
            spawned,
            full,
            strange,
        } = self;
        events.clone_from(&from.events);
        before.clone_from(&from.before);
        needs.clone_from(&from.needs);
        readers.clone_from(&from.readers);
        places.clone_from(&from.places);
        order.clear();
        order.extend(from.order.iter().filter(|id| kept.contains(**id)));
        (*alive, *full, *strange) = (from.alive, from.full, from.strange);
        if R::IS_NATIVE {
            initial.clone_from(&from.initial);
            spawned.clone_from(&from.spawned);
            let there = runners.len().min(from.runners.len());
            runners.truncate(there);
            runners.extend_from_slice(&from.runners[there..]);
        }
        for ((runner, from), code) in runners.iter_mut().zip(&from.runners).zip(code.iter()) {
            let events = from.events().iter().take_while(|id| kept.contains(**id)).count();
            runner.copy_prefix(code, from, events);
        }
        for id in (from.alive & !kept).iter() {
            self.detach(id);
        }
    }

    /// What memory holds at the end.
    pub(crate) fn final_value(&self, loc: LocId) -> i128 {
        self.written(self.last(loc), loc)
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let frames = self.order.len() * 160 + self.runners.iter().map(R::bytes).sum::<usize>();
        (frames + self.events.capacity() * (size_of::<Event>() + 2 * size_of::<Row<W>>())) as u64
    }

    /// Whether a read is one that a store-exclusive may end, or a choice is whether that succeeds.
    pub(crate) fn is_exclusive(&self, id: EventId) -> bool {
        self.event(id).tags.contains(Tags::EXCLUSIVE)
    }
}

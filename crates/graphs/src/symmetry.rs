//! Equal threads: of the executions that differ only by who of them is who, one is looked at.
//!
//! Threads are equal if exchanging two of them, with the objects that each has for itself, is an automorphism of the program ([`crate::symmetry::twins`], [`crate::symmetry::moves`]). Two
//! equal threads do *like* things as long as they read from the same writes, or from their own in the same places, choose alike, and write only to what each has
//! for itself. Where they first differ one comes before the other: whose read is from an earlier write of the location, whose write is earlier, whose choice is
//! a later value. A graph is *sorted* if of each two neighbours among equal threads the later one does not come before the earlier one.
//! So each way to exchange the threads of a group makes another execution, and some of them is sorted; exactly one, if no two of them do like things to the end.
//!
//! **What is needed.** As long as two neighbours have done like things, the next event of the later one *needs* that of the earlier one (a *tie*), as it needs what is
//! before it by `po | rf` ([`Graph::needs`]). Revisits keep what the write needs, and the maximality condition is about the rest.
//!
//! **Argument.** The search is right for every predicate on graphs that stays when events go that nobody needs, and with which events can be added in the maximal way,
//! if needs have no cycle ([`crate::search`]). *Sorted* is such a predicate. It stays, as it is about what both neighbours have done. And the event that comes next
//! may be added in the maximal way: threads go on in their order, and one that has done like things stands at the same instruction; so the earlier neighbour has
//! its event already when the later one adds the next, and never loses it before the later one does. Then reading from the last write, writing last, and
//! choosing the first value is not to come before.
//!
//! *Needs have no cycle.* Take a cycle with the fewest ties. One tie does not follow another, as two are one from the first to the last of these threads. A tie
//! between events that do like things, or that write or choose, is not needed: what comes into the earlier thread before its event comes from a write that the later
//! one reads from in the same place. So each tie leads from a read of a write `v` to a read of a later write `w` of the same location, and stands for a step from `v` to `w`.
//! Under `sc`, `tso` and `pso` such steps, reads from others, and what is before a write in its thread are in the order of all accesses, which has no cycle.
//! Under `ra` and `rc11` that is not so (two writes in the one and two in the other order are allowed), but if `v` is before `w` by `po | rf` the step is not needed, either.
//! That is looked at wherever two reads come to differ ([`Halt::Apart`]): where it does not hold the search begins anew, and sorts only threads
//! whose order is one of `rf` ([`Sorts::Begun`](crate::symmetry::twins::Sorts)).
//!
//! *It is found if it does not hold.* Take a smallest execution with two equal threads that do like things up to reads whose writes are in no order of `po | rf` that agrees
//! with that of the location. Each of its last events by `po | rf` belongs to every such pair, or a smaller one would do. If there are two, they are one pair, nothing comes
//! after them, and the tie between them is in no cycle. If there is one, everything is before it, and it is named the last of its equals: all ties lead to it as `po | rf`
//! does. Either way there is a sorted graph without a cycle, and the search comes to it, and notices.
//!
//! **What goes together.** Executions in which threads wait for what is old are left where threads are sorted, too: [`crate::stale`] has the argument, as a tie keeps a read that what it
//! missed does not. Names ([`crate::names`]): nobody looks at them, so they are exchanged with their threads.
//! Sections over several locations are not sorted. Where a search must not begin anew (it is kept, or one of several) only those threads are sorted
//! that begin with a read-modify-write of one location which nobody stores to: they are told apart by their first reads, in the order of `rf`.
//!
//! `tests/symmetry.rs` compares with all executions: those that are found, with their threads exchanged in every way, are all there are, each class once.
//! Symmetry reduction for execution graphs is from Kokologiannakis, Marmanis, Vafeiadis: "SPORE: combining symmetry and partial order reduction" (PLDI 2024).

pub(crate) mod moves;
pub(crate) mod twins;

use cyrano_ir::LocId;

use crate::faults::Fault;
use crate::graph::{Graph, Kind};
use crate::names::is_name;
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;
use crate::search::Halt;
use crate::thread::Writing;

impl<const W: usize, R: Run> Graph<'_, W, R> {
    /// The event of the equal thread before that stands where the next event of a thread will, if all before it are like those of this thread.
    #[inline]
    fn twin(&self, thread: usize) -> Option<(usize, EventId)> {
        let before = self.start.twins.before(thread)?;
        let own = self.runners[thread].events();
        let alike = own.last().is_none_or(|last| self.event(*last).like);
        let twin = if alike { self.runners[before].events().get(own.len()).copied() } else { None };
        twin.map(|twin| (before, twin))
    }

    /// An event of a thread with the rest of its read-modify-write.
    fn whole(&self, thread: usize, event: EventId) -> impl Iterator<Item = EventId> + '_ {
        let runner = &self.runners[thread];
        let at = runner.events().iter().position(|own| *own == event).unwrap_or(runner.events().len());
        let rest = (at + 1..runner.events().len()).take_while(|at| runner.goes_on_at(*at));
        std::iter::once(event).chain(rest.map(|at| runner.events()[at]))
    }

    /// Whether an event of a thread is the read of a read-modify-write that writes.
    fn updates(&self, thread: usize, read: EventId) -> bool {
        self.whole(thread, read).any(|id| self.event(id).kind == Kind::Write(Some(read)))
    }

    /// What the next event of a thread needs: what it depends on, and what equal threads did before it.
    #[inline]
    pub(crate) fn needs(&self, thread: usize, fault: Option<Fault>) -> Row<W> {
        if self.start.twins.is_empty() || fault == Some(Fault::Untied) {
            return self.causes(thread);
        }
        let mut row = self.runners[thread].events().last().map_or(Row::EMPTY, |last| self.needed(*last));
        if let Some((before, twin)) = self.twin(thread) {
            self.whole(before, twin).for_each(|id| row |= self.needed(id));
        }
        row
    }

    fn needed(&self, id: EventId) -> Row<W> {
        if id == INITIAL { Row::EMPTY } else { self.needs[usize::from(id)] | Row::one(id) }
    }

    /// Compares an event that is about to become the last of its thread with that of the equal thread before.
    #[inline]
    pub(crate) fn compare(&mut self, id: EventId) {
        if self.start.twins.is_empty() {
            return;
        }
        let thread = usize::from(self.event(id).thread);
        let mut row = self.needs(thread, None);
        if let Kind::Read(from) = self.event(id).kind {
            row |= self.needed(from);
        }
        let like = self.twin(thread).is_some_and(|(before, twin)| self.is_like(before, twin, id));
        if self.needs.len() < self.events.len() {
            self.needs.resize(self.events.len(), Row::EMPTY);
        }
        self.needs[usize::from(id)] = row;
        self.events[usize::from(id)].like = like;
    }

    /// Whether two events of equal threads that stand in the same place do not tell them apart.
    fn is_like(&self, before: usize, twin: EventId, id: EventId) -> bool {
        let (one, other) = (self.event(twin), self.event(id));
        match (one.kind, other.kind) {
            (Kind::Read(from), Kind::Read(source)) if one.loc == other.loc => from == source,
            (Kind::Read(from), Kind::Read(source)) => {
                let place = |thread: usize, write| self.runners[thread].events().iter().position(|own| *own == write);
                let (from, source) = (place(before, from), place(usize::from(other.thread), source));
                from == source
            }
            (Kind::Write(_), Kind::Write(_)) => one.loc != other.loc,
            (Kind::Fence(_), Kind::Fence(_)) => true,
            (Kind::Choice { .. }, Kind::Choice { .. }) => {
                one.value == other.value || is_name(one.value) && is_name(other.value)
            }
            _ => false,
        }
    }

    /// Whether a write comes before another one, by `po | rf`.
    fn follows(&self, one: EventId, other: EventId) -> bool {
        one == INITIAL || other != INITIAL && self.before[usize::from(other)].contains(one)
    }

    /// How many of some writes to a location, the last one first, are later than this one, which need not be among them: a read-modify-write may read from it, so that
    /// nobody else does or comes next.
    fn later(&self, loc: LocId, than: EventId, found: &[EventId]) -> usize {
        let place = |id: EventId| self.writes(loc).position(|write| write == id).map_or(0, |place| place + 1);
        let than = place(than);
        found.iter().take_while(|id| place(**id) > than).count()
    }

    /// Of the writes that the next read of a thread may read from, the last one first, leaves those that keep threads sorted.
    pub(crate) fn sort_sources(
        &self,
        (thread, loc): (usize, LocId),
        found: &mut Vec<EventId>,
        start: usize,
    ) -> Result<(), Halt> {
        let Some((before, twin)) = self.twin(thread) else { return Ok(()) };
        let Kind::Read(from) = self.event(twin).kind else { return Ok(()) };
        if self.event(twin).loc != Some(loc) {
            // Nobody else knows of it yet.
            let own = |id: &EventId| *id == INITIAL || usize::from(self.event(*id).thread) == thread;
            return if found[start..].iter().all(own) { Ok(()) } else { Err(Halt::Apart) };
        }
        let later = start + self.later(loc, from, &found[start..]);
        let is_there = found.get(later) == Some(&from);
        if self.start.twins.compares {
            let (later, earlier) = (&found[start..later], &found[later..]);
            let apart = later.iter().any(|id| !self.follows(from, *id))
                || earlier.iter().any(|id| *id != from && !self.follows(*id, from));
            if apart {
                return Err(Halt::Apart);
            }
        }
        // Two read-modify-writes do not read from the same write.
        found.truncate(later + usize::from(is_there && !self.updates(before, twin)));
        Ok(())
    }

    /// Of the writes after which the next write of a thread may stand, the last one first, leaves those that keep threads sorted.
    pub(crate) fn sort_places(&self, thread: usize, writing: &Writing, found: &mut Vec<EventId>, start: usize) {
        let Some((_, twin)) = self.twin(thread).filter(|_| writing.half.is_none()) else { return };
        if self.event(twin).loc == Some(writing.loc) && matches!(self.event(twin).kind, Kind::Write(_)) {
            let later = start + self.later(writing.loc, twin, &found[start..]);
            found.truncate(later + usize::from(found.get(later) == Some(&twin)));
        }
    }

    /// Of the places of a write that a read is to read from, the last one first, leaves those that keep threads sorted.
    pub(crate) fn sort_places_for(
        &self,
        read: EventId,
        (thread, writing): (usize, &Writing),
        found: &mut Vec<EventId>,
    ) -> Result<(), Halt> {
        self.sort_places(thread, writing, found, 0);
        let reader = usize::from(self.event(read).thread);
        let Some((_, twin)) = self.twin(reader) else { return Ok(()) };
        let Kind::Read(from) = self.event(twin).kind else { return Ok(()) };
        if self.event(twin).loc != Some(writing.loc) {
            return if thread == reader || found.is_empty() { Ok(()) } else { Err(Halt::Apart) };
        }
        let later = self.later(writing.loc, from, found);
        let later = later + usize::from(found.get(later) == Some(&from));
        let knows = from == INITIAL || self.causes(thread).contains(from);
        if self.start.twins.compares && !found.is_empty() && (!knows || later < found.len()) {
            return Err(Halt::Apart);
        }
        found.truncate(later);
        Ok(())
    }

    /// Of the values that a thread may take, by number, leaves those that keep threads sorted.
    pub(crate) fn sort_choices(&self, thread: usize, values: &[i128], found: &mut Vec<EventId>, start: usize) {
        let Some((_, twin)) = self.twin(thread) else { return };
        let place = values.iter().position(|value| *value == self.event(twin).value);
        if let Some(place) = place {
            let mut at = 0;
            found.retain(|number| {
                at += 1;
                at <= start || usize::from(*number) <= place
            });
        }
    }
}

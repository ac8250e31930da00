//! `ra` and `rc11`: happens-before, and that nobody sees a location go backwards in it.
//!
//! What happens before an event is known when it is added, and does not change: it is what happens before its predecessor in program order, and what it
//! synchronises with. So a read may read from no write that is before one which happens before it or which somebody read who happens before it, and a write may not
//! stand before such a write (`coherence`). Under `ra` everything synchronises, so that happens-before is `po | rf` ([`Graph::before`]). Under `rc11` it
//! is computed from the orders of accesses and fences. The order of the sequentially consistent ones is kept apart ([`crate::models::views::psc`]).

mod psc;

use cyrano_ir::{FenceSet, LocId, Op, Program, Tags};

use crate::graph::{Event, Graph, Kind};
use crate::linear;
use crate::models::consistency::{Consistency, is_passed, is_seen, places, walk};
use crate::races::is_plain;
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;
use crate::thread::Writing;

/// What is known after an event of C11.
#[derive(Clone, Copy, Debug)]
struct View<const W: usize> {
    /// What happens before it.
    before: Row<W>,
    /// Of a write: what happens before an acquire that reads from it.
    released: Row<W>,
    /// What happens before an acquire that reads from a later write of the thread, by its last release fence.
    fenced: Row<W>,
    /// What happens before an acquire fence that comes next, by the reads before it.
    pending: Row<W>,
}

/// What happens before what.
#[derive(Clone, Debug)]
pub(crate) struct Views<const W: usize> {
    /// Whether the orders of accesses count.
    c11: bool,
    /// Whether there may be two events that are in an order of their own.
    strong: bool,
    /// Whether some access may be in a race.
    races: bool,
    /// Whether a release sequence has later stores of the same thread, as in C11 and not in C++20.
    own_stores: bool,
    views: Vec<View<W>>,
    scratch: psc::Scratch<W>,
    /// The order of sequentially consistent events of C11.
    order: psc::kept::Strong<W>,
}

impl<const W: usize> View<W> {
    const NONE: Self = Self { before: Row::EMPTY, released: Row::EMPTY, fenced: Row::EMPTY, pending: Row::EMPTY };
}

/// What is said about an event under C11.
fn said(event: &Event) -> Tags {
    event.tags.spoken()
}

fn acquires(tags: Tags) -> bool {
    tags.meets(Tags::ACQUIRE | Tags::CONSUME | Tags::SEQ_CST)
}

fn releases(tags: Tags) -> bool {
    tags.meets(Tags::RELEASE | Tags::SEQ_CST)
}

impl<const W: usize> Views<W> {
    pub(crate) fn release_acquire(program: &Program) -> Self {
        Self::new(false, is_strong(program, false), false)
    }

    pub(crate) fn c11(program: &Program) -> Self {
        Self::new(true, is_strong(program, true), program.accesses().any(is_plain))
    }

    /// Of native code, of which nothing is known beforehand, and whose races its machine finds.
    pub(crate) fn native(own_stores: bool) -> Self {
        Self { own_stores, ..Self::new(true, true, false) }
    }

    fn new(c11: bool, strong: bool, races: bool) -> Self {
        Self {
            c11,
            strong,
            races,
            own_stores: true,
            views: Vec::new(),
            scratch: psc::Scratch::default(),
            order: psc::kept::Strong::default(),
        }
    }

    /// What happens before an event.
    #[inline]
    fn before<'a, R: Run>(&'a self, graph: &'a Graph<'_, W, R>, id: EventId) -> &'a Row<W> {
        if self.c11 { &self.views[usize::from(id)].before } else { &graph.before[usize::from(id)] }
    }

    /// What happens before what comes after an event.
    fn until(&self, id: EventId) -> Row<W> {
        if id == INITIAL { Row::EMPTY } else { self.views[usize::from(id)].before | Row::one(id) }
    }

    fn view<R: Run>(&self, graph: &Graph<'_, W, R>, id: EventId) -> View<W> {
        let event = graph.event(id);
        let own = graph.runners[usize::from(event.thread)].events();
        let at = own.iter().rposition(|other| *other == id).unwrap_or(0);
        let mut view = match at.checked_sub(1) {
            Some(at) => {
                let View { before, fenced, pending, .. } = self.views[usize::from(own[at])];
                View { before: before | Row::one(own[at]), released: Row::EMPTY, fenced, pending }
            }
            None => View { before: self.until(graph.spawned(event.thread.into())), ..View::NONE },
        };
        let tags = said(event);
        match event.kind {
            Kind::Read(from) if from != INITIAL && tags.contains(Tags::ATOMIC) => {
                let released = self.views[usize::from(from)].released;
                view.pending |= released;
                if acquires(tags) {
                    view.before |= released;
                }
            }
            Kind::Write(half) => view.released = self.released(graph, (id, event), half, &own[..at], &view),
            Kind::Fence(_) => {
                if acquires(tags) {
                    view.before |= view.pending;
                }
                if releases(tags) {
                    view.fenced = view.before | Row::one(id);
                }
            }
            Kind::Join(thread) => view.before |= self.until(graph.latest(thread.into())),
            _ => {}
        }
        view
    }

    /// What happens before an acquire that reads from a write: what is before a release fence or release write of its thread, and, of a read-modify-write, what it
    /// passes on.
    fn released<R: Run>(
        &self,
        graph: &Graph<'_, W, R>,
        (id, event): (EventId, &Event),
        half: Option<EventId>,
        earlier: &[EventId],
        view: &View<W>,
    ) -> Row<W> {
        let source =
            half.map_or(INITIAL, |half| if let Kind::Read(from) = graph.event(half).kind { from } else { INITIAL });
        let mut row = if source == INITIAL { Row::EMPTY } else { self.views[usize::from(source)].released };
        let tags = said(event);
        if !tags.contains(Tags::ATOMIC) {
            return row;
        }
        row |= view.fenced;
        if releases(tags) {
            return row | view.before | Row::one(id);
        }
        if !self.own_stores {
            return row;
        }
        let is_release = |other: &&EventId| {
            let other = graph.event(**other);
            matches!(other.kind, Kind::Write(_)) && other.loc == event.loc && releases(said(other))
        };
        let release = earlier.iter().rev().find(is_release);
        release.map_or(row, |other| row | self.views[usize::from(*other)].before | Row::one(*other))
    }

    /// Two accesses that race: one is not atomic, one writes, and neither happens before the other.
    fn racing<'a, R: Run>(&self, graph: &'a Graph<'_, W, R>) -> Option<[EventId; 2]> {
        let counted = |runner: &'a R| runner.events()[..runner.counted()].iter().copied();
        let accesses = || graph.runners.iter().flat_map(counted).filter(|id| graph.event(*id).is_access());
        let races = |one: EventId, other: EventId| {
            let (a, b) = (graph.event(one), graph.event(other));
            let writes = |event: &Event| matches!(event.kind, Kind::Write(_));
            a.loc == b.loc
                && a.thread != b.thread
                && (writes(a) || writes(b))
                && !self.before(graph, one).contains(other)
                && !self.before(graph, other).contains(one)
        };
        let mut plain = accesses().filter(|id| !said(graph.event(*id)).contains(Tags::ATOMIC));
        plain.find_map(|other| Some([accesses().find(|one| races(*one, other))?, other]))
    }
}

/// Whether there may be two events that are in an order of their own, under `rc11` or under `ra`.
pub(crate) fn is_strong(program: &Program, c11: bool) -> bool {
    let strong_fence =
        |op: &Op| matches!(op, Op::Fence(fence) if fence.kinds().is_some_and(|kinds| kinds.meets(FenceSet::SL)));
    let strong = |op: &Op| match op {
        Op::Fence(fence) => fence.tags().contains(Tags::SEQ_CST),
        Op::AtomicBegin => true,
        op => op.access().is_some_and(|access| {
            let all = access.tags | access.failed.unwrap_or_default();
            let updates = access.kind == cyrano_ir::AccessKind::Rmw;
            all.contains(Tags::SEQ_CST) || (updates || all.contains(Tags::SYNC)) && all.orders().is_empty()
        }),
    };
    if c11 { ops(program).any(strong) } else { ops(program).any(strong_fence) }
}

fn ops(program: &Program) -> impl Iterator<Item = &Op> {
    program.threads.iter().flat_map(|thread| thread.code.iter().map(|instr| &instr.op))
}

impl<const W: usize, R: Run> Consistency<W, R> for Views<W> {
    fn sources(&mut self, graph: &Graph<'_, W, R>, thread: usize, loc: LocId, found: &mut Vec<EventId>) {
        let known = self.known(graph, thread);
        walk(graph, loc, |write| is_seen(graph, &known, write, loc), |write| found.push(write));
    }

    fn places(&mut self, graph: &Graph<'_, W, R>, thread: usize, writing: &Writing, found: &mut Vec<EventId>) {
        let known = self.known(graph, thread);
        places(graph, (thread, writing), |write| is_seen(graph, &known, write, writing.loc), found);
    }

    #[inline]
    fn known(&self, graph: &Graph<'_, W, R>, thread: usize) -> Row<W> {
        let last = graph.latest(thread);
        if last == INITIAL { Row::EMPTY } else { *self.before(graph, last) | Row::one(last) }
    }

    fn added(&mut self, graph: &Graph<'_, W, R>, id: EventId) {
        if !self.c11 {
            return;
        }
        if self.views.len() < graph.events.len() {
            self.views.resize(graph.events.len(), View::NONE);
        }
        self.views[usize::from(id)] = self.view(graph, id);
        if self.strong {
            let Self { order, views, .. } = self;
            order.added(graph, |id| &views[usize::from(id)].before, id);
        }
    }

    fn allows(&mut self, graph: &Graph<'_, W, R>, id: EventId) -> bool {
        if self.c11 {
            return self.order.is_allowed();
        }
        if !self.strong || !is_passed(graph, graph.event(id)) {
            return true;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let allowed = scratch.fences(graph, |id: EventId| *self.before(graph, id));
        self.scratch = scratch;
        allowed
    }

    fn mark(&self) -> usize {
        self.order.mark()
    }

    fn restore(&mut self, mark: usize) {
        self.order.restore(mark);
    }

    fn copy_part(&mut self, from: &Self, graph: &Graph<'_, W, R>) {
        self.views.clone_from(&from.views);
        if self.c11 && self.strong {
            let Self { order, views, .. } = self;
            order.compute(graph, |id| &views[usize::from(id)].before);
        }
    }

    fn happens_before(&mut self, graph: &Graph<'_, W, R>) -> Vec<Row<W>> {
        (0..graph.events.len()).map(|id| *self.before(graph, id as EventId)).collect()
    }

    fn order(&self, graph: &Graph<'_, W, R>) -> linear::Order<W> {
        let all = 0..graph.events.len() as EventId;
        let happens = all.map(|id| *self.before(graph, id)).collect();
        if self.c11 { vec![happens, graph.before.clone()] } else { vec![happens] }
    }

    fn agrees(&self, graph: &Graph<'_, W, R>, order: &linear::Order<W>) -> bool {
        order.iter().all(|rows| linear::is_acyclic(graph, rows)) && linear::is_coherent(graph, &order[0])
    }

    fn flags(&mut self, graph: &Graph<'_, W, R>) -> Vec<String> {
        if self.race(graph).is_some() { vec!["data-race".to_owned()] } else { Vec::new() }
    }

    fn may_race(&self, graph: &Graph<'_, W, R>, id: EventId) -> bool {
        let event = graph.event(id);
        let Some(loc) = event.loc else { return false };
        let plain = |event: &Event| !said(event).contains(Tags::ATOMIC);
        let races = |write: EventId| {
            let other = graph.event(write);
            other.thread != event.thread && (plain(event) || plain(other)) && !self.before(graph, id).contains(write)
        };
        self.races && graph.writes(loc).any(races)
    }

    fn race(&mut self, graph: &Graph<'_, W, R>) -> Option<[EventId; 2]> {
        if self.races { self.racing(graph) } else { None }
    }
}

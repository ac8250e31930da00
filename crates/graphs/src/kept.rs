//! A search that is interrupted and goes on later, perhaps elsewhere: what is left to do as data, and how a search comes to be there again.
//!
//! **Invariant:** the tree of a search is the same in every run: which alternatives there are at a point follows from the program, the model, the switches and the
//! alternatives that were taken before. So a part of the tree is named by the numbers of those ([`Part::path`]), and whoever takes them again stands before the same
//! graph. Events on the way there are not counted again, and no execution is looked at on the way, so that what is counted is what one run counts.
//!
//! Parts do not overlap, and together they are all that is left; so several can do them, each some ([`divide`]).

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use cyrano_engine::Limits;
use cyrano_ir::{InstrId, ThreadId};

use crate::faults::Fault;
use crate::graph::Graph;
use crate::models::consistency::Consistency;
use crate::search::level::{Level, Open, Point, Turn};
use crate::search::{Counts, Goal, Halt, Search, Shared};

/// Somebody who keeps what was found so far.
pub trait Keep: Sync {
    /// Whether it is time to do that. Asked now and then by everybody who searches.
    fn is_due(&self) -> bool;

    /// Keeps it: now and then, at the end, and when the search is stopped.
    fn keep(&self, progress: &Progress);
}

/// How far a search has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Progress {
    /// What was counted.
    pub counts: Counts,
    /// Which part of the search from this way to start is done.
    pub share: f64,
    /// What was seen of executions.
    pub seen: Seen,
    /// What is left to do.
    pub parts: Vec<Part>,
}

/// What was seen of executions, as far as it counts for the answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Flags that were raised.
    pub flags: BTreeSet<String>,
    /// Whether a loop was cut off.
    pub unrolled: bool,
    /// A `limit` that did not hold.
    pub limited: Option<(ThreadId, InstrId)>,
    /// Whether all threads came to their end.
    pub ended: bool,
    /// Whether an assertion was evaluated.
    pub asserted: bool,
    /// Whether deadlocks may have been missed.
    pub unsure: bool,
    /// What was observed.
    pub outcomes: BTreeSet<Vec<i128>>,
}

/// A part of a search that is left to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Which of the ways to start it belongs to.
    pub start: usize,
    /// The numbers of the alternatives that were taken to come there.
    pub path: Vec<u16>,
    /// Of the alternatives that are there then, those that are left, from the first number and before the second; all that follows if there are none.
    pub left: Option<(u16, u16)>,
}

impl Part {
    /// All of a search.
    pub(crate) fn whole(start: usize) -> Self {
        Self { start, path: Vec::new(), left: None }
    }
}

/// One of several who search, each a part of the whole that nobody else does; from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Which one.
    pub index: u16,
    /// Of how many.
    pub count: u16,
}

impl<M, const W: usize> Level<'_, M, W> {
    /// What is left to do.
    pub(crate) fn parts(&self, start: usize, found: &mut Vec<Part>) {
        for (at, point) in self.points.iter().enumerate() {
            let next = self.points.get(at + 1).map_or(self.alternatives.len(), |next| next.alternatives);
            let left = (point.first, point.first + (next - point.alternatives) as Turn);
            found.push(Part { start, path: self.path[..point.path].to_vec(), left: Some(left) });
        }
        if !self.ended {
            found.push(Part { start, path: self.path.clone(), left: None });
        }
    }
}

/// Looks at nothing.
struct Blind;

impl<const W: usize> Goal<W> for Blind {
    fn found(&mut self, _: &Graph<'_, W>, _: &mut impl Consistency<W>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn is_wrong(&self, _: &Graph<'_, W>, _: usize) -> bool {
        false
    }

    fn join(&mut self, _: Self) {}
}

/// A search that nobody sees, on its own.
fn unseen<T>(fault: Option<Fault>, limits: &Limits, stale_waits: bool) -> Shared<'_, T> {
    let (pool, told, patience, keep) = (None, Mutex::default(), None, None);
    Shared {
        limits,
        watch: &(),
        fault,
        pool,
        told,
        patience,
        stale_waits,
        stale_reads_race: false,
        pace: u64::MAX,
        keep,
    }
}

/// Goes from the beginning of a search to a part of it; none if that is no part of it.
pub(crate) fn arrive<'p, M: Consistency<W>, const W: usize>(
    root: Level<'p, M, W>,
    part: &Part,
    fault: Option<Fault>,
) -> Result<Option<Level<'p, M, W>>, Halt> {
    let limits = Limits::default();
    // Nothing is taken on the way that would be left.
    let shared = unseen(fault, &limits, false);
    let mut blind = Blind;
    let mut search = Search::new(&mut blind, vec![root], &shared);
    for turn in &part.path {
        if !search.top().ended {
            search.open()?;
        }
        if !narrow(search.top(), (*turn, turn.saturating_add(1))) || !enter(&mut search) {
            return Ok(None);
        }
    }
    if let Some(left) = part.left {
        if !search.top().ended {
            search.open()?;
        }
        if !narrow(search.top(), left) {
            return Ok(None);
        }
    }
    Ok(search.left().pop())
}

/// Takes the only alternative that is left, and goes no further.
fn enter<M: Consistency<W>, const W: usize>(search: &mut Search<'_, '_, Blind, M, W>) -> bool {
    let level = search.top();
    let (Some(point), Some(alternative)) = (level.points.pop(), level.alternatives.pop()) else { return false };
    level.back_to(&point);
    level.path.push(point.first);
    if let Open::Revisit(thread) = point.open {
        return search.revisit(thread, alternative, point.weight).is_ok();
    }
    level.weight = point.weight;
    let (_, allowed) = level.go(point.open, alternative);
    level.ended = false;
    allowed
}

/// Leaves only the alternatives with these numbers at the point where a level stands; says whether they are there.
fn narrow<M, const W: usize>(level: &mut Level<'_, M, W>, (from, to): (Turn, Turn)) -> bool {
    let Level { points, alternatives, path, .. } = level;
    let ends = |at: usize, points: &[Point]| points.get(at + 1).map_or(alternatives.len(), |next| next.alternatives);
    let has = |at: &usize| {
        let point = &points[*at];
        let last = usize::from(point.first) + ends(*at, points) - point.alternatives;
        point.path == path.len() && point.first <= from && from < to && usize::from(to) <= last
    };
    let Some(at) = (0..points.len()).find(has) else { return false };
    let begin = points[at].alternatives + usize::from(from - points[at].first);
    alternatives.drain(begin + usize::from(to - from)..);
    alternatives.drain(..begin);
    let point = Point { alternatives: 0, first: from, ..points[at] };
    *points = vec![point];
    true
}

/// So many parts for everybody, at least, if the search has as many.
const PARTS: usize = 32;

/// Divides a search into parts, the same ones in every run, and takes those of one who shares it. What is counted and seen on the way is the first one's.
pub(crate) fn divide<'p, G: Goal<W>, M: Consistency<W>, const W: usize>(
    root: Level<'p, M, W>,
    share: Share,
    (goal, shared): (&mut G, &Shared<'_, Level<'p, M, W>>),
) -> Result<Vec<Level<'p, M, W>>, Halt> {
    let parts = if share.index == 0 {
        spread(root, share, goal, shared)?
    } else {
        spread(root, share, &mut Blind, &unseen(shared.fault, shared.limits, shared.stale_waits))?
    };
    let own = |at: usize| at % usize::from(share.count) == usize::from(share.index);
    Ok(parts.into_iter().enumerate().filter(|(at, _)| own(*at)).map(|(_, level)| level).collect())
}

fn spread<'p, G: Goal<W>, M: Consistency<W>, const W: usize>(
    root: Level<'p, M, W>,
    share: Share,
    goal: &mut G,
    shared: &Shared<'_, Level<'p, M, W>>,
) -> Result<VecDeque<Level<'p, M, W>>, Halt> {
    // Nobody interrupts it: it does not take long.
    let quiet = unseen(shared.fault, shared.limits, shared.stale_waits);
    let mut parts = VecDeque::from([root]);
    while parts.len() < PARTS * usize::from(share.count) {
        let Some(part) = parts.pop_front() else { break };
        let mut search = Search::new(goal, vec![part], &quiet);
        if !search.top().ended {
            search.open()?;
        }
        // One alternative of each point, and the rest of it as a part that comes later.
        if search.top().alternatives.len() == 1 {
            search.take()?;
        }
        search.tell();
        for mut level in search.left() {
            while let Some(one) = level.split_one() {
                parts.push_back(one);
            }
            if !level.ended {
                parts.push_back(level);
            }
        }
    }
    let (counts, done) = quiet.told.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut told = shared.told.lock().unwrap_or_else(PoisonError::into_inner);
    told.0.add(&counts);
    told.1 += done;
    drop(told);
    Ok(parts)
}

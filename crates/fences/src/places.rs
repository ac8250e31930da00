//! The positions that make a difference, and the charts: the programs with a fence at each of them.
//!
//! Two positions are the same place when in every copy of the code one follows the other in a straight line without an access between
//! them: a fence orders the same pairs at either. Only the first of them is a candidate, or every set that has a
//! fence there would be reported once for each.

use std::collections::{BTreeSet, HashMap};

use cyrano_engine::Execution;
use cyrano_ir::{FenceSet, Instr, Op, Program, Span, ThreadId};

use crate::fence::{Fence, Position};
use crate::suite::Suite;
use crate::walk::{Way, walk};

/// A position that makes a difference: its number in [`Places::positions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PlaceId(pub(crate) usize);

/// The places and the charts.
pub(crate) struct Places {
    /// One position per place, in source order.
    pub(crate) positions: Vec<Position>,
    /// Each program with a full fence at every position.
    pub(crate) charts: Vec<Program>,
    /// The place of each position's offset.
    place_of: HashMap<usize, PlaceId>,
}

impl Places {
    /// Builds the charts.
    pub(crate) fn new<S: Suite>(suite: &S) -> Result<Self, String> {
        let everywhere = |position: &Position| Fence { position: position.clone(), kind: FenceSet::FULL };
        Self::of(suite.positions(), |positions| suite.build(&positions.iter().map(everywhere).collect::<Vec<_>>()))
    }

    /// The same for these positions; `build` makes the programs with a fence at each of some.
    pub(crate) fn of(
        mut positions: Vec<Position>,
        build: impl Fn(&[Position]) -> Result<Vec<Program>, String>,
    ) -> Result<Self, String> {
        positions.sort();
        positions.dedup_by_key(|position| position.at);
        let charts = build(&positions)?;
        let heads = heads(&charts, &positions);
        let firsts: BTreeSet<usize> = heads.values().copied().collect();
        let number: HashMap<usize, PlaceId> = firsts.iter().enumerate().map(|(n, at)| (*at, PlaceId(n))).collect();
        let place_of = heads.iter().map(|(at, head)| (*at, number[head])).collect();
        positions.retain(|position| firsts.contains(&position.at));
        Ok(Self { positions, charts, place_of })
    }

    /// Walks a thread of an execution through a chart.
    pub(crate) fn way(&self, chart: &Program, thread: ThreadId, execution: &Execution) -> Result<Way, String> {
        let code = &chart.thread(thread).code;
        let place = |pc: usize| code.get(pc).and_then(inserted).and_then(|at| self.place_of.get(&at).copied());
        walk(chart, thread, &place, execution)
    }
}

/// The offset of an inserted fence; none for everything else, also for the fences of the source.
pub fn inserted(instr: &Instr) -> Option<usize> {
    let Span { start, end } = instr.span;
    (matches!(instr.op, Op::Fence(_)) && start == end).then_some(start as usize)
}

/// For each position that occurs in a chart the first one of its place.
fn heads(charts: &[Program], positions: &[Position]) -> HashMap<usize, usize> {
    let mut occurrences: HashMap<usize, usize> = HashMap::new();
    let mut followed: HashMap<(usize, usize), usize> = HashMap::new();
    for thread in charts.iter().flat_map(|chart| &chart.threads) {
        for run in runs(&thread.code) {
            run.iter().for_each(|at| *occurrences.entry(*at).or_default() += 1);
            run.windows(2).for_each(|pair| *followed.entry((pair[0], pair[1])).or_default() += 1);
        }
    }
    let always = |(first, second): &(usize, usize), times: usize| {
        times == occurrences[first] && times == occurrences[second] && first != second
    };
    let pairs = followed.iter().filter(|(pair, times)| always(pair, **times));
    let before: HashMap<usize, usize> = pairs.map(|((first, second), _)| (*second, *first)).collect();
    let known = positions.iter().map(|position| position.at).filter(|at| occurrences.contains_key(at));
    known.map(|at| (at, head(at, &before))).collect()
}

/// Follows the chain to its start. A chain has no cycle, for code in a straight line has none.
fn head(at: usize, before: &HashMap<usize, usize>) -> usize {
    let mut head = at;
    for _ in 0..before.len() {
        let Some(earlier) = before.get(&head) else { break };
        head = *earlier;
    }
    head
}

/// The maximal runs of inserted fences in straight lines without accesses.
fn runs(code: &[Instr]) -> Vec<Vec<usize>> {
    let targets = targets(code);
    let mut runs = vec![Vec::new()];
    for (pc, instr) in code.iter().enumerate() {
        let breaks = match instr.op {
            Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Fence(_)
            | Op::Assume(_)
            | Op::Assert { .. }
            | Op::Limit { .. } => false,
            // An access, a branch, or the edge of a section or an operation.
            _ => true,
        };
        if breaks || targets.contains(&pc) {
            runs.push(Vec::new());
        }
        if let (Some(at), Some(run)) = (inserted(instr), runs.last_mut()) {
            run.push(at);
        }
    }
    runs
}

fn targets(code: &[Instr]) -> BTreeSet<usize> {
    let of = |instr: &Instr| match &instr.op {
        Op::Branch { then_to, else_to, .. } => vec![then_to.index(), else_to.index()],
        Op::Jump(target) => vec![target.index()],
        _ => Vec::new(),
    };
    code.iter().flat_map(of).collect()
}

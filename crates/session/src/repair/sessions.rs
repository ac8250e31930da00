//! Candidates of one program, put to one solver: for each test and each goal a [`Session`] of the symbolic engine, where that engine is the one to ask.
//!
//! A session has the program with a fence at every position that makes a difference; a candidate is a choice among them. What is true of a session's answers is in
//! `cyrano_symbolic`; here it is only decided who gets one, and how much memory they may take together.
//!
//! The program without inserted fences is asked about in the usual way: if it is correct there is nothing to repair, and no position has to be looked for.
//!
//! **Invariant:** a session is asked only about programs that differ from its own in nothing but inserted fences.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cyrano_engine::{Answer, Limits, Question, Stop, Watch};
use cyrano_fences::repair::{Candidate, Chart};
use cyrano_fences::{Fence, inserted, same_but_for_fences};
use cyrano_ir::{FenceSet, Instr};
use cyrano_symbolic::{Reply, Session};

use crate::run::Runner;

/// A set of more fences is asked about in the usual way: what is learnt about it says little about smaller ones.
const MOST: usize = 32;

/// All sessions of one search.
#[derive(Default)]
pub(super) struct Sessions {
    open: RefCell<BTreeMap<(usize, usize), Session>>,
}

/// The number of the position at this offset.
fn number(chart: &Chart, at: usize) -> Option<u32> {
    let found = chart.positions.iter().position(|position| position.at == at)?;
    u32::try_from(found).ok()
}

/// The positions and kinds of fences; none if one stands elsewhere.
fn chosen(chart: &Chart, fences: &[Fence]) -> Option<Vec<(u32, FenceSet)>> {
    fences.iter().map(|fence| Some((number(chart, fence.position.at)?, fence.kind))).collect()
}

impl Sessions {
    /// Asks the session that a candidate belongs to: the answer, and which of the fences were enough for it if that is known. None if it has to be asked in another way.
    pub(super) fn ask<'c>(
        &self,
        runner: &Runner,
        symbolic_first: bool,
        candidate: &Candidate<'_>,
        chart: &dyn Fn() -> Option<&'c Chart>,
        watch: &dyn Watch,
    ) -> Option<(Answer, Option<Vec<Fence>>)> {
        let Candidate { program: case, goal, fences, query } = candidate;
        let engine = runner.keeping_symbolic(symbolic_first, query)?;
        if fences.is_empty() || runner.stopped().is_some() {
            return None;
        }
        let chart = chart()?;
        let chosen = chosen(chart, fences).filter(|chosen| chosen.len() <= MOST)?;
        let program = chart.programs.get(*case).filter(|program| same_but_for_fences(query.program(), program))?;
        let Question::Holds(property) = query.question() else { return None };
        let mut open = self.open.borrow_mut();
        let key = (*case, *goal);
        let limits = within_memory(&mut open, key, runner.limits());
        let session = match open.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let position = |instr: &Instr| inserted(instr).and_then(|at| number(chart, at));
                entry.insert(Session::new(engine, program.clone(), query.model(), property, position)?)
            }
        };
        let Reply { answer, needed, .. } = session.ask(&chosen, query.program(), &limits, watch);
        if answer.reason == Some(Stop::Memory.into()) {
            // What is kept may be too much where a single question is not.
            open.values_mut().for_each(Session::forget);
            return None;
        }
        let fence = |(position, kind): (u32, FenceSet)| {
            let position = chart.positions[position as usize].clone();
            Fence { position, kind }
        };
        Some((answer, needed.map(|needed| needed.into_iter().map(fence).collect())))
    }
}

/// The limits for one session, with the memory that the others leave it. They are let go when they take more than half of all.
fn within_memory(open: &mut BTreeMap<(usize, usize), Session>, key: (usize, usize), limits: &Limits) -> Limits {
    let others = open.iter().filter(|(other, _)| **other != key).map(|(_, session)| session.bytes());
    let mut taken: u64 = others.sum();
    if taken > limits.memory / 2 {
        open.iter_mut().filter(|(other, _)| **other != key).for_each(|(_, session)| session.forget());
        taken = 0;
    }
    Limits { memory: limits.memory - taken, ..limits.clone() }
}

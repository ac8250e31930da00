//! Calls of base objects as single steps: what each returned, whom it read from, and why a read may have returned any value.
//!
//! A call is several accesses where it looks whether another call is under way. Those that follow one another in the memory order are told
//! as one step; a write of a basic register has a beginning and an end, and is told twice if something happens in between.
//!
//! **Invariant:** every step of a call is either one with a [`BaseCall`] or lies within such a step.

use std::collections::{BTreeMap, HashMap};

use cyrano_engine::{Source, StepFacts};
use cyrano_ir::told::{Answer, Part};
use cyrano_ir::{LocId, ThreadId};

use crate::explain::join;
use crate::record::Parts;
use crate::schema::BaseCall;
use crate::told::{ToldObject, ToldThread};

/// The calls of base objects of an execution, by steps from 0.
#[derive(Default)]
pub(crate) struct Bases {
    /// For each step that begins one, the call.
    pub(crate) calls: HashMap<usize, BaseCall>,
    /// For each other step the one that it lies within.
    pub(crate) within: HashMap<usize, usize>,
}

/// The steps of one call, as far as it was performed.
struct Performed<'a> {
    thread: ThreadId,
    object: &'a ToldObject,
    /// The object itself.
    loc: LocId,
    /// Its step that accesses the object and not a helper; the last such one.
    main: usize,
    steps: Vec<usize>,
    /// Whether it has ended.
    ended: bool,
}

impl Bases {
    pub(crate) fn new(parts: &Parts<'_>, told: &[ToldThread], text: &dyn Fn(&StepFacts) -> String) -> Self {
        let performed = performed(parts, told);
        let facts = &parts.replayed.steps;
        let mut bases = Self::default();
        for call in &performed {
            for run in call.runs() {
                bases.within.extend(run[1..].iter().map(|step| (*step, run[0])));
            }
        }
        for call in &performed {
            let runs = call.runs();
            let source = call.source(facts, &bases.within);
            let target = text(&facts[call.main]);
            let target =
                target.split_once(":=").map(|(target, _)| format!("{} := ", target.trim())).unwrap_or_default();
            let named = call.object.text(parts.program, &parts.program.location(call.loc).name);
            for (at, run) in runs.iter().enumerate() {
                let last = at + 1 == runs.len() && call.ended;
                let part = match (at, last) {
                    (0, true) => "",
                    (0, false) => " begins",
                    (_, true) => " ends",
                    (_, false) => " goes on",
                };
                let access = facts[call.main].access;
                let result = call.object.result(parts.program, access.read, access.written);
                let made = BaseCall {
                    text: format!("{target}{named}{part}"),
                    result: result.filter(|_| last),
                    from: source.filter(|_| last).map(|step| step + 1),
                    last: run[run.len() - 1] + 1,
                    note: call.note(parts, &performed, &bases.within).filter(|_| last),
                };
                bases.calls.insert(run[0], made);
            }
        }
        bases
    }
}

impl Performed<'_> {
    /// The steps in runs that follow one another.
    fn runs(&self) -> Vec<&[usize]> {
        self.steps.chunk_by(|a, b| a + 1 == *b).collect()
    }

    /// The step of the call that wrote what it read.
    fn source(&self, facts: &[StepFacts], within: &HashMap<usize, usize>) -> Option<usize> {
        let read = facts[self.main].access.read;
        match facts[self.main].source {
            Some(Source::Step(step)) if self.object.chosen.or(self.object.other_than(read)).is_none() => {
                Some(within.get(&step).copied().unwrap_or(step))
            }
            _ => None,
        }
    }

    /// Why it returned, or left, any value.
    fn note(&self, parts: &Parts<'_>, all: &[Self], within: &HashMap<usize, usize>) -> Option<String> {
        // What is made gets any name that nobody holds.
        let any = self.object.chosen.filter(|_| !matches!(self.object.answer, Answer::Is(_)));
        any.or(self.object.other_than(parts.replayed.steps[self.main].access.read))?;
        let at = self.steps[0];
        let overlaps = |other: &&Self| {
            let open = other.steps[0] < at && (!other.ended || other.steps.last().is_some_and(|end| *end > at));
            other.thread != self.thread && other.loc == self.loc && other.object.writes() && open
        };
        let who = all.iter().filter(overlaps).map(|other| {
            let begun = within.get(&other.steps[0]).copied().unwrap_or(other.steps[0]) + 1;
            format!("{}'s of step {begun}", parts.program.thread(other.thread).name)
        });
        let who: Vec<String> = who.collect();
        Some(match (self.object.writes(), who.is_empty()) {
            (true, _) => "writes overlapped, so it leaves any value".to_owned(),
            (false, true) => "a write is under way, so it returns any value".to_owned(),
            (false, false) => format!("a write is under way ({}), so it returns any value", join(&who)),
        })
    }
}

/// The calls of which something was performed.
fn performed<'a>(parts: &Parts<'_>, told: &'a [ToldThread]) -> Vec<Performed<'a>> {
    let helpers = &parts.program.told.helpers;
    let facts = &parts.replayed.steps;
    let mut steps: BTreeMap<(ThreadId, u32), usize> = BTreeMap::new();
    for (at, step) in facts.iter().enumerate() {
        steps.insert((step.access.thread, step.access.index), at);
    }
    let mut all = Vec::new();
    for (thread, told) in parts.program.thread_ids().zip(told) {
        for object in told.objects() {
            let known = object.accesses().iter().filter_map(|(po, part)| Some((*steps.get(&(thread, *po))?, *part)));
            let known: Vec<(usize, Part)> = known.collect();
            let mut own: Vec<usize> = known.iter().map(|(step, _)| *step).collect();
            own.sort_unstable();
            let Some(any) = own.last().copied() else { continue };
            let helped = |step: usize| helpers.iter().find(|(helper, _)| *helper == facts[step].loc).map(|(_, of)| *of);
            let main = own.iter().rfind(|step| helped(**step).is_none()).copied();
            // A write that has only begun has touched nothing but helpers.
            let loc = main.map_or_else(|| helped(any).unwrap_or(facts[any].loc), |main| facts[main].loc);
            let two_parts = known.iter().any(|(_, part)| *part == Part::Begin);
            let ended = !two_parts || known.iter().any(|(_, part)| *part == Part::End);
            all.push(Performed { thread, object, loc, main: main.unwrap_or(any), steps: own, ended });
        }
    }
    all
}

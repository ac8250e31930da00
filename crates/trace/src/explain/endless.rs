//! Threads that never end, in words: what the thread does in a round, what it looks at, and whether anybody could still change that.

use std::collections::BTreeSet;

use cyrano_engine::{Fate, Lasso, StepFacts, ThreadEnd};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Liveness, LocId, Op, ThreadId};

use crate::explain::{join, listed, named};
use crate::lines::{Line, Lines};
use crate::record::Parts;
use crate::schema::{Explanation, InRound, NamedValue};
use crate::waits;

/// More locations than this are not named one by one.
const MOST_NAMED: usize = 3;

/// Why an execution that goes on for ever violates termination.
pub(crate) fn explain(parts: &Parts<'_>, lines: &Lines<'_>, lasso: &Lasso, asked: Liveness) -> Explanation {
    let told = Told { parts, lines, lasso, asked };
    let thread = lasso.thread;
    let (name, line) = (told.name(thread), told.line(thread).map(|line| line.number));
    let (sentence, looked_at) = match lasso.fate {
        Fate::Blocked => told.blocked(),
        _ => told.spins(),
    };
    let blocked = told.stands(thread).filter(|_| lasso.fate == Fate::Blocked).map(|at| (thread, at));
    let values = looked_at.iter().map(|(loc, value)| told.location(*loc, *value)).collect();
    Explanation {
        kind: "lasso".to_owned(),
        sentence,
        thread: Some(name),
        line,
        values,
        waits: waits::waits(parts, blocked.as_slice()),
        rounds: parts.program.thread_ids().map(|thread| told.in_round(thread)).collect(),
        ..Explanation::default()
    }
}

struct Told<'a> {
    parts: &'a Parts<'a>,
    lines: &'a Lines<'a>,
    lasso: &'a Lasso,
    asked: Liveness,
}

impl Told<'_> {
    fn name(&self, thread: ThreadId) -> String {
        self.parts.program.thread(thread).name.clone()
    }

    /// The steps of a round, all of them or those of one thread.
    fn round(&self) -> &[StepFacts] {
        let Lasso { stem, round, .. } = self.lasso;
        self.parts.replayed.steps.get(stem.steps..stem.steps + round.steps).unwrap_or_default()
    }

    fn round_of(&self, thread: ThreadId) -> impl Iterator<Item = &StepFacts> {
        self.round().iter().filter(move |step| step.access.thread == thread)
    }

    /// Where a thread stands between two rounds, unless it has ended.
    fn stands(&self, thread: ThreadId) -> Option<InstrId> {
        match self.parts.replayed.ends.get(thread.index()) {
            Some(ThreadEnd::At(instr)) if !matches!(self.parts.program.instr(thread, *instr).op, Op::Halt) => {
                Some(*instr)
            }
            _ => None,
        }
    }

    /// The line at which a thread looks at something in a round, or else the one where it stands.
    fn line(&self, thread: ThreadId) -> Option<Line> {
        let looks = self.round_of(thread).find(|step| step.access.read.is_some()).map(|step| step.instr);
        let at = looks.or_else(|| self.stands(thread))?;
        Some(self.lines.told(self.parts.program.instr(thread, at).span))
    }

    fn at_line(&self, thread: ThreadId) -> String {
        self.line(thread).map_or_else(String::new, |line| format!(" at line {line}"))
    }

    fn location(&self, loc: LocId, value: i128) -> NamedValue {
        let location = self.parts.program.location(loc);
        named(self.parts.program, &location.name, location.ty, Some(value))
    }

    /// What a thread reads in a round, each location once with the values it has there.
    fn looked_at(&self, thread: ThreadId) -> Vec<(LocId, i128)> {
        let reads: BTreeSet<(LocId, i128)> =
            self.round_of(thread).filter_map(|step| Some((step.loc, step.access.read?))).collect();
        reads.into_iter().collect()
    }

    /// From when on: the step with which the round begins.
    fn since(&self) -> String {
        match self.round().is_empty() {
            true => "From then on".to_owned(),
            false => format!("From step {} on", self.lasso.stem.steps + 1),
        }
    }

    fn spins(&self) -> (String, Vec<(LocId, i128)>) {
        let thread = self.lasso.thread;
        let (name, place, from) = (self.name(thread), self.at_line(thread), self.since());
        let reads = self.looked_at(thread);
        let why = match reads.is_empty() {
            true if self.lasso.round.choices.get(thread.index()).is_some_and(|made| *made > 0) => {
                "it makes the same choices again and again, and looks at nothing that others write".to_owned()
            }
            true => "it goes around in a loop in which it looks at nothing that others write".to_owned(),
            false => {
                let values: Vec<NamedValue> = reads.iter().map(|(loc, value)| self.location(*loc, *value)).collect();
                let shown = if values.len() > MOST_NAMED { "the same values".to_owned() } else { listed(&values) };
                let locations = reads.iter().map(|(loc, _)| *loc).collect();
                format!("it reads {shown} again and again, and {}", self.nobody(&locations, reads.len() > 1))
            }
        };
        (format!("{from} {name} spins{place} for ever: {why}."), reads)
    }

    fn blocked(&self) -> (String, Vec<(LocId, i128)>) {
        let thread = self.lasso.thread;
        let (name, place) = (self.name(thread), self.at_line(thread));
        let stands = self.stands(thread).map(|at| (thread, at));
        let reads = waits::locations(self.parts, stands.as_slice());
        let values: Vec<NamedValue> =
            reads.iter().map(|loc| self.location(*loc, self.parts.replayed.memory[loc.index()])).collect();
        let locations: BTreeSet<LocId> = reads.iter().copied().collect();
        let written = self.round().iter().any(|step| locations.contains(&step.loc) && step.access.written.is_some());
        let why = match (values.is_empty(), written) {
            (true, _) => "its section is closed".to_owned(),
            (false, true) => {
                let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
                format!("its section, which looks at {}, is closed again and again", join(&names))
            }
            (false, false) => {
                format!("it finds {}, and {}", listed(&values), self.nobody(&locations, values.len() > 1))
            }
        };
        let reads = reads.into_iter().map(|loc| (loc, self.parts.replayed.memory[loc.index()])).collect();
        (format!("{} {name} waits{place} for ever: {why}.", self.since()), reads)
    }

    /// Who changes these locations, or could, or why nobody does.
    fn nobody(&self, locations: &BTreeSet<LocId>, several: bool) -> String {
        match self.asked {
            Liveness::ObstructionFree => return "does not get done although it runs alone".to_owned(),
            Liveness::LockFree => return "no operation gets done".to_owned(),
            Liveness::WaitFree => return "its operation does not get done".to_owned(),
            Liveness::Termination | Liveness::Passes(_) => {}
        }
        let (it, is) = if several { ("them", "them") } else { ("it", "that") };
        let others = || self.parts.program.thread_ids().filter(|thread| *thread != self.lasso.thread);
        let names = |threads: Vec<ThreadId>| join(&threads.into_iter().map(|t| self.name(t)).collect::<Vec<_>>());
        let writes = |step: &StepFacts| locations.contains(&step.loc) && step.access.written.is_some();
        let writers: Vec<ThreadId> = others().filter(|thread| self.round_of(*thread).any(writes)).collect();
        if !writers.is_empty() {
            return format!("{} writes {it} in every round, at other moments", names(writers));
        }
        let able: Vec<ThreadId> = others().filter(|thread| self.could_write(*thread, locations)).collect();
        if able.is_empty() {
            return match others().all(|thread| self.stands(thread).is_none()) {
                true => format!("nobody will change {is}: every other thread has ended"),
                false => format!("nobody will change {is}: no thread that has not ended writes {it} any more"),
            };
        }
        let does = if able.len() == 1 { "does" } else { "do" };
        let named = names(able);
        format!("nobody changes {is}: {named} could, but never {does}")
    }

    /// Whether a thread that has not ended has a write to one of these locations ahead of it.
    fn could_write(&self, thread: ThreadId, locations: &BTreeSet<LocId>) -> bool {
        let code = &self.parts.program.thread(thread).code;
        let mut seen = vec![false; code.len()];
        let mut work: Vec<InstrId> = self.stands(thread).into_iter().collect();
        while let Some(pc) = work.pop() {
            let Some(instr) = code.get(pc.index()) else { continue };
            if std::mem::replace(&mut seen[pc.index()], true) {
                continue;
            }
            if let Some(access) = instr.op.access().filter(|access| access.kind.writes()) {
                let cells = self.parts.program.cells(&access.addr);
                if locations.iter().any(|loc| cells.contains(&loc.index())) {
                    return true;
                }
            }
            work.extend(successors(&instr.op, pc));
        }
        false
    }

    /// What a thread does in a round, in a few words.
    fn in_round(&self, thread: ThreadId) -> InRound {
        let moves = |counts: &[usize]| counts.get(thread.index()).is_some_and(|count| *count > 0);
        let round = &self.lasso.round;
        let goes_on = moves(&round.issued) || moves(&round.choices) || self.round_of(thread).next().is_some();
        let does = match self.stands(thread) {
            None => "has ended",
            Some(_) if thread == self.lasso.thread => match self.lasso.fate {
                Fate::Blocked => "waits at a section",
                _ => "spins",
            },
            Some(_) if goes_on => "goes on",
            Some(at) if matches!(self.parts.program.instr(thread, at).op, Op::AtomicBegin) => "waits at a section",
            Some(_) if self.asked.stops_threads() => "is stopped",
            Some(_) => "goes on by itself",
        };
        let line = self.stands(thread).and_then(|_| self.line(thread)).map(|line| line.number);
        InRound { thread: self.name(thread), does: does.to_owned(), line }
    }
}

//! What is asked of executions, and the answer that comes of it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::{
    Answer, Blocked, Cause, Cut, Execution, Noted, Query, Question, Stop, Verdict, Violation, decided,
};
use cyrano_ir::{FinalVar, InstrId, Op, Program, Property, Quantifier, ThreadId};

use crate::consistency::Consistency;
use crate::execution::{Form, execution, execution_between};
use crate::freed::{Freed, freed, freed_unordered};
use crate::graph::{Graph, Kind};
use crate::kept::{Seen, Share};
use crate::linear::{Calls, Hunt, SerialOrders};
use crate::names::{Wrong, each_way, give, give_first, is_name};
use crate::races::race;
use crate::rows::{EventId, Row};
use crate::search::Goal;
use crate::thread::Status;
use crate::units::Order;

/// A question on its way to an answer.
pub(crate) struct Asked<'q> {
    query: Query<'q>,
    program: &'q Program,
    question: Question<'q>,
    has_flags: bool,
    form: Form,
    flags: BTreeSet<String>,
    /// Whether a loop was cut off, or the `limit` that did not hold.
    unrolled: bool,
    limited: Option<(ThreadId, InstrId)>,
    ended: bool,
    asserted: bool,
    /// Whether a section waits that has written already, or may choose another way.
    unsure: bool,
    outcomes: BTreeSet<Vec<i128>>,
    /// What is observed of the execution that is looked at.
    shown: Vec<i128>,
    /// What was observed with names, and the name that somebody looked at.
    named: BTreeSet<Vec<i128>>,
    sees: Option<i128>,
    /// What serial executions show, in which orders of calls, if orders count; and an order of calls that is wrong.
    serial: Option<(&'q SerialOrders, Calls)>,
    wrong_order: Vec<(usize, usize)>,
    /// What decides the question.
    decision: Option<(Option<Violation>, Option<Cause>, Execution)>,
}

impl<'q> Asked<'q> {
    pub(crate) fn new(query: &Query<'q>, has_flags: bool, form: Form) -> Self {
        Self {
            query: *query,
            program: query.program(),
            question: query.question(),
            has_flags: has_flags && !matches!(query.question(), Question::Holds(Property::Races)),
            form,
            flags: BTreeSet::new(),
            unrolled: false,
            limited: None,
            ended: false,
            asserted: false,
            unsure: sections_choose(query.program()),
            outcomes: BTreeSet::new(),
            shown: Vec::new(),
            named: BTreeSet::new(),
            sees: None,
            serial: None,
            wrong_order: Vec::new(),
            decision: None,
        }
    }

    /// The same, where what is observed must have been observed in an order of calls.
    pub(crate) fn in_order(self, serial: Option<(&'q SerialOrders, Calls)>) -> Self {
        Self { serial, ..self }
    }

    /// Whether some execution has raised a flag, and nothing has decided the question.
    pub(crate) fn is_flagged(&self) -> bool {
        !self.flags.is_empty() && self.decision.is_none()
    }

    /// The order of calls that is wrong, if that is what was found.
    pub(crate) fn wrong_order(&self) -> &[(usize, usize)] {
        &self.wrong_order
    }

    /// Failed assertions and errors count where the question is about more than final states.
    fn looks_for_errors(&self) -> bool {
        matches!(self.question, Question::Holds(Property::Assertions | Property::Observations(_)))
    }

    /// What goes wrong in a thread, for the question. Whether assertions hold is not asked where only the end is.
    fn wrong<const W: usize>(&self, graph: &Graph<'_, W>, thread: usize) -> Option<Violation> {
        match wrong(graph, thread) {
            Some(Violation::Assertion { .. }) if self.ends() => None,
            found => found.filter(|_| self.looks_for_errors() || self.ends()),
        }
    }

    /// An access to freed memory, and the execution that shows it.
    fn freed<const W: usize>(
        &self,
        graph: &Graph<'_, W>,
        model: &mut impl Consistency<W>,
    ) -> Option<(Violation, Execution)> {
        if !graph.program().has_headers() || self.ends() {
            return None;
        }
        match self.form {
            Form::Related => {
                let violation = freed_unordered(graph, &model.happens_before(graph))?;
                Some((violation, execution(graph, self.form)))
            }
            Form::Ordered(kept) => {
                let Freed { violation, between } = freed(graph, &Order::new(graph, kept)?)?;
                Some((violation, execution_between(graph, kept, between)))
            }
        }
    }

    /// Whether the question is whether all threads end.
    fn ends(&self) -> bool {
        matches!(self.question, Question::Holds(Property::Live(_)))
    }

    /// The threads that do not end, if none can go on: each spins in an iteration that changed nothing, or waits at a section, and has seen the last writes, or such as
    /// only write what is there.
    fn hang<const W: usize>(&mut self, graph: &Graph<'_, W>) -> Option<Vec<Blocked>> {
        let mut blocked = Vec::new();
        let mut last = Row::<W>::EMPTY;
        for (thread, runner) in graph.runners.iter().enumerate() {
            if runner.status() != Some(Status::Done) {
                let (instr, events) = match runner.waits_at() {
                    Some(instr) => (instr, self.waits(graph, thread)?),
                    None => runner.spins_at()?,
                };
                events.iter().for_each(|id| last.insert(*id));
                blocked.push(Blocked { thread: ThreadId::new(thread), instr });
            }
        }
        let is_late = |id: EventId| match (graph.event(id).kind, graph.event(id).loc) {
            (Kind::Read(from), Some(loc)) => {
                let mut later = graph.last(loc);
                while later != from && last.contains(later) {
                    later = graph.event(later).previous;
                }
                later == from
            }
            _ => true,
        };
        (!blocked.is_empty() && last.iter().all(is_late) && !self.unsure).then_some(blocked)
    }

    /// What a thread did in the section that it waits at, if it has only read.
    fn waits<'g, const W: usize>(&mut self, graph: &'g Graph<'_, W>, thread: usize) -> Option<&'g [EventId]> {
        let runner = &graph.runners[thread];
        let events = &runner.events[runner.counted()..];
        let reads = events.iter().all(|id| matches!(graph.event(*id).kind, Kind::Read(_)));
        self.unsure |= !reads;
        reads.then_some(events)
    }

    fn note<const W: usize>(&mut self, graph: &Graph<'_, W>, model: &mut impl Consistency<W>) -> bool {
        let (mut done, mut spins) = (true, true);
        for (thread, runner) in graph.runners.iter().enumerate() {
            self.asserted |= runner.frame().asserted;
            match runner.status() {
                Some(Status::Stopped) => self.unrolled = true,
                Some(Status::Limited(instr)) => {
                    self.limited = self.limited.or(Some((ThreadId::new(thread), instr)));
                }
                _ => {}
            }
            done &= runner.status() == Some(Status::Done);
            spins &= matches!(runner.status(), Some(Status::Done | Status::Spins));
        }
        self.ended |= done;
        if spins && self.has_flags && self.flags.is_empty() {
            self.flags.extend(model.flags(graph));
        }
        done
    }

    fn decide<const W: usize>(
        &mut self,
        graph: &Graph<'_, W>,
        violation: Option<Violation>,
        why: Option<Cause>,
    ) -> ControlFlow<()> {
        self.decision = Some((violation, why, give_first(self.program, execution(graph, self.form))));
        ControlFlow::Break(())
    }

    fn judge_end<const W: usize>(&mut self, graph: &Graph<'_, W>, model: &impl Consistency<W>) -> ControlFlow<()> {
        if matches!(self.question, Question::Outcomes | Question::Holds(Property::Observations(_))) {
            self.shown(graph);
            if self.shown.iter().any(|value| is_name(*value)) {
                return self.judge_ways(graph, model);
            }
        }
        match self.question {
            Question::Outcomes => {
                if !self.outcomes.contains(&*self.shown) {
                    self.outcomes.insert(self.shown.clone());
                }
            }
            Question::Holds(Property::Observations(allowed)) => {
                if !allowed.contains(&self.shown) {
                    let outcome = self.shown.clone();
                    return self.decide(graph, Some(Violation::Observation { outcome }), None);
                }
                let serial = self.serial.as_ref();
                let wrong =
                    serial.and_then(|(serial, calls)| Hunt::new(graph, model, calls).wrong(serial, &self.shown));
                if let Some(wrong) = wrong {
                    self.wrong_order = wrong;
                    let outcome = self.shown.clone();
                    return self.decide(graph, Some(Violation::Observation { outcome }), None);
                }
            }
            Question::Holds(Property::Final { quantifier, cond, .. }) => {
                let truth = cond.eval(&mut |var| Ok(final_value(graph, *var))).map(|value| value != 0);
                let decides = match quantifier {
                    Quantifier::Exists => truth == Ok(true),
                    Quantifier::Never => truth != Ok(false),
                    Quantifier::Always => truth != Ok(true),
                };
                if decides {
                    let violation = (*quantifier != Quantifier::Exists).then_some(Violation::FinalState);
                    return self.decide(graph, violation, truth.err().map(|error| Cause::NoValue(Some(error))));
                }
            }
            Question::Holds(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Judges an execution for every way to give its names values.
    fn judge_ways<const W: usize>(&mut self, graph: &Graph<'_, W>, model: &impl Consistency<W>) -> ControlFlow<()> {
        // Where orders count, executions that show the same are not the same.
        if self.serial.is_none() && !self.named.insert(self.shown.clone()) {
            return ControlFlow::Continue(());
        }
        let Self { program, question, shown, outcomes, decision, form, serial, wrong_order, .. } = self;
        let mut hunt = serial.as_ref().map(|(serial, calls)| (Hunt::new(graph, model, calls), serial));
        if hunt.as_mut().is_some_and(|(hunt, serial)| hunt.is_right_by_name(serial, shown)) {
            return ControlFlow::Continue(());
        }
        let mut is_in_order = |outcome: &[i128]| {
            let found = hunt.as_mut().and_then(|(hunt, serial)| hunt.wrong(serial, outcome));
            *wrong_order = found.unwrap_or_default();
            wrong_order.is_empty()
        };
        let tried = each_way(program, shown, |outcome, value| match question {
            Question::Holds(Property::Observations(allowed)) if allowed.contains(outcome) && is_in_order(outcome) => {
                false
            }
            Question::Holds(_) => {
                let violation = Violation::Observation { outcome: outcome.to_vec() };
                *decision = Some((Some(violation), None, give(execution(graph, *form), value)));
                true
            }
            Question::Outcomes => {
                outcomes.insert(outcome.to_vec());
                false
            }
        });
        if let Err(Wrong::Sees(name)) = tried {
            self.sees = Some(name);
        }
        if self.decision.is_some() || self.sees.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The name that somebody looked at before anything was decided.
    pub(crate) fn sees(&self) -> Option<i128> {
        self.sees.filter(|_| self.decision.is_none())
    }

    /// The threads that wait, if all wait in vain or are done: each has seen the last writes.
    fn deadlock<const W: usize>(&mut self, graph: &Graph<'_, W>) -> Option<Vec<Blocked>> {
        if !self.looks_for_errors() {
            return None;
        }
        let mut blocked = Vec::new();
        for (thread, runner) in graph.runners.iter().enumerate() {
            if runner.status() == Some(Status::Done) {
                continue;
            }
            let instr = runner.waits_at()?;
            let is_last = |id: &EventId| match (graph.event(*id).kind, graph.event(*id).loc) {
                (Kind::Read(from), Some(loc)) => graph.last(loc) == from,
                _ => false,
            };
            if !self.waits(graph, thread)?.iter().all(is_last) {
                return None;
            }
            blocked.push(Blocked { thread: ThreadId::new(thread), instr });
        }
        Some(blocked).filter(|blocked| !blocked.is_empty() && !self.unsure)
    }

    /// Writes down what is observed of an execution.
    fn shown<const W: usize>(&mut self, graph: &Graph<'_, W>) {
        self.shown.clear();
        self.shown.extend(self.program.observed.iter().map(|observable| final_value(graph, observable.var)));
    }

    /// The answer, after a search that ended like this.
    pub(crate) fn answer(self, stopped: Result<(), Stop>, iterations: usize, share: Option<Share>) -> Answer {
        let shows = self.decision.is_some();
        let answer = self.whole_answer(stopped, iterations);
        match share {
            // What was not found may be in the part of somebody else.
            Some(Share { index, count }) if !shows && answer.verdict != Verdict::Unknown => {
                let (verdict, violation, cause) = (Verdict::Bounded, None, Cause::Share(index + 1, count));
                Answer { verdict, violation, reason: Some(cause), ..answer }
            }
            _ => answer,
        }
    }

    fn whole_answer(self, stopped: Result<(), Stop>, iterations: usize) -> Answer {
        if let Some((violation, reason, execution)) = self.decision {
            return decided(violation, reason, execution);
        }
        let cut = self.limited.map(|(thread, instr)| Cut::Limit(thread, instr)).or(self.unrolled.then_some(Cut::Loops));
        let deadlocks = self.unsure.then_some(Cause::NoDeadlocks);
        let (flags, ended, asserted) = (self.flags, self.ended, self.asserted);
        let noted = Noted { flags, cut, left_out: None, ended, asserted, deadlocks };
        Answer { outcomes: self.outcomes, ..noted.answer(&self.query, stopped, iterations) }
    }
}

impl<const W: usize> Goal<W> for Asked<'_> {
    fn found(&mut self, graph: &Graph<'_, W>, model: &mut impl Consistency<W>) -> ControlFlow<()> {
        let sees = graph.runners.iter().find_map(|runner| match runner.status() {
            Some(Status::Sees(name)) => Some(name),
            _ => None,
        });
        if sees.is_some() {
            self.sees = sees;
            return ControlFlow::Break(());
        }
        let done = self.note(graph, model);
        match self.freed(graph, model) {
            Some((violation, execution)) if self.looks_for_errors() => {
                self.decision = Some((Some(violation), None, give_first(self.program, execution)));
                return ControlFlow::Break(());
            }
            // How a wrong execution ends is not looked at.
            Some(_) if !matches!(self.question, Question::Holds(Property::Races)) => return ControlFlow::Continue(()),
            _ => {}
        }
        if let Some(violation) = (0..graph.runners.len()).find_map(|thread| self.wrong(graph, thread)) {
            return self.decide(graph, Some(violation), None);
        }
        if matches!(self.question, Question::Holds(Property::Races))
            && let Some(violation) = model.race(graph).and_then(|pair| race(graph, pair))
        {
            return self.decide(graph, Some(violation), None);
        }
        if done {
            return self.judge_end(graph, model);
        }
        if let Some(blocked) = self.hang(graph).filter(|_| self.ends()) {
            let mut shown = graph.clone();
            shown.go_round();
            return self.decide(&shown, Some(Violation::Deadlock { blocked }), None);
        }
        match self.deadlock(graph) {
            Some(blocked) => self.decide(graph, Some(Violation::Deadlock { blocked }), None),
            None => ControlFlow::Continue(()),
        }
    }

    fn is_wrong(&self, graph: &Graph<'_, W>, thread: usize) -> bool {
        // Whether somebody comes between what belongs together is known at the end only; that a name is looked at ends the search in any case.
        matches!(graph.runners[thread].status(), Some(Status::Sees(_)))
            || self.wrong(graph, thread).is_some() && !graph.has_units()
    }

    fn join(&mut self, other: Self) {
        self.flags.extend(other.flags);
        self.unrolled |= other.unrolled;
        self.limited = self.limited.or(other.limited);
        self.ended |= other.ended;
        self.asserted |= other.asserted;
        self.unsure |= other.unsure;
        self.outcomes.extend(other.outcomes);
        self.named.extend(other.named);
        self.sees = self.sees.or(other.sees);
        if self.decision.is_none() {
            (self.decision, self.wrong_order) = (other.decision, other.wrong_order);
        }
    }

    fn seen(&self) -> Seen {
        let Self { flags, unrolled, limited, ended, asserted, unsure, outcomes, .. } = self;
        let (flags, outcomes) = (flags.clone(), outcomes.clone());
        let (unrolled, limited, ended, asserted, unsure) = (*unrolled, *limited, *ended, *asserted, *unsure);
        Seen { flags, unrolled, limited, ended, asserted, unsure, outcomes }
    }

    fn has_seen(&mut self, seen: &Seen) {
        self.flags.extend(seen.flags.iter().cloned());
        self.unrolled |= seen.unrolled;
        self.limited = self.limited.or(seen.limited);
        self.ended |= seen.ended;
        self.asserted |= seen.asserted;
        self.unsure |= seen.unsure;
        self.outcomes.extend(seen.outcomes.iter().cloned());
    }
}

/// Whether a section that may wait has a choice, so that it might not have to.
fn sections_choose(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
        let mut begins = begins.map(|(at, _)| InstrId::new(at)).filter(|at| thread.section_may_wait(*at));
        begins.any(|at| thread.section_has(at, |_, op| matches!(op, Op::Choose { .. })))
    })
}

/// What goes wrong in a thread of a graph.
fn wrong<const W: usize>(graph: &Graph<'_, W>, thread: usize) -> Option<Violation> {
    let runner = &graph.runners[thread];
    let thread = ThreadId::new(thread);
    match (runner.frame().failed, runner.status()) {
        (Some(instr), _) => Some(Violation::Assertion { thread, instr }),
        (None, Some(Status::Failed(instr, error))) => Some(Violation::Error { thread, instr, error }),
        (None, _) => None,
    }
}

fn final_value<const W: usize>(graph: &Graph<'_, W>, var: FinalVar) -> i128 {
    match var {
        FinalVar::Loc(loc) => graph.final_value(loc),
        FinalVar::Reg(thread, register) => {
            graph.runners[thread.index()].registers(&graph.code[thread.index()])[register.index()]
        }
    }
}

/// Keeps every execution in which all threads come to their end.
#[derive(Default)]
pub(crate) struct All(pub(crate) Vec<Execution>);

impl<const W: usize> Goal<W> for All {
    fn found(&mut self, graph: &Graph<'_, W>, _: &mut impl Consistency<W>) -> ControlFlow<()> {
        if graph.runners.iter().all(|runner| runner.status() == Some(Status::Done)) {
            self.0.push(execution(graph, Form::Related));
        }
        ControlFlow::Continue(())
    }

    fn is_wrong(&self, _: &Graph<'_, W>, _: usize) -> bool {
        false
    }

    fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

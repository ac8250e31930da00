//! From what was found out to the verdict: what decides, what the bounds leave open, and whether anything was exercised.

use std::collections::BTreeSet;
use std::time::Instant;

use cyrano_engine::{Answer, Cause, Question, Stop, Verdict, Violation, limit_reason, vacuity};
use cyrano_ir::{Program, Property, Quantifier};

use super::{Ask, Cut, Decision, Findings, Last};
use crate::execute::event::LoopKey;
use crate::formula::encode::Encoding;
use crate::formula::lit::{Lit, TRUE};
use crate::solve::solver::{Found, Solver};

impl Ask<'_> {
    /// The verdict.
    pub(super) fn judge(&mut self, findings: Findings, searched: Result<(), Cut>) -> Answer {
        if let Some(decision) = findings.decision {
            return self.decided(decision);
        }
        let settled = searched
            .and_then(|()| if self.given_up.is_empty() { Ok(()) } else { Err(Cut::Loops(self.given_up.clone())) });
        let settled = settled.and_then(|()| self.last.take().ok_or(Cut::Internal));
        let mut answer = match settled {
            Ok(mut last) => {
                let mut answer = self.complete(&mut last);
                let complete = matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous);
                if complete && self.chosen.is_none() && !self.asks_for_outcomes() {
                    answer.unreached = self.unreached(&mut last);
                }
                self.note(&mut last);
                self.last = Some(last);
                answer
            }
            Err(Cut::Stopped(stop)) => Answer::new(Verdict::Unknown, Some(stop.into())),
            Err(Cut::Internal) => {
                let reason = "the program does not do what the solver's model says";
                Answer::new(Verdict::Unknown, Some(Cause::Internal(reason)))
            }
            Err(Cut::Loops(loops)) => self.beyond(&loops),
        };
        answer.outcomes = findings.outcomes;
        answer
    }

    /// Whether executions with outcomes that were found are not asked for again.
    pub(super) fn asks_for_outcomes(&self) -> bool {
        matches!(self.query.question(), Question::Outcomes)
    }

    fn decided(&self, decision: Decision) -> Answer {
        let verdict = if decision.violation.is_some() { Verdict::Violated } else { Verdict::Verified };
        let reason = decision.undefined.then_some(Cause::NoValue(None));
        Answer {
            violation: decision.violation,
            execution: Some(decision.decoded.execution),
            ..Answer::new(verdict, reason)
        }
    }

    /// Loops go on beyond their bounds. Nothing can be claimed of a program whose executions raise a flag, bounded or not.
    fn beyond(&mut self, loops: &BTreeSet<LoopKey>) -> Answer {
        let flags = self.last.take().map(|mut last| {
            let flags = self.flags(&mut last);
            self.last = Some(last);
            flags.unwrap_or_default()
        });
        let flags = flags.unwrap_or_default();
        if !flags.is_empty() && !self.asks_for_outcomes() {
            return flagged(flags);
        }
        let places = loops.iter().map(|key| (key.thread, key.head)).collect();
        Answer { places, flags, ..Answer::new(Verdict::Bounded, Some(self.bound(loops))) }
    }

    /// The reason for a verdict that is bounded by loops.
    fn bound(&self, loops: &BTreeSet<LoopKey>) -> Cause {
        let names: BTreeSet<&str> = loops.iter().map(|key| &*self.query.program().thread(key.thread).name).collect();
        let threads = names.into_iter().map(str::to_owned).collect();
        Cause::Unrolled { threads, times: self.most_iterations() }
    }

    /// The bounds are sufficient. What remains are limits of the program, and whether anything was exercised.
    fn complete(&mut self, last: &mut Last) -> Answer {
        let started = Instant::now();
        let answer = self.complete_within(last);
        self.stats.solve_seconds += started.elapsed().as_secs_f64();
        answer
    }

    /// The flags that some execution raises which runs to its end.
    fn flags(&mut self, last: &mut Last) -> Result<BTreeSet<String>, Stop> {
        let none = last.encoding.relational.as_ref().is_none_or(|relational| relational.flags.is_empty());
        // Who asks about races has been told of the flag that matters.
        if none || matches!(self.query.question(), Question::Holds(Property::Races)) {
            return Ok(BTreeSet::new());
        }
        // Executions with outcomes that were found are not asked for again, and may raise flags.
        let mut again = self.asks_for_outcomes().then(|| self.load());
        let Last { encoding, solver, .. } = again.as_mut().unwrap_or(last);
        let mut flags = BTreeSet::new();
        for (name, raised) in encoding.relational.iter().flat_map(|relational| &relational.flags) {
            match solver.solve(&[*raised, encoding.complete]) {
                Found::Model => drop(flags.insert(name.clone())),
                Found::Stopped(stop) => return Err(stop),
                Found::Nothing => {}
            }
        }
        Ok(flags)
    }

    fn complete_within(&mut self, last: &mut Last) -> Answer {
        let Last { encoding, solver, .. } = last;
        let selected = self.selected(encoding);
        let needed = &mut self.needed;
        let mut solve = |lit: Lit| {
            let found = solver.solve(&[&selected[..], &[lit]].concat());
            if found == Found::Nothing {
                needed.extend(solver.core(&selected));
            }
            found
        };
        for (thread, instr, lit) in &encoding.run.limits {
            match solve(*lit) {
                Found::Model => {
                    return Answer::new(Verdict::Bounded, Some(limit_reason(self.query.program(), *thread, *instr)));
                }
                Found::Stopped(stop) => return Answer::new(Verdict::Unknown, Some(stop.into())),
                Found::Nothing => {}
            }
        }
        let mut vague_waits = encoding.run.vague_waits;
        for waits in &encoding.run.setup_waits {
            match solve(*waits) {
                Found::Model => vague_waits = true,
                Found::Stopped(stop) => return Answer::new(Verdict::Unknown, Some(stop.into())),
                Found::Nothing => {}
            }
        }
        if encoding.run.vague_scopes {
            let reason = "the program jumps into a branch whose end is not known";
            return Answer::new(Verdict::Unknown, Some(Cause::Internal(reason)));
        }
        let flags = match self.flags(last) {
            Ok(flags) => flags,
            Err(stop) => return Answer::new(Verdict::Unknown, Some(stop.into())),
        };
        let Last { encoding, solver, .. } = last;
        let Question::Holds(property) = self.query.question() else {
            return Answer { flags, ..Answer::new(Verdict::Verified, None) };
        };
        if !flags.is_empty() {
            return flagged(flags);
        }
        let mut solve = |lit: Lit| {
            let found = solver.solve(&[&selected[..], &[lit]].concat());
            if found == Found::Nothing {
                self.needed.extend(solver.core(&selected));
            }
            found
        };
        let (exercised, nothing) = exercise(self.query.program(), property, encoding, self.did);
        let waits = *property == Property::Assertions && self.problem.program.may_wait();
        let mut reached = if waits { Found::Model } else { Found::Nothing };
        for lit in exercised {
            if reached == Found::Nothing {
                reached = solve(lit);
            }
        }
        match (reached, self.query.question()) {
            (Found::Stopped(stop), _) => Answer::new(Verdict::Unknown, Some(stop.into())),
            (Found::Nothing, _) if !vague_waits => Answer::new(Verdict::Vacuous, Some(Cause::Nothing(nothing))),
            (Found::Model, Question::Holds(Property::Final { quantifier: Quantifier::Exists, .. })) => {
                Answer { violation: Some(Violation::NoWitness), ..Answer::new(Verdict::Violated, None) }
            }
            (Found::Nothing | Found::Model, _) if vague_waits => {
                Answer::new(Verdict::Bounded, Some(Cause::NoDeadlocks))
            }
            _ if self.problem.program.may_wait() && encoding.relational.is_some() && is_about_steps(property) => {
                let model = self.query.model().name.clone();
                Answer::new(Verdict::Bounded, Some(Cause::NoDeadlocksUnder(model)))
            }
            (Found::Nothing | Found::Model, _) => Answer::new(Verdict::Verified, None),
        }
    }
}

/// The program has no meaning.
fn flagged(flags: BTreeSet<String>) -> Answer {
    let reason = Cause::Flagged(flags.iter().cloned().collect());
    Answer { flags, ..Answer::new(Verdict::Unknown, Some(reason)) }
}

/// Whether threads that wait for ever would violate a property.
fn is_about_steps(property: &Property) -> bool {
    matches!(property, Property::Assertions | Property::Observations(_) | Property::Live(_))
}

/// What has to be possible for a property to be exercised, one of these, and why it is vacuous otherwise; see [`vacuity`].
pub(super) fn exercise(
    program: &Program,
    property: &Property,
    encoding: &Encoding,
    did: vacuity::Did,
) -> (Vec<Lit>, &'static str) {
    match property {
        Property::Transactions(criterion) => match vacuity::idle_transactions(program, did) {
            Some(idle) => (Vec::new(), idle),
            None if criterion.judges_prefixes() => (vec![TRUE], vacuity::NO_END),
            None => (vec![encoding.complete], vacuity::NO_END),
        },
        Property::Assertions if vacuity::can_go_wrong(program) => {
            (vec![encoding.asserted, encoding.complete], vacuity::NO_ASSERTION_REACHED)
        }
        Property::Assertions => (Vec::new(), vacuity::NO_ASSERTION),
        Property::Observations(_) if program.observed.is_empty() => (Vec::new(), vacuity::NOTHING_OBSERVED),
        // They are looked for in executions that never end, too.
        Property::Races if vacuity::can_conflict(program) => (vec![TRUE], vacuity::NONE_ALLOWED),
        Property::Races => (vec![encoding.complete], vacuity::NO_CONFLICT),
        _ => (vec![encoding.complete], vacuity::NO_END),
    }
}

//! What is asked of executions, and the answer that comes of it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::{Answer, Cause, Execution, Query, Question, Stop, Verdict, Violation, limit_reason, vacuity};
use cyrano_ir::{FinalVar, InstrId, Observable, Program, Property, Quantifier, ThreadId};

use crate::consistency::Consistency;
use crate::graph::Graph;
use crate::search::Goal;
use crate::thread::Status;

/// A question on its way to an answer.
pub(crate) struct Asked<'q> {
    program: &'q Program,
    question: Question<'q>,
    model: &'q str,
    has_flags: bool,
    flags: BTreeSet<String>,
    /// Whether a loop was cut off, or the `limit` that did not hold.
    unrolled: bool,
    limited: Option<(ThreadId, InstrId)>,
    ended: bool,
    asserted: bool,
    outcomes: BTreeSet<Vec<i128>>,
    /// What decides the question.
    decision: Option<(Option<Violation>, Option<Cause>, Execution)>,
}

impl<'q> Asked<'q> {
    pub(crate) fn new(query: &Query<'q>, has_flags: bool) -> Self {
        Self {
            program: query.program(),
            question: query.question(),
            model: &query.model().name,
            has_flags,
            flags: BTreeSet::new(),
            unrolled: false,
            limited: None,
            ended: false,
            asserted: false,
            outcomes: BTreeSet::new(),
            decision: None,
        }
    }

    /// Failed assertions and errors count where the question is about more than final states.
    fn looks_for_errors(&self) -> bool {
        matches!(self.question, Question::Holds(Property::Assertions | Property::Observations(_)))
    }

    fn note(&mut self, graph: &Graph<'_>, judge: &mut dyn Consistency) -> bool {
        let mut done = true;
        for runner in &graph.runners {
            self.asserted |= runner.asserted;
            match runner.status() {
                Some(Status::Stopped) => self.unrolled = true,
                Some(Status::Limited(instr)) => self.limited = self.limited.or(Some((runner.thread, instr))),
                _ => {}
            }
            done &= runner.status() == Some(Status::Done);
        }
        self.ended |= done;
        if done && self.has_flags {
            self.flags.extend(judge.flags(graph));
        }
        done
    }

    fn decide(&mut self, graph: &Graph<'_>, violation: Option<Violation>, why: Option<Cause>) -> ControlFlow<()> {
        self.decision = Some((violation, why, graph.execution()));
        ControlFlow::Break(())
    }

    fn judge_end(&mut self, graph: &Graph<'_>) -> ControlFlow<()> {
        let memory = graph.memory();
        match self.question {
            Question::Outcomes => {
                self.outcomes.insert(outcome(&self.program.observed, graph, &memory));
            }
            Question::Holds(Property::Observations(allowed)) => {
                let shown = outcome(&self.program.observed, graph, &memory);
                if !allowed.contains(&shown) {
                    return self.decide(graph, Some(Violation::Observation { outcome: shown }), None);
                }
            }
            Question::Holds(Property::Final { quantifier, cond, .. }) => {
                let truth = cond.eval(&mut |var| Ok(final_value(graph, &memory, *var))).map(|value| value != 0);
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

    /// The answer, after a search that ended like this.
    pub(crate) fn answer(self, stopped: Result<(), Stop>, iterations: usize) -> Answer {
        if let Some((violation, reason, execution)) = self.decision {
            let verdict = if violation.is_some() { Verdict::Violated } else { Verdict::Verified };
            return Answer { violation, execution: Some(execution), ..Answer::new(verdict, reason) };
        }
        let settled = match (stopped, self.limited, self.unrolled) {
            (Err(stop), ..) => Answer::new(Verdict::Unknown, Some(stop.into())),
            (Ok(()), Some((thread, instr)), _) => {
                Answer::new(Verdict::Bounded, Some(limit_reason(self.program, thread, instr)))
            }
            (Ok(()), None, true) => {
                let cause = Cause::Unrolled { threads: Vec::new(), times: iterations };
                Answer::new(Verdict::Bounded, Some(cause))
            }
            (Ok(()), None, false) => Answer::new(Verdict::Verified, None),
        };
        let settled = Answer { flags: self.flags.clone(), outcomes: self.outcomes.clone(), ..settled };
        match self.question {
            Question::Outcomes => settled,
            Question::Holds(property) => self.claimed(property, settled),
        }
    }

    /// The answer about a claim that nothing was found against.
    fn claimed(&self, property: &Property, settled: Answer) -> Answer {
        if settled.verdict == Verdict::Unknown {
            return settled;
        }
        if !settled.flags.is_empty() {
            let reason = Cause::Flagged(settled.flags.iter().cloned().collect());
            return Answer { flags: settled.flags, ..Answer::new(Verdict::Unknown, Some(reason)) };
        }
        if settled.verdict != Verdict::Verified {
            return settled;
        }
        let nothing = |what| Answer::new(Verdict::Vacuous, Some(Cause::Nothing(what)));
        let waits = self.program.may_wait();
        match property {
            Property::Final { .. } | Property::Observations(_) if !self.ended => return nothing(vacuity::NO_END),
            Property::Final { quantifier: Quantifier::Exists, .. } => {
                let violation = Some(Violation::NoWitness);
                return Answer { violation, ..Answer::new(Verdict::Violated, None) };
            }
            Property::Final { .. } => return settled,
            Property::Observations(_) if self.program.observed.is_empty() => return nothing(vacuity::NOTHING_OBSERVED),
            Property::Assertions if waits => {}
            Property::Assertions if !vacuity::can_go_wrong(self.program) => return nothing(vacuity::NO_ASSERTION),
            Property::Assertions if !self.asserted && !self.ended => return nothing(vacuity::NO_ASSERTION_REACHED),
            _ => {}
        }
        if waits {
            return Answer::new(Verdict::Bounded, Some(Cause::NoDeadlocksUnder(self.model.to_owned())));
        }
        settled
    }
}

impl Goal for Asked<'_> {
    fn found(&mut self, graph: &Graph<'_>, judge: &mut dyn Consistency) -> ControlFlow<()> {
        let done = self.note(graph, judge);
        if self.looks_for_errors()
            && let Some(violation) = wrong(graph)
        {
            return self.decide(graph, Some(violation), None);
        }
        if done { self.judge_end(graph) } else { ControlFlow::Continue(()) }
    }

    fn is_wrong(&self, graph: &Graph<'_>) -> bool {
        self.looks_for_errors() && wrong(graph).is_some()
    }
}

/// What goes wrong in a graph.
fn wrong(graph: &Graph<'_>) -> Option<Violation> {
    graph.runners.iter().find_map(|runner| {
        let thread = runner.thread;
        match (runner.failed, runner.status()) {
            (Some(instr), _) => Some(Violation::Assertion { thread, instr }),
            (None, Some(Status::Failed(instr, error))) => Some(Violation::Error { thread, instr, error }),
            (None, _) => None,
        }
    })
}

fn final_value(graph: &Graph<'_>, memory: &[i128], var: FinalVar) -> i128 {
    match var {
        FinalVar::Loc(loc) => memory[loc.index()],
        FinalVar::Reg(thread, register) => graph.runners[thread.index()].registers[register.index()],
    }
}

fn outcome(observed: &[Observable], graph: &Graph<'_>, memory: &[i128]) -> Vec<i128> {
    observed.iter().map(|observable| final_value(graph, memory, observable.var)).collect()
}

/// Keeps every execution in which all threads come to their end.
#[derive(Default)]
pub(crate) struct All(pub(crate) Vec<Execution>);

impl Goal for All {
    fn found(&mut self, graph: &Graph<'_>, _: &mut dyn Consistency) -> ControlFlow<()> {
        if graph.runners.iter().all(|runner| runner.status() == Some(Status::Done)) {
            self.0.push(graph.execution());
        }
        ControlFlow::Continue(())
    }

    fn is_wrong(&self, _: &Graph<'_>) -> bool {
        false
    }
}

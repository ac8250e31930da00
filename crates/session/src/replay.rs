//! A saved trace, replayed from nothing but itself.
//!
//! **Invariant:** a trace that leaves this file as confirmed is one that [`Trace::build`] made of an execution that `cyrano_interp::confirm` has agreed to, and
//! everything that the file says about the execution is borne out by it.

use std::collections::BTreeMap;

use cyrano_engine::{Execution, Question, Violation};
use cyrano_ir::Property;
use cyrano_memory::Model;
use cyrano_report::{ReplayReport, visible};
use cyrano_trace::{Misfit, Trace, TraceError, Version};

use crate::atomicity;
use crate::case::Case;
use crate::failure::Failure;
use crate::frontend::{self, Saved};
use crate::source::{Files, Source};

/// A trace that was read, replayed: the one that the replay gives, or the same one with what is wrong with it.
pub fn replayed(trace: Trace) -> Trace {
    match Own::restore(trace.clone(), &|error| Failure::Input(format!("it cannot be used: {error}"))) {
        Ok(own) => own.replay().trace,
        Err(failure) => trace.doubted(format!("it cannot be replayed: {}", first_line(&failure))),
    }
}

/// What a failure says first.
fn first_line(failure: &Failure) -> String {
    match failure {
        Failure::Input(message) | Failure::Internal(message) => {
            message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
        }
        Failure::Source(_, errors) => {
            errors.first().map(|error| format!("Error: {}", visible(&error.message))).unwrap_or_default()
        }
        Failure::Several(all) => all.first().map(first_line).unwrap_or_default(),
    }
}

/// A trace with its own program, compiled again.
pub struct Own {
    /// The trace as it was read.
    pub trace: Trace,
    set: Vec<(String, i128)>,
    case: Case,
    model: Model,
    property: Property,
    violation: Option<Violation>,
    execution: Execution,
}

impl Own {
    /// Compiles the program of a trace and finds everything in it that the trace names.
    pub fn restore(trace: Trace, unusable: &dyn Fn(TraceError) -> Failure) -> Result<Self, Failure> {
        let set: Vec<(String, i128)> = trace.program.set.clone().into_iter().collect();
        let source = Source { name: trace.program.file.clone(), text: trace.program.source.clone(), dir: None };
        let test = trace.program.test.as_ref();
        let none = BTreeMap::new();
        let files = Saved(test.map_or(&none, |test| &test.includes));
        let case = frontend::of(&source).again(&source, &set, test, &files)?;
        let case = atomicity::shown_in(&trace, case);
        let model = trace.memory_model().map_err(unusable)?;
        let property = trace.find_property(&case.program).map_err(unusable)?;
        let case = case.for_question(Some(&property), &model).into_owned();
        case.query(&model, Question::Holds(&property))?;
        let violation = trace.find_violation(&case.program).map_err(unusable)?;
        let execution = trace.execution().map_err(unusable)?;
        Ok(Self { trace, set, case, model, property, violation, execution })
    }

    fn version(&self) -> Version<'_> {
        Version { program: &self.case.program, source: &self.case.source.text }
    }

    /// Replays it.
    pub fn replay(&self) -> ReplayReport {
        let again = self.confirm(&self.case, &self.property, self.violation.as_ref()).and_then(|again| {
            let difference = self.trace.first_difference(&again);
            difference.map_or(Ok(again), |what| Err(Box::new(Misfit::new(what))))
        });
        self.report(again, None)
    }

    fn report(&self, again: Result<Trace, Box<Misfit>>, against: Option<String>) -> ReplayReport {
        match again {
            Ok(trace) => ReplayReport { trace, against, misfit: None },
            Err(misfit) => {
                let trace = self.trace.clone().doubted(format!("replaying it fails: {}", misfit.sentence));
                ReplayReport { trace, against, misfit: Some(*misfit) }
            }
        }
    }

    /// The trace of the same execution of a program, if it is one of it and shows the violation.
    fn confirm(&self, case: &Case, property: &Property, violation: Option<&Violation>) -> Result<Trace, Box<Misfit>> {
        let program = &case.program;
        let replayed = cyrano_interp::confirm(program, &self.model, property, violation, &self.execution);
        let replayed = replayed.map_err(|why| Box::new(self.explained(&why.to_string(), case)))?;
        let mut trace = case.trace(program, (property, &self.model), violation, (&self.execution, &replayed));
        trace.tool.version.clone_from(&self.trace.tool.version);
        Ok(atomicity::renamed_as(&self.trace, trace))
    }

    /// The interpreter's reason, its steps numbered from 1 as everywhere else, with lines.
    fn explained(&self, why: &str, case: &Case) -> Misfit {
        let numbered = why.strip_prefix("step ").and_then(|rest| rest.split_once(": "));
        let Some((step, what)) = numbered.and_then(|(n, rest)| Some((n.parse::<usize>().ok()? + 1, rest))) else {
            return Misfit::new(why);
        };
        let Some(recorded) = step.checked_sub(1).and_then(|at| self.trace.steps.get(at)) else {
            return Misfit::new(why);
        };
        let now = Version { program: &case.program, source: &case.source.text };
        let line_now = self.trace.line_now(&self.execution, step, now);
        let moved = line_now.filter(|line| *line != recorded.line).map(|line| format!(", now line {line}"));
        let place = format!("{}, line {}{}", recorded.thread, recorded.line, moved.unwrap_or_default());
        Misfit {
            step: Some(step),
            thread: Some(recorded.thread.clone()),
            line_recorded: Some(recorded.line),
            line_now,
            ..Misfit::new(format!("step {step} ({place}): {what}"))
        }
    }

    /// The same execution against a later version of the program.
    pub fn replay_against(&self, name: &str, files: &dyn Files) -> Result<ReplayReport, Failure> {
        let source = files.open(name)?;
        // What the file includes now, not what it included then.
        let case = frontend::of(&source).again(&source, &self.set, self.trace.program.test.as_ref(), files)?;
        let case = atomicity::shown_in(&self.trace, case);
        let case = case.for_question(Some(&self.property), &self.model);
        case.query(&self.model, Question::Holds(&self.property))?;
        Ok(self.report(self.against(&case), Some(name.to_owned())))
    }

    fn against(&self, case: &Case) -> Result<Trace, Box<Misfit>> {
        let words = |error: TraceError| Box::new(Misfit::new(error.to_string()));
        if let Some(misfit) = self.trace.misfit_of_threads(&case.program) {
            return Err(Box::new(misfit));
        }
        let now = Version { program: &case.program, source: &case.source.text };
        if let Some(misfit) = self.trace.misfit_of_steps(&self.execution, now) {
            return Err(Box::new(misfit));
        }
        let property = self.trace.find_property(&case.program).map_err(words)?;
        let violation = self.trace.carry_over(self.version(), now).map_err(words)??;
        self.confirm(case, &property, violation.as_ref())
    }
}

//! A saved trace, replayed from nothing but itself.
//!
//! **Invariant:** a trace that leaves this file as confirmed is one that [`Trace::build`] made of an execution that `cyrano_interp::confirm` has agreed to, and
//! everything that the file says about the execution is borne out by it.

use cyrano_engine::{Execution, Question, Violation};
use cyrano_ir::Property;
use cyrano_memory::Model;
use cyrano_report::ReplayReport;
use cyrano_trace::{Misfit, Parts, TestInfo, Trace, TraceError, Version};

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::program::Loaded;
use crate::source::{self, Source};
use crate::{atomicity, program};

/// A trace that was read, replayed: the one that the replay gives, or the same one with what is wrong with it.
pub fn replayed(trace: Trace) -> Trace {
    let unusable = |error: TraceError| Failure::Input(format!("it cannot be used: {error}"));
    match Own::restore(trace.clone(), ColorChoice::Never, &unusable) {
        Ok(own) => own.replay().trace,
        Err(failure) => {
            let why = failure.message().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            trace.doubted(format!("it cannot be replayed: {why}"))
        }
    }
}

/// A trace with its own program, compiled again.
pub struct Own {
    /// The trace as it was read.
    pub trace: Trace,
    set: Vec<(String, i128)>,
    loaded: Loaded,
    model: Model,
    property: Property,
    violation: Option<Violation>,
    execution: Execution,
}

impl Own {
    /// Compiles the program of a trace and finds everything in it that the trace names.
    pub fn restore(
        trace: Trace,
        color: ColorChoice,
        unusable: &dyn Fn(TraceError) -> Failure,
    ) -> Result<Self, Failure> {
        let set: Vec<(String, i128)> = trace.program.set.clone().into_iter().collect();
        let source = Source { name: trace.program.file.clone(), text: trace.program.source.clone(), dir: None };
        let loaded = program::compile_saved(source, &set, trace.program.test.as_ref(), color)?;
        let loaded = atomicity::shown_in(&trace, loaded);
        let model = trace.memory_model().map_err(unusable)?;
        let property = trace.find_property(&loaded.program).map_err(unusable)?;
        let loaded = loaded.for_question(Some(&property)).into_owned();
        loaded.query(&model, Question::Holds(&property))?;
        let violation = trace.find_violation(&loaded.program).map_err(unusable)?;
        let execution = trace.execution().map_err(unusable)?;
        Ok(Self { trace, set, loaded, model, property, violation, execution })
    }

    fn version(&self) -> Version<'_> {
        Version { program: &self.loaded.program, source: &self.loaded.source.text }
    }

    /// Replays it.
    pub fn replay(&self) -> ReplayReport {
        let again = self.confirm(&self.loaded, &self.property, self.violation.as_ref()).and_then(|again| {
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
    fn confirm(
        &self,
        loaded: &Loaded,
        property: &Property,
        violation: Option<&Violation>,
    ) -> Result<Trace, Box<Misfit>> {
        let program = &loaded.program;
        let replayed = cyrano_interp::confirm(program, &self.model, property, violation, &self.execution);
        let replayed = replayed.map_err(|why| Box::new(self.explained(&why.to_string(), loaded)))?;
        let trace = Trace::build(&Parts {
            version: &self.trace.tool.version,
            file: &loaded.source.name,
            source: &loaded.source.text,
            set: &self.set,
            test: loaded.test.as_ref(),
            program,
            model: &self.model,
            property,
            violation,
            execution: &self.execution,
            replayed: &replayed,
        });
        Ok(atomicity::renamed_as(&self.trace, trace))
    }

    /// The interpreter's reason, its steps numbered from 1 as everywhere else, with lines.
    fn explained(&self, why: &str, loaded: &Loaded) -> Misfit {
        let numbered = why.strip_prefix("step ").and_then(|rest| rest.split_once(": "));
        let Some((step, what)) = numbered.and_then(|(n, rest)| Some((n.parse::<usize>().ok()? + 1, rest))) else {
            return Misfit::new(why);
        };
        let Some(recorded) = step.checked_sub(1).and_then(|at| self.trace.steps.get(at)) else {
            return Misfit::new(why);
        };
        let now = Version { program: &loaded.program, source: &loaded.source.text };
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
    pub fn replay_against(&self, name: &str, color: ColorChoice) -> Result<ReplayReport, Failure> {
        let source = source::program(name)?;
        // What the file includes now, not what it included then.
        let fresh = |test: &TestInfo| TestInfo { includes: Default::default(), ..test.clone() };
        let test = self.trace.program.test.as_ref().map(fresh);
        let loaded = program::compile_saved(source, &self.set, test.as_ref(), color)?;
        let loaded = atomicity::shown_in(&self.trace, loaded);
        let loaded = loaded.for_question(Some(&self.property));
        loaded.query(&self.model, Question::Holds(&self.property))?;
        Ok(self.report(self.against(&loaded), Some(name.to_owned())))
    }

    fn against(&self, loaded: &Loaded) -> Result<Trace, Box<Misfit>> {
        let words = |error: TraceError| Box::new(Misfit::new(error.to_string()));
        if let Some(misfit) = self.trace.misfit_of_threads(&loaded.program) {
            return Err(Box::new(misfit));
        }
        let now = Version { program: &loaded.program, source: &loaded.source.text };
        if let Some(misfit) = self.trace.misfit_of_steps(&self.execution, now) {
            return Err(Box::new(misfit));
        }
        let property = self.trace.find_property(&loaded.program).map_err(words)?;
        let violation = self.trace.carry_over(self.version(), now).map_err(words)??;
        self.confirm(loaded, &property, violation.as_ref())
    }
}

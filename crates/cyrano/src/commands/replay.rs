//! `cyrano replay`: a saved trace is confirmed again, from nothing but itself; then, if the user asks, against a later version of its
//! program.

use cyrano_engine::{Execution, Violation};
use cyrano_ir::Property;
use cyrano_memory::Model;
use cyrano_report::{ReplayReport, replay_html, replay_json, replay_text};
use cyrano_trace::{Misfit, Parts, TestInfo, Trace, TraceError, Version};

use crate::args::{ColorChoice, Format, ReplayArgs};
use crate::failure::{BAD_INPUT, Failure};
use crate::program::Loaded;
use crate::run::VERSION;
use crate::source::{self, Source};
use crate::{atomicity, console, program, traces};

/// The exit code for a trace that fits its own program but not the later one.
const NO_LONGER: u8 = 1;

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.trace)?;
    let unusable = |error| Failure::input(format!("{}: this trace cannot be used: {error}", saved.name));
    let trace = Trace::parse(&saved.text).map_err(unusable)?;
    let own = Own::restore(trace, args.output.color, &unusable)?;
    let mut report = own.replay();
    let mut exit = if report.misfit.is_some() { BAD_INPUT } else { 0 };
    if let (Some(name), 0) = (&args.source, exit) {
        report = own.replay_against(name, args.output.color)?;
        exit = if report.misfit.is_some() { NO_LONGER } else { 0 };
    } else if exit == 0 {
        own.mention_changes(args);
    }
    let text = match args.output.format {
        other @ (Format::Sarif | Format::Junit) => return Err(other.is_for_verdicts()),
        Format::Json => replay_json(&report, VERSION),
        Format::Text => replay_text(&report, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    super::view::save(args.html.as_deref(), &args.output, || replay_html(&report, VERSION))?;
    traces::write(&[&report.trace], None, &args.drawings, &args.output)?;
    Ok(exit)
}

/// A trace with its own program, compiled again.
struct Own {
    trace: Trace,
    set: Vec<(String, i128)>,
    loaded: Loaded,
    model: Model,
    property: Property,
    violation: Option<Violation>,
    execution: Execution,
}

impl Own {
    fn restore(trace: Trace, color: ColorChoice, unusable: &dyn Fn(TraceError) -> Failure) -> Result<Self, Failure> {
        let set: Vec<(String, i128)> = trace.program.set.clone().into_iter().collect();
        let source = Source { name: trace.program.file.clone(), text: trace.program.source.clone(), dir: None };
        let loaded = program::compile_saved(source, &set, trace.program.test.as_ref(), color)?;
        let loaded = atomicity::shown_in(&trace, loaded);
        let model = trace.memory_model().map_err(unusable)?;
        let property = trace.find_property(&loaded.program).map_err(unusable)?;
        let loaded = loaded.for_question(Some(&property)).into_owned();
        let violation = trace.find_violation(&loaded.program).map_err(unusable)?;
        let execution = trace.execution().map_err(unusable)?;
        Ok(Self { trace, set, loaded, model, property, violation, execution })
    }

    fn version(&self) -> Version<'_> {
        Version { program: &self.loaded.program, source: &self.loaded.source.text }
    }

    fn replay(&self) -> ReplayReport {
        match self.confirm(&self.loaded, &self.property, self.violation.as_ref()) {
            Ok(again) => {
                let misfit = self.trace.first_difference(&again).map(Misfit::new);
                ReplayReport { trace: again, against: None, misfit }
            }
            Err(misfit) => ReplayReport { trace: self.trace.clone(), against: None, misfit: Some(*misfit) },
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
    fn replay_against(&self, name: &str, color: ColorChoice) -> Result<ReplayReport, Failure> {
        let source = source::program(name)?;
        // What the file includes now, not what it included then.
        let fresh = |test: &TestInfo| TestInfo { includes: Default::default(), ..test.clone() };
        let test = self.trace.program.test.as_ref().map(fresh);
        let loaded = program::compile_saved(source, &self.set, test.as_ref(), color)?;
        let loaded = atomicity::shown_in(&self.trace, loaded);
        let loaded = loaded.for_question(Some(&self.property));
        let result = self.against(&loaded);
        let against = Some(name.to_owned());
        Ok(match result {
            Ok(trace) => ReplayReport { trace, against, misfit: None },
            Err(misfit) => ReplayReport { trace: self.trace.clone(), against, misfit: Some(*misfit) },
        })
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

    /// Says that the file has changed since, if it has.
    fn mention_changes(&self, args: &ReplayArgs) {
        let name = &self.trace.program.file;
        let Ok(now) = source::program(name) else { return };
        if now.text != self.trace.program.source {
            let text =
                format!("note: {name} is no longer the program of this trace; --source {name} replays against it");
            console::note(&args.output, &text);
        }
    }
}

//! `cyrano fence`: minimal fences that make a program correct.

use std::path::Path;

use cyrano_report::{fences_html, fences_json, fences_junit, fences_sarif, fences_text};
use cyrano_session::repair::{Repaired, Task, repair, tasks};
use cyrano_session::{Failure, Files, Subject, VERSION, frontend, select};
use cyrano_trace::Trace;

use crate::args::{FenceArgs, Format};
use crate::outputs::Outputs;
use crate::{console, models, progress, source, specs, traces};

/// The option for the repaired source.
const WRITE: &str = "--write";

/// Runs the command.
pub fn run(args: &FenceArgs) -> Result<u8, Failure> {
    let file = args.run.file(&args.file)?;
    let source = source::Disk.open(&file)?;
    frontend::of(&source).fences().map_err(|why| Failure::input(format!("{file}: {why}")))?;
    let models = models::resolve_all(&args.run.model)?;
    let criteria = specs::resolve_all(args.criterion.as_slice())?;
    let subjects = Subject::load(&source::Disk, &file, &args.run.set, &args.tests.wanted(false), None)?;
    let selected = subjects.iter().map(|subject| select(&subject.case, &criteria, &models, &source::Disk));
    let selected = selected.collect::<Result<Vec<_>, _>>()?;
    let runner = args.run.runner(selected.first().map_or(1, Vec::len))?;
    let tasks = tasks(&runner, &subjects, selected, !criteria.is_empty())?;
    if args.write.is_some() && tasks.len() > 1 {
        return Err(Failure::input("--write needs a single model; name it with --model"));
    }
    let outputs = outputs(args)?;
    let results = progress::map(
        &runner,
        &tasks,
        (&args.run, &args.output),
        |_| 0,
        |(model, aims), watch| repair(&Task { aims, model, all: args.all, weights: &args.weights }, &runner, watch),
    )?;
    let (reports, texts): (Vec<_>, Vec<_>) =
        results.into_iter().map(|Repaired { report, text }| (report, text)).unzip();
    let exit = exit_code(reports.iter().map(|report| report.verdict));
    let text = match args.output.format {
        Format::Json => fences_json(&reports, VERSION),
        Format::Sarif => fences_sarif(&reports, exit, VERSION),
        Format::Junit => fences_junit(&reports),
        Format::Text => fences_text(&reports, !args.output.quiet, console::style(&args.output)),
    };
    outputs.print(&text);
    if let Some(path) = &args.write {
        write(args, &outputs, path, texts.into_iter().flatten().next());
    }
    let prevented = reports.iter().flat_map(|report| report.sets.first().into_iter().flatten());
    let prevented = prevented.flat_map(|fence| &fence.counterexamples);
    let shown: Vec<&Trace> = reports.iter().filter_map(|report| report.trace.as_ref()).chain(prevented).collect();
    super::view::save(&outputs, args.html.as_deref(), || fences_html(&reports, VERSION));
    traces::write(&outputs, &shown, args.save_trace.as_deref(), &args.drawings, &args.output);
    Ok(outputs.exit(exit))
}

/// The files that the run will write. Only the repaired source may look like a source.
fn outputs(args: &FenceArgs) -> Result<Outputs, Failure> {
    let outputs = Outputs::new(&args.output);
    outputs.claim_source(WRITE, args.write.as_deref())?;
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, args.save_trace.as_deref(), &args.drawings)?;
    Ok(outputs)
}

fn write(args: &FenceArgs, outputs: &Outputs, path: &Path, text: Option<String>) {
    match text {
        Some(text) => _ = outputs.save(WRITE, path, "repaired source written to", &text),
        None => console::note(&args.output, "nothing written: there is nothing to insert"),
    }
}

/// 1 if something is irreparable, else 3 if something is unknown, else 0.
fn exit_code(verdicts: impl Iterator<Item = &'static str>) -> u8 {
    let verdicts: Vec<&str> = verdicts.collect();
    match () {
        () if verdicts.contains(&"irreparable") => 1,
        () if verdicts.contains(&"unknown") => 3,
        () => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::exit_code;

    #[test]
    fn the_gravest_verdict_counts() {
        let check = |verdicts: &[&'static str], code: u8| assert_eq!(exit_code(verdicts.iter().copied()), code);
        check(&["repaired", "already-correct"], 0);
        check(&["repaired", "unknown"], 3);
        check(&["unknown", "irreparable", "repaired"], 1);
    }
}

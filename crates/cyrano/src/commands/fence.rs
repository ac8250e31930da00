//! `cyrano fence`: minimal fences that make a program correct.

use std::path::Path;

use cyrano_ir::Property;
use cyrano_memory::Model;
use cyrano_report::{fences_html, fences_json, fences_junit, fences_sarif, fences_text};
use cyrano_trace::Trace;

use crate::args::{FenceArgs, Format};
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::program::Loaded;
use crate::progress::Meter;
use crate::repair::{Case, Goal, Repaired, Task, repair, repair_orders};
use crate::run::{Runner, VERSION};
use crate::select::{Selected, select};
use crate::specification::Specification;
use crate::{algorithm, console, models, program, source, traces};

/// The option for the repaired source.
const WRITE: &str = "--write";

/// Runs the command.
pub fn run(args: &FenceArgs) -> Result<u8, Failure> {
    let color = args.output.color;
    refuse_litmus(&args.file)?;
    let models = models::resolve_all(&args.run.model, color)?;
    let loaded = program::load_all(&args.file, &args.run.set, &args.tests, color)?;
    let specifications: Vec<Specification> = loaded.iter().map(|_| Specification::default()).collect();
    let selected = loaded.iter().map(|loaded| select(loaded, args.criterion.as_slice(), &models, color));
    let mut selected = selected.collect::<Result<Vec<_>, _>>()?;
    let ordered = loaded.first().is_some_and(|loaded| algorithm::is_algorithm(&loaded.source));
    if ordered {
        leave_out_nothing(&mut selected);
    }
    let runner = Runner::new(&args.run, selected.first().map_or(1, Vec::len))?;
    let tasks = tasks(&runner, &loaded, &specifications, selected)?;
    if args.write.is_some() && tasks.len() > 1 {
        return Err(Failure::input("--write needs a single model; name it with --model"));
    }
    let outputs = outputs(args)?;
    let meter = Meter::new(tasks.len(), &args.run, &args.output);
    let results = runner.map(&tasks, |at, (model, cases)| {
        let task = Task { cases, model, all: args.all };
        let result = match ordered {
            true => repair_orders(&task, &runner, &meter.watch(at)),
            false => repair(&task, &runner, &meter.watch(at)),
        };
        meter.done(at, 0);
        result
    });
    meter.finish();
    let results = results?;
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

/// Fences are inserted into RML and C only. What a litmus test observes it observes by design; a table of instructions is no place for RML's fences.
fn refuse_litmus(file: &str) -> Result<(), Failure> {
    if !source::program(file)?.is_litmus() {
        return Ok(());
    }
    let why = "fences are sought for `.rml` and `.c` files, not for litmus tests";
    let instead = "write the fence (`MFENCE`, `atomic_thread_fence`) into the test and run `cyrano litmus` on it";
    Err(Failure::input(format!("{file}: {why}; {instead}")))
}

/// The files that the run will write. Only the repaired source may look like a source.
fn outputs(args: &FenceArgs) -> Result<Outputs, Failure> {
    let outputs = Outputs::new(&args.output);
    outputs.claim_source(WRITE, args.write.as_deref())?;
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, args.save_trace.as_deref(), &args.drawings)?;
    Ok(outputs)
}

/// Clients that a criterion says nothing about do not matter as long as it says something about others.
fn leave_out_nothing(selected: &mut [Vec<Selected>]) {
    let nothing = |check: &Selected| matches!(check, Selected::Nothing { .. });
    if selected.iter().flatten().any(|check| !nothing(check)) {
        selected.iter_mut().for_each(|checks| checks.retain(|check| !nothing(check)));
    }
}

/// What has to hold on each model: of one program, or of one for each test. The observations of tests are mined when they are needed.
fn tasks<'a>(
    runner: &Runner,
    loaded: &'a [Loaded],
    specifications: &'a [Specification],
    selected: Vec<Vec<Selected>>,
) -> Result<Vec<(Model, Vec<Case<'a>>)>, Failure> {
    let mut tasks: Vec<(Model, Vec<Case<'a>>)> = Vec::new();
    for ((loaded, specification), selected) in loaded.iter().zip(specifications).zip(selected) {
        let by_commits = selected.iter().any(|check| matches!(check, Selected::Run(Property::CommitAtomicity, _)));
        for check in selected {
            let (goal, model) = match check {
                Selected::Nothing { reason, .. } => return Err(Failure::input(reason)),
                // A fence forbids executions and adds none; that nobody gets done is not a matter of reordering.
                Selected::Run(Property::Progress(_), _) => continue,
                Selected::Run(property, model) => (Goal::Property(property), model),
                // A file may claim both; the commit points say more.
                Selected::Atomicity(_) if by_commits => continue,
                Selected::Atomicity(_) => {
                    let why = "fences are not sought for `atomicity`; write commit points and ask for `commit-atomicity`, \
                               or name another claim of the file with --criterion";
                    return Err(Failure::input(format!("{}: {why}", loaded.source.name)));
                }
                Selected::Observations(model) if loaded.test.is_some() => (Goal::Observations(specification), model),
                Selected::Observations(model) => {
                    let property = specification.property(runner, loaded, &());
                    let why = |why| Failure::input(format!("{}: {why}", loaded.source.name));
                    (Goal::Property(property.map_err(why)?), model)
                }
            };
            if !tasks.iter().any(|(other, _)| *other == model) {
                tasks.push((model.clone(), Vec::new()));
            }
            let Some((_, cases)) = tasks.iter_mut().find(|(other, _)| *other == model) else { continue };
            match cases.last_mut().filter(|case| std::ptr::eq(case.loaded, loaded)) {
                Some(case) => case.goals.push(goal),
                None => cases.push(Case { loaded, goals: vec![goal] }),
            }
        }
    }
    if tasks.is_empty() {
        return Err(Failure::input("nothing to repair: fences do not help against a lack of progress"));
    }
    Ok(tasks)
}

fn write(args: &FenceArgs, outputs: &Outputs, path: &Path, text: Option<String>) {
    match text {
        Some(text) => _ = outputs.save(WRITE, path, "repaired source written to", &text),
        None => console::note(&args.output, "nothing written: there is nothing to insert"),
    }
}

/// 1 if something is irreparable, else 3 if something is unknown, else 0.
fn exit_code(verdicts: impl Iterator<Item = &'static str>) -> u8 {
    let code = |verdict: &str| match verdict {
        "irreparable" => 1,
        "unknown" => 3,
        _ => 0,
    };
    let gravity = |code: &u8| match code {
        1 => 2,
        3 => 1,
        _ => 0,
    };
    verdicts.map(code).max_by_key(gravity).unwrap_or(0)
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

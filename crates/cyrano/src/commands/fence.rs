//! `cyrano fence`: minimal fences that make a program correct.

use std::path::Path;

use cyrano_ir::Property;
use cyrano_memory::Model;
use cyrano_report::{fences_json, fences_text};

use crate::args::{FenceArgs, Format};
use crate::failure::Failure;
use crate::program::Loaded;
use crate::progress::Meter;
use crate::repair::{Repaired, Task, repair};
use crate::run::{Runner, VERSION};
use crate::select::{Selected, select};
use crate::specification::Specification;
use crate::{console, models, program};

/// Runs the command.
pub fn run(args: &FenceArgs) -> Result<u8, Failure> {
    let color = args.output.color;
    let models = models::resolve_all(&args.run.model, color)?;
    let loaded = program::load(&args.file, &args.run.set, color)?;
    let selected = select(&loaded, args.criterion.as_slice(), &models, color)?;
    let runner = Runner::new(&args.run, selected.len())?;
    let goals = goals(&runner, &loaded, selected)?;
    if args.write.is_some() && goals.len() > 1 {
        return Err(Failure::input("--write needs a single model; name it with --model"));
    }
    let meter = Meter::new(goals.len(), &args.run, &args.output);
    let results = runner.map(&goals, |at, (model, properties)| {
        let result = repair(&Task { loaded: &loaded, model, properties, all: args.all }, &runner, &meter.watch(at));
        meter.done(at, 0);
        result
    });
    meter.finish();
    let results = results?;
    let (reports, texts): (Vec<_>, Vec<_>) =
        results.into_iter().map(|Repaired { report, text }| (report, text)).unzip();
    let text = match args.output.format {
        Format::Json => fences_json(&reports, VERSION),
        Format::Text => fences_text(&reports, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    if let Some(path) = &args.write {
        write(args, path, texts.into_iter().flatten().next())?;
    }
    Ok(exit_code(reports.iter().map(|report| report.verdict)))
}

/// What has to hold on each model. Fences change no serial execution, so the observations to compare with are those of the file
/// as it is.
fn goals(runner: &Runner, loaded: &Loaded, selected: Vec<Selected>) -> Result<Vec<(Model, Vec<Property>)>, Failure> {
    let specification = Specification::default();
    let mut goals: Vec<(Model, Vec<Property>)> = Vec::new();
    for check in selected {
        let (property, model) = match check {
            Selected::Nothing { reason, .. } => return Err(Failure::input(reason)),
            Selected::Run(property, model) => (property, model),
            Selected::Observations(model) => {
                let property = specification.property(runner, loaded, &());
                (property.map_err(|why| Failure::input(format!("{}: {why}", loaded.source.name)))?, model)
            }
        };
        match goals.iter_mut().find(|(other, _)| *other == model) {
            Some((_, properties)) => properties.push(property),
            None => goals.push((model, vec![property])),
        }
    }
    Ok(goals)
}

fn write(args: &FenceArgs, path: &Path, text: Option<String>) -> Result<(), Failure> {
    let Some(text) = text else {
        console::note(&args.output, "nothing written: there are no fences to insert");
        return Ok(());
    };
    let written = std::fs::write(path, text);
    written.map_err(|error| Failure::input(format!("{}: cannot be written: {error}", path.display())))?;
    console::note(&args.output, &format!("repaired source written to {}", path.display()));
    Ok(())
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

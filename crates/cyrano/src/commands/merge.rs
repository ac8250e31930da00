//! `cyrano report merge`: the reports of several runs as one.

use std::path::Path;

use cyrano_report::{RunReport, SavedReport, ShardReport, merge};

use crate::args::MergeArgs;
use crate::failure::{BAD_INPUT, Failure};
use crate::outputs::Outputs;
use crate::run::VERSION;
use crate::{again, console, source};

/// The option for a file instead of standard output.
const OUTPUT: &str = "--output";

/// Runs the command.
pub fn run(args: &MergeArgs) -> Result<u8, Failure> {
    let reports = read_all(args)?;
    let outputs = Outputs::new(&args.output);
    outputs.claim(OUTPUT, args.to.as_deref())?;
    let mut merged = merge(reports).map_err(Failure::input)?;
    merged.results.confirm(&again::replayed);
    let doubts = merged.results.doubts();
    doubts.iter().for_each(|doubt| console::error(doubt));
    let report = RunReport { results: merged.results.as_results(), version: VERSION, shard: merged.shard.as_ref() };
    if merged.repeated > 0 {
        console::note(&args.output, &format!("results that several reports have and agree on: {}", merged.repeated));
    }
    let missing = merged.shard.as_ref().and_then(ShardReport::missing_sentence);
    if let Some(missing) = &missing {
        console::error(missing);
    }
    let exit = super::exit_code_of(&report, missing.is_some());
    // Silence about a report that contradicts itself would be success.
    let exit = if exit == 0 && !doubts.is_empty() { BAD_INPUT } else { exit };
    let text = super::render(&report, exit, &args.output, true);
    match &args.to {
        Some(path) => _ = outputs.save(OUTPUT, path, "report written to", &text),
        None => outputs.print(&text),
    }
    Ok(outputs.exit(exit))
}

/// Reads every report; whatever is wrong with any of them is said at once.
fn read_all(args: &MergeArgs) -> Result<Vec<SavedReport>, Failure> {
    let mut reports = Vec::new();
    let mut errors = Vec::new();
    for path in &args.reports {
        match read(path) {
            Ok(report) => reports.push(report),
            Err(failure) => errors.push(failure.message().to_owned()),
        }
    }
    if errors.is_empty() { Ok(reports) } else { Err(Failure::Input(errors.join("\n"))) }
}

fn read(path: &Path) -> Result<SavedReport, Failure> {
    let file = source::trace(path)?;
    let unusable = |what| Failure::input(format!("{}: this report cannot be joined: {what}", file.name));
    let report = SavedReport::parse(&file.name, &file.text).map_err(unusable)?;
    // Another version may have written what this one does not know, and it would be lost.
    if report.version != VERSION {
        return Err(unusable(format!("it was written by cyrano {}, and this is cyrano {VERSION}", report.version)));
    }
    Ok(report)
}

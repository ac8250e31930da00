//! `cyrano report merge`: the reports of several runs as one.

use std::path::Path;

use cyrano_report::{RunReport, SavedReport, ShardReport, merge};
use cyrano_session::replay::replayed;
use cyrano_session::{Failure, VERSION};

use crate::args::MergeArgs;
use crate::failure::BAD_INPUT;
use crate::outputs::Outputs;
use crate::{console, source};

/// The option for a file instead of standard output.
const OUTPUT: &str = "--output";

/// Runs the command.
pub fn run(args: &MergeArgs) -> Result<u8, Failure> {
    let reports = Failure::all(args.reports.iter().map(|path| read(path)))?;
    let outputs = Outputs::new(&args.output);
    outputs.claim(OUTPUT, args.to.as_deref())?;
    let mut merged = merge(reports).map_err(Failure::input)?;
    merged.results.confirm(&replayed);
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

/// Reads a report.
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

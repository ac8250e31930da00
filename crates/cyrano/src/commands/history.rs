//! `cyrano history`: a recorded history of transactions, judged prefix by prefix.

mod memory;
mod values;

use cyrano_ir::Span;
use cyrano_report::{HistoryReport, Reason, Rejected, history_json, history_text};

use crate::args::{Format, HistoryArgs};
use crate::console;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::run::VERSION;
use crate::source::{self, Source};

/// Runs the command.
pub fn run(args: &HistoryArgs) -> Result<u8, Failure> {
    let source = source::history(&args.file)?;
    let mut criteria = Vec::new();
    for criterion in &args.criterion {
        if !criteria.contains(criterion) {
            criteria.push(*criterion);
        }
    }
    let judged = if cyrano_criteria::values::is_values(&source.text) {
        values::judge(&source, &criteria, args.output.color)
    } else {
        memory::judge(&source, &criteria, args.output.color)
    };
    let (events, results) = judged?;
    print(args, &source, events, &results)
}

fn print(args: &HistoryArgs, source: &Source, events: usize, results: &[HistoryReport]) -> Result<u8, Failure> {
    let text = match args.output.format {
        other @ (Format::Sarif | Format::Junit) => return Err(other.is_for_verdicts()),
        Format::Json => history_json(&source.name, events, results, VERSION),
        Format::Text => history_text(&source.name, events, results, !args.output.quiet, console::style(&args.output)),
    };
    let outputs = Outputs::new(&args.output);
    outputs.print(&text);
    Ok(outputs.exit(u8::from(results.iter().any(|result| result.rejected.is_some()))))
}

/// A rejection at an event, from 0, which stands there in the file.
fn rejected(source: &Source, at: usize, span: Span, explanation: Reason) -> Rejected {
    let range = span.range();
    let line = source.text[..range.start].matches('\n').count() + 1;
    let words: Vec<&str> = source.text[range].split_whitespace().collect();
    Rejected { at: at + 1, line, event: words.join(" "), explanation }
}

//! `cyrano history`: a recorded history of transactions, judged prefix by prefix.

mod memory;
mod values;

use cyrano_ir::Span;
use cyrano_report::{Reason, Rejected, history_json, history_text};
use cyrano_session::{Failure, Source, VERSION};

use crate::args::HistoryArgs;
use crate::outputs::Outputs;
use crate::{source, specs};

/// Runs the command.
pub fn run(args: &HistoryArgs) -> Result<u8, Failure> {
    let source = source::history(&args.file)?;
    let mut criteria = Vec::new();
    for criterion in &args.criterion {
        let criterion = specs::resolve_criterion(*criterion)?;
        if !criteria.contains(&criterion) {
            criteria.push(criterion);
        }
    }
    let (events, results) = match cyrano_criteria::values::is_values(&source.text) {
        true => values::judge(&source, &criteria)?,
        false => memory::judge(&source, &criteria)?,
    };
    let (outputs, name) = (Outputs::new(&args.output), &source.name);
    outputs.plain(
        &args.output,
        || history_json(name, events, &results, VERSION),
        |details, style| history_text(name, events, &results, details, style),
    );
    Ok(outputs.exit(u8::from(results.iter().any(|result| result.rejected.is_some()))))
}

/// A rejection at an event, from 0, which stands there in the file.
fn rejected(source: &Source, at: usize, span: Span, explanation: Reason) -> Rejected {
    let line = source.line(span).unwrap_or(1);
    let words: Vec<&str> = source.text[span.range()].split_whitespace().collect();
    Rejected { at: at + 1, line, event: words.join(" "), explanation }
}

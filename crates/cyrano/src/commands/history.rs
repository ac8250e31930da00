//! `cyrano history`: a recorded history of transactions, judged prefix by prefix.

use cyrano_criteria::history::{Parsed, parse};
use cyrano_criteria::oracle::Criterion;
use cyrano_report::{HistoryReport, Rejected, history_json, history_text};
use cyrano_trace::explain_history;

use crate::args::{Format, HistoryArgs};
use crate::failure::Failure;
use crate::run::VERSION;
use crate::source::{self, Source};
use crate::{console, program};

/// Runs the command.
pub fn run(args: &HistoryArgs) -> Result<u8, Failure> {
    let source = source::file(&args.file)?;
    let parsed = parse(&source.text).map_err(|errors| program::complain(&source, &errors, args.output.color))?;
    let mut criteria: Vec<Criterion> = Vec::new();
    for criterion in args.criterion.iter().map(|criterion| Criterion::from(*criterion)) {
        if !criteria.contains(&criterion) {
            criteria.push(criterion);
        }
    }
    let results: Vec<HistoryReport> = criteria.iter().map(|criterion| judge(*criterion, &parsed, &source)).collect();
    let (file, events) = (&source.name, parsed.history.len());
    let text = match args.output.format {
        Format::Json => history_json(file, events, &results, VERSION),
        Format::Text => history_text(file, events, &results, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    Ok(u8::from(results.iter().any(|result| result.rejected.is_some())))
}

fn judge(criterion: Criterion, parsed: &Parsed, source: &Source) -> HistoryReport {
    let wrong = explain_history(criterion, &parsed.history, &parsed.names, &|event| event + 1);
    let rejected = wrong.map(|(at, explanation)| {
        let range = parsed.spans[at].range();
        let line = source.text[..range.start].matches('\n').count() + 1;
        let words: Vec<&str> = source.text[range].split_whitespace().collect();
        Rejected { at: at + 1, line, event: words.join(" "), explanation }
    });
    HistoryReport { criterion: criterion.name().to_owned(), rejected }
}

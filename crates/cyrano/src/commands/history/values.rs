//! Histories of calls and replies, judged by the values that were read.

use cyrano_criteria::values::{self, Digest, Explanation, Order, Parsed, Point, Recorder, Why, order_in_words, parse};
use cyrano_ir::TxCriterion;
use cyrano_report::{Attempt, HistoryReport, Read, Reason, Unjustified};
use cyrano_session::{Failure, Source};

use super::rejected;

/// The number of events, and what each criterion says; without criteria all of them are asked.
pub fn judge(source: &Source, criteria: &[TxCriterion]) -> Result<(usize, Vec<HistoryReport>), Failure> {
    let parsed = parse(&source.text).map_err(|errors| Failure::source(source, errors))?;
    let wanted = match criteria {
        [] => TxCriterion::ALL.to_vec(),
        some => some.to_vec(),
    };
    let reports = wanted.into_iter().map(|criterion| report(criterion, &parsed, source)).collect();
    Ok((parsed.history.events().len(), reports))
}

fn report(criterion: TxCriterion, parsed: &Parsed, source: &Source) -> HistoryReport {
    let (rejected, order) = match values::judge(criterion, &parsed.history, &parsed.names) {
        Ok(order) => (None, Some(row(&order, &after(parsed, parsed.history.events().len()), parsed))),
        Err(wrong) => {
            let reason = Reason::Values(Box::new(unjustified(&wrong, parsed)));
            (Some(rejected(source, wrong.at, parsed.spans[wrong.at], reason)), None)
        }
    };
    HistoryReport { criterion: criterion.name().to_owned(), rejected, order }
}

/// What the first `end` events come to.
fn after(parsed: &Parsed, end: usize) -> Digest {
    let mut recorder = Recorder::new(&parsed.history);
    for event in &parsed.history.events()[..end] {
        recorder.observe(event);
    }
    recorder.digest().clone()
}

fn row(order: &Order, digest: &Digest, parsed: &Parsed) -> Vec<String> {
    order.iter().map(|point: &Point| order_in_words(&[*point], digest, &parsed.names)).collect()
}

fn unjustified(wrong: &Explanation, parsed: &Parsed) -> Unjustified {
    let name = |tx: &u8| parsed.names.transaction(*tx);
    let digest = after(parsed, wrong.at + 1);
    let attempt = |attempt: &values::Attempt| Attempt {
        order: row(&attempt.order, &digest, parsed),
        breaks: attempt.breaks.clone(),
        others: attempt.others,
    };
    let mut found = Unjustified {
        kind: wrong.kind.name().to_owned(),
        sentence: format!("{}.", capitalised(&wrong.sentence)),
        transactions: wrong.transactions.iter().map(name).collect(),
        attempts: wrong.attempts.iter().map(attempt).collect(),
        ..Unjustified::default()
    };
    if let Why::Core { reads, before, clashes } = &wrong.why {
        let pair = |(a, b): &(u8, u8)| [name(a), name(b)];
        let read = |(tx, loc, value): &(u8, u8, i128)| Read {
            transaction: name(tx),
            location: parsed.names.location(*loc),
            value: *value,
        };
        found.reads = reads.iter().map(read).collect();
        found.real_time = before.iter().map(pair).collect();
        found.clashes = clashes.iter().map(pair).collect();
    }
    found
}

/// A sentence begins with a capital, unless it begins with a transaction's name.
fn capitalised(sentence: &str) -> String {
    match sentence.strip_prefix("no ") {
        Some(rest) => format!("No {rest}"),
        None => sentence.to_owned(),
    }
}

//! What no execution reaches, in terms of the source: a statement, unless some thread reaches some of its instructions.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_engine::Answer;
use cyrano_ir::{InstrId, Op, Program, Span, ThreadId};
use cyrano_report::UnreachedReport;

use crate::case::Case;

/// Longer statements are cut.
const LONGEST: usize = 48;

/// The statements that no thread reaches, in the order of the source, each line once.
pub fn unreached(case: &Case, answer: &Answer) -> Vec<UnreachedReport> {
    let Some(missed) = &answer.unreached else { return Vec::new() };
    let program = &case.program;
    let missed: BTreeSet<(ThreadId, InstrId)> = missed.iter().copied().collect();
    let (mut reached, mut places) = (BTreeSet::new(), BTreeMap::<Span, BTreeSet<ThreadId>>::new());
    for (thread, instr) in instructions(program) {
        let span = program.instr(thread, instr).span;
        if !missed.contains(&(thread, instr)) {
            reached.insert(span);
        } else if says_something(&program.instr(thread, instr).op) {
            places.entry(span).or_default().insert(thread);
        }
    }
    let mut found: BTreeMap<usize, UnreachedReport> = BTreeMap::new();
    for (span, threads) in places.into_iter().filter(|(span, _)| !reached.contains(span)) {
        let Some((line, text)) = quoted(&case.source.text, span) else { continue };
        let names: Vec<&str> = threads.iter().map(|thread| program.thread(*thread).name.as_str()).collect();
        found.entry(line).or_insert_with(|| UnreachedReport { line, thread: names.join(", "), text });
    }
    found.into_values().collect()
}

fn instructions(program: &Program) -> impl Iterator<Item = (ThreadId, InstrId)> {
    let of = |thread: ThreadId| (0..program.thread(thread).code.len()).map(move |pc| (thread, InstrId::new(pc)));
    program.thread_ids().flat_map(of)
}

/// Whether an instruction stands for something that was written, and not for the end of it.
fn says_something(op: &Op) -> bool {
    !matches!(op, Op::Jump(_) | Op::Halt | Op::AtomicEnd | Op::OperationEnd | Op::BlockEnd(_))
}

/// The line and the first line of the text of a span, if the source has it.
fn quoted(source: &str, span: Span) -> Option<(usize, String)> {
    let (start, end) = (span.start as usize, span.end as usize);
    let text = source.get(start..end).filter(|text| !text.trim().is_empty())?;
    let first = text.trim_start().lines().next()?.trim_end().trim_end_matches(['{', ';']).trim_end();
    let line = source[..end - text.trim_start().len()].matches('\n').count() + 1;
    // What stands in an included file has the place of the `#include`.
    let included = source.lines().nth(line - 1)?.trim_start().starts_with('#');
    let cut = first.char_indices().nth(LONGEST).map(|(at, _)| format!("{}…", &first[..at]));
    (!first.is_empty() && !included).then(|| (line, cut.unwrap_or_else(|| first.to_owned())))
}

//! What no execution reaches, in terms of the source: a statement, unless some thread reaches some of its instructions; a command, if that is true of all
//! that stands in it; an operation of a test, if none of its calls begins.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_engine::Answer;
use cyrano_ir::{Instr, InstrId, Op, Program, Span, ThreadId};
use cyrano_report::{UnreachedKind, UnreachedReport};

use crate::case::Case;

/// Longer statements are cut.
const LONGEST: usize = 48;

/// The statements that are not reached, each with the threads whose code it is and what it is.
type Places = BTreeMap<Span, (BTreeSet<ThreadId>, UnreachedKind)>;

/// What no thread reaches.
pub fn unreached(case: &Case, answer: &Answer) -> Vec<UnreachedReport> {
    answer.unreached.as_ref().map(|missed| places(case, missed)).unwrap_or_default()
}

/// Where these instructions are, in the order of the source, each line once.
pub fn places(case: &Case, missed: &[(ThreadId, InstrId)]) -> Vec<UnreachedReport> {
    let program = &case.program;
    let missed: BTreeSet<(ThreadId, InstrId)> = missed.iter().copied().collect();
    let (mut reached, mut places) = (BTreeSet::new(), Places::new());
    let (mut begun, mut operations) = (BTreeSet::new(), BTreeMap::<&str, BTreeSet<ThreadId>>::new());
    for (thread, instr) in instructions(program) {
        let Instr { op, span } = program.instr(thread, instr);
        match (op, missed.contains(&(thread, instr))) {
            (Op::OperationBegin(name), true) => _ = operations.entry(name).or_default().insert(thread),
            (Op::OperationBegin(name), false) => _ = begun.insert(name.as_str()),
            (_, false) => _ = reached.insert(*span),
            (op, true) if says_something(op) => {
                let (threads, kind) = places.entry(*span).or_insert_with(|| (BTreeSet::new(), kind(op)));
                threads.insert(thread);
                if kind == &UnreachedKind::Statement {
                    *kind = self::kind(op);
                }
            }
            _ => {}
        }
    }
    places.retain(|span, _| !reached.contains(span));
    operations.retain(|name, _| !begun.contains(name));
    let operation = |(name, threads): (&str, BTreeSet<ThreadId>)| UnreachedReport {
        kind: UnreachedKind::Operation,
        line: 0,
        thread: names(program, &threads),
        text: name.to_owned(),
    };
    let mut found: Vec<UnreachedReport> = operations.into_iter().map(operation).collect();
    found.extend(commands(case, &reached, &mut places));
    let statements = places.into_iter().filter_map(|(span, (threads, kind))| {
        let (line, text) = quoted(&case.source.text, span)?;
        Some(UnreachedReport { kind, line, thread: names(program, &threads), text })
    });
    let mut lines = BTreeSet::new();
    found.extend(statements.filter(|report| lines.insert(report.line)));
    found.sort_by_key(|report| report.line);
    found
}

/// The commands that are not reached. What stands in them need not be said again.
fn commands(case: &Case, reached: &BTreeSet<Span>, places: &mut Places) -> Vec<UnreachedReport> {
    let mut found = Vec::new();
    for routine in &case.program.routines {
        let contains = |span: &Span| routine.span.start <= span.start && span.end <= routine.span.end;
        if reached.iter().any(contains) {
            continue;
        }
        let mut threads = BTreeSet::new();
        places.retain(|span, (of, _)| {
            let inside = contains(span);
            threads.extend(of.iter().filter(|_| inside));
            !inside
        });
        if let Some((line, _)) = quoted(&case.source.text, routine.span).filter(|_| !threads.is_empty()) {
            let thread = names(&case.program, &threads);
            found.push(UnreachedReport { kind: UnreachedKind::Command, line, thread, text: routine.name.clone() });
        }
    }
    found
}

fn names(program: &Program, threads: &BTreeSet<ThreadId>) -> String {
    let names: Vec<&str> = threads.iter().map(|thread| program.thread(*thread).name.as_str()).collect();
    names.join(", ")
}

fn instructions(program: &Program) -> impl Iterator<Item = (ThreadId, InstrId)> {
    let of = |thread: ThreadId| (0..program.thread(thread).code.len()).map(move |pc| (thread, InstrId::new(pc)));
    program.thread_ids().flat_map(of)
}

fn kind(op: &Op) -> UnreachedKind {
    if matches!(op, Op::Assert { .. }) { UnreachedKind::Assertion } else { UnreachedKind::Statement }
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

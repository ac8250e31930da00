//! What a given client has to be like for its history to be judged: its transactions can be counted, and it touches `data` in them only.
//!
//! A transaction that stands in a loop would be any number of transactions, and histories have a largest number. An access outside of transactions is part of
//! no history. Both are for `atomicity`, which looks at what the client ends with.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Expr, InstrId, Method, Op, Program, Span, Thread, reply};

use crate::lower::thread::LoweredThread;
use crate::report::Reports;
use crate::resolve::names::Names;

/// The constant that says how many transactions a thread has.
const TRANSACTIONS: &str = "txns";

/// Complains about what does not go with a claim about a client's history.
pub(crate) fn check_told(threads: &[LoweredThread], names: &Names<'_>, reports: &mut Reports) {
    let mut known: Vec<Span> = Vec::new();
    for lowered in threads {
        let declared = &names.file.threads[lowered.declared];
        let own = |span: &Span| declared.name.span.start <= span.start && span.end <= declared.body.close.end;
        let code = &lowered.thread.code;
        let accesses = code.iter().filter(|instr| instr.op.access_kind().is_some()).map(|instr| instr.span);
        let outside: Vec<Span> = accesses.filter(own).collect();
        let again = code.iter().enumerate().any(|(pc, instr)| commits(&instr.op) && returns(&lowered.thread, pc));
        for span in outside {
            if !known.contains(&span) {
                known.push(span);
                let message = "a claim about transactions, and data that is touched outside of them";
                let help = "claim `atomicity`, which is about both, or touch `data` in transactions only";
                reports.complain(span, message, "outside of transactions", help);
            }
        }
        if again && !known.contains(&declared.name.span) {
            known.push(declared.name.span);
            let message = "a claim about transactions, and any number of them: one stands in a loop";
            let help = "claim `atomicity`, or repeat it with `foreach`";
            reports.complain(declared.name.span, message, "this thread", help);
        }
    }
}

fn commits(op: &Op) -> bool {
    matches!(op, Op::Respond(Expr::Const(reply::COMMITTED)))
}

/// Whether a thread can come to an instruction again.
fn returns(thread: &Thread, pc: usize) -> bool {
    let mut seen = vec![false; thread.code.len()];
    let next = |pc: usize| successors(&thread.code[pc].op, InstrId::new(pc)).map(InstrId::index);
    let mut work: Vec<usize> = next(pc).collect();
    while let Some(at) = work.pop() {
        if at < seen.len() && !std::mem::replace(&mut seen[at], true) {
            work.extend(next(at));
        }
    }
    seen[pc]
}

/// Says how many transactions a thread has at most: each text of one is run once.
pub(crate) fn note_size(program: &mut Program) {
    let ends = |op: &Op| matches!(op, Op::Invoke { method: Method::Commit, .. });
    let of_thread = |thread: &Thread| thread.code.iter().filter(|instr| ends(&instr.op)).count();
    let most = program.threads.iter().map(of_thread).max().unwrap_or(0).max(1);
    program.constants.retain(|(name, _)| name != TRANSACTIONS);
    program.constants.push((TRANSACTIONS.to_owned(), most as i128));
}

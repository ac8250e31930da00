//! Atomic blocks as a whole: exactly one commit point on every path through one, and blocks where something is claimed of them.
//!
//! Decided on the lowered code, where procedures are inlined, and only if nothing else is wrong.

use cyrano_ir::Op;
use cyrano_ir::blocks::diagnose::{Words, diagnose, without_commit};

use crate::lower::thread::LoweredThread;
use crate::report::Reports;
use crate::rules::block::EXAMPLE;
use crate::syntax::ast::{Claim, File};

const WORDS: Words = Words { commit: "`commit`", end: "`}`", example: EXAMPLE };

/// Checks the blocks of all threads, and what is claimed of them.
pub(crate) fn check_blocks(threads: &[LoweredThread], file: &File, reports: &mut Reports) {
    if !reports.is_empty() || file.stm().is_some() {
        return;
    }
    for lowered in threads {
        diagnose(&lowered.thread, WORDS).into_iter().for_each(|diagnostic| {
            reports.add(diagnostic);
        });
    }
    if reports.is_empty() {
        check_claims(threads, file, reports);
    }
}

fn check_claims(threads: &[LoweredThread], file: &File, reports: &mut Reports) {
    let is_begin = |op: &Op| matches!(op, Op::BlockBegin(_));
    let any = threads.iter().any(|lowered| lowered.thread.code.iter().any(|instr| is_begin(&instr.op)));
    for check in &file.checks {
        let commits = match check.claim {
            Claim::CommitAtomicity => true,
            Claim::Atomicity => false,
            _ => continue,
        };
        if !any {
            let message = "there is no atomic block to judge";
            let help = format!("mark what should seem to happen at once: {EXAMPLE}");
            reports.complain(check.span, message, "asks for the atomicity of blocks", help);
        }
        for lowered in threads.iter().filter(|_| commits) {
            for diagnostic in without_commit(&lowered.thread, WORDS, Some(check.span)) {
                reports.add(diagnostic);
            }
        }
    }
}

//! Atomic blocks with commit points: `atomic_begin(); … commit_point(); … atomic_end();` (Flanagan, section 3.2).
//!
//! Every path through a block has exactly one commit point, or none has. Decided on the code of a thread, where calls are inlined, before it is
//! cleaned up.

use cyrano_ir::blocks::diagnose::{Words, diagnose};
use cyrano_ir::{Diagnostic, Span, Thread};

/// How the marks are written.
pub const BLOCK_WORDS: Words = Words {
    commit: "`commit_point()`",
    end: "`atomic_end()`",
    example: "`atomic_begin(); … commit_point(); … atomic_end();`",
};

/// What is wrong with the blocks of a thread; `marked` are the marks that stand in atomic sections.
pub(crate) fn check(thread: &Thread, mut marked: Vec<Span>) -> Result<(), Vec<Diagnostic>> {
    marked.sort();
    marked.dedup();
    let message = "a mark within `atomic { … }`";
    let told = marked.into_iter().map(|span| {
        let diagnostic = Diagnostic::new(span, message, "within a section");
        diagnostic.with_help("the accesses of a section happen at one point anyway; put the mark before or behind it")
    });
    let mut errors: Vec<Diagnostic> = told.chain(diagnose(thread, BLOCK_WORDS)).collect();
    let mut seen = std::collections::HashSet::new();
    errors.retain(|error| seen.insert((error.span, error.message.clone())));
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

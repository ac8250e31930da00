//! Labels: names of statements, which no two statements of a file share.

use std::collections::HashMap;

use cyrano_ir::{Diagnostic, Span};

use crate::report::Reports;
use crate::resolve::calls::walk;
use crate::syntax::ast::{Block, Name};

/// The labels in these blocks; reports those that are there twice.
pub(crate) fn labels<'a>(blocks: impl Iterator<Item = &'a Block>, reports: &mut Reports) -> HashMap<&'a str, Span> {
    let mut labels = HashMap::new();
    for block in blocks {
        walk(block, &mut |stmt| {
            stmt.label.iter().for_each(|label| once(label, &mut labels, "label", reports));
        });
    }
    labels
}

/// Reports a name that something else of its kind has.
pub(crate) fn once<'a>(name: &'a Name, seen: &mut HashMap<&'a str, Span>, what: &str, reports: &mut Reports) {
    if let Some(first) = seen.insert(&name.text, name.span) {
        let diagnostic = Diagnostic::new(name.span, format!("two {what}s are named `{}`", name.text), "again");
        reports.add(diagnostic.with_related(first, "first here").with_help("rename one of the two"));
    }
}

//! Collects diagnostics while the passes go on.
//!
//! **Invariant:** every error is kept once, however often unrolling and inlining meet it, and at most [`MAX_DIAGNOSTICS`] are
//! kept in full, so that a hostile file cannot make the report itself a problem. [`Reported`] can only be made by reporting
//! or by meeting something that has been reported, so a pass that gives up with it never fails in silence.

use std::collections::HashSet;

use cyrano_ir::{Diagnostic, Span};

use crate::expand::budget::Charged;

/// How many diagnostics are kept in full.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// Says that the reason for giving up is, or was, reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reported;

/// The result of a step that reports its own errors.
pub(crate) type Fallible<T> = Result<T, Reported>;

/// The diagnostics so far.
#[derive(Default)]
pub(crate) struct Reports {
    kept: Vec<Diagnostic>,
    seen: HashSet<(Span, String)>,
    omitted: HashSet<Span>,
    first_omitted: Option<Span>,
    skipped: Option<Span>,
}

impl Reports {
    /// Adds a diagnostic unless it is already there.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) -> Reported {
        let key = (diagnostic.span, diagnostic.message.clone());
        if self.seen.contains(&key) {
            return Reported;
        }
        if self.is_full() {
            self.first_omitted.get_or_insert(diagnostic.span);
            self.omitted.insert(diagnostic.span);
        } else {
            self.seen.insert(key);
            self.kept.push(diagnostic);
        }
        Reported
    }

    /// Adds a diagnostic with a help.
    pub(crate) fn complain(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        self.add(Diagnostic::new(span, message, label).with_help(help))
    }

    /// What a charge to the budget comes to: the first one that is refused is reported.
    pub(crate) fn settle(&mut self, charged: Charged) -> Fallible<()> {
        charged.map_err(|refused| refused.map_or(Reported, |diagnostic| self.add(diagnostic)))
    }

    /// Adds a diagnostic if there is one.
    pub(crate) fn extend(&mut self, diagnostic: Option<Diagnostic>) {
        diagnostic.into_iter().for_each(|diagnostic| {
            self.add(diagnostic);
        });
    }

    /// Whether further diagnostics are only counted; then a costly help is not worth computing.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= MAX_DIAGNOSTICS
    }

    /// Notes that something was left out of the program because of an error that must have been reported.
    pub(crate) fn skip(&mut self, span: Span) {
        self.skipped.get_or_insert(span);
    }

    /// Whether something was left out of the program.
    pub(crate) fn has_skipped(&self) -> bool {
        self.skipped.is_some()
    }

    /// Whether nothing was wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.skipped.is_none()
    }

    /// All diagnostics in source order, with a last one that counts those left out.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if let (true, Some(span)) = (self.kept.is_empty(), self.skipped) {
            // A part of the program was dropped in silence: better to refuse it than to check something else.
            let diagnostic = Diagnostic::new(span, "this could not be lowered, a bug in Cyrano", "left out");
            self.kept.push(diagnostic.with_help("please report it together with the file"));
        }
        self.kept.sort_by_key(|d| d.span);
        if let Some(span) = self.first_omitted {
            let message = format!("… and {} more", self.omitted.len());
            self.kept.push(Diagnostic::new(span, message, "the first one left out"));
        }
        self.kept
    }
}

//! What a front end says about bad input: where, what is wrong, what would be right.
//!
//! Rendering belongs to the command line; this is data only, so that a front end can report everything at once.

use crate::Span;

/// One complaint about a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What the marked text is, beside the marker.
    pub label: String,
    /// Other places that matter, each with its text.
    pub related: Vec<(Span, String)>,
    /// What would be right.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A complaint with a marker and its label.
    pub fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { message: message.into(), span, label: label.into(), related: Vec::new(), help: None }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn with_related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }
}

//! A text with its name, and the files beside it. Whoever runs a session reads them.

use std::path::PathBuf;

use cyrano_ir::{Span, origin};

use crate::failure::Failure;

/// A text with its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// The name as the user gave it.
    pub name: String,
    /// The text.
    pub text: String,
    /// Where files named inside it are looked for; `None` for the built-in library.
    pub dir: Option<PathBuf>,
}

impl Source {
    /// A source of which nothing but the name is known.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), text: String::new(), dir: None }
    }

    /// The file that a place stands in, which may be one that the source uses, and the line there, from 1.
    pub fn place(&self, span: Span) -> (String, usize) {
        let start = (span.start as usize).min(self.text.len());
        let piece = origin::pieces(&self.text).into_iter().rev().find(|piece| piece.range.start <= start);
        let (file, from) = piece.map_or((None, 0), |piece| (piece.file, piece.range.start));
        let line = self.text.get(from..start).map_or(1, |before| before.matches('\n').count() + 1);
        (file.unwrap_or_else(|| self.name.clone()), line)
    }

    /// The line that a place stands in, from 1; none if the text has no such place.
    pub fn line(&self, span: Span) -> Option<usize> {
        self.text.get(..span.start as usize).map(|before| before.matches('\n').count() + 1)
    }
}

/// Where files come from.
pub trait Files {
    /// A program: a path, or an entry of the built-in library (`lib:NAME`).
    fn open(&self, name: &str) -> Result<Source, Failure>;

    /// A file that a source names, beside it.
    fn beside(&self, source: &Source, name: &str) -> Result<Source, Failure>;
}

//! From byte offsets to lines, columns and one-line source text.
//!
//! Offsets come from front ends and are trusted no further than necessary: one outside the text, or inside a character, is moved to
//! the nearest place before it.

use std::fmt;
use std::ops::Range;

use cyrano_ir::{Span, origin};

use crate::schema::UsedPlace;

/// A source text with its line starts.
pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
    /// The files that were put into the text, with their lines in it.
    files: Vec<(String, Range<usize>)>,
}

/// A line as a reader is told of it: `12`, or `12 of memory.rml` if it stands in a file that the text uses.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its number in the text.
    pub(crate) number: usize,
    /// Where it comes from.
    pub(crate) used: Option<UsedPlace>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.used {
            Some(UsedPlace { file, line }) => write!(f, "{line} of {file}"),
            None => write!(f, "{}", self.number),
        }
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let after_newlines = source.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_newlines).collect();
        Self { source, starts, files: origin::lines(source) }
    }

    /// Line and column of the span's first character, both from 1; columns count characters.
    pub(crate) fn position(&self, span: Span) -> (usize, usize) {
        let offset = self.floor(span.range().start);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        (line, self.source[start..offset].chars().count() + 1)
    }

    /// The line of the span's first character.
    pub(crate) fn line(&self, span: Span) -> usize {
        self.position(span).0
    }

    /// The same for sentences.
    pub(crate) fn told(&self, span: Span) -> Line {
        let number = self.line(span);
        let used = origin::found(&self.files, number).map(|(file, line)| UsedPlace { file: file.to_owned(), line });
        Line { number, used }
    }

    /// The first line of the span's text, white space collapsed and control characters removed, so that it can be
    /// printed anywhere.
    pub(crate) fn text(&self, span: Span) -> String {
        let start = self.floor(span.range().start);
        let end = self.floor(span.range().end).max(start);
        let first = self.source[start..end].lines().next().unwrap_or("");
        let words: Vec<String> =
            first.split_whitespace().map(|word| word.chars().filter(|c| !c.is_control()).collect()).collect();
        words.join(" ")
    }

    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.source.len());
        while !self.source.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, span: (usize, usize), position: (usize, usize), text: &str) {
        let lines = Lines::new(source);
        let span = Span::new(span.0, span.1);
        assert_eq!(lines.position(span), position);
        assert_eq!(lines.text(span), text);
    }

    #[test]
    fn places_and_texts() {
        check("a := 1;\nb  :=\t2;", (0, 6), (1, 1), "a := 1");
        check("a := 1;\nb  :=\t2;", (8, 15), (2, 1), "b := 2");
        check("é := 1", (3, 7), (1, 3), ":= 1");
        check("atomic {\n  x := 1\n}", (0, 19), (1, 1), "atomic {");
        check("a\u{1b}[31m", (0, 6), (1, 1), "a[31m");
    }

    #[test]
    fn offsets_outside_the_text_are_moved() {
        check("ab", (7, 9), (1, 3), "");
        check("", (0, 0), (1, 1), "");
        check("é", (1, 1), (1, 1), "");
    }
}

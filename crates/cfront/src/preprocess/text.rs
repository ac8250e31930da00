//! The text that the parser reads, with the place where each of its tokens was written.

use crate::preprocess::token::Token;
use crate::source::Loc;

/// What the parser reads.
#[derive(Default, Debug)]
pub(crate) struct Preprocessed {
    pub(crate) text: String,
    /// Start and end in `text`, and the place in the sources, of every token.
    places: Vec<(usize, usize, Loc)>,
}

impl Preprocessed {
    pub(crate) fn new(tokens: &[Token]) -> Self {
        let mut made = Self::default();
        for (index, token) in tokens.iter().enumerate() {
            let start = made.text.len();
            made.text.push_str(&token.text);
            made.places.push((start, made.text.len(), token.loc));
            // The parser library wants the double parentheses of an attribute without a space between them.
            let close = tokens.get(index + 1).is_some_and(|next| next.is(")"));
            match token.text.as_str() {
                ";" | "}" => made.text.push('\n'),
                "(" => {}
                _ if close => {}
                _ => made.text.push(' '),
            }
        }
        made
    }

    /// The place of a range of the text.
    pub(crate) fn loc(&self, start: usize, end: usize) -> Loc {
        let first = self.places.partition_point(|(_, token_end, _)| *token_end <= start);
        let after = self.places.partition_point(|(token_start, ..)| *token_start < end);
        let last = after.saturating_sub(1).max(first);
        match (self.places.get(first), self.places.get(last)) {
            (Some((.., first)), Some((.., last))) => first.to(*last),
            _ => self.places.last().map(|(.., loc)| *loc).unwrap_or_default(),
        }
    }

    /// The token at a position, or the last one.
    pub(crate) fn token_at(&self, offset: usize) -> (Loc, &str) {
        let index = self.places.partition_point(|(_, end, _)| *end <= offset);
        match self.places.get(index) {
            Some((start, end, loc)) => (*loc, &self.text[*start..*end]),
            None => (self.loc(offset, offset), ""),
        }
    }
}

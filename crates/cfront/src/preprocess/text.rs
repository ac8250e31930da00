//! The text that the parser reads, with the place where each of its tokens was written.

use crate::preprocess::token::{Token, TokenKind};
use crate::source::Loc;

/// What stands before and behind the number of a character that the parser library does not have in names.
const ESCAPE: [&str; 2] = ["__cyrano_x", "__"];

/// A name in the letters that the parser library has: GNU C has `$` and letters of all languages.
fn escaped(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let written =
        |c: char| if plain(c) { c.to_string() } else { format!("{}{:x}{}", ESCAPE[0], u32::from(c), ESCAPE[1]) };
    name.chars().map(written).collect()
}

/// The name that this stands for.
pub(crate) fn unescaped(name: &str) -> String {
    let mut parts = name.split(ESCAPE[0]);
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.split_once(ESCAPE[1]);
        let found = number.and_then(|(hex, rest)| Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, rest)));
        match found {
            Some((c, rest)) => {
                made.push(c);
                made.push_str(rest);
            }
            None => made.extend([ESCAPE[0], part]),
        }
    }
    made
}

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
            match token.kind {
                // GNU C's word for it, which the parser library knows as a reserved one only.
                TokenKind::Ident if token.text == "__thread" => made.text.push_str("_Thread_local"),
                TokenKind::Ident => made.text.push_str(&escaped(&token.text)),
                _ => made.text.push_str(&token.text),
            }
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

    /// The tokens in a range of the text.
    pub(crate) fn words(&self, start: usize, end: usize) -> impl Iterator<Item = &str> {
        let first = self.places.partition_point(|(_, token_end, _)| *token_end <= start);
        let within = self.places[first..].iter().take_while(move |(token_start, ..)| *token_start < end);
        within.map(|(from, to, _)| &self.text[*from..*to])
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

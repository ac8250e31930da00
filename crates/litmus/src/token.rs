//! Tokens. The sections of a file do not share one lexical grammar, so whoever reads a section says which one it is in:
//! `(*` opens a comment around the code of an assembly test and is an argument list in C. What stands in the bodies of C functions is
//! only skipped here.

use cyrano_ir::{Diagnostic, Span};

/// A token and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, decimal or hexadecimal, without a sign.
    Number,
    /// A text in quotes.
    Text,
    /// Anything else, told apart by its spelling.
    Mark,
    /// The end of the text.
    End,
}

/// The lexical grammar of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Initial state, assembly columns, conditions.
    Litmus,
    /// Functions in C.
    C,
}

const MARKS: [&str; 6] = ["/\\", "\\/", "=>", "<>", "!=", "=="];

/// Reads one token after the other.
#[derive(Clone)]
pub(crate) struct Scanner<'s> {
    source: &'s str,
    at: usize,
    pub(crate) mode: Mode,
}

impl<'s> Scanner<'s> {
    /// A scanner from this offset on.
    pub(crate) fn new(source: &'s str, at: usize, mode: Mode) -> Self {
        Self { source, at, mode }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'s>, Diagnostic> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok(self.token(Kind::End, start));
        };
        let kind = if first.is_ascii_alphabetic() || first == '_' {
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            Kind::Word
        } else if first.is_ascii_digit() {
            self.take_while(|c| c.is_ascii_alphanumeric());
            Kind::Number
        } else if first == '"' {
            self.take_text()?;
            Kind::Text
        } else {
            let long = MARKS.iter().find(|mark| self.rest().starts_with(**mark));
            self.at += long.map_or(first.len_utf8(), |mark| mark.len());
            Kind::Mark
        };
        Ok(self.token(kind, start))
    }

    fn token(&self, kind: Kind, start: usize) -> Token<'s> {
        Token { kind, text: &self.source[start..self.at], span: Span::new(start, self.at) }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c: char| !wanted(c)).unwrap_or(rest.len());
    }

    fn take_text(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        match self.rest()[1..].find('"') {
            Some(end) => self.at += end + 2,
            None => {
                self.at = self.source.len();
                let span = Span::new(start, start + 1);
                return Err(Diagnostic::new(span, "this text has no closing quote", "opened here"));
            }
        }
        Ok(())
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with("(*") && self.mode == Mode::Litmus {
                self.at = comment_end(self.source, self.at)?;
            } else if rest.starts_with("//") || self.mode == Mode::Litmus && opens_line(rest) {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").map(|end| self.at + end + 2);
                self.at = end.ok_or_else(|| unclosed(self.at))?;
            } else {
                return Ok(());
            }
        }
    }
}

/// Whether a `#` opens a comment: `#1` is a constant of Arm's.
fn opens_line(rest: &str) -> bool {
    let next = rest.strip_prefix('#').map(|rest| rest.chars().next());
    next.is_some_and(|next| !next.is_some_and(|next| next.is_ascii_digit() || next == '-'))
}

fn unclosed(at: usize) -> Diagnostic {
    Diagnostic::new(Span::new(at, at + 2), "this comment is not closed", "opened here")
}

/// The end of the comment `(* … *)` at this offset; comments nest.
pub(crate) fn comment_end(source: &str, at: usize) -> Result<usize, Diagnostic> {
    let bytes = source.as_bytes();
    let (mut depth, mut here) = (0usize, at);
    while here + 1 < bytes.len() {
        match &bytes[here..here + 2] {
            b"(*" => {
                depth += 1;
                here += 2;
            }
            b"*)" => {
                depth -= 1;
                here += 2;
                if depth == 0 {
                    return Ok(here);
                }
            }
            _ => here += 1,
        }
    }
    Err(unclosed(at))
}

/// The value of a number token.
pub(crate) fn number(text: &str) -> Option<i128> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as i128),
        None => digits.parse::<u64>().ok().map(|value| value as i128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, mode: Mode, expected: &[&str]) {
        let mut scanner = Scanner::new(source, 0, mode);
        let mut found = Vec::new();
        loop {
            let token = scanner.next().expect("the text is well-formed");
            if token.kind == Kind::End {
                break;
            }
            found.push(token.text);
        }
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn sections_have_their_own_grammar() {
        check("a || (* b (* c *) *) d", Mode::Litmus, &["a", "|", "|", "d"]);
        check("f(*x) | y // z", Mode::C, &["f", "(", "*", "x", ")", "|", "y"]);
        check(
            "0:EAX=0x1F /\\ ~(x<>-1)",
            Mode::Litmus,
            &["0", ":", "EAX", "=", "0x1F", "/\\", "~", "(", "x", "<>", "-", "1", ")"],
        );
        check("\"Pod WR\" x", Mode::Litmus, &["\"Pod WR\"", "x"]);
    }

    #[test]
    fn numbers_have_two_bases() {
        assert_eq!(number("12"), Some(12));
        assert_eq!(number("0xfF"), Some(255));
        assert_eq!(number("1UL"), Some(1));
        assert_eq!(number("18446744073709551615"), Some(u64::MAX.into()));
        assert_eq!(number("12ab"), None);
        assert_eq!(number("0x"), None);
    }
}

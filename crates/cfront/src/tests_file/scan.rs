//! The tokens of one line of a tests file.

use cyrano_ir::{Diagnostic, Span};

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) span: Span,
    pub(super) kind: Kind,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word,
    Number,
    Punct,
}

/// The tokens of a line that starts at `start` of the file.
pub(super) fn line(text: &str, start: usize, errors: &mut Vec<Diagnostic>) -> Vec<Token> {
    let text = text.split("//").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (len, kind) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_alphabetic() || first == '_' {
            (rest.find(|c| !word(c)).unwrap_or(rest.len()), Kind::Word)
        } else if first.is_ascii_digit() {
            (rest.find(|c| !word(c)).unwrap_or(rest.len()), Kind::Number)
        } else if rest.starts_with("->") || rest.starts_with("..") {
            (2, Kind::Punct)
        } else {
            (first.len_utf8(), Kind::Punct)
        };
        let span = Span::new(start + at, start + at + len);
        if kind == Kind::Punct && len == 1 && !"=(){},&.[]|'-!<".contains(first) || !first.is_ascii() {
            errors.push(Diagnostic::new(span, format!("unexpected character `{first}`"), "not part of the notation"));
        } else {
            found.push(Token { text: rest[..len].to_string(), span, kind });
        }
        at += len;
    }
    found
}

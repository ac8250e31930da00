//! Preprocessing tokens, each with its place.
//!
//! Comments and continued lines are white space. Every token knows whether it starts a line, which is all that directives need.

use cyrano_ir::Span;

use crate::source::{Loc, Problem, Problems};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    Ident,
    Number,
    Str,
    Char,
    Punct,
}

/// A token.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) text: String,
    pub(crate) loc: Loc,
    /// Whether nothing but white space stands before it on its line.
    pub(crate) starts_line: bool,
    /// Whether white space stands before it.
    pub(crate) spaced: bool,
    /// The macros it came from, which are not expanded in it again.
    pub(crate) hidden: Vec<String>,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind == TokenKind::Punct && self.text == text
    }

    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.kind == TokenKind::Ident && self.text == text
    }
}

const PUNCTUATION: [&str; 23] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "##",
];

/// Cuts a file into tokens.
pub(crate) fn tokens(text: &str, file: u32, problems: &mut Problems) -> Vec<Token> {
    tokens_from(text, 0, file, problems)
}

/// Cuts a file into tokens from this offset on.
pub(crate) fn tokens_from(text: &str, at: usize, file: u32, problems: &mut Problems) -> Vec<Token> {
    let mut lexer = Lexer { text, at, file, starts_line: true, spaced: false };
    let mut found = Vec::new();
    while let Some(token) = lexer.next(problems) {
        found.push(token);
    }
    found
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    file: u32,
    starts_line: bool,
    spaced: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn loc(&self, start: usize) -> Loc {
        Loc { file: self.file, span: Span::new(start, self.at) }
    }

    fn next(&mut self, problems: &mut Problems) -> Option<Token> {
        self.skip_space(problems);
        let start = self.at;
        let first = self.rest().chars().next()?;
        let kind = self.scan(first, problems);
        let text = self.text[start..self.at].to_string();
        let (starts_line, spaced) = (self.starts_line, self.spaced);
        (self.starts_line, self.spaced) = (false, false);
        let Some(kind) = kind else {
            let message = format!("unexpected character `{}`", text.escape_default());
            problems.add(Problem::new(self.loc(start), message, "not part of C"));
            return self.next(problems);
        };
        Some(Token { kind, text, loc: self.loc(start), starts_line, spaced, hidden: Vec::new() })
    }

    fn skip_space(&mut self, problems: &mut Problems) {
        loop {
            let rest = self.rest();
            let step = if rest.starts_with("//") {
                line_end(rest)
            } else if let Some(inside) = rest.strip_prefix("/*") {
                match inside.find("*/") {
                    Some(end) => end + 4,
                    None => {
                        let (start, len) = (self.at, rest.len());
                        self.at += len;
                        problems.add(Problem::new(self.loc(start), "this comment has no end", "starts here"));
                        return;
                    }
                }
            } else if rest.starts_with("\\\n") {
                2
            } else if rest.starts_with("\\\r\n") {
                3
            } else {
                match rest.chars().next() {
                    Some('\n') => {
                        self.starts_line = true;
                        1
                    }
                    Some(c) if c.is_whitespace() => c.len_utf8(),
                    _ => return,
                }
            };
            self.spaced = true;
            self.at += step;
        }
    }

    /// Moves past one token; none if it is not one.
    fn scan(&mut self, first: char, problems: &mut Problems) -> Option<TokenKind> {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if first.is_alphabetic() || first == '_' || first == '$' {
            self.at += self.rest().find(|c| !word(c)).unwrap_or(self.rest().len());
            return Some(TokenKind::Ident);
        }
        let after = self.rest().chars().nth(1);
        if first.is_ascii_digit() || first == '.' && after.is_some_and(|c| c.is_ascii_digit()) {
            self.at += number_length(self.rest());
            return Some(TokenKind::Number);
        }
        if first == '"' || first == '\'' {
            self.quoted(first, problems);
            return Some(if first == '"' { TokenKind::Str } else { TokenKind::Char });
        }
        if let Some(long) = PUNCTUATION.iter().find(|p| self.rest().starts_with(**p)) {
            self.at += long.len();
            return Some(TokenKind::Punct);
        }
        self.at += first.len_utf8();
        "+-*/%<>=!&|^~?:;,.()[]{}#".contains(first).then_some(TokenKind::Punct)
    }

    fn quoted(&mut self, quote: char, problems: &mut Problems) {
        let start = self.at;
        let mut escaped = false;
        for (offset, c) in self.text[start..].char_indices().skip(1) {
            self.at = start + offset + c.len_utf8();
            match c {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => return,
                _ => {}
            }
        }
        self.at = self.at.max(start + 1);
        problems.add(Problem::new(self.loc(start), format!("this has no closing {quote}"), "starts here"));
    }
}

/// How long a preprocessing number is (C11, 6.4.8): an exponent may have a sign.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || sign) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Where a line ends that may be continued.
fn line_end(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let continued = |at: &usize| text[..*at].trim_end_matches('\r').ends_with('\\');
    ends.into_iter().find(|at| !continued(at)).unwrap_or(text.len())
}

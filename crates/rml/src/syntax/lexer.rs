//! Source text to tokens.
//!
//! Never fails: what is no token is reported, once per run of such characters, and left out.

use cyrano_ir::{Diagnostic, Span};
use logos::Logos;

use crate::report::Reports;
use crate::syntax::token::Token;

/// The tokens of a file, ending with [`Token::End`].
pub(crate) fn lex(source: &str, reports: &mut Reports) -> Vec<(Token, Span)> {
    let mut tokens = Vec::new();
    let mut bad: Option<Span> = None;
    for (token, range) in Token::lexer(source).spanned() {
        let span = Span::new(range.start, range.end);
        match token {
            Ok(Token::OpenComment) => {
                let open = Span::new(range.start, range.start + 2);
                reports.complain(open, "this comment is never closed", "starts here", "close it with `*/`");
            }
            Ok(Token::OpenStr) => {
                let help = "close it with `\"` on the same line";
                reports.complain(span, "this string is never closed", "starts here", help);
                tokens.push((Token::Str, span));
            }
            Ok(token) => tokens.push((token, span)),
            Err(()) => match &mut bad {
                Some(run) if run.end == span.start => run.end = span.end,
                _ => {
                    report_bad(source, bad.replace(span), reports);
                }
            },
        }
    }
    report_bad(source, bad, reports);
    tokens.push((Token::End, Span::new(source.len(), source.len())));
    tokens
}

fn report_bad(source: &str, bad: Option<Span>, reports: &mut Reports) {
    let Some(span) = bad else { return };
    let text: String = source[span.range()].chars().take(20).collect();
    let message = format!("`{}` is not part of the language", text.escape_debug());
    reports.add(Diagnostic::new(span, message, "unknown characters"));
}

/// The text between the quotation marks, with `\"`, `\\` and `\n` replaced.
pub(crate) fn unquote(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

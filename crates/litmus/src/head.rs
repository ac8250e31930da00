//! The head of a test: architecture and name in the first line, then texts, comments and `Key=Value` lines up to the initial state.

use cyrano_ir::{Diagnostic, Span, suggest};

use crate::ast::{Arch, Head};
use crate::cursor::Parse;
use crate::token::comment_end;

/// Architectures of herd that are not read; their name alone says why a test is refused.
const OTHERS: [&str; 9] = ["ARM", "MIPS", "LISA", "Bell", "BPF", "ASL", "JAVA", "CPP11", "OpenCL"];

/// Reads the head; the offset is that of the `{` of the initial state.
pub(crate) fn read(source: &str) -> Parse<(Head, usize)> {
    let start = skip_comments(source, 0)?;
    let line_end = source[start..].find('\n').map_or(source.len(), |end| start + end);
    let line = source[start..line_end].trim_end();
    let word_len = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, name) = (&line[..word_len], line[word_len..].trim());
    // The name is one word; what stands behind it is a remark.
    let name = name.split("(*").next().and_then(|name| name.split_whitespace().next()).unwrap_or_default();
    let span = Span::new(start, (start + word_len.max(1)).min(source.len()));
    let arch = arch(word, span)?;
    if name.is_empty() {
        let what = "head: the first line has no name for the test";
        return Err(Diagnostic::new(span, what, "expected a name behind this").with_help(format!("`{word} MyTest`")));
    }
    let mut head = Head { arch, name: name.to_owned(), info: Vec::new() };
    let at = info(source, line_end, &mut head)?;
    Ok((head, at))
}

/// The architecture that the first word names.
pub(crate) fn arch_of(source: &str) -> Option<Arch> {
    let start = skip_comments(source, 0).ok()?;
    let word = source[start..].split_whitespace().next()?;
    Arch::ALL.iter().find(|(_, name)| *name == word).map(|(arch, _)| *arch)
}

fn arch(word: &str, span: Span) -> Parse<Arch> {
    if let Some((arch, _)) = Arch::ALL.iter().find(|(_, name)| *name == word) {
        return Ok(*arch);
    }
    let known = format!("the architectures are {}", Arch::list());
    let other = OTHERS.iter().any(|other| other.eq_ignore_ascii_case(word));
    let (message, label) = match word {
        "" => ("head: the file is empty; expected an architecture and a name: `X86 NAME`".to_owned(), "here"),
        _ if other => (format!("head: tests for {word} are not supported"), "this architecture"),
        _ => (format!("head: there is no architecture `{word}`"), "expected an architecture"),
    };
    let near = suggest::closest(word, Arch::ALL.iter().map(|(_, name)| *name)).filter(|_| !other);
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    Err(Diagnostic::new(span, message, label).with_help(format!("{near}{known}")))
}

/// Reads everything between the first line and the initial state.
fn info(source: &str, mut at: usize, head: &mut Head) -> Parse<usize> {
    loop {
        at = skip_comments(source, at)?;
        let rest = &source[at..];
        let line = rest.lines().next().unwrap_or_default();
        if rest.starts_with('{') {
            return Ok(at);
        } else if let Some(text) = rest.strip_prefix('"') {
            let end = text.find('"').ok_or_else(|| {
                Diagnostic::new(Span::new(at, at + 1), "head: this text has no closing quote", "opened here")
            })?;
            at += end + 2;
        } else if let Some((key, value)) = line.split_once('=') {
            head.info.push((key.trim().to_owned(), value.trim().to_owned()));
            at += line.len();
        } else if has_state(rest) {
            // A remark.
            at += line.len();
        } else {
            let what = match rest.is_empty() {
                true => "head: the test has no initial state".to_owned(),
                false => format!("head: expected `{{`, a text in quotes or a line `Key=Value`, found `{line}`"),
            };
            let span = Span::new(at.saturating_sub(usize::from(rest.is_empty())), at + line.len());
            return Err(Diagnostic::new(span, what, "here").with_help("the initial state stands between `{` and `}`"));
        }
    }
}

/// Whether an initial state opens one of the lines to come.
fn has_state(rest: &str) -> bool {
    rest.lines().skip(1).any(|line| line.trim_start().starts_with('{'))
}

fn skip_comments(source: &str, mut at: usize) -> Parse<usize> {
    loop {
        let rest = &source[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
        let rest = &source[at..];
        if rest.starts_with("(*") {
            at = comment_end(source, at)?;
        } else if rest.starts_with("//") || rest.starts_with('#') {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(end) = rest.strip_prefix("/*").and_then(|rest| rest.find("*/")) {
            at += end + 4;
        } else {
            return Ok(at);
        }
    }
}

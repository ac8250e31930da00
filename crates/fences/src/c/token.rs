//! The tokens of a C text, as far as the ends of statements matter.
//!
//! Comments and preprocessor directives are no tokens, strings and character constants are one each. Nothing is expanded: what a macro
//! stands for is not known here.

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// A character that is none of that.
    Mark(char),
    /// A string or a character constant.
    Quoted,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokens of a text, up to the end even if it makes no sense.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut fresh = true;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, len) = match first {
            '#' if fresh => (None, directive(rest)),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if comment(rest) > 0 => (None, comment(rest)),
            '"' | '\'' => (Some(Kind::Quoted), quoted(rest, first)),
            _ if is_word(first) => (Some(Kind::Word), rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            _ => (Some(Kind::Mark(first)), first.len_utf8()),
        };
        tokens.extend(kind.map(|kind| Token { kind, start: at, end: at + len }));
        fresh = first == '\n' || fresh && kind.is_none();
        at += len;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a comment; 0 if it is none.
pub(super) fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        line(text, 2)
    } else if let Some(inside) = text.strip_prefix("/*") {
        inside.find("*/").map_or(text.len(), |end| end + 4)
    } else {
        0
    }
}

/// The length of a line without its end, from an offset in it; a backslash at the end of a line continues it.
fn line(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(end) = text[at..].find('\n') {
        let before = text[..at + end].trim_end_matches('\r');
        if !before.ends_with('\\') {
            return at + end;
        }
        at += end + 1;
    }
    text.len()
}

/// The length of a directive without the end of its line. A comment in it may go on over several lines.
fn directive(text: &str) -> usize {
    let end = line(text, 0);
    let mut at = 0;
    while at < end {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        match first {
            '"' | '\'' => at += quoted(rest, first),
            _ if comment(rest) > end - at => return at + comment(rest),
            _ => at += comment(rest).max(first.len_utf8()),
        }
    }
    end
}

/// The length of a string or character constant, or of what there is of one on its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            _ if c == quote && !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = tokens(text).iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comments_and_directives_are_left_out() {
        check("a; // b;\nc", &["a", ";", "c"]);
        check("a /* ; */ b // c \\\n d\ne", &["a", "b", "e"]);
        check("#define X { ; \\\n }\n  # if Y; /* a\n b */\nz", &["z"]);
        check("#define S \"/*\"\nz", &["z"]);
        check("a # b", &["a", "#", "b"]);
        check("/* unfinished", &[]);
    }

    #[test]
    fn quoted_text_is_one_token() {
        check(
            "f(\"{;}\", '}', '\\'', \"\\\"\");",
            &["f", "(", "\"{;}\"", ",", "'}'", ",", "'\\''", ",", "\"\\\"\"", ")", ";"],
        );
        check("\"open\n;", &["\"open", ";"]);
        check("é->x1 = 0x1f;", &["é", "-", ">", "x1", "=", "0x1f", ";"]);
    }
}

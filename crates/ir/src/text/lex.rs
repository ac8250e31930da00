//! The words of one line.

use super::names::{UNDEFINED_WORD, word_len};

/// A word of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A bare name or a word of the language.
    Word(String),
    /// A quoted name or text, without its quotes and escapes.
    Quoted(String),
    /// A number, with its sign.
    Number(i128),
    /// Punctuation or an operator.
    Symbol(&'static str),
}

/// All symbols; a longer one stands before its prefixes.
const SYMBOLS: [&str; 33] = [
    ":=", "..", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "!",
    "(", ")", "[", "]", "{", "}", ",", ":", ";", "=", "#", "@",
];

/// Splits a line into its words.
pub(super) fn lex(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with("//") {
        let (token, len) = token(rest)?;
        tokens.push(token);
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

/// The first word of `text`, which does not start with a space, and its length.
fn token(text: &str) -> Result<(Token, usize), String> {
    if text.starts_with('"') {
        return quoted(text);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        let len = digits.find(|c: char| !c.is_ascii_digit());
        let len = len.unwrap_or(digits.len()) + (text.len() - digits.len());
        let number = &text[..len];
        let value = number.parse().map(Token::Number);
        return value.map(|token| (token, len)).map_err(|_| format!("`{number}` does not fit into 128 bits"));
    }
    let len = word_len(text);
    if &text[..len] == UNDEFINED_WORD {
        return Ok((Token::Number(crate::UNDEFINED), len));
    }
    if len > 0 {
        return Ok((Token::Word(text[..len].to_owned()), len));
    }
    let symbol = SYMBOLS.into_iter().find(|s| text.starts_with(s));
    symbol
        .map(|symbol| (Token::Symbol(symbol), symbol.len()))
        .ok_or_else(|| format!("unexpected character `{}`", text.chars().next().unwrap_or(' ')))
}

/// The quoted text at the start of `text`, and its length with quotes.
fn quoted(text: &str) -> Result<(Token, usize), String> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Quoted(value), at + 1)),
            '\\' => {
                let c = escape(&mut chars.by_ref().map(|(_, c)| c));
                value.push(c.ok_or("unknown escape in a quoted text")?);
            }
            c => value.push(c),
        }
    }
    Err("a quoted text does not end".into())
}

/// The character that an escape stands for, after its backslash; see [`quote`].
fn escape(chars: &mut impl Iterator<Item = char>) -> Option<char> {
    match chars.next()? {
        c @ ('"' | '\\') => Some(c),
        'n' => Some('\n'),
        'u' if chars.next() == Some('{') => {
            let digits: String = chars.take_while(|c| *c != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        _ => None,
    }
}

/// A text in quotes, on one line whatever it contains.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

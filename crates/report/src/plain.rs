//! Text from outside as a terminal may see it.
//!
//! Names, messages and lines of checked files can have any character in them; some make a terminal move its cursor, change its title or answer, others
//! make text look different from what it is. They are shown by their numbers: `\x1b`, `\u{202e}`.
//!
//! **Invariant:** [`terminal`] lets no such character through but those of our own colours. Colours are written with a mark that is chosen at random
//! for each process ([`mark`]), so that no text can have it.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// What a sequence of our own begins with, until it is printed.
pub fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = || RandomState::new().build_hasher().finish();
        format!("\u{1b}{:016x}{:016x}", random(), random())
    })
}

/// Whether a terminal, or a reader, could take a character for something else.
pub fn is_hidden(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A character by its number.
pub fn by_number(c: char) -> String {
    match u32::from(c) {
        number @ 0..=0x7f => format!("\\x{number:02x}"),
        number => format!("\\u{{{number:x}}}"),
    }
}

/// A text without line breaks, hidden characters by their numbers.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if is_hidden(c) { by_number(c) } else { c.to_string() }).collect()
}

/// A whole output: line breaks, tabs and our own colours stay, other hidden characters are shown by their numbers.
pub fn terminal(text: &str) -> String {
    let pieces: Vec<String> = text.split(mark()).map(plain).collect();
    pieces.join("\u{1b}")
}

/// The signs that texts are drawn with, and what stands for them in ASCII: one for one, so that columns stay where they are.
const SIGNS: [(&str, char); 14] = [
    ("│", '|'),
    ("┌╭└╰┬┴├┤┼╮╯", '+'),
    ("┊·", ':'),
    ("─", '-'),
    ("◌", 'o'),
    ("→", '>'),
    ("←", '<'),
    ("…", '~'),
    ("—", '-'),
    ("•", '*'),
    ("−", '-'),
    ("×", 'x'),
    ("≺", '<'),
    ("π", 'p'),
];

/// The text with such signs in ASCII; what comes from somebody else's file is left as it is.
pub fn ascii(text: &str) -> String {
    let sign = |c: char| SIGNS.iter().find(|(signs, _)| signs.contains(c)).map_or(c, |(_, ascii)| *ascii);
    text.chars().map(sign).collect()
}

fn plain(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            // The other half of a line break.
            '\r' if rest.peek() == Some(&'\n') => out.push(c),
            c if is_hidden(c) => out.push_str(&by_number(c)),
            c => out.push(c),
        }
    }
    out
}

/// A JSON text: what JSON lets through is escaped in its own way. Such characters occur only within strings.
pub fn json(text: &str) -> String {
    if !text.contains(|c| is_hidden(c) && c != '\n') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if is_hidden(c) => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_our_own_have_one_of_ascii_each() {
        let drawn = "  1  ┊ 25: x := é  │\n     └ x → 1 …";
        assert_eq!(ascii(drawn), "  1  : 25: x := é  |\n     + x > 1 ~");
        assert_eq!(ascii(drawn).chars().count(), drawn.chars().count());
    }

    #[test]
    fn nothing_but_our_own_colours_gets_through() {
        let own = format!("{}[1mx{}[0m", mark(), mark());
        assert_eq!(terminal(&own), "\u{1b}[1mx\u{1b}[0m");
        let check = |text: &str, expected: &str| assert_eq!(terminal(text), expected);
        check("a\n\tb\r\n", "a\n\tb\r\n");
        check("\u{1b}[31mred\u{1b}]0;title\u{7}", "\\x1b[31mred\\x1b]0;title\\x07");
        check("over\rwritten\u{8}", "over\\x0dwritten\\x08");
        check("\u{7f}\u{9b}2J", "\\x7f\\u{9b}2J");
        check("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}");
        check("größer → ∀", "größer → ∀");
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a": "\u{1b}\u{7f}\u{9b}\u{202e}\u{e0001}é" });
        let text = json(&serde_json::to_string_pretty(&value).expect("it serialises"));
        assert!(!text.contains(|c: char| is_hidden(c) && c != '\n'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON"), value);
    }
}

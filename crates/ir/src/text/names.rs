//! Names in the text form: which are written bare, and what they refer to.

use std::collections::HashMap;

use super::lex::quote;

/// Words that start an instruction or its right side, where a name could stand too.
const WORDS: [&str; 23] = [
    "abort",
    "assert",
    "assume",
    "atomic",
    "block",
    "branch",
    "cas",
    "choose",
    "commit",
    "exchange",
    "fence",
    "fetch_add",
    "halt",
    "invoke",
    "jump",
    "limit",
    "load",
    "operation",
    "progress",
    "respond",
    "rfin",
    "rollback",
    "store",
];

/// The number that stands for an undefined value.
pub(super) const UNDEFINED_WORD: &str = "undefined";

/// A number as it is written.
pub(super) fn numeral(value: i128) -> String {
    if value == crate::UNDEFINED { UNDEFINED_WORD.to_owned() } else { value.to_string() }
}

/// A name as it is written: bare if it can be, else in quotes.
pub(super) fn written(name: &str) -> String {
    let bare = !name.is_empty() && word_len(name) == name.len() && !starts_instruction(name) && name != UNDEFINED_WORD;
    if bare { name.to_owned() } else { quote(name) }
}

/// Whether a word starts an instruction, or its right side.
pub(super) fn starts_instruction(word: &str) -> bool {
    WORDS.contains(&word)
}

/// The length of the word at the start of `text`; 0 if there is none.
pub(super) fn word_len(text: &str) -> usize {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let percent = usize::from(text.starts_with('%'));
    let rest = &text[percent..];
    // The remainder operator is a `%` that is not glued to what follows.
    if !rest.starts_with(|c: char| letter(c) && (percent == 1 || !c.is_ascii_digit())) {
        return 0;
    }
    let len = rest.find(|c| !letter(c) && c != '.').unwrap_or(rest.len());
    percent + len
}

/// The entries of one table by name.
#[derive(Default)]
pub(super) struct Names {
    positions: HashMap<String, Position>,
    len: usize,
}

/// Where a name stands in its table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Only here.
    At(usize),
    /// In several places.
    Ambiguous,
}

impl Names {
    /// Adds the next entry of the table.
    pub(super) fn push(&mut self, name: &str) {
        let here = Position::At(self.len);
        let entry = self.positions.entry(name.to_owned());
        entry.and_modify(|position| *position = Position::Ambiguous).or_insert(here);
        self.len += 1;
    }

    /// Where the name stands, if anywhere.
    pub(super) fn position(&self, name: &str) -> Option<Position> {
        self.positions.get(name).copied()
    }
}

/// How the entries of one table are referred to, so that [`Names`] finds them again.
pub(super) struct References(Vec<String>);

impl References {
    /// The references to a table with these names.
    pub(super) fn new<'a>(table: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut names = Names::default();
        table.clone().for_each(|name| names.push(name));
        let refer = |(position, name)| match names.position(name) {
            Some(Position::At(_)) => written(name),
            _ => format!("#{position}"),
        };
        Self(table.enumerate().map(refer).collect())
    }

    /// The reference to the entry at `position`, whether or not there is one.
    pub(super) fn to(&self, position: usize) -> String {
        let reference = self.0.get(position).cloned();
        reference.unwrap_or_else(|| format!("#{position}"))
    }
}

//! Reads the text form of a memory history.
//!
//! ```text
//! history memory      # the alphabet
//! 1 load x            # thread, action, variable
//! 1 rfin
//! 2 commit
//! ```
//!
//! A `;` stands for the end of a line. Threads are numbers and variables are words; both are numbered from 0 in the order of their appearance, and their names are
//! kept. **Invariant:** everything that is wrong with a file is reported at once.

use cyrano_diagnostic::{Diagnostic, Span};

use super::{Action, Event, History, Names};

const ACTIONS: &str = "a line is `THREAD load|store|cas|rollback VARIABLE` or `THREAD rfin|commit|abort|begin`";

/// A history that was read from a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The history.
    pub history: History,
    /// What the file calls its threads and variables.
    pub names: Names,
    /// Where each event stands in the file.
    pub spans: Vec<Span>,
}

/// Reads a history of memory events; reports everything that is wrong with it.
pub fn parse(source: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let names = Names { threads: Vec::new(), variables: Vec::new() };
    let parsed = Parsed { history: History::new(), names, spans: Vec::new() };
    let mut reader = Reader { parsed, errors: Vec::new() };
    let mut lines = lines(source);
    match lines.next() {
        None => {
            let empty = Diagnostic::new(Span::new(0, source.len()), "this history is empty", "no line of a history");
            reader.errors.push(empty.with_help("the first line is `history memory` or `history values`"));
        }
        Some(words) => {
            if !reader.header(&words) {
                // A file of another kind would only give an error for each line.
                return Err(reader.errors);
            }
        }
    }
    for words in lines {
        reader.event(&words);
    }
    if reader.errors.is_empty() { Ok(reader.parsed) } else { Err(reader.errors) }
}

/// A word and where it stands.
pub(crate) type Word<'a> = (&'a str, Span);

/// The words of each line that has any.
pub(crate) fn lines<'a>(source: &'a str) -> impl Iterator<Item = Vec<Word<'a>>> {
    let located = move |word: &'a str| {
        let start = word.as_ptr() as usize - source.as_ptr() as usize;
        (word, Span::new(start, start + word.len()))
    };
    let texts = source.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split(';'));
    let words = texts.map(move |text| text.split_whitespace().map(located).collect::<Vec<_>>());
    words.filter(|words| !words.is_empty())
}

struct Reader {
    parsed: Parsed,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn error(&mut self, span: Span, message: impl Into<String>, label: &str, help: &str) {
        self.errors.push(Diagnostic::new(span, message, label).with_help(help));
    }

    /// Reads the first line; says whether the rest is worth reading.
    fn header(&mut self, words: &[Word<'_>]) -> bool {
        let whole = span_of(words);
        match words {
            [("history", _), ("memory", _)] => true,
            [("history", _), ("memory", _), rest @ ..] => {
                let help = "write `history memory`";
                self.error(span_of(rest), "the first line has too many words", "not expected", help);
                true
            }
            [("history", _), ("values", span), ..] => {
                let help = "this reader takes `history memory`: loads, stores, rollbacks of transactional variables";
                self.error(*span, "a history of values, not of memory events", "the other alphabet", help);
                false
            }
            [("history", _), (_, span), ..] => {
                self.error(*span, "no such alphabet", "unknown", "the alphabets are `memory` and `values`");
                false
            }
            _ => {
                let help = "the first line is `history memory` or `history values`";
                self.error(whole, "this is not a history", "not a first line", help);
                false
            }
        }
    }

    fn event(&mut self, words: &[Word<'_>]) {
        let (thread_word, rest) = words.split_first().expect("a line without words is skipped");
        let thread = self.thread(*thread_word);
        let action = match rest.split_first() {
            None => {
                self.error(thread_word.1, "the line ends after the thread", "what does it do?", ACTIONS);
                None
            }
            Some((word, operands)) => self.action(*word, operands),
        };
        if let (Some(thread), Some(action)) = (thread, action) {
            self.parsed.history.push(Event { thread, action });
            self.parsed.spans.push(span_of(words));
        }
    }

    fn thread(&mut self, (word, span): Word<'_>) -> Option<u8> {
        let Ok(number) = word.parse::<u32>() else {
            self.error(span, format!("`{word}` is not a thread"), "a number is expected", ACTIONS);
            return None;
        };
        let index = position(&mut self.parsed.names.threads, &number.to_string());
        if index.is_none() {
            self.error(span, "too many threads", "the 257th", "a history has at most 256 threads");
        }
        index
    }

    fn action(&mut self, (word, span): Word<'_>, operands: &[Word<'_>]) -> Option<Action> {
        let with_variable: Option<fn(u8) -> Action> = match word {
            "load" => Some(Action::Load),
            "store" => Some(Action::Store),
            "cas" => Some(Action::Cas),
            "rollback" => Some(Action::Rollback),
            _ => None,
        };
        if let Some(action) = with_variable {
            let Some((variable, rest)) = operands.split_first() else {
                self.error(span, format!("`{word}` needs a variable"), "of which variable?", ACTIONS);
                return None;
            };
            self.no_more(rest);
            return self.variable(*variable).map(action);
        }
        let action = match word {
            "rfin" => Action::ReadFinish,
            "commit" => Action::Commit,
            "abort" => Action::Abort,
            "begin" => Action::Begin,
            _ => {
                self.error(span, format!("`{word}` is not an action"), "unknown", ACTIONS);
                return None;
            }
        };
        self.no_more(operands);
        Some(action)
    }

    fn variable(&mut self, (word, span): Word<'_>) -> Option<u8> {
        let index = position(&mut self.parsed.names.variables, word);
        if index.is_none() {
            self.error(span, "too many variables", "the 257th", "a history has at most 256 variables");
        }
        index
    }

    fn no_more(&mut self, rest: &[Word<'_>]) {
        if !rest.is_empty() {
            self.error(span_of(rest), "the line goes on after the event", "not expected", ACTIONS);
        }
    }
}

/// The index of a name, which is added if it is new; `None` if there are too many.
pub(crate) fn position(names: &mut Vec<String>, name: &str) -> Option<u8> {
    let known = names.iter().position(|n| n == name);
    let index = known.unwrap_or(names.len());
    let index = u8::try_from(index).ok()?;
    if known.is_none() {
        names.push(name.into());
    }
    Some(index)
}

pub(crate) fn span_of(words: &[Word<'_>]) -> Span {
    words.iter().map(|word| word.1).reduce(Span::to).unwrap_or_default()
}

//! Reads the text form of a history of values.
//!
//! ```text
//! history values      # the alphabet
//! init x 0            # initial values, before the first event; 0 where nothing is said
//! T1 inv read x       # a call begins,
//! T2 write x 1        # a call with its reply in one line: `ok` unless `A` stands behind it
//! T1 ret 1            # a reply: a value, `ok`, `A` (aborted) or `C` (committed)
//! T2 commit C
//! ```
//!
//! Transactions and locations are words; both are numbered from 0 in the order of their appearance, and their names are kept.
//! A line with a call and its reply is two events. **Invariant:** everything that is wrong with a file is reported at once: what
//! cannot be read, and what is out of place among the lines of transactions that could be read.

use cyrano_diagnostic::{Diagnostic, Span};

use super::{Action, Call, Event, Fault, History, IllFormed, MAX_LOCATIONS, MAX_TRANSACTIONS, Names, Reply};
use crate::history::parse::{Word, lines, position, span_of};

const LINES: &str = "a line is `TX read LOC VALUE|A`, `TX write LOC VALUE [ok|A]`, `TX commit C|A`, `TX inv read LOC`, \
                     `TX inv write LOC VALUE`, `TX inv commit`, `TX ret VALUE|ok|A|C`, or `init LOC VALUE`";

/// A history that was read from a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The history.
    pub history: History,
    /// What the file calls its transactions and locations.
    pub names: Names,
    /// Where each event stands in the file; two events of one line stand at the same place.
    pub spans: Vec<Span>,
}

/// Whether the first line of a history says that it is one of values.
pub fn is_values(source: &str) -> bool {
    lines(source).next().is_some_and(|words| matches!(words[..], [("history", _), ("values", _), ..]))
}

/// Reads a history of values; reports everything that is wrong with it.
pub fn parse(source: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut lines = lines(source);
    match lines.next().as_deref() {
        Some([("history", _), ("values", _)]) => {}
        Some([("history", _), ("values", _), rest @ ..]) => {
            reader.error(span_of(rest), "the first line has too many words", "not expected", "write `history values`");
        }
        first => {
            let span = first.map_or_else(Span::default, span_of);
            reader.error(
                span,
                "this is not a history of values",
                "not a first line",
                "the first line is `history values`",
            );
            return Err(reader.errors);
        }
    }
    for words in lines {
        reader.line(&words);
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    init: Vec<i128>,
    given: Vec<bool>,
    events: Vec<Event>,
    names: Names,
    spans: Vec<Span>,
    /// Transactions with a line that could not be read.
    spoiled: Vec<u8>,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn error(&mut self, span: Span, message: impl Into<String>, label: &str, help: &str) {
        self.errors.push(Diagnostic::new(span, message, label).with_help(help));
    }

    fn finish(mut self) -> Result<Parsed, Vec<Diagnostic>> {
        // Where a line of a transaction could not be read, nothing can be said about what stands beside it.
        let readable: Vec<bool> = self.events.iter().map(|event| !self.spoiled.contains(&event.tx)).collect();
        let keep = |at: &mut usize| std::mem::replace(at, *at + 1);
        let (mut event, mut span) = (0, 0);
        self.events.retain(|_| readable[keep(&mut event)]);
        self.spans.retain(|_| readable[keep(&mut span)]);
        match History::new(self.init, self.events) {
            Ok(history) if self.errors.is_empty() => {
                return Ok(Parsed { history, names: self.names, spans: self.spans });
            }
            Ok(_) => {}
            Err(wrong) => {
                for fault in wrong {
                    let diagnostic = out_of_place(fault, &self.spans);
                    // A line may be two events, and then the second is only wrong because the first is.
                    if self.errors.last().is_none_or(|last| last.span != diagnostic.span) {
                        self.errors.push(diagnostic);
                    }
                }
            }
        }
        self.errors.sort_by_key(|error| error.span.start);
        Err(self.errors)
    }

    fn line(&mut self, words: &[Word<'_>]) {
        let (first, rest) = words.split_first().expect("a line without words is skipped");
        if first.0 == "init" {
            self.initial(first.1, rest);
            return;
        }
        let tx = self.transaction(*first);
        let Some((word, operands)) = rest.split_first() else {
            self.error(first.1, "the line ends after the transaction", "what does it do?", LINES);
            self.spoiled.extend(tx);
            return;
        };
        let actions = match word.0 {
            "inv" => self.call(word.1, operands).map(|(call, rest)| {
                self.no_more(rest);
                vec![Action::Invoke(call)]
            }),
            "ret" => self.reply(word.1, operands).map(|reply| vec![Action::Respond(reply)]),
            _ => self.completed(word.1, rest),
        };
        let Some(tx) = tx else { return };
        let Some(actions) = actions else {
            self.spoiled.push(tx);
            return;
        };
        for action in actions {
            self.events.push(Event { tx, action });
            self.spans.push(span_of(words));
        }
    }

    /// `LOC VALUE` after `init`.
    fn initial(&mut self, init: Span, words: &[Word<'_>]) {
        let [location, value, rest @ ..] = words else {
            self.error(init, "`init` needs a location and a value", "which, and what?", "write `init LOC VALUE`");
            return;
        };
        self.no_more(rest);
        if !self.events.is_empty() {
            let help = "move the line before the first event";
            self.error(init, "an initial value after the first event", "too late", help);
        }
        if let (Some(loc), Some(value)) = (self.location(*location), self.value(*value)) {
            if std::mem::replace(&mut self.given[loc as usize], true) {
                let help = "give each location one initial value";
                self.error(location.1, format!("`{}` has an initial value already", location.0), "again", help);
            }
            self.init[loc as usize] = value;
        }
    }

    /// A call with its reply. The words begin with what is called.
    fn completed(&mut self, what: Span, words: &[Word<'_>]) -> Option<Vec<Action>> {
        let (call, rest) = self.call(what, words)?;
        let reply = match (call, rest) {
            (Call::Write(..), []) => Reply::Ok,
            (_, []) => {
                let message =
                    if call == Call::Commit { "how does the commit end?" } else { "what does the read return?" };
                let help = "`C` (committed), `A` (aborted) or the value stands at the end of the line; a call without a \
                            reply is `TX inv …`";
                self.error(what, message, "no reply", help);
                return None;
            }
            _ => self.reply(what, rest)?,
        };
        Some(vec![Action::Invoke(call), Action::Respond(reply)])
    }

    /// A call, and the words behind it.
    fn call<'w, 's>(&mut self, before: Span, words: &'w [Word<'s>]) -> Option<(Call, &'w [Word<'s>])> {
        match words {
            [("read", _), location, rest @ ..] => Some((Call::Read(self.location(*location)?), rest)),
            [("write", _), location, value, rest @ ..] => {
                let (location, value) = (self.location(*location), self.value(*value));
                Some((Call::Write(location?, value?), rest))
            }
            [("commit", _), rest @ ..] => Some((Call::Commit, rest)),
            [("read", span)] => {
                self.error(*span, "`read` needs a location", "of which location?", LINES);
                None
            }
            [("write", span), ..] => {
                self.error(*span, "`write` needs a location and a value", "what to where?", LINES);
                None
            }
            [(word, span), ..] => {
                self.error(*span, format!("`{word}` is not a call"), "unknown", LINES);
                None
            }
            [] => {
                self.error(before, "`inv` needs a call", "of what?", LINES);
                None
            }
        }
    }

    fn reply(&mut self, before: Span, words: &[Word<'_>]) -> Option<Reply> {
        let Some((word, rest)) = words.split_first() else {
            self.error(before, "`ret` needs a reply", "what does it return?", LINES);
            return None;
        };
        self.no_more(rest);
        match word.0 {
            "ok" => Some(Reply::Ok),
            "A" => Some(Reply::Aborted),
            "C" => Some(Reply::Committed),
            _ => {
                let value = word.0.parse().ok().map(Reply::Value);
                if value.is_none() {
                    let help = "a reply is a value (an integer of 64 bits), `ok`, `A` (aborted) or `C` (committed)";
                    self.error(word.1, format!("`{}` is not a reply", word.0), "unknown", help);
                }
                value
            }
        }
    }

    fn value(&mut self, (word, span): Word<'_>) -> Option<i128> {
        let value = word.parse().ok();
        if value.is_none() {
            self.error(span, format!("`{word}` is not a value"), "not a value", "values are integers of 64 bits");
        }
        value
    }

    fn transaction(&mut self, (word, span): Word<'_>) -> Option<u8> {
        let index = position(&mut self.names.transactions, word).filter(|index| (*index as usize) < MAX_TRANSACTIONS);
        if index.is_none() {
            let help = format!("a history of values has at most {MAX_TRANSACTIONS} transactions");
            self.error(span, "too many transactions", "one too many", &help);
        }
        index
    }

    fn location(&mut self, (word, span): Word<'_>) -> Option<u8> {
        let index = position(&mut self.names.locations, word).filter(|index| (*index as usize) < MAX_LOCATIONS);
        match index {
            None => {
                let help = format!("a history of values has at most {MAX_LOCATIONS} locations");
                self.error(span, "too many locations", "one too many", &help);
            }
            Some(_) => {
                self.init.resize(self.names.locations.len(), 0);
                self.given.resize(self.names.locations.len(), false);
            }
        }
        index
    }

    fn no_more(&mut self, rest: &[Word<'_>]) {
        if !rest.is_empty() {
            self.error(span_of(rest), "the line goes on after the event", "not expected", LINES);
        }
    }
}

/// What is wrong with an event that cannot stand where it stands.
fn out_of_place(wrong: IllFormed, spans: &[Span]) -> Diagnostic {
    let at = |message: &str, label: &str| Diagnostic::new(spans[wrong.at], message, label);
    match wrong.fault {
        Fault::StillWaiting(since) => at("a call before the reply to the last one", "still waiting")
            .with_related(spans[since], "this call has no reply yet")
            .with_help("a transaction has one call at a time; put its `ret` before the next call"),
        Fault::NoCall => at("a reply without a call", "to which call?")
            .with_help("put the transaction's `inv` before it, or write call and reply in one line"),
        Fault::Ended(end) => at("the transaction has ended", "after its end")
            .with_related(spans[end], "it ended here")
            .with_help("`C` and `A` end a transaction; the next one needs another name"),
        Fault::WrongReply(since) => at("no reply to such a call", "does not fit")
            .with_related(spans[since], "the call")
            .with_help("a read returns a value or `A`, a write `ok` or `A`, a commit `C` or `A`"),
        Fault::NoSuchLocation => at("no such location", "unknown").with_help("give it an initial value"),
        Fault::TooLarge => at("too many transactions or locations", "one too many")
            .with_help(format!("at most {MAX_TRANSACTIONS} transactions and {MAX_LOCATIONS} locations")),
    }
}

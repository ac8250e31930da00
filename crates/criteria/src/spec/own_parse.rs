//! Reads a specification of one's own; [`own`](super::own) says what it means.
//!
//! **Invariant:** everything that is wrong with a file is reported at once, and whatever parses has states for all its moves.

use cyrano_diagnostic::{Diagnostic, Span, suggest};

use super::own::{MOST_STATES, Move, Own, Pattern, Sort, Who, is_built_in};
use crate::history::Action;

const LINES: &str = "lines are `specification NAME`, `for thread t, variable v`, `start STATE` and `STATE: THREAD ACTION VARIABLE, … -> STATE`";
const ACTIONS: &str =
    "a pattern is `THREAD load|store|cas|rollback VARIABLE`, `THREAD rfin|commit|abort` or `THREAD any`";

/// A piece of the text and where it stands.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Piece<'a> {
    fn span(self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// A part of it, without what surrounds it.
    fn part(self, text: &'a str) -> Self {
        let trimmed = text.trim();
        let start = self.start + (trimmed.as_ptr() as usize - self.text.as_ptr() as usize);
        Self { text: trimmed, start }
    }

    fn split(self, at: &str) -> Vec<Self> {
        self.text.split(at).map(|text| self.part(text)).collect()
    }

    fn words(self) -> Vec<Self> {
        self.text.split_whitespace().map(|text| self.part(text)).collect()
    }
}

/// Reads a specification; reports everything that is wrong with it.
pub fn parse(source: &str) -> Result<Own, Vec<Diagnostic>> {
    let mut reader = Reader { name: None, quantified: None, start: None, lines: Vec::new(), errors: Vec::new() };
    let whole = Piece { text: source, start: 0 };
    for line in source.lines() {
        let line = whole.part(line.split('#').next().unwrap_or_default());
        if !line.text.is_empty() {
            reader.line(line);
        }
    }
    reader.finish(source)
}

struct Reader<'a> {
    name: Option<Piece<'a>>,
    quantified: Option<(Span, Vec<(Sort, Piece<'a>)>)>,
    start: Option<Piece<'a>>,
    /// States with their moves, each a list of patterns and a target.
    lines: Vec<(Piece<'a>, Vec<Piece<'a>>, Option<Piece<'a>>)>,
    errors: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn error(&mut self, span: Span, message: impl Into<String>, label: &str, help: impl Into<String>) {
        self.errors.push(Diagnostic::new(span, message, label).with_help(help));
    }

    fn line(&mut self, line: Piece<'a>) {
        let words = line.words();
        match (words[0].text, &words[1..]) {
            _ if line.text.contains(':') => self.moves(line),
            ("specification", [name]) => self.once("specification", line.span(), |reader| reader.name.replace(*name)),
            ("start", [state]) => self.once("start", line.span(), |reader| reader.start.replace(*state)),
            ("for", [_, ..]) => self.quantify(line),
            ("specification" | "start", _) => {
                let help = format!("write `{} NAME`", words[0].text);
                self.error(line.span(), format!("`{}` is followed by one name", words[0].text), "one name", help);
            }
            _ => self.error(line.span(), "this is no line of a specification", "unknown", LINES),
        }
    }

    fn once(&mut self, what: &str, span: Span, set: impl FnOnce(&mut Self) -> Option<Piece<'a>>) {
        if let Some(first) = set(self) {
            let again = Diagnostic::new(span, format!("`{what}` is given twice"), "the second time");
            self.errors.push(again.with_related(first.span(), "the first time"));
        }
    }

    /// `for thread t, variable v`.
    fn quantify(&mut self, line: Piece<'a>) {
        if let Some((first, _)) = &self.quantified {
            let again = Diagnostic::new(line.span(), "`for` is given twice", "the second time");
            self.errors.push(again.with_related(*first, "the first time"));
            return;
        }
        let mut names: Vec<(Sort, Piece<'a>)> = Vec::new();
        for item in line.part(&line.text["for".len()..]).split(",") {
            let (sort, name) = match item.words()[..] {
                [sort, name] if sort.text == "thread" => (Sort::Thread, name),
                [sort, name] if sort.text == "variable" => (Sort::Variable, name),
                _ => {
                    let help = "write `for thread t, variable v`";
                    self.error(item.span(), "neither a thread nor a variable", "not understood", help);
                    continue;
                }
            };
            if names.iter().any(|(_, other)| other.text == name.text) {
                self.error(name.span(), format!("`{}` stands for two things", name.text), "again", "use another name");
            } else if is_fixed(name.text) {
                let help = "numbers are threads, `x`, `y`, `z`, `v3`, … variables, and `any` and `other` say which; use another name";
                self.error(name.span(), format!("`{}` has a meaning of its own", name.text), "taken", help);
            } else {
                names.push((sort, name));
            }
        }
        self.quantified = Some((line.span(), names));
    }

    /// `state: pattern, pattern -> state`, or a state without moves.
    fn moves(&mut self, line: Piece<'a>) {
        let (state, rest) = line.text.split_once(':').unwrap_or((line.text, ""));
        let (state, rest) = (line.part(state), line.part(rest));
        if !is_name(state.text) {
            self.error(state.span(), "a state has a plain name", "not a name", "use letters, digits, `-` and `_`");
        }
        let (patterns, to) = match rest.split("->")[..] {
            [nothing] if nothing.text.is_empty() => (Vec::new(), None),
            [patterns, to] if !patterns.text.is_empty() && !to.text.is_empty() => (patterns.split(","), Some(to)),
            _ => {
                let help = "write `STATE: PATTERN, PATTERN -> STATE`";
                return self.error(rest.span(), "these are no moves", "events, `->` and a state are expected", help);
            }
        };
        self.lines.push((state, patterns, to));
    }

    fn finish(mut self, source: &str) -> Result<Own, Vec<Diagnostic>> {
        let mut states: Vec<&str> = Vec::new();
        for (state, ..) in &self.lines {
            if !states.contains(&state.text) {
                states.push(state.text);
            }
        }
        let begin = Span::new(0, source.len().min(1));
        let name = self.own_name(begin);
        let start = self.start.or_else(|| self.lines.first().map(|(state, ..)| *state));
        let start = match start {
            Some(start) => self.state(start, &states),
            None => {
                self.error(begin, "this specification has no states", "no line of moves", LINES);
                None
            }
        };
        if states.len() > MOST_STATES {
            let message = format!("{} states are too many", states.len());
            self.error(begin, message, "counted in this file", format!("there are at most {MOST_STATES}"));
        }
        let quantified: Vec<(Sort, Piece<'a>)> = self.quantified.take().map(|(_, names)| names).unwrap_or_default();
        let mut moves = Vec::new();
        for (from, patterns, to) in std::mem::take(&mut self.lines) {
            let from = states.iter().position(|state| *state == from.text);
            let to = to.and_then(|to| self.state(to, &states));
            for pattern in patterns {
                if let (Some(from), Some(pattern), Some(to)) = (from, self.pattern(pattern, &quantified), to) {
                    moves.push(Move { from, pattern, to });
                }
            }
        }
        match (name, start) {
            (Some(name), Some(start)) if self.errors.is_empty() => Ok(Own {
                name,
                text: source.to_owned(),
                quantified: quantified.into_iter().map(|(sort, name)| (sort, name.text.to_owned())).collect(),
                states: states.into_iter().map(str::to_owned).collect(),
                start,
                moves,
            }),
            _ => Err(self.errors),
        }
    }

    fn own_name(&mut self, begin: Span) -> Option<String> {
        let Some(name) = self.name else {
            self.error(begin, "this specification has no name", "no `specification NAME`", "add `specification NAME`");
            return None;
        };
        if !is_name(name.text) {
            let help = "use letters, digits, `-` and `_`";
            self.error(name.span(), "a specification has a plain name", "not a name", help);
        } else if is_built_in(name.text) {
            let help = "choose a name of your own, so that reports cannot be misread";
            self.error(name.span(), format!("`{}` is a built-in specification", name.text), "taken", help);
        }
        Some(name.text.to_owned())
    }

    fn state(&mut self, name: Piece<'a>, states: &[&str]) -> Option<usize> {
        let found = states.iter().position(|state| *state == name.text);
        if found.is_none() {
            let near = suggest::closest(name.text, states.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let help = format!("{near}a state without moves has a line of its own, `{}:`", name.text);
            self.error(name.span(), format!("there is no state `{}`", name.text), "no line begins with it", help);
        }
        found
    }

    fn pattern(&mut self, pattern: Piece<'a>, quantified: &[(Sort, Piece<'a>)]) -> Option<Pattern> {
        let words = pattern.words();
        let (thread, action, variable) = match words[..] {
            [thread, action] => (thread, action, None),
            [thread, action, variable] => (thread, action, Some(variable)),
            _ => {
                self.error(pattern.span(), "this is no event", "not understood", ACTIONS);
                return None;
            }
        };
        let thread = self.who(thread, Sort::Thread, quantified);
        let (action, has_variable) = match action.text {
            "load" => (Some(Action::Load(0)), true),
            "store" => (Some(Action::Store(0)), true),
            "cas" => (Some(Action::Cas(0)), true),
            "rollback" => (Some(Action::Rollback(0)), true),
            "rfin" => (Some(Action::ReadFinish), false),
            "commit" => (Some(Action::Commit), false),
            "abort" => (Some(Action::Abort), false),
            "any" => (None, false),
            other => {
                self.error(action.span(), format!("`{other}` is not an action"), "unknown", ACTIONS);
                return None;
            }
        };
        let variable = match (has_variable, variable) {
            (true, Some(variable)) => self.who(variable, Sort::Variable, quantified)?,
            (false, None) => Who::Any,
            (true, None) => {
                self.error(pattern.span(), "of which variable?", "the variable is missing", ACTIONS);
                return None;
            }
            (false, Some(variable)) => {
                self.error(variable.span(), "this event has no variable", "not expected", ACTIONS);
                return None;
            }
        };
        Some(Pattern { thread: thread?, action, variable })
    }

    fn who(&mut self, word: Piece<'a>, sort: Sort, quantified: &[(Sort, Piece<'a>)]) -> Option<Who> {
        let exactly = match sort {
            Sort::Thread => word.text.parse::<u8>().ok().filter(|number| *number > 0).map(|number| number - 1),
            Sort::Variable => variable(word.text),
        };
        let named = quantified.iter().position(|(of, name)| *of == sort && name.text == word.text);
        let found = match word.text {
            "any" => Some(Who::Any),
            "other" => Some(Who::Other),
            _ => named.map(Who::Named).or(exactly.map(Who::Exactly)),
        };
        if found.is_none() {
            let (what, example) = match sort {
                Sort::Thread => ("thread", "a number, `any`, `other`, or a name from `for thread t`"),
                Sort::Variable => {
                    ("variable", "`x`, `y`, `z`, `v3`, …, `any`, `other`, or a name from `for variable v`")
                }
            };
            let message = format!("`{}` is not a {what}", word.text);
            self.error(word.span(), message, "unknown", format!("a {what} is {example}"));
        }
        found
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Whether a word stands for something without a `for`.
fn is_fixed(text: &str) -> bool {
    matches!(text, "any" | "other") || text.parse::<u32>().is_ok() || variable(text).is_some()
}

/// The number of a variable, named as in a history.
fn variable(text: &str) -> Option<u8> {
    match text {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => text.strip_prefix('v')?.parse().ok(),
    }
}

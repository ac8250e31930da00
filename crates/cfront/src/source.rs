//! The files of a compilation and places in them.
//!
//! File 0 is the user's C file; the others were included by it, directly or not. A [`Loc`] is a place in one of them.
//! **Invariant:** whatever leaves this crate speaks of file 0 alone ([`Sources::span`]): a place in another file stands for the directive
//! that included it, and a diagnostic says so in its text.

use std::collections::HashSet;

use cyrano_ir::{Diagnostic, Span};

use crate::preprocess::headers::stub;

/// How many diagnostics are kept.
const MAX_DIAGNOSTICS: usize = 100;

/// A place in one of the files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Loc {
    pub(crate) file: u32,
    /// The place in that file.
    pub span: Span,
}

impl Loc {
    /// The smallest place that covers both, if they are in one file; else this one.
    pub(crate) fn to(self, other: Self) -> Self {
        if self.file == other.file { Self { file: self.file, span: self.span.to(other.span) } } else { self }
    }

    /// Another place in the same file.
    #[must_use]
    pub fn in_the_same_file(self, span: Span) -> Self {
        Self { span, ..self }
    }

    /// Whether it is in the user's file.
    pub(crate) fn is_main(self) -> bool {
        self.file == 0
    }
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The directive that included it.
    pub(crate) included_at: Loc,
}

/// All files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, text: String, included_at: Loc) -> u32 {
        self.files.push(SourceFile { name: name.into(), text, included_at });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    /// The text at a place.
    pub(crate) fn text(&self, loc: Loc) -> &str {
        let file = self.files.get(loc.file as usize);
        file.and_then(|file| file.text.get(loc.span.range())).unwrap_or_default()
    }

    /// The place in the user's file that stands for this one.
    pub(crate) fn span(&self, mut loc: Loc) -> Span {
        while !loc.is_main() {
            let Some(file) = self.files.get(loc.file as usize) else { return Span::default() };
            loc = file.included_at;
        }
        loc.span
    }

    /// Whether a place is in a header that comes with Cyrano.
    pub(crate) fn is_stub(&self, loc: Loc) -> bool {
        let file = self.files.get(loc.file as usize);
        file.is_some_and(|file| !loc.is_main() && stub(&file.name) == Some(&file.text))
    }

    /// The name of the file of a place.
    pub(crate) fn name(&self, loc: Loc) -> &str {
        self.files.get(loc.file as usize).map(|file| file.name.as_str()).unwrap_or_default()
    }

    /// The line of a place, from 1.
    pub(crate) fn line(&self, loc: Loc) -> usize {
        let Some(file) = self.files.get(loc.file as usize) else { return 0 };
        let upto = file.text.len().min(loc.span.start as usize);
        file.text.as_bytes()[..upto].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// A prefix that names the file and line of a place outside of the user's file.
    pub(crate) fn prefix(&self, loc: Loc) -> String {
        match self.files.get(loc.file as usize) {
            Some(file) if !loc.is_main() => format!("{}:{}: ", file.name, self.line(loc)),
            _ => String::new(),
        }
    }
}

/// A complaint about a place.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) loc: Loc,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) related: Vec<(Loc, String)>,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(loc: Loc, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { loc, message: message.into(), label: label.into(), related: Vec::new(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" if there is something to suggest.
    pub(crate) fn with_guess(self, guess: Option<&str>) -> Self {
        match guess {
            Some(guess) => self.with_help(format!("did you mean `{guess}`?")),
            None => self,
        }
    }

    pub(crate) fn with_related(mut self, loc: Loc, text: impl Into<String>) -> Self {
        self.related.push((loc, text.into()));
        self
    }
}

/// The complaints so far; each is kept once.
#[derive(Clone, Default, Debug)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    seen: HashSet<(Loc, String)>,
    omitted: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        if !self.seen.insert((problem.loc, problem.message.clone())) {
            return;
        }
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(problem);
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// All of them, in source order, about the user's file.
    pub(crate) fn finish(self, sources: &Sources) -> Vec<Diagnostic> {
        let mut found: Vec<_> = self.kept.into_iter().map(|problem| diagnostic(problem, sources)).collect();
        found.sort_by_key(|diagnostic| diagnostic.span);
        if let (Some(last), true) = (found.last(), self.omitted > 0) {
            let message = format!("… and {} more", self.omitted);
            found.push(Diagnostic::new(last.span, message, "the last one shown"));
        }
        found
    }
}

fn diagnostic(problem: Problem, sources: &Sources) -> Diagnostic {
    let message = format!("{}{}", sources.prefix(problem.loc), problem.message);
    let mut diagnostic = Diagnostic::new(sources.span(problem.loc), message, problem.label);
    for (loc, text) in problem.related {
        diagnostic = diagnostic.with_related(sources.span(loc), format!("{}{text}", sources.prefix(loc)));
    }
    diagnostic.help = problem.help;
    diagnostic
}

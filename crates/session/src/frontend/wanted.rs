//! What is wanted of a file: which tests, what the command line adds to its text.

use std::path::PathBuf;

use cyrano_rml::Threads;
use cyrano_trace::TestInfo;

/// What a user asks for beside the file.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The tests.
    pub tests: Tests,
    /// Whether `malloc` never returns memory that was freed (C).
    pub no_reuse: bool,
    /// Whether memory that a whole C program does not free is an error.
    pub leaks: bool,
    /// How many members families have (RML).
    pub threads: Threads,
    /// What stands before the text, and where files are that it includes (C).
    pub before: Before,
}

/// What the command line of a C compiler says of a file: `-D`, `-U`, `-include`, `-I`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Before {
    /// Lines of C that are read before the file.
    pub text: String,
    /// Folders in which included files are looked for that are not beside the file.
    pub folders: Vec<PathBuf>,
}

/// Tests of a file.
#[derive(Clone, Debug, Default)]
pub enum Tests {
    /// All that the file declares.
    #[default]
    Declared,
    /// Those with these names; `*` stands for any text.
    Named(Vec<String>),
    /// Instead of the declared ones, all with up to so many calls (C).
    UpTo {
        /// How many.
        calls: usize,
        /// Whether this includes tests of one thread: compared with another file these can be wrong.
        sequences: bool,
    },
    /// Instead of the declared ones, all with up to so many calls, each in a thread of its own (C): where every order of calls is looked at they stand for all others.
    Parallel(usize),
    /// Those that traces or other cases are about.
    Again(Vec<TestInfo>),
}

impl Tests {
    /// Whether the declared test of this name is wanted.
    pub(super) fn wants(&self, name: &str) -> bool {
        match self {
            Self::Declared => true,
            Self::Named(patterns) => patterns.iter().any(|pattern| matches(pattern, name)),
            Self::Again(tests) => tests.iter().any(|test| test.name == name),
            Self::UpTo { .. } | Self::Parallel(_) => false,
        }
    }

    /// The first name that fits none of these.
    pub(super) fn unknown<'a>(&'a self, names: &[&str]) -> Option<&'a str> {
        let unknown = |pattern: &&'a str| !names.iter().any(|name| matches(pattern, name));
        match self {
            Self::Named(patterns) => patterns.iter().map(String::as_str).find(unknown),
            Self::Again(tests) => tests.iter().map(|test| test.name.as_str()).find(|name| !names.contains(name)),
            Self::Declared | Self::UpTo { .. } | Self::Parallel(_) => None,
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| matches(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_any_text() {
        let check = |pattern: &str, fits: &[&str], others: &[&str]| {
            assert!(fits.iter().all(|name| matches(pattern, name)), "{pattern}");
            assert!(!others.iter().any(|name| matches(pattern, name)), "{pattern}");
        };
        check("T0", &["T0"], &["T", "T01", ""]);
        check("Tpc*", &["Tpc", "Tpc2", "Tpc22"], &["T0", "xTpc"]);
        check("*2", &["2", "Ti2", "é2"], &["Ti3", "2x"]);
        check("T*c*", &["Tpc2", "Tc"], &["T2"]);
        check("*", &["", "T0"], &[]);
    }
}

//! Options about the tests of C files.

use clap::Args;

/// Which tests of a C file are run. Without these options: all that its tests file declares.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tests of C files")]
pub struct TestArgs {
    /// Tests by name; `*` stands for any text [default: all of the tests file]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "all_tests")]
    pub test: Vec<String>,
    /// Instead of the declared tests, every test with up to this many calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=12))]
    pub all_tests: Option<u8>,
    /// `malloc` never returns memory that was freed
    #[arg(long)]
    pub no_reuse: bool,
    /// Whether all tests include those of one thread: compared with another file these can be wrong.
    #[arg(skip)]
    pub sequences: bool,
}

impl TestArgs {
    /// Whether any test is chosen by an option.
    pub fn is_given(&self) -> bool {
        !self.test.is_empty() || self.all_tests.is_some()
    }

    /// The same choice where observations are compared with those of another file, if one is given.
    pub fn compared_with(&self, reference: Option<&str>) -> Self {
        Self { sequences: reference.is_some(), ..self.clone() }
    }

    /// Whether the test of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.test.is_empty() || self.test.iter().any(|pattern| matches(pattern, name))
    }

    /// The first pattern that fits none of these names.
    pub fn unknown<'a>(&'a self, names: &[&str]) -> Option<&'a str> {
        let fits = |pattern: &&String| names.iter().any(|name| matches(pattern, name));
        self.test.iter().find(|pattern| !fits(pattern)).map(String::as_str)
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

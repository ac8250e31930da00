//! Options about what is checked of a file: the tests of C files, the sizes of families of threads.

use clap::Args;
use cyrano_session::frontend::{Tests, Threads, Wanted};

/// Which tests of a C file are run. Without these options: all that its tests file declares.
#[derive(Args, Debug)]
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
    /// How many threads each family has whose size is `*` or computed from a constant; `*` for every number (check)
    #[arg(long, value_name = "N|*", help_heading = "Run options", value_parser = threads)]
    pub threads: Option<Threads>,
}

fn threads(text: &str) -> Result<Threads, String> {
    match text {
        "*" => Ok(Threads::Any),
        number => number.parse().map(Threads::Each).map_err(|_| "expected a number, or `*`".to_owned()),
    }
}

impl TestArgs {
    /// What is asked for; `compared` with another file, tests of one thread can be wrong, too.
    pub fn wanted(&self, compared: bool) -> Wanted {
        let tests = match self.all_tests {
            Some(calls) => Tests::UpTo { calls: calls.into(), sequences: compared },
            None if self.test.is_empty() => Tests::Declared,
            None => Tests::Named(self.test.clone()),
        };
        Wanted { tests, no_reuse: self.no_reuse, threads: self.threads.unwrap_or_default() }
    }
}

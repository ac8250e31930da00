//! Options about what is checked of a file: the tests of C files and what a compiler's command line says of them, the sizes of families of threads.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use cyrano_criteria::table::Claim;
use cyrano_session::frontend::{Before, Tests, Threads, Wanted};

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
    /// Memory that is not freed when a whole program ends is an error
    #[arg(long)]
    pub leaks: bool,
    /// How many threads each family has whose size is `*` or computed from a constant; `*` for every number (check)
    #[arg(long, value_name = "N|*", help_heading = "Run options", value_parser = threads)]
    pub threads: Option<Threads>,
    #[command(flatten)]
    pub preprocessor: PreprocessorArgs,
}

/// What a compiler's command line says of a C file. Macros are defined and taken away in the order of the command line, then files are included.
#[derive(Debug)]
pub struct PreprocessorArgs {
    given: Given,
    /// Where each macro that is defined, and each that is taken away, stands on the command line.
    places: [Vec<usize>; 2],
}

#[derive(Args, Debug)]
#[command(next_help_heading = "C files, as in a compiler")]
struct Given {
    /// Define a macro, as 1 without a value
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = macro_name)]
    define: Vec<String>,
    /// Take away a macro that is defined before this on the command line
    #[arg(short = 'U', value_name = "NAME", value_parser = macro_name)]
    undefine: Vec<String>,
    /// Look for included files in this folder, too
    #[arg(short = 'I', value_name = "DIR")]
    folder: Vec<PathBuf>,
    /// Include this file before all others
    #[arg(long, value_name = "FILE")]
    include: Vec<String>,
}

impl Args for PreprocessorArgs {
    fn augment_args(command: Command) -> Command {
        Given::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::augment_args_for_update(command)
    }
}

impl FromArgMatches for PreprocessorArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let places = |name| matches.indices_of(name).map(Iterator::collect).unwrap_or_default();
        Ok(Self { given: Given::from_arg_matches(matches)?, places: ["define", "undefine"].map(places) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A macro begins with its name.
fn macro_name(text: &str) -> Result<String, String> {
    let name = text.split(['=', '(']).next().unwrap_or_default();
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_word && name.starts_with(|c: char| !c.is_ascii_digit()) && !text.contains(['\n', '\r']) {
        true => Ok(text.to_owned()),
        false => Err("expected the name of a macro, then `=VALUE` or nothing".to_owned()),
    }
}

impl PreprocessorArgs {
    fn before(&self) -> Before {
        let defined = self.given.define.iter().map(|text| match text.split_once('=') {
            Some((name, value)) => format!("#define {name} {value}\n"),
            None => format!("#define {text} 1\n"),
        });
        let undefined = self.given.undefine.iter().map(|name| format!("#undef {name}\n"));
        let [defines, undefines] = &self.places;
        let mut lines: Vec<_> = defines.iter().zip(defined).chain(undefines.iter().zip(undefined)).collect();
        lines.sort();
        let included = self.given.include.iter().map(|file| format!("#include \"{file}\"\n"));
        let text = lines.into_iter().map(|(_, line)| line).chain(included).collect();
        Before { text, folders: self.given.folder.clone() }
    }
}

fn threads(text: &str) -> Result<Threads, String> {
    match text {
        "*" => Ok(Threads::Any),
        number => number.parse().map(Threads::Each).map_err(|_| "expected a number, or `*`".to_owned()),
    }
}

impl TestArgs {
    /// What is asked for, if this is what is to be judged: where every order of calls is, one call in each thread is enough.
    pub fn wanted_for(&self, criteria: &[Claim], compared: bool) -> Wanted {
        let wanted = self.wanted(compared);
        match self.all_tests {
            Some(calls) if *criteria == [Claim::Linearizability] => {
                Wanted { tests: Tests::Parallel(calls.into()), ..wanted }
            }
            _ => wanted,
        }
    }

    /// What is asked for; `compared` with another file, tests of one thread can be wrong, too.
    pub fn wanted(&self, compared: bool) -> Wanted {
        let tests = match self.all_tests {
            Some(calls) => Tests::UpTo { calls: calls.into(), sequences: compared },
            None if self.test.is_empty() => Tests::Declared,
            None => Tests::Named(self.test.clone()),
        };
        let (no_reuse, leaks, threads) = (self.no_reuse, self.leaks, self.threads.unwrap_or_default());
        Wanted { tests, no_reuse, leaks, threads, before: self.preprocessor.before() }
    }
}

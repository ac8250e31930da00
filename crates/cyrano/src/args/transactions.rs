//! Commands about transactional memories and their repair: `history`, `spec`, `fence`, `tables`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use cyrano_criteria::table::Claim;
use cyrano_ir::TxCriterion;
use cyrano_tables::Paper;

use super::{DrawingArgs, OutputArgs, RunArgs, TestArgs, named, seconds};

const HISTORY_EXAMPLES: &str = "\
A history file has one event a line; `#` starts a comment:
  history memory
  1 load x            thread 1 loads x; the value is used once the read is finished
  1 rfin
  2 store x
  2 commit
  1 rollback x        undoes thread 1's stores to x; also: cas, abort
or, with calls and what they returned:
  history values
  init x 0            optional, before the first event
  T1 inv read x       transaction T1 calls; T1 ret 1 is the reply (a value, ok, A aborted, C committed)
  T2 write x 1        call and reply in one line
  T1 ret 1
  T2 commit C

Every prefix is judged: memory events by conflicts (the first two criteria), values by what the reads returned.
Exit code 0: accepted by all criteria. 1: rejected by one.

Examples:
  cyrano history run.txt --criterion opacity,strict-serializability
  cyrano history lib:histories/h_ws";

const COMPARE_EXAMPLES: &str = "\
Exit code 0: the same histories. 1: different; shortest histories that show it are printed. 3: a limit was reached.

Examples:
  cyrano spec compare foil-nondet foil-det
  cyrano spec compare foil-det opacity --vars 1
  cyrano spec compare mine.spec opacity";

const FENCE_EXAMPLES: &str = "\
For each model: fences of least cost that make the file's checks hold, each shown to be needed, as a unified diff.
Without --model: the models that the file's own checks name.
Exit code 0: repaired, or correct as it is. 1: no fences help. 3: unknown (a limit was reached).
For an `algorithm` file: declared orders instead of fences, and which of those that it has are superfluous.

Examples:
  cyrano fence lib:stm/tl2.rml --model pso
  cyrano fence lib:litmus/mp.rml --model pso,rmo --all
  cyrano fence lib:stm/tl2.rml --model rmo --weights read=10,write=5,end=1
  cyrano fence mylock.rml --model tso --write mylock_tso.rml
  cyrano fence lib:tm-objects/core_mcrt_fixed.rml --model declared --criterion never";

/// `cyrano history`.
#[derive(Args, Debug)]
#[command(after_help = HISTORY_EXAMPLES)]
pub struct HistoryArgs {
    /// The history: a path, or `lib:NAME` for the built-in library
    #[arg(value_name = "FILE")]
    pub file: String,
    /// What to judge it by; without it every criterion that its alphabet has
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = named::HistoryCriterionParser)]
    pub criterion: Vec<TxCriterion>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano spec`.
#[derive(Args, Debug)]
pub struct SpecArgs {
    /// What to do with specifications.
    #[command(subcommand)]
    pub command: SpecCommand,
}

/// What to do with specifications.
#[derive(Subcommand, Debug)]
pub enum SpecCommand {
    /// List the specifications by name
    List,
    /// Compare the histories of two specifications
    Compare(CompareArgs),
}

/// `cyrano spec compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// A specification: a name (`cyrano spec list` lists them), or a path to a file with one
    #[arg(value_name = "A")]
    pub left: String,
    /// Another one
    #[arg(value_name = "B")]
    pub right: String,
    /// For this many threads
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub threads: u8,
    /// For this many variables
    #[arg(long, value_name = "K", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub vars: u8,
    /// Look at states that differ by a renaming of threads and variables one by one; the answer stays the same
    #[arg(long)]
    pub no_symmetry: bool,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano fence`.
#[derive(Args, Debug)]
#[command(after_help = FENCE_EXAMPLES)]
pub struct FenceArgs {
    /// The file: a path, or `lib:NAME` for the built-in library
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Only checks of this kind have to hold
    #[arg(long, value_name = "CRITERION", value_parser = named::CriterionParser)]
    pub criterion: Option<Claim>,
    /// List every minimal set, not just one of least cost
    #[arg(long)]
    pub all: bool,
    /// How often commands, procedures, threads or functions run: a fence costs so much more there (`read=10,write=5,end=1`).
    /// What is not named runs whenever it is called
    #[arg(long, value_name = "NAME=N", value_delimiter = ',', value_parser = weight)]
    pub weights: Vec<(String, u32)>,
    /// Write the repaired source to this file (with a single model)
    #[arg(long, value_name = "OUT")]
    pub write: Option<PathBuf>,
    /// Write the trace of what goes wrong without each fence, or in spite of all, to this file (a second one to NAME-2, and so on)
    #[arg(long, value_name = "FILE")]
    pub save_trace: Option<PathBuf>,
    /// Write everything as one page for a browser to this file, with an execution that each fence prevents
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub drawings: DrawingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `NAME=N`.
fn weight(text: &str) -> Result<(String, u32), String> {
    let (name, number) = text.split_once('=').ok_or("a weight is written NAME=N, such as `read=10`")?;
    let most = cyrano_session::repair::MOST_GIVEN;
    let number = number.trim().parse().ok().filter(|number| (1..=most).contains(number));
    Ok((name.trim().to_owned(), number.ok_or_else(|| format!("a weight is a number from 1 to {most}"))?))
}

/// `cyrano tables`.
#[derive(Args, Debug)]
pub struct TablesArgs {
    /// Whose experiments; all papers' if none is named
    #[arg(value_name = "PAPER", value_parser = named::paper())]
    pub paper: Option<&'static Paper>,
    /// Give each cell of a table this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub timeout: Duration,
    /// Only tables whose title has this text in it
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Draw the table that is a chart in the paper (Fig. 10b of CheckFence)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

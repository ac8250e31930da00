//! `cyrano report merge`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputArgs;

const MERGE_EXAMPLES: &str = "\
Reads what `check` and `litmus` wrote with --format json.
Shards of one command (--shard 1/3, 2/3, 3/3) become the report of the whole; other reports are put one behind
the other. Reports of different commands, files or versions are refused, and so are reports that contradict
one another. Shards that are missing are named.

Exit codes: those of the command itself; 3 at least if a shard is missing.

Examples:
  cyrano check src/*.rml --shard 2/3 --format json > part-2.json
  cyrano report merge part-*.json
  cyrano report merge part-*.json --format sarif -o cyrano.sarif";

/// `cyrano report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// What to do with reports.
    #[command(subcommand)]
    pub command: ReportCommand,
}

/// What to do with reports.
#[derive(Subcommand, Debug)]
pub enum ReportCommand {
    /// Join the JSON reports of several runs
    Merge(MergeArgs),
}

/// `cyrano report merge`.
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// JSON reports of `check` or `litmus`
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,
    /// Write the result to this file instead of standard output
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub to: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

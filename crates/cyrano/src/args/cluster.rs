//! `--cluster` and `cyrano cluster`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::seconds;

const RUN_EXAMPLES: &str = "\
Starts processes on this machine that search together, for a try-out: with a key and a list of hosts of their own,
on free ports of the loopback interface. Standard output and the exit code are those of process 0; what the others
say has their number before it. Without --workers the processors are divided among the processes.

Examples:
  cyrano cluster run -n 3 -- check lib:stm/tl2.rml --model sc --criterion opacity
  cyrano cluster run -n 2 -- check lib:stm/dstm.rml --model tso --workers 1 --format json";

const KEY_EXAMPLES: &str = "\
Example:
  (umask 077; cyrano cluster key > cluster.key)";

/// One check on several machines.
#[derive(Args, Debug)]
#[command(next_help_heading = "Several machines")]
pub struct ClusterArgs {
    /// Search together with the processes whose addresses are in this file, one host:port per line; each runs this command
    #[arg(
        long,
        value_name = "HOSTS",
        requires_all = ["process", "cluster_key"],
        conflicts_with_all = ["fingerprint", "disk"]
    )]
    pub cluster: Option<PathBuf>,
    /// Which of the hosts this one is, from 0; process 0 prints the report
    #[arg(long, value_name = "I", requires = "cluster")]
    pub process: Option<usize>,
    /// The key that all processes share, see `cyrano cluster key`; connections are authenticated, not encrypted
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub cluster_key: Option<PathBuf>,
    /// How long to wait for the others to join
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub cluster_wait: Duration,
    /// How long another process may be silent before it counts as lost
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub cluster_silence: Duration,
}

/// `cyrano cluster`.
#[derive(Args, Debug)]
pub struct ClusterCommandArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ClusterCommand,
}

/// What to do for a cluster.
#[derive(Subcommand, Debug)]
pub enum ClusterCommand {
    /// Start several processes on this machine that search together
    Run(ClusterRunArgs),
    /// Print a new key
    #[command(after_help = KEY_EXAMPLES)]
    Key,
}

/// `cyrano cluster run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct ClusterRunArgs {
    /// How many processes
    #[arg(short = 'n', long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub processes: u16,
    /// The command: `check` with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub arguments: Vec<OsString>,
}

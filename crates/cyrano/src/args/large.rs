//! Options of searches that are kept on disk, and `cyrano checkpoint`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::seconds;

/// Options of a check that outgrows memory or must outlive a crash.
#[derive(Args, Debug)]
#[command(next_help_heading = "Large runs (explore, one check at a time)")]
pub struct LargeArgs {
    /// Keep states in this directory when --memory is used up; it holds checkpoints, too
    #[arg(long, value_name = "DIR")]
    pub disk: Option<PathBuf>,
    /// Write checkpoints to this directory
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint in that directory
    #[arg(long)]
    pub resume: bool,
    /// How often a checkpoint is written [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub checkpoint_every: Option<Duration>,
}

const INFO_EXAMPLES: &str = "\
Examples:
  cyrano check big.rml --disk /scratch/big --memory 4096
  cyrano checkpoint info /scratch/big
  cyrano check big.rml --disk /scratch/big --memory 4096 --resume";

/// `cyrano checkpoint`.
#[derive(Args, Debug)]
pub struct CheckpointArgs {
    /// What to do with checkpoints.
    #[command(subcommand)]
    pub command: CheckpointCommand,
}

/// What to do with checkpoints.
#[derive(Subcommand, Debug)]
pub enum CheckpointCommand {
    /// Say what is inside
    Info(InfoArgs),
}

/// `cyrano checkpoint info`.
#[derive(Args, Debug)]
#[command(after_help = INFO_EXAMPLES)]
pub struct InfoArgs {
    /// The directory of --disk or --checkpoint
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

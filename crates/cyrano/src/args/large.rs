//! Options of searches that are kept on disk, and `cyrano checkpoint`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use cyrano_session::{EngineName, Failure, Gpu, Large};

use super::{RunArgs, seconds};

/// Options of a check that outgrows memory or must outlive a crash.
#[derive(Args, Debug)]
#[command(next_help_heading = "Large runs (explore, or graphs with --checkpoint; one check at a time)")]
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
    /// Keep states on a GPU and take steps there, on the device with this number [default: 0]
    #[arg(
        long,
        value_name = "DEVICE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        conflicts_with_all = ["disk", "checkpoint", "resume", "cluster", "fingerprint"]
    )]
    pub gpu: Option<usize>,
}

/// How often a checkpoint is written if nobody says otherwise.
const USUAL: Duration = Duration::from_secs(60);

impl LargeArgs {
    /// The device that is asked for.
    pub fn device(&self, run: &RunArgs) -> Result<Option<Gpu>, Failure> {
        let Some(device) = self.gpu else { return Ok(None) };
        if !matches!(run.engine, None | Some(EngineName::Explore)) {
            return Err(Failure::input("--gpu is for --engine explore"));
        }
        Ok(Some(Gpu { device, memory: run.memory }))
    }

    /// What is asked for, of a run with so many checks.
    pub fn wanted(&self, run: &RunArgs, checks: usize) -> Result<Option<Large>, Failure> {
        let refused = |why: &str| Err(Failure::input(why));
        let dir = match (&self.disk, &self.checkpoint) {
            (Some(disk), Some(checkpoint)) if disk != checkpoint => {
                return refused(
                    "--disk and --checkpoint must name the same directory; --disk alone writes checkpoints, too",
                );
            }
            (Some(dir), _) | (None, Some(dir)) => dir.clone(),
            (None, None) if self.resume => return refused("--resume needs --checkpoint DIR or --disk DIR"),
            (None, None) if self.checkpoint_every.is_some() => {
                return refused("--checkpoint-every needs --checkpoint DIR or --disk DIR");
            }
            (None, None) => return Ok(None),
        };
        if checks != 1 {
            return refused(&format!(
                "--disk and --checkpoint are for one check at a time, and this command has {checks}; \
                 --model, --criterion and --test choose one"
            ));
        }
        if !matches!(run.engine, None | Some(EngineName::Explore | EngineName::Graphs)) {
            return refused("--disk and --checkpoint are for --engine explore, and --checkpoint for --engine graphs");
        }
        if run.engine == Some(EngineName::Graphs) && self.disk.is_some() {
            return refused(
                "--engine graphs keeps no states, so there is nothing for --disk; --checkpoint keeps what is left",
            );
        }
        if run.fingerprint {
            return refused("--fingerprint keeps no states, so there is nothing for --disk and --checkpoint to keep");
        }
        let every = self.checkpoint_every.unwrap_or(USUAL);
        Ok(Some(Large { dir, disk: self.disk.is_some(), resume: self.resume, every }))
    }
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

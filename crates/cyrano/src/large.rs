//! `--disk`, `--checkpoint` and `--resume`: one check by a search whose states are in files.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cyrano_cluster::ClusterSearch;
use cyrano_disk::{DiskSearch, Settings};
use cyrano_engine::{Cause, Engine, Limits, Query, Watch};
use cyrano_explore::Explore;

use crate::args::{EngineChoice, LargeArgs, RunArgs};
use crate::failure::Failure;
use crate::program::Loaded;
use crate::run::Answered;

/// How often a checkpoint is written if nobody says otherwise.
const USUAL: Duration = Duration::from_secs(60);

/// Where and how the states of a check are kept.
#[derive(Clone, Debug)]
pub struct Large {
    dir: PathBuf,
    disk: bool,
    resume: bool,
    every: Duration,
}

impl Large {
    /// What the options ask for, of a run with so many checks.
    pub fn wanted(args: &LargeArgs, run: &RunArgs, checks: usize) -> Result<Option<Self>, Failure> {
        let refused = |why: &str| Err(Failure::input(why));
        let dir = match (&args.disk, &args.checkpoint) {
            (Some(disk), Some(checkpoint)) if disk != checkpoint => {
                return refused(
                    "--disk and --checkpoint must name the same directory; --disk alone writes checkpoints, too",
                );
            }
            (Some(dir), _) | (None, Some(dir)) => dir.clone(),
            (None, None) if args.resume => return refused("--resume needs --checkpoint DIR or --disk DIR"),
            (None, None) if args.checkpoint_every.is_some() => {
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
        if !matches!(run.engine, EngineChoice::Auto | EngineChoice::Explore) {
            return refused("--disk and --checkpoint are for --engine explore");
        }
        if run.fingerprint {
            return refused("--fingerprint keeps no states, so there is nothing for --disk and --checkpoint to keep");
        }
        let every = args.checkpoint_every.unwrap_or(USUAL);
        Ok(Some(Self { dir, disk: args.disk.is_some(), resume: args.resume, every }))
    }

    /// Asks the explorer, with states in files; or a cluster, which keeps its states in memory and copies of them in files.
    pub fn ask(
        &self,
        explore: &Explore,
        cluster: Option<&ClusterSearch>,
        loaded: &Loaded,
        query: Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Answered, Failure> {
        if let Err(why) = explore.supports(&query) {
            let cause = Cause::NoEngine { engine: explore.name(), why, instead: None };
            return Err(Failure::input(format!("{}: {cause}", loaded.source.name)));
        }
        if let Some(cluster) = cluster {
            let (dir, resume, every) = (self.dir.clone(), self.resume, self.every);
            let settings = cyrano_cluster::Settings { dir, resume, every, about: about(loaded) };
            let answer = cluster.run(query, limits, watch, Some(&settings)).map_err(Failure::input)?;
            return Ok(Answered { engine: Some(cluster.name().to_owned()), note: None, clauses: None, answer });
        }
        let settings = Settings {
            dir: self.dir.clone(),
            spill: self.disk,
            resume: self.resume,
            every: self.every,
            about: about(loaded),
        };
        let search = DiskSearch::new(explore.clone(), settings);
        let started = Instant::now();
        let mut answer = search.run(query, limits, watch).map_err(Failure::input)?;
        // With a checkpoint, the time before counts, too.
        answer.stats.seconds = answer.stats.seconds.max(started.elapsed().as_secs_f64());
        Ok(Answered { engine: Some(search.name().to_owned()), note: None, clauses: None, answer })
    }
}

/// What `cyrano checkpoint info` tells about the check beside its program and model.
fn about(loaded: &Loaded) -> Vec<(String, String)> {
    let mut about = vec![("file".to_owned(), loaded.source.name.clone())];
    about.extend(loaded.test_name().map(|test| ("test".to_owned(), test)));
    about.extend(loaded.set.iter().map(|(name, value)| ("set".to_owned(), format!("{name}={value}"))));
    about
}

/// What is in the checkpoint of a directory.
pub fn info(dir: &Path) -> Result<cyrano_disk::Info, Failure> {
    cyrano_disk::info(dir).map_err(Failure::input)
}

//! One check by a search whose states are in files.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cyrano_cluster::ClusterSearch;
use cyrano_disk::{DiskSearch, KeptGraphs, Settings};
use cyrano_engine::{Cause, Engine, Limits, Query, Watch};
use cyrano_explore::Explore;
use cyrano_graphs::Graphs;

use crate::case::Case;
use crate::failure::Failure;
use crate::run::Answered;

/// Where and how the states of a check are kept.
#[derive(Clone, Debug)]
pub struct Large {
    /// The directory.
    pub dir: PathBuf,
    /// Whether states go there when memory is used up; otherwise only checkpoints do.
    pub disk: bool,
    /// Whether to go on from the checkpoint there.
    pub resume: bool,
    /// How often a checkpoint is written.
    pub every: Duration,
}

impl Large {
    /// Asks the explorer, with states in files; or a cluster, which keeps its states in memory and copies of them in files.
    pub fn ask(
        &self,
        explore: &Explore,
        cluster: Option<&ClusterSearch>,
        case: &Case,
        query: Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Answered, Failure> {
        if let Err(why) = explore.supports(&query) {
            let cause = Cause::NoEngine { engine: explore.name(), why, instead: None };
            return Err(case.refused(cause));
        }
        let (dir, resume, every) = (self.dir.clone(), self.resume, self.every);
        let settings = Settings { dir, resume, every, about: about(case) };
        if let Some(cluster) = cluster {
            let answer = cluster.run(query, limits, watch, Some(&settings)).map_err(Failure::input)?;
            return Ok(Answered { engine: Some(cluster.name().to_owned()), note: None, clauses: None, answer });
        }
        let search = DiskSearch::new(explore.clone(), settings, self.disk);
        let started = Instant::now();
        let mut answer = search.run(query, limits, watch).map_err(Failure::input)?;
        // With a checkpoint, the time before counts, too.
        answer.stats.seconds = answer.stats.seconds.max(started.elapsed().as_secs_f64());
        Ok(Answered { engine: Some(search.name().to_owned()), note: None, clauses: None, answer })
    }
}

impl Large {
    /// Asks the engine on execution graphs, which keeps what is left to do.
    pub(crate) fn ask_graphs(
        &self,
        graphs: Graphs,
        case: &Case,
        query: &Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Answered, Failure> {
        if let Err(why) = graphs.supports(query) {
            return Err(case.refused(Cause::NoEngine { engine: graphs.name(), why, instead: None }));
        }
        let (dir, resume, every) = (self.dir.clone(), self.resume, self.every);
        let kept = KeptGraphs { graphs, settings: Settings { dir, resume, every, about: about(case) } };
        let answer = kept.run(query, limits, watch).map_err(Failure::input)?;
        Ok(Answered { engine: Some(graphs.name().to_owned()), note: None, clauses: None, answer })
    }
}

/// What `cyrano checkpoint info` tells about the check beside its program and model.
fn about(case: &Case) -> Vec<(String, String)> {
    let mut about = vec![("file".to_owned(), case.source.name.clone())];
    about.extend(case.test_name().map(|test| ("test".to_owned(), test)));
    about.extend(case.set.iter().map(|(name, value)| ("set".to_owned(), format!("{name}={value}"))));
    about
}

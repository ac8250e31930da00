//! Searches that outgrow memory and outlive a crash.
//!
//! [`DiskSearch`] asks the explorer's questions with the states in files of a directory: all states in the order of their discovery, sorted runs of those
//! that do not fit into memory any more, and a manifest that makes a checkpoint of both. Verdicts, numbers of states and transitions and the lengths
//! of shortest paths are those of the explorer without ample sets.
//!
//! [`KeptGraphs`] keeps what is left of a search on execution graphs, and no states.
//!
//! This crate reads and writes files, which engines do not do: what a search needs of the disk is its very subject. It prints nothing.

mod budget;
mod executions;
mod info;
mod job;
mod log;
mod parts;
mod runs;
mod saved;
mod search;
mod sort;
mod store;
#[cfg(test)]
mod tests;
mod worker;

use cyrano_checkpoint::files::make_dir;
use cyrano_checkpoint::heading::{Heading, identity, must_agree};
use cyrano_checkpoint::lock::Lock;
use cyrano_checkpoint::manifest::Manifest;
use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Refusal, Stop, Verdict, Watch};
use cyrano_explore::{Explore, Space};

pub use cyrano_checkpoint::{Error, Result, Settings};
pub use executions::{Executions, KeptGraphs, executions};
pub use info::{Info, info};

use job::Job;
use saved::Saved;
use search::{DiskRun, Outcome};

/// The explorer, with states in files.
#[derive(Clone, Debug)]
pub struct DiskSearch {
    explore: Explore,
    settings: Settings,
    spill: bool,
}

impl DiskSearch {
    /// An engine that finds what this explorer finds. When memory is used up states go to sorted runs, if it may spill; otherwise the search stops there.
    pub fn new(explore: Explore, settings: Settings, spill: bool) -> Self {
        // Ample sets depend on the order of the search, which is another one here; fingerprints are not exact; and the first thing that goes wrong is the
        // end, so not all clients with which something does are found.
        let explore =
            Explore { ample_sets: false, stubborn_sets: false, fingerprints: false, client_programs: false, ..explore };
        Self { explore, settings, spill }
    }

    /// Answers a query; what a full disk keeps from an answer is `unknown`, other trouble with files is an error.
    pub fn run(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Result<Answer> {
        let space = Space::new(query, &self.explore, limits);
        let mut space = space.ok_or_else(|| Error::Unsupported(unsupported(query)))?;
        let dir = &self.settings.dir;
        make_dir(dir)?;
        let _lock = Lock::take(dir)?;
        let (identity, about) = (identity(query, &self.explore, limits), self.settings.about.clone());
        let mut fresh = Saved { heading: Heading { identity, about, widened: Vec::new() }, ..Saved::default() };
        let mut found = self.load(&fresh)?;
        if let Some(saved) = &found {
            fresh.heading.widened.clone_from(&saved.heading.widened);
            let wider = space.widened(&saved.heading.widened, limits);
            space = wider.ok_or_else(|| Error::damaged(dir, "`widened` makes no sense"))?;
        }
        loop {
            let packing = match &found {
                Some(saved) => saved.progress.parts.map(|sum| parts::read(dir, sum, &space)).transpose()?,
                None => space.packing(),
            };
            let Self { explore, settings, spill } = self;
            let packed = packing.as_ref();
            let job = Job { space: &space, packing: packed, explore, settings, spill: *spill, limits, watch };
            let search = match found.take() {
                Some(saved) => DiskRun::resume(job, saved),
                None => DiskRun::start(job, fresh.clone()),
            };
            let summary = match search.and_then(DiskRun::run) {
                Ok(Outcome::Answer(answer)) => return Ok(*answer),
                Ok(Outcome::AtOnce) => return Ok(self.explore.ask(query, limits, watch)),
                Ok(Outcome::GaveUp(summary)) => summary,
                Err(error @ Error::Full { .. }) => {
                    return Ok(Answer::new(Verdict::Unknown, Some(Cause::Trouble(error.to_string()))));
                }
                Err(error) => return Err(error),
            };
            // The log starts anew, so the manifest that names it must be gone before.
            Manifest::remove(dir)?;
            drop(packing);
            match space.wider(&summary, limits) {
                Some(wider) => space = wider,
                None => return Ok(Answer::new(Verdict::Unknown, Some(Stop::Size.into()))),
            }
            fresh.heading.widened.push(summary.notes);
        }
    }

    /// The checkpoint to go on from, if that is what is wanted.
    fn load(&self, now: &Saved) -> Result<Option<Saved>> {
        let dir = &self.settings.dir;
        if !self.settings.resume {
            return if Manifest::exists(dir) { Err(Error::Occupied(dir.clone())) } else { Ok(None) };
        }
        let saved = Saved::load(dir)?;
        must_agree(&saved.heading.identity, &now.heading.identity)?;
        if !saved.runs.is_empty() && !self.spill {
            let what = "disk: the checkpoint has states in sorted runs, this run has no --disk".to_owned();
            return Err(Error::Different(vec![what]));
        }
        Ok(Some(saved))
    }
}

fn unsupported(query: Query<'_>) -> String {
    let what = match query.question() {
        cyrano_engine::Question::Holds(property) => property.criterion(),
        cyrano_engine::Question::Outcomes => "outcomes",
    };
    format!("`{what}` needs another search than one by levels: it can be neither kept on disk nor resumed")
}

impl Engine for DiskSearch {
    fn name(&self) -> &'static str {
        self.explore.name()
    }

    fn supports(&self, query: &Query<'_>) -> std::result::Result<(), Refusal> {
        self.explore.supports(query)
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let answer = self.run(query, limits, watch);
        answer.unwrap_or_else(|error| Answer::new(Verdict::Unknown, Some(Cause::Trouble(error.to_string()))))
    }
}

//! The explorer's search on a GPU.
//!
//! [`GpuSearch`] asks the explorer's questions with frontier and visited set on a device. Fixed kernels (`kernels/search.cu`) expand states by remembered
//! steps, which the explorer's one stepper computes on the host when they are asked for ([`cyrano_explore::Teacher`]), and keep states in an exact table.
//! Verdicts, numbers of states and transitions and the lengths of shortest paths are those of the explorer without ample sets.
//!
//! A [`Device`] is anything that runs the kernels: a GPU through CUDA's driver, which is loaded when it is wanted ([`cuda`]), or this machine's processor,
//! with the same source compiled for it ([`host`]), which is how the search is tested.
//!
//! **Failures.** Whatever a device answers is checked as far as that is possible: counts must make sense, and before a verdict that all is well every state
//! must be in its place in the table. What cannot be relied on is no verdict.

pub mod cuda;
mod device;
mod facts;
pub mod host;
mod job;
mod search;
mod store;
mod tables;

use cyrano_engine::{Answer, Cause, Limits, Query, Question, Stop, Verdict, Watch};
use cyrano_explore::{Explore, Space, Summary, Unteachable};

pub use device::{Device, Result, Trouble};
pub use job::Job;
pub use search::Told;

use search::{End, Search};

/// How a search uses its device.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many bytes of the device's memory it may take; all that is free if nothing is said.
    pub memory: Option<u64>,
    /// For how many states there is room at first.
    pub states: u64,
    /// How many times as many there are when that grows.
    pub growth: u64,
    /// How many slots the table has for each state that there is room for.
    pub slots: f64,
    /// How many states one launch expands at most.
    pub chunk: u64,
    /// The logarithm of the size of what keeps one step from being asked for twice.
    pub filter_bits: u32,
    /// How often somebody looks whether another one has written a state.
    pub patience: u32,
    /// Deliberate bugs and smaller tags, for tests: bits as in the kernels.
    pub faults: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            memory: None,
            states: 1 << 20,
            growth: 16,
            slots: 4.0 / 3.0,
            chunk: 1 << 22,
            filter_bits: 22,
            patience: 1 << 22,
            faults: 0,
        }
    }
}

/// The explorer, with states on a device.
#[derive(Clone, Debug)]
pub struct GpuSearch {
    explore: Explore,
    settings: Settings,
}

impl GpuSearch {
    /// An engine that finds what this explorer finds.
    pub fn new(explore: Explore, settings: Settings) -> Self {
        // Ample sets depend on the order of the search, which is another one here; fingerprints are not exact; and the first thing that goes wrong is the
        // end, so not all clients with which something does are found.
        let explore =
            Explore { ample_sets: false, stubborn_sets: false, fingerprints: false, client_programs: false, ..explore };
        Self { explore, settings }
    }

    /// Answers a query on a device. What the search does not do is refused in words; what goes wrong with the device is `unknown`.
    pub fn run(
        &self,
        query: Query<'_>,
        device: Box<dyn Device + Send>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> std::result::Result<(Answer, Told), String> {
        let name = match query.question() {
            Question::Holds(property) => property.criterion(),
            Question::Outcomes => "outcomes",
        };
        let space = Space::new(query, &self.explore, limits);
        let mut space =
            space.ok_or_else(|| format!("`{name}` needs another search than one by levels: not with --gpu"))?;
        let mut device = device;
        let (end, stats, told) = loop {
            let mut search = Search::new(device, &self.settings, limits, watch);
            let end = space.teach(&mut search).map_err(|why| refusal(name, why))?;
            let (stats, told) = (search.stats(), search.told);
            let End::Stopped(Stop::Size, summary) = &end else { break (end, stats, told) };
            // Timestamps were too close together.
            match (space.wider(summary, limits), search.into_device()) {
                (Some(wider), Some(free)) => (space, device) = (wider, free),
                _ => break (end, stats, told),
            }
        };
        let answer =
            |path: &[Vec<u8>], wrong, summary: &Summary, stop| space.answer(path, wrong, summary, stop, stats, limits);
        let answer = match end {
            End::Complete(summary) => answer(&[], None, &summary, None),
            End::Found(wrong, path, summary) => answer(&path, Some(wrong), &summary, None),
            End::Stopped(stop, summary) => answer(&[], None, &summary, Some(stop)),
            End::AtOnce => cyrano_engine::Engine::ask(&self.explore, query, limits, watch),
            End::Formless => return Err(refusal(name, Unteachable::Wide)),
            End::Trouble(trouble) => {
                Answer { stats, ..Answer::new(Verdict::Unknown, Some(Cause::Trouble(trouble.to_string()))) }
            }
        };
        Ok((answer, told))
    }
}

fn refusal(name: &str, why: Unteachable) -> String {
    match why {
        Unteachable::Steps => format!(
            "`{name}` of this program is not for --gpu yet: what its steps do depends on more than a thread and what it touches (a criterion that \
             listens, ranked timestamps, or renamings)"
        ),
        Unteachable::Races => "races are not for --gpu: every state has to be looked at as a whole".to_owned(),
        Unteachable::Wide => format!("`{name}` of this program is not for --gpu: its states have too many parts"),
    }
}

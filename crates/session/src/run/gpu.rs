//! One check by a search whose states are on a GPU.

use cyrano_engine::{Cause, Engine, Limits, Query, Watch};
use cyrano_explore::Explore;
use cyrano_gpu::cuda::Cuda;
use cyrano_gpu::{GpuSearch, Settings};

use crate::case::Case;
use crate::failure::Failure;
use crate::run::Answered;

/// Which device searches, and how much of its memory it may take.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The number of the device.
    pub device: usize,
    /// How many bytes; all that is free if nothing is said.
    pub memory: Option<u64>,
}

impl Gpu {
    /// Asks the explorer, with states on the device.
    pub(crate) fn ask(
        &self,
        explore: &Explore,
        case: &Case,
        query: Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Answered, Failure> {
        if let Err(why) = explore.supports(&query) {
            let cause = Cause::NoEngine { engine: explore.name(), why, instead: None };
            return Err(case.refused(cause));
        }
        let device = Cuda::open(self.device).map_err(|trouble| Failure::input(trouble.to_string()))?;
        let settings = Settings { memory: self.memory, ..Settings::default() };
        let search = GpuSearch::new(explore.clone(), settings);
        let (answer, _) = search.run(query, Box::new(device), limits, watch).map_err(Failure::input)?;
        Ok(Answered { engine: Some(explore.name().to_owned()), note: None, clauses: None, answer })
    }
}

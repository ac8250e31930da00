//! What a search is given: a question, where and how its states are kept, and how long it may take.

use cyrano_checkpoint::{Error, Result};
use cyrano_engine::{Limits, Watch};
use cyrano_explore::{Explore, Packing, Space, Walker};

use crate::Settings;

/// What a search is given.
#[derive(Clone, Copy)]
pub(crate) struct Job<'s> {
    pub space: &'s Space<'s>,
    /// How its states are packed, if they are.
    pub packing: Option<&'s Packing<'s>>,
    pub explore: &'s Explore,
    pub settings: &'s Settings,
    /// Whether states go to sorted runs when memory is used up.
    pub spill: bool,
    pub limits: &'s Limits,
    pub watch: &'s dyn Watch,
}

impl<'s> Job<'s> {
    pub fn workers(&self) -> usize {
        self.limits.workers.max(1)
    }

    /// One worker's walker.
    pub fn walker(&self) -> Walker<'s> {
        self.packing.map_or_else(|| self.space.walker(), Packing::walker)
    }

    /// The plain form of the states on a path.
    pub fn plain(&self, path: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let Some(packing) = self.packing else { return Ok(path) };
        let damaged = || Error::damaged(&crate::parts::path(&self.settings.dir), "it does not know all numbers");
        path.iter().map(|state| packing.unpack(state).ok_or_else(damaged)).collect()
    }
}

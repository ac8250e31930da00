//! What the command line says about a run, for a session.

use std::sync::Arc;
use std::time::Duration;

use cyrano_session::{EngineName, Failure, Options, Runner};

use crate::args::{EngineChoice, RunArgs};
use crate::cache::Cache;
use crate::interrupt;

impl RunArgs {
    /// The engine, if the choice is not free.
    pub fn engine(&self) -> Option<EngineName> {
        match self.engine {
            EngineChoice::Auto => None,
            EngineChoice::Explore => Some(EngineName::Explore),
            EngineChoice::Symbolic => Some(EngineName::Symbolic),
            EngineChoice::Interp => Some(EngineName::Interp),
        }
    }

    /// A runner for this many questions.
    pub fn runner(&self, questions: usize) -> Result<Runner, Failure> {
        let options = Options {
            engine: self.engine(),
            timeout: self.timeout,
            memory: self.memory.map(|mib| mib << 20),
            workers: self.workers.map(usize::from),
            fingerprint: self.fingerprint,
            deferred: self.deferred.map(usize::from),
            iterations: self.iterations.map(usize::from),
            off: self.no_reduction.clone(),
            minimise: !self.no_minimise,
            ..options()?
        };
        Ok(Runner::new(&options, questions))
    }
}

/// The options of a run that nobody says anything about.
pub fn options() -> Result<Options, Failure> {
    Ok(Options { cancel: interrupt::install()?, store: Arc::new(Cache), ..Options::default() })
}

/// A runner for questions that are asked one after the other, all of them within this much time from now.
pub fn sequential(timeout: Option<Duration>) -> Result<Runner, Failure> {
    Ok(Runner::new(&Options { workers: Some(1), timeout, ..options()? }, 1))
}

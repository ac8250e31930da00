//! What the command line says about a run, for a session.

use std::sync::Arc;
use std::time::Duration;

use cyrano_session::{Failure, Options, Runner};

use crate::args::RunArgs;
use crate::cache::Cache;
use crate::{inputs, interrupt, source};

impl RunArgs {
    /// The files of these names, and those in folders of these names.
    pub fn files(&self, names: &[String]) -> Result<Vec<String>, Failure> {
        inputs::files(names, self.language, &source::PROGRAMS)
    }

    /// The one file of this name.
    pub fn file(&self, name: &str) -> Result<String, Failure> {
        inputs::file(name, self.language)
    }

    /// A runner for this many questions.
    pub fn runner(&self, questions: usize) -> Result<Runner, Failure> {
        let options = Options {
            engine: self.engine,
            timeout: self.timeout,
            memory: self.memory.map(|mib| mib << 20),
            workers: self.workers.map(usize::from),
            fingerprint: self.fingerprint,
            deferred: self.deferred.map(usize::from),
            iterations: self.iterations.map(usize::from),
            off: self.no_reduction.clone(),
            no_minimise: self.no_minimise,
            ..options()?
        };
        Ok(Runner::new(&options, questions))
    }
}

/// The options of a run that nobody says anything about.
pub fn options() -> Result<Options, Failure> {
    Ok(Options { cancel: interrupt::install()?, store: Some(Arc::new(Cache)), ..Options::default() })
}

/// A runner for questions that are asked one after the other, all of them within this much time from now.
pub fn sequential(timeout: Option<Duration>) -> Result<Runner, Failure> {
    Ok(Runner::new(&Options { workers: Some(1), timeout, ..options()? }, 1))
}

//! The tests of Fig. 10, measured once for all tables that show something of them.
//!
//! **Invariant:** a test is mined and checked at most once for one [`Setup`], unless two tables ask for it at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Setup;
use super::paper::Row;
use super::question::{Checked, Mined, Subject, library};
use cyrano_session::Failure;

/// What was found out about one test.
pub struct Measured {
    /// The test.
    pub subject: Subject,
    /// Its serial observations.
    pub mined: Mined,
    /// The inclusion check under `relaxed`.
    pub checked: Checked,
    by_formula: OnceLock<Mined>,
}

/// What has been measured.
#[derive(Default)]
pub struct Kept(Mutex<BTreeMap<(&'static str, &'static str), Arc<Measured>>>);

impl Measured {
    /// Of a row of Fig. 10.
    pub fn of(setup: &Setup<'_>, row: &Row) -> Result<Arc<Self>, Failure> {
        let key = (row.implementation, row.test);
        let kept = || setup.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&key) {
            return Ok(Arc::clone(known));
        }
        let subject = Subject::new(library(setup, row.implementation)?, row.test, setup)?;
        let mined = subject.mine()?;
        let checked = subject.check(&mined, "relaxed")?;
        let measured = Arc::new(Self { subject, mined, checked, by_formula: OnceLock::new() });
        kept().insert(key, Arc::clone(&measured));
        Ok(measured)
    }

    /// Its serial observations again, by formulas alone, with the time of another cell.
    pub fn by_formula(&self, setup: &Setup<'_>) -> Result<&Mined, Failure> {
        if let Some(known) = self.by_formula.get() {
            return Ok(known);
        }
        let mined = self.subject.renewed(setup).mine_by_formula()?;
        Ok(self.by_formula.get_or_init(|| mined))
    }

    /// The seconds of mining and check together.
    pub fn seconds(&self) -> f64 {
        self.mined.seconds + self.checked.stats.seconds
    }
}

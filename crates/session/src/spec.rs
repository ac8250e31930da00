//! Specifications of transactional memories and how their languages compare (FOIL, section 3).

use std::time::Instant;

use cyrano_criteria::history::{History, Size};
use cyrano_criteria::spec::automaton::Automaton;
use cyrano_criteria::spec::compare::{CompareError, Comparison, compare};
use cyrano_criteria::spec::named::{NAMES, NameError, named, plain};
use cyrano_ir::suggest;
use cyrano_report::SpecReport;

use crate::failure::Failure;
use crate::run::Runner;

impl Runner {
    /// Compares two specifications by name; with `symmetry` states that differ by a renaming of threads and variables are one where both can rename.
    pub fn compare_specifications(
        &self,
        left: &str,
        right: &str,
        size: Size,
        symmetry: bool,
    ) -> Result<SpecReport, Failure> {
        let (mut first, mut second) = (find(left, size, symmetry)?, find(right, size, symmetry)?);
        if first.renamings().is_none() || second.renamings().is_none() {
            (first, second) = (find(left, size, false)?, find(right, size, false)?);
        }
        let start = Instant::now();
        let compared = compare(first.as_mut(), second.as_mut(), |_| self.stopped().is_none());
        let seconds = start.elapsed().as_secs_f64();
        let (comparison, reason) = match compared {
            Ok(comparison) => (Some(comparison), None),
            Err(error @ CompareError::Alphabets) => return Err(Failure::input(error)),
            Err(error @ CompareError::Stopped { .. }) => {
                let limit = self.stopped().map_or("stopped", |stop| stop.reason());
                (None, Some(format!("{limit}; {error}")))
            }
        };
        let events = |pick: fn(&Comparison) -> &Option<History>| {
            let history = comparison.as_ref().and_then(|comparison| pick(comparison).as_ref());
            history.map(|history| history.iter().map(ToString::to_string).collect())
        };
        Ok(SpecReport {
            left: left.to_owned(),
            right: right.to_owned(),
            threads: size.threads,
            vars: size.vars,
            equivalent: comparison.as_ref().map(|comparison| comparison.equivalent),
            reason,
            left_only: events(|comparison| &comparison.left_only),
            right_only: events(|comparison| &comparison.right_only),
            left_states: first.states(),
            right_states: second.states(),
            pairs: comparison.as_ref().map(|comparison| comparison.pairs),
            symmetry: first.renamings().is_some() && second.renamings().is_some(),
            seconds,
        })
    }
}

fn find(name: &str, size: Size, symmetry: bool) -> Result<Box<dyn Automaton>, Failure> {
    let found = if symmetry { named(name, size) } else { plain(name, size) };
    found.map_err(|error| match &error {
        NameError::Unknown(_) => {
            let near = suggest::closest(name, NAMES.iter().map(|(name, _)| *name));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Failure::input(format!("{error}{near}"))
        }
        _ => Failure::input(error),
    })
}

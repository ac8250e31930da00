//! Atomic blocks: commit points where they are needed, and the check that does without them.
//!
//! `atomicity` is `observations` (CheckFence, section 2.2) with blocks as operations and all of memory observed: the allowed final states
//! are mined from a program in which blocks are operations ([`cyrano_criteria::atomicity`]).

use std::sync::OnceLock;

use cyrano_criteria::atomicity::{ATOMICITY, observed, serial};
use cyrano_criteria::blocks::{Words, without_commit};
use cyrano_engine::{Verdict, Watch};
use cyrano_memory::Model;
use cyrano_report::CheckReport;
use cyrano_trace::Trace;

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::run::Runner;
use crate::specification::Specification;

const RML_WORDS: Words = Words { commit: "`commit`", end: "`}`", example: "`atomic name { … commit; … }`" };

/// Why a verdict about final states may be missing.
const NEEDS_AN_END: &str =
    "`atomicity` is about final states, so it needs threads that end; `commit-atomicity` does not";

/// A program whose final states show everything, and what serial orders of its blocks end in.
pub struct Atomicity {
    loaded: Loaded,
    specification: Specification,
}

/// [`Atomicity`], made when it is first needed.
#[derive(Default)]
pub struct Lazy(OnceLock<Atomicity>);

impl Lazy {
    /// For this program.
    pub fn of(&self, loaded: &Loaded) -> &Atomicity {
        self.0.get_or_init(|| Atomicity::new(loaded))
    }
}

impl Atomicity {
    fn new(loaded: &Loaded) -> Self {
        let loaded = shown(loaded);
        let reference = Loaded { program: serial(&loaded.program), ..loaded.clone() };
        Self { loaded, specification: Specification::of(reference) }
    }

    /// Checks that every final state is that of a serial order.
    pub fn check(&self, runner: &Runner, model: &Model, watch: &dyn Watch) -> Result<CheckReport, Failure> {
        let mut report = self.specification.check(runner, &self.loaded, model, watch)?;
        report.criterion = ATOMICITY.to_owned();
        report.trace.iter_mut().for_each(rename);
        // The program that was run serially is the program itself.
        report.specification.iter_mut().for_each(|mined| mined.reference = None);
        if matches!(report.verdict, Verdict::Vacuous | Verdict::Bounded | Verdict::Unknown) {
            let reason = report.reason.take().map(|reason| format!("{reason}; ")).unwrap_or_default();
            report.reason = Some(format!("{reason}{NEEDS_AN_END}"));
        }
        Ok(report)
    }
}

fn shown(loaded: &Loaded) -> Loaded {
    Loaded { program: observed(&loaded.program), ..loaded.clone() }
}

/// The program that a trace is about: one that shows everything, if its criterion is `atomicity`.
pub fn shown_in(trace: &Trace, loaded: Loaded) -> Loaded {
    if trace.property.criterion == ATOMICITY { shown(&loaded) } else { loaded }
}

fn rename(trace: &mut Trace) {
    trace.property.criterion = ATOMICITY.to_owned();
}

/// A trace that was made again, with the criterion of the first one.
pub fn renamed_as(first: &Trace, mut again: Trace) -> Trace {
    if first.property.criterion == ATOMICITY {
        rename(&mut again);
    }
    again
}

/// Whether every block has a commit point.
pub fn commits(loaded: &Loaded) -> bool {
    loaded.program.threads.iter().all(|thread| without_commit(thread, RML_WORDS, None).is_empty())
}

/// Complains about every block that has no commit point.
pub fn require_commits(loaded: &Loaded, color: ColorChoice) -> Result<(), Failure> {
    let words = if loaded.source.is_c() { cyrano_cfront::BLOCK_WORDS } else { RML_WORDS };
    let mut errors = Vec::new();
    for thread in &loaded.program.threads {
        for diagnostic in without_commit(thread, words, None) {
            if !errors.contains(&diagnostic) {
                errors.push(diagnostic);
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(program::complain(&loaded.source, &errors, color)) }
}

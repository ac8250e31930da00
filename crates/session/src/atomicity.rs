//! Atomic blocks: commit points where they are needed, and the check that does without them.
//!
//! `atomicity` is `observations` (CheckFence, section 2.2) with blocks as operations and all of memory observed: the allowed final states
//! are mined from a program in which blocks are operations ([`cyrano_ir::blocks::serial`]). A deadlock is compared like a final state: it is
//! wrong if no serial order ends in the same one.
//! For an stm with a client of its own the blocks are the client's transactions, without the stm, and what is observed is what the client sees:
//! its locals and `data`, not what the stm keeps beside it.

use cyrano_criteria::table::ATOMICITY;
use cyrano_engine::{Question, Verdict, Violation, Watch};
use cyrano_ir::blocks::diagnose::{Words, without_commit};
use cyrano_ir::blocks::serial::{observed, serial};
use cyrano_ir::{Diagnostic, Program};
use cyrano_memory::Model;
use cyrano_report::CheckReport;
use cyrano_trace::Trace;

use crate::case::Case;
use crate::failure::Failure;
use crate::run::Runner;
use crate::specification::Specification;

/// Why a verdict about final states may be missing.
const NEEDS_AN_END: &str =
    "`atomicity` is about final states, so it needs threads that end; `commit-atomicity` does not";

/// What is said about deadlocks that are no violation.
const SERIAL_DEADLOCKS: &str = "some executions end in a deadlock, as serial orders of the blocks do";

/// Why a deadlock may not be judged.
const ONLY_THE_EXPLORER: &str = "there is a deadlock, and serial orders of the blocks have some too; only the explorer compares them; try --engine explore";

/// A program whose final states show everything, and what serial orders of its blocks end in.
pub struct Atomicity {
    case: Case,
    specification: Specification,
}

impl Atomicity {
    /// For this program.
    pub fn new(case: &Case) -> Self {
        let case = shown(case);
        let blocks = case.atomic.as_deref().unwrap_or(&case.program);
        let reference = Case { program: serial(blocks), ..case.clone() };
        Self { specification: Specification::of(Some(reference)), case }
    }

    /// The program that shows everything, and what its final states are compared with.
    pub fn parts(&self) -> (&Case, &Specification) {
        (&self.case, &self.specification)
    }

    /// Checks that every final state is that of a serial order.
    pub fn check(&self, runner: &Runner, model: &Model, watch: &dyn Watch) -> Result<CheckReport, Failure> {
        let mut report = self.specification.check(runner, &self.case, model, watch)?;
        if deadlocks(&report) && self.case.atomic.is_none() {
            report = self.beyond_deadlocks(report, runner, model, watch)?;
        }
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

    /// Judges a deadlock: wrong is one that no serial order ends in. Others are passed over.
    fn beyond_deadlocks(
        &self,
        mut report: CheckReport,
        runner: &Runner,
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let reference = self.specification.reference.as_ref().unwrap_or(&self.case);
        let serial = cyrano_memory::named("serial").expect("serial is a named model");
        let query = reference.query(&serial, Question::Outcomes)?;
        let unknown = match runner.deadlocks(query, watch) {
            Ok(known) if known.is_empty() => return Ok(report),
            Ok(known) => match runner.allowing(known) {
                Some(runner) => {
                    let mut report = self.specification.check(&runner, &self.case, model, watch)?;
                    if report.verdict == Verdict::Verified {
                        report.reason = Some(SERIAL_DEADLOCKS.to_owned());
                    }
                    return Ok(report);
                }
                None => ONLY_THE_EXPLORER.to_owned(),
            },
            Err(why) => format!("there is a deadlock, and not all those of serial orders are known: {why}"),
        };
        report.verdict = Verdict::Unknown;
        report.reason = Some(unknown);
        report.trace = None;
        report.explanation = None;
        Ok(report)
    }
}

/// Whether a deadlock is what a report is about.
fn deadlocks(report: &CheckReport) -> bool {
    let kind = Violation::Deadlock { blocked: Vec::new() }.kind();
    report.verdict == Verdict::Violated && report.explanation.as_ref().is_some_and(|why| why.kind == kind)
}

/// Whether there is something that should be atomic: blocks, or the transactions of a client.
pub fn applies(case: &Case) -> bool {
    case.program.has_blocks() || case.atomic.is_some()
}

/// What an stm keeps beside the client's data is not shown.
fn shown(case: &Case) -> Case {
    let program = if case.atomic.is_some() { case.program.clone() } else { observed(&case.program) };
    Case { program, ..case.clone() }
}

/// The program that a trace is about: one that shows everything, if its criterion is `atomicity`.
pub fn shown_in(trace: &Trace, case: Case) -> Case {
    if trace.property.criterion == ATOMICITY { shown(&case) } else { case }
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
pub fn commits(case: &Case) -> bool {
    uncommitted(&case.program, case.frontend.words()).is_empty()
}

/// Complains about every block that has no commit point.
pub fn require_commits(case: &Case) -> Result<(), Failure> {
    let errors = uncommitted(&case.program, case.frontend.words());
    if errors.is_empty() { Ok(()) } else { Err(Failure::source(&case.source, errors)) }
}

fn uncommitted(program: &Program, words: Words) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for diagnostic in program.threads.iter().flat_map(|thread| without_commit(thread, words, None)) {
        if !errors.contains(&diagnostic) {
            errors.push(diagnostic);
        }
    }
    errors
}

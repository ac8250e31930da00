//! Linearizability of data types: every execution looks like a serial one, in whatever order its calls may be ([`cyrano_graphs`] says what that means).
//!
//! The serial executions are mined twice over: from the test itself, in which each call takes a number when it begins, so that what is mined says in which order calls
//! were. What graphs find to be wrong is a client with an order of calls. That client is a test like any other one (`( e | d ) where 1 < 2`), and it is checked by
//! `observations`, from its own serial executions: a violation is shown only if that check finds one, too, and has it replayed.

use std::sync::OnceLock;
use std::time::Instant;

use cyrano_engine::{Limits, Query, Question, Refusal, Subject, Verdict, Watch};
use cyrano_graphs::SerialOrders;
use cyrano_ir::{Op, Property};
use cyrano_memory::Model;
use cyrano_report::{CheckReport, SpecificationReport};
use cyrano_trace::TestInfo;

use crate::case::Case;
use crate::failure::{self, Failure};
use crate::run::Runner;
use crate::run::unrolled::raised;
use crate::specification::{Specification, mine};

/// The name of the criterion.
const NAME: &str = "linearizability";

/// The serial executions of a test with their orders of calls, mined when they are first needed.
#[derive(Default)]
pub struct Linearizability {
    mined: OnceLock<Result<(SerialOrders, SpecificationReport), String>>,
}

impl Linearizability {
    /// Checks a test.
    pub fn check(
        &self,
        runner: &Runner,
        (case, reference): (&Case, Option<&Case>),
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let unknown = |why: String| CheckReport {
            model: Some(model.name.clone()),
            verdict: Verdict::Unknown,
            reason: Some(why),
            ..case.report(NAME)
        };
        if has_calls_behind(case) {
            return Ok(unknown("calls behind the threads have an order by themselves; write them into the parentheses, or check observations".to_owned()));
        }
        let Some(graphs) = runner.graphs() else {
            return Ok(unknown(Refusal::NotJudged(Subject::OrdersOfCalls).to_string()));
        };
        let mined = self.mined.get_or_init(|| orders(runner, (case, reference), watch));
        let (serial, specification) = match mined {
            Ok(mined) => mined,
            Err(why) => return Ok(unknown(why.clone())),
        };
        let case = &*case.for_question(None, model);
        let property = Property::Observations(serial.observations());
        let query: Query<'_> = case.query(model, Question::Holds(&property))?;
        let mut pairs = Vec::new();
        let mut ask = |limits: &Limits| {
            let (answer, wrong) = graphs.linearize(&query, serial, limits, watch);
            pairs = wrong;
            answer
        };
        let answer = if runner.unrolls { raised(&runner.limits, ask) } else { ask(&runner.limits) };
        if answer.verdict == Verdict::Violated {
            return shown(runner, (case, reference), model, &pairs, watch);
        }
        let left_out = case.left_out().filter(|_| answer.verdict == Verdict::Verified);
        Ok(CheckReport {
            model: Some(model.name.clone()),
            stats: Some(answer.stats),
            engine: Some("graphs".to_owned()),
            verdict: if left_out.is_some() { Verdict::Bounded } else { answer.verdict },
            reason: answer.reason.map(|cause| cause.to_string()).or(left_out),
            caveats: case.caveats(answer.verdict, model),
            reductions: answer.reductions.iter().map(|name| (*name).to_owned()).collect(),
            specification: Some(specification.clone()),
            ..case.report(NAME)
        })
    }
}

/// Whether a test has calls that begin when all threads have ended: `( e | d ) d`.
fn has_calls_behind(case: &Case) -> bool {
    let behind = case.notation.as_deref().and_then(|notation| notation.rsplit_once(')'));
    behind.is_some_and(|(_, behind)| !behind.trim_start().is_empty() && !behind.trim_start().starts_with("where "))
}

/// The serial executions of a test, with their orders of calls.
fn orders(
    runner: &Runner,
    (case, reference): (&Case, Option<&Case>),
    watch: &dyn Watch,
) -> Result<(SerialOrders, SpecificationReport), String> {
    let case = reference.unwrap_or(case);
    let reference = reference.map(|reference| reference.source.name.clone());
    let started = Instant::now();
    if let Some(serial) = SerialOrders::of(&case.program) {
        let (observations, seconds) = (serial.observations().len(), started.elapsed().as_secs_f64());
        let engine = Some("graphs".to_owned());
        let report = SpecificationReport { reference, observations, complete: true, engine, cached: false, seconds };
        return Ok((serial, report));
    }
    let numbered = ordered(case, "numbered").map_err(|failure| failure.to_string())?;
    let others = numbered.program.thread_ids().filter(|thread| numbered.program.setup != Some(*thread));
    let ops = others.flat_map(|thread| &numbered.program.thread(thread).code);
    let calls = ops.filter(|instr| matches!(instr.op, Op::OperationBegin(_))).count();
    let mined = mine(runner, &numbered, None, watch);
    if let Some(why) = mined.incomplete {
        return Err(why);
    }
    let serial = SerialOrders::new(&mined.allowed, calls).ok_or_else(|| format!("{calls} calls are too many"))?;
    let report = SpecificationReport { reference, observations: serial.observations().len(), ..mined.report };
    Ok((serial, report))
}

/// The same test, of which more is said about the order of its calls.
fn ordered(case: &Case, more: &str) -> Result<Case, Failure> {
    let parts = case.test.as_ref().zip(case.notation.as_ref());
    let (test, notation) = parts.ok_or_else(|| case.refused("only tests of a data type have calls"))?;
    let said = if notation.contains(" where ") { "," } else { " where" };
    let test = TestInfo { name: format!("{notation}{said} {more}"), ..test.clone() };
    case.as_test(test)
}

/// The check of a client with this order of calls, in which an observation is wrong.
fn shown(
    runner: &Runner,
    (case, reference): (&Case, Option<&Case>),
    model: &Model,
    pairs: &[(usize, usize)],
    watch: &dyn Watch,
) -> Result<CheckReport, Failure> {
    let said: Vec<String> = pairs.iter().map(|(one, other)| format!("{} < {}", one + 1, other + 1)).collect();
    let client = |case: &Case| if said.is_empty() { Ok(case.clone()) } else { ordered(case, &said.join(", ")) };
    let (client, reference) = (client(case)?, reference.map(client).transpose()?);
    let report = Specification::of(reference).check(runner, &client, model, watch)?;
    match report.verdict {
        Verdict::Violated => Ok(CheckReport { criterion: NAME.to_owned(), ..report }),
        Verdict::Unknown => Ok(CheckReport { criterion: NAME.to_owned(), ..report }),
        other => {
            let why = format!(
                "graphs found a wrong order of calls in {}, and its check is {}",
                case.source.name,
                other.name()
            );
            Err(Failure::Internal(failure::bug(&why)))
        }
    }
}

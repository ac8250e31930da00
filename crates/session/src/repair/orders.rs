//! An algorithm over base objects as something that can be repaired with declared orders, and which of its orders it could do without
//! (Lesani and Palsberg, *Proving Non-opacity*, sections 4 and 5: the orders that an algorithm relies on).
//!
//! First everything is judged in the order of the text: what goes wrong there no order repairs. Then orders are sought as fences are
//! ([`cyrano_fences::synthesise_orders`]). With the orders that were found in place, the same search among those that the file
//! declares finds the fewest that are needed; the others can go together.

mod candidates;
mod judge;

use std::time::Instant;

use cyrano_engine::Watch;
use cyrano_fences::{Judgement, OrderSet, OrdersOutcome, Verdict, synthesise_orders};
use cyrano_report::{DeclaredOrder, FenceInfo, FencesReport, OrdersReport};
use cyrano_rml::algorithm::{self, Mode, OrderPair, Orders};

use super::{Repaired, Task};
use crate::case::Case;
use crate::failure::Failure;
use crate::run::Runner;
use candidates::{Choice, insert, written};
use judge::{Judge, Shown};

/// What came of the search.
struct Found {
    outcome: OrdersOutcome<Shown>,
    /// The first set.
    added: Option<Vec<OrderPair>>,
    sets: Vec<Vec<FenceInfo>>,
    declared: Option<OrdersReport>,
}

/// Finds orders for one mode of execution.
pub fn repair_orders(task: &Task<'_>, runner: &Runner, watch: &dyn Watch) -> Result<Repaired, Failure> {
    let start = Instant::now();
    let case = task.first()?;
    let orders = algorithm::orders(&case.source.text).map_err(|_| case.refused("its orders cannot be read"))?;
    let clients: Vec<_> = task.aims.iter().filter_map(|aim| aim.case.algorithm.clone()).collect();
    let mode = Mode::ALL.into_iter().find(|mode| mode.name() == task.model.name);
    let judge = Judge::new(task, clients, mode, runner, watch);
    let found = match hopeless(task, &judge)? {
        Some(found) => found,
        None => search(task, &judge, case, &orders)?,
    };
    Ok(repaired(task, case, &orders, found, start))
}

/// The result if something goes wrong in the order of the text.
fn hopeless(task: &Task<'_>, judge: &Judge<'_>) -> Result<Option<Found>, Failure> {
    let wrong = judge.wrong_in_order()?;
    if wrong.is_empty() {
        return Ok(None);
    }
    let name = |case: usize| task.aims[case].case.test_name().unwrap_or_default();
    let names: Vec<String> = wrong.iter().map(|shown| name(shown.case)).collect();
    let rest = (0..task.aims.len()).map(name).filter(|name| !names.contains(name));
    let rest: Vec<String> = rest.collect();
    let verb = if names.len() == 1 { "goes" } else { "go" };
    let mut reason = format!("{} {verb} wrong in the order of the text as well, so no order helps", names.join(", "));
    if !rest.is_empty() {
        reason.push_str(&format!("; --test {} leaves out what cannot be repaired", rest.join(",")));
    }
    let outcome = OrdersOutcome {
        verdict: Verdict::Irreparable,
        reason: Some(reason),
        sets: Vec::new(),
        complete: true,
        questions: task.aims.iter().map(|case| case.goals.len()).sum(),
        counterexamples: wrong.into_iter().take(1).collect(),
    };
    Ok(Some(Found { outcome, added: None, sets: Vec::new(), declared: None }))
}

fn search(task: &Task<'_>, judge: &Judge<'_>, case: &Case, orders: &Orders) -> Result<Found, Failure> {
    let fixed: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
    // Gathering candidates takes longer than most questions; the judge remembers what is correct.
    let choice = match judge.judge(&fixed) {
        Judgement::Wrong(_) => Choice::all(judge, &case.source, &case.set, orders),
        Judgement::Correct | Judgement::Unknown(_) => Choice::among(judge, fixed, Vec::new()),
    };
    let mut outcome = synthesise_orders(&choice, task.sets());
    judge.finish()?;
    outcome.questions += task.aims.iter().map(|case| case.goals.len()).sum::<usize>();
    let end = case.source.line(orders.end).unwrap_or(1);
    let info = |set: &OrderSet| infos(judge, &choice, &outcome.counterexamples, set, end);
    let sets = outcome.sets.iter().map(info).collect();
    let first = outcome.sets.first();
    let added = first.map(|set| set.orders.iter().map(|number| choice.candidates[*number].clone()).collect());
    let mut declared = None;
    if matches!(outcome.verdict, Verdict::Repaired | Verdict::AlreadyCorrect) && judge.mode.is_some() {
        let (report, questions) = superfluous(judge, case, orders, added.clone().unwrap_or_default())?;
        outcome.questions += questions;
        declared = Some(report);
    }
    Ok(Found { outcome, added, sets, declared })
}

/// One set as it is told, with what goes wrong without each of its orders.
fn infos(judge: &Judge<'_>, choice: &Choice<'_>, shown: &[Shown], set: &OrderSet, line: usize) -> Vec<FenceInfo> {
    let all = choice.with(&set.orders);
    let info = |(number, prevents): (&usize, &Option<usize>)| FenceInfo {
        line,
        place: "before",
        kind: "order".to_owned(),
        order: Some(written(&choice.candidates[*number])),
        program: None,
        prevents: prevents.and_then(|at| in_words(judge, shown.get(at)?, &all)).into_iter().collect(),
        counterexamples: prevents.and_then(|at| shown.get(at)?.trace.clone()).into_iter().collect(),
    };
    set.orders.iter().zip(&set.prevents).map(info).collect()
}

/// What a counterexample shows, by which client, and what it performs against these orders.
fn in_words(judge: &Judge<'_>, shown: &Shown, declared: &[OrderPair]) -> Option<String> {
    let trace = shown.trace.as_ref()?;
    let test = &judge.tests[shown.case];
    let order = judge.order(shown.case, declared);
    let mut moves: Vec<String> = Vec::new();
    for (thread, first, second) in &shown.overtaken {
        let label = |instr| test.labels_at(thread.index(), instr).last().map(|label| (*label).to_owned());
        let (Some(early), Some(late)) = (label(*second), label(*first)) else { continue };
        let words = format!("{early} before {late}");
        if order.precedes(*thread, *first, *second) && !moves.contains(&words) {
            moves.push(words);
        }
    }
    let sentence = &trace.explanation.sentence;
    let name = &test.name;
    Some(if moves.is_empty() {
        format!("{name}: {sentence}")
    } else {
        format!("{name}, {}: {sentence}", moves.join(", "))
    })
}

/// Which of the declared orders can go, with the added ones in place, and how many questions it took to know.
fn superfluous(
    judge: &Judge<'_>,
    case: &Case,
    orders: &Orders,
    added: Vec<OrderPair>,
) -> Result<(OrdersReport, usize), Failure> {
    let declared: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
    let choice = Choice::among(judge, added.clone(), declared.clone());
    let outcome = synthesise_orders(&choice, 1);
    judge.finish()?;
    let mut questions = outcome.questions;
    let needed = match outcome.verdict {
        Verdict::AlreadyCorrect => Some(Vec::new()),
        Verdict::Repaired => outcome.sets.first().map(|set| set.orders.clone()),
        Verdict::Irreparable | Verdict::Unknown => None,
    };
    let mut report = OrdersReport {
        tests: judge.tests.iter().map(|test| test.name.clone()).collect(),
        declared: Vec::new(),
        droppable: needed.as_ref().map(|needed| {
            let dropped = (0..declared.len()).filter(|number| !needed.contains(number));
            dropped.map(|number| written(&declared[number])).collect()
        }),
        reason: outcome.reason.clone(),
    };
    for (number, (pair, span)) in orders.declared.iter().enumerate() {
        let rest: Vec<OrderPair> =
            (0..declared.len()).filter(|other| *other != number).map(|other| declared[other].clone()).collect();
        let rest = [added.clone(), rest].concat();
        let all = [&rest[..], &declared[number..=number]].concat();
        let dropped = needed.as_ref().is_some_and(|needed| !needed.contains(&number));
        let known = outcome.counterexamples.iter().find(|shown| judge.allows(shown, &rest)).cloned();
        let (superfluous, shown) = match known {
            _ if dropped => (Some(true), None),
            Some(shown) => (Some(false), Some(shown)),
            None => {
                questions += 1;
                match judge.judge(&rest) {
                    Judgement::Correct => (Some(true), None),
                    Judgement::Wrong(wrong) => (Some(false), Some(wrong.evidence)),
                    Judgement::Unknown(_) => (None, None),
                }
            }
        };
        let line = case.source.line(*span).unwrap_or(1);
        let prevents = shown.and_then(|shown| in_words(judge, &shown, &all));
        report.declared.push(DeclaredOrder { order: written(pair), line, superfluous, prevents });
    }
    judge.finish()?;
    Ok((report, questions))
}

fn repaired(task: &Task<'_>, case: &Case, orders: &Orders, found: Found, start: Instant) -> Repaired {
    let Found { outcome, added, sets, declared } = found;
    let text = added.map(|set| insert(&case.source.text, orders, &set));
    let shown = outcome.counterexamples.last().filter(|_| outcome.verdict == Verdict::Irreparable);
    let report = FencesReport {
        criterion: criteria(task),
        reason: outcome.reason.clone(),
        minimal: outcome.minimal(),
        complete: task.all && outcome.complete,
        sets,
        orders: declared,
        trace: shown.and_then(|shown| shown.trace.clone()),
        questions: outcome.questions,
        ..task.report(case, outcome.verdict, text.as_ref(), start)
    };
    Repaired { report, text }
}

/// What has to hold: `never, opacity`.
fn criteria(task: &Task<'_>) -> String {
    let mut criteria: Vec<&str> = Vec::new();
    for goal in task.aims.iter().flat_map(|case| &case.goals) {
        if !criteria.contains(&goal.criterion()) {
            criteria.push(goal.criterion());
        }
    }
    criteria.join(", ")
}

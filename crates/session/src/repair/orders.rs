//! An algorithm over base objects as something that can be repaired with declared orders, and which of its orders it could do without
//! (Lesani and Palsberg, *Proving Non-opacity*, sections 4 and 5: the orders that an algorithm relies on).
//!
//! First everything is judged in the order of the text: what goes wrong there no order repairs. Then orders are sought as fences are
//! ([`cyrano_fences::synthesise_orders`]). With the orders that were found in place, the same search among those that the file
//! declares finds the fewest that are needed; the others can go together.

use std::time::Instant;

use cyrano_fences::repair::{self, Choice, Trouble, insert, written};
use cyrano_fences::{Judgement, OrderSet, OrdersOutcome, Verdict, synthesise_orders};
use cyrano_report::{DeclaredOrder, FenceInfo, FencesReport, OrdersReport};
use cyrano_rml::algorithm::{self, OrderPair, Orders};
use cyrano_trace::Trace;

use super::{Asker, Repaired, Task};
use crate::case::Case;
use crate::failure::Failure;

type Shown = repair::Shown<Trace>;
type Clients<'a> = repair::Clients<'a, Asker<'a>>;

/// What came of the search.
struct Found {
    outcome: OrdersOutcome<Shown>,
    /// The first set.
    added: Option<Vec<OrderPair>>,
    sets: Vec<Vec<FenceInfo>>,
    declared: Option<OrdersReport>,
}

/// Finds orders for one mode of execution.
pub(super) fn repair_orders(asker: &Asker<'_>, case: &Case) -> Result<Repaired, Failure> {
    let (start, task) = (Instant::now(), asker.task);
    let orders = algorithm::orders(&case.source.text).map_err(|_| case.refused("its orders cannot be read"))?;
    let tests: Vec<_> = task.aims.iter().filter_map(|aim| aim.case.algorithm.clone()).collect();
    let clients = Clients::new(asker, task.model, tests);
    let found = match hopeless(task, &clients) {
        Ok(None) => search(task, &clients, case, &orders),
        Ok(Some(found)) => Ok(found),
        Err(trouble) => Err(trouble),
    };
    let found = found.map_err(|trouble| asker.failure(trouble, "orders"))?;
    Ok(repaired(task, case, &orders, found, start))
}

/// The result if something goes wrong in the order of the text.
fn hopeless(task: &Task<'_>, clients: &Clients<'_>) -> Result<Option<Found>, Trouble> {
    let wrong = clients.wrong_in_order()?;
    if wrong.is_empty() {
        return Ok(None);
    }
    let name = |case: usize| task.aims[case].case.test_name().unwrap_or_default();
    let names: Vec<String> = wrong.iter().map(|shown| name(shown.client)).collect();
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

fn search(task: &Task<'_>, clients: &Clients<'_>, case: &Case, orders: &Orders) -> Result<Found, Trouble> {
    let fixed: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
    // Gathering candidates takes longer than most questions; the judge remembers what is correct.
    let choice = match clients.judge(&fixed) {
        Judgement::Wrong(_) => Choice::all(clients, (&case.source.name, &case.source.text), &case.set, orders),
        Judgement::Correct | Judgement::Unknown(_) => Choice::among(clients, fixed, Vec::new()),
    };
    let mut outcome = synthesise_orders(&choice, task.sets());
    clients.finish()?;
    outcome.questions += task.aims.iter().map(|case| case.goals.len()).sum::<usize>();
    let end = case.source.line(orders.end).unwrap_or(1);
    let info = |set: &OrderSet| infos(clients, &choice, &outcome.counterexamples, set, end);
    let sets = outcome.sets.iter().map(info).collect();
    let first = outcome.sets.first();
    let added = first.map(|set| set.orders.iter().map(|number| choice.candidates[*number].clone()).collect());
    let mut declared = None;
    if matches!(outcome.verdict, Verdict::Repaired | Verdict::AlreadyCorrect) && clients.mode.is_some() {
        let (report, questions) = superfluous(clients, case, orders, added.clone().unwrap_or_default())?;
        outcome.questions += questions;
        declared = Some(report);
    }
    Ok(Found { outcome, added, sets, declared })
}

/// One set as it is told, with what goes wrong without each of its orders.
fn infos(
    clients: &Clients<'_>,
    choice: &Choice<'_, Asker<'_>>,
    shown: &[Shown],
    set: &OrderSet,
    line: usize,
) -> Vec<FenceInfo> {
    let all = choice.with(&set.orders);
    let info = |(number, prevents): (&usize, &Option<usize>)| FenceInfo {
        line,
        place: "before",
        kind: "order".to_owned(),
        order: Some(written(&choice.candidates[*number])),
        instead_of: None,
        program: None,
        prevents: prevents.and_then(|at| in_words(clients, shown.get(at)?, &all)).into_iter().collect(),
        counterexamples: prevents.and_then(|at| shown.get(at)?.trace.clone()).into_iter().collect(),
    };
    set.orders.iter().zip(&set.prevents).map(info).collect()
}

/// What a counterexample shows, by which client, and what it performs against these orders.
fn in_words(clients: &Clients<'_>, shown: &Shown, declared: &[OrderPair]) -> Option<String> {
    let trace = shown.trace.as_ref()?;
    let test = &clients.tests[shown.client];
    let order = clients.order(shown.client, declared);
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
    clients: &Clients<'_>,
    case: &Case,
    orders: &Orders,
    added: Vec<OrderPair>,
) -> Result<(OrdersReport, usize), Trouble> {
    let declared: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
    let choice = Choice::among(clients, added.clone(), declared.clone());
    let outcome = synthesise_orders(&choice, 1);
    clients.finish()?;
    let mut questions = outcome.questions;
    let needed = match outcome.verdict {
        Verdict::AlreadyCorrect => Some(Vec::new()),
        Verdict::Repaired => outcome.sets.first().map(|set| set.orders.clone()),
        Verdict::Irreparable | Verdict::Unknown => None,
    };
    let mut report = OrdersReport {
        tests: clients.tests.iter().map(|test| test.name.clone()).collect(),
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
        let known = outcome.counterexamples.iter().find(|shown| clients.allows(shown, &rest)).cloned();
        let (superfluous, shown) = match known {
            _ if dropped => (Some(true), None),
            Some(shown) => (Some(false), Some(shown)),
            None => {
                questions += 1;
                match clients.judge(&rest) {
                    Judgement::Correct => (Some(true), None),
                    Judgement::Wrong(wrong) => (Some(false), Some(wrong.evidence)),
                    Judgement::Unknown(_) => (None, None),
                }
            }
        };
        let line = case.source.line(*span).unwrap_or(1);
        let prevents = shown.and_then(|shown| in_words(clients, &shown, &all));
        report.declared.push(DeclaredOrder { order: written(pair), line, superfluous, prevents });
    }
    clients.finish()?;
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

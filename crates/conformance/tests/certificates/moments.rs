//! Invariants and races: the check of all states that single steps reach accepts exactly what the reference verifies from the definitions, and it accepts what the
//! explorer writes.

use cyrano_certificate::{check, parse, print};
use cyrano_conformance::certified::{certificate, saturated};
use cyrano_conformance::states::states;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Unwritten;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::{MOST, run};

/// Compares the check with the reference; says whether both decided, and the explorer's certificate was accepted.
fn compare(program: &Program, property: &Property, model: &Model) -> Result<usize, String> {
    let Ok(query) = Query::new(program, model, Question::Holds(property)) else { return Ok(0) };
    let place = || format!("{} under {}", property.criterion(), model.name);
    let verdict = Interp.ask(query, &limits(0.1, 3), &()).verdict;
    let mut compared = 0;
    if let Some(all) = saturated((program, property), model, MOST) {
        let checked = check(&all, &limits(20.0, 3));
        match (verdict, &checked) {
            (Verdict::Violated, Ok(_)) => return Err(format!("{}: violated, and accepted", place())),
            (Verdict::Verified, Err(why)) => return Err(format!("{}: verified, and refused: {why:#?}", place())),
            (Verdict::Violated | Verdict::Verified, _) => compared += 1,
            _ => {}
        }
    }
    match certificate((program, property), model, MOST, &limits(2.0, 3)) {
        Ok(written) => {
            let read = parse(&print(&written)).map_err(|why| why.to_string())?;
            check(&read, &limits(20.0, 3)).map_err(|why| format!("{}: {why:#?}", place()))?;
            Ok(compared + 1)
        }
        Err(Unwritten::TooMany { .. } | Unwritten::Refused(_) | Unwritten::Otherwise(..)) => Ok(compared),
        Err(why) => Err(why.to_string()),
    }
}

#[test]
fn invariants_and_races_are_as_defined() {
    let cases = if pinned::long() { 10_000 } else { 700 };
    let under_all = |program: &Program| -> Result<usize, String> {
        let models = cyrano_memory::all();
        let pairs = program.checks.iter().flat_map(|check| models.iter().map(move |model| (&check.property, model)));
        pairs.map(|(property, model)| compare(program, property, model)).sum()
    };
    let compared = run(cases, &states(), |random| under_all(&random.program()), |random| random.shown());
    println!("{compared} comparisons");
    assert!(compared >= 5 * cases as usize, "only {compared}");
}

/// A thread that goes round without an access passes a fence more in every round; it is in no new place.
#[test]
fn fences_without_accesses() {
    let source = "threads { thread v[3] { local r; loop { mfence; cs: if r == 0 { skip; } } } }
        check invariant (count(v@cs) <= 2);";
    let program = cyrano_rml::compile(source, "fences", &[]).expect("it compiles");
    let (property, model) = (&program.checks[0].property, cyrano_memory::named("sc").expect("a model"));
    let query = Query::new(&program, &model, Question::Holds(property)).expect("a question");
    let answer = cyrano_explore::Explore::default().ask(query, &limits(20.0, 3), &());
    assert_eq!(answer.verdict, Verdict::Violated, "all three can be there together");
    let execution = answer.execution.expect("a violation has its execution");
    let confirmed = cyrano_interp::confirm(&program, &model, property, answer.violation.as_ref(), &execution);
    assert!(confirmed.is_ok(), "{}", confirmed.unwrap_err());
}

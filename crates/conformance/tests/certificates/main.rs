//! Certificates: single steps agree with the axioms, what the explorer writes is accepted, and what is tampered with is not.

mod library;
mod moments;
mod mutants;

use std::cell::Cell;

use cyrano_certificate::{check, parse, print};
use cyrano_conformance::certified::{certificate, search};
use cyrano_conformance::generate::{program, units};
use cyrano_conformance::{limits, models, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Unwritten;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use proptest::strategy::Strategy;
use proptest::test_runner::{TestCaseError, TestError};

/// States that are looked at of one random program.
const MOST: usize = 20_000;

fn run<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = T>,
    test: impl Fn(&T) -> Result<usize, String>,
    shown: impl Fn(&T) -> String,
) -> usize {
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(strategy, |case| {
        compared.set(compared.get() + test(&case).map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => compared.get(),
        Err(TestError::Fail(reason, case)) => panic!("{reason}\n{}", shown(&case)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
}

/// Compares single steps with executions from the axioms; says how many questions both answered.
fn steps_are_executions(program: &Program, model: &Model) -> Result<usize, String> {
    let Some(stepped) = search(program, model, MOST) else { return Ok(0) };
    let ask = |question| Interp.ask(Query::new(program, model, question).expect("a question"), &limits(0.1, 3), &());
    let judged = ask(Question::Holds(&Property::Assertions));
    let wrong = judged.verdict == Verdict::Violated;
    let certain = wrong || matches!(judged.verdict, Verdict::Verified | Verdict::Vacuous);
    if certain && wrong != stepped.wrong {
        return Err(format!("under {}: interp says {:?}, steps {}", model.name, judged.violation, stepped.wrong));
    }
    let outcomes = ask(Question::Outcomes);
    if outcomes.verdict == Verdict::Verified && outcomes.outcomes != stepped.outcomes {
        let missing: Vec<_> = outcomes.outcomes.difference(&stepped.outcomes).collect();
        let invented: Vec<_> = stepped.outcomes.difference(&outcomes.outcomes).collect();
        return Err(format!("under {}: steps miss {missing:?} and invent {invented:?}", model.name));
    }
    Ok(usize::from(certain) + usize::from(outcomes.verdict == Verdict::Verified))
}

/// Whatever the explorer verifies without reductions has a certificate that is accepted, in memory and from a file; says how many there were.
fn certificates_are_accepted(program: &Program, model: &Model) -> Result<usize, String> {
    let mut accepted = 0;
    let serial = cyrano_memory::named("serial").expect("a model");
    let serial =
        Interp.ask(Query::new(program, &serial, Question::Outcomes).expect("a question"), &limits(0.1, 3), &());
    let observations = (serial.verdict == Verdict::Verified).then_some(Property::Observations(serial.outcomes));
    for property in [Property::Assertions].iter().chain(&observations).chain(program.checks.iter().map(|c| &c.property))
    {
        if cyrano_certificate::provable(program, property).is_err() {
            continue;
        }
        let certificate = match certificate((program, property), model, MOST, &limits(2.0, 3)) {
            Ok(certificate) => certificate,
            Err(Unwritten::TooMany { .. } | Unwritten::Refused(_) | Unwritten::Otherwise(..)) => continue,
            Err(why) => return Err(why.to_string()),
        };
        let read = parse(&print(&certificate)).map_err(|why| why.to_string())?;
        if (&read.program, &read.states, &read.forgets)
            != (&certificate.program, &certificate.states, &certificate.forgets)
        {
            return Err("a certificate does not come back as it was written".into());
        }
        let checked = check(&read, &limits(20.0, 3));
        let checked = checked.map_err(|why| format!("{} under {}: {why:#?}", property.criterion(), model.name))?;
        if checked.reached != checked.states {
            return Err(format!("{checked:?} under {}: the explorer visits what nobody reaches", model.name));
        }
        accepted += 1;
    }
    Ok(accepted)
}

fn under_all(test: fn(&Program, &Model) -> Result<usize, String>, program: &Program) -> Result<usize, String> {
    cyrano_memory::all().iter().map(|model| test(program, model)).sum()
}

#[test]
fn single_steps_agree_with_the_axioms() {
    let compared =
        run(1500, &program(), |random| under_all(steps_are_executions, &random.program()), |random| random.shown());
    let in_units =
        run(300, &units(), |random| under_all(steps_are_executions, &random.program()), |random| random.shown());
    let users = run(
        4000,
        &(units(), models::model()),
        |(random, model)| steps_are_executions(&random.program(), model),
        |(random, model)| format!("{}\n{model:?}", random.shown()),
    );
    assert!(compared >= 10_000 && in_units >= 2000 && users >= 200, "{compared}, {in_units}, {users}");
}

#[test]
fn certificates_of_random_programs_are_accepted() {
    let plain = run(
        1500,
        &program(),
        |random| under_all(certificates_are_accepted, &random.program()),
        |random| random.shown(),
    );
    let in_units =
        run(300, &units(), |random| under_all(certificates_are_accepted, &random.program()), |random| random.shown());
    let users = run(
        4000,
        &(units(), models::model()),
        |(random, model)| certificates_are_accepted(&random.program(), model),
        |(random, model)| format!("{}\n{model:?}", random.shown()),
    );
    assert!(plain >= 5000 && in_units >= 1000 && users >= 100, "{plain}, {in_units}, {users}");
}

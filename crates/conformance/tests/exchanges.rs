//! Equal threads with objects of their own, exchanged in the explorer or told apart: the same verdicts, shortest violations and unreached instructions.

use std::cell::Cell;

use cyrano_conformance::compare::model;
use cyrano_conformance::corpus::judge;
use cyrano_conformance::exchanges::{BY_ADDRESS, Exchanged, by_address, by_number, compare};
use cyrano_conformance::random_c::random_c;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::Property;
use proptest::strategy::Strategy;
use proptest::test_runner::{TestCaseError, TestError};

const MODELS: [&str; 4] = ["sc", "tso", "pso", "rmo"];

/// All tests of up to three calls of the data types, right ones and wrong ones.
#[test]
fn data_types_agree() {
    let files = ["msn", "msn_unfenced", "treiber_unfenced", "ms2_unfenced", "harris_unfenced", "treiber_free"];
    let wanted = |name: &str| files.iter().any(|file| name == format!("{file}.c"));
    let files: Vec<_> = corpus::files("datatypes", "c").into_iter().filter(|(name, _)| wanted(name)).collect();
    assert_eq!(files.len(), 6);
    let calls = if pinned::long() { 4 } else { 3 };
    let all = std::sync::Mutex::new(Exchanged::default());
    corpus::for_each(&files, |_, (path, source)| {
        let mut tally = Exchanged::default();
        for (test, program) in corpus::all_c_tests(path, source, calls) {
            // Those with choices of clients only; others have no equal threads.
            compare(&program, &MODELS.map(model), &Explore::default(), &limits(1.0, 3), &mut tally)
                .map_err(|why| format!("{test}: {why}"))?;
        }
        let mut all = all.lock().expect("no other test failed");
        all.asked += tally.asked;
        all.used += tally.used;
        all.violated += tally.violated;
        Ok(tally.asked)
    });
    let Exchanged { asked, used, violated } = all.into_inner().expect("no test failed");
    println!("{used} of {asked} with exchanges, {violated} violated");
    assert!(used > 100 && violated > 10 && violated < used, "{used} of {asked} with exchanges, {violated} violated");
}

#[test]
fn classes_of_states_are_fewer() {
    let files = corpus::files("datatypes", "c");
    let (_, (path, source)) = files.iter().find(|(name, _)| name == "msn.c").expect("the queue");
    let tests = corpus::all_c_tests(path, source, 4);
    let (_, program) = tests.iter().find(|(test, _)| test == "( e | e | d | d )").expect("the test");
    let serial = model("serial");
    let query = Query::new(program, &serial, Question::Outcomes).expect("a question");
    let allowed = Property::Observations(Explore::default().ask(query, &limits(5.0, 1), &()).outcomes);
    let states = |thread_symmetry: bool| {
        let explore = Explore { thread_symmetry, ..Explore::default() };
        judge(&explore, program, &model("sc"), &allowed, &limits(5.0, 1)).stats.states
    };
    let (with, without) = (states(true), states(false));
    assert!(with * 3 < without, "{with} with exchanges, {without} without");
}

/// Random C programs whose threads call the same functions: pointers, marks, packed words, allocation.
#[test]
fn random_c_agrees() {
    let tally = Cell::new(Exchanged::default());
    let twins = random_c(8).prop_map(|mut random| {
        random.threads[1] = random.threads[0].clone();
        random
    });
    let test = |random: &cyrano_conformance::random_c::RandomC| {
        let mut all = tally.get();
        let done = compare(&random.program()?, &MODELS.map(model), &Explore::default(), &limits(0.2, 3), &mut all);
        tally.set(all);
        done
    };
    match pinned::runner(200, file!()).run(&twins, |random| test(&random).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let Exchanged { asked, used, violated } = tally.get();
    println!("{used} of {asked} with exchanges, {violated} violated");
    assert!(used * 8 > asked && violated > 10, "{used} of {asked} with exchanges, {violated} violated");
}

/// A number that is made without a pointer may look like one.
#[test]
fn numbers_are_no_pointers() {
    let mut tally = Exchanged::default();
    for number in (0..320).step_by(8) {
        let program = by_number(number).expect("it compiles");
        compare(&program, &[model("sc")], &Explore::default(), &limits(0.3, 3), &mut tally)
            .unwrap_or_else(|why| panic!("{number}: {why}"));
    }
    assert!(tally.used > 0 && tally.used < tally.asked, "{tally:?}");
}

/// Objects may be linked and compared; threads that are told apart by the addresses of theirs are not exchanged.
#[test]
fn addresses_are_only_compared_for_equality() {
    for (rest, exchanged) in BY_ADDRESS {
        let mut tally = Exchanged::default();
        let program = by_address(rest).expect("it compiles");
        compare(&program, &[model("sc")], &Explore::default(), &limits(1.0, 3), &mut tally).expect("they agree");
        // What is computed for nobody, as a result that is not observed, tells nobody apart.
        let Exchanged { asked, used, .. } = tally;
        assert!(asked >= 2 && if exchanged { used > 0 } else { used < asked }, "{rest}: {tally:?}");
    }
}

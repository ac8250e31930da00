//! Random C programs: interp, explore and symbolic agree on observations and errors, every execution replays, and observation sets
//! grow along the models. The long run is `cargo run --release -p cyrano-conformance -- random-c 2000`.

use cyrano_conformance::compare::CHAIN;
use cyrano_conformance::random_c::{PRELUDE, compile, random_c};
use cyrano_conformance::{Effort, Tally, agree};
use cyrano_conformance::{limits, pinned};
use proptest::test_runner::{TestCaseError, TestError};

#[test]
fn engines_agree_on_c() {
    let effort = Effort { slow: &|| limits(0.1, 2), fast: &|| limits(20.0, 2), models: &CHAIN };
    let tally = std::cell::Cell::new(Tally::default());
    let result = pinned::runner(300, file!()).run(&random_c(8), |random| {
        let program = random.program().map_err(TestCaseError::fail)?;
        let new = agree(&program, &effort).map_err(|d| TestCaseError::fail(d.to_string()))?;
        let mut all = tally.get();
        all.add(new);
        tally.set(all);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, program)) => panic!("{reason}\n{}", program.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let Tally { asked, settled, violated, .. } = tally.get();
    assert_eq!(asked, 300 * 3 * CHAIN.len());
    assert!(settled * 2 > asked, "only {settled} of {asked} questions were settled");
    assert!(violated > 0 && violated < settled, "{violated} of {settled} are violated");
}

/// What random programs once found.
#[test]
fn engines_agree_on_what_was_found_before() {
    let programs = [
        // A part of a condition that can never be computed, where nobody asks for it.
        "int f0(int arg, int *out) { *out = 0; while (!cas(&x, arg, (arg > 0 && 2 / arg == 0))) arg = x; return arg; }",
        // A section that waits with one choice and not with another.
        "int f0(int arg, int *out) { *out = 0; atomic { assume(choose(0, 1) == 1); x = 0; } return arg; }",
        // The initialisation waits for ever.
        "int f0(int arg, int *out) { *out = 0; atomic { assume(x == 2); x = 0; } return 0; }",
    ];
    let effort = Effort { slow: &|| limits(1.0, 3), fast: &|| limits(20.0, 3), models: &CHAIN };
    for (source, test) in programs.iter().flat_map(|source| [(source, "( f0 | f0 )"), (source, "f0 ( f0 | f0 )")]) {
        let tests = format!("f0 = f0(in {{0, 1}}, out)\ntest T = {test}\n");
        let program = compile(&format!("{PRELUDE}{source}\n"), &tests).expect("it compiles");
        if let Err(disagreement) = agree(&program, &effort) {
            panic!("{disagreement}\n{source}\n{test}");
        }
    }
}

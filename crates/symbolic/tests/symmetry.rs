//! The reduction `thread-symmetry`: with and without it the verdicts are the same, and what is shown can be replayed.

use std::cell::Cell;

use cyrano_conformance::generate::program as random_program;
use cyrano_conformance::random_c::{PRELUDE, compile, random_c};
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Query, Question, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::{Symbolic, SymbolicStats};
use proptest::test_runner::{TestCaseError, TestError};

const MODELS: [&str; 4] = ["sc", "tso", "pso", "relaxed"];

/// What comparisons came to.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    asked: usize,
    /// Those where threads were put in order.
    used: usize,
    /// Those of them where something is wrong.
    violated: usize,
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a model")
}

/// Asks with and without the reduction; says whether it was used and what came out.
fn compare(
    program: &Program,
    model: &Model,
    property: &Property,
    iterations: usize,
) -> Result<(SymbolicStats, Verdict), String> {
    let [on, off] = [true, false].map(|thread_symmetry| {
        let engine = Symbolic { thread_symmetry, iterations, check_lemmas: true, ..Symbolic::default() };
        let query = Query::new(program, model, Question::Holds(property)).expect("a question");
        engine.ask_with_stats(query, &limits(60.0, 1), &())
    });
    let ((on, stats), (off, without)) = (on, off);
    assert_eq!(without.ordered_threads, 0, "it can be switched off");
    assert_eq!(
        on.reductions.contains(&"thread-symmetry"),
        stats.ordered_threads > 0,
        "a reduction that is used is named"
    );
    if on.verdict != off.verdict {
        let (a, b) = ((on.verdict, on.reason), (off.verdict, off.reason));
        return Err(format!("{}, {}: {a:?} with, {b:?} without", model.name, property.criterion()));
    }
    if let Some(execution) = &on.execution {
        let confirmed = cyrano_interp::confirm(program, model, property, on.violation.as_ref(), execution);
        confirmed.map_err(|error| format!("{}: does not replay: {error}", model.name))?;
    }
    Ok((stats, on.verdict))
}

/// Compares on assertions, on the serial observations, and on those without one class of equal ones, so that there is something to find.
fn compare_all(program: &Program, models: &[&str], iterations: usize, tally: &Cell<Tally>) -> Result<(), String> {
    let engine = Symbolic { iterations, ..Symbolic::default() };
    let serial = model("serial");
    let query = Query::new(program, &serial, Question::Outcomes).expect("a question");
    let serial = engine.ask_with_stats(query, &limits(60.0, 1), &()).0.outcomes;
    let sorted = |outcome: &Vec<i128>| {
        let mut outcome = outcome.clone();
        outcome.sort_unstable();
        outcome
    };
    let left_out = serial.first().map(sorted);
    let fewer = serial.iter().filter(|outcome| Some(sorted(outcome)) != left_out).cloned().collect();
    for name in models {
        for property in [
            Property::Assertions,
            Property::Observations(serial.clone()),
            Property::Observations(std::collections::BTreeSet::clone(&fewer)),
        ] {
            let (stats, verdict) = compare(program, &model(name), &property, iterations)?;
            let mut all = tally.get();
            all.asked += 1;
            if stats.ordered_threads > 0 {
                all.used += 1;
                all.violated += usize::from(verdict == Verdict::Violated);
            }
            tally.set(all);
        }
    }
    Ok(())
}

fn read(name: &str) -> String {
    let path = corpus::folder().join("datatypes").join(name);
    std::fs::read_to_string(path).expect("the library can be read")
}

/// Every test of up to three calls that has two threads with the same calls, on data types that are right and that are not.
#[test]
fn data_types_agree() {
    let tally = Cell::new(Tally::default());
    for (file, tests) in [
        ("msn.c", "msn.tests"),
        ("msn_unfenced.c", "msn.tests"),
        ("treiber_unfenced.c", "treiber.tests"),
        ("ms2_unfenced.c", "ms2.tests"),
        ("harris_unfenced.c", "harris.tests"),
    ] {
        let unit = cyrano_cfront::parse(&read(file), file, &|_| None).expect("the library compiles");
        let tests = cyrano_cfront::tests(&read(tests), &unit).expect("the tests are right");
        for test in cyrano_cfront::all_tests(&tests, 3) {
            let mut names: Vec<String> = test.threads.iter().map(|thread| format!("{thread:?}")).collect();
            names.dedup();
            if names.len() == test.threads.len() {
                continue;
            }
            let program = unit.program(&test).expect("it becomes a program");
            if let Err(error) = compare_all(&program, &["sc", "relaxed"], 16, &tally) {
                panic!("{file} {}: {error}", test.name);
            }
        }
    }
    let Tally { asked, used, violated } = tally.get();
    assert!(used * 4 > asked * 3, "only {used} of {asked} questions about equal threads were seen to be symmetric");
    assert!(violated > 0 && violated < used, "{violated} of {used} are violated");
}

fn run<T: std::fmt::Debug>(
    strategy: impl proptest::strategy::Strategy<Value = T>,
    cases: u32,
    shown: impl Fn(&T) -> String,
    test: impl Fn(&T) -> Result<(), String>,
) {
    let cases = std::env::var("CYRANO_SYMBOLIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    match pinned::runner(cases, file!()).run(&strategy, |value| test(&value).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(reason, value)) => panic!("{reason}\n{}", shown(&value)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
}

/// Random C programs whose threads call the same functions: pointers, marks, packed words, allocation.
#[test]
fn random_c_agrees() {
    use proptest::strategy::Strategy;
    let tally = Cell::new(Tally::default());
    let twins = random_c(8).prop_map(|mut random| {
        random.threads[1] = random.threads[0].clone();
        random
    });
    run(twins, 150, |random| random.shown(), |random| compare_all(&random.program()?, &MODELS, 4, &tally));
    let Tally { asked, used, violated } = tally.get();
    assert!(used * 4 > asked && violated > 0, "{used} of {asked} were symmetric, {violated} violated");
}

/// Random programs with two equal threads beside others.
#[test]
fn random_programs_agree() {
    use proptest::strategy::Strategy;
    let tally = Cell::new(Tally::default());
    let twins = random_program().prop_map(|mut random| {
        let last = random.threads.len() - 1;
        random.threads[last] = random.threads[last.saturating_sub(1)].clone();
        random
    });
    run(twins, 100, |random| random.shown(), |random| compare_all(&random.program(), &MODELS, 2, &tally));
    let Tally { asked, used, violated } = tally.get();
    assert!(used * 4 > asked && violated > 0, "{used} of {asked} were symmetric, {violated} violated");
}

/// How many pairs of threads are put in order in a test of this function.
fn ordered(function: &str, test: &str) -> u64 {
    let tests = format!("f0 = f0(in {{0, 1}}, out)\ntest T = {test}\n");
    let program = compile(&format!("{PRELUDE}{function}\n"), &tests).expect("it compiles");
    let compared = compare(&program, &model("relaxed"), &Property::Assertions, 4);
    compared.unwrap_or_else(|error| panic!("{error}\n{function}")).0.ordered_threads
}

/// Objects of equal threads may be linked and compared; what tells them apart by their addresses is no symmetry.
#[test]
fn addresses_are_only_compared_for_equality() {
    let allocate = "node_t *n = malloc(sizeof(node_t)); n->value = arg; n->next = p; p = n; *out = 0;";
    let cases = [
        ("return arg;", 1),
        ("return p == n;", 1),
        ("if (n->next) { *out = n->next->value; } return 0;", 1),
        ("uintptr_t k = (uintptr_t)p; p = (node_t *)(k | 1); return 0;", 1),
        ("uintptr_t k = (uintptr_t)p; p = (node_t *)(k + 1); return 0;", 1),
        ("assert((uintptr_t)p <= (uintptr_t)n); return 0;", 0),
        ("return (int)(((uintptr_t)p >> 3) & 1);", 0),
        ("x = (int)((uintptr_t)p % 7); return 0;", 0),
    ];
    for (rest, expected) in cases {
        let function = format!("int f0(int arg, int *out) {{ {allocate} {rest} }}");
        assert_eq!(ordered(&function, "( f0 | f0 )"), expected, "{rest}");
    }
    let function = format!("int f0(int arg, int *out) {{ {allocate} return 0; }}");
    assert_eq!(ordered(&function, "f0 ( f0 | f0 f0 | f0 )"), 1, "the first thread and the last one");
    assert_eq!(ordered(&function, "( f0 | f0 | f0 )"), 2);
}

/// A set of observations that tells the threads apart keeps them apart.
#[test]
fn observations_that_tell_threads_apart_count() {
    let source = "threads {
        shared x;
        local r;
        thread p { x := 1; r := x; x := 2; }
        thread q { x := 1; r := x; x := 2; }
        observe p.r, q.r;
    }";
    let Ok(program) = cyrano_rml::compile(source, "test", &[]) else { panic!("does not compile") };
    let allowed =
        |outcomes: &[[i128; 2]]| Property::Observations(outcomes.iter().map(|outcome| outcome.to_vec()).collect());
    for (outcomes, used) in
        [(&[[1, 1], [1, 2], [2, 1]][..], 1), (&[[1, 1]], 1), (&[[1, 1], [1, 2]], 0), (&[[1, 1], [2, 1]], 0)]
    {
        let (stats, verdict) = compare(&program, &model("sc"), &allowed(outcomes), 4).expect("the verdicts agree");
        assert_eq!(stats.ordered_threads, used, "{outcomes:?}");
        assert_eq!(verdict == Verdict::Verified, outcomes.len() == 3, "{outcomes:?}");
    }
}

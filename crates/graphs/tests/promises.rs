//! Models that a user brings: those whose text promises what the search needs have the executions of the reference, each once; others are refused by name.

mod programs;

use std::cell::Cell;

use cyrano_conformance::compare::same_executions;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Inexact, Query, Question, Refusal};
use cyrano_graphs::Graphs;
use cyrano_ir::Program;
use cyrano_memory::cat::Cat;
use cyrano_memory::{Model, named};
use proptest::prelude::*;
use proptest::test_runner::TestError;

use programs::{c11, parsed, text};

/// What every model here says: that it knows all words.
const WORDS: &str =
    "let known = ATOMIC | CONSUME | ACQUIRE | RELEASE | SEQ_CST | NORETURN | F | THREAD_FENCE.SEQ_CST\n";

fn model(conditions: &str) -> Model {
    let source = format!("\"a model\"\n{WORDS}{conditions}\n");
    let cat = Cat::parse(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    Model::from_cat("mine", "", cat)
}

/// Why a model is refused, if it is.
fn refused(model: &Model, program: &Program) -> Option<String> {
    let query = Query::new(program, model, Question::Outcomes).expect("the model knows all words");
    match Graphs::default().supports(&query) {
        Ok(()) => None,
        Err(Refusal::Inexact(Inexact::NoGraphs { why: Some(why), .. })) => Some(why),
        Err(other) => panic!("refused for another reason: {other}"),
    }
}

fn small() -> Program {
    shapes().remove(0)
}

/// Compares the executions; says how many there were, or none if one of them does not come to an end.
fn compare(model: &Model, program: &Program) -> Result<Option<usize>, String> {
    let query = Query::new(program, model, Question::Outcomes).map_err(|why| why.to_string())?;
    let all = cyrano_interp::all_executions(&query, &limits(0.1, 2));
    let found = Graphs::default().executions(&query, &limits(0.1, 2));
    match (all, found) {
        (Some(Ok(all)), Some(Ok(found))) => same_executions(&found, &all).map(Some),
        _ => Ok(None),
    }
}

/// Relations, put together at random.
fn relation() -> impl Strategy<Value = String> {
    let basic = prop::sample::select(vec![
        "po",
        "rf",
        "co",
        "fr",
        "loc",
        "int",
        "ext",
        "id",
        "rmw",
        "IW * (_ \\ IW)",
        "IW * _",
        "[W]",
        "[R]",
        "[SEQ_CST]",
        "[ATOMIC \\ SEQ_CST]",
        "[FINAL]",
        "[range(rmw)]",
        "[domain(rf)]",
        "[range(co)]",
        "W * R",
        "SEQ_CST * SEQ_CST",
    ]);
    basic.prop_map(str::to_owned).prop_recursive(3, 6, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            3 => pair.clone().prop_map(|(a, b)| format!("({a} | {b})")),
            2 => pair.clone().prop_map(|(a, b)| format!("({a} & {b})")),
            2 => pair.clone().prop_map(|(a, b)| format!("({a} \\ {b})")),
            4 => pair.prop_map(|(a, b)| format!("({a} ; {b})")),
            1 => inner.clone().prop_map(|a| format!("({a})+")),
            1 => inner.clone().prop_map(|a| format!("({a})?")),
            1 => inner.clone().prop_map(|a| format!("({a})^-1")),
            2 => inner.prop_map(|a| format!("~({a})")),
        ]
    })
}

/// A condition of which much depends on a random relation, and which is not met by everything.
fn condition() -> impl Strategy<Value = String> {
    let path = || prop::sample::select(vec!["po", "rf", "co", "fr", "(po | rf)", "(co | fr)", "(po | co | fr)"]);
    prop_oneof![
        3 => (path(), relation(), path()).prop_map(|(a, r, b)| format!("acyclic {a} & {r} | {b}")),
        2 => (path(), relation(), path()).prop_map(|(a, r, b)| format!("irreflexive {a} ; ({b} & {r})")),
        2 => (path(), relation()).prop_map(|(a, r)| format!("irreflexive {a} ; {r} ; {a}")),
        1 => (path(), relation()).prop_map(|(a, r)| format!("acyclic {a} | {r}")),
        1 => relation().prop_map(|r| format!("empty rmw & (fr & {r} ; co)")),
        1 => relation().prop_map(|r| format!("empty rmw & (fr ; {r})")),
    ]
}

/// Conditions, the usual ones among them.
fn conditions() -> impl Strategy<Value = String> {
    let promise =
        prop::sample::select(vec!["acyclic po | rf as no-thin-air\n"; 7].into_iter().chain([""]).collect::<Vec<_>>());
    let usual = prop::sample::select(vec![
        "",
        "acyclic po-loc | rf | co | fr as coherence",
        "acyclic po-loc | rf | co | fr as coherence\nempty rmw & (fre ; coe) as atomicity",
        "empty rmw & (fr ; co) as atomicity",
        "let rec hb = po | rfe | hb ; hb\nirreflexive hb ; (co | fr)? as causality",
    ]);
    (promise, usual, condition()).prop_map(|(promise, usual, last)| format!("{promise}{usual}\n{last} as last"))
}

/// What models are put to: the shapes that they differ in, and read-modify-writes.
fn shapes() -> Vec<Program> {
    let shapes: [&[&[&str]]; 7] = [
        &[
            &["store x, 1 {atomic}", "a := load y {atomic}"],
            &["store y, 1 {atomic seq_cst}", "a := load x {atomic seq_cst}"],
        ],
        &[&["store x, 1", "store y, 1 {atomic}"], &["a := load y {atomic}", "b := load x {atomic}", "store x, 2"]],
        &[&["a := load x {atomic}", "store y, 1 {atomic}"], &["a := load y {atomic}", "store x, 1 {atomic}"]],
        &[
            &["store x, 1 {atomic}", "store x, 2 {atomic}"],
            &["a := load x {atomic}", "b := load x {atomic}", "c := load y {atomic}"],
        ],
        &[
            &["a := fetch_add x, 1 {atomic}"],
            &["store x, 2 {atomic seq_cst}", "b := load x {atomic}"],
            &["c := fetch_add x, 1 {atomic}"],
        ],
        &[
            &["store x, 1 {atomic}"],
            &["a := cas x, 1, 2 {atomic}", "store y, 1 {atomic}"],
            &["b := load y {atomic}", "c := cas x, 0, 3 {atomic}"],
        ],
        &[
            &["store x, 1 {atomic}", "store y, 1 {atomic}"],
            &["store y, 2 {atomic}", "store x, 2 {atomic}"],
            &["a := load x {atomic}"],
        ],
    ];
    let thread = |ops: &&[&str]| ops.iter().map(|op| (*op).to_owned()).collect();
    // A thread that reads more or less, as it is told by a write that comes last.
    let told: &[&[&str]] = &[
        &["store x, 1 {atomic}", "a := load y {atomic}"],
        &["store y, 1 {atomic}", "a := load x {atomic}"],
        &["a := load z {atomic}", "branch (a > 0) then @3 else @2", "b := fetch_add x, 4 {atomic}"],
        &["store z, 1 {atomic}"],
    ];
    let all = shapes.iter().chain([&told]);
    all.map(|threads| parsed(&threads.iter().map(thread).collect::<Vec<_>>())).collect()
}

#[test]
fn random_models_that_promise_enough_have_the_executions_of_the_reference() {
    let cases = if pinned::long() { 100_000 } else { 1_000 };
    let (taken, compared, programs) = (Cell::new(0), Cell::new(0), shapes());
    let result = pinned::runner(cases, file!()).run(&(conditions(), c11()), |(conditions, threads)| {
        let model = model(&conditions);
        if refused(&model, &programs[0]).is_some() {
            return Ok(());
        }
        taken.set(taken.get() + 1);
        for program in programs.iter().chain([&parsed(&threads)]) {
            let found = compare(&model, program).map_err(TestCaseError::fail)?;
            compared.set(compared.get() + found.unwrap_or(0));
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (conditions, threads))) => panic!("{reason}\n{conditions}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} models of {cases}, {} executions", taken.get(), compared.get());
    assert!(8 * taken.get() >= cases && compared.get() >= 20 * cases as usize, "{} models", taken.get());
}

/// What is written for the models of the library agrees with what their texts promise.
#[test]
fn the_models_of_the_library_promise_what_is_used_of_them() {
    let program = shapes().remove(2);
    for (name, promise) in
        [("cat:sc", ""), ("ra", ""), ("rc11", ""), ("cat:tso", "acyclic po | rf"), ("cat:pso", "acyclic po | rf")]
    {
        let known = named(name).expect("a named model");
        let source = format!("{}\n{promise}\n", known.cat().expect("in cat").source());
        let own = Model::from_cat("mine", "", Cat::parse(&source).expect("a model"));
        assert_eq!(refused(&own, &program), None, "{name}");
    }
}

#[test]
fn models_that_promise_too_little_are_refused_by_what_stands_in_the_way() {
    let check = |conditions: &str, wanted: &str| {
        let why = refused(&model(conditions), &small()).unwrap_or_else(|| panic!("`{conditions}` is taken"));
        assert!(why.contains(wanted), "`{conditions}`: {why}");
    };
    check("acyclic po-loc | rf | co | fr as coherence", "no condition like `acyclic po | rf`");
    check("acyclic po | rfe as external", "no condition like `acyclic po | rf`");
    // A store that nobody reads must not be there: so the beginning of an execution is none.
    check("acyclic po | rf\nempty [W \\ IW] \\ [domain(rf)] as all-read", "`all-read` may forbid the beginning");
    check(
        "acyclic po | rf\nacyclic po | rf | co^-1 as backwards",
        "`backwards` may forbid to read what was written last",
    );
    check("acyclic po | rf\nempty rf & int as never-own", "`never-own` may forbid to read what was written last");
    check("acyclic po | rf\n~empty rmw as some", "`some` demands");
    // What is kept depends on whether somebody else reads something: a read that is added may close a cycle of others.
    check("acyclic po | rf\nacyclic rf | co | fr | po & (ext ; [R] ; ext) as watched", "`watched` may forbid to read");
    check("acyclic po | rf\nacyclic rf | co | fr | po & ((W \\ FINAL) * M) as settled", "`settled` may forbid to read");
    check("acyclic po | rf\nacyclic po & domain(rmw) * M | rf as halves", "`halves` may forbid to read");
    check("acyclic po | rf\nacyclic po | rf | [ATOMIC] as none", "`none` may forbid to read");
    check("acyclic po | rf\nacyclic po | IW * _ as first", "`first` may forbid to read");
    check("acyclic po | rf\nacyclic (co \\ (loc ; co)) | rf as next", "`next` may forbid the beginning");
    check("acyclic po | rf\nempty rmw & (loc ; co) as alone", "`alone` may forbid to read");
}

/// Each definition uses the one before twice: what it promises is found out in no more than a moment.
#[test]
fn many_ways_are_not_all_gone() {
    let defined: String = (1..60).map(|n| format!("let a{n} = a{} | a{}+\n", n - 1, n - 1)).collect();
    let model = model(&format!("let a0 = po | co\n{defined}acyclic a59 as all"));
    assert!(refused(&model, &small()).is_some_and(|why| why.contains("acyclic po | rf")));
}

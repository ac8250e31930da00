//! The executions that are found, against all executions of the reference: the same ones, each once.

mod programs;

use std::cell::Cell;
use std::collections::HashSet;

use cyrano_conformance::compare::{model, same_executions};
use cyrano_conformance::generate::program;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Execution, Limits, Query, Question, Verdict};
use cyrano_graphs::{Fault, Graphs};
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use proptest::prelude::*;
use proptest::test_runner::TestError;

use programs::{c11, parsed, text, with_pairs};

const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

/// With iterations that change nothing, failures without a reason and threads in any order, as the reference has them.
fn every() -> Graphs {
    Graphs { idle_iterations: false, thread_symmetry: false, weak_failures: false, ..Graphs::default() }
}

fn key(execution: &Execution) -> String {
    format!("{execution:?}")
}

/// Compares the executions under every model; says how many there were, or what is different.
fn compare(program: &Program, graphs: &Graphs) -> Result<usize, String> {
    let mut compared = 0;
    for name in MODELS {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let (Some(Ok(all)), Some(Ok(found))) =
            (cyrano_interp::all_executions(&query, &limits(0.1, 2)), graphs.executions(&query, &limits(0.1, 2)))
        else {
            continue;
        };
        compared += same_executions(&found, &all).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(compared)
}

#[test]
fn random_programs_of_c11_have_the_same_executions() {
    let cases = if pinned::long() { 20_000 } else { 400 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&c11(), |threads| {
        let found = compare(&parsed(&threads), &every());
        compared.set(compared.get() + found.map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} executions", compared.get());
    assert!(compared.get() >= 10 * cases as usize, "only {} executions were compared", compared.get());
}

/// Load-exclusive and store-exclusive, the second of which may fail whatever it finds.
#[test]
fn random_programs_with_exclusive_pairs_have_the_same_executions() {
    let cases = if pinned::long() { 20_000 } else { 300 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&with_pairs(), |threads| {
        let found = compare(&parsed(&threads), &every());
        compared.set(compared.get() + found.map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} executions", compared.get());
    assert!(compared.get() >= 5 * cases as usize, "only {} executions were compared", compared.get());
}

/// That a store-exclusive fails is what may always be added: where the thread has read `z` from the other one, success is not possible, and yet that execution is found.
#[test]
fn a_store_exclusive_may_always_fail() {
    let reader =
        ["a := load x {atomic exclusive}", "b := load z {atomic acquire}", "c := store x, 1 {atomic exclusive}"];
    let writer = ["store x, 2 {atomic}", "store z, 1 {atomic release}"];
    let threads = [reader.map(str::to_owned).to_vec(), writer.map(str::to_owned).to_vec()];
    assert_eq!(compare(&parsed(&threads), &every()).map(|compared| compared > 20), Ok(true));
}

/// Whether there is a race under rc11: by the reference, by views and by the evaluator. What is shown is confirmed.
fn compare_races(program: &Program) -> Result<bool, String> {
    let model = model("rc11");
    let query = Query::new(program, &model, Question::Holds(&Property::Races)).map_err(|why| why.to_string())?;
    let wanted = Interp.ask(query, &limits(1.0, 2), &()).verdict;
    for by_axioms in [false, true] {
        let found = Graphs { by_axioms, ..Graphs::default() }.ask(query, &limits(1.0, 2), &());
        if found.verdict != wanted {
            return Err(format!("{} instead of {}", found.verdict.name(), wanted.name()));
        }
        if let Some(execution) = &found.execution {
            let violation = found.violation.as_ref();
            let confirmed = cyrano_interp::confirm(program, &model, &Property::Races, violation, execution);
            confirmed.map_err(|error| format!("not confirmed: {error}"))?;
        }
    }
    Ok(wanted == Verdict::Violated)
}

#[test]
fn races_are_those_of_the_reference() {
    let cases = if pinned::long() { 20_000 } else { 500 };
    let (racy, free) = (Cell::new(0), Cell::new(0));
    let result = pinned::runner(cases, file!()).run(&c11(), |threads| {
        let count = if compare_races(&parsed(&threads)).map_err(TestCaseError::fail)? { &racy } else { &free };
        count.set(count.get() + 1);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} with races, {} without", racy.get(), free.get());
    assert!(racy.get().min(free.get()) >= cases / 10, "{} with races, {} without", racy.get(), free.get());
}

#[test]
fn random_programs_have_the_same_executions() {
    let cases = if pinned::long() { 20_000 } else { 500 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&program(), |random| {
        let found = compare(&random.program(), &every());
        compared.set(compared.get() + found.map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} executions", compared.get());
    assert!(compared.get() >= 5 * cases as usize, "only {} executions were compared", compared.get());
}

#[test]
fn the_library_has_the_same_executions() {
    let compared = corpus::for_each_litmus(|_, program| compare(program, &every()));
    assert!(compared >= 1_000, "only {compared} executions were compared");
}

/// Every clause of the condition for revisits is needed.
#[test]
fn every_seeded_bug_is_noticed() {
    let faults = [
        Fault::AnySource,
        Fault::AnyPlace,
        Fault::AnyReader,
        Fault::AnyRevisited,
        Fault::AnyChoice,
        Fault::NoRevisits,
        Fault::LoseCauses,
    ];
    let mut programs = Vec::new();
    let collected = std::cell::RefCell::new(&mut programs);
    let run = pinned::runner(120, file!()).run(&c11(), |threads| {
        collected.borrow_mut().push(parsed(&threads));
        Ok(())
    });
    run.expect("nothing fails");
    for fault in faults {
        let graphs = Graphs { fault: Some(fault), ..every() };
        let quiet = |program: &Program| {
            std::panic::catch_unwind(|| compare(program, &graphs)).is_ok_and(|compared| compared.is_ok())
        };
        assert!(!programs.iter().all(quiet), "{fault:?} is not noticed");
    }
}

/// A thread that is cut off in front of a store: what is shown of it ends there, and whoever runs it again stops there, too.
#[test]
fn a_writer_that_is_cut_off_is_shown() {
    let source = "program p\nlocation v = 0\nlocation go = 0\n\
        thread w\nregister r = 0\n\
        @0: store v, 1 {atomic release}\n@1: r := load go {atomic acquire}\n@2: store v, 2 {atomic release}\n\
        @3: branch (r == 0) then @0 else @4\n@4: halt\n\
        thread q\nregister m = 0\n\
        @0: m := load v {atomic acquire}\n@1: assert (m != 2)\n@2: store go, 1 {atomic release}\n@3: halt\n";
    let program = cyrano_ir::text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    for name in MODELS {
        let model = model(name);
        let Ok(query) = Query::new(&program, &model, Question::Holds(&Property::Assertions)) else { continue };
        for iterations in 1..4 {
            let found = Graphs::default().ask(query, &limits(1.0, iterations), &());
            let (Some(execution), violation) = (&found.execution, found.violation.as_ref()) else {
                panic!("{name}: {:?}", found.verdict)
            };
            let confirmed = cyrano_interp::confirm(&program, &model, &Property::Assertions, violation, execution);
            confirmed.unwrap_or_else(|error| panic!("{name}: not confirmed: {error}"));
        }
    }
}

/// How many executions a program has under a model.
fn count(program: &Program, name: &str) -> (u64, u64) {
    let model = model(name);
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    let (answer, counts) = every().count(&query, &limits(50.0, 2), &());
    assert_eq!(answer.verdict, Verdict::Verified);
    (counts.executions, counts.blocked)
}

/// n threads that each add one: n! orders, whatever the model.
#[test]
fn increments_have_as_many_executions_as_orders() {
    let mut orders = 1;
    for n in 2..=7 {
        orders *= n;
        let source = format!("threads {{ shared x; thread w[{n}] {{ fetch_add(x, 1); }} }}");
        let program = cyrano_rml::compile(&source, "increments", &[]).expect("a program");
        for name in MODELS {
            assert_eq!(count(&program, name), (orders, 0), "{n} threads under {name}");
        }
    }
}

/// Two threads that add up Fibonacci numbers, and one that looks: as many executions as others have counted.
#[test]
fn sums_have_as_many_executions_as_others_say() {
    let mut threads: Vec<Vec<String>> = Vec::new();
    for to in ["x", "y"] {
        let add = |_| {
            let load = |register, loc| format!("{register} := load {loc} {{atomic acquire}}");
            [load("a", "x"), load("b", "y"), format!("store {to}, (a + b) {{atomic release}}")]
        };
        threads.push((0..5).flat_map(add).collect());
    }
    let look = ["a := load x {atomic acquire}", "branch (a > 144) then @3 else @2", "b := load y {atomic acquire}"];
    threads.push(look.map(str::to_owned).to_vec());
    let source = text(&threads).replace("x = 0", "x = 1").replace("y = 0", "y = 1");
    let program = cyrano_ir::text::parse(&source).expect("a program");
    assert_eq!(count(&program, "rc11"), (525_630, 0));
    assert_eq!(count(&program, "ra"), (525_630, 0));
    assert_eq!(count(&program, "cat:sc"), (218_243, 0));
}

/// Graphs that need more than one word, and more than four, have as many executions as without what makes them long.
#[test]
fn long_threads_change_nothing() {
    let source = |stores: usize| {
        let long = "z := 1; ".repeat(stores);
        format!(
            "threads {{ shared x, y, z; thread p {{ local a; {long} x := 1; a := y; {long} }}
             thread q {{ local a, b; y := 1; a := x; x := 2; b := fetch_add(y, 1); }} }}"
        )
    };
    let programs = [0, 33, 150].map(|stores| cyrano_rml::compile(&source(stores), "long", &[]).expect("a program"));
    for name in MODELS {
        let counts = programs.each_ref().map(|program| count(program, name));
        assert!(counts[0].0 > 5 && counts == [counts[0]; 3], "{name}: {counts:?}");
    }
}

/// Several that search together find the same executions as one alone, each once.
#[test]
fn executions_are_shared_among_several() {
    let sources = [
        "threads { shared x, y; thread w[5] { fetch_add(x, 1); } }",
        "threads { shared x, y; thread p[3] { local a, b; x := self + 1; a := y; } thread q[2] { local a; y := 1; a := x; } }",
    ];
    for source in sources {
        let program = cyrano_rml::compile(source, "shared", &[]).expect("a program");
        for name in MODELS {
            let model = model(name);
            let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
            let alone = every().executions(&query, &limits(5.0, 2)).expect("fit").expect("enough");
            let several = Graphs { patience: 1, ..every() };
            let together = Limits { workers: 3, ..limits(5.0, 2) };
            let shared = several.executions(&query, &together).expect("fit").expect("enough");
            let keys: HashSet<String> = shared.iter().map(key).collect();
            assert_eq!((shared.len(), keys.len()), (alone.len(), alone.len()), "{name}");
            assert_eq!(keys, alone.iter().map(key).collect());
        }
    }
}

/// A limit that one of several meets is a limit of all.
#[test]
fn whoever_stops_stops_all() {
    let source = "threads { shared x; thread w[7] { fetch_add(x, 1); } }";
    let program = cyrano_rml::compile(source, "increments", &[]).expect("a program");
    let model = model("ra");
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let several = Graphs { patience: 1, ..every() };
    for (looks, verdict) in [(3, Verdict::Unknown), (1 << 20, Verdict::Verified)] {
        let limits = Limits { workers: 2, ..limits(5.0, 2) }.with_looks(looks);
        assert_eq!(several.count(&query, &limits, &()).0.verdict, verdict);
    }
}

/// Verdicts are those of the reference, and what is shown is confirmed.
#[test]
fn verdicts_agree() {
    let compared = corpus::for_each_litmus(|_, program| {
        let mut compared = 0;
        for name in MODELS.into_iter().chain(["sc", "tso", "pso"]) {
            let model = model(name);
            for check in &program.checks {
                let Ok(query) = Query::new(program, &model, Question::Holds(&check.property)) else { continue };
                let graphs = Graphs::default();
                if graphs.supports(&query).is_err() || Interp.supports(&query).is_err() {
                    continue;
                }
                let [one, other] = [graphs.ask(query, &limits(0.1, 2), &()), Interp.ask(query, &limits(0.1, 2), &())];
                if [one.verdict, other.verdict].contains(&Verdict::Unknown) {
                    continue;
                }
                // Where nothing goes on but threads that spin, the reference has to cut them off.
                let spins = (one.verdict, other.verdict) == (Verdict::Verified, Verdict::Bounded);
                if one.verdict != other.verdict && !spins {
                    return Err(format!("{name}: {} instead of {}", one.verdict.name(), other.verdict.name()));
                }
                if let Some(execution) = &one.execution {
                    let violation = one.violation.as_ref();
                    let confirmed = cyrano_interp::confirm(program, &model, &check.property, violation, execution);
                    confirmed.map_err(|error| format!("{name}: not confirmed: {error}"))?;
                }
                compared += 1;
            }
        }
        Ok(compared)
    });
    assert!(compared >= 200, "only {compared} verdicts were compared");
}

//! Equal threads: what is found, with their threads exchanged in every way, are all executions, each once.

use std::cell::Cell;
use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Execution, Query, Question, Relations, Verdict};
use cyrano_graphs::{Fault, Graphs};
use cyrano_interp::Interp;
use cyrano_ir::{Program, ThreadId};
use proptest::prelude::*;
use proptest::test_runner::TestError;

const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

fn graphs(thread_symmetry: bool) -> Graphs {
    Graphs { thread_symmetry, ..Graphs::default() }
}

/// The execution in which each thread takes the part of another one.
fn exchanged(execution: &Execution, to: &[usize]) -> Execution {
    let renamed = |thread: ThreadId| ThreadId::new(to[thread.index()]);
    let mut order: Vec<usize> = (0..execution.order.len()).collect();
    order.sort_by_key(|at| (renamed(execution.order[*at].thread), execution.order[*at].index));
    let number = |old: usize| match old {
        0 => 0,
        _ => 1 + order.iter().position(|at| *at == old - 1).expect("an access"),
    };
    let moved = |pairs: &[(usize, usize)]| {
        let mut moved: Vec<_> = pairs.iter().map(|(from, to)| (number(*from), number(*to))).collect();
        moved.sort_unstable();
        moved
    };
    let relations = execution.relations.as_deref().expect("relations");
    let relations =
        Relations { rf: moved(&relations.rf), co: moved(&relations.co), fr: moved(&relations.fr), kept: Vec::new() };
    let mut choices = execution.choices.clone();
    execution.choices.iter().zip(to).for_each(|(from, to)| choices[*to].clone_from(from));
    let access =
        |at: &usize| cyrano_engine::Access { thread: renamed(execution.order[*at].thread), ..execution.order[*at] };
    Execution { order: order.iter().map(access).collect(), choices, relations: Some(Box::new(relations)) }
}

/// All permutations of the first `equal` of so many threads.
fn exchanges(threads: usize, equal: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..equal {
        let longer = |one: &Vec<usize>| {
            let one = one.clone();
            (0..equal).filter(|next| !one.contains(next)).map(|next| [&*one, &[next]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.iter().map(|one| one.iter().copied().chain(equal..threads).collect()).collect()
}

/// Compares under every model; says how many executions were left out.
fn compare(program: &Program, equal: usize) -> Result<usize, String> {
    compare_with(program, equal, None)
}

/// The same for a search with a bug.
fn compare_with(program: &Program, equal: usize, fault: Option<Fault>) -> Result<usize, String> {
    let exchanges = exchanges(program.threads.len(), equal);
    let mut left_out = 0;
    for name in MODELS {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let found = |symmetry| {
            let graphs = Graphs { fault: fault.filter(|_| symmetry), ..graphs(symmetry) };
            graphs.executions(&query, &limits(0.5, 2))
        };
        let (Some(Ok(sorted)), Some(Ok(all))) = (found(true), found(false)) else { continue };
        let keys = |all: Vec<Execution>| all.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>();
        let same: Vec<usize> = (0..program.threads.len()).collect();
        let wanted: BTreeSet<String> =
            keys(all.iter().map(|one| exchanged(one, &same)).collect()).into_iter().collect();
        // Threads that do the same have executions that stay what they are.
        let class = |one: &Execution| keys(exchanges.iter().map(|to| exchanged(one, to)).collect());
        let classes: Vec<BTreeSet<String>> = sorted.iter().map(|one| class(one).into_iter().collect()).collect();
        let distinct: BTreeSet<String> = classes.iter().flatten().cloned().collect();
        let found: usize = classes.iter().map(BTreeSet::len).sum();
        // Where the search has begun anew, threads are not sorted.
        if distinct.len() != found && sorted.len() != all.len() {
            return Err(format!(
                "{name}: {} executions of {} classes are the same",
                found - distinct.len(),
                sorted.len()
            ));
        }
        if distinct != wanted {
            return Err(format!("{name}: {} executions instead of {}", distinct.len(), wanted.len()));
        }
        left_out += all.len() - sorted.len();
    }
    Ok(left_out)
}

/// Instructions, some of which are loops; `z` is only updated, and each thread has an `own`.
fn instruction() -> impl Strategy<Value = Vec<String>> {
    let loc = || prop::sample::select(vec!["x", "y"]);
    let load = || prop::sample::select(vec!["", " {atomic}", " {atomic acquire}", " {atomic seq_cst}"]);
    let store = prop::sample::select(vec![" {atomic}", " {atomic release}", " {atomic seq_cst}"]);
    let update = || prop::sample::select(vec![" {atomic}", " {atomic acquire release}", " {atomic seq_cst}"]);
    let register = || prop::sample::select(vec!["a", "b"]);
    let all = || prop::sample::select(vec!["x", "y", "z", "own"]);
    let one = |text: String| vec![text];
    prop_oneof![
        4 => (register(), all(), load()).prop_map(move |(r, l, t)| one(format!("{r} := load {l}{t}"))),
        4 => (prop::sample::select(vec!["x", "y", "own"]), prop::sample::select(vec!["1", "a", "b + 1"]), store)
            .prop_map(move |(l, v, t)| one(format!("store {l}, ({v}){t}"))),
        1 => (register(), prop::sample::select(vec!["x", "z"]), update()).prop_map(move |(r, l, t)| one(format!("{r} := fetch_add {l}, 1{t}"))),
        1 => (register(), prop::sample::select(vec!["y", "z"]), update()).prop_map(move |(r, l, t)| one(format!("{r} := cas {l}, 1, 3{t}"))),
        2 => (prop::sample::select(vec!["x", "z"]), load(), update()).prop_map(move |(l, t, u)| vec![
            format!("a := load {l}{t}"), format!("b := cas {l}, a, (a + 1){u}"), "branch (b == a) then +1 else -2".into()]),
        1 => (loc(), load()).prop_map(move |(l, t)| vec![format!("a := load {l}{t}"), "branch (a == 1) then +1 else -1".into()]),
        1 => Just(one("fence thread_fence.seq_cst".to_owned())),
        1 => register().prop_map(move |r| one(format!("{r} := choose 0, 1"))),
        1 => register().prop_map(move |r| one(format!("assume ({r} < 2)"))),
    ]
}

/// How many equal threads there are, what they do, and what another thread does.
type Threads = (usize, Vec<Vec<String>>, Vec<Vec<String>>);

fn threads() -> impl Strategy<Value = Threads> {
    let some = |most| prop::collection::vec(instruction(), 0..most);
    let first =
        prop::sample::select(vec!["a := fetch_add z, 1 {atomic}", "a := exchange z, 1 {atomic acquire release}"]);
    let begun = (Just(2), first, some(3), some(3)).prop_map(|(equal, first, then, other)| {
        (equal, std::iter::once(vec![first.to_owned()]).chain(then).collect(), other)
    });
    prop_oneof![1 => begun, 4 => (Just(2), some(4), some(3)), 1 => (Just(3), some(3), some(2))]
}

/// The program; a jump by `+1` or `-2` is one by so many instructions.
fn text((equal, body, other): &Threads, observe: bool) -> String {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n");
    (0..=*equal).for_each(|number| source.push_str(&format!("location own{number} = 0\n")));
    let mut thread = |number: usize, ops: &[Vec<String>]| {
        source.push_str(&format!("thread t{number}\nregister a = 0\nregister b = 0\n"));
        // The first event of the other thread is not that of the equal ones.
        let ops: Vec<&str> = ops.iter().flatten().map(String::as_str).chain(["halt"]).collect();
        for (pc, op) in ops.into_iter().enumerate() {
            let words = op.split(' ').map(|word| match word {
                "+1" => format!("@{}", pc + 1),
                "-1" => format!("@{}", pc - 1),
                "-2" => format!("@{}", pc - 2),
                word => word.replace("own", &format!("own{number}")),
            });
            source.push_str(&format!("@{pc}: {}\n", words.collect::<Vec<_>>().join(" ")));
        }
    };
    (0..*equal).for_each(|number| thread(number, body));
    let first = vec!["b := load x {atomic}".to_owned()];
    thread(*equal, &std::iter::once(first).chain(other.iter().cloned()).collect::<Vec<_>>());
    if observe {
        (0..=*equal).for_each(|n| source.push_str(&format!("observe a{n} = t{n}:a\nobserve b{n} = t{n}:b\n")));
        source.push_str("observe x = x\nobserve y = y\nobserve own = own0\nobserve own1 = own1\n");
        (2..=*equal).for_each(|n| source.push_str(&format!("observe own{n} = own{n}\n")));
    }
    source
}

/// Runs a test on random threads.
fn on_random(cases: u32, test: impl Fn(&Threads) -> Result<(), String>) {
    let result = pinned::runner(cases, file!()).run(&threads(), |random| test(&random).map_err(TestCaseError::fail));
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", text(&random, false)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
}

fn parsed(source: &str) -> Program {
    cyrano_ir::text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

#[test]
fn classes_are_all_executions() {
    let cases = if pinned::long() { 20_000 } else { 200 };
    let left_out = Cell::new(0);
    on_random(cases, |random| {
        left_out.set(left_out.get() + compare(&parsed(&text(random, false)), random.0)?);
        Ok(())
    });
    println!("{} left out", left_out.get());
    assert!(left_out.get() >= 20 * cases as usize, "only {} executions were left out", left_out.get());
}

/// What is observed is what the search without sorting finds, and the reference.
#[test]
fn observations_are_closed_under_exchanges() {
    let cases = if pinned::long() { 10_000 } else { 100 };
    let counted = Cell::new((0, 0, 0));
    on_random(cases, |random| {
        let program = parsed(&text(random, true));
        for name in MODELS {
            let model = model(name);
            let Ok(query) = Query::new(&program, &model, Question::Outcomes) else { continue };
            let ask = |sorted| graphs(sorted).ask(query, &limits(0.5, 3), &());
            let (sorted, all) = (ask(true), ask(false));
            let (mut used, mut same, mut reference) = counted.get();
            used += usize::from(sorted.reductions.contains(&"thread-symmetry"));
            if (sorted.verdict, &sorted.outcomes) != (all.verdict, &all.outcomes)
                && ![sorted.verdict, all.verdict].contains(&Verdict::Unknown)
            {
                return Err(format!("{name}: {:?} instead of {:?}", sorted.outcomes, all.outcomes));
            }
            same += usize::from(!all.outcomes.is_empty());
            let judged = if pinned::long() { Interp.ask(query, &limits(0.1, 3), &()) } else { all };
            if judged.verdict == Verdict::Verified && sorted.verdict == Verdict::Verified {
                reference += 1;
                if judged.outcomes != sorted.outcomes {
                    return Err(format!("{name}: {:?}, the reference {:?}", sorted.outcomes, judged.outcomes));
                }
            }
            counted.set((used, same, reference));
        }
        Ok(())
    });
    let (used, same, reference) = counted.get();
    println!("{used} sorted, {same} compared, {reference} with the reference");
    assert!(
        used.min(same).min(reference) >= cases as usize,
        "{used} sorted, {same} compared, {reference} with the reference"
    );
}

/// What ties equal threads is needed.
#[test]
fn every_seeded_bug_is_noticed() {
    let fault = Fault::Untied;
    let seen = Cell::new(false);
    let cases = if pinned::long() { 5_000 } else { 1_000 };
    let _ = pinned::runner(cases, "seeded").run(&threads(), |random| {
        if !seen.get() {
            let program = parsed(&text(&random, false));
            let compared = std::panic::catch_unwind(|| compare_with(&program, random.0, Some(fault)).is_err());
            seen.set(compared.unwrap_or(true));
        }
        Ok(())
    });
    assert!(seen.get(), "{fault:?} is not noticed");
}

#[test]
fn equal_increments_have_one_execution() {
    let program = |source: &str| cyrano_rml::compile(source, "increments", &[]).expect("a program");
    let count = |source: &str| {
        let (program, model) = (program(source), model("rc11"));
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let (answer, counts) = graphs(true).count(&query, &limits(5.0, 2), &());
        assert_eq!(answer.verdict, Verdict::Verified);
        (counts.executions, answer.reductions)
    };
    let one = "threads { shared x; thread w[8] { fetch_add(x, 1); } }";
    assert_eq!(count(one), (1, vec!["thread-symmetry"]));
    // Somebody stores, compares first, or is asked for what he read: threads are told apart.
    for (told, executions) in [
        ("threads { shared x; thread w[3] { fetch_add(x, 1); } thread q { x := 7; } }", 24),
        ("threads { shared x; thread w[4] { local a; a := cas(x, 0, 1); } }", 4),
        ("threads { shared x; thread w[2] { local a; a := fetch_add(x, 1); } observe w[0].a, w[1].a; }", 2),
    ] {
        println!("{told} {:?} instead of {executions}", count(told));
    }
    // The others are still alike.
    let three = "threads { shared x; thread w[4] { local a; a := fetch_add(x, 1); } observe w[1].a; }";
    assert_eq!(count(three), (4, vec!["thread-symmetry"]));
    let wrong = program("threads { shared x; thread w[4] { local a; a := fetch_add(x, 1); assert a != 3; } }");
    let (property, model) = (cyrano_ir::Property::Assertions, model("ra"));
    let query = Query::new(&wrong, &model, Question::Holds(&property)).expect("a question");
    assert_eq!(graphs(true).ask(query, &limits(1.0, 2), &()).verdict, Verdict::Violated);
}

/// What an equal thread wrote need not be among the places for a write: a read-modify-write may stand behind it.
#[test]
fn an_update_may_stand_behind_what_is_compared() {
    let equal = "register a = 0\n@0: store x, 1 {atomic}\n@1: a := load x\n@2: halt\n";
    let source = format!(
        "program p\nlocation x = 0\nthread t0\n{equal}thread t1\n{equal}thread t2\nregister a = 0\nregister b = 0\n\
         @0: a := load x {{atomic}}\n@1: b := cas x, a, (a + 1) {{atomic}}\n@2: halt\n"
    );
    let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let left_out = compare(&program, 2).unwrap_or_else(|why| panic!("{why}"));
    assert!(left_out >= 50, "{left_out} executions were left out");
}

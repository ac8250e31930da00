//! Progress under the program's own orders: the explorer against the definition by scripts, on algorithms by hand and random ones; lassos that were tampered with.

use cyrano_conformance::limits;
use cyrano_conformance::pinned::long;
use cyrano_engine::{Answer, Engine, Execution, Fate, Lasso, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Progress, Property};
use cyrano_memory::Model;

use super::{RECORDS, SECONDS, endless, methods, naive, scripts};

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a model")
}

/// Asks, and has what is shown confirmed.
fn ask(program: &Program, model: &Model, progress: Progress, explore: &Explore) -> Answer {
    let property = Property::Progress(progress);
    let query = Query::new(program, model, Question::Holds(&property)).expect("a question");
    let answer = explore.ask(query, &limits(SECONDS, 1), &());
    if let Some(execution) = &answer.execution {
        let confirmed = cyrano_interp::confirm(program, model, &property, answer.violation.as_ref(), execution);
        assert!(confirmed.is_ok(), "{}: {confirmed:?}\n{}", progress.name(), cyrano_ir::text::print(program));
    }
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

/// The three verdicts in order, by one letter each.
fn judged(program: &Program, model: &Model, explore: &Explore) -> String {
    let letter = |progress: Progress| {
        let answer = ask(program, model, progress, explore);
        match answer.verdict {
            Verdict::Verified | Verdict::Vacuous => 'v',
            Verdict::Violated => 'x',
            Verdict::Unknown => '?',
            other => panic!("{}: {other:?} {:?}", progress.name(), answer.reason),
        }
    };
    Progress::ALL.map(letter).into_iter().collect()
}

/// The same, without a look at what is shown.
fn told(program: &Program, model: &Model) -> String {
    let told = |progress: Progress| {
        let property = Property::Progress(progress);
        let query = Query::new(program, model, Question::Holds(&property)).expect("a question");
        let verdict = Explore::default().ask(query, &limits(SECONDS, 1), &()).verdict;
        if verdict == Verdict::Violated { 'x' } else { 'v' }
    };
    Progress::ALL.map(told).into_iter().collect()
}

/// Those by definition, if the program is small enough.
fn defined(program: &Program, model: &Model) -> Option<String> {
    let graph = scripts::graph(program, model)?;
    Some(Progress::ALL.map(|progress| if naive::violated(&graph, progress) { 'x' } else { 'v' }).into_iter().collect())
}

#[test]
fn small_algorithms_are_judged_as_defined() {
    let lock = "if (i not in held) { got := l[i].tryLock(); if (!got) { return aborted; } held.add(i); }";
    let release = "foreach (i in held) { l[i].unlock(); }";
    let cases = [
        ("", "", "", "vvv"),
        ("", lock, release, "xvx"),
        ("", lock, "", "xxx"),
        ("", "", "q.lock(); q.unlock();", "xvv"),
        ("q.lock(); q.unlock();", "", "", "xvv"),
        ("", "", "q.lock();", "xxx"),
        ("if (true) { return aborted; }", "", "", "xxx"),
    ];
    for (read, write, commit, expected) in cases {
        let program = endless(&methods(read, write, commit), "ops 1, values {0, 1}");
        for name in ["declared", "literal"] {
            let (model, about) = (model(name), format!("{name}: {read} / {write} / {commit}"));
            assert_eq!(judged(&program, &model, &Explore::default()), expected, "{about}");
            assert_eq!(defined(&program, &model).as_deref(), Some(expected), "{about}");
        }
    }
}

/// Two registers of each thread that are changed one after the other: in order they are never both set, out of order a thread may stop in between.
const HANDED_OVER: &str = "shared r: AtomicRegister[locs] = 0, a: AtomicRegister[2] = 0, b: AtomicRegister[2] = 1; \
    method read(i) { x := a[1 - tid].read(); y := b[1 - tid].read(); if (x == 1 && y == 1) { return aborted; } \
        v := r[i].read(); return v; } \
    method write(i, v) { B: b[tid].write(0); A: a[tid].write(1); C: a[tid].write(0); D: b[tid].write(1); r[i].write(v); \
        return ok; } \
    method commit() { return committed; }";

#[test]
fn what_is_overtaken_makes_a_difference() {
    let program = endless(HANDED_OVER, "ops 1, values {0}");
    assert_eq!(judged(&program, &model("inorder"), &Explore::default()), "vvx");
    let found = judged(&program, &model("declared"), &Explore::default());
    assert_eq!(found, "xvx", "somebody stopped between the two stores, the second one first");
    assert_eq!(defined(&program, &model("declared")), Some(found));
    let ordered = endless(&format!("{HANDED_OVER} order B < A; order C < D;"), "ops 1, values {0}");
    let found = judged(&ordered, &model("declared"), &Explore::default());
    assert_eq!(found, "vvx");
    assert_eq!(defined(&ordered, &model("declared")), Some(found));
}

/// A random algorithm with two registers and two locks.
fn random(stream: &mut cyrano_conformance::stream::Stream) -> String {
    let statements = [
        "x := a.read();",
        "y := b.read();",
        "a.write(1);",
        "a.write(0);",
        "b.write(1);",
        "b.write(0);",
        "c := a.cas(0, 1);",
        "c := a.cas(0, 1); if (!c) { return aborted; }",
        "x := a.read(); if (x == 1) { return aborted; }",
        "x := a.read(); if (x == 1) { b.write(0); }",
        "x := a.read(); y := b.read(); if (x != y) { return aborted; }",
        "q.lock(); q.unlock();",
        "q.lock(); x := a.read(); q.unlock();",
    ];
    let mut body = |most: usize| {
        let length = stream.below(most + 1);
        (0..length).map(|_| statements[stream.below(statements.len())]).collect::<Vec<_>>().join(" ")
    };
    let (read, write, commit) = (body(2), body(3), body(2));
    format!(
        "shared r: AtomicRegister = 0, a: AtomicCASRegister = 0, b: AtomicRegister = 0, q: Lock; \
         method read(i) {{ {read} return 0; }} method write(i, v) {{ {write} r.write(v); return ok; }} \
         method commit() {{ {commit} return committed; }} "
    )
}

#[test]
fn random_algorithms_are_judged_as_defined() {
    let cases = if long() { 1_000 } else { 12 };
    let mut stream = cyrano_conformance::stream::Stream::mixed(41);
    let (mut compared, mut others, mut noticed) = (0, 0, 0);
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    let off = [
        Explore { settled_prefixes: false, ..Explore::default() },
        Explore { dead_registers: false, lazy_choices: false, ..Explore::default() },
    ];
    for case in 0..cases {
        let source = random(&mut stream);
        let program = endless(&source, "ops 1, values {0, 1}");
        let in_order = judged(&program, &model("inorder"), &Explore::default());
        for name in ["declared", "literal"] {
            let model = model(name);
            let Some(expected) = defined(&program, &model) else { continue };
            let found = judged(&program, &model, &Explore::default());
            assert_eq!(found, expected, "case {case}, {name}: {source}");
            let explore = &off[case % off.len()];
            assert_eq!(judged(&program, &model, explore), expected, "case {case}, {name}, reductions off: {source}");
            // An explorer that knows nothing of the order would be noticed.
            let mut lawless = program.clone();
            lawless.orders.iter_mut().flat_map(|order| &mut order.before).flatten().for_each(Vec::clear);
            noticed += usize::from(told(&lawless, &model) != expected);
            compared += 1;
            others += usize::from(found != in_order);
            *seen.entry(found).or_default() += 1;
        }
    }
    println!("{compared} compared, {others} other than in order, {noticed} without order: {seen:?}");
    assert!(compared > cases && seen.len() >= 3, "{compared}: {seen:?}");
}

/// Names are used again out of order, too.
#[test]
fn names_are_used_again() {
    let program = endless(RECORDS, "ops 1");
    assert_eq!(judged(&program, &model("declared"), &Explore::default()), "vvx");
}

/// A lasso is believed only as it is.
#[test]
fn a_changed_lasso_is_refuted() {
    let program = endless(HANDED_OVER, "ops 1, values {0}");
    let model = model("declared");
    let answer = ask(&program, &model, Progress::Solo, &Explore::default());
    let (Some(Violation::Lasso(lasso)), Some(execution)) = (answer.violation, answer.execution) else {
        panic!("somebody stops between the stores");
    };
    let confirms = |progress: Progress, lasso: &Lasso, execution: &Execution| {
        let violation = Violation::Lasso(lasso.clone());
        cyrano_interp::confirm(&program, &model, &Property::Progress(progress), Some(&violation), execution).is_ok()
    };
    assert!(confirms(Progress::Solo, &lasso, &execution));
    assert!(!confirms(Progress::CrashFreeSolo, &lasso, &execution), "the other thread stopped within a transaction");
    let other = cyrano_ir::ThreadId::new(1 - lasso.thread.index());
    let changed = [
        Lasso { thread: other, ..lasso.clone() },
        Lasso { fate: Fate::Waits, ..lasso.clone() },
        Lasso { fate: Fate::Blocked, ..lasso.clone() },
        Lasso { rounds: 1, ..lasso.clone() },
        Lasso { rounds: lasso.rounds + 4, ..lasso.clone() },
    ];
    for lasso in &changed {
        assert!(!confirms(Progress::Solo, lasso, &execution), "{lasso:?}");
    }
    let mut refuted = 0;
    for step in 0..execution.order.len() {
        let mut changed = execution.clone();
        changed.order[step].read = changed.order[step].read.map(|read| 1 - read);
        changed.order[step].written = changed.order[step].written.map(|written| 1 - written);
        refuted += usize::from(!confirms(Progress::Solo, &lasso, &changed));
    }
    let accesses = execution.order.iter().filter(|access| access.read.is_some() || access.written.is_some());
    assert_eq!(refuted, accesses.count());
}

//! Termination of threads, on programs whose verdicts were worked out by hand: what each kind of fairness grants and what it does not. Every lasso is replayed,
//! and verdicts are the same whatever reductions are used.

use cyrano_conformance::limits;
use cyrano_engine::{Answer, Engine, Execution, Fate, Lasso, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_ir::{LabelName, Liveness, Program, Property, ThreadId};
use cyrano_memory::Model;

/// What an instance may take here.
const SECONDS: f64 = 10.0;

fn model(name: &str) -> Model {
    cyrano_memory::named(name).unwrap_or_else(|| panic!("{name} is a model"))
}

fn compile(source: &str) -> Program {
    cyrano_rml::compile(source, "t", &[]).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

/// Asks, and has what is shown confirmed.
fn ask(explore: &Explore, program: &Program, liveness: Liveness, model: &Model) -> Answer {
    let property = Property::Live(liveness);
    let query = Query::new(program, model, Question::Holds(&property)).expect("a question");
    let answer = explore.ask(query, &limits(SECONDS, 1), &());
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        if let Err(error) = cyrano_interp::confirm(program, model, &property, violation, execution) {
            panic!("{}: what is shown does not replay: {error}\n{answer:?}", cyrano_ir::text::print(program));
        }
    }
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

/// The explorer with everything, and with each of its reductions that matter here switched off, and with all of them.
fn configurations() -> Vec<(&'static str, Explore)> {
    let all = Explore::default();
    vec![
        ("all", all.clone()),
        ("macro-steps off", Explore { macro_steps: false, ..all.clone() }),
        ("dead-registers off", Explore { dead_registers: false, ..all.clone() }),
        ("timestamps off", Explore { timestamps: false, ..all.clone() }),
        ("none", Explore { macro_steps: false, dead_registers: false, timestamps: false, ..all }),
    ]
}

/// Verdicts by model: `sc: verified, tso pso: violated`.
fn check_as(liveness: Liveness, source: &str, verdicts: &str) {
    let program = compile(source);
    for line in verdicts.split(',') {
        let (models, verdict) = line.split_once(':').expect("models: verdict");
        for name in models.split_whitespace() {
            for (which, explore) in configurations() {
                let answer = ask(&explore, &program, liveness, &model(name));
                let found = (answer.verdict.name(), answer.reason.map(|why| why.to_string()));
                assert_eq!(found.0, verdict.trim(), "{name}, {which}: {:?}\n{source}", found.1);
            }
        }
    }
}

fn check(source: &str, verdicts: &str) {
    check_as(Liveness::Termination, source, verdicts);
}

#[test]
fn threads_that_end() {
    check("threads { shared x; thread a { x := 1; } thread b { local r; r := x; } }", "sc tso pso rmo: verified");
    // A lock that is released.
    let lock = "r := 1; while r != 0 do { r := exchange(l, 1); }";
    check(
        &format!("threads {{ shared l; thread a[3] {{ local r; {lock} l := 0; }} }}"),
        "sc tso pso rmo inorder: verified",
    );
    check(&format!("threads {{ shared l; thread a[2] {{ local r; {lock} }} }}"), "sc tso pso rmo inorder: violated");
}

/// Who waits for a store sees it some day, however late it is performed; and who waits for one that nobody makes does not.
#[test]
fn deferred_stores_are_performed_some_day() {
    let spin = "local r; while r == 0 do { r := x; }";
    check(&format!("threads {{ shared x; thread a {{ x := 1; }} thread b {{ {spin} }} }}"), "sc tso pso rmo: verified");
    check(
        &format!("threads {{ shared x, y; thread a {{ y := 1; }} thread b {{ {spin} }} }}"),
        "sc tso pso rmo: violated",
    );
    // The storing thread itself runs for ever, and passes marks.
    let storing = "x := 1; loop { progress; skip; }";
    check(
        &format!("threads {{ shared x; thread a {{ {storing} }} thread b {{ {spin} }} }}"),
        "sc tso pso rmo: verified",
    );
    let reading = "local q; x := 1; loop { q := x; if q == 0 then skip; progress; }";
    check(
        &format!("threads {{ shared x; thread a {{ {reading} }} thread b {{ {spin} }} }}"),
        "sc tso pso rmo: verified",
    );
}

/// A loop in which one thread spins only as long as another one that can go on does not.
#[test]
fn unfair_loops_are_none() {
    let toggle = "thread a { local r; foreach i in 0..<3 { x := 1; x := 0; } done := 1; }";
    let spin = "thread b { local r, d; while r == 0 && d == 0 do { r := x; d := done; } }";
    check(&format!("threads {{ shared x, done; {toggle} {spin} }}"), "sc tso: verified");
    // Two threads that give way to each other for ever: fair to both, so it counts.
    let polite = |me: &str, other: &str| {
        format!(
            "local r; r := 1; while r == 1 do {{ {me} := 1; fence; r := {other}; if r == 1 then {{ {me} := 0; fence; }} }} {me} := 0;"
        )
    };
    let (p, q) = (polite("x", "y"), polite("y", "x"));
    check(&format!("threads {{ shared x, y; thread a {{ {p} }} thread b {{ {q} }} }}"), "sc tso: violated");
}

/// Each waits for the other if both loads miss the stores, which needs a store buffer; the other one's later store does not come.
#[test]
fn two_wait_for_each_other_under_tso_only() {
    let waits = |me: &str, other: &str, fence: &str| {
        format!(
            "local r, s; {me} := 1; {fence} r := {other}; if r == 0 then {{ while s == 0 do {{ s := both; }} }} else {{ both := 1; }}"
        )
    };
    let program = |fence: &str| {
        let (p, q) = (waits("x", "y", fence), waits("y", "x", fence));
        format!("threads {{ shared x, y, both; thread a {{ {p} }} thread b {{ {q} }} }}")
    };
    check(&program(""), "sc: verified, tso pso rmo: violated");
    check(&program("fence;"), "sc tso pso rmo: verified");
}

/// The store that wakes the waiter can be overwritten by the one that announces it, where stores are reordered.
#[test]
fn a_wake_up_is_overwritten_under_pso() {
    let program = |fence: &str| {
        format!(
            "threads {{ shared waits, wake; \
             thread a {{ local r; wake := 1; {fence} waits := 1; fence; r := wake; while r == 1 do {{ r := wake; }} }} \
             thread b {{ local r; r := waits; if r == 0 then {{ while r == 0 do {{ r := waits; }} }} wake := 0; }} }}"
        )
    };
    check(&program(""), "sc tso: verified, pso rmo: violated");
    check(&program("fence(store-store);"), "sc tso pso: verified");
}

#[test]
fn marks_are_what_counts() {
    check("threads { shared x; thread a { loop { x := 1; progress; } } }", "sc: verified, tso pso: bounded");
    check(
        "threads { shared x; thread a { local r; loop { x := 1; r := exchange(x, 0); progress; } } }",
        "sc tso: verified",
    );
    check("threads { shared x; thread a { local r; loop { r := x; } } }", "sc tso pso rmo: violated");
    // A mark that is not always passed; whether it is, is up to the demon.
    let source =
        "threads { shared x; thread a { local c, r; loop { choose c in 0..1; r := x; if c == 1 then progress; } } }";
    check(source, "sc tso pso rmo: violated");
    // A mark before the loop is passed once only.
    check("threads { shared x; thread a { local r; progress; loop { r := x; } } }", "sc tso pso rmo: violated");
    // One thread passes marks, the other one has to end.
    let ends = "thread b { local r; while r == 0 do { r := x; } }";
    check(
        &format!("threads {{ shared x; thread a {{ local r; loop {{ r := x; progress; }} }} {ends} }}"),
        "sc tso: violated",
    );
    // Without an access.
    check("threads { shared x; thread a { loop { progress; } } }", "sc tso pso: verified");
    check("threads { shared x; thread a { loop { skip; } } }", "sc tso pso: violated");
    check("threads { shared x; thread a { local i; loop { i := 1 - i; if i == 0 then progress; } } }", "sc: verified");
}

/// `check progress L`: a thread with the label has to pass it, one without has to end.
#[test]
fn labelled_statements_are_marks() {
    let source = "threads { shared x; thread a { local r; loop { L: r := x; if r == 1 then { M: skip; } } } } \
                  check progress L; check progress M;";
    check_as(Liveness::Passes(LabelName::new("L")), source, "sc tso pso rmo: verified");
    check_as(Liveness::Passes(LabelName::new("M")), source, "sc tso pso rmo: violated");
    check(source, "sc: violated");
}

/// Who stands at a section waits; what is closed again and again excuses the scheduler.
#[test]
fn sections_wait() {
    let waits = "thread b { atomic { assume x == 1; } }";
    let waits = waits.replace("assume x == 1", "r := x; assume r == 1").replace("{ atomic", "{ local r; atomic");
    let with = |other: &str| format!("threads {{ shared x, y; {other} {waits} }}");
    check(&with("thread a { x := 1; }"), "sc tso pso: verified");
    check(&with("thread a { y := 1; }"), "sc tso pso: violated");
    check(&with("thread a { local r; loop { r := y; progress; } }"), "sc tso pso: violated");
    // Open at infinitely many moments and closed at infinitely many.
    check(&with("thread a { loop { x := 1; fence; x := 0; fence; progress; } }"), "sc tso pso: violated");
    // Opened and left open.
    check(&with("thread a { local r; x := 1; loop { r := y; progress; } }"), "sc tso pso: verified");
}

#[test]
fn choices_are_demonic() {
    let until = "threads { shared x; thread a { local c; while c == 0 do { choose c in 0..1; } x := 1; } }";
    check(until, "sc tso pso: violated");
    check("threads { shared x; thread a { local c; choose c in 0..1; if c == 1 then x := 1; } }", "sc tso: verified");
}

/// Executions in which an `assume` fails do not exist here.
#[test]
fn assumptions_leave_executions_out() {
    let bounded =
        "threads { shared x; thread a { local r, i; while r == 0 do { r := x; i := i + 1; assume i < 4; } } }";
    check(bounded, "sc tso pso rmo: vacuous");
    let helped = "threads { shared x; thread b { x := 1; } thread a { local r, i; while r == 0 do { r := x; i := i + 1; assume i < 4; } } }";
    check(helped, "sc tso pso rmo: verified");
    // The other one's endless loop is left out, too.
    let both = "threads { shared x; thread b { local r; while r == 0 do { r := x; } } thread a { local r; r := x; assume r == 1; } }";
    check(both, "sc tso: vacuous");
}

/// Failed assertions end nothing; what cannot be computed is a violation of its own.
#[test]
fn what_goes_wrong() {
    check("threads { shared x; thread a { local r; r := x; assert r == 1; } }", "sc tso: verified");
    let program = compile("threads { shared x; thread a { local r; r := x; r := 1 / r; } }");
    let answer = ask(&Explore::default(), &program, Liveness::Termination, &model("sc"));
    assert!(matches!(answer.violation, Some(Violation::Error { .. })), "{answer:?}");
    // A deadlock is the end of a finite execution.
    let stuck = "threads { shared x; thread a { local r; atomic { r := x; assume r == 1; } } }";
    let answer = ask(&Explore::default(), &compile(stuck), Liveness::Termination, &model("tso"));
    assert!(matches!(answer.violation, Some(Violation::Deadlock { .. })), "{answer:?}");
}

/// A queue that grows for ever is never a proof.
#[test]
fn a_growing_queue_is_bounded() {
    let source = "threads { shared x, y, stop; thread a { local r; while r == 0 do { x := 1; y := 1; r := stop; } } thread b { stop := 1; } }";
    check(source, "sc: verified, tso pso: bounded");
}

/// Tickets that grow for ever are ranked, so that there is an end to the states.
#[test]
fn timestamps_are_ranked() {
    let source = "threads { shared next: timestamp, serving: timestamp; \
                  thread a[2] { local t: timestamp, s: timestamp; loop { t := fetch_add(next, 1); s := serving; \
                  while s != t do { s := serving; } serving := t + 1; fence; progress; } } }";
    let program = compile(source);
    for name in ["sc", "tso"] {
        let answer = ask(&Explore::default(), &program, Liveness::Termination, &model(name));
        assert_eq!(answer.verdict, Verdict::Verified, "{name}: {answer:?}");
    }
    // Who does not serve stops everybody; the clock of the first one has grown by then.
    let source = source.replace("serving := t + 1;", "if t < 2 then { serving := t + 1; }");
    let answer = ask(&Explore::default(), &compile(&source), Liveness::Termination, &model("sc"));
    assert_eq!(answer.verdict, Verdict::Violated, "{answer:?}");
}

/// More threads than a byte has bits.
#[test]
fn many_threads() {
    let source = "threads { shared x; thread a[9] { local r; if self == 8 then { x := 1; } else { while r == 0 do { r := x; } } } }";
    check(source, "sc: verified");
    let source = source.replace("x := 1", "skip");
    check(&source, "sc: violated");
}

/// What is not exact is refused.
#[test]
fn other_models_are_refused() {
    let program = compile("threads { shared x; thread a { x := 1; } }");
    let property = Property::Live(Liveness::Termination);
    let serial = model("serial");
    let query = Query::new(&program, &serial, Question::Holds(&property)).expect("a question");
    assert!(Explore::default().supports(&query).is_err());
    assert!(cyrano_interp::Interp.supports(&query).is_err());
}

/// A lasso, whose program it belongs to, and what confirms it.
fn lasso_of(source: &str, name: &str) -> (Program, Lasso, Execution) {
    let program = compile(source);
    let answer = ask(&Explore::default(), &program, Liveness::Termination, &model(name));
    let (Some(Violation::Lasso(lasso)), Some(execution)) = (answer.violation, answer.execution) else {
        panic!("it never ends:\n{source}");
    };
    (program, lasso, execution)
}

fn confirms(program: &Program, name: &str, lasso: &Lasso, execution: &Execution) -> bool {
    let (property, violation) = (Property::Live(Liveness::Termination), Violation::Lasso(lasso.clone()));
    cyrano_interp::confirm(program, &model(name), &property, Some(&violation), execution).is_ok()
}

/// A lasso is believed only as it is.
#[test]
fn a_changed_lasso_is_refuted() {
    // In each round a store is issued and the one of the round before is performed; the queue is never empty.
    let spin = "thread b { local r, q; q := 1; x := q; loop { r := y; x := q; if r == 1 then break; } }";
    let source = format!("threads {{ shared x, y; thread a {{ y := 0; }} {spin} }}");
    let (program, lasso, execution) = lasso_of(&source, "tso");
    assert!(confirms(&program, "tso", &lasso, &execution));
    assert_eq!((lasso.thread, lasso.fate), (ThreadId::new(1), Fate::Spins));
    let mut changed = vec![
        Lasso { thread: ThreadId::new(0), ..lasso.clone() },
        Lasso { fate: Fate::Blocked, ..lasso.clone() },
        Lasso { fate: Fate::Waits, ..lasso.clone() },
        Lasso { rounds: lasso.rounds - 1, ..lasso.clone() },
        Lasso { rounds: 1, ..lasso.clone() },
        Lasso { stem: lasso.round.clone(), round: lasso.stem.clone(), ..lasso.clone() },
    ];
    // That `b` issues its next store one round earlier would be true as well.
    for (thread, more) in [(0, 1), (0, usize::MAX), (1, usize::MAX)] {
        let mut other = lasso.clone();
        other.stem.issued[thread] = other.stem.issued[thread].wrapping_add(more);
        changed.push(other);
    }
    for (thread, more) in [(0, 1), (0, usize::MAX), (1, 1), (1, usize::MAX)] {
        let mut other = lasso.clone();
        other.round.issued[thread] = other.round.issued[thread].wrapping_add(more);
        changed.push(other);
    }
    for lasso in &changed {
        assert!(!confirms(&program, "tso", lasso, &execution), "{lasso:?}");
    }
    let mut shorter = execution.clone();
    shorter.order.pop();
    assert!(!confirms(&program, "tso", &lasso, &shorter));
}

/// Rounds that leave out a store of the spinning thread, or a step that another thread could take, are not fair.
#[test]
fn an_unfair_lasso_is_refuted() {
    let source = "threads { shared x, y; thread a { local r; x := 1; loop { r := y; } } }";
    let (program, lasso, execution) = lasso_of(source, "tso");
    let loads: Vec<_> = execution.order.iter().filter(|access| access.read.is_some()).copied().collect();
    assert_eq!(execution.order.len(), loads.len() + 1, "{execution:?}");
    let late = Execution { order: loads, ..execution };
    let mut unfair = lasso.clone();
    unfair.stem.steps -= 1;
    assert!(!confirms(&program, "tso", &unfair, &late), "the store is never performed");
    // The same where somebody else could go on.
    let source = "threads { shared x, y; thread b { x := 1; } thread a { local r; loop { r := y; } } }";
    let (program, lasso, execution) = lasso_of(source, "sc");
    let loads: Vec<_> = execution.order.iter().filter(|access| access.read.is_some()).copied().collect();
    let late = Execution { order: loads, ..execution };
    let mut unfair = lasso.clone();
    unfair.stem.steps -= 1;
    unfair.stem.issued[0] = 0;
    assert!(!confirms(&program, "sc", &unfair, &late), "b never takes its step");
}

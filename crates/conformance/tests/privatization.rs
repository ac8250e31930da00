//! Transactional memories with a client of their own: header verdicts, the privatization example, and the same outcomes as with atomic
//! transactions where the memory is right.

use std::collections::BTreeSet;

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::blocks::serial::serial;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

type Outcomes = BTreeSet<Vec<i128>>;

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a named model")
}

fn source(name: &str) -> String {
    let path = corpus::folder().join("stm").join(name);
    corpus::text(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn compile(source: &str) -> Program {
    cyrano_rml::compile(source, "client", &[]).unwrap_or_else(|error| panic!("{error:?}"))
}

/// All outcomes of a program, which has to have them all known.
fn outcomes(program: &Program, model_name: &str, engine: &dyn Engine) -> Outcomes {
    let model = model(model_name);
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 2), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{}: {:?}", engine.name(), answer.reason);
    answer.outcomes
}

/// What the client may observe if its transactions are atomic.
fn allowed(source: &str) -> Outcomes {
    let compiled = cyrano_rml::compile_both(source, "client", &[]).unwrap_or_else(|error| panic!("{error:?}"));
    let program = compiled.atomic.expect("there is a client");
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    let names = |program: &Program| program.observed.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&program), names(&compile(source)), "both lowerings observe the same");
    outcomes(&serial(&program), "serial", &Explore::default())
}

/// Asks, and has the reference interpreter confirm what is shown.
fn check(program: &Program, property: &Property, model_name: &str) -> Answer {
    let model = model(model_name);
    let query = Query::new(program, &model, Question::Holds(property)).expect("a question");
    let answer = Explore::default().ask(query, &limits(60.0, 2), &());
    if let Some(execution) = &answer.execution {
        let confirmed = cyrano_interp::confirm(program, &model, property, answer.violation.as_ref(), execution);
        confirmed.unwrap_or_else(|error| panic!("what is shown does not replay: {error}"));
    }
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

#[test]
fn headers_tell_the_truth() {
    let mut promises = 0;
    for entry in corpus::with_clients().expect("the library can be read") {
        let program = compile(&entry.source);
        for promise in &entry.progress {
            let declared = program.checks.iter().map(|check| &check.property);
            let property = match promise.property.as_str() {
                "atomicity" => Property::Observations(allowed(&entry.source)),
                name => declared.clone().find(|property| property.criterion() == name).expect("it is declared").clone(),
            };
            let found = check(&program, &property, &promise.model).verdict;
            assert_eq!(found.name(), promise.verdict, "{}, {}", entry.path.display(), promise.property);
            promises += 1;
        }
    }
    assert!(promises >= 6, "the headers have shrunk to {promises} promises");
}

/// The values that A reads, of every outcome.
fn reads(source: &str) -> BTreeSet<[i128; 3]> {
    let program = compile(source);
    let column = |name: &str| program.observed.iter().position(|column| column.name == name).expect("it is observed");
    let columns = ["a", "b", "c"].map(column);
    let all = outcomes(&program, "sc", &Explore::default());
    all.iter().map(|outcome| columns.map(|column| outcome[column])).collect()
}

#[test]
fn commits_that_wait_make_privatization_safe() {
    let source = source("privatization.rml");
    assert_eq!(reads(&source), BTreeSet::from([[0, 0, 0], [1, 1, 1]]));
    assert_eq!(outcomes(&compile(&source), "sc", &Explore::default()), allowed(&source));
}

#[test]
fn without_waiting_the_value_changes_twice() {
    let found = reads(&source("privatization_no_quiesce.rml"));
    assert!(found.contains(&[0, 1, 0]), "{found:?}");
    // The value changes by B's increment and by its undoing, and by nothing else.
    assert!(!found.contains(&[1, 0, 1]), "{found:?}");
}

#[test]
fn under_tso_the_published_timestamp_needs_a_fence() {
    let source = source("privatization.rml");
    let fenced = source.replace("active[self] := my;", "active[self] := my; fence;");
    assert_ne!(source, fenced);
    let property = Property::Observations(allowed(&fenced));
    assert_eq!(check(&compile(&fenced), &property, "tso").verdict, Verdict::Verified);
}

#[test]
fn reductions_change_nothing() {
    for name in ["privatization.rml", "privatization_no_quiesce.rml"] {
        let program = compile(&source(name));
        let on = Explore::default();
        let all = outcomes(&program, "sc", &on);
        for explore in [Explore { macro_steps: false, ..on.clone() }, Explore { dead_registers: false, ..on.clone() }] {
            assert_eq!(outcomes(&program, "sc", &explore), all, "{name}: {explore:?}");
        }
    }
}

/// A lock that is waited for. A transaction may be aborted for no reason, after it has written something of its own.
const LOCK: &str = "stm lock {
  shared lock; data g[vars]; local r, mine, old[vars], wrote[vars], tired;
  proc acquire { if mine == 0 { atomic { r := lock; assume r == 0; lock := 1; } mine := 1; } }
  proc give_up {
    foreach i in 0..<vars { if wrote[i] == 1 then rollback g[i] := old[i]; wrote[i] := 0; }
    mine := 0; tired := 1; lock := 0; abort
  }
  proc doubt { if tired == 0 { choose r in 0..1; if r == 1 then give_up; } }
  read(a) { acquire; doubt; r := g[a]; return r }
  write(a, v) { acquire; if wrote[a] == 0 { old[a] := g[a]; wrote[a] := 1; } g[a] := v; doubt; }
  end { foreach i in 0..<vars { wrote[i] := 0; } tired := 0; if mine == 1 { mine := 0; lock := 0; } commit }
}
";

/// Clients whose outcomes have to be those of atomic transactions: aborts, addresses that are computed, families, loops, several
/// transactions, choices, and locals that are counted in a transaction.
const CLIENTS: [&str; 5] = [
    "client { thread p { local n, r; tx { n := n + 1; r := read(0); n := n + 1; write(0, r + n); } tx { n := n + 10; } }
              thread q { local s; tx { s := read(0); write(1, s); } } }",
    "const threads = 3;
     client { thread w[2] { local r; tx { r := read(self); write(1 - self, r + 1); } } thread z { local r; tx { r := read(0); } } }",
    "client { thread p { local r[2], i; tx { foreach k in 0..<2 { r[k] := read(i); i := i + 1; } } }
              thread q { local s; tx { choose s in 1..2; write(0, s); if s == 1 { write(1, s); } } } }",
    "client { thread p { local a; tx { a := read(0); while a < 2 { a := a + 1; write(0, a); } } }
              thread q { local b; loop { tx { b := read(0); } if b != 1 { break; } } } }",
    "client { thread p { local a; foreach k in 0..<2 { tx { a := read(k); write(k, a + 1); } } }
              thread q { local b, c; tx { b := read(0); } tx { c := read(1); } } }",
];

#[test]
fn a_memory_that_aborts_cannot_be_told_from_atomic_transactions() {
    for client in CLIENTS {
        let source = format!("{LOCK}{client}");
        assert_eq!(outcomes(&compile(&source), "sc", &Explore::default()), allowed(&source), "{client}");
    }
}

#[test]
fn a_memory_that_does_not_undo_can_be_told() {
    let broken = LOCK.replace("rollback g[i] := old[i];", "skip;");
    assert_ne!(broken, LOCK);
    let source = format!("{broken}{}", CLIENTS[0]);
    assert_ne!(outcomes(&compile(&source), "sc", &Explore::default()), allowed(&source));
}

#[test]
fn engines_agree_on_a_client_without_aborts() {
    let patient = LOCK.replace("choose r in 0..1; if r == 1 then give_up;", "skip;");
    assert_ne!(patient, LOCK);
    let client = "client { thread p { local r; tx { r := read(0); write(0, r + 1); } r := g[1]; }
                           thread q { local s; g[1] := 5; tx { s := read(0); } } }";
    let program = compile(&format!("{patient}{client}"));
    for name in ["sc", "tso"] {
        assert_eq!(outcomes(&program, name, &Explore::default()), outcomes(&program, name, &Interp), "{name}");
    }
}

//! Progress of transactions: header verdicts, replayed lassos, reductions on and off, and agreement with the definitions.

use cyrano_conformance::{corpus, limits, naive};
use cyrano_engine::{Answer, Engine, Fate, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Progress, Property};
use cyrano_memory::Model;

/// What an instance may take here.
const SECONDS: f64 = 8.0;

fn sc() -> Model {
    cyrano_memory::named("sc").expect("sc is a model")
}

fn compile(name: &str, source: &str, vars: i64) -> Program {
    let set = [("vars".to_owned(), vars)];
    cyrano_rml::compile(source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}\n{source}"))
}

/// Asks, and has what is shown confirmed.
fn check(program: &Program, progress: Progress, explore: &Explore) -> Answer {
    let (property, model) = (Property::Progress(progress), sc());
    let query = Query { program, model: &model, question: Question::Holds(&property) };
    let answer = explore.ask(query, &limits(SECONDS, 1), &());
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        if let Err(error) = cyrano_interp::confirm(program, &model, &property, violation, execution) {
            panic!("{}, {}: what is shown does not replay: {error}", program.name, progress.name());
        }
    }
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

#[test]
fn headers_tell_the_truth() {
    let mut decided = 0;
    for entry in corpus::entries().expect("the library can be read") {
        let name = entry.path.display().to_string();
        for promise in &entry.progress {
            let progress = Progress::from_name(&promise.property).unwrap_or_else(|| panic!("{name}: {promise:?}"));
            assert_eq!(promise.model, "sc", "{name}: progress is decided under sc");
            let found = check(&compile(&name, &entry.source, 2), progress, &Explore::default()).verdict;
            if found != Verdict::Unknown {
                decided += 1;
                assert_eq!(found.name(), promise.verdict, "{name}: {}", progress.name());
            }
        }
    }
    assert!(decided >= 12, "only {decided} promises were looked at");
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { dead_registers: false, macro_steps: false, ..on.clone() },
    ];
    let small = ["mcrt", "tml", "global_lock", "global_ticket", "dstm"];
    for entry in corpus::entries().expect("the library can be read") {
        let name = entry.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !entry.path.parent().is_some_and(|folder| folder.ends_with("stm")) || !small.contains(&&*name) {
            continue;
        }
        let program = compile(&name, &entry.source, 1);
        for progress in Progress::ALL {
            let with = check(&program, progress, &on).verdict;
            for explore in &off {
                assert_eq!(with, check(&program, progress, explore).verdict, "{name}: {}", progress.name());
            }
        }
    }
}

/// The commands of a memory with one transactional variable.
fn memory(read: &str, write: &str, end: &str) -> String {
    format!(
        "stm s {{ shared a, b; data g[vars] = 1; local l, m; \
         read(v) {{ {read} m := g[v]; rfin }} write(v) {{ {write} g[v] := 1; }} end {{ {end} commit }} }}"
    )
}

/// What the explorer and the definitions say about a memory, with one letter for each property: v(erified) or x (violated).
fn verdicts(source: &str) -> String {
    let program = compile("s", source, 1);
    let graph = naive::Graph::of(&program).unwrap_or_else(|| panic!("too large:\n{source}"));
    let mut letters = String::new();
    for progress in Progress::ALL {
        let found = check(&program, progress, &Explore::default());
        let violated = naive::violated(&graph, progress);
        // A memory that never commits and is violated by nobody has clients that never end a transaction, for nobody can.
        let expected = if violated { Verdict::Violated } else { Verdict::Verified };
        assert!(
            found.verdict == expected || found.verdict == Verdict::Vacuous && !violated,
            "{}: {:?}, but by definition {expected:?}\n{source}",
            progress.name(),
            found.verdict
        );
        letters.push(if violated { 'x' } else { 'v' });
    }
    letters
}

#[test]
fn small_memories_are_judged_as_defined() {
    let lock = "l := cas(a, 0, self + 1); if l != 0 && l != self + 1 then abort;";
    let spin = "l := a; while l != self + 1 { l := cas(a, 0, self + 1); if l == 0 then l := self + 1; }";
    let section = "l := a; if l != self + 1 { atomic { l := a; assume l == 0; a := self + 1; } }";
    let release = "l := a; if l == self + 1 then a := 0;";
    let mutual = "if self == 0 { a := 1; l := b; while l == 1 { l := b; } } \
                  else { b := 1; l := a; while l == 1 { l := a; } }";
    let cases = [
        // Nothing is in anybody's way.
        ("", "", "", "vvv"),
        // Who does not get the lock aborts, waits or is blocked.
        (lock, lock, release, "xvx"),
        (spin, spin, release, "xvx"),
        (section, section, release, "xvv"),
        // The lock is never given back.
        (lock, lock, "", "xxx"),
        // Every transaction that reads aborts.
        ("l := b; if l == 0 then abort;", "", "", "xxx"),
        // Two spinning threads wait for each other.
        (mutual, "", "if self == 0 { a := 0; } else { b := 0; }", "xvx"),
        // A command that never ends, without any access.
        ("l := 1; while l == 1 { skip; }", "", "", "xxx"),
    ];
    for (read, write, end, expected) in cases {
        let source = memory(read, write, end);
        assert_eq!(verdicts(&source), expected, "{source}");
    }
}

#[test]
fn random_memories_are_judged_as_defined() {
    let statements = [
        "l := a;",
        "a := 0;",
        "a := self + 1;",
        "b := 1;",
        "b := 0;",
        "l := b;",
        "l := cas(a, 0, self + 1);",
        "l := exchange(b, 1);",
        "if l != 0 then abort;",
        "if l == 0 then abort;",
        "if l == self + 1 then a := 0;",
        "while l != 0 { l := a; }",
        "while l == 1 { l := b; }",
        "atomic { l := a; assume l == 0; a := self + 1; }",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % below
    };
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..100 {
        let mut body = |most: usize| {
            let length = random(most + 1);
            (0..length).map(|_| statements[random(statements.len())]).collect::<Vec<_>>().join(" ")
        };
        let source = memory(&body(3), &body(2), &body(2));
        *seen.entry(verdicts(&source)).or_default() += 1;
    }
    assert!(seen.len() >= 3, "the memories are too much alike: {seen:?}");
}

/// A lasso is believed only as it is.
#[test]
fn a_changed_lasso_is_refuted() {
    let lock = "l := cas(a, 0, self + 1); if l != 0 && l != self + 1 then abort;";
    let source = memory(lock, lock, "l := a; if l == self + 1 then a := 0;");
    let program = compile("s", &source, 1);
    let answer = check(&program, Progress::Local, &Explore::default());
    let (Some(Violation::Lasso(lasso)), Some(execution)) = (answer.violation, answer.execution) else {
        panic!("the lock can be withheld for ever");
    };
    let confirms = |progress: Progress, lasso: &cyrano_engine::Lasso, execution: &cyrano_engine::Execution| {
        let violation = Violation::Lasso(lasso.clone());
        cyrano_interp::confirm(&program, &sc(), &Property::Progress(progress), Some(&violation), execution).is_ok()
    };
    assert!(confirms(Progress::Local, &lasso, &execution));
    assert!(!confirms(Progress::Solo, &lasso, &execution), "the other thread takes steps");
    let other = cyrano_ir::ThreadId::new(1 - lasso.thread.index());
    let changed = [
        cyrano_engine::Lasso { thread: other, ..lasso.clone() },
        cyrano_engine::Lasso { fate: Fate::Waits, ..lasso.clone() },
        cyrano_engine::Lasso { fate: Fate::Blocked, ..lasso.clone() },
        cyrano_engine::Lasso { rounds: lasso.rounds - 1, ..lasso.clone() },
        cyrano_engine::Lasso { rounds: 1, ..lasso.clone() },
        cyrano_engine::Lasso { stem: lasso.round.clone(), round: lasso.stem.clone(), ..lasso.clone() },
    ];
    for lasso in &changed {
        assert!(!confirms(Progress::Local, lasso, &execution), "{lasso:?}");
    }
    let mut shorter = execution.clone();
    shorter.order.pop();
    assert!(!confirms(Progress::Local, &lasso, &shorter));
}

//! Progress of transactions, and termination of threads: header verdicts, replayed lassos, reductions on and off, and agreement with the definitions.

mod naive;
mod out_of_order;
mod scripts;
mod stopped;
mod termination;

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Fate, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Progress, Property};
use cyrano_memory::Model;

/// What an instance may take here.
const SECONDS: f64 = 8.0;

fn inorder() -> Model {
    cyrano_memory::named("inorder").expect("inorder is a model")
}

fn sc() -> Model {
    cyrano_memory::named("sc").expect("sc is a model")
}

fn compile(name: &str, source: &str, vars: i128) -> Program {
    let set = [("vars".to_owned(), vars)];
    cyrano_rml::compile(source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}\n{source}"))
}

/// Asks, and has what is shown confirmed.
fn check(program: &Program, progress: Progress, explore: &Explore) -> Answer {
    let (property, model) = (Property::Progress(progress), sc());
    let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
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
    for (name, entry) in corpus::in_folder("stm") {
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

/// Asked together, by one graph, the properties have the answers that they have one by one; in whatever order.
#[test]
fn one_graph_answers_all() {
    let (explore, model) = (Explore::default(), sc());
    let mut told = Vec::new();
    for (name, entry) in corpus::in_folder("stm") {
        if !["mcrt", "global_lock", "global_ticket", "dstm"].contains(&&*name) {
            continue;
        }
        let program = compile(&name, &entry.source, 2);
        for mut wanted in [Progress::ALL.to_vec(), vec![Progress::Local, Progress::Solo]] {
            wanted.rotate_left(1);
            let property = Property::Progress(wanted[0]);
            let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
            let answers = explore.ask_progress(query, &wanted, &limits(SECONDS, 1), &());
            assert_eq!(answers.len(), wanted.len());
            for (progress, together) in wanted.iter().zip(answers) {
                let alone = check(&program, *progress, &explore);
                assert_eq!(together.verdict, alone.verdict, "{name}: {}", progress.name());
                assert_eq!(together.violation, alone.violation, "{name}: {}", progress.name());
                assert_eq!(together.stats.states, alone.stats.states, "{name}: {}", progress.name());
                told.push(together.verdict);
            }
        }
    }
    assert!(told.contains(&Verdict::Verified) && told.contains(&Verdict::Violated) && told.len() == 20);
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

/// What comes after `algorithm` in a file, with threads that run transactions of one operation for ever.
fn endless(algorithm: &str, size: &str) -> Program {
    let source = format!("algorithm A(locs = 1) {{ {algorithm} }} check progress for clients threads 2, {size};");
    let tests = cyrano_rml::algorithm::tests("a", &source, &[]).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    let [test] = tests.try_into().unwrap_or_else(|_| panic!("one test"));
    assert_eq!(cyrano_ir::verify(&test.program), Ok(()), "{source}");
    assert_eq!(cyrano_ir::text::parse(&cyrano_ir::text::print(&test.program)), Ok(test.program.clone().untold()));
    test.program
}

/// The three verdicts in order, by one letter each; where the program is small enough, those by definition are the same.
fn judged(program: &Program, by_definition: bool) -> String {
    let graph = by_definition.then(|| naive::Graph::of(program).expect("small enough"));
    let letter = |progress: Progress| {
        let (property, model) = (Property::Progress(progress), inorder());
        let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
        let answer = Explore::default().ask(query, &limits(SECONDS, 1), &());
        if let Some(execution) = &answer.execution {
            let confirmed = cyrano_interp::confirm(program, &model, &property, answer.violation.as_ref(), execution);
            assert!(confirmed.is_ok(), "{}: {confirmed:?}", progress.name());
        }
        if let Some(graph) = &graph {
            let violated = naive::violated(graph, progress);
            assert_eq!(violated, answer.verdict == Verdict::Violated, "{}: {:?}", progress.name(), answer.reason);
        }
        match answer.verdict {
            Verdict::Verified => 'v',
            Verdict::Violated => 'x',
            Verdict::Unknown => '?',
            other => panic!("{}: {other:?} {:?}", progress.name(), answer.reason),
        }
    };
    Progress::ALL.map(letter).into_iter().collect()
}

/// Methods over one register and one lock.
fn methods(read: &str, write: &str, commit: &str) -> String {
    format!(
        "shared r: AtomicRegister[locs] = 0, l: TryLock[locs], q: Lock; txlocal held: Set, seen: Map; \
         method read(i) {{ {read} v := r[i].read(); return v; }} \
         method write(i, v) {{ {write} r[i].write(v); return ok; }} \
         method commit() {{ {commit} return committed; }} "
    )
}

#[test]
fn small_algorithms_are_judged_as_defined() {
    let lock = "if (i not in held) { got := l[i].tryLock(); if (!got) { return aborted; } held.add(i); }";
    let release = "foreach (i in held) { l[i].unlock(); }";
    let changed = "foreach (i -> v in seen) { now := r[i].read(); if (now != v) { return aborted; } }";
    let note = "old := r[i].read(); seen.put(i, old);";
    let cases = [
        ("", "", "", "vvv"),
        // Who does not get the lock aborts.
        ("", lock, release, "xvx"),
        (lock, lock, release, "xvx"),
        // The lock is never given back, so nobody else ever gets it, and its owner neither the second time.
        ("", lock, "", "xxx"),
        // Who waits for a lock that is given back gets it at last, but not from somebody who stopped.
        ("", "", "q.lock(); q.unlock();", "xvv"),
        ("q.lock(); q.unlock();", "", "", "xvv"),
        ("", "", "q.lock();", "xxx"),
        // Whoever has seen a value that is changed aborts: nobody stands in the way of who runs alone.
        (note, "", changed, "vvx"),
        // Everybody who reads aborts.
        ("if (true) { return aborted; }", "", "", "xxx"),
    ];
    for (read, write, commit, expected) in cases {
        let program = endless(&methods(read, write, commit), "ops 1, values {0, 1}");
        assert_eq!(judged(&program, true), expected, "{read} / {write} / {commit}");
    }
}

/// Versions that only grow: no state comes again, but what happens does.
#[test]
fn versions_grow_for_ever() {
    let versions = "shared r: AtomicRegister[locs] = 0, ver: AtomicCASRegister[locs] = 0; txlocal seen: Map; \
        method read(i) { ver1 := ver[i].read(); seen.put(i, ver1); v := r[i].read(); return v; } \
        method write(i, v) { old := ver[i].read(); seen.put(i, old); r[i].write(v); return ok; } \
        method commit() { foreach (i -> ver0 in seen) { won := ver[i].cas(ver0, ver0 + 1); \
            if (!won) { return aborted; } } return committed; }";
    assert_eq!(judged(&endless(versions, "ops 1"), false), "vvx");
    // A version that is never advanced keeps nobody from committing.
    assert_eq!(judged(&endless(&versions.replace("ver0 + 1", "ver0"), "ops 1"), false), "vvv");
    // Odd versions close the memory; who stops there stops everybody.
    let odd = versions
        .replace("won := ver", "if (ver0 % 2 == 1) { return aborted; } won := ver")
        .replace("{ return aborted; } }", "{ return aborted; } ver[i].write(ver0 + 2); }");
    assert_eq!(judged(&endless(&odd, "ops 1"), false), "xvx");
}

/// A memory like DSTM with one register: each write makes a record, and takes the location away from whoever has it.
const RECORDS: &str = "const running = 0; record Rec { writer, value: BasicRegister } \
    shared state: AtomicCASRegister[txns + 1] = {committed, running ..}, start: AtomicCASRegister[locs] = new Rec(0, 0); \
    method read(i) { st := start[i].read(); v := st.value.read(); return v; } \
    method write(i, v) { st := start[i].read(); owner := st.writer.read(); \
        if (owner != tx) { state[owner].cas(running, aborted); } \
        mine := new Rec(tx, v); b := start[i].cas(st, mine); if (!b) { return aborted; } return ok; } \
    method commit() { b := state[tx].cas(running, committed); if (b) { return committed; } return aborted; }";

/// Names of transactions and records are used again, and so there are cycles.
#[test]
fn names_are_used_again() {
    assert_eq!(judged(&endless(RECORDS, "ops 1"), false), "vvx");
    // Without taking over, a writer that stopped stands in everybody's way.
    let polite = RECORDS.replace(
        "state[owner].cas(running, aborted);",
        "s := state[owner].read(); if (s == running) { return aborted; }",
    );
    assert_eq!(judged(&endless(&polite, "ops 1"), false), "xvx");
}

/// A name that somebody holds must not be taken.
#[test]
fn a_name_that_is_held_is_refuted() {
    let program = endless(RECORDS, "ops 1");
    let (property, model) = (Property::Progress(Progress::Local), inorder());
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    let answer = Explore::default().ask(query, &limits(SECONDS, 1), &());
    let (Some(violation), Some(execution)) = (answer.violation, answer.execution) else { panic!("a lasso") };
    let confirms = |execution: &cyrano_engine::Execution| {
        cyrano_interp::confirm(&program, &model, &property, Some(&violation), execution).is_ok()
    };
    assert!(confirms(&execution));
    let mut refuted = 0;
    for (thread, choices) in execution.choices.iter().enumerate() {
        for (at, choice) in choices.iter().enumerate() {
            let mut changed = execution.clone();
            changed.choices[thread][at] = if *choice == 1 { 2 } else { 1 };
            refuted += usize::from(!confirms(&changed));
        }
    }
    assert!(refuted > 0, "another choice is always as good");
}

/// Under models that are not the program's own nothing is decided.
#[test]
fn with_deferred_accesses_nothing_is_decided() {
    let program = endless(&methods("", "", ""), "ops 1");
    let model = cyrano_memory::named("tso").expect("a model");
    let property = Property::Progress(Progress::Solo);
    let refused = Query::new(&program, &model, Question::Holds(&property)).expect_err("it makes no sense");
    assert!(refused.to_string().contains("tso"), "{refused}");
}

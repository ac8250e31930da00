//! Algorithms over base objects: the library's header verdicts, agreement of the engines in every mode, and mutants that the sweep
//! over all clients has to catch.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::values::Calls;
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;
use cyrano_rml::algorithm::{Test, tests};
use cyrano_symbolic::Symbolic;

fn library() -> Vec<(String, (PathBuf, String))> {
    let files = corpus::files("tm-objects", "rml");
    assert!(files.len() >= 8, "{files:?}");
    files
}

fn text(file: &str) -> String {
    let (_, (_, text)) = library().into_iter().find(|(name, _)| name == file).expect("the file");
    text
}

fn compile(name: &str, text: &str, set: &[(&str, i128)]) -> Vec<Test> {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    tests(name, text, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

/// Asks the engine that the command line would ask, and has a violation replayed.
fn judge(program: &Program, property: &Property, model: &Model, seconds: f64) -> Answer {
    // A machine knows no calls.
    let plain = if program.in_order { program.without_calls() } else { program.with_free_calls() };
    let about_calls = matches!(property, Property::Transactions(_) | Property::Progress(_));
    let (program, engine): (&Program, &dyn Engine) = match (about_calls, model.reordering().own_order) {
        (true, _) => (program, &Explore::default()),
        (false, true) => (&plain, &Symbolic::default()),
        (false, false) => {
            let query = Query::new(&plain, model, Question::Holds(property)).expect("a question");
            let fits = Explore::default().supports(&query).is_ok();
            (&plain, if fits { &Explore::default() } else { &Symbolic::default() })
        }
    };
    corpus::judge(engine, program, model, property, &limits(seconds, 4))
}

/// What serial executions of a client show.
fn serial(test: &Test) -> Property {
    let serial = model("serial");
    let query = Query::new(&test.program, &serial, Question::Outcomes).expect("a question");
    let mined = Explore::default().ask(query, &limits(60.0, 4), &());
    assert_eq!(mined.verdict, Verdict::Verified, "{}: {:?}", test.name, mined.reason);
    Property::Observations(mined.outcomes)
}

/// The property of a test that a header line is about.
fn property(test: &Test, criterion: &str) -> Property {
    if criterion == "observations" {
        return serial(test);
    }
    if let Some(criterion) = TxCriterion::from_name(criterion) {
        return Property::Transactions(criterion);
    }
    let checks = test.program.checks.iter().map(|check| &check.property);
    let mut found = checks.filter(|property| property.criterion() == criterion);
    found.next().unwrap_or_else(|| panic!("{} has no `{criterion}`", test.name)).clone()
}

#[test]
fn headers_tell_the_truth() {
    let judged = corpus::for_each(&library(), |name, (_, text)| {
        let compiled = compile(name, text, &[]);
        let promises = corpus::promises(text).map_err(|error| error.to_string())?;
        // `//@ TEST CRITERION MODE: VERDICT`
        corpus::kept(&promises, |promise| {
            let (criterion, mode) = promise.property.split_once(' ')?;
            let found = compiled.iter().find(|test| test.name == promise.model);
            let found = found.unwrap_or_else(|| panic!("{name}: no test `{}`", promise.model));
            let program = match cyrano_memory::all().iter().any(|known| known.name == mode) {
                true => found.in_words(text, &[]).unwrap_or_else(|| panic!("{name}: {} in words", found.name)),
                false => &found.program,
            };
            Some(judge(program, &property(found, criterion), &model(mode), 60.0).verdict)
        })
    });
    assert!(judged >= 30, "{judged} header lines");
}

fn outcomes(engine: &dyn Engine, program: &Program, model: &Model) -> Option<BTreeSet<Vec<i128>>> {
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    engine.supports(&query).unwrap_or_else(|refusal| panic!("{refusal}"));
    let answer = engine.ask(query, &limits(0.1, 4), &());
    (answer.verdict == Verdict::Verified).then_some(answer.outcomes)
}

/// The clients of a sample: one or two operations in each of two transactions.
fn sample() -> Vec<String> {
    let ops = ["a := read(0);", "b := read(1);", "write(0, 1);", "write(1, 2);", "c := read(0);"];
    let mut clients = Vec::new();
    for (n, first) in ops.iter().enumerate() {
        for (m, second) in ops.iter().enumerate().filter(|(m, _)| (n * 3 + m) % 4 == 0) {
            let other = ops[(n + 2 * m + 1) % ops.len()];
            let renamed = |text: &str, to: [&str; 3]| {
                let text = text.replace("a :=", &format!("{} :=", to[0]));
                text.replace("b :=", &format!("{} :=", to[1])).replace("c :=", &format!("{} :=", to[2]))
            };
            let (second, other) = (renamed(second, ["d", "e", "f"]), renamed(other, ["g", "h", "k"]));
            clients.push(format!(
                "client Sample {{ thread {{ tx {{ {first} r := commit(); }} }}\n\
                 thread {{ tx {{ {second} {other} s := commit(); }} }} }}\n\
                 check never (r == nothing && s == nothing);\n",
            ));
        }
    }
    clients
}

#[test]
fn engines_agree_on_a_sample_of_clients_in_every_mode() {
    let mut compared = 0;
    // Of the large ones the engines seldom finish a client, and take long to find out.
    let memories = library().into_iter().filter(|(_, (_, text))| text.contains("method commit()"));
    for (name, (_, text)) in memories.filter(|(name, _)| pinned::long() || name.contains("mcrt")) {
        let algorithm = &text[..text.find("\nclient ").expect("clients")];
        let small = name.contains("mcrt");
        for client in sample().iter().step_by(if small { 3 } else { 7 }) {
            let source = format!("{algorithm}\n{client}");
            let compiled = compile(&name, &source, &[]);
            let program = compiled[0].program.without_calls();
            for mode in ["inorder", "declared", "literal"] {
                let model = model(mode);
                let Some(solved) = outcomes(&Symbolic::default(), &program, &model) else { continue };
                let Some(explored) = outcomes(&Explore::default(), &program, &model) else { continue };
                assert_eq!(explored, solved, "{name} under {mode}: {client}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "{compared} compared");
}

/// The files about `if`, initial and negative values, threads' own variables, what was executed, and methods of their own.
const LANGUAGE: [&str; 5] = ["bank.rml", "counter.rml", "spsc_queue.rml", "try_lock.rml", "consensus.rml"];

/// The reference, the explorer and the symbolic engine give each check of the small clients the same verdict, and their results the same set.
#[test]
fn three_engines_agree_on_the_rest_of_the_language() {
    let (mut sets, mut verdicts) = (0, 0);
    for file in LANGUAGE {
        let compiled = compile(file, &text(file), &[]);
        for test in compiled.iter().filter(|test| test.clients.is_none() && test.name != "One") {
            let program = test.program.without_calls();
            for mode in ["inorder", "declared", "literal"] {
                let of = format!("{file}, {} under {mode}", test.name);
                sets += agree(&of, |engine, limits| {
                    let model = model(mode);
                    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
                    let answer = engine.ask(query, limits, &());
                    (answer.verdict == Verdict::Verified).then_some(answer.outcomes)
                });
                for property in test.program.checks.iter().map(|check| &check.property) {
                    if let Property::Transactions(_) | Property::Observations(_) = property {
                        continue;
                    }
                    verdicts += agree(&of, |engine, limits| {
                        let verdict = corpus::judge(engine, &program, &model(mode), property, limits).verdict;
                        Some(verdict).filter(|verdict| *verdict != Verdict::Unknown)
                    });
                }
            }
        }
    }
    assert!(sets >= 12 && verdicts >= 18, "{sets} sets, {verdicts} verdicts");
}

/// Compares what the engines say; whether all three did. The reference takes long for many accesses out of order.
fn agree<T: PartialEq + std::fmt::Debug>(of: &str, ask: impl Fn(&dyn Engine, &Limits) -> Option<T>) -> usize {
    let engines: [(&dyn Engine, f64); 3] =
        [(&Explore::default(), 20.0), (&Symbolic::default(), 20.0), (&Interp, if pinned::long() { 20.0 } else { 0.1 })];
    let found: Vec<T> = engines.iter().filter_map(|(engine, work)| ask(*engine, &limits(*work, 4))).collect();
    assert!(found.iter().all(|one| *one == found[0]), "{of}: {found:?}");
    usize::from(found.len() == 3)
}

fn outcomes_of(engine: &dyn Engine, program: &Program, model: &Model) -> Option<BTreeSet<Vec<i128>>> {
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 2), &());
    (answer.verdict == Verdict::Verified).then_some(answer.outcomes)
}

/// Asking what was executed when changes nothing: the results of a client are the same with and without such checks, in every mode.
#[test]
fn looking_at_the_order_of_execution_changes_nothing() {
    let cases = [
        ("core_mcrt.rml", "P_WE", ["R03 < R04", "W08 < R09", "R09 < R03", "exec(C06)", "C04 < C03"]),
        ("core_mcrt_fixed.rml", "P_WE2", ["F03 < R09", "W08 < F04", "R09 < W03", "exec(R06)", "A03 < R09"]),
        ("try_lock.rml", "Hasty", ["H02 < H01", "H01 < N02", "N02 < N01", "exec(H05)", "H04 < H01"]),
    ];
    for (file, client, atoms) in cases {
        let plain = text(file);
        let cond = atoms.join(" && ");
        let watched = format!("{plain}\ncheck never ({cond}) for {client};\n");
        let [one, other] = [&plain, &watched].map(|text| {
            let compiled = compile(file, text, &[]);
            let found = compiled.into_iter().find(|test| test.name == client);
            found.expect("the client").program.without_calls()
        });
        assert!(one.locations.len() + 4 <= other.locations.len(), "{file} is not watched");
        for mode in ["inorder", "declared", "literal"] {
            let ask = |program: &Program| outcomes_of(&Symbolic::default(), program, &model(mode)).expect("outcomes");
            let expected = ask(&one);
            assert_eq!(ask(&other), expected, "{file}, {client} under {mode}");
            if mode == "inorder" || file == "try_lock.rml" {
                let explored = outcomes_of(&Explore::default(), &other, &model(mode));
                assert_eq!(explored.as_ref(), Some(&expected), "{file}, {client} under {mode}");
            }
        }
    }
}

/// The symbolic engine judges histories one by one: the same verdicts as the explorer's, of algorithms and of mutants, with each history on its own and with those that others cover
/// left out; and what it finds is replayed.
#[test]
fn both_engines_judge_histories() {
    let (one, all) = (Symbolic::default(), Symbolic { covered_histories: false, ..Symbolic::default() });
    let broken = text("core_mcrt_repaired.rml").replace("seen != cver", "0 == 1");
    let algorithms = [
        ("core_mcrt.rml", text("core_mcrt.rml")),
        ("core_mcrt_repaired.rml", text("core_mcrt_repaired.rml")),
        ("broken", broken),
        ("tl2.rml", text("tl2.rml")),
    ];
    let (mut compared, mut violated, mut alone) = (0, 0, 0);
    for (name, text) in &algorithms {
        let compiled = compile(name, text, &[]);
        for test in compiled.iter().filter(|test| test.clients.is_none() && test.program.has_calls()) {
            let questions = ["inorder", "declared"].iter().flat_map(|mode| TxCriterion::ALL.map(|c| (mode, c)));
            let few =
                |(mode, criterion): &(&&str, TxCriterion)| **mode == "inorder" || *criterion == TxCriterion::Opacity;
            for (mode, criterion) in questions.filter(|question| pinned::long() || few(question)) {
                let (property, model) = (Property::Transactions(criterion), model(mode));
                let within = |work: f64, engine: &dyn Engine| {
                    corpus::judge(engine, &test.program, &model, &property, &limits(work, 4)).verdict
                };
                let told = format!("{name}, {}: {} under {mode}", test.name, criterion.name());
                let solved = within(2.0, &one);
                assert_eq!(within(2.0, &Explore::default()), solved, "{told}");
                (compared, violated) = (compared + 1, violated + usize::from(solved == Verdict::Violated));
                if *mode == "inorder" {
                    let apart = within(if pinned::long() { 20.0 } else { 0.2 }, &all);
                    assert!(apart == solved || apart == Verdict::Unknown, "{told}: {apart:?}");
                    alone += usize::from(apart == solved);
                }
            }
        }
    }
    println!("{compared} compared, {violated} of them violated, {alone} with each history on its own");
    assert!(compared >= 60 && violated >= 15 && alone >= 4, "{compared} compared, {violated} violated, {alone} alone");
}

/// Whether the sweep over all clients of two operations is fine.
fn sweep(name: &str, text: &str) -> Verdict {
    let compiled = compile(name, text, &[]);
    let all = compiled.iter().find(|test| test.clients.is_some()).expect("a check for all clients");
    judge(&all.program, &Property::Transactions(TxCriterion::Opacity), &model("inorder"), 120.0).verdict
}

#[test]
fn mutants_are_caught_by_the_sweep() {
    let mutants: [(&str, &[(&str, &str)]); 2] = [
        (
            "core_mcrt_repaired.rml",
            &[
                ("seen != cver", "0 == 1"),
                ("C09: ver[i].write(cver + 1)", "C09: ver[i].write(cver)"),
                ("N02: ver[i].write(cver + 1)", "N02: ver[i].write(cver)"),
                ("A03: r[i].write(v)", "A03: cver := 0"),
                ("W04: if (!locked)", "W04: if (0 == 1)"),
            ],
        ),
        (
            "core_dstm_fixed.rml",
            &[
                ("D04: state[owner].cas(running, aborted)", "D04: state[owner].cas(running, running)"),
                ("C03: if (!valid)", "C03: if (0 == 1)"),
                ("R11: if (!valid)", "R11: if (0 == 1)"),
            ],
        ),
    ];
    for (name, edits) in mutants {
        let text = text(name);
        assert_eq!(sweep(name, &text), Verdict::Verified, "{name}");
        for (from, to) in edits {
            let mutant = text.replace(from, to);
            assert_ne!(mutant, text, "{name}: `{from}`");
            assert_eq!(sweep(name, &mutant), Verdict::Violated, "{name}: `{from}` → `{to}`");
        }
    }
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { merged_histories: false, ..on.clone() },
        Explore { client_symmetry: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { dead_registers: false, ..on.clone() },
        Explore { client_programs: true, ..on.clone() },
    ];
    for (file, ops) in [("core_mcrt.rml", 2), ("core_mcrt_fixed.rml", 2), ("core_mcrt_repaired.rml", 1), ("tl2.rml", 1)]
    {
        let (name, text) = (file, text(file));
        let compiled = compile(name, &text, &[("ops", ops)]);
        let all = compiled.iter().find(|test| test.clients.is_some()).expect("a check for all clients");
        for criterion in TxCriterion::ALL {
            let property = Property::Transactions(criterion);
            let model = model("inorder");
            let query = Query::new(&all.program, &model, Question::Holds(&property)).expect("a question");
            let ask = |explore: &Explore| explore.ask(query, &limits(60.0, 4), &());
            let expected = ask(&on).verdict;
            for explore in &off {
                assert_eq!(ask(explore).verdict, expected, "{name}, {}: {explore:?}", criterion.name());
            }
            let told = |merged| ask(&Explore { client_programs: true, merged_histories: merged, ..on.clone() }).clients;
            assert_eq!(told(true), told(false), "{name}, {}", criterion.name());
        }
    }
}

/// Out of order: what steps are remembered by, what is left behind, and when choices are made.
#[test]
fn reductions_change_nothing_out_of_order() {
    let on = Explore { client_programs: true, ..Explore::default() };
    let off = [
        Explore { settled_prefixes: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { remembered_steps: false, ..on.clone() },
        Explore { in_order_first: false, ..on.clone() },
        Explore { stubborn_sets: false, ..on.clone() },
    ];
    let (mut wrong, mut fewer) = (0, (0, 0));
    for (file, mode) in [("core_mcrt.rml", "declared"), ("core_mcrt_fixed.rml", "literal"), ("tl2.rml", "literal")] {
        let compiled = compile(file, &text(file), &[("ops", 1)]);
        let all = compiled.iter().find(|test| test.clients.is_some()).expect("a check for all clients");
        let property = Property::Transactions(TxCriterion::Opacity);
        let model = model(mode);
        let query = Query::new(&all.program, &model, Question::Holds(&property)).expect("a question");
        let ask = |explore: &Explore| explore.ask(query, &limits(60.0, 4), &());
        let expected = ask(&on);
        wrong += expected.clients.len();
        for explore in &off {
            let answer = ask(explore);
            assert_eq!(answer.verdict, expected.verdict, "{file} on {mode}: {explore:?}");
            if explore.stubborn_sets {
                assert_eq!(answer.clients, expected.clients, "{file} on {mode}: {explore:?}");
            } else {
                // Which of two that differ by names is told, and whether the next call has been made, hangs on the order of calls.
                let told = |explore: &Explore| ask(&Explore { client_symmetry: false, ..explore.clone() }).clients;
                let (some, others) = (told(&on), told(explore));
                assert!(cover(&some, &others) && cover(&others, &some), "{file} on {mode}: {some:?}, {others:?}");
                fewer = (fewer.0 + expected.stats.states, fewer.1 + answer.stats.states);
            }
            if !explore.remembered_steps {
                assert_eq!(answer.stats.states, expected.stats.states, "{file} on {mode}");
            }
            let shortest = |explore: &Explore| {
                let answer = ask(&Explore { client_programs: false, ..explore.clone() });
                answer.execution.map(|_| answer.stats.depth)
            };
            assert_eq!(shortest(explore), shortest(&on), "{file} on {mode}: {explore:?}");
        }
    }
    assert!(wrong > 0, "no client goes wrong");
    assert!(fewer.0 < fewer.1, "stubborn sets have {} states, all steps {}", fewer.0, fewer.1);
}

/// Whether each of these clients does what one of the others does, and perhaps more.
fn cover(others: &BTreeSet<Calls>, clients: &BTreeSet<Calls>) -> bool {
    let begins_with = |client: &Calls, other: &Calls| {
        client.iter().zip(other).all(|(client, other)| client.concat().starts_with(&other.concat()))
    };
    clients.iter().all(|client| others.iter().any(|other| begins_with(client, other)))
}

/// Writes go to memory at once, and every commit succeeds.
const DIRECT: &str = "algorithm Direct(locs = 1) {
    shared r: AtomicRegister[locs] = 0;
    method read(i) { R01: v := r[i].read(); R02: return v; }
    method write(i, v) { W01: r[i].write(v); W02: return ok; }
    method commit() { C01: return committed; }
    method abort() { A01: return aborted; }
}
client Late {
    thread { tx { write(0, 1); a := commit(); } }
    thread { tx { b := read(0); c := commit(); } }
}
client Overwritten {
    thread { tx { write(0, 1); write(0, 2); a := commit(); } }
    thread { tx { b := read(0); c := commit(); } }
}
";

/// A value that is read before its writer asks to commit is wrong in a prefix, and right at the end if it commits; one that is overwritten by
/// its own writer is wrong at the end as well.
#[test]
fn final_state_opacity_looks_at_the_end() {
    let configs = [
        Explore::default(),
        Explore { merged_histories: false, client_symmetry: false, ample_sets: false, ..Explore::default() },
    ];
    for test in compile("direct.rml", DIRECT, &[]) {
        for (criterion, expected) in [
            (TxCriterion::Opacity, Verdict::Violated),
            (TxCriterion::FinalStateOpacity, if test.name == "Late" { Verdict::Verified } else { Verdict::Violated }),
        ] {
            let (property, model) = (Property::Transactions(criterion), model("inorder"));
            let query = Query::new(&test.program, &model, Question::Holds(&property)).expect("a question");
            for config in &configs {
                let answer = config.ask(query, &limits(10.0, 4), &());
                assert_eq!(answer.verdict, expected, "{} {criterion:?} {:?}", test.name, answer.reason);
                if let (Some(violation), Some(execution)) = (&answer.violation, &answer.execution) {
                    cyrano_interp::confirm(&test.program, &model, &property, Some(violation), execution)
                        .expect("it is replayed");
                }
            }
        }
    }
}

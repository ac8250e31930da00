//! Models about relations: the symbolic engine against the reference, on the library, on generated cycles and on random programs with tags, fences and
//! exclusive accesses.

use std::cell::{Cell, RefCell};

use cyrano_conformance::generate::program;
use cyrano_conformance::hangs::{Told, hangs_agree};
use cyrano_conformance::pinned;
use cyrano_conformance::related::count::Table;
use cyrano_conformance::related::features::FEATURES;
use cyrano_conformance::related::{Related, locking, related, spinning};
use cyrano_conformance::relations::{attire, engines_agree};
use cyrano_conformance::{compare, corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::Property;
use cyrano_litmus::generate::{Cycle, Relation, Target};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;
use proptest::prelude::*;
use proptest::test_runner::TestError;

#[test]
fn engines_agree_on_random_programs() {
    let cases = if pinned::long() { 20_000 } else { 200 };
    let models = cyrano_memory::relational();
    let compared = Cell::new(0);
    let random = (program(), attire(), 0..models.len());
    let result = pinned::runner(cases, file!()).run(&random, |(random, attire, model)| {
        let dressed = attire.put_on(random.program(), &models[model]);
        let agreed = engines_agree(&dressed, &models[model], &|| limits(0.2, 3));
        let new = agreed.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (random, attire, model))) => {
            let dressed = attire.put_on(random.program(), &models[model]);
            panic!("{reason}\n{}\n{}", random.shown(), cyrano_ir::text::print(&dressed))
        }
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{cases} programs, {} questions", compared.get());
    assert!(compared.get() >= cases as usize / 3, "only {} questions were answered by both", compared.get());
}

/// Programs in the words of each model's machine or language, almost all of which both engines take.
#[test]
fn engines_agree_on_programs_of_machines() {
    let cases = if pinned::long() { 22_000 } else { 300 };
    let table = RefCell::new(Table::new());
    let models = table.borrow().models().to_vec();
    let result = pinned::runner(cases, file!()).run(&related(9, models.len()), |random| {
        let program = random.program(&models[random.model]);
        let added = table.borrow_mut().add(&program, random.model, &|| limits(2.0, 3));
        added.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.text(&models[random.model])),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let table = table.into_inner();
    println!("{table}");
    for (model, row) in models.iter().zip(table.rows()) {
        assert!(10 * row.compared >= 9 * row.programs, "{}: only {} of {}", model.name, row.compared, row.programs);
    }
    for (at, feature) in FEATURES.iter().enumerate() {
        let with = table.rows().iter().map(|row| row.features[at]).sum::<usize>();
        assert!(with >= cases as usize / 100, "only {with} programs with {feature}");
    }
}

/// Compares under all models.
fn under_all(program: &cyrano_ir::Program) -> Result<usize, String> {
    let agree = |model| engines_agree(program, model, &|| limits(0.2, 2)).map_err(|error| error.to_string());
    cyrano_memory::relational().iter().map(agree).sum()
}

#[test]
fn engines_agree_on_the_library() {
    // Every fifth of them, unless there is time.
    let step = if pinned::long() { 1 } else { 5 };
    let entries: Vec<_> = corpus::in_folder("litmus").into_iter().step_by(step).collect();
    let compared = corpus::for_each(&entries, |name, entry| {
        let program = cyrano_rml::compile(&entry.source, name, &[]).map_err(|error| format!("{error:?}"))?;
        under_all(&program)
    });
    println!("{compared} questions");
    assert!(compared >= 200, "only {compared} questions were answered by both");
}

#[test]
fn engines_agree_on_litmus_tests() {
    let compared = corpus::for_each(&corpus::files("herd", "litmus"), |_, (_, source)| {
        let test = cyrano_litmus::compile(source).map_err(|errors| format!("{errors:?}"))?;
        under_all(&test.program)
    });
    println!("{compared} questions");
    assert!(compared >= 90, "only {compared} questions were answered by both");
}

#[test]
fn engines_agree_on_cycles() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::Rml));
    relations.extend(Relation::dependencies(Target::Rml));
    let cycles = Cycle::all(&relations, 4, 4);
    // Every seventh of them, unless there is time.
    let step = if pinned::long() { 1 } else { 7 };
    let cycles: Vec<(String, Cycle)> = cycles.into_iter().step_by(step).map(|cycle| (cycle.name(), cycle)).collect();
    let compared = corpus::for_each(&cycles, |name, cycle| {
        let program = cyrano_rml::compile(&cycle.rml()?, name, &[]).map_err(|error| format!("{error:?}"))?;
        under_all(&program)
    });
    println!("{} cycles, {compared} questions", cycles.len());
    assert!(compared >= cycles.len(), "only {compared} questions were answered by both");
}

/// The reference does not run setup threads, so the explorer is asked, under the same models as orders of all accesses.
#[test]
fn data_types_have_the_outcomes_of_twins() {
    let files: Vec<_> = corpus::files("datatypes", "c");
    let files: Vec<_> = files.into_iter().filter(|(name, _)| ["msn.c", "treiber.c"].contains(&&**name)).collect();
    let compared = corpus::for_each(&files, |_, (path, source)| {
        let mut compared = 0;
        for (name, program) in corpus::c_programs(path, source, 3) {
            for model in ["sc", "tso", "pso"] {
                let [one, other] = [model.to_owned(), format!("cat:{model}")].map(|name| compare::model(&name));
                let engines: [&dyn Engine; 2] = [&Explore::default(), &Symbolic::default()];
                let outcomes = engines.into_iter().zip([&one, &other]).map(|(engine, model)| {
                    let query = Query::new(&program, model, Question::Outcomes).ok()?;
                    let answer = engine.ask(query, &limits(5.0, 3), &());
                    (answer.verdict == Verdict::Verified).then_some(answer.outcomes)
                });
                let outcomes: Vec<_> = outcomes.collect();
                if let [Some(one), Some(other)] = &outcomes[..] {
                    compared += 1;
                    if one != other {
                        return Err(format!("{name}: {} outcomes under {model}, {} in cat", one.len(), other.len()));
                    }
                }
            }
        }
        Ok(compared)
    });
    println!("{compared} data types");
    assert!(compared >= 3, "only {compared} questions were answered by both");
}

/// A value does not depend on what a condition does not select: not at all where `r2` is 0, and on `r0` where it is 1.
#[test]
fn what_is_not_selected_does_not_matter() {
    for (init, allowed) in [(0, true), (1, false)] {
        let text = format!(
            "program lb\nlocation x = 0\nlocation y = 0\nthread p\nregister r0 = 0\nregister r1 = 0\nregister r2 = {init}\n\
             @0: r0 := load x\n@1: r1 := ((wrap_u1((r2 == 1)) * ((r0 - r0) + 1)) + wrap_u1(!(r2 == 1)))\n@2: store y, r1\n@3: halt\n\
             thread q\nregister r0 = 0\n@0: r0 := load y\n@1: store x, ((r0 - r0) + 1)\n@2: halt\n\
             observe a = p:r0\nobserve b = q:r0\n"
        );
        let program = cyrano_ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(under_all(&program), Ok(10));
        for name in ["riscv", "power", "armv8"] {
            let model = compare::model(name);
            let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
            let outcomes = Symbolic::default().ask(query, &limits(2.0, 3), &()).outcomes;
            assert_eq!(outcomes.contains(&vec![1, 1]), allowed, "{name}, {init}");
        }
    }
}

/// A race in a program with a loop that goes on for ever is told, and so is the flag.
#[test]
fn races_are_found_beside_endless_loops() {
    let text = "program spin\nlocation x = 0\nlocation y = 0\nthread p\n@0: store x, 1\n@1: store y, 1\n@2: halt\n\
                thread q\nregister r = 0\nregister s = 0\n@0: r := load y\n@1: branch (r == 0) then @0 else @2\n@2: s := load x\n\
                @3: assert (s == 1)\n@4: halt\ncheck assertions\ncheck races\ncheck never (q:s == 2) \"two\"\n";
    let program = cyrano_ir::text::parse(text).expect("a program");
    let model = compare::model("rc11");
    let ask = |property: &Property| {
        let query = Query::new(&program, &model, Question::Holds(property)).expect("a question");
        Symbolic { iterations: 2, ..Symbolic::default() }.ask(query, &limits(2.0, 2), &())
    };
    let races = ask(&Property::Races);
    assert_eq!(races.verdict, Verdict::Violated);
    let execution = races.execution.expect("an execution");
    cyrano_interp::confirm(&program, &model, &Property::Races, races.violation.as_ref(), &execution).expect("a race");
    let never =
        program.checks.iter().map(|check| &check.property).find(|property| matches!(property, Property::Final { .. }));
    let answer = ask(never.expect("a condition"));
    assert_eq!(answer.verdict, Verdict::Unknown);
    assert_eq!(answer.flags.into_iter().collect::<Vec<_>>(), ["data-race"]);
}

/// Loops that wait: without idle iterations the symbolic engine gives all outcomes, which are those of a few iterations.
#[test]
fn waiting_loops_lose_no_outcomes() {
    let cases = if pinned::long() { 5_000 } else { 150 };
    nothing_is_lost(cases, spinning(6, cyrano_memory::relational().len()));
}

/// The same for locks that are taken by exchanging until they were free.
#[test]
fn locks_lose_no_outcomes() {
    let cases = if pinned::long() { 20_000 } else { 200 };
    nothing_is_lost(cases, locking(4, cyrano_memory::relational().len()));
}

fn nothing_is_lost(cases: u32, programs: impl Strategy<Value = Related>) {
    let models: Vec<_> = cyrano_memory::relational();
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&programs, |random| {
        compared.set(compared.get() + u32::from(has_all(&random, &models[random.model])?));
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.text(&models[random.model])),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{cases} programs, {} with all outcomes", compared.get());
    assert!(compared.get() >= cases / 2, "only {} have all outcomes", compared.get());
}

/// Whether the symbolic engine has all outcomes of a program, which are those that the reference finds, as is whether an assertion fails.
fn has_all(random: &Related, model: &Model) -> Result<bool, TestCaseError> {
    let program = random.program(model);
    let ask = |engine: &dyn Engine, question| {
        let query = Query::new(&program, model, question).expect("a question");
        engine.supports(&query).is_ok().then(|| engine.ask(query, &limits(2.0, 2), &()))
    };
    let symbolic = Symbolic { iterations: 2, ..Symbolic::default() };
    let both = |question| Some((ask(&symbolic, question)?, ask(&cyrano_interp::Interp, question)?));
    let Some((all, few)) = both(Question::Outcomes) else { return Ok(false) };
    if [&all, &few].iter().any(|answer| answer.verdict == Verdict::Unknown) {
        return Ok(false);
    }
    prop_assert_eq!(&all.outcomes, &few.outcomes, "{}", model.name);
    if let Some((wrong, reference)) = both(Question::Holds(&Property::Assertions)) {
        let known = [&wrong, &reference].iter().all(|answer| answer.verdict != Verdict::Unknown);
        let fails = [&wrong, &reference].map(|answer| answer.verdict == Verdict::Violated);
        prop_assert!(!known || fails[0] == fails[1], "{}: assertions {:?}", model.name, fails);
    }
    Ok(all.verdict == Verdict::Verified)
}

/// Threads that spin: what the symbolic engine says about termination is what the reference says.
#[test]
fn engines_agree_about_termination() {
    let cases = if pinned::long() { 20_000 } else { 150 };
    let models: Vec<_> = cyrano_memory::relational();
    let told = Cell::new(Told::default());
    let result = pinned::runner(cases, file!()).run(&spinning(5, models.len()), |random| {
        let model = &models[random.model];
        let symbolic = Symbolic { iterations: 2, ..Symbolic::default() };
        let new = hangs_agree(&symbolic, &random.program(model), model, &|| limits(0.2, 2));
        let mut all = told.get();
        all.add(new.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?);
        told.set(all);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.text(&models[random.model])),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{cases} programs, {:?}", told.get());
    assert!(told.get().hangs >= 20 && told.get().nothing >= 20, "too little is compared: {:?}", told.get());
}

/// What an access is computed from goes wrong before it is performed, and what cannot be added to what is there after that has been read; both engines know,
/// and what they show is replayed.
#[test]
fn accesses_that_go_wrong() {
    let head = "program p\nlocation x = 0\nlocation y = 170141183460469231731687303715884105727\nthread t\nregister r = 0\nregister s = 0\n";
    let wrongs = [
        "@0: r := load x\n@1: s := cas x, (1 / r), 1\n@2: halt\n",
        "@0: r := load x\n@1: s := cas x, 1, (1 / r)\n@2: halt\n",
        "@0: r := load x\n@1: s := exchange x, (1 / r)\n@2: halt\n",
        "@0: r := load x\n@1: s := fetch_add x, (1 / r)\n@2: halt\n",
        "@0: s := fetch_add y, 1\n@1: store x, 1\n@2: halt\n",
        "@0: r := load x\n@1: store x, (1 / r)\n@2: halt\n",
    ];
    for (model, code) in cyrano_memory::relational().iter().flat_map(|model| wrongs.map(|code| (model, code))) {
        let program = cyrano_ir::text::parse(&format!("{head}{code}")).expect("a program");
        let query = Query::new(&program, model, Question::Holds(&Property::Assertions)).expect("a question");
        for engine in [&Symbolic::default() as &dyn Engine, &cyrano_interp::Interp] {
            let answer = engine.ask(query, &limits(2.0, 2), &());
            let about = format!("{} on {}: {:?}\n{code}", engine.name(), model.name, answer.reason);
            assert_eq!(answer.verdict, Verdict::Violated, "{about}");
            let execution = answer.execution.expect("an execution");
            let violation = answer.violation.as_ref();
            let confirmed = cyrano_interp::confirm(&program, model, &Property::Assertions, violation, &execution);
            assert!(confirmed.is_ok(), "{about}{:?}", confirmed.err());
        }
    }
}

/// Waiting for the end of critical sections from inside of one is what `lkmm` allows in no execution, and races in none are not looked for.
#[test]
fn nothing_is_said_where_the_model_allows_nothing() {
    let text = "program inside\nlocation x = 0\nthread p\n@0: store x, 1 {atomic}\n@1: fence rcu_read_lock\n@2: fence synchronize_rcu\n\
                @3: fence rcu_read_unlock\n@4: halt\nthread q\nregister r = 0\n@0: r := load x {atomic}\n@1: halt\n\
                observe r = q:r\ncheck races\n";
    let program = cyrano_ir::text::parse(text).expect("a program");
    let model = compare::model("lkmm");
    engines_agree(&program, &model, &|| limits(2.0, 2)).expect("the engines agree");
    let query = Query::new(&program, &model, Question::Holds(&Property::Races)).expect("a question");
    for engine in [&Symbolic::default() as &dyn Engine, &cyrano_interp::Interp] {
        assert_eq!(engine.ask(query, &limits(2.0, 2), &()).verdict, Verdict::Vacuous, "{}", engine.name());
    }
}

/// An increment by a pair of exclusive accesses is tried until it succeeds: rounds that fail need no bound.
#[test]
fn failed_pairs_are_idle() {
    let text = "program increments\nlocation x = 0\nthread p\nregister r = 0\nregister ok = 0\n@0: r := load x {exclusive}\n\
                @1: ok := store x, (r + 1) {exclusive}\n@2: branch (ok == 1) then @0 else @3\n@3: halt\n\
                thread q\nregister r = 0\n@0: store x, 5\n@1: r := load x\n@2: halt\nobserve x = x\nobserve r = q:r\n";
    let program = cyrano_ir::text::parse(text).expect("a program");
    for name in ["armv8", "riscv", "power"] {
        let model = compare::model(name);
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let ask = |engine: &dyn Engine| engine.ask(query, &limits(2.0, 3), &());
        let (all, few) = (ask(&Symbolic::default()), ask(&cyrano_interp::Interp));
        assert_eq!(all.verdict, Verdict::Verified, "{name}: {:?}", all.reason);
        assert_eq!(all.outcomes, few.outcomes, "{name}");
        assert_eq!(all.outcomes.len(), 3, "{name}");
    }
}

/// A round that changes nothing, but leaves a load-exclusive behind for the store after the loop, is not idle.
#[test]
fn a_pair_with_one_half_behind_the_loop_is_kept() {
    let text = "program late\nlocation x = 0\nlocation y = 0\nthread p\nregister r = 0\nregister s = 0\nregister ok = 0\n\
                @0: r := load y\n@1: branch (r == 1) then @4 else @2\n@2: s := load x {exclusive}\n@3: jump @0\n\
                @4: ok := store x, 9 {exclusive}\n@5: halt\nthread q\n@0: store y, 1\n@1: halt\nobserve x = x\nobserve ok = p:ok\n";
    let program = cyrano_ir::text::parse(text).expect("a program");
    for name in ["armv8", "riscv", "power"] {
        let model = compare::model(name);
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let ask = |engine: &dyn Engine| engine.ask(query, &limits(2.0, 3), &()).outcomes;
        let all = ask(&Symbolic::default());
        assert!(all.contains(&vec![9, 0]), "{name}: {all:?}");
        assert_eq!(all, ask(&cyrano_interp::Interp), "{name}");
    }
}

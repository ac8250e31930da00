//! Every generated cycle: the engines agree on its outcomes, and its verdict is the one that the theory of critical cycles gives.
//!
//! Each communication of a cycle is an edge of the memory order, so a cycle whose steps within threads are all kept is forbidden; if
//! some step is not kept, the memory order that starts behind it is a witness, so the cycle is allowed (Shasha and Snir; Alglave and
//! others). That decides every critical cycle: at most two accesses per thread, to different locations.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cyrano_conformance::limits;
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{AccessKind, Program};
use cyrano_litmus::generate::{Cycle, Dir, Link, Relation, Target};
use cyrano_memory::{Control, Model};
use cyrano_symbolic::Symbolic;

/// Models under which the theory decides: they keep dependencies or every load, so no value comes out of thin air.
const DECIDED: [&str; 5] = ["sc", "tso", "pso", "rmo", "sparc-rmo"];

/// Does something with every cycle, on two threads; reports all failures.
fn for_each(cycles: &[Cycle], test: impl Fn(&Cycle) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(cycle) = cycles.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = test(cycle) {
                        failures.lock().expect("no test panics").push(format!("{cycle}: {error}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no test panics");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// The outcomes of a program, or nothing if the engine cannot run it.
fn outcomes(engine: &dyn Engine, program: &Program, model: &Model) -> Result<Option<BTreeSet<Vec<i128>>>, String> {
    if !engine.runs(program, model) {
        return Ok(None);
    }
    let answer = engine.ask(Query::new(program, model, Question::Outcomes).expect("a question"), &limits(60.0, 3), &());
    match answer.verdict {
        Verdict::Verified => Ok(Some(answer.outcomes)),
        other => Err(format!("{} on {}: {} ({:?})", engine.name(), model.name, other.name(), answer.reason)),
    }
}

/// The outcomes on which all engines agree.
fn agreed(program: &Program, model: &Model) -> Result<BTreeSet<Vec<i128>>, String> {
    let reference = outcomes(&Interp, program, model)?.ok_or("the reference refuses a program")?;
    let (explore, symbolic) = (Explore::default(), Symbolic::default());
    for engine in [&explore as &dyn Engine, &symbolic] {
        if let Some(found) = outcomes(engine, program, model)?
            && found != reference
        {
            return Err(format!("{} on {}: {found:?}, the reference has {reference:?}", engine.name(), model.name));
        }
    }
    Ok(reference)
}

/// Whether the program's condition holds in some outcome.
fn shows(program: &Program, outcomes: &BTreeSet<Vec<i128>>) -> Result<bool, String> {
    let cyrano_ir::Property::Final { cond, .. } = &program.checks[0].property else {
        return Err("no condition".into());
    };
    for outcome in outcomes {
        let value = |var: &cyrano_ir::FinalVar| {
            let at = program.observed.iter().position(|observed| observed.var == *var);
            at.map(|at| outcome[at]).ok_or(cyrano_ir::EvalError::Undefined)
        };
        if cond.eval(&mut |var| value(var)).map_err(|error| error.to_string())? != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_critical(cycle: &Cycle) -> bool {
    let threads = cycle.shape().expect("a cycle makes a test").threads;
    let small = threads.iter().all(|thread| match thread.as_slice() {
        [_] => true,
        [first, second] => first.location != second.location,
        _ => false,
    });
    small && threads.len() >= 2
}

/// Whether the model keeps a step within a thread.
fn kept(model: &Model, relation: Relation) -> bool {
    let Relation::Po { link, same, from, to } = relation else { return true };
    let kind = |dir| if dir == Dir::R { AccessKind::Load } else { AccessKind::Store };
    let by_link = match link {
        Link::Addr => model.reordering().dependencies.address,
        Link::Data => model.reordering().dependencies.data,
        Link::Ctrl => match model.reordering().dependencies.control {
            Control::None => false,
            Control::Stores => to == Dir::W,
            Control::All => true,
        },
        _ => link.fence().is_some_and(|fence| fence.orders(kind(from), kind(to))),
    };
    by_link || model.reordering().keeps(kind(from), kind(to), same)
}

/// Runs a program of a cycle under every model.
fn check(cycle: &Cycle, program: &Program) -> Result<(), String> {
    for model in cyrano_memory::all().into_iter().filter(|model| !model.reordering().serial) {
        let outcomes = agreed(program, &model)?;
        if is_critical(cycle) && DECIDED.contains(&model.name.as_str()) {
            let allowed = cycle.relations().into_iter().any(|relation| !kept(&model, relation));
            if shows(program, &outcomes)? != allowed {
                return Err(format!("{} should {} it", model.name, if allowed { "allow" } else { "forbid" }));
            }
        }
    }
    Ok(())
}

fn native(cycle: &Cycle) -> Result<Program, String> {
    let text = cycle.rml()?;
    cyrano_rml::compile(&text, &cycle.name(), &[]).map_err(|error| format!("{error:?}\n{text}"))
}

fn assembly(cycle: &Cycle) -> Result<Program, String> {
    let text = cycle.x86()?;
    cyrano_litmus::compile(&text).map(|test| test.program).map_err(|errors| format!("{errors:?}\n{text}"))
}

#[test]
fn cycles_of_four_relations_in_the_native_language() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::Rml));
    relations.extend(Relation::dependencies(Target::Rml));
    let cycles = Cycle::all(&relations, 4, 4);
    assert!(cycles.len() > 600, "only {} cycles", cycles.len());
    assert!(cycles.iter().filter(|cycle| is_critical(cycle)).count() > 200);
    for_each(&cycles, |cycle| check(cycle, &native(cycle)?));
}

#[test]
fn cycles_of_four_relations_in_x86() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::X86));
    let cycles = Cycle::all(&relations, 4, 4);
    assert!(cycles.len() > 200, "only {} cycles", cycles.len());
    for_each(&cycles, |cycle| check(cycle, &assembly(cycle)?));
}

/// Four threads need more relations: IRIW has six.
#[test]
fn cycles_of_two_to_four_threads() {
    let mut cycles = Cycle::all(&Relation::basic(), 6, 4);
    cycles.retain(is_critical);
    let threads = |wanted: usize| {
        let count = |cycle: &&Cycle| cycle.shape().expect("a test").threads.len() == wanted;
        cycles.iter().filter(count).count()
    };
    assert!(threads(2) >= 6 && threads(3) >= 12 && threads(4) >= 3, "{} {} {}", threads(2), threads(3), threads(4));
    for_each(&cycles, |cycle| {
        check(cycle, &native(cycle)?)?;
        check(cycle, &assembly(cycle)?)
    });
}

/// Tests are files, so no two of them may have one name.
#[test]
fn names_are_distinct() {
    let mut relations = Relation::basic();
    relations.extend(Relation::fences(Target::Rml));
    relations.extend(Relation::dependencies(Target::Rml));
    let cycles = Cycle::all(&relations, 4, 4);
    let names: BTreeSet<String> = cycles.iter().map(Cycle::name).collect();
    assert_eq!(names.len(), cycles.len());
}

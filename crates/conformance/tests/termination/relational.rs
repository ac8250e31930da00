//! Termination under models about relations, in its bounded form: the reference under `cat:sc`, `cat:tso` and `cat:pso` beside the explorer under their twins.

use cyrano_conformance::pinned::long;
use cyrano_conformance::termination::compare::{MODELS, ask};
use cyrano_conformance::termination::random;
use cyrano_conformance::{compare::model, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Liveness, Program, Property};

use super::{compile, nasty};

/// What was compared.
#[derive(Default, Debug)]
struct Told {
    /// Both say that a program hangs.
    hangs: usize,
    /// The explorer alone says so; the reference is bounded.
    beyond: usize,
    /// The reference finds nothing, and neither does the explorer.
    nothing: usize,
    /// Both say that it ends.
    ends: usize,
}

/// Compares the two on a program; `Err` says how they differ.
fn compare(program: &Program, name: &str, told: &mut Told) -> Result<(), String> {
    let (twin, cat) = (model(name), model(&format!("cat:{name}")));
    let property = Property::Live(Liveness::Termination);
    let Ok(query) = Query::new(program, &cat, Question::Holds(&property)) else { return Ok(()) };
    if Interp.supports(&query).is_err() {
        return Ok(());
    }
    let reference = ask(program, &cat, &Interp, &limits(0.02, 2))?;
    let explored = ask(program, &twin, &Explore::default(), &limits(0.5, 1))?;
    match (reference.verdict, explored.verdict) {
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => {}
        (Verdict::Violated, Verdict::Violated) => told.hangs += 1,
        (Verdict::Violated, other) if other != Verdict::Bounded => {
            return Err(format!("cat:{name}: {:?}, but {}", reference.violation, other.name()));
        }
        (Verdict::Verified | Verdict::Vacuous, Verdict::Violated) => {
            return Err(format!("cat:{name}: {}, but {:?}", reference.verdict.name(), explored.violation));
        }
        (Verdict::Verified | Verdict::Vacuous, _) => told.ends += 1,
        (_, Verdict::Violated) => told.beyond += 1,
        _ => told.nothing += 1,
    }
    Ok(())
}

#[test]
fn twins_agree_about_termination() {
    let mut told = Told::default();
    let many = if long() { 20_000 } else { 150 };
    for seed in 0..many {
        let tree = random::tree(1 << 40 | seed);
        for name in &MODELS[..3] {
            compare(&tree.program(), name, &mut told).unwrap_or_else(|why| panic!("{why}\n{}", tree.text()));
        }
    }
    for (name, source, _) in nasty::NASTY {
        let program = compile(name, &format!("threads {{ {source} }}"));
        for on in &MODELS[..3] {
            compare(&program, on, &mut told).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
    println!("{told:?}");
    assert!(told.hangs >= 20 && told.nothing >= 10 && told.ends >= 1, "too little is compared: {told:?}");
}

/// Who waits for a message gets it; who waits for one that nobody sends does not, under every model about relations.
#[test]
fn messages_under_models_about_relations() {
    let sent = "threads { shared ready; local r; thread p { ready := 1; } thread q { while r = 0 { r := ready; } } }";
    let lost =
        "threads { shared ready, other; local r; thread p { other := 1; } thread q { while r = 0 { r := ready; } } }";
    let taken = "threads { shared lock; local r; thread p[2] { r := exchange(lock, 1); while r != 0 { r := exchange(lock, 1); } } }";
    for name in ["cat:sc", "cat:tso", "rc11", "armv8", "power", "riscv"] {
        // Of a program that races nothing is claimed where a model says so.
        let nothing = if name == "rc11" { Verdict::Unknown } else { Verdict::Bounded };
        for (source, verdict) in [(sent, nothing), (lost, Verdict::Violated), (taken, Verdict::Violated)] {
            let program = compile("message", source);
            let answer = ask(&program, &model(name), &Interp, &limits(5.0, 2)).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(answer.verdict, verdict, "{name}: {source}");
        }
    }
}

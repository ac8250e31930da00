//! Termination: header verdicts of the locks, programs worked out by hand, and the explorer against brute force on random programs.

mod nasty;
mod outcomes;
mod relational;
mod stopped;

use cyrano_conformance::corpus::{self, Promise};
use cyrano_conformance::pinned::long;
use cyrano_conformance::termination::compare::{self, Compared, Effort, MODELS, ask, judgement};
use cyrano_conformance::termination::{Found, Size, random};
use cyrano_conformance::{compare::model, limits};
use cyrano_engine::{Engine, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Liveness, Program, Property};

fn compile(name: &str, source: &str) -> Program {
    cyrano_rml::compile(source, name, &[]).unwrap_or_else(|error| panic!("{name}: {error:?}\n{source}"))
}

/// The explorer, and the explorer without what it leaves out or takes together.
fn explorers() -> Vec<Explore> {
    let on = Explore::default();
    vec![
        on.clone(),
        Explore { macro_steps: false, ..on.clone() },
        Explore { dead_registers: false, ..on.clone() },
        Explore { thread_symmetry: false, ample_sets: false, lazy_choices: false, remembered_steps: false, ..on },
    ]
}

/// The headers are right about both criteria, by the explorer; about termination also by definition, where the graph is not too large.
#[test]
fn headers_of_locks_tell_the_truth() {
    let locks = corpus::in_folder("locks");
    assert!(locks.len() >= 26, "only {} locks", locks.len());
    let judged = corpus::for_each(&locks, |name, entry| {
        let program = compile(name, &entry.source);
        let property = |promise: &Promise| match promise.property.as_str() {
            "termination" => Property::Live(Liveness::Termination),
            _ => Property::Assertions,
        };
        let explore = Explore::default();
        let answer = |promise: &Promise| {
            corpus::judge(&explore, &program, &model(&promise.model), &property(promise), &limits(60.0, 1)).verdict
        };
        let decided = corpus::kept(&entry.progress, |promise| Some(answer(promise)))?;
        if !entry.expectations.is_empty() || ![4, 8].contains(&decided) {
            return Err(format!("{decided} promises"));
        }
        let promises = entry.progress.iter().filter(|promise| promise.property == "termination");
        let size = Size { capacity: 7, states: if long() { 400_000 } else { 9_000 } };
        let mut judged = 0;
        for Promise { model: name, verdict, .. } in promises {
            let found = judgement(&program, &model(name), size).map(|judgement| judgement.found);
            match found {
                None | Some(Found::TooLarge) => {}
                Some(Found::Holds { all: true }) if verdict == "verified" => judged += 1,
                Some(Found::Stuck(_) | Found::Starves(_)) if verdict == "violated" => judged += 1,
                found => return Err(format!("{name}: the header says {verdict}, by definition {found:?}")),
            }
        }
        Ok(judged)
    });
    assert!(judged >= 75, "only {judged} promises were looked at by definition");
}

/// Both are right about programs whose verdicts are known.
#[test]
fn verdicts_by_hand() {
    for (name, source, verdicts) in nasty::NASTY {
        let program = compile(name, &format!("threads {{ {source} }}"));
        assert_eq!(verdicts.len(), MODELS.len(), "{name}");
        for (model, terminates) in MODELS.map(model).iter().zip(verdicts.chars().map(|letter| letter == 'v')) {
            let judgement = judgement(&program, model, Size { capacity: 3, states: 100_000 });
            if let Some(judgement) = judgement.filter(|judgement| judgement.found != Found::TooLarge) {
                let holds = matches!(judgement.found, Found::Holds { .. });
                assert_eq!(holds, terminates, "{name}, {}: {:?}", model.name, judgement.found);
            }
            for explore in &explorers() {
                let answer =
                    ask(&program, model, explore, &limits(5.0, 1)).unwrap_or_else(|why| panic!("{name}: {why}"));
                let violated = answer.verdict == Verdict::Violated;
                let settled = answer.verdict != Verdict::Unknown;
                assert!(settled && violated != terminates, "{name}, {}: {:?}", model.name, answer.verdict);
            }
        }
    }
}

/// The explorer says what the definition says, with and without its reductions; whatever it shows is replayed.
#[test]
fn the_explorer_agrees_with_the_definition() {
    let seeds = if long() { 6_000 } else { 240 };
    let effort = if long() { Effort { states: 20_000, work: 2.0 } } else { Effort { states: 3_000, work: 0.3 } };
    let all = explorers();
    let explorers: Vec<&dyn Engine> = all.iter().map(|explore| explore as &dyn Engine).collect();
    let mut all = Compared::default();
    for seed in 0..seeds {
        let tree = random::tree(seed);
        let which = if seed % 4 == 0 || long() { &explorers[..] } else { &explorers[..1] };
        match compare::compare_tree(&tree, which, effort) {
            Ok(compared) => all.add(compared),
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    println!("{seeds} programs: {all:?}");
    let compared = all.verified + all.violated;
    assert!(compared > 5 * seeds as usize, "only {compared} answers were compared");
    assert!(all.verified * 5 > compared, "only {} of {compared} terminate", all.verified);
    assert!(all.violated * 5 > compared, "only {} of {compared} do not terminate", all.violated);
}

//! Threads that may be stopped: the explorer against the definitions of `lock-free`, `obstruction-free` and `wait-free` on random programs, and no model hides what a
//! stronger one shows.

use cyrano_conformance::compare::model;
use cyrano_conformance::pinned::long;
use cyrano_conformance::termination::compare::{Compared, Effort, MODELS, ask_about, compare_stopped_tree};
use cyrano_conformance::termination::stopping::Asked;
use cyrano_conformance::termination::{contended, random};
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Liveness, Property};

const ASKED: [Liveness; 3] = [Liveness::LockFree, Liveness::ObstructionFree, Liveness::WaitFree];

/// The explorer says what the definitions say, with and without its reductions; whatever it shows is replayed; what is violated under a model is violated under weaker ones.
#[test]
fn the_explorer_agrees_with_the_definitions_for_operations() {
    let seeds = if long() { 1_200 } else { 64 };
    let effort = if long() { Effort { states: 6_000, work: 1.0 } } else { Effort { states: 700, work: 0.3 } };
    let all = super::explorers();
    let explorers: Vec<&dyn Engine> = all.iter().map(|explore| explore as &dyn Engine).collect();
    let (mut total, mut programs) = ([Compared::default(); 3], 0);
    for seed in 0..seeds {
        let waits = (seed % 4 == 0 || long()).then(|| random::tree(seed));
        for tree in waits.into_iter().chain([contended::tree(seed)]) {
            programs += 1;
            for (number, liveness) in ASKED.into_iter().enumerate() {
                let which = if seed % 8 == 0 { &explorers[..] } else { &explorers[..1] };
                match compare_stopped_tree(&tree, Asked::Operations(liveness), which, effort) {
                    Ok(compared) => total[number].add(compared),
                    Err(why) => panic!("seed {seed}: {why}"),
                }
            }
        }
        if long() && seed % 50 == 49 {
            println!("{programs} programs so far: {total:?}");
        }
    }
    println!("{programs} programs: {total:?}");
    for compared in total {
        let decided = compared.verified + compared.violated;
        assert!(decided > 2 * seeds as usize, "only {decided} answers were compared");
        assert!(compared.verified * 8 > decided && compared.violated * 8 > decided, "{compared:?}");
    }
    let violated = total.map(|compared| compared.violated);
    assert!(violated[1] < violated[0] && violated[0] < violated[2], "the criteria are not told apart: {violated:?}");
}

/// What a lock shows under a model it shows under weaker ones, and what holds for some model holds for stronger ones.
#[test]
fn weaker_models_show_more_of_the_library() {
    let locks = corpus::in_folder("locks");
    let small = locks.iter().filter(|(_, entry)| entry.source.lines().count() < 45);
    let mut violated = 0;
    for (name, entry) in small {
        let program = super::compile(name, &entry.source);
        for liveness in [Liveness::LockFree, Liveness::ObstructionFree] {
            let mut stronger = false;
            for model in ["sc", "tso", "pso"].map(model) {
                let property = Property::Live(liveness);
                let answer = ask_about(&property, &program, &model, &Explore::default(), &limits(0.5, 1));
                let verdict = answer.unwrap_or_else(|why| panic!("{name}: {why}")).verdict;
                let good = matches!(verdict, Verdict::Verified | Verdict::Vacuous);
                assert!(!(stronger && good), "{name}, {}: {} under {}", liveness.name(), verdict.name(), model.name);
                stronger |= verdict == Verdict::Violated;
            }
            violated += usize::from(stronger);
        }
    }
    assert!(violated >= 10, "only {violated} are violated");
    assert_eq!(MODELS[0], "sc", "from strong to weak");
}

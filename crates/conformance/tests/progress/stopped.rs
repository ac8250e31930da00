//! `solo-progress` where accesses are deferred: the explorer against the definition over single steps, on memories by hand and random ones.

use cyrano_conformance::pinned::long;
use cyrano_conformance::termination::compare::{Compared, Effort, compare_stopped};
use cyrano_conformance::termination::stopping::Asked;
use cyrano_engine::Engine;
use cyrano_explore::Explore;

use super::{compile, memory};

/// Compares a memory with one variable under all models, from strong to weak.
fn compare(source: &str, explorers: &[&dyn Engine], effort: Effort) -> Result<Compared, String> {
    let (program, mut grows, mut all) = (compile("s", source, 1), false, Compared::default());
    for name in ["sc", "tso", "pso"] {
        let model = cyrano_memory::named(name).expect("a model");
        all.add(compare_stopped(&program, &model, Asked::Solo, explorers, (effort, &mut grows))?);
    }
    Ok(all)
}

fn explorers() -> Vec<Explore> {
    let on = Explore::default();
    let off = |macro_steps, dead_registers| Explore { macro_steps, dead_registers, ..Explore::default() };
    vec![on, off(false, true), off(true, false)]
}

/// A lock that is given back at once is in the way of others if its owner is stopped in between, under every model.
#[test]
fn a_lock_that_is_held_for_a_moment_is_held() {
    let touch = "l := 1; while l != 0 { l := cas(a, 0, 1); } a := 0;";
    let all = explorers();
    let explorers: Vec<&dyn Engine> = all.iter().map(|explore| explore as &dyn Engine).collect();
    let effort = Effort { states: 60_000, work: 5.0 };
    let compared = compare(&memory(touch, touch, ""), &explorers, effort).unwrap_or_else(|why| panic!("{why}"));
    assert!(compared.violated >= 3 && compared.verified == 0, "{compared:?}");
    let compared = compare(&memory("l := a;", "a := 1;", ""), &explorers, effort).unwrap_or_else(|why| panic!("{why}"));
    assert!(compared.violated == 0 && compared.verified > 0, "{compared:?}");
}

#[test]
fn random_memories_with_deferred_accesses_are_judged_as_defined() {
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
        "if l == self + 1 then a := 0;",
        "while l != 0 { l := a; }",
        "while l != 0 { l := exchange(b, 1); } b := 0;",
        "atomic { l := b; assume l == 0; b := 1; } b := 0;",
    ];
    let cases = if long() { 2_000 } else { 10 };
    let effort = Effort { states: 20_000, work: 1.0 };
    let mut stream = cyrano_conformance::stream::Stream::mixed(77);
    let (explore, mut all) = (Explore::default(), Compared::default());
    for case in 0..cases {
        let mut body = |most: usize| {
            let length = stream.below(most + 1);
            (0..length).map(|_| statements[stream.below(statements.len())]).collect::<Vec<_>>().join(" ")
        };
        let source = memory(&body(2), &body(2), &body(1));
        match compare(&source, &[&explore], effort) {
            Ok(compared) => all.add(compared),
            Err(why) => panic!("case {case}: {why}\n{source}"),
        }
    }
    println!("{cases} memories: {all:?}");
    assert!(all.verified > cases / 4 && all.violated > cases / 4, "{all:?}");
}

//! Timestamps with remainders: random programs that copy, compare, increase and divide version numbers, by every engine, with and without
//! ranking; and the same in atomic blocks, where the shadow's timestamps are ranked as well.

use std::fmt::Write;

use cyrano_conformance::compare::model;
use cyrano_conformance::stream::Stream;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_symbolic::Symbolic;

/// An access to a version. Half of the programs have one clock and copies of it only, so that gaps stay short and states are merged.
fn access(dice: &mut Stream, clock: bool) -> String {
    let (place, by) = (dice.pick(&["c", "c", "d"]), 1 + dice.below(3));
    match (dice.below(5), clock) {
        (0, _) => format!("t := {place};"),
        (1, true) => "d := t;".to_owned(),
        (2, true) => "u := d;".to_owned(),
        (_, true) => format!("t := fetch_add(c, {by});"),
        (1, _) => format!("{place} := t + {by};"),
        (2, _) => format!("u := cas({place}, t, t + {by});"),
        (3, _) => format!("t := fetch_add({place}, {by});"),
        _ => format!("{place} := u;"),
    }
}

/// A look at a version.
fn look(dice: &mut Stream, clock: bool) -> String {
    let (one, by) = (dice.pick(if clock { &["t", "u"] } else { &["t", "u", "(t + 1)"] }), dice.pick(&["2", "2", "3"]));
    match dice.below(3) {
        0 => "r := r * 2 + (t < u);".to_owned(),
        _ => format!("r := r * 3 + {one} % {by};"),
    }
}

fn body(dice: &mut Stream, clock: bool, steps: usize) -> String {
    let mut text = String::new();
    for _ in 0..steps {
        let _ = write!(text, " {} {}", access(dice, clock), look(dice, clock));
    }
    text
}

const HEAD: &str = "shared c: timestamp = 1, d: timestamp;";
const LOCALS: &str = "local t: timestamp, u: timestamp, r;";

fn compile(source: &str) -> Program {
    cyrano_rml::compile(source, "remainders", &[]).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

#[test]
fn engines_agree() {
    let mut dice = Stream::mixed(8);
    let off = Explore { timestamps: false, ..Explore::default() };
    for number in 0..40 {
        let steps = |thread: usize| if number % 2 == 0 { 4 - thread } else { 2 };
        let threads: String = (0..2)
            .map(|t| format!("thread p{t} {{ {LOCALS}{} }}\n", body(&mut dice, number % 2 == 0, steps(t))))
            .collect();
        let source = format!("threads {{ {HEAD}\n{threads}}}\nobserve p0.r, p1.r;\n");
        let program = compile(&source);
        for model in ["sc", "tso", "pso"].map(model) {
            let ask = |engine: &dyn Engine| {
                let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
                let answer = engine.ask(query, &limits(60.0, 3), &());
                assert_eq!(answer.verdict, Verdict::Verified, "{} on {}\n{source}", engine.name(), model.name);
                answer.outcomes
            };
            let (with, without) = (ask(&Explore::default()), ask(&off));
            let mut others = vec![("ranked", with), ("symbolic", ask(&Symbolic::default()))];
            if number % 2 == 1 {
                others.push(("reference", ask(&Interp)));
            }
            for (engine, found) in others {
                assert_eq!(found, without, "{engine} on {}\n{source}", model.name);
            }
        }
    }
}

#[test]
fn blocks_are_judged_alike() {
    let mut dice = Stream::mixed(9);
    let on = Explore::default();
    let variants = [
        Explore { timestamps: false, ..on.clone() },
        Explore { timestamps: false, movers: false, ..on.clone() },
        Explore { movers: false, ..on.clone() },
        Explore { thread_symmetry: false, ..on.clone() },
    ];
    let (mut right, mut wrong) = (0, 0);
    for number in 0..150 {
        let clock = number % 4 < 2;
        let block = |dice: &mut Stream| {
            let (before, behind) = (dice.below(2), dice.below(2));
            let (before, at, behind) = (body(dice, clock, before), access(dice, clock), body(dice, clock, behind));
            format!("atomic b returns r {{{before} {at} commit;{behind} }} {}", look(dice, clock))
        };
        let thread = |dice: &mut Stream| {
            let outside = if dice.below(3) == 0 { access(dice, clock) } else { String::new() };
            format!("{LOCALS} {} {outside} {}", block(dice), block(dice))
        };
        let threads = match number % 2 {
            0 => format!("thread p[2] {{ {} }}\n", thread(&mut dice)),
            _ => (0..2).map(|t| format!("thread p{t} {{ {} }}\n", thread(&mut dice))).collect(),
        };
        // Somebody moves the clock on, so that there are gaps.
        let mover = if clock { "thread q { fetch_add(c, 3); fetch_add(c, 3); }" } else { "" };
        let program = compile(&format!("threads {{ {HEAD}\n{threads}{mover}}}\ncheck commit-atomicity;\n"));
        for on_model in ["sc", "tso"].map(model) {
            let ask = |explore: &Explore| {
                let answer = corpus::judge(explore, &program, &on_model, &Property::CommitAtomicity, &limits(60.0, 3));
                answer.verdict
            };
            let expected = ask(&on);
            for explore in &variants {
                assert_eq!(ask(explore), expected, "on {}: {explore:?}\n{threads}", on_model.name);
            }
            right += usize::from(expected == Verdict::Verified);
            wrong += usize::from(expected == Verdict::Violated);
        }
    }
    assert!(right > 20 && wrong > 20, "{right} verified, {wrong} violated");
}

/// A version that grows for ever is no infinite search, whatever it is divided by.
#[test]
fn endless_versions_end() {
    for (by, odd) in [(2, 1), (3, 2), (65, 64)] {
        let source = format!(
            "threads {{ shared v: timestamp; thread w {{ loop {{ fetch_add(v, 1); }} }}
             thread r {{ local t: timestamp, seen; loop {{ t := v; seen := t % {by}; assert seen != {odd}; }} }} }}\ncheck assertions;\n"
        );
        let answer = |source: &str| {
            corpus::judge(&Explore::default(), &compile(source), &model("sc"), &Property::Assertions, &limits(60.0, 3))
        };
        assert_eq!(answer(&source).verdict, Verdict::Violated, "some version has remainder {odd} by {by}");
        let even = source.replace("fetch_add(v, 1)", &format!("fetch_add(v, {})", 2 * by));
        assert_eq!(answer(&even).verdict, Verdict::Verified, "no multiple of {by} has remainder {odd}");
    }
}

//! All paths together show what the search finds.

use std::collections::BTreeSet;

use cyrano_engine::Blocked;
use cyrano_engine::{Engine, Query, Question, Verdict};

use super::*;

const SB: &str = "program p\nlocation x = 0\nlocation y = 0\n\
    thread p0\nregister a = 0\n@0: store x, 1\n@1: a := load y\n@2: halt\n\
    thread p1\nregister b = 0\n@0: store y, 1\n@1: b := load x\n@2: halt\n\
    observe a = p0:a\nobserve b = p1:b\n";

/// Two stores, a fence and a choice on the one side, loads on the other.
const MIXED: &str = "program p\nlocation x = 0\nlocation y = 0\n\
    thread p0\nregister c = 0\n@0: c := choose 1, 2\n@1: store x, c\n@2: store y, c\n@3: halt\n\
    thread p1\nregister a = 0\nregister b = 0\n@0: a := load y\n@1: b := load x\n@2: halt\n\
    observe a = p1:a\nobserve b = p1:b\n";

/// Two threads that wait for each other.
const LOCKS: &str = "program p\nlocation x = 0\n\
    thread p0\nregister a = 0\n@0: atomic begin\n@1: a := load x\n@2: assume (a == 1)\n@3: atomic end\n@4: halt\n\
    thread p1\nregister b = 0\n@0: b := load x\n@1: halt\n";

fn parse(source: &str) -> Program {
    let program = cyrano_ir::text::parse(source).expect("a program");
    cyrano_ir::verify(&program).expect("a valid program");
    program
}

/// Visits every place, in depth-first order.
fn visit(stepping: &Stepping<'_>, path: &mut Vec<usize>, see: &mut dyn FnMut(&[usize], &Position)) {
    let place = stepping.at(path).expect("an enabled step leads somewhere");
    see(path, &place);
    for number in 0..place.enabled.len() {
        path.push(number);
        visit(stepping, path, see);
        path.pop();
    }
}

/// The outcomes of all paths are those of the search.
fn check(source: &str, model: &str, count: usize) {
    let program = parse(source);
    let model = cyrano_memory::named(model).expect("a model");
    let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
    let mut outcomes = BTreeSet::new();
    visit(&stepping, &mut Vec::new(), &mut |_, place| {
        if let Standing::Done { outcome } = &place.standing {
            outcomes.insert(outcome.clone());
        }
        assert_eq!(place.enabled.is_empty(), place.standing != Standing::Open);
    });
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let answer = Explore::default().ask(query, &Limits::default(), &());
    assert_eq!(answer.verdict, Verdict::Verified);
    assert_eq!(outcomes, answer.outcomes, "{}", model.name);
    assert_eq!(outcomes.len(), count, "{}", model.name);
}

#[test]
fn all_paths_have_the_outcomes_of_the_search() {
    for (model, count) in [("serial", 2), ("sc", 3), ("tso", 4), ("pso", 4), ("rmo", 4)] {
        check(SB, model, count);
    }
    for (model, count) in [("sc", 5), ("tso", 5), ("pso", 7), ("rmo", 7)] {
        check(MIXED, model, count);
    }
}

#[test]
fn what_is_offered_is_what_happens() {
    let program = parse(SB);
    let model = cyrano_memory::named("tso").expect("a model");
    let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
    // Each thread has a deferred store and a load that may overtake it.
    let first = stepping.initial();
    assert_eq!(first.enabled.iter().map(|step| step.thread.0).collect::<Vec<_>>(), [0, 0, 1, 1]);
    visit(&stepping, &mut Vec::new(), &mut |path, place| {
        for (number, step) in place.enabled.iter().enumerate() {
            let there = stepping.at(&[path, &[number]].concat()).expect("it is enabled");
            assert_eq!(there.execution, step.execution);
            assert_eq!(step.execution.order.len(), place.execution.order.len() + 1);
        }
        assert_eq!(stepping.at(&[path, &[place.enabled.len()]].concat()), None);
    });
}

#[test]
fn what_goes_wrong_is_told_before_it_happens() {
    let program = parse(&SB.replace("@2: halt\nthread p1", "@2: assert (a == 1)\n@3: halt\nthread p1"));
    let model = cyrano_memory::named("sc").expect("a model");
    let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
    let before = stepping.at(&[0]).expect("p0 stores");
    let violation = Violation::Assertion { thread: ThreadId(0), instr: InstrId(2) };
    assert_eq!((before.enabled[0].at, &before.enabled[0].violation), (InstrId(1), &Some(violation.clone())));
    assert_eq!(before.enabled[1].violation, None);
    let after = stepping.at(&[0, 0]).expect("p0 loads");
    assert_eq!((after.standing, after.enabled.len()), (Standing::Wrong(violation), 0));
}

#[test]
fn a_deferred_load_leaves_its_register_without_a_value() {
    let program = parse(SB);
    let registers = |model: &str, path: &[usize]| {
        let model = cyrano_memory::named(model).expect("a model");
        let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
        stepping.at(path).expect("a path").registers
    };
    assert_eq!(registers("tso", &[]), [[Some(0)], [Some(0)]]);
    assert_eq!(registers("rmo", &[]), [[None], [None]]);
    assert_eq!(registers("sc", &[0, 1, 0]), [[Some(1)], [Some(0)]]);
}

#[test]
fn a_deadlock_is_told_from_an_end() {
    let program = parse(LOCKS);
    let model = cyrano_memory::named("sc").expect("a model");
    let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
    let place = stepping.at(&[0]).expect("p1 can step");
    let blocked = vec![Blocked { thread: ThreadId(0), instr: InstrId(0) }];
    assert_eq!(place.standing, Standing::Wrong(Violation::Deadlock { blocked }));
    assert!(stepping.initial().standing == Standing::Open && stepping.at(&[0, 0]).is_none());
}

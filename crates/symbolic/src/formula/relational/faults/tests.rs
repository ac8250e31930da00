//! The comparison of both engines on random programs notices each bug.

use cyrano_conformance::hangs::hangs_agree;
use cyrano_conformance::limits;
use cyrano_conformance::pinned::pinned;
use cyrano_conformance::related::related;
use cyrano_conformance::relations::compare_with;
use cyrano_engine::{Engine, Query, Question};
use cyrano_interp::Interp;
use cyrano_ir::Program;
use cyrano_memory::Model;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::{Fault, ON};
use crate::Symbolic;

const ALL: [Fault; 14] = [
    Fault::NobodyBetween,
    Fault::OneStep,
    Fault::StraightBounds,
    Fault::SeeNothing,
    Fault::HideAll,
    Fault::NoHalves,
    Fault::LackOperand,
    Fault::ForgetData,
    Fault::ForgetControl,
    Fault::AnyLast,
    Fault::OrderThreads,
    Fault::AlwaysThere,
    Fault::AlwaysKeep,
    Fault::KeepNothing,
];

/// Load buffering with branches, store buffering in an array; message passing through the register of a compare-and-swap, whose location is written by the same
/// thread or by another one.
const FIXED: [&str; 4] = [
    "program lb\nlocation x = 0\nlocation y = 0\n\
     thread p\nregister r = 0\n@0: r := load x\n@1: branch (r == 1) then @2 else @2\n@2: store y, 1\n@3: halt\n\
     thread q\nregister r = 0\n@0: r := load y\n@1: branch (r == 1) then @2 else @2\n@2: store x, 1\n@3: halt\n\
     observe a = p:r\nobserve b = q:r\n",
    "program sb\nlocation \"a[0]\" = 0\nlocation \"a[1]\" = 0\narray a = \"a[0]\" of 2\n\
     thread p\nregister i = 0\nregister r = 0\n@0: i := choose 0, 1\n@1: store a[i], 1\n@2: r := load a[(1 - i)]\n@3: halt\n\
     thread q\nregister i = 0\nregister r = 0\n@0: i := choose 0, 1\n@1: store a[i], 1\n@2: r := load a[(1 - i)]\n@3: halt\n\
     observe i = p:i\nobserve j = q:i\nobserve a = p:r\nobserve b = q:r\n",
    "program both\nlocation y = 0\nlocation z = 0\nlocation \"a[0]\" = 0\nlocation \"a[1]\" = 0\narray a = \"a[0]\" of 2\n\
     thread p\n@0: store a[0], 1\n@1: store z, 1 {release}\n@2: store y, 1 {release}\n@3: halt\n\
     thread q\nregister r = 0\nregister s = 0\nregister t = 0\n\
     @0: r := load y\n@1: s := cas z, r, 5\n@2: t := load a[(s * 0)]\n@3: halt\n\
     observe r = q:r\nobserve s = q:s\nobserve t = q:t\n",
    "program compared\nlocation y = 0\nlocation z = 0\nlocation \"a[0]\" = 0\nlocation \"a[1]\" = 0\narray a = \"a[0]\" of 2\n\
     thread p\n@0: store a[0], 1\n@1: store y, 1 {release}\n@2: halt\n\
     thread q\nregister r = 0\nregister s = 0\nregister t = 0\n\
     @0: r := load y\n@1: s := cas z, r, 5\n@2: t := load a[(s * 0)]\n@3: halt\n\
     thread o\n@0: store z, 1\n@1: halt\n\
     observe r = q:r\nobserve s = q:s\nobserve t = q:t\n",
];

/// Programs, always the same ones, each with a model.
fn programs(count: usize) -> Vec<(Program, Model)> {
    let models = cyrano_memory::relational();
    let parsed = FIXED.map(|text| cyrano_ir::text::parse(text).expect("a program"));
    let fixed = parsed.iter().flat_map(|program| models.iter().map(|model| (program.clone(), model.clone())));
    let mut all: Vec<(Program, Model)> = fixed.collect();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..pinned(1) });
    let cases = related(8, models.len());
    let random = (0..count).map(|_| cases.new_tree(&mut runner).expect("a program").current());
    all.extend(random.map(|random| (random.program(&models[random.model]), models[random.model].clone())));
    all
}

/// Which of the programs is the first that the engines disagree on.
fn noticed(programs: &[(Program, Model)], fault: Option<Fault>) -> Option<(usize, String)> {
    ON.set(fault);
    let complaint = |program: &Program, model: &Model| {
        let compared = compare_with(&Symbolic::default(), program, model, &|| limits(0.5, 2));
        compared.err().map(|disagreement| disagreement.to_string())
    };
    let found = programs.iter().enumerate().find_map(|(at, (program, model))| Some((at, complaint(program, model)?)));
    ON.set(None);
    found
}

/// Two that wait: for a value that is sent late, and for one that changes with every round.
const WAITING: [&str; 2] = [
    "program late\nlocation x = 0\n\
     thread p\nregister r = 0\n@0: r := load x\n@1: branch (r == 0) then @0 else @2\n@2: halt\n\
     thread q\n@0: store x, 1\n@1: halt\n",
    "program counts\nlocation x = 0\nthread p\nregister r = 0\nregister s = 0\n\
     @0: s := load x\n@1: r := (r + 1)\n@2: branch (r < 3) then @0 else @3\n@3: halt\n",
];

#[test]
fn bugs_in_rounds_are_noticed() {
    let models = cyrano_memory::relational();
    let programs = WAITING.map(|text| cyrano_ir::text::parse(text).expect("a program"));
    let symbolic = Symbolic { iterations: 2, ..Symbolic::default() };
    let noticed = |fault| {
        ON.set(fault);
        let all = programs.iter().flat_map(|program| models.iter().map(move |model| (program, model)));
        let mut complaints = { all }.filter_map(|(program, model)| {
            hangs_agree(&symbolic, program, model, &|| limits(0.5, 2)).err().map(|why| why.to_string())
        });
        let found = complaints.next();
        ON.set(None);
        found
    };
    assert_eq!(noticed(None), None);
    for fault in [Fault::StaleRounds, Fault::OtherRegisters] {
        let found = noticed(Some(fault));
        println!("{fault:?}: {found:?}");
        assert!(found.is_some(), "nobody notices {fault:?}");
    }
}

/// On Arm a thread writes what it finds while it waits for something else, and reads that early afterwards, which it could not do with what it found; in C11 a
/// thread that waits looks at something else meanwhile, without order, while it is written.
const IDLING: [(Fault, &str, &str); 2] = [
    (
        Fault::IdleThoughSeen,
        "armv8",
        "program seen\nlocation x = 0\nlocation y = 0\nlocation l = 4\narray m = x of 1\n\
         thread t\n@0: store x, 1\n@1: fence dmb.ish\n@2: store l, 5\n@3: halt\n\
         thread p\nregister a = 0\nregister s = 0\nregister r = 0\nregister u = 0\nregister w = 0\n\
         @0: a := load l\n@1: s := load y\n@2: branch (s == 1) then @5 else @3\n@3: r := exchange l, 5\n@4: jump @1\n\
         @5: u := load l\n@6: w := load m[(u - u)]\n@7: halt\n\
         thread q\n@0: store y, 1\n@1: halt\n\
         observe a = p:a\nobserve u = p:u\nobserve w = p:w\n",
    ),
    (
        Fault::IdleThoughRacing,
        "rc11",
        "program races\nlocation l = 0\nlocation w = 0\n\
         thread p\nregister r = 0\nregister s = 0\n\
         @0: r := load l {atomic acquire}\n@1: branch (r == 1) then @4 else @2\n@2: s := load w\n@3: jump @0\n@4: halt\n\
         thread q\n@0: store w, 1\n@1: store l, 1 {atomic release}\n@2: halt\nobserve l = l\n",
    ),
];

#[test]
fn bugs_about_idle_iterations_are_noticed() {
    let symbolic = Symbolic { iterations: 2, ..Symbolic::default() };
    for (fault, model, text) in IDLING {
        let program = cyrano_ir::text::parse(text).expect("a program");
        let model = cyrano_memory::named(model).expect("a model");
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let found = |engine: &dyn Engine, on: Option<Fault>| {
            ON.set(on);
            let answer = engine.ask(query, &limits(2.0, 2), &());
            ON.set(None);
            (answer.outcomes, answer.flags)
        };
        let reference = found(&Interp, None);
        assert_eq!(found(&symbolic, None), reference, "{}", program.name);
        assert_ne!(found(&symbolic, Some(fault)), reference, "nobody notices {fault:?}");
    }
}

#[test]
fn bugs_in_the_encoder_are_noticed() {
    let programs = programs(1000);
    assert_eq!(noticed(&programs[..100], None), None);
    for fault in ALL {
        let found = noticed(&programs, Some(fault));
        println!("{fault:?}: {found:?}");
        assert!(found.is_some(), "nobody notices {fault:?}");
    }
}

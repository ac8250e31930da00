//! Outcome counts of the smallest shapes, written in the IR's text form. The corpus and the random programs of
//! `cyrano-conformance` go much further; these tests show where to look first when those fail.

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;

/// Compares the number of outcomes under each model.
fn check(source: &str, expected: &[(&str, usize)]) {
    let program = cyrano_ir::text::parse(source).expect("a program");
    cyrano_ir::verify(&program).expect("a valid program");
    for (name, count) in expected {
        let model = cyrano_memory::named(name).expect("a model");
        let explore = Explore::default();
        assert!(explore.runs(&program, &model), "{name}");
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let answer = explore.ask(query, &Limits::default(), &());
        assert_eq!(answer.verdict, Verdict::Verified, "{name}");
        assert_eq!(answer.outcomes.len(), *count, "{name}: {:?}", answer.outcomes);
    }
}

const TWO_THREADS: &str = "program p\nlocation x = 0\nlocation y = 0\n";

#[test]
fn store_buffering() {
    check(
        &format!(
            "{TWO_THREADS}thread p0\nregister a = 0\n@0: store x, 1\n@1: a := load y\n@2: halt\n\
             thread p1\nregister b = 0\n@0: store y, 1\n@1: b := load x\n@2: halt\n\
             observe a = p0:a\nobserve b = p1:b\n"
        ),
        &[("serial", 2), ("sc", 3), ("tso", 4), ("pso", 4), ("rmo", 4)],
    );
}

#[test]
fn message_passing() {
    check(
        &format!(
            "{TWO_THREADS}thread p0\n@0: store x, 1\n@1: store y, 1\n@2: halt\n\
             thread p1\nregister a = 0\nregister b = 0\n@0: a := load y\n@1: b := load x\n@2: halt\n\
             observe a = p1:a\nobserve b = p1:b\n"
        ),
        &[("serial", 2), ("sc", 3), ("tso", 3), ("pso", 4), ("rmo", 4)],
    );
}

#[test]
fn load_buffering() {
    check(
        &format!(
            "{TWO_THREADS}thread p0\nregister a = 0\n@0: a := load x\n@1: store y, 1\n@2: halt\n\
             thread p1\nregister b = 0\n@0: b := load y\n@1: store x, 1\n@2: halt\n\
             observe a = p0:a\nobserve b = p1:b\n"
        ),
        &[("serial", 2), ("sc", 3), ("tso", 3), ("pso", 3), ("rmo", 4)],
    );
}

#[test]
fn load_buffering_with_data_dependencies() {
    check(
        &format!(
            "{TWO_THREADS}thread p0\nregister a = 0\n@0: a := load x\n@1: store y, (a + 1)\n@2: halt\n\
             thread p1\nregister b = 0\n@0: b := load y\n@1: store x, (b + 1)\n@2: halt\n\
             observe a = p0:a\nobserve b = p1:b\n"
        ),
        &[("sc", 3), ("tso", 3), ("pso", 3), ("rmo", 3)],
    );
}

#[test]
fn a_spinning_thread_comes_to_an_end() {
    check(
        &format!(
            "{TWO_THREADS}thread p0\n@0: store x, 5\n@1: store y, 1\n@2: halt\n\
             thread p1\nregister a = 0\nregister b = 0\n@0: a := load y\n@1: branch (a == 0) then @0 else @2\n\
             @2: b := load x\n@3: halt\nobserve b = p1:b\n"
        ),
        &[("sc", 1), ("tso", 1), ("pso", 2), ("rmo", 2)],
    );
}

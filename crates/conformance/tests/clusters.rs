//! Random programs on clusters of several processes and workers: outcomes, states, transitions and levels are those of the explorer.
//!
//! These state spaces are small, so that levels begin and end all the time, and most are empty in some process.

use std::time::Duration;

use cyrano_cluster::{ClusterSearch, Key, Options, hosts};
use cyrano_conformance::generate;
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::Program;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

const PROGRAMS: usize = 120;
const SHAPES: [(usize, usize); 4] = [(1, 2), (2, 1), (2, 2), (3, 3)];
const MODELS: [&str; 3] = ["sc", "tso", "pso"];

/// What must be the same.
type Facts = (Verdict, std::collections::BTreeSet<Vec<i128>>, [u64; 3]);

fn programs() -> Vec<(String, Program)> {
    let config = Config { rng_seed: RngSeed::Fixed(20_261), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let random = |_| generate::program().new_tree(&mut runner).expect("there are programs").current();
    (0..PROGRAMS).map(random).map(|random| (random.shown(), random.program())).collect()
}

fn ask(engine: &dyn Engine, program: &Program, model: &str) -> Facts {
    let model = cyrano_memory::named(model).expect("a model");
    let query = Query { program, model: &model, question: Question::Outcomes };
    let answer = engine.ask(query, &Limits { workers: 1, ..Limits::default() }, &());
    let stats = answer.stats;
    (answer.verdict, answer.outcomes, [stats.states, stats.transitions, stats.depth])
}

/// Asks all questions on a cluster: what its processes say.
fn clustered(processes: usize, workers: usize, explore: &Explore, questions: &[(&Program, &str)]) -> Vec<Vec<Facts>> {
    let hosts = hosts::free(processes).expect("there are ports");
    let one = |process: usize| {
        let options = Options {
            hosts: hosts.clone(),
            process,
            key: Key::new(b"0123456789abcdef0123456789abcdef").expect("it is long enough"),
            configuration: Vec::new(),
            workers,
            wait: Duration::from_secs(30),
            silence: Duration::from_secs(30),
        };
        let search = ClusterSearch::join(explore, options, &|_| {}).expect("the cluster comes together");
        questions.iter().map(|(program, model)| ask(&search, program, model)).collect()
    };
    let one = &one;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processes).map(|process| scope.spawn(move || one(process))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

#[test]
fn random_programs_agree_on_clusters() {
    let programs = programs();
    let questions: Vec<(&str, (&Program, &str))> =
        programs.iter().flat_map(|(source, program)| MODELS.map(|model| (source.as_str(), (program, model)))).collect();
    let asked: Vec<(&Program, &str)> = questions.iter().map(|(_, question)| *question).collect();
    // With remembered steps and packed states, and without.
    for remembered_steps in [true, false] {
        let explore = Explore { ample_sets: false, remembered_steps, ..Explore::default() };
        let alone: Vec<Facts> = asked.iter().map(|(program, model)| ask(&explore, program, model)).collect();
        assert!(alone.iter().filter(|(_, outcomes, _)| outcomes.len() > 1).count() > PROGRAMS / 2);
        for (processes, workers) in SHAPES {
            for answers in clustered(processes, workers, &explore, &asked) {
                for (((source, (_, model)), one), many) in questions.iter().zip(&alone).zip(&answers) {
                    assert_eq!(one, many, "{processes} processes, {workers} workers, {model}:\n{source}");
                }
            }
        }
    }
}

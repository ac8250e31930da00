//! A cluster finds what one machine finds: verdict, states, transitions, outcomes, and violations at the same depth.

mod local;

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use local::{Cluster, library};

/// File, constants, model, and what is asked; `None` for its first check.
struct Instance {
    file: &'static str,
    set: &'static [(&'static str, i128)],
    model: &'static str,
    property: Option<Property>,
}

const OPACITY: Option<Property> = Some(Property::Transactions(TxCriterion::Opacity));
const STM: &[(&str, i128)] = &[("threads", 2), ("vars", 1)];
const STM2: &[(&str, i128)] = &[("threads", 2), ("vars", 2)];

const INSTANCES: [Instance; 14] = [
    Instance { file: "litmus/sb.rml", set: &[], model: "sc", property: None },
    Instance { file: "litmus/sb.rml", set: &[], model: "tso", property: None },
    Instance { file: "litmus/peterson.rml", set: &[], model: "sc", property: None },
    Instance { file: "litmus/peterson.rml", set: &[], model: "pso", property: None },
    Instance { file: "litmus/iriw.rml", set: &[], model: "rmo", property: None },
    Instance { file: "litmus/bakery.rml", set: &[], model: "tso", property: Some(Property::Assertions) },
    Instance { file: "stm/tl2.rml", set: STM, model: "sc", property: OPACITY },
    Instance { file: "stm/tl2.rml", set: STM2, model: "pso", property: OPACITY },
    Instance { file: "stm/tl2.rml", set: STM2, model: "sc", property: OPACITY },
    Instance { file: "stm/dstm.rml", set: STM, model: "tso", property: OPACITY },
    Instance { file: "stm/mcrt.rml", set: STM2, model: "sc", property: OPACITY },
    Instance { file: "stm/mcrt.rml", set: STM2, model: "rmo", property: OPACITY },
    // Here timestamps are ranked too closely at first.
    Instance { file: "litmus/timestamp_gap.rml", set: &[], model: "sc", property: None },
    Instance { file: "litmus/timestamp_gap.rml", set: &[], model: "rmo", property: None },
];

impl Instance {
    fn program(&self) -> Program {
        let set: Vec<(String, i128)> = self.set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        cyrano_rml::compile(&library(self.file), self.file, &set).expect("the library compiles")
    }

    fn ask(&self, engine: &dyn Engine, workers: usize) -> Answer {
        let program = self.program();
        let model = cyrano_memory::named(self.model).expect("a model");
        let property = self.property.clone().unwrap_or_else(|| program.checks[0].property.clone());
        let query = Query { program: &program, model: &model, question: Question::Holds(&property) };
        engine.ask(query, &Limits { workers, ..Limits::default() }, &())
    }
}

fn alone() -> Explore {
    Explore { ample_sets: false, ..Explore::default() }
}

fn compare(name: &str, one: &Answer, many: &Answer) {
    assert_eq!((one.verdict, &one.reason), (many.verdict, &many.reason), "{name}");
    assert_eq!(one.reductions, many.reductions, "{name}");
    // The steps of the search. One step can have several accesses, so that of two violations at the same depth one may have more.
    assert_eq!(one.stats.depth, many.stats.depth, "{name}");
    assert_eq!(one.execution.is_some(), many.execution.is_some(), "{name}");
    if one.execution.is_none() {
        assert_eq!(one.stats.states, many.stats.states, "{name}");
        assert_eq!(one.stats.transitions, many.stats.transitions, "{name}");
    }
}

/// Asks all instances, one after the other, on one cluster.
fn check(processes: usize, workers: usize) {
    let alone: Vec<Answer> = INSTANCES.iter().map(|instance| instance.ask(&alone(), 1)).collect();
    let verdicts = |verdict: Verdict| alone.iter().filter(|answer| answer.verdict == verdict).count();
    assert!(verdicts(Verdict::Violated) >= 2 && verdicts(Verdict::Verified) >= 5, "the instances should differ");
    let cluster = Cluster { processes, workers, ..Cluster::default() };
    let all = cluster.run(|search| INSTANCES.iter().map(|instance| instance.ask(search, workers)).collect::<Vec<_>>());
    for answers in all.into_iter().map(|answers| answers.expect("the cluster comes together")) {
        for ((instance, one), many) in INSTANCES.iter().zip(&alone).zip(&answers) {
            compare(&format!("{} on {}, {processes} processes", instance.file, instance.model), one, many);
        }
    }
}

#[test]
fn one_worker_agrees() {
    check(1, 1);
}

#[test]
fn two_workers_of_one_process_agree() {
    check(1, 2);
}

#[test]
fn three_processes_agree() {
    check(3, 1);
}

#[test]
fn two_processes_with_two_workers_agree() {
    check(2, 2);
}

#[test]
fn three_processes_with_three_workers_agree() {
    check(3, 3);
}

/// Levels of one state, which is now in this process and now in that one, so that workers fall asleep and are woken; then wide ones.
#[test]
fn thin_levels_and_wide_ones() {
    let source = "threads { shared x, go, a, b, c; local r; \
        thread clock { while r < 200 { r := r + 1; x := r; } go := 1; } \
        thread p { atomic { r := go; assume(r = 1); } loop { r := a; a := (r + 1) % 5; b := r; } } \
        thread q { atomic { r := go; assume(r = 1); } loop { r := b; b := (r + 1) % 7; c := r; } } \
        thread s { atomic { r := go; assume(r = 1); } loop { r := c; c := (r + 1) % 3; a := r; } } } check assertions;";
    let program = cyrano_rml::compile(source, "a.rml", &[]).expect("it compiles");
    let model = cyrano_memory::named("sc").expect("a model");
    let query = Query { program: &program, model: &model, question: Question::Holds(&Property::Assertions) };
    let ask = |engine: &dyn Engine| engine.ask(query, &Limits::default(), &());
    let one = ask(&alone());
    assert!(one.stats.depth > 200 && one.stats.states > 1000, "{:?}", one.stats);
    for (processes, workers) in [(1, 3), (3, 3)] {
        let cluster = Cluster { processes, workers, ..Cluster::default() };
        for answers in cluster.run(|search| [0; 2].map(|_| ask(search))) {
            for many in answers.expect("the cluster comes together") {
                compare(&format!("{processes} processes with {workers} workers"), &one, &many);
            }
        }
    }
}

#[test]
fn outcomes_agree() {
    let ask = |engine: &dyn Engine, file: &str, model: &str| {
        let program = cyrano_rml::compile(&library(file), file, &[]).expect("the library compiles");
        let model = cyrano_memory::named(model).expect("a model");
        let query = Query { program: &program, model: &model, question: Question::Outcomes };
        engine.ask(query, &Limits::default(), &()).outcomes
    };
    let questions = [("litmus/sb.rml", "tso"), ("litmus/iriw.rml", "rmo"), ("litmus/fig4.rml", "pso")];
    let all = Cluster::default().run(|search| questions.map(|(file, model)| ask(search, file, model)));
    let expected = questions.map(|(file, model)| ask(&alone(), file, model));
    assert!(expected.iter().all(|outcomes| outcomes.len() > 1));
    for outcomes in all {
        assert_eq!(outcomes.expect("the cluster comes together"), expected);
    }
}

#[test]
fn what_goes_wrong_at_once_is_found() {
    let source = "threads { shared x = 0; thread p { assert(1 = 2); x := 1 } } check assertions;";
    let program = cyrano_rml::compile(source, "a.rml", &[]).expect("it compiles");
    let model = cyrano_memory::named("sc").expect("a model");
    let query = Query { program: &program, model: &model, question: Question::Holds(&Property::Assertions) };
    for answer in Cluster::default().run(|search| search.ask(query, &Limits::default(), &())) {
        assert_eq!(answer.expect("the cluster comes together").verdict, Verdict::Violated);
    }
}

#[test]
fn limits_stop_everybody() {
    let instance = &INSTANCES[8];
    let program = instance.program();
    let model = cyrano_memory::named(instance.model).expect("a model");
    let property = instance.property.clone().expect("it has one");
    let query = Query { program: &program, model: &model, question: Question::Holds(&property) };
    let limits = Limits { memory: 5 << 20, ..Limits::default() };
    for answer in Cluster::default().run(|search| search.ask(query, &limits, &())) {
        let answer = answer.expect("the cluster comes together");
        assert_eq!((answer.verdict, answer.reason.as_deref()), (Verdict::Unknown, Some("memory limit reached")));
    }
    let cancelled = Limits::default();
    cancelled.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    for answer in Cluster::default().run(|search| search.ask(query, &cancelled, &())) {
        assert_eq!(answer.expect("the cluster comes together").reason.as_deref(), Some("interrupted"));
    }
}

//! Transition systems: as many states and steps as the explorer finds, and the histories of brute force as their language.

use std::collections::{BTreeSet, HashMap, HashSet};

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, words};
use cyrano_criteria::criterion::SpecName;
use cyrano_criteria::history::History;
use cyrano_criteria::monitor::Monitor;
use cyrano_criteria::spec::own;
use cyrano_engine::lts::{Label, TransitionSystem};
use cyrano_engine::{Engine, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};

/// No reduction but what systems always use, and timestamps, without which there may be no end.
fn plain() -> Explore {
    Explore {
        thread_symmetry: false,
        variable_symmetry: false,
        lazy_choices: false,
        repeated_stores: false,
        collapsed_data: false,
        dead_loads: false,
        sorted_stores: false,
        ample_sets: false,
        remembered_steps: false,
        ..Explore::default()
    }
}

fn system(program: &Program, name: &str) -> TransitionSystem {
    let model = model(name);
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    let system = Explore::default().transition_system(query, &limits(30.0, 1), &());
    system.unwrap_or_else(|why| panic!("{} under {name}: {why}", program.name))
}

/// The histories of at most so many events, each with the states in which it can end.
fn language(system: &TransitionSystem, most: usize) -> BTreeSet<History> {
    let mut after: HashMap<u32, Vec<(Label, u32)>> = HashMap::new();
    for (from, label, to) in &system.transitions {
        after.entry(*from).or_default().push((system.labels[*label as usize], *to));
    }
    let (mut seen, mut work) = (HashSet::new(), vec![(0, History::new())]);
    while let Some((state, word)) = work.pop() {
        if !seen.insert((state, word.clone())) {
            continue;
        }
        for (label, to) in after.get(&state).into_iter().flatten() {
            match label {
                Label::Silent => work.push((*to, word.clone())),
                Label::Event(event) if word.len() < most => {
                    work.push((*to, word.iter().copied().chain([*event]).collect()));
                }
                Label::Event(_) => {}
                other => panic!("no label of a transactional memory: {other:?}"),
            }
        }
    }
    seen.into_iter().map(|(_, word)| word).collect()
}

fn library(name: &str, client: &str, vars: i128) -> Program {
    let found = corpus::in_folder("stm").into_iter().find(|(found, _)| found == name).expect("it is in the library");
    let source = format!("{}\n{client}", found.1.source);
    cyrano_rml::compile(&source, name, &[("vars".to_owned(), vars)]).unwrap_or_else(|error| panic!("{error:?}"))
}

const CLIENT: &str =
    "client { thread a { tx { write(0); read(1); } else { } } thread b { tx { read(0); write(1); } else { } } }";

const READER: &str =
    "client { thread a { tx { write(0); write(1); } else { } } thread b { tx { read(0); read(1); } else { } } }";

#[test]
fn the_language_is_that_of_brute_force() {
    for (name, client, vars, most) in [
        ("global_lock", CLIENT, 2, usize::MAX),
        ("tml", CLIENT, 2, usize::MAX),
        ("tml_bug_no_check", READER, 2, usize::MAX),
        ("mcrt", CLIENT, 2, usize::MAX),
        ("global_lock", "", 1, 5),
        ("tml", "", 1, 4),
    ] {
        let program = library(name, client, vars);
        let system = system(&program, "sc");
        let (found, expected) = (language(&system, most), words::words(&program, most));
        assert!(expected.len() > 20, "{name}: only {} words", expected.len());
        assert!(found == expected, "{name}: {} words, but {}", found.len(), expected.len());
        // The monitor says of the words what it says of the memory. Which accesses begin a transaction makes no difference with two threads.
        let monitor = Monitor::new(TxCriterion::Opacity, cyrano_engine::history::size(&program)).expect("it is small");
        let accepts = |word: &History| {
            let mut state = monitor.initial();
            word.iter().all(|event| monitor.step(&mut state, *event).is_ok())
        };
        let wrong = found.iter().any(|word| !accepts(word));
        assert_eq!(wrong, name == "tml_bug_no_check", "{name}");
    }
}

#[test]
fn it_has_the_states_and_steps_of_the_explorer() {
    let anything = own::parse("specification anything\nhere: any any -> here\n").expect("a specification");
    let spec = SpecName::new(&own::register(anything).expect("the name is new").name);
    let property = Property::Transactions(TxCriterion::Spec(spec));
    for (name, client, vars, model_name) in [
        ("global_lock", "", 2, "sc"),
        ("tml", "", 1, "sc"),
        ("tl2", "", 1, "sc"),
        ("mcrt", CLIENT, 2, "tso"),
        ("dstm", CLIENT, 2, "pso"),
    ] {
        let program = library(name, client, vars);
        let system = system(&program, model_name);
        let model = model(model_name);
        let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
        let stats = plain().ask(query, &limits(30.0, 1), &()).stats;
        // The explorer counts the way to the initial state as well.
        assert_eq!((u64::from(system.own_states), system.steps + 1), (stats.states, stats.transitions), "{name}");
    }
    // Accesses are labels where there are no transactions; what is observed is the same.
    let source = "threads { shared x, y; thread p { local r; x := 1; r := y; } thread q { local s; y := 1; s := x; atomic { x := 2; y := 2; } } }";
    let program = cyrano_rml::compile(source, "sb", &[]).expect("the test's program compiles");
    for name in ["sc", "tso"] {
        let system = system(&program, name);
        let model = model(name);
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let stats = plain().ask(query, &limits(30.0, 1), &()).stats;
        // The explorer counts the way to the initial state as well.
        assert_eq!((u64::from(system.own_states), system.steps + 1), (stats.states, stats.transitions), "{name}");
        // The section has two accesses, and a state between them.
        assert!(system.states > system.own_states);
        let silent = |(_, label, _): &&(u32, u32, u32)| system.labels[*label as usize] == Label::Silent;
        assert_eq!(system.transitions.iter().filter(silent).count(), 0);
    }
}

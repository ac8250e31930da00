//! The set of histories that the structural properties look at, against brute force, up to a length.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned, words};
use cyrano_criteria::history::{Action, Event, History};
use cyrano_criteria::structure::images::without_idle;
use cyrano_criteria::structure::language::Language;
use cyrano_explore::Explore;
use std::collections::BTreeSet;

/// Every history of at most so many events; beginnings do not count.
fn histories(language: &Language, most: usize) -> BTreeSet<History> {
    let mut work = vec![(History::new(), 0, 0)];
    let mut found = BTreeSet::new();
    while let Some((history, state, counted)) = work.pop() {
        for (letter, to) in language.steps(state) {
            let event = language.letters().event(letter).0;
            let counted = counted + usize::from(event.action != Action::Begin);
            if counted <= most {
                work.push(([&history[..], &[event]].concat(), to, counted));
            }
        }
        found.insert(history);
    }
    found
}

/// What is left of a history without read-finishes that finish nothing and without transactions that access nothing.
fn meant(history: &History) -> History {
    let mut begun = BTreeSet::new();
    let mut says = |event: &Event| match event.action {
        Action::Commit | Action::Abort => begun.remove(&event.thread),
        Action::Begin => begun.insert(event.thread),
        _ => true,
    };
    without_idle(history).into_iter().filter(|event| says(event)).collect()
}

#[test]
fn the_language_of_a_memory_is_that_of_brute_force() {
    let entries = corpus::in_folder("stm");
    let mut compared = 0;
    for (file, most) in [("global_lock", 3), ("mcrt", 2), ("tml", 2), ("tl2", 1), ("dstm", 1)] {
        let most = most + usize::from(pinned::long());
        let (name, entry) = entries.iter().find(|(name, _)| name == file).expect("it is there");
        let set = [("vars".to_owned(), 1)];
        let program = cyrano_rml::compile(&entry.source, name, &set).expect("it compiles");
        let language = Explore::default().language(&program, &model("sc"), &limits(6.0, 1)).expect("small");
        let found = histories(&language, most);
        // What says nothing counts there, too, so one of them may be among the events; with more of them a history is found without them as well.
        let expected: BTreeSet<History> = words::histories(&program, most + 1).iter().map(meant).collect();
        let short = |history: &&History| history.iter().filter(|event| event.action != Action::Begin).count() <= most;
        let expected: BTreeSet<History> = expected.iter().filter(short).cloned().collect();
        println!("{file}: {} histories of at most {most} events", expected.len());
        assert_eq!(found.symmetric_difference(&expected).next(), None, "{file}");
        compared += expected.len();
    }
    assert!(compared > 100, "{compared}");
}

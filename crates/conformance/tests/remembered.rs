//! Remembered steps of transactional memories against the plain search: the same states, transitions, verdicts and steps to a violation.

use cyrano_conformance::compare::model;
use cyrano_conformance::memories::{Same, program, same, text};
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};

fn property(criterion: &str) -> Property {
    Property::Transactions(TxCriterion::from_name(criterion).expect("a criterion"))
}

fn compile(name: &str, entry: &corpus::Entry, set: &[(&str, i128)]) -> Program {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    cyrano_rml::compile(&entry.source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

/// Compares both searches; how many questions were answered by both, or what differs.
fn compare(program: &Program, criteria: &[&str], models: &[&str], explore: &Explore) -> Result<usize, String> {
    let mut answered = 0;
    for (criterion, name) in criteria.iter().flat_map(|criterion| models.iter().map(move |name| (criterion, name))) {
        let plain = Explore { remembered_steps: false, ..explore.clone() };
        let found = same([&plain, explore], program, &model(name), &property(criterion), &limits(0.4, 1));
        answered += usize::from(found.map_err(|why| format!("{criterion} {why}"))? != Same::Open);
    }
    Ok(answered)
}

#[test]
fn memories_of_the_library_have_the_same_states() {
    let entries = corpus::in_folder("stm");
    let answered = corpus::for_each(&entries, |name, entry| {
        let models = ["sc", "tso", "pso", "rmo"];
        let criteria = ["opacity", "strict-serializability"];
        let one = compare(&compile(name, entry, &[("vars", 1)]), &criteria, &models, &Explore::default())?;
        let two = compare(&compile(name, entry, &[("vars", 2)]), &["opacity"], &["sc", "pso"], &Explore::default())?;
        Ok(one + two)
    });
    assert!(answered > 200, "only {answered} questions were answered by both");
}

#[test]
fn memories_with_values_have_the_same_states() {
    let entries = corpus::named(corpus::with_values().expect("the library can be read"));
    let answered = corpus::for_each(&entries, |name, entry| {
        let criteria = ["opacity", "serializability", "serializability-by-commit"];
        let program = compile(name, entry, &[("ops", 1)]);
        let usual = compare(&program, &criteria, &["sc", "tso"], &Explore::default())?;
        let all = Explore { client_programs: true, ..Explore::default() };
        Ok(usual + compare(&program, &["opacity"], &["sc"], &all)?)
    });
    assert!(answered > 40, "only {answered} questions were answered by both");
}

/// With all that is done to states switched off one by one, and with other ways to store them.
#[test]
fn other_searches_have_the_same_states() {
    let on = Explore::default();
    let others = [
        Explore { timestamps: false, ..on.clone() },
        Explore { thread_symmetry: false, ..on.clone() },
        Explore { variable_symmetry: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { dead_registers: false, ..on.clone() },
        Explore { repeated_stores: false, ..on.clone() },
        Explore { merged_histories: false, ..on.clone() },
        Explore { compressed_from: usize::MAX, ..on },
    ];
    let entries: Vec<_> = corpus::in_folder("stm").into_iter().filter(|(name, _)| !name.contains("bug")).collect();
    let answered = corpus::for_each(&entries, |name, entry| {
        let program = compile(name, entry, &[("vars", 1)]);
        others.iter().try_fold(0, |sum, explore| Ok(sum + compare(&program, &["opacity"], &["sc", "tso"], explore)?))
    });
    assert!(answered > 100, "only {answered} questions were answered by both");
}

#[test]
fn random_memories_have_the_same_states() {
    let seeds: Vec<(String, u64)> =
        (0..if pinned::long() { 20_000 } else { 400 }).map(|seed| (format!("memory {seed}"), seed)).collect();
    let answered = corpus::for_each(&seeds, |_, seed| {
        let models: &[&str] = if seed.is_multiple_of(5) { &["sc", "tso", "pso", "rmo"] } else { &["sc"] };
        let criteria: &[&str] = if seed.is_multiple_of(4) { &["strict-serializability"] } else { &["opacity"] };
        let vars = 1 + i128::from(*seed % 7 != 0);
        compare(&program(*seed, vars), criteria, models, &Explore::default())
            .map_err(|why| format!("{why}\n{}", text(*seed)))
    });
    assert!(answered * 2 > seeds.len(), "only {answered} questions were answered by both");
}

/// Numbers are given in another order by several workers, so other renamings stand for all.
#[test]
fn workers_count_the_same() {
    for (name, set) in [("tl2", ("vars", 2)), ("norec", ("vars", 2)), ("mcrt_timestamps", ("ops", 2))] {
        let with_values = corpus::named(corpus::with_values().expect("the library can be read"));
        let mut memories = corpus::in_folder("stm").into_iter().chain(with_values);
        let (_, entry) = memories.find(|(other, _)| other == name).expect("a memory");
        let (program, opacity, sc) = (compile(name, &entry, &[set]), property("opacity"), model("sc"));
        let query = Query::new(&program, &sc, Question::Holds(&opacity)).expect("a question");
        let ask = |workers: usize| {
            let answer = Explore::default().ask(query, &Limits { workers, ..limits(20.0, 1) }, &());
            (answer.verdict, answer.stats.states, answer.stats.transitions, answer.stats.depth)
        };
        let one = ask(1);
        assert!(one.0 == Verdict::Verified && one.1 > 100_000, "{name}: {one:?}");
        assert_eq!(ask(2), one, "{name}");
        assert_eq!(ask(5), one, "{name}");
    }
}

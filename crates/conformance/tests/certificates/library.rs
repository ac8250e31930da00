//! Certificates of the library's checks are accepted: litmus tests, locks, data types in C, small transactional memories.

use cyrano_certificate::{check, parse, print, provable};
use cyrano_conformance::certified::certificate;
use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::{Explore, Unwritten};
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;

/// Certificates with more states are for the long run.
fn most() -> usize {
    if pinned::long() { cyrano_certificate::MOST_STATES } else { 1_000 }
}

/// Whether a verified property has a certificate, of at most so many states, which is accepted; `Err` says why it is not.
fn accepted(program: &Program, property: &Property, model: &Model) -> Result<bool, String> {
    if provable(program, property).is_err() {
        return Ok(false);
    }
    let place = || format!("{} on {}", property.criterion(), model.name);
    let certificate = match certificate((program, property), model, most(), &limits(60.0, 3)) {
        Ok(certificate) => certificate,
        Err(Unwritten::Refused(_) | Unwritten::TooMany { .. } | Unwritten::Otherwise(..)) => return Ok(false),
        Err(why) => return Err(format!("{}: {why}", place())),
    };
    let read = parse(&print(&certificate)).map_err(|why| format!("{}: {why}", place()))?;
    let checked = check(&read, &limits(600.0, 3)).map_err(|why| format!("{}: {why:#?}", place()))?;
    // All of its states are reachable: without one of them nothing is proven.
    for at in [0, read.states.len() / 2, read.states.len() - 1] {
        let mut less = read.clone();
        less.states.remove(at);
        if checked.reached == checked.states && check(&less, &limits(600.0, 3)).is_ok() {
            return Err(format!("{}: accepted without state {at}", place()));
        }
    }
    let none = cyrano_certificate::Certificate { states: Vec::new(), ..read };
    match check(&none, &limits(600.0, 3)) {
        Ok(_) => Err(format!("{}: accepted without states", place())),
        Err(_) => Ok(true),
    }
}

fn count(program: &Program, properties: &[Property], models: &[Model]) -> Result<usize, String> {
    let pairs = properties.iter().flat_map(|property| models.iter().map(move |model| (property, model)));
    pairs.map(|(property, model)| accepted(program, property, model).map(usize::from)).sum()
}

fn declared(program: &Program) -> Vec<Property> {
    program.checks.iter().map(|check| check.property.clone()).collect()
}

#[test]
fn litmus_tests_and_locks() {
    let mut entries = corpus::in_folder("litmus");
    entries.extend(corpus::in_folder("locks"));
    let models = cyrano_memory::all();
    let found = corpus::for_each(&entries, |name, entry| {
        let program = cyrano_rml::compile(&entry.source, name, &[]).map_err(|error| format!("{error:?}"))?;
        count(&program, &declared(&program), &models)
    });
    println!("litmus tests and locks: {found} certificates are accepted, and refused without a state");
    assert!(found >= 400, "only {found} certificates");
}

#[test]
fn invariants_and_races() {
    let mut entries = corpus::in_folder("invariants");
    entries.extend(corpus::in_folder("atomicity"));
    let models = ["sc", "tso", "pso", "rmo"].map(model);
    let found = corpus::for_each(&entries, |name, entry| {
        let program = cyrano_rml::compile(&entry.source, name, &[]).map_err(|error| format!("{error:?}"))?;
        count(&program, &declared(&program), &models)
    });
    println!("invariants, races and atomic blocks: {found} certificates");
    assert!(found >= 40, "only {found} certificates");
}

#[test]
fn data_types() {
    let models = ["sc", "tso", "pso"].map(model);
    let calls = if pinned::long() { 4 } else { 2 };
    let found = corpus::for_each(&corpus::files("datatypes", "c"), |_, (path, source)| {
        let one = |(_, program): &(String, Program)| {
            let serial = model("serial");
            let query = Query::new(program, &serial, Question::Outcomes).expect("a question");
            let mined = Explore::default().ask(query, &limits(20.0, 3), &());
            match mined.verdict {
                Verdict::Verified => count(program, &[Property::Observations(mined.outcomes)], &models),
                _ => Ok(0),
            }
        };
        corpus::c_programs(path, source, calls).iter().map(one).sum()
    });
    assert!(found >= 20, "only {found} certificates");
}

#[test]
fn transactional_memories() {
    let models = ["sc", "tso"].map(model);
    let properties = [TxCriterion::Opacity, TxCriterion::StrictSerializability].map(Property::Transactions);
    let entries: Vec<_> = corpus::in_folder("stm").into_iter().filter(|(name, _)| !name.contains("_bug_")).collect();
    let found = corpus::for_each(&entries, |name, entry| {
        let size = [("threads".to_owned(), 2), ("vars".to_owned(), 1)];
        let Ok(program) = cyrano_rml::compile(&entry.source, name, &size) else { return Ok(0) };
        count(&program, &properties, &models)
    });
    assert!(found >= 3, "only {found} certificates");
}

//! The C data types of the library: on tests small enough for all of them the engines give the same observations, and what a header
//! promises to be correct is.

use cyrano_conformance::compare::model;
use cyrano_conformance::corpus::{self, Promise};
use cyrano_conformance::limits;
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Liveness, Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;

/// Tests with more calls are left to the command line.
const MOST_CALLS: usize = 2;

/// Runs `check` on every small test of every C file, with the file's header; says how many there were.
fn for_each(check: impl Fn(&str, &[Promise], &Program) + Sync) -> usize {
    corpus::for_each(&corpus::files("datatypes", "c"), |file, (path, source)| {
        let promises = corpus::promises(source).map_err(|error| error.to_string())?;
        let programs = corpus::c_programs(path, source, MOST_CALLS);
        programs.iter().for_each(|(test, program)| check(&format!("{file} {test}"), &promises, program));
        Ok(programs.len())
    })
}

fn ask(engine: &dyn Engine, program: &Program, model: &Model, question: Question<'_>) -> Answer {
    let work = if engine.name() == "interp" { 0.06 } else { 20.0 };
    engine.ask(Query::new(program, model, question).expect("a question"), &limits(work, 3), &())
}

#[test]
fn engines_agree_on_observations() {
    let count = for_each(|place, _, program| {
        for name in ["serial", "sc", "tso", "pso"] {
            let model = model(name);
            let explored = ask(&Explore::default(), program, &model, Question::Outcomes);
            assert_eq!(explored.verdict, Verdict::Verified, "{place} on {name}");
            for engine in [&Symbolic::default() as &dyn Engine, &Interp] {
                let other = ask(engine, program, &model, Question::Outcomes);
                let invented: Vec<_> = other.outcomes.difference(&explored.outcomes).collect();
                let place = format!("{place} on {name} by {}", engine.name());
                assert!(invented.is_empty(), "{place}: {invented:?}");
                if other.verdict == Verdict::Verified {
                    assert_eq!(other.outcomes, explored.outcomes, "{place}");
                }
            }
        }
    });
    assert!(count >= 10, "only {count} small tests are left");
}

#[test]
fn what_headers_promise_to_be_correct_is() {
    for_each(|place, promises, program| {
        let allowed = ask(&Explore::default(), program, &model("serial"), Question::Outcomes).outcomes;
        let property = Property::Observations(allowed);
        for promise in promises.iter().filter(|promise| promise.verdict == "verified") {
            let (explore, model) = (Explore::default(), model(&promise.model));
            let engine: &dyn Engine = if explore.runs(program, &model) { &explore } else { &Symbolic::default() };
            let answer = ask(engine, program, &model, Question::Holds(&property));
            let place = format!("{place} on {} by {}", model.name, engine.name());
            assert_ne!(answer.verdict, Verdict::Violated, "{place}: {:?}", answer.violation);
        }
    });
}

/// The table of `docs/termination.md`: which data types get done although threads are stopped. The last cells start with the verdicts.
#[test]
fn the_table_of_operations_tells_the_truth() {
    let docs = std::fs::read_to_string(corpus::folder().join("../docs/termination.md")).expect("the page");
    let rows = docs.lines().skip_while(|line| !line.starts_with("### The data types"));
    let rows: Vec<Vec<String>> = rows
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect())
        .collect();
    assert!(rows.len() >= 12, "only {} rows", rows.len());
    let (files, mut wrong) = (corpus::files("datatypes", "c"), Vec::new());
    for row in rows {
        let [_, name, test, lock_free, obstruction_free, _] = &row[..] else { panic!("{row:?}") };
        let (_, (path, source)) =
            files.iter().find(|(file, _)| *file == format!("{name}.c")).unwrap_or_else(|| panic!("{name}"));
        let programs = corpus::c_programs(path, source, 6);
        let (_, program) = programs.iter().find(|(own, _)| own == test).unwrap_or_else(|| panic!("{name} {test}"));
        for (liveness, expected) in [(Liveness::LockFree, lock_free), (Liveness::ObstructionFree, obstruction_free)] {
            for model in ["sc", "tso", "pso"].map(model) {
                let property = Property::Live(liveness);
                let found = ask(&Explore::default(), program, &model, Question::Holds(&property)).verdict;
                if !expected.starts_with(found.name()) {
                    wrong.push(format!("{name} {test}: {} on {}", found.name(), model.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

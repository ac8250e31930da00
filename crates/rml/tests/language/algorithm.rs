//! The tests of `algorithm` files: one `check` function per feature, on top of what is here.

mod clients;
mod endless;
mod kinds;
mod library;
mod limits;
mod orders;
mod semantics;
mod settings;
mod soup;

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property};
use cyrano_rml::CompileError;
use cyrano_rml::algorithm::{Test, tests as compile};

/// The tests of a file that must be right.
fn tests(source: &str) -> Vec<Test> {
    tests_with(source, &[])
}

fn tests_with(source: &str, set: &[(&str, i128)]) -> Vec<Test> {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let tests = match compile("test", source, &set) {
        Ok(tests) => tests,
        Err(CompileError::Diagnostics(found)) => panic!("{found:#?}"),
        Err(other) => panic!("{other:?}"),
    };
    for test in &tests {
        assert_eq!(cyrano_ir::verify(&test.program), Ok(()), "{}", test.name);
        let text = cyrano_ir::text::print(&test.program);
        assert_eq!(cyrano_ir::text::parse(&text), Ok(test.program.clone().untold()), "{}", test.name);
    }
    tests
}

/// The explorer's answer. A condition over final states does not look at the history.
fn ask(program: &Program, model: &str, question: Question<'_>) -> Answer {
    let without = program.without_calls();
    let transactions = matches!(question, Question::Holds(Property::Transactions(_)));
    let program = if transactions { program } else { &without };
    let model = cyrano_memory::named(model).expect("a model");
    let explore = Explore::default();
    assert!(explore.runs(program, &model));
    let limits = Limits::default().with_looks(20_000);
    explore.ask(Query::new(program, &model, question).expect("a question"), &limits, &())
}

/// Whether each of a test's checks holds in each of its models.
fn verdicts(test: &Test) -> Vec<(String, String, Verdict)> {
    let mut found = Vec::new();
    for check in &test.program.checks {
        for model in &check.models {
            let answer = ask(&test.program, model, Question::Holds(&check.property));
            found.push((check.property.criterion().to_owned(), model.clone(), answer.verdict));
        }
    }
    found
}

/// The outcomes in order, sorted.
fn outcomes(test: &Test) -> Vec<Vec<i128>> {
    let answer = ask(&test.program, "inorder", Question::Outcomes);
    assert_eq!(answer.verdict, Verdict::Verified);
    answer.outcomes.into_iter().collect()
}

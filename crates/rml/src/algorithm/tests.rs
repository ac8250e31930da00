//! The tests of `algorithm` files: one `check` function for verdicts, one for diagnostics.

mod library;

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property};

use super::{Test, tests as compile};
use crate::CompileError;

/// The tests of a file that must be right.
fn tests(source: &str) -> Vec<Test> {
    tests_with(source, &[])
}

fn tests_with(source: &str, set: &[(&str, i64)]) -> Vec<Test> {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let tests = match compile("test", source, &set) {
        Ok(tests) => tests,
        Err(CompileError::Diagnostics(found)) => panic!("{found:#?}"),
        Err(other) => panic!("{other:?}"),
    };
    for test in &tests {
        assert_eq!(cyrano_ir::verify(&test.program), Ok(()), "{}", test.name);
        let text = cyrano_ir::text::print(&test.program);
        assert_eq!(cyrano_ir::text::parse(&text).as_ref(), Ok(&test.program), "{}", test.name);
    }
    tests
}

/// The answer to a property in order, on the program without its calls.
fn holds(program: &Program, property: &Property) -> Verdict {
    let program = program.without_calls();
    let model = cyrano_memory::named("inorder").expect("a model");
    let query = Query { program: &program, model: &model, question: Question::Holds(property) };
    Explore::default().ask(query, &Limits::default(), &()).verdict
}

/// The outcomes in order.
fn outcomes(program: &Program) -> Vec<Vec<i64>> {
    let program = program.without_calls();
    let model = cyrano_memory::named("inorder").expect("a model");
    let query = Query { program: &program, model: &model, question: Question::Outcomes };
    let answer = Explore::default().ask(query, &Limits::default(), &());
    assert_eq!(answer.verdict, Verdict::Verified);
    answer.outcomes.into_iter().collect()
}

//! Tests of the whole crate: C in, programs out, run by the reference interpreter.

mod arithmetic;
mod bad_input;
mod blocks;
mod data;
mod flow;
mod intrinsics;
mod ir;
mod preprocessor;
mod robust;
mod test_files;

use std::collections::BTreeSet;

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Violation};
use cyrano_interp::Interp;
use cyrano_ir::{Diagnostic, Op, Program, Property};

use crate::{TestFile, Unit};

/// A checked file without files beside it.
fn unit(source: &str) -> Unit {
    crate::parse(source, "test", &|_| None).unwrap_or_else(|errors| panic!("{}", render(source, &errors)))
}

/// Diagnostics as lines: `line: message | marked text | help`.
fn render(source: &str, errors: &[Diagnostic]) -> String {
    let place = |span: cyrano_ir::Span| {
        let upto = source.get(..span.start as usize).unwrap_or_default();
        let text = source.get(span.range()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        (upto.matches('\n').count() + 1, text)
    };
    let mut lines = String::new();
    for error in errors {
        let (line, text) = place(error.span);
        lines += &format!("{line}: {} | {text} | {}\n", error.message, error.label);
        for (span, what) in &error.related {
            let (line, text) = place(*span);
            lines += &format!("  {line}: {text} | {what}\n");
        }
        lines += &error.help.as_ref().map_or(String::new(), |help| format!("  help: {help}\n"));
    }
    lines
}

fn file(unit: &Unit, tests: &str) -> TestFile {
    crate::tests(tests, unit).unwrap_or_else(|errors| panic!("{}", render(tests, &errors)))
}

/// The program of the test `T`.
fn program(source: &str, tests: &str) -> Program {
    let unit = unit(source);
    let file = file(&unit, tests);
    let test = file.test("T").expect("the test is called T");
    let program = unit.program(test).unwrap_or_else(|errors| panic!("{}", render(source, &errors)));
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

fn ask(program: &Program, model: &str, question: Question<'_>) -> Answer {
    let model = cyrano_memory::named(model).expect("a known model");
    let limits = Limits { iterations: 12, ..Limits::default() };
    Interp.ask(Query { program, model: &model, question }, &limits, &())
}

/// The program of the test `T` without the clean-up.
fn as_lowered(source: &str, tests: &str) -> Program {
    let unit = unit(source);
    let file = file(&unit, tests);
    let program = unit.program_as_lowered(file.test("T").expect("the test is called T")).expect("lowers");
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

/// What the test `T` can observe, with the clean-up and without.
fn outcomes(source: &str, tests: &str, model: &str) -> BTreeSet<Vec<i128>> {
    let program = program(source, tests);
    let answer = ask(&program, model, Question::Outcomes);
    assert_eq!(answer.violation, None, "{}", cyrano_ir::text::print(&program));
    let lowered = ask(&as_lowered(source, tests), model, Question::Outcomes);
    assert_eq!(lowered.outcomes, answer.outcomes, "the clean-up changed {}", cyrano_ir::text::print(&program));
    answer.outcomes
}

/// What a single call of `f()` returns.
fn returns(source: &str) -> Vec<i128> {
    let found = outcomes(source, "f = f()\ntest T = ( f )\n", "sc");
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().flatten().collect()
}

/// What goes wrong in a single call of `f()`.
fn fails(source: &str) -> String {
    let program = program(source, "f = f() \ntest T = ( f )\n");
    let found = failure(&program);
    assert_eq!(found, failure(&as_lowered(source, "f = f() \ntest T = ( f )\n")), "the clean-up changed it");
    found
}

fn failure(program: &Program) -> String {
    let answer = ask(program, "sc", Question::Holds(&Property::Assertions));
    let place = |debug: String| debug.split("error: ").last().map_or(debug.clone(), str::to_string);
    match answer.violation {
        None => "nothing".into(),
        Some(Violation::Assertion { thread, instr }) => match &program.instr(thread, instr).op {
            Op::Assert { message, .. } => message.clone().unwrap_or_default(),
            other => panic!("{other:?} is no assertion"),
        },
        Some(other) => place(format!("{other:?}")),
    }
}

/// The diagnostics of a file.
fn errors(source: &str) -> String {
    match crate::parse(source, "test", &|_| None) {
        Ok(_) => "no errors".into(),
        Err(errors) => render(source, &errors),
    }
}

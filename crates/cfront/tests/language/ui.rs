//! The front end on the cases of `tests/ui`: C in; diagnostics, listings, or what the reference interpreter finds out.
//!
//! Lines `//~` of a case are its tests; without them each function `f`, `f1`, `f2`, … is called alone. A line `//- name` begins a file beside it.
//! The mark's words: `listing` shows the programs, `spans` the statement of each instruction, `under MODEL` runs under another model than sc.
//! Every program is asked twice, with the clean-up and without, and has to give the same.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cases::Case;
use crate::common::render;
use cyrano_cfront::Unit;
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict, Violation};
use cyrano_interp::Interp;
use cyrano_ir::{Diagnostic, Op, Program, Property};

#[test]
fn every_case_is_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let count = crate::cases::run(&folder, "c", &|case| show(case).unwrap_or_else(|errors| errors));
    assert!(count >= 108, "only {count} cases");
}

fn show(case: &Case) -> Result<String, String> {
    let (source, tests, files) = parts(&case.text);
    let beside = |name: &str| files.get(name).cloned();
    let unit = cyrano_cfront::parse(&source, "test", &beside).map_err(|errors| render(&source, &errors))?;
    let tests = if tests.is_empty() { each_alone(&unit) } else { tests };
    let file = cyrano_cfront::tests(&tests, &unit).map_err(|errors| render(&tests, &errors))?;
    let mut shown = String::new();
    for test in &file.tests {
        let lowers = |found: Result<Program, Vec<Diagnostic>>| found.map_err(|errors| render(&source, &errors));
        let program = lowers(unit.program(test))?;
        let lowered = lowers(unit.program_as_lowered(test))?;
        assert_eq!((cyrano_ir::verify(&program), cyrano_ir::verify(&lowered)), (Ok(()), Ok(())));
        if case.words.iter().any(|word| word == "listing") {
            shown += &listing(&program);
        } else if case.words.iter().any(|word| word == "spans") {
            shown += &spans(&program, &source);
        } else {
            let model = case.words.iter().skip_while(|word| *word != "under").nth(1).map_or("sc", |word| word);
            let found = runs(&program, model);
            assert_eq!(found, runs(&lowered, model), "{}: the clean-up changed {}", case.name, listing(&program));
            shown += &format!("{}: {found}\n", test.name);
        }
    }
    Ok(if shown.is_empty() { "no errors\n".into() } else { shown })
}

/// The source of a case, its tests, and the files beside it.
fn parts(text: &str) -> (String, String, BTreeMap<String, String>) {
    let (mut source, mut tests, mut files, mut beside) = (String::new(), String::new(), BTreeMap::new(), None);
    for line in text.split_inclusive('\n') {
        if let Some(test) = line.strip_prefix("//~ ") {
            tests += test;
        } else if let Some(name) = line.strip_prefix("//- ") {
            beside = Some(name.trim().to_owned());
        } else {
            let into = beside.as_ref().map_or(&mut source, |name| files.entry(name.clone()).or_default());
            *into += line;
        }
    }
    (source, tests, files)
}

fn each_alone(unit: &Unit) -> String {
    let functions = unit.functions().into_iter();
    let called = functions
        .filter(|name| name.strip_prefix('f').is_some_and(|rest| rest.parse::<u32>().is_ok() || rest.is_empty()));
    called.map(|name| format!("{name}a = {name}()\ntest {name} = ( {name}a )\n")).collect()
}

/// The program's text without its notes.
fn listing(program: &Program) -> String {
    let text = cyrano_ir::text::print(program);
    text.lines().map(|line| line.split(" ; ").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// The instructions of the first thread, each with the text that it comes from.
fn spans(program: &Program, source: &str) -> String {
    let text = listing(program);
    let code = text.lines().filter(|line| line.starts_with("  @"));
    let code = code.zip(&program.threads[0].code);
    code.map(|(line, instr)| format!("{line} | {}\n", &source[instr.span.range()])).collect()
}

/// What goes wrong, or else every observation.
fn runs(program: &Program, model: &str) -> String {
    let holds = ask(program, model, Question::Holds(&Property::Assertions));
    match holds.violation {
        Some(Violation::Assertion { thread, instr }) => match &program.instr(thread, instr).op {
            Op::Assert { message, .. } => return format!("fails: {}", message.as_deref().unwrap_or_default()),
            other => panic!("{other:?} is no assertion"),
        },
        Some(other) => {
            let debug = format!("{other:?}");
            return format!("fails: {}", debug.split("error: ").last().unwrap_or(&debug));
        }
        None => {}
    }
    let found = ask(program, model, Question::Outcomes).outcomes;
    let bounded = holds.reason.filter(|_| holds.verdict == Verdict::Bounded);
    let bounded = bounded.map(|why| format!(", bounded: {why}"));
    let found: Vec<_> = found.iter().map(|outcome| format!("{outcome:?}")).collect();
    let found = if found.is_empty() { "nothing".into() } else { found.join(" ") };
    found + &bounded.unwrap_or_default()
}

fn ask(program: &Program, model: &str, question: Question<'_>) -> Answer {
    let model = cyrano_memory::named(model).expect("a known model");
    let limits = Limits { iterations: 12, ..Limits::default() };
    Interp.ask(Query::new(program, &model, question).expect("a question"), &limits, &())
}

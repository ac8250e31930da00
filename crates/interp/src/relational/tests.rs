//! Litmus tests in the IR's text form, under models about relations: what is known to be allowed or not, from the papers and from herd's documentation.

use std::collections::BTreeSet;

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_ir::Program;

use crate::Interp;

mod language;
mod machines;
mod pruning;
mod records;

/// A program of these threads, each a list of instructions separated by `;`, over locations `x`, `y`, `z` and `v[2]` and registers `a`, `b`, `c`, `d`.
fn program(threads: &[&str], observed: &str) -> Program {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n");
    source.push_str("location \"v[0]\" = 0\nlocation \"v[1]\" = 0\narray v = \"v[0]\" of 2\n");
    for (number, thread) in threads.iter().enumerate() {
        source.push_str(&format!("thread t{number}\n"));
        "abcd".chars().for_each(|register| source.push_str(&format!("register {register} = 0\n")));
        for (pc, op) in thread.split(';').map(str::trim).chain(["halt"]).enumerate() {
            source.push_str(&format!("@{pc}: {op}\n"));
        }
    }
    for name in observed.split_whitespace() {
        source.push_str(&format!(
            "observe \"{name}\" = {}\n",
            if name.contains(':') { format!("t{name}") } else { name.into() }
        ));
    }
    let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    cyrano_ir::verify(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    program
}

fn ask(program: &Program, model: &str) -> Answer {
    let model = cyrano_memory::named(model).expect("a model");
    let query = Query::new(program, &model, Question::Outcomes).unwrap_or_else(|refusal| panic!("{refusal}"));
    Interp.ask(query, &Limits::default(), &())
}

/// Whether an outcome (`1:a=1 1:b=0 x=2`) is allowed under each model.
fn check(threads: &[&str], outcome: &str, expected: &[(&str, bool)]) {
    let (names, values): (Vec<&str>, Vec<i128>) = outcome
        .split_whitespace()
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name, value.parse::<i128>().expect("a number")))
        .unzip();
    let program = program(threads, &names.join(" "));
    for (model, allowed) in expected {
        let answer = ask(&program, model);
        assert_eq!(answer.verdict, Verdict::Verified, "{model}: {:?}", answer.reason);
        assert_eq!(answer.outcomes.contains(&values), *allowed, "{model}: {outcome} of {threads:#?}");
    }
}

/// The flags that a program raises.
fn flags(threads: &[&str], model: &str) -> BTreeSet<String> {
    ask(&program(threads, "x"), model).flags
}

//! Measures the symbolic engine on an RML, IR or C file: `measure FILE [TEST] [MODEL] [outcomes|assertions|observations] [cubic] [wide] [idle] [twins]`.
//!
//! `wide`, `idle` and `twins` switch off the reductions `ranges`, `idle-iterations` and `thread-symmetry`.
//! `observations` first mines the outcomes under `serial` and then asks whether the model shows others.

use std::time::{Duration, Instant};

use cyrano_engine::{Limits, Query, Question};
use cyrano_ir::Property;
use cyrano_symbolic::{OrderEncoding, Symbolic};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().expect("a file");
    let source = std::fs::read_to_string(path).expect("the file can be read");
    let program = match path.rsplit_once('.') {
        Some((_, "rml")) => cyrano_rml::compile(&source, path, &[]).expect("the program compiles"),
        Some((_, "c")) => c_program(path, &source, &arguments[1]),
        _ => cyrano_ir::text::parse(&source).expect("the program can be read"),
    };
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let model =
        arguments.iter().find_map(|name| cyrano_memory::named(name)).or_else(|| cyrano_memory::named("relaxed"));
    let model = model.expect("a model");
    let order = if has("cubic") { OrderEncoding::Cubic } else { OrderEncoding::Theory };
    let (ranges, idle_iterations, thread_symmetry) = (!has("wide"), !has("idle"), !has("twins"));
    let check_lemmas = has("check");
    let engine = Symbolic { order, ranges, idle_iterations, thread_symmetry, check_lemmas, ..Symbolic::default() };
    let limits = Limits::default().with_timeout(Some(Duration::from_secs(600)));
    let ask = |model, question| {
        let started = Instant::now();
        let (answer, stats) =
            engine.ask_with_stats(Query::new(&program, model, question).expect("a question"), &limits, &());
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{}: {:?} {:?} {:?}, {} outcomes, {seconds:.2} s",
            model.name,
            answer.verdict,
            answer.reason,
            answer.violation,
            answer.outcomes.len()
        );
        println!("  {stats:?}");
        answer
    };
    if has("observations") {
        let serial = cyrano_memory::named("serial").expect("a model");
        let allowed = ask(&serial, Question::Outcomes).outcomes;
        ask(&model, Question::Holds(&Property::Observations(allowed)));
    } else if has("assertions") {
        ask(&model, Question::Holds(&Property::Assertions));
    } else {
        ask(&model, Question::Outcomes);
    }
}

/// The program of a test of a C file; the tests stand beside it.
fn c_program(path: &str, source: &str, test: &str) -> cyrano_ir::Program {
    let unit = cyrano_cfront::parse(source, path, &|_| None).expect("the C file compiles");
    let stem =
        path.trim_end_matches(".c").trim_end_matches("_unfenced").trim_end_matches("_uninit").trim_end_matches("_bug");
    let tests = std::fs::read_to_string(format!("{stem}.tests")).expect("the tests can be read");
    let tests = cyrano_cfront::tests(&tests, &unit).expect("the tests are right");
    let test = tests.tests.iter().find(|candidate| candidate.name == test).expect("there is such a test");
    unit.program(test).expect("the test becomes a program")
}

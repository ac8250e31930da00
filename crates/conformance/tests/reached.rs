//! What is never reached: the explorer and the symbolic engine, which find it out in different ways, say the same.

use std::collections::BTreeSet;

use cyrano_conformance::generate::program;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Op, Program, Property, Span};
use cyrano_symbolic::Symbolic;
use proptest::test_runner::TestCaseError;

/// The parts of the source that no thread reaches. What stands in atomic sections is left out: into one that is shut the explorer looks, and notes what
/// it passes.
fn unreached(program: &Program, answer: &Answer) -> Option<BTreeSet<Span>> {
    let missed = answer.unreached.as_ref()?;
    let mut spans = [BTreeSet::new(), BTreeSet::new()];
    for thread in program.thread_ids() {
        let mut inside = false;
        for (pc, instr) in program.thread(thread).code.iter().enumerate() {
            inside = instr.op != Op::AtomicEnd && (inside || instr.op == Op::AtomicBegin);
            let is_missed = missed.contains(&(thread, cyrano_ir::InstrId::new(pc)));
            if !inside && !matches!(instr.op, Op::Jump(_) | Op::Halt | Op::AtomicEnd) {
                spans[usize::from(is_missed)].insert(instr.span);
            }
        }
    }
    let [reached, missed] = spans;
    Some(missed.difference(&reached).copied().collect())
}

/// Says how many verdicts both explained.
fn agree(program: &Program) -> Result<usize, String> {
    let mut compared = 0;
    for model in ["sc", "tso", "pso"].map(|name| cyrano_memory::named(name).expect("a model")) {
        let query = Query::new(program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let engines: [&dyn Engine; 2] = [&Explore::default(), &Symbolic::default()];
        if engines.iter().any(|engine| engine.supports(&query).is_err()) {
            continue;
        }
        let answers = engines.map(|engine| engine.ask(query, &limits(0.5, 3), &()));
        if answers.iter().any(|answer| !matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous)) {
            continue;
        }
        let [Some(explored), Some(solved)] = answers.each_ref().map(|answer| unreached(program, answer)) else {
            continue;
        };
        if explored != solved {
            return Err(format!("{}: {explored:?} explored, {solved:?} solved", model.name));
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn engines_agree_on_the_library() {
    let (mut compared, mut wrong) = (0, Vec::new());
    let mut entries = corpus::entries().expect("the library can be read");
    entries.retain(|entry| entry.path.parent().is_some_and(|folder| folder.ends_with("litmus")));
    for entry in entries {
        let name = entry.path.file_name().expect("a file name").to_string_lossy().into_owned();
        let Ok(program) = cyrano_rml::compile(&entry.source, &name, &[]) else { continue };
        match agree(&program) {
            Ok(new) => compared += new,
            Err(error) => wrong.push(format!("{name}, {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 440, "only {compared} compared");
}

#[test]
fn engines_agree_on_random_programs() {
    let compared = std::cell::Cell::new(0);
    let result = pinned::runner(400, file!()).run(&program(), |random| {
        let new =
            agree(&random.program()).map_err(|error| TestCaseError::fail(format!("{error}\n{}", random.shown())))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let compared = compared.get();
    assert!(compared >= 850, "only {compared} compared");
}

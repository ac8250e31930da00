//! Unsatisfiable answers are not taken on faith: the memory order as clauses, another solver, a proof, and a checker that knows neither.

use std::collections::BTreeSet;

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;

/// How often loops are repeated in the exported formula.
const ITERATIONS: usize = 1;

/// Solves a formula with varisat; a proof that there is no model is checked by varisat's checker from the formula's text.
fn is_satisfiable(dimacs: &str) -> bool {
    let mut proof = Vec::new();
    let mut solver = varisat::Solver::new();
    solver.write_proof(&mut proof, varisat::ProofFormat::Varisat);
    solver.add_dimacs_cnf(dimacs.as_bytes()).expect("the formula can be read");
    let satisfiable = solver.solve().expect("the solver ends");
    solver.close_proof().expect("the proof is complete");
    drop(solver);
    if !satisfiable {
        let mut checker = varisat_checker::Checker::new();
        checker.add_dimacs_cnf(dimacs.as_bytes()).expect("the formula can be read");
        checker.check_proof(&proof[..]).expect("the proof is right");
    }
    satisfiable
}

#[test]
fn the_checker_rejects_a_proof_of_something_else() {
    let mut proof = Vec::new();
    let mut solver = varisat::Solver::new();
    solver.write_proof(&mut proof, varisat::ProofFormat::Varisat);
    solver.add_dimacs_cnf(&b"p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n"[..]).expect("the formula can be read");
    assert!(!solver.solve().expect("the solver ends"));
    solver.close_proof().expect("the proof is complete");
    drop(solver);
    let mut checker = varisat_checker::Checker::new();
    checker.add_dimacs_cnf(&b"p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n"[..]).expect("the formula can be read");
    assert!(checker.check_proof(&proof[..]).is_err());
}

/// Compares the engine's answer with the formula's; whether there was a proof.
fn compare(program: &Program, model: &Model, property: &Property) -> Result<bool, String> {
    let engine = Symbolic { iterations: ITERATIONS, check_lemmas: true, ..Symbolic::default() };
    let query = Query { program, model, question: Question::Holds(property) };
    let (answer, stats) = engine.ask_with_stats(query, &limits(60.0, 1), &());
    let dimacs = engine.dimacs(query, ITERATIONS).map_err(|refusal| refusal.reason)?;
    let found = is_satisfiable(&dimacs);
    let shown = answer.execution.is_some();
    if found != shown || stats.wrong_lemmas > 0 {
        let wrong = stats.wrong_lemmas;
        return Err(format!(
            "{}: {:?}, formula satisfiable: {found}, {wrong} wrong lemmas",
            model.name, answer.verdict
        ));
    }
    Ok(!found)
}

#[test]
fn the_library_has_proofs() {
    let mut entries = corpus::entries().expect("the library can be read");
    entries.retain(|entry| entry.path.parent().is_some_and(|parent| parent.ends_with("litmus")));
    let (mut proofs, mut failures) = (0, Vec::new());
    for entry in entries.iter().step_by(4) {
        let name = entry.path.file_name().expect("a file name").to_string_lossy();
        let program = cyrano_rml::compile(&entry.source, &name, &[]).expect("the library compiles");
        for model in cyrano_memory::all() {
            for check in &program.checks {
                match compare(&program, &model, &check.property) {
                    Ok(proof) => proofs += usize::from(proof),
                    Err(error) => failures.push(format!("{name}: {error}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(proofs >= 50, "only {proofs} proofs were checked");
}

/// The program of a test of the library's queue.
fn queue(file: &str, test: &str) -> Program {
    let folder = corpus::folder().join("datatypes");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the library can be read");
    let unit = cyrano_cfront::parse(&read(file), file, &|_| None).expect("the library compiles");
    let tests = cyrano_cfront::tests(&read("msn.tests"), &unit).expect("the tests are right");
    let test = tests.tests.iter().find(|candidate| candidate.name == test).expect("there is such a test");
    unit.program(test).expect("the test becomes a program")
}

fn mined(program: &Program) -> BTreeSet<Vec<i128>> {
    let serial = cyrano_memory::named("serial").expect("a model");
    let query = Query { program, model: &serial, question: Question::Outcomes };
    let answer = Symbolic::default().ask(query, &limits(60.0, 1), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{:?}", answer.reason);
    answer.outcomes
}

#[test]
fn the_queue_has_proofs() {
    let program = queue("msn.c", "T0");
    let allowed = mined(&program);
    assert_eq!(allowed.len(), 4);
    for model in cyrano_memory::all() {
        let property = Property::Observations(allowed.clone());
        assert_eq!(compare(&program, &model, &property), Ok(true), "{}", model.name);
    }
    let mut fewer = allowed;
    fewer.pop_first();
    let model = cyrano_memory::named("sc").expect("a model");
    assert_eq!(compare(&program, &model, &Property::Observations(fewer)), Ok(false));
}

#[test]
fn the_queue_without_fences_fails_and_its_execution_replays() {
    let relaxed = cyrano_memory::named("relaxed").expect("a model");
    for test in ["T0", "Tpc2"] {
        let program = queue("msn_unfenced.c", test);
        let property = Property::Observations(mined(&program));
        let query = Query { program: &program, model: &relaxed, question: Question::Holds(&property) };
        let answer = Symbolic::default().ask(query, &limits(60.0, 1), &());
        assert_eq!(answer.verdict, Verdict::Violated, "{test}: {:?}", answer.reason);
        let execution = answer.execution.as_ref().expect("an execution");
        let confirmed = cyrano_interp::confirm(&program, &relaxed, &property, answer.violation.as_ref(), execution);
        assert!(confirmed.is_ok(), "{test}: {:?} {:?}", answer.violation, confirmed.err());
    }
}

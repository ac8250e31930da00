//! The executions that a counterexample is said to stand for (`trace::Shape`; Lesani and Palsberg, Fig. 3): every one of them, or a sample of
//! them where there are many, is replayed by the reference interpreter, and has to be as wrong as the counterexample itself.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Access, Engine, Execution, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_symbolic::Symbolic;
use cyrano_trace::{Parts, Trace};

/// More executions than this are sampled.
const MOST: usize = 400;

/// A counterexample with everything that it is made of.
struct Found {
    program: Program,
    property: Property,
    model: &'static str,
    violation: Option<cyrano_engine::Violation>,
    execution: Execution,
    trace: Trace,
}

fn find(program: Program, property: Property, name: &'static str, source: &str) -> Found {
    let about_calls = matches!(property, Property::Transactions(_));
    let program = if about_calls { program } else { program.without_calls() };
    let model = model(name);
    let engine: &dyn Engine = match model.reordering().own_order && !about_calls {
        true => &Symbolic::default(),
        false => &Explore::default(),
    };
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 2), &());
    let (violation, execution) = (answer.violation, answer.execution.expect("a counterexample"));
    let replayed = cyrano_interp::confirm(&program, &model, &property, violation.as_ref(), &execution);
    let replayed = replayed.expect("what an engine shows replays");
    let trace = Trace::build(&Parts {
        version: "test",
        file: "test.rml",
        source,
        set: &[],
        test: None,
        program: &program,
        model: &model,
        property: &property,
        violation: violation.as_ref(),
        execution: &execution,
        replayed: &replayed,
    });
    Found { program, property, model: name, violation, execution, trace }
}

fn algorithm(file: &str, test: &str, criterion: &str, model: &'static str) -> Found {
    let files = corpus::files("tm-objects", "rml");
    let (_, (_, text)) = files.into_iter().find(|(name, _)| name.starts_with(&format!("{file}."))).expect("the file");
    let tests = cyrano_rml::algorithm::tests(file, &text, &[]).expect("it compiles");
    let test = tests.into_iter().find(|found| found.name == test).expect("the test");
    let mut checks = test.program.checks.iter().map(|check| check.property.clone());
    let property = match TxCriterion::from_name(criterion) {
        Some(criterion) => Property::Transactions(criterion),
        None => checks.find(|property| property.criterion() == criterion).expect("the check"),
    };
    find(test.program, property, model, &text)
}

impl Found {
    /// What each thread performs in each row, in units that stay whole.
    fn rows(&self) -> Vec<Vec<Vec<Vec<Access>>>> {
        let shape = self.trace.shape.as_ref().expect("a shape");
        let names: Vec<&String> = self.program.threads.iter().map(|thread| &thread.name).collect();
        let of = |row: &Vec<cyrano_trace::Segment>, name: &String| {
            let mut units: Vec<Vec<Access>> = Vec::new();
            let mut last = 0;
            for segment in row.iter().filter(|segment| segment.thread == *name) {
                let steps = self.trace.steps.iter().zip(&self.execution.order);
                for (step, access) in steps.filter(|(step, _)| step.thread == *name) {
                    // Calls without accesses name the steps before them again.
                    if step.n <= last || !(segment.first..=segment.last).contains(&step.n) {
                        continue;
                    }
                    last = step.n;
                    match units.last_mut().filter(|_| step.within.is_some()) {
                        Some(unit) => unit.push(*access),
                        None => units.push(vec![*access]),
                    }
                }
            }
            units
        };
        shape.rows.iter().map(|row| names.iter().map(|name| of(row, name)).collect()).collect()
    }

    fn confirm(&self, order: Vec<Access>) {
        assert_eq!(order.len(), self.execution.order.len(), "every step is in some row");
        let execution = Execution { order, choices: self.execution.choices.clone(), relations: None };
        let model = model(self.model);
        let replayed =
            cyrano_interp::confirm(&self.program, &model, &self.property, self.violation.as_ref(), &execution);
        replayed.unwrap_or_else(|error| panic!("{}: {error}", self.model));
    }

    /// Replays all executions of the shape, or a sample of them; how many.
    fn replay(&self) -> usize {
        let rows = self.rows();
        let told = self.trace.shape.as_ref().and_then(|shape| shape.interleavings.clone()).expect("a number");
        match told.parse::<usize>() {
            Ok(told) if told <= MOST => {
                let all = all(&rows);
                assert_eq!(all.len(), told, "as many as it says");
                all.into_iter().for_each(|order| self.confirm(order));
                told
            }
            _ => {
                let mut seed = 1;
                (0..MOST).for_each(|_| self.confirm(sample(&rows, &mut seed)));
                MOST
            }
        }
    }
}

/// Every way through the rows.
fn all(rows: &[Vec<Vec<Vec<Access>>>]) -> Vec<Vec<Access>> {
    let mut done = vec![Vec::new()];
    for row in rows {
        let mut ways = Vec::new();
        interleave(row, &mut vec![0; row.len()], &mut Vec::new(), &mut ways);
        done = done.iter().flat_map(|before| ways.iter().map(|way| [before.clone(), way.clone()].concat())).collect();
    }
    done
}

fn interleave(row: &[Vec<Vec<Access>>], at: &mut [usize], way: &mut Vec<Access>, ways: &mut Vec<Vec<Access>>) {
    let mut ended = true;
    for thread in 0..row.len() {
        let Some(unit) = row[thread].get(at[thread]) else { continue };
        ended = false;
        at[thread] += 1;
        way.extend(unit);
        interleave(row, at, way, ways);
        way.truncate(way.len() - unit.len());
        at[thread] -= 1;
    }
    if ended {
        ways.push(way.clone());
    }
}

/// One way through the rows.
fn sample(rows: &[Vec<Vec<Vec<Access>>>], seed: &mut u64) -> Vec<Access> {
    let mut order = Vec::new();
    for row in rows {
        let mut at = vec![0; row.len()];
        loop {
            let open: Vec<usize> = (0..row.len()).filter(|thread| at[*thread] < row[*thread].len()).collect();
            if open.is_empty() {
                break;
            }
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let thread = open[(*seed >> 33) as usize % open.len()];
            order.extend(&row[thread][at[thread]]);
            at[thread] += 1;
        }
    }
    order
}

#[test]
fn every_execution_of_a_shape_is_as_wrong() {
    let mut replayed = 0;
    for mode in ["inorder", "declared", "literal"] {
        replayed += algorithm("core_mcrt", "P_WE", "never", mode).replay();
        replayed += algorithm("core_mcrt", "P_WE2", "never", mode).replay();
    }
    replayed += algorithm("core_dstm", "P_WS", "never", "inorder").replay();
    replayed += algorithm("core_mcrt", "P_WE", "opacity", "declared").replay();
    replayed += algorithm("core_dstm", "P_WS", "final-state-opacity", "inorder").replay();
    assert!(replayed > 1_000, "{replayed} executions");
}

/// A transactional memory of the library.
fn memory(file: &str) -> (Program, String) {
    let text = corpus::text(&corpus::folder().join("stm").join(file)).expect("the file");
    (cyrano_rml::compile(&text, "client", &[]).expect("it compiles"), text)
}

#[test]
fn so_is_every_execution_of_a_client_of_an_stm() {
    let (values, text) = memory("mcrt_timestamps_no_validation.rml");
    assert!(find(values, Property::Transactions(TxCriterion::Opacity), "sc", &text).replay() > 10);
    let (program, text) = memory("privatization_no_quiesce.rml");
    let never = program.checks.iter().map(|check| &check.property).find(|property| property.criterion() == "never");
    let never = never.expect("the check").clone();
    for name in ["sc", "tso"] {
        assert_eq!(find(program.clone(), never.clone(), name, &text).replay(), MOST);
    }
}

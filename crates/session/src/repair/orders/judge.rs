//! The clients of an algorithm, judged together with one set of orders after another.
//!
//! What a client finds out is not asked again: one that is correct with some orders is correct with more. A set is tried first on the
//! client that refused the last one, then on those with patterns, which the symbolic engine answers at once, then on those that take
//! an exploration.
//!
//! **Invariant:** every counterexample was confirmed by the reference interpreter on the program with the orders; one that is not ends
//! the search with an internal error.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cyrano_engine::{Execution, Query, Question, Replayed, Violation, Watch};
use cyrano_fences::{Judgement, Wrong};
use cyrano_ir::{InstrId, OwnOrder, Program, Property, ThreadId};
use cyrano_memory::Model;
use cyrano_rml::algorithm::{Mode, OrderPair, Test};
use cyrano_trace::Trace;

use crate::case::Case;
use crate::failure::{self, Failure};
use crate::repair::{Aim, Task, judged};
use crate::run::Runner;

/// Two accesses of a thread, the first one before the second one in the text.
pub(super) type Pair = (ThreadId, InstrId, InstrId);

/// A counterexample.
#[derive(Clone)]
pub(super) struct Shown {
    /// The number of the client.
    pub(super) case: usize,
    /// What it performed out of order.
    pub(super) overtaken: Vec<Pair>,
    /// The trace, if there is an execution.
    pub(super) trace: Option<Trace>,
    /// What it takes to replay it.
    evidence: Option<Rc<Evidence>>,
}

/// An execution, and what it violates.
struct Evidence {
    property: Property,
    violation: Option<Violation>,
    execution: Execution,
}

/// The clients and what is to hold of them.
pub(super) struct Judge<'a> {
    task: &'a Task<'a>,
    /// For each case its client.
    pub(super) tests: Vec<Arc<Test>>,
    pub(super) mode: Option<Mode>,
    runner: &'a Runner,
    watch: &'a dyn Watch,
    /// For each client the sets of orders that it is known to be correct with.
    correct: RefCell<Vec<Vec<BTreeSet<OrderPair>>>>,
    refused: Cell<Option<usize>>,
    failure: RefCell<Option<Failure>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        tests: Vec<Arc<Test>>,
        mode: Option<Mode>,
        runner: &'a Runner,
        watch: &'a dyn Watch,
    ) -> Self {
        let correct = RefCell::new(vec![Vec::new(); task.aims.len()]);
        Self { task, tests, mode, runner, watch, correct, refused: Cell::new(None), failure: RefCell::new(None) }
    }

    /// What a search could not carry.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// What a client keeps in order with these declared orders, as far as that can be told before it runs.
    pub(super) fn order(&self, case: usize, declared: &[OrderPair]) -> OwnOrder {
        self.mode.map(|mode| self.tests[case].kept(mode, declared)).unwrap_or_default()
    }

    /// Whether a counterexample stays possible with these declared orders: whether it can be replayed.
    pub(super) fn allows(&self, wrong: &Shown, declared: &[OrderPair]) -> bool {
        let Some(evidence) = &wrong.evidence else { return true };
        let Evidence { property, violation, execution } = &**evidence;
        let program = self.tests[wrong.case].with_orders(declared);
        let program = match property {
            Property::Transactions(_) => program,
            _ => program.without_calls(),
        };
        cyrano_interp::confirm(&program, self.task.model, property, violation.as_ref(), execution).is_ok()
    }

    /// Whether all clients are correct with these declared orders.
    pub(super) fn judge(&self, declared: &[OrderPair]) -> Judgement<Shown> {
        let set: BTreeSet<OrderPair> = declared.iter().cloned().collect();
        let mut unknown = None;
        for case in self.turn() {
            if self.correct.borrow()[case].iter().any(|known| known.is_subset(&set)) {
                continue;
            }
            match self.judge_on(case, declared, self.task.model) {
                Judgement::Correct => self.correct.borrow_mut()[case].push(set.clone()),
                Judgement::Unknown(reason) => unknown = unknown.or(Some(reason)),
                wrong => {
                    self.refused.set(Some(case));
                    return wrong;
                }
            }
        }
        unknown.map_or(Judgement::Correct, Judgement::Unknown)
    }

    /// The clients that go wrong in the order of the text, where orders change nothing.
    pub(super) fn wrong_in_order(&self) -> Result<Vec<Shown>, Failure> {
        let Some(inorder) = cyrano_memory::named("inorder") else { return Ok(Vec::new()) };
        let judged = (0..self.tests.len()).map(|case| self.judge_on(case, &[], &inorder));
        let wrong = judged.filter_map(|judgement| match judgement {
            Judgement::Wrong(wrong) => Some(wrong.evidence),
            _ => None,
        });
        let wrong = wrong.collect();
        self.finish()?;
        Ok(wrong)
    }

    /// The clients in the order in which they are judged.
    fn turn(&self) -> Vec<usize> {
        let explored = |case: &Aim<'_>| case.goals.iter().any(|goal| goal.criterion() != "never");
        let mut turn: Vec<usize> = (0..self.tests.len()).collect();
        turn.sort_by_key(|case| (self.refused.get() != Some(*case), explored(&self.task.aims[*case]), *case));
        turn
    }

    fn judge_on(&self, case: usize, declared: &[OrderPair], model: &Model) -> Judgement<Shown> {
        let Aim { case: loaded, goals } = &self.task.aims[case];
        let program = self.tests[case].with_orders(declared);
        for goal in goals {
            let property = match goal.property(self.runner, loaded, self.watch) {
                Ok(property) => property,
                Err(reason) => return Judgement::Unknown(reason),
            };
            match self.ask(case, &program, &property, model) {
                Judgement::Correct => {}
                other => return other,
            }
        }
        Judgement::Correct
    }

    fn ask(&self, case: usize, program: &Program, property: &Property, model: &Model) -> Judgement<Shown> {
        let about_calls = matches!(property, Property::Transactions(_));
        let plain;
        let program = if about_calls {
            program
        } else {
            plain = program.without_calls();
            &plain
        };
        let query = match Query::new(program, model, Question::Holds(property)) {
            Ok(query) => query,
            Err(why) => return Judgement::Unknown(why.to_string()),
        };
        let answer = match about_calls {
            true => self.runner.ask(query, self.watch).answer,
            false => self.runner.ask_symbolic_first(query, self.watch).answer,
        };
        let loaded = self.task.aims[case].case;
        let what = || format!("{} of {}", property.criterion(), loaded.test_name().unwrap_or_default());
        match judged(self.runner, loaded, program, (property, model), &answer, what) {
            Ok(Judgement::Correct) => Judgement::Correct,
            Ok(Judgement::Unknown(why)) => Judgement::Unknown(why),
            Ok(Judgement::Wrong(Wrong { execution, replayed, evidence: trace })) => {
                let (property, violation) = (property.clone(), answer.violation);
                let evidence = Evidence { property, violation, execution: execution.clone() };
                let evidence = trace.is_some().then(|| Rc::new(evidence));
                let shown = Shown { case, overtaken: overtaken(&replayed), trace, evidence };
                Judgement::Wrong(Wrong { execution, replayed, evidence: shown })
            }
            Err(why) => self.fail(loaded, &why),
        }
    }

    fn fail(&self, loaded: &Case, why: &str) -> Judgement<Shown> {
        let text = format!("while orders were sought for {}, {why}", loaded.source.name);
        *self.failure.borrow_mut() = Some(Failure::Internal(failure::bug(&text)));
        Judgement::Unknown(why.to_owned())
    }
}

/// What an execution performed out of the order of the text.
fn overtaken(replayed: &Replayed) -> Vec<Pair> {
    let of = |step: &cyrano_engine::StepFacts| {
        let (thread, second) = (step.access.thread, step.instr);
        step.overtook.iter().map(move |first| (thread, first.instr, second)).collect::<Vec<_>>()
    };
    replayed.steps.iter().flat_map(of).collect()
}

//! The clients of an algorithm, judged together with one set of orders after another.
//!
//! What a client finds out is not asked again: one that is correct with some orders is correct with more. A set is tried first on the
//! client that refused the last one, then on those with patterns, which the symbolic engine answers at once, then on those that take
//! an exploration.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cyrano_engine::{Execution, Query, Question, Replayed, StepFacts, Violation};
use cyrano_ir::{InstrId, OwnOrder, Program, Property, Quantifier, ThreadId};
use cyrano_memory::Model;
use cyrano_rml::algorithm::{Mode, OrderPair, Test};

use super::{Ask, Fault, Trouble, judge};
use crate::suite::Judgement;

/// Two accesses of a thread, the first one before the second one in the text.
pub(super) type Pair = (ThreadId, InstrId, InstrId);

/// A counterexample.
#[derive(Clone)]
pub struct Shown<T> {
    /// The number of the client.
    pub client: usize,
    /// What it performed out of order: accesses of a thread, the first one before the second one in the text.
    pub overtaken: Vec<Pair>,
    /// What is told about it, if there is an execution.
    pub trace: Option<T>,
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
pub struct Clients<'a, A: Ask> {
    asker: &'a A,
    model: &'a Model,
    /// The clients.
    pub tests: Vec<Arc<Test>>,
    /// The mode of execution that the model is.
    pub mode: Option<Mode>,
    /// For each client the sets of orders that it is known to be correct with.
    correct: RefCell<Vec<Vec<BTreeSet<OrderPair>>>>,
    refused: Cell<Option<usize>>,
    trouble: RefCell<Option<Trouble>>,
}

impl<'a, A: Ask> Clients<'a, A> {
    /// These clients are to be correct on a model.
    pub fn new(asker: &'a A, model: &'a Model, tests: Vec<Arc<Test>>) -> Self {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == model.name);
        let correct = RefCell::new(vec![Vec::new(); tests.len()]);
        Self { asker, model, tests, mode, correct, refused: Cell::new(None), trouble: RefCell::new(None) }
    }

    /// What a search could not carry.
    pub fn finish(&self) -> Result<(), Trouble> {
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// What a client keeps in order with these declared orders, as far as that can be told before it runs.
    pub fn order(&self, client: usize, declared: &[OrderPair]) -> OwnOrder {
        self.mode.map(|mode| self.tests[client].kept(mode, declared)).unwrap_or_default()
    }

    /// Whether a counterexample stays possible with these declared orders: whether it can be replayed.
    pub fn allows(&self, wrong: &Shown<A::Trace>, declared: &[OrderPair]) -> bool {
        let Some(evidence) = &wrong.evidence else { return true };
        let Evidence { property, violation, execution } = &**evidence;
        let program = self.tests[wrong.client].with_orders(declared);
        let program = form(&program, property);
        let query = Query::new(&program, self.model, Question::Holds(property));
        query.is_ok_and(|query| self.asker.confirms(query, violation.as_ref(), execution))
    }

    /// Whether all clients are correct with these declared orders.
    pub fn judge(&self, declared: &[OrderPair]) -> Judgement<Shown<A::Trace>> {
        let set: BTreeSet<OrderPair> = declared.iter().cloned().collect();
        let mut unknown = None;
        for client in self.turn() {
            if self.correct.borrow()[client].iter().any(|known| known.is_subset(&set)) {
                continue;
            }
            match self.judge_on(client, declared, self.model) {
                Judgement::Correct => self.correct.borrow_mut()[client].push(set.clone()),
                Judgement::Unknown(reason) => unknown = unknown.or(Some(reason)),
                wrong => {
                    self.refused.set(Some(client));
                    return wrong;
                }
            }
        }
        unknown.map_or(Judgement::Correct, Judgement::Unknown)
    }

    /// The clients that go wrong in the order of the text, where orders change nothing.
    pub fn wrong_in_order(&self) -> Result<Vec<Shown<A::Trace>>, Trouble> {
        let Some(inorder) = cyrano_memory::named("inorder") else { return Ok(Vec::new()) };
        let judged = (0..self.tests.len()).map(|client| self.judge_on(client, &[], &inorder));
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
        let is_pattern = |property: Result<Property, String>| {
            matches!(property, Ok(Property::Final { quantifier: Quantifier::Never, .. }))
        };
        let explored =
            |client: usize| (0..self.asker.goals(client)).any(|goal| !is_pattern(self.asker.property(client, goal)));
        let mut turn: Vec<usize> = (0..self.tests.len()).collect();
        turn.sort_by_cached_key(|client| (self.refused.get() != Some(*client), explored(*client), *client));
        turn
    }

    fn judge_on(&self, client: usize, declared: &[OrderPair], model: &Model) -> Judgement<Shown<A::Trace>> {
        let program = self.tests[client].with_orders(declared);
        let what = |property: &Property| {
            format!("{} of {}", property.criterion(), self.asker.name(client).unwrap_or_default())
        };
        let put = |_: usize, query: Query<'_>| self.asker.ask(client, query, None);
        let judged = judge(self.asker, client, model, |property| form(&program, property), what, put, &self.trouble);
        judged.map(|execution, replayed, Fault { property, violation, trace }| {
            let evidence = Evidence { property, violation, execution: execution.clone() };
            let evidence = trace.is_some().then(|| Rc::new(evidence));
            Shown { client, overtaken: overtaken(replayed), trace, evidence }
        })
    }
}

/// The program as a property looks at it: calls and responses matter to criteria for transactions only.
fn form<'p>(program: &'p Program, property: &Property) -> Cow<'p, Program> {
    match property {
        Property::Transactions(_) => Cow::Borrowed(program),
        _ => Cow::Owned(program.without_calls()),
    }
}

/// What an execution performed out of the order of the text.
fn overtaken(replayed: &Replayed) -> Vec<Pair> {
    let of = |step: &StepFacts| {
        let (thread, second) = (step.access.thread, step.instr);
        step.overtook.iter().map(move |first| (thread, first.instr, second)).collect::<Vec<_>>()
    };
    replayed.steps.iter().flat_map(of).collect()
}

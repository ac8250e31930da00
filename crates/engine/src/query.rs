//! The question, and who may ask it.
//!
//! **Invariant:** a [`Query`] makes sense: whatever an engine says about it means what it says. There is no other way to one than
//! [`Query::new`], so the rules are here and nowhere else.

use cyrano_ir::{Access, AccessKind, COMMIT_ORDER, Op, Program, Property, TxCriterion};
use cyrano_memory::Model;

use crate::lasso::client_choices;
use crate::moments;
use crate::refusal::{EveryNumber, Inexact, Lack, Refusal};

/// What is asked: of a program, under a memory model.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    program: &'a Program,
    model: &'a Model,
    question: Question<'a>,
}

/// What to find out about the executions of a program.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// Does the property hold?
    Holds(&'a Property),
    /// Which valuations of the observed variables can a final state have?
    Outcomes,
}

impl<'a> Query<'a> {
    /// The question, unless it makes no sense, whoever would answer it:
    ///
    /// - Axiom 9: under a model with own orders only a program runs that has an order for it.
    /// - The base objects of an algorithm are linearizable, and it says itself which of its statements stay in order; a model that reorders
    ///   statements on its own is not for it, but for what is made of it when its objects are words of memory (`cyrano_rml::algorithm::in_words`).
    /// - A tag of an access, and the name of a fence, has to mean something under the model.
    /// - A program whose threads stand for any number of threads is no instance.
    /// - A property has to be about something that the program has.
    /// - An invariant has to have a value at every moment ([`crate::moments`]); races are defined where all accesses stay in order.
    pub fn new(program: &'a Program, model: &'a Model, question: Question<'a>) -> Result<Self, Refusal> {
        if model.has_own_order() && program.own_order(&model.name).is_none() {
            let model = model.name.clone();
            return Err(if program.in_order { Refusal::OnlyInOrder { model } } else { Refusal::NoOwnOrder { model } });
        }
        if let Some(family) = program.families.first() {
            return Err(Refusal::EveryNumber(EveryNumber::Open { family: family.name.clone() }));
        }
        let own = program.in_order || !program.orders.is_empty();
        if own && !model.has_own_order() && !in_order(model) {
            return Err(Refusal::ForeignModel { model: model.name.clone(), relational: model.cat().is_some() });
        }
        if let Some(refusal) = unknown(program, model) {
            return Err(refusal);
        }
        if let Question::Holds(property) = question
            && let Some(lack) = lacks(program, property)
        {
            return Err(Refusal::Lacks { criterion: property.criterion(), lack });
        }
        match question {
            Question::Holds(Property::Invariant(invariant)) => moments::supports(program, model, invariant)?,
            Question::Holds(Property::Races) if !knows_races(model) => {
                return Err(Refusal::RacesUnder { model: model.name.clone() });
            }
            _ => {}
        }
        Ok(Self { program, model, question })
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The memory model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// What to find out.
    pub fn question(&self) -> Question<'a> {
        self.question
    }

    /// Refuses a model about relations: for engines that order all accesses.
    pub fn reorders(&self) -> Result<(), Refusal> {
        let refused = || Refusal::Inexact(Inexact::Relational { model: self.model.name.clone() });
        if self.model.cat().is_some() { Err(refused()) } else { Ok(()) }
    }

    /// The property that is asked about, if it is one.
    pub fn property(&self) -> Option<&'a Property> {
        match self.question {
            Question::Holds(property) => Some(property),
            Question::Outcomes => None,
        }
    }
}

/// Whether a model keeps the order of all accesses.
fn in_order(model: &Model) -> bool {
    let kinds = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw];
    model.cat().is_none() && kinds.into_iter().all(|kind| model.reordering().keeps_all_after(kind))
}

/// Whether races are defined under a model: where all accesses stay in order, or by itself.
fn knows_races(model: &Model) -> bool {
    match model.cat() {
        Some(cat) => cat.plan().data_race().is_some(),
        None => in_order(model) && !model.reordering().serial,
    }
}

/// What the program says of its accesses and fences that means nothing under the model.
fn unknown(program: &Program, model: &Model) -> Option<Refusal> {
    let known = model.known_tags();
    let said = |access: &Access| (access.tags | access.failed.unwrap_or_default()).orders().without(known);
    if let Some(tags) = program.accesses().map(said).find(|tags| !tags.is_empty()) {
        return Some(Refusal::UnknownTags { model: model.name.clone(), tags });
    }
    let fence = program.fences().find(|fence| !model.knows(*fence))?;
    Some(Refusal::UnknownFence { model: model.name.clone(), fence: fence.to_string() })
}

/// Whether its threads choose commands for ever, and say where their transactions end.
fn has_endless_clients(program: &Program) -> bool {
    let chooses = program.thread_ids().any(|thread| !client_choices(program, thread).is_empty());
    let ends = |op: &Op| matches!(op, Op::Transaction(_));
    chooses && program.threads.iter().flat_map(|thread| &thread.code).any(|instr| ends(&instr.op))
}

/// What a program would need so that the property says something about it.
pub fn lacks(program: &Program, property: &Property) -> Option<Lack> {
    let (calls, variables) = (program.has_calls(), !program.transactional.is_empty());
    let (has, lack) = match property {
        Property::Assertions
        | Property::Final { .. }
        | Property::Observations(_)
        | Property::Invariant(_)
        | Property::Races => return None,
        Property::CommitAtomicity => (program.has_blocks(), Lack::Blocks),
        // Clients that go on for ever say where transactions end, those of algorithms as well; others call and come to an end.
        Property::Progress(_) | Property::Structure(_) => {
            (!calls && has_endless_clients(program), Lack::EndlessTransactions)
        }
        Property::Live(_) if has_endless_clients(program) => return Some(Lack::OwnThreads),
        Property::Live(liveness) => match liveness.label() {
            Some(label) => {
                (program.threads.iter().any(|thread| thread.marks(Some(label.name())).next().is_some()), Lack::Label)
            }
            None => return None,
        },
        Property::Transactions(TxCriterion::InOrder(order)) => {
            let known = order.name() == COMMIT_ORDER || program.serial_order(order.name()).is_some();
            (program.restarts() && known, Lack::Order)
        }
        Property::Transactions(TxCriterion::Spec(_)) => (!calls && variables, Lack::Transactions),
        Property::Transactions(criterion) if criterion.is_by_conflicts() => (calls || variables, Lack::Transactions),
        Property::Transactions(_) => (calls, Lack::Calls),
    };
    (!has).then_some(lack)
}

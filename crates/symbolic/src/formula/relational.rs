//! Models about relations: the axioms of a cat model over the events of an unrolled program.
//!
//! `events` turns accesses, fences and initial writes into the events of a cat model and gives each base relation a table of literals; who reads from whom is
//! chosen by literals, and the writes to a word are in the order of a graph that has to be acyclic. `bounds` computes for every expression of the model what it
//! must and what it may contain, by a fixpoint over the definitions. `literals` makes literals for what is in between, and only for what an axiom asks about.
//! `axioms` demands the conditions: an acyclic relation is one more graph, of which only pairs count that may be in a cycle.
//!
//! **Given that both are executed.** The literal of a pair says that it is in the relation where both of its events are executed; elsewhere it means nothing. So program
//! order, products of sets and fences that are certainly between two accesses are constants. Who looks at an event in between, in a composition, adds its guard,
//! unless one of the ends implies it.
//!
//! **One direction is enough.** A condition `acyclic r`, `irreflexive r` or `empty r` fails when too much is in `r`. So for `r` the clauses say only that what is in
//! the relation has its literal (*at least*); behind a `\` or `~` they say only that what has its literal is in the relation (*at most*), and so on inwards. Both are satisfied by the
//! relations of the execution themselves, so every allowed execution is a model; and in a model literals are at least (or at most) those of the execution, so that
//! its conditions hold. For closures and recursive definitions *at least* is what the definition says, each pair from smaller ones: literals that
//! support one another in a circle do no harm, for the least solution is among the models. *At most* would need a reason that is not a circle,
//! so models with a closure or a recursive definition in such a position are refused; of the built-in ones there is none, for flags are looked for, not forbidden.

mod axioms;
mod base;
mod bounds;
mod events;
mod faults;
mod hang;
mod literals;

use cyrano_ir::{LocId, Program};
use cyrano_memory::cat::{Axiom, Cat, Node, NodeId, Plan, Test};
use rustc_hash::FxHashMap;

use crate::execute::event::Run;
use crate::execute::range::Range;
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::graph::Graph;
use crate::formula::lit::Lit;

pub(crate) use events::{Act, Part};
pub(crate) use faults::Fault;
pub(crate) use hang::hang;

/// What a model of the formula says about relations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relational {
    /// The events: initial writes, then those of each thread in program order.
    pub(crate) parts: Vec<Part>,
    /// A write, a read that may see it, and the literal that says so.
    pub(crate) rf: Vec<(usize, usize, Lit)>,
    /// Two writes, and the literal that says that the first hits the word before the second, where both are executed.
    pub(crate) co: Vec<(usize, usize, Lit)>,
    /// The read and the write of each read-modify-write of one instruction.
    pub(crate) amo: Vec<(usize, usize)>,
    /// Flags, each with a literal that holds only if it is raised.
    pub(crate) flags: Vec<(String, Lit)>,
    /// Pairs that may race, each with a literal that holds only if they do.
    pub(crate) races: Vec<(usize, usize, Lit)>,
    /// Final memory, as far as it is asked about.
    pub(crate) finals: FxHashMap<LocId, Value>,
}

/// What is encoded.
pub(crate) struct Setting<'a> {
    pub(crate) program: &'a Program,
    pub(crate) run: &'a Run,
    pub(crate) words: &'a [Range],
    /// The words of final memory that are asked about.
    pub(crate) asked: &'a [LocId],
}

/// Encodes executions that a model allows.
pub(crate) fn encode(set: &Setting<'_>, cat: &Cat, gates: &mut Gates) -> (Relational, Graph) {
    let plan = cat.plan();
    let mut events = events::Events::new(set, plan, gates);
    let finals = events.final_words(set, gates);
    let guards: Vec<Lit> = events.parts.iter().map(|part| part.guard).collect();
    let bounds = bounds::Bounds::new(plan, &guards, &mut events, gates);
    let mut literals = literals::Literals::new(plan, bounds, &guards, gates);
    let mut graph = std::mem::take(&mut events.graph);
    let mut found = Relational { finals, ..Relational::default() };
    axioms::encode(&mut literals, &events, &mut graph, &mut found);
    literals.finish();
    found.amo = events.amo().into_iter().map(|(read, write, _)| (read, write)).collect();
    (found.rf, found.co) = (events.rf, events.co);
    found.parts = events.parts;
    (found, graph)
}

/// Why a model cannot be encoded, if it cannot.
pub(crate) fn objection(plan: &Plan) -> Option<&'static str> {
    let hard = |axiom: &Axiom| axiom.test == Test::Acyclic && (axiom.flag || axiom.negated);
    if plan.axioms.iter().any(hard) {
        return Some("a condition that demands a cycle");
    }
    let mut seen = vec![[false; 2]; plan.nodes.len()];
    let mut todo: Vec<(NodeId, bool)> = plan.axioms.iter().map(|axiom| (axiom.of, at_least(axiom))).collect();
    while let Some((node, at_least)) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize][usize::from(at_least)], true) {
            continue;
        }
        match plan.nodes[node as usize] {
            Node::Plus(_) | Node::Star(_) | Node::Sofar(..) | Node::Fixpoint(..) if !at_least => {
                return Some("a closure or a recursive definition that is taken away from something");
            }
            Node::Fixpoint(group, _) | Node::Sofar(group, _) => {
                todo.extend(plan.groups[group as usize].bodies.iter().map(|body| (*body, at_least)));
            }
            Node::Diff(a, b) => todo.extend([(a, at_least), (b, !at_least)]),
            Node::Complement(a) => todo.push((a, !at_least)),
            other => todo.extend(other.operands().map(|of| (of, at_least))),
        }
    }
    None
}

/// Whether what a condition looks at has to have its literals, rather than that what has a literal has to be in it.
fn at_least(axiom: &Axiom) -> bool {
    !axiom.negated
}

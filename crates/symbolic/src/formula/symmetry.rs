//! Threads that do the same (reduction `thread-symmetry`): of executions that differ in who is who, one is looked for.
//!
//! A test like `( e | e | e | e )` has the same execution 24 times, with the threads in all orders. Where exchanging two threads turns executions into
//! executions and keeps the question, one access is chosen at the same place of both, and of two that are executed the first thread's comes
//! first in the memory order: one more edge of the graph.
//!
//! **Which threads.** A [`Swap`] exchanges two threads, the words of objects that belong to one of them with those of the other, and pointers
//! into them wherever they are held. It is used if
//!
//! - it maps the text of the program (all threads, the setup thread included), the registers and initial memory to themselves;
//! - every computation commutes with it, for all values that [ranges](crate::execute::range) say its operands may have: `p == q` always does, `p + 8` does where it
//!   stays in the object, `p < q` or a number that might be taken for a pointer does not. Indices of registers do not move, and an access through a
//!   pointer touches the word that moves with the pointer. This is checked by a walk without clauses ([`Exchanges`]);
//! - the question is about assertions, or about observations whose allowed set is mapped to itself (columns exchanged, values moved);
//! - the program has no order of its own, and both threads have been unrolled to the same accesses, fences and ends of loops.
//!
//! **Argument.** Take an execution within the bounds that shows what is asked about, or takes a loop beyond its bound. By induction on the steps of
//! each thread its image under a swap is an execution of the program: the exchanged thread reads images of what the other read,
//! computes images of what it computed, takes the same branches and accesses images of its words. Axioms are about program order, kinds of
//! accesses, equality of addresses, fences and dependencies, which are all mapped along, so the image of the memory order satisfies them. The image is within the
//! bounds, because both threads are unrolled alike, and shows what is asked about (bounds of twins grow together, see [`crate::solve::ask`]). It is idle
//! where the execution is. Swaps of neighbours in a class of threads generate all its permutations, and those of one class leave the
//! chosen accesses of another alone. So there is an image in which the chosen accesses of every class, as far as they are executed, are in the order of
//! the threads (those whose access is not executed come last), and it satisfies every edge added here: the literal of an edge says that both accesses are executed.
//!
//! Outcomes are enumerated without this, because each of them counts.

use cyrano_engine::Question;
use cyrano_ir::automorphisms::{Exchange, neighbours};
use cyrano_ir::{AccessKind, FenceSet, InstrId, Program, Property, ThreadId};
use cyrano_memory::Model;

use crate::execute::event::{Item, Run};
use crate::formula::gates::Gates;
use crate::formula::lit::Lit;
use crate::formula::order::Order;
use crate::formula::swap::Swap;

/// Swaps that a walk puts to the test.
#[derive(Debug, Default)]
pub(crate) struct Exchanges(Vec<Swap>);

impl Exchanges {
    /// These are to be tested.
    pub(crate) fn new(swaps: Vec<Swap>) -> Self {
        Self(swaps)
    }

    /// Drops what does not keep something that the walk has met.
    pub(crate) fn retain(&mut self, keeps: impl FnMut(&Swap) -> bool) {
        self.0.retain(keeps);
    }

    /// Whether anything is tested.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is left.
    pub(crate) fn into_swaps(self) -> Vec<Swap> {
        self.0
    }
}

/// The swaps of neighbouring threads that keep the text of the program and the question.
pub(crate) fn candidates(program: &Program, model: &Model, question: Question<'_>) -> Vec<Swap> {
    let keeps = |swap: &Exchange| match question {
        Question::Holds(Property::Assertions) => true,
        Question::Holds(Property::Observations(allowed)) => swap.keeps_outcomes(program, allowed),
        _ => false,
    };
    let asked = matches!(question, Question::Holds(Property::Assertions | Property::Observations(_)));
    if !asked || model.own_order(program).is_some() {
        return Vec::new();
    }
    neighbours(program, keeps).into_iter().map(Swap::from).collect()
}

/// Something that a thread has been unrolled to.
#[derive(PartialEq, Eq)]
enum Piece {
    Access(InstrId, AccessKind),
    Fence(FenceSet),
    /// A fence that may be there, with its position: where it is in one thread, it is in the other.
    Optional(u32),
    /// The head of a loop that a bound cuts off.
    Cut(InstrId),
}

/// All that a thread has been unrolled to.
fn shape(run: &Run, thread: ThreadId) -> Vec<Piece> {
    let item = |item: &Item| match item {
        Item::Access(number) => Piece::Access(run.events[*number].instr, run.events[*number].kind),
        Item::Fence(_, set, _) => Piece::Fence(*set),
        Item::Optional(_, position, _) => Piece::Optional(*position),
    };
    let cut = run.exceeded.iter().filter(|(key, _)| key.thread == thread).map(|(key, _)| Piece::Cut(key.head));
    run.threads[thread.index()].items.iter().map(item).chain(cut).collect()
}

fn accesses(run: &Run, thread: ThreadId) -> Vec<usize> {
    let items = run.threads[thread.index()].items.iter();
    items.filter_map(|item| if let Item::Access(number) = item { Some(*number) } else { None }).collect()
}

/// The place of the access that decides who is first: the first one whose address is computed, else the first to a word that both know.
///
/// Any would do. Measured on the queues: where a computed address comes into play threads begin to compete, and edges there leave six times fewer
/// conflicts for `( e | e | e | e )`; an edge between loads of one variable half of that, one between stores to private words nothing.
fn decisive(run: &Run, swap: &Swap, accesses: &[usize]) -> Option<usize> {
    let address = |number: &usize| &run.events[*number].address;
    let computed = accesses.iter().position(|number| address(number).single().is_none());
    let common = |number: &usize| address(number).words.iter().all(|(word, _)| swap.word(*word) == *word);
    computed.or_else(|| accesses.iter().position(common))
}

/// Orders the threads; the number of pairs for which that was possible.
pub(crate) fn order_threads(order: &mut Order<'_>, gates: &mut Gates, swaps: &[Swap]) -> u64 {
    let run = order.run;
    let mut pairs = 0;
    for swap in swaps {
        let [a, b] = swap.threads;
        if shape(run, a) != shape(run, b) {
            continue;
        }
        let (first, second) = (accesses(run, a), accesses(run, b));
        let Some(at) = decisive(run, swap, &first) else { continue };
        let both: Lit = gates.and(run.events[first[at]].guard, run.events[second[at]].guard);
        order.graph.edge(both, order.nodes[first[at]], order.nodes[second[at]]);
        pairs += 1;
    }
    pairs
}

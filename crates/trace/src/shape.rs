//! The set of executions that one execution stands for, as Lesani and Palsberg draw it (Fig. 3): each thread from top to bottom, with barriers
//! across; what stands above a barrier is done before anything below it begins, and between two barriers the threads interleave as they like.
//!
//! **Argument.** Take two executions with the same accesses, in which each thread performs its own in the same order and every two accesses of
//! one location of which one writes are in the same order. A load then finds the same store before it, or the same store of its own to be
//! forwarded, so it reads the same value, the threads do the same, and memory ends the same. Axioms of memory models are about
//! accesses of one thread and about atomic sections, which stay whole here. So whatever is claimed of final states, of assertions, errors and
//! deadlocks holds of both or of neither. A criterion for transactions looks at a history as well: calls, responses, events, and accesses of
//! transactional variables keep their order, so the history is the same. The barriers keep all of these pairs in order: a
//! pair of two threads is never between the same two barriers.
//!
//! How the steps are spread over rows decides only how many executions the picture has, never whether it is true.

use std::collections::BTreeMap;

use cyrano_engine::Violation;
use cyrano_ir::{AccessKind, Op, Property, ThreadId};

use crate::record::Parts;
use crate::rerun;
use crate::schema::{ModelInfo, OperationInfo, Segment, Shape, Step};
use crate::timeline::NO_ACCESS;

/// Longer executions are not drawn: the picture would be no shorter than they are.
const MOST_STEPS: usize = 200;

/// What a further row, and a further cut through a call, have to be worth: a factor of e^0.7, and of e^0.9, more executions.
const ROW: f64 = 0.7;
const CUT: f64 = 0.9;

/// How often all changes are tried.
const MOST_ROUNDS: usize = 20;

/// What stays whole: a call of a base object, an atomic section, or an access.
struct Node {
    thread: ThreadId,
    /// Its steps, from 0.
    steps: Vec<usize>,
    /// The call that it belongs to.
    call: Option<usize>,
}

/// The set of executions that are like this one; none if that cannot be told, or if there is nothing to be gained.
pub(crate) fn shape(parts: &Parts<'_>, steps: &[Step], operations: &[OperationInfo]) -> Option<Shape> {
    let kept = match (parts.violation, parts.property) {
        (Some(Violation::Blocks | Violation::Lasso(_)), _) | (None, Property::Assertions) => return None,
        (_, property) => matches!(property, Property::Transactions(_)),
    };
    let tells = operations.iter().any(|operation| operation.result.is_some());
    let unordered = parts.model.cat().is_some();
    if !tells
        || unordered
        || ModelInfo::from(parts.model).serial
        || parts.program.setup.is_some()
        || steps.len() > MOST_STEPS
    {
        return None;
    }
    let nodes = nodes(parts, steps, operations);
    let order = Order::new(parts, &nodes, kept);
    let rows = order.rows(&nodes);
    Some(draw(parts, steps, operations, &nodes, &rows))
}

/// The nodes in memory order.
fn nodes(parts: &Parts<'_>, steps: &[Step], operations: &[OperationInfo]) -> Vec<Node> {
    let sections: Vec<BTreeMap<u32, usize>> =
        parts.program.thread_ids().map(|thread| sections(parts, thread)).collect();
    let mut nodes: Vec<Node> = Vec::new();
    for (at, (step, facts)) in steps.iter().zip(&parts.replayed.steps).enumerate() {
        let thread = facts.access.thread;
        let section = |at: usize| sections[thread.index()].get(&parts.replayed.steps[at].access.index);
        let joined = nodes.last().is_some_and(|node| {
            let last = node.steps[node.steps.len() - 1];
            let same = section(at).is_some() && section(at) == section(last);
            node.thread == thread && (same || step.within == Some(node.steps[0] + 1))
        });
        if joined && let Some(node) = nodes.last_mut() {
            node.steps.push(at);
            continue;
        }
        let has = |operation: &OperationInfo| {
            operation.thread == step.thread && (operation.po.0..=operation.po.1).contains(&step.po)
        };
        nodes.push(Node { thread, steps: vec![at], call: operations.iter().position(has) });
    }
    nodes
}

/// For each access within an atomic section the number of that section.
fn sections(parts: &Parts<'_>, thread: ThreadId) -> BTreeMap<u32, usize> {
    let (mut inside, mut number, mut found) = (false, 0, BTreeMap::new());
    rerun::walk(parts.program, parts.execution, thread, &mut |op, issued| match op {
        Op::AtomicBegin => (inside, number) = (true, number + 1),
        Op::AtomicEnd => inside = false,
        _ if inside && op.event_kind().is_some() => _ = u32::try_from(issued).map(|po| found.insert(po, number)),
        _ => {}
    });
    found
}

/// Which nodes come before which.
struct Order {
    /// For each node the one before it in its thread.
    own: Vec<Option<usize>>,
    /// For each node those of other threads that it must not be in one row with.
    others: Vec<Vec<usize>>,
}

impl Order {
    fn new(parts: &Parts<'_>, nodes: &[Node], history: bool) -> Self {
        let facts = &parts.replayed.steps;
        let spoken = |step: usize| {
            let facts = &facts[step];
            history && (facts.kind == AccessKind::Mark || parts.program.transactional.contains(&facts.loc))
        };
        let conflict = |a: usize, b: usize| {
            let accesses = facts[a].kind != AccessKind::Mark && facts[b].kind != AccessKind::Mark;
            let writes = facts[a].access.written.is_some() || facts[b].access.written.is_some();
            accesses && writes && facts[a].loc == facts[b].loc || spoken(a) && spoken(b)
        };
        let ordered = |a: &Node, b: &Node| a.steps.iter().any(|a| b.steps.iter().any(|b| conflict(*a, *b)));
        let own = |at: usize| (0..at).rfind(|other| nodes[*other].thread == nodes[at].thread);
        let others = |at: usize| {
            let earlier = (0..at).filter(|other| nodes[*other].thread != nodes[at].thread);
            earlier.filter(|other| ordered(&nodes[*other], &nodes[at])).collect()
        };
        Self { own: (0..nodes.len()).map(own).collect(), others: (0..nodes.len()).map(others).collect() }
    }

    /// The row of each node. Which rows are best is a matter of taste: many executions, few rows and whole calls. They are found by climbing
    /// from the first possible rows, one change at a time.
    fn rows(&self, nodes: &[Node]) -> Vec<usize> {
        let mut best = Placed { lower: vec![0; nodes.len()], joined: vec![false; nodes.len()], rows: Vec::new() };
        best.rows = self.place(&best).unwrap_or_default();
        let mut score = self.score(nodes, &best.rows);
        for _ in 0..MOST_ROUNDS {
            let before = score;
            for change in self.changes(nodes) {
                let mut next = best.clone();
                match change {
                    Change::Later(node) => next.lower[node] = best.rows[node] + 1,
                    Change::Join(with) => with.iter().for_each(|node| next.joined[*node] = true),
                }
                let Some(rows) = self.place(&next) else { continue };
                let found = self.score(nodes, &rows);
                if found > score + 1e-9 {
                    (best, score) = (Placed { rows, ..next }, found);
                }
            }
            if score <= before {
                break;
            }
        }
        // Rows that became empty are none.
        let mut used = best.rows.clone();
        used.sort_unstable();
        used.dedup();
        best.rows.iter().map(|row| used.partition_point(|other| other < row)).collect()
    }

    /// What may be changed: a whole call in one row, two steps of a call in one row, a step in the next row.
    fn changes(&self, nodes: &[Node]) -> Vec<Change> {
        let within: Vec<usize> = (0..nodes.len()).filter(|at| self.goes_on(nodes, *at)).collect();
        let mut calls: Vec<Option<usize>> = within.iter().map(|at| nodes[*at].call).collect();
        calls.sort_unstable();
        calls.dedup();
        let whole = |call| Change::Join(within.iter().copied().filter(|at| nodes[*at].call == call).collect());
        let pairs = within.iter().map(|at| Change::Join(vec![*at]));
        let later = (0..nodes.len()).map(Change::Later);
        calls.into_iter().map(whole).chain(pairs).chain(later).collect()
    }

    /// Whether a node goes on with the call of the one before it in its thread.
    fn goes_on(&self, nodes: &[Node], at: usize) -> bool {
        self.own[at].is_some_and(|own| nodes[own].call.is_some() && nodes[own].call == nodes[at].call)
    }

    fn score(&self, nodes: &[Node], rows: &[usize]) -> f64 {
        let mut counts: BTreeMap<usize, BTreeMap<ThreadId, u32>> = BTreeMap::new();
        for (node, row) in nodes.iter().zip(rows) {
            *counts.entry(*row).or_default().entry(node.thread).or_default() += 1;
        }
        let factorial = |n: u32| (1..=n).map(|n| f64::from(n).ln()).sum::<f64>();
        let executions = counts
            .values()
            .map(|row| factorial(row.values().sum()) - row.values().map(|own| factorial(*own)).sum::<f64>());
        let cut = |at: &usize| self.goes_on(nodes, *at) && self.own[*at].is_some_and(|own| rows[own] != rows[*at]);
        let cuts = (0..nodes.len()).filter(cut).count();
        executions.sum::<f64>() - ROW * counts.len() as f64 - CUT * cuts as f64
    }

    /// The first possible rows (they only grow, so this is the least solution); none if they cannot be.
    fn place(&self, wanted: &Placed) -> Option<Vec<usize>> {
        let mut rows = wanted.lower.clone();
        loop {
            let before = rows.clone();
            for at in 0..rows.len() {
                let own = self.own[at].map_or(0, |own| rows[own]);
                let others = self.others[at].iter().map(|other| rows[*other] + 1).max().unwrap_or(0);
                rows[at] = rows[at].max(own).max(others);
                // The whole of what is joined moves down.
                let (row, mut place) = (rows[at], at);
                while let Some(own) = self.own[place].filter(|_| wanted.joined[place]) {
                    rows[own] = row;
                    place = own;
                }
            }
            if rows.iter().any(|row| *row > rows.len()) {
                return None;
            }
            if rows == before {
                return Some(rows);
            }
        }
    }
}

/// Rows, and what is wanted of them.
#[derive(Clone)]
struct Placed {
    /// For each node the first row that it may be in.
    lower: Vec<usize>,
    /// Whether it is in the row of the one before it in its thread.
    joined: Vec<bool>,
    rows: Vec<usize>,
}

/// A change of the rows.
enum Change {
    /// A node comes a row later, and what follows it.
    Later(usize),
    /// These are in one row with the ones before them.
    Join(Vec<usize>),
}

fn draw(parts: &Parts<'_>, steps: &[Step], operations: &[OperationInfo], nodes: &[Node], rows: &[usize]) -> Shape {
    let count = rows.iter().max().map_or(0, |most| most + 1);
    let mut drawn: Vec<Vec<Segment>> = vec![Vec::new(); count];
    let mut interleavings: Option<u128> = Some(1);
    for (number, row) in drawn.iter_mut().enumerate() {
        let here: Vec<usize> = (0..nodes.len()).filter(|at| rows[*at] == number).collect();
        let mut done = 0;
        for thread in parts.program.thread_ids() {
            let own: Vec<&Node> = here.iter().map(|at| &nodes[*at]).filter(|node| node.thread == thread).collect();
            for position in 1..=own.len() as u128 {
                done += 1;
                // Binomial coefficients, one factor at a time: each product is divisible.
                interleavings = interleavings.and_then(|all| Some(all.checked_mul(done)? / position));
            }
            for segment in own.chunk_by(|a, b| a.call.is_some() && a.call == b.call) {
                row.extend(segments(parts, steps, operations, nodes, segment));
            }
        }
    }
    Shape { rows: drawn, interleavings: interleavings.map(|number| number.to_string()) }
}

/// Some nodes of one call in a row, or one outside of calls, and the calls without an access that follow.
fn segments(
    parts: &Parts<'_>,
    steps: &[Step],
    operations: &[OperationInfo],
    nodes: &[Node],
    own: &[&Node],
) -> Vec<Segment> {
    let (Some(first), Some(last)) = (own.first(), own.last()) else { return Vec::new() };
    let (from, to) = (first.steps[0] + 1, last.steps[last.steps.len() - 1] + 1);
    let thread = parts.program.thread(first.thread).name.clone();
    let full = |node: &Node| {
        let step = &steps[node.steps[0]];
        step.label.clone().unwrap_or_else(|| format!("L{}", step.used.as_ref().map_or(step.line, |used| used.line)))
    };
    // Where a method is called tells enough, unless the cut is within that call.
    let outer = |node: &Node| full(node).split('.').next().unwrap_or_default().to_owned();
    let inside = |node: &Node| own.iter().any(|other| std::ptr::eq(*other, node));
    let cut = |name: &str| nodes.iter().any(|node| node.call == first.call && !inside(node) && outer(node) == name);
    let place = |node: &Node| if cut(&outer(node)) { full(node) } else { outer(node) };
    let text = match first.call {
        None => format!("{}: {}", full(first), steps[first.steps[0]].text),
        Some(call) => {
            let operation = &operations[call];
            let of = |node: &&Node| node.call == Some(call);
            let whole = nodes.iter().filter(of).count() == own.len();
            let ends = operation.last <= to || whole;
            let result = operation.result.as_ref().filter(|_| ends).map(|result| format!(": {result}"));
            // Calls and responses have no label of their own.
            let labelled = own.iter().filter(|node| steps[node.steps[0]].event.is_none());
            let labels: Vec<String> = labelled.map(|node| place(node)).collect();
            let range = match (whole, labels.first(), labels.last()) {
                (true, _, _) | (_, None, _) => String::new(),
                (_, Some(first), Some(last)) if first != last => format!(".{first}–{last}"),
                (_, Some(first), _) => format!(".{first}"),
            };
            format!("{}{range}{}", operation.name, result.unwrap_or_default())
        }
    };
    let segment = |text: String| Segment { thread: thread.clone(), text, first: from, last: to };
    let empty = operations
        .iter()
        .filter(|other| other.po == NO_ACCESS && other.thread == thread && (from..=to).contains(&other.first));
    let empty = empty.map(|other| match &other.result {
        Some(result) => segment(format!("{}: {result}", other.name)),
        None => segment(other.name.clone()),
    });
    std::iter::once(segment(text)).chain(empty).collect()
}

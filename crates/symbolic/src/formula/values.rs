//! Axiom 4: what each load sees (CheckFence, section 3.2.1), and axiom 7: no value out of thin air.
//!
//! A literal for each load and each store that it may see says that it does; one more stands for the initial value. The store
//! must be executed, touch the same word and be visible, and every other such store must be before it. Exactly one of these
//! literals can hold for an executed load, because two visible stores cannot each be before the other. What a section writes that is
//! cut off is seen in that section alone ([`crate::execute::units`]).
//!
//! Axiom 7 is a second graph, over the load part and the store part of each access, with an edge from a load to each store that was
//! computed from it and from a store to each load that sees it. Parts that no cycle can pass are left out.

use cyrano_ir::AccessKind;

use crate::execute::event::Event;
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::order::{Order, same_word};

/// A store that a load may see.
struct Candidate {
    store: usize,
    /// The store is executed, writes and touches the word that the load touches.
    matches: Lit,
    visible: Lit,
    seen: Lit,
}

/// A load and a store that it sees where the literal holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) load: usize,
    pub(crate) store: usize,
    pub(crate) lit: Lit,
}

/// Encodes what every load sees.
pub(crate) fn encode(order: &mut Order<'_>, gates: &mut Gates) -> Vec<Seen> {
    let mut seen = Vec::new();
    let stores: Vec<usize> =
        (0..order.run.events.len()).filter(|event| order.run.events[*event].write.is_some()).collect();
    for load in 0..order.run.events.len() {
        if order.run.events[load].read.is_some() {
            Reading { order, gates, load }.encode(&stores, &mut seen);
        }
    }
    if order.model.reordering().may_invent_values() {
        let graph = thin_air(order, &seen);
        order.graph.append(graph);
    }
    seen
}

struct Reading<'a, 'o> {
    order: &'a mut Order<'o>,
    gates: &'a mut Gates,
    load: usize,
}

impl Reading<'_, '_> {
    fn event(&self) -> &Event {
        &self.order.run.events[self.load]
    }

    fn encode(mut self, stores: &[usize], all: &mut Vec<Seen>) {
        let hidden = self.hidden_before(stores);
        let candidates = self.candidates(stores, hidden);
        let run = self.order.run;
        let event = &run.events[self.load];
        let Some(read) = &event.read else { return };
        let mut some = vec![!event.guard];
        for candidate in &candidates {
            let Some((value, _)) = &run.events[candidate.store].write else { continue };
            some.push(candidate.seen);
            self.gates.clause(&[!candidate.seen, candidate.matches]);
            self.gates.clause(&[!candidate.seen, candidate.visible]);
            self.gates.link(&[!candidate.seen], read, value);
            for other in &candidates {
                self.no_later(candidate, other);
            }
            let own = run.events[candidate.store].thread == event.thread && !event.ghost;
            if own {
                self.order.known(self.gates, self.load, candidate.store, candidate.seen);
            }
            all.push(Seen { load: self.load, store: candidate.store, lit: candidate.seen });
        }
        if hidden.is_none() {
            let initial = if candidates.is_empty() { event.guard } else { self.gates.fresh() };
            some.push(initial);
            for candidate in &candidates {
                self.gates.clause(&[!initial, !candidate.matches, !candidate.visible]);
            }
            self.initial(initial, read);
        }
        self.gates.clause(&some);
    }

    /// Where `one` is seen, `other` is not a later visible store.
    fn no_later(&mut self, one: &Candidate, other: &Candidate) {
        let events = &self.order.run.events;
        if one.store == other.store || !events[one.store].address.meets(&events[other.store].address) {
            return;
        }
        let earlier = self.order.earlier(self.gates, other.store, one.store);
        self.gates.clause(&[!one.seen, !other.matches, !other.visible, earlier]);
    }

    /// The last store of the load's own thread that the load surely finds visible: it hides what is before it.
    fn hidden_before(&self, stores: &[usize]) -> Option<usize> {
        let event = self.event();
        let word = event.address.single()?;
        let settled = |store: &Event| {
            event.looks
                || self.order.model.reordering().forwarding
                || self.order.model.reordering().keeps(store.kind, event.kind, true) && !self.order.is_witness(event)
                || event.unit.is_some() && event.unit == store.unit
        };
        stores.iter().rev().copied().filter(|store| *store < self.load).find(|store| {
            let other = &self.order.run.events[*store];
            let own = other.thread == event.thread
                && other.ghost == event.ghost
                && (!event.ghost || other.unit == event.unit);
            let writes = other.write.as_ref().is_some_and(|(_, writes)| self.gates.implies(event.guard, *writes));
            own && settled(other) && other.address.single() == Some(word) && writes
        })
    }

    fn candidates(&mut self, stores: &[usize], hidden: Option<usize>) -> Vec<Candidate> {
        let run = self.order.run;
        let event = &run.events[self.load];
        let mut candidates = Vec::new();
        for store in stores.iter().copied().filter(|store| *store != self.load) {
            let other = &run.events[store];
            let Some((_, writes)) = &other.write else { continue };
            let foreign_ghost = other.ghost && (!event.ghost || other.unit != event.unit);
            let own = other.thread == event.thread && other.ghost == event.ghost;
            let later = store > self.load && !self.order.model.reordering().own_order;
            let out_of_reach = own && (later || hidden.is_some_and(|hidden| store < hidden));
            // What a ghost's own section wrote hides everything in memory.
            let buried = event.ghost && !other.ghost && hidden.is_some();
            if foreign_ghost || out_of_reach || buried || !other.address.meets(&event.address) {
                continue;
            }
            let same = same_word(self.gates, event, other);
            let mut matches = self.gates.and(*writes, same);
            if event.unit.is_none() || event.unit != other.unit {
                matches = self.gates.and(matches, other.whole);
            }
            if self.gates.and(event.guard, matches) == FALSE {
                continue;
            }
            let visible = self.order.visible(self.gates, store, self.load);
            if visible == FALSE {
                continue;
            }
            let seen = self.gates.fresh();
            candidates.push(Candidate { store, matches, visible, seen });
        }
        candidates
    }

    /// Where the literal holds the load sees what the word held in the beginning.
    fn initial(&mut self, initial: Lit, read: &Value) {
        let run = self.order.run;
        let words = &run.events[self.load].address.words;
        let values = &run.initial;
        let first = words.first().map(|(word, _)| &values[*word as usize]);
        if let Some(first) = first.filter(|first| words.iter().all(|(word, _)| values[*word as usize] == **first)) {
            self.gates.link(&[!initial], read, first);
            return;
        }
        for (word, lit) in words {
            self.gates.link(&[!initial, !*lit], read, &values[*word as usize]);
        }
    }
}

/// Axiom 7 as a graph of its own. Nodes are the load parts, then the store parts.
fn thin_air(order: &Order<'_>, seen: &[Seen]) -> Graph {
    let events = &order.run.events;
    let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
    let (load_part, store_part) = (|event: usize| Node(event as u32), |event: usize| Node(event as u32 + count));
    let mut graph = Graph::with_nodes(2 * count);
    for (number, event) in events.iter().enumerate().filter(|(_, event)| event.kind.writes() && !event.ghost) {
        for (source, lit) in event.from.flow.iter().chain(event.from.address.iter()) {
            graph.edge(*lit, load_part(*source as usize), store_part(number));
        }
        if event.from.computes && event.kind == AccessKind::Rmw {
            graph.edge(TRUE, load_part(number), store_part(number));
        }
    }
    for pair in seen.iter().filter(|pair| !events[pair.load].ghost) {
        graph.edge(pair.lit, store_part(pair.store), load_part(pair.load));
    }
    pruned(graph)
}

/// The part of a graph that cycles can pass.
pub(crate) fn pruned(graph: Graph) -> Graph {
    let components = graph.components();
    let mut kept = Graph::default();
    let mut numbers = vec![None; graph.nodes as usize];
    for edge in graph.edges.iter().filter(|edge| components[edge.from.index()] == components[edge.to.index()]) {
        let mut number = |node: Node, kept: &mut Graph| *numbers[node.index()].get_or_insert_with(|| kept.node());
        let (from, to) = (number(edge.from, &mut kept), number(edge.to, &mut kept));
        kept.edge(edge.lit, from, to);
    }
    kept
}

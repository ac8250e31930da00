//! The memory order as a graph: axioms 1, 2, 3, 5, 6 and 10 of `cyrano_memory` as edges (CheckFence, section 3.2.2).
//!
//! **Why acyclic is enough.** A model of the formula chooses a set of edges without a cycle. Any linear extension of them is the memory order `<M` that
//! the axioms ask for. Kept pairs, fences and dependencies are edges themselves. The value axiom is about pairs of accesses to one word, a store
//! and another access: pairs of different threads have a literal each of whose values is an edge, so `<M` agrees with it; pairs of one thread
//! are decided by the model, which keeps two stores, and a load before a store, to one address in order. No axiom asks
//! about any other pair, so nothing else needs a literal.
//!
//! Where the program has an order of its own (axiom 9), what an access follows in the execution is an edge where the literal beside it holds;
//! two accesses of one thread to one word that the model does not keep in order get a literal like those of different threads.
//!
//! A header and its object are kept in order by axiom 10. The look of an access at a header is an event that reads the header and shares the node of the access, so it
//! is at the same place of `<M`; no other axiom knows it. Own stores to the header are before it exactly if they are in program order.
//!
//! **Units are nodes.** All accesses of an atomic section, or of an operation under a serial model, share one node and are performed there in
//! program order: that is axiom 6. A fence within an operation of a serial model stands within a node: see [`crate::formula::fence`].
//!
//! **Accesses that are not executed** are nodes, too. An edge at one of them could pass an order on that no axiom asks for, so the literal
//! of an edge says that both ends are executed. Where the order passed on would be kept anyway the literal is left out: the kinds of accesses are
//! *transparent* if whatever the model keeps before and after them it keeps without them.

use cyrano_ir::{AccessKind, FenceSet, LocId, Program, ThreadId, Ty};
use cyrano_memory::Model;

use crate::execute::eval::Taint;
use crate::execute::event::{Address, Event, Item, Run};
use crate::formula::fence::{Fences, is_kept};
use crate::formula::gates::Gates;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{FALSE, Lit, TRUE};

const KINDS: [AccessKind; 3] = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw];

/// The memory order under construction.
pub(crate) struct Order<'a> {
    pub(crate) run: &'a Run,
    pub(crate) model: &'a Model,
    program: &'a Program,
    /// The program, if it has headers.
    headers: Option<&'a Program>,
    /// Whether the program has an order of its own and the model follows it (axiom 9).
    own: bool,
    pub(crate) graph: Graph,
    /// The node of each event.
    pub(crate) nodes: Vec<Node>,
    /// Whether the event is the only one of its node.
    alone: Vec<bool>,
}

/// Whether the model keeps two kinds of accesses in order whatever their addresses.
pub(crate) fn keeps_always(model: &Model, first: AccessKind, second: AccessKind) -> bool {
    model.reordering().keeps(first, second, true) && model.reordering().keeps(first, second, false)
}

/// Whether an access of this kind passes on no order that is not kept without it.
fn is_transparent(model: &Model, kind: AccessKind) -> bool {
    KINDS.iter().all(|first| {
        KINDS.iter().all(|second| {
            let passes = keeps_always(model, *first, kind) && keeps_always(model, kind, *second);
            !passes || keeps_always(model, *first, *second)
        })
    })
}

/// Whether two accesses touch the same word, given that both are executed.
pub(crate) fn same_word(gates: &mut Gates, a: &Event, b: &Event) -> Lit {
    same_address(gates, &a.address, &b.address)
}

/// Whether two addresses are the same word.
pub(crate) fn same_address(gates: &mut Gates, a: &Address, b: &Address) -> Lit {
    match (a.single(), b.single()) {
        (Some(word), _) => b.at(word).unwrap_or(FALSE),
        (_, Some(word)) => a.at(word).unwrap_or(FALSE),
        _ => match (&a.index, &b.index) {
            (Some((array, index)), Some((other, other_index))) if array == other => gates.equal(index, other_index),
            _ => {
                let common = a.words.iter().filter_map(|(word, lit)| Some((*lit, b.at(*word)?)));
                let common: Vec<(Lit, Lit)> = common.collect();
                let common: Vec<Lit> = common.into_iter().map(|(one, other)| gates.and(one, other)).collect();
                gates.any(common)
            }
        },
    }
}

/// Axiom 10: whether one of two accesses touches the header of the object that the other touches, given that both are executed.
fn tied(gates: &mut Gates, program: &Program, a: &Event, b: &Event) -> Lit {
    let is_header = |word: u32| program.location(LocId(word)).ty == Ty::Header;
    let heads = |event: &Event| event.address.words.iter().any(|(word, _)| is_header(*word));
    if !heads(a) && !heads(b) {
        return FALSE;
    }
    let mut pairs = Vec::new();
    for (one, here) in &a.address.words {
        for (other, there) in &b.address.words {
            if program.is_tied(LocId(*one), LocId(*other)) {
                pairs.push(gates.and(*here, *there));
            }
        }
    }
    gates.any(pairs)
}

impl<'a> Order<'a> {
    /// The order that the axioms demand, before any load has seen a store.
    pub(crate) fn new(run: &'a Run, program: &'a Program, model: &'a Model, gates: &mut Gates) -> Self {
        let mut graph = Graph::default();
        let units: Vec<Node> = run.units.iter().map(|_| graph.node()).collect();
        let mut nodes: Vec<Node> = Vec::with_capacity(run.events.len());
        for (number, event) in run.events.iter().enumerate() {
            let looked = nodes.last().copied().filter(|_| number > 0 && run.events[number - 1].looks);
            nodes.push(event.unit.map_or_else(|| looked.unwrap_or_else(|| graph.node()), |unit| units[unit]));
        }
        let alone = run.events.iter().map(|event| event.unit.is_none_or(|unit| run.units[unit].events.len() == 1));
        let alone = alone.collect();
        let own = model.own_order(program).is_some();
        let headers = program.has_headers().then_some(program);
        let mut order = Self { run, model, program, headers, own, graph, nodes, alone };
        for thread in &run.threads {
            order.kept_pairs(gates, &thread.items);
            order.fences(gates, &thread.items);
            order.dependencies(gates, &thread.items);
            order.own_edges(gates, &thread.items);
        }
        order.unfinished(gates, &units);
        order
    }

    fn event(&self, number: usize) -> &'a Event {
        &self.run.events[number]
    }

    /// An edge between two accesses where the literal holds.
    fn edge(&mut self, lit: Lit, from: usize, to: usize) {
        self.graph.edge(lit, self.nodes[from], self.nodes[to]);
    }

    /// Axiom 1.
    fn kept_pairs(&mut self, gates: &mut Gates, items: &[Item]) {
        let accesses: Vec<usize> = items.iter().filter_map(access).collect();
        if KINDS.iter().all(|first| KINDS.iter().all(|second| keeps_always(self.model, *first, *second))) {
            accesses.windows(2).for_each(|pair| self.edge(TRUE, pair[0], pair[1]));
            return;
        }
        let transparent = KINDS.map(|kind| is_transparent(self.model, kind));
        let open = |order: &Self, number: usize| {
            let kind = order.event(number).kind;
            order.alone[number] && KINDS.iter().position(|k| *k == kind).is_some_and(|at| transparent[at])
        };
        // For each access those that are before it by edges that are always there.
        let mut certain: Vec<Vec<bool>> = Vec::new();
        for (at, second) in accesses.iter().copied().enumerate() {
            let mut before = vec![false; at];
            for (earlier, first) in accesses[..at].iter().copied().enumerate().rev() {
                if before[earlier] || self.nodes[first] == self.nodes[second] {
                    continue;
                }
                let lit = self.kept(gates, first, second);
                let always = keeps_always(self.model, self.event(first).kind, self.event(second).kind);
                if always && open(self, first) && open(self, second) {
                    self.edge(TRUE, first, second);
                    before[earlier] = true;
                    (0..earlier).for_each(|older| before[older] |= certain[earlier][older]);
                } else if lit != FALSE {
                    let both = gates.and(self.event(first).guard, self.event(second).guard);
                    let lit = gates.and(both, lit);
                    self.edge(lit, first, second);
                }
            }
            certain.push(before);
        }
    }

    /// Axiom 9.
    fn own_edges(&mut self, gates: &mut Gates, items: &[Item]) {
        if !self.own {
            return;
        }
        for number in items.iter().filter_map(access) {
            let event = self.event(number);
            let operands = gates.union(&event.from.data, &event.from.address);
            let all = gates.union(&event.from.follows, &operands);
            for (source, lit) in all.iter().filter(|(_, lit)| *lit != FALSE) {
                if self.nodes[*source as usize] != self.nodes[number] {
                    let lit = gates.and(*lit, event.guard);
                    self.edge(lit, *source as usize, number);
                }
            }
        }
    }

    /// Whether two accesses to one word are of one thread with an order of its own; which is first then, if the model decides.
    fn own_decides(&self, first: usize, second: usize) -> Option<Option<bool>> {
        let (a, b) = (self.event(first), self.event(second));
        let apart = a.thread != b.thread || a.ghost || b.ghost || self.nodes[first] == self.nodes[second];
        if !self.own || apart {
            return None;
        }
        if self.is_witness(a) {
            return Some(None);
        }
        let (earlier, later) = if first < second { (a, b) } else { (b, a) };
        Some(self.model.reordering().keeps(earlier.kind, later.kind, true).then_some(first < second))
    }

    /// Whether an access touches a word that only tells of the order of accesses.
    pub(crate) fn is_witness(&self, event: &Event) -> bool {
        event.address.single().is_some_and(|word| self.program.is_witness(LocId(word)))
    }

    /// Whether the model keeps two accesses in order, given that both are executed.
    fn kept(&self, gates: &mut Gates, first: usize, second: usize) -> Lit {
        let kept = self.kept_by_model(gates, first, second);
        match self.headers.filter(|_| kept != TRUE) {
            None => kept,
            Some(program) => {
                let tied = tied(gates, program, self.event(first), self.event(second));
                gates.or(kept, tied)
            }
        }
    }

    fn kept_by_model(&self, gates: &mut Gates, first: usize, second: usize) -> Lit {
        let (a, b) = (self.event(first), self.event(second));
        // Calls and responses are ordered with every access of their thread.
        if a.kind == AccessKind::Mark || b.kind == AccessKind::Mark {
            return TRUE;
        }
        let (same, different) =
            (self.model.reordering().keeps(a.kind, b.kind, true), self.model.reordering().keeps(a.kind, b.kind, false));
        match (same, different) {
            (true, true) => TRUE,
            (false, false) => FALSE,
            (true, false) if self.is_witness(a) => FALSE,
            (true, false) => same_word(gates, a, b),
            (false, true) => !same_word(gates, a, b),
        }
    }

    /// Axiom 2.
    fn fences(&mut self, gates: &mut Gates, items: &[Item]) {
        let Self { run, model, nodes, graph, .. } = self;
        let mut fences = Fences { run, nodes, graph, gates, selector: None };
        for (kind, _) in FenceSet::KINDS.iter().filter(|(kind, _)| !is_kept(model, *kind)) {
            fences.lay(items, *kind, &|item| match item {
                Item::Fence(guard, set, unit) if set.contains(*kind) => Some((*guard, *unit)),
                _ => None,
            });
        }
    }

    /// What an access depends on, as far as the model keeps it.
    pub(crate) fn depends(&self, gates: &mut Gates, event: &Event) -> Taint {
        let kept = self.model.reordering().dependencies;
        let mut all = Taint::default();
        if kept.data {
            all = gates.union(&all, &event.from.data);
        }
        if kept.address {
            all = gates.union(&all, &event.from.address);
        }
        if self.model.reordering().control_orders(event.kind) {
            all = gates.union(&all, &event.from.control);
        }
        all
    }

    /// Axiom 3.
    fn dependencies(&mut self, gates: &mut Gates, items: &[Item]) {
        for number in items.iter().filter_map(access) {
            let event = self.event(number);
            for (source, lit) in self.depends(gates, event).iter() {
                let lit = gates.and(*lit, event.guard);
                self.edge(lit, *source as usize, number);
            }
        }
    }

    /// Axiom 6: nothing follows an operation that is not finished.
    fn unfinished(&mut self, gates: &mut Gates, nodes: &[Node]) {
        let run = self.run;
        for (unit, node) in run.units.iter().zip(nodes).filter(|(unit, _)| unit.is_operation) {
            let started = gates.any(unit.events.iter().map(|event| run.events[*event].guard));
            let ended = gates.any(unit.ends.iter().copied());
            let stops = gates.and(started, !ended);
            if stops == FALSE {
                continue;
            }
            for (number, other) in run.events.iter().enumerate() {
                if other.thread != unit.thread && !other.ghost {
                    let lit = gates.and(stops, other.guard);
                    self.graph.edge(lit, self.nodes[number], *node);
                }
            }
        }
    }

    /// Calls are before or after the responses of other threads, and a literal says which; with `all`, also before or after their calls, and responses.
    pub(crate) fn calls(&mut self, gates: &mut Gates, all: bool) {
        let run = self.run;
        for (number, one) in run.spoken.iter().enumerate() {
            for other in &run.spoken[number + 1..] {
                let apart = run.events[one.event].thread != run.events[other.event].thread;
                if apart && (all || one.invokes != other.invokes) {
                    self.graph.before(gates, self.nodes[one.event], self.nodes[other.event]);
                }
            }
        }
    }

    /// Axiom 5, for a load that may take its value from a store of its own thread.
    pub(crate) fn known(&mut self, gates: &mut Gates, load: usize, store: usize, seen: Lit) {
        if !self.model.reordering().forwarding {
            return;
        }
        for (source, lit) in self.depends(gates, self.event(store)).iter() {
            let lit = gates.and(seen, *lit);
            self.edge(lit, *source as usize, load);
        }
    }

    /// Whether a store is visible to a load of its address, both executed.
    pub(crate) fn visible(&mut self, gates: &mut Gates, store: usize, load: usize) -> Lit {
        let (s, l) = (self.event(store), self.event(load));
        if l.ghost {
            return Lit::from(!s.ghost || store < load);
        }
        if let Some(decided) = self.own_decides(store, load) {
            return match decided {
                Some(first) => Lit::from(first),
                None => self.graph.before(gates, self.nodes[store], self.nodes[load]),
            };
        }
        if s.thread == l.thread {
            let settled =
                l.looks || self.model.reordering().forwarding || self.model.reordering().keeps(s.kind, l.kind, true);
            if store > load || settled || self.nodes[store] == self.nodes[load] {
                return Lit::from(store < load);
            }
        }
        self.graph.before(gates, self.nodes[store], self.nodes[load])
    }

    /// Whether a store is before another store to its address, both executed.
    pub(crate) fn earlier(&mut self, gates: &mut Gates, first: usize, second: usize) -> Lit {
        let (a, b) = (self.event(first), self.event(second));
        if a.ghost != b.ghost {
            return Lit::from(b.ghost);
        }
        if let Some(decided) = self.own_decides(first, second) {
            return match decided {
                Some(first) => Lit::from(first),
                None => self.graph.before(gates, self.nodes[first], self.nodes[second]),
            };
        }
        if a.thread == b.thread {
            return Lit::from(first < second);
        }
        self.graph.before(gates, self.nodes[first], self.nodes[second])
    }

    /// The thread of each node that is an access or a unit.
    pub(crate) fn threads(&self) -> Vec<Option<ThreadId>> {
        let mut threads = vec![None; self.graph.nodes as usize];
        for (event, node) in self.run.events.iter().zip(&self.nodes) {
            threads[node.index()] = Some(event.thread);
        }
        threads
    }
}

fn access(item: &Item) -> Option<usize> {
    match item {
        Item::Access(number) => Some(*number),
        Item::Fence(..) | Item::Optional(..) => None,
    }
}

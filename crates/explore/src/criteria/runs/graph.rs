//! The graph of all reachable states, with its edges.
//!
//! Safety needs states only; whoever asks about executions that go on for ever, or about the set of all histories, needs cycles and paths, so here every edge
//! is kept: whose step it is, what the thread does in it, and whether a transaction ends in it. The states are found and stored by the search that all
//! criteria share; the graph observes it.
//!
//! **Labels.** A step of the search performs an access, or takes a decision, and then runs its thread on to its next rest. So it may be a *program step* of its
//! thread, the *performing* of its oldest deferred access, or both at once: an edge says each for itself ([`Edge::moves`], [`Edge::oldest`]). A node says who can
//! take no program step there ([`Facts::stalled`]): who has come to its end, stands before a closed section, waits for its own deferred accesses or for the
//! setup thread. Who is stopped by nothing but the bound on deferred accesses, or by a `limit`, is not stalled.
//!
//! **Invariant:** a node is a stored state, to which belongs which threads have a transaction under way ([`super::super::progress`]). Nodes are numbered
//! in breadth-first order, which is the order of their records: there is one worker, who takes them in that order.

use std::sync::{Mutex, PoisonError};

use cyrano_criteria::structure::isolation::Deed;
use cyrano_engine::{Limits, Stats, Stop, Watch, client_choices};
use cyrano_ir::{InstrId, Op, Property, TxEvent};

use crate::criteria::judge::Hit;
use crate::faults::Fault;
use crate::search::observer::Observer;
use crate::search::plain::{Bytes, Plain};
use crate::search::{Found, Search};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successor, Successors};
use crate::store::{Address, Store};

/// A set of threads, one bit each.
pub(crate) type Threads = u32;

/// More threads than this are refused.
pub(crate) const MOST_THREADS: usize = Threads::BITS as usize;

/// More nodes than this have no numbers.
const MOST_NODES: usize = u32::MAX as usize / 2;

/// A step from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub to: u32,
    pub thread: u8,
    /// Whether the thread's client chooses its next command in it.
    pub choice: bool,
    /// Whether it has a program step of the thread, performs the thread's oldest deferred access, and passes a mark that is asked about.
    pub moves: bool,
    pub oldest: bool,
    pub passes: bool,
    /// Whether the thread is in an operation before it.
    pub inside: bool,
    /// How a transaction ends in it.
    pub ended: Option<TxEvent>,
    /// What happens in it, if that is noted: where it starts in the list, and how much it is.
    deeds: (u32, u32),
}

impl Edge {
    /// Whether a step is the one that the edge stands for, if it leads to the same state.
    pub fn is_like(&self, step: &Successor) -> bool {
        let flags = (self.moves, self.oldest, self.passes) == (step.moves, step.oldest, step.passes);
        flags && step.thread == usize::from(self.thread) && step.ended == self.ended && step.event.is_none()
    }
}

/// What holds of the threads in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facts {
    /// Their transaction is under way.
    pub busy: Threads,
    /// They can take no program step.
    pub stalled: Threads,
    /// They have come to their end.
    pub done: Threads,
    /// They have deferred nothing.
    pub empty: Threads,
    /// They stand before a closed section.
    pub closed: Threads,
    /// They are in an operation.
    pub inside: Threads,
    /// They are at an `assume` that has failed.
    pub refused: Threads,
    /// They have performed something ahead of the text, out of order.
    pub ahead: Threads,
}

/// The reachable states and the steps between them; if the search was stopped, those that it came to.
pub(crate) struct Graph {
    store: Store,
    nodes: Nodes,
    pub stats: Stats,
    pub notes: Notes,
    pub stop: Option<Stop>,
    /// What goes wrong, and the way there.
    pub wrong: Option<(Vec<Vec<u8>>, Hit)>,
    /// Whether some execution runs to its end.
    pub ended: bool,
    pub commits: bool,
    /// Out of order, the nodes from which all regions that are under way can be completed; every other rests on a guess that is wrong.
    possible: Option<Vec<bool>>,
}

/// What is observed.
#[derive(Default)]
struct Nodes {
    /// The records of all nodes.
    records: Vec<Address>,
    /// Of those that were expanded: what holds in them, and where their edges start.
    facts: Vec<Facts>,
    firsts: Vec<usize>,
    edges: Vec<Edge>,
    deeds: Vec<Deed>,
    /// The nodes that a search starts from.
    starts: Vec<u32>,
    /// How many states have been stored, initial ones among them: each but those is the end of the next edge.
    initial: usize,
    stored: usize,
}

impl Nodes {
    fn number(&self, record: Address) -> u32 {
        self.records.partition_point(|known| *known < record) as u32
    }

    /// The nodes that were expanded, and the edges between them: a search that was stopped has others.
    fn expanded(mut self) -> Self {
        let expanded = self.facts.len();
        let mut edges = Vec::with_capacity(self.edges.len());
        for node in 0..expanded {
            let own = self.firsts[node]..self.firsts[node + 1];
            self.firsts[node] = edges.len();
            edges.extend(self.edges[own].iter().filter(|edge| (edge.to as usize) < expanded));
        }
        self.firsts[expanded] = edges.len();
        self.records.truncate(expanded);
        Self { edges, ..self }
    }

    /// The nodes from which one comes to a node where nothing is performed ahead of the text.
    fn possible(&self) -> Vec<bool> {
        let mut possible: Vec<bool> = self.facts.iter().map(|facts| facts.ahead == 0).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for node in (0..possible.len()).rev().filter(|node| self.facts[*node].ahead != 0) {
                let edges = &self.edges[self.firsts[node]..self.firsts[node + 1]];
                if !possible[node] && edges.iter().any(|edge| possible.get(edge.to as usize) == Some(&true)) {
                    (possible[node], changed) = (true, true);
                }
            }
        }
        possible
    }

    /// How many bytes it takes, with what the search for cycles adds for each node.
    fn size(&self) -> u64 {
        let node = size_of::<Address>() + size_of::<usize>() + size_of::<Facts>() + super::cycles::PER_NODE;
        let deeds = self.deeds.capacity() * size_of::<Deed>();
        (self.records.len() * node + self.edges.capacity() * size_of::<Edge>() + deeds) as u64
    }
}

impl Graph {
    /// Explores everything, up to a limit or the first step that goes wrong.
    pub fn build(m: &Machine<'_>, property: &Property, limits: &Limits, watch: &dyn Watch) -> Self {
        let clients = m.program.thread_ids().map(|thread| client_choices(m.program, thread)).collect();
        let inside = m.program.threads.iter().map(cyrano_ir::Thread::in_operations).collect();
        let edges = Edges { m, clients, inside, nodes: Mutex::default() };
        let limits = Limits { workers: 1, ..limits.clone() };
        let mut search = Search::new(m, Some(property), Store::exact(), &limits, watch);
        search.run(|| Plain::new(m, Some(property), Bytes::noting_places()).observed_by(&edges));
        let (found, store) = search.finish(edges.nodes().size(), <[u8]>::to_vec);
        let mut nodes = edges.nodes.into_inner().unwrap_or_else(PoisonError::into_inner);
        nodes.firsts.push(nodes.edges.len());
        let cut = found.stop.is_some() || found.notes.end_search() || found.hit().is_some();
        let nodes = if cut { nodes.expanded() } else { nodes };
        let wrong = found.hit().cloned();
        let ended = found.judge.ended;
        let commits = nodes.edges.iter().any(|edge| edge.ended == Some(TxEvent::Commit));
        let Found { stop, path, notes, stats, .. } = found;
        let stats = Stats { transitions: nodes.edges.len() as u64, ..stats };
        let possible = m.own_order.map(|_| nodes.possible());
        Self { store, nodes, stats, notes, stop, wrong: wrong.map(|hit| (path, hit)), ended, commits, possible }
    }

    /// Whether the steps up to a node are a beginning of an execution.
    pub fn is_possible(&self, node: u32) -> bool {
        self.possible.as_ref().is_none_or(|possible| possible[node as usize])
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.records.len()
    }

    /// The stored form of a node's state.
    pub fn bytes(&self, node: u32) -> &[u8] {
        self.store.state(self.nodes.records[node as usize])
    }

    /// What holds of the threads in a node.
    pub fn facts(&self, node: u32) -> Facts {
        self.nodes.facts[node as usize]
    }

    pub fn edges(&self, node: u32) -> &[Edge] {
        let at = node as usize;
        &self.nodes.edges[self.nodes.firsts[at]..self.nodes.firsts[at + 1]]
    }

    /// What happens in a step.
    pub fn deeds(&self, edge: &Edge) -> &[Deed] {
        &self.nodes.deeds[edge.deeds.0 as usize..][..edge.deeds.1 as usize]
    }

    /// The nodes that the search started from.
    pub fn starts(&self) -> &[u32] {
        &self.nodes.starts
    }

    /// The nodes on the way to this one, from an initial one on, both included.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let path = self.store.path(self.nodes.records[node as usize]);
        path.into_iter().map(|record| self.nodes.number(record)).collect()
    }

    /// How many bytes it takes.
    pub fn size(&self) -> u64 {
        self.store.bytes() + self.nodes.size()
    }
}

/// What happens in a step, told whether a write changes what was in memory before. There is one deed for each access.
fn with_changes(memory: &[i128], step: &Successor) -> Vec<Deed> {
    let mut written: Vec<(u32, i128)> = Vec::new();
    let mut deeds = step.deeds.clone();
    for (deed, access) in deeds.iter_mut().zip(&step.accesses) {
        let (Some(location), Some(value)) = (deed.location, access.written) else { continue };
        let earlier = written.iter().rfind(|(other, _)| *other == location).map(|(_, value)| *value);
        deed.changes = deed.event.is_some() || earlier.unwrap_or(memory[location as usize]) != value;
        written.push((location, value));
    }
    deeds
}

/// Keeps the edges that a search comes along.
struct Edges<'m> {
    m: &'m Machine<'m>,
    /// For each thread the instructions at which its client chooses a command.
    clients: Vec<Vec<InstrId>>,
    /// For each thread the instructions that belong to operations.
    inside: Vec<Vec<bool>>,
    nodes: Mutex<Nodes>,
}

impl<'m> Edges<'m> {
    fn nodes(&self) -> std::sync::MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What holds of the threads in a state, given those that have a program step there.
    fn facts(&self, stepper: &mut Stepper<'m>, state: &State, moving: Threads) -> Facts {
        let setup = self.m.unfinished_setup(state);
        let mut facts = Facts { busy: self.m.busy(state), ..Facts::default() };
        for (thread, own) in state.threads.iter().enumerate() {
            let (me, deferred) = (1 << thread, own.deferred());
            if let Some(order) = self.m.own_order {
                let (waits, stopped) = stepper.own_waits(order, state, thread);
                facts.stalled |= if moving & me == 0 && waits { me } else { 0 };
                facts.refused |= if stopped { me } else { 0 };
                facts.inside |= if self.inside[thread][own.pc as usize] { me } else { 0 };
                facts.ahead |= if own.queue.is_empty() { 0 } else { me };
                facts.empty |= me;
                continue;
            }
            let waits_for_setup = setup.is_some_and(|setup| setup != thread);
            let op = self.m.op(thread, own.pc);
            let ends = matches!(op, Op::Halt) && !waits_for_setup;
            let wrong = |fault| self.m.config.has_fault(fault);
            let full = deferred >= self.m.threads[thread].bound;
            let refuses = || self.m.refuses(state, thread) && !wrong(Fault::RefusedIsStalled);
            // Whether nothing but a `limit` shuts a section is a question only where one has failed.
            let limited = || stepper.notes.limited.is_some() && matches!(op, Op::AtomicBegin);
            let stalled = moving & me == 0 && (ends || waits_for_setup || !full && !refuses());
            if stalled && (ends || waits_for_setup || !limited() || !stepper.opens(state, thread)) {
                facts.stalled |= me;
                facts.closed |= if matches!(op, Op::AtomicBegin) && !waits_for_setup { me } else { 0 };
            }
            let assumes = moving & me == 0 && matches!(op, Op::Assume(_)) && !waits_for_setup;
            facts.refused |= if assumes && self.m.refuses(state, thread) { me } else { 0 };
            facts.inside |= if self.inside[thread][own.pc as usize] { me } else { 0 };
            facts.done |= if ends { me } else { 0 };
            facts.empty |= if deferred == 0 { me } else { 0 };
        }
        facts
    }
}

impl<'m> Observer<'m> for &Edges<'m> {
    fn begin(&mut self, _: &mut Stepper<'m>, initial: &mut Successors) {
        self.nodes().initial = initial.iter_mut().filter(|state| state.event.is_none() && !state.dropped).count();
    }

    fn see(&mut self, stepper: &mut Stepper<'m>, state: &State, successors: &mut Successors) {
        let nodes = &mut *self.nodes();
        nodes.firsts.push(nodes.edges.len());
        let mut moving = 0;
        for step in successors.iter_mut() {
            moving |= if step.moves { 1 << step.thread } else { 0 };
            if step.event.is_none() && !step.dropped {
                let choice = self.clients[step.thread].contains(&InstrId(state.threads[step.thread].pc));
                let deeds = (nodes.deeds.len() as u32, step.deeds.len() as u32);
                nodes.deeds.extend(with_changes(&state.memory, step));
                let Successor { moves, oldest, passes, ended, .. } = *step;
                let thread = step.thread as u8;
                let inside = self.inside[step.thread][state.threads[step.thread].pc as usize];
                nodes.edges.push(Edge { to: u32::MAX, thread, choice, moves, oldest, passes, inside, ended, deeds });
            }
        }
        nodes.facts.push(self.facts(stepper, state, moving));
        stepper.notes.too_large |= nodes.records.len() >= MOST_NODES || nodes.deeds.len() >= MOST_NODES;
    }

    fn stored(&mut self, record: Address) {
        let nodes = &mut *self.nodes();
        if nodes.records.last().is_none_or(|last| *last < record) {
            nodes.records.push(record);
        }
        let to = nodes.number(record);
        match nodes.stored.checked_sub(nodes.initial) {
            Some(edge) => nodes.edges[edge].to = to,
            None => nodes.starts.push(to),
        }
        nodes.stored += 1;
    }

    fn bytes(&self) -> u64 {
        self.nodes().size()
    }
}

//! The graph of all reachable states, with its edges.
//!
//! Safety needs states only; progress is about cycles, so here every edge is kept: whose step it is, whether it starts at the
//! client's choice of a command, and whether a transaction ends in it. The states are found and stored by the search that all criteria share; the graph
//! observes it.
//!
//! **Invariant:** a node is a stored state, to which belongs which threads have a transaction under way ([`super::names`]). Nodes are numbered
//! in breadth-first order, which is the order of their records: there is one worker, who takes them in that order.

use std::sync::{Mutex, PoisonError};

use cyrano_criteria::structure::isolation::Deed;
use cyrano_engine::{Limits, Stats, Stop, Violation, Watch, client_choices};
use cyrano_ir::{InstrId, Op, Property, TxEvent};

use crate::search::observer::Observer;
use crate::search::plain::{Bytes, Plain};
use crate::search::{Found, Search};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successor, Successors};
use crate::store::{Address, Store};

/// A set of threads, one bit each.
pub(crate) type Threads = u8;

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
    /// How a transaction ends in it.
    pub ended: Option<TxEvent>,
    /// What happens in it, if that is noted: where it starts in the list, and how much it is.
    deeds: (u32, u32),
}

/// The reachable states and the steps between them.
pub(crate) struct Graph {
    store: Store,
    nodes: Nodes,
    pub stats: Stats,
    pub notes: Notes,
    pub stop: Option<Stop>,
    /// A step that goes wrong: the way to where it starts, and how.
    pub wrong: Option<(Vec<Vec<u8>>, Violation)>,
    pub commits: bool,
}

/// What is observed.
#[derive(Default)]
struct Nodes {
    /// The records of all nodes.
    records: Vec<Address>,
    /// Of those that were expanded: the threads whose transaction is under way, those that wait at a closed atomic section, and where their edges start.
    busy: Vec<Threads>,
    blocked: Vec<Threads>,
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

    /// How many bytes it takes, with what the search for cycles adds for each node.
    fn size(&self) -> u64 {
        let node = size_of::<Address>() + size_of::<usize>() + size_of::<Threads>() * 2 + super::cycles::PER_NODE;
        let deeds = self.deeds.capacity() * size_of::<Deed>();
        (self.records.len() * node + self.edges.capacity() * size_of::<Edge>() + deeds) as u64
    }
}

impl Graph {
    /// Explores everything, up to a limit or the first step that goes wrong.
    pub fn build(m: &Machine<'_>, property: &Property, limits: &Limits, watch: &dyn Watch) -> Self {
        let clients = m.program.thread_ids().map(|thread| client_choices(m.program, thread)).collect();
        let edges = Edges { m, clients, nodes: Mutex::default() };
        let limits = Limits { workers: 1, ..limits.clone() };
        let mut search = Search::new(m, Some(property), Store::exact(), &limits, watch);
        search.run(|| Plain::new(m, Some(property), Bytes::noting_places()).observed_by(&edges));
        let (found, store) = search.finish(edges.nodes().size(), <[u8]>::to_vec);
        let mut nodes = edges.nodes.into_inner().unwrap_or_else(PoisonError::into_inner);
        nodes.firsts.push(nodes.edges.len());
        let wrong = found.hit().and_then(|hit| hit.violation.clone());
        let commits = nodes.edges.iter().any(|edge| edge.ended == Some(TxEvent::Commit));
        let Found { stop, path, notes, stats, .. } = found;
        let stats = Stats { transitions: nodes.edges.len() as u64, ..stats };
        Self { store, nodes, stats, notes, stop, wrong: wrong.map(|violation| (path, violation)), commits }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.records.len()
    }

    /// The stored form of a node's state.
    pub fn bytes(&self, node: u32) -> &[u8] {
        self.store.state(self.nodes.records[node as usize])
    }

    /// The threads whose transaction is under way, and those that wait at a closed atomic section.
    pub fn busy(&self, node: u32) -> Threads {
        self.nodes.busy[node as usize]
    }

    pub fn blocked(&self, node: u32) -> Threads {
        self.nodes.blocked[node as usize]
    }

    /// Whether somebody ever waits like that.
    pub fn blocks_any(&self) -> bool {
        self.nodes.blocked.iter().any(|set| *set != 0)
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
    nodes: Mutex<Nodes>,
}

impl Edges<'_> {
    fn nodes(&self) -> std::sync::MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The threads that stand at an atomic section.
    fn waiting(&self, state: &State) -> Threads {
        let at_section = |t: &usize| matches!(self.m.op(*t, state.threads[*t].pc), Op::AtomicBegin);
        (0..self.m.threads.len()).filter(at_section).fold(0, |set, t| set | 1 << t)
    }
}

impl<'m> Observer<'m> for &Edges<'m> {
    fn begin(&mut self, _: &mut Stepper<'m>, initial: &mut Successors) {
        self.nodes().initial = initial.iter_mut().filter(|state| state.event.is_none()).count();
    }

    fn see(&mut self, stepper: &mut Stepper<'m>, state: &State, successors: &mut Successors) {
        let nodes = &mut *self.nodes();
        nodes.firsts.push(nodes.edges.len());
        nodes.busy.push(self.m.busy(state));
        let mut moves = 0;
        for step in successors.iter_mut() {
            moves |= 1 << step.thread;
            if step.event.is_none() && !step.dropped {
                let choice = self.clients[step.thread].contains(&InstrId(state.threads[step.thread].pc));
                let deeds = (nodes.deeds.len() as u32, step.deeds.len() as u32);
                nodes.deeds.extend(with_changes(&state.memory, step));
                nodes.edges.push(Edge { to: u32::MAX, thread: step.thread as u8, choice, ended: step.ended, deeds });
            }
        }
        nodes.blocked.push(self.waiting(state) & !moves);
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

//! The graph of all reachable states, with its edges.
//!
//! Safety needs states only; progress is about cycles, so here every edge is kept: whose step it is, whether it starts at the
//! client's choice of a command, and whether a transaction ends in it.
//!
//! **Invariant:** a node is a stored state together with the set of threads whose transaction has begun (with its first access, to
//! whatever location, as for opacity) and has not ended. Nodes are numbered in breadth-first order.

use std::hash::Hasher;
use std::time::Instant;

use cyrano_engine::{Limits, Progress as Report, Stats, Stop, Violation, Watch, client_choices};
use cyrano_ir::dataflow::{Class, Live, Names};
use cyrano_ir::{InstrId, Op, ThreadId, TxEvent};

use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successor, Successors};

/// A set of threads, one bit each.
pub(crate) type Threads = u8;

/// More threads than this are refused.
pub(crate) const MOST_THREADS: usize = Threads::BITS as usize;

/// How often the limits are looked at, in expanded states.
const CHECK_EVERY: usize = 1024;

const NO_PARENT: u32 = u32::MAX;

/// A step from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub to: u32,
    pub thread: u8,
    /// Whether the thread's client chooses its next command in it.
    pub choice: bool,
    /// How a transaction ends in it.
    pub ended: Option<TxEvent>,
}

/// The reachable states and the steps between them.
#[derive(Default)]
pub(crate) struct Graph {
    /// The bytes of all states, one after the other, and where each starts; one more entry marks the end.
    arena: Vec<u8>,
    starts: Vec<usize>,
    parents: Vec<u32>,
    /// The threads whose transaction is under way, and those that wait at a closed atomic section.
    pub busy: Vec<Threads>,
    pub blocked: Vec<Threads>,
    edges: Vec<Edge>,
    /// Where the edges of each node start.
    firsts: Vec<usize>,
    slots: Vec<u32>,
    pub stats: Stats,
    pub notes: Notes,
    pub stop: Option<Stop>,
    /// A step that goes wrong: where it starts, if not before all states, and how.
    pub wrong: Option<(Option<u32>, Violation)>,
    pub commits: bool,
    /// Somebody needs a name, and all are held.
    pub out_of_names: bool,
}

impl Graph {
    /// Explores everything, up to a limit or the first step that goes wrong.
    pub fn build(m: &Machine<'_>, names: &Names, limits: &Limits, watch: &dyn Watch) -> Self {
        let started = Instant::now();
        let mut builder = Builder::new(m, names);
        builder.run(limits, watch);
        let mut graph = builder.graph;
        graph.firsts.push(graph.edges.len());
        graph.slots = Vec::new();
        graph.notes = builder.stepper.notes;
        graph.stats.states = graph.len() as u64;
        graph.stats.transitions = graph.edges.len() as u64;
        graph.stats.seconds = started.elapsed().as_secs_f64();
        graph
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The stored form of a node's state.
    pub fn bytes(&self, node: u32) -> &[u8] {
        let at = node as usize;
        let end = self.starts.get(at + 1).copied().unwrap_or(self.arena.len());
        &self.arena[self.starts[at]..end]
    }

    pub fn edges(&self, node: u32) -> &[Edge] {
        let at = node as usize;
        &self.edges[self.firsts[at]..self.firsts[at + 1]]
    }

    /// The nodes on the way to this one, from an initial one on, both included.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = vec![node];
        let mut current = self.parents[node as usize];
        while current != NO_PARENT {
            path.push(current);
            current = self.parents[current as usize];
        }
        path.reverse();
        path
    }

    /// How many bytes it takes, with what the search for cycles adds for each node.
    pub fn size(&self) -> u64 {
        let node = size_of::<usize>() * 2 + size_of::<u32>() + size_of::<Threads>() * 2 + super::cycles::PER_NODE;
        let fixed = self.arena.capacity() + self.slots.len() * size_of::<u32>();
        (fixed + self.len() * node + self.edges.capacity() * size_of::<Edge>()) as u64
    }

    /// The node of a state, and whether it is new.
    fn intern(&mut self, bytes: &[u8], busy: Threads, parent: u32) -> (u32, bool) {
        if self.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(bytes, busy) as usize & mask;
        while self.slots[at] != NO_PARENT {
            let node = self.slots[at];
            if self.busy[node as usize] == busy && self.bytes(node) == bytes {
                return (node, false);
            }
            at = (at + 1) & mask;
        }
        let node = self.len() as u32;
        self.slots[at] = node;
        self.starts.push(self.arena.len());
        self.arena.extend_from_slice(bytes);
        self.parents.push(parent);
        self.busy.push(busy);
        self.blocked.push(0);
        (node, true)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1 << 10);
        self.slots = vec![NO_PARENT; size];
        for node in 0..self.len() as u32 {
            let mut at = hash(self.bytes(node), self.busy[node as usize]) as usize & (size - 1);
            while self.slots[at] != NO_PARENT {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = node;
        }
    }
}

fn hash(bytes: &[u8], busy: Threads) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    hasher.write_u8(busy);
    hasher.finish()
}

/// The threads whose transaction is under way after a step: one begins with its first access.
pub(crate) fn busy_after(busy: Threads, step: &Successor) -> Threads {
    let own = 1 << step.thread;
    let accesses = step.accesses.iter().any(|access| access.read.is_some() || access.written.is_some());
    match step.ended {
        Some(_) => busy & !own,
        None if accesses => busy | own,
        None => busy,
    }
}

/// The registers that matter in a state.
fn live(m: &Machine<'_>, state: &State) -> Vec<Live> {
    let mut live = Vec::new();
    for (t, (thread, info)) in state.threads.iter().zip(&m.threads).enumerate() {
        let registers = info.live[thread.pc as usize].iter();
        live.extend(registers.map(|reg| (ThreadId::new(t), *reg as usize, state.regs[info.base + *reg as usize])));
    }
    live
}

/// Whether a step chooses no name, or the smallest that nobody holds. One is as good as another, and this one keeps states few.
pub(crate) fn is_fresh(m: &Machine<'_>, names: &Names, state: &State, step: &Successor) -> Freshness {
    let pool = names.pool_at(ThreadId::new(step.thread), InstrId(state.threads[step.thread].pc));
    let (Some(pool), Some((_, chosen))) = (pool, step.choices.first()) else { return Freshness::Fits };
    match names.free(&names.held(&state.memory, &live(m, state)), pool) {
        None => Freshness::NoneLeft,
        Some(free) if free == *chosen => Freshness::Fits,
        Some(_) => Freshness::Other,
    }
}

/// Whether a step may be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Freshness {
    Fits,
    /// Another one is taken instead.
    Other,
    /// There is no name that nobody holds.
    NoneLeft,
}

/// The stored form of a state, with renumbered names and timestamps.
pub(crate) fn stored(
    m: &Machine<'_>,
    names: &Names,
    state: &mut State,
    scratch: &mut Vec<(Class, i128)>,
    out: &mut Vec<u8>,
) {
    out.clear();
    if !names.is_empty() {
        let live = live(m, state);
        let State { memory, regs, .. } = &mut *state;
        names.rename(memory, &live, |thread, register, value| regs[m.threads[thread.index()].base + register] = value);
    }
    m.rank(state, scratch);
    m.encode_canonical(state, out);
}

struct Builder<'m> {
    m: &'m Machine<'m>,
    names: &'m Names,
    stepper: Stepper<'m>,
    graph: Graph,
    /// For each thread the instructions at which its client chooses a command.
    clients: Vec<Vec<InstrId>>,
    scratch: Vec<(Class, i128)>,
    bytes: Vec<u8>,
}

impl<'m> Builder<'m> {
    fn new(m: &'m Machine<'m>, names: &'m Names) -> Self {
        let clients = m.program.thread_ids().map(|thread| client_choices(m.program, thread)).collect();
        let (scratch, bytes) = (Vec::new(), Vec::new());
        Self { m, names, stepper: Stepper::new(m), graph: Graph::default(), clients, scratch, bytes }
    }

    fn run(&mut self, limits: &Limits, watch: &dyn Watch) {
        let mut out = Successors::default();
        self.stepper.initial(&mut out);
        for successor in out.iter_mut() {
            if let Some(violation) = successor.event.take() {
                self.graph.wrong.get_or_insert((None, violation));
            } else {
                stored(self.m, self.names, &mut successor.state, &mut self.scratch, &mut self.bytes);
                self.graph.intern(&self.bytes, 0, NO_PARENT);
            }
        }
        let mut state = self.m.initial();
        let (mut node, mut level) = (0, self.graph.len());
        while node < self.graph.len() && !self.ends(node, limits, watch) {
            if node == level {
                self.graph.stats.depth += 1;
                level = self.graph.len();
            }
            self.expand(node as u32, &mut state, &mut out);
            node += 1;
        }
    }

    fn ends(&mut self, node: usize, limits: &Limits, watch: &dyn Watch) -> bool {
        let graph = &mut self.graph;
        if node.is_multiple_of(CHECK_EVERY) {
            let bytes = graph.size();
            graph.stats.peak_bytes = bytes;
            graph.stop = limits.exceeded(bytes);
            let (states, frontier) = (graph.len() as u64, (graph.len() - node) as u64);
            watch.progress(Report { states, frontier, depth: graph.stats.depth, bytes });
        }
        if self.stepper.notes.too_large || graph.len() >= NO_PARENT as usize / 2 {
            graph.stop = Some(Stop::Size);
        }
        graph.stop.is_some() || graph.wrong.is_some() || graph.out_of_names || self.stepper.notes.gap_too_small
    }

    fn expand(&mut self, node: u32, state: &mut State, out: &mut Successors) {
        self.m.decode(self.graph.bytes(node), state);
        self.stepper.successors(state, out);
        self.graph.firsts.push(self.graph.edges.len());
        let busy = self.graph.busy[node as usize];
        let mut moves = 0;
        for successor in out.iter_mut() {
            let thread = successor.thread;
            moves |= 1 << thread;
            match is_fresh(self.m, self.names, state, successor) {
                Freshness::Fits => {}
                Freshness::Other => continue,
                Freshness::NoneLeft => {
                    self.graph.out_of_names = true;
                    continue;
                }
            }
            if let Some(violation) = successor.event.take() {
                self.graph.wrong.get_or_insert((Some(node), violation));
                continue;
            }
            let after = busy_after(busy, successor);
            stored(self.m, self.names, &mut successor.state, &mut self.scratch, &mut self.bytes);
            let (to, _) = self.graph.intern(&self.bytes, after, node);
            let choice = self.clients[thread].contains(&InstrId(state.threads[thread].pc));
            self.graph.commits |= successor.ended == Some(TxEvent::Commit);
            self.graph.edges.push(Edge { to, thread: thread as u8, choice, ended: successor.ended });
        }
        self.graph.blocked[node as usize] = self.waiting(state) & !moves;
    }

    /// The threads that stand at an atomic section.
    fn waiting(&self, state: &State) -> Threads {
        let at_section = |t: &usize| matches!(self.m.op(*t, state.threads[*t].pc), Op::AtomicBegin);
        (0..self.m.threads.len()).filter(at_section).fold(0, |set, t| set | 1 << t)
    }
}

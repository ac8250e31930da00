//! Fair infinite executions, decided by nested fixpoints over sets of states (Emerson and Lei), from the definition.
//!
//! The graph has every state of the [machine](super::machine) and every step. A set `Z` of states is kept in which a thread, the *victim*, has not
//! ended, and each state has, for each demand of fairness, a path within `Z` to a step (or a state) that meets it and that leads on in `Z`. The largest
//! such set is what is left when states without such a path are taken away again and again. From a state in it an execution can meet all demands in turn, for ever;
//! and the states that a fair execution visits from some point on are such a set.
//!
//! Demands, two for each thread: its program takes a step or is unable to; its oldest deferred entry is performed or nothing is deferred.
//! Steps in which a victim with progress marks passes one are not there.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use cyrano_ir::Program;

use super::machine::is_mark;

/// A machine that runs a program.
pub trait Steps {
    /// Its states.
    type State: Clone + Eq + Hash;

    /// The first state.
    fn start(&self) -> Self::State;

    /// Whether a thread has come to its end; it has not if it has not started.
    fn ended(&self, state: &Self::State, thread: usize) -> bool;

    /// The instruction at which a thread stands that has started and not come to its end.
    fn stands(&self, state: &Self::State, thread: usize) -> Option<usize>;

    /// Whether a thread has deferred something.
    fn defers(&self, state: &Self::State, thread: usize) -> bool;

    /// What a thread's program can do.
    fn moves(&self, state: &Self::State, thread: usize) -> Moves<Self::State>;

    /// The states after one step of the memory for a thread, each with whether its oldest entry was performed.
    fn performs(&self, state: &Self::State, thread: usize) -> Vec<(Self::State, bool)>;

    /// What the program observes in a state in which all is done.
    fn observed(&self, state: &Self::State) -> Vec<i128>;
}

/// What a thread's program can do in a state.
#[derive(Debug)]
pub struct Moves<S> {
    /// The states after a step, each with whether a progress mark was passed.
    pub next: Vec<(S, bool)>,
    /// Whether it can take a step at all: also one that leaves the executions that are looked at, or for which there is no room here.
    pub able: bool,
    /// Whether it can enter an atomic section that it never leaves.
    pub diverges: bool,
    /// Whether there is no room.
    pub full: bool,
    /// Whether a step computes nonsense.
    pub wrong: bool,
}

impl<S> Default for Moves<S> {
    fn default() -> Self {
        Self { next: Vec::new(), able: false, diverges: false, full: false, wrong: false }
    }
}

/// How large a comparison may get.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Entries in a buffer.
    pub capacity: usize,
    /// States.
    pub states: usize,
}

/// What the definition says about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Every thread ends or makes progress, in every execution; `all` if no buffer was too small.
    Holds {
        /// Whether these are all executions.
        all: bool,
    },
    /// This thread computes nonsense.
    Wrong(usize),
    /// Nobody can do anything, and this thread has not ended.
    Stuck(usize),
    /// This thread enters an atomic section that it never leaves.
    Diverges(usize),
    /// In a fair infinite execution this thread neither ends nor makes progress.
    Starves(usize),
    /// This thread stands before a closed section in an operation or a command, and nothing is deferred.
    Blocked(usize),
    /// There are too many states.
    TooLarge,
}

/// The verdict, and what else there is to know.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict.
    pub found: Found,
    /// Whether some buffer was too small.
    pub full: bool,
    /// How many states there are.
    pub states: usize,
    /// What is observed where all threads have ended and nothing is deferred.
    pub outcomes: BTreeSet<Vec<i128>>,
}

/// A step.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub thread: usize,
    pub kind: Kind,
}

/// Whose step it is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Program { marks: bool },
    Memory { oldest: bool },
}

/// For each thread where it stands, and whether in this state it has ended, can take a step, defers something.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub at: Option<usize>,
    pub ended: bool,
    pub able: bool,
    pub defers: bool,
}

/// Every state and every step.
#[derive(Default)]
pub(super) struct Graph {
    pub standings: Vec<Vec<Standing>>,
    pub edges: Vec<Edge>,
    /// What goes wrong in a finite execution.
    pub finite: Option<Found>,
    /// Whether no buffer was too small.
    pub all: bool,
    pub outcomes: BTreeSet<Vec<i128>>,
    /// Whether there are more states than there may be.
    pub too_large: bool,
}

/// What a thread has to do again and again.
#[derive(Clone, Copy)]
enum Demand {
    Runs(usize),
    Performs(usize),
}

impl Demand {
    fn is_met(self, standings: &[Standing], edge: &Edge) -> bool {
        match self {
            Self::Runs(thread) => {
                !standings[thread].able || edge.thread == thread && matches!(edge.kind, Kind::Program { .. })
            }
            Self::Performs(thread) => {
                !standings[thread].defers || edge.thread == thread && edge.kind == Kind::Memory { oldest: true }
            }
        }
    }
}

/// Judges a program by the definition.
pub fn judge<M: Steps>(program: &Program, machine: &M, size: Size) -> Judgement {
    let graph = Graph::of(program, machine, size);
    let marked = |thread: &usize| program.threads[*thread].code.iter().any(|instr| is_mark(&instr.op));
    let mut victims = 0..if graph.is_open() { program.threads.len() } else { 0 };
    let starves = victims.find(|victim| graph.starves(*victim, marked(victim)));
    graph.judged(starves.map(Found::Starves))
}

impl Graph {
    /// The graph of a machine, up to some size.
    pub fn of<M: Steps>(program: &Program, machine: &M, size: Size) -> Self {
        let mut numbers: HashMap<M::State, usize> = HashMap::new();
        let mut states = vec![machine.start()];
        numbers.insert(states[0].clone(), 0);
        let mut graph = Self { all: true, ..Self::default() };
        let mut from = 0;
        while from < states.len() {
            if states.len() > size.states {
                return Self { too_large: true, ..graph };
            }
            let state = states[from].clone();
            let mut standings = Vec::new();
            for thread in 0..program.threads.len() {
                let moves = machine.moves(&state, thread);
                let (at, ended) = (machine.stands(&state, thread), machine.ended(&state, thread));
                standings.push(Standing { at, ended, able: moves.able, defers: machine.defers(&state, thread) });
                graph.note(thread, &moves);
                let runs = moves.next.into_iter().map(|(next, marks)| (next, Kind::Program { marks }));
                let performs = machine.performs(&state, thread).into_iter();
                let performs = performs.map(|(next, oldest)| (next, Kind::Memory { oldest }));
                for (next, kind) in runs.chain(performs) {
                    let to = *numbers.entry(next.clone()).or_insert(states.len());
                    if to == states.len() {
                        states.push(next);
                    }
                    graph.edges.push(Edge { from, to, thread, kind });
                }
            }
            if standings.iter().all(|standing| !standing.able && !standing.defers) {
                let waits = standings.iter().position(|standing| !standing.ended);
                graph.finite = graph.finite.or(waits.map(Found::Stuck));
                if waits.is_none() {
                    graph.outcomes.insert(machine.observed(&state));
                }
            }
            graph.standings.push(standings);
            from += 1;
        }
        graph
    }

    /// Notes what goes wrong, and what there is no room for.
    fn note<S>(&mut self, thread: usize, moves: &Moves<S>) {
        self.all &= !moves.full;
        let wrong = moves.wrong.then_some(Found::Wrong(thread));
        let finite = self.finite.take();
        self.finite = finite.or(wrong).or(moves.diverges.then_some(Found::Diverges(thread)));
    }

    /// Whether infinite executions matter: nothing goes wrong in finite ones, and the graph is complete.
    pub fn is_open(&self) -> bool {
        !self.too_large && self.finite.is_none()
    }

    /// The judgement, given what happens in infinite executions if they matter.
    pub fn judged(self, endless: Option<Found>) -> Judgement {
        let (full, states) = (!self.all, self.standings.len());
        let good = Found::Holds { all: self.all };
        let found = match self.finite {
            _ if self.too_large => Found::TooLarge,
            Some(finite) => finite,
            None => endless.unwrap_or(good),
        };
        Judgement { found, full, states, outcomes: self.outcomes }
    }
}

impl Graph {
    /// Whether some fair infinite execution keeps the victim from its end and, if it is marked, from its marks.
    fn starves(&self, victim: usize, marked: bool) -> bool {
        let mark = |edge: &Edge| marked && edge.thread == victim && edge.kind == Kind::Program { marks: true };
        let edges: Vec<&Edge> = self.edges.iter().filter(|edge| !mark(edge)).collect();
        let threads = self.standings[0].len();
        let demands = (0..threads).flat_map(|thread| [Demand::Runs(thread), Demand::Performs(thread)]);
        let demands: Vec<Demand> = demands.collect();
        let inside: Vec<bool> = self.standings.iter().map(|standings| !standings[victim].ended).collect();
        let met = |demand: &Demand, edge: &Edge| demand.is_met(&self.standings[edge.from], edge);
        is_fair(inside, &edges, &demands, met)
    }
}

/// Whether from a state of a set an execution along these edges stays in it and meets all demands again and again.
pub(super) fn is_fair<D>(
    mut inside: Vec<bool>,
    edges: &[&Edge],
    demands: &[D],
    met: impl Fn(&D, &Edge) -> bool,
) -> bool {
    let mut into: Vec<Vec<&Edge>> = vec![Vec::new(); inside.len()];
    edges.iter().for_each(|edge| into[edge.to].push(edge));
    loop {
        let before = inside.clone();
        for demand in demands {
            inside = can_meet(&inside, edges, &into, |edge| met(demand, edge));
        }
        if inside == before {
            return inside.contains(&true);
        }
    }
}

/// The states of a set from which a path within it leads to a step within it that meets a demand.
fn can_meet(inside: &[bool], edges: &[&Edge], into: &[Vec<&Edge>], met: impl Fn(&Edge) -> bool) -> Vec<bool> {
    let mut can = vec![false; inside.len()];
    let meets = |edge: &&&Edge| inside[edge.from] && inside[edge.to] && met(edge);
    let mut todo: Vec<usize> = edges.iter().filter(meets).map(|edge| edge.from).collect();
    while let Some(state) = todo.pop() {
        if !std::mem::replace(&mut can[state], true) {
            todo.extend(into[state].iter().map(|edge| edge.from).filter(|from| inside[*from] && !can[*from]));
        }
    }
    can
}

//! Progress by definition, on tiny programs: plain states, and reachability by closure.
//!
//! Nothing is shared with the explorer but the program and which of its registers are dead: states are structures and not bytes, and
//! a fair cycle is found by asking for each pair of edges whether one can be reached from the other.

use std::collections::HashMap;

use cyrano_engine::client_choices;
use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{Addr, Change, InstrId, LocalExpr, Op, Place, Program, Progress, RegId, TxEvent};

/// Larger graphs are not looked at.
const MOST_NODES: usize = 3_000;

/// How many instructions without an access are one step with what comes before them. Then others get a turn, so that a loop without
/// accesses is a cycle of states.
const LOCAL: usize = 64;

/// How many instructions an atomic section may take.
const SECTION: usize = 1_000;

/// A state in full.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    memory: Vec<i128>,
    registers: Vec<Vec<i128>>,
    pcs: Vec<usize>,
    busy: Vec<bool>,
}

/// One instruction, or one atomic section, and the local ones behind it.
#[derive(Clone, Copy)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub thread: usize,
    pub command: bool,
    pub ended: Option<TxEvent>,
}

/// All reachable states and the steps between them.
pub struct Graph {
    pub threads: usize,
    /// For each state the threads that have a transaction under way, and those that stand at a closed atomic section.
    pub busy: Vec<Vec<bool>>,
    pub blocked: Vec<Vec<bool>>,
    pub edges: Vec<Edge>,
}

impl Graph {
    /// Explores a program; none if it is too large.
    pub fn of(program: &Program) -> Option<Self> {
        let threads = program.threads.len();
        let live: Vec<Liveness> = program.threads.iter().map(|thread| Liveness::new(thread, [])).collect();
        let mut first = Configuration {
            memory: program.initial_memory(),
            registers: program.threads.iter().map(|t| t.registers.iter().map(|r| r.init).collect()).collect(),
            pcs: vec![0; threads],
            busy: vec![false; threads],
        };
        (0..threads).for_each(|thread| rest(program, &live, &mut first, thread));
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut states = vec![first];
        let mut graph = Self { threads, busy: Vec::new(), blocked: Vec::new(), edges: Vec::new() };
        let mut from = 0;
        while from < states.len() {
            let state = states[from].clone();
            graph.busy.push(state.busy.clone());
            graph.blocked.push(vec![false; threads]);
            for thread in 0..threads {
                let steps = steps(program, &state, thread);
                let waits = matches!(op(program, &state, thread), Op::AtomicBegin);
                graph.blocked[from][thread] = waits && steps.is_empty();
                let commands = client_choices(program, program.thread_ids().nth(thread)?);
                for (mut next, ended) in steps {
                    rest(program, &live, &mut next, thread);
                    let to = *numbers.entry(next.clone()).or_insert(states.len());
                    if to == states.len() {
                        states.push(next);
                    }
                    let command = commands.contains(&InstrId::new(state.pcs[thread]));
                    graph.edges.push(Edge { from, to, thread, command, ended });
                }
            }
            if states.len() > MOST_NODES {
                return None;
            }
            from += 1;
        }
        Some(graph)
    }
}

fn op<'p>(program: &'p Program, state: &Configuration, thread: usize) -> &'p Op {
    &program.threads[thread].code[state.pcs[thread]].op
}

/// Runs a thread on to its next access, choice or event, and forgets registers that nobody will read.
fn rest(program: &Program, live: &[Liveness], state: &mut Configuration, thread: usize) {
    let local = |op: &Op| matches!(op, Op::Assign { .. } | Op::Branch { .. } | Op::Jump(_));
    for _ in 0..LOCAL {
        if !local(op(program, state, thread)) {
            break;
        }
        execute(program, state, thread);
    }
    let at = InstrId::new(state.pcs[thread]);
    for (number, value) in state.registers[thread].iter_mut().enumerate() {
        if !live[thread].is_live(at, RegId::new(number)) {
            *value = 0;
        }
    }
}

/// What a thread can do in a state, with how a transaction ends in it.
fn steps(program: &Program, state: &Configuration, thread: usize) -> Vec<(Configuration, Option<TxEvent>)> {
    let mut next = state.clone();
    if matches!(op(program, state, thread), Op::AtomicBegin) {
        for _ in 0..SECTION {
            if matches!(op(program, &next, thread), Op::AtomicEnd) {
                next.pcs[thread] += 1;
                return vec![(next, None)];
            }
            if !execute(program, &mut next, thread) {
                return Vec::new();
            }
        }
        return Vec::new();
    }
    match op(program, state, thread) {
        Op::Choose { dst, from } => {
            let chosen = |value: &i128| {
                let mut next = state.clone();
                set(&mut next.registers[thread], dst, *value);
                next.pcs[thread] += 1;
                (next, None)
            };
            from.iter().map(chosen).collect()
        }
        Op::Halt => Vec::new(),
        Op::Transaction(event) => {
            next.pcs[thread] += 1;
            let ended = (*event != TxEvent::ReadFinish).then_some(*event);
            next.busy[thread] &= ended.is_none();
            vec![(next, ended)]
        }
        _ if execute(program, &mut next, thread) => vec![(next, None)],
        _ => Vec::new(),
    }
}

/// Executes one instruction; whether it can be executed.
fn execute(program: &Program, state: &mut Configuration, thread: usize) -> bool {
    let op = op(program, state, thread).clone();
    let value = |state: &Configuration, expr: &LocalExpr| eval(&state.registers[thread], expr);
    let at = |state: &Configuration, addr: &Addr| match addr {
        Addr::Fixed(loc) => loc.index(),
        Addr::Indexed { array, index } => {
            program.element(*array, value(state, index)).expect("an index in range").index()
        }
    };
    state.busy[thread] |= op.addr().is_some();
    let mut next = state.pcs[thread] + 1;
    match &op {
        Op::Assign { dst, value: expr } => {
            let result = value(state, expr);
            set(&mut state.registers[thread], dst, result);
        }
        Op::Access(access) => {
            let loc = at(state, &access.addr);
            let old = state.memory[loc];
            match &access.change {
                Some(Change::Cas { expected, new }) if value(state, expected) == old => {
                    state.memory[loc] = value(state, new);
                }
                Some(Change::Set(new)) => state.memory[loc] = value(state, new),
                Some(Change::Add(by)) => state.memory[loc] = old + value(state, by),
                Some(Change::Cas { .. }) | None => {}
            }
            if let Some(dst) = &access.dst {
                set(&mut state.registers[thread], dst, old);
            }
        }
        Op::Branch { cond, then_to, else_to } => {
            next = if value(state, cond) != 0 { then_to.index() } else { else_to.index() };
        }
        Op::Jump(to) => next = to.index(),
        Op::Assume(cond) if value(state, cond) == 0 => return false,
        _ => {}
    }
    state.pcs[thread] = next;
    true
}

pub fn eval(registers: &[i128], expr: &LocalExpr) -> i128 {
    expr.eval(&mut |place| Ok(registers[slot(registers, place)])).expect("a value")
}

pub fn slot(registers: &[i128], place: &Place) -> usize {
    match place {
        Place::Reg(reg) => reg.index(),
        Place::Elem { base, index, .. } => base.index() + eval(registers, index) as usize,
    }
}

pub fn set(registers: &mut [i128], place: &Place, value: i128) {
    let slot = slot(registers, place);
    registers[slot] = value;
}

/// What a thread may do from some point on.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Ends,
    Aborts,
    Stuck,
    Blocked,
    Stops { outside: bool },
}

/// Whether a progress property is violated, by definition.
pub fn violated(graph: &Graph, progress: Progress) -> bool {
    let others: &[Part] = match progress {
        Progress::Solo => &[Part::Stops { outside: false }],
        Progress::CrashFreeSolo => &[Part::Stops { outside: true }],
        Progress::Local => &[Part::Ends, Part::Stuck, Part::Blocked, Part::Stops { outside: true }],
    };
    let victims = [Part::Aborts, Part::Stuck, Part::Blocked];
    (0..graph.threads).any(|victim| {
        let mut casts: Vec<Vec<Part>> = vec![Vec::new()];
        for thread in 0..graph.threads {
            let parts = if thread == victim { &victims[..] } else { others };
            casts = casts.iter().flat_map(|cast| parts.iter().map(|part| [&cast[..], &[*part]].concat())).collect();
        }
        casts.iter().any(|cast| plays(graph, cast))
    })
}

/// Whether some infinite execution gives every thread its part.
fn plays(graph: &Graph, cast: &[Part]) -> bool {
    let state = |node: usize| {
        cast.iter().enumerate().all(|(thread, part)| match part {
            Part::Blocked => graph.blocked[node][thread],
            Part::Stops { outside: true } => !graph.busy[node][thread],
            _ => true,
        })
    };
    let step = |edge: &&Edge| match cast[edge.thread] {
        Part::Ends => true,
        Part::Aborts => edge.ended != Some(TxEvent::Commit),
        Part::Stuck => edge.ended.is_none() && !edge.command,
        Part::Blocked | Part::Stops { .. } => false,
    };
    let allowed = |edge: &&Edge| step(edge) && state(edge.from) && state(edge.to);
    let edges: Vec<&Edge> = graph.edges.iter().filter(allowed).collect();
    let does = |edge: &Edge| match cast[edge.thread] {
        Part::Ends => edge.ended.is_some(),
        Part::Aborts => edge.ended == Some(TxEvent::Abort),
        _ => true,
    };
    let moves = |part: &Part| matches!(part, Part::Ends | Part::Aborts | Part::Stuck);
    let moving: Vec<usize> = (0..cast.len()).filter(|thread| moves(&cast[*thread])).collect();
    let Some(first) = moving.first() else { return (0..graph.busy.len()).any(state) };
    let reach = closure(graph.busy.len(), &edges);
    let can = |from: usize, to: usize| from == to || reach[from][to / 64] & 1 << (to % 64) != 0;
    let starts = edges.iter().filter(|edge| edge.thread == *first && does(edge) && can(edge.to, edge.from));
    { starts }.any(|start| {
        moving.iter().all(|thread| {
            let mut own = edges.iter().filter(|edge| edge.thread == *thread && does(edge));
            own.any(|edge| can(start.to, edge.from) && can(edge.to, start.from))
        })
    })
}

/// For each node the nodes that can be reached from it.
fn closure(nodes: usize, edges: &[&Edge]) -> Vec<Vec<u64>> {
    let mut reach = vec![vec![0u64; nodes.div_ceil(64)]; nodes];
    for edge in edges {
        reach[edge.from][edge.to / 64] |= 1 << (edge.to % 64);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for edge in edges {
            let further = reach[edge.to].clone();
            for (known, more) in reach[edge.from].iter_mut().zip(further) {
                changed |= more & !*known != 0;
                *known |= more;
            }
        }
    }
    reach
}

//! Atomic sections: all ways through one, on a memory that holds still.
//!
//! The accesses of a section happen at one place in the memory order (axiom 6). If one of them reads, nothing behind the section can be performed before
//! it, so that this place is here and now, and each access has to be able to pass what the buffer holds. If all of them are stores, they are
//! deferred like one. A path on which an `assume` fails is no path: without any the section is closed. A section in which one can go round in
//! circles can be entered and never left, and meanwhile nobody else can do anything.

use std::collections::{BTreeMap, HashMap};

use cyrano_ir::{AccessKind, Op};

use super::fair::Moves;
use super::machine::{Halted, Machine, State, eval, is_mark, plain, read_and_change, set};
use super::queue::Buffering;

/// A section with more states inside is not looked at.
const MOST_NODES: usize = 20_000;

/// A place on a path through a section.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    pc: usize,
    registers: Vec<i128>,
    /// What it has written.
    written: BTreeMap<usize, i128>,
    /// Whether it has read.
    reads: bool,
    /// Whether it has passed a progress mark.
    marked: bool,
}

/// What a thread can do at the beginning of a section.
pub fn moves(machine: &Machine<'_>, state: &State, thread: usize) -> Moves<State> {
    let local = &state.threads[thread];
    let first = Node {
        pc: local.pc + 1,
        registers: local.registers.clone(),
        written: BTreeMap::new(),
        reads: false,
        marked: false,
    };
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let (mut nodes, mut edges, mut all) = (vec![first], Vec::new(), Moves::default());
    let mut from = 0;
    while from < nodes.len() {
        assert!(nodes.len() < MOST_NODES, "a section of {} is too large", machine.program.name);
        let node = nodes[from].clone();
        if matches!(machine.op(thread, node.pc), Op::AtomicEnd) {
            leave(machine, state, thread, node, &mut all);
        } else {
            for step in steps(machine, state, thread, &node) {
                match step {
                    Ok(next) => {
                        let to = *numbers.entry(next.clone()).or_insert(nodes.len());
                        if to == nodes.len() {
                            nodes.push(next);
                        }
                        edges.push((from, to));
                    }
                    Err(Halted::Waits) => {}
                    Err(Halted::Dropped) => all.able = true,
                    Err(Halted::Wrong) => (all.able, all.wrong) = (true, true),
                }
            }
        }
        from += 1;
    }
    all.diverges = has_cycle(nodes.len(), &edges);
    all.able |= all.diverges;
    all
}

/// The end of a section is reached.
fn leave(machine: &Machine<'_>, state: &State, thread: usize, node: Node, all: &mut Moves<State>) {
    all.able = true;
    let mut next = state.clone();
    let local = &mut next.threads[thread];
    (local.pc, local.registers) = (node.pc + 1, node.registers);
    if node.reads || machine.model == Buffering::Sc {
        node.written.into_iter().for_each(|(loc, value)| next.memory[loc] = value);
    } else if !node.written.is_empty() {
        if machine.is_full(&local.buffer) {
            all.full = true;
            return;
        }
        local.buffer.push(node.written.into_iter().collect());
    }
    all.next.push((next, node.marked));
}

/// One instruction further, in every way.
fn steps(machine: &Machine<'_>, state: &State, thread: usize, node: &Node) -> Vec<Result<Node, Halted>> {
    let mut next = node.clone();
    next.pc += 1;
    match machine.op(thread, node.pc) {
        Op::Choose { dst, from } => {
            let chosen = |value: &i128| {
                let mut next = next.clone();
                set(&mut next.registers, dst, *value)?;
                Ok(next)
            };
            from.iter().map(chosen).collect()
        }
        Op::Access(_) => vec![access(machine, state, thread, next)],
        op => {
            next.marked |= is_mark(op);
            vec![match plain(op, node.pc, &mut next.registers) {
                Ok(pc) => Ok(Node { pc, ..next }),
                Err(Halted::Dropped) if matches!(op, Op::Assume(_)) => Err(Halted::Waits),
                Err(halted) => Err(halted),
            }]
        }
    }
}

/// The access before the node's program counter.
fn access(machine: &Machine<'_>, state: &State, thread: usize, mut node: Node) -> Result<Node, Halted> {
    let Op::Access(access) = machine.op(thread, node.pc - 1) else { unreachable!("an access") };
    let loc = machine.address(&access.addr, &node.registers)?;
    let buffer = &state.threads[thread].buffer;
    let passes = |kind: AccessKind, loc: usize| buffer.lets_pass(machine.model, kind, loc);
    if access.kind == AccessKind::Store {
        node.written.insert(loc, eval(&node.registers, access.stored().expect("a store has a value"))?);
    } else {
        if !passes(access.kind, loc) {
            return Err(Halted::Waits);
        }
        let seen = node.written.get(&loc).copied().or_else(|| buffer.forwarded(loc));
        node.reads = true;
        if let Some(new) = read_and_change(access, seen.unwrap_or(state.memory[loc]), &mut node.registers)? {
            node.written.insert(loc, new);
        }
    }
    let blocked = node.reads && node.written.keys().any(|loc| !passes(AccessKind::Store, *loc));
    if blocked { Err(Halted::Waits) } else { Ok(node) }
}

/// Whether one can go round in circles: what is left when nodes without a way on are taken away again and again.
fn has_cycle(nodes: usize, edges: &[(usize, usize)]) -> bool {
    let mut left = vec![true; nodes];
    loop {
        let mut ways = vec![false; nodes];
        edges.iter().filter(|(from, to)| left[*from] && left[*to]).for_each(|(from, _)| ways[*from] = true);
        if ways == left {
            return left.contains(&true);
        }
        left = ways;
    }
}

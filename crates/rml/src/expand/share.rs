//! Code that procedures left behind in several places, once (for the clients of an stm with values).
//!
//! Procedures are inlined, so that what a transaction does when it gives up stands wherever it may. Two instructions that do the same, come
//! from the same statement and go on with the same instructions are one, like two states of an automaton. A thread that rests in the
//! one is then in the same state as a thread that rests in the other.
//!
//! **Invariant:** instructions keep their order, as far as they are kept; the last one is the only `Halt`.

use std::collections::{BTreeSet, HashMap};

use cyrano_ir::dataflow::past_jumps;
use cyrano_ir::{Instr, InstrId, Op, Span};

/// The same code without repetitions. Only its last instruction may be a `Halt`.
pub(crate) fn share(code: Vec<Instr>) -> Vec<Instr> {
    let halts = code.iter().filter(|instr| instr.op == Op::Halt).count();
    if halts != 1 || code.last().is_none_or(|last| last.op != Op::Halt) {
        return code;
    }
    let classes = classes(&code);
    lay_out(&code, &classes)
}

fn successors(code: &[Instr], at: usize) -> Vec<usize> {
    match &code[at].op {
        Op::Halt => Vec::new(),
        Op::Branch { then_to, else_to, .. } => [then_to, else_to].map(|to| past_jumps(code, to.index())).to_vec(),
        Op::Jump(_) => vec![past_jumps(code, at)],
        _ => vec![past_jumps(code, at + 1)],
    }
}

/// Splits classes of instructions that do the same until all members of a class go on with members of the same classes.
fn classes(code: &[Instr]) -> Vec<usize> {
    let mut known: HashMap<(String, Span), usize> = HashMap::new();
    let mut classes: Vec<usize> = Vec::with_capacity(code.len());
    for instr in code {
        let key = (format!("{:?}", without_targets(&instr.op)), instr.span);
        let next = known.len();
        classes.push(*known.entry(key).or_insert(next));
    }
    let mut count = known.len();
    loop {
        let mut known: HashMap<(usize, Vec<usize>), usize> = HashMap::new();
        let mut finer = Vec::with_capacity(code.len());
        for (at, class) in classes.iter().enumerate() {
            let then = successors(code, at).into_iter().map(|to| classes[to]).collect();
            let next = known.len();
            finer.push(*known.entry((*class, then)).or_insert(next));
        }
        classes = finer;
        if known.len() == count {
            return classes;
        }
        count = known.len();
    }
}

fn without_targets(op: &Op) -> Op {
    match op {
        Op::Branch { cond, .. } => Op::Branch { cond: cond.clone(), then_to: InstrId(0), else_to: InstrId(0) },
        Op::Jump(_) => Op::Jump(InstrId(0)),
        other => other.clone(),
    }
}

fn lay_out(code: &[Instr], classes: &[usize]) -> Vec<Instr> {
    // Of each class the first member stands for all.
    let mut first: HashMap<usize, usize> = HashMap::new();
    for at in (0..code.len()).rev() {
        first.insert(classes[at], at);
    }
    let member = |at: usize| first[&classes[past_jumps(code, at)]];
    let halt = code.len() - 1;
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut new: Vec<Instr> = Vec::new();
    let mut pending = BTreeSet::from([member(0)]);
    while let Some(start) = pending.pop_first() {
        let mut at = start;
        while at != halt && !places.contains_key(&at) {
            places.insert(at, new.len());
            new.push(code[at].clone());
            if matches!(code[at].op, Op::Branch { .. }) {
                pending.extend(successors(code, at).into_iter().map(member));
                break;
            }
            let next = member(at + 1);
            if next == halt || places.contains_key(&next) {
                new.push(Instr { op: Op::Jump(InstrId::new(next)), span: code[at].span });
            }
            at = next;
        }
    }
    places.insert(halt, new.len());
    new.push(code[halt].clone());
    for instr in &mut new {
        match &mut instr.op {
            Op::Branch { then_to, else_to, .. } => {
                for to in [then_to, else_to] {
                    *to = InstrId::new(places[&member(to.index())]);
                }
            }
            Op::Jump(to) => *to = InstrId::new(places[&to.index()]),
            _ => {}
        }
    }
    new
}

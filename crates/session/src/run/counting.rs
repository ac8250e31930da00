//! Loops that can count for ever, which an explorer of states cannot exhaust.
//!
//! **What is looked for:** an instruction that lies on a cycle of its thread's code and computes a register from itself, directly or by way of
//! other such instructions, or adds something to memory. Loops that load afresh in every iteration, as retry and spin loops do, are
//! none of these; a loop over a few numbers is, so the answer only says where it is worth trying another engine.

use std::collections::BTreeSet;

use cyrano_ir::dataflow::{expr_reads, successors, writes};
use cyrano_ir::{Change, InstrId, LocalExpr, Op, Program, RegId, Thread};

/// Whether some loop of the program may count.
pub fn counts(program: &Program) -> bool {
    program.threads.iter().any(in_thread)
}

fn in_thread(thread: &Thread) -> bool {
    let looping: Vec<&Op> = (0..thread.code.len())
        .filter(|at| reaches_itself(thread, InstrId::new(*at)))
        .map(|at| &thread.code[at].op)
        .collect();
    let computed: Vec<(&Op, BTreeSet<RegId>)> = looping
        .iter()
        .filter_map(|op| match op {
            Op::Assign { value, .. } => Some((*op, registers(value))),
            _ => None,
        })
        .collect();
    looping.iter().any(|op| match op {
        Op::Assign { value, .. } if computes(value) => feeds_itself(op, &registers(value), &computed),
        Op::Access(access) => {
            access.stored().is_some_and(|value| adds(value, &computed)) || matches!(access.change, Some(Change::Add(_)))
        }
        _ => false,
    })
}

fn reaches_itself(thread: &Thread, start: InstrId) -> bool {
    let mut seen = BTreeSet::new();
    let next = |at: InstrId| thread.code.get(at.index()).into_iter().flat_map(move |instr| successors(&instr.op, at));
    let mut todo: Vec<InstrId> = next(start).collect();
    while let Some(at) = todo.pop() {
        if at == start {
            return true;
        }
        if seen.insert(at) {
            todo.extend(next(at));
        }
    }
    false
}

fn registers(value: &LocalExpr) -> BTreeSet<RegId> {
    let mut found = BTreeSet::new();
    expr_reads(value, &mut |register| {
        found.insert(register);
    });
    found
}

/// Whether a value is more than a copy or a constant.
fn computes(value: &LocalExpr) -> bool {
    matches!(value, LocalExpr::Binary(..) | LocalExpr::Unary(..)) && !registers(value).is_empty()
}

/// Whether what an instruction writes flows into what it reads.
fn feeds_itself(op: &Op, reads: &BTreeSet<RegId>, computed: &[(&Op, BTreeSet<RegId>)]) -> bool {
    let Some(written) = writes(op) else { return false };
    let sources = sources(reads, computed);
    written.registers().any(|register| sources.contains(&register))
}

/// The registers that these are computed from.
fn sources(of: &BTreeSet<RegId>, computed: &[(&Op, BTreeSet<RegId>)]) -> BTreeSet<RegId> {
    let mut all = of.clone();
    loop {
        let known = all.len();
        for (op, reads) in computed {
            if writes(op).is_some_and(|written| written.registers().any(|register| all.contains(&register))) {
                all.extend(reads);
            }
        }
        if all.len() == known {
            return all;
        }
    }
}

/// Whether something is computed on the way to this value.
fn adds(value: &LocalExpr, computed: &[(&Op, BTreeSet<RegId>)]) -> bool {
    let sources = sources(&registers(value), computed);
    let on_the_way = computed.iter().filter(|(op, _)| {
        let written = writes(op);
        written.is_some_and(|written| written.registers().any(|register| sources.contains(&register)))
    });
    let mut values = on_the_way.filter_map(|(op, _)| match op {
        Op::Assign { value, .. } => Some(value),
        _ => None,
    });
    computes(value) || values.any(computes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: bool) {
        let source = format!("threads {{ shared x, y; thread p {{ local i, l, m; {body} }} }}");
        let program = cyrano_rml::compile(&source, "a.rml", &[]).expect("the program compiles");
        assert_eq!(counts(&program), expected, "{body}");
    }

    #[test]
    fn counters_are_found_and_other_loops_are_not() {
        check("i := i + 1; x := i", false);
        check("while m == 0 { i := i + 1; m := x }", true);
        check("while m == 0 { l := i + 1; i := l; m := x }", true);
        check("while m == 0 { l := y; y := l + 1; m := x }", true);
        check("while m == 0 { l := fetch_add(y, 1); m := x }", true);
        check("while m == 0 { l := y; m := x }", false);
        check("while m == 0 { l := y; m := l }", false);
    }
}

//! Whether two builds of a program differ in inserted fences only.
//!
//! What counts is what a memory model sees and in which order: accesses, sections, operations, choices, checks and branches, the source
//! that each comes from, and what can follow what. Assignments and jumps do not count: a compiler may keep a copy because a fence stands
//! behind it.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Instr, InstrId, Op, Program, Span, Thread};

use crate::places::inserted;

/// Whether the second program is the first one with fences inserted, both with the spans of the original source.
pub fn same_but_for_fences(plain: &Program, fenced: &Program) -> bool {
    plain.threads.len() == fenced.threads.len()
        && plain.threads.iter().zip(&fenced.threads).all(|(plain, fenced)| shape(plain) == shape(fenced))
}

/// What is left of an instruction.
#[derive(PartialEq, Eq, Debug)]
struct Bone {
    kind: std::mem::Discriminant<Op>,
    span: Span,
    /// Which bones can come next, sorted, for a negated condition may be kept or turned round; none is the end of the code.
    next: Vec<Option<usize>>,
}

fn shape(thread: &Thread) -> Vec<Bone> {
    let code = &thread.code;
    let numbers = numbers(code);
    let bones = code.iter().enumerate().filter(|(at, _)| numbers[*at].is_some());
    let bone = |(at, instr): (usize, &Instr)| {
        let next = successors(&instr.op, InstrId::new(at)).map(|next| resolve(code, &numbers, next.index()));
        let mut next: Vec<Option<usize>> = next.collect();
        next.sort();
        Bone { kind: std::mem::discriminant(&instr.op), span: instr.span, next }
    };
    bones.map(bone).collect()
}

/// The number of each instruction that counts.
fn numbers(code: &[Instr]) -> Vec<Option<usize>> {
    let mut count = 0;
    let mut number = |instr: &Instr| {
        let counts = !matches!(instr.op, Op::Assign { .. } | Op::Jump(_)) && inserted(instr).is_none();
        count += usize::from(counts);
        counts.then(|| count - 1)
    };
    code.iter().map(&mut number).collect()
}

/// The first instruction from here that counts; none if there is none, also where jumps go in a circle.
fn resolve(code: &[Instr], numbers: &[Option<usize>], start: usize) -> Option<usize> {
    let mut at = start;
    for _ in 0..code.len() {
        let instr = code.get(at)?;
        if let Some(number) = numbers[at] {
            return Some(number);
        }
        at = successors(&instr.op, InstrId::new(at)).next()?.index();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_ir::{Addr, Expr, FenceSet, LocId, Place, RegId};

    fn program(ops: Vec<(Op, Span)>) -> Program {
        let code = ops.into_iter().map(|(op, span)| Instr { op, span }).collect();
        let thread = Thread { name: "p".into(), registers: Vec::new(), code };
        Program { threads: vec![thread], ..Program::default() }
    }

    fn store(at: usize) -> (Op, Span) {
        let op = Op::store(Addr::Fixed(LocId(0)), Expr::Const(1));
        (op, Span::new(at, at + 1))
    }

    fn fence(start: usize, end: usize) -> (Op, Span) {
        (Op::fence(FenceSet::FULL), Span::new(start, end))
    }

    fn other(op: Op) -> (Op, Span) {
        (op, Span::default())
    }

    fn branch(then_to: usize, else_to: usize) -> (Op, Span) {
        let (then_to, else_to) = (InstrId::new(then_to), InstrId::new(else_to));
        other(Op::Branch { cond: Expr::Const(1), then_to, else_to })
    }

    #[test]
    fn fences_copies_and_jumps_do_not_count() {
        let plain = program(vec![store(1), store(2), other(Op::Halt)]);
        let copy = Op::Assign { dst: Place::Reg(RegId(0)), value: Expr::Const(0) };
        let same = |ops| same_but_for_fences(&plain, &program(ops));
        assert!(same(vec![store(1), fence(5, 5), store(2), other(Op::Halt)]));
        assert!(same(vec![store(1), other(copy), other(Op::Jump(InstrId::new(3))), store(2), other(Op::Halt)]));
        // A fence of the user's own, another access, another order, an access more or less.
        assert!(!same(vec![store(1), fence(5, 6), store(2), other(Op::Halt)]));
        assert!(!same(vec![store(2), store(1), other(Op::Halt)]));
        assert!(!same(vec![store(1), store(2), store(2), other(Op::Halt)]));
        assert!(!same(vec![store(1), other(Op::Halt)]));
    }

    /// Braces around the body of an outer `if` take the `else` from the inner one: the code is the same, the flow is not.
    #[test]
    fn the_flow_counts() {
        let of = |outer, inner| {
            let inner = branch(2, inner);
            program(vec![
                branch(1, outer),
                inner,
                store(1),
                other(Op::Jump(InstrId::new(5))),
                store(2),
                other(Op::Halt),
            ])
        };
        assert!(same_but_for_fences(&of(5, 4), &of(5, 4)));
        assert!(!same_but_for_fences(&of(5, 4), &of(4, 5)));
        let swapped = program(vec![branch(2, 1), store(1), other(Op::Halt)]);
        let plain = program(vec![branch(1, 2), store(1), other(Op::Halt)]);
        assert!(same_but_for_fences(&plain, &swapped));
    }

    #[test]
    fn circles_end() {
        let circle = program(vec![store(1), other(Op::Jump(InstrId::new(1)))]);
        assert!(same_but_for_fences(&circle, &circle));
    }
}

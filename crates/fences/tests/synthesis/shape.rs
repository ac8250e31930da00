//! Which differences between programs count.

use cyrano_fences::same_but_for_fences;
use cyrano_ir::{Addr, Expr, FenceSet, Instr, InstrId, LocId, Op, Place, Program, RegId, Span, Thread};

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
        program(vec![branch(1, outer), inner, store(1), other(Op::Jump(InstrId::new(5))), store(2), other(Op::Halt)])
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

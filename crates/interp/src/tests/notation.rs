//! A terse notation for programs in tests, so that a test shows the program rather than its construction.
//!
//! One string per thread, statements separated by `;`. Shared locations are `w x y z` and the array `a[2]`, all 0; registers are
//! `r0` to `r4`, all 0. `r1=x` loads, `x=r1+1` stores, `r0=1` assigns, `r0=cas x 0 1`, `r0=add x 1`, `r0=xchg x 1` modify,
//! `unless r0 skip 2` branches forward, `while r0 back 2` branches back; the rest reads as it is written.

use cyrano_ir::{
    Addr, ArrayId, BinOp, Change, Expr, FenceSet, FinalVar, Instr, InstrId, LocId, LocalExpr, Location, Observable, Op,
    Place, Program, RegId, Register, SharedArray, Span, Thread, ThreadId, Ty,
};

const LOCATIONS: [&str; 6] = ["w", "x", "y", "z", "a[0]", "a[1]"];

/// Builds a program; `observed` lists `0r1` (register `r1` of thread 0) and locations.
pub(super) fn program(threads: &[&str], observed: &str) -> Program {
    let location = |name: &&str| Location { name: (*name).into(), init: 0, ty: Ty::Int, span: Span::default() };
    Program {
        name: "test".into(),
        locations: LOCATIONS.iter().map(location).collect(),
        arrays: vec![SharedArray { name: "a".into(), base: LocId(4), len: 2, headers: false }],
        threads: threads.iter().enumerate().map(|(at, code)| thread(at, code)).collect(),
        observed: observed.split_whitespace().map(observable).collect(),
        ..Program::default()
    }
}

fn observable(name: &str) -> Observable {
    let var = match name.split_once('r') {
        Some((thread, register)) => {
            FinalVar::Reg(ThreadId(thread.parse().expect("thread")), RegId(register.parse().expect("register")))
        }
        None => FinalVar::Loc(location(name).expect("location")),
    };
    Observable { name: name.into(), var }
}

fn thread(at: usize, code: &str) -> Thread {
    let register = |number: usize| Register { name: format!("r{number}"), init: 0, ty: Ty::Int };
    let statements = code.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    let ops = statements.enumerate().map(|(pc, statement)| op(pc, statement)).chain([Op::Halt]);
    Thread {
        name: format!("p{at}"),
        registers: (0..5).map(register).collect(),
        code: ops.map(|op| Instr { op, span: Span::default() }).collect(),
    }
}

fn location(name: &str) -> Option<LocId> {
    LOCATIONS.iter().position(|location| *location == name).map(LocId::new)
}

fn address(name: &str) -> Option<Addr> {
    if let Some(loc) = location(name) {
        return Some(Addr::Fixed(loc));
    }
    let index = name.strip_prefix("a[")?.strip_suffix(']')?;
    Some(Addr::Indexed { array: ArrayId(0), index: expr(index) })
}

fn register(name: &str) -> Option<RegId> {
    name.strip_prefix('r').and_then(|number| number.parse().ok()).map(RegId)
}

fn expr(text: &str) -> LocalExpr {
    for (op, symbol) in [(BinOp::Eq, "=="), (BinOp::Add, "+"), (BinOp::Div, "/")] {
        if let Some((left, right)) = text.split_once(symbol) {
            return Expr::binary(op, expr(left), expr(right));
        }
    }
    match register(text.trim()) {
        Some(register) => Expr::Var(Place::Reg(register)),
        None => Expr::Const(text.trim().parse().unwrap_or_else(|_| panic!("not an expression: {text}"))),
    }
}

fn op(pc: usize, statement: &str) -> Op {
    let words: Vec<_> = statement.split_whitespace().collect();
    let target = |word: &str| InstrId::new(pc + 1 + word.parse::<usize>().expect("distance"));
    match words.as_slice() {
        ["fence", kinds @ ..] => {
            let kind = |name: &&str| FenceSet::from_name(name).expect("fence kind");
            Op::fence(kinds.iter().map(kind).fold(FenceSet::NONE, |all, kind| all | kind))
        }
        ["mfence"] => Op::fence(FenceSet::FULL),
        ["atomic{"] => Op::AtomicBegin,
        ["}"] => Op::AtomicEnd,
        ["op{"] => Op::OperationBegin("op".into()),
        ["}op"] => Op::OperationEnd,
        ["assume", cond] => Op::Assume(expr(cond)),
        ["limit", cond] => Op::Limit { cond: expr(cond), what: "objects".into() },
        ["assert", cond] => Op::Assert { cond: expr(cond), message: None },
        ["goto", distance] => Op::Jump(InstrId::new(pc - distance.parse::<usize>().expect("distance"))),
        ["unless", cond, "skip", distance] => {
            Op::Branch { cond: expr(cond), then_to: InstrId::new(pc + 1), else_to: target(distance) }
        }
        ["while", cond, "back", distance] => {
            let back = InstrId::new(pc - distance.parse::<usize>().expect("distance"));
            Op::Branch { cond: expr(cond), then_to: back, else_to: InstrId::new(pc + 1) }
        }
        _ => assignment(statement),
    }
}

fn assignment(statement: &str) -> Op {
    let (left, right) = statement.split_once('=').unwrap_or_else(|| panic!("not a statement: {statement}"));
    if let Some(addr) = address(left) {
        return Op::store(addr, expr(right));
    }
    let dst = Place::Reg(register(left).unwrap_or_else(|| panic!("not a variable: {left}")));
    let words: Vec<_> = right.split_whitespace().collect();
    let rmw = |loc: &str, op| Op::rmw(Some(dst.clone()), address(loc).expect("address"), op);
    match words.as_slice() {
        ["cas", loc, expected, new] => rmw(loc, Change::Cas { expected: expr(expected), new: expr(new) }),
        ["add", loc, by] => rmw(loc, Change::Add(expr(by))),
        ["xchg", loc, value] => rmw(loc, Change::Set(expr(value))),
        ["choose", values @ ..] => {
            Op::Choose { dst, from: values.iter().map(|value| value.parse().expect("value")).collect() }
        }
        [name] => match address(name) {
            Some(addr) => Op::load(dst, addr),
            None => Op::Assign { dst, value: expr(name) },
        },
        _ => panic!("not a statement: {statement}"),
    }
}

//! What is known about registers at every instruction: constants, copies, definedness.
//!
//! A forward analysis. A register is *defined* after it got the value of an operation or a constant, and after an instruction that would
//! have reported an error otherwise: a value that was checked once is not checked again until it is overwritten.

use cyrano_ir::dataflow::{successors, writes};
use cyrano_ir::{Addr, BinOp, Expr as Ir, Instr, InstrId, LocalExpr, Op, Place, RegId, Thread, UNDEFINED, UnOp};

use super::{for_each_expr, registers_of};
use crate::types::arith;

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    Anything,
    Const(i128),
    /// The same as another register.
    Copy(RegId),
}

/// What is known at one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Facts {
    holds: Vec<Holds>,
    defined: Vec<bool>,
}

/// Rewrites every instruction with what is known before it.
pub(super) fn propagate(thread: &mut Thread) {
    let known = analyse(thread);
    let mut current: Option<Facts> = None;
    for (instr, start) in thread.code.iter_mut().zip(known) {
        current = start.or(current);
        if let Some(facts) = &mut current {
            facts.rewrite(instr);
            facts.step(&instr.op);
        }
    }
}

/// The facts at the start of every block; none elsewhere.
fn analyse(thread: &Thread) -> Vec<Option<Facts>> {
    let code = &thread.code;
    let targets = super::jumps::targets(code);
    let mut known: Vec<Option<Facts>> = vec![None; code.len()];
    let Some(first) = known.first_mut() else { return known };
    *first = Some(Facts::start(thread));
    let mut pending = vec![0];
    while let Some(start) = pending.pop() {
        let Some(mut facts) = known[start].clone() else { continue };
        let mut at = start;
        loop {
            let mut instr = code[at].clone();
            facts.rewrite(&mut instr);
            facts.step(&instr.op);
            let ends = matches!(instr.op, Op::Jump(_) | Op::Branch { .. } | Op::Halt);
            if !ends && !targets[at + 1] {
                at += 1;
                continue;
            }
            for next in successors(&instr.op, InstrId::new(at)) {
                if meet(&mut known[next.index()], &facts) {
                    pending.push(next.index());
                }
            }
            break;
        }
    }
    known
}

/// Keeps what holds on both ways; says whether something changed.
fn meet(known: &mut Option<Facts>, facts: &Facts) -> bool {
    let Some(before) = known else {
        *known = Some(facts.clone());
        return true;
    };
    let mut changed = false;
    for (holds, other) in before.holds.iter_mut().zip(&facts.holds) {
        if *holds != Holds::Anything && holds != other {
            *holds = Holds::Anything;
            changed = true;
        }
    }
    for (defined, other) in before.defined.iter_mut().zip(&facts.defined) {
        changed |= *defined && !other;
        *defined &= other;
    }
    changed
}

impl Facts {
    fn start(thread: &Thread) -> Self {
        let holds = thread.registers.iter().map(|register| Holds::Const(register.init)).collect();
        let defined = thread.registers.iter().map(|register| register.init != UNDEFINED).collect();
        Self { holds, defined }
    }

    fn rewrite(&self, instr: &mut Instr) {
        for_each_expr(&mut instr.op, &mut |expr| *expr = self.apply(expr));
        if let Op::Assign { dst: Place::Elem { index, .. }, .. } = &mut instr.op {
            **index = self.apply(index);
        }
    }

    fn apply(&self, expr: &LocalExpr) -> LocalExpr {
        match expr {
            Ir::Const(value) => Ir::Const(*value),
            Ir::Var(Place::Reg(reg)) => match self.holds[reg.index()] {
                Holds::Const(value) => Ir::Const(value),
                Holds::Copy(from) => Ir::Var(Place::Reg(from)),
                Holds::Anything => expr.clone(),
            },
            Ir::Var(Place::Elem { base, len, index }) => {
                Ir::Var(Place::Elem { base: *base, len: *len, index: Box::new(self.apply(index)) })
            }
            Ir::Unary(UnOp::Defined, arg) => match self.apply(arg) {
                Ir::Var(Place::Reg(reg)) if self.defined[reg.index()] => Ir::Var(Place::Reg(reg)),
                arg @ (Ir::Var(_) | Ir::Const(_)) => arith::unary(UnOp::Defined, arg),
                // An operation has a defined value.
                arg => arg,
            },
            Ir::Unary(op, arg) => arith::unary(*op, self.apply(arg)),
            Ir::Binary(op, a, b) => arith::binary(*op, self.apply(a), self.apply(b)),
        }
    }

    /// What is known after an instruction that has been rewritten.
    fn step(&mut self, op: &Op) {
        for operand in op.operands() {
            self.learn(operand);
        }
        if let Some(Addr::Indexed { index, .. }) = op.addr() {
            self.learn(index);
        }
        let Some(write) = writes(op) else { return };
        let (holds, defined) = match op {
            Op::Assign { value, .. } => self.result(value),
            Op::Choose { from, .. } => (Holds::Anything, !from.contains(&UNDEFINED)),
            _ => (Holds::Anything, false),
        };
        for reg in write.registers() {
            self.forget(reg);
            let own = holds == Holds::Copy(reg);
            if write.is_definite() {
                self.holds[reg.index()] = if own { Holds::Anything } else { holds };
                self.defined[reg.index()] = defined;
            } else {
                self.defined[reg.index()] = false;
            }
        }
    }

    fn forget(&mut self, reg: RegId) {
        self.holds[reg.index()] = Holds::Anything;
        for holds in &mut self.holds {
            if *holds == Holds::Copy(reg) {
                *holds = Holds::Anything;
            }
        }
    }

    fn result(&self, value: &LocalExpr) -> (Holds, bool) {
        match value {
            Ir::Const(value) => (Holds::Const(*value), *value != UNDEFINED),
            Ir::Var(Place::Reg(reg)) => (Holds::Copy(*reg), self.defined[reg.index()]),
            Ir::Var(_) => (Holds::Anything, false),
            Ir::Unary(UnOp::Defined, arg) => (self.result(arg).0, true),
            _ => (Holds::Anything, true),
        }
    }

    /// An expression that was evaluated without an error tells that what it checks is defined.
    fn learn(&mut self, expr: &LocalExpr) {
        match expr {
            Ir::Const(_) | Ir::Var(_) => {}
            Ir::Unary(UnOp::Defined | UnOp::Target, arg) => {
                if let Ir::Var(Place::Reg(_)) = **arg {
                    registers_of(arg).into_iter().for_each(|reg| self.now_defined(reg));
                }
                self.learn(arg);
            }
            Ir::Unary(_, arg) => self.learn(arg),
            Ir::Binary(BinOp::And | BinOp::Or, a, _) => self.learn(a),
            Ir::Binary(_, a, b) => {
                self.learn(a);
                self.learn(b);
            }
        }
    }

    /// The register and its copies are defined.
    fn now_defined(&mut self, reg: RegId) {
        self.defined[reg.index()] = true;
        for (holds, defined) in self.holds.iter().zip(&mut self.defined) {
            *defined |= *holds == Holds::Copy(reg);
        }
    }
}

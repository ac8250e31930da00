//! From instructions to the IR.
//!
//! - `MOV` is a load or a store. An instruction that reads and writes memory without `LOCK` is a load and then a store.
//! - A locked instruction, and `XCHG` with memory, is one atomic read-modify-write between two full fences: under every model everything
//!   before it is ordered with it, and it with everything after it. A locked `CMPXCHG` that fails is a fence too, and writes nothing.
//! - `MFENCE` is a full fence, `SFENCE` orders stores with stores, `LFENCE` loads with loads and stores.
//!
//! Values of 32 bits are kept as signed numbers. A register that is used with 64 bits anywhere in its thread is kept with 64; writing
//! its lower half then clears the upper one, as the machine does.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{Addr, BinOp, Diagnostic, Expr, IntType, LocalExpr, Ty, UnOp};

use super::ast::{Alu, Flag, Instr, Mem, Op, Operand, Register, Thread, Unary};
use super::flags;
use super::usage::{widths, written};
use crate::ast::{Arch, Init, Value};
use crate::code::{Code, Label, binary, signed, var, wrap};
use crate::layout::Layout;

/// One lowered thread and what is known about its registers.
pub(crate) struct Lowered {
    pub(crate) code: Code,
    /// The width in which each register is kept.
    pub(crate) widths: BTreeMap<String, u8>,
}

/// Lowers one thread.
pub(crate) fn lower(
    number: i128,
    thread: &Thread,
    inits: &[(Register, &Init)],
    arch: Arch,
    layout: &mut Layout,
) -> Result<Lowered, Vec<Diagnostic>> {
    let widths = widths(thread, inits, arch);
    let mut code = Code::default();
    let mut fixed = BTreeMap::new();
    let written = written(thread);
    for (register, init) in inits {
        let id = code.register(&register.name);
        let bits = widths.get(&register.name).copied().unwrap_or(register.bits);
        match &init.value {
            Some(Value::Int(value)) => code.registers[id.index()].init = stored(bits, register.bits, *value),
            Some(Value::Address(name)) => {
                code.registers[id.index()].init = layout.address(name);
                code.registers[id.index()].ty = Ty::Pointer;
                if !written.contains(&register.name) {
                    fixed.insert(register.name.clone(), layout.number(name));
                }
            }
            None => {}
        }
    }
    let mut lower = Lower { layout, code, widths, fixed, flags: flags::used(thread), labels: BTreeMap::new() };
    lower.declare_labels(number, thread)?;
    let mut errors = Vec::new();
    for line in &thread.lines {
        for label in &line.labels {
            let label = lower.labels[&label.text];
            lower.code.place(label);
        }
        if let Some(instr) = &line.instr {
            lower.code.span = instr.span;
            if let Err(error) = lower.instr(instr) {
                errors.push(error);
            }
        }
    }
    if errors.is_empty() { Ok(Lowered { code: lower.code, widths: lower.widths }) } else { Err(errors) }
}

/// The form in which a value named with `bits` bits is kept in a register of `width` bits.
fn stored(width: u8, bits: u8, value: i128) -> i128 {
    match (width, bits) {
        (64, 32) => IntType { bits: 32, signed: false }.wrap(value),
        _ => signed(width).wrap(value),
    }
}

pub(super) struct Lower<'l> {
    layout: &'l mut Layout,
    pub(super) code: Code,
    widths: BTreeMap<String, u8>,
    /// Registers that hold the address of this location from beginning to end.
    fixed: BTreeMap<String, usize>,
    flags: BTreeSet<Flag>,
    labels: BTreeMap<String, Label>,
}

impl Lower<'_> {
    fn declare_labels(&mut self, number: i128, thread: &Thread) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for name in thread.lines.iter().flat_map(|line| &line.labels) {
            let label = self.code.label();
            if self.labels.insert(name.text.clone(), label).is_some() {
                let message = format!("the label `{}` is placed twice in P{number}", name.text);
                errors.push(Diagnostic::new(name.span, message, "again here"));
            }
        }
        for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
            if let Op::Jmp { to } | Op::Jcc { to, .. } = &instr.op
                && !self.labels.contains_key(&to.text)
            {
                let message = format!("P{number} has no label `{}`", to.text);
                errors.push(Diagnostic::new(to.span, message, "jumps here"));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    pub(super) fn width(&self, register: &Register) -> u8 {
        self.widths.get(&register.name).copied().unwrap_or(register.bits)
    }

    pub(super) fn read(&mut self, register: &Register) -> LocalExpr {
        let value = var(self.code.register(&register.name));
        if self.width(register) == 64 && register.bits == 32 { wrap(signed(32), value) } else { value }
    }

    pub(super) fn write(&mut self, register: &Register, value: LocalExpr) {
        let id = self.code.register(&register.name);
        let narrow = self.width(register) == 64 && register.bits == 32;
        let value = if narrow { wrap(IntType { bits: 32, signed: false }, value) } else { value };
        self.code.assign(id, value);
    }

    pub(super) fn addr(&mut self, mem: &Mem) -> Addr {
        match mem {
            Mem::Loc(name) => Layout::fixed(self.layout.number(name)),
            Mem::Reg(register, _) => match self.fixed.get(&register.name) {
                Some(number) => Layout::fixed(*number),
                None => {
                    let pointer = var(self.code.register(&register.name));
                    self.layout.through(pointer)
                }
            },
        }
    }

    /// The value of an operand; memory is loaded into a temporary.
    fn value(&mut self, operand: &Operand, bits: u8, temporary: usize) -> LocalExpr {
        match operand {
            Operand::Reg(register) => self.read(register),
            Operand::Imm(value) => Expr::Const(signed(bits).wrap(*value)),
            Operand::Address(name) => Expr::Const(self.layout.address(name)),
            Operand::Mem(mem) => {
                let addr = self.addr(mem);
                let dst = self.code.temporary(temporary);
                self.code.load(dst, addr);
                var(dst)
            }
        }
    }

    fn instr(&mut self, instr: &Instr) -> Result<(), Diagnostic> {
        let bits = instr.bits.unwrap_or(32);
        match &instr.op {
            Op::Mov { dst, src } => self.mov(dst, src, bits),
            Op::Xchg { a, b } => self.exchange(a, b),
            Op::Alu { alu, dst, src } => self.alu(*alu, dst, src, instr.lock, bits),
            Op::Unary { unary, dst } => self.unary(*unary, dst, instr.lock, bits),
            Op::Cmp { a, b } => {
                let (a, b) = (self.value(a, bits, 0), self.value(b, bits, 1));
                self.compare(&a, &b, bits);
            }
            Op::Test { a, b } => {
                let (a, b) = (self.value(a, bits, 0), self.value(b, bits, 1));
                let value = binary(BinOp::BitAnd, a.clone(), b.clone());
                self.set_flags(&a, &b, &value, flags::Kind::Logic, bits);
            }
            Op::Cmpxchg { dst, src } => self.cmpxchg(dst, src, instr.lock, bits),
            Op::Xadd { dst, src } => self.xadd(dst, src, instr.lock, bits),
            Op::Cmov { cc, dst, src } => {
                let (old, new) = (self.read(dst), self.value(src, bits, 0));
                let cond = flags::condition(&mut self.code, *cc);
                // A conditional move is a data dependency, not a branch.
                let change = binary(BinOp::Mul, cond, binary(BinOp::Sub, new, old.clone()));
                self.write(dst, binary(BinOp::Add, old, change));
            }
            Op::Jmp { to } => {
                let to = self.labels[&to.text];
                self.code.jump(to);
            }
            Op::Jcc { cc, to } => {
                let cond = flags::condition(&mut self.code, *cc);
                let (to, next) = (self.labels[&to.text], self.code.label());
                self.code.branch(cond, to, next);
                self.code.place(next);
            }
            Op::Fence(kinds) => self.code.fence(*kinds),
            Op::Nop => {}
        }
        Ok(())
    }

    fn mov(&mut self, dst: &Operand, src: &Operand, bits: u8) {
        if let Operand::Address(_) = src
            && let Operand::Reg(register) = dst
        {
            let id = self.code.register(&register.name);
            self.code.registers[id.index()].ty = Ty::Pointer;
        }
        match (dst, src) {
            (Operand::Reg(register), Operand::Mem(mem)) if self.width(register) == register.bits => {
                let addr = self.addr(mem);
                let id = self.code.register(&register.name);
                self.code.load(id, addr);
            }
            (Operand::Reg(register), _) => {
                let value = self.value(src, bits, 0);
                self.write(register, value);
            }
            (Operand::Mem(mem), _) => {
                let addr = self.addr(mem);
                if let (Addr::Fixed(number), Operand::Address(_)) = (&addr, src) {
                    self.layout.cells[number.index()].pointer = true;
                }
                let value = self.value(src, bits, 0);
                self.code.store(addr, value);
            }
            // The parser lets no constant be a destination.
            (Operand::Imm(_) | Operand::Address(_), _) => {}
        }
    }

    fn alu(&mut self, alu: Alu, dst: &Operand, src: &Operand, lock: bool, bits: u8) {
        let src = match src {
            // One and the same register is its own old value, so that its address minus itself is seen to be 0.
            Operand::Reg(_) if dst == src => var(self.code.temporary(0)),
            Operand::Reg(_) if !self.flags.is_empty() => {
                let copy = self.code.temporary(1);
                let value = self.value(src, bits, 1);
                self.code.assign(copy, value);
                var(copy)
            }
            _ => self.value(src, bits, 1),
        };
        let (op, kind) = match alu {
            Alu::Add => (BinOp::Add, flags::Kind::Add),
            Alu::Sub => (BinOp::Sub, flags::Kind::Sub),
            Alu::And => (BinOp::BitAnd, flags::Kind::Logic),
            Alu::Or => (BinOp::BitOr, flags::Kind::Logic),
            Alu::Xor => (BinOp::BitXor, flags::Kind::Logic),
        };
        let carries = matches!(alu, Alu::Add | Alu::Sub);
        let right = src.clone();
        let (old, new) = self.update(dst, lock, |old| {
            let value = binary(op, old, right);
            if carries { wrap(signed(bits), value) } else { value }
        });
        self.set_flags(&old, &src, &new, kind, bits);
    }

    fn unary(&mut self, unary: Unary, dst: &Operand, lock: bool, bits: u8) {
        let one = Expr::Const(1);
        let (old, new) = self.update(dst, lock, |old| match unary {
            Unary::Inc => wrap(signed(bits), binary(BinOp::Add, old, Expr::Const(1))),
            Unary::Dec => wrap(signed(bits), binary(BinOp::Sub, old, Expr::Const(1))),
            Unary::Neg => wrap(signed(bits), Expr::unary(UnOp::Neg, old)),
            Unary::Not => binary(BinOp::BitXor, old, Expr::Const(-1)),
        });
        match unary {
            Unary::Inc => self.set_flags(&old, &one, &new, flags::Kind::Inc, bits),
            Unary::Dec => self.set_flags(&old, &one, &new, flags::Kind::Dec, bits),
            Unary::Neg => self.set_flags(&Expr::Const(0), &old, &new, flags::Kind::Sub, bits),
            Unary::Not => {}
        }
    }

    pub(super) fn compare(&mut self, a: &LocalExpr, b: &LocalExpr, bits: u8) {
        let value = wrap(signed(bits), binary(BinOp::Sub, a.clone(), b.clone()));
        self.set_flags(a, b, &value, flags::Kind::Sub, bits);
    }

    pub(super) fn set_flags(&mut self, a: &LocalExpr, b: &LocalExpr, value: &LocalExpr, kind: flags::Kind, bits: u8) {
        flags::set(&mut self.code, &self.flags, &flags::Result { a, b, value, kind, bits });
    }
}

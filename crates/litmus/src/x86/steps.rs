//! What instructions do.
//!
//! - `MOV` is a load or a store. An instruction that reads and writes memory without `LOCK` is a load and then a store.
//! - A locked instruction, and `XCHG` with memory, is one atomic read-modify-write between two full fences: under every model everything
//!   before it is ordered with it, and it with everything after it. A locked `CMPXCHG` that fails is a fence too, and writes nothing.
//! - `MFENCE` is a full fence, `SFENCE` orders stores with stores, `LFENCE` loads with loads and stores.

use cyrano_ir::{BinOp, FenceSet, Tags};

use super::ast::{self, Alu, Instr, Op, Operand, Unary};
use super::sizes;
use crate::asm::flags::{Cc, Kind};
use crate::asm::instr::{self, Mem, Register, Step, Value};
use crate::ast::Arch;
use crate::code::signed;

/// The thread in the form that all machines share.
pub(super) fn thread(thread: &ast::Thread, arch: Arch) -> instr::Thread {
    let line = |line: &ast::Line| {
        let steps = line.instr.as_ref().map(|instr| steps(instr, arch)).unwrap_or_default();
        let span = line.instr.as_ref().map(|instr| instr.span).unwrap_or_default();
        instr::Line { labels: line.labels.clone(), steps, span }
    };
    instr::Thread { lines: thread.lines.iter().map(line).collect() }
}

fn steps(instr: &Instr, arch: Arch) -> Vec<Step> {
    let mut steps = Steps { list: Vec::new(), bits: instr.bits.unwrap_or(32), lock: instr.lock, arch };
    steps.instr(&instr.op);
    steps.list
}

struct Steps {
    list: Vec<Step>,
    bits: u8,
    lock: bool,
    arch: Arch,
}

impl Steps {
    /// A register for an intermediate value.
    fn temporary(&self, number: usize) -> Register {
        let name = if self.bits == 64 { format!("%q{number}") } else { format!("%t{number}") };
        Register::new(name, self.bits)
    }

    fn set(&mut self, dst: &Register, value: Value) {
        self.list.push(Step::Set { dst: dst.clone(), value });
    }

    fn mem(&self, mem: &ast::Mem) -> Mem {
        let term = match mem {
            ast::Mem::Loc(name) => Value::Address(name.clone()),
            // Addresses are in whole registers, whatever part of one the test names.
            ast::Mem::Reg(register, _) => Value::Reg(register.clone()),
        };
        Mem { terms: vec![term], bits: self.bits }
    }

    /// The value of an operand; memory is loaded into a temporary.
    fn value(&mut self, operand: &Operand, temporary: usize) -> Value {
        match operand {
            Operand::Reg(register) => Value::Reg(register.clone()),
            Operand::Imm(value) => Value::Const(signed(self.bits).wrap(*value)),
            Operand::Address(name) => Value::Address(name.clone()),
            Operand::Mem(mem) => {
                let dst = self.temporary(temporary);
                self.load(&dst, mem);
                Value::Reg(dst)
            }
        }
    }

    fn load(&mut self, dst: &Register, mem: &ast::Mem) {
        let (dst, mem) = (Some(dst.clone()), self.mem(mem));
        self.list.push(Step::Load { dst, mem, signed: true, tags: Tags::default() });
    }

    fn store(&mut self, mem: &ast::Mem, value: Value) {
        let mem = self.mem(mem);
        self.list.push(Step::Store { mem, value, tags: Tags::default() });
    }

    fn fence(&mut self) {
        self.list.push(Step::Fence("mfence"));
    }

    fn flags(&mut self, a: Value, b: Value, value: Value, kind: Kind) {
        self.list.push(Step::Flags { a, b, value, kind, bits: self.bits, bank: 0 });
    }

    fn compare(&mut self, a: Value, b: Value) {
        let value = self.computed(BinOp::Sub, a.clone(), b.clone());
        self.flags(a, b, value, Kind::Sub);
    }

    /// The result of an operation in its width.
    fn computed(&self, op: BinOp, a: Value, b: Value) -> Value {
        let value = Value::binary(op, a, b);
        if matches!(op, BinOp::Add | BinOp::Sub) { Value::wrap(signed(self.bits), value) } else { value }
    }

    fn instr(&mut self, op: &Op) {
        match op {
            Op::Mov { dst: Operand::Reg(dst), src: Operand::Mem(mem) } => self.load(dst, mem),
            Op::Mov { dst: Operand::Mem(mem), src } => {
                let value = self.value(src, 0);
                self.store(mem, value);
            }
            Op::Mov { dst: Operand::Reg(dst), src } => {
                let value = self.value(src, 0);
                self.set(dst, value);
            }
            // The parser lets no constant be a destination.
            Op::Mov { .. } | Op::Nop => {}
            Op::Xchg { a, b } => self.exchange(a, b),
            Op::Alu { alu, dst, src } => self.alu(*alu, dst, src),
            Op::Unary { unary, dst } => self.unary(*unary, dst),
            Op::Cmp { a, b } => {
                let (a, b) = (self.value(a, 0), self.value(b, 1));
                self.compare(a, b);
            }
            Op::Test { a, b } => {
                let (a, b) = (self.value(a, 0), self.value(b, 1));
                let value = self.computed(BinOp::BitAnd, a.clone(), b.clone());
                self.flags(a, b, value, Kind::Logic);
            }
            Op::Cmpxchg { dst, src } => self.cmpxchg(dst, src),
            Op::Xadd { dst, src } => {
                let added = self.temporary(1);
                self.set(&added, Value::Reg(src.clone()));
                let (old, new) = self.update(dst, BinOp::Add, &Value::Reg(added.clone()));
                self.flags(old.clone(), Value::Reg(added), new, Kind::Add);
                self.set(src, old);
            }
            Op::Cmov { cc, dst, src } => self.conditional_move(*cc, dst, src),
            Op::Jmp { to } => self.list.push(Step::Jump(to.clone())),
            Op::Jcc { cc, to } => self.list.push(Step::Branch { cond: Value::Flags(*cc, 0), to: to.clone() }),
            Op::Fence(kinds) => self.list.push(Step::Fence(match *kinds {
                FenceSet::FULL => "mfence",
                FenceSet::SS => "sfence",
                _ => "lfence",
            })),
        }
    }

    /// A conditional move is a data dependency, not a branch.
    fn conditional_move(&mut self, cc: Cc, dst: &Register, src: &Operand) {
        let (old, new) = (Value::Reg(dst.clone()), self.value(src, 0));
        let change = Value::binary(BinOp::Mul, Value::Flags(cc, 0), Value::binary(BinOp::Sub, new, old.clone()));
        self.set(dst, Value::wrap(signed(self.bits), Value::binary(BinOp::Add, old, change)));
    }

    /// Combines an operand with a value; gives its old and its new value.
    fn update(&mut self, dst: &Operand, op: BinOp, with: &Value) -> (Value, Value) {
        let old = self.temporary(0);
        let new = self.computed(op, Value::Reg(old.clone()), with.clone());
        self.replace(dst, &old, new.clone());
        (Value::Reg(old), new)
    }

    /// Replaces the value of an operand, after `old` has received it.
    fn replace(&mut self, dst: &Operand, old: &Register, new: Value) {
        match dst {
            Operand::Mem(mem) if self.lock => {
                self.fence();
                let mem = self.mem(mem);
                self.list.push(Step::Update { old: old.clone(), mem, new, tags: Tags::default() });
                self.fence();
            }
            Operand::Mem(mem) => {
                self.load(old, mem);
                self.store(mem, new);
            }
            Operand::Reg(register) => {
                self.set(old, Value::Reg(register.clone()));
                self.set(register, new);
            }
            Operand::Imm(_) | Operand::Address(_) => {}
        }
    }

    fn exchange(&mut self, a: &Operand, b: &Operand) {
        let old = self.temporary(0);
        match (a, b) {
            (Operand::Reg(first), Operand::Reg(second)) => {
                self.set(&old, Value::Reg(first.clone()));
                self.set(first, Value::Reg(second.clone()));
                self.set(second, Value::Reg(old));
            }
            (Operand::Mem(mem), Operand::Reg(register)) | (Operand::Reg(register), Operand::Mem(mem)) => {
                let (mem, new) = (self.mem(mem), Value::Reg(register.clone()));
                self.fence();
                self.list.push(Step::Update { old: old.clone(), mem, new, tags: Tags::default() });
                self.fence();
                self.set(register, Value::Reg(old));
            }
            _ => {}
        }
    }

    fn cmpxchg(&mut self, dst: &Operand, src: &Register) {
        let Operand::Mem(mem) = dst else { return };
        let accumulator = sizes::accumulator(self.bits);
        let (expected, new) = (Value::Reg(accumulator.clone()), Value::Reg(src.clone()));
        let old = self.temporary(0);
        if self.lock {
            let (mem, tags) = (self.mem(mem), Tags::default());
            self.fence();
            let (old, expected) = (old.clone(), expected.clone());
            self.list.push(Step::Cas { old, mem, expected, new, tags, failed: tags });
            self.fence();
        } else {
            self.load(&old, mem);
            let (cond, mem) = (Value::binary(BinOp::Eq, Value::Reg(old.clone()), expected.clone()), self.mem(mem));
            self.list.push(Step::If { cond, then: vec![Step::Store { mem, value: new, tags: Tags::default() }] });
        }
        let found = Value::Reg(old);
        self.compare(expected.clone(), found.clone());
        let receive = Step::Set { dst: accumulator, value: found.clone() };
        if self.arch == Arch::X86_64 && self.bits == 32 {
            // The upper half is cleared only if the lower half is written.
            self.list.push(Step::If { cond: Value::binary(BinOp::Ne, found, expected), then: vec![receive] });
        } else {
            // Where they are equal this changes nothing.
            self.list.push(receive);
        }
    }

    fn alu(&mut self, alu: Alu, dst: &Operand, src: &Operand) {
        let src = match src {
            // One and the same register is its own old value, so that its address minus itself is seen to be 0.
            Operand::Reg(_) if dst == src => Value::Reg(self.temporary(0)),
            _ => self.value(src, 1),
        };
        let (op, kind) = match alu {
            Alu::Add => (BinOp::Add, Kind::Add),
            Alu::Sub => (BinOp::Sub, Kind::Sub),
            Alu::And => (BinOp::BitAnd, Kind::Logic),
            Alu::Or => (BinOp::BitOr, Kind::Logic),
            Alu::Xor => (BinOp::BitXor, Kind::Logic),
        };
        let (old, new) = self.update(dst, op, &src);
        self.flags(old, src, new, kind);
    }

    fn unary(&mut self, unary: Unary, dst: &Operand) {
        let one = Value::Const(1);
        match unary {
            Unary::Inc => {
                let (old, new) = self.update(dst, BinOp::Add, &one);
                self.flags(old, one, new, Kind::Inc);
            }
            Unary::Dec => {
                let (old, new) = self.update(dst, BinOp::Sub, &one);
                self.flags(old, one, new, Kind::Dec);
            }
            Unary::Not => _ = self.update(dst, BinOp::BitXor, &Value::Const(-1)),
            Unary::Neg => {
                let (old, zero) = (self.temporary(0), Value::Const(0));
                let new = self.computed(BinOp::Sub, zero.clone(), Value::Reg(old.clone()));
                self.replace(dst, &old, new.clone());
                self.flags(zero, Value::Reg(old), new, Kind::Sub);
            }
        }
    }
}

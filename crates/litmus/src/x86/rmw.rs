//! Instructions that read and write memory, with and without `LOCK`.

use cyrano_ir::{BinOp, Change, Expr, FenceSet, LocalExpr};

use super::ast::{Operand, Register};
use super::flags;
use super::lower::Lower;
use crate::code::{binary, signed, var, wrap};

impl Lower<'_> {
    /// Replaces the value of an operand; returns its old value. `value` computes the new one from the old one.
    pub(super) fn update(
        &mut self,
        dst: &Operand,
        lock: bool,
        value: impl FnOnce(LocalExpr) -> LocalExpr,
    ) -> (LocalExpr, LocalExpr) {
        match dst {
            Operand::Mem(mem) => {
                let addr = self.addr(mem);
                let old = self.code.temporary(0);
                let new = value(var(old));
                if lock {
                    self.code.fence(FenceSet::FULL);
                    self.code.atomic_update(old, addr, new.clone());
                    self.code.fence(FenceSet::FULL);
                } else {
                    self.code.load(old, addr.clone());
                    self.code.store(addr, new.clone());
                }
                (var(old), new)
            }
            Operand::Reg(register) => {
                let old = self.code.temporary(0);
                let kept = self.read(register);
                self.code.assign(old, kept);
                let new = value(var(old));
                self.write(register, new.clone());
                (var(old), new)
            }
            Operand::Imm(_) | Operand::Address(_) => (Expr::Const(0), Expr::Const(0)),
        }
    }

    pub(super) fn exchange(&mut self, a: &Operand, b: &Operand) {
        match (a, b) {
            (Operand::Reg(first), Operand::Reg(second)) => {
                let (old, other) = (self.read(first), self.read(second));
                let kept = self.code.temporary(0);
                self.code.assign(kept, old);
                self.write(first, other);
                self.write(second, var(kept));
            }
            (Operand::Mem(mem), Operand::Reg(register)) | (Operand::Reg(register), Operand::Mem(mem)) => {
                let (addr, value) = (self.addr(mem), self.read(register));
                let old = self.code.temporary(0);
                self.code.fence(FenceSet::FULL);
                self.code.rmw(old, addr, Change::Set(value));
                self.code.fence(FenceSet::FULL);
                self.write(register, var(old));
            }
            _ => {}
        }
    }

    pub(super) fn cmpxchg(&mut self, dst: &Operand, src: &Register, lock: bool, bits: u8) {
        let Operand::Mem(mem) = dst else { return };
        let accumulator = Register { name: "AX".to_owned(), bits };
        let (addr, expected, new) = (self.addr(mem), self.read(&accumulator), self.read(src));
        let old = self.code.temporary(0);
        if lock {
            self.code.fence(FenceSet::FULL);
            self.code.rmw(old, addr, Change::Cas { expected: expected.clone(), new });
            self.code.fence(FenceSet::FULL);
        } else {
            let (equal, done) = (self.code.label(), self.code.label());
            self.code.load(old, addr.clone());
            self.code.branch(binary(BinOp::Eq, var(old), expected.clone()), equal, done);
            self.code.place(equal);
            self.code.store(addr, new);
            self.code.place(done);
        }
        self.compare(&expected, &var(old), bits);
        if self.width(&accumulator) == bits {
            // Where they are equal this changes nothing.
            self.write(&accumulator, var(old));
            return;
        }
        // The upper half is cleared only if the lower half is written.
        let (differs, done) = (self.code.label(), self.code.label());
        self.code.branch(binary(BinOp::Ne, var(old), expected), differs, done);
        self.code.place(differs);
        self.write(&accumulator, var(old));
        self.code.place(done);
    }

    pub(super) fn xadd(&mut self, dst: &Operand, src: &Register, lock: bool, bits: u8) {
        let added = self.code.temporary(1);
        let value = self.read(src);
        self.code.assign(added, value);
        let (old, new) = self.update(dst, lock, |old| wrap(signed(bits), binary(BinOp::Add, old, var(added))));
        self.set_flags(&old, &var(added), &new, flags::Kind::Add, bits);
        self.write(src, old);
    }
}

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

use cyrano_ir::{Addr, BinOp, Diagnostic, Expr, FenceSet, IntType, LocalExpr, RegId, RmwOp, Ty, UnOp};

use super::ast::{Alu, Flag, Instr, Mem, Op, Operand, Register, Thread, Unary};
use super::{flags, sizes};
use crate::ast::{Arch, Init, Value, Var};
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
    number: i64,
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
fn stored(width: u8, bits: u8, value: i64) -> i64 {
    match (width, bits) {
        (64, 32) => IntType { bits: 32, signed: false }.wrap(value),
        _ => signed(width).wrap(value),
    }
}

/// The width in which each register is kept.
fn widths(thread: &Thread, inits: &[(Register, &Init)], arch: Arch) -> BTreeMap<String, u8> {
    let mut widths = BTreeMap::new();
    let mut note = |name: &str, bits: u8| {
        let width = widths.entry(name.to_owned()).or_insert(32);
        *width = bits.max(*width);
    };
    for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
        for register in sizes::registers(instr) {
            note(&register.name, register.bits);
        }
    }
    for (register, init) in inits {
        let needed = match &init.value {
            Some(Value::Address(_)) if arch == Arch::X86_64 => 64,
            Some(Value::Int(value)) if register.bits == 64 && i32::try_from(*value).is_err() => 64,
            Some(Value::Int(value)) if register.bits == 64 && *value < 0 => 64,
            _ => 32,
        };
        note(&register.name, needed);
    }
    widths
}

/// The registers that a thread writes.
fn written(thread: &Thread) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
        let mut note = |operand: &Operand| {
            if let Operand::Reg(register) = operand {
                names.insert(register.name.clone());
            }
        };
        match &instr.op {
            Op::Mov { dst, .. } | Op::Alu { dst, .. } | Op::Unary { dst, .. } => note(dst),
            Op::Xchg { a, b } => {
                note(a);
                note(b);
            }
            Op::Xadd { src, .. } => _ = names.insert(src.name.clone()),
            Op::Cmpxchg { .. } => _ = names.insert("AX".to_owned()),
            Op::Cmov { dst, .. } => _ = names.insert(dst.name.clone()),
            _ => {}
        }
    }
    names
}

struct Lower<'l> {
    layout: &'l mut Layout,
    code: Code,
    widths: BTreeMap<String, u8>,
    /// Registers that hold the address of this location from beginning to end.
    fixed: BTreeMap<String, usize>,
    flags: BTreeSet<Flag>,
    labels: BTreeMap<String, Label>,
}

impl Lower<'_> {
    fn declare_labels(&mut self, number: i64, thread: &Thread) -> Result<(), Vec<Diagnostic>> {
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

    fn width(&self, register: &Register) -> u8 {
        self.widths.get(&register.name).copied().unwrap_or(register.bits)
    }

    fn read(&mut self, register: &Register) -> LocalExpr {
        let value = var(self.code.register(&register.name));
        if self.width(register) == 64 && register.bits == 32 { wrap(signed(32), value) } else { value }
    }

    fn write(&mut self, register: &Register, value: LocalExpr) {
        let id = self.code.register(&register.name);
        let narrow = self.width(register) == 64 && register.bits == 32;
        let value = if narrow { wrap(IntType { bits: 32, signed: false }, value) } else { value };
        self.code.assign(id, value);
    }

    fn addr(&mut self, mem: &Mem) -> Addr {
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

    /// Replaces the value of an operand; returns its old value. `value` computes the new one from the old one.
    fn update(
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

    fn exchange(&mut self, a: &Operand, b: &Operand) {
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
                self.code.rmw(old, addr, RmwOp::Exchange(value));
                self.code.fence(FenceSet::FULL);
                self.write(register, var(old));
            }
            _ => {}
        }
    }

    fn cmpxchg(&mut self, dst: &Operand, src: &Register, lock: bool, bits: u8) {
        let Operand::Mem(mem) = dst else { return };
        let accumulator = Register { name: "AX".to_owned(), bits };
        let (addr, expected, new) = (self.addr(mem), self.read(&accumulator), self.read(src));
        let old = self.code.temporary(0);
        if lock {
            self.code.fence(FenceSet::FULL);
            self.code.rmw(old, addr, RmwOp::Cas { expected: expected.clone(), new });
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

    fn xadd(&mut self, dst: &Operand, src: &Register, lock: bool, bits: u8) {
        let added = self.code.temporary(1);
        let value = self.read(src);
        self.code.assign(added, value);
        let (old, new) = self.update(dst, lock, |old| wrap(signed(bits), binary(BinOp::Add, old, var(added))));
        self.set_flags(&old, &var(added), &new, flags::Kind::Add, bits);
        self.write(src, old);
    }

    fn compare(&mut self, a: &LocalExpr, b: &LocalExpr, bits: u8) {
        let value = wrap(signed(bits), binary(BinOp::Sub, a.clone(), b.clone()));
        self.set_flags(a, b, &value, flags::Kind::Sub, bits);
    }

    fn set_flags(&mut self, a: &LocalExpr, b: &LocalExpr, value: &LocalExpr, kind: flags::Kind, bits: u8) {
        flags::set(&mut self.code, &self.flags, &flags::Result { a, b, value, kind, bits });
    }
}

/// The registers of a thread that have initial values.
pub(crate) type RegisterInits<'i> = Vec<(Register, &'i Init)>;

/// The registers that an initial state gives values to, by thread.
pub(crate) fn register_inits(
    inits: &[Init],
    threads: usize,
    arch: Arch,
) -> Result<Vec<RegisterInits<'_>>, Vec<Diagnostic>> {
    let mut lists: Vec<RegisterInits<'_>> = vec![Vec::new(); threads];
    let mut errors = Vec::new();
    for init in inits {
        let Var::Reg { thread, name } = &init.var else { continue };
        match (usize::try_from(*thread).ok().and_then(|at| lists.get_mut(at)), super::register(arch, name)) {
            (Some(list), Ok(register)) => list.push((register, init)),
            (None, _) => {
                let message = format!("initial state: there is no thread {thread}");
                errors.push(Diagnostic::new(name.span, message, format!("the test has {threads} threads")));
            }
            (_, Err(error)) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(lists) } else { Err(errors) }
}

/// Whether an id is one of a thread's registers; used where conditions name them.
pub(crate) fn find(code: &mut Code, name: &str) -> RegId {
    code.register(name)
}

//! From steps to the IR.
//!
//! Values of 32 bits are kept as signed numbers. A register that is used with 64 bits anywhere in its thread is kept with 64; writing
//! its lower half then clears the upper one, as x86 and Arm do.
//!
//! Dependencies stay what the text says: an address, a value and a condition mention every register that the instruction names, also
//! where the value does not depend on them.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{Addr, BinOp, Change, Diagnostic, Expr, Fence, IntType, LocalExpr, Op, Place, RegId, Span, Tags, Ty};

use super::RegisterInits;
use super::flags::{self, Flag};
use super::instr::{Mem, Register, Step, Thread, Value};
use super::points::Points;
use crate::ast::{Arch, Value as Initial};
use crate::code::{Code, Label, binary, signed, var, wrap};
use crate::layout::Layout;
use crate::pointers;

/// One lowered thread and what is known about its registers.
pub(crate) struct Lowered {
    pub(crate) code: Code,
    /// The width in which each register is kept.
    pub(crate) widths: BTreeMap<String, u8>,
}

/// Lowers one thread.
pub(crate) fn lower(
    number: usize,
    thread: &Thread,
    inits: &RegisterInits<'_>,
    (arch, points): (Arch, &Points),
    layout: &mut Layout,
) -> Result<Lowered, Vec<Diagnostic>> {
    let widths = widths(thread, inits, arch);
    let mut code = Code::default();
    for (register, init) in inits {
        let id = code.register(&register.name);
        let bits = widths.get(&register.name).copied().unwrap_or(register.bits);
        match &init.value {
            Some(Initial::Int(value)) => code.registers[id.index()].init = stored(bits, register.bits, *value),
            Some(Initial::Address(name)) => {
                code.registers[id.index()].init = layout.address(name);
                code.registers[id.index()].ty = Ty::Pointer;
            }
            None => {}
        }
    }
    let flags = flags::used(thread);
    let mut lower = Lower { number, layout, points, code, widths, flags, labels: BTreeMap::new() };
    lower.declare_labels(thread)?;
    let mut errors = Vec::new();
    for line in &thread.lines {
        for label in &line.labels {
            let label = lower.labels[&label.text];
            lower.code.place(label);
        }
        lower.code.span = line.span;
        for step in &line.steps {
            if let Err(error) = lower.step(step, line.span) {
                errors.push(error);
            }
        }
    }
    if errors.is_empty() { Ok(Lowered { code: lower.code, widths: lower.widths }) } else { Err(errors) }
}

/// The form in which a value named with `bits` bits is kept in a register of `width` bits.
fn stored(width: u8, bits: u8, value: i128) -> i128 {
    match (width, bits) {
        (64, 32) => unsigned(32).wrap(value),
        _ => signed(width).wrap(value),
    }
}

fn unsigned(bits: u8) -> IntType {
    IntType { bits, signed: false }
}

/// The width in which each register is kept.
fn widths(thread: &Thread, inits: &RegisterInits<'_>, arch: Arch) -> BTreeMap<String, u8> {
    let mut widths = BTreeMap::new();
    let mut note = |name: &str, bits: u8| {
        let width = widths.entry(name.to_owned()).or_insert(32);
        *width = bits.max(*width);
    };
    for register in thread.steps().into_iter().flat_map(|(step, _)| step.registers()) {
        note(&register.name, register.bits);
    }
    for (register, init) in inits {
        let needed = match &init.value {
            Some(Initial::Address(_)) if !matches!(arch, Arch::X86 | Arch::Ppc) => 64,
            Some(Initial::Int(value)) if register.bits == 64 && i32::try_from(*value).is_err() => 64,
            Some(Initial::Int(value)) if register.bits == 64 && *value < 0 => 64,
            _ => 32,
        };
        note(&register.name, needed);
    }
    widths
}

struct Lower<'l> {
    number: usize,
    layout: &'l mut Layout,
    points: &'l Points,
    code: Code,
    widths: BTreeMap<String, u8>,
    flags: BTreeSet<(Flag, u8)>,
    labels: BTreeMap<String, Label>,
}

impl Lower<'_> {
    fn declare_labels(&mut self, thread: &Thread) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let number = self.number;
        for name in thread.lines.iter().flat_map(|line| &line.labels) {
            let label = self.code.label();
            if self.labels.insert(name.text.clone(), label).is_some() {
                let message = format!("the label `{}` is placed twice in P{number}", name.text);
                errors.push(Diagnostic::new(name.span, message, "again here"));
            }
        }
        for to in thread.steps().into_iter().filter_map(|(step, _)| step.target()) {
            if !self.labels.contains_key(&to.text) {
                let message = format!("P{number} has no label `{}`", to.text);
                errors.push(Diagnostic::new(to.span, message, "jumps here"));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn width(&self, register: &Register) -> u8 {
        self.widths.get(&register.name).copied().unwrap_or(register.bits)
    }

    /// Whether only a part of the register is meant.
    fn is_part(&self, register: &Register) -> bool {
        self.width(register) == 64 && register.bits == 32
    }

    fn read(&mut self, register: &Register) -> LocalExpr {
        let value = var(self.code.register(&register.name));
        if self.is_part(register) { wrap(signed(32), value) } else { value }
    }

    fn write(&mut self, register: &Register, value: LocalExpr) {
        let id = self.code.register(&register.name);
        let value = if self.is_part(register) { wrap(unsigned(32), value) } else { value };
        self.code.assign(id, value);
    }

    /// Where an instruction can put a value of this many bits for a register, if the register cannot take it as it is.
    fn destination(&mut self, register: &Register, direct: bool) -> RegId {
        if direct && !self.is_part(register) { self.code.register(&register.name) } else { self.code.temporary(9) }
    }

    fn value(&mut self, value: &Value) -> LocalExpr {
        match value {
            Value::Const(value) => Expr::Const(*value),
            Value::Reg(register) => self.read(register),
            Value::Address(name) => Expr::Const(self.layout.address(name)),
            Value::Flags(cc, bank) => flags::condition(&mut self.code, *cc, *bank),
            Value::Wrap(ty, inner) => {
                let inner = self.value(inner);
                wrap(*ty, inner)
            }
            Value::Binary(BinOp::Add, left, right) => self.sum(left, right),
            Value::Binary(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                binary(*op, left, right)
            }
        }
    }

    /// A sum; an address may have something added that is 0, or that makes it the address of nothing.
    fn sum(&mut self, left: &Value, right: &Value) -> LocalExpr {
        let pointing = [left, right].map(|term| !self.points.value(self.number, term, self.layout).is_empty());
        let (base, offset) = match pointing {
            [true, false] => (left, right),
            [false, true] => (right, left),
            _ => {
                let (left, right) = (self.value(left), self.value(right));
                return binary(BinOp::Add, left, right);
            }
        };
        let certain = self.points.fixed(self.number, base, self.layout).is_some();
        let zero = self.points.is_zero(self.number, offset);
        // What lies this far behind something is not for a test to say.
        let certain = certain && !matches!(offset, Value::Const(_));
        let (base, offset) = (self.value(base), self.value(offset));
        match (zero, certain) {
            (true, _) => pointers::moved_nowhere(base, offset),
            (_, true) => pointers::moved_away(base, offset),
            _ => binary(BinOp::Add, base, offset),
        }
    }

    /// A value as one of this many bits.
    fn narrowed(&mut self, value: &Value, bits: u8) -> LocalExpr {
        let expr = self.value(value);
        if value.fits(bits) { expr } else { wrap(signed(bits), expr) }
    }

    fn addr(&mut self, mem: &Mem, span: Span) -> Result<Addr, Diagnostic> {
        let bits = mem.bits;
        let fixed = |lower: &mut Self, term: &Value| lower.points.fixed(lower.number, term, lower.layout);
        let base = mem.terms.iter().position(|term| fixed(self, term).is_some());
        let points = |lower: &mut Self, term: &Value| !lower.points.value(lower.number, term, lower.layout).is_empty();
        let Some(base) = base.or_else(|| mem.terms.iter().position(|term| points(self, term))) else {
            let message = "no register of this address holds one: the initial state gives none of them a location";
            return Err(Diagnostic::new(span, message, "accesses memory"));
        };
        let (mut constant, mut moving) = (0i128, Vec::new());
        for (at, term) in mem.terms.iter().enumerate().filter(|(at, _)| *at != base) {
            match term {
                Value::Const(value) => constant += value,
                _ => moving.push(&mem.terms[at]),
            }
        }
        let zero = moving.iter().all(|term| self.points.is_zero(self.number, term));
        let object = fixed(self, &mem.terms[base]);
        let moving: Vec<LocalExpr> = moving.into_iter().map(|term| self.value(term)).collect();
        let moving = moving.into_iter().reduce(|left, right| binary(BinOp::Add, left, right));
        match object {
            Some(object) => self.inside(object, constant, moving.map(|moving| (moving, zero)), bits, span),
            None if constant != 0 => {
                let message = "an offset from an address that only an execution knows is not supported";
                Err(Diagnostic::new(span, message, "this address"))
            }
            None => {
                let pointer = self.value(&mem.terms[base]);
                Ok(self.layout.through(match moving {
                    None => pointer,
                    Some(offset) if zero => pointers::moved_nowhere(pointer, offset),
                    Some(offset) => pointers::moved_away(pointer, offset),
                }))
            }
        }
    }

    /// A place in an object, `constant` bytes from its start and as many as `moving` says, which may be known to be 0.
    fn inside(
        &mut self,
        object: usize,
        constant: i128,
        moving: Option<(LocalExpr, bool)>,
        bits: u8,
        span: Span,
    ) -> Result<Addr, Diagnostic> {
        let size = i128::from(bits / 8);
        let len = self.layout.extent(object).len();
        let element = usize::try_from(constant / size).ok().filter(|at| *at < len);
        let Some(element) = element.filter(|_| constant % size == 0) else {
            let name = self.layout.name(object);
            let message = if constant % size == 0 {
                format!("byte {constant} is not in `{name}`, which has {}", len as i128 * size)
            } else {
                format!("byte {constant} is within an element of `{name}`; mixed sizes are not supported")
            };
            return Err(Diagnostic::new(span, message, "this address"));
        };
        Ok(match moving {
            None => Layout::fixed(object + element),
            Some((moving, true)) => {
                let index =
                    if element == 0 { moving } else { binary(BinOp::BitOr, moving, Expr::Const(element as i128)) };
                Addr::Indexed { array: self.layout.object(object), index }
            }
            Some((moving, false)) => {
                let index = pointers::element(element, moving, size);
                Addr::Indexed { array: self.layout.object(object), index }
            }
        })
    }

    fn step(&mut self, step: &Step, span: Span) -> Result<(), Diagnostic> {
        match step {
            Step::Set { dst, value } => {
                if matches!(value, Value::Address(_)) {
                    let id = self.code.register(&dst.name);
                    self.code.registers[id.index()].ty = Ty::Pointer;
                }
                let value = self.narrowed(value, dst.bits);
                self.write(dst, value);
            }
            Step::Load { dst, mem, signed, tags } => self.load(dst.as_ref(), mem, *signed, *tags, span)?,
            Step::Store { mem, value, tags } => {
                let (addr, bits) = (self.addr(mem, span)?, mem.bits);
                if let (Addr::Fixed(number), Value::Address(_)) = (&addr, value) {
                    self.layout.cells[number.index()].pointer = true;
                }
                let value = self.narrowed(value, bits);
                self.code.push(Op::store(addr, value).tagged(*tags));
            }
            Step::Conditional { status, mem, value, tags } => {
                let (addr, bits) = (self.addr(mem, span)?, mem.bits);
                let value = self.narrowed(value, bits);
                let status = status.as_ref().map(|status| Place::Reg(self.code.register(&status.name)));
                self.code.push(Op::store_exclusive(status, addr, value).tagged(*tags));
            }
            Step::Update { old, mem, new, tags } => self.update(old, mem, new, *tags, span)?,
            Step::Cas { old, mem, expected, new, tags, failed } => {
                let (addr, bits) = (self.addr(mem, span)?, mem.bits);
                let (expected, new) = (self.narrowed(expected, bits), self.narrowed(new, bits));
                let dst = self.code.register(&old.name);
                let rmw = Op::rmw(Some(Place::Reg(dst)), addr, Change::Cas { expected, new }).tagged(*tags);
                self.code.push(if failed == tags { rmw } else { rmw.failing(*failed) });
            }
            Step::Flags { a, b, value, kind, bits, bank } => {
                if self.flags.iter().any(|(_, own)| own == bank) {
                    let (a, b, value) = (self.value(a), self.value(b), self.value(value));
                    let result = flags::Result { a: &a, b: &b, value: &value, kind: *kind, bits: *bits };
                    flags::set(&mut self.code, &self.flags, &result, *bank);
                }
            }
            Step::Fence(name) => match Fence::named(name) {
                Some(fence) => self.code.push(Op::Fence(fence)),
                None => return Err(Diagnostic::new(span, format!("the fence `{name}` is not known"), "this fence")),
            },
            Step::Branch { cond, to } => {
                let cond = self.value(cond);
                let (to, next) = (self.labels[&to.text], self.code.label());
                self.code.branch(cond, to, next);
                self.code.place(next);
            }
            Step::Jump(to) => {
                let to = self.labels[&to.text];
                self.code.jump(to);
            }
            Step::If { cond, then } => {
                let cond = self.value(cond);
                let (yes, end) = (self.code.label(), self.code.label());
                self.code.branch(cond, yes, end);
                self.code.place(yes);
                for step in then {
                    self.step(step, span)?;
                }
                self.code.place(end);
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        dst: Option<&Register>,
        mem: &Mem,
        signed: bool,
        tags: Tags,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let (addr, bits) = (self.addr(mem, span)?, mem.bits);
        let Some(register) = dst else {
            let nowhere = self.code.temporary(9);
            self.code.push(Op::load(Place::Reg(nowhere), addr).tagged(tags));
            return Ok(());
        };
        // A narrow value without a sign is not the number that the location holds.
        let same = signed || bits == register.bits;
        let id = self.destination(register, same);
        self.code.push(Op::load(Place::Reg(id), addr).tagged(tags));
        let value = if same { var(id) } else { wrap(unsigned(bits), var(id)) };
        self.write(register, value);
        Ok(())
    }

    /// Where the new value does not use the old one it is an exchange, else an atomic section. The old value goes to a register that
    /// is never used in parts.
    fn update(&mut self, old: &Register, mem: &Mem, new: &Value, tags: Tags, span: Span) -> Result<(), Diagnostic> {
        let (addr, bits) = (self.addr(mem, span)?, mem.bits);
        let mut uses = false;
        new.registers(&mut |register| uses |= register.name == old.name);
        let dst = self.code.register(&old.name);
        let new = self.narrowed(new, bits);
        if uses {
            self.code.update(dst, addr, new, tags);
        } else {
            self.code.push(Op::rmw(Some(Place::Reg(dst)), addr, Change::Set(new)).tagged(tags));
        }
        Ok(())
    }
}

//! The width of every location and register. Memory is words, one per location, so every access to a location has its width:
//! accesses of mixed sizes are refused.

use std::collections::BTreeMap;

use cyrano_ir::{Diagnostic, Span};

use super::ast::{Instr, Mem, Op, Operand, Register, Thread};
use crate::ast::{Arch, Init, TypeName, Value, Var};
use crate::code::signed;
use crate::layout::Layout;

/// What a type name says about a word: its width, or why it cannot be used.
pub(crate) fn bits_of(ty: &TypeName, arch: Arch) -> Result<u8, Diagnostic> {
    let word = if arch == Arch::X86 { 32 } else { 64 };
    if ty.pointers > 0 {
        return Ok(word);
    }
    let bits = match ty.base.as_str() {
        "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t" | "atomic_int" => 32,
        "int64_t" | "uint64_t" | "long long" | "unsigned long long" => 64,
        "long" | "unsigned long" | "intptr_t" | "uintptr_t" | "size_t" => word,
        "char" | "int8_t" | "uint8_t" => 8,
        "short" | "int16_t" | "uint16_t" => 16,
        other => {
            let message = format!("initial state: the type `{other}` is not supported");
            return Err(Diagnostic::new(ty.span, message, "this type"));
        }
    };
    if bits < 32 || bits > word {
        let message =
            format!("initial state: `{}` has {bits} bits; accesses of mixed sizes are not supported", ty.base);
        return Err(Diagnostic::new(ty.span, message, "this type"));
    }
    Ok(bits)
}

/// Declares the locations of the initial state and of the code, with types and widths.
pub(crate) fn resolve(
    arch: Arch,
    inits: &[Init],
    threads: &mut [Thread],
    layout: &mut Layout,
) -> Result<(), Vec<Diagnostic>> {
    let mut sizes = Sizes { layout, places: BTreeMap::new(), errors: Vec::new() };
    let word = if arch == Arch::X86 { 32 } else { 64 };
    for init in inits {
        sizes.init(arch, init);
    }
    for instr in instructions(threads) {
        sizes.addresses(instr);
    }
    for instr in instructions(threads).filter(|instr| instr.bits.is_some()) {
        sizes.access(instr, instr.bits.unwrap_or(word));
    }
    for instr in threads.iter_mut().flat_map(|thread| &mut thread.lines).filter_map(|line| line.instr.as_mut()) {
        if instr.bits.is_none() && memory(&instr.op).is_some() {
            let bits = sizes.guess(instr);
            instr.bits = Some(bits);
            sizes.access(instr, bits);
        }
    }
    for cell in &mut sizes.layout.cells {
        cell.ty = cell.ty.or(Some(signed(if cell.pointer { word } else { 32 })));
    }
    if sizes.errors.is_empty() { Ok(()) } else { Err(sizes.errors) }
}

fn instructions(threads: &[Thread]) -> impl Iterator<Item = &Instr> {
    threads.iter().flat_map(|thread| &thread.lines).filter_map(|line| line.instr.as_ref())
}

/// The operands of an instruction.
fn operands(op: &Op) -> Vec<&Operand> {
    match op {
        Op::Mov { dst, src } | Op::Alu { dst, src, .. } => vec![dst, src],
        Op::Xchg { a, b } | Op::Cmp { a, b } | Op::Test { a, b } => vec![a, b],
        Op::Unary { dst, .. } | Op::Cmpxchg { dst, .. } | Op::Xadd { dst, .. } => vec![dst],
        Op::Cmov { src, .. } => vec![src],
        Op::Jmp { .. } | Op::Jcc { .. } | Op::Fence(_) | Op::Nop => vec![],
    }
}

/// The operand in memory.
pub(crate) fn memory(op: &Op) -> Option<&Mem> {
    operands(op).into_iter().find_map(|operand| match operand {
        Operand::Mem(mem) => Some(mem),
        _ => None,
    })
}

/// Every register that an instruction names, with the number of bits it names.
pub(crate) fn registers(instr: &Instr) -> Vec<Register> {
    let mut list = Vec::new();
    for operand in operands(&instr.op) {
        match operand {
            Operand::Reg(register) | Operand::Mem(Mem::Reg(register, _)) => list.push(register.clone()),
            _ => {}
        }
    }
    match &instr.op {
        Op::Cmpxchg { src, .. } => {
            list.push(src.clone());
            list.push(Register { name: "AX".to_owned(), bits: src.bits });
        }
        Op::Xadd { src, .. } => list.push(src.clone()),
        Op::Cmov { dst, .. } => list.push(dst.clone()),
        _ => {}
    }
    list
}

struct Sizes<'l> {
    layout: &'l mut Layout,
    /// Where each location got its width.
    places: BTreeMap<usize, Span>,
    errors: Vec<Diagnostic>,
}

impl Sizes<'_> {
    fn init(&mut self, arch: Arch, init: &Init) {
        let word = if arch == Arch::X86 { 32 } else { 64 };
        if let Some(Value::Address(name)) = &init.value {
            self.layout.address(name);
        }
        let bits = match init.ty.as_ref().map(|ty| bits_of(ty, arch)) {
            Some(Err(error)) => return self.errors.push(error),
            Some(Ok(bits)) => Some(bits),
            None => None,
        };
        let Var::Loc(name) = &init.var else { return };
        let number = self.layout.number(name);
        let pointer =
            matches!(init.value, Some(Value::Address(_))) || init.ty.as_ref().is_some_and(|ty| ty.pointers > 0);
        self.layout.cells[number].pointer |= pointer;
        match bits {
            Some(bits) => self.fix(number, bits, name.span),
            None if pointer => self.fix(number, word, name.span),
            None => {}
        }
    }

    /// Notes every location that an instruction names.
    fn addresses(&mut self, instr: &Instr) {
        for operand in operands(&instr.op) {
            match operand {
                Operand::Address(name) => _ = self.layout.address(name),
                Operand::Mem(Mem::Loc(name)) => _ = self.layout.number(name),
                Operand::Mem(Mem::Reg(..)) => self.layout.pointers = true,
                _ => {}
            }
        }
    }

    /// The locations that an access may be to.
    fn targets(&mut self, mem: &Mem) -> Vec<usize> {
        match mem {
            Mem::Loc(name) => vec![self.layout.number(name)],
            Mem::Reg(..) => (0..self.layout.cells.len()).filter(|at| self.layout.cells[*at].taken).collect(),
        }
    }

    fn access(&mut self, instr: &Instr, bits: u8) {
        let Some(mem) = memory(&instr.op) else { return };
        for number in self.targets(mem) {
            self.fix(number, bits, instr.span);
        }
    }

    /// The width of an access that does not say it: that of the location, or 32.
    fn guess(&mut self, instr: &Instr) -> u8 {
        let targets = memory(&instr.op).map(|mem| self.targets(mem)).unwrap_or_default();
        targets.iter().find_map(|number| self.layout.cells[*number].ty).map_or(32, |ty| ty.bits)
    }

    fn fix(&mut self, number: usize, bits: u8, span: Span) {
        let cell = &mut self.layout.cells[number];
        match cell.ty {
            None => {
                cell.ty = Some(signed(bits));
                self.places.insert(number, span);
            }
            Some(known) if known.bits != bits => {
                let name = &cell.name;
                let message = format!(
                    "`{name}` has {} bits and is accessed as {bits}; mixed sizes are not supported",
                    known.bits
                );
                let error = Diagnostic::new(span, message, format!("{bits} bits"));
                let first = self.places.get(&number).copied().unwrap_or(span);
                self.errors.push(error.with_related(first, format!("{} bits", known.bits)));
            }
            Some(_) => {}
        }
    }
}

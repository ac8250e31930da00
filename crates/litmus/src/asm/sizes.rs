//! The width of every location. Memory is words, one per location or element of an array, so every access to a location has its width:
//! accesses of mixed sizes are refused.

use std::collections::BTreeMap;

use cyrano_ir::{Diagnostic, IntType, Span};

use super::instr::Thread;
use super::points::Points;
use crate::ast::{Arch, Init, TypeName, Value, Var};
use crate::code::signed;
use crate::layout::Layout;

/// The width of an address.
fn word(arch: Arch) -> u8 {
    if arch == Arch::X86 { 32 } else { 64 }
}

/// The integer type that a type name means.
pub(crate) fn type_of(ty: &TypeName, arch: Arch) -> Result<IntType, Diagnostic> {
    let signed = ty.pointers == 0 && !ty.base.starts_with('u') && ty.base != "size_t";
    bits_of(ty, arch).map(|bits| IntType { bits, signed })
}

/// What a type name says about a word: its width, or why it cannot be used.
pub(crate) fn bits_of(ty: &TypeName, arch: Arch) -> Result<u8, Diagnostic> {
    let word = word(arch);
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
    if bits > word || bits < 32 && arch.is_x86() {
        let message =
            format!("initial state: `{}` has {bits} bits; accesses of mixed sizes are not supported", ty.base);
        return Err(Diagnostic::new(ty.span, message, "this type"));
    }
    Ok(bits)
}

/// Declares the locations of the initial state, with their types.
pub(crate) fn declare(arch: Arch, inits: &[Init], layout: &mut Layout) -> Result<Sizes, Vec<Diagnostic>> {
    let mut sizes = Sizes { arch, places: BTreeMap::new(), errors: Vec::new() };
    // An array before anything points to it.
    for init in inits {
        if let (Var::Loc(name), Some(len)) = (&init.var, init.len) {
            layout.array(name, len);
        }
    }
    for init in inits {
        sizes.init(init, layout);
    }
    if sizes.errors.is_empty() { Ok(sizes) } else { Err(sizes.errors) }
}

/// Widths and where they come from.
pub(crate) struct Sizes {
    arch: Arch,
    /// Where each location got its width.
    places: BTreeMap<usize, Span>,
    errors: Vec<Diagnostic>,
}

impl Sizes {
    fn init(&mut self, init: &Init, layout: &mut Layout) {
        for value in init.values() {
            if let Value::Address(name) = value {
                layout.address(name);
            }
        }
        let bits = match init.ty.as_ref().map(|ty| bits_of(ty, self.arch)) {
            Some(Err(error)) => return self.errors.push(error),
            Some(Ok(bits)) => Some(bits),
            None => None,
        };
        let Var::Loc(name) = &init.var else { return };
        let number = layout.number(name);
        let pointer = init.values().iter().any(|value| matches!(value, Value::Address(_)))
            || init.ty.as_ref().is_some_and(|ty| ty.pointers > 0);
        layout.cells[number].pointer |= pointer;
        match bits {
            Some(bits) => self.fix(layout, number, bits, name.span),
            None if pointer => self.fix(layout, number, word(self.arch), name.span),
            None => {}
        }
    }

    /// Gives every location its width.
    pub(crate) fn resolve(
        mut self,
        threads: &[Thread],
        points: &Points,
        layout: &mut Layout,
    ) -> Result<(), Vec<Diagnostic>> {
        for (number, thread) in threads.iter().enumerate() {
            for (step, span) in thread.steps() {
                let targets = step.mem().map(|mem| (mem.bits, points.targets(number, mem, layout)));
                if let Some((bits, objects)) = targets {
                    objects.into_iter().for_each(|object| self.fix(layout, object, bits, span));
                }
            }
        }
        for cell in &mut layout.cells {
            cell.ty = cell.ty.or(Some(signed(if cell.pointer { word(self.arch) } else { 32 })));
        }
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }

    fn fix(&mut self, layout: &mut Layout, object: usize, bits: u8, span: Span) {
        let cell = &layout.cells[object];
        match cell.ty {
            None => {
                for at in layout.extent(object) {
                    layout.cells[at].ty = Some(signed(bits));
                }
                self.places.insert(object, span);
            }
            Some(known) if known.bits != bits => {
                let name = layout.name(object);
                let message = format!(
                    "`{name}` has {} bits and is accessed as {bits}; mixed sizes are not supported",
                    known.bits
                );
                let error = Diagnostic::new(span, message, format!("{bits} bits"));
                let first = self.places.get(&object).copied().unwrap_or(span);
                self.errors.push(error.with_related(first, format!("{} bits", known.bits)));
            }
            Some(_) => {}
        }
    }
}

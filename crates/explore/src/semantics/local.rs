//! Evaluation over one thread's registers.

use cyrano_ir::{Addr, EvalError, LocalExpr, Place, Program, RegId, Registers};

use crate::semantics::state::Value;

/// The value of an expression; `regs` starts at the thread's first register.
#[inline]
pub(crate) fn eval(expr: &LocalExpr, regs: &[i128]) -> Result<i128, EvalError> {
    expr.value(regs)
}

/// The register that a place denotes now.
#[inline]
pub(crate) fn register(place: &Place, regs: &[i128]) -> Result<u32, EvalError> {
    place.register(regs).map(|register| register.0)
}

/// The location that an address denotes now.
#[inline]
pub(crate) fn location(program: &Program, addr: &Addr, regs: &[i128]) -> Result<u32, EvalError> {
    addr.location(program, regs).map(|loc| loc.0)
}

/// Calls `visit` on every register that an expression reads, those in indices included. An index out of range is left to the
/// evaluation.
pub(crate) fn registers(expr: &LocalExpr, regs: &[i128], visit: &mut impl FnMut(u32)) {
    let mut places = Vec::new();
    expr.for_each_var(&mut |place| places.push(place));
    while let Some(place) = places.pop() {
        if let Place::Elem { index, .. } = place {
            index.for_each_var(&mut |inner| places.push(inner));
        }
        if let Ok(reg) = register(place, regs) {
            visit(reg);
        }
    }
}

/// Registers that an entry of a queue has captured, all of which are known.
pub(crate) struct Captured<'a>(pub &'a [(u32, Value)]);

impl Registers for Captured<'_> {
    type Miss = EvalError;

    fn read(&self, register: RegId) -> Result<i128, EvalError> {
        match self.0.iter().find(|(captured, _)| *captured == register.0) {
            Some((_, Value::Known(value))) => Ok(*value),
            _ => unreachable!("every register that an entry reads was captured and is known by now"),
        }
    }
}

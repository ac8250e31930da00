//! Evaluation over one thread's registers.

use cyrano_ir::{Addr, EvalError, LocalExpr, Place, Program};

use crate::semantics::state::Value;

/// The value of an expression; `regs` starts at the thread's first register.
#[inline]
pub(crate) fn eval(expr: &LocalExpr, regs: &[i128]) -> Result<i128, EvalError> {
    expr.eval(&mut |place| read(place, regs))
}

#[inline]
fn read(place: &Place, regs: &[i128]) -> Result<i128, EvalError> {
    Ok(regs[register(place, regs)? as usize])
}

/// The register that a place denotes now.
#[inline]
pub(crate) fn register(place: &Place, regs: &[i128]) -> Result<u32, EvalError> {
    match place {
        Place::Reg(reg) => Ok(reg.0),
        Place::Elem { base, len, index } => Ok(base.0 + element(eval(index, regs)?, *len)?),
    }
}

/// The location that an address denotes now.
#[inline]
pub(crate) fn location(program: &Program, addr: &Addr, regs: &[i128]) -> Result<u32, EvalError> {
    match addr {
        Addr::Fixed(loc) => Ok(loc.0),
        Addr::Indexed { array, index } => program.element(*array, eval(index, regs)?).map(|loc| loc.0),
    }
}

#[inline]
fn element(index: i128, len: u32) -> Result<u32, EvalError> {
    let inside = u32::try_from(index).ok().filter(|i| *i < len);
    inside.ok_or(EvalError::OutOfBounds { index, len })
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

/// The value of a place among captured registers, all of which are known.
pub(crate) fn read_captured(place: &Place, captured: &[(u32, Value)]) -> Result<i128, EvalError> {
    let reg = match place {
        Place::Reg(reg) => reg.0,
        Place::Elem { base, len, index } => {
            let index = index.eval(&mut |inner| read_captured(inner, captured))?;
            base.0 + element(index, *len)?
        }
    };
    match captured.iter().find(|(r, _)| *r == reg) {
        Some((_, Value::Known(value))) => Ok(*value),
        _ => unreachable!("every register that an entry reads was captured and is known by now"),
    }
}

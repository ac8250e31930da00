//! Expressions over registers of which some are unknown.

use cyrano_ir::{Addr, EvalError, LocalExpr, Miss, Place, Program};

/// None for what is unknown.
fn known<T>(value: Result<T, Miss>) -> Option<Result<T, EvalError>> {
    match value {
        Ok(value) => Some(Ok(value)),
        Err(Miss::Failed(error)) => Some(Err(error)),
        Err(Miss::Unknown) => None,
    }
}

/// The value of an expression, if that is known.
pub(crate) fn eval(expr: &LocalExpr, regs: &[Option<i128>]) -> Option<Result<i128, EvalError>> {
    known(expr.value(regs))
}

/// The location that an address denotes, if that is known.
pub(crate) fn location(program: &Program, addr: &Addr, regs: &[Option<i128>]) -> Option<Result<u32, EvalError>> {
    known(addr.location(program, regs).map(|loc| loc.0))
}

/// Gives a place a value; if it is not known which register it is, every one that it can be becomes unknown.
pub(crate) fn set(place: &Place, regs: &mut [Option<i128>], new: Option<i128>) -> Result<(), EvalError> {
    match place.register(regs) {
        Ok(register) => regs[register.index()] = new,
        Err(Miss::Unknown) => regs[place.registers()].fill(None),
        Err(Miss::Failed(error)) => return Err(error),
    }
    Ok(())
}

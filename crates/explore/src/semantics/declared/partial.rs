//! Expressions over registers of which some are unknown.

use cyrano_ir::{EvalError, LocalExpr, Place, Program};

/// An unknown value, in the place of an error.
pub(crate) enum Miss {
    Unknown,
    Error(EvalError),
}

pub(crate) type Known<T> = Result<T, Miss>;

pub(crate) fn eval(expr: &LocalExpr, regs: &[Option<i128>]) -> Option<Result<i128, EvalError>> {
    match value(expr, regs) {
        Ok(value) => Some(Ok(value)),
        Err(Miss::Error(error)) => Some(Err(error)),
        Err(Miss::Unknown) => None,
    }
}

/// The value of an expression. Both sides of `&&` and `||` are looked at only as far as evaluation itself would.
fn value(expr: &LocalExpr, regs: &[Option<i128>]) -> Known<i128> {
    let mut unknown = false;
    let result = expr.eval(&mut |place| match place_register(place, regs) {
        Ok(register) => Ok(regs[register as usize].unwrap_or_else(|| {
            unknown = true;
            0
        })),
        Err(Miss::Unknown) => {
            unknown = true;
            Ok(0)
        }
        Err(Miss::Error(error)) => Err(error),
    });
    if unknown { Err(Miss::Unknown) } else { result.map_err(Miss::Error) }
}

/// The register that a place stands for.
pub(crate) fn place_register(place: &Place, regs: &[Option<i128>]) -> Known<u32> {
    match place {
        Place::Reg(reg) => Ok(reg.0),
        Place::Elem { base, len, index } => {
            let index = value(index, regs)?;
            let inside = u32::try_from(index).ok().filter(|i| i < len);
            inside.map(|i| base.0 + i).ok_or(Miss::Error(EvalError::OutOfBounds { index, len: *len }))
        }
    }
}

/// The location that an address denotes, if that is known.
pub(crate) fn location(
    program: &Program,
    addr: &cyrano_ir::Addr,
    regs: &[Option<i128>],
) -> Option<Result<u32, EvalError>> {
    match addr {
        cyrano_ir::Addr::Fixed(loc) => Some(Ok(loc.0)),
        cyrano_ir::Addr::Indexed { array, index } => {
            let index = eval(index, regs)?;
            Some(index.and_then(|index| program.element(*array, index)).map(|loc| loc.0))
        }
    }
}

/// Gives a place a value; if it is not known which register it is, every one that it can be becomes unknown.
pub(crate) fn set(place: &Place, regs: &mut [Option<i128>], new: Option<i128>) -> Result<(), EvalError> {
    match (place_register(place, regs), place) {
        (Ok(register), _) => regs[register as usize] = new,
        (Err(Miss::Unknown), Place::Elem { base, len, .. }) => {
            regs[base.index()..base.index() + *len as usize].fill(None);
        }
        (Err(Miss::Error(error)), _) => return Err(error),
        (Err(Miss::Unknown), Place::Reg(_)) => {}
    }
    Ok(())
}

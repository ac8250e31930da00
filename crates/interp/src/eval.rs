//! Evaluation over registers of which some are not known yet, and what a value was computed from.
//!
//! **Invariant:** a value is `Known` or `Failed` only if no unknown register was consulted on the way, so a known
//! result never changes when the missing values arrive.
//! Dependencies are those of the text: every register that an expression names counts, also on the side of `&&` or `||` that
//! was not evaluated.

use cyrano_ir::{EvalError, LocalExpr, Place, RegId};

use crate::set::EventSet;

/// The result of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value<T = i128> {
    /// This value.
    Known(T),
    /// It takes a value that a deferred load has yet to provide.
    Unknown,
    /// The computation goes wrong.
    Failed(EvalError),
}

/// Evaluates an expression.
pub(crate) fn eval(registers: &[Option<i128>], expr: &LocalExpr) -> Value {
    let mut unknown = false;
    let result = value(registers, expr, &mut unknown);
    finish(result, unknown)
}

/// Finds the register that a place stands for.
pub(crate) fn resolve(registers: &[Option<i128>], place: &Place) -> Value<RegId> {
    let mut unknown = false;
    let result = register(registers, place, &mut unknown);
    finish(result, unknown)
}

fn finish<T>(result: Result<T, EvalError>, unknown: bool) -> Value<T> {
    match result {
        _ if unknown => Value::Unknown,
        Ok(value) => Value::Known(value),
        Err(error) => Value::Failed(error),
    }
}

fn value(registers: &[Option<i128>], expr: &LocalExpr, unknown: &mut bool) -> Result<i128, EvalError> {
    expr.eval(&mut |place| {
        let register = register(registers, place, unknown)?;
        registers[register.index()].ok_or_else(|| {
            // Any error ends the evaluation; the flag says that this one is not the program's.
            *unknown = true;
            EvalError::Overflow
        })
    })
}

fn register(registers: &[Option<i128>], place: &Place, unknown: &mut bool) -> Result<RegId, EvalError> {
    match place {
        Place::Reg(register) => Ok(*register),
        Place::Elem { base, len, index } => {
            let index = value(registers, index, unknown)?;
            let inside = u32::try_from(index).ok().filter(|i| i < len);
            let inside = inside.ok_or(EvalError::OutOfBounds { index, len: *len })?;
            Ok(RegId(base.0 + inside))
        }
    }
}

/// Adds to `into` the reading events that an expression's value was computed from.
pub(crate) fn taint(registers: &[Option<i128>], taints: &[EventSet], expr: &LocalExpr, into: &mut EventSet) {
    expr.for_each_var(&mut |place| {
        index_taint(registers, taints, place, into);
        match (resolve(registers, place), place) {
            (Value::Known(register), _) => into.absorb(&taints[register.index()]),
            (Value::Unknown, Place::Elem { base, len, .. }) => {
                let elements = base.index()..base.index() + *len as usize;
                taints[elements].iter().for_each(|taint| into.absorb(taint));
            }
            (Value::Unknown | Value::Failed(_), _) => {}
        }
    });
}

/// Adds to `into` the reading events that the choice of an array element was computed from.
pub(crate) fn index_taint(registers: &[Option<i128>], taints: &[EventSet], place: &Place, into: &mut EventSet) {
    if let Place::Elem { index, .. } = place {
        taint(registers, taints, index, into);
    }
}

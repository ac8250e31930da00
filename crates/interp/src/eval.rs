//! What a value was computed from.
//!
//! Dependencies are those of the text: every register that an expression names counts, also on the side of `&&` or `||` that
//! was not evaluated.

use cyrano_ir::{LocalExpr, Miss, Place};

use crate::set::EventSet;

/// Adds to `into` the reading events that an expression's value was computed from.
pub(crate) fn taint(registers: &[Option<i128>], taints: &[EventSet], expr: &LocalExpr, into: &mut EventSet) {
    expr.for_each_var(&mut |place| {
        index_taint(registers, taints, place, into);
        match place.register(registers) {
            Ok(register) => into.absorb(&taints[register.index()]),
            Err(Miss::Unknown) => taints[place.registers()].iter().for_each(|taint| into.absorb(taint)),
            Err(Miss::Failed(_)) => {}
        }
    });
}

/// Adds to `into` the reading events that the choice of an array element was computed from.
pub(crate) fn index_taint(registers: &[Option<i128>], taints: &[EventSet], place: &Place, into: &mut EventSet) {
    if let Place::Elem { index, .. } = place {
        taint(registers, taints, index, into);
    }
}

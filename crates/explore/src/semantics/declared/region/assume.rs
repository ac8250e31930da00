//! Assumptions that a thread can always live up to.
//!
//! A loop over a set in any order chooses an element and assumes that it is one of those that are left:
//!
//! ```text
//! if left[0] + left[1] + … > 1:  s := choose 0, 1, …;  assume left[s]
//! ```
//!
//! Some value fulfils the assumption, for one of the summands is not 0. So a thread that comes to it need not stop there: whoever makes another choice
//! only stops, and what others do meanwhile they also do while the choice has not been made. Every other assumption outside of atomic sections may stop a thread
//! whatever it chooses.

use cyrano_ir::{BinOp, Expr, LocalExpr, Op, Place};

/// Whether this code, which begins at this instruction, has an assumption outside of atomic sections that may not be lived up to.
pub(super) fn may_stop(start: u32, code: &[Op]) -> bool {
    let mut inside = false;
    (0..code.len()).any(|at| {
        match &code[at] {
            Op::AtomicBegin => inside = true,
            Op::AtomicEnd => inside = false,
            _ => {}
        }
        let assumes = !inside && matches!(&code[at], Op::Assume(_) | Op::Limit { .. });
        assumes && !(at >= 2 && is_open_choice(&code[at - 2..=at], start + at as u32) && !is_target(code, start, at))
    })
}

/// Whether the assumption at this instruction, with the two instructions before it, is one that some choice fulfils.
fn is_open_choice(code: &[Op], at: u32) -> bool {
    let [Op::Branch { cond, then_to, else_to }, Op::Choose { dst: Place::Reg(chosen), from }, Op::Assume(assumed)] =
        code
    else {
        return false;
    };
    let Expr::Var(Place::Elem { base, len, index }) = assumed else { return false };
    let Expr::Binary(BinOp::Gt, sum, least) = cond else { return false };
    let is_left = |place: &Place| {
        let Place::Reg(register) = place else { return false };
        let at = register.0.checked_sub(base.0).filter(|at| at < len);
        at.is_some_and(|at| from.contains(&at.into()))
    };
    let goes_on = then_to.0 == at - 1 && else_to.0 != at - 1 && else_to.0 != at;
    let by_choice = **index == Expr::Var(Place::Reg(*chosen));
    goes_on && by_choice && matches!(**least, Expr::Const(least) if least >= 0) && adds_up(sum, &is_left)
}

/// Whether an expression is a sum of places of this kind.
fn adds_up(sum: &LocalExpr, is_term: &dyn Fn(&Place) -> bool) -> bool {
    match sum {
        Expr::Var(place) => is_term(place),
        Expr::Binary(BinOp::Add, left, right) => adds_up(left, is_term) && adds_up(right, is_term),
        _ => false,
    }
}

/// Whether something jumps to the choice or the assumption behind it, past the test.
fn is_target(code: &[Op], start: u32, at: usize) -> bool {
    let pc = start + at as u32;
    let within = |to: u32| to == pc || to == pc - 1;
    code.iter().enumerate().any(|(from, op)| match op {
        Op::Jump(to) => within(to.0),
        Op::Branch { then_to, else_to, .. } => from + 2 != at && (within(then_to.0) || within(else_to.0)),
        _ => false,
    })
}

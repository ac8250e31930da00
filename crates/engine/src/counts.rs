//! Invariants over part of a configuration, where `count(w@cs)` counts the members that are there.
//!
//! Of a configuration only some members are seen, so a count is a lower bound. An invariant can be judged if being *wrong* needs no more than members that
//! are there: whatever is wrong with some members is wrong with more, and whatever is wrong is so because of few. [`witness`] says how few: for
//! `count(a) <= 2` three, for `count(a) == 0 || count(b) == 0` one and one. A part with at least so many members that is right for all choices
//! of members then stands for the whole.
//!
//! **Argument** (by induction over the condition). Counts grow with members, so that a sum of counts exceeds a bound for good, and bound - rest + 1 members suffice
//! for that, since each that counts counts at least once. For a disjunction to be wrong both sides have to be, by the members of both together; for a conjunction one
//! side. A part without counts does not depend on members at all. Everything else ([`None`]) is refused, or not judged.

use cyrano_ir::{BinOp, EvalError, StateExpr, StateVar, UnOp};

/// What the expressions of an invariant come to.
pub trait Counting {
    /// Whether a variable is a count.
    fn is_count(&self, var: &StateVar) -> bool;
    /// The value of an expression without counts; 0 where only the form of the invariant is asked about.
    fn value(&mut self, expr: &StateExpr) -> Result<i128, EvalError>;
    /// Whether only the form is asked about.
    fn is_form(&self) -> bool;
}

/// How many members are enough to see that a condition is `truth`, if it is; none if that may depend on members that are not there.
pub fn witness(expr: &StateExpr, truth: bool, moments: &mut impl Counting) -> Option<usize> {
    if !has_count(expr, moments) {
        return Some(0);
    }
    match expr {
        StateExpr::Unary(UnOp::Not, arg) => witness(arg, !truth, moments),
        StateExpr::Binary(op @ (BinOp::And | BinOp::Or), left, right) => {
            let (left, right) = (witness(left, truth, moments)?, witness(right, truth, moments)?);
            let both = (*op == BinOp::And) == truth;
            Some(if both { left.saturating_add(right) } else { left.max(right) })
        }
        StateExpr::Binary(op, left, right) => {
            let (counts, op, bound) = match (has_count(left, moments), has_count(right, moments)) {
                (true, false) => (left, *op, right),
                (false, true) => (right, mirrored(*op)?, left),
                _ => return None,
            };
            let least = least(op, truth)?;
            let rest = rest(counts, moments)?;
            let bound = moments.value(bound).and_then(|bound| BinOp::Sub.apply(bound, rest));
            // Without a value the condition does not hold, whoever is there.
            let Ok(bound) = bound else { return Some(0) };
            reaches(least, bound, moments.is_form())
        }
        // A count as a truth value.
        _ => {
            let rest = rest(expr, moments)?;
            (truth && rest >= 0).then_some(1)
        }
    }
}

/// What a sum of counts has to do.
enum Least {
    /// Be at least the bound, and so much more.
    Above(i128),
    /// Be another number than the bound.
    Differ,
}

/// What makes a comparison with a bound true, or false, for good.
fn least(op: BinOp, truth: bool) -> Option<Least> {
    match (op, truth) {
        (BinOp::Le, false) | (BinOp::Gt, true) => Some(Least::Above(1)),
        (BinOp::Lt, false) | (BinOp::Ge, true) => Some(Least::Above(0)),
        (BinOp::Eq, false) | (BinOp::Ne, true) => Some(Least::Differ),
        _ => None,
    }
}

fn reaches(least: Least, bound: i128, form: bool) -> Option<usize> {
    let members = match least {
        Least::Above(more) => bound.saturating_add(more),
        // Only 0 is left for good.
        Least::Differ if bound <= 0 => bound + 1,
        Least::Differ => return form.then_some(0),
    };
    Some(usize::try_from(members.max(0)).unwrap_or(usize::MAX))
}

/// What a sum of counts comes to without them.
fn rest(expr: &StateExpr, moments: &mut impl Counting) -> Option<i128> {
    match expr {
        _ if !has_count(expr, moments) => moments.value(expr).ok(),
        StateExpr::Var(_) => Some(0),
        StateExpr::Binary(BinOp::Add, left, right) => rest(left, moments)?.checked_add(rest(right, moments)?),
        _ => None,
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Le => BinOp::Ge,
        BinOp::Lt => BinOp::Gt,
        BinOp::Ge => BinOp::Le,
        BinOp::Gt => BinOp::Lt,
        BinOp::Eq | BinOp::Ne => op,
        _ => return None,
    })
}

fn has_count(expr: &StateExpr, moments: &impl Counting) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |var| found |= moments.is_count(var));
    found
}

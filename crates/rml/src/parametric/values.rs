//! What is known of values, and what a condition says about them.

use cyrano_ir::{BinOp, UnOp};

use super::form::{Binder, Cell, Domain, Form, Index, Len, Term, TermKind};

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    Any,
    Is(i128),
    Not(i128),
}

impl Value {
    /// The part of it that is, or is not, this number.
    fn part(self, number: i128, equal: bool) -> Option<Self> {
        match (self, equal) {
            (Self::Is(value), _) => ((value == number) == equal).then_some(self),
            (Self::Not(value), true) => (value != number).then_some(Self::Is(number)),
            (Self::Any, true) => Some(Self::Is(number)),
            (Self::Any, false) => Some(Self::Not(number)),
            (Self::Not(_), false) => Some(self),
        }
    }
}

/// For each variable of the stm, if it is local, what is known of it; of an array with an element for each transactional variable, of that element.
pub(super) type Values = Vec<Value>;

/// Binders, each with whether it stands for the variable that is looked at.
pub(super) type Scope = Vec<(Binder, bool)>;

/// What is known of an expression.
pub(super) fn value(form: &Form, term: &Term, values: &Values, scope: &Scope) -> Value {
    let number = |term: &Term| match value(form, term, values, scope) {
        Value::Is(number) => Some(number),
        _ => None,
    };
    let known = match &term.kind {
        TermKind::Number(value) => Some(*value),
        TermKind::Local(cell) => return place(form, cell, scope).map_or(Value::Any, |at| values[at]),
        TermKind::Unary(op, arg) => number(arg).and_then(|arg| op.apply(arg).ok()),
        TermKind::Binary(op, left, right) => {
            number(left).zip(number(right)).and_then(|(left, right)| op.apply(left, right).ok())
        }
        TermKind::Sized | TermKind::Own | TermKind::NumberOf(_) | TermKind::Quantified { .. } => None,
    };
    known.map_or(Value::Any, Value::Is)
}

/// Where the value of a cell is kept, if it is that of the variable that is looked at.
fn place(form: &Form, cell: &Cell, scope: &Scope) -> Option<usize> {
    let this = match cell.index {
        Index::None => form.vars[cell.var].len == Len::Scalar,
        Index::Of(binder) => scope.iter().rev().find(|(known, _)| *known == binder).is_some_and(|(_, this)| *this),
        Index::Own | Index::Fixed => false,
    };
    this.then_some(cell.var)
}

/// The values with which a condition may be what is wanted.
pub(super) fn branch(form: &Form, cond: &Term, wanted: bool, values: &Values, scope: &Scope) -> Vec<Values> {
    let again = |cond: &Term, wanted: bool, values: &Values| branch(form, cond, wanted, values, scope);
    match &cond.kind {
        TermKind::Unary(UnOp::Not, arg) => again(arg, !wanted, values),
        TermKind::Binary(op @ (BinOp::And | BinOp::Or), left, right) => {
            // If the left side decides, the right one is not looked at.
            let decides = *op == BinOp::Or;
            let mut all = if wanted == decides { again(left, decides, values) } else { Vec::new() };
            all.extend(again(left, !decides, values).iter().flat_map(|values| again(right, wanted, values)));
            all
        }
        TermKind::Binary(op @ (BinOp::Eq | BinOp::Ne), left, right) => {
            let equal = (*op == BinOp::Eq) == wanted;
            compare(form, (left, right), equal, values, scope)
        }
        TermKind::Quantified { all, binder, body } if form.binders[*binder] == Domain::Variables => {
            let this: Scope = scope.iter().copied().chain([(*binder, true)]).collect();
            let of_this = branch(form, body, wanted, values, &this);
            // If it has to hold of all of them, or of none, it does so of this one; else another one may do.
            if *all == wanted { of_this } else { vec![values.clone()] }
        }
        _ => match value(form, cond, values, scope) {
            Value::Is(known) => {
                if (known != 0) == wanted {
                    vec![values.clone()]
                } else {
                    Vec::new()
                }
            }
            _ => vec![values.clone()],
        },
    }
}

fn compare(form: &Form, (left, right): (&Term, &Term), equal: bool, values: &Values, scope: &Scope) -> Vec<Values> {
    let number = |term: &Term| match value(form, term, values, scope) {
        Value::Is(number) => Some(number),
        _ => None,
    };
    let (term, number) = match (number(left), number(right)) {
        (_, Some(number)) => (left, number),
        (Some(number), None) => (right, number),
        (None, None) => return vec![values.clone()],
    };
    let Some(part) = value(form, term, values, scope).part(number, equal) else { return Vec::new() };
    let mut known = values.clone();
    if let TermKind::Local(cell) = &term.kind {
        place(form, cell, scope).into_iter().for_each(|at| known[at] = part);
    }
    vec![known]
}

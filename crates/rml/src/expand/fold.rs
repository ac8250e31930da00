//! Expressions of the syntax tree to expressions of the IR, with constants folded and quantifiers unrolled.
//!
//! One function serves constants, threads and final conditions; a [`Resolve`] says what names mean there.
//! Only operations on constants are folded, and `&&` and `||` whose left side decides: `r * 0` and `r ^ r` stay as they are, for
//! memory models see the dependency on `r`.
//! Quantifiers unroll to balanced trees, which mean the same as chains (both evaluate left to right and stop early) and stay shallow.

use cyrano_ir::{BinOp, Diagnostic, EvalError, Expr as IrExpr, Span, UnOp};

use crate::expand::budget::Budget;
use crate::report::{Fallible, Reported, Reports};
use crate::rules::table::no_sets;
use crate::syntax::ast::{Expr, ExprKind, Range, RangeKind};

/// What names mean in the place where an expression stands.
pub(crate) trait Resolve<'a> {
    /// The variables of the result.
    type Var;

    /// A name, an element, a member, `self` or `tid`. Binders are looked up before.
    fn atom(&mut self, atom: &'a Expr) -> Fallible<IrExpr<Self::Var>>;

    /// An expression that means something else here than elsewhere.
    fn own(&mut self, _expr: &'a Expr) -> Option<Fallible<IrExpr<Self::Var>>> {
        None
    }

    /// Says that an expression should be a constant and is not, unless the checker has said so.
    fn not_constant(&mut self, _expr: &Expr) -> Reported {
        Reported
    }

    /// Whether the variable is a timestamp.
    fn is_timestamp(&self, var: &Self::Var) -> bool;

    /// The binders in scope with their values, innermost last.
    fn binders(&mut self) -> &mut Vec<(&'a str, i128)>;

    /// Where errors go.
    fn reports(&mut self) -> &mut Reports;

    /// What may still be unrolled.
    fn budget(&self) -> &Budget;
}

/// What names mean outside of all threads: whatever `atom` says.
pub(crate) struct Outside<'a, 'r, F> {
    atom: F,
    /// Whether there are only names and operations; everything else is for `atom` to refuse.
    plain: bool,
    budget: &'r Budget,
    reports: &'r mut Reports,
    binders: Vec<(&'a str, i128)>,
}

impl<'r, F> Outside<'_, 'r, F> {
    pub(crate) fn new(atom: F, plain: bool, budget: &'r Budget, reports: &'r mut Reports) -> Self {
        Self { atom, plain, budget, reports, binders: Vec::new() }
    }
}

impl<'a, V, F: Fn(&'a Expr, &mut Reports) -> Fallible<IrExpr<V>>> Resolve<'a> for Outside<'a, '_, F> {
    type Var = V;

    fn atom(&mut self, atom: &'a Expr) -> Fallible<IrExpr<V>> {
        (self.atom)(atom, self.reports)
    }

    fn own(&mut self, expr: &'a Expr) -> Option<Fallible<IrExpr<V>>> {
        let special = matches!(expr.kind, ExprKind::Quantified { .. } | ExprKind::Tuple(_) | ExprKind::In(..));
        (self.plain && special).then(|| self.atom(expr))
    }

    fn is_timestamp(&self, _: &V) -> bool {
        false
    }

    fn binders(&mut self) -> &mut Vec<(&'a str, i128)> {
        &mut self.binders
    }

    fn reports(&mut self) -> &mut Reports {
        self.reports
    }

    fn budget(&self) -> &Budget {
        self.budget
    }
}

/// Charges unrolling steps to the budget.
pub(crate) fn charge<'a, R: Resolve<'a>>(to: &mut R, steps: u64, span: Span) -> Fallible<()> {
    let charged = to.budget().charge_steps(steps, span);
    to.reports().settle(charged)
}

/// Folds an expression.
pub(crate) fn fold<'a, R: Resolve<'a>>(expr: &'a Expr, to: &mut R) -> Fallible<IrExpr<R::Var>> {
    charge(to, 1, expr.span)?;
    if let Some(own) = to.own(expr) {
        return own;
    }
    match &expr.kind {
        ExprKind::Int(value) => Ok(IrExpr::Const(*value)),
        ExprKind::Name(name) => {
            let bound = to.binders().iter().rev().find(|(binder, _)| *binder == name.text);
            match bound {
                Some((_, value)) => Ok(IrExpr::Const(*value)),
                None => to.atom(expr),
            }
        }
        ExprKind::Element(..)
        | ExprKind::Member(_)
        | ExprKind::SelfIndex
        | ExprKind::Tid
        | ExprKind::Executed(_)
        | ExprKind::At(_) => to.atom(expr),
        ExprKind::Unary(op, arg) => {
            let folded = IrExpr::unary(*op, fold(arg, to)?);
            settle(folded, expr.span, to)
        }
        ExprKind::Binary(op, left, right) => fold_binary(*op, left, right, expr.span, to),
        ExprKind::Quantified { all, binder, range, body } => {
            let values = fold_range(range, to)?;
            let mut parts = Vec::new();
            for value in values {
                to.binders().push((&binder.text, value));
                let part = fold(body, to);
                to.binders().pop();
                parts.push(truth(part?));
                if matches!(parts.last(), Some(IrExpr::Const(value)) if (*value == 0) == *all) {
                    break;
                }
            }
            Ok(join(*all, parts))
        }
        ExprKind::Tuple(_) | ExprKind::In(..) => Err(to.reports().add(no_sets(expr.span))),
    }
}

fn fold_binary<'a, R: Resolve<'a>>(
    op: BinOp,
    left: &'a Expr,
    right: &'a Expr,
    span: Span,
    to: &mut R,
) -> Fallible<IrExpr<R::Var>> {
    let left = fold(left, to)?;
    if decides(op, &left) {
        return Ok(IrExpr::Const((op == BinOp::Or).into()));
    }
    let right = fold(right, to)?;
    check_timestamps(op, &left, &right, span, to)?;
    settle(IrExpr::binary(op, left, right), span, to)
}

/// Whether a constant on the left side of `&&` or `||` decides.
pub(crate) fn decides<V>(op: BinOp, left: &IrExpr<V>) -> bool {
    match (op, left) {
        (BinOp::And | BinOp::Or, IrExpr::Const(value)) => (*value != 0) == (op == BinOp::Or),
        _ => false,
    }
}

/// A timestamp only grows: a constant that is added to one is not negative. One that it is divided by is positive.
fn check_timestamps<'a, R: Resolve<'a>>(
    op: BinOp,
    left: &IrExpr<R::Var>,
    right: &IrExpr<R::Var>,
    span: Span,
    to: &mut R,
) -> Fallible<()> {
    let below = |e: &IrExpr<R::Var>, least| matches!(e, IrExpr::Const(value) if *value < least);
    let (message, label) = match op {
        BinOp::Add if (below(right, 0) && stamped(left, to)) || (below(left, 0) && stamped(right, to)) => {
            ("a timestamp cannot be decremented", "adds a negative constant")
        }
        BinOp::Rem if below(right, 1) && stamped(left, to) => {
            ("a timestamp has remainders by positive constants only", "divides by a constant below 1")
        }
        _ => return Ok(()),
    };
    Err(to.reports().complain(span, message, label, crate::resolve::typing::TIMESTAMP_HELP))
}

fn stamped<'a, R: Resolve<'a>>(expr: &IrExpr<R::Var>, to: &R) -> bool {
    match expr {
        IrExpr::Var(var) => to.is_timestamp(var),
        IrExpr::Binary(BinOp::Add, left, right) => stamped(left, to) || stamped(right, to),
        _ => false,
    }
}

/// Evaluates an operation on constants, and a logical operation whose left side is a constant that does not decide.
fn settle<'a, R: Resolve<'a>>(expr: IrExpr<R::Var>, span: Span, to: &mut R) -> Fallible<IrExpr<R::Var>> {
    if let Some(value) = compute(&expr, span, to.reports()) {
        return value.map(IrExpr::Const);
    }
    match expr {
        IrExpr::Binary(BinOp::And | BinOp::Or, left, right) if matches!(*left, IrExpr::Const(_)) => Ok(truth(*right)),
        other => Ok(other),
    }
}

/// The value of an operation on constants; none if it is something else.
pub(crate) fn compute<V>(expr: &IrExpr<V>, span: Span, reports: &mut Reports) -> Option<Fallible<i128>> {
    let constant = match expr {
        IrExpr::Unary(_, arg) => matches!(**arg, IrExpr::Const(_)),
        IrExpr::Binary(_, left, right) => matches!((&**left, &**right), (IrExpr::Const(_), IrExpr::Const(_))),
        _ => false,
    };
    constant.then(|| expr.eval(&mut |_| Ok(0)).map_err(|error| wrong_constant(error, span, reports)))
}

fn wrong_constant(error: EvalError, span: Span, reports: &mut Reports) -> Reported {
    let help = match error {
        EvalError::DivisionByZero => "the divisor is zero for these constants",
        _ => "integers have 128 bits, and shift amounts lie between 0 and 126",
    };
    reports.complain(span, format!("{error} in a constant expression"), "computed here", help)
}

/// The expression as 0 or 1.
fn truth<V>(expr: IrExpr<V>) -> IrExpr<V> {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match expr {
        IrExpr::Const(value) => IrExpr::Const((value != 0).into()),
        IrExpr::Binary(Eq | Ne | Lt | Le | Gt | Ge | And | Or, ..) | IrExpr::Unary(UnOp::Not, _) => expr,
        other => IrExpr::binary(Ne, other, IrExpr::Const(0)),
    }
}

/// The conjunction or disjunction of truth values, balanced.
fn join<V>(all: bool, parts: Vec<IrExpr<V>>) -> IrExpr<V> {
    let op = if all { BinOp::And } else { BinOp::Or };
    // A constant that does not decide adds nothing, and one that does was the last to be unrolled.
    let decided = IrExpr::Const((!all).into());
    let mut level: Vec<_> = parts.into_iter().filter(|p| !matches!(p, IrExpr::Const(v) if (*v != 0) == all)).collect();
    if level.first().is_some_and(|first| matches!(first, IrExpr::Const(_))) {
        return decided;
    }
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut pending = level.into_iter();
        while let Some(left) = pending.next() {
            next.push(match pending.next() {
                Some(right) => IrExpr::binary(op, left, right),
                None => left,
            });
        }
        level = next;
    }
    level.pop().unwrap_or(IrExpr::Const(all.into()))
}

/// Folds an expression that must be a constant.
pub(crate) fn fold_const<'a, R: Resolve<'a>>(expr: &'a Expr, to: &mut R) -> Fallible<i128> {
    match fold(expr, to)? {
        IrExpr::Const(value) => Ok(value),
        _ => Err(to.not_constant(expr)),
    }
}

/// The values of a range, in order. A range that is too long is refused before it is listed.
pub(crate) fn fold_range<'a, R: Resolve<'a>>(range: &'a Range, to: &mut R) -> Fallible<Vec<i128>> {
    let (first, end) = match &range.kind {
        RangeKind::List(values) => return values.iter().map(|v| fold_const(v, to)).collect(),
        RangeKind::Inclusive(first, last) => (fold_const(first, to)?, fold_const(last, to)?.saturating_add(1)),
        RangeKind::Exclusive(first, end) => (fold_const(first, to)?, fold_const(end, to)?),
    };
    let count = u64::try_from(end.saturating_sub(first).max(0)).unwrap_or(u64::MAX);
    if count > crate::expand::budget::MAX_RANGE {
        let message = format!("this range has {count} values");
        let diagnostic = Diagnostic::new(range.span, message, "too many to unroll");
        let help = format!("a range has at most {} values", crate::expand::budget::MAX_RANGE);
        return Err(to.reports().add(diagnostic.with_help(help)));
    }
    charge(to, count, range.span)?;
    Ok((first..end).collect())
}

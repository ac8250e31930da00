//! Expressions over any kind of variable, and their one evaluation.
//!
//! Integers are 64 bits wide and never wrap: an overflow, a division by zero or an index out of range is an
//! [`EvalError`], which engines report as an error of the checked program.
//! Truth values are the integers 0 and 1; any other non-zero integer counts as true.
//! `&&` and `||` evaluate their right side only when the left side does not decide.

use std::fmt;

/// An expression whose variables are of type `V`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr<V> {
    /// A constant.
    Const(i64),
    /// A variable.
    Var(V),
    /// A unary operation.
    Unary(UnOp, Box<Expr<V>>),
    /// A binary operation.
    Binary(BinOp, Box<Expr<V>>, Box<Expr<V>>),
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Arithmetic negation.
    Neg,
    /// Logical negation: 1 for 0, else 0.
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl BinOp {
    /// All operators with their spelling, loosest binding last within equal spelling lengths.
    pub const ALL: [(Self, &'static str); 18] = [
        (Self::Add, "+"),
        (Self::Sub, "-"),
        (Self::Mul, "*"),
        (Self::Div, "/"),
        (Self::Rem, "%"),
        (Self::BitAnd, "&"),
        (Self::BitOr, "|"),
        (Self::BitXor, "^"),
        (Self::Shl, "<<"),
        (Self::Shr, ">>"),
        (Self::Eq, "=="),
        (Self::Ne, "!="),
        (Self::Lt, "<"),
        (Self::Le, "<="),
        (Self::Gt, ">"),
        (Self::Ge, ">="),
        (Self::And, "&&"),
        (Self::Or, "||"),
    ];

    /// The operator's spelling.
    pub fn symbol(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Applies the operator to two values. `And` and `Or` are handled lazily by [`Expr::eval`].
    #[inline]
    pub fn apply(self, a: i64, b: i64) -> Result<i64, EvalError> {
        use EvalError::{DivisionByZero, Overflow};
        let nonzero = if b == 0 { Err(DivisionByZero) } else { Ok(b) };
        match self {
            Self::Add => a.checked_add(b).ok_or(Overflow),
            Self::Sub => a.checked_sub(b).ok_or(Overflow),
            Self::Mul => a.checked_mul(b).ok_or(Overflow),
            Self::Div => a.checked_div(nonzero?).ok_or(Overflow),
            Self::Rem => a.checked_rem(nonzero?).ok_or(Overflow),
            Self::BitAnd => Ok(a & b),
            Self::BitOr => Ok(a | b),
            Self::BitXor => Ok(a ^ b),
            Self::Shl => shift_left(a, b),
            Self::Shr => shift_right(a, b),
            Self::Eq => Ok((a == b).into()),
            Self::Ne => Ok((a != b).into()),
            Self::Lt => Ok((a < b).into()),
            Self::Le => Ok((a <= b).into()),
            Self::Gt => Ok((a > b).into()),
            Self::Ge => Ok((a >= b).into()),
            Self::And => Ok((a != 0 && b != 0).into()),
            Self::Or => Ok((a != 0 || b != 0).into()),
        }
    }
}

fn shift_left(a: i64, b: i64) -> Result<i64, EvalError> {
    let by = u32::try_from(b).ok().filter(|by| *by < 63);
    let factor = by.map(|by| 1i64 << by);
    factor.and_then(|f| a.checked_mul(f)).ok_or(EvalError::Overflow)
}

fn shift_right(a: i64, b: i64) -> Result<i64, EvalError> {
    let by = u32::try_from(b).ok().filter(|by| *by < 64);
    by.map(|by| a >> by).ok_or(EvalError::Overflow)
}

/// An error of the checked program while it computes a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EvalError {
    /// Division or remainder by zero.
    DivisionByZero,
    /// A result outside the 64-bit integers, or a shift by a nonsensical amount.
    Overflow,
    /// An array index outside `0..len`.
    OutOfBounds {
        /// The index.
        index: i64,
        /// The number of elements.
        len: u32,
    },
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Overflow => f.write_str("integer overflow"),
            Self::OutOfBounds { index, len } => {
                write!(f, "index {index} is outside an array of {len} elements")
            }
        }
    }
}

impl std::error::Error for EvalError {}

impl<V> Expr<V> {
    /// The expression `op(left, right)`.
    pub fn binary(op: BinOp, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// The expression `op(arg)`.
    pub fn unary(op: UnOp, arg: Self) -> Self {
        Self::Unary(op, Box::new(arg))
    }

    /// Evaluates with `lookup` giving the variables' values.
    #[inline]
    pub fn eval(&self, lookup: &mut impl FnMut(&V) -> Result<i64, EvalError>) -> Result<i64, EvalError> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Var(var) => lookup(var),
            Self::Unary(UnOp::Neg, arg) => arg.eval(lookup)?.checked_neg().ok_or(EvalError::Overflow),
            Self::Unary(UnOp::Not, arg) => Ok((arg.eval(lookup)? == 0).into()),
            Self::Binary(BinOp::And, left, right) => Ok((left.eval(lookup)? != 0 && right.eval(lookup)? != 0).into()),
            Self::Binary(BinOp::Or, left, right) => Ok((left.eval(lookup)? != 0 || right.eval(lookup)? != 0).into()),
            Self::Binary(op, left, right) => op.apply(left.eval(lookup)?, right.eval(lookup)?),
        }
    }

    /// Calls `visit` on every variable, left to right.
    pub fn for_each_var<'a>(&'a self, visit: &mut impl FnMut(&'a V)) {
        match self {
            Self::Const(_) => {}
            Self::Var(var) => visit(var),
            Self::Unary(_, arg) => arg.for_each_var(visit),
            Self::Binary(_, left, right) => {
                left.for_each_var(visit);
                right.for_each_var(visit);
            }
        }
    }

    /// Calls `visit` on every constant, left to right.
    pub fn for_each_const(&self, visit: &mut impl FnMut(i64)) {
        match self {
            Self::Const(value) => visit(*value),
            Self::Var(_) => {}
            Self::Unary(_, arg) => arg.for_each_const(visit),
            Self::Binary(_, left, right) => {
                left.for_each_const(visit);
                right.for_each_const(visit);
            }
        }
    }
}

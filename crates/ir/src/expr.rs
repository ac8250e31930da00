//! Expressions over any kind of variable, and their one evaluation.
//!
//! Integers are 128 bits wide and never wrap: an overflow, a division by zero or an index out of range is an
//! [`EvalError`], which engines report as an error of the checked program. A value of a machine's integer type is its
//! mathematical number, also for unsigned types of 64 bits, and [`UNDEFINED`] is outside of every such type.
//! Truth values are the integers 0 and 1; any other non-zero integer counts as true.
//! `&&` and `||` evaluate their right side only when the left side does not decide.

use std::fmt;

/// An expression whose variables are of type `V`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr<V> {
    /// A constant.
    Const(i128),
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
    /// The value itself; [`UNDEFINED`] is an error.
    Defined,
    /// The word that a pointer points to: its address divided by [`WORD`]. Null and addresses between words are errors.
    Target,
    /// The value modulo 2 to the power of `bits`, in the range of that integer type.
    Wrap(IntType),
    /// The value itself; one outside the range of that integer type is an overflow.
    Fit(IntType),
}

/// An integer type of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntType {
    /// Its width, 1 to 64.
    pub bits: u8,
    /// Whether it has negative values.
    pub signed: bool,
}

impl IntType {
    /// Whether it is a type: its width is one of 1 to 64.
    pub fn is_valid(self) -> bool {
        (1..=64).contains(&self.bits)
    }

    /// The type with this spelling: `i8`, `u32`.
    fn from_word(word: &str) -> Option<Self> {
        let (bits, signed) = match word.strip_prefix('i') {
            Some(bits) => (bits, true),
            None => (word.strip_prefix('u')?, false),
        };
        Some(Self { bits: bits.parse().ok()?, signed })
    }

    /// Brings a value into the type's range, by its lowest bits.
    #[inline]
    pub fn wrap(self, value: i128) -> i128 {
        let unused = 128 - u32::from(self.bits);
        match self.signed {
            true => value << unused >> unused,
            false => ((value as u128) << unused >> unused) as i128,
        }
    }
}

impl fmt::Display for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

/// The content of memory and registers that nobody has written, in languages that have such a thing. No computation on values of
/// machine types comes near it: their sums, products and shifts have fewer than 128 bits.
pub const UNDEFINED: i128 = i128::MIN;

/// The distance between the addresses of neighbouring words, so that pointers have low bits to spare.
pub const WORD: i128 = 8;

impl UnOp {
    /// The operator's spelling: `-`, `!`, or a word for those that no source language has: `defined`, `wrap_u32`.
    pub fn word(self) -> String {
        match self {
            Self::Neg => "-".into(),
            Self::Not => "!".into(),
            Self::Defined => "defined".into(),
            Self::Target => "target".into(),
            Self::Wrap(ty) => format!("wrap_{ty}"),
            Self::Fit(ty) => format!("fit_{ty}"),
        }
    }

    /// The operator with this spelling, if it is one that is a word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "defined" => Some(Self::Defined),
            "target" => Some(Self::Target),
            _ => {
                let (operator, ty) = word.split_once('_')?;
                let ty = IntType::from_word(ty)?;
                match operator {
                    "wrap" => Some(Self::Wrap(ty)),
                    "fit" => Some(Self::Fit(ty)),
                    _ => None,
                }
            }
        }
    }

    /// Applies the operator.
    #[inline]
    pub fn apply(self, value: i128) -> Result<i128, EvalError> {
        match self {
            Self::Neg => value.checked_neg().ok_or(EvalError::Overflow),
            Self::Not => Ok((value == 0).into()),
            Self::Defined => (value != UNDEFINED).then_some(value).ok_or(EvalError::Undefined),
            Self::Target => target(value),
            Self::Wrap(ty) => Ok(ty.wrap(value)),
            Self::Fit(ty) => (ty.wrap(value) == value).then_some(value).ok_or(EvalError::Overflow),
        }
    }
}

fn target(pointer: i128) -> Result<i128, EvalError> {
    match pointer {
        UNDEFINED => Err(EvalError::Undefined),
        0 => Err(EvalError::NullPointer),
        _ if pointer < 0 || pointer % WORD != 0 => Err(EvalError::BadPointer { address: pointer }),
        _ => Ok(pointer / WORD),
    }
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
    pub fn apply(self, a: i128, b: i128) -> Result<i128, EvalError> {
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

fn shift_left(a: i128, b: i128) -> Result<i128, EvalError> {
    let by = u32::try_from(b).ok().filter(|by| *by < 127);
    let factor = by.map(|by| 1i128 << by);
    factor.and_then(|f| a.checked_mul(f)).ok_or(EvalError::Overflow)
}

fn shift_right(a: i128, b: i128) -> Result<i128, EvalError> {
    let by = u32::try_from(b).ok().filter(|by| *by < 128);
    by.map(|by| a >> by).ok_or(EvalError::Overflow)
}

/// An error of the checked program while it computes a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EvalError {
    /// Division or remainder by zero.
    DivisionByZero,
    /// A result outside the range of its type, or a shift by a nonsensical amount.
    Overflow,
    /// An array index outside `0..len`.
    OutOfBounds {
        /// The index.
        index: i128,
        /// The number of elements.
        len: u32,
    },
    /// A value that nobody has written is used.
    Undefined,
    /// An access through the null pointer.
    NullPointer,
    /// An access through a pointer to nothing: outside every object, or between two words.
    BadPointer {
        /// The address.
        address: i128,
    },
    /// An access to an object that has been freed.
    Freed,
    /// An object is freed that has been freed.
    DoubleFree,
    /// What is freed is not the start of an allocated object.
    NotAllocated,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Overflow => f.write_str("integer overflow"),
            Self::OutOfBounds { index, len } => {
                write!(f, "index {index} is outside an array of {len} elements")
            }
            Self::Undefined => f.write_str("use of an undefined value"),
            Self::NullPointer => f.write_str("access through a null pointer"),
            Self::BadPointer { address } => write!(f, "access through a pointer to nothing (address {address})"),
            Self::Freed => f.write_str("access to freed memory"),
            Self::DoubleFree => f.write_str("double free"),
            Self::NotAllocated => f.write_str("freeing what was not allocated"),
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
    pub fn eval(&self, lookup: &mut impl FnMut(&V) -> Result<i128, EvalError>) -> Result<i128, EvalError> {
        self.evaluate(lookup)
    }

    /// Evaluates with `lookup` giving the variables' values, or what keeps it from doing so.
    #[inline]
    pub fn evaluate<E: From<EvalError>>(&self, lookup: &mut impl FnMut(&V) -> Result<i128, E>) -> Result<i128, E> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Var(var) => lookup(var),
            Self::Unary(op, arg) => Ok(op.apply(arg.evaluate(lookup)?)?),
            Self::Binary(BinOp::And, left, right) => {
                Ok((left.evaluate(lookup)? != 0 && right.evaluate(lookup)? != 0).into())
            }
            Self::Binary(BinOp::Or, left, right) => {
                Ok((left.evaluate(lookup)? != 0 || right.evaluate(lookup)? != 0).into())
            }
            Self::Binary(op, left, right) => Ok(op.apply(left.evaluate(lookup)?, right.evaluate(lookup)?)?),
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

    /// Whether this operator occurs in it.
    pub fn applies(&self, op: UnOp) -> bool {
        match self {
            Self::Const(_) | Self::Var(_) => false,
            Self::Unary(own, arg) => *own == op || arg.applies(op),
            Self::Binary(_, left, right) => left.applies(op) || right.applies(op),
        }
    }

    /// Calls `visit` on every constant, left to right.
    pub fn for_each_const(&self, visit: &mut impl FnMut(i128)) {
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

    /// Calls `visit` on every constant, left to right, to be changed.
    pub fn for_each_const_mut(&mut self, visit: &mut impl FnMut(&mut i128)) {
        match self {
            Self::Const(value) => visit(value),
            Self::Var(_) => {}
            Self::Unary(_, arg) => arg.for_each_const_mut(visit),
            Self::Binary(_, left, right) => {
                left.for_each_const_mut(visit);
                right.for_each_const_mut(visit);
            }
        }
    }
}

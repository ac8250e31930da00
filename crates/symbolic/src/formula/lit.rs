//! Literals: a propositional variable or its negation.
//!
//! Variable 0 is the constant: [`TRUE`] is its positive literal, so that constants need no case of their own in clauses.

use std::fmt;
use std::ops::Not;

/// A literal: twice the variable's number, plus one if negated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(pub u32);

/// The literal that always holds.
pub const TRUE: Lit = Lit(0);
/// The literal that never holds.
pub const FALSE: Lit = Lit(1);

impl Lit {
    /// The positive literal of a variable.
    pub fn positive(var: u32) -> Self {
        Self(var << 1)
    }

    /// The variable's number.
    pub fn var(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is negated.
    pub fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// Its position in a table with two entries for each variable.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// As the number that DIMACS files use.
    pub fn dimacs(self) -> i128 {
        let var = i128::from(self.var()) + 1;
        if self.is_negative() { -var } else { var }
    }
}

impl Not for Lit {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Self {
        if value { TRUE } else { FALSE }
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negative() { "!" } else { "" }, self.var())
    }
}

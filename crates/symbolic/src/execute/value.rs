//! Symbolic values: bit vectors as wide as their range needs.
//!
//! A [`Value`] is a signed number in two's complement whose last bit is the sign, a literal that says whether it is `UNDEFINED`, and a
//! range. Bits that are the same for all values of the range are constants, so a pointer to one of six objects costs three variables.
//!
//! **Invariant:** where the value is `UNDEFINED` all of its bits are 0, so that two values are equal exactly when flags and bits
//! are. Where the program does not get to compute the value (its guard is false) bits and flag mean nothing.

use std::rc::Rc;

use cyrano_ir::UNDEFINED;

use crate::execute::range::Range;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A symbolic value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    pub(crate) bits: Rc<[Lit]>,
    pub(crate) undefined: Lit,
    pub(crate) range: Rc<Range>,
}

impl Value {
    /// A number.
    pub(crate) fn constant(value: i128) -> Self {
        let range = Range::one(value);
        let bits = shape(&range).into_iter().map(|bit| bit.unwrap_or(FALSE)).collect();
        Self { bits, undefined: (value == UNDEFINED).into(), range: Rc::new(range) }
    }

    /// What nothing computes: a placeholder where no value is possible.
    pub(crate) fn nothing() -> Self {
        Self { bits: [FALSE].into(), undefined: FALSE, range: Rc::new(Range::none()) }
    }

    /// 1 or 0.
    pub(crate) fn truth(lit: Lit) -> Self {
        match lit {
            TRUE => Self::constant(1),
            FALSE => Self::constant(0),
            _ => Self { bits: [lit, FALSE].into(), undefined: FALSE, range: Rc::new(Range::Set(vec![0, 1])) },
        }
    }

    /// The number, if it is the same in all executions.
    pub(crate) fn single(&self) -> Option<i128> {
        self.range.single()
    }

    /// The bit at this position, of a number of any width.
    pub(crate) fn bit(&self, at: usize) -> Lit {
        self.bits.get(at).copied().unwrap_or(self.bits[self.bits.len() - 1])
    }

    /// The number in an assignment.
    pub(crate) fn read(&self, value: impl Fn(Lit) -> bool) -> i128 {
        if value(self.undefined) {
            return UNDEFINED;
        }
        let bit = |at: usize| i128::from(value(self.bit(at))) << at;
        (0..128).fold(0, |number, at| number | bit(at))
    }
}

/// How many bits two's complement needs for all numbers from `lo` to `hi`.
pub(crate) fn width(lo: i128, hi: i128) -> usize {
    let bits = |value: i128| 129 - (if value < 0 { !value } else { value }).leading_zeros() as usize;
    bits(lo).max(bits(hi))
}

/// The bits of a value with this range, as far as they are constant.
fn shape(range: &Range) -> Vec<Option<Lit>> {
    let (lo, hi) = range.bounds();
    let width = width(lo, hi);
    let Some(values) = range.values() else { return vec![None; width] };
    let number = |value: i128| if value == UNDEFINED { 0 } else { value };
    let bit = |value: i128, at: usize| number(value) >> at & 1 == 1;
    let constant = |at: usize| {
        let first = bit(*values.first()?, at);
        values.iter().all(|value| bit(*value, at) == first).then_some(Lit::from(first))
    };
    (0..width).map(constant).collect()
}

impl Gates {
    /// An unknown value of this range.
    pub(crate) fn unknown(&mut self, range: Range) -> Value {
        let bits = shape(&range).into_iter().map(|bit| bit.unwrap_or_else(|| self.fresh())).collect();
        let undefined = match range.may_be_undefined() {
            false => FALSE,
            true if range.single().is_some() => TRUE,
            true => self.fresh(),
        };
        Value { bits, undefined, range: Rc::new(range) }
    }

    /// A value with these bits, about whose range this is known.
    pub(crate) fn shaped(&mut self, bits: &[Lit], undefined: Lit, range: Range) -> Value {
        let sign = bits[bits.len() - 1];
        let bit = |(at, known): (usize, Option<Lit>)| known.unwrap_or(bits.get(at).copied().unwrap_or(sign));
        let undefined = match range.may_be_undefined() {
            false => FALSE,
            true if range.single().is_some() => TRUE,
            true => undefined,
        };
        let mut bits: Vec<Lit> = shape(&range).into_iter().enumerate().map(bit).collect();
        while bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2] {
            bits.pop();
        }
        if bits.iter().all(|bit| *bit == TRUE || *bit == FALSE) && undefined == FALSE {
            let number = Value { bits: bits.into(), undefined, range: Rc::new(Range::all()) }.read(|lit| lit == TRUE);
            return Value::constant(number);
        }
        Value { bits: bits.into(), undefined, range: Rc::new(range) }
    }

    /// A value from the bits of a number, which may be the number that stands for `UNDEFINED`.
    pub(crate) fn number(&mut self, mut bits: Vec<Lit>, range: Range) -> Value {
        if !range.may_be_undefined() {
            return self.shaped(&bits, FALSE, range);
        }
        let sign = bits[bits.len() - 1];
        bits.resize(128, sign);
        let zeros = self.any(bits[..127].iter().copied());
        let undefined = self.and(bits[127], !zeros);
        bits[127] = self.and(bits[127], zeros);
        self.shaped(&bits, undefined, range)
    }

    /// The bits of the value as a number, `UNDEFINED` included.
    pub(crate) fn raw(&mut self, value: &Value) -> Vec<Lit> {
        if value.undefined == FALSE {
            return value.bits.to_vec();
        }
        let mut bits: Vec<Lit> = (0..128).map(|at| value.bit(at)).collect();
        bits[127] = self.or(bits[127], value.undefined);
        bits
    }

    /// Whether two values are equal.
    pub(crate) fn equal(&mut self, a: &Value, b: &Value) -> Lit {
        if a.range.is_disjoint(&b.range) {
            return FALSE;
        }
        if let Some(value) = a.single() {
            return self.equals(b, value);
        }
        if let Some(value) = b.single() {
            return self.equals(a, value);
        }
        let mut same = !self.xor(a.undefined, b.undefined);
        for at in 0..a.bits.len().max(b.bits.len()) {
            let differs = self.xor(a.bit(at), b.bit(at));
            same = self.and(same, !differs);
        }
        same
    }

    /// Whether a value is this number.
    pub(crate) fn equals(&mut self, value: &Value, number: i128) -> Lit {
        if !value.range.contains(number) {
            return FALSE;
        }
        if value.single() == Some(number) {
            return TRUE;
        }
        if number == UNDEFINED {
            return value.undefined;
        }
        let lits = (0..value.bits.len()).map(|at| if number >> at & 1 == 1 { value.bits[at] } else { !value.bits[at] });
        let mut lits: Vec<Lit> = lits.collect();
        lits.push(!value.undefined);
        lits.sort_unstable();
        self.all(lits)
    }

    /// Whether a value counts as true.
    pub(crate) fn is_true(&mut self, value: &Value) -> Lit {
        !self.equals(value, 0)
    }

    /// One of two values.
    pub(crate) fn choose(&mut self, cond: Lit, then: &Value, other: &Value) -> Value {
        if cond == TRUE || then == other {
            return then.clone();
        }
        if cond == FALSE {
            return other.clone();
        }
        let range = then.range.join(&other.range);
        let width = then.bits.len().max(other.bits.len());
        let bits: Vec<Lit> = (0..width).map(|at| self.ite(cond, then.bit(at), other.bit(at))).collect();
        let undefined = self.ite(cond, then.undefined, other.undefined);
        self.shaped(&bits, undefined, range)
    }

    /// Demands that two values are equal where all of `unless` fail.
    pub(crate) fn link(&mut self, unless: &[Lit], a: &Value, b: &Value) {
        let mut clause = unless.to_vec();
        let mut same = |gates: &mut Self, x: Lit, y: Lit| {
            if x == y {
                return;
            }
            for (x, y) in [(x, !y), (!x, y)] {
                clause.extend([x, y]);
                gates.clause(&clause);
                clause.truncate(unless.len());
            }
        };
        same(self, a.undefined, b.undefined);
        for at in 0..a.bits.len().max(b.bits.len()) {
            same(self, a.bit(at), b.bit(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_pointers_need_few_variables() {
        let mut gates = Gates::new(false);
        let before = gates.formula.vars;
        let value = gates.unknown(Range::Set(vec![0, 32, 64, 96]));
        assert_eq!(gates.formula.vars - before, 2);
        assert_eq!(gates.equals(&value, 16), FALSE);
        let constant = Value::constant(-5);
        assert_eq!(constant.read(|lit| lit == TRUE), -5);
        assert_eq!(Value::constant(UNDEFINED).read(|lit| lit == TRUE), UNDEFINED);
    }
}

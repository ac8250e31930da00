//! Arithmetic on symbolic values: each operator as a circuit, and the literal that says that it has no result.
//!
//! The meaning is that of [`BinOp::apply`] and [`UnOp::apply`]. Where the ranges show that a computation cannot go wrong, the literal is
//! [`FALSE`] and costs nothing.

use cyrano_ir::{BinOp, UnOp};

use crate::execute::range::Range;
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A value, and whether its computation goes wrong.
pub(crate) type Computed = (Value, Lit);

/// The most pairs of values that are tried to rule an error out.
const PAIRS: usize = 4096;

impl Gates {
    /// Applies an operator.
    pub(crate) fn unary(&mut self, op: UnOp, arg: &Value) -> Computed {
        let range = arg.range.unary(op);
        let wrong = self.unary_error(op, arg);
        if let Some(value) = range.single() {
            return (Value::constant(value), wrong);
        }
        if range == Range::none() {
            return (Value::nothing(), wrong);
        }
        let value = match op {
            UnOp::Defined | UnOp::Fit(_) => self.shaped(&arg.bits, arg.undefined, range),
            UnOp::Not => {
                let holds = self.is_true(arg);
                Value::truth(!holds)
            }
            UnOp::Neg => {
                let bits = self.raw(arg);
                let negated = self.negate(&bits);
                self.number(negated, range)
            }
            UnOp::Target => {
                let bits: Vec<Lit> = arg.bits.iter().skip(3).copied().collect();
                let bits = if bits.is_empty() { vec![arg.bit(128)] } else { bits };
                self.shaped(&bits, FALSE, range)
            }
            UnOp::Wrap(ty) => {
                let bits = self.raw(arg);
                let sign = bits[bits.len() - 1];
                let mut low: Vec<Lit> =
                    (0..usize::from(ty.bits)).map(|at| bits.get(at).copied().unwrap_or(sign)).collect();
                if !ty.signed {
                    low.push(FALSE);
                }
                self.number(low, range)
            }
        };
        (value, wrong)
    }

    fn unary_error(&mut self, op: UnOp, arg: &Value) -> Lit {
        if let Some(values) = arg.range.values() {
            let wrong: Vec<i128> = values.iter().copied().filter(|value| op.apply(*value).is_err()).collect();
            if wrong.len() == values.len() {
                return TRUE;
            }
            let wrong: Vec<Lit> = wrong.into_iter().map(|value| self.equals(arg, value)).collect();
            return self.any(wrong);
        }
        match op {
            UnOp::Not | UnOp::Wrap(_) => FALSE,
            UnOp::Defined | UnOp::Neg => arg.undefined,
            UnOp::Target => {
                let null = self.equals(arg, 0);
                let low = [arg.bit(0), arg.bit(1), arg.bit(2), arg.bit(128), arg.undefined, null];
                self.any(low)
            }
            UnOp::Fit(ty) => {
                let (wrapped, _) = self.unary(UnOp::Wrap(ty), arg);
                !self.equal(&wrapped, arg)
            }
        }
    }

    /// Applies an operator; both operands have been computed, so `&&` and `||` are plain functions here.
    pub(crate) fn binary(&mut self, op: BinOp, a: &Value, b: &Value) -> Computed {
        let range = a.range.binary(op, &b.range);
        let possible = may_fail(op, a, b);
        if range == Range::none() {
            return (Value::nothing(), TRUE);
        }
        if let (Some(value), false) = (range.single(), possible) {
            return (Value::constant(value), FALSE);
        }
        let (value, wrong) = match op {
            BinOp::Add => self.sum(a, b, false, range),
            BinOp::Sub => self.sum(a, b, true, range),
            BinOp::Mul => self.product(a, b, range),
            BinOp::Div | BinOp::Rem => self.quotient(op, a, b, range),
            BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => (self.bitwise(op, a, b, range), FALSE),
            BinOp::Shl => self.shift_left(a, b, range),
            BinOp::Shr => self.shift_right(a, b, range),
            _ => (Value::truth(self.relation(op, a, b)), FALSE),
        };
        (value, if possible { wrong } else { FALSE })
    }

    fn relation(&mut self, op: BinOp, a: &Value, b: &Value) -> Lit {
        match op {
            BinOp::Eq => self.equal(a, b),
            BinOp::Ne => !self.equal(a, b),
            BinOp::Lt => self.less(a, b),
            BinOp::Gt => self.less(b, a),
            BinOp::Le => !self.less(b, a),
            BinOp::Ge => !self.less(a, b),
            BinOp::And => {
                let (a, b) = (self.is_true(a), self.is_true(b));
                self.and(a, b)
            }
            _ => {
                let (a, b) = (self.is_true(a), self.is_true(b));
                self.or(a, b)
            }
        }
    }

    /// Whether `a < b`, from the lowest bit up: the highest bit that differs decides, the sign the other way round.
    fn less(&mut self, a: &Value, b: &Value) -> Lit {
        let (a, b) = (self.raw(a), self.raw(b));
        let width = a.len().max(b.len());
        let (a, b) = (extended(&a, width), extended(&b, width));
        let mut less = FALSE;
        for at in 0..width {
            let differs = self.xor(a[at], b[at]);
            let decides = if at + 1 == width { a[at] } else { b[at] };
            less = self.ite(differs, decides, less);
        }
        less
    }

    /// The sum of two numbers of one width and a carry, without the carry out.
    fn add_bits(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Vec<Lit> {
        let mut sum = Vec::with_capacity(a.len());
        for (x, y) in a.iter().zip(b) {
            let half = self.xor(*x, *y);
            sum.push(self.xor(half, carry));
            carry = self.ite(half, carry, *x);
        }
        sum
    }

    /// The negated number, one bit wider.
    fn negate(&mut self, bits: &[Lit]) -> Vec<Lit> {
        let wide: Vec<Lit> = extended(bits, bits.len() + 1).into_iter().map(|bit| !bit).collect();
        let zeros = vec![FALSE; wide.len()];
        self.add_bits(&wide, &zeros, TRUE)
    }

    fn sum(&mut self, a: &Value, b: &Value, minus: bool, range: Range) -> Computed {
        let (a, b) = (self.raw(a), self.raw(b));
        let width = a.len().max(b.len()) + 1;
        let (a, mut b) = (extended(&a, width), extended(&b, width));
        if minus {
            b.iter_mut().for_each(|bit| *bit = !*bit);
        }
        let bits = self.add_bits(&a, &b, minus.into());
        let wrong = self.beyond(&bits);
        (self.number(cut(bits), range), wrong)
    }

    fn product(&mut self, a: &Value, b: &Value, range: Range) -> Computed {
        let (a, b) = (self.raw(a), self.raw(b));
        let width = a.len() + b.len();
        let (a, b) = (extended(&a, width), extended(&b, width));
        let mut total = vec![FALSE; width];
        for (by, bit) in b.iter().enumerate() {
            if *bit == FALSE {
                continue;
            }
            let shifted = (0..width).map(|at| if at < by { FALSE } else { a[at - by] });
            let shifted: Vec<Lit> = shifted.collect();
            let part: Vec<Lit> = shifted.into_iter().map(|lit| self.and(lit, *bit)).collect();
            total = self.add_bits(&total, &part, FALSE);
        }
        let wrong = self.beyond(&total);
        (self.number(cut(total), range), wrong)
    }

    /// Whether a wide number does not fit into 128 bits.
    fn beyond(&mut self, bits: &[Lit]) -> Lit {
        let Some(high) = bits.get(127..) else { return FALSE };
        let differs: Vec<Lit> = high.windows(2).map(|pair| self.xor(pair[0], pair[1])).collect();
        self.any(differs)
    }

    fn magnitude(&mut self, bits: &[Lit]) -> Vec<Lit> {
        let sign = bits[bits.len() - 1];
        let negated = self.negate(bits);
        (0..bits.len()).map(|at| self.ite(sign, negated[at], bits[at])).collect()
    }

    /// Division towards zero, on magnitudes, bit by bit from the highest.
    fn quotient(&mut self, op: BinOp, a: &Value, b: &Value, range: Range) -> Computed {
        let (a, b) = (self.raw(a), self.raw(b));
        let (a_sign, b_sign) = (a[a.len() - 1], b[b.len() - 1]);
        let (dividend, divisor) = (self.magnitude(&a), self.magnitude(&b));
        let width = divisor.len() + 1;
        let mut divisor = divisor;
        divisor.push(FALSE);
        let inverted: Vec<Lit> = divisor.iter().map(|bit| !*bit).collect();
        let mut rest = vec![FALSE; width];
        let mut quotient = vec![FALSE; dividend.len()];
        for at in (0..dividend.len()).rev() {
            rest.insert(0, dividend[at]);
            rest.pop();
            let less = self.add_bits(&rest, &inverted, TRUE);
            let fits = !less[width - 1];
            quotient[at] = fits;
            rest = (0..width).map(|at| self.ite(fits, less[at], rest[at])).collect();
        }
        let zero = !self.any(b.iter().copied());
        quotient.push(FALSE);
        rest.push(FALSE);
        let (bits, sign) = match op {
            BinOp::Div => (quotient, self.xor(a_sign, b_sign)),
            _ => (rest, a_sign),
        };
        let negated = self.negate(&bits);
        let bits = extended(&bits, negated.len());
        let signed: Vec<Lit> = (0..bits.len()).map(|at| self.ite(sign, negated[at], bits[at])).collect();
        let minimum = self.is_minimum(&a);
        let minus_one = self.all(b.iter().copied());
        let overflow = self.and(minimum, minus_one);
        let wrong = self.or(zero, overflow);
        (self.number(cut(signed), range), wrong)
    }

    /// Whether a number is the least of 128 bits.
    fn is_minimum(&mut self, bits: &[Lit]) -> Lit {
        if bits.len() < 128 {
            return FALSE;
        }
        let others = self.any(bits[..127].iter().copied());
        self.and(bits[127], !others)
    }

    fn bitwise(&mut self, op: BinOp, a: &Value, b: &Value, range: Range) -> Value {
        let (a, b) = (self.raw(a), self.raw(b));
        let width = a.len().max(b.len());
        let (a, b) = (extended(&a, width), extended(&b, width));
        let bits = (0..width).map(|at| match op {
            BinOp::BitAnd => self.and(a[at], b[at]),
            BinOp::BitOr => self.or(a[at], b[at]),
            _ => self.xor(a[at], b[at]),
        });
        let bits = bits.collect();
        self.number(bits, range)
    }

    /// Whether a shift is by less than nothing or by `limit` and more.
    fn odd_amount(&mut self, by: &Value, limit: i128) -> Lit {
        let limit = Value::constant(limit);
        let small = self.less(by, &limit);
        let negative = self.less(by, &Value::constant(0));
        self.or(!small, negative)
    }

    fn shift_left(&mut self, a: &Value, by: &Value, range: Range) -> Computed {
        let (_, most) = by.range.bounds();
        let most = most.clamp(0, 126) as usize;
        let bits = self.raw(a);
        let mut bits = extended(&bits, (bits.len() + most).max(129));
        for (stage, shift) in [1usize, 2, 4, 8, 16, 32, 64].into_iter().enumerate() {
            let amount = by.bit(stage);
            let old = bits.clone();
            for at in 0..bits.len() {
                let from = if at >= shift { old[at - shift] } else { FALSE };
                bits[at] = self.ite(amount, from, old[at]);
            }
        }
        let odd = self.odd_amount(by, 127);
        let beyond = self.beyond(&bits);
        let wrong = self.or(odd, beyond);
        (self.number(cut(bits), range), wrong)
    }

    fn shift_right(&mut self, a: &Value, by: &Value, range: Range) -> Computed {
        let mut bits = self.raw(a);
        let sign = bits[bits.len() - 1];
        for (stage, shift) in [1usize, 2, 4, 8, 16, 32, 64].into_iter().enumerate() {
            let amount = by.bit(stage);
            let old = bits.clone();
            for at in 0..bits.len() {
                let from = old.get(at + shift).copied().unwrap_or(sign);
                bits[at] = self.ite(amount, from, old[at]);
            }
        }
        let wrong = self.odd_amount(by, 128);
        (self.number(bits, range), wrong)
    }
}

fn extended(bits: &[Lit], width: usize) -> Vec<Lit> {
    let sign = bits[bits.len() - 1];
    (0..width).map(|at| bits.get(at).copied().unwrap_or(sign)).collect()
}

/// The lowest 128 bits.
fn cut(mut bits: Vec<Lit>) -> Vec<Lit> {
    bits.truncate(128);
    bits
}

/// Whether some pair of values has no result, as far as ranges tell.
fn may_fail(op: BinOp, a: &Value, b: &Value) -> bool {
    if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr) {
        return false;
    }
    if let (Some(x), Some(y)) = (a.range.values(), b.range.values())
        && x.len() * y.len() <= PAIRS
    {
        return x.iter().any(|x| y.iter().any(|y| op.apply(*x, *y).is_err()));
    }
    let undefined = a.range.may_be_undefined() || b.range.may_be_undefined();
    let corners = |range: &Range| [range.bounds().0, range.bounds().1];
    let wrong = |x: i128| corners(&b.range).into_iter().any(|y| op.apply(x, y).is_err());
    match op {
        // These are monotone in each operand, so that the corners decide.
        BinOp::Add | BinOp::Sub | BinOp::Mul => undefined || corners(&a.range).into_iter().any(wrong),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_ir::{IntType, UNDEFINED};

    const NUMBERS: [i128; 19] = [
        0,
        1,
        2,
        3,
        7,
        8,
        62,
        63,
        64,
        126,
        127,
        -1,
        -2,
        -9,
        1 << 63,
        (1 << 64) - 1,
        i128::MAX,
        UNDEFINED,
        i128::MIN + 1,
    ];

    /// Evaluates a gate by its definition: circuits over constants fold to constants, so range tricks are switched off by a wide range.
    fn wide(gates: &mut Gates, number: i128) -> Value {
        let constant = Value::constant(number);
        let bits: Vec<Lit> = (0..128).map(|at| constant.bit(at)).collect();
        let _ = gates;
        Value { bits: bits.into(), undefined: constant.undefined, range: std::rc::Rc::new(Range::all()) }
    }

    #[test]
    fn circuits_compute_what_the_operators_say() {
        let mut gates = Gates::new(false);
        for (op, symbol) in BinOp::ALL {
            for (x, y) in NUMBERS.into_iter().flat_map(|x| NUMBERS.map(|y| (x, y))) {
                let (a, b) = (wide(&mut gates, x), wide(&mut gates, y));
                let (value, wrong) = gates.binary(op, &a, &b);
                match op.apply(x, y) {
                    Ok(expected) => {
                        assert_eq!(wrong, FALSE, "{x} {symbol} {y} goes wrong");
                        assert_eq!(value.read(|lit| lit == TRUE), expected, "{x} {symbol} {y}");
                    }
                    Err(_) => assert_eq!(wrong, TRUE, "{x} {symbol} {y} does not go wrong"),
                }
            }
        }
    }

    #[test]
    fn unary_circuits_too() {
        let types =
            [(8, true), (8, false), (64, true), (64, false), (1, false)].map(|(bits, signed)| IntType { bits, signed });
        let mut ops = vec![UnOp::Neg, UnOp::Not, UnOp::Defined, UnOp::Target];
        ops.extend(types.into_iter().flat_map(|ty| [UnOp::Wrap(ty), UnOp::Fit(ty)]));
        let mut gates = Gates::new(false);
        for op in ops {
            for x in NUMBERS.into_iter().chain([16, 127, 128, 255, 256, -128, -129]) {
                let arg = wide(&mut gates, x);
                let (value, wrong) = gates.unary(op, &arg);
                match op.apply(x) {
                    Ok(expected) => {
                        assert_eq!(wrong, FALSE, "{} {x} goes wrong", op.word());
                        assert_eq!(value.read(|lit| lit == TRUE), expected, "{} {x}", op.word());
                    }
                    Err(_) => assert_eq!(wrong, TRUE, "{} {x} does not go wrong", op.word()),
                }
            }
        }
    }
}

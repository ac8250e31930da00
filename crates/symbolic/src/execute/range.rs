//! Ranges: which values a term or a word of memory may have (CheckFence, section 3.4).
//!
//! Up to [`LARGEST`] values are listed; more become an interval. `UNDEFINED` is a value like any other in a list and a flag beside
//! an interval.
//!
//! **Invariant:** every operation over-approximates.

use cyrano_ir::{BinOp, UNDEFINED, UnOp};

/// The most values that are listed.
const LARGEST: usize = 64;

/// The most pairs of values that are tried one by one.
const PAIRS: usize = 1024;

/// A set of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Range {
    /// These, in ascending order.
    Set(Vec<i128>),
    /// All from `lo` to `hi`, neither of which is undefined, and perhaps `UNDEFINED`.
    Span { lo: i128, hi: i128, undefined: bool },
}

impl Range {
    /// No value.
    pub(crate) fn none() -> Self {
        Self::Set(Vec::new())
    }

    /// One value.
    pub(crate) fn one(value: i128) -> Self {
        Self::Set(vec![value])
    }

    /// Every value.
    pub(crate) fn all() -> Self {
        Self::Span { lo: i128::MIN + 1, hi: i128::MAX, undefined: true }
    }

    /// These values.
    pub(crate) fn of(mut values: Vec<i128>) -> Self {
        values.sort_unstable();
        values.dedup();
        if values.len() <= LARGEST {
            return Self::Set(values);
        }
        let undefined = values.first() == Some(&UNDEFINED);
        let lo = values[usize::from(undefined)];
        Self::Span { lo, hi: values[values.len() - 1], undefined }
    }

    /// An interval whose least number may be the one that stands for `UNDEFINED`.
    pub(crate) fn span(lo: i128, hi: i128) -> Self {
        let undefined = lo == UNDEFINED;
        let (lo, hi) = (lo.max(UNDEFINED + 1), hi.max(UNDEFINED + 1));
        if hi.abs_diff(lo) < LARGEST as u128 && !undefined {
            return Self::Set((lo..=hi).collect());
        }
        Self::Span { lo, hi, undefined }
    }

    /// The values, if they are listed.
    pub(crate) fn values(&self) -> Option<&[i128]> {
        match self {
            Self::Set(values) => Some(values),
            Self::Span { .. } => None,
        }
    }

    /// The only value, if there is only one.
    pub(crate) fn single(&self) -> Option<i128> {
        match self.values()? {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// Whether the value may be undefined.
    pub(crate) fn may_be_undefined(&self) -> bool {
        match self {
            Self::Set(values) => values.first() == Some(&UNDEFINED),
            Self::Span { undefined, .. } => *undefined,
        }
    }

    /// The least and the greatest defined value; 0 and 0 if there is none.
    pub(crate) fn bounds(&self) -> (i128, i128) {
        match self {
            Self::Set(values) => {
                let defined = values.strip_prefix(&[UNDEFINED]).unwrap_or(values);
                (defined.first().copied().unwrap_or(0), defined.last().copied().unwrap_or(0))
            }
            Self::Span { lo, hi, .. } => (*lo, *hi),
        }
    }

    /// The bounds with `UNDEFINED` as the number it stands for.
    fn raw_bounds(&self) -> (i128, i128) {
        let (lo, hi) = self.bounds();
        (if self.may_be_undefined() { UNDEFINED } else { lo }, hi)
    }

    /// Whether this may be the value.
    pub(crate) fn contains(&self, value: i128) -> bool {
        match self {
            Self::Set(values) => values.binary_search(&value).is_ok(),
            Self::Span { undefined, .. } if value == UNDEFINED => *undefined,
            Self::Span { lo, hi, .. } => (*lo..=*hi).contains(&value),
        }
    }

    /// The values of both.
    pub(crate) fn join(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        if let (Self::Set(a), Self::Set(b)) = (self, other) {
            let mut values = a.clone();
            values.extend_from_slice(b);
            return Self::of(values);
        }
        if *self == Self::none() {
            return other.clone();
        }
        if *other == Self::none() {
            return self.clone();
        }
        let undefined = self.may_be_undefined() || other.may_be_undefined();
        let ((lo, hi), (other_lo, other_hi)) = (self.proper_bounds(other), other.proper_bounds(self));
        Self::Span { lo: lo.min(other_lo), hi: hi.max(other_hi), undefined }
    }

    /// The bounds; those of the other range if nothing here is defined.
    fn proper_bounds(&self, other: &Self) -> (i128, i128) {
        if *self == Self::one(UNDEFINED) { other.bounds() } else { self.bounds() }
    }

    /// Whether no value is in both.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(values), range) | (range, Self::Set(values)) => {
                values.iter().all(|value| !range.contains(*value))
            }
            (
                Self::Span { lo, hi, undefined },
                Self::Span { lo: other_lo, hi: other_hi, undefined: other_undefined },
            ) => (hi < other_lo || other_hi < lo) && !(*undefined && *other_undefined),
        }
    }

    /// The results of an operator, where it has one.
    pub(crate) fn unary(&self, op: UnOp) -> Self {
        if let Self::Set(values) = self {
            return Self::of(values.iter().filter_map(|value| op.apply(*value).ok()).collect());
        }
        let (lo, hi) = self.raw_bounds();
        match op {
            UnOp::Neg => Self::span(hi.saturating_neg(), lo.saturating_neg()),
            UnOp::Not => Self::Set(vec![0, 1]),
            UnOp::Defined => match self {
                Self::Span { lo, hi, .. } => Self::Span { lo: *lo, hi: *hi, undefined: false },
                Self::Set(_) => self.clone(),
            },
            UnOp::Target => Self::span(0, hi.max(0) / 8),
            UnOp::Wrap(ty) | UnOp::Fit(ty) => {
                let (least, greatest) = type_bounds(ty);
                let inside = least <= lo && hi <= greatest;
                match op {
                    _ if inside => self.clone(),
                    UnOp::Fit(_) => Self::span(lo.max(least), hi.min(greatest)),
                    _ => Self::span(least, greatest),
                }
            }
        }
    }

    /// The results of an operator, where it has one.
    pub(crate) fn binary(&self, op: BinOp, other: &Self) -> Self {
        if let (Self::Set(a), Self::Set(b)) = (self, other)
            && a.len() * b.len() <= PAIRS
        {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| op.apply(*x, *y)));
            return Self::of(pairs.filter_map(Result::ok).collect());
        }
        let ((a, b), (c, d)) = (self.raw_bounds(), other.raw_bounds());
        match op {
            BinOp::Add => Self::span(a.saturating_add(c), b.saturating_add(d)),
            BinOp::Sub => Self::span(a.saturating_sub(d), b.saturating_sub(c)),
            BinOp::Mul => {
                let products = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
                Self::span(least(&products), greatest(&products))
            }
            BinOp::Div => {
                let most = a.saturating_abs().max(b.saturating_abs());
                Self::span(if a >= 0 && c >= 0 { 0 } else { -most }, most)
            }
            BinOp::Rem => {
                let most = (c.saturating_abs().max(d.saturating_abs()) - 1)
                    .max(0)
                    .min(a.saturating_abs().max(b.saturating_abs()));
                Self::span(if a >= 0 { 0 } else { -most }, if b <= 0 { 0 } else { most })
            }
            BinOp::BitAnd if a >= 0 || c >= 0 => {
                let most = if a >= 0 && c >= 0 {
                    b.min(d)
                } else if a >= 0 {
                    b
                } else {
                    d
                };
                Self::span(0, most)
            }
            BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                let bits = [a, b, c, d].map(|value| 128 - (if value < 0 { !value } else { value }).leading_zeros());
                let most = bits.into_iter().max().unwrap_or(127);
                let hi = (u128::MAX >> (128 - most.max(1))) as i128;
                Self::span(if a >= 0 && c >= 0 { 0 } else { !hi }, hi)
            }
            BinOp::Shl => Self::span(i128::MIN, i128::MAX),
            BinOp::Shr => Self::span(a.min(0), b.max(0)),
            _ => Self::Set(vec![0, 1]),
        }
    }
}

fn least(values: &[i128]) -> i128 {
    values.iter().copied().min().unwrap_or(0)
}

fn greatest(values: &[i128]) -> i128 {
    values.iter().copied().max().unwrap_or(0)
}

/// The least and greatest value of a type, as values are kept.
pub(crate) fn type_bounds(ty: cyrano_ir::IntType) -> (i128, i128) {
    match ty.signed {
        true => (-(1i128 << (ty.bits - 1)), (1i128 << (ty.bits - 1)) - 1),
        false => (0, (1i128 << ty.bits) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_become_intervals_when_they_grow() {
        let many = Range::of((0..100).chain([UNDEFINED]).collect());
        assert_eq!(many, Range::Span { lo: 0, hi: 99, undefined: true });
        assert!(many.contains(UNDEFINED) && many.contains(50) && !many.contains(100));
        assert_eq!(many.unary(UnOp::Defined), Range::Span { lo: 0, hi: 99, undefined: false });
        assert_eq!(Range::one(3).join(&Range::one(UNDEFINED)).bounds(), (3, 3));
    }

    #[test]
    fn operators_cover_what_they_can_give() {
        let spans = [(-70, 5), (0, 100), (3, 90)].map(|(lo, hi)| Range::Span { lo, hi, undefined: false });
        for (op, _) in BinOp::ALL {
            for (a, b) in spans.iter().flat_map(|a| spans.iter().map(move |b| (a, b))) {
                let result = a.binary(op, b);
                for x in a.bounds().0..=a.bounds().1 {
                    for y in b.bounds().0..=b.bounds().1 {
                        let inside = op.apply(x, y).is_err() || op.apply(x, y).is_ok_and(|z| result.contains(z));
                        assert!(inside, "{x} {} {y} is not in {result:?}", op.symbol());
                    }
                }
            }
        }
    }
}

//! Whether computations take part in an [`Exchange`] of two threads, for all values that they may meet.

use std::ops::Deref;

use cyrano_ir::automorphisms::Exchange;
use cyrano_ir::{ArrayId, BinOp, Program, UnOp, WORD};

use crate::execute::range::Range;

/// The most pairs of values for which an operator is tried out.
const PAIRS: usize = 4096;

/// An exchange of two threads.
#[derive(Clone, Debug)]
pub(crate) struct Swap(Exchange);

impl Deref for Swap {
    type Target = Exchange;

    fn deref(&self) -> &Exchange {
        &self.0
    }
}

impl From<Exchange> for Swap {
    fn from(exchange: Exchange) -> Self {
        Self(exchange)
    }
}

impl Swap {
    /// Whether some value of the range changes.
    pub(crate) fn moves(&self, range: &Range) -> bool {
        if !self.pointers || self.moved.is_empty() {
            return false;
        }
        if let Some(values) = range.values() {
            return values.iter().any(|value| self.value(*value) != *value);
        }
        let (lo, hi) = range.bounds();
        self.moved.iter().any(|word| lo < (i128::from(*word) + 1) * WORD && i128::from(*word) * WORD <= hi)
    }

    /// Whether an operator commutes with the exchange, for all values of this range.
    pub(crate) fn keeps_unary(&self, op: UnOp, range: &Range) -> bool {
        if op == UnOp::Not || !self.moves(range) && !self.moves(&range.unary(op)) {
            return true;
        }
        let Some(values) = range.values() else { return false };
        let kept =
            |value: i128| op.apply(self.value(value)).ok() == op.apply(value).ok().map(|result| self.value(result));
        values.iter().all(|value| kept(*value))
    }

    /// The same for two ranges.
    pub(crate) fn keeps_binary(&self, op: BinOp, left: &Range, right: &Range) -> bool {
        let moves = self.moves(left) || self.moves(right);
        // A bijection keeps equality, and what moves is true before and after.
        let only_asks = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::And | BinOp::Or);
        if only_asks || !moves && !self.moves(&left.binary(op, right)) {
            return true;
        }
        let (Some(left), Some(right)) = (left.values(), right.values()) else { return false };
        let kept = |a: i128, b: i128| {
            let image = op.apply(self.value(a), self.value(b)).ok();
            image == op.apply(a, b).ok().map(|result| self.value(result))
        };
        left.len() * right.len() <= PAIRS && left.iter().all(|a| right.iter().all(|b| kept(*a, *b)))
    }

    /// Whether the word at some distance from a pointer moves with the pointer.
    pub(crate) fn keeps_target(&self, program: &Program, array: ArrayId, pointer: &Range, offset: i128) -> bool {
        if !self.moves(pointer) && !self.moves_words(program, array, &pointer.unary(UnOp::Target), offset) {
            return true;
        }
        let Some(values) = pointer.values() else { return false };
        let word = |pointer: i128| {
            let index = UnOp::Target.apply(pointer).ok()?.checked_add(offset)?;
            program.element(array, index).ok().map(|loc| loc.0)
        };
        values.iter().all(|value| word(self.value(*value)) == word(*value).map(|word| self.word(word)))
    }

    /// Whether some element of an array moves, at these indices plus an offset.
    pub(crate) fn moves_words(&self, program: &Program, array: ArrayId, index: &Range, offset: i128) -> bool {
        let base = i128::from(program.arrays[array.index()].base.0) + offset;
        let at = |word: u32| i128::from(word).checked_sub(base);
        self.moved.iter().any(|word| at(*word).is_some_and(|index_of| index.contains(index_of)))
    }
}

#[cfg(test)]
mod tests {
    use cyrano_ir::ThreadId;

    use super::*;

    /// Two threads, each with an object of two words that it links; `extra` is one more instruction of both.
    fn program(extra: [&str; 2]) -> Program {
        let [one, two] = extra;
        let text = format!(
            "program test\nlocation \"gap#0\": gap = 0\nlocation top: pointer = 0\nlocation \"gap#1\": gap = 0\n\
             location \"a.next\": pointer = 0\nlocation \"a.value\" = 0\nlocation \"gap#2\": gap = 0\n\
             location \"b.next\": pointer = 0\nlocation \"b.value\" = 0\nlocation \"gap#3\": gap = 0\n\
             array memory = \"gap#0\" of 9\n\
             thread p\n  register r = 0\n  @0: r := load top\n  @1: store \"a.next\", r\n  @2: store top, 24\n  @3: {one}\n  @4: halt\n\
             thread q\n  register r = 0\n  @0: r := load top\n  @1: store \"b.next\", r\n  @2: store top, 48\n  @3: {two}\n  @4: halt\n"
        );
        cyrano_ir::text::parse(&text).expect("the program can be read")
    }

    fn swap(extra: [&str; 2]) -> Option<Swap> {
        Exchange::new(&program(extra), ThreadId(0), ThreadId(1)).map(Swap::from)
    }

    #[test]
    fn computations_take_part_or_not() {
        let swap = swap(["r := 0"; 2]).expect("the threads are alike");
        let pointers = Range::Set(vec![0, 24, 48]);
        let one = |value| Range::one(value);
        assert!(swap.keeps_binary(BinOp::Add, &pointers, &one(8)), "the next word");
        assert!(!swap.keeps_binary(BinOp::Add, &pointers, &one(24)), "beyond the object");
        assert!(
            swap.keeps_binary(BinOp::Eq, &pointers, &pointers) && !swap.keeps_binary(BinOp::Lt, &pointers, &pointers)
        );
        assert!(!swap.keeps_unary(UnOp::Neg, &pointers) && swap.keeps_unary(UnOp::Not, &pointers));
        let counter = Range::Span { lo: 0, hi: 100, undefined: false };
        assert!(!swap.keeps_binary(BinOp::Add, &counter, &one(1)), "a number that may look like a pointer");
        let program = program(["r := 0"; 2]);
        let target = |offset| swap.keeps_target(&program, ArrayId(0), &Range::Set(vec![24, 48]), offset);
        assert!(target(0) && target(1) && target(2), "words of the object and the gap after it");
        assert!(!target(3), "the next object is nobody's twin");
    }
}

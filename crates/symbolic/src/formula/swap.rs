//! One exchange of two threads: which words and values change places, and whether computations take part in it.
//!
//! Words of objects that only one of the threads names change places with those of the other thread's, object by object (a run of words up
//! to the gap after it, see the form of C programs); a value that is a pointer into such an object becomes the pointer to the same place of
//! the other one, with the same mark in its low bits. Everything else stays what it is. In programs without gaps no value is a pointer and
//! only named words change places.
//!
//! A number that two threads do not have in common is a pointer only if it leads to a word of memory; otherwise the threads are not alike. Whether
//! such a number was *meant* as a pointer does not matter: an exchange is a renaming of values that is applied to all of them alike, and is used only if
//! the text, the initial values and every computation keep it.

use cyrano_ir::{
    ArrayId, BinOp, FinalVar, LocId, LocalExpr, Program, SharedArray, ThreadId, Ty, UNDEFINED, UnOp, WORD,
};
use std::collections::BTreeSet;

use crate::execute::range::Range;
use crate::formula::rename::{self, Leaves, Rename};

/// The most pairs of values for which an operator is tried out.
const PAIRS: usize = 4096;

/// An exchange.
#[derive(Clone, Debug)]
pub(crate) struct Swap {
    pub(crate) threads: [ThreadId; 2],
    /// Where each word goes.
    words: Vec<u32>,
    /// Those that move, in ascending order.
    moved: Vec<u32>,
    /// Whether values may be pointers.
    pointers: bool,
}

impl Rename for &Swap {
    fn constant(&mut self, value: i128) -> i128 {
        self.value(value)
    }

    fn location(&mut self, loc: LocId) -> LocId {
        LocId(self.word(loc.0))
    }
}

impl Swap {
    /// The exchange of two threads, if it maps the text of the program to itself.
    pub(crate) fn new(program: &Program, a: ThreadId, b: ThreadId) -> Option<Self> {
        let pointers = program.locations.iter().any(|location| location.ty == Ty::Gap);
        let words: Vec<u32> = (0..).take(program.locations.len()).collect();
        let mut swap = Self { threads: [a, b], words, moved: Vec::new(), pointers };
        let (one, other) = (program.thread(a), program.thread(b));
        if one.code.len() != other.code.len() || one.registers.len() != other.registers.len() {
            return None;
        }
        for (instr, twin) in one.code.iter().zip(&other.code) {
            let [mut leaves, mut twins] = [Leaves::default(), Leaves::default()];
            rename::op(&instr.op, &mut leaves)?;
            rename::op(&twin.op, &mut twins)?;
            for (loc, twin) in leaves.locations.iter().zip(&twins.locations) {
                swap.exchange(program, loc.0, twin.0)?;
            }
            for (value, twin) in leaves.constants.iter().zip(&twins.constants).filter(|(value, twin)| value != twin) {
                let known = |word: &u32| pointers && (*word as usize) < program.locations.len();
                let word = |value: i128| u32::try_from(value.div_euclid(WORD)).ok().filter(known);
                swap.exchange(program, word(*value)?, word(*twin)?)?;
            }
        }
        let moved = (0u32..).zip(&swap.words).filter(|(from, to)| from != *to);
        swap.moved = moved.map(|(from, _)| from).collect();
        swap.maps(program).then_some(swap)
    }

    /// Exchanges two words, with the objects that they belong to.
    fn exchange(&mut self, program: &Program, one: u32, other: u32) -> Option<()> {
        let run = |word: u32| if self.pointers { object(program, word) } else { Some((word, 1)) };
        let ((start, len), (twin, twin_len)) = (run(one)?, run(other)?);
        if one == other {
            return Some(());
        }
        if len != twin_len || one - start != other - twin || start == twin {
            return None;
        }
        for at in 0..len {
            for (from, to) in [(start + at, twin + at), (twin + at, start + at)] {
                let place = &mut self.words[from as usize];
                if *place != from && *place != to {
                    return None;
                }
                *place = to;
            }
        }
        Some(())
    }

    /// Whether the exchange maps code, registers and initial memory to themselves.
    fn maps(&self, program: &Program) -> bool {
        let whole = |array: &SharedArray| array.base.0 == 0 && array.len as usize == program.locations.len();
        let memory = !program.arrays.is_empty() && program.arrays.iter().all(whole);
        let words = (0u32..).zip(&program.locations).all(|(word, location)| {
            let to = &program.locations[self.word(word) as usize];
            to.ty == location.ty && to.init == self.value(location.init)
        });
        let threads = program.thread_ids().all(|thread| {
            let (from, to) = (program.thread(thread), program.thread(self.thread(thread)));
            let registers = from.registers.iter().map(|register| self.value(register.init));
            let code = from.code.iter().map(|instr| rename::op(&instr.op, &mut &*self));
            registers.eq(to.registers.iter().map(|register| register.init))
                && code.eq(to.code.iter().map(|instr| Some(instr.op.clone())))
        });
        (memory || !self.pointers || self.moved.is_empty()) && words && threads
    }

    /// Where a word goes.
    pub(crate) fn word(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(word)
    }

    /// What becomes of a value.
    pub(crate) fn value(&self, value: i128) -> i128 {
        match u32::try_from(value.div_euclid(WORD)) {
            Ok(word) if self.pointers => value + (i128::from(self.word(word)) - i128::from(word)) * WORD,
            _ => value,
        }
    }

    /// Which thread takes the part of this one.
    pub(crate) fn thread(&self, thread: ThreadId) -> ThreadId {
        let [a, b] = self.threads;
        if thread == a {
            b
        } else if thread == b {
            a
        } else {
            thread
        }
    }

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

    /// Whether a set of observations stays what it is.
    pub(crate) fn keeps_outcomes(&self, program: &Program, outcomes: &BTreeSet<Vec<i128>>) -> bool {
        let image = |var: &FinalVar| match var {
            FinalVar::Reg(thread, register) => FinalVar::Reg(self.thread(*thread), *register),
            FinalVar::Loc(loc) => FinalVar::Loc(LocId(self.word(loc.0))),
        };
        let column = |var: FinalVar| program.observed.iter().position(|observable| observable.var == var);
        let columns: Option<Vec<usize>> =
            program.observed.iter().map(|observable| column(image(&observable.var))).collect();
        let Some(columns) = columns else { return false };
        outcomes.iter().all(|outcome| {
            let image: Option<Vec<i128>> =
                columns.iter().map(|column| outcome.get(*column).map(|value| self.value(*value))).collect();
            image.is_some_and(|image| outcomes.contains(&image))
        })
    }
}

/// The object that a word belongs to: its first word and its length with the gap after it.
fn object(program: &Program, word: u32) -> Option<(u32, u32)> {
    let gap = |word: &u32| program.locations[*word as usize].ty == Ty::Gap;
    let count = u32::try_from(program.locations.len()).ok()?;
    let before = (0..word).rev().find(gap)?;
    let after = (word..count).find(gap)?;
    Some((before + 1, after - before))
}

/// A pointer and an offset, if an index is of that form.
pub(crate) fn pointer_and_offset(index: &LocalExpr) -> Option<(&LocalExpr, i128)> {
    use cyrano_ir::Expr::{Binary, Const, Unary};
    match index {
        Unary(UnOp::Target, pointer) => Some((pointer, 0)),
        Binary(BinOp::Add, left, right) => match (&**left, &**right) {
            (Unary(UnOp::Target, pointer), Const(offset)) | (Const(offset), Unary(UnOp::Target, pointer)) => {
                Some((pointer, *offset))
            }
            _ => None,
        },
        _ => None,
    }
}

const _: () = assert!(UNDEFINED < 0, "a value that is not defined is no pointer and stays what it is");

#[cfg(test)]
mod tests {
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
        Swap::new(&program(extra), ThreadId(0), ThreadId(1))
    }

    #[test]
    fn objects_change_places_whole() {
        let swap = swap(["r := 0"; 2]).expect("the threads are alike");
        assert_eq!([3, 4, 5, 6, 7, 8].map(|word| swap.word(word)), [6, 7, 8, 3, 4, 5]);
        assert_eq!(
            [0, 1, 8, 24, 33, 48, -1, UNDEFINED].map(|value| swap.value(value)),
            [0, 1, 8, 48, 57, 24, -1, UNDEFINED]
        );
    }

    #[test]
    fn what_is_not_the_same_is_no_twin() {
        assert!(swap(["r := 1", "r := 2"]).is_none(), "numbers differ");
        assert!(swap(["store top, 24", "store top, 24"]).is_none(), "both know the object of one");
        assert!(swap(["store top, 24", "store top, 56"]).is_none(), "another place of the object");
        assert!(swap(["store top, 32", "store top, 56"]).is_some());
        for (one, other) in [(100, 200), (24, 1000), (-8, 8), (i64::MAX, 24)] {
            let extra = [format!("r := {one}"), format!("r := {other}")];
            assert!(swap([&extra[0], &extra[1]]).is_none(), "{one} and {other} are numbers");
        }
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

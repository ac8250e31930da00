//! One exchange of two threads: which words and values change places.
//!
//! Words of objects that only one of the threads names change places with those of the other thread's, object by object (a run of words up
//! to the gap after it, see the form of C programs); a value that is a pointer into such an object becomes the pointer to the same place of
//! the other one, with the same mark in its low bits. Everything else stays what it is. In programs without gaps no value is a pointer and
//! only named words change places.
//!
//! A number that two threads do not have in common is a pointer only if it leads to a word of memory; otherwise the threads are not alike. Whether
//! such a number was *meant* as a pointer does not matter: an exchange is a renaming of values that is applied to all of them alike, and is used only if
//! the text, the initial values and every computation keep it.
//!
//! Whether computations take part in it depends on the values that they may meet, and is for whoever uses it to check.

use std::collections::BTreeSet;

use super::{Named, twins};
use crate::cond::FinalVar;
use crate::expr::{BinOp, Expr, UNDEFINED, UnOp, WORD};
use crate::ids::{LocId, ThreadId};
use crate::op::Op;
use crate::program::{LocalExpr, Program, SharedArray, Ty};

/// An exchange.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Who changes places.
    pub threads: [ThreadId; 2],
    /// The words that move, in ascending order.
    pub moved: Vec<u32>,
    /// Whether values may be pointers.
    pub pointers: bool,
    /// Where each word goes.
    words: Vec<u32>,
}

impl Exchange {
    /// The exchange of two threads, if it maps the text of the program to itself.
    pub fn new(program: &Program, a: ThreadId, b: ThreadId) -> Option<Self> {
        let pointers = program.locations.iter().any(|location| location.ty == Ty::Gap);
        let words: Vec<u32> = (0..).take(program.locations.len()).collect();
        let mut exchange = Self { threads: [a, b], words, moved: Vec::new(), pointers };
        let (one, other) = (program.thread(a), program.thread(b));
        if one.code.len() != other.code.len() || one.registers.len() != other.registers.len() {
            return None;
        }
        let known = |word: &u32| pointers && (*word as usize) < program.locations.len();
        let word = |value: i128| u32::try_from(value.div_euclid(WORD)).ok().filter(known);
        for (instr, twin) in one.code.iter().zip(&other.code) {
            for pair in twins(&instr.op, &twin.op)? {
                match pair {
                    (Named::Location(loc), Named::Location(twin)) => exchange.exchange(program, loc.0, twin.0)?,
                    (Named::Constant(value), Named::Constant(twin)) if value != twin => {
                        exchange.exchange(program, word(value)?, word(twin)?)?;
                    }
                    _ => {}
                }
            }
        }
        let moved = (0u32..).zip(&exchange.words).filter(|(from, to)| from != *to);
        exchange.moved = moved.map(|(from, _)| from).collect();
        exchange.maps(program).then_some(exchange)
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
            registers.eq(to.registers.iter().map(|register| register.init))
                && from.code.len() == to.code.len()
                && from.code.iter().zip(&to.code).all(|(from, to)| self.maps_op(&from.op, &to.op))
        });
        (memory || !self.pointers || self.moved.is_empty()) && words && threads
    }

    /// Whether an instruction becomes another one; never for those of blocks and transactions.
    fn maps_op(&self, from: &Op, to: &Op) -> bool {
        let known = !matches!(from, Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_))
            && !matches!(from, Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_));
        let image = |leaf: Named| match leaf {
            Named::Constant(value) => Named::Constant(self.value(value)),
            Named::Location(loc) => Named::Location(LocId(self.word(loc.0))),
            Named::Register(_) | Named::Target(_) => leaf,
        };
        known && twins(from, to).is_some_and(|mut twins| twins.all(|(from, to)| image(from) == to))
    }

    /// Where a word goes.
    pub fn word(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(word)
    }

    /// What becomes of a value.
    pub fn value(&self, value: i128) -> i128 {
        match u32::try_from(value.div_euclid(WORD)) {
            Ok(word) if self.pointers => value + (i128::from(self.word(word)) - i128::from(word)) * WORD,
            _ => value,
        }
    }

    /// Which thread takes the part of this one.
    pub fn thread(&self, thread: ThreadId) -> ThreadId {
        let [a, b] = self.threads;
        if thread == a {
            b
        } else if thread == b {
            a
        } else {
            thread
        }
    }

    /// What becomes of a variable.
    fn var(&self, var: &FinalVar) -> FinalVar {
        match var {
            FinalVar::Reg(thread, register) => FinalVar::Reg(self.thread(*thread), *register),
            FinalVar::Loc(loc) => FinalVar::Loc(LocId(self.word(loc.0))),
        }
    }

    /// Whether what becomes of a variable is observed.
    pub fn is_observed(&self, program: &Program, var: &FinalVar) -> bool {
        column(program, self.var(var)).is_some()
    }

    /// What becomes of an observation; none if something else would be observed.
    pub fn image(&self, program: &Program, outcome: &[i128]) -> Option<Vec<i128>> {
        let image = |var: &FinalVar| Some(self.value(*outcome.get(column(program, self.var(var))?)?));
        program.observed.iter().map(|observable| image(&observable.var)).collect()
    }

    /// Whether a set of observations stays what it is.
    pub fn keeps_outcomes(&self, program: &Program, outcomes: &BTreeSet<Vec<i128>>) -> bool {
        program.observed.iter().all(|observable| self.is_observed(program, &observable.var))
            && outcomes
                .iter()
                .all(|outcome| self.image(program, outcome).is_some_and(|image| outcomes.contains(&image)))
    }
}

/// Where a variable stands in an observation.
fn column(program: &Program, var: FinalVar) -> Option<usize> {
    program.observed.iter().position(|observable| observable.var == var)
}

/// The pointer in an index and the offset from it, if it is of that form.
pub fn pointer_and_offset(index: &LocalExpr) -> Option<(&LocalExpr, i128)> {
    use Expr::{Binary, Const, Unary};
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

/// The object that a word belongs to: its first word and its length with the gap after it.
fn object(program: &Program, word: u32) -> Option<(u32, u32)> {
    let gap = |word: &u32| program.locations[*word as usize].ty == Ty::Gap;
    let count = u32::try_from(program.locations.len()).ok()?;
    let before = (0..word).rev().find(gap)?;
    let after = (word..count).find(gap)?;
    Some((before + 1, after - before))
}

const _: () = assert!(UNDEFINED < 0, "a value that is not defined is no pointer and stays what it is");

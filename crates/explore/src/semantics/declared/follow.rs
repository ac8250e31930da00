//! What an instruction follows (axiom 9), as far as a region is known: surely, and perhaps.
//!
//! Once everything in a region is known, both are what the axiom says. Until then an access that is in `must` comes before whoever has
//! this set, provided that one is executed at all, and one that is not in `may` never has to.

use std::ops::BitOr;

use cyrano_ir::{Addr, LocalExpr, Op, Place, Program};

use crate::semantics::declared::partial::{eval, location};
use crate::semantics::declared::region::Units;

/// The units that something follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Follows<const W: usize> {
    pub must: Units<W>,
    pub may: Units<W>,
}

impl<const W: usize> Follows<W> {
    /// One unit.
    pub fn unit(unit: usize) -> Self {
        let mut units = Units::default();
        units.insert(unit);
        Self { must: units, may: units }
    }

    /// One of the two, and it is open which.
    pub fn either(self, other: Self) -> Self {
        Self { must: self.must & other.must, may: self.may | other.may }
    }
}

impl<const W: usize> BitOr for Follows<W> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self { must: self.must | other.must, may: self.may | other.may }
    }
}

/// One way to an instruction, or several that have met: what is known there.
#[derive(Clone)]
pub(crate) struct Way<const W: usize> {
    /// The registers, as far as they are known.
    pub regs: Vec<Option<i128>>,
    /// What each of them was computed from.
    pub from: Vec<Follows<W>>,
    /// The instructions of the region that were passed in any case, accesses apart,
    passed: Vec<u64>,
    /// and the units.
    pub units: Units<W>,
    /// The branches whose conditions are open, and whether they are said to hold on this way; the registers that they name are as they were there.
    pub assumed: Vec<(u32, bool)>,
}

impl<const W: usize> Way<W> {
    /// The beginning of a region with so many instructions.
    pub fn new(regs: Vec<Option<i128>>, instructions: usize) -> Self {
        let from = vec![Follows::default(); regs.len()];
        Self { regs, from, passed: vec![0; instructions.div_ceil(64)], units: Units::default(), assumed: Vec::new() }
    }

    /// Whether an instruction, by its place in the region, was passed in any case.
    pub fn has_passed(&self, at: usize) -> bool {
        self.passed[at / 64] >> (at % 64) & 1 == 1
    }

    /// Passes an instruction.
    pub fn pass(&mut self, at: usize) {
        self.passed[at / 64] |= 1 << (at % 64);
    }

    /// Another way leads to the same place.
    pub fn meet(&mut self, other: &Self) {
        for (a, b) in self.regs.iter_mut().zip(&other.regs) {
            if a != b {
                *a = None;
            }
        }
        self.from.iter_mut().zip(&other.from).for_each(|(a, b)| *a = a.either(*b));
        self.passed.iter_mut().zip(&other.passed).for_each(|(a, b)| *a &= b);
        self.units = self.units & other.units;
        self.assumed.retain(|known| other.assumed.contains(known));
    }

    /// What an expression is computed from: every register that it names counts.
    pub fn of(&self, expr: &LocalExpr) -> Follows<W> {
        let mut all = Follows::default();
        expr.for_each_var(&mut |place| all = all | self.of_index(place) | self.of_place(place));
        all
    }

    fn of_place(&self, place: &Place) -> Follows<W> {
        match place.register(&*self.regs) {
            Ok(register) => self.from[register.index()],
            Err(_) => self.from[place.registers()].iter().copied().reduce(Follows::either).unwrap_or_default(),
        }
    }

    /// What the choice of a register is computed from.
    pub fn of_index(&self, place: &Place) -> Follows<W> {
        match place {
            Place::Reg(_) => Follows::default(),
            Place::Elem { index, .. } => self.of(index),
        }
    }

    /// What the operands, the address and the place for the result of an instruction are computed from.
    pub fn of_op(&self, op: &Op) -> Follows<W> {
        let mut all = op.operands().into_iter().fold(Follows::default(), |all, operand| all | self.of(operand));
        if let Some(Addr::Indexed { index, .. }) = op.addr() {
            all = all | self.of(index);
        }
        op.dst().map_or(all, |dst| all | self.of_index(dst))
    }

    /// Notes what a place was computed from; if it is open which register that is, each may have kept what it had.
    pub fn note(&mut self, place: &Place, new: Follows<W>) {
        match place.register(&*self.regs) {
            Ok(register) => self.from[register.index()] = new,
            Err(_) => self.from[place.registers()].iter_mut().for_each(|from| *from = from.either(new)),
        }
    }

    /// The value of an expression, if it is known.
    pub fn eval(&self, expr: &LocalExpr) -> Option<Result<i128, cyrano_ir::EvalError>> {
        eval(expr, &self.regs)
    }
}

/// The locations that an address may denote: from the first to before the second.
pub(crate) fn reach(program: &Program, addr: &Addr, regs: &[Option<i128>]) -> (u32, u32) {
    match (location(program, addr, regs), addr) {
        (Some(Ok(loc)), _) => (loc, loc + 1),
        (None, Addr::Indexed { array, .. }) => {
            let array = &program.arrays[array.index()];
            (array.base.0, array.base.0 + array.len)
        }
        (Some(Err(_)) | None, _) => (0, 0),
    }
}

//! The order of calls that a test asks for ([`Orders`]), as accesses to words of its own.

use cyrano_ir::{BinOp, Change, Expr as Ir, Op, Place, RegId, Tags};

use crate::lower::{Lowerer, Shared, Spot};
use crate::tests_file::Orders;
use crate::types::arith;
use crate::types::{Type, integers};

/// The calls of a test, one after the other.
pub(super) struct CallOrder {
    /// How many calls there were.
    call: usize,
    /// Of two calls the first one tells in this word that it has returned.
    pairs: Vec<(usize, usize, i128)>,
    /// The word that calls take numbers from.
    next: Option<i128>,
    /// What the numbers are called.
    pub(super) numbers: Vec<String>,
}

impl CallOrder {
    pub(super) fn new(shared: &mut Shared<'_>, orders: &Orders) -> Self {
        let (checked, int) = (shared.checked, Type::Int(integers::INT));
        let mut word = |name: &str| shared.memory.variable(checked, &int, name, 0, Default::default());
        let pairs = orders.pairs.iter();
        let pairs = pairs.map(|(one, other)| (*one, *other, word(&format!("returned.{}.{}", one + 1, other + 1))));
        let pairs = pairs.collect();
        let next = orders.numbered.then(|| word("numbers"));
        Self { call: 0, pairs, next, numbers: Vec::new() }
    }

    /// What comes before the next call begins.
    pub(super) fn before(&self, lowerer: &mut Lowerer<'_, '_>) {
        for (_, _, word) in self.pairs.iter().filter(|(_, after, _)| *after == self.call) {
            let returned = lowerer.load(&Spot::fixed(*word), 0, Tags::ATOMIC | Tags::ACQUIRE);
            lowerer.emit(Op::Assume(arith::binary(BinOp::Ne, returned, Ir::Const(0))));
        }
    }

    /// Takes a number.
    pub(super) fn number(&mut self, lowerer: &mut Lowerer<'_, '_>, name: String) -> Option<(String, RegId)> {
        let next = self.next?;
        let register = lowerer.register(&name, 0);
        let dst = Some(Place::Reg(register));
        let (addr, tags) = (lowerer.addr(&Ir::Const(next), 0), Tags::ATOMIC | Tags::ACQUIRE | Tags::RELEASE);
        lowerer.emit(Op::rmw(dst, addr, Change::Add(Ir::Const(1))).tagged(tags));
        self.numbers.push(name.clone());
        Some((name, register))
    }

    /// What comes after the call has returned.
    pub(super) fn after(&mut self, lowerer: &mut Lowerer<'_, '_>) {
        for (_, _, word) in self.pairs.iter().filter(|(before, ..)| *before == self.call) {
            lowerer.store(&Spot::fixed(*word), 0, Ir::Const(1), Tags::ATOMIC | Tags::RELEASE);
        }
        self.call += 1;
    }
}

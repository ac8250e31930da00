//! Values that change places with equal threads: pointers to what only one of them names ([`cyrano_ir::automorphisms::Exchange`]).
//!
//! **Argument.** Equal threads may have objects of their own, so that an exchange of two threads exchanges pointers to their objects, too. What a thread does after an
//! exchange is what it did before it, with the values exchanged, if every computation commutes with the exchange. Copies do, comparisons for equality do, as an
//! exchange is a bijection and keeps 0, and the way from a pointer to a word of its object does. Whatever else is done with such a pointer, or makes one out
//! of other numbers, is noticed before it is done ([`Wrong::Sees`]), whichever thread does it. The search begins anew then, and does not exchange these threads. So in a
//! search that comes to its end all computations commute with all exchanges.

use cyrano_ir::automorphisms::{Exchange, pointer_and_offset};
use cyrano_ir::{Addr, BinOp, EvalError, Expr, LocId, LocalExpr, Place, Program, Ty, UnOp, WORD};

use crate::names::Wrong;

/// The words that exchanges move, and to which object each belongs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Moves {
    /// By word, the number of its object; 0 for what stays. Empty if everything stays.
    objects: Vec<u32>,
    /// Whether values may be pointers.
    pointers: bool,
}

impl Moves {
    /// What some exchanges move.
    pub(crate) fn new(program: &Program, exchanges: &[Exchange]) -> Self {
        let pointers = exchanges.iter().any(|exchange| exchange.pointers);
        let mut objects = vec![0; program.locations.len()];
        let mut number = 1;
        for (word, location) in program.locations.iter().enumerate() {
            if exchanges.iter().any(|exchange| exchange.moved.binary_search(&(word as u32)).is_ok()) {
                objects[word] = number;
            }
            number += u32::from(!pointers || location.ty == Ty::Gap);
        }
        if objects.iter().all(|object| *object == 0) { Self::default() } else { Self { objects, pointers } }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The object that a value points to, if that moves.
    fn object(&self, value: i128) -> Option<u32> {
        let word = usize::try_from(value.div_euclid(WORD)).ok().filter(|_| self.pointers)?;
        self.objects.get(word).copied().filter(|object| *object != 0)
    }

    /// A value, if it does not move.
    pub(crate) fn stay(&self, value: i128) -> Result<i128, Wrong> {
        if self.object(value).is_some() { Err(Wrong::Sees(value)) } else { Ok(value) }
    }

    /// Whether an expression commutes with the exchanges, for these registers.
    #[inline]
    pub(crate) fn keep(&self, expr: &LocalExpr, registers: &[i128]) -> Result<(), Wrong> {
        if !self.pointers || matches!(expr, Expr::Const(_) | Expr::Var(Place::Reg(_))) {
            return Ok(());
        }
        self.value(expr, registers).map(|_| ())
    }

    /// Whether an expression has a value that stays.
    pub(crate) fn blind(&self, expr: &LocalExpr, registers: &[i128]) -> Result<(), Wrong> {
        if !self.pointers {
            return Ok(());
        }
        self.stay(self.value(expr, registers)?).map(|_| ())
    }

    fn value(&self, expr: &LocalExpr, registers: &[i128]) -> Result<i128, Wrong> {
        match expr {
            Expr::Const(value) => Ok(*value),
            Expr::Var(place) => {
                if let Place::Elem { index, .. } = place {
                    self.blind(index, registers)?;
                }
                Ok(registers[place.register(registers)?.index()])
            }
            Expr::Unary(op, arg) => self.unary(*op, self.value(arg, registers)?),
            Expr::Binary(op, left, right) => {
                let left = self.value(left, registers)?;
                match (op, left != 0) {
                    (BinOp::And, false) | (BinOp::Or, true) => Ok((left != 0).into()),
                    _ => self.binary(*op, left, self.value(right, registers)?),
                }
            }
        }
    }

    fn unary(&self, op: UnOp, value: i128) -> Result<i128, Wrong> {
        // An integer type so wide has every pointer.
        let copies = matches!(op, UnOp::Wrap(ty) | UnOp::Fit(ty) if ty.bits >= 32);
        if !matches!(op, UnOp::Not | UnOp::Defined) && !copies {
            self.stay(value)?;
        }
        let result = op.apply(value)?;
        if result == value || op == UnOp::Not { Ok(result) } else { self.stay(result) }
    }

    fn binary(&self, op: BinOp, left: i128, right: i128) -> Result<i128, Wrong> {
        let result = op.apply(left, right)?;
        match (op, self.object(left), self.object(right)) {
            (BinOp::Eq | BinOp::Ne | BinOp::And | BinOp::Or, ..) => Ok(result),
            (BinOp::Add | BinOp::Sub, from @ Some(_), None) | (BinOp::Add, None, from @ Some(_))
                if self.object(result) == from =>
            {
                Ok(result)
            }
            (_, None, None) => self.stay(result),
            (_, Some(_), _) => Err(Wrong::Sees(left)),
            (_, None, Some(_)) => Err(Wrong::Sees(right)),
        }
    }

    /// The location that an address leads to, if it moves with the pointer in the address.
    pub(crate) fn reach(&self, addr: &Addr, loc: Result<LocId, EvalError>, registers: &[i128]) -> Result<LocId, Wrong> {
        let Addr::Indexed { index, .. } = addr else { return Ok(loc?) };
        if self.is_empty() {
            return Ok(loc?);
        }
        let pointer = pointer_and_offset(index).map(|(pointer, _)| self.value(pointer, registers)).transpose()?;
        if pointer.is_none() {
            self.blind(index, registers)?;
        }
        let from = pointer.filter(|pointer| pointer % WORD == 0).and_then(|pointer| self.object(pointer));
        let to = loc.ok().map(|loc| self.objects[loc.index()]).unwrap_or_default();
        if from.unwrap_or_default() == to { Ok(loc?) } else { Err(Wrong::Sees(pointer.unwrap_or_default())) }
    }
}

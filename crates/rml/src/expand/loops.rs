//! Loops over sets and maps, unrolled as often as there can be elements where they stand.
//!
//! A loop goes over the elements that are there when it begins, whatever its body adds. In the order `any` each round takes one of the
//! elements that are left; there is a choice only where more than one can be.

use cyrano_ir::{BinOp, LocalExpr, Op, Place, RegId, Span};

use crate::expand::method::Lower;
use crate::lower::build::{Label, any, binary, element, int, var};
use crate::lower::sets::SetShape;
use crate::report::{Fallible, Reported};
use crate::syntax::objects::{Each, LoopOrder};

/// A loop that is being unrolled.
struct Unroll<'a> {
    each: &'a Each,
    shape: SetShape,
    /// The slots that can be taken.
    slots: Vec<u32>,
    /// How many rounds there can be.
    rounds: usize,
    /// Per slot: whether its element is still to come.
    left: RegId,
    /// How many elements there are, in the order of insertion.
    size: RegId,
    label: Option<u32>,
    span: Span,
}

impl Unroll<'_> {
    fn left(&self, slot: u32) -> LocalExpr {
        var(RegId(self.left.0 + slot))
    }
}

impl<'a> Lower<'a, '_, '_> {
    /// Unrolls a loop.
    pub(crate) fn each(&mut self, each: &'a Each, label: Option<u32>, span: Span) -> Fallible<()> {
        let (index, shape) = self.shape(&each.set.text)?;
        let (slots, most) = (self.contents[index].slots(shape), self.contents[index].most(shape));
        let depth = self.build.context.loops.len();
        if most == 0 {
            return self.labelled(label, |lower| lower.empty_loop(shape, depth, span));
        }
        let left = self.build.registers(&format!("%left{depth}.{}", shape.slots()), shape.slots(), 0);
        let size = self.build.register(&format!("%size{depth}"), 0);
        let rounds = if each.order == LoopOrder::Index { slots.len() } else { most };
        let unroll = Unroll { each, shape, slots, rounds, left, size, label, span };
        self.labelled(label, |lower| lower.before_loop(&unroll))?;
        self.build.loops += 1;
        let (id, guards) = (self.build.loops - 1, self.build.context.guards.len());
        let end = self.label();
        for round in 0..unroll.rounds {
            self.build.context.loops.push((id, u32::try_from(round).unwrap_or(u32::MAX)));
            if each.order == LoopOrder::Index {
                let next = self.label();
                self.round(&unroll, round, next)?;
                self.place(next);
                self.build.context.guards.truncate(guards);
            } else {
                self.round(&unroll, round, end)?;
            }
            self.build.context.loops.pop();
        }
        self.place(end);
        self.build.context.guards.truncate(guards);
        Ok(())
    }

    /// A loop over what is empty in any case looks at it all the same: whether it is known to be empty must not matter to the orders.
    fn empty_loop(&mut self, shape: SetShape, depth: usize, span: Span) -> Fallible<()> {
        if !self.own.endless {
            let looked = self.build.register(&format!("%size{depth}"), 0);
            return self.assign(Place::Reg(looked), shape.taken(0), span);
        }
        Ok(())
    }

    /// Notes what the loop will go over.
    fn before_loop(&mut self, unroll: &Unroll<'a>) -> Fallible<()> {
        if unroll.each.order == LoopOrder::Insertion {
            let (_, size) = unroll.shape.order.ok_or(Reported)?;
            return self.assign(Place::Reg(unroll.size), var(size), unroll.span);
        }
        for slot in &unroll.slots {
            let left = Place::Reg(RegId(unroll.left.0 + slot));
            self.assign(left, unroll.shape.taken(*slot), unroll.span)?;
        }
        Ok(())
    }

    /// One round; where it goes if there is none.
    fn round(&mut self, unroll: &Unroll<'a>, round: usize, other: Label) -> Fallible<()> {
        let number = i128::try_from(round).unwrap_or(i128::MAX);
        let more = match unroll.each.order {
            LoopOrder::Index => unroll.left(unroll.slots[round]),
            LoopOrder::Insertion => binary(BinOp::Lt, int(number), var(unroll.size)),
            LoopOrder::Any => any(unroll.slots.iter().map(|slot| unroll.left(*slot))),
        };
        let test = self.labelled(unroll.label, |lower| lower.unless(more, other, unroll.span))?;
        self.build.context.guards.push(test);
        let slot = self.labelled(unroll.label, |lower| lower.slot(unroll, round))?;
        match slot {
            LocalExpr::Var(_) if self.own.endless && unroll.slots.len() > 1 => self.by_slot(unroll, &slot),
            slot => self.one_body(unroll, slot),
        }
    }

    fn one_body(&mut self, unroll: &Unroll<'a>, slot: LocalExpr) -> Fallible<()> {
        let binders = self.labelled(unroll.label, |lower| lower.bind(unroll, slot.clone()))?;
        self.body(&slot, binders, &unroll.each.body)
    }

    /// The body once for each slot, so that what it does to one element never meets what it does to another.
    fn by_slot(&mut self, unroll: &Unroll<'a>, slot: &LocalExpr) -> Fallible<()> {
        let mut fork = self.fork();
        for number in &unroll.slots {
            let (number, other) = (int((*number).into()), self.label());
            self.unless(LocalExpr::binary(BinOp::Eq, slot.clone(), number.clone()), other, unroll.span)?;
            self.way(&mut fork, |lower| lower.one_body(unroll, number))?;
            self.jump(fork.end, unroll.span)?;
            self.place(other);
        }
        self.join(fork);
        Ok(())
    }

    /// Which slot a round is about.
    fn slot(&mut self, unroll: &Unroll<'a>, round: usize) -> Fallible<LocalExpr> {
        let number = i128::try_from(round).unwrap_or(i128::MAX);
        match (unroll.each.order, unroll.slots.as_slice()) {
            (LoopOrder::Index, slots) => Ok(int(slots[round].into())),
            (LoopOrder::Insertion, _) => {
                let (base, _) = unroll.shape.order.ok_or(Reported)?;
                Ok(LocalExpr::Var(element(base, unroll.shape.slots(), int(number))))
            }
            (LoopOrder::Any, [only]) => Ok(int((*only).into())),
            (LoopOrder::Any, _) => self.any_slot(unroll, round),
        }
    }

    /// Any one of the slots that are left. If it is the only one, its number is computed.
    fn any_slot(&mut self, unroll: &Unroll<'a>, round: usize) -> Fallible<LocalExpr> {
        let (span, slots) = (unroll.span, unroll.slots.iter());
        let slot = self.build.register(&format!("%slot{}", self.build.context.loops.len()), 0);
        let sum = |parts: Vec<LocalExpr>| parts.into_iter().reduce(|all, part| binary(BinOp::Add, all, part));
        let numbers = slots.clone().filter(|slot| **slot > 0);
        let only = numbers.map(|slot| binary(BinOp::Mul, unroll.left(*slot), int((*slot).into())));
        let only = sum(only.collect()).unwrap_or(int(0));
        if round + 1 == unroll.rounds {
            // The element of the last round is the only one that is left.
            self.assign(Place::Reg(slot), only, span)?;
            return Ok(var(slot));
        }
        let count = sum(slots.map(|slot| unroll.left(*slot)).collect()).unwrap_or(int(0));
        let (one, done) = (self.label(), self.label());
        let several = self.unless(LocalExpr::binary(BinOp::Gt, count, int(1)), one, span)?;
        self.build.context.guards.push(several);
        let from = unroll.slots.iter().map(|slot| i128::from(*slot)).collect();
        self.emit(Op::Choose { dst: Place::Reg(slot), from }, span)?;
        let chosen = element(unroll.left, unroll.shape.slots(), var(slot));
        if unroll.slots.len() > 2 {
            self.emit(Op::Assume(LocalExpr::Var(chosen.clone())), span)?;
        }
        self.build.context.guards.pop();
        self.jump(done, span)?;
        self.place(one);
        self.build.context.guards.push(several);
        self.assign(Place::Reg(slot), only, span)?;
        self.build.context.guards.pop();
        self.place(done);
        self.assign(chosen, int(0), span)?;
        Ok(var(slot))
    }

    /// What the binders stand for in this round.
    fn bind(&mut self, unroll: &Unroll<'a>, slot: LocalExpr) -> Fallible<Vec<(&'a str, LocalExpr)>> {
        let shape = unroll.shape;
        let key = binary(BinOp::Div, slot.clone(), int(shape.depth.into()));
        let value = shape.values.map(|values| LocalExpr::Var(element(values, shape.slots(), slot.clone())));
        let mut bound = Vec::new();
        for (binder, value) in unroll.each.binders.iter().zip([Some(key), value]) {
            let value = match value.ok_or(Reported)? {
                LocalExpr::Const(value) => int(value),
                other => {
                    let register = self.binder(binder, &slot)?;
                    self.assign(Place::Reg(register), other, unroll.span)?;
                    var(register)
                }
            };
            bound.push((binder.text.as_str(), value));
        }
        Ok(bound)
    }
}

//! Atomic operations: accesses with tags.
//!
//! What no [`Change`] of the IR computes is an atomic section of one load and one store with the tags that fit each half. Results of the functions wrap,
//! whatever the type (C11, 7.17.7.5). A memory order is known once calls are inlined; where it is not, the program is refused.
//! An object that no other thread can see may be in registers: then nothing is accessed.

use cyrano_ir::{BinOp, Change, Expr as Ir, Fence, IntType, LocalExpr, Op, Place, Tags, UnOp};

use super::{Lowerer, Spot};
use crate::atomics::{self, Result};
use crate::check::fold_with;
use crate::tree::{Atomic, AtomicOp, Calc, Expr, Lvalue, LvalueKind, Said};
use crate::types::Type;
use crate::types::arith;

/// The tags of an access to an atomic object that says nothing about its order (C11, 6.2.6.1 and 6.5.16).
pub(super) fn seq_cst() -> Tags {
    Tags::ATOMIC | Tags::SEQ_CST
}

impl Lowerer<'_, '_> {
    /// `x = value`; its value is not read again.
    pub(super) fn assign_atomic(&mut self, spot: &Spot, words: Vec<LocalExpr>) -> Vec<LocalExpr> {
        let value = words.into_iter().next().unwrap_or(Ir::Const(cyrano_ir::UNDEFINED));
        let value = self.simple(value);
        self.store(spot, 0, value.clone(), seq_cst());
        vec![value]
    }

    /// `x += value`, `x++`: one read-modify-write.
    pub(super) fn update_atomic(&mut self, spot: &Spot, ty: &Type, calc: &Calc, gives_old: bool) -> LocalExpr {
        let operand = self.value(calc.operand());
        let operand = self.saved(operand);
        let (old, new) = self.section(spot, seq_cst(), |lowerer, old| match calc {
            Calc::Arith(op, common, _) => {
                let common = Type::Int(*common);
                let wide = arith::convert(old, ty, &common);
                let Type::Int(common_ty) = common else { return wide };
                arith::convert(wrapped(*op, common_ty, wide, operand.clone()), &common, ty)
            }
            Calc::Pointer { minus, .. } => lowerer.moved(old, operand.clone(), ty, *minus),
        });
        if gives_old { old } else { new }
    }

    fn moved(&self, pointer: LocalExpr, by: LocalExpr, ty: &Type, minus: bool) -> LocalExpr {
        let words = match ty {
            Type::Pointer(to) => self.shared.checked.types.words(to),
            _ => 1,
        };
        arith::move_pointer(pointer, by, words, minus)
    }

    /// Reads and writes at one point: the old value and the new one.
    fn section(
        &mut self,
        spot: &Spot,
        tags: Tags,
        change: impl FnOnce(&mut Self, LocalExpr) -> LocalExpr,
    ) -> (LocalExpr, LocalExpr) {
        let reads = Tags::ACQUIRE | Tags::CONSUME;
        let both = |lowerer: &mut Self| {
            let old = lowerer.load(spot, 0, tags.without(Tags::RELEASE));
            lowerer.saved_register(spot, old)
        };
        if Self::is_shared(spot) {
            return self.atomically(|lowerer| {
                let old = both(lowerer);
                let new = change(lowerer, arith::used(old.clone()));
                let new = lowerer.saved(new);
                lowerer.store(spot, 0, new.clone(), tags.without(reads));
                (old, new)
            });
        }
        let old = both(self);
        let new = change(self, arith::used(old.clone()));
        let new = self.saved(new);
        self.store(spot, 0, new.clone(), Tags::default());
        (old, new)
    }

    /// The value of a register that is about to change.
    fn saved_register(&mut self, spot: &Spot, value: LocalExpr) -> LocalExpr {
        if Self::is_shared(spot) { value } else { self.saved(value) }
    }

    pub(super) fn atomic_operation(&mut self, atomic: &Atomic, args: &[Expr]) -> Vec<LocalExpr> {
        let order = self.said(atomic.order, args);
        match atomic.op {
            AtomicOp::Fence => {
                self.fence_of(atomic, args);
                return Vec::new();
            }
            AtomicOp::SignalFence => return Vec::new(),
            _ => {}
        }
        let spot = self.location(&args[0], &args[1..]);
        let tags = order;
        match atomic.op {
            AtomicOp::Load => {
                let value = self.load(&spot, 0, tags);
                vec![value]
            }
            AtomicOp::Store(fence) => {
                let value = self.value(&args[1]);
                self.store(&spot, 0, value, tags);
                if let Some(fence) = fence.and_then(Fence::named) {
                    self.fence(fence);
                }
                Vec::new()
            }
            AtomicOp::Exchange => {
                let value = self.value(&args[1]);
                vec![self.change(&spot, tags, Change::Set(value))]
            }
            AtomicOp::Cas => {
                let (expected, new) = self.pair(&args[1], &args[2]);
                let failure = self.said(atomic.failure, args);
                let expected = self.simple(arith::used(expected));
                vec![self.compare_and_swap(&spot, expected, new, (tags, failure))]
            }
            AtomicOp::CompareExchange { weak } => vec![self.compare_exchange(&spot, atomic, args, weak, tags)],
            AtomicOp::Fetch(change, result) => {
                let operand = self.value(&args[1]);
                let operand = self.saved(operand);
                self.fetch(&spot, &atomic.ty, (change, operand), result, tags)
            }
            AtomicOp::AddUnless => vec![self.add_unless(&spot, atomic, args, tags)],
            AtomicOp::Lock { wait } => self.take_lock(&spot, wait),
            AtomicOp::Unlock => {
                self.store(&spot, 0, Ir::Const(0), tags);
                Vec::new()
            }
            AtomicOp::IsLocked => {
                let value = self.load(&spot, 0, tags);
                vec![arith::binary(BinOp::Ne, arith::used(value), Ir::Const(0))]
            }
            AtomicOp::Synchronize => {
                self.synchronize(&spot);
                Vec::new()
            }
            AtomicOp::Fence | AtomicOp::SignalFence => Vec::new(),
        }
    }

    /// Where a pointer points to, whatever is evaluated behind it.
    fn location(&mut self, pointer: &Expr, rest: &[Expr]) -> Spot {
        let spot = self.deref(pointer);
        if rest.iter().all(|expr| self.is_pure(expr)) { spot } else { self.frozen(spot) }
    }

    /// The tags of an order.
    fn said(&mut self, said: Said, args: &[Expr]) -> Tags {
        let (argument, of) = match said {
            Said::Tags(tags) => return tags,
            Said::Argument(argument, of) => (argument, of),
        };
        self.order(&args[argument], |number| of.tags(number)).unwrap_or(Tags::ATOMIC)
    }

    /// What a constant memory order means; one that is not constant, or cannot be, is a complaint.
    fn order<T>(&mut self, expr: &Expr, meaning: impl FnOnce(i128) -> std::result::Result<T, String>) -> Option<T> {
        let number =
            self.known(expr).ok_or_else(|| "a memory order that is computed at run time is not supported".to_owned());
        match number.and_then(meaning) {
            Ok(meaning) => Some(meaning),
            Err(why) => {
                self.disordered.push((self.shared.sources.span(expr.loc), why));
                None
            }
        }
    }

    /// The value of an expression that is constant in the current call.
    pub(super) fn known(&self, expr: &Expr) -> Option<i128> {
        let known = |lvalue: &Lvalue| match &lvalue.kind {
            LvalueKind::Local(id) => match self.frames.last()?.locals.get(id.0)? {
                Some(Spot::Values(words)) => match words.first()? {
                    Ir::Const(value) => Some(*value),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        fold_with(expr, &self.shared.checked.types, &|_| None, &known)
    }

    fn fence_of(&mut self, atomic: &Atomic, args: &[Expr]) {
        let Said::Argument(argument, _) = atomic.order else { return };
        let name = self.order(&args[argument], atomics::fence).flatten();
        if let Some(fence) = name.and_then(Fence::named) {
            self.fence(fence);
        }
    }

    fn fence(&mut self, fence: Fence) {
        match self.atomic {
            0 => self.emit(Op::Fence(fence)),
            _ => self.fenced.push(self.span),
        }
    }

    /// A read-modify-write that the IR has; gives the old value.
    fn change(&mut self, spot: &Spot, tags: Tags, change: Change) -> LocalExpr {
        let Spot::Memory { base, offset } = spot else {
            return match change {
                Change::Set(value) => self.section(spot, tags, |_, _| value).0,
                Change::Add(value) => self.section(spot, tags, |_, old| arith::binary(BinOp::Add, old, value)).0,
                Change::Cas { expected, new } if Self::is_shared(spot) => {
                    self.atomically(|lowerer| lowerer.swap_here(spot, expected, new, tags))
                }
                Change::Cas { expected, new } => self.swap_here(spot, expected, new, Tags::default()),
            };
        };
        let temp = self.temp();
        let addr = self.addr(base, *offset);
        self.emit(Op::rmw(Some(Place::Reg(temp)), addr, change).tagged(tags));
        Self::var(temp)
    }

    /// A compare-and-swap of an object in registers, or of one in memory whose values are not those of its word.
    fn swap_here(&mut self, spot: &Spot, expected: LocalExpr, new: LocalExpr, tags: Tags) -> LocalExpr {
        let old = self.load(spot, 0, tags.without(Tags::RELEASE));
        let old = self.saved(old);
        let (equal, end) = (self.new_label(), self.new_label());
        self.branch(arith::binary(BinOp::Eq, arith::used(old.clone()), expected), equal, end);
        self.bind(equal);
        self.store(spot, 0, new, tags.without(Tags::ACQUIRE | Tags::CONSUME));
        self.bind(end);
        old
    }

    /// Gives what was found. To compare with an undefined word is an error.
    fn compare_and_swap(
        &mut self,
        spot: &Spot,
        expected: LocalExpr,
        new: LocalExpr,
        (success, failure): (Tags, Tags),
    ) -> LocalExpr {
        if failure != success && matches!(spot, Spot::Bits(word, _) if Self::is_shared(word)) {
            let why = "a compare-and-exchange of a signed member of a union has one order for success and failure";
            self.shared.refused.push((self.span, why.to_owned()));
        }
        let before = self.code.len();
        let old = self.change(spot, success, Change::Cas { expected, new });
        if failure != success && matches!(spot, Spot::Memory { .. }) {
            let made = self.code.get_mut(before..).into_iter().flatten();
            for instr in made.filter(|instr| instr.op.access().is_some()) {
                instr.op = instr.op.clone().failing(failure);
            }
        }
        old
    }

    fn compare_exchange(&mut self, spot: &Spot, atomic: &Atomic, args: &[Expr], weak: bool, tags: Tags) -> LocalExpr {
        let failure = self.said(atomic.failure, args);
        let holder = self.location(&args[1], &args[2..]);
        let new = self.value(&args[2]);
        let wanted = self.read_word(&holder, 0);
        let wanted = self.saved(arith::used(wanted));
        let new = self.simple(new);
        let (found, succeeded) = (self.temp(), self.temp());
        let (tries, fails, failed, end) = (self.new_label(), self.new_label(), self.new_label(), self.new_label());
        if weak && Self::is_shared(spot) {
            let choice = self.temp();
            self.emit(Op::Choose { dst: Place::Reg(choice), from: vec![1, 0] });
            self.branch(Self::var(choice), tries, fails);
            self.bind(fails);
            let value = self.load(spot, 0, failure);
            self.emit(Op::Assign { dst: Place::Reg(found), value });
            self.emit(Op::Assign { dst: Place::Reg(succeeded), value: Ir::Const(0) });
            self.jump(failed);
        }
        self.bind(tries);
        let value = self.compare_and_swap(spot, wanted.clone(), new, (tags, failure));
        self.emit(Op::Assign { dst: Place::Reg(found), value });
        let equal = arith::binary(BinOp::Eq, arith::used(Self::var(found)), wanted);
        self.emit(Op::Assign { dst: Place::Reg(succeeded), value: equal });
        // Where it succeeded both are the same, and nothing depends on which it was. A store would be one too many.
        if matches!(holder, Spot::Memory { .. }) {
            self.branch(Self::var(succeeded), end, failed);
        }
        self.bind(failed);
        self.write_word(&holder, 0, Self::var(found));
        self.bind(end);
        Self::var(succeeded)
    }

    fn fetch(
        &mut self,
        spot: &Spot,
        ty: &Type,
        (change, operand): (atomics::Change, LocalExpr),
        result: Result,
        tags: Tags,
    ) -> Vec<LocalExpr> {
        let (old, new) = self.section(spot, tags, |lowerer, old| match (change, ty) {
            (atomics::Change::Operator(op), Type::Pointer(_)) => {
                lowerer.moved(old, operand.clone(), ty, op == BinOp::Sub)
            }
            (atomics::Change::Operator(op), _) => in_type(ty, op, old, operand.clone()),
            (atomics::Change::Nand, _) => {
                let both = in_type(ty, BinOp::BitAnd, old, operand.clone());
                arith::unary(UnOp::Wrap(int_of(ty)), in_type(ty, BinOp::BitXor, both, Ir::Const(-1)))
            }
        });
        let compared = |op| arith::binary(op, new.clone(), Ir::Const(0));
        match result {
            Result::Old => vec![old],
            Result::New => vec![new],
            Result::IsZero => vec![compared(BinOp::Eq)],
            Result::IsNegative => vec![compared(BinOp::Lt)],
            Result::Nothing => Vec::new(),
        }
    }

    /// One section, which writes only if the location does not hold what it must not.
    fn add_unless(&mut self, spot: &Spot, atomic: &Atomic, args: &[Expr], tags: Tags) -> LocalExpr {
        let (by, unless) = self.pair(&args[1], &args[2]);
        let (by, unless) = (self.saved(by), self.saved(arith::used(unless)));
        let section = |lowerer: &mut Self| {
            let old = lowerer.load(spot, 0, tags.without(Tags::RELEASE));
            let old = lowerer.saved_register(spot, old);
            let differs = arith::binary(BinOp::Ne, arith::used(old.clone()), unless);
            let differs = lowerer.saved(differs);
            let (add, end) = (lowerer.new_label(), lowerer.new_label());
            lowerer.branch(differs.clone(), add, end);
            lowerer.bind(add);
            let sum = in_type(&atomic.ty, BinOp::Add, arith::used(old), by);
            lowerer.store(spot, 0, sum, tags.without(Tags::ACQUIRE));
            lowerer.bind(end);
            differs
        };
        self.atomically(section)
    }

    /// A lock holds 0 while nobody has it. An execution in which a thread goes on without it is none.
    fn take_lock(&mut self, spot: &Spot, wait: bool) -> Vec<LocalExpr> {
        let tags = Tags::ATOMIC | Tags::ACQUIRE | Tags::LOCK;
        if wait {
            let old = self.change(spot, tags, Change::Set(Ir::Const(1)));
            self.emit(Op::Assume(arith::binary(BinOp::Eq, arith::used(old), Ir::Const(0))));
            return Vec::new();
        }
        let old = self.compare_and_swap(spot, Ir::Const(0), Ir::Const(1), (tags, Tags::ATOMIC));
        vec![arith::binary(BinOp::Eq, arith::used(old), Ir::Const(0))]
    }

    fn synchronize(&mut self, spot: &Spot) {
        let at = match spot {
            Spot::Memory { base, offset } => match self.addr(base, *offset) {
                cyrano_ir::Addr::Fixed(location) => Some(location),
                cyrano_ir::Addr::Indexed { .. } => None,
            },
            _ => None,
        };
        match (at, Fence::named("synchronize_srcu")) {
            (Some(at), Some(Fence::Named { name, .. })) => self.fence(Fence::Named { name, at: Some(at) }),
            _ => self.disordered.push((self.span, "the domain of `synchronize_srcu` has to be a variable".to_owned())),
        }
    }
}

/// An operation whose result wraps.
fn wrapped(op: BinOp, ty: IntType, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    match op {
        BinOp::Add | BinOp::Sub => {
            arith::unary(UnOp::Wrap(ty), arith::binary(op, arith::used(left), arith::used(right)))
        }
        _ => arith::integer(op, ty, left, right),
    }
}

/// The same in whatever type an object has.
fn in_type(ty: &Type, op: BinOp, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    wrapped(op, int_of(ty), left, right)
}

fn int_of(ty: &Type) -> IntType {
    match ty {
        Type::Int(int) => *int,
        _ => IntType { bits: 1, signed: false },
    }
}

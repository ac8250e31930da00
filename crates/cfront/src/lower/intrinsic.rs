//! Fences, read-modify-writes, assertions, choices, allocation.
//!
//! A `cas` is one read-modify-write without a fence (CheckFence, Fig. 6). Comparing with an undefined word is an error, also where the
//! result is not used. `dcas` is an atomic section of two loads and two conditional stores.

use cyrano_ir::{BinOp, Change, Expr as Ir, IntType, LocalExpr, Op, Place, UnOp};

use super::{Lowerer, Spot};
use crate::tree::{BlockMark, Expr, ExprKind, Intrinsic};
use crate::types::Type;
use crate::types::arith;

impl Lowerer<'_, '_> {
    pub(super) fn intrinsic(&mut self, what: &Intrinsic, args: &[Expr], position: u32) -> Vec<LocalExpr> {
        match what {
            Intrinsic::Fence(fence) => {
                match self.atomic {
                    0 => self.emit(Op::Fence(*fence)),
                    _ => self.fenced.push(self.span),
                }
                Vec::new()
            }
            Intrinsic::Assume => {
                let cond = self.truth(&args[0]);
                self.shared.waits |= self.atomic > 0;
                self.emit(Op::Assume(cond));
                Vec::new()
            }
            Intrinsic::Assert(message) => {
                let cond = self.truth(&args[0]);
                self.emit(Op::Assert { cond, message: Some(message.clone()) });
                Vec::new()
            }
            Intrinsic::Choose(from) => {
                let temp = self.temp();
                self.emit(Op::Choose { dst: Place::Reg(temp), from: from.clone() });
                vec![Self::var(temp)]
            }
            Intrinsic::Cas => vec![self.cas(args)],
            Intrinsic::Dcas => vec![self.dcas(args)],
            Intrinsic::Exchange => {
                let words = self.operands(args);
                let [location, value] = &words[..] else { return Vec::new() };
                vec![self.rmw(location, Change::Set(value.clone()))]
            }
            Intrinsic::FetchAdd => vec![self.fetch_add(args)],
            Intrinsic::Malloc(ty) => vec![self.allocate(ty, args, position, Self::malloc)],
            Intrinsic::Calloc(ty) => vec![self.allocate(ty, args, position, Self::calloc)],
            Intrinsic::Realloc(ty) => vec![self.realloc(&args[0], ty, position)],
            Intrinsic::Free => {
                self.free(&args[0]);
                Vec::new()
            }
            Intrinsic::Fill(values) => {
                let place = self.target_of(&args[0]);
                (0..).zip(values).for_each(|(word, value)| self.write_word(&place, word, Ir::Const(*value)));
                Vec::new()
            }
            Intrinsic::Copy(words) => {
                let (to, from) = (self.target_of(&args[0]), self.target_of(&args[1]));
                let values: Vec<_> = (0..*words).map(|word| self.read_word(&from, word)).collect();
                let values: Vec<_> = values.into_iter().map(|value| self.saved(value)).collect();
                (0..).zip(values).for_each(|(word, value)| self.write_word(&to, word, value));
                Vec::new()
            }
            Intrinsic::Progress => {
                self.progress();
                Vec::new()
            }
            Intrinsic::Atomic(atomic) => self.atomic_operation(atomic, args),
            Intrinsic::Mark(mark) => {
                self.mark(*mark);
                Vec::new()
            }
            Intrinsic::Thread(call) => self.thread_call(call, args, position),
        }
    }

    /// A mark that the thread passes.
    fn progress(&mut self) {
        match self.atomic > 0 {
            true => self.marked.push(self.span),
            false => self.emit(Op::Progress(None)),
        }
    }

    /// A mark of an atomic block, which has the name of the function that it begins in.
    fn mark(&mut self, mark: BlockMark) {
        if self.atomic > 0 {
            self.marked.push(self.span);
            return;
        }
        let functions = &self.shared.checked.functions;
        let name = self.frames.last().map(|frame| functions[frame.func.0].name.clone()).unwrap_or_default();
        self.emit(match mark {
            BlockMark::Begin => Op::BlockBegin(name),
            BlockMark::Commit => Op::BlockCommit,
            BlockMark::End => Op::BlockEnd(Vec::new()),
        });
    }

    /// The arguments from left to right.
    pub(super) fn operands(&mut self, args: &[Expr]) -> Vec<LocalExpr> {
        let mut words = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let value = self.value(arg);
            let later_effects = args[index + 1..].iter().any(super::expr::has_effects);
            words.push(if later_effects { self.saved(value) } else { value });
        }
        words
    }

    fn rmw(&mut self, location: &LocalExpr, op: Change) -> LocalExpr {
        let temp = self.temp();
        let addr = self.addr(location, 0);
        self.emit(Op::rmw(Some(Place::Reg(temp)), addr, op));
        Self::var(temp)
    }

    fn cas(&mut self, args: &[Expr]) -> LocalExpr {
        let words = self.operands(args);
        let [location, expected, new] = &words[..] else { return Ir::Const(0) };
        let expected = self.simple(arith::used(expected.clone()));
        let old = self.rmw(location, Change::Cas { expected: expected.clone(), new: new.clone() });
        arith::binary(BinOp::Eq, arith::used(old), expected)
    }

    /// A value that is mentioned twice is computed once.
    pub(super) fn simple(&mut self, value: LocalExpr) -> LocalExpr {
        match &value {
            Ir::Const(_) | Ir::Var(_) => value,
            Ir::Unary(UnOp::Defined, inner) if matches!(**inner, Ir::Var(_)) => value,
            _ => self.saved(value),
        }
    }

    fn dcas(&mut self, args: &[Expr]) -> LocalExpr {
        let words = self.operands(args);
        let [a, b, old_a, old_b, new_a, new_b] = &words[..] else { return Ir::Const(0) };
        let (store, end) = (self.new_label(), self.new_label());
        let (place_a, place_b) = (memory(a), memory(b));
        let equal =
            |found: LocalExpr, old: &LocalExpr| arith::binary(BinOp::Eq, arith::used(found), arith::used(old.clone()));
        self.atomically(|lowerer| {
            let (found_a, found_b) = (lowerer.read_word(&place_a, 0), lowerer.read_word(&place_b, 0));
            let both = arith::binary(BinOp::And, equal(found_a, old_a), equal(found_b, old_b));
            let result = lowerer.saved(both);
            lowerer.branch(result.clone(), store, end);
            lowerer.bind(store);
            lowerer.write_word(&place_a, 0, new_a.clone());
            lowerer.write_word(&place_b, 0, new_b.clone());
            lowerer.bind(end);
            result
        })
    }

    /// The addition in memory does not wrap, so that it must not have to.
    fn fetch_add(&mut self, args: &[Expr]) -> LocalExpr {
        let words = self.operands(args);
        let [location, by] = &words[..] else { return Ir::Const(0) };
        let by = self.simple(arith::used(by.clone()));
        let old = self.rmw(location, Change::Add(by.clone()));
        let sum = arith::binary(BinOp::Add, arith::used(old.clone()), by);
        match &args[1].ty {
            Type::Int(ty @ IntType { signed: true, .. }) => self.evaluate(arith::unary(UnOp::Fit(*ty), sum)),
            Type::Int(ty) => {
                let limit = Ir::Const(ty.wrap(-1));
                let cond = arith::binary(BinOp::Le, sum, limit);
                self.emit(Op::Limit { cond, what: "a `fetch_add` that wraps around".into() });
            }
            _ => self.evaluate(sum),
        }
        old
    }

    /// An expression whose value nobody wants.
    pub(super) fn discard(&mut self, expr: &Expr) {
        let words = match &expr.kind {
            // The value of a step or an assignment is not read again.
            ExprKind::Assign(..) => {
                self.values(expr);
                return;
            }
            ExprKind::Update { target, calc, .. } => {
                let kind = ExprKind::Update { target: target.clone(), calc: calc.clone(), gives_old: false };
                self.values(&Expr::new(kind, expr.ty.clone(), expr.loc));
                return;
            }
            _ => self.values(expr),
        };
        words.into_iter().for_each(|word| self.evaluate(word));
    }
}

fn memory(pointer: &LocalExpr) -> Spot {
    Spot::Memory { base: pointer.clone(), offset: 0 }
}

//! Base objects as words of a machine's memory, for models that reorder accesses on their own (`docs/algorithms.md`).
//!
//! A `read` is a load and a `write` a store, which the model may defer; a `cas` and a `tryLock` are read-modify-writes, and `lock` is a section that
//! waits, with the order that the model gives them. Two things are more than a word:
//!
//! - A **basic register** is written by two stores: one raises the thread's own flag, the other one, in one section with lowering it, writes the value. Whoever finds
//!   another thread's flag up reads any value. A count of writes, as elsewhere, would need a read-modify-write, which on many machines is a fence.
//!   The value is chosen before the loads and taken without a branch, for a control dependency would order what follows.
//! - A **lock** keeps what it promises everywhere: what follows `lock` and `tryLock` stays behind, what precedes an `unlock` stays before.
//!   So there is a fence behind the one, from its load to later accesses, and one in front of the other, to its store. An `unlock` looks whether the lock is held
//!   before it stores, in a step of its own: in one section the two would be a read-modify-write.
//!
//! `order A < B` is a fence of the kinds that the two are of, where B begins and A is executed before it in the call, if B is.
//!
//! **In order this is `inorder`:** where every pair is kept, a section of one load or store is that access, a flag for each thread tells as much as a count, and what is in
//! a record that nobody knows yet nobody sees. Only who releases a lock that somebody else takes or releases at the same time can tell, and then some
//! execution fails its assertion in both.

use cyrano_ir::told::{Answer, Part};
use cyrano_ir::{Addr, ArrayId, BinOp, Expr as IrExpr, FenceSet, LocalExpr, Op, Place, RegId, Span};

use crate::expand::method::Lower;
use crate::lower::build::{any, int, is, var};
use crate::lower::objects::Target;
use crate::orders::layout::paired;
use crate::report::{Fallible, Reported};
use crate::syntax::ast::Stmt;
use crate::syntax::objects::ObjectKind;

/// Whether a call was made here.
pub(super) enum Done {
    /// It was, and this is its result.
    As(LocalExpr),
    /// It is no different on a machine; these are its arguments.
    Not(Vec<LocalExpr>),
}

/// What follows a lock stays behind it.
const ACQUIRE: FenceSet = FenceSet::from_bits(FenceSet::LL.bits() | FenceSet::LS.bits());

/// What precedes the release of a lock stays before it.
const RELEASE: FenceSet = FenceSet::from_bits(FenceSet::LS.bits() | FenceSet::SS.bits());

impl<'a> Lower<'a, '_, '_> {
    /// A call, as far as words of memory make a difference.
    pub(super) fn perform_on_words(
        &mut self,
        method: &str,
        target: &Target,
        mut args: Vec<LocalExpr>,
        old: RegId,
        span: Span,
    ) -> Fallible<Done> {
        let helped = !target.object.writing.is_empty();
        let is_lock = matches!(target.object.kind, ObjectKind::Lock | ObjectKind::TryLock);
        let result = match method {
            "read" if helped => self.read_word(target, span)?,
            "write" if helped => {
                let value = args.pop().ok_or(Reported)?;
                self.write_word(target, value, span)?;
                int(0)
            }
            "tryLock" => {
                let got = self.cas(target, old, (int(0), int(self.own.tx)), span)?;
                self.emit(Op::fence(ACQUIRE), span)?;
                got
            }
            "lock" => {
                let tx = int(self.own.tx);
                self.section(span, (true, true), |lower| {
                    lower.load(old, target.addr(), span)?;
                    lower.emit(Op::Assume(is(var(old), 0)), span)?;
                    lower.store(target.addr(), tx, span)
                })?;
                self.emit(Op::fence(ACQUIRE), span)?;
                int(0)
            }
            "unlock" if is_lock => {
                let message = Some("only a lock that is held is released".to_owned());
                self.build.part(Part::Begin);
                self.load(old, target.addr(), span)?;
                let cond = IrExpr::binary(BinOp::Ne, var(old), int(0));
                self.emit(Op::Assert { cond, message }, span)?;
                self.emit(Op::fence(RELEASE), span)?;
                self.build.part(Part::End);
                self.store(target.addr(), int(0), span)?;
                int(0)
            }
            _ => return Ok(Done::Not(args)),
        };
        Ok(Done::As(result))
    }

    fn read_word(&mut self, target: &Target, span: Span) -> Fallible<LocalExpr> {
        let (value, chosen) = (self.build.register("%value", 0), self.build.register("%any", 0));
        let others: Vec<ArrayId> = target
            .object
            .writing
            .iter()
            .copied()
            .enumerate()
            .filter(|(t, _)| *t != self.own.thread)
            .map(|(_, flag)| flag)
            .collect();
        if others.is_empty() {
            self.load(value, target.addr(), span)?;
            return Ok(var(value));
        }
        let met: Vec<RegId> = (0..others.len()).map(|at| self.build.register(&format!("%met{at}"), 0)).collect();
        let object = self.build.pause_object();
        self.emit(Op::Choose { dst: Place::Reg(chosen), from: target.object.domain.clone() }, span)?;
        self.build.resume_object(object);
        self.section(span, (true, true), |lower| {
            for (flag, met) in others.into_iter().zip(&met) {
                lower.load(*met, target.helper(flag), span)?;
            }
            lower.load(value, target.addr(), span)
        })?;
        let met = any(met.into_iter().map(var));
        let either = |met: LocalExpr, value| IrExpr::binary(BinOp::Mul, met, var(value));
        let free = IrExpr::binary(BinOp::Sub, int(1), met.clone());
        let read = IrExpr::binary(BinOp::Add, either(met, chosen), either(free, value));
        self.build.answer(Answer::Is(read.clone()));
        self.assign(Place::Reg(value), read, span)?;
        Ok(var(value))
    }

    fn write_word(&mut self, target: &Target, value: LocalExpr, span: Span) -> Fallible<()> {
        let new = self.build.register("%new", 0);
        let flag = target.object.writing.get(self.own.thread).copied().ok_or(Reported)?;
        let object = self.build.pause_object();
        self.assign(Place::Reg(new), value, span)?;
        self.build.resume_object(object);
        self.build.part(Part::Begin);
        self.store(target.helper(flag), int(1), span)?;
        self.build.part(Part::End);
        self.section(span, (false, true), |lower| {
            lower.store(target.addr(), var(new), span)?;
            lower.store(target.helper(flag), int(0), span)
        })?;
        Ok(())
    }

    /// The writes of `new` are stores like others: who gives the record away sees to it that they come first.
    pub(super) fn new_record_in_words(
        &mut self,
        record: &str,
        fields: impl ExactSizeIterator<Item = (ArrayId, LocalExpr)>,
        into: Option<RegId>,
        span: Span,
    ) -> Fallible<LocalExpr> {
        let number = int(self.own.memory.new_record(record));
        let several = fields.len() > 1;
        for (at, (array, value)) in fields.enumerate() {
            self.build.part(match at {
                0 if several => Part::Begin,
                0 => Part::Whole,
                _ => Part::End,
            });
            self.store(Addr::Indexed { array, index: number.clone() }, value, span)?;
        }
        self.build.answer(Answer::Is(number.clone()));
        self.build.end_object();
        let dst = into.unwrap_or_else(|| self.build.register("%value", 0));
        self.assign(Place::Reg(dst), number, span)?;
        Ok(var(dst))
    }

    /// Leaves room for a fence where a statement begins that some order is about.
    pub(crate) fn before_ordered(&mut self, stmt: &'a Stmt) -> Fallible<Option<usize>> {
        let ordered = |label: &str| self.own.algorithm.orders.iter().any(|order| order.second.text == label);
        if !self.own.words || !stmt.label.as_ref().is_some_and(|label| ordered(&label.text)) {
            return Ok(None);
        }
        let (at, next) = (self.build.here() as usize, self.label());
        self.jump(next, stmt.span)?;
        self.place(next);
        Ok(Some(at))
    }

    /// Puts the fence there that the orders about this statement ask for, now that it is known what it does.
    pub(crate) fn behind_ordered(&mut self, stmt: &'a Stmt, at: usize) {
        let Some(label) = &stmt.label else { return };
        let kinds = |from: usize| self.build.thread.code[from].op.access_kind();
        let second = (at + 1..self.build.thread.code.len()).filter_map(kinds).map(FenceSet::from_second);
        let second = second.fold(FenceSet::NONE, |all, kind| all | kind);
        let context = &self.build.marks[at].context;
        let call = |from: &usize| self.build.marks[*from].context.call == context.call;
        let mut first = FenceSet::NONE;
        for order in self.own.algorithm.orders.iter().filter(|order| order.second.text == label.text) {
            let Some(number) = self.labels.get(order.first.text.as_str()) else { continue };
            let of = |from: &usize| {
                let mark = &self.build.marks[*from].context;
                mark.labels.contains(number) && paired(order.each, mark, context)
            };
            let found: Vec<usize> = (0..at).rev().take_while(call).filter(of).collect();
            let own = found.iter().filter_map(|from| kinds(*from)).map(FenceSet::from_first);
            let own = own.fold(FenceSet::NONE, |all, kind| all | kind);
            // A condition waits for the loads that it depends on.
            let test = !found.is_empty() && own.is_empty();
            first |= if test { FenceSet::LL | FenceSet::LS } else { own };
        }
        let fence = first & second;
        if !fence.is_empty() {
            self.build.thread.code[at].op = Op::fence(fence);
        }
    }
}

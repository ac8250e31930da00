//! Statements to instructions.
//!
//! In a primed call (CheckFence, Fig. 8) a *retry loop* runs once: a loop without a condition, or whose condition tries a read-modify-write,
//! and any jump back. An execution that would go round again is dropped. Other loops, which walk along a list, are not restricted.

use cyrano_ir::{BinOp, Expr as Ir, Op, UnOp};

use super::Lowerer;
use crate::tree::{Expr, ExprKind, Intrinsic, LabelId, Loop, Stmt, StmtKind, ThreadCall};
use crate::types::arith;

impl Lowerer<'_, '_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        if self.too_long {
            return;
        }
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Block(list) => {
                for (at, stmt) in list.iter().enumerate() {
                    let before = at.checked_sub(1).map(|before| &list[before]);
                    match &stmt.kind {
                        StmtKind::Loop(repeat) => match self.counted(before, repeat) {
                            Some(counted) => self.rounds(&counted, repeat, stmt),
                            None => self.stmt(stmt),
                        },
                        _ => self.stmt(stmt),
                    }
                }
            }
            StmtKind::Declare(id, value) => {
                self.at(stmt.loc);
                match value {
                    Some(value) => {
                        let words = self.initial(*id, value);
                        if !self.keeps(*id, &words) {
                            let spot = self.new_or_known(*id);
                            self.assign_words(&spot, words);
                        }
                    }
                    None if self.repeats > 0 || self.fresh > 0 => self.forget(*id),
                    None => {}
                }
            }
            StmtKind::Expr(expr) => {
                self.at(stmt.loc);
                self.discard(expr);
            }
            StmtKind::If(cond, then, other) => self.branches(cond, then, other.as_deref()),
            StmtKind::Loop(repeat) if self.repeats == 0 && self.creates(repeat) => self.bounded_rounds(repeat, stmt),
            StmtKind::Loop(repeat) => self.repeat(repeat, stmt),
            StmtKind::Switch { value, cases, default, body } => self.switch(value, cases, *default, body),
            StmtKind::Label(id, body) => {
                let label = self.label_of(*id);
                self.bind(label);
                self.stmt(body);
            }
            StmtKind::Goto(id, position, atomic) => self.goto(*id, *position, atomic.len(), stmt),
            StmtKind::Break => {
                let target = self.frame().and_then(|frame| frame.breaks.last().copied());
                target.into_iter().for_each(|target| self.leave(target));
            }
            StmtKind::Continue => {
                let target = self.frame().and_then(|frame| frame.continues.last().copied());
                target.into_iter().for_each(|target| self.leave(target));
            }
            StmtKind::Return(value) => self.give_back(value.as_ref(), stmt),
            StmtKind::Atomic(body) => {
                self.at(stmt.loc);
                self.atomically(|lowerer| lowerer.stmt(body));
            }
        }
    }

    fn branches(&mut self, cond: &Expr, then: &Stmt, other: Option<&Stmt>) {
        let (yes, no, end) = (self.new_label(), self.new_label(), self.new_label());
        self.at(cond.loc);
        self.condition(cond, yes, no);
        self.bind(yes);
        let around = self.atomic;
        self.stmt(then);
        let behind = std::mem::replace(&mut self.atomic, around);
        if other.is_some() {
            self.jump(end);
        }
        self.bind(no);
        other.into_iter().for_each(|other| self.stmt(other));
        // A way that goes no further may have ended the section that the other one is still in.
        if other.is_some_and(leaves) {
            self.atomic = behind;
        } else if behind != self.atomic && !leaves(then) {
            self.refuse("an atomic section begins or ends on one of two ways that meet");
        }
        self.bind(end);
    }

    fn repeat(&mut self, repeat: &Loop, stmt: &Stmt) {
        let once = self.primed && is_retry(repeat);
        let (head, body, next, end) = (self.new_label(), self.new_label(), self.new_label(), self.new_label());
        self.bind(head);
        if let (Some(cond), true) = (&repeat.cond, repeat.tests_first) {
            self.at(cond.loc);
            self.condition(cond, body, end);
        }
        self.bind(body);
        let (on_break, on_continue) = (self.target(end), self.target(next));
        if let Some(frame) = self.frame() {
            frame.breaks.push(on_break);
            frame.continues.push(on_continue);
        }
        self.repeats += u32::from(!once);
        self.stmt(&repeat.body);
        if let Some(frame) = self.frame() {
            frame.breaks.pop();
            frame.continues.pop();
        }
        self.bind(next);
        if let Some(step) = &repeat.step {
            self.at(step.loc);
            self.discard(step);
        }
        self.at(stmt.loc);
        match (&repeat.cond, once) {
            (Some(cond), true) => {
                self.at(cond.loc);
                let again = self.truth(cond);
                self.emit(Op::Assume(arith::unary(UnOp::Not, again)));
            }
            (None, true) => self.emit(Op::Assume(Ir::Const(0))),
            (Some(cond), false) if !repeat.tests_first => {
                self.at(cond.loc);
                self.condition(cond, head, end);
            }
            _ => self.jump(head),
        }
        self.repeats -= u32::from(!once);
        self.bind(end);
    }

    fn switch(&mut self, value: &Expr, cases: &[(i128, LabelId)], default: Option<LabelId>, body: &Stmt) {
        self.at(value.loc);
        let value = self.value(value);
        let value = if cases.len() > 1 { self.saved(value) } else { value };
        let end = self.new_label();
        for (constant, id) in cases {
            let (label, next) = (self.label_of(*id), self.new_label());
            let cond = arith::binary(BinOp::Eq, arith::used(value.clone()), Ir::Const(*constant));
            self.branch(cond, label, next);
            self.bind(next);
        }
        let otherwise = default.map_or(end, |id| self.label_of(id));
        self.jump(otherwise);
        let target = self.target(end);
        if let Some(frame) = self.frame() {
            frame.breaks.push(target);
        }
        self.stmt(body);
        if let Some(frame) = self.frame() {
            frame.breaks.pop();
        }
        self.bind(end);
    }

    fn goto(&mut self, id: LabelId, position: u32, _atomic: usize, stmt: &Stmt) {
        self.at(stmt.loc);
        let Some(frame) = self.frames.last() else { return };
        let info = &self.shared.checked.functions[frame.func.0].labels[id.0];
        let (back, atomic) = (info.position < position, frame.atomic + info.atomic.len() as u32);
        if back && self.primed {
            self.emit(Op::Assume(Ir::Const(0)));
        }
        let label = self.label_of(id);
        if back && self.primed {
            // Nothing comes here; going on to the end keeps the code without a loop.
            let exit = self.frames.last().map(|frame| frame.exit);
            return exit.into_iter().for_each(|exit| self.leave(exit));
        }
        self.leave(super::Target { label, atomic });
    }

    fn give_back(&mut self, value: Option<&Expr>, stmt: &Stmt) {
        self.at(stmt.loc);
        if let Some(value) = value {
            let words = self.values(value);
            let result = self.frame().and_then(|frame| frame.result.clone());
            result.into_iter().for_each(|result| drop(self.assign_words(&result, words.clone())));
        }
        let exit = self.frames.last().map(|frame| frame.exit);
        exit.into_iter().for_each(|exit| self.leave(exit));
    }
}

/// Whether nothing goes on behind a statement.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Goto(..) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(list) => list.last().is_some_and(leaves),
        StmtKind::If(_, then, Some(other)) => leaves(then) && leaves(other),
        StmtKind::Label(_, body) | StmtKind::Atomic(body) => leaves(body),
        StmtKind::Expr(Expr { kind: ExprKind::Intrinsic { what, .. }, .. }) => {
            matches!(**what, Intrinsic::Thread(ThreadCall::Exit | ThreadCall::Quit | ThreadCall::Abort(_)))
        }
        _ => false,
    }
}

/// Whether going round again means that an attempt failed.
fn is_retry(repeat: &Loop) -> bool {
    repeat.cond.as_ref().is_none_or(tries)
}

fn tries(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Intrinsic { what, .. } => {
            matches!(**what, Intrinsic::Cas | Intrinsic::Dcas | Intrinsic::Exchange | Intrinsic::FetchAdd)
        }
        ExprKind::Unary(_, arg) | ExprKind::Convert(arg) => tries(arg),
        ExprKind::Binary(_, a, b) => tries(a) || tries(b),
        ExprKind::Assign(_, value) => tries(value),
        _ => false,
    }
}

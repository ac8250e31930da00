//! Statements to instructions.

use cyrano_ir::{Change, Expr as IrExpr, LocalExpr, Op, Place, Span, Tags, Ty};

use crate::expand::fold::{fold, fold_range};
use crate::lower::build::is;
use crate::lower::expr::Slot;
use crate::lower::thread::{Label, LoopTargets, Lower};
use crate::report::{Fallible, Reported};
use crate::syntax::ast::{
    Block, Command, Expr, Name, Place as Target, Range, Rhs, Rmw, RmwArgs, Stmt, StmtKind, VarDecl,
};

impl<'a> Lower<'a, '_> {
    /// Lowers one statement.
    pub(crate) fn lower_stmt(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Declare(decls) => self.lower_declaration(decls, span),
            StmtKind::Assign(place, rhs) => self.lower_assign(place, rhs, span),
            StmtKind::Do(Rhs::Rmw(rmw)) => self.lower_rmw(None, rmw, span),
            StmtKind::Do(Rhs::Call(call)) => self.lower_call(call, None),
            StmtKind::If { arms, otherwise } => self.lower_if(arms, otherwise.as_ref()),
            StmtKind::While(cond, body) => self.lower_while(cond, body),
            StmtKind::Loop(body) => self.lower_loop(body, span),
            StmtKind::Break => self.leave_loop(|targets| targets.on_break, span),
            StmtKind::Continue => self.leave_loop(|targets| targets.on_continue, span),
            StmtKind::Fence(kinds) => self.emit(Op::fence(*kinds), span),
            StmtKind::Atomic(body) if self.commits(body) => self.lower_atomic_block(None, &[], body, span),
            StmtKind::AtomicBlock(block) => {
                self.lower_atomic_block(block.name.as_ref(), &block.results, &block.body, span)
            }
            StmtKind::Atomic(body) => {
                self.emit(Op::AtomicBegin, span)?;
                self.lower_block(body);
                self.emit(Op::AtomicEnd, body.close)
            }
            StmtKind::Tx(body) => self.lower_tx(body, span),
            StmtKind::Operation(name, body) => {
                self.emit(Op::OperationBegin(name.text.clone()), span)?;
                self.in_operation = true;
                self.lower_block(body);
                self.in_operation = false;
                self.emit(Op::OperationEnd, body.close)
            }
            StmtKind::ChooseValue(place, range) => self.lower_choice(place, range, span),
            StmtKind::ChooseBlock(blocks) => {
                let count = i128::try_from(blocks.len()).map_err(|_| Reported)?;
                let options = (0..count).zip(blocks.iter().map(|block| (None, block))).collect();
                self.lower_options(options, span)
            }
            StmtKind::Assume(cond) => match fold(cond, self)? {
                IrExpr::Const(value) if value != 0 => Ok(()),
                cond => self.emit(Op::Assume(cond), span),
            },
            StmtKind::Assert(cond, message) => {
                let cond = fold(cond, self)?;
                self.emit(Op::Assert { cond, message: message.clone() }, span)
            }
            StmtKind::Return(value) => self.lower_return(value.as_ref(), span),
            StmtKind::Foreach(binder, range, body) => self.lower_foreach(binder, range, body, span),
            StmtKind::Forsome(binder, range, body) => {
                let values = self.choices(range)?;
                let options = values.into_iter().map(|value| (value, (Some(binder), body))).collect();
                self.lower_options(options, span)
            }
            StmtKind::Skip => Ok(()),
            // The rules have refused it.
            StmtKind::Do(_) | StmtKind::Each(_) => Err(Reported),
            StmtKind::Transaction(event) => self.lower_event(*event, span),
            StmtKind::Rollback(place, value) => {
                let Slot::Shared(addr, _) = self.slot(place)? else { return Err(Reported) };
                let value = fold(value, self)?;
                // A given client has no history, so nothing in it is undone.
                let tags = if self.tx.is_none() { Tags::ROLLBACK } else { Tags::default() };
                self.emit(Op::store(addr, value).tagged(tags), span)
            }
        }
    }

    /// A thread's own locals start with their values; those of a procedure get them anew in every call.
    fn lower_declaration(&mut self, decls: &'a [VarDecl], span: Span) -> Fallible<()> {
        let names = self.shared.names;
        if self.frame.body.0 >= names.file.procs.len() {
            return Ok(());
        }
        for decl in decls {
            let var = names.local(self.frame.body, &decl.name.text).ok_or(Reported)?;
            let home = self.home(var)?;
            for (offset, value) in self.initial_values(var)?.into_iter().enumerate() {
                let dst = Place::Reg(cyrano_ir::RegId::new(home.index() + offset));
                self.emit(Op::Assign { dst, value: IrExpr::Const(value) }, span)?;
            }
        }
        Ok(())
    }

    fn lower_assign(&mut self, target: &'a Target, rhs: &'a Rhs, span: Span) -> Fallible<()> {
        match (rhs, self.slot(target)?) {
            (Rhs::Expr(value), Slot::Local(dst)) => self.lower_value(Some(dst), value, span),
            (Rhs::Expr(value), Slot::Shared(addr, _)) => {
                let value = fold(value, self)?;
                self.emit(Op::store(addr, value), span)
            }
            (Rhs::Rmw(rmw), Slot::Local(dst)) => self.lower_rmw(Some(dst), rmw, span),
            (Rhs::Call(call), Slot::Local(dst)) => self.lower_call(call, Some(dst)),
            (Rhs::Rmw(rmw), Slot::Shared(addr, ty)) => {
                let old = Place::Reg(self.temporary(ty, span)?);
                self.lower_rmw(Some(old.clone()), rmw, span)?;
                self.emit(Op::store(addr, IrExpr::Var(old)), span)
            }
            (Rhs::Call(call), Slot::Shared(addr, ty)) => {
                let result = Place::Reg(self.result(ty, span)?);
                self.lower_call(call, Some(result.clone()))?;
                self.emit(Op::store(addr, IrExpr::Var(result)), span)
            }
            (Rhs::Access(_) | Rhs::New(_), _) => Err(Reported),
        }
    }

    /// Computes a value into a local, or only performs its loads.
    fn lower_value(&mut self, dst: Option<Place>, value: &'a Expr, span: Span) -> Fallible<()> {
        let Some(dst) = dst else {
            return fold(value, self).map(|_| ());
        };
        if let Some(Slot::Shared(addr, _)) = self.slot_read(value)? {
            return self.emit(Op::load(dst, addr), span);
        }
        let value = fold(value, self)?;
        self.emit(Op::Assign { dst, value }, span)
    }

    fn lower_rmw(&mut self, dst: Option<Place>, rmw: &'a Rmw, span: Span) -> Fallible<()> {
        let Slot::Shared(addr, ty) = self.slot(&rmw.target)? else { return Err(Reported) };
        let op = match &rmw.op {
            RmwArgs::Cas(expected, new) => Change::Cas { expected: fold(expected, self)?, new: fold(new, self)? },
            RmwArgs::Exchange(value) => Change::Set(fold(value, self)?),
            RmwArgs::FetchAdd(value) => {
                let folded = fold(value, self)?;
                if ty == Ty::Timestamp && matches!(folded, IrExpr::Const(amount) if amount < 0) {
                    let message = "a timestamp cannot be decremented";
                    return Err(self.reports.complain(
                        value.span,
                        message,
                        "a negative constant",
                        crate::resolve::typing::TIMESTAMP_HELP,
                    ));
                }
                Change::Add(folded)
            }
        };
        self.emit(Op::rmw(dst, addr, op), span)
    }

    fn lower_if(&mut self, arms: &'a [(Expr, Block)], otherwise: Option<&'a Block>) -> Fallible<()> {
        let end = self.label();
        for (cond, body) in arms {
            match fold(cond, self)? {
                IrExpr::Const(0) => {}
                IrExpr::Const(_) => {
                    self.lower_block(body);
                    self.place(end);
                    return Ok(());
                }
                folded => {
                    let (then_to, else_to) = (self.label(), self.label());
                    self.branch(folded, then_to, else_to, cond.span)?;
                    self.place(then_to);
                    self.lower_block(body);
                    self.jump(end, cond.span)?;
                    self.place(else_to);
                }
            }
        }
        otherwise.into_iter().for_each(|body| self.lower_block(body));
        self.place(end);
        Ok(())
    }

    /// Goes one way or the other.
    pub(crate) fn branch(&mut self, cond: LocalExpr, then_to: Label, else_to: Label, span: Span) -> Fallible<()> {
        let (then_to, else_to) = (then_to.target(), else_to.target());
        self.emit(Op::Branch { cond, then_to, else_to }, span)
    }

    fn lower_while(&mut self, cond: &'a Expr, body: &'a Block) -> Fallible<()> {
        match fold(cond, self)? {
            IrExpr::Const(0) => Ok(()),
            IrExpr::Const(_) => self.lower_loop(body, cond.span),
            folded => {
                let (head, inside, end) = (self.label(), self.label(), self.label());
                self.place(head);
                self.branch(folded, inside, end, cond.span)?;
                self.place(inside);
                self.lower_loop_body(body, end, head);
                self.jump(head, cond.span)?;
                self.place(end);
                Ok(())
            }
        }
    }

    fn lower_loop(&mut self, body: &'a Block, span: Span) -> Fallible<()> {
        let (head, end) = (self.label(), self.label());
        self.place(head);
        self.lower_loop_body(body, end, head);
        self.jump(head, span)?;
        self.place(end);
        Ok(())
    }

    fn lower_loop_body(&mut self, body: &'a Block, on_break: Label, on_continue: Label) {
        let in_operation = self.in_operation;
        self.frame.loops.push(LoopTargets { on_break, on_continue, in_operation });
        self.lower_block(body);
        self.frame.loops.pop();
    }

    fn leave_loop(&mut self, target: impl Fn(&LoopTargets) -> Label, span: Span) -> Fallible<()> {
        let targets = *self.frame.loops.last().ok_or(Reported)?;
        self.leave(target(&targets), targets.in_operation, span)
    }

    /// Jumps, ending the operation first if the jump leaves it.
    pub(crate) fn leave(&mut self, target: Label, in_operation: bool, span: Span) -> Fallible<()> {
        if self.in_operation && !in_operation {
            self.emit(Op::OperationEnd, span)?;
        }
        if self.leave_block(target, span)? { Ok(()) } else { self.jump(target, span) }
    }

    fn lower_return(&mut self, value: Option<&'a Rhs>, span: Span) -> Fallible<()> {
        if let Some(value) = value {
            let Rhs::Expr(value) = value else { return Err(Reported) };
            self.lower_value(self.frame.result.clone(), value, span)?;
            let command = self.shared.names.command(self.frame.body);
            if self.values.is_some() && command == Some(Command::Read) {
                return self.respond_and_go_on(Command::Read, span);
            }
            if self.tx.is_some() && command == Some(Command::Read) {
                return self.leave(self.frame.on_return, self.frame.in_operation, span);
            }
        }
        self.end_body(span)
    }

    fn lower_foreach(&mut self, binder: &'a Name, range: &'a Range, body: &'a Block, span: Span) -> Fallible<()> {
        let end = self.label();
        for value in fold_range(range, self)? {
            crate::expand::fold::charge(self, 1, span)?;
            let next = self.label();
            self.frame.binders.push((&binder.text, value));
            self.lower_loop_body(body, end, next);
            self.frame.binders.pop();
            self.place(next);
        }
        self.place(end);
        Ok(())
    }

    fn lower_choice(&mut self, target: &'a Target, range: &'a Range, span: Span) -> Fallible<()> {
        let from = self.choices(range)?;
        match self.slot(target)? {
            Slot::Local(dst) => self.emit(Op::Choose { dst, from }, span),
            Slot::Shared(addr, ty) => {
                let dst = Place::Reg(self.temporary(ty, span)?);
                self.emit(Op::Choose { dst: dst.clone(), from }, span)?;
                self.emit(Op::store(addr, IrExpr::Var(dst)), span)
            }
        }
    }

    /// The different values of a range, of which there must be one.
    fn choices(&mut self, range: &'a Range) -> Fallible<Vec<i128>> {
        let mut seen = std::collections::HashSet::new();
        let mut values = fold_range(range, self)?;
        values.retain(|value| seen.insert(*value));
        if values.is_empty() {
            let help = "a choice needs at least one value";
            return Err(self.reports.complain(range.span, "there is nothing to choose from", "an empty range", help));
        }
        Ok(values)
    }

    /// Chooses a number, each of which leads to a label of its own; the tests stand at these spans.
    pub(crate) fn choose_among(&mut self, dst: Place, numbers: &[(i128, Span)], span: Span) -> Fallible<Vec<Label>> {
        let from = numbers.iter().map(|(number, _)| *number).collect();
        self.emit(Op::Choose { dst: dst.clone(), from }, span)?;
        let starts: Vec<_> = numbers.iter().map(|_| self.label()).collect();
        let (last, others) = starts.split_last().ok_or(Reported)?;
        for ((number, at), start) in numbers.iter().zip(others) {
            let next = self.label();
            self.branch(is(IrExpr::Var(dst.clone()), *number), *start, next, *at)?;
            self.place(next);
        }
        self.jump(*last, span)?;
        Ok(starts)
    }

    /// Executes one of several blocks. All tests come before the first block, so that nested choices may use the same register.
    fn lower_options(&mut self, options: Vec<(i128, (Option<&'a Name>, &'a Block))>, span: Span) -> Fallible<()> {
        let dst = Place::Reg(self.choice(span)?);
        let numbers: Vec<_> = options.iter().map(|(value, _)| (*value, span)).collect();
        let starts = self.choose_among(dst, &numbers, span)?;
        let end = self.label();
        for ((value, (binder, block)), start) in options.into_iter().zip(starts) {
            self.place(start);
            self.frame.binders.extend(binder.map(|binder| (binder.text.as_str(), value)));
            self.lower_block(block);
            if binder.is_some() {
                self.frame.binders.pop();
            }
            self.jump(end, span)?;
        }
        self.place(end);
        Ok(())
    }
}

//! Statements to instructions, in every language.

use cyrano_ir::{Change, Expr as IrExpr, LocalExpr, Op, Place, Span, Ty};

use crate::expand::fold::{charge, fold, fold_range};
use crate::lower::build::{Label, is};
use crate::lower::expr::Slot;
use crate::lower::{Language, LoopTargets, Lower};
use crate::report::{Fallible, Reported};
use crate::syntax::ast::{Block, Expr, Name, Place as Target, Range, Rhs, Rmw, RmwArgs, Stmt, StmtKind};

impl<'a, L: Language<'a>> Lower<'a, '_, L> {
    /// Lowers one statement; the label in front of it stands for what it does, not for what is inside of it.
    pub(crate) fn lower_stmt(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        let label = self.label_of(stmt);
        L::labelled(self, stmt)?;
        let room = L::before_ordered(self, stmt)?;
        let from = self.build.here() as usize;
        match &stmt.kind {
            StmtKind::If { arms, otherwise } => self.lower_if(arms, otherwise.as_ref(), label, stmt.span)?,
            StmtKind::Each(_) => L::own_stmt(self, stmt)?,
            _ => self.labelled(label, |lower| lower.lower_simple(stmt))?,
        }
        if let Some(at) = room {
            L::behind_ordered(self, stmt, at);
        }
        let named = stmt.label.as_ref().filter(|label| self.named.contains(label.text.as_str()));
        named.map_or(Ok(()), |label| self.close_named(label, from, stmt.span))
    }

    /// The number of the label in front of a statement.
    pub(crate) fn label_of(&self, stmt: &Stmt) -> Option<u32> {
        stmt.label.as_ref().and_then(|label| self.labels.get(label.text.as_str()).copied())
    }

    fn lower_simple(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Assign(place, rhs) => self.lower_assign(place, rhs, span),
            StmtKind::Do(rhs) => self.right(rhs, None, span).map(drop),
            StmtKind::While(cond, body) => self.lower_while(cond, body),
            StmtKind::Loop(body) => self.lower_loop(body, span),
            StmtKind::Break => self.leave_loop(|targets| targets.on_break, span),
            StmtKind::Continue => self.leave_loop(|targets| targets.on_continue, span),
            StmtKind::Fence(fence) => self.emit(Op::Fence(*fence), span),
            StmtKind::Operation(name, body) => {
                self.emit(Op::OperationBegin(name.text.clone()), span)?;
                self.in_operation = true;
                self.lower_block(body)?;
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
                let cond = self.look(cond, span)?;
                self.emit(Op::Assert { cond, message: message.clone() }, span)
            }
            StmtKind::Return(value) => {
                match (value, self.frame.result.clone()) {
                    (Some(rhs), Some(dst)) => self.assign_right(dst, rhs, span)?,
                    (Some(rhs), None) => drop(self.right(rhs, None, span)?),
                    (None, _) => {}
                }
                L::leave_body(self, value.is_some(), span)
            }
            StmtKind::Foreach(binder, range, body) => self.lower_foreach(binder, range, body, span),
            StmtKind::Forsome(binder, range, body) => {
                let values = self.choices(range)?;
                let options = values.into_iter().map(|value| (value, (Some(binder), body))).collect();
                self.lower_options(options, span)
            }
            StmtKind::Progress => self.emit(Op::Progress(None), span),
            StmtKind::Skip => Ok(()),
            _ => L::own_stmt(self, stmt),
        }
    }

    /// The condition of an assertion. What it reads of memory it loads at once: several loads are an atomic section.
    fn look(&mut self, cond: &'a Expr, span: Span) -> Fallible<LocalExpr> {
        let from = self.build.here();
        let cond = fold(cond, self)?;
        if self.build.here() - from > 1 && !self.in_section {
            self.reports.settle(self.budget.charge_instruction(span))?;
            self.build.insert(from, Op::AtomicBegin, span);
            self.emit(Op::AtomicEnd, span)?;
        }
        Ok(cond)
    }

    fn lower_assign(&mut self, target: &'a Target, rhs: &'a Rhs, span: Span) -> Fallible<()> {
        match L::slot(self, target)? {
            Slot::Local(dst) => self.assign_right(dst, rhs, span),
            Slot::Shared(addr, ty) => {
                let into = match rhs {
                    Rhs::Expr(_) => None,
                    Rhs::Rmw(_) => Some(Place::Reg(self.temporary(ty, span)?)),
                    _ => Some(Place::Reg(self.result(ty, span)?)),
                };
                let value = self.right(rhs, into.clone(), span)?;
                let value = value.or(into.map(IrExpr::Var)).ok_or(Reported)?;
                self.emit(Op::store(addr, value), span)
            }
        }
    }

    /// The register that takes a returned value to a shared variable.
    fn result(&mut self, ty: Ty, span: Span) -> Fallible<cyrano_ir::RegId> {
        let name = if ty == Ty::Int { "%result" } else { "%result.timestamp" };
        self.register(name, ty, span)
    }

    fn assign_right(&mut self, dst: Place, rhs: &'a Rhs, span: Span) -> Fallible<()> {
        match self.right(rhs, Some(dst.clone()), span)? {
            Some(value) => self.assign(dst, value, span),
            None => Ok(()),
        }
    }

    /// Performs a right side; its value, unless `into` has it already.
    fn right(&mut self, rhs: &'a Rhs, into: Option<Place>, span: Span) -> Fallible<Option<LocalExpr>> {
        match (rhs, into) {
            (Rhs::Expr(value), Some(dst)) => match L::slot_read(self, value)? {
                Some(Slot::Shared(addr, _)) => self.emit(Op::load(dst, addr), span).map(|()| None),
                Some(Slot::Local(place)) => Ok(Some(IrExpr::Var(place))),
                None => fold(value, self).map(Some),
            },
            (Rhs::Expr(value), None) => fold(value, self).map(Some),
            (Rhs::Rmw(rmw), dst) => self.lower_rmw(dst, rmw, span).map(|()| None),
            (Rhs::Call(call), into) => L::call(self, call, into),
            (Rhs::Access(_) | Rhs::New(_), into) => L::own_right(self, rhs, into, span),
        }
    }

    fn lower_rmw(&mut self, dst: Option<Place>, rmw: &'a Rmw, span: Span) -> Fallible<()> {
        let Slot::Shared(addr, ty) = L::slot(self, &rmw.target)? else { return Err(Reported) };
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

    fn lower_if(
        &mut self,
        arms: &'a [(Expr, Block)],
        otherwise: Option<&'a Block>,
        label: Option<u32>,
        span: Span,
    ) -> Fallible<()> {
        let mut fork = self.fork();
        let guards = self.build.context.guards.len();
        let bodies = arms.iter().map(|(cond, body)| (Some(cond), body));
        let mut bodies = bodies.chain(otherwise.map(|body| (None, body))).peekable();
        while let Some((cond, body)) = bodies.next() {
            let folded = cond.map(|cond| fold(cond, self)).transpose()?;
            let test = match (cond, folded) {
                (Some(_), Some(IrExpr::Const(0))) if L::COMPACTS => continue,
                (Some(_), Some(IrExpr::Const(_))) if L::COMPACTS => None,
                (cond, folded) => cond.zip(folded),
            };
            let Some((cond, folded)) = test else {
                self.way(&mut fork, |lower| lower.lower_block(body))?;
                break;
            };
            let other = self.label();
            let test = self.labelled(label, |lower| lower.unless(folded, other, cond.span))?;
            self.build.context.guards.push(test);
            self.way(&mut fork, |lower| lower.lower_block(body))?;
            if L::COMPACTS || bodies.peek().is_some() {
                self.jump(fork.end, if L::COMPACTS { cond.span } else { span })?;
            }
            self.place(other);
        }
        self.join(fork);
        self.build.context.guards.truncate(guards);
        Ok(())
    }

    fn lower_while(&mut self, cond: &'a Expr, body: &'a Block) -> Fallible<()> {
        match fold(cond, self)? {
            IrExpr::Const(0) => Ok(()),
            IrExpr::Const(_) => self.lower_loop(body, cond.span),
            folded => {
                let (head, end) = (self.label(), self.label());
                self.place(head);
                self.unless(folded, end, cond.span)?;
                self.lower_loop_body(body, end, head)?;
                self.jump(head, cond.span)?;
                self.place(end);
                Ok(())
            }
        }
    }

    fn lower_loop(&mut self, body: &'a Block, span: Span) -> Fallible<()> {
        let (head, end) = (self.label(), self.label());
        self.place(head);
        self.lower_loop_body(body, end, head)?;
        self.jump(head, span)?;
        self.place(end);
        Ok(())
    }

    fn lower_loop_body(&mut self, body: &'a Block, on_break: Label, on_continue: Label) -> Fallible<()> {
        let in_operation = self.in_operation;
        self.frame.loops.push(LoopTargets { on_break, on_continue, in_operation });
        let lowered = self.lower_block(body);
        self.frame.loops.pop();
        lowered
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

    fn lower_foreach(&mut self, binder: &'a Name, range: &'a Range, body: &'a Block, span: Span) -> Fallible<()> {
        let end = self.label();
        for value in fold_range(range, self)? {
            charge(self, 1, span)?;
            let next = self.label();
            self.frame.binders.push((&binder.text, value));
            self.lower_loop_body(body, end, next)?;
            self.frame.binders.pop();
            self.place(next);
        }
        self.place(end);
        Ok(())
    }

    fn lower_choice(&mut self, target: &'a Target, range: &'a Range, span: Span) -> Fallible<()> {
        let from = self.choices(range)?;
        match L::slot(self, target)? {
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
            self.when(is(IrExpr::Var(dst.clone()), *number), *start, *at)?;
        }
        self.jump(*last, span)?;
        Ok(starts)
    }

    /// Executes one of several blocks. All tests come before the first block, so that nested choices may use the same register.
    fn lower_options(&mut self, options: Vec<(i128, (Option<&'a Name>, &'a Block))>, span: Span) -> Fallible<()> {
        let dst = Place::Reg(self.register("%choice", Ty::Int, span)?);
        let numbers: Vec<_> = options.iter().map(|(value, _)| (*value, span)).collect();
        let starts = self.choose_among(dst, &numbers, span)?;
        let end = self.label();
        for ((value, (binder, block)), start) in options.into_iter().zip(starts) {
            self.place(start);
            self.frame.binders.extend(binder.map(|binder| (binder.text.as_str(), value)));
            self.lower_block(block)?;
            if binder.is_some() {
                self.frame.binders.pop();
            }
            self.jump(end, span)?;
        }
        self.place(end);
        Ok(())
    }
}

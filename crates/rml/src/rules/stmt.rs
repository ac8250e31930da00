//! Statements: may they stand here, and do their parts fit together?

use cyrano_ir::{Diagnostic, Span};

use crate::resolve::names::Symbol;
use crate::resolve::typing::{Kind, TIMESTAMP_HELP};
use crate::rules::checker::{Checker, Mode};
use crate::rules::names::report_unknown;
use crate::rules::table::{Unit, refuse, refuse_call, refuse_nesting};
use crate::syntax::ast::{Block, Call, Expr, Name, Place, Range, Rhs, Rmw, RmwArgs, Stmt, StmtKind, VarKind};
use crate::syntax::token::Token;

impl<'a> Checker<'a, '_> {
    /// Checks the statements of a block.
    pub(crate) fn check_block(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            self.check_stmt(stmt);
        }
        self.check_reached(block);
    }

    /// Checks a statement and everything inside it.
    pub(crate) fn check_stmt(&mut self, stmt: &'a Stmt) {
        if let Some(refusal) = refuse(stmt, self.home()) {
            self.reports.add(refusal);
            return;
        }
        if stmt.label.as_ref().is_some_and(|label| self.names.file.asks_for(&label.text)) {
            self.check_unit(Unit::Mark, stmt.span);
        }
        match &stmt.kind {
            StmtKind::Declare(_) => {
                let help = "declare it in the outermost block of the thread or procedure";
                let message = "a local variable cannot be declared in an inner block";
                self.complain(stmt.span, message, "an inner block", help);
            }
            StmtKind::Assign(place, rhs) => self.check_assign(place, rhs, stmt.span),
            StmtKind::Do(rhs) => {
                self.check_right(rhs);
            }
            StmtKind::If { arms, otherwise } => {
                for (cond, block) in arms {
                    self.check_condition(cond);
                    self.check_block(block);
                }
                otherwise.iter().for_each(|block| self.check_block(block));
            }
            StmtKind::While(cond, body) => {
                self.check_condition(cond);
                self.check_loop(body);
            }
            StmtKind::Loop(body) => self.check_loop(body),
            StmtKind::Break | StmtKind::Continue => self.check_jump(stmt.span),
            StmtKind::Fence(_) => self.check_unit(Unit::Fence, stmt.span),
            StmtKind::Atomic(body) if self.is_block(body) => self.check_atomic_block(&[], body, stmt.span),
            StmtKind::Atomic(body) => self.check_inside(Unit::Section, body, stmt.span),
            StmtKind::AtomicBlock(block) => self.check_atomic_block(&block.results, &block.body, stmt.span),
            StmtKind::Tx(body, otherwise) => self.check_tx(body, otherwise.as_ref(), stmt.span),
            StmtKind::Operation(_, body) => self.check_inside(Unit::Operation, body, stmt.span),
            StmtKind::ChooseValue(place, range) => {
                self.check_range(range);
                self.check_target(place);
            }
            StmtKind::ChooseBlock(blocks) => blocks.iter().for_each(|block| self.check_block(block)),
            // An assertion of threads looks at memory; in an stm what it loads would be part of the history.
            StmtKind::Assert(cond, _) if self.names.file.stm().is_none() => {
                self.condition(cond);
            }
            StmtKind::Assume(cond) | StmtKind::Assert(cond, _) => self.check_condition(cond),
            StmtKind::Return(value) => self.check_return(value.as_ref(), stmt.span),
            StmtKind::Each(_) => {}
            StmtKind::Foreach(binder, range, body) => self.check_unrolled(binder, range, body, true),
            StmtKind::Forsome(binder, range, body) => self.check_unrolled(binder, range, body, false),
            StmtKind::Progress => self.check_unit(Unit::Mark, stmt.span),
            StmtKind::Skip => {}
            StmtKind::Transaction(event) => self.check_event(*event, stmt.span),
            StmtKind::Rollback(place, value) => self.check_rollback(place, value, stmt.span),
        }
    }

    fn check_condition(&mut self, cond: &'a Expr) {
        self.with_mode(Mode::Local("a condition"), |c| c.condition(cond));
    }

    fn check_loop(&mut self, body: &'a Block) {
        self.place.loops += 1;
        self.place.loops_in_atomic += 1;
        self.check_block(body);
        self.place.loops -= 1;
        self.place.loops_in_atomic -= 1;
    }

    fn check_unrolled(&mut self, binder: &'a Name, range: &'a Range, body: &'a Block, is_loop: bool) {
        self.check_range(range);
        self.bind(binder);
        if is_loop {
            self.check_loop(body);
        } else {
            self.check_block(body);
        }
        self.binders.pop();
    }

    fn check_jump(&mut self, span: Span) {
        let text = self.names.text(span);
        if self.place.loops == 0 {
            let message = format!("`{text}` outside of a loop");
            let help = "it belongs inside `while`, `loop` or `foreach`";
            self.complain(span, message, "no loop around it", help);
        } else if self.place.loops_in_atomic == 0 {
            self.leaves_atomic(text, span);
        }
    }

    /// Reports a statement that would leave the atomic section around it.
    pub(crate) fn leaves_atomic(&mut self, what: &str, span: Span) {
        let Some(atomic) = self.place.around.at(Unit::Section) else { return };
        let message = format!("`{what}` cannot leave an atomic section");
        let diagnostic = Diagnostic::new(span, message, "leaves the section");
        let help = "remember the decision in a local and act on it behind the section";
        self.reports.add(diagnostic.with_related(atomic, "the section").with_help(help));
    }

    fn check_return(&mut self, value: Option<&'a Rhs>, span: Span) {
        if self.place.around.at(Unit::Section).is_some() {
            self.leaves_atomic("return", span);
        }
        let value = match value {
            Some(Rhs::Expr(value)) => value,
            None => return,
            Some(other) => return self.refuse_result(other, span),
        };
        let kind = self.kind_of(value);
        if let Some(command) = self.body.and_then(|body| self.names.command(body)) {
            return self.check_command_result(command, value, kind);
        }
        let in_thread = self.body.is_some_and(|body| body.0 >= self.names.file.procs.len());
        if in_thread {
            let help = "write `return` alone to end the thread";
            self.complain(value.span, "a thread cannot return a value", "a value", help);
            return;
        }
        let before = self.facts.returns.unwrap_or(kind);
        if !kind.fits(before) {
            let message = format!("this returns {}, another `return` {}", kind.noun(), before.noun());
            self.complain(value.span, message, kind.noun(), "a procedure returns values of one type");
        }
        let known = if matches!(before, Kind::Const | Kind::Wrong) { kind } else { before };
        self.facts.returns = Some(known);
    }

    fn refuse_result(&mut self, value: &Rhs, span: Span) {
        let (what, span) = match value {
            Rhs::Call(call) => ("a call", call.name.span),
            _ => ("a read-modify-write", span),
        };
        let message = format!("{what} stands alone on the right side of `:=`");
        self.complain(span, message, "not returned", "assign it to a local first");
    }

    /// Notes a unit and reports those around it that it cannot stand in.
    pub(crate) fn check_unit(&mut self, unit: Unit, span: Span) {
        self.facts.units.note(unit, span);
        for refusal in refuse_nesting(unit, span, self.place.around) {
            self.reports.add(refusal);
        }
    }

    /// Checks a unit and what stands in it.
    pub(crate) fn check_inside(&mut self, unit: Unit, body: &'a Block, span: Span) {
        self.check_unit(unit, span);
        let outer = self.place.clone();
        self.place.around.note(unit, span);
        match unit {
            Unit::Section => self.place.loops_in_atomic = 0,
            Unit::Transaction => self.place.loops = 0,
            _ => {}
        }
        self.check_block(body);
        self.place = outer;
    }

    fn check_assign(&mut self, place: &'a Place, rhs: &'a Rhs, span: Span) {
        let value = match (self.check_right(rhs), rhs) {
            (Some(kind), _) => kind,
            (None, Rhs::Call(call)) => {
                let message = format!("procedure `{}` returns no value", call.name.text);
                let help = match self.in_client() {
                    true => "call it as a statement: without values it is enough who conflicts with whom",
                    false => "add `return` with a value to it, or call it as a statement",
                };
                self.complain(call.span, message, "no value", help)
            }
            (None, _) => Kind::Wrong,
        };
        let target = self.check_target(place);
        self.check_fit(value, target, span);
    }

    /// Checks what is assigned or done; its kind, if it has a value.
    fn check_right(&mut self, rhs: &'a Rhs) -> Option<Kind> {
        match rhs {
            Rhs::Expr(value) => Some(self.kind_of(value)),
            Rhs::Rmw(rmw) => Some(self.check_rmw(rmw)),
            Rhs::Call(call) => self.check_call(call),
            Rhs::Access(_) | Rhs::New(_) => None,
        }
    }

    /// Checks that a value may go where another is wanted.
    pub(crate) fn check_fit(&mut self, value: Kind, target: Kind, span: Span) {
        if !value.fits(target) {
            let message = format!("{} cannot go where {} is wanted", value.noun(), target.noun());
            self.complain(span, message, "the types differ", TIMESTAMP_HELP);
        }
    }

    /// Checks something that is assigned; its kind.
    pub(crate) fn check_target(&mut self, place: &'a Place) -> Kind {
        let bound = self.binders.iter().any(|binder| binder.text == place.name.text);
        let symbol = if bound { None } else { self.find(&place.name) };
        if let Some(index) = &place.index {
            self.check_index(index);
        }
        let what = match symbol {
            Some(Symbol::Var(var)) if self.names.is_command_param(var) => "a constant of the command",
            Some(Symbol::Var(var)) if self.bypasses_stm(var, place.span, true) => return Kind::Wrong,
            Some(Symbol::Var(var)) => {
                self.assigned.insert(var);
                let ty = self.names.var(var).ty;
                let shape = self.check_shape(var, place.index.is_some(), place.span);
                return shape.map_or(Kind::Wrong, |()| ty.into());
            }
            Some(Symbol::Proc(_)) => "a procedure",
            Some(Symbol::Const(_)) => "a constant",
            None if bound => "a constant of the unrolled body",
            None => return Kind::Wrong,
        };
        let message = format!("`{}` is {what} and cannot be assigned", place.name.text);
        self.complain(place.span, message, what, "assign to a shared or local variable")
    }

    fn check_rmw(&mut self, rmw: &'a Rmw) -> Kind {
        let target = self.check_target(&rmw.target);
        if let Some(Symbol::Var(var)) = self.names.lookup(self.body, &rmw.target.name.text)
            && self.names.var(var).kind != VarKind::Shared
        {
            let message = format!("`{}` is not shared", rmw.target.name.text);
            let help = "a read-modify-write needs a shared variable";
            self.complain(rmw.target.span, message, "a local variable", help);
        }
        self.check_data_rmw(rmw);
        let mut arg = |expr: &'a Expr| {
            let kind = self.with_mode(Mode::Local("an argument"), |c| c.kind_of(expr));
            (kind, expr.span)
        };
        let args = match &rmw.op {
            RmwArgs::Cas(expected, new) => vec![arg(expected), arg(new)],
            RmwArgs::Exchange(value) => vec![arg(value)],
            RmwArgs::FetchAdd(value) => {
                let (kind, span) = arg(value);
                if (target, kind) == (Kind::Timestamp, Kind::Int) || kind == Kind::Timestamp {
                    let message = "only a constant can be added to a timestamp";
                    return self.complain(span, message, "not a constant", TIMESTAMP_HELP);
                }
                vec![]
            }
        };
        for (kind, span) in args {
            self.check_fit(kind, target, span);
        }
        target
    }

    /// Checks a call; the kind of the result, if the procedure has one.
    fn check_call(&mut self, call: &'a Call) -> Option<Kind> {
        let procedure = match self.names.lookup(self.body, &call.name.text) {
            Some(Symbol::Proc(procedure)) if self.in_client() => return self.check_client_call(call, procedure),
            Some(Symbol::Proc(procedure)) => procedure,
            Some(_) => {
                let message = format!("`{}` is not a procedure", call.name.text);
                let help = "only procedures can be called; write `:=` to assign";
                return Some(self.complain(call.name.span, message, "called here", help));
            }
            None if self.is_hidden(&call.name) => return Some(Kind::Wrong),
            None => {
                let procs = self.names.file.procs.iter().map(|p| p.name.text.as_str());
                let candidates = procs.chain(Token::WORDS.iter().copied());
                report_unknown("procedure", &call.name, candidates, self.names, self.reports);
                return Some(Kind::Wrong);
            }
        };
        self.check_args(call, procedure);
        self.check_effects(call, procedure);
        self.check_called_events(call, procedure);
        if self.endless[procedure] || self.names.file.procs[procedure].command.is_some() {
            return Some(Kind::Wrong);
        }
        self.procs[procedure].returns
    }

    pub(crate) fn check_args(&mut self, call: &'a Call, procedure: usize) {
        let declared = &self.names.file.procs[procedure];
        let mode = Mode::Local("an argument");
        let kinds: Vec<_> = call.args.iter().map(|arg| self.with_mode(mode, |c| c.kind_of(arg))).collect();
        let (wanted, given) = (declared.params.len(), call.args.len());
        if wanted != given {
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{}` takes {wanted} argument{plural}, not {given}", call.name.text);
            let diagnostic = Diagnostic::new(call.span, message, "called here");
            self.reports.add(diagnostic.with_related(declared.name.span, "declared here"));
            return;
        }
        for ((param, kind), arg) in declared.params.iter().zip(kinds).zip(&call.args) {
            self.check_fit(kind, param.ty.into(), arg.span);
        }
    }

    /// A call counts as everything that the procedure may do.
    fn check_effects(&mut self, call: &'a Call, procedure: usize) {
        let callee = self.procs[procedure].clone();
        for refusal in refuse_call(call, callee.units, self.place.around) {
            self.reports.add(refusal);
        }
        self.facts.units.join(&callee.units);
        if let Some(commit) = callee.commit {
            self.check_called_commit(call, commit);
        }
    }
}

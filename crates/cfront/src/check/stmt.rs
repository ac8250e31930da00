//! Statements: scopes, loops, labels and jumps.

use super::{Checker, Fallible, Reported, Scope, Switch, Symbol};
use cyrano_ir::suggest::closest;

use crate::ast::{self, Name, Storage, TypeExpr};
use crate::source::{Loc, Problem};
use crate::tree::{Expr, Label, LabelId, Loop, Stmt, StmtKind};
use crate::types::Type;

impl Checker<'_> {
    /// A statement; one with an error becomes an empty one, so that the others are checked too.
    pub(super) fn stmt(&mut self, stmt: &ast::Stmt) -> Stmt {
        let kind = self.stmt_kind(stmt).unwrap_or(StmtKind::Empty);
        Stmt { kind, loc: stmt.loc }
    }

    fn boxed(&mut self, stmt: &ast::Stmt) -> Box<Stmt> {
        Box::new(self.stmt(stmt))
    }

    fn stmt_kind(&mut self, stmt: &ast::Stmt) -> Fallible<StmtKind> {
        let loc = stmt.loc;
        match &stmt.kind {
            ast::StmtKind::Empty => Ok(StmtKind::Empty),
            ast::StmtKind::Block(list) => {
                self.scopes.push(Scope::default());
                let list = list.iter().map(|stmt| self.stmt(stmt)).collect();
                self.scopes.pop();
                Ok(StmtKind::Block(list))
            }
            ast::StmtKind::Decls(decls) => {
                let list = decls.iter().filter_map(|decl| self.local(decl).ok().flatten()).collect();
                Ok(StmtKind::Block(list))
            }
            ast::StmtKind::Expr(expr) => Ok(StmtKind::Expr(self.expr(expr)?)),
            ast::StmtKind::If(cond, then, other) => {
                let cond = self.condition(cond);
                let then = self.boxed(then);
                let other = other.as_ref().map(|other| self.boxed(other));
                Ok(StmtKind::If(cond?, then, other))
            }
            ast::StmtKind::While(cond, body) => self.repeat(Some(cond), true, None, body),
            ast::StmtKind::DoWhile(body, cond) => self.repeat(Some(cond), false, None, body),
            ast::StmtKind::For { init, cond, step, body } => {
                self.scopes.push(Scope::default());
                let init = init.as_ref().map(|init| self.stmt(init));
                let repeat = self.repeat(cond.as_ref(), true, step.as_ref(), body);
                self.scopes.pop();
                let repeat = Stmt { kind: repeat?, loc };
                Ok(StmtKind::Block(init.into_iter().chain([repeat]).collect()))
            }
            ast::StmtKind::Switch(value, body) => self.switch(value, body),
            ast::StmtKind::Case(value, body) => self.case(Some(value), body, loc),
            ast::StmtKind::Default(body) => self.case(None, body, loc),
            ast::StmtKind::Label(name, body) => self.label(name, body),
            ast::StmtKind::Goto(name) => Ok(self.goto(name)),
            ast::StmtKind::Break if self.current().breakable > 0 => Ok(StmtKind::Break),
            ast::StmtKind::Break => Err(self.error(loc, "`break` outside of loops and switches", "here")),
            ast::StmtKind::Continue if self.current().loops > 0 => Ok(StmtKind::Continue),
            ast::StmtKind::Continue => Err(self.error(loc, "`continue` outside of loops", "here")),
            ast::StmtKind::Return(value) => self.give_back(value.as_ref(), loc),
            ast::StmtKind::StaticAssert(cond, text) => {
                self.static_assert(cond, text)?;
                Ok(StmtKind::Empty)
            }
            ast::StmtKind::Atomic(body) => {
                let current = self.current();
                current.atomics += 1;
                current.atomic.push(current.atomics);
                let body = self.boxed(body);
                self.current().atomic.pop();
                Ok(StmtKind::Atomic(body))
            }
        }
    }

    pub(super) fn static_assert(&mut self, cond: &ast::Expr, text: &str) -> Fallible<()> {
        match self.constant(cond)? {
            0 => Err(self.error(cond.loc, format!("a static assertion fails: {text}"), "this does not hold")),
            _ => Ok(()),
        }
    }

    /// `({ … })`: the value is that of the last statement, if it is an expression.
    pub(super) fn statement_value(&mut self, list: &[ast::Stmt], loc: Loc) -> Fallible<Expr> {
        self.scopes.push(Scope::default());
        let (last, before) = match list.split_last() {
            Some((ast::Stmt { kind: ast::StmtKind::Expr(value), .. }, before)) => (Some(value), before),
            _ => (None, list),
        };
        let before: Vec<_> = before.iter().map(|stmt| self.stmt(stmt)).collect();
        let value = last.map(|value| self.expr(value)).transpose();
        self.scopes.pop();
        let value = value?;
        let ty = value.as_ref().map_or(Type::Void, |value| value.ty.clone());
        Ok(Expr::new(crate::tree::ExprKind::Statement(before, value.map(Box::new)), ty, loc))
    }

    fn local(&mut self, decl: &ast::Decl) -> Fallible<Option<Stmt>> {
        let mut ty = self.resolve_for(&decl.ty, decl.name.as_ref())?;
        let Some(name) = &decl.name else { return Ok(None) };
        match decl.storage {
            Storage::Typedef => {
                self.declare(name, Symbol::Type(ty));
                return Ok(None);
            }
            Storage::Extern if matches!(decl.ty, TypeExpr::Function { .. }) => {}
            Storage::Extern if self.names_global(name) => return Ok(None),
            Storage::Extern => {
                return Err(self.error(decl.loc, "`extern` within a function", "declare it outside of functions"));
            }
            _ => {}
        }
        if let TypeExpr::Function { params, .. } = &decl.ty {
            self.prototype(name, ty, params);
            return Ok(None);
        }
        if decl.storage == Storage::Static {
            let shown = self.static_name(&name.text);
            self.new_global(name, &shown, ty, decl)?;
            return Ok(None);
        }
        // The name is known within its own initialiser, for `sizeof *p`.
        let id = self.new_local(name, ty.clone());
        let value = decl.init.as_ref().map(|init| self.local_init(&mut ty, init)).transpose();
        self.current().locals[id.0].ty = ty.clone();
        self.complete(&ty, name.loc)?;
        Ok(Some(Stmt { kind: StmtKind::Declare(id, value?), loc: decl.loc }))
    }

    /// Whether the file has a variable of this name.
    fn names_global(&self, name: &Name) -> bool {
        matches!(self.scopes[0].symbols.get(&name.text), Some((Symbol::Global(_), _)))
            && matches!(self.find(&name.text), Some((Symbol::Global(_), _)))
    }

    /// How a static variable is shown: by its function and name, and by a number where several scopes have one of that name.
    fn static_name(&mut self, name: &str) -> String {
        let first = format!("{}.{name}", self.current().name);
        let taken = |shown: &String| self.out.globals.iter().any(|global| global.name == *shown);
        let others = (2..).map(|number| format!("{first}#{number}"));
        std::iter::once(first.clone()).chain(others).find(|shown| !taken(shown)).unwrap_or_default()
    }

    fn repeat(
        &mut self,
        cond: Option<&ast::Expr>,
        tests_first: bool,
        step: Option<&ast::Expr>,
        body: &ast::Stmt,
    ) -> Fallible<StmtKind> {
        let before = if tests_first { cond.map(|cond| self.condition(cond)) } else { None };
        let current = self.current();
        (current.loops, current.breakable) = (current.loops + 1, current.breakable + 1);
        let body = self.stmt(body);
        let current = self.current();
        (current.loops, current.breakable) = (current.loops - 1, current.breakable - 1);
        let cond = if tests_first { before } else { cond.map(|cond| self.condition(cond)) };
        let step = step.map(|step| self.expr(step));
        let always = |cond: &Expr| super::fold(cond, &self.out.types, &|_| None).is_some_and(|value| value != 0);
        let cond = cond.transpose()?.filter(|cond| !always(cond));
        Ok(StmtKind::Loop(Box::new(Loop { cond, tests_first, step: step.transpose()?, body })))
    }

    fn switch(&mut self, value: &ast::Expr, body: &ast::Stmt) -> Fallible<StmtKind> {
        let value = self.integer(value);
        let ty = value.as_ref().ok().and_then(|value| value.ty.promoted()).map(Type::Int);
        let current = self.current();
        let atomic = current.atomic.clone();
        current.switches.push(Switch { ty: ty.clone(), atomic, ..Switch::default() });
        current.breakable += 1;
        let body = self.boxed(body);
        let current = self.current();
        current.breakable -= 1;
        let made = current.switches.pop().unwrap_or_default();
        let value = self.coerce(value?, &ty.ok_or(Reported)?)?;
        Ok(StmtKind::Switch { value, cases: made.cases, default: made.default, body })
    }

    fn case(&mut self, value: Option<&ast::Expr>, body: &ast::Stmt, loc: Loc) -> Fallible<StmtKind> {
        let label = self.new_label();
        let body = self.boxed(body);
        if self.current().switches.is_empty() {
            return Err(self.error(loc, "a case outside of a switch", "here"));
        }
        let constant = value.map(|value| self.constant(value)).transpose()?;
        let current = self.current();
        let Some(switch) = current.switches.last_mut() else { return Err(Reported) };
        if switch.atomic != current.atomic {
            return Err(self.error(loc, "a jump into an atomic block", "a case of a switch outside of it"));
        }
        let twice = match constant {
            None => switch.default.replace(label).is_some(),
            Some(constant) => {
                let constant = match switch.ty {
                    Some(Type::Int(ty)) => ty.wrap(constant),
                    _ => constant,
                };
                let twice = switch.cases.iter().any(|(known, _)| *known == constant);
                switch.cases.push((constant, label));
                twice
            }
        };
        if twice {
            return Err(self.error(loc, "the same case twice", "again"));
        }
        Ok(StmtKind::Label(label, body))
    }

    fn new_label(&mut self) -> LabelId {
        let position = self.position();
        let current = self.current();
        current.labels.push(Label { atomic: current.atomic.clone(), position });
        LabelId(current.labels.len() - 1)
    }

    /// The label of a name, made at its first mention.
    fn named_label(&mut self, name: &Name) -> LabelId {
        if let Some((id, ..)) = self.current().named.get(&name.text) {
            return *id;
        }
        let id = self.new_label();
        self.current().named.insert(name.text.clone(), (id, None, name.loc));
        id
    }

    fn label(&mut self, name: &Name, body: &ast::Stmt) -> Fallible<StmtKind> {
        let id = self.named_label(name);
        let position = self.position();
        let current = self.current();
        current.labels[id.0] = Label { atomic: current.atomic.clone(), position };
        let known = current.named.get_mut(&name.text);
        let before = known.and_then(|(_, defined, _)| defined.replace(name.loc));
        let body = self.boxed(body);
        if let Some(before) = before {
            let problem = Problem::new(name.loc, format!("the label `{}` is defined twice", name.text), "again");
            return Err(self.report(problem.with_related(before, "first here")));
        }
        Ok(StmtKind::Label(id, body))
    }

    fn goto(&mut self, name: &Name) -> StmtKind {
        let id = self.named_label(name);
        let position = self.position();
        let current = self.current();
        let atomic = current.atomic.clone();
        current.gotos.push((id, position, atomic.clone(), name.loc));
        StmtKind::Goto(id, position, atomic)
    }

    /// Labels exist, and no jump leads into an atomic block.
    pub(super) fn finish_labels(&mut self) {
        let Some(current) = &self.current else { return };
        let defined: Vec<_> =
            current.named.iter().filter(|(_, (_, at, _))| at.is_some()).map(|(n, _)| n.clone()).collect();
        let missing = current.named.iter().filter(|(_, (_, at, _))| at.is_none());
        let missing: Vec<_> = missing.map(|(name, (.., loc))| (name.clone(), *loc)).collect();
        let into = current.gotos.iter().filter(|(id, _, from, _)| !from.starts_with(&current.labels[id.0].atomic));
        let into: Vec<_> = into.map(|(.., loc)| *loc).collect();
        for (name, loc) in missing {
            let guess = closest(&name, defined.iter().map(String::as_str)).map(str::to_string);
            let problem = Problem::new(loc, format!("there is no label `{name}`"), "unknown label");
            self.report(problem.with_guess(guess.as_deref()));
        }
        for loc in into {
            self.error(loc, "a jump into an atomic block", "from outside of it");
        }
    }

    fn give_back(&mut self, value: Option<&ast::Expr>, loc: Loc) -> Fallible<StmtKind> {
        let returns = self.current().returns.clone().unwrap_or(Type::Void);
        match (value, returns) {
            (None, Type::Void) => Ok(StmtKind::Return(None)),
            (None, ty) => {
                let message = format!("`return` without a value in a function that returns `{}`", self.show(&ty));
                Err(self.error(loc, message, "expected a value"))
            }
            (Some(value), Type::Void) => {
                self.expr(value)?;
                Err(self.error(loc, "`return` with a value in a function that returns nothing", "here"))
            }
            (Some(value), ty) => {
                let value = self.expr(value)?;
                Ok(StmtKind::Return(Some(self.coerce(value, &ty)?)))
            }
        }
    }
}

//! The checker for the statements of methods: names, arities, what is assigned before it is used, and that every path returns.

use std::collections::{HashMap, HashSet};

use cyrano_ir::{Diagnostic, Method as TmMethod, Span};

use crate::resolve::calls::walk;
use crate::rules::algorithm::{Checker, Global, REPLIES, count, is_builtin};
use crate::rules::table::{Home, refuse, refuse_in_algorithm};
use crate::syntax::ast::{Block, Expr, ExprKind, Name, Place, Rhs, Stmt, StmtKind};
use crate::syntax::objects::{Each, LocalKind, Method};

/// The names of a method.
#[derive(Clone, Default)]
pub(crate) struct Scope<'a> {
    /// Parameters and binders, which are never assigned.
    fixed: Vec<&'a Name>,
    /// Names that every path has assigned.
    assigned: HashSet<&'a str>,
    /// Every name that the method assigns somewhere.
    locals: HashSet<&'a str>,
}

impl<'a> Checker<'a, '_> {
    /// Checks a method.
    pub(crate) fn method(&mut self, method: &'a Method) {
        let mut scope = Scope::default();
        for param in &method.params {
            self.bind(param, &mut scope);
        }
        walk(&method.body, &mut |stmt| {
            if let StmtKind::Assign(place, _) = &stmt.kind {
                scope.locals.insert(&place.name.text);
            }
        });
        if !self.block(&method.body, &mut scope) {
            let message = format!("`{}` does not return on every path", method.name.text);
            self.complain(method.body.close, message, "is reached without a `return`", "end it with `return …;`");
        }
        if self.algorithm.is_memory() {
            self.replies(method);
        }
    }

    fn bind(&mut self, name: &'a Name, scope: &mut Scope<'a>) {
        let outer = scope.fixed.iter().find(|fixed| fixed.text == name.text).map(|fixed| fixed.span);
        let outer = outer.or_else(|| self.globals.get(name.text.as_str()).map(|(_, span)| *span));
        if let Some(outer) = outer {
            let diagnostic = Diagnostic::new(name.span, format!("`{}` means something already", name.text), "again");
            self.reports.add(diagnostic.with_related(outer, "declared here").with_help("choose another name"));
        } else if is_builtin(&name.text) {
            let message = format!("`{}` has a meaning of its own", name.text);
            self.complain(name.span, message, "a built-in name", "choose another name");
        }
        scope.fixed.push(name);
    }

    /// Checks statements; whether they return on every path.
    fn block(&mut self, block: &'a Block, scope: &mut Scope<'a>) -> bool {
        let mut returned = false;
        for stmt in &block.stmts {
            if returned {
                self.complain(stmt.span, "this is never reached", "behind a `return`", "remove it");
                return true;
            }
            returned = self.stmt(stmt, scope);
        }
        returned
    }

    fn stmt(&mut self, stmt: &'a Stmt, scope: &mut Scope<'a>) -> bool {
        if let Some(refusal) = refuse(stmt, Home::Method) {
            self.reports.add(refusal);
            return matches!(stmt.kind, StmtKind::Return(_));
        }
        match &stmt.kind {
            StmtKind::Do(rhs) => self.right(rhs, scope, stmt.span, false),
            StmtKind::Assign(place, rhs) => {
                self.right(rhs, scope, stmt.span, true);
                self.target(place, scope);
            }
            StmtKind::Return(Some(rhs)) => {
                self.right(rhs, scope, stmt.span, true);
                return true;
            }
            StmtKind::If { arms, otherwise } => return self.branches(arms, otherwise.as_ref(), scope),
            StmtKind::Each(each) => self.each(each, scope),
            _ => {}
        }
        false
    }

    fn branches(&mut self, arms: &'a [(Expr, Block)], otherwise: Option<&'a Block>, scope: &mut Scope<'a>) -> bool {
        let mut ends = Vec::new();
        for (cond, body) in arms {
            self.expr(cond, scope);
            let mut inner = scope.clone();
            if !self.block(body, &mut inner) {
                ends.push(inner.assigned);
            }
        }
        let mut last = scope.clone();
        if !otherwise.is_some_and(|body| self.block(body, &mut last)) {
            ends.push(last.assigned);
        }
        let mut ends = ends.into_iter();
        let Some(first) = ends.next() else { return true };
        scope.assigned = ends.fold(first, |all, end| all.intersection(&end).copied().collect());
        false
    }

    fn each(&mut self, each: &'a Each, scope: &mut Scope<'a>) {
        let mut inner = scope.clone();
        for binder in &each.binders {
            if scope.locals.contains(binder.text.as_str()) {
                self.complain(binder.span, format!("`{}` is assigned as well", binder.text), "a binder", "rename it");
            }
            self.bind(binder, &mut inner);
        }
        if let Some(set) = self.set(&each.set) {
            let (given, span) = (each.binders.len(), each.set.span);
            match (self.algorithm.locals[set].kind, given, each.arrow) {
                (LocalKind::Map, 1, _) | (LocalKind::Map, 2, true) => {}
                (LocalKind::Set, 1 | 2, false) => self.set_arity(set, given, span),
                (LocalKind::Set, ..) => {
                    let help = "write `foreach (x in s)` or, for pairs, `foreach ((a, b) in s)`";
                    self.complain(span, "a set has elements, not keys and values", "a set", help);
                }
                _ => {
                    let help = "write `foreach (k -> v in m)` or, for the keys only, `foreach (k in m)`";
                    self.complain(span, "a map has keys and values", "a map", help);
                }
            }
        }
        self.block(&each.body, &mut inner);
    }

    fn target(&mut self, place: &'a Place, scope: &mut Scope<'a>) {
        let text = place.name.text.as_str();
        let what = match self.globals.get(text) {
            _ if scope.fixed.iter().any(|fixed| fixed.text == text) => "a parameter or a binder",
            Some((Global::Const, _)) => "a constant",
            Some((Global::Shared(_), _)) => "a base object",
            Some((Global::Local(index), _)) if self.algorithm.locals[*index].kind != LocalKind::Int => "a set or map",
            None if is_builtin(text) => "a built-in name",
            _ if place.index.is_some() => "no array",
            _ => {
                scope.assigned.insert(text);
                return;
            }
        };
        let help = match what {
            "a base object" if place.index.is_some() => format!("write `{text}[…].write(…)`"),
            "a base object" => format!("write `{text}.write(…)`"),
            "no array" => format!("write just `{text}`"),
            "a set or map" => format!("write `{text}.add(…)` or `{text}.put(…)`"),
            _ => "choose another name".to_owned(),
        };
        self.complain(place.span, format!("`{text}` is {what} and cannot be assigned"), "not a variable", help);
    }

    fn right(&mut self, rhs: &'a Rhs, scope: &Scope<'a>, span: Span, used: bool) {
        match rhs {
            Rhs::Expr(expr) => self.expr(expr, scope),
            Rhs::New(made) => {
                self.new_record(&made.name, made.args.len());
                made.args.iter().for_each(|arg| self.expr(arg, scope));
            }
            Rhs::Call(call) => {
                call.args.iter().for_each(|arg| self.expr(arg, scope));
                self.call(&call.name, call.args.len());
            }
            Rhs::Rmw(_) => {}
            Rhs::Access(access) => self.access(access, scope, span, used),
        }
    }

    /// Checks the name and the number of arguments of a call.
    pub(crate) fn call(&mut self, name: &Name, given: usize) {
        let Some(method) = self.algorithm.method(&name.text) else {
            return self.unknown("method", name, self.algorithm.methods.iter().map(|method| method.name.text.as_str()));
        };
        let wanted = method.params.len();
        if wanted != given {
            let message = format!("`{}` takes {}, not {given}", name.text, count(wanted, "argument"));
            let diagnostic = Diagnostic::new(name.span, message, "wrong number of arguments");
            self.reports.add(diagnostic.with_related(method.name.span, "declared here"));
        }
    }

    /// Checks an expression.
    pub(crate) fn expr(&mut self, expr: &'a Expr, scope: &Scope<'a>) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Tid => {}
            ExprKind::Name(name) => self.name(name, scope),
            ExprKind::Tuple(parts) => {
                let help = "a pair is an element of a set: `s.add((a, b))` or `(a, b) in s`";
                self.complain(expr.span, "a pair is not a value", "not here", help);
                parts.iter().for_each(|part| self.expr(part, scope));
            }
            ExprKind::In(element, set) => {
                let parts = element.parts();
                parts.iter().for_each(|part| self.expr(part, scope));
                let Some(index) = self.set(set) else { return };
                match self.algorithm.locals[index].kind {
                    LocalKind::Set => self.set_arity(index, parts.len(), expr.span),
                    _ if parts.len() == 1 => {}
                    _ => self.complain(expr.span, "a map has keys, which are no pairs", "a pair", "write `k in m`"),
                }
            }
            ExprKind::Unary(_, arg) => self.expr(arg, scope),
            ExprKind::Binary(_, left, right) => {
                self.expr(left, scope);
                self.expr(right, scope);
            }
            _ => {
                self.reports.extend(refuse_in_algorithm(expr));
            }
        }
    }

    /// Checks a name that is used as a value.
    pub(crate) fn name(&mut self, name: &'a Name, scope: &Scope<'a>) {
        let text = name.text.as_str();
        let fixed = scope.fixed.iter().any(|fixed| fixed.text == text);
        if text == "tx" && !self.algorithm.is_memory() {
            let help = "threads have numbers: `tid`";
            return self.complain(name.span, "this object has no transactions", "not here", help);
        }
        if fixed || is_builtin(text) || scope.assigned.contains(text) {
            return;
        }
        match self.globals.get(text) {
            Some((Global::Const, _)) => {}
            Some((Global::Local(index), _)) if self.algorithm.locals[*index].kind == LocalKind::Int => {}
            Some((Global::Shared(_), _)) => {
                let help = format!("write `v := {text}.read();`");
                self.complain(name.span, format!("`{text}` is a base object, not a value"), "not a value", help);
            }
            Some(_) => {
                let help = format!("write `x in {text}` or `foreach (x in {text})`");
                self.complain(name.span, format!("`{text}` is a set or map, not a value"), "not a value", help);
            }
            None if scope.locals.contains(text) => {
                let message = format!("`{text}` may be used before it is assigned");
                self.complain(name.span, message, "not assigned on every path", "assign it first");
            }
            None => {
                let mut known = self.constants();
                known.extend(scope.fixed.iter().map(|fixed| fixed.text.as_str()).chain(scope.locals.iter().copied()));
                known.sort_unstable();
                self.unknown("variable", name, known);
            }
        }
    }

    /// A method that clients call returns what such a call can return, as far as one can see.
    fn replies(&mut self, method: &'a Method) {
        let (allowed, help): (&[&str], _) = match method.name.text.as_str() {
            "read" => (&["aborted"], "`read` returns a value or `aborted`"),
            "write" => (&["ok", "aborted"], "`write` returns `ok` or `aborted`"),
            "commit" => (&["committed", "aborted"], "`commit` returns `committed` or `aborted`"),
            _ => return,
        };
        let mut wrong: Vec<_> =
            self.returned(method).into_iter().filter(|(word, _)| !allowed.contains(&word.as_str())).collect();
        wrong.sort();
        for (word, span) in wrong {
            if word == "0" && method.name.text == TmMethod::Read.name() {
                continue;
            }
            let message = format!("`{}` returns something that it cannot return", method.name.text);
            self.complain(span, message, "not here", help);
        }
    }

    /// The words, and `0` for integers, that a method returns, itself or by what it calls last.
    fn returned(&self, method: &'a Method) -> HashMap<String, Span> {
        let (mut words, mut seen, mut work) = (HashMap::new(), HashSet::new(), vec![method]);
        while let Some(method) = work.pop() {
            if !seen.insert(method.name.text.as_str()) {
                continue;
            }
            walk(&method.body, &mut |stmt| match &stmt.kind {
                StmtKind::Return(Some(Rhs::Expr(expr))) => match &expr.kind {
                    ExprKind::Name(name) if REPLIES.iter().any(|(word, _)| *word == name.text) => {
                        words.insert(name.text.clone(), name.span);
                    }
                    ExprKind::Int(_) => {
                        words.insert("0".to_owned(), expr.span);
                    }
                    _ => {}
                },
                StmtKind::Return(Some(Rhs::Call(call))) => {
                    work.extend(self.algorithm.methods.iter().filter(|called| called.name.text == call.name.text));
                }
                _ => {}
            });
        }
        words
    }
}

//! Final states: what the names in `observe` and `check` stand for.
//!
//! A bare name is a shared variable, or a local that exactly one thread has; a thread has the locals that it declares and those
//! of the program that it mentions. Whatever is named here gets a register, even if the thread never uses it.

use cyrano_ir::{Diagnostic, Expr as IrExpr, FinalExpr, FinalVar, LocId, RegId, Span, ThreadId, Ty};

use crate::ast::{Expr, ExprKind, Member, Name, VarKind};
use crate::budget::Budget;
use crate::check_names::{check_shape, report_unknown};
use crate::fold::{Resolve, fold_const};
use crate::lower::{Lower, LoweredThread, Shared, in_bounds};
use crate::names::{Constants, Shape, Symbol, VarId};
use crate::report::{Fallible, Reported, Reports};
use crate::typing::{Atoms, Kind, kind_of};

/// A variable of a final state, perhaps an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Const(i64),
    Shared(VarId),
    Local(usize, VarId),
}

/// Resolves references in final states.
pub(crate) struct Finals<'a, 'r> {
    pub(crate) shared: &'r Shared<'a, 'r>,
    pub(crate) threads: &'r mut Vec<LoweredThread>,
    pub(crate) reports: &'r mut Reports,
    pub(crate) binders: Vec<(&'a str, i64)>,
}

impl<'a> Finals<'a, '_> {
    /// What a name, an element or a member refers to, and the index if there is one.
    pub(crate) fn find(&mut self, atom: &'a Expr) -> Fallible<(Found, Option<&'a Expr>)> {
        match &atom.kind {
            ExprKind::Name(name) => Ok((self.find_bare(name)?, None)),
            ExprKind::Element(name, index) => Ok((self.find_bare(name)?, Some(index))),
            ExprKind::Member(member) => Ok((self.find_member(member)?, member.index.as_ref())),
            _ => {
                let text = self.shared.names.text(atom.span);
                let message = format!("`{text}` has a value inside threads only");
                let diagnostic = Diagnostic::new(atom.span, message, "outside a thread");
                Err(self.reports.add(diagnostic.with_help("name the thread instead")))
            }
        }
    }

    fn find_bare(&mut self, name: &'a Name) -> Fallible<Found> {
        let names = self.shared.names;
        match names.lookup(None, &name.text) {
            Some(Symbol::Const(index)) => names.consts[index].map(Found::Const).ok_or(Reported),
            Some(Symbol::Proc(_)) => {
                let message = format!("`{}` is a procedure, not a variable", name.text);
                Err(self.reports.add(Diagnostic::new(name.span, message, "a procedure")))
            }
            Some(Symbol::Var(var)) if names.var(var).kind == VarKind::Shared => Ok(Found::Shared(var)),
            Some(Symbol::Var(var)) => {
                let mentioned = |thread: &usize| self.threads[*thread].homes.contains_key(&var);
                let mut having: Vec<_> = (0..self.threads.len()).filter(mentioned).collect();
                if having.is_empty() {
                    having = (0..self.threads.len()).collect();
                }
                let candidates = having.into_iter().map(|thread| (thread, var)).collect();
                self.the_only(name, candidates)
            }
            None => {
                let own = |(index, thread): (usize, &LoweredThread)| {
                    let var = names.local(names.thread_body(thread.declared), &name.text)?;
                    Some((index, var))
                };
                let candidates = self.threads.iter().enumerate().filter_map(own).collect();
                self.the_only(name, candidates)
            }
        }
    }

    fn the_only(&mut self, name: &Name, candidates: Vec<(usize, VarId)>) -> Fallible<Found> {
        let names = self.shared.names;
        match candidates.as_slice() {
            [(thread, var)] => Ok(Found::Local(*thread, *var)),
            // A thread that could not be lowered may have it.
            _ if names.counts.contains(&None) => Err(Reported),
            [] => {
                let bodies = (0..names.file.threads.len()).map(|thread| Some(names.thread_body(thread)));
                let visible = bodies.chain([None]).flat_map(|body| names.visible(body));
                report_unknown("variable", name, visible, names, self.reports);
                Err(Reported)
            }
            several => {
                let message = format!("`{}` is a variable of {} threads", name.text, several.len());
                let qualified = |(thread, _): &(usize, VarId)| format!("`{}.{}`", self.threads[*thread].thread.name, name.text);
                let mut choices: Vec<_> = several.iter().take(8).map(qualified).collect();
                if several.len() > choices.len() {
                    choices.push("…".to_owned());
                }
                let diagnostic = Diagnostic::new(name.span, message, "which one?");
                Err(self.reports.add(diagnostic.with_help(format!("choose one: {}", choices.join(", ")))))
            }
        }
    }

    fn find_member(&mut self, member: &'a Member) -> Fallible<Found> {
        let names = self.shared.names;
        let declared = names.file.threads.iter().position(|thread| thread.name.text == member.thread.text);
        let Some(declared) = declared else {
            let threads = names.file.threads.iter().map(|thread| thread.name.text.as_str());
            report_unknown("thread", &member.thread, threads, names, self.reports);
            return Err(Reported);
        };
        let thread = self.find_thread(declared, member)?;
        let local = names.local(names.thread_body(declared), &member.var.text).map(Symbol::Var);
        match local.or_else(|| names.lookup(None, &member.var.text)) {
            Some(Symbol::Var(var)) if names.var(var).kind != VarKind::Shared => Ok(Found::Local(thread, var)),
            Some(_) => {
                let message = format!("`{}` is not a variable of thread `{}`", member.var.text, member.thread.text);
                let diagnostic = Diagnostic::new(member.var.span, message, "not a local variable");
                Err(self.reports.add(diagnostic.with_help(format!("write just `{}`", member.var.text))))
            }
            None => {
                let visible = names.visible(Some(names.thread_body(declared)));
                report_unknown("variable", &member.var, visible, names, self.reports);
                Err(Reported)
            }
        }
    }

    fn find_thread(&mut self, declared: usize, member: &'a Member) -> Fallible<usize> {
        let count = self.shared.names.counts[declared].ok_or(Reported)?;
        let is_family = self.shared.names.file.threads[declared].count.is_some();
        let name = &member.thread;
        let index = match &member.thread_index {
            Some(index) if is_family => in_bounds(self.constant_value(index)?, count, index.span, self.reports)?,
            Some(index) => {
                let diagnostic = Diagnostic::new(index.span, format!("`{}` is a single thread", name.text), "an index");
                return Err(self.reports.add(diagnostic.with_help(format!("write just `{}`", name.text))));
            }
            None if count > 1 => {
                let message = format!("`{}` is a family of {count} threads", name.text);
                let help = format!("choose one: `{}[0]`", name.text);
                return Err(self.reports.add(Diagnostic::new(name.span, message, "which one?").with_help(help)));
            }
            None => 0,
        };
        let here = |thread: &LoweredThread| thread.declared == declared && usize::try_from(thread.self_index) == Ok(index);
        self.threads.iter().position(here).ok_or(Reported)
    }

    /// A constant in a reference; binders may occur in it.
    pub(crate) fn constant_value(&mut self, expr: &'a Expr) -> Fallible<i64> {
        let binders = self.binders.clone();
        fold_const(expr, &mut Constants { names: self.shared.names, reports: self.reports, binders })
    }

    /// The first word of a variable.
    pub(crate) fn base(&mut self, found: Found) -> Fallible<(FinalVar, VarId)> {
        match found {
            Found::Const(_) => Err(Reported),
            Found::Shared(var) => {
                let home = self.shared.homes.get(&var).ok_or(Reported)?;
                Ok((FinalVar::Loc(home.base), var))
            }
            Found::Local(thread, var) => {
                let lowered = &mut self.threads[thread];
                let body = self.shared.names.thread_body(lowered.declared);
                let tid = i64::try_from(thread).map_err(|_| Reported)?;
                let lower = Lower::new(self.shared, self.reports, body, (lowered.self_index, tid));
                let home = lower.late_home(lowered, var)?;
                Ok((FinalVar::Reg(ThreadId::new(thread), home), var))
            }
        }
    }

    /// The number of words of a variable.
    pub(crate) fn len(&self, var: VarId) -> Fallible<u32> {
        match self.shared.names.var(var).shape {
            Shape::Scalar => Ok(1),
            Shape::Array(len) => Ok(len),
            Shape::Unknown => Err(Reported),
        }
    }

    /// Checks that an index stands where one must, and nowhere else.
    pub(crate) fn check_index(&mut self, var: VarId, index: Option<&Expr>, span: Span) -> Fallible<()> {
        check_shape(var, index.is_some(), span, self.shared.names, self.reports)
    }
}

/// The word `offset` words behind another.
pub(crate) fn offset(base: FinalVar, offset: usize) -> FinalVar {
    match base {
        FinalVar::Loc(loc) => FinalVar::Loc(LocId::new(loc.index() + offset)),
        FinalVar::Reg(thread, register) => FinalVar::Reg(thread, RegId::new(register.index() + offset)),
    }
}

impl<'a> Resolve<'a> for Finals<'a, '_> {
    type Var = FinalVar;

    fn atom(&mut self, atom: &'a Expr) -> Fallible<FinalExpr> {
        let (found, index) = self.find(atom)?;
        if let Found::Const(value) = found {
            return Ok(IrExpr::Const(value));
        }
        let (base, var) = self.base(found)?;
        let Some(index) = index else { return Ok(IrExpr::Var(base)) };
        let value = self.constant_value(index)?;
        let position = in_bounds(value, self.len(var)?, index.span, self.reports)?;
        Ok(IrExpr::Var(offset(base, position)))
    }

    fn is_timestamp(&self, var: &FinalVar) -> bool {
        match var {
            FinalVar::Reg(thread, register) => {
                let registers = &self.threads[thread.index()].thread.registers;
                registers[register.index()].ty == Ty::Timestamp
            }
            // A location's type is that of the variable whose words begin last before it.
            FinalVar::Loc(loc) => {
                let before = self.shared.homes.iter().filter(|(_, home)| home.base <= *loc);
                let last = before.max_by_key(|(_, home)| home.base);
                last.is_some_and(|(var, _)| self.shared.names.var(*var).ty == Ty::Timestamp)
            }
        }
    }

    fn binders(&mut self) -> &mut Vec<(&'a str, i64)> {
        &mut self.binders
    }

    fn reports(&mut self) -> &mut Reports {
        self.reports
    }

    fn budget(&self) -> &Budget {
        &self.shared.names.budget
    }
}

impl<'a> Atoms<'a> for Finals<'a, '_> {
    fn atom(&mut self, atom: &'a Expr) -> Kind {
        // While kinds are checked every binder stands for 0, which only matters for its name.
        if let ExprKind::Name(name) = &atom.kind
            && self.binders.iter().any(|(binder, _)| *binder == name.text)
        {
            return Kind::Const;
        }
        let names = self.shared.names;
        let kind = self.kind_of_atom(atom);
        kind.map_or(Kind::Wrong, |var| var.map_or(Kind::Const, |var| names.var(var).ty.into()))
    }

    fn bind(&mut self, binder: &'a Name) {
        self.binders.push((&binder.text, 0));
    }

    fn unbind(&mut self) {
        self.binders.pop();
    }

    fn constant(&mut self, expr: &'a Expr) -> Kind {
        kind_of(expr, self)
    }

    fn reports(&mut self) -> &mut Reports {
        self.reports
    }
}

//! Final states: what the names in `observe` and `check` stand for.
//!
//! A bare name is a shared variable, or a local that exactly one thread has; a thread has the locals that it declares and those
//! of the program that it mentions. Whatever is named here gets a register, even if the thread never uses it.

use cyrano_ir::{Diagnostic, Expr as IrExpr, FinalExpr, FinalVar, LocId, RegId, Span, ThreadId, Ty};

use crate::expand::budget::Budget;
use crate::expand::fold::{Resolve, fold_const};
use crate::lower::thread::{Lower, LoweredThread, Shared, in_bounds};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::names::{Shape, Symbol, VarId};
use crate::resolve::typing::{self, Kind};
use crate::rules::names::{check_shape, report_unknown};
use crate::syntax::ast::{Count, Expr, ExprKind, Member, Name, VarKind};

/// A variable of a final state, perhaps an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Const(i128),
    Shared(VarId),
    Local(usize, VarId),
}

/// Resolves references in final states.
pub(crate) struct Finals<'a, 'r> {
    pub(crate) shared: &'r Shared<'a, 'r>,
    pub(crate) threads: &'r mut Vec<LoweredThread>,
    pub(crate) reports: &'r mut Reports,
    pub(crate) binders: Vec<(&'a str, i128)>,
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
                Err(self.reports.complain(atom.span, message, "outside a thread", "name the thread instead"))
            }
        }
    }

    fn find_bare(&mut self, name: &'a Name) -> Fallible<Found> {
        let names = self.shared.names;
        let own = |(index, thread): (usize, &LoweredThread)| {
            let var = names.local(names.thread_body(thread.declared), &name.text)?;
            Some((index, var))
        };
        let candidates: Vec<_> = self.threads.iter().enumerate().filter_map(own).collect();
        // Only the locals of a given client may have the name of something else, of what the stm keeps to itself.
        if !candidates.is_empty() {
            return self.the_only(name, candidates);
        }
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
            None => self.the_only(name, Vec::new()),
        }
    }

    fn the_only(&mut self, name: &Name, candidates: Vec<(usize, VarId)>) -> Fallible<Found> {
        let names = self.shared.names;
        match candidates.as_slice() {
            [(thread, var)] => {
                self.refuse_member(self.threads[*thread].declared, name)?;
                Ok(Found::Local(*thread, *var))
            }
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
                let qualified =
                    |(thread, _): &(usize, VarId)| format!("`{}.{}`", self.threads[*thread].thread.name, name.text);
                let mut choices: Vec<_> = several.iter().take(8).map(qualified).collect();
                if several.len() > choices.len() {
                    choices.push("…".to_owned());
                }
                let help = format!("choose one: {}", choices.join(", "));
                Err(self.reports.complain(name.span, message, "which one?", help))
            }
        }
    }

    fn find_member(&mut self, member: &'a Member) -> Fallible<Found> {
        let names = self.shared.names;
        let declared = self.declared_thread(&member.thread)?;
        let help = format!("choose one: `{}[0]`", member.thread.text);
        let thread = self.find_thread(declared, (&member.thread, member.thread_index.as_ref()), help)?;
        let local = names.local(names.thread_body(declared), &member.var.text).map(Symbol::Var);
        match local.or_else(|| names.lookup(None, &member.var.text)) {
            Some(Symbol::Var(var)) if names.var(var).kind != VarKind::Shared => Ok(Found::Local(thread, var)),
            Some(_) => {
                let message = format!("`{}` is not a variable of thread `{}`", member.var.text, member.thread.text);
                let help = format!("write just `{}`", member.var.text);
                Err(self.reports.complain(member.var.span, message, "not a local variable", help))
            }
            None => {
                let visible = names.visible(Some(names.thread_body(declared)));
                report_unknown("variable", &member.var, visible, names, self.reports);
                Err(Reported)
            }
        }
    }

    /// The declaration of a thread, or of a family.
    pub(crate) fn declared_thread(&mut self, name: &Name) -> Fallible<usize> {
        let names = self.shared.names;
        let declared = names.file.threads.iter().position(|thread| thread.name.text == name.text);
        declared.ok_or_else(|| {
            let threads = names.file.threads.iter().map(|thread| thread.name.text.as_str());
            report_unknown("thread", name, threads, names, self.reports);
            Reported
        })
    }

    /// The thread of a declaration that a name and an index stand for; `help` is for a family without an index.
    pub(crate) fn find_thread(
        &mut self,
        declared: usize,
        (name, index): (&Name, Option<&'a Expr>),
        help: String,
    ) -> Fallible<usize> {
        let count = self.shared.names.counts[declared].ok_or(Reported)?;
        self.refuse_member(declared, name)?;
        let is_family = !matches!(self.shared.names.file.threads[declared].count, Count::One);
        let index = match index {
            Some(index) if is_family => {
                let value = fold_const(index, self)?;
                let position = u32::try_from(value).ok().filter(|position| *position < count);
                let Some(position) = position else {
                    let message = format!("`{}` has no thread number {value}", name.text);
                    let help = format!("its threads are `{0}[0]` to `{0}[{1}]`", name.text, count - 1);
                    return Err(self.reports.complain(index.span, message, "no such thread", help));
                };
                position
            }
            Some(index) => {
                let message = format!("`{}` is a single thread", name.text);
                let help = format!("write just `{}`", name.text);
                return Err(self.reports.complain(index.span, message, "an index", help));
            }
            None if count > 1 => {
                let message = format!("`{}` is a family of {count} threads", name.text);
                return Err(self.reports.complain(name.span, message, "which one?", help));
            }
            None => 0,
        };
        self.lowered(declared, index).ok_or(Reported)
    }

    /// The number of a thread among all.
    pub(crate) fn lowered(&self, declared: usize, index: u32) -> Option<usize> {
        let here =
            |thread: &LoweredThread| thread.declared == declared && u32::try_from(thread.self_index) == Ok(index);
        self.threads.iter().position(here)
    }

    /// Members of a family of any number have no names.
    fn refuse_member(&mut self, declared: usize, name: &Name) -> Fallible<()> {
        let thread = &self.shared.names.file.threads[declared];
        let Count::Any { span, .. } = thread.count else { return Ok(()) };
        let message = format!("`{}` is a variable of any number of threads", self.shared.names.text(name.span));
        let help = format!("`{}[*]` has no member with a name; say how many it has: `--threads 2`", thread.name.text);
        let diagnostic = Diagnostic::new(name.span, message, "which member?").with_related(span, "any number");
        Err(self.reports.add(diagnostic.with_help(help)))
    }

    /// The kind of a folded condition, or of a part of it; `span` is that of the whole.
    pub(crate) fn kind<V>(&mut self, expr: &IrExpr<V>, timed: &impl Fn(&Self, &V) -> bool, span: Span) -> Kind {
        match expr {
            IrExpr::Const(_) => Kind::Const,
            IrExpr::Var(var) if timed(self, var) => Kind::Timestamp,
            IrExpr::Var(_) => Kind::Int,
            IrExpr::Unary(op, arg) => {
                let kind = self.kind(arg, timed, span);
                typing::unary(*op, kind, span, self.reports)
            }
            IrExpr::Binary(op, left, right) => {
                let kinds = (self.kind(left, timed, span), self.kind(right, timed, span));
                typing::binary(*op, kinds, span, self.reports)
            }
        }
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
                let tid = i128::try_from(thread).map_err(|_| Reported)?;
                let lower = Lower::thread(self.shared, self.reports, body, (lowered.self_index, tid));
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
        match (found, index) {
            (Found::Const(value), None) => return Ok(IrExpr::Const(value)),
            (Found::Const(_), Some(index)) => {
                let help = "only arrays have elements";
                return Err(self.reports.complain(index.span, "a constant cannot be indexed", "an index", help));
            }
            _ => {}
        }
        let (base, var) = self.base(found)?;
        self.check_index(var, index, atom.span)?;
        let Some(index) = index else { return Ok(IrExpr::Var(base)) };
        let value = fold_const(index, self)?;
        let position = in_bounds(value, self.len(var)?, index.span, self.reports)?;
        Ok(IrExpr::Var(offset(base, position)))
    }

    fn not_constant(&mut self, expr: &Expr) -> Reported {
        let help = "only constants and binders can be used here";
        self.reports.complain(expr.span, "this is not a constant", "depends on a variable", help)
    }

    fn is_timestamp(&self, var: &FinalVar) -> bool {
        match var {
            FinalVar::Reg(thread, register) => {
                let registers = &self.threads[thread.index()].thread.registers;
                registers[register.index()].ty == Ty::Timestamp
            }
            FinalVar::Loc(loc) => self.shared.locations[loc.index()].ty == Ty::Timestamp,
        }
    }

    fn binders(&mut self) -> &mut Vec<(&'a str, i128)> {
        &mut self.binders
    }

    fn reports(&mut self) -> &mut Reports {
        self.reports
    }

    fn budget(&self) -> &Budget {
        &self.shared.names.budget
    }
}

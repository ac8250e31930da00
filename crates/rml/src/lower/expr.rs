//! Names and places inside a thread: locals are read, shared variables loaded into temporaries, left to right.

use cyrano_ir::{Addr, Diagnostic, Expr as IrExpr, LocalExpr, Op, Place, Ty};

use crate::expand::fold::fold;
use crate::lower::thread::Lower;
use crate::report::{Fallible, Reported};
use crate::resolve::names::{Shape, Symbol, VarId};
use crate::syntax::ast::{Expr, ExprKind, Name, Place as Target, VarKind};

/// Something that can be assigned.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Local(Place),
    Shared(Addr, Ty),
}

impl<'a> Lower<'a, '_, '_> {
    /// A name, an element, `self` or `tid`.
    pub(crate) fn atom(&mut self, atom: &'a Expr) -> Fallible<LocalExpr> {
        match &atom.kind {
            ExprKind::SelfIndex => {
                self.has_number(atom)?;
                Ok(IrExpr::Const(self.own.self_index))
            }
            ExprKind::Tid => {
                self.has_number(atom)?;
                Ok(IrExpr::Const(self.own.tid))
            }
            ExprKind::Name(name) => self.read(name, None),
            ExprKind::Element(name, index) => self.read(name, Some(index)),
            _ => Err(Reported),
        }
    }

    /// Complains where `self` or `tid` would depend on how many threads there are, or tell those apart that are alike.
    fn has_number(&mut self, atom: &Expr) -> Fallible<()> {
        let names = self.own.shared.names;
        let Some(own) = self.own.thread.0.checked_sub(names.file.procs.len()) else { return Ok(()) };
        let counts: Vec<_> = names.file.threads[..=own].iter().filter(|t| t.count.is_any()).collect();
        let word = names.text(atom.span);
        let (family, message) = match counts.last() {
            Some(family) if names.file.threads[own].count.is_any() => {
                let what = "stands for any number of threads, which nothing may tell apart";
                (family, format!("`{}[*]` {what}: there is no `{word}`", family.name.text))
            }
            Some(family) if matches!(atom.kind, ExprKind::Tid) => {
                let what = "depends on how many threads there are";
                (family, format!("`tid` {what}, and `{}[*]` is any number", family.name.text))
            }
            _ => return Ok(()),
        };
        let help = format!("say how many threads there are: `thread {}[2]`, or `--threads 2`", family.name.text);
        let span = family.count.span().unwrap_or(family.name.span);
        let diagnostic = Diagnostic::new(atom.span, message, "a number of the thread's own");
        Err(self.reports.add(diagnostic.with_related(span, "any number of threads").with_help(help)))
    }

    fn read(&mut self, name: &'a Name, index: Option<&'a Expr>) -> Fallible<LocalExpr> {
        match self.own.shared.names.lookup(Some(self.frame.own.body), &name.text) {
            Some(Symbol::Const(constant)) => {
                let value = self.own.shared.names.consts[constant];
                value.map(IrExpr::Const).ok_or(Reported)
            }
            Some(Symbol::Var(var)) => match self.frame.own.fixed.get(&var) {
                Some(value) => Ok(IrExpr::Const(*value)),
                None => match self.slot_of(var, index)? {
                    Slot::Local(place) => Ok(IrExpr::Var(place)),
                    Slot::Shared(addr, ty) => {
                        let span = self.stmt_span;
                        let dst = Place::Reg(self.temporary(ty, span)?);
                        self.emit(Op::load(dst.clone(), addr), span)?;
                        Ok(IrExpr::Var(dst))
                    }
                },
            },
            _ => Err(Reported),
        }
    }

    /// The slot of something that is assigned.
    pub(crate) fn slot(&mut self, target: &'a Target) -> Fallible<Slot> {
        let names = self.own.shared.names;
        match names.lookup(Some(self.frame.own.body), &target.name.text) {
            Some(Symbol::Var(var)) => self.slot_of(var, target.index.as_ref()),
            _ => Err(Reported),
        }
    }

    /// The slot that an expression reads, if it is nothing but one variable.
    pub(crate) fn slot_read(&mut self, expr: &'a Expr) -> Fallible<Option<Slot>> {
        let (name, index) = match &expr.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Element(name, index) => (name, Some(&**index)),
            _ => return Ok(None),
        };
        let bound = self.frame.binders.iter().any(|(binder, _)| *binder == name.text);
        match self.own.shared.names.lookup(Some(self.frame.own.body), &name.text) {
            Some(Symbol::Var(var)) if !bound && !self.frame.own.fixed.contains_key(&var) => {
                self.slot_of(var, index).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn slot_of(&mut self, var: VarId, index: Option<&'a Expr>) -> Fallible<Slot> {
        let declared = self.own.shared.names.var(var);
        let (shape, ty, kind) = (declared.shape, declared.ty, declared.kind);
        let chosen = match (shape, index) {
            (Shape::Scalar, None) => None,
            (Shape::Array(len), Some(index)) => Some((len, fold(index, self)?, index.span)),
            _ => return Err(Reported),
        };
        if kind == VarKind::Shared {
            let home = *self.own.shared.homes.get(&var).ok_or(Reported)?;
            let addr = match chosen {
                None => Addr::Fixed(home.base),
                Some((len, index, span)) => self.shared_element(home, len, index, span)?,
            };
            return Ok(Slot::Shared(addr, ty));
        }
        let home = self.home(var)?;
        let place = match chosen {
            None => Place::Reg(home),
            Some((len, index, span)) => self.element(home, len, index, span)?,
        };
        Ok(Slot::Local(place))
    }
}

//! Names and places inside a thread: locals are read, shared variables loaded into temporaries, left to right.

use cyrano_ir::{Addr, Expr as IrExpr, LocalExpr, Op, Place, Ty};

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
            ExprKind::SelfIndex => Ok(IrExpr::Const(self.own.self_index)),
            ExprKind::Tid => Ok(IrExpr::Const(self.own.tid)),
            ExprKind::Name(name) => self.read(name, None),
            ExprKind::Element(name, index) => self.read(name, Some(index)),
            _ => Err(Reported),
        }
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

//! Where values come from, and what conditions depend on.

use cyrano_ir::{BinOp, Span};

use super::{Check, Depends, Kind, Kinds, Place};
use crate::parametric::Obstacle;
use crate::parametric::form::{Cell, Domain, Index, Len, Term, TermKind};

impl Check<'_> {
    /// Whether a cell is of the slice that is looked at; if not, that is said.
    pub(super) fn is_own(&mut self, cell: &Cell, at: Place) -> bool {
        let var = &self.form.vars[cell.var];
        let name = &var.name;
        let what = match (var.len, cell.index) {
            (Len::Each(Domain::Variables), Index::Of(binder)) if at.region == Some(binder) => return true,
            (Len::Each(Domain::Variables), Index::Fixed) => format!("one variable has a role of its own in `{name}`"),
            (Len::Each(Domain::Variables), _) => {
                format!("`{name}` is used for another variable than the one in question")
            }
            (Len::Each(Domain::Threads), _) => format!(
                "`{name}` belongs to a thread and not to a variable, so that what is done about one variable may depend on others"
            ),
            _ => format!("`{name}` belongs to no variable, so that what is done about one may depend on others"),
        };
        self.outside.push(Obstacle { span: cell.span, what });
        false
    }

    /// Where the value of an expression comes from; if from elsewhere, that is said.
    pub(super) fn kind(&mut self, term: &Term, at: Place, kinds: &Kinds) -> Kind {
        match &term.kind {
            TermKind::Number(_) | TermKind::Sized | TermKind::Own => Kind::Constant,
            TermKind::NumberOf(binder) if self.form.binders[*binder] == Domain::Threads => Kind::Constant,
            TermKind::NumberOf(_) => {
                self.refuse(
                    term.span,
                    "the number of a variable is used, so that one may be treated in another way than others",
                );
                Kind::Slice
            }
            TermKind::Local(cell) if cell.index == Index::None => match kinds[cell.var] {
                Kind::Before => {
                    let what = format!(
                        "`{}` comes from before, perhaps from what was done about another variable",
                        self.form.name(cell.var)
                    );
                    self.refuse(term.span, what);
                    Kind::Slice
                }
                kind => kind,
            },
            TermKind::Local(cell) => {
                self.is_own(cell, at);
                Kind::Slice
            }
            TermKind::Unary(_, arg) => self.computed(term.span, &[arg], at, kinds),
            TermKind::Binary(BinOp::Add, left, right) => {
                match (self.kind(left, at, kinds), right.number(), left.number()) {
                    (Kind::Fresh { clock, by, plus }, Some(more), _) => {
                        Kind::Fresh { clock, by, plus: plus.saturating_add(more) }
                    }
                    _ => self.computed(term.span, &[left, right], at, kinds),
                }
            }
            TermKind::Binary(_, left, right) => self.computed(term.span, &[left, right], at, kinds),
            TermKind::Quantified { .. } => {
                self.refuse(term.span, "this is about all variables");
                Kind::Slice
            }
        }
    }

    pub(super) fn computed(&mut self, span: Span, parts: &[&Term], at: Place, kinds: &Kinds) -> Kind {
        let all: Vec<Kind> = parts.iter().map(|part| self.kind(part, at, kinds)).collect();
        if all.iter().any(|kind| !kind.is_plain()) {
            self.refuse(span, "something is computed from a clock, or from when the transaction began");
        }
        if all.contains(&Kind::Slice) { Kind::Slice } else { Kind::Constant }
    }

    /// What a condition depends on; if on something else, that is said.
    pub(super) fn depends(&mut self, cond: &Term, at: Place, kinds: &Kinds) -> Option<Depends> {
        let known = self.found();
        match &cond.kind {
            TermKind::Quantified { all: false, binder, body }
                if at.region.is_none() && self.form.binders[*binder] == Domain::Variables =>
            {
                let inside = Place { region: Some(*binder), ..at };
                let plain = matches!(self.depends(body, inside, kinds)?, Depends::Slice);
                if !plain {
                    self.refuse(body.span, "this depends on more than the variable");
                }
                (self.found() == known).then_some(Depends::Some(*binder))
            }
            TermKind::Binary(BinOp::And | BinOp::Or, left, right) => {
                let (one, other) = (self.depends(left, at, kinds)?, self.depends(right, at, kinds)?);
                match (one, other) {
                    (Depends::Slice, Depends::Slice) => Some(Depends::Slice),
                    (Depends::Slice | Depends::Age, Depends::Slice | Depends::Age) => Some(Depends::Age),
                    (Depends::Begun, Depends::Begun) => Some(Depends::Begun),
                    _ => {
                        self.refuse(cond.span, "this depends on several things at once");
                        None
                    }
                }
            }
            TermKind::Binary(op, left, right) if self.compares_age(*op, left, right, kinds) => Some(Depends::Age),
            TermKind::Binary(BinOp::Eq | BinOp::Ne, left, right)
                if at.region.is_none() && self.is_flag(left, kinds) && right.number().is_some() =>
            {
                Some(Depends::Begun)
            }
            _ => {
                let kind = self.kind(cond, at, kinds);
                if !kind.is_plain() {
                    self.refuse(cond.span, "this depends on when the transaction began");
                }
                (self.found() == known).then_some(Depends::Slice)
            }
        }
    }

    pub(super) fn found(&self) -> usize {
        self.outside.len() + self.obstacles.len()
    }

    pub(super) fn is_flag(&self, term: &Term, kinds: &Kinds) -> bool {
        term.scalar().is_some_and(|var| self.once.locals.contains_key(&var) && kinds[var] != Kind::Constant)
    }

    /// Whether it asks if a variable is younger than the transaction.
    pub(super) fn compares_age(&self, op: BinOp, left: &Term, right: &Term, kinds: &Kinds) -> bool {
        let (older, younger) = match op {
            BinOp::Lt => (left, right),
            BinOp::Gt => (right, left),
            _ => return false,
        };
        let kind = |term: &Term| term.scalar().map(|var| kinds[var]);
        let clock = self.clock().map(Kind::Loaded);
        clock.is_some() && kind(older) == clock && kind(younger) == Some(Kind::Stamp)
    }
}

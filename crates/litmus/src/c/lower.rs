//! From C to the IR.
//!
//! A sequentially consistent access stands between two full fences, as the most careful plain compilation would put them; every other
//! access is a plain load or store. C leaves the order of most operands open, so an expression that accesses memory in two of them
//! is refused. `&&` and `||` are branches.

use std::collections::BTreeMap;

use cyrano_ir::{Addr, BinOp, Diagnostic, Expr, FenceSet, IntType, LocalExpr, RegId, RmwOp, Span, Ty, UnOp};

use super::ast::{self, ExprKind, Function, Order, Stmt, Type};
use super::convert::{arithmetic, convert, literal};
use crate::ast::Name;
use crate::code::{Code, Label, var};
use crate::layout::Layout;

/// A value and its type.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) expr: LocalExpr,
    pub(crate) ty: Type,
}

/// One lowered thread.
pub(crate) struct Lowered {
    pub(crate) code: Code,
    pub(crate) locals: BTreeMap<String, (RegId, Type)>,
}

/// Lowers one function.
pub(crate) fn lower(function: &Function, layout: &mut Layout) -> Result<Lowered, Vec<Diagnostic>> {
    let mut params = BTreeMap::new();
    let mut errors = Vec::new();
    for (name, ty) in &function.params {
        let number = layout.number(name);
        let word = ty.word();
        let cell = &mut layout.cells[number];
        cell.pointer |= ty.pointers > 0;
        match cell.ty {
            Some(known) if known != word => {
                let message = format!("`{}` is a {} here and a {} elsewhere", name.text, word, known);
                errors.push(Diagnostic::new(name.span, message, "another type than before"));
            }
            _ => cell.ty = Some(word),
        }
        params.insert(name.text.clone(), (number, *ty));
    }
    let mut lower = Lower { layout, code: Code::default(), params, locals: BTreeMap::new(), temporaries: 0, errors };
    lower.block(&function.body);
    if lower.errors.is_empty() { Ok(Lowered { code: lower.code, locals: lower.locals }) } else { Err(lower.errors) }
}

pub(super) struct Lower<'l> {
    layout: &'l mut Layout,
    pub(super) code: Code,
    /// The parameters: the location that each points to, and its type.
    pub(super) params: BTreeMap<String, (usize, Type)>,
    pub(super) locals: BTreeMap<String, (RegId, Type)>,
    /// How many temporaries the statement has used.
    temporaries: usize,
    errors: Vec<Diagnostic>,
}

/// A place in memory.
pub(super) struct Target {
    pub(super) addr: Addr,
    pub(super) ty: Type,
}

impl Lower<'_> {
    pub(super) fn wrong(&mut self, span: Span, message: impl Into<String>, label: &str) {
        self.errors.push(Diagnostic::new(span, message, label));
    }

    pub(super) fn temporary(&mut self) -> RegId {
        self.temporaries += 1;
        self.code.temporary(self.temporaries - 1)
    }

    fn block(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.temporaries = 0;
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { name, ty, value } => {
                self.code.span = name.span;
                self.declare(name, *ty);
                if let Some(value) = value {
                    self.assign(name, value);
                }
            }
            Stmt::Assign { name, value } => self.assign(name, value),
            Stmt::Store { to, value, order, span } => self.store(to, value, *order, *span),
            Stmt::Call(call) => {
                self.code.span = call.span;
                _ = self.value(call, None);
            }
            Stmt::Fence(kinds, span) => {
                self.code.span = *span;
                self.code.fence(*kinds);
            }
            Stmt::If { cond, then, other } => {
                let (yes, no, end) = (self.code.label(), self.code.label(), self.code.label());
                self.condition(cond, yes, no);
                self.code.place(yes);
                self.block(then);
                if !other.is_empty() {
                    self.code.jump(end);
                }
                self.code.place(no);
                self.block(other);
                self.code.place(end);
            }
            Stmt::While { cond, body, first } => {
                let (start, again, end) = (self.code.label(), self.code.label(), self.code.label());
                if *first {
                    self.code.place(again);
                    self.block(body);
                    self.temporaries = 0;
                    self.condition(cond, again, end);
                    self.code.place(start);
                } else {
                    self.code.place(start);
                    self.condition(cond, again, end);
                    self.code.place(again);
                    self.block(body);
                    self.code.jump(start);
                }
                self.code.place(end);
            }
        }
    }

    /// Variables live in one name space per thread, as conditions see them.
    fn declare(&mut self, name: &Name, ty: Type) {
        if self.params.contains_key(&name.text) {
            return self.wrong(name.span, format!("`{}` is a parameter already", name.text), "declared again");
        }
        match self.locals.get(&name.text) {
            Some((_, known)) if *known != ty => {
                self.wrong(
                    name.span,
                    format!("`{}` has another type elsewhere in this thread", name.text),
                    "declared again",
                );
            }
            Some(_) => {}
            None => {
                let reg = self.code.register(&name.text);
                if ty.pointers > 0 {
                    self.code.registers[reg.index()].ty = Ty::Pointer;
                }
                self.locals.insert(name.text.clone(), (reg, ty));
            }
        }
    }

    fn assign(&mut self, name: &Name, value: &ast::Expr) {
        self.code.span = name.span.to(value.span);
        let Some((reg, ty)) = self.locals.get(&name.text).copied() else {
            let what = if self.params.contains_key(&name.text) { "a parameter" } else { "no variable of this thread" };
            return self.wrong(name.span, format!("`{}` is {what}", name.text), "cannot be assigned to");
        };
        if let Some(value) = self.value(value, Some((reg, ty)))
            && let Some(value) = self.converted(value, ty, name.span)
        {
            self.code.assign(reg, value);
        }
    }

    fn store(&mut self, to: &ast::Expr, value: &ast::Expr, order: Order, span: Span) {
        self.code.span = span;
        self.sequenced(&[to, value]);
        let Some(target) = self.target(to) else { return };
        let Some(value) = self.value(value, None) else { return };
        let Some(value) = self.converted(value, target.ty, span) else { return };
        let full = self.open(order, target.ty);
        self.code.store(target.addr, value);
        self.close(full);
    }

    /// A value as one of another type.
    pub(super) fn converted(&mut self, value: Value, ty: Type, span: Span) -> Option<LocalExpr> {
        match convert(&value, ty) {
            Ok(expr) => Some(expr),
            Err(message) => {
                self.wrong(span, message, "in this assignment");
                None
            }
        }
    }

    /// Puts the fence before an access; whether one has to follow.
    pub(super) fn open(&mut self, order: Order, ty: Type) -> bool {
        let full = order == Order::SeqCst || order == Order::Plain && ty.atomic && ty.pointers == 0;
        self.close(full);
        full
    }

    pub(super) fn close(&mut self, full: bool) {
        if full {
            self.code.fence(FenceSet::FULL);
        }
    }

    /// At most one of these may access memory, for their order is open.
    pub(super) fn sequenced(&mut self, list: &[&ast::Expr]) {
        let mut accessing = list.iter().filter(|expr| expr.accesses());
        if let (Some(_), Some(second)) = (accessing.next(), accessing.next()) {
            let message = "C leaves open which of these accesses comes first; use one statement for each";
            self.wrong(second.span, message, "the second access");
        }
    }

    /// What a pointer points to.
    pub(super) fn target(&mut self, pointer: &ast::Expr) -> Option<Target> {
        if let ExprKind::Name(name) = &pointer.kind
            && let Some((number, ty)) = self.params.get(name)
        {
            return Some(Target { addr: Layout::fixed(*number), ty: *ty });
        }
        let value = self.value(pointer, None)?;
        match value.ty.target() {
            Some(ty) => Some(Target { addr: self.layout.through(value.expr), ty }),
            None => {
                self.wrong(pointer.span, "this is no pointer", "expected a pointer");
                None
            }
        }
    }

    /// Branches on a condition.
    fn condition(&mut self, cond: &ast::Expr, yes: Label, no: Label) {
        self.code.span = cond.span;
        match &cond.kind {
            ExprKind::Lazy(and, left, right) => {
                let middle = self.code.label();
                if *and {
                    self.condition(left, middle, no);
                } else {
                    self.condition(left, yes, middle);
                }
                self.code.place(middle);
                self.condition(right, yes, no);
            }
            ExprKind::Not(inner) => self.condition(inner, no, yes),
            _ => {
                let value = self.value(cond, None).map_or(Expr::Const(0), |value| value.expr);
                self.code.branch(value, yes, no);
            }
        }
    }

    /// Evaluates an expression. A loaded value goes to `into` if that is of its type, so that no copy is needed.
    pub(super) fn value(&mut self, expr: &ast::Expr, into: Option<(RegId, Type)>) -> Option<Value> {
        let ty = Type::INT;
        Some(match &expr.kind {
            ExprKind::Int(value) => literal(*value),
            ExprKind::Name(name) => return self.named(name, expr.span),
            ExprKind::AddressOf(name) => {
                self.wrong(expr.span, format!("the address of `{name}` is not supported here"), "not supported");
                return None;
            }
            ExprKind::Load { from, order } => {
                let target = self.target(from)?;
                let dst = self.destination(into, target.ty);
                let full = self.open(*order, target.ty);
                self.code.load(dst, target.addr);
                self.close(full);
                Value { expr: var(dst), ty: plain(target.ty) }
            }
            ExprKind::Neg(inner) => {
                let zero = literal(0);
                let inner = self.value(inner, None)?;
                return self.computed(BinOp::Sub, zero, inner, expr.span);
            }
            ExprKind::Flip(inner) => {
                let inner = self.value(inner, None)?;
                return self.computed(BinOp::BitXor, inner, literal(-1), expr.span);
            }
            ExprKind::Not(inner) => {
                let inner = self.value(inner, None)?;
                Value { expr: Expr::unary(UnOp::Not, inner.expr), ty }
            }
            ExprKind::Binary(op, left, right) => {
                self.sequenced(&[left, right]);
                let left = self.value(left, None)?;
                let right = self.value(right, None)?;
                return self.computed(*op, left, right, expr.span);
            }
            ExprKind::Lazy(..) => {
                let (yes, no, end) = (self.code.label(), self.code.label(), self.code.label());
                let result = self.temporary();
                self.condition(expr, yes, no);
                self.code.place(yes);
                self.code.assign(result, Expr::Const(1));
                self.code.jump(end);
                self.code.place(no);
                self.code.assign(result, Expr::Const(0));
                self.code.place(end);
                Value { expr: var(result), ty }
            }
            ExprKind::Exchange { at, value, order } => {
                self.sequenced(&[at, value]);
                let target = self.target(at)?;
                let value = self.value(value, None)?;
                let value = self.converted(value, target.ty, expr.span)?;
                let dst = self.temporary();
                let full = self.open(*order, target.ty);
                self.code.rmw(dst, target.addr, RmwOp::Exchange(value));
                self.close(full);
                Value { expr: var(dst), ty: plain(target.ty) }
            }
            ExprKind::Cas { at, expected, new, order } => {
                self.sequenced(&[at, expected, new]);
                let target = self.target(at)?;
                let expected = self.value(expected, None)?;
                let ty = plain(target.ty);
                let expected = self.converted(expected, ty, expr.span)?;
                Value { expr: var(self.cas(target, expected, new, *order, expr.span)?), ty }
            }
            ExprKind::CasStrong { at, expected, new, order } => {
                return self.cas_strong(at, expected, new, *order, expr.span);
            }
            ExprKind::Fetch { at, op, value, order, new } => {
                return self.fetch(at, *op, value, (*order, *new), expr.span);
            }
        })
    }

    fn destination(&mut self, into: Option<(RegId, Type)>, ty: Type) -> RegId {
        match into {
            Some((reg, own)) if own.word() == ty.word() => reg,
            _ => self.temporary(),
        }
    }

    pub(super) fn named(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some((reg, ty)) = self.locals.get(name) {
            return Some(Value { expr: var(*reg), ty: plain(*ty) });
        }
        if let Some((_, ty)) = self.params.get(name).copied() {
            let address = self.layout.address(&Name { text: name.to_owned(), span });
            return Some(Value { expr: Expr::Const(address), ty: ty.pointer() });
        }
        self.wrong(span, format!("there is no variable or parameter `{name}` in this thread"), "not declared");
        None
    }

    pub(super) fn computed(&mut self, op: BinOp, left: Value, right: Value, span: Span) -> Option<Value> {
        match arithmetic(op, left, right) {
            Ok(value) => Some(value),
            Err(message) => {
                self.wrong(span, message, "not supported");
                None
            }
        }
    }
}

/// The type of a value that was read.
pub(super) fn plain(ty: Type) -> Type {
    if ty.pointers == 0 { Type { atomic: false, ..ty } } else { ty }
}

/// The integer type of a word that nothing declares.
pub(crate) const WORD: IntType = IntType { bits: 32, signed: true };

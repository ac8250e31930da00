//! From C to the IR.
//!
//! What an access orders is said by its tags. C leaves the order of most operands open, so an expression that accesses memory in two of
//! them is refused. `&&` and `||` are branches. Types are not held against a test: in herd's C a variable holds a number or an address,
//! whatever it is declared as, and one that is not declared at all is as good.

use std::collections::BTreeMap;

use cyrano_cfront::ast::{self, ExprKind, Unary};
use cyrano_cfront::atomics::Called;
use cyrano_cfront::integers::of_constant;
use cyrano_ir::{Addr, BinOp, Diagnostic, Expr, IntType, LocalExpr, Op, Place, RegId, Span, Tags, UnOp};

use super::calls::{Order, resolve};
use super::convert::{arithmetic, convert, int};
use super::parse::Function;
use super::types::{self, Type};
use crate::ast::Name;
use crate::code::{Code, Label, var};
use crate::layout::Layout;
use crate::pointers;

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

/// Lowers one function; `initial` are the variables that the initial state gives a value.
pub(crate) fn lower(
    function: &Function,
    initial: BTreeMap<String, Type>,
    layout: &mut Layout,
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut params = BTreeMap::new();
    let mut errors = Vec::new();
    for (name, ty) in &function.params {
        let number = layout.number(name);
        let word = ty.word();
        let cell = &mut layout.cells[number];
        cell.pointer |= ty.pointers > 0;
        match cell.ty {
            // A location that holds an address is one whatever a parameter says.
            Some(known) if known != word && known.bits >= 32 && word.bits >= 32 => {
                cell.ty = Some(IntType { bits: known.bits.max(word.bits), signed: true });
            }
            Some(known) if known != word => {
                let message = format!("`{}` is a {} here and a {} elsewhere", name.text, word, known);
                errors.push(Diagnostic::new(name.span, message, "another type than before"));
            }
            _ => cell.ty = Some(word),
        }
        let ty_of_all = layout.cells[number].ty;
        for at in layout.extent(number) {
            layout.cells[at].ty = ty_of_all;
        }
        params.insert(name.text.clone(), (number, *ty));
    }
    let (code, locals) = (Code::default(), BTreeMap::new());
    let mut lower = Lower { layout, code, params, initial, locals, temporaries: 0, errors };
    lower.stmt(&function.body);
    if lower.errors.is_empty() { Ok(Lowered { code: lower.code, locals: lower.locals }) } else { Err(lower.errors) }
}

pub(super) struct Lower<'l> {
    layout: &'l mut Layout,
    pub(super) code: Code,
    /// The parameters: the location that each points to, and its type.
    pub(super) params: BTreeMap<String, (usize, Type)>,
    /// Variables that are as good as declared.
    initial: BTreeMap<String, Type>,
    pub(super) locals: BTreeMap<String, (RegId, Type)>,
    /// How many temporaries the statement has used.
    pub(super) temporaries: usize,
    pub(super) errors: Vec<Diagnostic>,
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

    pub(super) fn refuse(&mut self, span: Span, what: &str) {
        self.wrong(span, format!("{what} is not supported"), "not supported");
    }

    pub(super) fn temporary(&mut self) -> RegId {
        self.temporaries += 1;
        self.code.temporary(self.temporaries - 1)
    }

    /// The tags of an access to something of this type.
    pub(super) fn tags(order: Order, ty: Type) -> Tags {
        match order {
            Order::Tags(tags) => tags,
            Order::Plain if ty.atomic && ty.pointers == 0 => Tags::ATOMIC | Tags::SEQ_CST,
            Order::Plain => Tags::default(),
        }
    }

    /// At most one of these may access memory, for their order is open.
    pub(super) fn sequenced(&mut self, list: &[&ast::Expr]) {
        let mut accessing = list.iter().filter(|expr| accesses(expr));
        if let (Some(_), Some(second)) = (accessing.next(), accessing.next()) {
            let message = "C leaves open which of these accesses comes first; use one statement for each";
            self.wrong(second.loc.span, message, "the second access");
        }
    }

    /// What a pointer points to.
    pub(super) fn target(&mut self, pointer: &ast::Expr) -> Option<Target> {
        let (inner, seen) = self.uncast(pointer)?;
        let seen = seen.and_then(Type::target);
        if let ExprKind::Name(name) = &inner.kind
            && let Some((number, ty)) = self.params.get(name)
        {
            return Some(Target { addr: Layout::fixed(*number), ty: seen.unwrap_or(*ty) });
        }
        if let ExprKind::Binary(BinOp::Add, base, index) = &inner.kind
            && let Some(target) = self.element(base, index)
        {
            return Some(Target { ty: seen.unwrap_or(target.ty), ..target });
        }
        let value = self.value(inner, None)?;
        // A number may hold an address.
        let ty = match value.ty.target() {
            Some(ty) => ty,
            None if matches!(inner.kind, ExprKind::Int { .. }) => {
                self.wrong(pointer.loc.span, "this is no pointer", "expected a pointer");
                return None;
            }
            None => Type::INT,
        };
        Some(Target { addr: self.layout.through(value.expr), ty: seen.unwrap_or(ty) })
    }

    /// `base[index]`, if the base is a parameter. What is not in its array is nothing that can be accessed.
    pub(super) fn element(&mut self, base: &ast::Expr, index: &ast::Expr) -> Option<Target> {
        let ExprKind::Name(name) = &base.kind else { return None };
        let (number, ty) = self.params.get(name).copied()?;
        if accesses(index) {
            let message = "an index that is an access of its own is not supported; use one statement for each";
            self.wrong(index.loc.span, message, "not supported");
            return None;
        }
        let index = pointers::element(0, self.value(index, None)?.expr, 1);
        Some(Target { addr: Addr::Indexed { array: self.layout.object(number), index }, ty })
    }

    /// What is under casts, and the type of the outermost.
    fn uncast<'e>(&mut self, expr: &'e ast::Expr) -> Option<(&'e ast::Expr, Option<Type>)> {
        let (mut inner, mut seen) = (expr, None);
        while let ExprKind::Cast(ty, under) = &inner.kind {
            match types::of(ty, inner.loc.span) {
                Ok(ty) => seen = seen.or(Some(ty)),
                Err(error) => {
                    self.errors.push(error);
                    return None;
                }
            }
            inner = under;
        }
        Some((inner, seen))
    }

    /// Branches on a condition.
    pub(super) fn condition(&mut self, cond: &ast::Expr, yes: Label, no: Label) {
        self.code.span = cond.loc.span;
        match &cond.kind {
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), left, right) => {
                let middle = self.code.label();
                if *op == BinOp::And {
                    self.condition(left, middle, no);
                } else {
                    self.condition(left, yes, middle);
                }
                self.code.place(middle);
                self.condition(right, yes, no);
            }
            ExprKind::Unary(Unary::Not, inner) => self.condition(inner, no, yes),
            _ => {
                let value = self.value(cond, None).map_or(Expr::Const(0), |value| value.expr);
                self.code.branch(value, yes, no);
            }
        }
    }

    /// Evaluates an expression. A loaded value goes to `into` if that is of its type, so that no copy is needed.
    pub(super) fn value(&mut self, expr: &ast::Expr, into: Option<(RegId, Type)>) -> Option<Value> {
        let span = expr.loc.span;
        match &expr.kind {
            ExprKind::Int { value, unsigned, long, decimal } => {
                let int = of_constant(*value, *unsigned, *long, *decimal);
                Some(Value { expr: Expr::Const(*value), ty: Type { int, ..Type::INT } })
            }
            ExprKind::Name(name) => self.named(name, span),
            ExprKind::Deref(from) => self.load(from, Order::Plain, into),
            ExprKind::Index(base, index) => {
                let found = self.element(base, index);
                if found.is_none() && self.errors.is_empty() {
                    self.refuse(span, refused(&expr.kind));
                }
                Some(self.loaded(found?, Order::Plain, into))
            }
            ExprKind::Call { callee, args } => match resolve(callee, args, span) {
                Ok(called) => self.called(called, into, callee),
                Err(error) => {
                    self.errors.push(error);
                    None
                }
            },
            ExprKind::Unary(Unary::Not, inner) => {
                let inner = self.value(inner, None)?;
                Some(Value { expr: Expr::unary(UnOp::Not, inner.expr), ty: Type::INT })
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.value(inner, None)?;
                match op {
                    Unary::Minus => self.computed(BinOp::Sub, int(0), inner, span),
                    Unary::Complement => self.computed(BinOp::BitXor, inner, int(-1), span),
                    Unary::Plus | Unary::Not => self.computed(BinOp::Add, int(0), inner, span),
                }
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), left, right) if !accesses(right) => {
                // Without an access on the right it depends on both.
                let (left, right) = (self.value(left, None)?, self.value(right, None)?);
                Some(Value { expr: Expr::binary(*op, left.expr, right.expr), ty: Type::INT })
            }
            ExprKind::Binary(BinOp::And | BinOp::Or, ..) => Some(self.truth(expr)),
            ExprKind::Binary(op, left, right) => {
                self.sequenced(&[left, right]);
                let left = self.value(left, None)?;
                let right = self.value(right, None)?;
                self.computed(*op, left, right, span)
            }
            ExprKind::Cast(ty, inner) => self.cast(ty, inner, span),
            _ => {
                self.refuse(span, refused(&expr.kind));
                None
            }
        }
    }

    fn cast(&mut self, ty: &ast::TypeExpr, inner: &ast::Expr, span: Span) -> Option<Value> {
        match types::of(ty, span) {
            Ok(ty) => {
                let value = self.value(inner, None)?;
                Some(Value { expr: convert(&value, ty), ty })
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// `&&` and `||` as a value.
    fn truth(&mut self, expr: &ast::Expr) -> Value {
        let (yes, no, end) = (self.code.label(), self.code.label(), self.code.label());
        let result = self.temporary();
        self.condition(expr, yes, no);
        self.code.place(yes);
        self.code.assign(result, Expr::Const(1));
        self.code.jump(end);
        self.code.place(no);
        self.code.assign(result, Expr::Const(0));
        self.code.place(end);
        Value { expr: var(result), ty: Type::INT }
    }

    pub(super) fn load(&mut self, from: &ast::Expr, order: Order, into: Option<(RegId, Type)>) -> Option<Value> {
        let target = self.target(from)?;
        Some(self.loaded(target, order, into))
    }

    fn loaded(&mut self, target: Target, order: Order, into: Option<(RegId, Type)>) -> Value {
        let dst = self.destination(into, target.ty);
        let tags = Self::tags(order, target.ty);
        self.code.push(Op::load(Place::Reg(dst), target.addr).tagged(tags));
        Value { expr: var(dst), ty: plain(target.ty) }
    }

    /// The value of a call.
    pub(super) fn called(&mut self, called: Called, into: Option<(RegId, Type)>, callee: &ast::Name) -> Option<Value> {
        if !called.has_value() {
            self.wrong(callee.loc.span, format!("`{}` has no value", callee.text), "used as a value");
            return None;
        }
        match &called {
            Called::Load { at, order } => self.load(at, Order::Tags(order.tags()), into),
            Called::Value(value) => self.value(value, into),
            called => self.update(called),
        }
    }

    fn destination(&mut self, into: Option<(RegId, Type)>, ty: Type) -> RegId {
        match into {
            Some((reg, own)) if own.word() == ty.word() => reg,
            _ => self.temporary(),
        }
    }

    pub(super) fn named(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some(ty) = self.initial.get(name).copied().filter(|_| !self.locals.contains_key(name)) {
            self.declare(name, span, ty);
        }
        if let Some((reg, ty)) = self.locals.get(name) {
            return Some(Value { expr: var(*reg), ty: plain(*ty) });
        }
        if let Some((_, ty)) = self.params.get(name).copied() {
            let address = self.layout.address(&Name { text: name.to_owned(), span });
            return Some(Value { expr: Expr::Const(address), ty: ty.pointer() });
        }
        if let "NULL" | "false" | "true" = name {
            return Some(int((name == "true").into()));
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

/// Whether evaluating an expression accesses memory. All calls with a value do.
fn accesses(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Call { .. } => true,
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => accesses(inner),
        ExprKind::Binary(_, left, right) => accesses(left) || accesses(right),
        _ => false,
    }
}

/// What an expression is that has no meaning here.
fn refused(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::AddrOf(_) => "an address in this place",
        ExprKind::Assign(..) | ExprKind::Step { .. } => "an assignment within an expression",
        ExprKind::Cond(..) => "`?:`",
        ExprKind::Comma(_) => "the comma operator",
        ExprKind::Index(..) => "an access to an array",
        ExprKind::Member { .. } | ExprKind::Compound(..) => "a structure",
        ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => "`sizeof`",
        ExprKind::Str(_) => "a string",
        _ => "this expression",
    }
}

/// The type of a value that was read.
pub(super) fn plain(ty: Type) -> Type {
    if ty.pointers == 0 { Type { atomic: false, ..ty } } else { ty }
}

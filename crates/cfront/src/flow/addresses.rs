//! Which integers are addresses: fields and variables of an integer type that hold pointers, with marks in their low bits perhaps, for
//! people who read executions. It changes no value.
//!
//! Values flow by assignments, arguments, results and read-modify-writes; all that flows into one another is one class. A class holds addresses if a
//! pointer is converted into one of its values or one of them is converted to a pointer, and nothing flows into it but pointers, 0, and what
//! `&` and `|` with constants make of its own values. So an integer that is ever computed in another way, or copied from one
//! that is, is shown as a number: the answer errs towards numbers.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::BinOp;

use crate::check::Checked;
use crate::tree::{
    AtomicOp, Calc, Expr, ExprKind, FuncId, GlobalId, Intrinsic, LocalId, Lvalue, LvalueKind, Part, Stmt, StmtKind,
};
use crate::types::{StructId, Type};

/// Where a value can be kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Holder {
    Field(usize, usize),
    Global(usize),
    Local(usize, usize),
    Result(usize),
}

/// Where integers are kept that are addresses.
pub(crate) fn holders(checked: &Checked) -> BTreeSet<Holder> {
    let mut flow = Flow { checked, func: FuncId(0), parents: BTreeMap::new(), facts: BTreeMap::new() };
    for (at, global) in checked.globals.iter().enumerate() {
        for (_, value) in &global.init {
            flow.expr(value);
            if flow.checked.types.is_scalar(&global.ty) {
                flow.receives(Holder::Global(at), value);
            } else if !value.ty.is_pointer() {
                // Which field a word of an initialiser belongs to is not followed up.
                flow.everything_in(&global.ty);
            }
        }
    }
    for (at, function) in checked.functions.iter().enumerate() {
        flow.func = FuncId(at);
        // What no function calls is for tests, which may pass any number.
        let called = checked.functions.iter().any(|caller| caller.calls.iter().any(|(callee, _)| callee.0 == at));
        for param in 0..if called { 0 } else { function.params.len() } {
            flow.note_number(Some(Holder::Local(at, param)));
        }
        if let Some(body) = &function.body {
            flow.stmt(body);
        }
    }
    let known: Vec<Holder> = flow.facts.keys().copied().collect();
    known.into_iter().filter(|holder| flow.fact(*holder) == Facts { address: true, number: false }).collect()
}

/// What flows into a class or out of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Facts {
    address: bool,
    number: bool,
}

struct Flow<'a> {
    checked: &'a Checked,
    func: FuncId,
    /// A forest whose roots stand for classes.
    parents: BTreeMap<Holder, Holder>,
    /// The facts of each holder; those of a class are at its root.
    facts: BTreeMap<Holder, Facts>,
}

impl Flow<'_> {
    fn root(&self, holder: Holder) -> Holder {
        let mut at = holder;
        while let Some(parent) = self.parents.get(&at) {
            at = *parent;
        }
        at
    }

    fn fact(&self, holder: Holder) -> Facts {
        self.facts.get(&self.root(holder)).copied().unwrap_or_default()
    }

    fn note(&mut self, holder: Holder, facts: Facts) {
        self.facts.entry(holder).or_default();
        let root = self.facts.entry(self.root(holder)).or_default();
        *root = Facts { address: root.address | facts.address, number: root.number | facts.number };
    }

    /// Notes that any number may be kept there.
    fn note_number(&mut self, holder: Option<Holder>) {
        if let Some(holder) = holder {
            self.note(holder, Facts { address: false, number: true });
        }
    }

    fn join(&mut self, one: Holder, other: Holder) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            let facts = self.fact(one);
            self.parents.insert(one, other);
            self.note(other, facts);
        }
    }

    /// Notes that these fields may hold any number.
    fn everything_in(&mut self, ty: &Type) {
        match ty {
            Type::Array(element, _) => self.everything_in(element),
            Type::Struct(id) => {
                let fields: Vec<Type> = self.checked.types.fields(*id).iter().map(|field| field.ty.clone()).collect();
                for (at, ty) in fields.iter().enumerate() {
                    self.note_number(Some(Holder::Field(id.0, at)));
                    self.everything_in(ty);
                }
            }
            _ => {}
        }
    }

    /// Where a place keeps its value. An element is treated like the whole array; what a pointer to an integer points to is not known.
    fn holder(&self, place: &Lvalue) -> Option<Holder> {
        match &place.kind {
            LvalueKind::Global(GlobalId(id)) => Some(Holder::Global(*id)),
            LvalueKind::Local(LocalId(id)) => Some(Holder::Local(self.func.0, *id)),
            LvalueKind::Field(of, field) => match &of.ty {
                Type::Struct(StructId(id)) => Some(Holder::Field(*id, *field)),
                _ => None,
            },
            LvalueKind::Index(array, _) => self.holder(array),
            LvalueKind::Deref(pointer) => match &pointer.kind {
                ExprKind::AddrOf(place) => self.holder(place),
                _ => None,
            },
            LvalueKind::Value(_) => None,
        }
    }

    /// Notes that a value flows into a place.
    fn receives(&mut self, to: Holder, value: &Expr) {
        match &value.kind {
            ExprKind::Const(0) => {}
            ExprKind::Read(place) => match self.holder(place) {
                Some(from) => self.join(from, to),
                None => self.note_number(Some(to)),
            },
            ExprKind::Convert(inner) if inner.ty.is_pointer() => {
                self.note(to, Facts { address: true, number: false });
            }
            ExprKind::Convert(inner) => self.receives(to, inner),
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, one, other) => {
                let parts = [one, other].into_iter().filter(|part| !is_constant(part));
                parts.for_each(|part| self.receives(to, part));
            }
            ExprKind::Cond(_, one, other) => {
                self.receives(to, one);
                self.receives(to, other);
            }
            ExprKind::Comma(all) => {
                if let Some(last) = all.last() {
                    self.receives(to, last);
                }
            }
            ExprKind::Assign(_, value) => self.receives(to, value),
            ExprKind::Call { func, .. } => self.join(Holder::Result(func.0), to),
            ExprKind::Intrinsic { what, args, .. } if matches!(**what, Intrinsic::Exchange) => {
                match args.first().and_then(|target| self.pointee(target)) {
                    Some(from) => self.join(from, to),
                    None => self.note_number(Some(to)),
                }
            }
            _ if value.ty.is_pointer() => {}
            _ => self.note_number(Some(to)),
        }
    }

    /// Where what this pointer points to is kept.
    fn pointee(&self, pointer: &Expr) -> Option<Holder> {
        match &pointer.kind {
            ExprKind::AddrOf(place) => self.holder(place),
            ExprKind::Convert(inner) => self.pointee(inner),
            _ => None,
        }
    }

    /// Notes that a value is used as a pointer.
    fn points(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Read(place) | ExprKind::Assign(place, _) => {
                if let Some(holder) = self.holder(place) {
                    self.note(holder, Facts { address: true, number: false });
                }
            }
            ExprKind::Call { func, .. } => {
                self.note(Holder::Result(func.0), Facts { address: true, number: false });
            }
            ExprKind::Convert(inner) if !inner.ty.is_pointer() => self.points(inner),
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, one, other) => {
                let parts = [one, other].into_iter().filter(|part| !is_constant(part));
                parts.for_each(|part| self.points(part));
            }
            _ => {}
        }
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(expr) => self.expr(expr),
            Part::Place(place) => self.place(place),
            Part::Stmt(stmt) => self.stmt(stmt),
        }
    }

    fn place(&mut self, place: &Lvalue) {
        match &place.kind {
            LvalueKind::Deref(pointer) => self.target(pointer),
            _ => place.parts().into_iter().for_each(|part| self.part(part)),
        }
    }

    /// An operand whose address is used at once and goes nowhere else.
    fn target(&mut self, pointer: &Expr) {
        match &pointer.kind {
            ExprKind::AddrOf(place) => self.place(place),
            ExprKind::Convert(inner) if pointer.ty.is_pointer() && inner.ty.is_pointer() => self.target(inner),
            _ => self.expr(pointer),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Convert(inner) if expr.ty.is_pointer() && !inner.ty.is_pointer() => self.points(inner),
            ExprKind::Intrinsic { what, args, .. } => {
                args.iter().for_each(|arg| self.target(arg));
                return self.intrinsic(what, args);
            }
            _ => {}
        }
        expr.parts().into_iter().for_each(|part| self.part(part));
        match &expr.kind {
            // Whoever has the address may store anything.
            ExprKind::AddrOf(place) if place.ty.is_integer() => self.note_number(self.holder(place)),
            ExprKind::Aggregate(_) => self.everything_in(&expr.ty),
            ExprKind::Assign(place, value) => {
                if let Some(holder) = self.holder(place) {
                    self.receives(holder, value);
                }
            }
            ExprKind::Update { target, calc: Calc::Arith(op, _, operand), .. } => {
                let keeps = matches!(op, BinOp::BitAnd | BinOp::BitOr) && is_constant(operand);
                self.note_number(self.holder(target).filter(|_| !keeps));
            }
            ExprKind::Call { func, args, .. } => {
                let params = args.iter().enumerate().map(|(at, arg)| (Holder::Local(func.0, at), arg));
                params.for_each(|(param, arg)| self.receives(param, arg));
            }
            _ => {}
        }
    }

    fn intrinsic(&mut self, what: &Intrinsic, args: &[Expr]) {
        // Which arguments are stored or compared where the pointer says.
        let pairs: &[(usize, usize)] = match what {
            Intrinsic::Cas => &[(0, 1), (0, 2)],
            Intrinsic::Dcas => &[(0, 2), (0, 4), (1, 3), (1, 5)],
            Intrinsic::Exchange => &[(0, 1)],
            Intrinsic::FetchAdd => {
                return self.note_number(args.first().and_then(|target| self.pointee(target)));
            }
            Intrinsic::Atomic(atomic) => match atomic.op {
                AtomicOp::Store(_) | AtomicOp::Exchange => &[(0, 1)],
                AtomicOp::Cas => &[(0, 1), (0, 2)],
                AtomicOp::CompareExchange { .. } => {
                    let holders = [args.first(), args.get(1)].map(|at| at.and_then(|at| self.pointee(at)));
                    if let [Some(one), Some(other)] = holders {
                        self.join(one, other);
                    }
                    &[(0, 2)]
                }
                AtomicOp::Fetch(..) | AtomicOp::AddUnless => {
                    return self.note_number(args.first().and_then(|target| self.pointee(target)));
                }
                _ => return,
            },
            _ => return,
        };
        for (pointer, value) in pairs {
            if let (Some(pointer), Some(value)) = (args.get(*pointer), args.get(*value))
                && let Some(holder) = self.pointee(pointer)
            {
                self.receives(holder, value);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.parts().into_iter().for_each(|part| self.part(part));
        match &stmt.kind {
            StmtKind::Declare(LocalId(local), Some(value)) => {
                self.receives(Holder::Local(self.func.0, *local), value);
            }
            StmtKind::Return(Some(value)) => self.receives(Holder::Result(self.func.0), value),
            _ => {}
        }
    }
}

/// Whether a value is computed from constants alone, like the masks `1` and `~(uintptr_t)1`.
fn is_constant(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Const(_) => true,
        ExprKind::Convert(inner) | ExprKind::Unary(_, inner) => is_constant(inner),
        ExprKind::Binary(_, one, other) => is_constant(one) && is_constant(other),
        _ => false,
    }
}

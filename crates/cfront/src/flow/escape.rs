//! Which locals need an address.
//!
//! A local lives in registers unless its address goes somewhere that inlining cannot follow. An address may be taken to dereference it
//! at once, or to pass it to a parameter that the callee only dereferences or passes on in the same way (it *does not escape*): such a
//! parameter becomes another name for the variable. So `dequeue(&q, &value)` costs no memory access for `value`.
//! A parameter is assumed to escape on any other use, so that the answer errs towards memory.

use crate::check::Checked;
use crate::tree::{
    Expr, ExprKind, FuncId, Function, Intrinsic, LocalId, Lvalue, LvalueKind, Part, Stmt, StmtKind, ThreadCall,
};

/// What is known about the locals of every function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Escapes {
    functions: Vec<Option<Facts>>,
    /// The functions that are being looked at: what they call themselves is assumed to let everything escape.
    open: Vec<bool>,
}

/// What is known about the locals of one function.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// Lives in memory.
    in_memory: Vec<bool>,
    /// As a pointer: used in another way than dereferencing it.
    escapes: Vec<bool>,
    /// Gets another value than its first.
    changed: Vec<bool>,
    /// Says how an access is ordered.
    orders: Vec<bool>,
}

impl Escapes {
    /// The facts about a checked file.
    pub(crate) fn new(checked: &Checked) -> Self {
        let mut made =
            Self { functions: vec![None; checked.functions.len()], open: vec![false; checked.functions.len()] };
        (0..checked.functions.len()).for_each(|index| made.function(checked, FuncId(index)));
        made
    }

    fn fact(&self, func: FuncId, local: LocalId, which: impl Fn(&Facts) -> &Vec<bool>) -> bool {
        let facts = self.functions.get(func.0).and_then(Option::as_ref);
        facts.and_then(|facts| which(facts).get(local.0)).copied().unwrap_or(true)
    }

    /// Whether a local lives in memory.
    pub(crate) fn in_memory(&self, func: FuncId, local: LocalId) -> bool {
        self.fact(func, local, |facts| &facts.in_memory)
    }

    /// Whether a parameter can be another name for what its argument points to.
    pub(crate) fn is_alias(&self, func: FuncId, param: usize) -> bool {
        !self.fact(func, LocalId(param), |facts| &facts.escapes)
    }

    /// Whether a local that keeps its first value says how an access is ordered.
    pub(crate) fn is_order(&self, func: FuncId, local: LocalId) -> bool {
        self.fact(func, local, |facts| &facts.orders) && !self.fact(func, local, |facts| &facts.changed)
    }

    fn function(&mut self, checked: &Checked, func: FuncId) {
        if self.functions[func.0].is_some() || std::mem::replace(&mut self.open[func.0], true) {
            return;
        }
        let function: &Function = &checked.functions[func.0];
        for (callee, _) in &function.calls {
            self.function(checked, *callee);
        }
        let none = vec![false; function.locals.len().max(function.params.len())];
        let facts = Facts { in_memory: none.clone(), escapes: none.clone(), changed: none.clone(), orders: none };
        let mut walk = EscapeWalk { known: self, facts };
        if let Some(body) = &function.body {
            walk.part(Part::Stmt(body));
        }
        walk.initial_orders(function.body.as_ref());
        let facts = walk.facts;
        self.functions[func.0] = Some(facts);
    }
}

struct EscapeWalk<'k> {
    known: &'k Escapes,
    facts: Facts,
}

/// The local that a place is a part of.
fn root(lvalue: &Lvalue) -> Option<LocalId> {
    match &lvalue.kind {
        LvalueKind::Local(id) => Some(*id),
        LvalueKind::Field(base, _) | LvalueKind::Index(base, _) => root(base),
        LvalueKind::Deref(pointer) => match &strip(pointer).kind {
            ExprKind::AddrOf(inner) => root(inner),
            _ => None,
        },
        _ => None,
    }
}

/// The local pointer that a place is reached through.
fn pointer_root(lvalue: &Lvalue) -> Option<LocalId> {
    match &lvalue.kind {
        LvalueKind::Field(base, _) | LvalueKind::Index(base, _) => pointer_root(base),
        LvalueKind::Deref(pointer) => match &strip(pointer).kind {
            ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) => Some(*id),
            ExprKind::AddrOf(inner) => pointer_root(inner),
            _ => None,
        },
        _ => None,
    }
}

/// The locals that are declared with a value, in order.
fn declarations<'t>(stmt: &'t Stmt, found: &mut Vec<(LocalId, &'t Expr)>) {
    if let StmtKind::Declare(local, Some(value)) = &stmt.kind {
        found.push((*local, value));
    }
    for part in stmt.parts() {
        if let Part::Stmt(part) = part {
            declarations(part, found);
        }
    }
}

/// An expression without conversions between pointers.
pub(crate) fn strip(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Convert(inner) if expr.ty.is_pointer() && inner.ty.is_pointer() => strip(inner),
        _ => expr,
    }
}

impl EscapeWalk<'_> {
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(expr) => self.expr(expr),
            Part::Place(place) => self.place(place),
            Part::Stmt(stmt) => stmt.parts().into_iter().for_each(|part| self.part(part)),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) => self.facts.escapes[id.0] = true,
            ExprKind::AddrOf(lvalue) => {
                if let Some(id) = root(lvalue) {
                    self.facts.in_memory[id.0] = true;
                    self.facts.escapes[id.0] = true;
                    self.facts.changed[id.0] = true;
                }
                // The address of a part of what a parameter points to is the parameter's value in disguise.
                if let Some(id) = pointer_root(lvalue) {
                    self.facts.escapes[id.0] = true;
                }
            }
            ExprKind::Assign(target, _) | ExprKind::Update { target, .. } => self.assigned(target),
            ExprKind::Call { func, args, .. } => {
                for (index, arg) in args.iter().enumerate() {
                    if self.known.is_order(*func, LocalId(index)) {
                        self.order(arg);
                    }
                    self.argument(arg, self.known.is_alias(*func, index));
                }
                return;
            }
            ExprKind::Intrinsic { what, args, .. }
                if matches!(**what, Intrinsic::Thread(ThreadCall::Create | ThreadCall::Join)) =>
            {
                // Where the thread's name or its result goes is written at once.
                let created = matches!(**what, Intrinsic::Thread(ThreadCall::Create));
                for (index, arg) in args.iter().enumerate() {
                    self.argument(arg, (index == 0) == created && index < 2);
                }
                return;
            }
            ExprKind::Intrinsic { what, args, .. } if let Intrinsic::Atomic(atomic) = &**what => {
                for (index, arg) in args.iter().enumerate() {
                    if atomic.is_order(index) {
                        self.order(arg);
                    }
                    self.argument(arg, index < atomic.locations());
                }
                return;
            }
            _ => {}
        }
        expr.parts().into_iter().for_each(|part| self.part(part));
    }

    fn assigned(&mut self, target: &Lvalue) {
        if let LvalueKind::Local(id) = &target.kind {
            self.facts.escapes[id.0] = true;
            self.facts.changed[id.0] = true;
        }
    }

    /// A local that says how accesses are ordered has its value from other such locals.
    fn initial_orders(&mut self, body: Option<&Stmt>) {
        let mut declared = Vec::new();
        body.into_iter().for_each(|body| declarations(body, &mut declared));
        // What is declared later may have its value from what is declared before.
        for (local, value) in declared.into_iter().rev() {
            if self.facts.orders[local.0] {
                self.order(value);
            }
        }
    }

    /// The locals that a memory order is computed from.
    fn order(&mut self, expr: &Expr) {
        if let ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) = &expr.kind {
            self.facts.orders[id.0] = true;
        }
        for part in expr.parts() {
            if let Part::Expr(part) = part {
                self.order(part);
            }
        }
    }

    /// An address or a pointer that is passed to a parameter.
    fn argument(&mut self, arg: &Expr, alias: bool) {
        match &strip(arg).kind {
            ExprKind::AddrOf(lvalue) if alias => {
                // Whoever is called may assign it.
                self.assigned(lvalue);
                self.place(lvalue);
            }
            ExprKind::Read(Lvalue { kind: LvalueKind::Local(_), .. }) if alias => {}
            _ => self.expr(arg),
        }
    }

    /// The expressions within a place; a pointer that is dereferenced does not escape.
    fn place(&mut self, lvalue: &Lvalue) {
        match &lvalue.kind {
            LvalueKind::Deref(pointer) => match &strip(pointer).kind {
                ExprKind::Read(Lvalue { kind: LvalueKind::Local(_), .. }) => {}
                ExprKind::AddrOf(inner) => self.place(inner),
                _ => self.expr(pointer),
            },
            _ => lvalue.parts().into_iter().for_each(|part| self.part(part)),
        }
    }
}

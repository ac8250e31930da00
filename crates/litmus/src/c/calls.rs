//! The functions that a test may call: C11's atomics and those of the Linux kernel.
//!
//! `memory_order_seq_cst`, functions of C11 without an order, `xchg`, `cmpxchg` and the kernel's operations that return a value are
//! full fences; `memory_order_relaxed`, `READ_ONCE`, `WRITE_ONCE` and the kernel's `_relaxed` operations and those that return nothing
//! have no order. Acquire, release and everything else is refused.

use cyrano_ir::{BinOp, Diagnostic, FenceSet, Span};

use super::ast::{Expr, ExprKind, Order, Stmt};

/// What a call is.
pub(crate) enum Called {
    /// Something with a value.
    Value(ExprKind),
    /// Something without.
    Stmt(Stmt),
    /// Nothing at all.
    Nothing,
}

/// A call as it stands in the source.
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
    /// Where the name stands.
    pub(crate) at: Span,
}

/// Resolves a call.
pub(crate) fn resolve(call: Call) -> Result<Called, Diagnostic> {
    let Call { name, args, span, at } = call;
    let calls = Args { name: &name, args, span, at };
    match name.as_str() {
        "READ_ONCE" => {
            let [place] = calls.take()?;
            let from = pointer(place)?;
            Ok(Called::Value(ExprKind::Load { from, order: Order::Relaxed }))
        }
        "WRITE_ONCE" => {
            let [place, value] = calls.take()?;
            let to = *pointer(place)?;
            Ok(Called::Stmt(Stmt::Store { to, value, order: Order::Relaxed, span }))
        }
        "smp_mb" | "smp_rmb" | "smp_wmb" | "barrier" => {
            let [] = calls.take()?;
            let kinds = match name.as_str() {
                "smp_mb" => FenceSet::FULL,
                "smp_rmb" => FenceSet::LL,
                "smp_wmb" => FenceSet::SS,
                _ => return Ok(Called::Nothing),
            };
            Ok(Called::Stmt(Stmt::Fence(kinds, span)))
        }
        "atomic_thread_fence" => {
            let [order] = calls.take()?;
            match memory_order(&order)? {
                Order::SeqCst => Ok(Called::Stmt(Stmt::Fence(FenceSet::FULL, span))),
                Order::Relaxed | Order::Plain => Ok(Called::Nothing),
            }
        }
        _ => atomic(calls),
    }
}

struct Args<'n> {
    name: &'n str,
    args: Vec<Expr>,
    span: Span,
    at: Span,
}

impl Args<'_> {
    fn take<const N: usize>(self) -> Result<[Expr; N], Diagnostic> {
        let found = self.args.len();
        let message = format!("`{}` has {N} argument(s), not {found}", self.name);
        self.args.try_into().map_err(|_| Diagnostic::new(self.span, message, "this call"))
    }

    fn unsupported(&self, why: &str) -> Diagnostic {
        Diagnostic::new(self.at, format!("`{}` is not supported{why}", self.name), "not supported")
    }
}

/// The order that an argument names.
pub(crate) fn memory_order(expr: &Expr) -> Result<Order, Diagnostic> {
    let name = match &expr.kind {
        ExprKind::Name(name) => name.as_str(),
        _ => "",
    };
    match name {
        "memory_order_relaxed" => Ok(Order::Relaxed),
        "memory_order_seq_cst" => Ok(Order::SeqCst),
        "memory_order_acquire" | "memory_order_release" | "memory_order_acq_rel" | "memory_order_consume" => {
            let message = format!("`{name}` is not supported: acquire and release need a model of the language");
            Err(Diagnostic::new(expr.span, message, "not supported"))
        }
        _ => Err(Diagnostic::new(expr.span, "expected `memory_order_relaxed` or `memory_order_seq_cst`", "here")),
    }
}

/// What `*p` as an argument of `READ_ONCE` points with.
fn pointer(place: Expr) -> Result<Box<Expr>, Diagnostic> {
    match place.kind {
        ExprKind::Load { from, order: Order::Plain } => Ok(from),
        _ => Err(Diagnostic::new(place.span, "expected `*x`", "not a place in memory")),
    }
}

/// The function's name without endings that give an order, and that order.
fn ordered(name: &str) -> (&str, Option<Order>) {
    for ending in ["_relaxed", "_acquire", "_release"] {
        if let Some(base) = name.strip_suffix(ending) {
            return (base, (ending == "_relaxed").then_some(Order::Relaxed));
        }
    }
    (name, Some(Order::SeqCst))
}

fn atomic(mut call: Args<'_>) -> Result<Called, Diagnostic> {
    if let Some(base) = call.name.strip_suffix("_explicit") {
        if !is_explicit(base) {
            return Err(call.unsupported(""));
        }
        let orders = if base.starts_with("atomic_compare_exchange") { 2 } else { 1 };
        if call.args.len() <= orders {
            let message = format!("`{}` has more arguments than these", call.name);
            return Err(Diagnostic::new(call.span, message, "this call"));
        }
        let mut order = Order::Relaxed;
        for argument in call.args.split_off(call.args.len() - orders) {
            if memory_order(&argument)? == Order::SeqCst {
                order = Order::SeqCst;
            }
        }
        return operation(Args { name: base, ..call }, order);
    }
    let (base, order) = ordered(call.name);
    match order {
        Some(Order::SeqCst) => {
            let name = call.name;
            operation(Args { name, ..call }, Order::SeqCst)
        }
        Some(order) if is_kernel(base) => operation(Args { name: base, ..call }, order),
        Some(_) => Err(call.unsupported("")),
        None => Err(call.unsupported(": acquire and release need a model of the language")),
    }
}

/// Whether C11 has a variant of it with an explicit order.
fn is_explicit(base: &str) -> bool {
    matches!(base, "atomic_load" | "atomic_store" | "atomic_exchange" | "atomic_compare_exchange_strong")
        || base.strip_prefix("atomic_fetch_").and_then(operator).is_some()
}

/// Whether the kernel has a variant of it without order.
fn is_kernel(base: &str) -> bool {
    let returning = base.strip_prefix("atomic_").and_then(|rest| rest.strip_suffix("_return"));
    matches!(base, "xchg" | "cmpxchg" | "atomic_xchg" | "atomic_cmpxchg")
        || base.strip_prefix("atomic_fetch_").and_then(operator).is_some()
        || returning.is_some_and(|op| matches!(op, "add" | "sub" | "inc" | "dec"))
}

fn operator(name: &str) -> Option<BinOp> {
    Some(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::BitAnd,
        "or" => BinOp::BitOr,
        "xor" => BinOp::BitXor,
        _ => return None,
    })
}

fn operation(call: Args<'_>, order: Order) -> Result<Called, Diagnostic> {
    let span = call.span;
    let value = match call.name {
        "atomic_load" => {
            let [from] = call.take()?;
            ExprKind::Load { from: from.boxed(), order }
        }
        "atomic_read" => {
            let [from] = call.take()?;
            ExprKind::Load { from: from.boxed(), order: Order::Relaxed }
        }
        "atomic_store" | "atomic_set" => {
            let order = if call.name == "atomic_set" { Order::Relaxed } else { order };
            let [to, value] = call.take()?;
            return Ok(Called::Stmt(Stmt::Store { to, value, order, span }));
        }
        "atomic_exchange" | "xchg" | "atomic_xchg" => {
            let [at, value] = call.take()?;
            ExprKind::Exchange { at: at.boxed(), value: value.boxed(), order }
        }
        "cmpxchg" | "atomic_cmpxchg" => {
            let [at, expected, new] = call.take()?;
            ExprKind::Cas { at: at.boxed(), expected: expected.boxed(), new: new.boxed(), order }
        }
        "atomic_compare_exchange_strong" => {
            let [at, expected, new] = call.take()?;
            ExprKind::CasStrong { at: at.boxed(), expected: expected.boxed(), new: new.boxed(), order }
        }
        _ => return arithmetic(call, order),
    };
    Ok(Called::Value(value))
}

/// `atomic_fetch_add(x, 1)`, and the kernel's `atomic_add(1, x)`, `atomic_inc_return(x)`, ….
fn arithmetic(call: Args<'_>, order: Order) -> Result<Called, Diagnostic> {
    let span = call.span;
    let one = || Expr { kind: ExprKind::Int(1), span }.boxed();
    if let Some(op) = call.name.strip_prefix("atomic_fetch_").and_then(operator) {
        let [first, second] = call.take()?;
        // Which of the two is the location is known once there are types: C11 has it first, the kernel last.
        return Ok(Called::Value(ExprKind::Fetch { at: first.boxed(), op, value: second.boxed(), order, new: false }));
    }
    let Some(rest) = call.name.strip_prefix("atomic_") else { return Err(call.unsupported("")) };
    let (word, new) = rest.strip_suffix("_return").map_or((rest, false), |word| (word, true));
    // Operations that return nothing have no order.
    let order = if new { order } else { Order::Relaxed };
    let (op, unary) = match word {
        "inc" => (BinOp::Add, true),
        "dec" => (BinOp::Sub, true),
        "add" => (BinOp::Add, false),
        "sub" => (BinOp::Sub, false),
        _ => return Err(call.unsupported("")),
    };
    let (at, value) = if unary {
        let [at] = call.take()?;
        (at.boxed(), one())
    } else {
        let [value, at] = call.take()?;
        (at.boxed(), value.boxed())
    };
    Ok(Called::Value(ExprKind::Fetch { at, op, value, order, new }))
}

//! The functions that a test may call: C11's atomics and those of the Linux kernel.
//!
//! `memory_order_seq_cst`, functions of C11 without an order, `xchg`, `cmpxchg` and the kernel's operations that return a value are
//! full fences; `memory_order_relaxed`, `READ_ONCE`, `WRITE_ONCE` and the kernel's `_relaxed` operations and those that return nothing
//! have no order. Acquire, release and everything else is refused.

use cyrano_cfront::ast::{Expr, ExprKind, Name};
use cyrano_ir::{BinOp, Diagnostic, FenceSet, Span};

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// As the type says: sequentially consistent if it is atomic, else not at all.
    Plain,
    /// Not at all.
    Relaxed,
    /// Sequentially consistent: between two full fences.
    SeqCst,
}

/// What a call is. Those from `Store` on have no value.
#[derive(Clone, Copy)]
pub(crate) enum Called<'e> {
    Load {
        from: &'e Expr,
        order: Order,
    },
    Exchange {
        at: &'e Expr,
        value: &'e Expr,
        order: Order,
    },
    /// The old value.
    Cas {
        at: &'e Expr,
        expected: &'e Expr,
        new: &'e Expr,
        order: Order,
    },
    /// Whether it succeeded; what was found goes to where `expected` points.
    CasStrong {
        at: &'e Expr,
        expected: &'e Expr,
        new: &'e Expr,
        order: Order,
    },
    /// The old value, or the new one; without a `value` it is 1.
    Fetch {
        at: &'e Expr,
        op: BinOp,
        value: Option<&'e Expr>,
        order: Order,
        new: bool,
    },
    Store {
        to: &'e Expr,
        value: &'e Expr,
        order: Order,
    },
    Fence(FenceSet),
    Nothing,
}

/// Resolves a call, which stands at `span`.
pub(crate) fn resolve<'e>(callee: &'e Name, args: &'e [Expr], span: Span) -> Result<Called<'e>, Diagnostic> {
    let call = Args { name: &callee.text, args, span, at: callee.loc.span };
    match call.name {
        "READ_ONCE" => {
            let [place] = call.take()?;
            Ok(Called::Load { from: pointer(place)?, order: Order::Relaxed })
        }
        "WRITE_ONCE" => {
            let [place, value] = call.take()?;
            Ok(Called::Store { to: pointer(place)?, value, order: Order::Relaxed })
        }
        "smp_mb" | "smp_rmb" | "smp_wmb" | "barrier" => {
            let [] = call.take()?;
            Ok(match call.name {
                "smp_mb" => Called::Fence(FenceSet::FULL),
                "smp_rmb" => Called::Fence(FenceSet::LL),
                "smp_wmb" => Called::Fence(FenceSet::SS),
                _ => Called::Nothing,
            })
        }
        "atomic_thread_fence" => {
            let [order] = call.take()?;
            Ok(match memory_order(order)? {
                Order::SeqCst => Called::Fence(FenceSet::FULL),
                Order::Relaxed | Order::Plain => Called::Nothing,
            })
        }
        _ => atomic(call),
    }
}

/// A call as it stands in the source.
#[derive(Clone, Copy)]
struct Args<'e> {
    name: &'e str,
    args: &'e [Expr],
    span: Span,
    /// Where the name stands.
    at: Span,
}

impl<'e> Args<'e> {
    fn take<const N: usize>(self) -> Result<&'e [Expr; N], Diagnostic> {
        let message = format!("`{}` has {N} argument(s), not {}", self.name, self.args.len());
        self.args.try_into().map_err(|_| Diagnostic::new(self.span, message, "this call"))
    }

    fn unsupported(&self, why: &str) -> Diagnostic {
        Diagnostic::new(self.at, format!("`{}` is not supported{why}", self.name), "not supported")
    }
}

/// The order that an argument names.
fn memory_order(expr: &Expr) -> Result<Order, Diagnostic> {
    let name = match &expr.kind {
        ExprKind::Name(name) => name.as_str(),
        _ => "",
    };
    match name {
        "memory_order_relaxed" => Ok(Order::Relaxed),
        "memory_order_seq_cst" => Ok(Order::SeqCst),
        "memory_order_acquire" | "memory_order_release" | "memory_order_acq_rel" | "memory_order_consume" => {
            let message = format!("`{name}` is not supported: acquire and release need a model of the language");
            Err(Diagnostic::new(expr.loc.span, message, "not supported"))
        }
        _ => Err(Diagnostic::new(expr.loc.span, "expected `memory_order_relaxed` or `memory_order_seq_cst`", "here")),
    }
}

/// What `*p` as an argument of `READ_ONCE` points with.
fn pointer(place: &Expr) -> Result<&Expr, Diagnostic> {
    match &place.kind {
        ExprKind::Deref(pointer) => Ok(pointer),
        _ => Err(Diagnostic::new(place.loc.span, "expected `*x`", "not a place in memory")),
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

fn atomic(call: Args<'_>) -> Result<Called<'_>, Diagnostic> {
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
        let (args, last) = call.args.split_at(call.args.len() - orders);
        for argument in last {
            if memory_order(argument)? == Order::SeqCst {
                order = Order::SeqCst;
            }
        }
        return operation(Args { name: base, args, ..call }, order);
    }
    let (base, order) = ordered(call.name);
    match order {
        Some(Order::SeqCst) => operation(call, Order::SeqCst),
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

fn operation(call: Args<'_>, order: Order) -> Result<Called<'_>, Diagnostic> {
    Ok(match call.name {
        "atomic_load" | "atomic_read" => {
            let order = if call.name == "atomic_read" { Order::Relaxed } else { order };
            let [from] = call.take()?;
            Called::Load { from, order }
        }
        "atomic_store" | "atomic_set" => {
            let order = if call.name == "atomic_set" { Order::Relaxed } else { order };
            let [to, value] = call.take()?;
            Called::Store { to, value, order }
        }
        "atomic_exchange" | "xchg" | "atomic_xchg" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, order }
        }
        "cmpxchg" | "atomic_cmpxchg" => {
            let [at, expected, new] = call.take()?;
            Called::Cas { at, expected, new, order }
        }
        "atomic_compare_exchange_strong" => {
            let [at, expected, new] = call.take()?;
            Called::CasStrong { at, expected, new, order }
        }
        _ => return arithmetic(call, order),
    })
}

/// `atomic_fetch_add(x, 1)`, and the kernel's `atomic_add(1, x)`, `atomic_inc_return(x)`, ….
fn arithmetic(call: Args<'_>, order: Order) -> Result<Called<'_>, Diagnostic> {
    if let Some(op) = call.name.strip_prefix("atomic_fetch_").and_then(operator) {
        let [at, value] = call.take()?;
        // Which of the two is the location is known once there are types: C11 has it first, the kernel last.
        return Ok(Called::Fetch { at, op, value: Some(value), order, new: false });
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
    if unary {
        let [at] = call.take()?;
        return Ok(Called::Fetch { at, op, value: None, order, new });
    }
    let [value, at] = call.take()?;
    Ok(Called::Fetch { at, op, value: Some(value), order, new })
}

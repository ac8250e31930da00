//! What compilers have built in: `__atomic_…` with an order each, and the older `__sync_…`, each a full barrier (GCC's manual, 6.59 and 6.58).

use cyrano_ir::Tags;

use super::c11::seq_cst;
use super::{Args, Barrier, Called, Change, Complaint, Order, Orders, Resolved, Result, Use, number, operator};
use crate::ast::{Expr, ExprKind, Name, TypeExpr};

pub(super) fn resolve(call: Args<'_>) -> Resolved {
    if let Some(rest) = call.name.strip_prefix("__atomic_") {
        return ordered(call, rest);
    }
    let Some(rest) = call.name.strip_prefix("__sync_") else { return Ok(None) };
    full(call, rest)
}

/// `fetch_add` and `add_fetch`: what is computed, and what comes of it.
fn change(rest: &str) -> Option<(Change, Result)> {
    let named = |name: &str| if name == "nand" { Some(Change::Nand) } else { operator(name) };
    match rest.strip_prefix("fetch_") {
        Some(name) => Some((named(name)?, Result::Old)),
        None => Some((named(rest.strip_suffix("_fetch")?)?, Result::New)),
    }
}

fn ordered(call: Args<'_>, rest: &str) -> Resolved {
    let given = |order, of| Order::Given(order, of);
    Ok(Some(match rest {
        "load_n" => {
            let [at, order] = call.take()?;
            Called::Load { at, order: given(order, Use::Load) }
        }
        "store_n" => {
            let [at, value, order] = call.take()?;
            Called::Store { at, value, order: given(order, Use::Store), fence: None }
        }
        "exchange_n" => {
            let [at, value, order] = call.take()?;
            Called::Exchange { at, value, order: given(order, Use::Rmw) }
        }
        "compare_exchange_n" | "compare_exchange" => {
            let [at, expected, new, weak, success, failure] = call.take()?;
            let new = if rest.ends_with("_n") { new } else { behind(new) };
            let orders = Orders { success: given(success, Use::Rmw), failure: given(failure, Use::Failure) };
            Called::CompareExchange { at, expected, new, orders, weak: is_weak(&weak)? }
        }
        "thread_fence" => {
            let [order] = call.take()?;
            Called::Fence(Barrier::Given(order))
        }
        "signal_fence" => {
            let [order] = call.take()?;
            Called::Fence(Barrier::Signal(order))
        }
        "always_lock_free" | "is_lock_free" => {
            let [_, _] = call.take()?;
            Called::Value(number(1, call.loc))
        }
        _ => match change(rest) {
            Some((change, result)) => {
                let [at, value, order] = call.take()?;
                Called::Fetch { at, change, value, order: given(order, Use::Rmw), result }
            }
            None => return generic(call, rest),
        },
    }))
}

/// Those that have values behind pointers, in terms of the others.
fn generic(call: Args<'_>, rest: &str) -> Resolved {
    let again = |name: &str, args: Vec<Expr>| {
        let callee = Name { text: format!("__atomic_{name}"), loc: call.loc };
        Expr { kind: ExprKind::Call { callee, args }, loc: call.loc }
    };
    let into = |to: Expr, value: Expr| {
        let kind = ExprKind::Assign(None, Box::new(behind(to)), Box::new(value));
        Expr { kind, loc: call.loc }
    };
    let flag = |at: Expr| {
        let loc = at.loc;
        Expr { kind: ExprKind::Cast(TypeExpr::Pointer(Box::new(TypeExpr::Bool)), Box::new(at)), loc }
    };
    Ok(Some(Called::Rewritten(match rest {
        "load" => {
            let [at, to, order] = call.take()?;
            into(to, again("load_n", vec![at, order]))
        }
        "store" => {
            let [at, value, order] = call.take()?;
            again("store_n", vec![at, behind(value), order])
        }
        "exchange" => {
            let [at, value, to, order] = call.take()?;
            into(to, again("exchange_n", vec![at, behind(value), order]))
        }
        "test_and_set" => {
            let [at, order] = call.take()?;
            again("exchange_n", vec![flag(at), number(1, call.loc), order])
        }
        "clear" => {
            let [at, order] = call.take()?;
            again("store_n", vec![flag(at), number(0, call.loc), order])
        }
        _ => return Ok(None),
    })))
}

fn full(call: Args<'_>, rest: &str) -> Resolved {
    let orders = || Orders { success: seq_cst(), failure: seq_cst() };
    Ok(Some(match rest {
        "synchronize" => {
            let [] = call.take()?;
            Called::Fence(Barrier::Named("thread_fence.seq_cst"))
        }
        "val_compare_and_swap" => {
            let [at, expected, new] = call.take()?;
            Called::Cas { at, expected, new, orders: orders() }
        }
        "bool_compare_and_swap" => {
            let [at, expected, new] = call.take()?;
            // What is found goes to where nobody looks.
            let expected = Expr { loc: expected.loc, kind: ExprKind::AddrOf(Box::new(expected)) };
            Called::CompareExchange { at, expected, new, orders: orders(), weak: false }
        }
        "lock_test_and_set" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, order: Order::Tags(Tags::ATOMIC | Tags::ACQUIRE) }
        }
        "lock_release" => {
            let [at] = call.take()?;
            let order = Order::Tags(Tags::ATOMIC | Tags::RELEASE);
            Called::Store { at, value: number(0, call.loc), order, fence: None }
        }
        _ => {
            let Some((change, result)) = change(rest.replace("and_", "").as_str()) else { return Ok(None) };
            let [at, value] = call.take()?;
            Called::Fetch { at, change, value, order: seq_cst(), result }
        }
    }))
}

/// What a pointer points to.
fn behind(pointer: Expr) -> Expr {
    let loc = pointer.loc;
    match pointer.kind {
        ExprKind::AddrOf(place) => *place,
        kind => Expr { kind: ExprKind::Deref(Box::new(Expr { kind, loc })), loc },
    }
}

/// Whether a compare-and-swap may fail without a reason; a value that is not known here may say so.
fn is_weak(weak: &Expr) -> std::result::Result<bool, Complaint> {
    Ok(match &weak.kind {
        ExprKind::Int { value, .. } => *value != 0,
        ExprKind::Cast(_, inner) => is_weak(inner)?,
        _ => true,
    })
}

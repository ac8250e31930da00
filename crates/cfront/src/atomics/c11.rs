//! `<stdatomic.h>`: each access is atomic and has the tags of its order; without an order it is sequentially consistent (C11, 7.17).

use cyrano_ir::Tags;

use super::{Args, Barrier, Called, Order, Orders, Resolved, Result, Use, operator};
use crate::ast::Expr;

/// The names of the orders, by their numbers.
pub const NAMES: [&str; 6] = [
    "memory_order_relaxed",
    "memory_order_consume",
    "memory_order_acquire",
    "memory_order_release",
    "memory_order_acq_rel",
    "memory_order_seq_cst",
];

/// The number of the order with this name.
pub fn number_of_order(name: &str) -> Option<i128> {
    (0..).zip(NAMES).find(|(_, known)| *known == name).map(|(number, _)| number)
}

/// Sequentially consistent.
pub(super) fn seq_cst() -> Order {
    Order::Tags(Tags::ATOMIC | Tags::SEQ_CST)
}

impl Use {
    /// The tags of the order with this number, if this can have it; else why not.
    pub fn tags(self, number: i128) -> std::result::Result<Tags, String> {
        let own = match number {
            0 => Tags::default(),
            1 => Tags::CONSUME,
            2 => Tags::ACQUIRE,
            // C11 has no such failures (7.17.7.4); compilers take what orders nothing, and code depends on being compiled.
            3 | 4 if self == Self::Failure => Tags::default(),
            3 => Tags::RELEASE,
            4 => Tags::ACQUIRE | Tags::RELEASE,
            5 => Tags::SEQ_CST,
            other => return Err(format!("{other} is no memory order")),
        };
        let (what, without) = match self {
            Self::Load => ("load", Tags::RELEASE),
            Self::Store => ("store", Tags::ACQUIRE | Tags::CONSUME),
            Self::Failure => ("failure", Tags::default()),
            Self::Rmw => ("read-modify-write", Tags::default()),
        };
        if own.meets(without) {
            return Err(format!("a {what} cannot have this order"));
        }
        Ok(own | Tags::ATOMIC)
    }
}

/// The name of the fence of the order with this number; none for the one that orders nothing.
pub fn fence(number: i128) -> std::result::Result<Option<&'static str>, String> {
    Ok(match number {
        0 => None,
        1 => Some("thread_fence.consume"),
        2 => Some("thread_fence.acquire"),
        3 => Some("thread_fence.release"),
        4 => Some("thread_fence.acq_rel"),
        5 => Some("thread_fence.seq_cst"),
        other => return Err(format!("{other} is no memory order")),
    })
}

pub(super) fn resolve(call: Args<'_>) -> Resolved {
    match call.name {
        "atomic_thread_fence" => {
            let [order] = call.take()?;
            return Ok(Some(Called::Fence(Barrier::Given(order))));
        }
        "atomic_signal_fence" => {
            let [order] = call.take()?;
            return Ok(Some(Called::Fence(Barrier::Signal(order))));
        }
        "kill_dependency" => {
            let [value] = call.take()?;
            return Ok(Some(Called::Value(value)));
        }
        _ => {}
    }
    let (base, explicit) = call.name.strip_suffix("_explicit").map_or((call.name, false), |base| (base, true));
    let fetch = base.strip_prefix("atomic_fetch_").and_then(operator);
    let swap = matches!(base, "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak");
    let known = swap || matches!(base, "atomic_load" | "atomic_store" | "atomic_exchange" | "atomic_init");
    // The kernel has functions of the same names, with their arguments in another order; who knows types can tell them apart.
    if !known && fetch.is_none() || base == "atomic_init" && explicit {
        return Ok(None);
    }
    Ok(Some(if explicit { with_order(call, base)? } else { without_order(call, base)? }))
}

fn without_order(call: Args<'_>, base: &str) -> std::result::Result<Called, super::Complaint> {
    Ok(match base {
        "atomic_load" => {
            let [at] = call.take()?;
            Called::Load { at, order: seq_cst() }
        }
        "atomic_store" | "atomic_init" => {
            let [at, value] = call.take()?;
            let order = if base == "atomic_init" { Order::Tags(Tags::default()) } else { seq_cst() };
            Called::Store { at, value, order, fence: None }
        }
        "atomic_exchange" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, order: seq_cst() }
        }
        "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => {
            let [at, expected, new] = call.take()?;
            let orders = Orders { success: seq_cst(), failure: seq_cst() };
            Called::CompareExchange { at, expected, new, orders, weak: base.ends_with("weak") }
        }
        _ => {
            let [at, value] = call.take()?;
            fetch(base, at, value, seq_cst())
        }
    })
}

fn with_order(call: Args<'_>, base: &str) -> std::result::Result<Called, super::Complaint> {
    Ok(match base {
        "atomic_load" => {
            let [at, order] = call.take()?;
            Called::Load { at, order: Order::Given(order, Use::Load) }
        }
        "atomic_store" => {
            let [at, value, order] = call.take()?;
            Called::Store { at, value, order: Order::Given(order, Use::Store), fence: None }
        }
        "atomic_exchange" => {
            let [at, value, order] = call.take()?;
            Called::Exchange { at, value, order: Order::Given(order, Use::Rmw) }
        }
        "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => {
            let [at, expected, new, success, failure] = call.take()?;
            let orders =
                Orders { success: Order::Given(success, Use::Rmw), failure: Order::Given(failure, Use::Failure) };
            Called::CompareExchange { at, expected, new, orders, weak: base.ends_with("weak") }
        }
        _ => {
            let [at, value, order] = call.take()?;
            fetch(base, at, value, Order::Given(order, Use::Rmw))
        }
    })
}

fn fetch(base: &str, at: Expr, value: Expr, order: Order) -> Called {
    let change = base.strip_prefix("atomic_fetch_").and_then(operator).expect("the name has been looked at");
    Called::Fetch { at, change, value, order, result: Result::Old }
}

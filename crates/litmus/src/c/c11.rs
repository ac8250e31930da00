//! `<stdatomic.h>`: each access is atomic and has the tags of its order; without an order it is sequentially consistent.

use cyrano_cfront::ast::{Expr, ExprKind};
use cyrano_ir::{Diagnostic, Tags};

use super::calls::{Args, Called, Orders, Result, operator};

/// The orders, with the tags of an access and the name of a fence.
const ORDERS: [(&str, &str); 6] = [
    ("memory_order_relaxed", "thread_fence.relaxed"),
    ("memory_order_consume", "thread_fence.consume"),
    ("memory_order_acquire", "thread_fence.acquire"),
    ("memory_order_release", "thread_fence.release"),
    ("memory_order_acq_rel", "thread_fence.acq_rel"),
    ("memory_order_seq_cst", "thread_fence.seq_cst"),
];

/// The tags of the order with this number.
fn tags(number: usize) -> Tags {
    let own = match number {
        1 => Tags::CONSUME,
        2 => Tags::ACQUIRE,
        3 => Tags::RELEASE,
        4 => Tags::ACQUIRE | Tags::RELEASE,
        5 => Tags::SEQ_CST,
        _ => Tags::default(),
    };
    own | Tags::ATOMIC
}

/// The number of the order that an argument names.
fn order(expr: &Expr) -> std::result::Result<usize, Diagnostic> {
    let name = match &expr.kind {
        ExprKind::Name(name) => name.as_str(),
        _ => "",
    };
    let found = ORDERS.iter().position(|(known, _)| *known == name);
    found.ok_or_else(|| {
        let known = ORDERS.map(|(name, _)| name).join(", ");
        Diagnostic::new(expr.loc.span, "expected a memory order", "not an order").with_help(format!("one of {known}"))
    })
}

/// What an access of this kind can be said to do; C11 has no other.
fn fitting(expr: &Expr, what: &str, without: Tags) -> std::result::Result<Tags, Diagnostic> {
    let tags = tags(order(expr)?);
    if tags.meets(without) {
        let message = format!("a {what} cannot have this order");
        return Err(Diagnostic::new(expr.loc.span, message, "not for this access"));
    }
    Ok(tags)
}

pub(super) fn resolve(call: Args<'_>) -> std::result::Result<Option<Called<'_>>, Diagnostic> {
    if call.name == "atomic_thread_fence" {
        let [order_of] = call.take()?;
        return Ok(Some(match order(order_of)? {
            0 => Called::Nothing,
            number => Called::Fence(ORDERS[number].1),
        }));
    }
    let (base, explicit) = call.name.strip_suffix("_explicit").map_or((call.name, false), |base| (base, true));
    let fetch = base.strip_prefix("atomic_fetch_").and_then(operator);
    let swap = matches!(base, "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak");
    let known = swap || matches!(base, "atomic_load" | "atomic_store" | "atomic_exchange" | "atomic_init");
    // The kernel has functions of the same names, with their arguments in another order; see `fetch` in `rmw`.
    if !known && fetch.is_none() {
        return Ok(None);
    }
    let orders = if !explicit {
        0
    } else if swap {
        2
    } else {
        1
    };
    if explicit && call.args.len() <= orders {
        let message = format!("`{}` has more arguments than these", call.name);
        return Err(Diagnostic::new(call.span, message, "this call"));
    }
    let (args, last) = call.args.split_at(call.args.len() - orders);
    let call = Args { args, ..call };
    let reads = Tags::ACQUIRE | Tags::CONSUME;
    let of = |what, without| last.first().map_or(Ok(tags(5)), |order| fitting(order, what, without));
    Ok(Some(match base {
        "atomic_load" => {
            let [from] = call.take()?;
            Called::Load { from, tags: of("load", Tags::RELEASE)? }
        }
        "atomic_store" => {
            let [to, value] = call.take()?;
            Called::Store { to, value, tags: of("store", reads)?, fence: None }
        }
        "atomic_init" => {
            let [to, value] = call.take()?;
            Called::Store { to, value, tags: Tags::default(), fence: None }
        }
        "atomic_exchange" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, tags: of("read-modify-write", Tags::default())? }
        }
        _ if swap => {
            let [at, expected, new] = call.take()?;
            let success = of("read-modify-write", Tags::default())?;
            let failure = last.get(1).map_or(Ok(tags(5)), |order| fitting(order, "failure", Tags::RELEASE))?;
            let orders = Orders { success, failure };
            Called::CompareExchange { at, expected, new, orders, weak: base.ends_with("weak") }
        }
        _ => {
            let Some(op) = fetch else { return Ok(None) };
            let [at, value] = call.take()?;
            let tags = of("read-modify-write", Tags::default())?;
            Called::Fetch { at, op, value: Some(value), tags, result: Result::Old }
        }
    }))
}

//! The Linux kernel's functions (`tools/memory-model/linux-kernel.def` lists those that its tests may use).
//!
//! `READ_ONCE` and `WRITE_ONCE` are atomic and order nothing. A read-modify-write that returns a value is a full fence before and behind,
//! unless its name says `_relaxed`, `_acquire` or `_release`; one that returns nothing orders nothing. One that fails orders nothing either.

use cyrano_ir::{BinOp, Tags};

use super::{Args, Barrier, Called, Change, Order, Orders, Resolved, Result, number, operator, pointer};
use crate::ast::{Expr, ExprKind, Unary};

/// Functions without arguments that are fences, or marks of critical sections.
const FENCES: [&str; 15] = [
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "smp_mb__before_atomic",
    "smp_mb__after_atomic",
    "smp_mb__after_spinlock",
    "smp_mb__after_unlock_lock",
    "smp_mb__after_srcu_read_unlock",
    "barrier",
    "rcu_read_lock",
    "rcu_read_unlock",
    "synchronize_rcu",
    "synchronize_rcu_expedited",
    "rcu_read_lock_bh",
    "rcu_read_unlock_bh",
];

/// The name of the fence that a function is.
fn fence(name: &str) -> Option<&'static str> {
    Some(match FENCES.into_iter().find(|known| *known == name)? {
        "synchronize_rcu_expedited" => "synchronize_rcu",
        "rcu_read_lock_bh" => "rcu_read_lock",
        "rcu_read_unlock_bh" => "rcu_read_unlock",
        name => name,
    })
}

pub(super) fn resolve(call: Args<'_>) -> Resolved {
    if let Some(fence) = fence(call.name) {
        let [] = call.take()?;
        return Ok(Some(Called::Fence(Barrier::Named(fence))));
    }
    let said = |more: Tags| Order::Tags(Tags::ATOMIC | more);
    let (once, acquire, release) = (said(Tags::default()), said(Tags::ACQUIRE), said(Tags::RELEASE));
    Ok(Some(match call.name {
        "READ_ONCE" | "rcu_dereference" | "lockless_dereference" => {
            let [place] = call.take()?;
            Called::Load { at: pointer(place), order: once }
        }
        "WRITE_ONCE" => {
            let [place, value] = call.take()?;
            Called::Store { at: pointer(place), value, order: once, fence: None }
        }
        "rcu_assign_pointer" => {
            let [place, value] = call.take()?;
            Called::Store { at: pointer(place), value, order: release, fence: None }
        }
        "smp_load_acquire" | "atomic_read_acquire" => {
            let [at] = call.take()?;
            Called::Load { at, order: acquire }
        }
        "smp_store_release" | "atomic_set_release" => {
            let [at, value] = call.take()?;
            Called::Store { at, value, order: release, fence: None }
        }
        "smp_store_mb" => {
            let [place, value] = call.take()?;
            Called::Store { at: pointer(place), value, order: once, fence: Some("smp_mb") }
        }
        "atomic_read" => {
            let [at] = call.take()?;
            Called::Load { at, order: once }
        }
        "atomic_set" => {
            let [at, value] = call.take()?;
            Called::Store { at, value, order: once, fence: None }
        }
        _ => return sections(call),
    }))
}

/// Locks, and sleepable RCU.
fn sections(call: Args<'_>) -> Resolved {
    Ok(Some(match call.name {
        "spin_lock" | "spin_trylock" => {
            let [at] = call.take()?;
            Called::Lock { at, wait: call.name == "spin_lock" }
        }
        "spin_unlock" => {
            let [at] = call.take()?;
            Called::Unlock(at)
        }
        "spin_is_locked" => {
            let [at] = call.take()?;
            Called::IsLocked(at)
        }
        "srcu_read_lock" | "srcu_down_read" => {
            let [at] = call.take()?;
            Called::Load { at, order: Order::Tags(Tags::SRCU) }
        }
        "srcu_read_unlock" | "srcu_up_read" => {
            let [at, value] = call.take()?;
            Called::Store { at, value, order: Order::Tags(Tags::SRCU), fence: None }
        }
        "synchronize_srcu" | "synchronize_srcu_expedited" => {
            let [domain] = call.take()?;
            Called::Synchronize(domain)
        }
        _ => return update(call),
    }))
}

/// Read-modify-writes.
fn update(call: Args<'_>) -> Resolved {
    let once = Tags::ATOMIC;
    let endings = [("_relaxed", once), ("_acquire", once | Tags::ACQUIRE), ("_release", once | Tags::RELEASE)];
    let ending = endings.into_iter().find_map(|(ending, tags)| Some((call.name.strip_suffix(ending)?, tags)));
    let (base, tags) = ending.unwrap_or((call.name, once | Tags::FULL));
    let orders = Orders { success: Order::Tags(tags), failure: Order::Tags(once) };
    Ok(Some(match base {
        "xchg" | "atomic_xchg" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, order: Order::Tags(tags) }
        }
        "cmpxchg" | "atomic_cmpxchg" => {
            let [at, expected, new] = call.take()?;
            Called::Cas { at, expected, new, orders }
        }
        "atomic_add_unless" => {
            let [at, value, unless] = call.take()?;
            Called::AddUnless { at, value, unless, orders }
        }
        _ => return arithmetic(call, base, tags, ending.is_some()),
    }))
}

/// `atomic_add(1, x)`, `atomic_inc_return(x)`, `atomic_fetch_add(1, x)`, `atomic_dec_and_test(x)`, ….
fn arithmetic(call: Args<'_>, base: &str, tags: Tags, ordered: bool) -> Resolved {
    let Some(rest) = base.strip_prefix("atomic_") else { return Ok(None) };
    let (word, result) = if let Some(word) = rest.strip_prefix("fetch_") {
        (word, Result::Old)
    } else if let Some(word) = rest.strip_suffix("_return") {
        (word, Result::New)
    } else if let Some(word) = rest.strip_suffix("_and_test") {
        (word, Result::IsZero)
    } else if let Some(word) = rest.strip_suffix("_negative") {
        (word, Result::IsNegative)
    } else {
        (rest, Result::Nothing)
    };
    let (change, unary) = match word {
        "inc" => (Change::Operator(BinOp::Add), true),
        "dec" => (Change::Operator(BinOp::Sub), true),
        "andnot" => (Change::Operator(BinOp::BitAnd), false),
        _ => match operator(word) {
            Some(change) => (change, false),
            None => return Ok(None),
        },
    };
    let plain = result == Result::Nothing;
    if plain && ordered {
        return Ok(None);
    }
    let tags = if plain { Tags::ATOMIC | Tags::NORETURN } else { tags };
    let (at, value) = if unary {
        let [at] = call.take()?;
        (at, number(1, call.loc))
    } else {
        let [value, at] = call.take()?;
        (at, if word == "andnot" { complement(value) } else { value })
    };
    Ok(Some(Called::Fetch { at, change, value, order: Order::Tags(tags), result }))
}

/// `~value`.
fn complement(value: Expr) -> Expr {
    let loc = value.loc;
    Expr { kind: ExprKind::Unary(Unary::Complement, Box::new(value)), loc }
}

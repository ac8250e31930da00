//! The Linux kernel's functions (`tools/memory-model/linux-kernel.def` lists those that its tests may use).
//!
//! `READ_ONCE` and `WRITE_ONCE` are atomic and order nothing. A read-modify-write that returns a value is a full fence before and behind,
//! unless its name says `_relaxed`, `_acquire` or `_release`; one that returns nothing orders nothing. One that fails orders nothing either.

use cyrano_ir::{BinOp, Diagnostic, Tags};

use super::calls::{Args, Called, Orders, Result, operator, pointer};

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

type Resolved<'e> = std::result::Result<Option<Called<'e>>, Diagnostic>;

pub(super) fn resolve(call: Args<'_>) -> Resolved<'_> {
    if let Some(fence) = fence(call.name) {
        let [] = call.take()?;
        return Ok(Some(Called::Fence(fence)));
    }
    let once = Tags::ATOMIC;
    let (acquire, release) = (once | Tags::ACQUIRE, once | Tags::RELEASE);
    Ok(Some(match call.name {
        "READ_ONCE" | "rcu_dereference" | "lockless_dereference" => {
            let [place] = call.take()?;
            Called::Load { from: pointer(place)?, tags: once }
        }
        "WRITE_ONCE" => {
            let [place, value] = call.take()?;
            Called::Store { to: pointer(place)?, value, tags: once, fence: None }
        }
        "rcu_assign_pointer" => {
            let [place, value] = call.take()?;
            Called::Store { to: pointer(place)?, value, tags: release, fence: None }
        }
        "smp_load_acquire" | "atomic_read_acquire" => {
            let [from] = call.take()?;
            Called::Load { from, tags: acquire }
        }
        "smp_store_release" | "atomic_set_release" => {
            let [to, value] = call.take()?;
            Called::Store { to, value, tags: release, fence: None }
        }
        "smp_store_mb" => {
            let [place, value] = call.take()?;
            Called::Store { to: pointer(place).unwrap_or(place), value, tags: once, fence: Some("smp_mb") }
        }
        "atomic_read" => {
            let [from] = call.take()?;
            Called::Load { from, tags: once }
        }
        "atomic_set" => {
            let [to, value] = call.take()?;
            Called::Store { to, value, tags: once, fence: None }
        }
        _ => return sections(call),
    }))
}

/// Locks, and sleepable RCU.
fn sections(call: Args<'_>) -> Resolved<'_> {
    Ok(Some(match call.name {
        "spin_lock" | "spin_trylock" => {
            let [at] = call.take()?;
            Called::Lock { at, wait: call.name == "spin_lock" }
        }
        "spin_unlock" => {
            let [to] = call.take()?;
            Called::Unlock(to)
        }
        "spin_is_locked" => {
            let [at] = call.take()?;
            Called::IsLocked(at)
        }
        "srcu_read_lock" | "srcu_down_read" => {
            let [from] = call.take()?;
            Called::Load { from, tags: Tags::SRCU }
        }
        "srcu_read_unlock" | "srcu_up_read" => {
            let [to, value] = call.take()?;
            Called::Store { to, value, tags: Tags::SRCU, fence: None }
        }
        "synchronize_srcu" | "synchronize_srcu_expedited" => {
            let [domain] = call.take()?;
            Called::Synchronize(domain)
        }
        _ => return update(call),
    }))
}

/// Read-modify-writes.
fn update(call: Args<'_>) -> Resolved<'_> {
    let once = Tags::ATOMIC;
    let endings = [("_relaxed", once), ("_acquire", once | Tags::ACQUIRE), ("_release", once | Tags::RELEASE)];
    let ending = endings.into_iter().find_map(|(ending, tags)| Some((call.name.strip_suffix(ending)?, tags)));
    let (base, tags) = ending.unwrap_or((call.name, once | Tags::FULL));
    let orders = Orders { success: tags, failure: once };
    Ok(Some(match base {
        "xchg" | "atomic_xchg" => {
            let [at, value] = call.take()?;
            Called::Exchange { at, value, tags }
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
fn arithmetic<'e>(call: Args<'e>, base: &str, tags: Tags, ordered: bool) -> Resolved<'e> {
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
    let (op, unary) = match word {
        "inc" => (BinOp::Add, true),
        "dec" => (BinOp::Sub, true),
        _ => match operator(word) {
            Some(op) => (op, false),
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
        (at, None)
    } else {
        let [value, at] = call.take()?;
        (at, Some(value))
    };
    Ok(Some(Called::Fetch { at, op, value, tags, result }))
}

//! The fences of machines and languages: which ones there are under a model about relations, what each costs, and which of two orders more.
//!
//! | model | fences, with their costs |
//! |---|---|
//! | `armv8` | `dmb.ishld` 2, `dmb.ishst` 3, `dmb.ish` 8 |
//! | `power` | `lwsync` 2, `sync` 8 |
//! | `riscv` | `fence.r.r`, `.r.w`, `.w.w` 2; `.r.rw`, `.rw.w` 3; `fence.tso` 4; `fence.w.r` 6; `.rw.r`, `.w.rw` 7; `.rw.rw` 8 |
//! | `rc11`, `imm` | `thread_fence.acquire`, `.release` 3, `.acq_rel` 4, `.seq_cst` 8 |
//! | `ra` | `thread_fence.seq_cst` 8 |
//! | `lkmm` | `smp_rmb`, `smp_wmb` 3, `smp_mb` 8 |
//! | `cat:tso` | `mfence` 8 |
//! | `cat:pso` | store-store 2, `mfence` 8 |
//!
//! Where C's orders are mapped to a machine, the fences are those of C, at the cost of what they become: under `armv8` `thread_fence.acquire` is a `dmb ishld`,
//! and every other one a `dmb ish`; under `tso` and `cat:tso` only `thread_fence.seq_cst` becomes an instruction.
//!
//! A cat file of a user's gets the fences of the machines whose fences it names, and fences by what they order if it names none.
//! Costs say what waits for what: a fence that keeps loads behind earlier stores waits until these have reached everybody. They grow with what a fence orders, so
//! that of two fences at one place that both do, the weaker one is chosen; and an access with an order ([`crate::AccessOrder`]) costs less than a fence beside it.

use cyrano_ir::{Fence, FenceName, FenceSet};
use cyrano_memory::Model;

/// A fence of a machine or a language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MachineFence {
    /// The fence.
    pub fence: Fence,
    /// What one costs.
    pub cost: u32,
}

/// Names and costs, from cheap to dear.
type Row = &'static [(&'static str, u32)];

const ARM: Row = &[("dmb.ishld", 2), ("dmb.ishst", 3), ("dmb.ish", 8)];
const POWER: Row = &[("lwsync", 2), ("sync", 8)];
const RISCV: Row = &[
    ("fence.r.r", 2),
    ("fence.r.w", 2),
    ("fence.w.w", 2),
    ("fence.r.rw", 3),
    ("fence.rw.w", 3),
    ("fence.tso", 4),
    ("fence.w.r", 6),
    ("fence.rw.r", 7),
    ("fence.w.rw", 7),
    ("fence.rw.rw", 8),
];
const C11: Row = &[
    ("thread_fence.acquire", 3),
    ("thread_fence.release", 3),
    ("thread_fence.acq_rel", 4),
    ("thread_fence.seq_cst", 8),
];
const C11_ON_ARM: Row = &[
    ("thread_fence.acquire", 2),
    ("thread_fence.release", 8),
    ("thread_fence.acq_rel", 9),
    ("thread_fence.seq_cst", 10),
];
const C11_ON_X86: Row = &[
    ("thread_fence.acquire", 1),
    ("thread_fence.release", 1),
    ("thread_fence.acq_rel", 2),
    ("thread_fence.seq_cst", 8),
];
const KERNEL: Row = &[("smp_rmb", 3), ("smp_wmb", 3), ("smp_mb", 8)];
const X86: Row = &[("mfence", 8)];
const RA: Row = &[("thread_fence.seq_cst", 8)];
const PSO: Row = &[("store-store", 2), ("mfence", 8)];
const KINDS: Row = &[("load-load", 2), ("load-store", 2), ("store-store", 2), ("store-load", 8), ("mfence", 11)];

/// The machines, each with a fence that a model names if it is about the machine.
const MACHINES: [(&str, Row); 6] = [
    ("dmb.ish", ARM),
    ("sync", POWER),
    ("fence.rw.rw", RISCV),
    ("thread_fence.seq_cst", C11),
    ("smp_mb", KERNEL),
    ("mfence", X86),
];

/// The fences that can be proposed under a model about relations, from cheap to dear; none for other models.
pub fn machine_fences(model: &Model) -> Vec<MachineFence> {
    let Some(cat) = model.cat() else { return Vec::new() };
    let speaks_of = |name: &str| FenceName::from_name(name).is_some_and(|name| cat.plan().fences.contains(&name));
    let named: Vec<Row> = MACHINES.iter().filter(|(mark, _)| speaks_of(mark)).map(|(_, row)| *row).collect();
    let rows = match model.name.as_str() {
        "cat:tso" => vec![X86],
        "cat:pso" => vec![PSO],
        "ra" => vec![RA],
        _ if named.is_empty() => vec![KINDS],
        _ => named,
    };
    rows.into_iter().flat_map(offered).filter(|offered| model.knows(offered.fence)).collect()
}

/// The fences of C that can be proposed where its orders are mapped to a model, from cheap to dear.
pub fn language_fences(model: &Model) -> Vec<MachineFence> {
    let row = match model.name.as_str() {
        "armv8" => C11_ON_ARM,
        "tso" | "cat:tso" => C11_ON_X86,
        _ => C11,
    };
    offered(row).collect()
}

fn offered(row: Row) -> impl Iterator<Item = MachineFence> {
    row.iter().filter_map(|(name, cost)| {
        let kind = FenceSet::from_name(name).map(Fence::Kinds);
        kind.or_else(|| Fence::named(name)).map(|fence| MachineFence { fence, cost: *cost })
    })
}

impl MachineFence {
    /// Whether it orders all that another fence of its machine orders.
    pub fn is_at_least(self, other: Self) -> bool {
        match (self.fence.kinds(), other.fence.kinds()) {
            (Some(own), Some(others)) => own.contains(others),
            _ => self == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(model: &str) -> Vec<String> {
        let model = cyrano_memory::named(model).expect("a model");
        machine_fences(&model).iter().map(|offered| offered.fence.to_string()).collect()
    }

    #[test]
    fn every_machine_has_its_own() {
        assert_eq!(names("armv8"), ["dmb.ishld", "dmb.ishst", "dmb.ish"]);
        assert_eq!(names("power"), ["lwsync", "sync"]);
        assert_eq!(names("lkmm"), ["smp_rmb", "smp_wmb", "smp_mb"]);
        assert_eq!(names("cat:tso"), ["mfence"]);
        assert_eq!(names("cat:pso"), ["store-store", "mfence"]);
        assert_eq!(names("ra"), ["thread_fence.seq_cst"]);
        assert_eq!(names("rc11").len(), 4);
        assert_eq!(names("imm"), names("rc11"));
        assert_eq!(names("riscv").len(), 10);
        assert!(names("tso").is_empty());
    }

    /// What orders more costs more, so that a cheapest set has no fence that a weaker one could replace.
    #[test]
    fn what_orders_more_costs_more() {
        for model in cyrano_memory::relational() {
            let fences = machine_fences(&model);
            for (a, b) in fences.iter().flat_map(|a| fences.iter().map(move |b| (a, b))) {
                assert!(a == b || !a.is_at_least(*b) || a.cost > b.cost, "{} {a:?} {b:?}", model.name);
            }
        }
    }
}

//! Fences, where they stand, and what they cost.

use cyrano_ir::FenceSet;

/// A place in the source where a fence may stand.
///
/// It stands for every copy that compilation makes of it: each thread of a family, each inlined call, each unrolled iteration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The byte offset in the source just behind which the fence stands.
    pub at: usize,
    /// The line of the text that it stands behind, from 1.
    pub line: usize,
    /// The thread, procedure or command that it is in.
    pub program: Option<String>,
}

/// A fence at a position.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fence {
    /// Where.
    pub position: Position,
    /// What it orders.
    pub kind: FenceSet,
}

/// What one fence of each kind costs; all positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// load-load.
    pub load_load: u32,
    /// load-store.
    pub load_store: u32,
    /// store-load.
    pub store_load: u32,
    /// store-store.
    pub store_store: u32,
}

impl Costs {
    /// The fewest fences, whatever their kinds.
    pub const UNIFORM: Self = Self { load_load: 1, load_store: 1, store_load: 1, store_store: 1 };

    /// What a fence that orders all of these kinds costs; at least 1 per kind.
    pub fn of(self, kind: FenceSet) -> u32 {
        let each = [self.load_load, self.load_store, self.store_load, self.store_store];
        let kinds = FenceSet::KINDS.iter().zip(each).filter(|((single, _), _)| kind.contains(*single));
        kinds.map(|(_, cost)| cost.max(1)).fold(0, u32::saturating_add)
    }
}

/// A store-load fence waits until every earlier store has reached memory; on the machines that these models describe the other
/// three kinds cost next to nothing. So one of it is dearer than a handful of others.
impl Default for Costs {
    fn default() -> Self {
        Self { store_load: 8, ..Self::UNIFORM }
    }
}

/// One fence per position: kinds at the same position are united. Sorted by position.
pub fn merge(fences: &[Fence]) -> Vec<Fence> {
    let mut sorted = fences.to_vec();
    sorted.sort();
    let mut merged: Vec<Fence> = Vec::with_capacity(sorted.len());
    for fence in sorted {
        match merged.last_mut() {
            Some(last) if last.position.at == fence.position.at => last.kind |= fence.kind,
            _ => merged.push(fence),
        }
    }
    merged
}

/// The statement for a fence of these kinds, without a semicolon: `fence(load-load, load-store)`.
pub fn statement(kind: FenceSet) -> String {
    let kinds = FenceSet::KINDS.iter().filter(|(single, _)| kind.contains(*single));
    let names: Vec<&str> = kinds.map(|(_, name)| *name).collect();
    format!("fence({})", names.join(", "))
}

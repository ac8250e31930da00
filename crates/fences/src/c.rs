//! Fences in C text: where they may stand and how they are written. The counterpart of [`crate::source`] for C.
//!
//! **Invariant:** as there, inserting changes nothing but what it adds, and an inserted fence's span is empty in the original and starts at its
//! position.

mod gaps;
mod layout;
mod token;

use cyrano_ir::FenceSet;

use crate::fence::{Fence, Position, merge};
use crate::source::Patched;
use crate::weights::Block;

/// The functions of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    gaps::blocks(text)
}

/// The gaps between statements at which the text with fences is `accepted`.
///
/// All are tried together, and a half at a time where that fails.
pub fn positions(text: &str, accepted: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
    let all: Vec<Position> = gaps::gaps(text).into_iter().map(|gap| gap.position).collect();
    let mut found = Vec::new();
    fitting(text, &all, accepted, &mut found);
    found
}

fn fitting(text: &str, some: &[Position], accepted: &dyn Fn(&Patched) -> bool, found: &mut Vec<Position>) {
    let fence = |position: &Position| Fence { position: position.clone(), kind: FenceSet::FULL };
    let fences: Vec<Fence> = some.iter().map(fence).collect();
    if some.is_empty() || accepted(&insert(text, &fences)) {
        found.extend_from_slice(some);
    } else if some.len() > 1 {
        let (left, right) = some.split_at(some.len() / 2);
        fitting(text, left, accepted, found);
        fitting(text, right, accepted, found);
    }
}

/// Inserts fences; those at one position become one statement. A fence that is at none of the text's gaps is left out.
pub fn insert(text: &str, fences: &[Fence]) -> Patched {
    let gaps = gaps::gaps(text);
    let placed = merge(fences).into_iter().filter_map(|fence| {
        let found = gaps.binary_search_by_key(&fence.position.at, |gap| gap.position.at).ok()?;
        Some((&gaps[found], statement(fence.kind)))
    });
    layout::lay_out(text, &placed.collect::<Vec<_>>())
}

/// Whether a fence at this position needs braces around a statement that has none.
pub fn needs_braces(text: &str, position: &Position) -> bool {
    let gaps = gaps::gaps(text);
    let found = gaps.binary_search_by_key(&position.at, |gap| gap.position.at);
    found.is_ok_and(|found| matches!(gaps[found].form, gaps::Form::Body { .. }))
}

/// The statement for a fence of these kinds: `fence("load-load load-store");`.
pub fn statement(kind: FenceSet) -> String {
    let kinds = FenceSet::KINDS.iter().filter(|(single, _)| kind.contains(*single));
    let names: Vec<&str> = kinds.map(|(_, name)| *name).collect();
    format!("fence(\"{}\");", names.join(" "))
}

#[cfg(test)]
mod tests;

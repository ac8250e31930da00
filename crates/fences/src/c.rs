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
    positions_for(text, &statement(FenceSet::FULL), accepted)
}

/// The same for another statement than a full fence.
pub fn positions_for(text: &str, statement: &str, accepted: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
    let all: Vec<Position> = gaps::gaps(text).into_iter().map(|gap| gap.position).collect();
    fitting(&all, &|some| {
        let placed: Vec<_> = some.iter().map(|position| (position.clone(), statement.to_owned())).collect();
        accepted(&write(text, &placed))
    })
}

/// Those of some positions that are accepted: all together, or those of each half.
pub(crate) fn fitting(some: &[Position], accepted: &dyn Fn(&[Position]) -> bool) -> Vec<Position> {
    if some.is_empty() || accepted(some) {
        return some.to_vec();
    }
    if some.len() == 1 {
        return Vec::new();
    }
    let (left, right) = some.split_at(some.len() / 2);
    [fitting(left, accepted), fitting(right, accepted)].concat()
}

/// Inserts fences; those at one position become one statement. A fence that is at none of the text's gaps is left out.
pub fn insert(text: &str, fences: &[Fence]) -> Patched {
    let placed = merge(fences).into_iter().map(|fence| (fence.position, statement(fence.kind)));
    write(text, &placed.collect::<Vec<_>>())
}

/// Inserts statements at different positions. One that is at none of the text's gaps is left out.
pub fn write(text: &str, placed: &[(Position, String)]) -> Patched {
    let gaps = gaps::gaps(text);
    let placed = placed.iter().filter_map(|(position, statement)| {
        let found = gaps.binary_search_by_key(&position.at, |gap| gap.position.at).ok()?;
        Some((&gaps[found], statement.clone()))
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

//! What can be put on a plain cycle in a language: fences and dependencies on its steps within threads, notes on its accesses.

use super::cycle::Cycle;
use super::relation::{Dir, Edge, Relation};
use super::target::{Note, Target};

/// What stands on a cycle: a relation for each step, a note for each access.
struct Dressed {
    relations: Vec<Relation>,
    notes: Vec<Note>,
}

impl Cycle {
    /// All cycles that have exactly this many fences, dependencies and notes on top of this one, which has none.
    pub fn variants(&self, target: Target, decorations: usize) -> Vec<Self> {
        let relations = self.relations();
        let offered: Vec<Relation> =
            Relation::fences(target).into_iter().chain(Relation::dependencies(target)).collect();
        let mut dressed = Dressed { notes: vec![Note::PLAIN; relations.len()], relations };
        let mut found = std::collections::BTreeSet::new();
        dress(&mut dressed, 0, decorations, target, &offered, &mut found);
        found.into_iter().collect()
    }
}

/// Goes over steps, then over accesses.
fn dress(
    dressed: &mut Dressed,
    at: usize,
    left: usize,
    target: Target,
    offered: &[Relation],
    found: &mut std::collections::BTreeSet<Cycle>,
) {
    let count = dressed.relations.len();
    if left == 0 {
        found.extend(dressed.cycle());
        return;
    }
    if at == 2 * count {
        return;
    }
    dress(dressed, at + 1, left, target, offered, found);
    if at < count {
        let plain = dressed.relations[at];
        for other in offered.iter().filter(|other| is_like(plain, **other)) {
            dressed.relations[at] = *other;
            dress(dressed, at + 1, left - 1, target, offered, found);
        }
        dressed.relations[at] = plain;
    } else {
        let load = dressed.relations[at - count].from() == Dir::R;
        for note in Note::of(target, load) {
            dressed.notes[at - count] = note;
            dress(dressed, at + 1, left - 1, target, offered, found);
        }
        dressed.notes[at - count] = Note::PLAIN;
    }
}

impl Dressed {
    fn cycle(&self) -> Option<Cycle> {
        let count = self.relations.len();
        let plain = self.notes.iter().all(|note| *note == Note::PLAIN);
        let edge = |at: usize| {
            let notes = [self.notes[at], self.notes[(at + 1) % count]];
            Edge { relation: self.relations[at], notes: (!plain).then_some(notes) }
        };
        Cycle::new((0..count).map(edge).collect()).ok()
    }
}

/// Whether both are steps within a thread between the same accesses.
fn is_like(plain: Relation, other: Relation) -> bool {
    match (plain, other) {
        (Relation::Po { same, from, to, .. }, Relation::Po { same: same_too, from: first, to: second, .. }) => {
            (same, from, to) == (same_too, first, second)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorations_are_counted() {
        let check = |text: &str, target: Target, decorations: usize, count: usize| {
            let cycle = Cycle::parse(text).expect("the cycle makes a test");
            let variants = cycle.variants(target, decorations);
            assert_eq!(variants.len(), count, "{text} {target:?} {decorations}");
            assert!(variants.iter().all(|variant| variant.text(target).is_ok()), "{variants:?}");
        };
        let store_buffering = "PodWR Fre PodWR Fre";
        check(store_buffering, Target::X86, 0, 1);
        check(store_buffering, Target::X86, 1, 3);
        // Two steps with one of three fences each, which may change places.
        check(store_buffering, Target::X86, 2, 6);
        check(store_buffering, Target::X86, 3, 0);
        // Seven barriers, a release store, and two kinds of acquire loads.
        check(store_buffering, Target::AArch64, 1, 7 + 3);
        check("PodWW Rfe PodRR Fre", Target::C, 1, 4 + 4 + 2 + 4 * 2);
    }
}

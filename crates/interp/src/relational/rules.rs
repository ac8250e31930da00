//! What need not be tried, because a model's own conditions would reject it.
//!
//! **Argument.** A model that demands `acyclic po-loc | rf | co | fr` (`Plan::is_uniproc` tells from its text, also in the form `irreflexive hb ; (rf | co | fr)+`)
//! sees one write behind every access: a write itself, and for a read the one that it reads from. If an access comes before another one to the same location in
//! program order, then the write behind the first is the write behind the second, or is overwritten by it; otherwise there is a cycle:
//!
//! - `w po w'` and `w' co w`;
//! - `w po r`, `r` reads from `s`, `s co w`: then `r fr w po r`;
//! - `r` reads from `s`, `r po w`, `w co s`: then `s rf r po w co s`;
//! - `r` reads from `s`, `r' ` from `s'`, `r po r'`, `s' co s`: then `s rf r po r' fr s`.
//!
//! So the order of the writes to a location extends these pairs, and who reads from whom is hopeless as soon as they form a cycle.
//!
//! A model that also demands `empty rmw & (fre ; coe)` (`Plan::is_atomic`) lets no write of another thread come between what a read-modify-write reads and what it
//! writes. So no two of them read from the same write: the one that writes later would have the other's write in between, if it is another thread's; and in one
//! thread the later one would read what the earlier one has overwritten.
//!
//! `tests/pruning.rs` compares with trying everything.

use cyrano_memory::cat::{Base, Plan, What};

use super::graph::Candidate;

/// What a model's conditions imply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Rules {
    /// Some of program order within each location (`Plan::is_coherent`).
    pub(super) coherent: bool,
    /// All of it.
    uniproc: bool,
    /// Nobody gets between the halves of a read-modify-write of one instruction, or of two.
    amo: bool,
    exclusive: bool,
}

impl Rules {
    /// What this one's conditions imply.
    pub(super) fn of(plan: &Plan) -> Self {
        let uniproc = plan.is_uniproc();
        let atomic = |base| uniproc && plan.is_atomic(base);
        Self { coherent: plan.is_coherent(), uniproc, amo: atomic(Base::Amo), exclusive: atomic(Base::Exclusive) }
    }

    /// The read of which this write is the other half, if nobody can get between them.
    fn read_half(self, candidate: &Candidate<'_, '_>, write: usize) -> Option<usize> {
        let (read, amo) = candidate.halves[write]?;
        (if amo { self.amo } else { self.exclusive }).then_some(read)
    }

    /// Whether the model may allow it that this read has the source that it was just given.
    pub(super) fn may_read(self, candidate: &Candidate<'_, '_>, read: usize) -> bool {
        !self.uniproc || !self.is_taken(candidate, read) && !has_cycle(&self.before(candidate, read))
    }

    /// Whether another read-modify-write reads from the same write.
    fn is_taken(self, candidate: &Candidate<'_, '_>, read: usize) -> bool {
        let source = candidate.source[read];
        let updates = |other: usize| {
            let write = candidate.halves.iter().position(|half| half.is_some_and(|(of, _)| of == other));
            write.is_some_and(|write| self.read_half(candidate, write).is_some())
        };
        let same = |other: &usize| *other != read && candidate.source[*other] == source;
        updates(read) && (0..candidate.source.len()).filter(same).any(updates)
    }

    /// The pairs of writes to the location of an event of which the first must hit memory first, as far as sources are known.
    pub(super) fn before(self, candidate: &Candidate<'_, '_>, event: usize) -> Vec<(usize, usize)> {
        if !self.uniproc {
            return Vec::new();
        }
        let (events, po) = (&candidate.graph.events, &candidate.graph.po);
        let behind = |event: usize| match events[event].what {
            What::Write => Some(event),
            What::Read => candidate.source[event],
            What::Fence(_) => None,
        };
        let here: Vec<usize> = (0..events.len()).filter(|other| events[*other].loc == events[event].loc).collect();
        let mut pairs = Vec::new();
        for later in &here {
            let earlier = here.iter().filter(|earlier| po.contains(**earlier, *later));
            for (first, second) in earlier.filter_map(|earlier| behind(*earlier).zip(behind(*later))) {
                if first != second && !pairs.contains(&(first, second)) {
                    pairs.push((first, second));
                }
            }
        }
        let starts = here.iter().filter(|write| events[**write].thread.is_none());
        let overwrites = pairs.iter().flat_map(|(first, _)| starts.clone().map(|start| (*start, *first)));
        let overwrites: Vec<(usize, usize)> = overwrites.filter(|(start, first)| start != first).collect();
        pairs.extend(overwrites);
        pairs
    }

    /// Whether a write may come behind those that are placed, in this order.
    pub(super) fn may_follow(self, candidate: &Candidate<'_, '_>, placed: &[usize], next: usize) -> bool {
        let Some(source) = self.read_half(candidate, next).and_then(|read| candidate.source[read]) else { return true };
        let own = |write: &usize| candidate.graph.events[*write].thread == candidate.graph.events[next].thread;
        match placed.iter().position(|write| *write == source) {
            Some(at) => placed[at + 1..].iter().all(own),
            None => false,
        }
    }
}

/// Whether pairs form a cycle: what has nothing before it is taken away until nothing is left.
fn has_cycle(pairs: &[(usize, usize)]) -> bool {
    let mut left = pairs.to_vec();
    loop {
        let before = left.len();
        let targets: Vec<usize> = left.iter().map(|(_, second)| *second).collect();
        left.retain(|(first, _)| targets.contains(first));
        if left.len() == before {
            return before > 0;
        }
    }
}

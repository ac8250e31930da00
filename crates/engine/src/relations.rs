//! The relations of an execution, as axiomatic models speak of it: who reads from whom (`rf`), in which order writes hit a location (`co`), and which
//! writes come after what a read saw (`fr`).
//!
//! Under a model with one total order of all accesses they follow from it, so that nobody has to note them; this is the one place where they are
//! computed. An execution under a model without such an order comes with them ([`Execution::relations`](crate::Execution::relations)).

use std::collections::BTreeMap;

use cyrano_ir::{AccessKind, Program};

use crate::execution::{Replayed, Source};

/// Pairs of events, by their numbers from 1; 0 stands for what memory holds at first. `co` and `fr` have the next write only; their closures follow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Relations {
    /// From a write to a read that sees it. A store that forwards its value and is not performed is left out.
    pub rf: Vec<(usize, usize)>,
    /// From a write to the next one to its location.
    pub co: Vec<(usize, usize)>,
    /// From a read to the first write after the one that it sees.
    pub fr: Vec<(usize, usize)>,
    /// Compare-and-swaps that succeed and keep their register, rather than to write there what they read, where a model tells the difference.
    pub kept: Vec<usize>,
}

/// What the relations need to know about an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<L> {
    /// The location, if it has one.
    pub location: L,
    /// Whether it writes.
    pub writes: bool,
    /// The number of the write that it reads from, if it reads.
    pub from: Option<usize>,
}

impl Relations {
    /// Those of these events, which stand in memory order.
    pub fn of<L: Ord + Copy>(events: &[Event<L>]) -> Self {
        let events = || (1..).zip(events);
        let mut writes: BTreeMap<L, Vec<usize>> = BTreeMap::new();
        for (n, event) in events().filter(|(_, event)| event.writes) {
            writes.entry(event.location).or_insert_with(|| vec![0]).push(n);
        }
        let co = writes.values().flat_map(|of| of.windows(2).map(|pair| (pair[0], pair[1]))).collect();
        let rf = events().filter_map(|(n, event)| Some((event.from?, n))).collect();
        let fr = events().filter_map(|(n, event)| {
            let (from, of) = (event.from?, writes.get(&event.location)?);
            Some((n, *of.iter().find(|write| **write > from && **write != n)?))
        });
        Self { rf, co, fr: fr.collect(), kept: Vec::new() }
    }
}

impl Replayed {
    /// The relations between its steps, with locations in the order of their names.
    pub fn relations(&self, program: &Program) -> Relations {
        if let Some(relations) = &self.relations {
            return Relations::clone(relations);
        }
        let step = |source: &Source, thread| match source {
            Source::Initial => Some(0),
            Source::Step(at) => Some(at + 1),
            Source::Forwarded { index, .. } => {
                let store = |access: crate::Access| (access.thread, access.index) == (thread, *index);
                Some(self.steps.iter().position(|other| store(other.access))? + 1)
            }
        };
        let events = self.steps.iter().map(|facts| Event {
            location: (facts.kind != AccessKind::Mark).then(|| &*program.location(facts.loc).name),
            writes: facts.access.written.is_some(),
            from: facts.source.as_ref().and_then(|source| step(source, facts.access.thread)),
        });
        Relations::of(&events.collect::<Vec<_>>())
    }
}

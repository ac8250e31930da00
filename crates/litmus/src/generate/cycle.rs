//! Cycles of relations, and the test that each stands for.
//!
//! A cycle alternates between threads (by communications) and within them (by program order). Every step to another location goes
//! to the next one and the last such step back to the first, so that each location is visited once, in a row. Along such a row
//! writes are numbered in the order in which the cycle says they reach memory; a read that a write leads to sees that one, and
//! a read that leads to a write sees the one before. The test asks whether an execution with these values exists: if it does, the
//! model allows the cycle.

use super::relation::{Dir, Edge, Link, Relation};
use super::target::Note;

/// A cycle that stands for a test.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cycle {
    edges: Vec<Edge>,
}

/// One access of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Whether it reads or writes.
    pub dir: Dir,
    /// Its location, from 0.
    pub location: usize,
    /// What it writes, or what it has to read; nothing where any value will do.
    pub value: Option<i128>,
    /// What stands between it and the access of its thread before it.
    pub link: Link,
    /// What is said about it.
    pub note: Note,
}

/// The test of a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The accesses of each thread.
    pub threads: Vec<Vec<Event>>,
    /// For each location its final value, where the order of writes matters.
    pub finals: Vec<Option<i128>>,
}

impl Cycle {
    /// A cycle from its relations; an error says why they make no test.
    pub fn new(edges: Vec<Edge>) -> Result<Self, String> {
        let count = edges.len();
        for at in 0..count {
            let (here, next) = (edges[at], edges[(at + 1) % count]);
            let (to, from) = (here.relation.to(), next.relation.from());
            if to != from {
                return Err(format!("{here} leads to a {to:?} and {next} starts from a {from:?}"));
            }
            if let (Some([_, to]), Some([from, _])) = (here.notes, next.notes)
                && to != from
            {
                return Err(format!("{here} leads to a `{}` and {next} starts from a `{}`", to.name(), from.name()));
            }
        }
        let relations: Vec<Relation> = edges.iter().map(|edge| edge.relation).collect();
        let external = relations.iter().filter(|relation| relation.is_external()).count();
        if external < 2 {
            return Err("a cycle has at least two relations between threads".to_owned());
        }
        if relations.iter().filter(|relation| relation.changes_location()).count() == 1 {
            return Err("a cycle that leaves a location comes back to it".to_owned());
        }
        let cycle = Self { edges };
        let start = (0..count).map(|start| cycle.rotated(start)).filter(|rotation| rotation.shape().is_ok()).min();
        start.ok_or_else(|| "the order of the writes to a location cannot be seen from a final state".to_owned())
    }

    /// Reads names of relations, separated by blanks.
    pub fn parse(text: &str) -> Result<Self, String> {
        let edge = |name: &str| Edge::parse(name).ok_or_else(|| format!("there is no relation `{name}`"));
        let edges: Vec<Edge> = text.split_whitespace().map(edge).collect::<Result<_, _>>()?;
        if edges.is_empty() {
            return Err("a cycle has at least two relations".to_owned());
        }
        Self::new(edges)
    }

    /// All cycles of at most this many relations and threads, each once, shortest first.
    pub fn all<E: Copy + Into<Edge>>(edges: &[E], length: usize, threads: usize) -> Vec<Self> {
        let edges: Vec<Edge> = edges.iter().map(|edge| (*edge).into()).collect();
        let mut found = std::collections::BTreeSet::new();
        let mut path = Vec::new();
        extend(&edges, length, threads, &mut path, &mut found);
        let mut list: Vec<Self> = found.into_iter().collect();
        list.sort_by_key(|cycle| cycle.edges.len());
        list
    }

    /// Its relations, in the canonical rotation.
    pub fn relations(&self) -> Vec<Relation> {
        self.edges.iter().map(|edge| edge.relation).collect()
    }

    /// What is said about the access that this relation starts from, or about the one that the relation before leads to.
    pub(crate) fn note(&self, at: usize) -> Note {
        let count = self.edges.len();
        let (before, here) = (self.edges[(at + count - 1) % count], self.edges[at % count]);
        here.notes.map(|[from, _]| from).or(before.notes.map(|[_, to]| to)).unwrap_or(Note::PLAIN)
    }

    fn relation(&self, at: usize) -> Relation {
        self.edges[at % self.edges.len()].relation
    }

    /// The same cycle from another start.
    pub(crate) fn rotated(&self, start: usize) -> Self {
        let mut edges = self.edges.clone();
        edges.rotate_left(start);
        Self { edges }
    }

    /// The test. A cycle starts at the first access of a thread; the error is for rotations that do not.
    pub fn shape(&self) -> Result<Shape, String> {
        let count = self.edges.len();
        let last = self.relation(count - 1);
        if !last.is_external() {
            return Err("this rotation starts within a thread".to_owned());
        }
        let places = self.edges.iter().filter(|edge| edge.relation.changes_location()).count();
        let places_or_one = places.max(1);
        if places == 0 && last == Relation::Wse {
            return Err("all writes are to one location, in a circle".to_owned());
        }
        let mut events: Vec<Event> = Vec::new();
        let mut location = 0;
        for at in 0..count {
            let (relation, before) = (self.relation(at), self.relation(at + count - 1));
            let link = match before {
                Relation::Po { link, .. } => link,
                _ => Link::None,
            };
            events.push(Event { dir: relation.from(), location, value: None, link, note: self.note(at) });
            location = (location + usize::from(relation.changes_location())) % places_or_one;
        }
        let finals = self.values(&mut events, places_or_one)?;
        let mut threads = vec![Vec::new()];
        for (at, event) in events.into_iter().enumerate() {
            if let Some(thread) = threads.last_mut() {
                thread.push(event);
            }
            if self.relation(at).is_external() && at + 1 < count {
                threads.push(Vec::new());
            }
        }
        Ok(Shape { threads, finals })
    }

    /// Gives accesses their values; returns the final values that matter.
    fn values(&self, events: &mut [Event], places: usize) -> Result<Vec<Option<i128>>, String> {
        let count = events.len();
        let mut finals = vec![None; places];
        for (location, last) in finals.iter_mut().enumerate() {
            let row = self.row(events, location);
            let mut written = 0;
            for at in &row {
                if events[*at].dir == Dir::W {
                    written += 1;
                    events[*at].value = Some(written);
                }
            }
            if written > 2 {
                return Err("the order of three writes cannot be seen from a final state".to_owned());
            }
            *last = (written == 2).then_some(2);
            for at in row {
                if events[at].dir == Dir::W {
                    continue;
                }
                let before = (at + count - 1) % count;
                let after = (at + 1) % count;
                let read = (self.relation(before) == Relation::Rfe).then_some(events[before].value).flatten();
                let missed = (self.relation(at) == Relation::Fre).then_some(events[after].value).flatten();
                let older = missed.map(|value| value - 1);
                if read.is_some() && older.is_some() && read != older {
                    return Err("a read would have to see two values".to_owned());
                }
                events[at].value = read.or(older);
            }
        }
        Ok(finals)
    }

    /// The accesses to a location in the order of the cycle.
    fn row(&self, events: &[Event], location: usize) -> Vec<usize> {
        let count = events.len();
        let own = |at: usize| events[at].location == location;
        // The row may go over the end of the list; it starts where the location before it is left.
        let starts = (0..count).find(|at| own(*at) && self.relation(at + count - 1).changes_location());
        let start = starts.unwrap_or(0);
        (0..count).map(|step| (start + step) % count).filter(|at| own(*at)).collect()
    }
}

/// All cycles that go on like this path.
fn extend(
    edges: &[Edge],
    length: usize,
    threads: usize,
    path: &mut Vec<Edge>,
    found: &mut std::collections::BTreeSet<Cycle>,
) {
    let external = path.iter().filter(|edge| edge.relation.is_external()).count();
    if external > threads {
        return;
    }
    // Every cycle has a rotation that ends with a communication.
    if path.last().is_some_and(|last| last.relation.is_external())
        && let Ok(cycle) = Cycle::new(path.clone())
    {
        found.insert(cycle);
    }
    if path.len() == length {
        return;
    }
    for edge in edges {
        if path.last().is_none_or(|last| last.relation.to() == edge.relation.from()) {
            path.push(*edge);
            extend(edges, length, threads, path, found);
            path.pop();
        }
    }
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.edges.iter().map(ToString::to_string).collect();
        f.write_str(&names.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_one_cycle() {
        let parse = |text: &str| Cycle::parse(text).expect("the cycle makes a test");
        assert_eq!(parse("PodWW Rfe PodRR Fre"), parse("PodRR Fre PodWW Rfe"));
        assert_ne!(parse("PodWW Rfe PodRR Fre"), parse("PodWR Fre PodWR Fre"));
        for wrong in ["", "PodWR", "PodWR Fre", "Rfe Fre", "Rfe Fre Wse PodRR", "Rfe PodRR", "PodWR Rfe"] {
            assert!(Cycle::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_follow_the_cycle() {
        let values = |text: &str| {
            let shape = Cycle::parse(text).and_then(|cycle| cycle.shape()).expect("the cycle makes a test");
            let events = shape.threads.iter().map(|thread| thread.iter().map(|event| event.value).collect::<Vec<_>>());
            (events.collect::<Vec<_>>(), shape.finals)
        };
        let (some, none) = (Some, None::<i128>);
        assert_eq!(
            values("PodWR Fre PodWR Fre"),
            (vec![vec![some(1), some(0)], vec![some(1), some(0)]], vec![none, none])
        );
        let (events, finals) = values("PodWW Wse PodWW Wse");
        assert_eq!(finals, [Some(2), Some(2)]);
        assert_eq!(events.concat().iter().flatten().sum::<i128>(), 6);
        let (events, _) = values("Rfe PosRR Fre");
        assert!(events.contains(&vec![Some(1), Some(0)]), "{events:?}");
    }
}

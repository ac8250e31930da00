//! Abort and pending isolation on the graph: a breadth-first search over nodes together with what has to be remembered.

use cyrano_criteria::structure::isolation::{Isolation, Kind};
use cyrano_engine::{Limits, Stop};
use rustc_hash::FxHashSet;

use crate::criteria::runs::graph::{Edge, Graph};
use crate::semantics::machine::Machine;

/// A node, what has to be remembered there, and how it was found: from which one, and by which step.
type Found = (u32, Isolation, usize, Option<(u32, Edge)>);

/// A shortest path of steps whose last one breaks isolation, if there is one.
pub(super) fn search(
    m: &Machine<'_>,
    graph: &Graph,
    kind: Kind,
    limits: &Limits,
) -> Result<Option<Vec<(u32, Edge)>>, Stop> {
    let start = Isolation::new(m.threads.len() as u8, m.program.locations.len());
    let mut found: Vec<Found> = graph.starts().iter().map(|node| (*node, start.clone(), usize::MAX, None)).collect();
    let mut known: FxHashSet<(u32, Isolation)> = found.iter().map(|(node, seen, ..)| (*node, seen.clone())).collect();
    let mut next = 0;
    while next < found.len() {
        if next % 4096 == 0
            && let Some(stop) = limits.exceeded(graph.size() + (found.len() * 2 * (size_of::<Isolation>() + 64)) as u64)
        {
            return Err(stop);
        }
        let (node, before) = (found[next].0, found[next].1.clone());
        for edge in graph.edges(node) {
            let mut seen = before.clone();
            let breach = graph.deeds(edge).iter().any(|deed| seen.step(kind, deed));
            if breach {
                let mut path = vec![(node, *edge)];
                let mut at = next;
                while found[at].2 != usize::MAX {
                    path.extend(found[at].3);
                    at = found[at].2;
                }
                path.reverse();
                return Ok(Some(path));
            }
            if known.insert((edge.to, seen.clone())) {
                found.push((edge.to, seen, next, Some((node, *edge))));
            }
        }
        next += 1;
    }
    Ok(None)
}

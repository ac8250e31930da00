//! Operations that get done whoever is stopped: `obstruction-free`, `lock-free`, `wait-free` (Herlihy and Shavit).
//!
//! An operation is what the program marks as one; a thread without operations is one as a whole, and gets done at its end or when it passes a `progress` mark.
//! Threads may be stopped anywhere, for ever. Memory goes on: what a stopped thread has deferred is performed some day, like everything else. A violation is an
//! execution that goes on for ever, is fair to memory in that sense, and in which from some point on
//! - `obstruction-free`: one thread alone takes steps in an operation, and the operation does not get done;
//! - `lock-free`: some thread takes steps in operations, and no operation of any thread gets done;
//! - `wait-free`: some thread takes steps in an operation that does not get done, whatever the others do;
//! - all three: a thread stands in an operation before a section that is closed, all others are stopped and nothing is deferred.
//!
//! Each implies the one before. All are about the client at hand. In a test with finitely many operations nobody can be overtaken for ever, so there
//! `wait-free` is `bounded` where it is not violated.
//!
//! **Exactness.** As for termination ([`super::termination`], whose arguments about reductions hold here: steps are the same, and their labels exact) such an
//! execution exists exactly if the graph has a component with what is wanted: a program step of the thread in an operation, and for every thread an edge that performs
//! its oldest access or a node where its queue is empty. Edges in which a stopped thread takes a program step, or an operation gets done that must not, are left
//! out before. Under models that defer loads a thread goes on as soon as its load is performed, so that the graph does not
//! tell the memory's steps from the thread's; these are refused. Under others performing a store never takes the thread further, but for
//! one that is stopped by the bound of its queue, and then the verdict is `bounded`.

use cyrano_engine::Fate;
use cyrano_ir::Liveness;

use crate::criteria::runs::cycles::{self, Cycle, Met, Want};
use crate::criteria::runs::graph::{Edge, Graph, Threads};
use crate::semantics::machine::Machine;

/// A violation, if there is one: the thread, what happens to it, and how.
pub(super) fn lasso(m: &Machine<'_>, graph: &Graph, liveness: Liveness) -> Option<(usize, Fate, Cycle)> {
    let every = (0..m.threads.len()).fold(0, |set: Threads, thread| set | 1 << thread);
    let alone = (0..m.threads.len()).map(|thread| 1 << thread);
    let wants: Vec<Stopping> = match liveness {
        Liveness::LockFree => vec![Stopping::new(every, every, every)],
        Liveness::ObstructionFree => alone.map(|thread| Stopping::new(every, thread, thread)).collect(),
        _ => alone.map(|thread| Stopping { moving: every, ..Stopping::new(every, thread, thread) }).collect(),
    };
    let spins = wants.iter().find_map(|want| {
        let cycle = cycles::find(graph, want)?;
        let thread = cycle.edges.iter().find(|edge| want.counts(edge))?.thread;
        Some((usize::from(thread), Fate::Spins, cycle))
    });
    spins.or_else(|| blocked(graph, every))
}

/// Whether operations get done for ever: only then somebody may be overtaken for ever.
pub(super) fn go_on(m: &Machine<'_>, graph: &Graph) -> bool {
    let every = (0..m.threads.len()).fold(0, |set: Threads, thread| set | 1 << thread);
    cycles::exists(graph, &Stopping { gets_done: true, ..Stopping::new(every, every, 0) })
}

/// A thread that stands in an operation before a closed section while nothing is deferred.
fn blocked(graph: &Graph, every: Threads) -> Option<(usize, Fate, Cycle)> {
    let stuck = |node: u32| {
        let facts = graph.facts(node);
        if facts.empty & every == every { facts.closed & facts.inside } else { 0 }
    };
    let start = (0..graph.len() as u32).find(|node| stuck(*node) != 0)?;
    Some((stuck(start).trailing_zeros() as usize, Fate::Blocked, Cycle { start, edges: Vec::new() }))
}

/// Cycles in which only some threads take program steps, and some get nothing done.
struct Stopping {
    moving: Threads,
    /// Those whose operations do not get done, and one of whom takes a step in one.
    suspects: Threads,
    /// Whether operations of others have to get done instead.
    gets_done: bool,
    /// One bit for a step of a suspect, then one for each thread whose accesses are performed.
    all: Met,
}

impl Stopping {
    fn new(every: Threads, moving: Threads, suspects: Threads) -> Self {
        Self { moving, suspects, gets_done: false, all: 1 | Met::from(every) << 1 }
    }

    /// Whether a suspect takes a step in an operation, or one gets done where that is wanted.
    fn counts(&self, edge: &Edge) -> bool {
        let suspect = edge.moves && edge.inside && self.suspects & 1 << edge.thread != 0;
        if self.gets_done { edge.passes } else { suspect }
    }
}

impl Want for Stopping {
    fn node(&self, _: &Graph, _: u32) -> bool {
        true
    }

    fn edge(&self, edge: &Edge) -> bool {
        let me = 1 << edge.thread;
        (!edge.moves || self.moving & me != 0) && (!edge.passes || self.suspects & me == 0)
    }

    fn at(&self, graph: &Graph, node: u32) -> Met {
        Met::from(graph.facts(node).empty) << 1 & self.all
    }

    fn by(&self, edge: &Edge) -> Met {
        Met::from(self.counts(edge)) | Met::from(edge.oldest) << (1 + edge.thread)
    }

    fn all(&self) -> Met {
        self.all
    }
}

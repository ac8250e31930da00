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
//! A thread at an `assume` that fails takes no step, and is no violation. Many who write one mean a loop that waits, which a stopped thread would keep going for ever; so where such a state is
//! reached in an operation and nothing else is found, the verdict is `bounded`.
//!
//! **Exactness.** Take the *full* machine, in which each step executes one instruction of a thread, or one section, or performs one deferred access or section. Such an
//! execution exists in it exactly if its graph has a component with what is wanted: a program step of the thread in an operation, and for every thread a step that performs
//! its oldest access or a state where its queue is empty. Edges in which a stopped thread takes a program step, or an operation gets done that must not, are left
//! out before.
//!
//! **Reductions.** Termination's argument for `macro-steps` rests on fairness to threads, which is gone: who queues a store in the same step as what precedes it cannot be
//! stopped before it, and who runs on when its load is performed is not stopped at all. So where something is deferred a thread rests before every access and every
//! section ([`Machine::may_stop_before`]), and a step that performs something deferred does not take it any further. Then a program step issues or performs
//! at most one access or section, or makes one choice, and what runs on behind it touches registers, fences and entries that compute values in the thread's own queue. Take an
//! execution of the full machine. In it let every thread do such instructions as soon as it can, also those that it was stopped before. Nobody sees a
//! difference: no access is issued or performed, a fence behind all of a queue orders only what comes later, a value that is computed when its load is performed is the one that
//! would be computed later, and which accesses are ready, and what they read, depends on older entries only. A thread that takes infinitely many
//! steps passes the same marks; one that was stopped may pass some more, but only finitely many, before the execution goes round. What is empty stays empty. A thread that
//! stands before a closed section stands there in both. So the cycle of states at rest shows what the execution did. A computation that goes wrong on the
//! way is reported, and does so in the full machine when the thread goes on. The other way round each edge stands for the steps that it is made of, which are all of the program or
//! all of memory. A thread that runs for ever without a rest gets rests by `PATIENCE`, and stays a cycle.
//!
//! `dead-registers` and `timestamps` relate states that can take the same steps for ever, with the same labels. What termination does not use is not used here either, for
//! the same reasons: symmetries, `ample-sets`, `lazy-choices`, `repeated-stores`, `sorted-stores`, `dead-loads`, remembered steps and fingerprints.
//!
//! A thread that cannot issue because its queue is as long as it may get takes no step; that cycle is one without the bound as well, and where none is found the
//! verdict is `bounded`.

use cyrano_engine::Fate;
use cyrano_ir::{Liveness, Op};

use crate::criteria::runs::cycles::{self, Cycle, Met, Want};
use crate::criteria::runs::graph::{Edge, Graph, Threads};
use crate::faults::Fault;
use crate::semantics::machine::Machine;

/// A violation, if there is one: the thread, what happens to it, and how.
pub(super) fn lasso(m: &Machine<'_>, graph: &Graph, liveness: Liveness) -> Option<(usize, Fate, Cycle)> {
    let every = (0..m.threads.len()).fold(0, |set: Threads, thread| set | 1 << thread);
    let alone = (0..m.threads.len()).map(|thread| 1 << thread);
    let wants: Vec<Stopping<'_>> = match liveness {
        Liveness::LockFree if !m.config.has_fault(Fault::DoneForOne) => vec![Stopping::new(m, every, every)],
        Liveness::ObstructionFree if !m.config.has_fault(Fault::NeverAlone) => {
            alone.map(|thread| Stopping::new(m, thread, thread)).collect()
        }
        _ => alone.map(|thread| Stopping::new(m, every, thread)).collect(),
    };
    let spins = wants.iter().find_map(|want| {
        let cycle = cycles::find(graph, want)?;
        let thread = cycle.edges.iter().find(|edge| want.counts(edge))?.thread;
        Some((usize::from(thread), Fate::Spins, cycle))
    });
    spins.or_else(|| blocked(graph, if m.config.has_fault(Fault::StuckTooSoon) { 0 } else { every }))
}

/// Whether operations get done for ever: only then somebody may be overtaken for ever.
pub(super) fn go_on(m: &Machine<'_>, graph: &Graph) -> bool {
    let every = (0..m.threads.len()).fold(0, |set: Threads, thread| set | 1 << thread);
    cycles::exists(graph, &Stopping { gets_done: true, ..Stopping::new(m, every, 0) })
}

/// Whether a thread comes to an `assume` in an operation that fails: then nothing is said about executions in which it waits there.
pub(super) fn waits_by_assumption(graph: &Graph) -> bool {
    (0..graph.len() as u32).any(|node| graph.facts(node).refused & graph.facts(node).inside != 0)
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
struct Stopping<'m> {
    m: &'m Machine<'m>,
    moving: Threads,
    /// Those whose operations do not get done, and one of whom takes a step in one.
    suspects: Threads,
    /// Whether operations of others have to get done instead.
    gets_done: bool,
    /// One bit for a step of a suspect, then one for each thread whose accesses are performed.
    all: Met,
}

impl<'m> Stopping<'m> {
    fn new(m: &'m Machine<'m>, moving: Threads, suspects: Threads) -> Self {
        let every = (0..m.threads.len()).fold(0, |set: Met, thread| set | 1 << thread);
        let performed = if m.config.has_fault(Fault::ForgetStopped) { 0 } else { every };
        Self { m, moving, suspects, gets_done: false, all: 1 | performed << 1 }
    }

    /// Whether a suspect takes a step in an operation, or one gets done where that is wanted.
    fn counts(&self, edge: &Edge) -> bool {
        let inside = edge.inside || self.m.config.has_fault(Fault::AlwaysInside);
        let suspect = edge.moves && inside && self.suspects & 1 << edge.thread != 0;
        if self.gets_done { edge.passes } else { suspect }
    }
}

impl Want for Stopping<'_> {
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
        (Met::from(self.counts(edge)) | Met::from(edge.oldest) << (1 + edge.thread)) & self.all
    }

    fn all(&self) -> Met {
        self.all
    }
}

impl Machine<'_> {
    /// Whether a thread that may be stopped rests before an instruction: before every access and section, where something is deferred.
    pub(crate) fn may_stop_before(&self, thread: usize, pc: u32) -> bool {
        let op = self.op(thread, pc);
        let acts = matches!(op, Op::AtomicBegin) || op.access_kind().is_some_and(|kind| self.defers(kind));
        acts && self.defers_any() && !self.config.has_fault(Fault::StopAtRests)
    }
}

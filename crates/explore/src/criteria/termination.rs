//! Termination of threads: does every thread come to its end, or pass its marks again and again?
//!
//! The definition is in `docs/termination.md`. A violation is an infinite execution that is *fair* and in which a thread neither ends nor, from some point on,
//! passes one of its marks (`Op::Progress`), if it has any; or a finite execution that cannot go on although a thread has not ended (a deadlock, which the
//! search finds like any other). Fair means that a thread which from some point on can always take a program step takes infinitely many, and that every
//! deferred access is performed some day: infinitely often the oldest deferred access of each thread is performed, or its queue is empty. To run
//! instructions and to perform what they deferred are steps of different kinds, and an execution has to be fair to both.
//!
//! **Exactness.** The graph is finite, so such an execution exists exactly if a strongly connected component has an edge and, for every thread, a program step
//! or a node where it is stalled, and an edge that performs its oldest access or a node where its queue is empty ([`Fair`]): a generalised Büchi condition.
//! Nodes where the thread in question has ended and edges in which it passes a mark are left out before.
//!
//! An execution in which an `assume` outside of a section, or a `limit`, fails does not exist for this question. A thread that rests at one that will fail is not
//! stalled and takes no step, so that no cycle through such a state is fair, and the state is no deadlock. It is not left out: another thread may go wrong, or enter a
//! section that it never leaves, before the condition is looked at. A failed
//! assertion ends nothing. A computation that goes wrong is reported as a violation, for nothing can be said about what follows.
//!
//! **Reductions.** Let the *full* machine take one instruction, or perform one deferred access, in each step.
//! - `macro-steps` runs a thread on to its next rest, over instructions that touch its registers and its own queue only. Take a fair execution of the
//!   full machine and let every thread do such steps as soon as it can: they commute with the steps of other threads, which see neither, and with performing the
//!   thread's own older accesses, because which of these are ready, and what they read, depends on older entries only. By fairness each such
//!   step is taken some day, so nothing is added, no mark is passed that was not passed before, and a rest from which a thread never goes on stays one.
//!   Whoever is stalled in a state of the full machine is so at a rest, and its part of the state and memory are the same in the state that stands for
//!   it. If the queue of a thread is empty infinitely often in one execution, but not in the other, where accesses are issued earlier, then infinitely many
//!   accesses are issued, and the last of each batch is performed when it is the oldest. So the cycle of states at rest is fair. The other
//!   way round each edge stands for the steps it is made of, and its labels are exact. A thread that runs for ever without a rest gets rests by
//!   `PATIENCE`, so that it stays a cycle.
//! - `dead-registers` and `timestamps` relate states that can take the same steps for ever, with the same labels.
//! - Not used: `thread-symmetry` (a cycle of classes may exchange threads, and fairness is about each of them), `ample-sets` and `lazy-choices` (they leave out
//!   interleavings that safety does not need; a cycle may need them), `sorted-stores` (the first entry would not be the oldest), `dead-loads` (performs accesses
//!   in other steps), remembered steps and fingerprints.
//!
//! **Bounds.** A thread with a loop may defer `limits.deferred` accesses. Being stopped by that bound is not being stalled, so a cycle that is found is one of the
//! machine without a bound; if none is found and the bound was reached, the verdict is `bounded`. A search that a limit stopped may have found a cycle as well; else it is
//! `unknown`.

use cyrano_engine::{
    Answer, Cause, Fate, Inexact, Lasso, Limits, Query, Refusal, Verdict, Violation, Watch, limit_reason, vacuity,
};
use cyrano_ir::{InstrId, LabelName, Liveness, Op, Property, ThreadId};

use crate::criteria::operations;
use crate::criteria::runs::cycles::{self, Cycle, Met, Want};
use crate::criteria::runs::graph::{Edge, Graph, MOST_THREADS, Threads};
use crate::criteria::runs::walk;
use crate::faults::Fault;
use crate::search::witness;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::Notes;
use crate::{Explore, larger};

/// Whether the question can be answered exactly.
pub(crate) fn supports(query: &Query<'_>) -> Result<(), Refusal> {
    let (program, model) = (query.program(), query.model());
    if model.reordering().serial || model.own_order(program).is_some() {
        return Err(Refusal::Inexact(Inexact::EndlessRuns { model: model.name.clone() }));
    }
    if program.threads.len() > MOST_THREADS {
        return Err(Refusal::TooLarge(format!("termination is decided for up to {MOST_THREADS} threads")));
    }
    Ok(())
}

/// Answers the question.
pub(crate) fn ask(
    config: &Explore,
    query: Query<'_>,
    liveness: Liveness,
    limits: &Limits,
    watch: &dyn Watch,
) -> Answer {
    let (program, model) = (query.program(), query.model());
    if let Err(why) = supports(&query) {
        return Answer::new(Verdict::Unknown, Some(Cause::Refused(why)));
    }
    let config = Explore { dead_loads: false, sorted_stores: false, ..config.clone() };
    let property = Property::Live(liveness);
    let mut gap = (config.timestamps && program.has_timestamps()).then_some(1);
    loop {
        let machine = Machine::new(program, model, &config, Some(&property), limits.deferred, gap);
        let graph = Graph::build(&machine, &property, limits, watch);
        if graph.notes.gap_too_small {
            gap = larger(gap);
            continue;
        }
        let started = std::time::Instant::now();
        let mut answer = judge(&machine, &graph, limits);
        answer.stats.seconds += started.elapsed().as_secs_f64();
        return answer;
    }
}

fn judge(machine: &Machine<'_>, graph: &Graph, limits: &Limits) -> Answer {
    let found = |verdict, reason| Answer {
        reductions: machine.config.reductions(machine, Notes::default()),
        stats: graph.stats,
        ..Answer::new(verdict, reason)
    };
    if let Some((path, hit)) = &graph.wrong {
        let (execution, violation) = witness::execution(machine, hit, path);
        return Answer { violation, execution: Some(execution), ..found(Verdict::Violated, None) };
    }
    let shown = match machine.liveness {
        Some(liveness) if liveness.stops_threads() => operations::lasso(machine, graph, liveness),
        _ => lasso(machine, graph),
    };
    if let Some((thread, fate, cycle)) = shown {
        let (execution, stem, round) = walk::execution(machine, graph, &cycle);
        let lasso = Lasso { thread: ThreadId::new(thread), fate, stem, round, rounds: walk::ROUNDS };
        let violation = Some(Violation::Lasso(lasso));
        return Answer { violation, execution: Some(execution), ..found(Verdict::Violated, None) };
    }
    if let Some(stop) = graph.stop {
        return found(Verdict::Unknown, Some(stop.into()));
    }
    if graph.notes.bounded {
        return found(Verdict::Bounded, Some(Cause::Deferred(limits.deferred)));
    }
    if let Some((thread, pc)) = graph.notes.limited {
        let reason = limit_reason(machine.program, ThreadId::new(thread), InstrId(pc));
        return found(Verdict::Bounded, Some(reason));
    }
    if machine.stops && operations::waits_by_assumption(graph) {
        return found(Verdict::Bounded, Some(Cause::Assumed));
    }
    let goes_on = || cycles::exists(graph, &Fair::new(machine, Threads::MAX, 0));
    if !graph.ended && !goes_on() {
        return found(Verdict::Vacuous, Some(Cause::Nothing(vacuity::NO_EXECUTION)));
    }
    if machine.liveness == Some(Liveness::WaitFree) && !operations::go_on(machine, graph) {
        return found(Verdict::Bounded, Some(Cause::FewOperations));
    }
    found(Verdict::Verified, None)
}

/// A violation that goes on for ever, if there is one: the thread, what happens to it, and how.
fn lasso(m: &Machine<'_>, graph: &Graph) -> Option<(usize, Fate, Cycle)> {
    let marked = (0..m.threads.len()).filter(|thread| m.has_marks(*thread));
    let marked: Threads = marked.fold(0, |set, thread| set | 1 << thread);
    let unmarked = !marked & (Threads::MAX >> (MOST_THREADS - m.threads.len()));
    // Threads without marks are looked at together: the first one of a component that has not ended is one that never will.
    let alone = (0..m.threads.len()).map(|thread| 1 << thread).filter(|thread| marked & thread != 0);
    let suspects = std::iter::once(unmarked).filter(|threads| *threads != 0).chain(alone);
    suspects.into_iter().find_map(|suspects| {
        let cycle = cycles::find(graph, &Fair::new(m, suspects, suspects & marked))?;
        let open = suspects & !graph.facts(cycle.start).done;
        let moving = cycle.edges.iter().filter(|edge| edge.moves).fold(0, |set: Threads, edge| set | 1 << edge.thread);
        let spins = open & moving;
        let fate = if spins == 0 { Fate::Blocked } else { Fate::Spins };
        let thread = if spins == 0 { open } else { spins }.trailing_zeros();
        Some((thread as usize, fate, cycle))
    })
}

/// Fair cycles in which one of the suspects never ends, and does not pass a mark if that is asked.
struct Fair<'m> {
    config: &'m Explore,
    suspects: Threads,
    /// The threads that may not pass a mark.
    unpassing: Threads,
    all: Met,
}

/// Program steps come first, then what is performed.
const PERFORMS: u32 = Threads::BITS;

impl<'m> Fair<'m> {
    fn new(m: &'m Machine<'_>, suspects: Threads, unpassing: Threads) -> Self {
        let every = (0..m.threads.len()).fold(0, |set: Met, thread| set | 1 << thread);
        Self { config: m.config, suspects, unpassing, all: every | every << PERFORMS }
    }
}

impl Want for Fair<'_> {
    fn node(&self, graph: &Graph, node: u32) -> bool {
        self.suspects & !graph.facts(node).done != 0
    }

    fn edge(&self, edge: &Edge) -> bool {
        let none = self.config.has_fault(Fault::ShareMarks) && self.unpassing != 0;
        !edge.passes || self.config.has_fault(Fault::IgnoreMarks) || !none && self.unpassing & 1 << edge.thread == 0
    }

    fn at(&self, graph: &Graph, node: u32) -> Met {
        let mut facts = graph.facts(node);
        if self.config.has_fault(Fault::UnfairToThreads) {
            facts.stalled = Threads::MAX;
        }
        if self.config.has_fault(Fault::UnfairToMemory) {
            facts.empty = Threads::MAX;
        }
        if self.config.has_fault(Fault::ClosedIsReady) {
            facts.stalled &= facts.done;
        }
        (Met::from(facts.stalled) | Met::from(facts.empty) << PERFORMS) & self.all
    }

    fn by(&self, edge: &Edge) -> Met {
        let oldest = edge.oldest || !edge.moves && self.config.has_fault(Fault::PerformAny);
        (Met::from(edge.moves) | Met::from(oldest) << PERFORMS) << edge.thread
    }

    fn all(&self) -> Met {
        self.all
    }
}

impl Machine<'_> {
    /// Whether marks with this label, or without one, are asked about.
    pub(crate) fn asks_about(&self, label: Option<&str>) -> bool {
        self.liveness.is_some_and(|liveness| liveness.label().map(LabelName::name) == label)
    }

    /// Whether the ends of operations are marks.
    pub(crate) fn asks_about_operations(&self) -> bool {
        self.liveness.is_some_and(Liveness::stops_threads) && !self.config.has_fault(Fault::IgnoreOperations)
    }

    /// Whether a thread has marks that are asked about.
    fn has_marks(&self, thread: usize) -> bool {
        let label = self.liveness.and_then(Liveness::label).map(LabelName::name);
        self.program.threads[thread].marks(label).next().is_some()
    }

    /// Whether a thread rests at an `assume` or a `limit` that has failed.
    pub(crate) fn refuses(&self, state: &State, thread: usize) -> bool {
        let (Op::Assume(cond) | Op::Limit { cond, .. }) = self.op(thread, state.threads[thread].pc) else {
            return false;
        };
        let pending = self.loads_wait && self.capture(state, thread, &[cond]).is_some();
        !pending && crate::semantics::local::eval(cond, &state.regs[self.threads[thread].base..]) == Ok(0)
    }
}

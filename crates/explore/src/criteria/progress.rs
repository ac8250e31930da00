//! Progress of transactions (Samand, section 6): does a thread that keeps trying commit?
//!
//! The client of each thread is free to choose any commands, so these are questions about every program. What would excuse a memory
//! is ruled out: a client that goes on for ever without an `end` and without an abort (a *parasitic* one) is nobody's fault, and
//! a thread *crashes* if it stops within a transaction. The violations are infinite executions in which from some point on a thread does
//! not commit although it is neither parasitic nor crashing:
//! - `solo-progress`: all others stopped, wherever they were;
//! - `crash-free-solo-progress`: all others stopped, none of them within a transaction;
//! - `local-progress`: every other thread goes on ending transactions, or stopped outside of them, or cannot get out of a command.
//!
//! Not to commit means to abort again and again, to take steps within one command for ever, or to wait for ever at a closed atomic
//! section. The paper counts a process with an unfinished operation as crashing; here that is the memory's fault, whoever's operation
//! it is.
//!
//! **Exactness.** The state graph is finite, so such an execution exists exactly if there is one that ends in a cycle
//! ([`mod@crate::criteria::runs::cycles`]).
//! Where accesses are deferred, each is performed some day. Somebody who takes no steps has nothing deferred from some point on, and issues nothing, so cycles
//! are looked for in which its queue is empty.
//!
//! Of the reductions, `dead-registers` and `timestamps` relate states that can do the same steps for ever, so that cycles of stored
//! states are infinite executions and the other way round; where clocks grow, such an execution never repeats a state, but what it
//! does. `macro-steps` leaves out states between which no other thread can tell a difference. Threads may be stopped anywhere, so where something is deferred they
//! rest before every access, and memory's steps take them no further: the argument is that of [`super::operations`], with events of transactions among what runs on. A
//! thread that is stopped before its `commit` or `abort` is stopped behind it instead if nothing has to be performed first, which changes no memory; whether it counts as stopped within a transaction
//! changes to its favour, and the execution in which it takes that step, and is stopped then, exists. A loop without accesses stays a
//! cycle, and each step has at most one `commit` or `abort`, which is kept with it. Where a thread takes a name that nobody holds
//! ([`Names`]), it takes the smallest, and the names in stored states are renumbered: a program does nothing with names that a
//! renaming would change, and what belongs to names that nobody holds is never read. Symmetries are not used: a cycle of classes of
//! states may exchange the threads. Neither are `lazy-choices` and `repeated-stores`, which are made for safety.
//!
//! **Out of order.** Under a program's own order ([`crate::semantics::declared`]) a thread performs the accesses of a region in any order that axiom 9 allows, a region is a call, and
//! regions have no jumps back: so who takes steps for ever leaves one region after the other, and has performed everything in those. An infinite execution is one all of
//! whose beginnings are beginnings of executions. A beginning is one if the regions that are under way can be completed up to a moment at which nothing is ahead of the text
//! ([`Graph::is_possible`]); as a node from which such a node is reached makes its predecessors like that, all nodes of a component are, or none. A thread may be stopped between any two
//! accesses: what it has performed ahead of the text stays, and the rest is never executed. A thread is *blocked* if of all that it has to execute in any case nothing can be performed but
//! sections that are closed; what it could perform on trust only it need not.
//! Out of order `settled-prefixes` relates states that can do the same for ever. `lazy-choices` moves a choice within a region, which changes no access. `stubborn-sets` and
//! `in-order-first`, which are made for what happens up to an end, are not used. What was read ahead of the text is renumbered with timestamps and names, for a name
//! that was read is held; sums are looked at wherever they are computed anew.

mod names;
mod roles;

use cyrano_engine::{
    Answer, Cause, Fate, Inexact, Lasso, Limits, Query, Refusal, Stats, Stop, Verdict, Violation, Watch,
    client_choices, limit_reason,
};
use cyrano_ir::dataflow::Names;
use cyrano_ir::{InstrId, Progress, Property, ThreadId};

use crate::criteria::operations;
use crate::criteria::runs::cycles::Cycle;
use crate::criteria::runs::graph::{Graph, MOST_THREADS};
use crate::criteria::runs::walk;
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;
use crate::{Explore, larger, witness};
use roles::{Role, Roles};

/// Answers questions about progress, all by one graph: which states and steps there are depends on none of them.
pub(crate) fn ask(
    config: &Explore,
    query: Query<'_>,
    wanted: &[Progress],
    limits: &Limits,
    watch: &dyn Watch,
) -> Vec<Answer> {
    let (program, model) = (query.program(), query.model());
    let Some(first) = wanted.first() else { return Vec::new() };
    let property = Property::Progress(*first);
    let all = |answer: Answer| vec![answer; wanted.len()];
    if program.thread_ids().any(|thread| client_choices(program, thread).is_empty()) {
        let nothing = Cause::Nothing("only clients that go on for ever make progress in this sense");
        return all(answer(Verdict::Vacuous, Some(nothing), Vec::new(), Stats::default()));
    }
    let names = match supports(&query) {
        Ok(names) => names,
        Err(why) => return all(answer(Verdict::Unknown, Some(Cause::Refused(why)), Vec::new(), Stats::default())),
    };
    let config = &Explore { dead_loads: false, sorted_stores: false, ..config.clone() };
    let mut gap = (config.timestamps && program.has_timestamps()).then_some(1);
    loop {
        let mut machine = Machine::new(program, model, config, Some(&property), limits.deferred, gap);
        machine.names = Some(&names);
        let graph = Graph::build(&machine, &property, &before_cycles(limits), watch);
        if graph.notes.gap_too_small {
            gap = larger(gap);
            continue;
        }
        return wanted.iter().map(|progress| judge(&machine, &graph, *progress, limits)).collect();
    }
}

/// The limits of the graph: some time is left for cycles in what there is of it.
fn before_cycles(limits: &Limits) -> Limits {
    let now = std::time::Instant::now();
    let most = |deadline: std::time::Instant| now + deadline.saturating_duration_since(now).mul_f64(0.75);
    Limits { deadline: limits.deadline.map(most), ..limits.clone() }
}

/// The names of a program whose progress can be decided under the model.
pub(crate) fn supports(query: &Query<'_>) -> Result<Names, Refusal> {
    let (program, model) = (query.program(), query.model());
    let names = Names::new(program).ok_or(Refusal::Inexact(Inexact::MixedNames))?;
    crate::supports::supports(query)?;
    if model.reordering().serial {
        return Err(Refusal::Inexact(Inexact::EndlessRuns { model: model.name.clone() }));
    }
    if program.threads.len() > MOST_THREADS {
        return Err(Refusal::TooLarge(format!("progress is decided for up to {MOST_THREADS} threads")));
    }
    Ok(names)
}

fn answer(verdict: Verdict, reason: Option<Cause>, reductions: Vec<&'static str>, stats: Stats) -> Answer {
    Answer { reductions, stats, ..Answer::new(verdict, reason) }
}

fn judge(machine: &Machine<'_>, graph: &Graph, progress: Progress, limits: &Limits) -> Answer {
    let started = std::time::Instant::now();
    let mut found = answer(Verdict::Verified, None, machine.config.reductions(machine, Notes::default()), graph.stats);
    if let Some((path, hit)) = &graph.wrong {
        let (execution, violation) = witness::execution(machine, hit, path);
        return Answer { verdict: Verdict::Violated, violation, execution: Some(execution), ..found };
    }
    // What is there of a graph that is not complete has only cycles that there are.
    let limits = match graph.stop {
        Some(_) => &Limits { memory: u64::MAX, looks: None, ..limits.clone() },
        None => limits,
    };
    match lasso(machine, graph, progress, limits) {
        Err(stop) => {
            found.verdict = Verdict::Unknown;
            found.reason = Some(stop.into());
        }
        Ok(Some((thread, fate, cycle))) => {
            let (execution, stem, round) = walk::execution(machine, graph, &cycle);
            let lasso = Lasso { thread: ThreadId::new(thread), fate, stem, round, rounds: walk::ROUNDS };
            found.verdict = Verdict::Violated;
            found.violation = Some(Violation::Lasso(lasso));
            found.execution = Some(execution);
        }
        Ok(None) if graph.stop.is_some() || graph.notes.out_of_names => {
            found.verdict = Verdict::Unknown;
            found.reason = graph.stop.map_or(Some(Cause::OutOfNames), |stop| Some(stop.into()));
        }
        Ok(None) if graph.notes.bounded => {
            found.verdict = Verdict::Bounded;
            found.reason = Some(Cause::Deferred(limits.deferred));
        }
        Ok(None) if operations::waits_by_assumption(graph) => {
            found.verdict = Verdict::Bounded;
            found.reason = Some(Cause::Assumed);
        }
        Ok(None) if graph.notes.limited.is_some() => {
            found.verdict = Verdict::Bounded;
            let reason = |(thread, pc)| limit_reason(machine.program, ThreadId::new(thread), InstrId(pc));
            found.reason = graph.notes.limited.map(reason);
        }
        Ok(None) if !graph.commits => {
            found.verdict = Verdict::Vacuous;
            found.reason = Some(Cause::Nothing("no transaction ever commits"));
        }
        Ok(None) => {}
    }
    found.stats.seconds += started.elapsed().as_secs_f64();
    found
}

/// A violation, if there is one: the thread, what happens to it, and how.
fn lasso(
    m: &Machine<'_>,
    graph: &Graph,
    progress: Progress,
    limits: &Limits,
) -> Result<Option<(usize, Fate, Cycle)>, Stop> {
    let blocked = (0..graph.len() as u32).any(|node| graph.facts(node).stalled != 0);
    for fate in Fate::OF_TRANSACTIONS.into_iter().filter(|fate| blocked || *fate != Fate::Blocked) {
        for thread in 0..m.threads.len() {
            for want in wants(m.threads.len(), thread, fate, progress, blocked) {
                if let Some(stop) = limits.exceeded(graph.size()) {
                    return Err(stop);
                }
                if let Some(cycle) = want.cycle(graph) {
                    return Ok(Some((thread, fate, cycle)));
                }
            }
        }
    }
    Ok(None)
}

/// The kinds of cycles in which this happens to a thread. Those in which most of the others get done come first.
fn wants(threads: usize, thread: usize, fate: Fate, progress: Progress, blocked: bool) -> Vec<Roles> {
    let others: &[Role] = match progress {
        Progress::Solo => &[Role::Still],
        Progress::CrashFreeSolo => &[Role::Idle],
        Progress::Local if blocked => &[Role::Ends, Role::Idle, Role::Waits, Role::Blocked],
        Progress::Local => &[Role::Ends, Role::Idle, Role::Waits],
    };
    let own = match fate {
        Fate::Aborts => Role::Aborts,
        Fate::Waits | Fate::Spins => Role::Waits,
        Fate::Blocked => Role::Blocked,
    };
    let mut all: Vec<Vec<Role>> = vec![Vec::new()];
    for at in 0..threads {
        let here = if at == thread { &[own][..] } else { others };
        let longer = |given: &Vec<Role>, role: &Role| [&given[..], &[*role]].concat();
        all = all.iter().flat_map(|given| here.iter().map(move |role| longer(given, role))).collect();
    }
    all.sort_by_key(|roles| roles.iter().filter(|role| **role != Role::Ends).count());
    all.iter().map(|roles| Roles::new(roles)).collect()
}

//! The explicit-state engine: an operational semantics that agrees with the axioms of `cyrano_memory`.
//!
//! Each thread keeps its deferred accesses in program order ([`mod@semantics`]); any ready one may be performed at any
//! time; forwarded values can be used at once, by branches too; at the end the queue is drained. States are
//! visited breadth-first ([`mod@search`]) and stored exactly ([`mod@store`]), as bytes or as tuples of numbers with remembered steps
//! ([`mod@encoding`]). What is asked about them is in [`mod@criteria`], what makes them fewer in [`mod@reductions`].
//!
//! **Exactness.** For models in which nothing overtakes a load (`sc`, `tso`, `pso`, `serial` and others like them) the engine is
//! exact on every program. Where loads wait (`rmo`), it is exact when addresses do not depend on loaded values, and refuses
//! the rest ([`mod@supports`]). A thread with a loop may defer a limited number of accesses; if that limit is ever
//! reached the verdict is `bounded`.
//!
//! This crate does no IO and knows no other engine.

mod criteria;
mod encoding;
mod faults;
mod reductions;
mod search;
mod semantics;
pub mod store;
mod supports;

pub use encoding::foreign::Foreign;
pub use encoding::packing::{Packing, SharedNumbers};
pub use encoding::remembering::taught::{
    Field, FormLesson, Lesson, Outcome, Pupil, Renamings, Speaks, Steps, Teacher, Untold,
};
pub use encoding::taught::{Taught, Unteachable};
pub use faults::Fault;
pub use search::configurations::Unwritten;
pub use search::deadlocks::Deadlocks;
pub use search::members;
pub use search::rounds;
pub use search::space::{Space, Summary, Walker, Wrong};
pub use semantics::stepping::{NextStep, Position, Standing, Stepping};

use cyrano_engine::{
    Answer, BlockProof, Cause, Engine, Inexact, Limits, Query, Refusal, Verdict, Violation, Watch, limit_reason,
};
use cyrano_ir::{InstrId, Interchangeable, Progress, Property, Quantifier, ThreadId};

use criteria::{progress, structure, termination};
use reductions::{data, in_order, movers, timestamps};
use search::{Found, witness};
use semantics::machine::Machine;
use semantics::step::Notes;

/// The engine, with its reductions. Each can be switched off; verdicts and outcomes stay the same.
#[derive(Clone, Debug)]
pub struct Explore {
    /// Registers that are not read again are forgotten.
    pub dead_registers: bool,
    /// Threads run on to their next shared access in one step.
    pub macro_steps: bool,
    /// Timestamps are renumbered.
    pub timestamps: bool,
    /// States that differ by a renaming of equal threads are one (criteria for transactions).
    pub thread_symmetry: bool,
    /// States that differ by a renaming of transactional variables that are treated alike are one (criteria for transactions).
    pub variable_symmetry: bool,
    /// A choice is made only when the thread's next access is performed (criteria for transactions, and out of order).
    pub lazy_choices: bool,
    /// Stores that a client can repeat for ever are limited (criteria for transactions).
    pub repeated_stores: bool,
    /// Transactional data that decides nothing holds one value (criteria for transactions).
    pub collapsed_data: bool,
    /// Deferred loads whose value nobody will look at are performed at once.
    pub dead_loads: bool,
    /// Histories with values that no continuation can tell apart are one (criteria for transactions).
    pub merged_histories: bool,
    /// Of clients that differ by a renaming of threads, locations or values one is looked at (criteria for transactions, with values).
    pub client_symmetry: bool,
    /// Client programs are told apart, and all wrong ones are listed (criteria for transactions, with values).
    pub client_programs: bool,
    /// Neighbouring deferred stores are sorted where the model does not keep their order.
    pub sorted_stores: bool,
    /// Where movers prove all atomic blocks, the shadow is left out, and those that they prove run as one step (commit-atomicity).
    pub movers: bool,
    /// Where the next steps of a thread concern nobody else, only these are taken (with remembered steps).
    pub ample_sets: bool,
    /// Steps are remembered by what they depend on. Not a reduction: states and transitions are the same.
    pub remembered_steps: bool,
    /// Out of order, executions in the order of the text come first.
    pub in_order_first: bool,
    /// Out of order, a thread leaves behind what is decided up to the first access that is open.
    pub settled_prefixes: bool,
    /// Out of order, accesses that can be exchanged with all others are not tried in every order.
    pub stubborn_sets: bool,
    /// States of at least this many bytes are compressed.
    pub compressed_from: usize,
    /// Of states only 64-bit fingerprints are kept, which may be equal by accident; verdicts say so.
    pub fingerprints: bool,
    /// States keep what a certificate needs: deferred accesses their instructions, and events of transactions are steps of their own.
    pub certifies: bool,
    /// What to make of deadlocks.
    pub deadlocks: Deadlocks,
    /// A deliberate bug, for tests; without the feature `faults` it has no effect.
    pub fault: Option<Fault>,
}

impl Default for Explore {
    fn default() -> Self {
        Self {
            dead_registers: true,
            macro_steps: true,
            timestamps: true,
            thread_symmetry: true,
            variable_symmetry: true,
            lazy_choices: true,
            repeated_stores: true,
            collapsed_data: true,
            dead_loads: true,
            sorted_stores: true,
            merged_histories: true,
            client_symmetry: true,
            client_programs: false,
            movers: true,
            ample_sets: true,
            remembered_steps: true,
            in_order_first: true,
            settled_prefixes: true,
            stubborn_sets: true,
            compressed_from: 32,
            fingerprints: false,
            certifies: false,
            deadlocks: Deadlocks::Wrong,
            fault: None,
        }
    }
}

impl Explore {
    #[inline]
    pub(crate) fn has_fault(&self, fault: Fault) -> bool {
        cfg!(feature = "faults") && self.fault == Some(fault)
    }

    fn reductions(&self, machine: &Machine<'_>, notes: Notes) -> Vec<&'static str> {
        let renames = machine.values.as_ref().is_some_and(|values| values.renames != Interchangeable::default());
        used([
            ("dead-registers", self.dead_registers),
            ("macro-steps", self.macro_steps),
            ("timestamps", self.timestamps && machine.program.has_timestamps()),
            ("thread-symmetry", machine.symmetry.is_some() || !machine.symmetric_threads.is_empty()),
            ("variable-symmetry", !machine.variable_symmetry.is_empty()),
            ("lazy-choices", machine.lazy_choices || self.lazy_choices && machine.own_order.is_some()),
            ("repeated-stores", machine.limits_repeats && notes.repeats),
            ("dead-loads", self.dead_loads && machine.loads_wait && machine.shadows.is_none()),
            ("sorted-stores", machine.sorts),
            ("client-symmetry", renames),
            ("merged-histories", self.merged_histories && machine.values.is_some()),
            ("settled-prefixes", self.settled_prefixes && machine.own_order.is_some()),
            ("stubborn-sets", notes.stubborn),
            ("movers", !machine.whole.is_empty()),
            ("ample-sets", notes.ample),
        ])
    }
}

/// The names of those that are used.
fn used<const N: usize>(reductions: [(&'static str, bool); N]) -> Vec<&'static str> {
    reductions.into_iter().filter(|(_, used)| *used).map(|(name, _)| name).collect()
}

/// Gaps between timestamps beyond which ranking is given up.
const LARGEST_GAP: i128 = 64;

/// The next larger gap, if it is not too large: then timestamps are not ranked any more.
fn larger(gap: Option<i128>) -> Option<i128> {
    gap.map(|gap| gap * 2).filter(|gap| *gap <= LARGEST_GAP)
}

impl Engine for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal> {
        supports::supports(query)?;
        match query.property() {
            Some(Property::Progress(_)) => progress::supports(query).map(|_| ()),
            Some(Property::Live(_)) => termination::supports(query),
            Some(Property::Structure(structure)) => structure::supports(*structure, query),
            Some(Property::CommitAtomicity) if query.program().has_headers() => {
                Err(Refusal::Inexact(Inexact::FreedInBlocks))
            }
            _ => Ok(()),
        }
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let property = query.property();
        if let Some(Property::Progress(progress)) = property {
            let answers = progress::ask(self, query, &[*progress], limits, watch);
            return answers.into_iter().next().expect("one question, one answer");
        }
        if let Some(Property::Live(liveness)) = property {
            return termination::ask(self, query, *liveness, limits, watch);
        }
        if let Some(Property::Structure(structure)) = property {
            return structure::ask(self, query, *structure, limits, watch);
        }
        if property == Some(&Property::CommitAtomicity) {
            return self.atomicity(query, limits, watch);
        }
        self.with_collapsed_data(query, |query| self.search(query, property, limits, watch))
    }
}

impl Explore {
    /// Answers several questions about progress by one graph, in their order; the query is one of them.
    pub fn ask_progress(
        &self,
        query: Query<'_>,
        wanted: &[Progress],
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Vec<Answer> {
        progress::ask(self, query, wanted, limits, watch)
    }

    /// Commit-atomicity: by movers if they prove all blocks, else by the shadow.
    fn atomicity(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let uncommitted = |thread: &cyrano_ir::Thread| !cyrano_ir::Blocks::without_commit(thread).is_empty();
        if query.program().threads.iter().any(uncommitted) {
            return Answer::new(Verdict::Vacuous, Some(Cause::Nothing(cyrano_engine::vacuity::NO_COMMIT_POINT)));
        }
        let property = Some(&Property::CommitAtomicity);
        let proof = if self.movers { movers::prove(self, query, limits, watch) } else { None };
        let proven = proof.as_ref().map_or_else(|| movers::unproven(query.program()), |proof| proof.blocks.clone());
        let blocks = proven.into_iter().map(|(name, by_movers)| BlockProof { name, by_movers }).collect();
        let Some(proof) = proof else {
            return Answer { blocks, ..self.search(query, property, limits, watch) };
        };
        if proof.is_complete() {
            return Answer {
                blocks,
                reductions: proof.reductions,
                stats: proof.stats,
                ..Answer::new(Verdict::Verified, None)
            };
        }
        let whole = proof.blocks.iter().any(|(_, proven)| *proven);
        let mut answer = self.search_whole(query, property, if whole { &proof.places } else { &[] }, limits, watch);
        if whole && answer.execution.is_some() {
            // There may be a shorter way.
            let shortest = self.search(query, property, limits, watch);
            answer = if shortest.execution.is_some() { shortest } else { answer };
        }
        answer.stats.seconds += proof.stats.seconds;
        Answer { blocks, ..answer }
    }

    /// Searches with data that holds one value, where that is the same.
    pub fn with_collapsed_data(&self, query: Query<'_>, search: impl FnOnce(Query<'_>) -> Answer) -> Answer {
        let data = data::collapse(query.program(), query.model(), query.property());
        let data::Data::Collapsed(program) = data else { return search(query) };
        let Ok(collapsed) = Query::new(&program, query.model(), query.question()) else { return search(query) };
        if !self.collapsed_data {
            return search(query);
        }
        let mut answer = search(collapsed);
        answer.reductions.push("collapsed-data");
        let found = answer.execution.as_ref();
        answer.execution = found.and_then(|found| data::values::with_values(query.program(), found));
        answer
    }

    fn search(&self, query: Query<'_>, property: Option<&Property>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let in_order = self.in_order_first(query, limits, watch);
        in_order.unwrap_or_else(|| self.search_whole(query, property, &[], limits, watch))
    }

    /// Searches once, or again with larger gaps between timestamps. Some atomic blocks may run in one piece; see `whole`.
    fn search_whole(
        &self,
        query: Query<'_>,
        property: Option<&Property>,
        whole: &[Vec<bool>],
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Answer {
        let (program, model) = (query.program(), query.model());
        let ranked = self.timestamps && program.has_timestamps() && !timestamps::observed(program, property);
        let mut gap = ranked.then_some(1);
        if self.has_fault(Fault::CollapseTimestamps) {
            gap = gap.map(|_| i128::MAX);
        }
        loop {
            let mut machine = Machine::new(program, model, self, property, limits.deferred, gap);
            machine.whole = whole.to_vec();
            let found = search::search(&machine, property, limits, watch);
            if found.notes.gap_too_small {
                gap = larger(gap);
                continue;
            }
            // Where all wrong clients are looked for, that they are complete is worth more than a short way.
            let stubborn = found.notes.stubborn && !self.client_programs;
            if (found.notes.ample || stubborn || self.fingerprints) && found.hit().is_some() {
                // With ample sets there may be a shorter way, and fingerprints do not show one at all.
                let all = Self { ample_sets: false, stubborn_sets: false, fingerprints: false, ..self.clone() };
                let limits = if stubborn { &in_order::with_limited_work(limits) } else { limits };
                let answer = all.search_whole(query, property, whole, limits, watch);
                if answer.execution.is_some() {
                    return answer;
                }
                if self.fingerprints {
                    let why = answer.reason.map(Box::new);
                    return Answer::new(Verdict::Unknown, Some(Cause::Unshown { depth: found.stats.depth, why }));
                }
            }
            return self.answer(&machine, property, found, limits);
        }
    }

    fn answer(
        &self,
        machine: &Machine<'_>,
        property: Option<&Property>,
        found: Found<'_, '_>,
        limits: &Limits,
    ) -> Answer {
        let (execution, violation) = found.hit().map(|hit| witness::execution(machine, hit, &found.path)).unzip();
        let mut answer = Answer {
            execution,
            outcomes: found.judge.outcomes.clone(),
            clients: found.judge.clients.clone(),
            reductions: self.reductions(machine, found.notes),
            stats: found.stats,
            ..Answer::new(Verdict::Verified, None)
        };
        let exists = matches!(property, Some(Property::Final { quantifier: Quantifier::Exists, .. }));
        if let Some(hit) = found.hit() {
            answer.violation = violation.unwrap_or_else(|| hit.violation.clone());
            answer.verdict = if hit.violation.is_some() { Verdict::Violated } else { Verdict::Verified };
            // Where all wrong clients are looked for, a hit is not the end.
            answer.reason = found.stop.filter(|_| self.client_programs).map(Cause::from);
        } else if let Some(stop) = found.stop {
            answer.verdict = Verdict::Unknown;
            answer.reason = Some(found.growing.map_or(Cause::Stopped(stop), |(loc, value)| {
                let location = machine.program.location(loc).name.clone();
                Cause::Growing { stop, location, value }
            }));
        } else if found.notes.bounded {
            answer.verdict = Verdict::Bounded;
            let (cause, places) = data::endless(machine, property, limits.deferred);
            answer.places = places;
            answer.reason = Some(cause);
        } else if found.notes.crowded {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some(Cause::Crowded);
        } else if let Some((thread, pc)) = found.notes.limited {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some(limit_reason(machine.program, ThreadId::new(thread), InstrId(pc)));
        } else if let Some((verdict, reason)) = self.unexercised(machine, property, &found, limits) {
            answer.verdict = verdict;
            answer.reason = Some(reason);
        } else if self.fingerprints {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some(Cause::Fingerprints { states: found.stats.states });
        } else if exists {
            answer.verdict = Verdict::Violated;
            answer.violation = Some(Violation::NoWitness);
        }
        if matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous) && answer.execution.is_none() {
            answer.unreached = found.reached.and_then(|reached| machine.unreached(reached));
        }
        answer
    }
}

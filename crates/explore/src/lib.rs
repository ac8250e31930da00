//! The explicit-state engine: an operational semantics that agrees with the axioms of `cyrano_memory`.
//!
//! Each thread keeps its deferred accesses in program order ([`mod@state`], [`mod@queue`]); any ready one may be performed at any
//! time ([`mod@step`]); forwarded values can be used at once, by branches too; at the end the queue is drained. States are
//! visited breadth-first ([`mod@search`]) and stored exactly ([`mod@store`]), as bytes ([`mod@plain`]) or, where steps depend on little, as
//! tuples of numbers with remembered steps ([`mod@parts`]).
//!
//! **Exactness.** For models in which nothing overtakes a load (`sc`, `tso`, `pso`, `serial` and others like them) the engine is
//! exact on every program. Where loads wait (`rmo`), it is exact when addresses do not depend on loaded values, and refuses
//! the rest ([`mod@supports`]). A thread with a loop may defer a limited number of accesses; if that limit is ever
//! reached the verdict is `bounded`.
//!
//! This crate does no IO and knows no other engine.

mod alike;
mod codec;
mod events;
mod faults;
mod judge;
mod local;
mod machine;
mod memo;
mod movers;
mod own;
mod parts;
mod plain;
mod progress;
mod queue;
mod repeats;
mod search;
mod section;
mod serial;
mod settle;
mod setup;
mod shadow;
mod space;
mod state;
mod step;
mod stepping;
pub mod store;
mod supports;
mod symmetry;
mod tidy;
mod timestamps;
mod values;
mod variables;
mod walk;
mod witness;

pub use faults::Fault;
pub use space::{Space, Summary, Walker, Wrong};
pub use stepping::{NextStep, Place, Standing, Stepping};
pub use walk::foreign::Foreign;
pub use walk::packing::{Packing, SharedNumbers};

use cyrano_engine::{
    Answer, BlockProof, Engine, Limits, Query, Question, Refusal, Verdict, Violation, Watch, limit_reason,
};
use cyrano_ir::{InstrId, Interchangeable, Program, Property, Quantifier, ThreadId};
use cyrano_memory::Model;

use machine::Machine;
use search::Found;
use step::Notes;

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
    /// A choice is made only when the thread's next access is performed (criteria for transactions).
    pub lazy_choices: bool,
    /// Stores that a client can repeat for ever are limited (criteria for transactions).
    pub repeated_stores: bool,
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
    /// Where movers prove all atomic blocks, the shadow is left out (commit-atomicity).
    pub movers: bool,
    /// Where the next steps of a thread concern nobody else, only these are taken (with remembered steps).
    pub ample_sets: bool,
    /// Steps are remembered by what they depend on. Not a reduction: states and transitions are the same.
    pub remembered_steps: bool,
    /// States of at least this many bytes are compressed.
    pub compressed_from: usize,
    /// Of states only 64-bit fingerprints are kept, which may be equal by accident; verdicts say so.
    pub fingerprints: bool,
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
            dead_loads: true,
            sorted_stores: true,
            merged_histories: true,
            client_symmetry: true,
            client_programs: false,
            movers: true,
            ample_sets: true,
            remembered_steps: true,
            compressed_from: 32,
            fingerprints: false,
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
        let mut names = Vec::new();
        if self.dead_registers {
            names.push("dead-registers");
        }
        if self.macro_steps {
            names.push("macro-steps");
        }
        if self.timestamps && machine.program.has_timestamps() {
            names.push("timestamps");
        }
        if machine.symmetry.is_some() || !machine.alike.is_empty() {
            names.push("thread-symmetry");
        }
        if !machine.variable_symmetry.is_empty() {
            names.push("variable-symmetry");
        }
        if machine.lazy_choices {
            names.push("lazy-choices");
        }
        if machine.limits_repeats {
            names.push("repeated-stores");
        }
        if self.dead_loads && machine.loads_wait && machine.shadows.is_none() {
            names.push("dead-loads");
        }
        if machine.sorts {
            names.push("sorted-stores");
        }
        if machine.values.as_ref().is_some_and(|values| values.renames != Interchangeable::default()) {
            names.push("client-symmetry");
        }
        if self.merged_histories && machine.values.is_some() {
            names.push("merged-histories");
        }
        if notes.ample {
            names.push("ample-sets");
        }
        names
    }
}

/// Gaps between timestamps beyond which ranking is given up.
const LARGEST_GAP: i128 = 64;

impl Engine for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn supports(&self, program: &Program, model: &Model) -> Result<(), Refusal> {
        supports::supports(program, model)
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let property = match query.question {
            Question::Holds(property) => Some(property),
            Question::Outcomes => None,
        };
        if let Some(Property::Progress(progress)) = property {
            return progress::ask(self, query, *progress, limits, watch);
        }
        if property == Some(&Property::CommitAtomicity) {
            return self.atomicity(query, limits, watch);
        }
        self.search(query, property, limits, watch)
    }
}

impl Explore {
    /// Commit-atomicity: by movers if they prove all blocks, else by the shadow.
    fn atomicity(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let uncommitted = |thread: &cyrano_ir::Thread| !cyrano_ir::Blocks::without_commit(thread).is_empty();
        if query.program.threads.iter().any(uncommitted) {
            return Answer::new(Verdict::Vacuous, Some("an atomic block has no commit point".into()));
        }
        if !query.program.has_blocks() {
            return Answer::new(Verdict::Vacuous, Some("the program has no atomic block".into()));
        }
        let proof = if self.movers { movers::prove(self, query, limits, watch) } else { None };
        let proven = proof.as_ref().map_or_else(|| movers::unproven(query.program), |proof| proof.blocks.clone());
        let blocks = proven.into_iter().map(|(name, by_movers)| BlockProof { name, by_movers }).collect();
        match proof {
            Some(proof) if proof.is_complete() => Answer {
                blocks,
                reductions: vec!["dead-registers", "macro-steps", "movers"],
                stats: proof.stats,
                ..Answer::new(Verdict::Verified, None)
            },
            _ => Answer { blocks, ..self.search(query, Some(&Property::CommitAtomicity), limits, watch) },
        }
    }

    /// Searches once, or again with larger gaps between timestamps.
    fn search(&self, query: Query<'_>, property: Option<&Property>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let Query { program, model, .. } = query;
        let ranked = self.timestamps && program.has_timestamps() && !timestamps::observed(program, property);
        let mut gap = ranked.then_some(1);
        if self.has_fault(Fault::CollapseTimestamps) {
            gap = gap.map(|_| i128::MAX);
        }
        loop {
            let machine = Machine::new(program, model, self, property, limits.deferred, gap);
            let found = parts::search(&machine, property, limits, watch)
                .or_else(|| parts::search_packed(&machine, property, limits, watch))
                .unwrap_or_else(|| plain::search(&machine, property, limits, watch));
            if found.notes.gap_too_small {
                gap = gap.map(|g| g * 2).filter(|g| *g <= LARGEST_GAP);
                continue;
            }
            if (found.notes.ample || self.fingerprints) && found.hit().is_some() {
                // With ample sets there may be a shorter way, and fingerprints do not show one at all.
                let all = Self { ample_sets: false, fingerprints: false, ..self.clone() };
                let answer = all.search(query, property, limits, watch);
                if answer.execution.is_some() {
                    return answer;
                }
                if self.fingerprints {
                    return Answer { reason: Some(unshown(&found, &answer)), ..Answer::new(Verdict::Unknown, None) };
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
            answer.reason = found.stop.filter(|_| self.client_programs).map(|stop| stop.reason().to_owned());
        } else if let Some(stop) = found.stop {
            answer.verdict = Verdict::Unknown;
            let growing = found.growing.map(|(loc, value)| {
                let name = &machine.program.location(loc).name;
                format!("; the values of {name} may have no end ({value} so far)")
            });
            answer.reason = Some(format!("{}{}", stop.reason(), growing.unwrap_or_default()));
        } else if found.notes.bounded {
            answer.verdict = Verdict::Bounded;
            let bound = limits.deferred;
            answer.reason =
                Some(format!("executions in which a thread defers more than {bound} accesses were left out"));
        } else if found.notes.crowded {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some("executions with too many aborted transactions that matter were left out".to_owned());
        } else if let Some((thread, pc)) = found.notes.limited {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some(limit_reason(machine.program, ThreadId::new(thread), InstrId(pc)));
        } else if let Some(reason) = vacuous(machine.program, property, &found) {
            answer.verdict = Verdict::Vacuous;
            answer.reason = Some(reason.into());
        } else if self.fingerprints {
            answer.verdict = Verdict::Bounded;
            answer.reason = Some(omission(found.stats.states));
        } else if exists {
            answer.verdict = Verdict::Violated;
            answer.violation = Some(Violation::NoWitness);
        }
        answer
    }
}

/// How sure a verdict by fingerprints is: two of n random 64-bit numbers are equal with a probability of at most n (n - 1) / 2^65.
fn omission(states: u64) -> String {
    let pairs = states as f64 * (states as f64 - 1.0) / 2.0;
    let probability = (pairs / 2f64.powi(64)).min(1.0);
    format!(
        "nothing wrong was found, but states were told apart by 64-bit fingerprints; the probability that one was left out is at most \
         {probability:.1e}"
    )
}

/// Why a violation that was found by fingerprints is not shown.
fn unshown(found: &Found<'_, '_>, exact: &Answer) -> String {
    let depth = found.stats.depth;
    let why = exact.reason.clone().unwrap_or_else(|| "it could not be repeated".to_owned());
    format!(
        "fingerprints found something wrong after {depth} steps, but the exact search that has to show it did not: {why}"
    )
}

/// Why a search without a hit shows nothing, if it does not.
fn vacuous(program: &Program, property: Option<&Property>, found: &Found<'_, '_>) -> Option<&'static str> {
    match property {
        Some(Property::Assertions) => {
            let exercised = found.notes.asserted || judge::can_wait(program);
            (!exercised).then_some("no execution reaches an assertion, and no thread can wait")
        }
        Some(Property::Transactions(_) | Property::Progress(_)) => {
            (!found.notes.committed).then_some("no transaction ever commits")
        }
        Some(Property::CommitAtomicity) => (!found.notes.committed).then_some("no atomic block ever commits"),
        Some(Property::Final { .. } | Property::Observations(_)) => {
            (!found.judge.ended).then_some("no execution runs to its end")
        }
        None => None,
    }
}

//! The symbolic engine: bounded executions as a formula, solved by a SAT solver (CheckFence, section 3).
//!
//! The way of a query:
//!
//! - `loops` finds the loops of each thread, `walk`, `units` and `perform` follow the unrolled code symbolically (`eval`, `arith` over `value`s of bits; `gates`
//!   shares what is computed twice), once without clauses until `range`s settle and once for real; iterations that change nothing are `idle`;
//! - `order` (with `fence` for axiom 2) turns axioms 1, 2, 3, 5 and 6 of `cyrano_memory` into a `graph` that has to be acyclic, `values` turns axioms 4 and 7 into
//!   clauses and edges, `encode` adds the question; `symmetry` orders threads that do the same (`swap` says which are, `rename` compares their text);
//! - under models about relations `relational` does that instead: events, bounds and literals of a cat model's expressions, axioms; `laps` says where threads may spin;
//! - `solver` looks for models, with the theory `acyclic` or the clauses of `cubic`; `ask` raises the bounds of loops while some execution
//!   exceeds them; `decode` turns a model into an execution by running the program again; `histories` judges what threads call and hear;
//! - a `session` asks about one program with different fences, which are `optional` in its formula.
//!
//! **Deadlocks** are looked for exactly: a section that a thread may wait before is run symbolically on final memory, and if every thread has
//! ended or waits in vain, that is a deadlock. Where such a section contains a choice, or a loop that goes beyond its bound, or where
//! the setup thread can wait for ever, the verdict is `bounded` and says so. An atomic section that never ends makes the verdict `bounded`
//! like any loop; it is not reported as a divergence.
//!
//! **Invariant:** `verified` means that bounds are proven sufficient; every execution in an answer can be replayed by the reference
//! interpreter.
//!
//! This crate knows neither the other engines nor any front end, and does no IO.

mod execute;
mod formula;
mod related;
mod solve;
use cyrano_engine::{Answer, Cause, Engine, Inexact, Limits, Query, Refusal, Subject, Verdict, Watch};
use cyrano_ir::{AccessKind, Liveness, Op, Property, TxCriterion};
use rustc_hash::FxHashMap;

pub use solve::export::{Export, Form, LoopBound, Place};
pub use solve::refute::{Refutation, refute};
pub use solve::session::{Reply, Session};
pub use solve::solver::OrderEncoding;

/// The symbolic engine and its switches.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// Whether ranges of values narrow words and addresses; without, every loaded value has 128 bits and may be any pointer.
    pub ranges: bool,
    /// Whether a thread stops after an iteration that changes nothing instead of trying again.
    pub idle_iterations: bool,
    /// Whether of executions that differ in the names of threads alone one is looked for.
    pub thread_symmetry: bool,
    /// Whether a history that is accepted stands for those that it covers.
    pub covered_histories: bool,
    /// Whether questions about one program with different fences are put to one solver, where somebody has such ([`Session`]).
    pub sessions: bool,
    /// How cycles are kept out of the memory order.
    pub order: OrderEncoding,
    /// How often a loop may be repeated at most before the verdict is `bounded`.
    pub iterations: usize,
    /// Whether every lemma of the theory is checked again (for tests).
    pub check_lemmas: bool,
}

impl Default for Symbolic {
    fn default() -> Self {
        Self {
            ranges: true,
            idle_iterations: true,
            thread_symmetry: true,
            covered_histories: true,
            sessions: true,
            order: OrderEncoding::Theory,
            iterations: 16,
            check_lemmas: false,
        }
    }
}

/// What a run of the symbolic engine cost. Sizes are those of the last round.
#[derive(Clone, Copy, Debug, Default)]
pub struct SymbolicStats {
    /// Propositional variables.
    pub variables: u64,
    /// Clauses.
    pub clauses: u64,
    /// Literals in clauses.
    pub literals: u64,
    /// Instructions of the unrolled program.
    pub instructions: u64,
    /// Accesses of the unrolled program.
    pub accesses: u64,
    /// Those that read.
    pub loads: u64,
    /// Those that write.
    pub stores: u64,
    /// Pairs of accesses whose order is a variable.
    pub order_pairs: u64,
    /// Edges of the graph that has to be acyclic.
    pub edges: u64,
    /// Pairs of threads that do the same and were put in order.
    pub ordered_threads: u64,
    /// Rounds of unrolling.
    pub rounds: u64,
    /// Conflicts of the solver, all rounds together.
    pub conflicts: u64,
    /// Decisions.
    pub decisions: u64,
    /// Propagations.
    pub propagations: u64,
    /// Lemmas that the theory gave.
    pub lemmas: u64,
    /// Those of them that were checked again and are not cycles: always 0.
    pub wrong_lemmas: u64,
    /// Time for encoding.
    pub encode_seconds: f64,
    /// Time for solving.
    pub solve_seconds: f64,
    /// Time altogether.
    pub seconds: f64,
    /// An estimate of the bytes used at most.
    pub bytes: u64,
}

impl Symbolic {
    /// Answers a query and tells what it cost.
    pub fn ask_with_stats(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> (Answer, SymbolicStats) {
        if let Err(why) = self.supports(&query) {
            let answer = Answer::new(Verdict::Unknown, Some(Cause::Refused(why)));
            return (answer, SymbolicStats::default());
        }
        let mut ask = solve::ask::Ask::new(self, query, limits, watch);
        let answer = ask.answer();
        (answer, ask.stats)
    }

    /// The question as a propositional formula in DIMACS form, every loop repeated at most so often: satisfiable exactly if some
    /// execution within these bounds shows what is asked about. The memory order is encoded by clauses.
    pub fn dimacs(&self, query: Query<'_>, iterations: usize) -> Result<String, Refusal> {
        self.supports(&query)?;
        is_a_formula(&query)?;
        let problem = formula::encode::Problem::new(self, query);
        let encoding = problem.encode(&FxHashMap::default(), iterations);
        let mut formula = encoding.formula;
        formula::cubic::encode(&mut formula, &encoding.graph);
        Ok(formula::cubic::dimacs(&formula, &[encoding.target]))
    }
}

/// Whether a formula says what is asked: histories are judged one by one.
pub(crate) fn is_a_formula(query: &Query<'_>) -> Result<(), Refusal> {
    query.reorders()?;
    match query.property() {
        Some(Property::Transactions(_)) => Err(Refusal::NotJudged(Subject::Histories)),
        _ => Ok(()),
    }
}

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal> {
        let (program, model) = (query.program(), query.model());
        let beyond = match query.property() {
            Some(Property::Transactions(TxCriterion::InOrder(_))) => Some(Subject::Histories),
            Some(Property::Transactions(_)) if !program.has_calls() => Some(Subject::Histories),
            Some(Property::Progress(_)) => Some(Subject::Progress),
            Some(Property::Live(Liveness::Termination)) if model.cat().is_some() => {
                program.threads.iter().any(execute::laps::has_marks).then_some(Subject::EndlessRuns)
            }
            Some(Property::Live(Liveness::Termination | Liveness::Passes(_))) => {
                let in_order = model.cat().is_none() && !model.reordering().serial && !model.reordering().own_order;
                (!in_order || !self.idle_iterations).then_some(Subject::EndlessRuns)
            }
            Some(Property::Live(_)) => Some(Subject::EndlessRuns),
            Some(Property::Structure(_)) => Some(Subject::Languages),
            Some(Property::CommitAtomicity) => Some(Subject::CommitPoints),
            Some(Property::Invariant(_)) => Some(Subject::Moments),
            Some(Property::Races) if model.cat().is_none() || program.setup.is_some() => Some(Subject::Races),
            _ => None,
        };
        if let Some(subject) = beyond {
            return Err(Refusal::NotJudged(subject));
        }
        let mut code = program.threads.iter().flat_map(|thread| &thread.code);
        if code.any(|instr| matches!(instr.op, Op::Transaction(_))) {
            return Err(Refusal::NotJudged(Subject::Transactional));
        }
        if let Some(cat) = model.cat() {
            return related::supports(program, model, cat);
        }
        let sees_itself =
            model.reordering().forwarding || model.reordering().keeps(AccessKind::Store, AccessKind::Load, true);
        if program.setup.is_some() && !sees_itself {
            return Err(Refusal::Inexact(Inexact::BlindSetup));
        }
        Ok(())
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        self.ask_with_stats(query, limits, watch).0
    }
}

//! The solver behind a trait, and its only implementation: batsat with the acyclicity theory or with clauses instead.

use batsat::{Callbacks, SolverInterface, SolverOpts, lbool};
use cyrano_engine::{Limits, Stop};

use crate::formula::cubic;
use crate::formula::gates::Formula;
use crate::formula::graph::Graph;
use crate::formula::lit::Lit;
use crate::solve::acyclic::{Acyclic, Loaded, bat};

/// How cycles are kept out of the memory order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OrderEncoding {
    /// By a theory that the solver asks.
    #[default]
    Theory,
    /// By clauses for all triples; slow, and independent of the theory.
    Cubic,
}

/// What a solver found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// An assignment.
    Model,
    /// There is none.
    Nothing,
    /// It was stopped.
    Stopped(Stop),
}

/// What solving cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SolverStats {
    pub(crate) conflicts: u64,
    pub(crate) decisions: u64,
    pub(crate) propagations: u64,
    pub(crate) lemmas: u64,
    pub(crate) wrong_lemmas: u64,
    pub(crate) bytes: u64,
}

/// A solver that has been given a formula and a graph.
pub(crate) trait Solver {
    /// A new variable that clauses will have with one sign only; nothing is decided about it.
    fn fresh(&mut self) -> Lit;
    /// One more clause.
    fn add(&mut self, clause: &[Lit]);
    /// Looks for an assignment in which all of these hold.
    fn solve(&mut self, assumptions: &[Lit]) -> Found;
    /// The same with at most so many decisions, which are counted down; none if that was not enough.
    fn search(&mut self, assumptions: &[Lit], decisions: &mut u64) -> Option<Found>;
    /// Those assumptions of the last search, which found nothing, without which there may be something.
    fn core(&self, assumptions: &[Lit]) -> Vec<Lit>;
    /// The value in the assignment that was found last.
    fn value(&self, lit: Lit) -> bool;
    /// What it cost.
    fn stats(&self) -> SolverStats;
}

/// Watches over the limits while batsat searches.
struct Budget {
    limits: Limits,
    bytes: u64,
    calls: std::cell::Cell<u64>,
    /// The number of calls after which the search is given up.
    last_call: std::cell::Cell<u64>,
    stopped: std::cell::Cell<Option<Stop>>,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], _: batsat::ClauseKind) {
        self.bytes += 24 + 4 * clause.len() as u64;
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        self.bytes = self.bytes.saturating_sub(24 + 4 * clause.len() as u64);
    }

    fn stop(&self) -> bool {
        // Called for every decision, so that looking at the clock each time would cost more than deciding.
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if calls.is_multiple_of(256) && self.stopped.get().is_none() {
            self.stopped.set(self.limits.exceeded(self.bytes));
        }
        self.stopped.get().is_some() || calls >= self.last_call.get()
    }
}

/// Batsat.
pub(crate) struct Batsat {
    solver: batsat::Solver<Budget>,
    theory: Acyclic,
    vars: u32,
}

impl Batsat {
    /// Loads a formula and a graph. Nothing is decided about passive variables, which are given in ascending order.
    pub(crate) fn load(
        formula: Formula,
        graph: &Graph,
        passive: &[u32],
        encoding: OrderEncoding,
        check: bool,
        limits: &Limits,
    ) -> Self {
        let mut formula = formula;
        let empty = Graph::default();
        let graph = match encoding {
            OrderEncoding::Theory => graph,
            OrderEncoding::Cubic => {
                cubic::encode(&mut formula, graph);
                &empty
            }
        };
        let loaded = Acyclic::load(graph, formula.vars);
        let bytes = 3 * formula.bytes() + 64 * u64::from(formula.vars) + loaded.theory.bytes();
        let (calls, stopped) = Default::default();
        let budget = Budget { limits: limits.clone(), bytes, calls, last_call: u64::MAX.into(), stopped };
        let mut this =
            Self { solver: batsat::Solver::new(SolverOpts::default(), budget), theory: loaded.theory, vars: 0 };
        this.theory.check = check;
        for var in 0..formula.vars {
            this.solver.new_var(lbool::UNDEF, passive.binary_search(&var).is_err());
        }
        this.vars = formula.vars;
        let mut buffer = Vec::new();
        let implied = loaded.clauses.iter().map(Vec::as_slice);
        for clause in formula.clauses().chain(implied) {
            buffer.clear();
            buffer.extend(clause.iter().map(|lit| bat(*lit)));
            this.solver.add_clause_reuse(&mut buffer);
        }
        this
    }

    /// The number of variables.
    pub(crate) fn vars(&self) -> u32 {
        self.vars
    }

    /// Adds clauses over new passive variables, and the edges that the graph has got. Nothing that was there may be missing.
    pub(crate) fn extend(&mut self, formula: &Formula, graph: &Graph) {
        while self.vars < formula.vars {
            self.fresh();
        }
        let Loaded { mut theory, clauses } = Acyclic::load(graph, self.vars);
        (theory.check, theory.lemmas) = (self.theory.check, self.theory.lemmas);
        theory.wrong_lemmas = self.theory.wrong_lemmas;
        let budget = self.solver.cb_mut();
        budget.bytes = (budget.bytes + 3 * formula.bytes() + theory.bytes()).saturating_sub(self.theory.bytes());
        // Between searches the solver is at its lowest level, where the theory has nothing to explain; a new one looks at what holds there again.
        self.theory = theory;
        formula.clauses().chain(clauses.iter().map(Vec::as_slice)).for_each(|clause| self.add(clause));
    }

    /// From now on these limits count.
    pub(crate) fn limit(&mut self, limits: &Limits) {
        self.solver.cb_mut().limits = limits.clone();
    }

    fn find(&mut self, assumptions: &[Lit]) -> Found {
        let budget = self.solver.cb();
        budget.stopped.set(budget.limits.exceeded(budget.bytes));
        if let Some(stop) = budget.stopped.get() {
            return Found::Stopped(stop);
        }
        let assumptions: Vec<batsat::Lit> = assumptions.iter().map(|lit| bat(*lit)).collect();
        let result = self.solver.solve_limited_th(&mut self.theory, &assumptions);
        if result == lbool::TRUE {
            Found::Model
        } else if result == lbool::FALSE {
            Found::Nothing
        } else {
            Found::Stopped(self.solver.cb().stopped.get().unwrap_or(Stop::Timeout))
        }
    }
}

impl Solver for Batsat {
    fn fresh(&mut self) -> Lit {
        self.solver.new_var(lbool::UNDEF, false);
        self.theory.grow();
        self.vars += 1;
        Lit::positive(self.vars - 1)
    }

    fn add(&mut self, clause: &[Lit]) {
        let mut clause = clause.iter().map(|lit| bat(*lit)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Found {
        self.find(assumptions)
    }

    fn search(&mut self, assumptions: &[Lit], decisions: &mut u64) -> Option<Found> {
        let budget = self.solver.cb();
        let before = budget.calls.get();
        budget.last_call.set(before.saturating_add(*decisions));
        let found = self.find(assumptions);
        let budget = self.solver.cb();
        budget.last_call.set(u64::MAX);
        *decisions = decisions.saturating_sub(budget.calls.get() - before);
        let tired = matches!(found, Found::Stopped(_)) && budget.stopped.get().is_none();
        (!tired).then_some(found)
    }

    fn core(&self, assumptions: &[Lit]) -> Vec<Lit> {
        let needed = |lit: &Lit| self.solver.unsat_core_contains_var(bat(*lit).var());
        assumptions.iter().copied().filter(needed).collect()
    }

    fn value(&self, lit: Lit) -> bool {
        self.solver.value_lit(bat(lit)) == lbool::TRUE
    }

    fn stats(&self) -> SolverStats {
        SolverStats {
            conflicts: self.solver.num_conflicts(),
            decisions: self.solver.num_decisions(),
            propagations: self.solver.num_propagations(),
            lemmas: self.theory.lemmas,
            wrong_lemmas: self.theory.wrong_lemmas,
            bytes: self.solver.cb().bytes,
        }
    }
}

//! From a query to an answer: lazy unrolling around an incremental solver (CheckFence, sections 3.2 and 3.3).
//!
//! In each round all loops have bounds. The solver is asked for an execution that shows what is asked about *or* takes a loop beyond its bound. What it
//! shows is noted and not asked for again. When nothing is left and no loop went beyond its bound, the bounds are proven
//! sufficient and the answer is complete. Otherwise the bounds of those loops grow, up to a limit which makes the verdict `bounded`.
//!
//! Once a loop has gone beyond its bound the bounds are known to be too small, and proving that nothing else is there would be in vain. The round goes on
//! for a little while, because small bounds are where bugs are found quickly and other loops may have to grow as well, and makes room for the next.
//! Threads that run the same code usually need the same bounds, so theirs grow together; bounds that are larger than needed do no harm.

mod judge;

use std::collections::BTreeSet;
use std::time::Instant;

use cyrano_engine::{Answer, Counters, Limits, Query, Question, Stats, Stop, Violation, Watch, vacuity};
use cyrano_ir::{FenceSet, Property, Quantifier, TxCriterion};
use rustc_hash::FxHashMap;

use crate::execute::event::LoopKey;
use crate::formula::encode::{Encoding, Problem};
use crate::formula::gates::Formula;
use crate::formula::lit::Lit;
use crate::solve::decode::{Decoded, decode};
use crate::solve::histories::{self, Histories};
use crate::solve::lasso::lasso;
use crate::solve::relations::race;
use crate::solve::session::Chosen;
use crate::solve::solver::{Batsat, Found, OrderEncoding, Solver, SolverStats};
use crate::{Symbolic, SymbolicStats};

/// The bound that every loop starts with.
pub(crate) const FIRST: usize = 1;

/// How often a loop is repeated at most where it is asked who spins.
const ROUNDS: usize = 4;

/// How many decisions a round goes on for when its bounds are known to be too small.
const PATIENCE: u64 = 20_000;

/// Why there is no complete answer.
enum Cut {
    /// These loops go on beyond the limit.
    Loops(BTreeSet<LoopKey>),
    /// A limit of the engine was reached.
    Stopped(Stop),
    /// A model of the formula could not be read.
    Internal,
}

/// What has been found out.
#[derive(Default)]
struct Findings {
    outcomes: BTreeSet<Vec<i128>>,
    /// The execution that decides the question.
    decision: Option<Decision>,
}

/// An execution that settles the question.
struct Decision {
    decoded: Decoded,
    violation: Option<Violation>,
    undefined: bool,
}

/// One query being answered.
pub(crate) struct Ask<'a> {
    engine: &'a Symbolic,
    pub(crate) query: Query<'a>,
    limits: &'a Limits,
    watch: &'a dyn Watch,
    pub(crate) problem: Problem<'a>,
    pub(crate) bounds: FxHashMap<LoopKey, usize>,
    given_up: BTreeSet<LoopKey>,
    pub(crate) stats: SymbolicStats,
    /// The fences that are asked about, if the program has optional ones.
    pub(crate) chosen: Option<Chosen<'a>>,
    /// The solver of the last round, or of the last question.
    pub(crate) last: Option<Last>,
    /// The selectors of those fences that the answer rests on.
    needed: Vec<Lit>,
    /// What transactions did in the histories of the last round.
    did: vacuity::Did,
}

/// A solver with what it was loaded with.
pub(crate) struct Last {
    pub(crate) encoding: Encoding,
    pub(crate) solver: Batsat,
    /// Variables, clauses and literals.
    size: [u64; 3],
    /// What has been added to the statistics.
    noted: SolverStats,
}

impl<'a> Ask<'a> {
    /// Prepares a query.
    pub(crate) fn new(engine: &'a Symbolic, query: Query<'a>, limits: &'a Limits, watch: &'a dyn Watch) -> Self {
        let problem = Problem::new(engine, query).within(limits);
        let (bounds, given_up) = (FxHashMap::default(), BTreeSet::new());
        let stats = SymbolicStats::default();
        let (chosen, last, needed) = (None, None, Vec::new());
        let did = vacuity::Did::default();
        Self { engine, query, limits, watch, problem, bounds, given_up, stats, chosen, last, needed, did }
    }

    /// Answers it.
    pub(crate) fn answer(&mut self) -> Answer {
        let started = Instant::now();
        let mut findings = Findings::default();
        let searched = self.search(&mut findings);
        let mut answer = self.judge(findings, searched);
        self.stats.seconds = started.elapsed().as_secs_f64();
        answer.stats = Stats {
            states: self.stats.variables,
            transitions: self.stats.clauses,
            depth: self.stats.accesses,
            seconds: self.stats.seconds,
            peak_bytes: self.stats.bytes,
            ..Stats::default()
        };
        if self.engine.ranges {
            answer.reductions.push("ranges");
        }
        if self.problem.idles {
            answer.reductions.push("idle-iterations");
        }
        if self.engine.covered_histories && self.criterion().is_some() {
            answer.reductions.push("covered-histories");
        }
        if self.stats.ordered_threads > 0 {
            answer.reductions.push("thread-symmetry");
        }
        answer
    }

    fn search(&mut self, findings: &mut Findings) -> Result<(), Cut> {
        loop {
            if let Some(stop) = self.limits.exceeded(self.stats.bytes) {
                return Err(Cut::Stopped(stop));
            }
            let mut last = match self.last.take() {
                Some(last) => self.extend(last),
                None => self.load(),
            };
            // A formula that was not finished says nothing.
            if self.limits.is_over() {
                return Err(Cut::Stopped(self.limits.exceeded(self.stats.bytes).unwrap_or(Stop::Cancelled)));
            }
            last.solver.limit(self.limits);
            self.measure(&last);
            let beyond = self.round(&mut last, findings);
            self.note(&mut last);
            self.last = Some(last);
            let beyond = beyond?;
            if findings.decision.is_some() || beyond.is_empty() {
                return Ok(());
            }
            self.raise(&beyond);
            // Larger bounds are another formula, for which memory is needed.
            self.last = None;
        }
    }

    fn load(&mut self) -> Last {
        let started = Instant::now();
        let mut encoding = self.problem.encode(&self.bounds, FIRST.min(self.engine.iterations));
        self.stats.rounds += 1;
        self.select(&mut encoding);
        let formula = std::mem::take(&mut encoding.formula);
        let size = [formula.vars.into(), formula.len() as u64, formula.literals() as u64];
        let (order, check) = (self.engine.order, self.engine.check_lemmas);
        let passive = encoding.optional.as_ref().map_or(&[][..], |optional| &optional.passive);
        let solver = Batsat::load(formula, &encoding.graph, passive, order, check, self.limits);
        self.stats.encode_seconds += started.elapsed().as_secs_f64();
        Last { encoding, solver, size, noted: SolverStats::default() }
    }

    /// Adds selectors of chosen fences to a formula that is not loaded yet.
    fn select(&self, encoding: &mut Encoding) {
        let (Some(chosen), Some(optional)) = (&self.chosen, &mut encoding.optional) else { return };
        std::mem::swap(&mut optional.gates.formula, &mut encoding.formula);
        optional.select(chosen.fences, &encoding.run, self.query.model(), &encoding.nodes, &mut encoding.graph);
        std::mem::swap(&mut optional.gates.formula, &mut encoding.formula);
    }

    /// A solver that knows all chosen fences.
    fn extend(&mut self, mut last: Last) -> Last {
        let Last { encoding, solver, size, .. } = &mut last;
        let (Some(chosen), Some(optional)) = (&self.chosen, &mut encoding.optional) else { return last };
        optional.gates.formula = Formula::over(solver.vars());
        if optional.select(chosen.fences, &encoding.run, self.query.model(), &encoding.nodes, &mut encoding.graph) {
            if self.engine.order == OrderEncoding::Cubic {
                return self.load();
            }
            let formula = std::mem::take(&mut optional.gates.formula);
            solver.extend(&formula, &encoding.graph);
            *size = [formula.vars.into(), size[1] + formula.len() as u64, size[2] + formula.literals() as u64];
        }
        last
    }

    /// Notes how large the formula is.
    fn measure(&mut self, Last { encoding, size, .. }: &Last) {
        let stats = &mut self.stats;
        [stats.variables, stats.clauses, stats.literals] = *size;
        stats.instructions = encoding.run.instructions;
        stats.accesses = encoding.run.events.iter().filter(|event| !event.ghost && !event.looks).count() as u64;
        stats.loads =
            encoding.run.events.iter().filter(|event| !event.ghost && !event.looks && event.kind.reads()).count()
                as u64;
        stats.stores = encoding.run.events.iter().filter(|event| !event.ghost && event.kind.writes()).count() as u64;
        stats.order_pairs = encoding.graph.pairs() as u64;
        stats.edges = encoding.graph.edges.len() as u64;
        stats.ordered_threads = encoding.ordered_threads;
    }

    /// Adds what the solver of a round cost.
    fn note(&mut self, last: &mut Last) {
        let solver = last.solver.stats();
        let noted = std::mem::replace(&mut last.noted, solver);
        self.stats.conflicts += solver.conflicts - noted.conflicts;
        self.stats.decisions += solver.decisions - noted.decisions;
        self.stats.propagations += solver.propagations - noted.propagations;
        self.stats.lemmas += solver.lemmas - noted.lemmas;
        self.stats.wrong_lemmas += solver.wrong_lemmas - noted.wrong_lemmas;
        self.stats.bytes = self.stats.bytes.max(solver.bytes);
        let progress = Counters {
            states: self.stats.variables,
            frontier: self.stats.clauses,
            depth: self.stats.rounds,
            bytes: self.stats.bytes,
            share: None,
        };
        self.watch.progress(progress);
    }

    /// Asks until nothing is left; the loops that can go beyond their bounds.
    fn round(&mut self, last: &mut Last, findings: &mut Findings) -> Result<BTreeSet<LoopKey>, Cut> {
        let started = Instant::now();
        let result = match self.criterion() {
            Some(criterion) => self.hear_all(criterion, last, findings),
            None => Ok(()),
        };
        let result = result.and_then(|()| self.exhaust(last, findings));
        self.stats.solve_seconds += started.elapsed().as_secs_f64();
        result
    }

    fn exhaust(&mut self, last: &mut Last, findings: &mut Findings) -> Result<BTreeSet<LoopKey>, Cut> {
        let Last { encoding, solver, .. } = last;
        let selected = self.selected(encoding);
        self.needed.clear();
        findings.outcomes.iter().for_each(|outcome| block(encoding, solver, outcome));
        let mut beyond = BTreeSet::new();
        let mut asked = self.pose(encoding, solver, &beyond);
        let mut patience = PATIENCE;
        let outcomes = matches!(self.query.question(), Question::Outcomes);
        loop {
            let mut unlimited = u64::MAX;
            let decisions = if beyond.is_empty() { &mut unlimited } else { &mut patience };
            match solver.search(&[&selected[..], &[asked]].concat(), decisions) {
                Some(Found::Stopped(stop)) => return Err(Cut::Stopped(stop)),
                Some(Found::Nothing) => {
                    self.needed = solver.core(&selected);
                    return Ok(beyond);
                }
                None => return Ok(beyond),
                Some(Found::Model) => {}
            }
            let exceeded = encoding.exceeded.iter().filter(|(_, lit)| solver.value(*lit)).map(|(key, _)| *key);
            let known = beyond.len();
            beyond.extend(exceeded.filter(|key| !self.given_up.contains(key)).flat_map(|key| self.problem.twins(key)));
            if beyond.len() > known {
                asked = self.pose(encoding, solver, &beyond);
            }
            if solver.value(encoding.target) {
                if outcomes {
                    let outcome: Vec<i128> =
                        encoding.observed.iter().map(|value| value.read(|lit| solver.value(lit))).collect();
                    block(encoding, solver, &outcome);
                    findings.outcomes.insert(outcome);
                } else {
                    findings.decision = Some(self.decide(encoding, solver).ok_or(Cut::Internal)?);
                    return Ok(beyond);
                }
            }
        }
    }

    /// The criterion that histories are judged by, if the question is about them.
    fn criterion(&self) -> Option<TxCriterion> {
        match self.query.property() {
            Some(Property::Transactions(criterion)) => Some(*criterion),
            _ => None,
        }
    }

    /// Judges all histories of executions within the bounds, until one decides the question.
    fn hear_all(&mut self, criterion: TxCriterion, last: &mut Last, findings: &mut Findings) -> Result<(), Cut> {
        let Last { encoding, solver, .. } = last;
        let mut histories = Histories::new(solver.fresh());
        while findings.decision.is_none() {
            match solver.solve(&[histories.open]) {
                Found::Stopped(stop) => return Err(Cut::Stopped(stop)),
                Found::Nothing => break,
                Found::Model => findings.decision = self.hear(criterion, &mut histories, encoding, solver)?,
            }
        }
        self.did = histories.did;
        Ok(())
    }

    /// Judges the execution that the solver found: it decides the question, or none that it covers is asked for again.
    fn hear(
        &self,
        criterion: TxCriterion,
        histories: &mut Histories,
        encoding: &Encoding,
        solver: &mut Batsat,
    ) -> Result<Option<Decision>, Cut> {
        let value = |lit: Lit| solver.value(lit);
        let decoded = decode(self.query.program(), None, encoding, &value).ok_or(Cut::Internal)?;
        let violation = if value(encoding.wrong) {
            Some(decoded.violation.clone().ok_or(Cut::Internal)?)
        } else if value(encoding.deadlock) {
            Some(Violation::Deadlock { blocked: decoded.blocked.clone() })
        } else {
            let memory: Vec<i128> = encoding.observed.iter().map(|word| word.read(value)).collect();
            let ended = value(encoding.complete).then_some(&memory[..]);
            histories.judge(self.query.program(), criterion, &decoded, ended).ok_or(Cut::Internal)?
        };
        if violation.is_some() {
            return Ok(Some(Decision { decoded, violation, undefined: false }));
        }
        let clause = histories::other_than(
            encoding,
            histories.open,
            value(encoding.complete),
            self.engine.covered_histories,
            &value,
        );
        solver.add(&clause);
        Ok(None)
    }

    /// The selectors of the fences that are asked about.
    fn selected(&self, encoding: &Encoding) -> Vec<Lit> {
        let (Some(chosen), Some(optional)) = (&self.chosen, &encoding.optional) else { return Vec::new() };
        optional.selectors.iter().filter(|selector| chosen.has(selector)).map(|selector| selector.lit).collect()
    }

    /// The fences that the answer rests on.
    pub(crate) fn needed_fences(&self) -> Vec<(u32, FenceSet)> {
        let optional = self.last.as_ref().and_then(|last| last.encoding.optional.as_ref());
        let selectors = optional.into_iter().flat_map(|optional| &optional.selectors);
        let needed = selectors.filter(|selector| self.needed.contains(&selector.lit));
        needed.map(|selector| (selector.position, selector.kind)).collect()
    }

    /// Whether something is exercised within the bounds.
    pub(crate) fn is_exercised(&mut self) -> bool {
        let Question::Holds(property) = self.query.question() else { return true };
        if *property == Property::Assertions && self.problem.program.may_wait() {
            return true;
        }
        let Last { encoding, mut solver, .. } = self.load();
        let (exercised, _) = judge::exercise(self.query.program(), property, &encoding, self.did);
        exercised.into_iter().any(|lit| solver.solve(&[lit]) == Found::Model)
    }

    /// A literal that holds only if the execution shows what is asked about or takes a loop beyond its bound that is not known to go there.
    fn pose(&self, encoding: &Encoding, solver: &mut Batsat, beyond: &BTreeSet<LoopKey>) -> Lit {
        let asked = solver.fresh();
        let open = encoding.exceeded.iter().filter(|(key, _)| !beyond.contains(key) && !self.given_up.contains(key));
        let clause: Vec<Lit> = [!asked, encoding.target].into_iter().chain(open.map(|(_, lit)| *lit)).collect();
        solver.add(&clause);
        asked
    }

    /// Reads the execution that settles the question.
    fn decide(&self, encoding: &Encoding, solver: &Batsat) -> Option<Decision> {
        let value = |lit: Lit| solver.value(lit);
        let shown = self.chosen.as_ref().map(|chosen| chosen.program);
        let mut decoded = decode(self.query.program(), shown, encoding, &value)?;
        let violation = match self.query.question() {
            Question::Holds(Property::Final { quantifier: Quantifier::Exists, .. }) => None,
            Question::Holds(Property::Final { .. }) => Some(Violation::FinalState),
            Question::Holds(Property::Races) => Some(race(encoding, &decoded.numbers, &value)?),
            _ if value(encoding.wrong) => Some(decoded.violation.clone()?),
            _ if value(encoding.deadlock) && encoding.relational.is_some() => {
                Some(Violation::Deadlock { blocked: decoded.blocked.clone() })
            }
            _ if value(encoding.deadlock) => Some(match lasso(encoding, &mut decoded.execution, &value) {
                Some(lasso) => Violation::Lasso(lasso),
                None => Violation::Deadlock { blocked: decoded.blocked.clone() },
            }),
            _ => Some(Violation::Observation {
                outcome: encoding.observed.iter().map(|seen| seen.read(value)).collect(),
            }),
        };
        Some(Decision { decoded, violation, undefined: value(encoding.undefined) })
    }

    /// How often a loop may be repeated. Who hangs under a model about relations mostly does so at once, and of a program whose loops go on nothing better is said than `bounded`.
    fn most_iterations(&self) -> usize {
        if self.problem.rounds.is_empty() { self.engine.iterations } else { self.engine.iterations.min(ROUNDS) }
    }

    /// Lets these loops go round more often.
    fn raise(&mut self, beyond: &BTreeSet<LoopKey>) {
        let most = self.most_iterations();
        for key in beyond {
            let bound = self.bounds.entry(*key).or_insert(FIRST.min(self.engine.iterations));
            if *bound >= most {
                self.given_up.insert(*key);
            }
            *bound = (*bound + 1 + *bound / 4).min(most);
        }
    }
}

impl Last {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.solver.stats().bytes
    }
}

/// No further execution with this outcome is asked for.
fn block(encoding: &Encoding, solver: &mut Batsat, outcome: &[i128]) {
    if let Some(clause) = other_than(encoding, outcome) {
        solver.add(&clause);
    }
}

/// A clause that says that no execution ends with this outcome; none if there is none anyway.
fn other_than(encoding: &Encoding, outcome: &[i128]) -> Option<Vec<Lit>> {
    let mut clause = vec![!encoding.complete];
    for (value, number) in encoding.observed.iter().zip(outcome) {
        let undefined = *number == cyrano_ir::UNDEFINED;
        clause.push(if undefined { !value.undefined } else { value.undefined });
        let bits = value.bits.iter().enumerate();
        clause.extend(bits.filter(|_| !undefined).map(|(at, bit)| if number >> at & 1 == 1 { !*bit } else { *bit }));
        if !undefined && !value.range.contains(*number) {
            return None;
        }
    }
    Some(clause)
}

//! One question to one engine: which one, within which limits, and in which order.
//!
//! What comes of a check is [`checking`]'s business.

pub(crate) mod checking;
mod choosing;
mod counting;
mod deferred;
mod endless;
mod estimate;
pub(crate) mod every_number;
pub(crate) mod gpu;
pub(crate) mod large;
pub(crate) mod options;
mod progress;
pub(crate) mod reductions;
pub(crate) mod unrolled;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cyrano_cluster::ClusterSearch;
use cyrano_engine::configuration::{Forgets, Product};
use cyrano_engine::lts::TransitionSystem;
use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Stop, Verdict, Watch};
use cyrano_explore::{Deadlocks, Explore, Unwritten};
use cyrano_graphs::Graphs;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::{Export, Form, Refutation, Symbolic, refute};
use cyrano_views::{Crowd, Written};

use crate::failure::{self, Failure};
use crate::pool;
use crate::proof::{self, Proof};
use crate::shard::Shard;
use crate::specification::Store;
use gpu::Gpu;
use large::Large;
use options::{EngineName, Options};

/// What the explorer gets at first where the symbolic engine may be the better one.
const FIRST_MEMORY: u64 = 32 << 20;

/// The same where memory is freed: which of the freed objects `malloc` returns makes states of one and the same observation, to no end.
const FIRST_MEMORY_FREEING: u64 = 4 << 20;

/// The same where calls are judged and statements may be executed out of order, and how long the symbolic engine may then take.
const FIRST_MEMORY_OF_CALLS: u64 = 16 << 20;
const TURN_OF_CALLS: Duration = Duration::from_secs(10);

/// How often graphs look at their limits before they have been asked for long enough where they are not the usual engine: about 60,000 events, some 50 ms.
const PROBE: u64 = 16;

/// What all questions of one run share.
#[derive(Clone)]
pub struct Runner {
    /// The engine, if the choice is not free.
    engine: Option<EngineName>,
    explore: Explore,
    graphs: Graphs,
    symbolic: Symbolic,
    pub(crate) limits: Limits,
    workers: usize,
    /// Whether the bound of deferred accesses is raised where it stands in the way: nobody has named one.
    raises: bool,
    /// Whether the bound of iterations of graphs is raised: nobody has named one.
    pub(crate) unrolls: bool,
    /// Whether executions are made small before they are shown.
    minimise: bool,
    /// Where mined observations are kept, if they are.
    pub(crate) store: Option<Arc<dyn Store>>,
    /// Where states are kept, if not in memory.
    large: Option<Large>,
    /// The device that searches, if one does.
    gpu: Option<Gpu>,
    /// The processes that search together, if there are others.
    cluster: Option<Arc<ClusterSearch>>,
    /// What is asked together.
    expected: progress::Expected,
}

/// An answer and who gave it.
pub struct Answered {
    /// The engine's name; `None` if none was asked.
    pub engine: Option<String>,
    /// Why this engine and not the usual one.
    pub note: Option<String>,
    /// How many clauses a formula had.
    pub clauses: Option<u64>,
    /// The answer.
    pub answer: Answer,
}

impl Answered {
    /// The failure for an answer about a file that cannot be trusted.
    pub(crate) fn untrusted(&self, property: &Property, model: &Model, file: &str, why: &str) -> Failure {
        let (who, what) = (self.engine.as_deref().unwrap_or("no engine"), property.criterion());
        Failure::Internal(failure::bug(&format!("{who} answered `{what}` on {} for {file}, but {why}", model.name)))
    }
}

impl Runner {
    /// A runner for this many questions.
    pub fn new(options: &Options, questions: usize) -> Self {
        let threads = options.workers.unwrap_or_else(pool::processors);
        let workers = threads.clamp(1, questions.max(1));
        let mut limits =
            Limits { cancel: Arc::clone(&options.cancel), ..Limits::default() }.with_timeout(options.timeout);
        limits.memory = options.memory.unwrap_or(limits.memory) / workers as u64;
        limits.workers = threads / workers;
        limits.deferred = options.deferred.unwrap_or(limits.deferred);
        limits.iterations = options.iterations.unwrap_or(limits.iterations);
        let mut explore = Explore { fingerprints: options.fingerprint, ..Explore::default() };
        let (mut symbolic, mut graphs) = (Symbolic::default(), Graphs::default());
        symbolic.iterations = options.iterations.unwrap_or(symbolic.iterations);
        options.off.iter().for_each(|reduction| (reduction.off)(&mut explore, &mut symbolic, &mut graphs));
        let (engine, minimise, raises) = (options.engine, !options.no_minimise, options.deferred.is_none());
        let unrolls = options.iterations.is_none();
        let store = options.store.clone();
        let expected = progress::Expected::default();
        Self {
            engine,
            explore,
            graphs,
            symbolic,
            limits,
            workers,
            raises,
            unrolls,
            minimise,
            store,
            large: None,
            gpu: None,
            cluster: None,
            expected,
        }
    }

    /// The same runner for one question, with at most this much time from now, and with this engine if one is given.
    pub fn part(&self, timeout: Duration, engine: Option<EngineName>) -> Self {
        let mut limits = self.limits.clone().with_timeout(Some(timeout));
        limits.deadline = limits.deadline.into_iter().chain(self.limits.deadline).min();
        Self { engine: engine.or(self.engine), limits, workers: 1, ..self.clone() }
    }

    /// The same runner for one check whose states, or what is left to do, are kept in files, if that is wanted: only the explorer and graphs do that.
    pub fn with_large(mut self, large: Option<Large>) -> Self {
        if large.is_some() && self.engine != Some(EngineName::Graphs) {
            self.engine = Some(EngineName::Explore);
        }
        self.large = large;
        self
    }

    /// The same runner with states on a device, if that is wanted: one question after the other, all by the explorer.
    pub fn on_gpu(mut self, gpu: Option<Gpu>) -> Self {
        if gpu.is_some() {
            self.engine = Some(EngineName::Explore);
            self.workers = 1;
        }
        self.gpu = gpu;
        self
    }

    /// The same runner for a part of the executions of each check, if that is wanted: only graphs count executions.
    pub fn with_part(mut self, part: Option<Shard>) -> Self {
        if let Some(part) = part {
            self.engine = Some(EngineName::Graphs);
            self.graphs.share = Some(part.of_executions());
        }
        self
    }

    /// The same runner as one of several processes that search together, if that is wanted: one question after the other, all by the
    /// explorer.
    pub fn in_cluster(
        mut self,
        join: impl FnOnce(&Explore, usize) -> Result<Option<ClusterSearch>, Failure>,
    ) -> Result<Self, Failure> {
        let threads = self.limits.workers * self.workers;
        if let Some(cluster) = join(&self.explore, threads)? {
            self.limits.memory *= self.workers as u64;
            self.limits.workers = threads;
            self.workers = 1;
            self.engine = Some(EngineName::Explore);
            self.cluster = Some(Arc::new(cluster));
        }
        Ok(self)
    }

    /// Whether every engine may be asked.
    pub(crate) fn is_free(&self) -> bool {
        self.engine.is_none()
    }

    /// The engine on execution graphs, if it may be asked, with nothing kept in files.
    pub(crate) fn graphs(&self) -> Option<&Graphs> {
        let asked = self.engine.is_none() || self.engine == Some(EngineName::Graphs);
        (asked && self.large.is_none()).then_some(&self.graphs)
    }

    /// The processes that search together, if there are others.
    pub fn cluster(&self) -> Option<&ClusterSearch> {
        self.cluster.as_deref()
    }

    /// Does every job, some at a time; a panic in one is reported as a fault of ours.
    pub fn map<T: Sync, R: Send>(
        &self,
        jobs: &[T],
        work: impl Fn(usize, &T) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let guarded = |at: usize, job: &T| {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(at, job)));
            result.unwrap_or_else(|_| Err(Failure::Internal("no verdict: an engine failed (see above)".to_owned())))
        };
        pool::map(self.workers, jobs, guarded).into_iter().collect()
    }

    /// The same runner for programs that the explorer cannot exhaust: symbolic if the choice is free.
    pub fn without_exploring(&self) -> Self {
        self.part(Duration::MAX, self.engine.or(Some(EngineName::Symbolic)))
    }

    /// The deadlocks of a program, by the explorer; `Err` says why they are not known.
    pub fn deadlocks(&self, query: Query<'_>, watch: &dyn Watch) -> Result<BTreeSet<Vec<i128>>, String> {
        let mut explorer = self.part(Duration::MAX, Some(EngineName::Explore));
        explorer.explore.deadlocks = Deadlocks::Collected;
        explorer.cluster = None;
        let answer = explorer.ask(query, watch).answer;
        if answer.verdict != Verdict::Verified {
            return Err(answer.reason.map_or_else(|| answer.verdict.name().to_owned(), |why| why.to_string()));
        }
        let observed = query.program().observed.len();
        Ok(answer.outcomes.into_iter().filter(|outcome| outcome.len() > observed).collect())
    }

    /// The same runner for a question in which these deadlocks are allowed; none if the engine of choice cannot do that.
    pub fn allowing(&self, deadlocks: BTreeSet<Vec<i128>>) -> Option<Self> {
        let able = matches!(self.engine, None | Some(EngineName::Explore)) && self.cluster.is_none();
        let mut explorer = self.part(Duration::MAX, Some(EngineName::Explore));
        explorer.explore.deadlocks = Deadlocks::Allowed(deadlocks.into());
        able.then_some(explorer)
    }

    /// Asks for all outcomes. Where a loop may count for ever, or memory is freed, the explorer gets little memory before the symbolic engine has its turn, whose
    /// bounds name the loop; if that comes to nothing, the explorer gets the rest.
    pub fn mine(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        // Serial executions are states, not graphs: whoever wants graphs has them mined as usual.
        if self.engine == Some(EngineName::Graphs) {
            return Self { engine: None, ..self.clone() }.mine(query, watch);
        }
        if query.program().has_headers() || counting::counts(query.program()) {
            return self.ask_in_turns(query, watch);
        }
        self.ask(query, watch)
    }

    /// Asks the explorer with little memory, which small questions do not notice, then the symbolic engine, then the explorer with all of it.
    fn ask_in_turns(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        let first = if query.program().has_headers() { FIRST_MEMORY_FREEING } else { FIRST_MEMORY };
        let limited = self.limits.memory.min(first);
        if self.engine.is_some() {
            return self.ask(query, watch);
        }
        let mut first = self.part(Duration::MAX, None);
        first.limits.memory = limited;
        let answered = first.ask(query, watch);
        if answered.answer.reason.as_ref().and_then(Cause::stop) != Some(Stop::Memory) {
            return answered;
        }
        let second = self.ask_symbolic_first(query, watch);
        if second.answer.verdict != Verdict::Unknown || limited == self.limits.memory {
            return second;
        }
        self.ask(query, watch)
    }

    /// Asks the explorer with little memory, for whoever can do without the answer.
    pub(crate) fn ask_briefly(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        let mut first = self.part(Duration::MAX, None);
        first.limits.memory = self.limits.memory.min(FIRST_MEMORY);
        first.ask(query, watch)
    }

    /// The formula of a query; `Err` says why there is none.
    pub fn export(
        &self,
        query: Query<'_>,
        form: Form,
        bound: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<Export, String> {
        self.symbolic.export(query, form, bound, &self.limits, watch)
    }

    /// What another solver says of an exported formula, with a proof if it has no model; `Err` says why it was not solved.
    pub fn refute(&self, dimacs: &str) -> Result<Refutation, String> {
        refute(dimacs, &self.limits)
    }

    /// Hands over the states that prove an answer; `Err` says why there are none. See [`Explore::reachable`].
    pub(crate) fn reachable(
        &self,
        query: Query<'_>,
        most: usize,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(&Product) -> usize + Send),
    ) -> Result<(Forgets, Answer), Unwritten> {
        let bound = if self.raises { deferred::MOST } else { self.limits.deferred };
        let limits = Limits { deferred: bound, ..self.limits.clone() };
        self.explore.reachable(query, most, (&limits, watch), take)
    }

    /// The closed views of size `k` that prove an answer; `Err` says why there are none. See [`Crowd::written`].
    pub(crate) fn written_views(
        &self,
        query: Query<'_>,
        families: &[cyrano_ir::Family],
        k: usize,
        watch: &dyn Watch,
    ) -> Result<Written, String> {
        let bound = if self.raises { deferred::MOST } else { self.limits.deferred };
        let limits = Limits { deferred: bound, ..self.limits.clone() };
        Crowd::certifying(query, families, &limits).map_err(|why| why.to_string())?.written(k, &limits, watch)
    }

    /// All states and steps of a program; `Err` says why they are not known.
    pub fn transition_system(&self, query: Query<'_>) -> Result<TransitionSystem, Cause> {
        self.explore.transition_system(query, &self.limits, &())
    }

    /// Asks the engine of choice: the explorer if the choice is free, but for what programs with an order of their own end in, for
    /// a thread that chooses among all orders of its statements has too many states.
    pub fn ask(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        if query.model().has_own_order() && !query.program().has_calls() {
            return self.ask_symbolic_first(query, watch);
        }
        if query.model().has_own_order() && self.engine.is_none() && self.cluster.is_none() {
            return self.ask_about_calls(query, watch);
        }
        self.ask_one_of(&EngineName::ALL, query, watch)
    }

    /// Asks about histories of calls out of order: the explorer with little memory, which is enough as a rule where nothing goes wrong; then the symbolic engine
    /// for a while, which finds what does; then the explorer with all memory.
    fn ask_about_calls(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        let mut first = self.part(Duration::MAX, Some(EngineName::Explore));
        first.limits.memory = self.limits.memory.min(FIRST_MEMORY_OF_CALLS);
        let answered = first.ask_one_of(&EngineName::ALL, query, watch);
        let stopped = answered.answer.reason.as_ref().and_then(Cause::stop) == Some(Stop::Memory);
        if !stopped || first.limits.memory == self.limits.memory {
            return answered;
        }
        let turn = self.part(TURN_OF_CALLS, Some(EngineName::Symbolic)).ask_one_of(&EngineName::ALL, query, watch);
        if matches!(turn.answer.verdict, Verdict::Violated | Verdict::Verified) {
            return turn;
        }
        self.ask_one_of(&EngineName::ALL, query, watch)
    }

    /// Asks the engine of choice, symbolic rather than explore if the choice is free: tests with many threads have too many states.
    pub fn ask_symbolic_first(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        self.ask_one_of(&EngineName::SYMBOLIC_FIRST, query, watch)
    }

    fn ask_one_of(&self, usual: &[EngineName], query: Query<'_>, watch: &dyn Watch) -> Answered {
        // Processes that search together have to ask the same questions, and agree on a limit in the course of them.
        if let Some(stop) = self.stopped().filter(|_| self.cluster.is_none()) {
            return unasked(stop.into());
        }
        let (engine, note) = match self.choose(usual, &query) {
            Ok(chosen) => chosen,
            Err(cause) => return unasked(cause),
        };
        let start = Instant::now();
        if let Some(mut answer) = self.probe(engine, &query, watch) {
            answer.stats.seconds = start.elapsed().as_secs_f64();
            return Answered { engine: Some(self.graphs.name().to_owned()), note: None, clauses: None, answer };
        }
        let sized = (engine == EngineName::Explore).then(|| self.states_or_executions(&query, watch)).flatten();
        if let Some((engine, mut answer)) = sized {
            answer.stats.seconds = start.elapsed().as_secs_f64();
            return Answered { engine: Some(self.engine(engine).name().to_owned()), note, clauses: None, answer };
        }
        let (mut answer, clauses) = match engine {
            EngineName::Explore => (self.search(self.engine(engine), query, watch), None),
            EngineName::Graphs if self.unrolls => {
                (unrolled::ask(self.engine(engine), query, &self.limits, watch), None)
            }
            EngineName::Graphs | EngineName::Interp => (self.engine(engine).ask(query, &self.limits, watch), None),
            EngineName::Symbolic => {
                let (answer, stats) = self.symbolic.ask_with_stats(query, &self.limits, watch);
                (answer, Some(stats.clauses))
            }
        };
        answer.stats.seconds = start.elapsed().as_secs_f64();
        let note = note.or_else(|| endless::bounded_form(engine, &query, &answer));
        Answered { engine: Some(self.engine(engine).name().to_owned()), note, clauses, answer }
    }

    /// Asks graphs with little work whether a program with loops ends after all, where the choice is free and the model is about relations. What they say then is as
    /// strong as what the usual engine would say, and as a rule comes sooner; if a loop is cut off, or it takes long, the usual engine is asked.
    fn probe(&self, usual: EngineName, query: &Query<'_>, watch: &dyn Watch) -> Option<Answer> {
        let free = self.engine.is_none() && self.cluster.is_none() && usual == EngineName::Symbolic;
        if !free || query.model().cat().is_none() || self.graphs.supports(query).is_err() {
            return None;
        }
        let limits = Limits { workers: 1, ..self.limits.clone() }.with_looks(PROBE);
        let answer = match self.unrolls {
            true => unrolled::ask(&self.graphs, *query, &limits, watch),
            false => self.graphs.ask(*query, &limits, watch),
        };
        matches!(answer.verdict, Verdict::Verified | Verdict::Violated).then_some(answer)
    }

    /// Asks the explorer. Processes that search together do so once: their memory is not the same, so they would not agree on another time.
    fn search(&self, explore: &dyn Engine, query: Query<'_>, watch: &dyn Watch) -> Answer {
        if let Some(answer) = self.cluster.is_none().then(|| self.ask_expected(query, watch)).flatten() {
            return answer;
        }
        match self.raises && self.cluster.is_none() {
            true => deferred::ask(explore, query, &self.limits, watch),
            false => explore.ask(query, &self.limits, watch),
        }
    }

    /// The symbolic engine, if it is the one that [`Runner::ask`], or [`Runner::ask_symbolic_first`], would ask, and may keep what it learns.
    pub fn keeping_symbolic(&self, symbolic_first: bool, query: &Query<'_>) -> Option<&Symbolic> {
        let usual = if symbolic_first { EngineName::SYMBOLIC_FIRST } else { EngineName::ALL };
        let usable = self.symbolic.sessions && self.cluster.is_none() && !query.model().has_own_order();
        let usable = usable && query.model().cat().is_none();
        let chosen = self.choose(&usual, query).ok().filter(|_| usable);
        chosen.filter(|(chosen, _)| *chosen == EngineName::Symbolic).map(|_| &self.symbolic)
    }

    /// What all questions may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// All engines, as this run uses them.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        EngineName::ALL.into_iter().map(|name| self.engine(name))
    }

    fn engine(&self, chosen: EngineName) -> &dyn Engine {
        match chosen {
            EngineName::Explore => self.cluster.as_deref().map_or(&self.explore, |cluster| cluster),
            EngineName::Symbolic => &self.symbolic,
            EngineName::Graphs => &self.graphs,
            EngineName::Interp => &Interp,
        }
    }

    /// The confirmed execution behind an answer, minimised unless the user asked for it as it is; `Err` says why the answer cannot be trusted.
    pub fn proof(
        &self,
        program: &Program,
        property: &Property,
        model: &Model,
        answer: &Answer,
    ) -> Result<Option<Proof>, String> {
        proof::proof(program, property, model, answer, self.minimise.then_some(&self.limits))
    }

    /// Whether the run has to end before the next question is asked.
    pub fn stopped(&self) -> Option<Stop> {
        self.limits.exceeded(0)
    }
}

/// What nobody was asked.
pub fn unasked(cause: Cause) -> Answered {
    let answer = Answer::new(Verdict::Unknown, Some(cause));
    Answered { engine: None, note: None, clauses: None, answer }
}

//! One question to one engine, and the confirmation of what it answers.
//!
//! **Invariant:** an execution leaves this file only after the reference interpreter has agreed to it ([`crate::proof`]).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cyrano_cluster::ClusterSearch;
use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Question, Refusal, Stop, Verdict, Violation, Watch};
use cyrano_explore::{Deadlocks, Explore};
use cyrano_interp::Interp;
use cyrano_ir::{InstrId, Interchangeable, Program, Property, ThreadId};
use cyrano_memory::Model;
use cyrano_report::{BlockReport, CheckReport, ClientsReport};
use cyrano_symbolic::{Export, Symbolic};
use cyrano_trace::PropertyInfo;

use crate::args::{EngineChoice, Reduction, RunArgs};
use crate::failure::{self, Failure};
use crate::large::Large;
use crate::program::Loaded;
use crate::proof::{self, Proof};
use crate::{clients, counting, deferred, interrupt, pool};

/// The version in reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the explorer gets at first where the symbolic engine may be the better one.
const FIRST_MEMORY: u64 = 32 << 20;

/// What all questions of one run share.
pub struct Runner {
    engine: EngineChoice,
    explore: Explore,
    symbolic: Symbolic,
    limits: Limits,
    workers: usize,
    /// Whether the bound of deferred accesses is raised where it stands in the way: nobody has named one.
    raises: bool,
    /// Whether executions are made small before they are shown.
    minimise: bool,
    /// Where states are kept, if not in memory.
    large: Option<Large>,
    /// The processes that search together, if there are others.
    cluster: Option<Arc<ClusterSearch>>,
}

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Explore,
    Symbolic,
    Interp,
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

impl Runner {
    /// A runner for this many questions.
    pub fn new(args: &RunArgs, questions: usize) -> Result<Self, Failure> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = args.workers.map_or(processors, usize::from);
        let workers = threads.clamp(1, questions.max(1));
        let mut limits = Limits { cancel: interrupt::install()?, ..Limits::default() }.with_timeout(args.timeout);
        limits.memory = args.memory.map_or(limits.memory, |mib| mib << 20) / workers as u64;
        limits.workers = threads / workers;
        limits.deferred = args.deferred.map_or(limits.deferred, usize::from);
        limits.iterations = args.iterations.map_or(limits.iterations, usize::from);
        let mut symbolic = Symbolic::default();
        symbolic.iterations = args.iterations.map_or(symbolic.iterations, usize::from);
        symbolic.idle_iterations = !args.no_reduction.contains(&Reduction::IdleIterations);
        symbolic.thread_symmetry = !args.no_reduction.contains(&Reduction::ThreadSymmetry);
        symbolic.sessions = !args.no_reduction.contains(&Reduction::Sessions);
        symbolic.ranges = !args.no_reduction.contains(&Reduction::Ranges);
        let explore = Explore { fingerprints: args.fingerprint, ..explorer(&args.no_reduction) };
        let (minimise, raises) = (!args.no_minimise, args.deferred.is_none());
        let (large, cluster) = (None, None);
        Ok(Self { engine: args.engine, explore, symbolic, limits, workers, raises, minimise, large, cluster })
    }

    /// A runner for questions that are asked one after the other, each with this much time from now.
    pub fn sequential(timeout: Option<Duration>) -> Result<Self, Failure> {
        let limits = Limits { cancel: interrupt::install()?, ..Limits::default() }.with_timeout(timeout);
        let (explore, symbolic) = (Explore::default(), Symbolic::default());
        Ok(Self {
            engine: EngineChoice::Auto,
            explore,
            symbolic,
            limits,
            workers: 1,
            raises: true,
            minimise: true,
            large: None,
            cluster: None,
        })
    }

    /// The same runner for one question, with at most this much time from now, and with this engine if one is given.
    pub fn part(&self, timeout: Duration, engine: Option<EngineChoice>) -> Self {
        let mut limits = self.limits.clone().with_timeout(Some(timeout));
        limits.deadline = limits.deadline.into_iter().chain(self.limits.deadline).min();
        let (explore, symbolic) = (self.explore.clone(), self.symbolic.clone());
        let engine = engine.unwrap_or(self.engine);
        let (large, cluster) = (self.large.clone(), self.cluster.clone());
        let Self { raises, minimise, .. } = *self;
        Self { engine, explore, symbolic, limits, workers: 1, raises, minimise, large, cluster }
    }

    /// The same runner for one check whose states are kept in files, if that is wanted: only the explorer does that.
    pub fn with_large(mut self, large: Option<Large>) -> Self {
        if large.is_some() {
            self.engine = EngineChoice::Explore;
        }
        self.large = large;
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
            self.engine = EngineChoice::Explore;
            self.cluster = Some(Arc::new(cluster));
        }
        Ok(self)
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
        let free = self.engine == EngineChoice::Auto;
        self.part(Duration::MAX, free.then_some(EngineChoice::Symbolic))
    }

    /// The deadlocks of a program, by the explorer; `Err` says why they are not known.
    pub fn deadlocks(&self, query: Query<'_>, watch: &dyn Watch) -> Result<BTreeSet<Vec<i128>>, String> {
        let mut explorer = self.part(Duration::MAX, Some(EngineChoice::Explore));
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
        let able = matches!(self.engine, EngineChoice::Auto | EngineChoice::Explore) && self.cluster.is_none();
        let mut explorer = self.part(Duration::MAX, Some(EngineChoice::Explore));
        explorer.explore.deadlocks = Deadlocks::Allowed(deadlocks.into());
        able.then_some(explorer)
    }

    /// Asks for all outcomes. Where a loop may count for ever, the explorer gets little memory before the symbolic engine has its turn, whose bounds name
    /// the loop; if that comes to nothing, the explorer gets the rest.
    pub fn mine(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        if !counting::counts(query.program()) {
            return self.ask(query, watch);
        }
        self.ask_in_turns(query, watch)
    }

    /// Asks the explorer with little memory, which small questions do not notice, then the symbolic engine, then the explorer with all of it.
    fn ask_in_turns(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        let limited = self.limits.memory.min(FIRST_MEMORY);
        if self.engine != EngineChoice::Auto {
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

    /// The formula of a query; `Err` says why there is none.
    pub fn export(&self, query: Query<'_>, bound: Option<usize>, watch: &dyn Watch) -> Result<Export, String> {
        self.symbolic.export(query, bound, &self.limits, watch)
    }

    /// Asks the engine of choice: the explorer if the choice is free, but for what programs with an order of their own end in, for
    /// a thread that chooses among all orders of its statements has too many states.
    pub fn ask(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        if query.model().own_order && !query.program().has_calls() {
            return self.ask_symbolic_first(query, watch);
        }
        self.ask_one_of(&[Chosen::Explore, Chosen::Symbolic, Chosen::Interp], query, watch)
    }

    /// Asks the engine of choice, symbolic rather than explore if the choice is free: tests with many threads have too many states.
    pub fn ask_symbolic_first(&self, query: Query<'_>, watch: &dyn Watch) -> Answered {
        self.ask_one_of(&[Chosen::Symbolic, Chosen::Explore, Chosen::Interp], query, watch)
    }

    fn ask_one_of(&self, usual: &[Chosen], query: Query<'_>, watch: &dyn Watch) -> Answered {
        // Processes that search together have to ask the same questions, and agree on a limit in the course of them.
        if let Some(stop) = self.stopped().filter(|_| self.cluster.is_none()) {
            return unasked(stop.into());
        }
        let (engine, note) = match self.choose(usual, &query) {
            Ok(chosen) => chosen,
            Err(cause) => return unasked(cause),
        };
        let start = Instant::now();
        let (mut answer, clauses) = match engine {
            Chosen::Explore => (self.search(self.engine(engine), query, watch), None),
            Chosen::Interp => (Interp.ask(query, &self.limits, watch), None),
            Chosen::Symbolic => {
                let (answer, stats) = self.symbolic.ask_with_stats(query, &self.limits, watch);
                (answer, Some(stats.clauses))
            }
        };
        answer.stats.seconds = start.elapsed().as_secs_f64();
        Answered { engine: Some(self.engine(engine).name().to_owned()), note, clauses, answer }
    }

    /// Asks the explorer. Processes that search together do so once: their memory is not the same, so they would not agree on another time.
    fn search(&self, explore: &dyn Engine, query: Query<'_>, watch: &dyn Watch) -> Answer {
        match self.raises && self.cluster.is_none() {
            true => deferred::ask(explore, query, &self.limits, watch),
            false => explore.ask(query, &self.limits, watch),
        }
    }

    /// The symbolic engine, if it is the one that [`Runner::ask`], or [`Runner::ask_symbolic_first`], would ask, and may keep what it learns.
    pub fn keeping_symbolic(&self, symbolic_first: bool, query: &Query<'_>) -> Option<&Symbolic> {
        let explore_first = [Chosen::Explore, Chosen::Symbolic, Chosen::Interp];
        let usual = if symbolic_first { [Chosen::Symbolic, Chosen::Explore, Chosen::Interp] } else { explore_first };
        let usable = self.symbolic.sessions && self.cluster.is_none() && !query.model().own_order;
        let chosen = self.choose(&usual, query).ok().filter(|_| usable);
        chosen.filter(|(chosen, _)| *chosen == Chosen::Symbolic).map(|_| &self.symbolic)
    }

    /// What all questions may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn engine(&self, chosen: Chosen) -> &dyn Engine {
        match chosen {
            Chosen::Explore => self.cluster.as_deref().map_or(&self.explore, |cluster| cluster),
            Chosen::Symbolic => &self.symbolic,
            Chosen::Interp => &Interp,
        }
    }

    /// The engine for a query, and why it is not the usual one; `Err` if there is none.
    fn choose(&self, usual: &[Chosen], query: &Query<'_>) -> Result<(Chosen, Option<String>), Cause> {
        let candidates: &[Chosen] = match self.engine {
            EngineChoice::Auto => usual,
            EngineChoice::Explore => &[Chosen::Explore],
            EngineChoice::Symbolic => &[Chosen::Symbolic],
            EngineChoice::Interp => &[Chosen::Interp],
        };
        let mut refused = Vec::new();
        for chosen in candidates {
            let engine = self.engine(*chosen);
            match engine.supports(query) {
                Ok(()) => {
                    // The reference interpreter is slow, so its users are told why they got it.
                    let slow = nearest(refused).filter(|_| matches!(chosen, Chosen::Interp));
                    let note = slow.map(|(engine, why)| Cause::NoEngine { engine, why, instead: None }.to_string());
                    return Ok((*chosen, note));
                }
                Err(why) => refused.push((engine.name(), why)),
            }
        }
        let Some((engine, why)) = nearest(refused) else { unreachable!("there is always an engine to ask") };
        // Only the explorer searches with others.
        let instead = self.cluster.is_none().then(|| self.others(candidates, query));
        Err(Cause::NoEngine { engine, why, instead })
    }

    /// The engines that would answer a query, but for these.
    fn others(&self, refused: &[Chosen], query: &Query<'_>) -> Vec<&'static str> {
        let all = [Chosen::Explore, Chosen::Symbolic, Chosen::Interp];
        let others = all.into_iter().filter(|chosen| !refused.contains(chosen)).map(|chosen| self.engine(chosen));
        others.filter(|engine| engine.supports(query).is_ok()).map(Engine::name).collect()
    }

    /// Checks one property and confirms what comes of it.
    pub fn check(
        &self,
        loaded: &Loaded,
        property: &Property,
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let loaded = &*loaded.for_question(Some(property));
        let query = loaded.query(model, Question::Holds(property))?;
        let Answered { engine, note, clauses, mut answer } = match (&self.large, property) {
            (Some(large), _) => large.ask(&self.explore, self.cluster(), loaded, query, &self.limits, watch)?,
            // What a client of a C data type observes; the explorer alone may need all memory for it, and in vain.
            (None, Property::Observations(_)) => self.ask_in_turns(query, watch),
            (None, _) => self.ask(query, watch),
        };
        let clients = self.count_clients(loaded, query, &mut answer, watch);
        let who = engine.as_deref().unwrap_or("no engine");
        let proof = self.proof(&loaded.program, property, model, &answer).map_err(|why| {
            let what = property.criterion();
            let file = &loaded.source.name;
            let text = format!("{who} answered `{what}` on {} for {file}, but {why}", model.name);
            Failure::Internal(failure::bug(&text))
        })?;
        let violation = answer.violation.as_ref();
        let trace =
            proof.as_ref().map(|proof| proof::trace(loaded, &loaded.program, property, model, violation, proof));
        let asked = PropertyInfo::from(property);
        let explanation = match (&trace, &answer.violation, &asked.condition) {
            (Some(trace), _, _) => Some(trace.explanation.clone()),
            (None, Some(Violation::NoWitness), Some(condition)) => Some(cyrano_trace::no_witness(condition)),
            _ => None,
        };
        Ok(CheckReport {
            file: loaded.source.name.clone(),
            test: loaded.test_name(),
            model: Some(model.name.clone()),
            criterion: asked.criterion,
            property: asked.condition,
            set: loaded.set.iter().cloned().collect(),
            stats: engine.is_some().then_some(answer.stats),
            engine,
            engine_note: note,
            instance: loaded.instance(),
            specification: None,
            clients,
            blocks: blocks(&answer),
            unreached: crate::coverage::unreached(loaded, &answer),
            clauses,
            verdict: answer.verdict,
            reason: answer.reason.map(|cause| format!("{cause}{}", lines(loaded, &answer.places))),
            caveats: loaded.caveats(answer.verdict),
            reductions: answer.reductions.iter().map(|name| (*name).to_owned()).collect(),
            trace,
            minimised: proof.and_then(|proof| proof.minimised),
            explanation,
        })
    }

    /// How many of all clients of a size are wrong. Where some are, a second search tells them apart, and its smallest one is shown.
    fn count_clients(
        &self,
        loaded: &Loaded,
        query: Query<'_>,
        answer: &mut Answer,
        watch: &dyn Watch,
    ) -> Option<ClientsReport> {
        let space = loaded.clients.as_ref()?;
        let total = clients::total(space).to_string();
        if answer.violation.is_none() || space.retry > 0 {
            let wrong = (answer.verdict == Verdict::Verified).then(|| "0".to_owned());
            return Some(ClientsReport { total, complete: wrong.is_some(), wrong, smallest: None });
        }
        if self.cluster.is_some() {
            // The second search is for one machine.
            return Some(ClientsReport { total, complete: false, wrong: None, smallest: None });
        }
        let seconds = answer.stats.seconds;
        let off = Interchangeable::default();
        let renames = if self.explore.client_symmetry { &loaded.program.interchangeable } else { &off };
        let explore = Explore { client_programs: true, ..self.explore.clone() };
        let all = self.search(&explore, query, watch);
        let complete = all.reason.is_none();
        // Whatever went wrong, it went wrong with somebody; a search that was cut short may not have come that far.
        let wrong = (!all.clients.is_empty()).then(|| clients::wrong(space, &all.clients, renames).to_string());
        let smallest = clients::smallest(&all.clients).map(clients::in_words);
        if all.execution.is_some() {
            *answer = Answer { reason: None, ..all };
            answer.stats.seconds += seconds;
        }
        Some(ClientsReport { total, wrong, complete, smallest })
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

/// Where in the source a verdict's reason is to be found: ` (line 12)`.
pub fn lines(loaded: &Loaded, places: &[(ThreadId, InstrId)]) -> String {
    let line = |(thread, instr): &(ThreadId, InstrId)| {
        let start = loaded.program.instr(*thread, *instr).span.start as usize;
        loaded.source.text.get(..start).map(|before| before.matches('\n').count() + 1)
    };
    let lines: BTreeSet<usize> = places.iter().filter_map(line).collect();
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    match shown.len() {
        0 => String::new(),
        1 => format!(" (line {})", shown[0]),
        _ => format!(" (lines {})", shown.join(", ")),
    }
}

/// The explorer without these reductions.
fn explorer(off: &[Reduction]) -> Explore {
    Explore {
        dead_registers: !off.contains(&Reduction::DeadRegisters),
        macro_steps: !off.contains(&Reduction::MacroSteps),
        timestamps: !off.contains(&Reduction::Timestamps),
        thread_symmetry: !off.contains(&Reduction::ThreadSymmetry),
        variable_symmetry: !off.contains(&Reduction::VariableSymmetry),
        lazy_choices: !off.contains(&Reduction::LazyChoices),
        collapsed_data: !off.contains(&Reduction::CollapsedData),
        repeated_stores: !off.contains(&Reduction::RepeatedStores),
        dead_loads: !off.contains(&Reduction::DeadLoads),
        sorted_stores: !off.contains(&Reduction::SortedStores),
        merged_histories: !off.contains(&Reduction::MergedHistories),
        client_symmetry: !off.contains(&Reduction::ClientSymmetry),
        movers: !off.contains(&Reduction::Movers),
        ample_sets: !off.contains(&Reduction::AmpleSets),
        remembered_steps: !off.contains(&Reduction::RememberedSteps),
        ..Explore::default()
    }
}

/// How atomic blocks were proven: movers stand on their own, the comparison with a serial run counts only if nothing differed.
fn blocks(answer: &Answer) -> Vec<BlockReport> {
    let verified = answer.verdict == Verdict::Verified;
    let proven = |block: &cyrano_engine::BlockProof| BlockReport {
        name: block.name.clone(),
        proven_by: if block.by_movers { Some("movers") } else { verified.then_some("serial-run") },
    };
    answer.blocks.iter().map(proven).collect()
}

/// Of engines that refuse a question, the one that comes nearest: some never answer such questions.
fn nearest(refused: Vec<(&'static str, Refusal)>) -> Option<(&'static str, Refusal)> {
    let near = refused.iter().position(|(_, why)| !why.is_for_all_programs()).unwrap_or(0);
    refused.into_iter().nth(near)
}

/// What nobody was asked.
pub fn unasked(cause: Cause) -> Answered {
    let answer = Answer::new(Verdict::Unknown, Some(cause));
    Answered { engine: None, note: None, clauses: None, answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColorChoice;
    use crate::source::Source;
    use cyrano_engine::{Access, Execution};
    use cyrano_ir::ThreadId;

    /// What becomes of an engine's claim that the check of a one-store program is violated.
    fn check(violation: Violation, order: Option<Vec<Access>>) -> Result<Option<usize>, String> {
        let text = "threads { shared x; thread p { x := 1 } } check never (x = 1);".to_owned();
        let source = Source { name: "a.rml".into(), text, dir: None };
        let loaded = crate::program::compile(source, &[], ColorChoice::Never).expect("the program compiles");
        let property = loaded.program.checks[0].property.clone();
        let mut answer = unasked(Stop::Timeout.into()).answer;
        answer.verdict = Verdict::Violated;
        answer.violation = Some(violation);
        answer.execution = order.map(|order| Execution { order, choices: vec![vec![]] });
        let sc = cyrano_memory::named("sc").expect("sc is a model");
        let limits = Limits::default();
        let proof = proof::proof(&loaded.program, &property, &sc, &answer, Some(&limits));
        proof.map(|proof| proof.map(|proof| proof.replayed.steps.len()))
    }

    #[test]
    fn only_confirmed_claims_pass() {
        let store = |value| Access { thread: ThreadId(0), index: 0, read: None, written: Some(value) };
        assert_eq!(check(Violation::FinalState, Some(vec![store(1)])), Ok(Some(1)));
        assert_eq!(check(Violation::NoWitness, None), Ok(None));
        let refuted = |claim: Result<Option<usize>, String>, part: &str| {
            let why = claim.expect_err("the claim is false");
            assert!(why.contains(part), "{why}");
        };
        refuted(check(Violation::FinalState, None), "without an execution");
        refuted(check(Violation::FinalState, Some(vec![store(2)])), "does not confirm");
        refuted(check(Violation::FinalState, Some(vec![])), "does not confirm");
    }
}

//! Execution graphs: every execution once, in the memory of one.
//!
//! For programs that end, and models in which `po | rf` has no cycle, executions are enumerated instead of states: a graph of events is built event by event
//! ([`search`]), and the model says which graphs are consistent ([`consistency`]). The threads of a program are run by [`thread`].
//!
//! **Invariants**
//! - Every consistent execution is found, and found once; `tests/` compares with all executions of the reference.
//! - What is not represented exactly is refused ([`Engine::supports`]): dependencies, exclusive pairs, models that perform a store before a load that it
//!   depends on.
//! - A loop that is cut off makes the verdict `bounded`; one that only spins is not cut off ([`thread`]). Deadlocks are looked for under models with one order of all
//!   accesses; under others a program that may wait is `bounded` at best.
//!
//! This crate knows no other engine and does no IO.

mod code;
mod consistency;
mod execution;
mod goals;
mod graph;
mod level;
mod names;
mod pool;
mod psc;
mod revisit;
mod rows;
mod search;
mod setup;
mod stale;
mod thread;
mod total;
mod views;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cyrano_engine::{
    Answer, Cause, Engine, Execution, Inexact, Limits, Query, Refusal, Stats, Stop, Subject, Verdict, Watch, one_order,
};
use cyrano_ir::{FinalVar, Liveness, Op, Program, Property, Tags};
use cyrano_memory::{Model, named};

pub use revisit::Fault;
pub use search::Counts;

use consistency::{ByAxioms, Consistency, unknown_base};
use execution::Form;
use goals::{All, Asked};
use graph::Graph;
use level::Level;
use names::Names;
use pool::Pool;
use search::{Goal, Halt, Search, Shared};
use setup::{Start, Unstarted, starts};
use total::{Kept, Total};
use views::Views;

/// The engine.
#[derive(Clone, Copy, Debug)]
pub struct Graphs {
    /// Whether models are judged by their text, through the evaluator, and not by what is written for each of them here. Much slower.
    pub by_axioms: bool,
    /// Whether a thread that goes through a loop and changes nothing does not go on ([`thread`]).
    pub idle_iterations: bool,
    /// Whether executions in which a thread waits behind an old write are left early ([`stale`]).
    pub stale_waits: bool,
    /// Whether a choice among values that nobody looks at is made once ([`names`]).
    pub unseen_values: bool,
    /// After how many events a search is done by several, if there are several to do it.
    pub patience: u64,
    /// A bug that is there on purpose.
    pub fault: Option<Fault>,
}

impl Default for Graphs {
    fn default() -> Self {
        Self {
            by_axioms: false,
            idle_iterations: true,
            stale_waits: true,
            unseen_values: true,
            patience: 50_000,
            fault: None,
        }
    }
}

/// The models that this engine is for. In each of them `po | rf` has no cycle, whatever is before a set of events by `po | rf` is an execution if the whole is,
/// and an execution can be extended by reading the last write and by writing last. That cannot be told from the text of a model, so that others are refused.
const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

/// One search: what is asked, of which model, within which limits.
struct Run<'a> {
    graphs: &'a Graphs,
    starts: &'a [Start<'a>],
    model: &'a Model,
    limits: &'a Limits,
    watch: &'a dyn Watch,
    /// What is looked at in the end.
    shown: &'a [FinalVar],
    stale_waits: bool,
    names: &'a Names,
}

impl Run<'_> {
    /// Searches with sets of 64·`W` events, and with larger ones if a graph does not fit.
    fn run<G>(&self, goal: impl Fn() -> G + Sync) -> (G, Result<(), Stop>, Counts)
    where
        G: Goal<1> + Goal<4> + Goal<16> + Goal<64> + Send,
    {
        let small = self.within::<G, 1>(&goal);
        let medium = small.or_else(|()| self.within::<G, 4>(&goal));
        let large = medium.or_else(|()| self.within::<G, 16>(&goal));
        let largest = large.or_else(|()| self.within::<G, 64>(&goal));
        largest.unwrap_or_else(|()| (goal(), Err(Stop::Memory), Counts::default()))
    }

    fn within<G: Goal<W> + Send, const W: usize>(
        &self,
        new: &(impl Fn() -> G + Sync),
    ) -> Result<(G, Result<(), Stop>, Counts), ()> {
        let (mut goal, mut counts) = (new(), Counts::default());
        for start in self.starts {
            match self.from::<G, W>(start, (&mut goal, new), &mut counts) {
                Ok(()) => {}
                Err(Halt::Stopped(stop)) => return Ok((goal, Err(stop), counts)),
                Err(Halt::TooLarge) => return Err(()),
                Err(_) => break,
            }
        }
        Ok((goal, Ok(()), counts))
    }

    fn from<'p, G: Goal<W> + Send, const W: usize>(
        &self,
        start: &'p Start<'p>,
        goal: (&mut G, &(impl Fn() -> G + Sync)),
        counts: &mut Counts,
    ) -> Result<(), Halt> {
        let Some(cat) = self.model.cat() else { unreachable!("a model about relations") };
        match self.model.name.as_str() {
            _ if self.graphs.by_axioms => self.by::<G, _, W>(start, goal, ByAxioms::new(cat.plan()), counts),
            "ra" => self.by(start, goal, Views::<W>::release_acquire(&start.program), counts),
            "rc11" => self.by(start, goal, Views::<W>::c11(&start.program), counts),
            name => match kept(name) {
                Some(kept) => self.by(start, goal, Total::<W>::new(kept), counts),
                None => self.by::<G, _, W>(start, goal, ByAxioms::new(cat.plan()), counts),
            },
        }
    }

    fn by<'p, G: Goal<W> + Send, M: Consistency<W> + Send + Sync, const W: usize>(
        &self,
        start: &'p Start<'p>,
        (goal, new): (&mut G, &(impl Fn() -> G + Sync)),
        model: M,
        counts: &mut Counts,
    ) -> Result<(), Halt> {
        let idle = Some(self.shown).filter(|_| self.graphs.idle_iterations);
        let level = Level::new(Graph::<W>::new(start, self.limits.iterations, idle, self.names), model);
        let mut shared = Shared {
            limits: self.limits,
            watch: self.watch,
            fault: self.graphs.fault,
            pool: None,
            told: Mutex::default(),
            patience: (self.limits.workers > 1).then_some(self.graphs.patience),
            stale_waits: self.stale_waits,
        };
        let mut search = Search::new(goal, level, &shared);
        let ended = search.run();
        search.tell();
        let left = search.left();
        let ended = if ended == Err(Halt::Long) {
            shared.pool = Some(Pool::new(self.limits.workers, left));
            together(&shared, goal, new, self.limits.workers)
        } else {
            ended
        };
        counts.add(&shared.told.into_inner().unwrap_or_else(PoisonError::into_inner).0);
        ended
    }
}

/// Several search what is in a pool.
fn together<'p, G: Goal<W> + Send, M: Consistency<W> + Send + Sync, const W: usize>(
    shared: &Shared<'_, Level<'p, M, W>>,
    goal: &mut G,
    new: &(impl Fn() -> G + Sync),
    workers: usize,
) -> Result<(), Halt> {
    let Some(pool) = &shared.pool else { return Ok(()) };
    let work = || {
        let (mut goal, mut since) = (new(), 0);
        while let Some(level) = pool.take() {
            let mut search = Search::new(&mut goal, level, shared);
            search.since = since;
            let ended = search.run();
            since = search.since;
            search.tell();
            if ended.is_err() {
                pool.close();
                return (goal, ended);
            }
        }
        (goal, Ok(()))
    };
    let ends: Vec<(G, Result<(), Halt>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut ended = Ok(());
    for (other, end) in ends {
        goal.join(other);
        // What ended the work of all is told by whoever ended it.
        let told = matches!(ended, Ok(()) | Err(Halt::Elsewhere)) || end == Err(Halt::TooLarge);
        if end.is_err() && told {
            ended = end;
        }
    }
    ended
}

/// How much of program order a model with one order keeps.
fn kept(model: &str) -> Option<Kept> {
    match model.strip_prefix("cat:").unwrap_or(model) {
        "sc" => Some(Kept::All),
        "tso" => Some(Kept::Tso),
        "pso" => Some(Kept::Pso),
        _ => None,
    }
}

impl Graphs {
    /// Answers, and tells what was counted.
    pub fn count(&self, query: &Query<'_>, limits: &Limits, watch: &dyn Watch) -> (Answer, Counts) {
        let started = Instant::now();
        let model = match self.supported(query) {
            Ok(model) => model,
            Err(why) => return (Answer::new(Verdict::Unknown, Some(Cause::Refused(why))), Counts::default()),
        };
        // What is shown under a model that reorders pairs is one order of all accesses.
        let name = &query.model().name;
        let form = kept(name).filter(|_| query.model().cat().is_none()).map_or(Form::Related, Form::Ordered);
        let has_flags = model.cat().is_some_and(|cat| cat.plan().axioms.iter().any(|axiom| axiom.flag));
        let shown = shown(query);
        // Races are looked at in executions that wait, too, and threads that hang may write what is there.
        let stale_waits = self.stale_waits
            && !(has_flags && has_plain(query.program()))
            && !matches!(query.property(), Some(Property::Live(_)));
        let mut names = if self.unseen_values { Names::new(query) } else { Names::default() };
        let (goal, ended, counts) = loop {
            let starts = match starts(query.program(), limits.iterations, &names) {
                Err(Unstarted::Sees(name)) => {
                    names.forget(name);
                    continue;
                }
                starts => starts.unwrap_or_default(),
            };
            let (shown, names_now) = (&shown, &names);
            let run = Run {
                graphs: self,
                starts: &starts,
                model: &model,
                limits,
                watch,
                shown,
                stale_waits,
                names: names_now,
            };
            let found = run.run(|| Asked::new(query, has_flags, form));
            match found.0.sees() {
                Some(name) => names.forget(name),
                None => break found,
            }
        };
        let mut answer = goal.answer(ended, limits.iterations);
        let seconds = started.elapsed().as_secs_f64();
        let (executions, blocked) = (Some(counts.executions), Some(counts.blocked));
        answer.stats =
            Stats { states: counts.events, depth: counts.depth, seconds, executions, blocked, ..Stats::default() };
        (answer, counts)
    }

    /// All executions in which every thread comes to its end, in the order in which they are found; none if the question is refused.
    pub fn executions(&self, query: &Query<'_>, limits: &Limits) -> Option<Result<Vec<Execution>, Stop>> {
        let model = self.supported(query).ok()?;
        let starts = starts(query.program(), limits.iterations, &Names::default()).ok()?;
        let shown = shown(query);
        let stale_waits = self.stale_waits;
        let run = Run {
            graphs: self,
            starts: &starts,
            model: &model,
            limits,
            watch: &(),
            shown: &shown,
            stale_waits,
            names: &Names::default(),
        };
        let (goal, ended, _) = run.run(All::default);
        Some(ended.map(|()| goal.0))
    }

    /// The model, as one about relations.
    fn supported(&self, query: &Query<'_>) -> Result<Model, Refusal> {
        match query.property() {
            None | Some(Property::Assertions | Property::Observations(_) | Property::Final { .. }) => {}
            Some(Property::Races) => return Err(Refusal::NotJudged(Subject::Races)),
            Some(Property::Transactions(_)) => return Err(Refusal::NotJudged(Subject::Histories)),
            Some(Property::Live(Liveness::Termination))
                if query.model().cat().is_some() && self.idle_iterations && !has_marks(query.program()) => {}
            Some(Property::Progress(_) | Property::Live(_)) => return Err(Refusal::NotJudged(Subject::EndlessRuns)),
            Some(Property::Structure(_)) => return Err(Refusal::NotJudged(Subject::Languages)),
            Some(Property::CommitAtomicity) => return Err(Refusal::NotJudged(Subject::CommitPoints)),
            Some(Property::Invariant(_)) => return Err(Refusal::NotJudged(Subject::Moments)),
        }
        let name = &query.model().name;
        let one_order = |what| Err(Refusal::Inexact(Inexact::OneOrder { model: name.clone(), what }));
        let no_graphs = || Err(Refusal::Inexact(Inexact::NoGraphs { model: name.clone() }));
        let related = query.model().cat().is_some();
        let model = if related { Some(query.model().clone()) } else { twin(query.model()) };
        let Some(model) = model.filter(is_known) else {
            return no_graphs();
        };
        let unknown = model.cat().and_then(|cat| unknown_base(cat.plan()));
        match unknown.or_else(|| unfit(query.program())) {
            Some(what) => one_order(what),
            None => Ok(model),
        }
    }
}

impl Engine for Graphs {
    fn name(&self) -> &'static str {
        "graphs"
    }

    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal> {
        self.supported(query).map(|_| ())
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        self.count(&query, limits, watch).0
    }
}

/// The same model about relations, if there is one.
fn twin(model: &Model) -> Option<Model> {
    let twin = named(&format!("cat:{}", model.name))?;
    (named(&model.name).as_ref() == Some(model)).then_some(twin)
}

fn is_known(model: &Model) -> bool {
    MODELS.contains(&model.name.as_str()) && named(&model.name).as_ref() == Some(model)
}

/// What is looked at in the end.
fn shown(query: &Query<'_>) -> Vec<FinalVar> {
    let mut shown: Vec<FinalVar> = query.program().observed.iter().map(|observable| observable.var).collect();
    if let Some(Property::Final { cond, .. }) = query.property() {
        cond.for_each_var(&mut |var| shown.push(*var));
    }
    shown
}

/// Whether a program has accesses that are not atomic.
fn has_plain(program: &Program) -> bool {
    let mut instrs = program.threads.iter().flat_map(|thread| &thread.code);
    instrs.any(|instr| instr.op.access().is_some_and(|access| !access.tags.spoken().contains(Tags::ATOMIC)))
}

/// Whether a thread need not end, but pass a mark again and again.
fn has_marks(program: &Program) -> bool {
    program.threads.iter().any(|thread| thread.code.iter().any(|instr| matches!(instr.op, Op::Progress(_))))
}

/// What a program has that graphs do not.
fn unfit(program: &Program) -> Option<&'static str> {
    let accesses =
        || program.threads.iter().flat_map(|thread| thread.code.iter().filter_map(|instr| instr.op.access()));
    if accesses().any(|access| access.tags.contains(Tags::EXCLUSIVE)) {
        return Some("exclusive pairs");
    }
    if starts(program, 0, &Names::default()).is_err() {
        return Some("a setup thread that may not come to its end");
    }
    one_order(program)
}

//! Execution graphs: every execution once, in the memory of one.
//!
//! For programs that end, and models in which `po | rf` has no cycle, executions are enumerated instead of states: a graph of events is built event by event
//! ([`search`]), and the model says which graphs are consistent ([`consistency`]). The threads of a program are run by [`thread`].
//!
//! **Invariants**
//! - Every consistent execution is found, and found once; `tests/` compares with all executions of the reference.
//! - What is not represented exactly is refused ([`Engine::supports`]): dependencies, exclusive pairs, models that perform a store before a load that it
//!   depends on.
//! - A loop that is cut off makes the verdict `bounded`. Deadlocks are not looked for, so that a program that may wait is `bounded` at best.
//!
//! This crate knows no other engine and does no IO.

mod consistency;
mod execution;
mod goals;
mod graph;
mod psc;
mod rows;
mod search;
mod setup;
mod thread;
mod total;
mod views;

use std::time::Instant;

use cyrano_engine::{
    Answer, Cause, Engine, Execution, Inexact, Limits, Query, Refusal, Stats, Stop, Subject, Verdict, Watch, one_order,
};
use cyrano_ir::{Program, Property, Tags};
use cyrano_memory::{Model, named};

pub use search::{Counts, Fault};

use consistency::{ByAxioms, Consistency, unknown_base};
use execution::Form;
use goals::{All, Asked};
use graph::Graph;
use search::{Goal, Halt, Search};
use setup::{Start, starts};
use total::{Kept, Total};
use views::Views;

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Graphs {
    /// Whether models are judged by their text, through the evaluator, and not by what is written for each of them here. Much slower.
    pub by_axioms: bool,
    /// A bug that is there on purpose.
    pub fault: Option<Fault>,
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
}

impl Run<'_> {
    /// Searches with sets of 64·`W` events, and with larger ones if a graph does not fit.
    fn run<G>(&self, goal: impl Fn() -> G) -> (G, Result<(), Stop>, Counts)
    where
        G: Goal<1> + Goal<4> + Goal<16> + Goal<64>,
    {
        let small = self.within::<G, 1>(goal());
        let medium = small.or_else(|()| self.within::<G, 4>(goal()));
        let large = medium.or_else(|()| self.within::<G, 16>(goal()));
        let largest = large.or_else(|()| self.within::<G, 64>(goal()));
        largest.unwrap_or_else(|()| (goal(), Err(Stop::Memory), Counts::default()))
    }

    fn within<G: Goal<W>, const W: usize>(&self, mut goal: G) -> Result<(G, Result<(), Stop>, Counts), ()> {
        let mut counts = Counts::default();
        for start in self.starts {
            match self.from::<G, W>(start, &mut goal, &mut counts) {
                Ok(()) => {}
                Err(Halt::Settled) => break,
                Err(Halt::Stopped(stop)) => return Ok((goal, Err(stop), counts)),
                Err(Halt::TooLarge) => return Err(()),
            }
        }
        Ok((goal, Ok(()), counts))
    }

    fn from<G: Goal<W>, const W: usize>(
        &self,
        start: &Start<'_>,
        goal: &mut G,
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

    fn by<G: Goal<W>, M: Consistency<W>, const W: usize>(
        &self,
        start: &Start<'_>,
        goal: &mut G,
        model: M,
        counts: &mut Counts,
    ) -> Result<(), Halt> {
        let graph = Graph::<W>::new(start, self.limits.iterations);
        let mut search = Search::new(goal, (graph, model), (self.limits, self.watch), self.graphs.fault);
        let ended = search.run();
        counts.add(&search.counts);
        ended
    }
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
        let starts = starts(query.program(), limits.iterations).unwrap_or_default();
        let run = Run { graphs: self, starts: &starts, model: &model, limits, watch };
        let (goal, ended, counts) = run.run(|| Asked::new(query, has_flags, form));
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
        let starts = starts(query.program(), limits.iterations)?;
        let run = Run { graphs: self, starts: &starts, model: &model, limits, watch: &() };
        let (goal, ended, _) = run.run(All::default);
        Some(ended.map(|()| goal.0))
    }

    /// The model, as one about relations.
    fn supported(&self, query: &Query<'_>) -> Result<Model, Refusal> {
        match query.property() {
            None | Some(Property::Assertions | Property::Observations(_) | Property::Final { .. }) => {}
            Some(Property::Races) => return Err(Refusal::NotJudged(Subject::Races)),
            Some(Property::Transactions(_)) => return Err(Refusal::NotJudged(Subject::Histories)),
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

/// What a program has that graphs do not.
fn unfit(program: &Program) -> Option<&'static str> {
    let accesses =
        || program.threads.iter().flat_map(|thread| thread.code.iter().filter_map(|instr| instr.op.access()));
    if accesses().any(|access| access.tags.contains(Tags::EXCLUSIVE)) {
        return Some("exclusive pairs");
    }
    if starts(program, 0).is_none() {
        return Some("a setup thread that may not come to its end");
    }
    one_order(program)
}

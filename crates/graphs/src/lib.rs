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
mod goals;
mod graph;
mod search;
mod thread;

use std::time::Instant;

use cyrano_engine::{
    Answer, Cause, Engine, Execution, Inexact, Limits, Query, Refusal, Stats, Stop, Subject, Verdict, Watch, one_order,
};
use cyrano_ir::{Program, Property, Tags};
use cyrano_memory::{Model, named};

pub use search::{Counts, Fault};

use consistency::{ByAxioms, unknown_base};
use goals::{All, Asked};
use graph::Graph;
use search::Search;

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Graphs {
    /// A bug that is there on purpose.
    pub fault: Option<Fault>,
}

/// The models that this engine is for. In each of them `po | rf` has no cycle, whatever is before a set of events by `po | rf` is an execution if the whole is,
/// and an execution can be extended by reading the last write and by writing last. That cannot be told from the text of a model, so that others are refused.
const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

impl Graphs {
    /// Answers, and tells what was counted.
    pub fn count(&self, query: &Query<'_>, limits: &Limits, watch: &dyn Watch) -> (Answer, Counts) {
        let started = Instant::now();
        let model = match self.supported(query) {
            Ok(model) => model,
            Err(why) => return (Answer::new(Verdict::Unknown, Some(Cause::Refused(why))), Counts::default()),
        };
        let Some(cat) = model.cat() else { unreachable!("a model about relations") };
        let has_flags = cat.plan().axioms.iter().any(|axiom| axiom.flag);
        let mut goal = Asked::new(query, has_flags);
        let mut judge = ByAxioms::new(cat.plan());
        let mut search = Search::new(&mut goal, &mut judge, (limits, watch), self.fault);
        let stopped = search.run(Graph::new(query.program(), limits.iterations));
        let counts = search.counts;
        let mut answer = goal.answer(stopped, limits.iterations);
        let seconds = started.elapsed().as_secs_f64();
        let (executions, blocked) = (Some(counts.executions), Some(counts.blocked));
        answer.stats =
            Stats { states: counts.judged, depth: counts.depth, seconds, executions, blocked, ..Stats::default() };
        (answer, counts)
    }

    /// All executions in which every thread comes to its end, in the order in which they are found; none if the question is refused.
    pub fn executions(&self, query: &Query<'_>, limits: &Limits) -> Option<Result<Vec<Execution>, Stop>> {
        let model = self.supported(query).ok()?;
        let mut goal = All::default();
        let mut judge = ByAxioms::new(model.cat()?.plan());
        let mut search = Search::new(&mut goal, &mut judge, (limits, &()), self.fault);
        let stopped = search.run(Graph::new(query.program(), limits.iterations));
        Some(stopped.map(|()| goal.0))
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
        // What is shown under a model that reorders pairs is one order of all accesses, which a graph has not.
        if !related && query.property().is_some() {
            return no_graphs();
        }
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
    if program.setup.is_some() {
        return Some("a setup thread");
    }
    one_order(program)
}

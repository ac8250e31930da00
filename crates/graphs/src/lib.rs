//! Execution graphs: every execution once, in the memory of one.
//!
//! For programs that end, and models in which `po | rf` has no cycle, executions are enumerated instead of states: a graph of events is built event by event
//! ([`search`]), and the model says which graphs are consistent ([`models`]). The threads of a program are run by [`thread`].
//!
//! **Invariants**
//! - Every consistent execution is found, and found once; `tests/` compares with all executions of the reference.
//! - What is not represented exactly is refused ([`Engine::supports`], [`fits`], [`models::promises`]): dependencies, models that perform a store before a load that it
//!   depends on.
//! - A loop that is cut off makes the verdict `bounded`; one that only spins is not cut off ([`thread`]).
//!
//! This crate knows no other engine and does no IO.

mod code;
mod execution;
mod faults;
mod fits;
mod freed;
mod fresh;
mod goals;
mod graph;
mod kept;
mod linear;
mod models;
mod names;
pub mod native;
mod races;
mod rows;
mod run;
mod search;
mod setup;
mod stale;
mod symmetry;
mod thread;
mod units;

use std::sync::Mutex;
use std::time::Instant;

use cyrano_engine::{
    Answer, Cause, Engine, Execution, Inexact, Limits, Query, Question, Refusal, Stats, Stop, Subject, Verdict, Watch,
};
use cyrano_ir::{FinalVar, Liveness, Op, Program, Property};
use cyrano_memory::{Model, named};

pub use faults::Fault;
pub use kept::{Keep, Part, Progress, Seen, Share};
pub use linear::SerialOrders;
pub use search::Counts;

use code::Rules;
use execution::Form;
use fits::{has_exclusives, unfit};
use fresh::Fresh;
use goals::{All, Asked};
use linear::Calls;
use models::consistency::unknown_base;
use models::promises::obstacle;
use models::total::Kept;
use models::views;
use names::{Names, is_name};
use search::Halt;
use search::whole::Whole;
use setup::{Start, Unstarted, starts};
use symmetry::twins::{Sorts, Twins};

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
    /// Whether of executions that differ by an exchange of equal threads one is looked at ([`symmetry`]).
    pub thread_symmetry: bool,
    /// Whether it is looked at what threads do to their objects before others know of them ([`fresh`]).
    pub fresh_objects: bool,
    /// Whether a weak compare-and-swap does not fail without a reason where there is one ([`thread`]).
    pub weak_failures: bool,
    /// After how many events a search is done by several, if there are several to do it.
    pub patience: u64,
    /// Events between two looks at the limits.
    pub pace: u64,
    /// Which part of the executions is looked at, if not all; nothing is verified then, and all parts together look at each execution once.
    pub share: Option<Share>,
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
            thread_symmetry: true,
            fresh_objects: true,
            weak_failures: true,
            patience: 50_000,
            pace: 4096,
            share: None,
            fault: None,
        }
    }
}

/// What is said if a part of a search is not there.
const LOST: &str = "what was kept is not of this search";

/// The models that are judged by what is written for each of them. In each `po | rf` has no cycle, whatever is before a set of events by `po | rf` is an execution if
/// the whole is, and an execution can be extended by reading the last write and by writing last. Of others that has to be seen from the text ([`models::promises`]).
const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

/// Finds out which threads are equal, from each start on.
fn sort<'p>(mut starts: Vec<Start<'p>>, query: &Query<'_>, sorts: Sorts) -> Vec<Start<'p>> {
    let ordered = kept(&query.model().name).is_some();
    // What is observed must be the same with threads exchanged, wherever it comes from.
    let one = starts.len() == 1 || !matches!(query.question(), Question::Outcomes);
    for start in starts.iter_mut().filter(|_| one) {
        start.twins = Twins::new(&start.program, query, sorts, ordered);
    }
    starts
}

/// Finds out which objects threads make for themselves, from each start on.
fn own<'p>(mut starts: Vec<Start<'p>>, shown: &[FinalVar], races: bool, fault: Option<Fault>) -> Vec<Start<'p>> {
    starts.iter_mut().for_each(|start| start.fresh = Fresh::new(&start.program, shown, races, fault));
    if !is_fresh(&starts) {
        starts.iter_mut().for_each(|start| start.fresh = None);
    }
    starts
}

fn is_fresh(starts: &[Start<'_>]) -> bool {
    !starts.is_empty() && starts.iter().all(|start| start.fresh.is_some())
}

fn is_sorted(starts: &[Start<'_>]) -> bool {
    starts.iter().any(|start| !start.twins.is_empty())
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

/// The same, of a model with one order of all accesses.
fn ordered(model: &Model) -> Option<Kept> {
    kept(&model.name).filter(|_| model.cat().is_none())
}

impl Graphs {
    /// Answers, and tells what was counted.
    pub fn count(&self, query: &Query<'_>, limits: &Limits, watch: &dyn Watch) -> (Answer, Counts) {
        let (answer, counts, _) = self.search(query, limits, watch, None, None);
        (answer, counts)
    }

    /// Answers whether all executions are linearizable ([`linear`]): what each shows is shown by these serial executions, in every order of calls that it
    /// leaves open. Where one is not, says which pairs of calls were in order, if it is because of them.
    pub fn linearize(
        &self,
        query: &Query<'_>,
        serial: &SerialOrders,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> (Answer, Vec<(usize, usize)>) {
        if let Some(why) = self.supports_orders(query, serial) {
            return (Answer::new(Verdict::Unknown, Some(Cause::Refused(why))), Vec::new());
        }
        let (answer, _, wrong) = self.search(query, limits, watch, None, Some(serial));
        (answer, wrong)
    }

    /// Why it cannot be said whether executions are linearizable.
    fn supports_orders(&self, query: &Query<'_>, serial: &SerialOrders) -> Option<Refusal> {
        let name = query.model().name.clone();
        let calls = Calls::new(query.program()).filter(|calls| serial.fits(calls));
        match (name.as_str(), calls) {
            (_, Some(_)) if has_exclusives(query.program()) => {
                return Some(Refusal::Inexact(Inexact::OrderOfCalls { model: name, what: "exclusive pairs" }));
            }
            ("sc" | "tso" | "cat:sc" | "cat:tso" | "ra" | "rc11", Some(_)) if !self.by_axioms => {}
            (_, None) => {
                let what = "calls that are no pieces of code of their own";
                return Some(Refusal::Inexact(Inexact::OrderOfCalls { model: name, what }));
            }
            _ => {
                let what = "relations that are not known, or reordered stores";
                return Some(Refusal::Inexact(Inexact::OrderOfCalls { model: name, what }));
            }
        }
        let is_strong = ["ra", "rc11"].contains(&name.as_str()) && views::is_strong(query.program(), name == "rc11");
        let what = "sequentially consistent accesses and fences";
        is_strong.then_some(Refusal::Inexact(Inexact::OrderOfCalls { model: name, what }))
    }

    /// Answers, has kept what was found so far now and then, and goes on from what was kept of the same question.
    pub fn ask_kept(
        &self,
        query: &Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
        keep: &dyn Keep,
        from: Option<Progress>,
    ) -> Answer {
        self.search(query, limits, watch, Some((keep, from)), None).0
    }

    fn search(
        &self,
        query: &Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
        keeping: Option<(&dyn Keep, Option<Progress>)>,
        serial: Option<&SerialOrders>,
    ) -> (Answer, Counts, Vec<(usize, usize)>) {
        let started = Instant::now();
        let model = match self.supported(query) {
            Ok(model) => model,
            Err(why) => {
                let refused = Answer::new(Verdict::Unknown, Some(Cause::Refused(why)));
                return (refused, Counts::default(), Vec::new());
            }
        };
        let this = &self.fit_for(&model, query.program());
        // What is shown under a model that reorders pairs is one order of all accesses.
        let ordered = ordered(query.model());
        let form = ordered.map_or(Form::Related, Form::Ordered);
        let has_flags = model.cat().is_some_and(|cat| cat.plan().axioms.iter().any(|axiom| axiom.flag));
        let shown = shown(query);
        // Whoever goes on later, or elsewhere, must find the same search there, which does not begin anew.
        let whole = keeping.is_none() && this.share.is_none();
        let mut names = if this.unseen_values && whole { Names::new(query) } else { Names::default() };
        let calls = serial.and_then(|serial| Some((serial, Calls::new(query.program())?)));
        let new = || Asked::new(query, has_flags, form).in_order(calls.clone());
        let mut sorts = this.sorts(whole);
        let mut fresh = whole && this.knows_fresh(query);
        let (goal, ended, counts, used, twins) = loop {
            let mut starts = match starts(query.program(), limits.iterations, &names) {
                Err(Unstarted::Sees(name)) => {
                    names.forget(name);
                    continue;
                }
                starts => sort(starts.unwrap_or_default(), query, sorts),
            };
            if this.fault == Some(Fault::NeverApart) {
                starts.iter_mut().for_each(|start| start.twins.compares = false);
            }
            if fresh {
                starts = own(starts, &shown, ordered.is_none() && knows_races(&model), this.fault);
            }
            let mut run = Whole { watch, ..this.start(query, (&model, limits), &starts, (&shown, &names)) };
            if let Some((keep, from)) = &keeping {
                run.keep = Some(*keep);
                run.so_far = from.clone().map_or(run.so_far, Mutex::new);
            }
            let (goal, ended, counts) = run.run(new);
            // What races has no meaning: it is looked at as it is.
            let flagged = fresh && goal.is_flagged();
            if ended == Err(Halt::Strange) || flagged {
                fresh = false;
                continue;
            }
            match goal.sees() {
                Some(name) if is_name(name) => names.forget(name),
                None if ended != Err(Halt::Apart) => {
                    let twins = starts.first().map(|start| start.twins.clone()).unwrap_or_default();
                    break (goal, ended, counts, run.used(query.program()), twins);
                }
                _ => sorts = sorts.fewer(),
            }
        };
        let wrong_order = goal.wrong_order().to_vec();
        let mut answer = match (ended, this.share) {
            (Err(Halt::Lost), _) => Answer::new(Verdict::Unknown, Some(Cause::Trouble(LOST.to_owned()))),
            (Err(Halt::Stopped(stop)), share) => goal.answer(Err(stop), limits.iterations, share),
            (_, share) => goal.answer(Ok(()), limits.iterations, share),
        };
        let seconds = started.elapsed().as_secs_f64();
        let (executions, blocked) = (Some(counts.executions), Some(counts.blocked));
        answer.stats =
            Stats { states: counts.events, depth: counts.depth, seconds, executions, blocked, ..Stats::default() };
        answer.reductions.extend(used);
        twins.close(query.program(), &mut answer.outcomes);
        (answer, counts, wrong_order)
    }

    /// A search from these starts for a question that looks at this in the end.
    fn start<'a>(
        &'a self,
        query: &Query<'_>,
        (model, limits): (&'a Model, &'a Limits),
        starts: &'a [Start<'a>],
        (shown, names): (&'a [FinalVar], &'a Names),
    ) -> Whole<'a> {
        let rules = Rules {
            iterations: limits.iterations,
            idle: Some(shown).filter(|_| self.idle_iterations),
            ordered: ordered(query.model()).is_some(),
            idles_by_choice: !matches!(query.property(), Some(Property::Live(_))),
            races: ordered(query.model()).is_none() && knows_races(model),
            weak: Some(shown).filter(|_| self.weak_failures && fails_alike(model)),
            names,
            fault: self.fault,
        };
        let fresh = is_fresh(starts);
        let about =
            self.fault != Some(Fault::AboutWaits) && stale::is_about_waits(query, model, (rules.ordered, fresh));
        let stale_waits = self.stale_waits && !about;
        let stale_reads_race = fresh && rules.races && self.fault != Some(Fault::StaleRaces);
        let parts = (0..starts.len()).map(Part::whole).collect();
        let so_far = Mutex::new(Progress { parts, ..Progress::default() });
        Whole {
            graphs: self,
            starts,
            model,
            limits,
            watch: &(),
            rules,
            stale_waits,
            stale_reads_race,
            keep: None,
            so_far,
        }
    }

    /// All executions in which every thread comes to its end, in the order in which they are found; none if the question is refused.
    pub fn executions(&self, query: &Query<'_>, limits: &Limits) -> Option<Result<Vec<Execution>, Stop>> {
        let model = self.supported(query).ok()?;
        let this = self.fit_for(&model, query.program());
        let (shown, names) = (shown(query), Names::default());
        let mut sorts = this.sorts(this.share.is_none());
        loop {
            let mut starts = sort(starts(query.program(), limits.iterations, &names).ok()?, query, sorts);
            if self.fault == Some(Fault::NeverApart) {
                starts.iter_mut().for_each(|start| start.twins.compares = false);
            }
            let run = this.start(query, (&model, limits), &starts, (&shown, &names));
            let (goal, ended, _) = run.run(All::default);
            return Some(match ended {
                Err(Halt::Stopped(stop)) => Err(stop),
                Err(Halt::Apart) => {
                    sorts = sorts.fewer();
                    continue;
                }
                _ => Ok(goal.0),
            });
        }
    }

    /// Whether it is looked at what threads do to their objects before others know of them.
    fn knows_fresh(&self, query: &Query<'_>) -> bool {
        let lives = matches!(query.property(), Some(Property::Live(_)));
        let reorders = kept(&query.model().name) == Some(Kept::Pso) && self.fault != Some(Fault::Reordered);
        self.fresh_objects && self.idle_iterations && !lives && !reorders
    }

    /// The engine for a model and a program: for what nothing was written for, by the model's text and without what was argued for the others only.
    fn fit_for(&self, model: &Model, program: &Program) -> Self {
        if is_written_for(model, program) {
            return *self;
        }
        Self {
            by_axioms: true,
            idle_iterations: false,
            stale_waits: false,
            thread_symmetry: false,
            fresh_objects: false,
            weak_failures: false,
            ..*self
        }
    }

    /// Which threads are sorted, in a search that may begin anew or in one that may not.
    fn sorts(&self, anew: bool) -> Sorts {
        match self.thread_symmetry {
            true if anew => Sorts::Equal,
            true => Sorts::Begun,
            false => Sorts::None,
        }
    }

    /// The model, as one about relations.
    fn supported(&self, query: &Query<'_>) -> Result<Model, Refusal> {
        match query.property() {
            None | Some(Property::Assertions | Property::Observations(_) | Property::Final { .. }) => {}
            Some(Property::Races) if knows_races(query.model()) && query.program().setup.is_none() => {}
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
        let no_graphs = |why| Err(Refusal::Inexact(Inexact::NoGraphs { model: name.clone(), why }));
        let related = query.model().cat().is_some();
        let model = if related { Some(query.model().clone()) } else { twin(query.model()) };
        let Some(model) = model else { return no_graphs(None) };
        let unknown = model.cat().and_then(|cat| unknown_base(cat.plan()));
        let known = is_known(&model);
        if let (None, false, Some(cat)) = (unknown, known, model.cat())
            && let Some(why) = obstacle(cat.plan())
        {
            return no_graphs(Some(why));
        }
        if !is_written_for(&model, query.program()) && matches!(query.property(), Some(Property::Live(_))) {
            return Err(Refusal::NotJudged(Subject::EndlessRuns));
        }
        // Of an execution with freed memory one order may be wrong and another one not.
        let observes = matches!(query.question(), Question::Outcomes | Question::Holds(Property::Final { .. }));
        let freed = (observes && !related && query.program().has_headers()).then_some("freed memory");
        let knows_lives = known && model.cat().is_some_and(|cat| cat.plan().happens_before.is_some());
        match unknown.or(freed).or_else(|| unfit(query.program(), !related, knows_lives)) {
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

/// Whether a compare-and-swap that fails is a load to the model: not where a locked instruction is a fence in any case.
fn fails_alike(model: &Model) -> bool {
    ["cat:sc", "ra", "rc11"].contains(&model.name.as_str())
}

/// Whether the model says what a race is.
fn knows_races(model: &Model) -> bool {
    model.cat().is_some_and(|cat| cat.plan().data_race().is_some())
}

/// Whether a question is judged by what is written for its model, and not by the model's text, which is slow.
pub fn is_quick(query: &Query<'_>) -> bool {
    query.model().cat().is_some() && is_written_for(query.model(), query.program())
}

/// Whether a model is known, and the program has no exclusive pairs, which only the texts of models speak of.
fn is_written_for(model: &Model, program: &Program) -> bool {
    is_known(model) && !has_exclusives(program)
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

/// Whether a thread need not end, but pass a mark again and again.
fn has_marks(program: &Program) -> bool {
    program.threads.iter().any(|thread| thread.code.iter().any(|instr| matches!(instr.op, Op::Progress(_))))
}

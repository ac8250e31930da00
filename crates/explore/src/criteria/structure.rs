//! The memory's own set of histories, and what FOIL, section 8, asks of it; the definitions are in [`cyrano_criteria::structure`].
//!
//! The graph of all reachable states is built as for progress, with what happens in each step. From it comes an automaton with silent steps
//! ([`automaton`]), which is made deterministic and small, and then every property but isolation is a question about that language. Isolation is
//! about executions and is decided on the graph ([`isolation`]).
//!
//! **Exactness.** Every event of a transaction (`rfin`, `commit`, `abort`) is a step of its own here: for opacity the earliest moment is the strictest,
//! but a language has the later ones, too. The reductions that are used keep the set of histories: `macro-steps` joins steps of which no other
//! thread sees anything and which are no events, `dead-registers` and `timestamps` relate states that can do the same. Symmetries, `lazy-choices`,
//! `repeated-stores`, `ample-sets` and `dead-loads` are made for safety and are not used. Where a thread may defer more accesses than the limit,
//! the verdict is `bounded` at best.
//!
//! A violation comes with an execution of the history that asks for another one in vain; that the other one is missing is the search's word.

mod automaton;
mod isolation;

use std::cell::Cell;

use cyrano_criteria::history::Size;
use cyrano_criteria::structure::isolation::Kind;
use cyrano_criteria::structure::language::{GivenUp, Language, Letters};
use cyrano_criteria::structure::monotone::monotone;
use cyrano_criteria::structure::rules::MOST_THREADS;
use cyrano_criteria::structure::transform::{Flaw, flaw};
use cyrano_engine::{
    Answer, Cause, Inexact, Limits, Query, Refusal, Stats, Stop, Verdict, Violation, Watch, limit_reason,
};
use cyrano_ir::{InstrId, Program, Property, Structure, ThreadId};
use cyrano_memory::Model;

use crate::criteria::runs::graph::{Edge, Graph};
use crate::search::witness::{self, PathReplay};
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;
use crate::{Explore, larger};
use automaton::{Automaton, Part};

/// How many histories of one length are looked at for monotonicity; the next length is left out if there would be more.
const MOST_HISTORIES: usize = 60_000;

/// How much work a language may take: states in sets, then pairs.
const MOST_WORK: usize = 60_000_000;
const MOST_PAIRS: usize = 10_000_000;

/// Whether a question about the set of histories can be answered.
pub(crate) fn supports(structure: Structure, query: &Query<'_>) -> Result<(), Refusal> {
    let (program, model) = (query.program(), query.model());
    if structure == Structure::Reduction {
        return Err(Refusal::TooLarge("`reduction` is several questions, about several instances".to_owned()));
    }
    if model.reordering().serial || model.own_order(program).is_some() {
        return Err(Refusal::Inexact(Inexact::EndlessRuns { model: model.name.clone() }));
    }
    if program.threads.len() > MOST_THREADS || program.transactional.len() > 8 {
        return Err(Refusal::TooLarge(format!("sets of histories are compared for up to {MOST_THREADS} threads")));
    }
    Ok(())
}

/// Answers a question about the set of all histories.
pub(crate) fn ask(
    config: &Explore,
    query: Query<'_>,
    structure: Structure,
    limits: &Limits,
    watch: &dyn Watch,
) -> Answer {
    let (program, model) = (query.program(), query.model());
    if let Err(why) = supports(structure, &query) {
        return Answer::new(Verdict::Unknown, Some(Cause::Refused(why)));
    }
    let judge = |asked: &Asked<'_>| {
        let started = std::time::Instant::now();
        let mut answer = asked.judge(structure);
        answer.stats.seconds += started.elapsed().as_secs_f64();
        answer
    };
    on_graph(config, (program, model), structure, limits, watch, judge)
}

/// Builds the graph of all states and asks about it.
fn on_graph<T>(
    config: &Explore,
    (program, model): (&Program, &Model),
    structure: Structure,
    limits: &Limits,
    watch: &dyn Watch,
    judge: impl FnOnce(&Asked<'_>) -> T,
) -> T {
    let config = Explore { dead_loads: false, ..config.clone() };
    let property = Property::Structure(structure);
    let mut gap = (config.timestamps && program.has_timestamps()).then_some(1);
    loop {
        let machine = Machine::new(program, model, &config, Some(&property), limits.deferred, gap);
        let graph = Graph::build(&machine, &property, limits, watch);
        if graph.notes.gap_too_small {
            gap = larger(gap);
            continue;
        }
        return judge(&Asked { machine: &machine, graph: &graph, limits, calls: Cell::new(0) });
    }
}

impl Explore {
    /// All histories of a memory, as the structural properties see them; none if there is too much to do.
    pub fn language(&self, program: &Program, model: &Model, limits: &Limits) -> Option<Language> {
        on_graph(self, (program, model), Structure::TransactionProjection, limits, &(), |asked| {
            let letters = asked.letters();
            let automaton = Automaton::new(asked.graph, &letters, Part::All);
            let language = Language::new(&automaton.nfa, &letters, false, |work| asked.goes_on(work, MOST_WORK));
            language.ok().filter(|_| asked.graph.stop.is_none() && !asked.graph.notes.bounded)
        })
    }
}

struct Asked<'a> {
    machine: &'a Machine<'a>,
    graph: &'a Graph,
    limits: &'a Limits,
    /// How often it was asked whether to go on.
    calls: Cell<usize>,
}

impl Asked<'_> {
    fn judge(&self, structure: Structure) -> Answer {
        let (machine, graph) = (self.machine, self.graph);
        let base = |verdict, reason| Answer {
            reductions: machine.config.reductions(machine, Notes::default()),
            stats: Stats { ..graph.stats },
            ..Answer::new(verdict, reason)
        };
        if let Some((path, hit)) = &graph.wrong {
            let (execution, violation) = witness::execution(machine, hit, path);
            return Answer { violation, execution: Some(execution), ..base(Verdict::Violated, None) };
        }
        if let Some(stop) = graph.stop {
            return base(Verdict::Unknown, Some(stop.into()));
        }
        if !graph.commits {
            return base(Verdict::Vacuous, Some(Cause::Nothing("no transaction ever commits")));
        }
        let found = match structure {
            Structure::AbortIsolation => self.isolation(Kind::Abort),
            Structure::PendingIsolation => self.isolation(Kind::Pending),
            _ => self.language(structure),
        };
        match found {
            Err(stop) => base(Verdict::Unknown, Some(stop.into())),
            Ok(Found { path: Some(path), missing, .. }) => Answer {
                violation: Some(Violation::Structure { missing }),
                execution: Some(self.execution(&path)),
                ..base(Verdict::Violated, None)
            },
            Ok(_) if graph.notes.bounded => base(Verdict::Bounded, Some(Cause::Deferred(self.limits.deferred))),
            Ok(_) if graph.notes.limited.is_some() => {
                let reason = |(thread, pc)| limit_reason(machine.program, ThreadId::new(thread), InstrId(pc));
                base(Verdict::Bounded, graph.notes.limited.map(reason))
            }
            Ok(Found { events: Some(events), .. }) => base(Verdict::Bounded, Some(Cause::Events(events))),
            Ok(_) => base(Verdict::Verified, None),
        }
    }

    fn isolation(&self, kind: Kind) -> Result<Found, Stop> {
        let path = isolation::search(self.machine, self.graph, kind, self.limits)?;
        Ok(Found { path, ..Found::default() })
    }

    fn letters(&self) -> Letters {
        let machine = self.machine;
        Letters::new(Size { threads: machine.threads.len() as u8, vars: machine.program.transactional.len() as u8 })
    }

    fn language(&self, structure: Structure) -> Result<Found, Stop> {
        let letters = self.letters();
        let part = match structure {
            Structure::SequentialRenaming => Part::Rows,
            Structure::ThreadSymmetry
            | Structure::VariableProjection
            | Structure::SettledProjection
            | Structure::Monotonicity => Part::Unaborted,
            _ => Part::All,
        };
        let automaton = Automaton::new(self.graph, &letters, part);
        let language =
            |marks: bool| Language::new(&automaton.nfa, &letters, marks, |work| self.goes_on(work, MOST_WORK));
        let plain = language(false).map_err(|GivenUp| self.stop())?;
        let (flaw, events) = match structure {
            Structure::Monotonicity => {
                let found = monotone(&plain, MOST_HISTORIES, |looked| self.goes_on(looked, usize::MAX));
                let found = found.map_err(|GivenUp| self.stop())?;
                (found.flaw, Some(found.events))
            }
            _ => {
                let marks = structure == Structure::ConflictCommutativity;
                let marked = if marks { language(true).map_err(|GivenUp| self.stop())? } else { plain.clone() };
                let found = flaw(structure, &marked, &plain, &mut |pairs| self.goes_on(pairs, MOST_PAIRS));
                (found.map_err(|GivenUp| self.stop())?, None)
            }
        };
        let Some(Flaw { history, image }) = flaw else { return Ok(Found { events, ..Found::default() }) };
        let path = automaton.path(&history, &letters);
        Ok(Found { path: Some(path), missing: Some(image), events })
    }

    /// Whether there is work left, and the run need not end.
    fn goes_on(&self, done: usize, most: usize) -> bool {
        let calls = self.calls.get() + 1;
        self.calls.set(calls);
        done <= most && (!calls.is_multiple_of(4096) || self.limits.exceeded(self.graph.size()).is_none())
    }

    fn stop(&self) -> Stop {
        self.limits.exceeded(self.graph.size()).unwrap_or(Stop::Size)
    }

    /// The execution along a path of steps from a start.
    fn execution(&self, path: &[(u32, Edge)]) -> cyrano_engine::Execution {
        let mut walk = PathReplay::new(self.machine);
        let start = path.first().map_or(self.graph.starts()[0], |(from, _)| *from);
        let mut state = walk.follow(None, |walk, step| walk.leads_to(step, self.graph.bytes(start)));
        for (_, edge) in path {
            let deeds = self.graph.deeds(edge);
            state = walk.follow(Some(&state), |walk, step| {
                let kinds = step.deeds.iter().map(|deed| (deed.event, deed.location));
                let same = kinds.eq(deeds.iter().map(|deed| (deed.event, deed.location)));
                let here = step.thread == usize::from(edge.thread) && step.ended == edge.ended && step.event.is_none();
                here && same && walk.leads_to(step, self.graph.bytes(edge.to))
            });
        }
        walk.execution
    }
}

/// Steps, each with the node that it starts from.
type Path = Vec<(u32, Edge)>;

/// What came of it: a path that shows a violation, with the history that is missing; how long histories were looked at, if not all were.
#[derive(Default)]
struct Found {
    path: Option<Path>,
    missing: Option<cyrano_criteria::history::History>,
    events: Option<usize>,
}

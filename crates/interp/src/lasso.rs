//! Does a recorded execution go around in a circle, and does a thread get nowhere in it?
//!
//! The execution has a stem and the same round several times. After the stem and after every round each thread is run again as far as it has come by then
//! ([`mod@rest`]); these states have to be the same ([`mod@alike`]), with what is deferred there.
//!
//! Replaying has shown before that all steps are allowed. A state with the same future can go on in the same way, so the round can be repeated for ever. What a
//! round has to show is the business of [`mod@progress`] and of [`mod@termination`].

mod ahead;
mod alike;
mod names;
mod operations;
mod progress;
mod rest;
mod termination;

use cyrano_engine::{Execution, Extent, Lasso, StepFacts, client_choices};
use cyrano_ir::dataflow::Clocks;
use cyrano_ir::{LabelName, Program, Property, ThreadId};
use cyrano_memory::Model;

use crate::error::ReplayError;
use crate::machine::section;
use crate::machine::{Code, Machine};
use alike::Comparison;
use rest::{Rest, Runner, Signs, Until};

/// Confirms that the execution, whose steps have been replayed, shows the lasso, and that the lasso violates the property.
pub(crate) fn confirm(
    program: &Program,
    model: &Model,
    property: &Property,
    lasso: &Lasso,
    execution: &Execution,
    steps: &[StepFacts],
) -> Result<(), ReplayError> {
    let (label, operations) = match property {
        Property::Live(liveness) => (liveness.label().map(LabelName::name), liveness.stops_threads()),
        _ => (None, false),
    };
    let claim = Claim { program, model, lasso, execution, steps, label, operations, clocks: Clocks::new(program) };
    claim.has_its_shape()?;
    claim.takes_free_names()?;
    claim.repeats()?;
    match property {
        Property::Progress(progress) => claim.makes_no_progress(*progress),
        Property::Live(liveness) if operations => claim.never_completes(*liveness),
        Property::Live(_) => claim.never_ends(),
        _ => no_lasso("the property has no such violation"),
    }
}

fn no_lasso<T>(why: impl Into<String>) -> Result<T, ReplayError> {
    Err(ReplayError::new(format_args!("it does not go on for ever as claimed: {}", why.into())))
}

struct Claim<'a> {
    program: &'a Program,
    model: &'a Model,
    lasso: &'a Lasso,
    execution: &'a Execution,
    steps: &'a [StepFacts],
    /// The label of the marks that count.
    label: Option<&'static str>,
    /// Whether the ends of operations are marks, too.
    operations: bool,
    clocks: Clocks,
}

/// All threads at rest, and memory.
struct Snapshot<'a> {
    threads: Vec<Rest<'a>>,
    memory: Vec<i128>,
}

impl<'a> Claim<'a> {
    fn has_its_shape(&self) -> Result<(), ReplayError> {
        let Lasso { thread, stem, round, rounds, .. } = self.lasso;
        let threads = self.program.threads.len();
        let total = |stem: usize, round: usize| round.checked_mul(*rounds).and_then(|all| all.checked_add(stem));
        // Out of order more steps show that what was performed ahead of the text is executed.
        let fills = |part: Option<usize>, all: usize| match part {
            Some(part) if self.is_out_of_order() => part <= all,
            part => part == Some(all),
        };
        let fits = |extent: &Extent| extent.choices.len() == threads && extent.issued.len() == stem.issued.len();
        // Where nothing is deferred, it need not be said what is issued.
        let issued_fits = stem.issued.is_empty() || stem.issued.len() == threads;
        if *rounds < 2 || thread.index() >= threads || !fits(stem) || !fits(round) || !issued_fits {
            return no_lasso("its rounds are not described completely");
        }
        let choices = stem.choices.iter().zip(&round.choices).zip(&self.execution.choices);
        let same = choices.into_iter().all(|((stem, round), all)| fills(total(*stem, *round), all.len()));
        if !same || !fills(total(stem.steps, round.steps), self.steps.len()) {
            return no_lasso("it is not as long as its stem and its rounds");
        }
        let names = self.names()?;
        let start = stem.steps;
        let alike = (start + round.steps..start + rounds * round.steps).all(|at| {
            let (this, that) = (&self.steps[at], &self.steps[at - round.steps]);
            let place = |step: &StepFacts| names.without_name(step.loc);
            // Not by its instruction: what is deferred when a round begins may come from before the loop.
            (this.access.thread, this.kind, place(this)) == (that.access.thread, that.kind, place(that))
        });
        if alike { Ok(()) } else { no_lasso("its rounds differ") }
    }

    /// The states after the stem and after each round are the same.
    fn repeats(&self) -> Result<(), ReplayError> {
        let first = self.snapshot(0)?;
        for round in 1..=self.lasso.rounds {
            let later = self.snapshot(round)?;
            if !Comparison::new(self.program, &self.clocks).alike(&first, &later) {
                return no_lasso(format!("the state after round {round} is not the one before the first"));
            }
        }
        Ok(())
    }

    /// The state after this many rounds.
    fn snapshot(&self, rounds: usize) -> Result<Snapshot<'a>, ReplayError> {
        let Lasso { stem, round, .. } = self.lasso;
        let steps = &self.steps[..stem.steps + rounds * round.steps];
        let part = |stem: &[usize], round: &[usize], t: ThreadId| {
            let more = round[t.index()].saturating_mul(rounds);
            stem[t.index()].saturating_add(more)
        };
        if self.is_out_of_order() {
            let threads = self.rests_out_of_order(steps.len())?;
            let mut snapshot = Snapshot { threads, memory: self.memory(steps) };
            self.rename(&mut snapshot)?;
            return Ok(snapshot);
        }
        let until = |t| Until {
            issued: if stem.issued.is_empty() { self.made(t, steps) } else { part(&stem.issued, &round.issued, t) },
            choices: part(&stem.choices, &round.choices, t),
        };
        let threads = self.program.thread_ids().map(|t| self.rest(t, steps, until(t), &mut |_, _| {}));
        let mut snapshot = Snapshot { threads: threads.collect::<Result<_, _>>()?, memory: self.memory(steps) };
        self.rename(&mut snapshot)?;
        Ok(snapshot)
    }

    fn memory(&self, steps: &[StepFacts]) -> Vec<i128> {
        let mut memory = self.program.initial_memory();
        for step in steps {
            if let Some(value) = step.access.written {
                memory[step.loc.index()] = value;
            }
        }
        memory
    }

    /// Runs a thread through its part of these steps, and as far as it has come; `visit` sees it before each of its choices, with what it will choose.
    fn rest(
        &self,
        thread: ThreadId,
        steps: &[StepFacts],
        until: Until,
        visit: &mut dyn FnMut(&Machine<'a>, i128),
    ) -> Result<Rest<'a>, ReplayError> {
        let commands = client_choices(self.program, thread);
        let signs = Signs { commands: &commands, label: self.label, operations: self.operations };
        let choices = &self.execution.choices[thread.index()];
        let code = Code::new(self.program, self.model, thread);
        Runner::new(code, &self.clocks, steps, choices, until, signs).run(visit)
    }

    /// The steps of a thread in the first round.
    fn round_of(&self, thread: ThreadId) -> impl Iterator<Item = &StepFacts> {
        let Lasso { stem, round, .. } = self.lasso;
        let steps = &self.steps[stem.steps..stem.steps + round.steps];
        steps.iter().filter(move |step| step.access.thread == thread)
    }

    /// Memory after the stem and after every step of a round.
    fn moments(&self) -> impl Iterator<Item = Vec<i128>> {
        let Lasso { stem, round, .. } = self.lasso;
        (stem.steps..=stem.steps + round.steps).map(|until| self.memory(&self.steps[..until]))
    }

    /// Whether a section that a thread stands at, with nothing deferred, is closed.
    fn is_closed(&self, machine: &Machine<'_>, memory: &[i128]) -> bool {
        matches!(section::fate(machine, &|loc| memory[loc.index()]), section::Fate::Waits)
    }
}

//! Does a recorded execution go around in a circle, and does a thread get nowhere in it?
//!
//! The execution has a stem and the same round several times. After the stem and after every round each thread is run again up to its
//! next access or choice; these states have to agree in program counters, in memory and in the registers that are still
//! used. Timestamps have to agree in the order of those that can meet, and in the remainders that the program looks at: they may
//! grow from round to round.
//!
//! Replaying has shown before that all steps are allowed. A state without deferred accesses and with the same future can
//! go on in the same way, so the round can be repeated for ever.

mod names;

use cyrano_engine::{Execution, Extent, Fate, Lasso, StepFacts, client_choices};
use cyrano_ir::dataflow::{Class, Clocks, Liveness};
use cyrano_ir::{LocId, Op, Program, Progress, RegId, ThreadId, TxEvent, Ty};
use cyrano_memory::Model;

use crate::error::ReplayError;
use crate::machine::{Code, Machine};
use crate::section;
use crate::stepped::Step;

/// A thread that runs this long without an access or a choice of its client never comes to one.
const ENDLESS: usize = 100_000;

/// Confirms that the execution, whose steps have been replayed, shows the lasso, and that the lasso violates the property.
pub(crate) fn confirm(
    program: &Program,
    model: &Model,
    progress: Progress,
    lasso: &Lasso,
    execution: &Execution,
    steps: &[StepFacts],
) -> Result<(), ReplayError> {
    let claim = Claim { program, model, lasso, execution, steps };
    claim.has_its_shape()?;
    claim.takes_free_names()?;
    claim.repeats()?;
    claim.is_fair(progress)?;
    claim.gets_nowhere()
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
}

/// A thread at rest.
struct Rest<'a> {
    machine: Machine<'a>,
    /// How many commands its client has chosen.
    commands: usize,
    /// It runs on without an access for ever.
    endless: bool,
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
        let fits = |extent: &Extent| extent.choices.len() == threads;
        if *rounds < 2 || thread.index() >= threads || !fits(stem) || !fits(round) {
            return no_lasso("its rounds are not described completely");
        }
        let choices = stem.choices.iter().zip(&round.choices).zip(&self.execution.choices);
        let same = choices.into_iter().all(|((stem, round), all)| total(*stem, *round) == Some(all.len()));
        if !same || total(stem.steps, round.steps) != Some(self.steps.len()) {
            return no_lasso("it is not as long as its stem and its rounds");
        }
        let names = self.names()?;
        let start = stem.steps;
        let alike = (start + round.steps..self.steps.len()).all(|at| {
            let (this, that) = (&self.steps[at], &self.steps[at - round.steps]);
            let place = |step: &StepFacts| names.without_name(step.loc);
            (this.access.thread, this.instr, place(this)) == (that.access.thread, that.instr, place(that))
        });
        if alike { Ok(()) } else { no_lasso("its rounds differ") }
    }

    /// The states after the stem and after each round are the same.
    fn repeats(&self) -> Result<(), ReplayError> {
        let first = self.snapshot(0)?;
        for round in 1..=self.lasso.rounds {
            let later = self.snapshot(round)?;
            if !self.alike(&first, &later) {
                return no_lasso(format!("the state after round {round} is not the one before the first"));
            }
        }
        Ok(())
    }

    /// The state after this many rounds.
    fn snapshot(&self, rounds: usize) -> Result<Snapshot<'a>, ReplayError> {
        let Lasso { stem, round, .. } = self.lasso;
        let steps = &self.steps[..stem.steps + rounds * round.steps];
        let choices = |t: usize| stem.choices[t] + rounds * round.choices[t];
        let threads = self.program.thread_ids().map(|t| self.rest(t, steps, choices(t.index())));
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

    /// Runs a thread through its part of these steps and on to its next access or choice.
    fn rest(&self, thread: ThreadId, steps: &[StepFacts], choices: usize) -> Result<Rest<'a>, ReplayError> {
        self.rest_after(thread, steps, choices, &mut |_, _| {})
    }

    /// The same; `visit` sees the thread before each of its choices, with what it will choose.
    fn rest_after(
        &self,
        thread: ThreadId,
        steps: &[StepFacts],
        choices: usize,
        visit: &mut dyn FnMut(&Machine<'a>, i128),
    ) -> Result<Rest<'a>, ReplayError> {
        let own: Vec<_> = steps.iter().filter(|step| step.access.thread == thread).map(|step| step.access).collect();
        if own.iter().enumerate().any(|(at, access)| access.index as usize != at) {
            return no_lasso("a thread has deferred accesses");
        }
        let clients = client_choices(self.program, thread);
        let mut rest =
            Rest { machine: Machine::new(Code::new(self.program, self.model, thread)), commands: 0, endless: false };
        let mut idle = 0;
        loop {
            let machine = &mut rest.machine;
            let op = machine.op();
            let issued = machine.events.len();
            let ahead = issued >= own.len();
            let accesses = op.access_kind().is_some() || matches!(op, Op::Transaction(_) | Op::AtomicBegin);
            if ahead && accesses || idle > ENDLESS {
                rest.endless = idle > ENDLESS;
                return Ok(rest);
            }
            idle += 1;
            match machine.step() {
                Step::Read(request) => machine.read(request, own[issued].read),
                Step::Choose(_) => {
                    let made = machine.choices.len();
                    if made >= choices {
                        return Ok(rest);
                    }
                    rest.commands += usize::from(clients.contains(&machine.pc));
                    let chosen = self.execution.choices[thread.index()][made];
                    visit(machine, chosen);
                    machine.choose(chosen);
                    idle = 0;
                }
                Step::Local | Step::Back(_) | Step::Stored => {}
                Step::Refused | Step::Limited | Step::Missing | Step::Failed(_) | Step::Halted => return Ok(rest),
            }
            if rest.machine.events.len() > issued {
                idle = 0;
            }
        }
    }

    fn alike(&self, first: &Snapshot<'_>, later: &Snapshot<'_>) -> bool {
        let classes = Clocks::new(self.program);
        let mut clocks: Vec<(Class, i128, i128)> = Vec::new();
        let mut same = |ty: Ty, class: Class, a: i128, b: i128| {
            if ty == Ty::Timestamp {
                clocks.push((class, a, b));
            }
            a == b || ty == Ty::Timestamp && (b - a) % classes.modulus(class) == 0
        };
        let locations = self.program.locations.iter().zip(first.memory.iter().zip(&later.memory)).enumerate();
        let class = |at: usize| classes.location(LocId::new(at));
        if !{ locations }.all(|(at, (location, (a, b)))| same(location.ty, class(at), *a, *b)) {
            return false;
        }
        for (thread, (a, b)) in first.threads.iter().zip(&later.threads).enumerate() {
            if a.machine.pc != b.machine.pc && !(a.endless && b.endless) {
                return false;
            }
            let declared = &self.program.threads[thread];
            let live = Liveness::new(declared, []);
            for (at, register) in declared.registers.iter().enumerate() {
                let values = a.machine.registers[at].zip(b.machine.registers[at]);
                let looked_at = live.is_live(a.machine.pc, RegId::new(at)) && !a.endless;
                let class = classes.register(ThreadId::new(thread), RegId::new(at));
                if looked_at && !values.is_some_and(|(a, b)| same(register.ty, class, a, b)) {
                    return false;
                }
            }
        }
        let mut met: Vec<Class> = clocks.iter().map(|(class, ..)| *class).collect();
        met.sort_unstable();
        met.dedup();
        met.into_iter().all(|class| {
            let own = clocks.iter().filter(|(of, ..)| *of == class).map(|(_, a, b)| (*a, *b));
            same_order((0..=self.largest_start()).map(|value| (value, value)).chain(own).collect())
        })
    }

    /// Timestamps up to the largest one that anything starts with are not renumbered, for they are what programs compare with.
    fn largest_start(&self) -> i128 {
        let locations = self.program.locations.iter().filter(|l| l.ty == Ty::Timestamp).map(|l| l.init);
        let registers = self.program.threads.iter().flat_map(|thread| &thread.registers);
        let registers = registers.filter(|r| r.ty == Ty::Timestamp).map(|r| r.init);
        locations.chain(registers).max().unwrap_or(0).clamp(0, 64)
    }

    /// The steps of a thread in the first round.
    fn round_of(&self, thread: ThreadId) -> impl Iterator<Item = &StepFacts> {
        let Lasso { stem, round, .. } = self.lasso;
        let steps = &self.steps[stem.steps..stem.steps + round.steps];
        steps.iter().filter(move |step| step.access.thread == thread)
    }

    /// How a transaction ends in a step.
    fn ended(&self, step: &StepFacts) -> Option<TxEvent> {
        match self.program.instr(step.access.thread, step.instr).op {
            Op::Transaction(event @ (TxEvent::Commit | TxEvent::Abort)) => Some(event),
            _ => None,
        }
    }

    /// Whether a thread has a transaction under way after the stem.
    fn is_busy(&self, thread: ThreadId) -> bool {
        let own = self.steps[..self.lasso.stem.steps].iter().filter(|step| step.access.thread == thread);
        let after = own.rev().take_while(|step| self.ended(step).is_none());
        { after }.any(|step| step.access.read.is_some() || step.access.written.is_some())
    }

    /// The other threads do what the property lets them do.
    fn is_fair(&self, progress: Progress) -> Result<(), ReplayError> {
        for other in self.program.thread_ids().filter(|other| *other != self.lasso.thread) {
            let still = self.round_of(other).next().is_none() && self.lasso.round.choices[other.index()] == 0;
            let ends = self.round_of(other).any(|step| self.ended(step).is_some());
            let fair = match progress {
                Progress::Solo => still,
                Progress::CrashFreeSolo => still && !self.is_busy(other),
                Progress::Local => {
                    let stuck = || Ok(self.suffers(other, Fate::Waits)? || self.suffers(other, Fate::Blocked)?);
                    ends || still && !self.is_busy(other) || stuck()?
                }
            };
            if !fair {
                return no_lasso(format!("{} does not do its part", self.program.thread(other).name));
            }
        }
        Ok(())
    }

    /// The thread does not commit, and that is not its client's fault.
    fn gets_nowhere(&self) -> Result<(), ReplayError> {
        let Lasso { thread, fate, .. } = self.lasso;
        let name = &self.program.thread(*thread).name;
        let shown = self.suffers(*thread, *fate)?;
        if shown { Ok(()) } else { no_lasso(format!("{name} does not do what is claimed in a round")) }
    }

    /// Whether this happens to a thread in a round.
    fn suffers(&self, thread: ThreadId, fate: Fate) -> Result<bool, ReplayError> {
        let (before, after) = (self.snapshot(0)?, self.snapshot(1)?);
        let (before, after) = (&before.threads[thread.index()], &after.threads[thread.index()]);
        let ends: Vec<TxEvent> = self.round_of(thread).filter_map(|step| self.ended(step)).collect();
        let steps = self.round_of(thread).count();
        Ok(match fate {
            Fate::Aborts => ends.contains(&TxEvent::Abort) && !ends.contains(&TxEvent::Commit),
            Fate::Waits => ends.is_empty() && before.commands == after.commands && (steps > 0 || before.endless),
            Fate::Blocked => steps == 0 && self.stays_blocked(&before.machine),
        })
    }

    /// Whether the section that a thread stands at is closed after the stem and after every step of a round.
    fn stays_blocked(&self, machine: &Machine<'_>) -> bool {
        let Lasso { stem, round, .. } = self.lasso;
        machine.at_section()
            && (stem.steps..=stem.steps + round.steps).all(|until| {
                let memory = self.memory(&self.steps[..until]);
                matches!(section::fate(machine, &|loc| memory[loc.index()]), section::Fate::Waits)
            })
    }
}

/// Whether the first ones are ordered like the second ones.
fn same_order(mut pairs: Vec<(i128, i128)>) -> bool {
    pairs.sort_unstable();
    pairs.windows(2).all(|pair| {
        let ((a, b), (c, d)) = (pair[0], pair[1]);
        (a < c) == (b < d) && (a == c) == (b == d)
    })
}

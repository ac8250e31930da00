//! Stepping through a program by hand: from any place, every step that is enabled there.
//!
//! A *path* is the list of the numbers of the steps taken, from the start. It is walked anew for every question, with full states, so
//! nothing is remembered between questions and equal paths lead to equal places.
//!
//! Of the reductions only `macro-steps` is used: it joins what no other thread can see, and leaves every order of accesses open (`step`).
//! No criterion is asked about; assertions, errors and deadlocks end an execution.
//!
//! **Out of order.** Under a program's own order (`declared`) it may be open, in the middle of a call, which of its statements are executed at
//! all. So an execution is told only together with one way to complete the calls that are under way, and [`Position::taken`] says how
//! much of it are steps that were taken. A step after which there is no such way rests on a wrong guess (`declared`), and is not offered; neither
//! is one that makes a choice before it is known that it has to be made, for what depends on the choice waits for that anyway.
//!
//! **Invariant:** the executions of all paths are those that the search visits; `initial` and `at` decide nothing themselves.

use cyrano_engine::{Execution, Limits, Query, Question, Refusal, Violation};
use cyrano_ir::{InstrId, Program, Property, ThreadId};
use cyrano_memory::Model;

use crate::semantics::declared;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};
use crate::{Deadlocks, Explore, supports};

/// No reduction but `macro-steps` and, if they are to be forgotten, `dead-registers`; `certifies` keeps what a certificate has to say.
pub(crate) const fn plain(dead_registers: bool, certifies: bool) -> Explore {
    Explore {
        dead_registers,
        macro_steps: true,
        timestamps: false,
        thread_symmetry: false,
        variable_symmetry: false,
        lazy_choices: false,
        repeated_stores: false,
        collapsed_data: false,
        dead_loads: false,
        sorted_stores: false,
        merged_histories: false,
        client_symmetry: false,
        client_programs: false,
        movers: false,
        ample_sets: false,
        remembered_steps: false,
        in_order_first: false,
        settled_prefixes: false,
        stubborn_sets: false,
        compressed_from: usize::MAX,
        fingerprints: false,
        certifies,
        deadlocks: Deadlocks::Wrong,
        fault: None,
    }
}

pub(crate) const PLAIN: &Explore = &plain(false, false);

/// A program under a model, to be stepped through.
#[derive(Clone, Copy, Debug)]
pub struct Stepping<'a> {
    program: &'a Program,
    model: &'a Model,
}

/// A place on the way through a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// The execution so far, and a way to complete the calls that are under way out of order.
    pub execution: Execution,
    /// How many of its accesses were performed by the steps taken.
    pub taken: usize,
    /// The steps that are enabled; a path goes on with the number of one of them.
    pub enabled: Vec<NextStep>,
    /// The registers of each thread; `None` where a deferred load has yet to provide the value.
    pub registers: Vec<Vec<Option<i128>>>,
    /// What is known about the place.
    pub standing: Standing,
    /// Whether a thread issues no more accesses for now because it has deferred as many as it may.
    pub bounded: bool,
}

/// A step that is enabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextStep {
    /// Whose.
    pub thread: ThreadId,
    /// Where the thread stands before it: for a step that performs nothing, the choice that it makes.
    pub at: InstrId,
    /// The choices made in it, in order.
    pub choices: Vec<i128>,
    /// The execution up to its end, completed as in [`Position`].
    pub execution: Execution,
    /// How many of its accesses are performed then.
    pub taken: usize,
    /// What goes wrong in it.
    pub violation: Option<Violation>,
}

/// What is known about a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// There is a step to take.
    Open,
    /// Every thread has run to its end.
    Done {
        /// The values of the observed variables.
        outcome: Vec<i128>,
    },
    /// This went wrong, and there the execution ends.
    Wrong(Violation),
    /// A thread stands at a condition that does not hold and will not: what is assumed of executions is not true of this one.
    Stuck,
}

impl<'a> Stepping<'a> {
    /// `Err` if the question makes no sense, if the explorer is not exact for the program and the model, or if steps of it cannot be shown one by one.
    pub fn new(program: &'a Program, model: &'a Model) -> Result<Self, Refusal> {
        supports::supports(&Query::new(program, model, Question::Holds(&Property::Assertions))?)?;
        Ok(Self { program, model })
    }

    /// The place before the first step.
    pub fn initial(&self) -> Position {
        self.at(&[]).unwrap_or_else(|| unreachable!("a path without a step leads somewhere"))
    }

    /// The place that a path leads to; `None` if one of its steps is not enabled.
    pub fn at(&self, path: &[usize]) -> Option<Position> {
        let machine = Machine::new(
            self.program,
            self.model,
            PLAIN,
            Some(&Property::Assertions),
            Limits::default().deferred,
            None,
        );
        let mut walk = Way::new(&machine);
        // Threads that begin with a choice in a deferred section begin in several states, of which one is chosen first.
        if walk.next.len() == 1 {
            walk.take(0)?;
        }
        for number in path {
            walk.take(*number)?;
        }
        Some(walk.place())
    }
}

/// A state on the way, with what is enabled in it.
struct Way<'m> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    /// Empty before a first state is chosen.
    state: Option<State>,
    execution: Execution,
    /// Choices out of order.
    own_choices: Vec<(usize, u32, i128)>,
    violation: Option<Violation>,
    next: Vec<Successor>,
}

impl<'m> Way<'m> {
    fn new(m: &'m Machine<'m>) -> Self {
        let execution = Execution { order: Vec::new(), choices: vec![Vec::new(); m.threads.len()], relations: None };
        let stepper = Stepper::new(m);
        let (own_choices, next) = (Vec::new(), Vec::new());
        let mut walk = Self { m, stepper, state: None, execution, own_choices, violation: None, next };
        let mut out = Successors::default();
        walk.stepper.initial(&mut out);
        walk.next = enabled(&mut out);
        walk
    }

    fn take(&mut self, number: usize) -> Option<()> {
        if number >= self.next.len() {
            return None;
        }
        let taken = self.next.swap_remove(number);
        taken.add_to(&mut self.execution);
        self.own_choices.extend(&taken.own_choices);
        self.violation = taken.event;
        self.stepper.notes.bounded = false;
        let mut out = Successors::default();
        if self.violation.is_none() {
            self.stepper.successors(&taken.state, &mut out);
        }
        self.next = enabled(&mut out);
        self.drop_guesses(&taken.state);
        self.state = Some(taken.state);
        Some(())
    }

    fn place(mut self) -> Position {
        let standing = self.standing();
        let next = std::mem::take(&mut self.next);
        let (execution, taken) = match self.state.take() {
            Some(state) => {
                let completed = self.completed(&state, None);
                self.state = Some(state);
                completed
            }
            None => (self.execution.clone(), 0),
        };
        Position {
            enabled: next.iter().map(|step| self.describe(step)).collect(),
            registers: (0..self.m.threads.len()).map(|thread| self.registers(thread)).collect(),
            standing,
            bounded: self.stepper.notes.bounded,
            execution,
            taken,
        }
    }

    /// Leaves out the steps that choose ahead, and those after which the calls under way cannot be completed.
    fn drop_guesses(&mut self, state: &State) {
        let Some(order) = self.m.own_order else { return };
        let next = std::mem::take(&mut self.next);
        let (m, stepper) = (self.m, &mut self.stepper);
        let can_be = |step: &Successor| {
            let right = step.event.is_some() || declared::can_complete(stepper, order, &step.state);
            right && !m.chooses_ahead(state, step)
        };
        self.next = next.into_iter().filter(can_be).collect();
        // In the order of the text.
        self.next.sort_by_key(|step| (step.thread, step.accesses.first().map(|access| access.index)));
    }

    /// The execution up to here, with a further step if there is one, completed where calls are under way out of order; and how many of its
    /// accesses were performed before that.
    fn completed(&mut self, state: &State, step: Option<&Successor>) -> (Execution, usize) {
        let (mut execution, mut choices) = (self.execution.clone(), self.own_choices.clone());
        let state = step.map_or(state, |step| &step.state);
        if let Some(step) = step {
            step.add_to(&mut execution);
            choices.extend(&step.own_choices);
        }
        let taken = execution.order.len();
        if let Some(order) = self.m.own_order {
            for step in declared::complete(&mut self.stepper, order, state.clone()) {
                step.add_to(&mut execution);
                choices.extend(&step.own_choices);
            }
            declared::renumber(self.m, &mut execution, &mut choices);
        }
        (execution, taken)
    }

    fn describe(&mut self, step: &Successor) -> NextStep {
        let (execution, taken) = self.completed(&step.state, Some(step));
        // A step that starts other threads ends as one of theirs.
        let choosing = step.choices.first().map(|(thread, _)| ThreadId::new(*thread));
        let own = self.m.own_order.is_some();
        let performing = step.accesses.first().map(|access| access.thread);
        let thread = performing.or(choosing).unwrap_or(ThreadId::new(step.thread));
        // Out of order an access has the number of its instruction.
        let chosen = step.own_choices.first().map(|(_, pc, _)| *pc);
        let instr = step.accesses.first().map(|access| access.index).or(chosen).filter(|_| own);
        let stands = || self.state.as_ref().map_or(0, |state| state.threads[thread.index()].pc);
        let pc = instr.unwrap_or_else(stands);
        NextStep {
            thread,
            at: InstrId(pc),
            choices: step
                .choices
                .iter()
                .map(|(_, value)| *value)
                .chain(step.own_choices.iter().map(|own| own.2))
                .collect(),
            execution,
            taken,
            violation: step.event.clone(),
        }
    }

    fn registers(&self, thread: usize) -> Vec<Option<i128>> {
        let declared = &self.m.program.threads[thread].registers;
        let Some(state) = &self.state else { return declared.iter().map(|register| Some(register.init)).collect() };
        let base = self.m.threads[thread].base;
        let value = |at: usize| (state.pending.get(at).is_none_or(|waits| *waits == 0)).then(|| state.regs[at]);
        (base..base + declared.len()).map(value).collect()
    }

    fn standing(&mut self) -> Standing {
        if let Some(violation) = &self.violation {
            return Standing::Wrong(violation.clone());
        }
        if !self.next.is_empty() {
            return Standing::Open;
        }
        let Some(state) = self.state.take() else { return Standing::Open };
        let standing = if (0..self.m.threads.len()).all(|thread| self.m.done(&state, thread)) {
            let observed = &self.m.program.observed;
            Standing::Done { outcome: observed.iter().map(|o| self.m.final_value(&state, o.var)).collect() }
        } else {
            let blocked = self.stepper.deadlock(&state);
            blocked.map_or(Standing::Stuck, |blocked| Standing::Wrong(Violation::Deadlock { blocked }))
        };
        self.state = Some(state);
        standing
    }
}

fn enabled(out: &mut Successors) -> Vec<Successor> {
    out.iter_mut().filter(|successor| !successor.dropped).map(std::mem::take).collect()
}

#[cfg(test)]
#[path = "stepping_tests.rs"]
mod tests;

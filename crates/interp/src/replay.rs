//! Replaying a recorded execution: each thread is run again, then each step of the memory order is checked.
//!
//! Threads run with values that may be missing: a load that is not performed yet provides none. A thread stops where
//! its way on depends on a missing value, where its recorded choices end, or at its end; accesses beyond the performed ones
//! are issued and stay deferred. A section of which nothing is performed and that cannot be run through leaves the thread before it.
//!
//! **Invariant:** `Ok` means that the steps are a prefix of an execution that the axioms allow.

use cyrano_engine::{Access, Execution, Overtaking, Replayed, Source, StepFacts, ThreadEnd};
use cyrano_ir::{InstrId, Program, ThreadId};
use cyrano_memory::Model;
use rustc_hash::FxHashMap;

use crate::error::ReplayError;
use crate::issue;
use crate::machine::stepped::Step;
use crate::machine::{Code, Machine, SECTION_LIMIT};
use crate::order::thin_air;
use crate::order::{Event, Events, Obstacle, Origin, Placing, Written};

/// A thread that runs this long without issuing an access is left where it is.
const INSTRUCTION_LIMIT: usize = 1_000_000;

/// Replays an execution and tells what happened in it.
pub fn replay(program: &Program, model: &Model, execution: &Execution) -> Result<Replayed, ReplayError> {
    Replay::new(program, model, execution, |_| 0)?.check().map(|(_, replayed)| replayed)
}

/// Where a thread's run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// At its end.
    Halted,
    /// Before the section at this instruction.
    BeforeSection(InstrId),
    /// Elsewhere.
    Between,
}

/// One thread's run.
pub(crate) struct ThreadRun<'p> {
    pub(crate) machine: Machine<'p>,
    pub(crate) standing: Standing,
    /// The registers before the first access behind all performed ones, once the run has come there: it may have run ahead since.
    front: Option<Vec<Option<i128>>>,
    /// Assertions that failed, each with the registers at that time.
    failures: Vec<(InstrId, Vec<Option<i128>>)>,
    /// One more than the number of the last performed access.
    until: usize,
}

impl ThreadRun<'_> {
    /// The registers where the thread is said to stand: what it computes behind its next access has not happened yet.
    fn registers(&self) -> Vec<Option<i128>> {
        // A section that was not entered after all has issued nothing.
        let ahead = self.machine.events.len() > self.until;
        self.front.as_ref().filter(|_| ahead).unwrap_or(&self.machine.registers).clone()
    }
}

/// An execution whose threads have been run again.
pub(crate) struct Replay<'p> {
    program: &'p Program,
    model: &'p Model,
    execution: &'p Execution,
    pub(crate) threads: Vec<ThreadRun<'p>>,
    events: Events,
}

impl<'p> Replay<'p> {
    /// Runs the threads. `patience` is how many accesses a thread may defer before a jump back stops it; a claim about
    /// what a thread does after its last performed access needs some.
    pub(crate) fn new(
        program: &'p Program,
        model: &'p Model,
        execution: &'p Execution,
        patience: impl Fn(ThreadId) -> usize,
    ) -> Result<Self, ReplayError> {
        let (expected, found) = (program.threads.len(), execution.choices.len());
        if expected != found {
            let what = format_args!("the execution has choices for {found} threads; the program has {expected}");
            return Err(ReplayError::new(what));
        }
        let mut performed = vec![FxHashMap::default(); expected];
        for (step, access) in execution.order.iter().enumerate() {
            let thread = access.thread.index();
            let missing = || ReplayError::at(step, format_args!("there is no thread number {thread}"));
            let of_thread = performed.get_mut(thread).ok_or_else(missing)?;
            of_thread.entry(access.index).or_insert(*access);
        }
        let mut events = Events::of(program);
        let mut threads = Vec::with_capacity(expected);
        for (thread, performed) in program.thread_ids().zip(&performed) {
            let code = Code::new(program, model, thread);
            let choices = &execution.choices[thread.index()];
            let run = Runner::new(code, performed, choices, patience(thread)).run()?;
            events.push_thread(&issue::events(&run.machine));
            threads.push(run);
        }
        Ok(Self { program, model, execution, threads, events })
    }

    /// Checks all steps.
    pub(crate) fn check(&self) -> Result<(Placing<'_>, Replayed), ReplayError> {
        let initial = self.program.initial_memory();
        let mut placing = Placing::new(self.model, &self.events, initial.len());
        let mut steps: Vec<StepFacts> = Vec::with_capacity(self.execution.order.len());
        let mut step_of = vec![0; self.events.list.len()];
        for (step, access) in self.execution.order.iter().enumerate() {
            let event = self.event(step, access)?;
            self.check_started(step, event)?;
            let origin = self.admit(&placing, step, event, &initial)?;
            self.check_write(step, access, event)?;
            steps.push(self.facts(&placing, event, origin, access, &step_of));
            step_of[event] = step;
            placing.place(event, origin);
        }
        if self.model.reordering().may_invent_values() && thin_air::occurs(&placing) {
            return Err(ReplayError::new("a value comes from nowhere (axiom 7)"));
        }
        let ends = self.program.thread_ids().map(|thread| self.end(&placing, thread)).collect();
        let memory = placing.memory(&initial);
        let registers = self.threads.iter().map(ThreadRun::registers).collect();
        Ok((placing, Replayed { steps, ends, memory, registers, serial: None, relations: None }))
    }

    /// The thread's name, for messages.
    pub(crate) fn name(&self, thread: ThreadId) -> String {
        self.program.thread(thread).name.clone()
    }

    /// An event in words.
    fn describe(&self, event: usize) -> String {
        let facts = &self.events.list[event];
        let (name, noun) = (self.name(facts.thread), facts.kind.noun());
        let loc = &self.program.location(facts.loc).name;
        format!("{name}'s access {} ({noun} of {loc})", facts.index)
    }

    fn event(&self, step: usize, access: &Access) -> Result<usize, ReplayError> {
        let issued = self.threads[access.thread.index()].machine.events.len();
        if access.index as usize >= issued {
            let (thread, index) = (self.name(access.thread), access.index);
            return Err(ReplayError::at(
                step,
                format_args!("{thread} has no access number {index}; it issues {issued}"),
            ));
        }
        Ok(self.events.start[access.thread.index()] + access.index as usize)
    }

    /// Axioms 1 to 6 and 8 for the next step.
    fn admit(
        &self,
        placing: &Placing<'_>,
        step: usize,
        event: usize,
        initial: &[i128],
    ) -> Result<Option<Origin>, ReplayError> {
        let origin = placing.admit(event).map_err(|obstacle| self.obstacle(step, event, obstacle))?;
        let facts = &self.events.list[event];
        let recorded = self.execution.order[step].read;
        let (Some(from), Some(recorded)) = (origin, recorded) else {
            let what = format!("{} and the record disagree on whether a value is read", self.describe(event));
            let fits = origin.is_none() && recorded.is_none();
            return if fits { Ok(origin) } else { Err(ReplayError::at(step, what)) };
        };
        let what = match (placing.value(from, initial[facts.loc.index()]), from.store()) {
            (Some(visible), _) if visible == recorded => return Ok(origin),
            (Some(visible), _) => {
                format!("is recorded to read {recorded}; the latest visible value is {visible} (axiom 4)")
            }
            (None, store) => {
                let store = store.map_or_else(String::new, |store| self.describe(store));
                format!("would take its value from {store}, which has none yet (axiom 4)")
            }
        };
        Err(ReplayError::at(step, format_args!("{} {what}", self.describe(event))))
    }

    fn obstacle(&self, step: usize, event: usize, obstacle: Obstacle) -> ReplayError {
        let other = |event| self.describe(event);
        let what = match obstacle {
            Obstacle::Twice => "has been performed before".into(),
            Obstacle::UnitOpen(expected) => {
                let expected = other(expected);
                format!("interrupts an atomic section or operation; {expected} has to come next (axiom 6)")
            }
            Obstacle::Unfinished(last) => {
                format!("comes after {}, whose operation is not finished (axiom 6)", other(last))
            }
            Obstacle::UnitBroken => {
                "does not directly follow its predecessor in an atomic section or operation (axiom 6)".into()
            }
            Obstacle::Before(earlier) => {
                let facts = &self.events.list[event];
                let axiom = if facts.depends.contains(earlier) {
                    "it depends on it (axiom 3)"
                } else if facts.fenced.contains(earlier) {
                    "a fence stands between them (axiom 2)"
                } else {
                    "the model keeps this pair in program order (axiom 1)"
                };
                format!("has to come after {}: {axiom}", other(earlier))
            }
            Obstacle::Setup(earlier) => {
                format!("has to come after {}, which is part of the setup (axiom 8)", other(earlier))
            }
            Obstacle::NotKnown { store, load } => {
                let (store, load) = (other(store), other(load));
                format!("would take its value from {store}, which waits for {load} (axiom 5)")
            }
        };
        ReplayError::at(step, format_args!("{} {what}", other(event)))
    }

    /// Axiom 8: nobody starts before the setup thread has run to its end. Its accesses are looked at elsewhere.
    fn check_started(&self, step: usize, event: usize) -> Result<(), ReplayError> {
        let setup = self.program.setup.filter(|setup| *setup != self.events.list[event].thread);
        match setup.filter(|setup| self.threads[setup.index()].standing != Standing::Halted) {
            None => Ok(()),
            Some(setup) => {
                let (access, setup) = (self.describe(event), self.name(setup));
                let what = format_args!("{access} comes before the end of the setup thread {setup} (axiom 8)");
                Err(ReplayError::at(step, what))
            }
        }
    }

    /// Whether the setup thread, if there is one, has run to its end and all of its accesses are performed.
    pub(crate) fn setup_is_done(&self, placing: &Placing<'_>) -> bool {
        self.program.setup.is_none_or(|setup| {
            let halted = self.threads[setup.index()].standing == Standing::Halted;
            halted && self.first_deferred(placing, setup).is_none()
        })
    }

    fn check_write(&self, step: usize, access: &Access, event: usize) -> Result<(), ReplayError> {
        let written = self.events.list[event].written;
        if written == Written::Unknown {
            let access = self.describe(event);
            let what = format_args!("the value of {access} depends on a load that is never performed");
            return Err(ReplayError::at(step, what));
        }
        let (recorded, computed) = (access.written, written.value());
        if recorded == computed {
            return Ok(());
        }
        let show = |value: Option<i128>| value.map_or("nothing".to_owned(), |value| value.to_string());
        let (access, recorded, computed) = (self.describe(event), show(recorded), show(computed));
        let what = format_args!("{access} is recorded to write {recorded}; the program writes {computed}");
        Err(ReplayError::at(step, what))
    }

    fn facts(
        &self,
        placing: &Placing<'_>,
        event: usize,
        origin: Option<Origin>,
        access: &Access,
        step_of: &[usize],
    ) -> StepFacts {
        let list = &self.events.list;
        let facts = &list[event];
        let source = origin.map(|origin| match origin {
            Origin::Initial => Source::Initial,
            Origin::Placed(store) => Source::Step(step_of[store]),
            Origin::Forwarded(store) => Source::Forwarded { index: list[store].index, instr: list[store].instr },
        });
        let first = self.events.start[facts.thread.index()];
        let earlier = (first..event).filter(|earlier| !placing.placed.contains(*earlier));
        let overtook = earlier.map(|earlier| overtaking(&list[earlier])).collect();
        let said = facts.said.iter().copied().flatten().collect();
        StepFacts { access: *access, kind: facts.kind, instr: facts.instr, loc: facts.loc, source, overtook, said }
    }

    /// The first access of a thread that is issued and not performed.
    pub(crate) fn first_deferred(&self, placing: &Placing<'_>, thread: ThreadId) -> Option<InstrId> {
        let mut events = (self.events.start[thread.index()]..self.events.list.len())
            .take_while(|event| self.events.list[*event].thread == thread);
        let deferred = events.find(|event| !placing.placed.contains(*event));
        deferred.map(|event| self.events.list[event].instr)
    }

    /// Where a thread stands: before its first access behind all performed ones. If there is none, as far as it gets, which may be its end with
    /// accesses that are still deferred.
    fn end(&self, placing: &Placing<'_>, thread: ThreadId) -> ThreadEnd {
        let run = &self.threads[thread.index()];
        match self.next_access(placing, thread) {
            Some(instr) => ThreadEnd::At(instr),
            None if run.standing == Standing::Halted && self.first_deferred(placing, thread).is_none() => {
                ThreadEnd::Done
            }
            None => ThreadEnd::At(run.machine.pc),
        }
    }

    /// The thread of a failed assertion, or of a computation that goes wrong, stands there, with the registers that it then has.
    pub(crate) fn stop_at(&self, replayed: &mut Replayed, thread: ThreadId, instr: InstrId) {
        let run = &self.threads[thread.index()];
        let failure = run.failures.iter().find(|(at, _)| *at == instr).map(|(_, registers)| registers);
        let here = failure.or((run.machine.pc == instr).then_some(&run.machine.registers));
        if let Some(registers) = here {
            replayed.ends[thread.index()] = ThreadEnd::At(instr);
            replayed.registers[thread.index()].clone_from(registers);
        }
    }

    /// The first access of a thread behind all of its performed ones, if it was issued: the replay may have run ahead.
    fn next_access(&self, placing: &Placing<'_>, thread: ThreadId) -> Option<InstrId> {
        let list = &self.events.list;
        let first = self.events.start[thread.index()];
        let after = list[first..].iter().position(|event| event.thread != thread).map_or(list.len(), |n| first + n);
        let behind = (first..after).rev().take_while(|event| !placing.placed.contains(*event)).last();
        behind.map(|event| list[event].instr)
    }
}

fn overtaking(event: &Event) -> Overtaking {
    Overtaking { index: event.index, instr: event.instr, kind: event.kind, loc: Some(event.loc) }
}

/// Runs one thread with recorded values.
struct Runner<'a, 'p> {
    machine: Machine<'p>,
    performed: &'a FxHashMap<u32, Access>,
    /// One more than the number of the last performed access.
    until: usize,
    choices: &'a [i128],
    patience: usize,
    front: Option<Vec<Option<i128>>>,
    failures: Vec<(InstrId, Vec<Option<i128>>)>,
    /// The machine before the current section.
    section: Option<Machine<'p>>,
    in_section: usize,
    /// How many accesses it had issued when last looked at, and how many instructions it has run since.
    issued: usize,
    idle: usize,
}

impl<'a, 'p> Runner<'a, 'p> {
    fn new(code: Code<'p>, performed: &'a FxHashMap<u32, Access>, choices: &'a [i128], patience: usize) -> Self {
        let until = performed.keys().max().map_or(0, |last| *last as usize + 1);
        let machine = Machine::new(code);
        Self {
            machine,
            performed,
            until,
            choices,
            patience,
            front: None,
            failures: Vec::new(),
            section: None,
            in_section: 0,
            issued: 0,
            idle: 0,
        }
    }

    fn run(mut self) -> Result<ThreadRun<'p>, ReplayError> {
        loop {
            if self.machine.at_section() {
                self.section = Some(self.machine.clone());
                self.in_section = 0;
            }
            if self.exhausted() {
                return Ok(self.stuck());
            }
            self.note_front();
            let (pc, failed) = (self.machine.pc, self.machine.failed.len());
            match self.machine.step() {
                Step::Local | Step::Stored if self.machine.failed.len() > failed => {
                    self.failures.push((pc, self.machine.registers.clone()));
                }
                Step::Local | Step::Stored => {}
                Step::Back(_) if self.deferred() > self.patience => return Ok(self.stuck()),
                Step::Back(_) => {}
                Step::Read(request) => {
                    let index = u32::try_from(self.machine.events.len()).ok();
                    let recorded = index.and_then(|index| self.performed.get(&index));
                    self.machine.read(request, recorded.and_then(|access| access.read));
                }
                Step::Choose(from) => match self.choose(from)? {
                    true => {}
                    false => return Ok(self.stuck()),
                },
                Step::Refused | Step::Limited | Step::Missing => return Ok(self.stuck()),
                Step::Failed(error) => {
                    self.machine.errors.push((self.machine.pc, error));
                    return Ok(self.stopped(Standing::Between));
                }
                Step::Halted => return Ok(self.stopped(Standing::Halted)),
            }
            if !self.machine.in_section() {
                self.section = None;
            }
        }
    }

    /// Keeps the registers before the first access behind all performed ones.
    fn note_front(&mut self) {
        let here = self.front.is_none() && self.machine.events.len() == self.until;
        if here && self.machine.op().event_kind().is_some() {
            self.front = Some(self.machine.registers.clone());
        }
    }

    fn stopped(self, standing: Standing) -> ThreadRun<'p> {
        let Self { machine, front, failures, until, .. } = self;
        ThreadRun { machine, standing, front, failures, until }
    }

    /// How many accesses it has issued beyond the last performed one.
    fn deferred(&self) -> usize {
        self.machine.events.len().saturating_sub(self.until)
    }

    /// Counts an instruction; whether there were too many.
    fn exhausted(&mut self) -> bool {
        self.in_section += 1;
        self.idle += 1;
        if self.issued != self.machine.events.len() {
            self.issued = self.machine.events.len();
            self.idle = 0;
        }
        self.idle > INSTRUCTION_LIMIT || self.section.is_some() && self.in_section > SECTION_LIMIT
    }

    /// Makes the next recorded choice; false if there is none.
    fn choose(&mut self, from: &[i128]) -> Result<bool, ReplayError> {
        let Some(value) = self.choices.get(self.machine.choices.len()).copied() else { return Ok(false) };
        if !from.contains(&value) {
            let thread = &self.machine.code.thread().name;
            return Err(ReplayError::new(format_args!("{thread} cannot choose {value}")));
        }
        match self.machine.choose(value) {
            Step::Failed(error) => {
                self.machine.errors.push((self.machine.pc, error));
                Ok(false)
            }
            Step::Missing => Ok(false),
            _ => Ok(true),
        }
    }

    /// The thread cannot go on. A section of which nothing is performed has not been entered.
    fn stuck(mut self) -> ThreadRun<'p> {
        match self.section.take() {
            Some(before) if before.events.len() >= self.until => {
                let standing = Standing::BeforeSection(before.pc);
                self.machine = before;
                self.stopped(standing)
            }
            _ => self.stopped(Standing::Between),
        }
    }
}

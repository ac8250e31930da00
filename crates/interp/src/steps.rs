//! Single steps: from one [`Configuration`] of a program to the next, under a reordering model.
//!
//! This is the axiomatic semantics of `cyrano_memory` as a machine, written from the axioms for the checker of certificates: it is slow, it knows no
//! reduction, and it shares nothing with the fast engines. What it cannot represent exactly it refuses, beforehand ([`Steps::new`]) or in the configuration
//! where it would matter ([`Beyond`]); nothing is approximated.
//!
//! # The machine
//!
//! In an execution that the axioms allow, the accesses of each thread come from its code and the values that its loads returned, and one total order
//! of all accesses explains these values. The machine builds that order from its first access on: a step *performs* one access, or all of an atomic section,
//! which takes the next place in the order. What a thread computes in between has no place in the order. So it does not matter when it is done, and
//! after every step the thread *runs on*: it issues accesses, with the values that are known, until it *rests*
//! - at an access that nothing behind it may overtake (axiom 1), for then there is no use in issuing more;
//! - at a section that cannot be issued (see `section`);
//! - at a branch, `assume` or `limit` that takes a value which is not there yet: as such a branch orders everything behind it after the load (axiom 3, with
//!   control dependencies to all accesses), nothing behind it could be performed either;
//! - at a choice, at a call, or at an event of a transaction: taking it is a step of its own;
//! - at an `assume` that does not hold, and at its end;
//! - for an invariant, also wherever it is seen to move (`watch`).
//!
//! An access may be performed when no earlier one that waits has to precede it: by a kept pair (axioms 1 and 10), a fence (axiom 2) or a dependency (axiom 3,
//! for an operand that is pending has no value). A load takes the value of the last waiting store of its own thread to its address, if it forwards, once
//! that value is known (axioms 4 and 5), and else what memory holds. Axiom 7 holds by itself: a value is there before it is used.
//! Under a serial model an operation that has begun goes on before anybody else does (axiom 6), and nobody runs before a setup thread has ended (axiom 8).
//!
//! **Exactness.** Every path of steps is an execution, for each access is performed when all axioms allow it. Every execution is a path: perform its accesses
//! in their order; each has been issued by then, for whatever its thread could still rest at before it would have to be performed first. This needs that an
//! access is never held up by an address that is not known, which is refused ([`Why::Address`]), and that loads behind a branch wait for the branch where
//! loads wait at all, which is refused for models that let them go ahead ([`Inexact::Speculation`]).
//!
//! # Forgotten registers
//!
//! A register may be [`Value::Forgotten`]. To look at it is [`Why::Forgotten`]: so a configuration without these obstacles stands for every configuration
//! that has some value in the place of what is forgotten, and its steps stand for theirs.

mod perform;
mod run;
mod section;
mod units;
mod values;
mod watch;

use std::fmt;

use cyrano_engine::configuration::{Configuration, Deferred, HandedOn, Lane, Value};
use cyrano_engine::{Blocked, Inexact, Refusal, Violation, moments};
use cyrano_ir::{AccessKind, EvalError, InstrId, Invariant, LocId, Op, Program, RegId, ThreadId};
use cyrano_memory::{Dependencies, Model};

pub use units::handed_on;

/// A program under a model, ready to take steps.
#[derive(Clone, Debug)]
pub struct Steps<'p> {
    program: &'p Program,
    model: &'p Model,
    /// Whether accesses of a kind (load, store, read-modify-write) are issued before they are performed.
    defers: [bool; 3],
    /// For each thread and instruction, whether it belongs to an operation; everything does in a thread without operations.
    in_operation: Vec<Vec<bool>>,
    /// What an invariant sees, if one is asked about.
    seen: Option<watch::Seen>,
    /// Which instructions are in blocks and what units hand on, if commit-atomicity is asked about.
    units: Option<units::Units>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Whose.
    pub thread: ThreadId,
    /// Where that thread stood, or the instruction of the access that was performed.
    pub instr: InstrId,
    /// What was performed, in this order: accesses, and events of transactions as marks.
    pub performed: Vec<Performed>,
    /// The choices that were made, in this order.
    pub choices: Vec<i128>,
    /// Where it leads to.
    pub to: Configuration,
    /// What goes wrong in it; the execution ends there.
    pub wrong: Option<Violation>,
    /// The first assertion that fails in it; the thread goes on, for a check does not change what it checks.
    pub failed: Option<(ThreadId, InstrId)>,
    /// Whether an assertion was evaluated in it.
    pub asserted: bool,
    /// For commit-atomicity, what happened in it to units, in this order.
    pub units: Vec<Happened>,
}

/// Something that happens to a unit of the thread that takes a step (`units`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happened {
    /// Its next unit commits.
    Committed,
    /// Its next unit ends, and hands this on.
    Ended(HandedOn),
    /// It makes this choice outside of blocks.
    Chose(i128),
}

/// An access that was performed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Performed {
    /// Its instruction.
    pub instr: InstrId,
    /// Its kind.
    pub kind: AccessKind,
    /// Its location; nothing for a mark.
    pub loc: Option<LocId>,
    /// What it read.
    pub read: Option<i128>,
    /// What it wrote.
    pub written: Option<i128>,
    /// Whether the transaction that issued it had ended.
    pub stale: bool,
}

/// The machine cannot go on exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beyond {
    /// With this thread,
    pub thread: ThreadId,
    /// at this instruction,
    pub instr: InstrId,
    /// because of this.
    pub why: Why,
}

/// Why the machine cannot go on exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// An address takes a value that is not there yet.
    Address,
    /// So does an index of a local array.
    Index,
    /// A section decides by a value that was loaded before it and is not there yet.
    Outside,
    /// A register is looked at that was forgotten.
    Forgotten(RegId),
    /// A `limit` does not hold.
    Limit,
    /// The thread runs for too long without a rest.
    Endless,
    /// It defers too much.
    Crowded,
    /// It has too many ways through its sections at once.
    Ways,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "uses an address that depends on a value which is not loaded yet",
            Self::Index => "uses an index of a local array that depends on a value which is not loaded yet",
            Self::Outside => {
                "decides inside an atomic section by a value that was loaded before it and is not there yet"
            }
            Self::Forgotten(_) => "looks at a register that was forgotten",
            Self::Limit => "reaches a limit of the program, beyond which nothing is claimed",
            Self::Endless => "runs for too long without an access to shared memory",
            Self::Crowded => "defers more accesses than can be written down",
            Self::Ways => "has too many ways through an atomic section",
        })
    }
}

/// What is true of a configuration without a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Every thread has run to its end and all is performed.
    Final,
    /// All that have not wait at sections that do not open.
    Deadlock(Vec<Blocked>),
    /// A thread stands at an `assume` that does not hold: this is no execution.
    Dropped,
}

/// More ways than this through what a thread does at once are not followed.
const MOST_WAYS: usize = 1 << 16;

impl<'p> Steps<'p> {
    /// `Err` if the machine would not be exact for the model, whatever the program does.
    pub fn new(program: &'p Program, model: &'p Model) -> Result<Self, Refusal> {
        let name = || model.name.clone();
        if model.cat().is_some() {
            return Err(Refusal::Inexact(Inexact::Relational { model: name() }));
        }
        let reordering = model.reordering();
        if reordering.own_order {
            return Err(Refusal::Inexact(Inexact::OwnOrder(format!(
                "under {} the program's own order is followed",
                name()
            ))));
        }
        let defers =
            [AccessKind::Load, AccessKind::Store, AccessKind::Rmw].map(|kind| !reordering.keeps_all_after(kind));
        if reordering.serial && defers.contains(&true) {
            return Err(Refusal::Inexact(Inexact::SerialAndWeak { model: name() }));
        }
        let reads_wait = defers[AccessKind::Load as usize] || defers[AccessKind::Rmw as usize];
        if reads_wait && reordering.dependencies != Dependencies::ALL {
            return Err(Refusal::Inexact(Inexact::Speculation { model: name() }));
        }
        let in_operation = program.threads.iter().map(run::in_operation).collect();
        Ok(Self { program, model, defers, in_operation, seen: None, units: None })
    }

    /// The same for an invariant: threads also rest wherever it sees them move (`watch`).
    pub fn for_invariant(program: &'p Program, model: &'p Model, invariant: &Invariant) -> Result<Self, Refusal> {
        let steps = Self::new(program, model)?;
        moments::supports(program, model, invariant)?;
        Ok(Self { seen: Some(watch::seen(program, invariant)), ..steps })
    }

    /// The same for commit-atomicity: steps say what happens to blocks (`units`).
    pub fn for_blocks(program: &'p Program, model: &'p Model) -> Result<Self, Refusal> {
        Ok(Self { units: Some(units::Units::of(program)), ..Self::new(program, model)? })
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The model.
    pub fn model(&self) -> &'p Model {
        self.model
    }

    /// Where the program stands before anything is performed: every thread, or only the setup thread, has run on to its first rest. As steps, for something may go
    /// wrong on the way.
    pub fn initial(&self) -> Result<Vec<Step>, Beyond> {
        let lane = |thread: &cyrano_ir::Thread| Lane {
            pc: InstrId(0),
            registers: thread.registers.iter().map(|register| Value::Known(register.init)).collect(),
            queue: Vec::new(),
            latest_done: false,
        };
        let threads = self.program.threads.iter().map(lane).collect();
        let start = Configuration { memory: self.program.initial_memory(), threads, running: None };
        let first = self.program.setup.unwrap_or(ThreadId(0));
        let begin = Step::new(first, InstrId(0), start);
        match self.program.setup {
            Some(setup) => self.run_on(begin, setup),
            None => self.run_all(vec![begin], self.program.thread_ids().collect()),
        }
    }

    /// All steps from a configuration of the program ([`Configuration::fits`]).
    pub fn from(&self, at: &Configuration) -> Result<Vec<Step>, Beyond> {
        let setup = self.program.setup.filter(|setup| !self.is_done(at, *setup));
        let may = |thread: &ThreadId| {
            setup.is_none_or(|setup| setup == *thread) && at.running.is_none_or(|running| running == *thread)
        };
        let mut steps = Vec::new();
        for thread in self.program.thread_ids().filter(may) {
            steps.extend(self.of(at, thread)?);
        }
        Ok(steps)
    }

    /// The steps of one thread, if it may take any. They depend on memory and on what that thread has for itself, and change nothing else, where there is no
    /// setup thread and the model is not serial.
    pub fn of(&self, at: &Configuration, thread: ThreadId) -> Result<Vec<Step>, Beyond> {
        let mut steps = Vec::new();
        for step in self.deferred_steps(at, thread).into_iter().chain(self.steps_at_pc(at, thread)?) {
            steps.extend(self.run_on(step, thread)?);
        }
        Ok(steps)
    }

    /// What a configuration is from which no step leads on.
    pub fn end(&self, at: &Configuration) -> Result<End, Beyond> {
        let setup = self.program.setup.filter(|setup| !self.is_done(at, *setup));
        let mut blocked = Vec::new();
        for thread in self.program.thread_ids().filter(|thread| !self.is_done(at, *thread)) {
            if setup.is_some_and(|setup| setup != thread) {
                // It has not started: it waits for the setup thread and for nothing else.
                continue;
            }
            let lane = &at.threads[thread.index()];
            let waits = matches!(self.op(thread, lane.pc), Op::AtomicBegin) && lane.queue.is_empty();
            if !waits || !self.sections_now(at, thread)?.is_empty() {
                return Ok(End::Dropped);
            }
            blocked.push(Blocked { thread, instr: lane.pc });
        }
        Ok(if blocked.is_empty() { End::Final } else { End::Deadlock(blocked) })
    }

    /// Whether the program has begun: its setup thread, if it has one, has run to its end.
    pub fn has_begun(&self, at: &Configuration) -> bool {
        self.program.setup.is_none_or(|setup| self.is_done(at, setup))
    }

    /// Whether a thread has run to its end and performed everything.
    pub fn is_done(&self, at: &Configuration, thread: ThreadId) -> bool {
        let lane = &at.threads[thread.index()];
        lane.queue.is_empty() && matches!(self.op(thread, lane.pc), Op::Halt)
    }

    fn op(&self, thread: ThreadId, pc: InstrId) -> &'p Op {
        self.program.thread(thread).code.get(pc.index()).map_or(&Op::Halt, |instr| &instr.op)
    }

    fn defers(&self, kind: AccessKind) -> bool {
        self.defers[kind as usize]
    }

    /// The access that waits at a position of a thread's queue, if it is one.
    fn waiting(&self, thread: ThreadId, deferred: &Deferred) -> Option<(AccessKind, LocId)> {
        let entry = deferred.entry()?;
        self.op(thread, entry.instr).access_kind().zip(entry.loc)
    }
}

impl Step {
    fn new(thread: ThreadId, instr: InstrId, to: Configuration) -> Self {
        Self {
            thread,
            instr,
            performed: Vec::new(),
            choices: Vec::new(),
            to,
            wrong: None,
            failed: None,
            asserted: false,
            units: Vec::new(),
        }
    }

    fn lane(&mut self, thread: ThreadId) -> &mut Lane {
        &mut self.to.threads[thread.index()]
    }

    /// Notes an error of the program; the first one counts.
    fn error(&mut self, thread: ThreadId, instr: InstrId, error: EvalError) {
        self.wrong.get_or_insert(Violation::Error { thread, instr, error });
    }
}

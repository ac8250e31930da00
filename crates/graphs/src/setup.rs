//! A setup thread runs alone before the others start: what it leaves in memory is what memory holds at first, and it does nothing more.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use cyrano_engine::Access;
use cyrano_ir::guards::ALIVE;
use cyrano_ir::{Instr, InstrId, LocId, Op, Program, ThreadId};

use crate::code::{Code, Rules};
use crate::fresh::Fresh;
use crate::names::Names;
use crate::races::comes_back;
use crate::symmetry::twins::Twins;
use crate::thread::{Next, Runner, Status};

/// A program at a start, and how it came there.
#[derive(Clone, Debug)]
pub(crate) struct Start<'p> {
    pub(crate) program: Cow<'p, Program>,
    /// What the setup thread did.
    pub(crate) accesses: Vec<Access>,
    /// What it chose, and who it is.
    pub(crate) choices: Vec<i128>,
    pub(crate) setup: Option<ThreadId>,
    /// Its equal threads.
    pub(crate) twins: Twins,
    /// The objects that threads make for themselves, if they are looked at.
    pub(crate) fresh: Option<Arc<Fresh>>,
}

/// Why it is not known how a program starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unstarted {
    /// The setup thread may not come to its end.
    NoEnd,
    /// The setup thread looks at this name.
    Sees(i128),
}

/// The ways in which a program may start, at least one; none if the setup thread does not always come to its end, or goes wrong on the way.
pub(crate) fn starts<'p>(program: &'p Program, iterations: usize, names: &Names) -> Result<Vec<Start<'p>>, Unstarted> {
    let Some(setup) = program.setup else {
        let program = Cow::Borrowed(program);
        return Ok(vec![Start {
            program,
            accesses: Vec::new(),
            choices: Vec::new(),
            setup: None,
            twins: Twins::default(),
            fresh: None,
        }]);
    };
    let iterations = iterations.max(LOOPS);
    let (ordered, idles_by_choice, races, weak) = (false, false, false, None);
    let code = Code::new(
        program,
        setup,
        Rules { iterations, idle: None, ordered, idles_by_choice, races, names, weak, fault: None },
    );
    // It may go around a loop and change nothing (a weak compare-and-swap that fails without a reason): then each state is looked at once.
    let chooses = |at: usize| matches!(program.thread(setup).code[at].op, Op::Choose { .. });
    let mut chosen = (0..program.thread(setup).code.len()).filter(|at| chooses(*at));
    let once = chosen.any(|at| comes_back(program.thread(setup), InstrId::new(at)));
    let alone = Alone {
        runner: Runner::new(&code),
        memory: program.initial_memory(),
        accesses: vec![],
        choices: vec![],
        freed: false,
    };
    let mut todo = vec![alone];
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(mut alone) = todo.pop() {
        let stands = alone.run(&code);
        let Alone { runner, memory, .. } = &alone;
        if once && !seen.insert((runner.instr(), runner.registers(&code).to_vec(), memory.clone())) {
            continue;
        }
        match stands {
            _ if alone.freed => return Err(Unstarted::NoEnd),
            Some(from) => todo.extend(from.iter().rev().map(|value| alone.chosen(&code, *value))),
            None if alone.runner.status() == Some(Status::Done) && alone.runner.frame().failed.is_none() => {
                found.push(alone.start(program, &code));
            }
            // What an `assume` does not let go on is no execution; a section that waits does so for ever.
            None if alone.runner.is_dropped() => {}
            None => {
                return Err(match alone.runner.status() {
                    Some(Status::Sees(name)) => Unstarted::Sees(name),
                    _ => Unstarted::NoEnd,
                });
            }
        }
        if found.len() + todo.len() > STARTS {
            return Err(Unstarted::NoEnd);
        }
    }
    if found.is_empty() { Err(Unstarted::NoEnd) } else { Ok(found) }
}

/// How often a setup thread may go around a loop at least, and how many ways to start there may be.
const LOOPS: usize = 10_000;
const STARTS: usize = 1_000;

/// The setup thread on its way.
#[derive(Clone)]
struct Alone {
    runner: Runner,
    memory: Vec<i128>,
    accesses: Vec<Access>,
    choices: Vec<i128>,
    /// Whether it has accessed what is freed.
    freed: bool,
}

impl Alone {
    /// Goes on to its end, or to a choice.
    fn run<'p>(&mut self, code: &Code<'p>) -> Option<Cow<'p, [i128]>> {
        loop {
            match self.runner.frame().next {
                Next::End(_) => return None,
                Next::Choice => return Some(self.runner.values(code)),
                Next::Fence(_) => self.runner.fenced(code, 0),
                Next::Spawn(_) | Next::Join(_) => unreachable!("threads of a program are there at first"),
                Next::Read(loc) => {
                    self.look(code, loc);
                    let value = self.memory[loc.index()];
                    self.access(code, Some(value), None);
                    self.runner.read(code, 0, loc, value);
                }
                Next::Write(writing) => {
                    if writing.own {
                        self.look(code, writing.loc);
                    }
                    self.memory[writing.loc.index()] = writing.value;
                    match self.accesses.last_mut().filter(|_| !writing.own) {
                        Some(access) => access.written = Some(writing.value),
                        None => self.access(code, None, Some(writing.value)),
                    }
                    self.runner.wrote(code, 0);
                }
            }
        }
    }

    /// Looks at the header of what the access that comes next belongs to.
    fn look(&mut self, code: &Code<'_>, loc: LocId) {
        if code.program.has_headers() {
            let guard = self.runner.kind(code).and_then(|kind| code.program.guard(loc, kind));
            self.freed |= guard.is_some_and(|header| self.memory[header.index()] != ALIVE);
        }
    }

    fn access(&mut self, code: &Code<'_>, read: Option<i128>, written: Option<i128>) {
        let index = u32::try_from(self.accesses.len()).unwrap_or(u32::MAX);
        self.accesses.push(Access { thread: code.thread, index, read, written });
    }

    fn chosen(&self, code: &Code<'_>, value: i128) -> Self {
        let mut other = self.clone();
        other.choices.push(value);
        other.runner.choose(code, 0, value);
        other
    }

    /// The program as it is when the others start.
    fn start<'p>(self, program: &'p Program, code: &Code<'p>) -> Start<'p> {
        let mut folded = program.clone();
        folded.setup = None;
        folded.locations.iter_mut().zip(&self.memory).for_each(|(location, value)| location.init = *value);
        let thread = &mut folded.threads[code.thread.index()];
        let registers = self.runner.registers(code);
        thread.registers.iter_mut().zip(registers).for_each(|(register, value)| register.init = *value);
        let halt = thread.code.iter().find(|instr| matches!(instr.op, Op::Halt)).cloned();
        let halt = halt.or_else(|| thread.code.first().map(|first| Instr { op: Op::Halt, ..first.clone() }));
        thread.code = halt.into_iter().collect();
        let Self { accesses, choices, .. } = self;
        let (program, setup, twins) = (Cow::Owned(folded), Some(code.thread), Twins::default());
        Start { program, accesses, choices, setup, twins, fresh: None }
    }
}

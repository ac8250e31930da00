//! Serial executions with their orders of calls: one call runs after the other, each alone.
//!
//! A call that runs alone may choose, and come back to where it stood (a weak compare-and-swap that fails without a reason); what it has been at before is not gone on with, so that
//! what is found is every state in which it may end, once. That calls are pieces of code of their own is known beforehand ([`Calls`]).
//!
//! Choices whose values nobody looks at have names ([`crate::names`]), in the serial executions as in those that are compared with them.
//!
//! What is found is what other engines mine under the model `serial` from a test whose calls take numbers; `tests/linear.rs` compares.

use std::collections::BTreeSet;

use cyrano_ir::{FinalVar, InstrId, Program};

use crate::code::{Code, Rules};
use crate::linear::{Calls, SerialOrders};
use crate::names::Names;
use crate::setup::{Unstarted, starts};
use crate::thread::{Next, Runner, Status};

/// No client has more serial executions that are looked at.
const MOST: usize = 4_000_000;

/// Threads between two calls.
#[derive(Clone)]
struct Serial {
    runners: Vec<Runner>,
    memory: Vec<i128>,
    /// For each call its place in the order, and how many calls there were.
    places: Vec<i128>,
    done: usize,
}

/// The serial executions of a program, if its calls are known and all of them end.
pub(crate) fn orders(program: &Program) -> Option<SerialOrders> {
    let calls = Calls::new(program).filter(|_| !program.has_headers())?;
    let mut names = Names::of(program);
    loop {
        match named(program, &calls, &names) {
            Ok(outcomes) => return SerialOrders::with_names(program, &outcomes, calls.len()),
            Err(Some(name)) => names.forget(name),
            Err(None) => return None,
        }
    }
}

/// What serial executions show, with the places of the calls behind it; else the name that somebody looked at, if that is why it is not known.
fn named(program: &Program, calls: &Calls, names: &Names) -> Result<BTreeSet<Vec<i128>>, Option<i128>> {
    let mut outcomes = BTreeSet::new();
    let starts = starts(program, LOOPS, names).map_err(|why| match why {
        Unstarted::Sees(name) => Some(name),
        _ => None,
    })?;
    for start in starts {
        let program = &*start.program;
        let (ordered, idles_by_choice, races) = (false, false, false);
        let rules = Rules { iterations: LOOPS, idle: None, ordered, idles_by_choice, races, names };
        let code: Vec<Code<'_>> = program.thread_ids().map(|thread| Code::new(program, thread, rules)).collect();
        let runners = code.iter().map(Runner::new).collect();
        let first = Serial { runners, memory: program.initial_memory(), places: vec![-1; calls.len()], done: 0 };
        let mut todo = vec![first];
        let mut seen = 0;
        while let Some(serial) = todo.pop() {
            seen += 1;
            if seen > MOST {
                return Err(None);
            }
            if serial.done == calls.len() {
                outcomes.extend(serial.outcome(program, &code));
                continue;
            }
            for (thread, code) in code.iter().enumerate() {
                if let Some((call, end)) = calls.next(thread, &serial.places) {
                    todo.extend(serial.call(code, (thread, call, end))?);
                }
            }
        }
    }
    Ok(outcomes)
}

/// How often a call may go around a loop.
const LOOPS: usize = 10_000;

impl Serial {
    /// All states in which a call may end that runs now; none if it need not end, or looks at this name.
    fn call(&self, code: &Code<'_>, (thread, call, end): (usize, usize, InstrId)) -> Result<Vec<Self>, Option<i128>> {
        let mut next = self.clone();
        next.places[call] = self.done as i128;
        next.done += 1;
        let (mut todo, mut found) = (vec![next], Vec::new());
        let mut seen = BTreeSet::new();
        while let Some(mut serial) = todo.pop() {
            let is_over = serial.run(code, thread, end);
            let runner = &serial.runners[thread];
            let state = (runner.instr(), runner.registers(code).to_vec(), serial.memory.clone());
            if !seen.insert(state) {
                continue;
            }
            match runner.status() {
                _ if !is_over => {
                    for value in runner.values(code).iter() {
                        let mut other = serial.clone();
                        other.runners[thread].choose(code, 0, *value);
                        todo.push(other);
                    }
                }
                None | Some(Status::Done) => found.push(serial),
                // What goes wrong is found without serial executions, and what waits is none.
                Some(Status::Stopped) => return Err(None),
                Some(Status::Sees(name)) => return Err(Some(name)),
                Some(_) => {}
            }
        }
        Ok(found)
    }

    /// Lets a thread go on to the end of its call, or to a choice in it; says whether the call is over.
    fn run(&mut self, code: &Code<'_>, thread: usize, end: InstrId) -> bool {
        let Self { runners, memory, .. } = self;
        let runner = &mut runners[thread];
        loop {
            if runner.instr() >= end {
                return true;
            }
            match runner.frame().next {
                Next::End(_) => return true,
                Next::Choice => return false,
                Next::Fence(_) => runner.fenced(code, 0),
                Next::Spawn(_) | Next::Join(_) => unreachable!("threads of a program are there at first"),
                Next::Read(loc) => runner.read(code, 0, loc, memory[loc.index()]),
                Next::Write(writing) => {
                    memory[writing.loc.index()] = writing.value;
                    runner.wrote(code, 0);
                }
            }
            runner.forget(code);
        }
    }

    /// What is observed at the end, with the places of the calls; nothing if some thread has not ended.
    fn outcome(&self, program: &Program, code: &[Code<'_>]) -> Option<Vec<i128>> {
        if self.runners.iter().any(|runner| runner.status() != Some(Status::Done)) {
            return None;
        }
        let value = |var| match var {
            FinalVar::Loc(loc) => self.memory[cyrano_ir::LocId::index(loc)],
            FinalVar::Reg(thread, register) => {
                let thread = cyrano_ir::ThreadId::index(thread);
                self.runners[thread].registers(&code[thread])[register.index()]
            }
        };
        let shown = program.observed.iter().map(|observable| value(observable.var));
        Some(shown.chain(self.places.iter().copied()).collect())
    }
}

//! A machine with store buffers and a shadow memory, from the definition of commit-atomicity alone.

use std::collections::HashSet;

use super::{Act, LOCATIONS, Program, Unit, Value};

/// How stores leave the buffer.
#[derive(Clone, Copy, PartialEq)]
pub enum Buffer {
    None,
    InOrder,
    ByLocation,
}

/// A buffered store, with its unit and whether the unit commits with it.
type Buffered = (usize, i128, usize, bool);

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Thread {
    unit: usize,
    act: usize,
    regs: Vec<i128>,
    buffer: Vec<Buffered>,
    /// The accesses since the last one before which everything was performed: their units, and whether they are performed.
    log: Vec<(usize, bool)>,
    /// One more than the unit of the latest access that was performed in order.
    opened: usize,
    /// Units that have been passed and not compared yet, with their registers.
    passed: Vec<(usize, Vec<i128>)>,
    shadow_units: usize,
    shadow_regs: Vec<i128>,
    /// What the shadow's units handed on and the thread has not yet.
    owed: Vec<Vec<i128>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configuration {
    memory: Vec<i128>,
    shadow: Vec<i128>,
    threads: Vec<Thread>,
}

struct Wrong;

pub fn value(value: Value, regs: &[i128]) -> i128 {
    match value {
        Value::Const(value) => value,
        Value::Next(reg) => (regs[reg] + 1) % 3,
    }
}

/// Runs a unit alone. Fails if it spins for ever.
fn alone(unit: &Unit, memory: &mut [i128], regs: &mut [i128]) -> Result<(), Wrong> {
    for act in &unit.acts {
        match *act {
            Act::Load(reg, loc) => regs[reg] = memory[loc],
            Act::Store(loc, new) => memory[loc] = value(new, regs),
            Act::Cas(reg, loc, expected, new) => {
                regs[reg] = memory[loc];
                if regs[reg] == expected {
                    memory[loc] = new;
                }
            }
            Act::Spin(reg, loc) => {
                regs[reg] = memory[loc];
                if regs[reg] != 0 {
                    return Err(Wrong);
                }
                memory[loc] = 1;
            }
        }
    }
    Ok(())
}

pub struct Oracle<'p> {
    pub program: &'p Program,
    pub buffer: Buffer,
}

impl Oracle<'_> {
    pub fn is_right(&self) -> bool {
        let registers = 16;
        let thread = Thread { regs: vec![0; registers], shadow_regs: vec![0; registers], ..Thread::default() };
        let start = Configuration {
            memory: vec![0; LOCATIONS],
            shadow: vec![0; LOCATIONS],
            threads: vec![thread; self.program.len()],
        };
        let mut seen = HashSet::from([start.clone()]);
        let mut todo = vec![start];
        while let Some(state) = todo.pop() {
            for t in 0..state.threads.len() {
                for next in self.steps(&state, t) {
                    match next {
                        Err(Wrong) => return false,
                        Ok(next) => {
                            if seen.insert(next.clone()) {
                                todo.push(next);
                            }
                        }
                    }
                }
            }
        }
        true
    }

    fn steps(&self, state: &Configuration, t: usize) -> Vec<Result<Configuration, Wrong>> {
        let mut all = Vec::new();
        let buffer = &state.threads[t].buffer;
        for at in 0..buffer.len() {
            let first = match self.buffer {
                Buffer::ByLocation => !buffer[..at].iter().any(|earlier| earlier.0 == buffer[at].0),
                _ => at == 0,
            };
            if first {
                let mut next = state.clone();
                let result = self.drain(&mut next, t, at);
                all.push(result.map(|()| next));
            }
        }
        let mut next = state.clone();
        if let Some(result) = self.act(&mut next, t) {
            all.push(result.map(|()| next));
        }
        all
    }

    fn drain(&self, state: &mut Configuration, t: usize, at: usize) -> Result<(), Wrong> {
        let (loc, new, unit, commits) = state.threads[t].buffer.remove(at);
        state.memory[loc] = new;
        // The log has one unperformed entry for each buffered store, in the same order.
        let mut waiting = state.threads[t].log.iter_mut().filter(|entry| !entry.1);
        waiting.nth(at).expect("it is in the log").1 = true;
        self.performed(state, t, commits.then_some(unit))
    }

    /// The next access of a thread, if it has one and it can be performed or buffered.
    fn act(&self, state: &mut Configuration, t: usize) -> Option<Result<(), Wrong>> {
        let thread = &mut state.threads[t];
        let unit = self.program[t].get(thread.unit)?;
        let act = unit.acts[thread.act];
        let (number, commits) = (thread.unit, thread.act == unit.commit);
        let own = |loc: usize| thread.buffer.iter().rfind(|store| store.0 == loc).map(|store| store.1);
        let mut go_on = true;
        match act {
            Act::Store(loc, new) if self.buffer != Buffer::None => {
                let new = value(new, &thread.regs);
                thread.buffer.push((loc, new, number, commits));
                thread.log.push((number, false));
                self.pass(thread, unit);
                return Some(self.performed(state, t, None));
            }
            Act::Store(loc, new) => state.memory[loc] = value(new, &thread.regs),
            Act::Load(reg, loc) => {
                let read = own(loc).unwrap_or(state.memory[loc]);
                thread.regs[reg] = read;
            }
            Act::Cas(reg, loc, ..) | Act::Spin(reg, loc) => {
                let blocked = match self.buffer {
                    Buffer::ByLocation => own(loc).is_some(),
                    _ => !thread.buffer.is_empty(),
                };
                if blocked {
                    return None;
                }
                let (expected, new) = if let Act::Cas(_, _, expected, new) = act { (expected, new) } else { (0, 1) };
                thread.regs[reg] = state.memory[loc];
                if thread.regs[reg] == expected {
                    state.memory[loc] = new;
                }
                go_on = !matches!(act, Act::Spin(..)) || thread.regs[reg] == 0;
            }
        }
        // Once is enough: a thread may spin while a store waits.
        if thread.log.last() != Some(&(number, true)) {
            thread.log.push((number, true));
        }
        if go_on {
            self.pass(thread, unit);
        }
        Some(self.performed(state, t, (commits && go_on).then_some(number)))
    }

    /// The thread goes on behind its current act.
    fn pass(&self, thread: &mut Thread, unit: &Unit) {
        thread.act += 1;
        if thread.act == unit.acts.len() {
            thread.passed.push((thread.unit, thread.regs.clone()));
            thread.unit += 1;
            thread.act = 0;
        }
    }

    /// Something was performed: commits, ends of units, and the comparison of memory.
    fn performed(&self, state: &mut Configuration, t: usize, commits: Option<usize>) -> Result<(), Wrong> {
        let Configuration { shadow, threads, .. } = state;
        let thread = &mut threads[t];
        if let Some(unit) = commits {
            while thread.shadow_units <= unit {
                let unit = &self.program[t][thread.shadow_units];
                alone(unit, shadow, &mut thread.shadow_regs)?;
                thread.owed.push(thread.shadow_regs.clone());
                thread.shadow_units += 1;
            }
        }
        while thread.log.first().is_some_and(|entry| entry.1) {
            thread.opened = thread.log.remove(0).0 + 1;
        }
        while let Some((unit, _)) = thread.passed.first() {
            if thread.buffer.iter().any(|store| store.2 <= *unit) {
                break;
            }
            let (_, regs) = thread.passed.remove(0);
            if thread.owed.remove(0) != regs {
                return Err(Wrong);
            }
        }
        let quiet = state.threads.iter().all(|thread| {
            let in_order = !thread.log.iter().any(|entry| entry.1);
            let whole = thread.opened == 0 || thread.unit >= thread.opened;
            in_order && whole && !thread.log.iter().any(|entry| entry.0 < thread.opened)
        });
        if quiet && state.memory != state.shadow { Err(Wrong) } else { Ok(()) }
    }
}

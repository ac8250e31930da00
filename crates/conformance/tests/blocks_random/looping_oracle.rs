//! A machine with a shadow that is a set of serial runs, for programs that wait, choose and loop.

use std::collections::{BTreeSet, HashSet};

use super::looping::*;
use super::value;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
struct Local {
    pc: usize,
    regs: [i128; REGISTERS],
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Thread {
    local: Local,
    in_block: bool,
    /// Whether its block has performed an access.
    opened: bool,
    /// Choices outside of blocks since its last unit.
    chosen: Vec<i128>,
}

/// One serial run.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Serial {
    memory: Vec<i128>,
    threads: Vec<Local>,
    /// What the unit of a thread handed on that the thread has not handed on yet.
    owed: Vec<Option<Vec<i128>>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configuration {
    memory: Vec<i128>,
    threads: Vec<Thread>,
    shadow: BTreeSet<Serial>,
}

struct Wrong;

/// What an instruction comes to for a thread on some memory.
enum Done {
    /// It goes on there.
    To(usize),
    /// It has to choose.
    Chooses(usize),
    /// It cannot go on.
    Waits,
}

fn execute(code: &[Ins], local: &mut Local, memory: &mut [i128]) -> Done {
    let next = local.pc + 1;
    let Local { pc, regs } = local;
    match code[*pc] {
        Ins::Load(reg, loc) => regs[reg] = memory[loc],
        Ins::Store(loc, new) => memory[loc] = value(new, regs),
        Ins::Cas(reg, loc, expected, new) => {
            regs[reg] = memory[loc];
            if regs[reg] == expected {
                memory[loc] = new;
            }
        }
        Ins::Await(_, loc, wanted) if memory[loc] != wanted => return Done::Waits,
        Ins::Await(reg, _, wanted) => regs[reg] = wanted,
        Ins::Choose(reg) => return Done::Chooses(reg),
        Ins::Assume(reg, wanted) if regs[reg] != wanted => return Done::Waits,
        Ins::If(reg, wanted, other) if regs[reg] != wanted => return Done::To(other),
        Ins::Goto(to) => return Done::To(to),
        Ins::Halt => return Done::Waits,
        Ins::Assume(..) | Ins::If(..) | Ins::Begin(_) | Ins::Commit | Ins::End => {}
    }
    Done::To(next)
}

fn is_access(ins: Ins) -> bool {
    matches!(ins, Ins::Load(..) | Ins::Store(..) | Ins::Cas(..) | Ins::Await(..))
}

pub struct Oracle<'p> {
    program: &'p Program,
    live: Vec<Vec<[bool; REGISTERS]>>,
}

impl<'p> Oracle<'p> {
    pub fn new(program: &'p Program) -> Self {
        let live = program.threads.iter();
        let live = live.map(|code| may_be_read(code, program.results, program.observed)).collect();
        Self { program, live }
    }

    /// Whether all blocks are atomic.
    pub fn is_right(&self) -> bool {
        let threads = self.program.threads.len();
        let (memory, owed) = (self.program.memory.clone(), vec![None; threads]);
        let serial = Serial { memory: memory.clone(), threads: vec![Local::default(); threads], owed };
        let mut start =
            Configuration { memory, threads: vec![Thread::default(); threads], shadow: BTreeSet::from([serial]) };
        for t in 0..threads {
            if self.run_on(&mut start, t).is_err() {
                return false;
            }
        }
        let mut seen = HashSet::from([start.clone()]);
        let mut todo = vec![start];
        while let Some(state) = todo.pop() {
            for t in 0..threads {
                for next in self.steps(&state, t) {
                    match next {
                        Err(Wrong) => return false,
                        Ok(next) if seen.insert(next.clone()) => todo.push(next),
                        Ok(_) => {}
                    }
                }
            }
        }
        true
    }

    fn steps(&self, state: &Configuration, t: usize) -> Vec<Result<Configuration, Wrong>> {
        let pc = state.threads[t].local.pc;
        let mut next = state.clone();
        match execute(&self.program.threads[t], &mut next.threads[t].local, &mut next.memory) {
            Done::Waits => Vec::new(),
            Done::To(to) => {
                next.threads[t].local.pc = to;
                vec![self.performed(&mut next, t, pc).map(|()| next)]
            }
            Done::Chooses(reg) => [0, 1]
                .map(|chosen| {
                    let mut next = state.clone();
                    let thread = &mut next.threads[t];
                    thread.local.regs[reg] = chosen;
                    thread.local.pc += 1;
                    if !thread.in_block {
                        thread.chosen.push(chosen);
                    }
                    self.go_on(&mut next, t).map(|()| next)
                })
                .into(),
        }
    }

    /// The access at `pc` has been performed.
    fn performed(&self, state: &mut Configuration, t: usize, pc: usize) -> Result<(), Wrong> {
        if state.threads[t].in_block {
            state.threads[t].opened = true;
        } else {
            self.commit(state, t)?;
            self.hand_on(state, t, pc)?;
        }
        self.go_on(state, t)
    }

    /// Runs on and compares memory if nobody is in a block then.
    fn go_on(&self, state: &mut Configuration, t: usize) -> Result<(), Wrong> {
        self.run_on(state, t)?;
        if state.threads.iter().all(|thread| !thread.opened) {
            let Configuration { memory, shadow, .. } = state;
            shadow.retain(|serial| serial.memory == *memory);
        }
        if state.shadow.is_empty() { Err(Wrong) } else { Ok(()) }
    }

    /// Runs a thread to its next access or choice.
    fn run_on(&self, state: &mut Configuration, t: usize) -> Result<(), Wrong> {
        let code = &self.program.threads[t];
        loop {
            let pc = state.threads[t].local.pc;
            if is_access(code[pc]) {
                return Ok(());
            }
            match execute(code, &mut state.threads[t].local, &mut state.memory) {
                Done::Waits | Done::Chooses(_) => return Ok(()),
                Done::To(to) => state.threads[t].local.pc = to,
            }
            match code[pc] {
                Ins::Begin(_) => state.threads[t].in_block = true,
                Ins::Commit => self.commit(state, t)?,
                Ins::End => {
                    self.hand_on(state, t, pc)?;
                    state.threads[t].in_block = false;
                    state.threads[t].opened = false;
                }
                _ => {}
            }
        }
    }

    /// The serial runs run the thread's next unit, in every way.
    fn commit(&self, state: &mut Configuration, t: usize) -> Result<(), Wrong> {
        let chosen = std::mem::take(&mut state.threads[t].chosen);
        let before = std::mem::take(&mut state.shadow);
        for serial in before {
            self.alone(serial, t, &chosen, &mut state.shadow);
        }
        if state.shadow.is_empty() { Err(Wrong) } else { Ok(()) }
    }

    fn alone(&self, serial: Serial, t: usize, chosen: &[i128], ends: &mut BTreeSet<Serial>) {
        let code = &self.program.threads[t];
        let mut seen = HashSet::new();
        let mut todo = vec![(serial, false, 0)];
        while let Some((mut serial, mut in_block, mut used)) = todo.pop() {
            if !seen.insert((serial.clone(), in_block, used)) {
                continue;
            }
            let pc = serial.threads[t].pc;
            match execute(code, &mut serial.threads[t], &mut serial.memory) {
                Done::Waits => continue,
                Done::To(to) => serial.threads[t].pc = to,
                Done::Chooses(reg) => {
                    let ways = if in_block { vec![0, 1] } else { chosen.get(used).copied().into_iter().collect() };
                    used += usize::from(!in_block);
                    for way in ways {
                        let mut other = serial.clone();
                        other.threads[t].regs[reg] = way;
                        other.threads[t].pc += 1;
                        todo.push((other, in_block, used));
                    }
                    continue;
                }
            }
            in_block |= matches!(code[pc], Ins::Begin(_));
            if matches!(code[pc], Ins::End) || !in_block && is_access(code[pc]) {
                serial.owed[t] = Some(self.handed_on(t, pc, &serial.threads[t].regs));
                let live = self.live[t][serial.threads[t].pc];
                // What nobody reads any more makes no difference.
                (0..REGISTERS).filter(|reg| !live[*reg]).for_each(|reg| serial.threads[t].regs[reg] = 0);
                ends.insert(serial);
            } else {
                todo.push((serial, in_block, used));
            }
        }
    }

    /// A unit has ended at `pc`: the serial runs that handed on something else are none of this execution's.
    fn hand_on(&self, state: &mut Configuration, t: usize, pc: usize) -> Result<(), Wrong> {
        let real = Some(self.handed_on(t, pc, &state.threads[t].local.regs));
        let before = std::mem::take(&mut state.shadow);
        let fitting = before.into_iter().filter(|serial| serial.owed[t] == real);
        state.shadow = fitting
            .map(|mut serial| {
                serial.owed[t] = None;
                serial
            })
            .collect();
        if state.shadow.is_empty() { Err(Wrong) } else { Ok(()) }
    }

    /// What a unit that ends at `pc` hands on: where it ends, what may still be read, and its results.
    fn handed_on(&self, t: usize, pc: usize, regs: &[i128]) -> Vec<i128> {
        let results = if matches!(self.program.threads[t][pc], Ins::End) { self.program.results } else { 0 };
        let live = self.live[t][pc + 1];
        let handed = (0..REGISTERS).filter(|reg| live[*reg] || *reg < results).map(|reg| regs[reg]);
        std::iter::once(pc as i128).chain(handed).collect()
    }
}

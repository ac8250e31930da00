//! Programs whose blocks wait, choose and loop, and whose threads may run for ever, under `sc`: a generator, and a machine with a shadow
//! that is written from the definition alone.
//!
//! A thread is a list of instructions. A step is one access or one choice and whatever comes behind it up to the next; a block commits
//! with the access before its mark. The shadow is a set of serial runs, one for each way to choose in blocks.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use super::{LOCATIONS, Random, Value, value};

/// Two for blocks, one for accesses outside of them.
const REGISTERS: usize = 3;
const OUTSIDE: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Ins {
    Load(usize, usize),
    Store(usize, Value),
    Cas(usize, usize, i128, i128),
    /// Waits for a value, as a section: one access.
    Await(usize, usize, i128),
    /// 0 or 1.
    Choose(usize),
    Assume(usize, i128),
    /// If a register has a value the next instruction, else that one.
    If(usize, i128, usize),
    Goto(usize),
    /// A block with this number in its name begins.
    Begin(usize),
    Commit,
    End,
    Halt,
}

#[derive(Clone, Debug)]
pub struct Program {
    threads: Vec<Vec<Ins>>,
    memory: Vec<i128>,
    /// Whether all registers are looked at in the end, and which ones every block returns.
    observed: bool,
    results: usize,
}

/// Writes the code of one thread.
struct Writer<'r> {
    random: &'r mut Random,
    code: Vec<Ins>,
}

impl Random {
    pub fn looping(&mut self) -> Program {
        let threads = 2 + usize::from(self.below(4) == 0);
        let most = if threads == 2 { 2 } else { 1 };
        // Threads that are alike matter to symmetry.
        let twins = self.below(4) == 0;
        let mut all: Vec<Vec<Ins>> = Vec::new();
        for number in 0..threads {
            let code = match all.first() {
                Some(first) if twins && number == 1 => first.clone(),
                _ => Writer { random: self, code: Vec::new() }.thread(most),
            };
            all.push(code);
        }
        Program {
            threads: all,
            memory: (0..LOCATIONS).map(|_| self.below(2) as i128).collect(),
            observed: self.below(2) == 0,
            results: self.below(3) as usize,
        }
    }
}

impl Writer<'_> {
    fn below(&mut self, bound: u64) -> usize {
        self.random.below(bound) as usize
    }

    fn thread(mut self, most: u64) -> Vec<Ins> {
        let forever = self.below(3) != 0;
        for _ in 0..1 + self.below(most) {
            match self.below(5) {
                0 => self.outside(),
                1 => self.toggle(),
                _ => self.block(most),
            }
        }
        self.code.push(if forever { Ins::Goto(0) } else { Ins::Halt });
        self.code
    }

    /// An access outside of blocks, perhaps of a chosen value, and perhaps a look at what was loaded.
    fn outside(&mut self) {
        if self.below(4) == 0 {
            self.code.push(Ins::Choose(OUTSIDE));
            let loc = self.below(LOCATIONS as u64);
            return self.code.push(Ins::Store(loc, Value::Next(OUTSIDE)));
        }
        self.access(OUTSIDE);
        self.look(OUTSIDE);
    }

    /// A block that writes a location twice, its commit in between.
    fn toggle(&mut self) {
        let loc = self.below(LOCATIONS as u64);
        let first = self.below(2) as i128;
        let name = self.below(3);
        self.code.extend([Ins::Begin(name), Ins::Store(loc, Value::Const(first))]);
        if self.below(2) == 0 {
            self.code.push(Ins::Store(1 - loc, Value::Const(1)));
        }
        self.code.push(Ins::Commit);
        self.code.extend([Ins::Store(loc, Value::Const(1 - first)), Ins::End]);
    }

    fn block(&mut self, most: u64) {
        let name = self.below(3);
        self.code.push(Ins::Begin(name));
        for _ in 0..self.below(most + 1) {
            self.statement();
        }
        let reg = self.below(2);
        if self.below(2) == 0 {
            self.access(reg)
        } else {
            self.wait(reg)
        }
        self.code.push(Ins::Commit);
        for _ in 0..self.below(most + 1) {
            self.statement();
        }
        self.code.push(Ins::End);
        let reg = self.below(2);
        self.look(reg);
    }

    fn statement(&mut self) {
        let reg = self.below(2);
        let value = self.below(2) as i128;
        match self.below(9) {
            0 => self.wait(reg),
            1 => self.code.push(Ins::Choose(reg)),
            2 => {
                // Chooses until it is satisfied.
                let again = self.code.len();
                self.code.extend([Ins::Choose(reg), Ins::If(reg, value, again)]);
            }
            3 => self.code.push(Ins::Assume(reg, value)),
            4 => {
                self.code.push(Ins::If(reg, value, self.code.len() + 2));
                self.access(reg);
            }
            _ => self.access(reg),
        }
    }

    fn access(&mut self, reg: usize) {
        let loc = self.below(LOCATIONS as u64);
        let ins = match self.below(7) {
            0..=2 => Ins::Load(reg, loc),
            3..=5 => match self.below(2) {
                0 => Ins::Store(loc, Value::Const(self.below(3) as i128)),
                _ => Ins::Store(loc, Value::Next(reg)),
            },
            _ => Ins::Cas(reg, loc, self.below(2) as i128, self.below(3) as i128),
        };
        self.code.push(ins);
    }

    /// Waits for a value: in a loop, by compare and swap in a loop, or in a section.
    fn wait(&mut self, reg: usize) {
        let (loc, value, again) = (self.below(LOCATIONS as u64), self.below(2) as i128, self.code.len());
        match self.below(3) {
            0 => self.code.extend([Ins::Load(reg, loc), Ins::If(reg, value, again)]),
            1 => self.code.extend([Ins::Cas(reg, loc, value, 1), Ins::If(reg, value, again)]),
            _ => self.code.push(Ins::Await(reg, loc, value)),
        }
    }

    /// A branch that makes no difference, so that the register may still be read before it and not behind it.
    fn look(&mut self, reg: usize) {
        if self.below(3) == 0 {
            self.code.push(Ins::If(reg, 0, self.code.len() + 1));
        }
    }
}

/// The program in the IR's text form.
pub fn ir(program: &Program) -> String {
    let mut out = "program looping\n".to_owned();
    for (loc, value) in program.memory.iter().enumerate() {
        writeln!(out, "location x{loc} = {value}").expect("a string");
    }
    for (t, code) in program.threads.iter().enumerate() {
        writeln!(out, "thread t{t}").expect("a string");
        (0..REGISTERS).for_each(|reg| writeln!(out, "  register r{reg} = 0").expect("a string"));
        let places: Vec<usize> = code
            .iter()
            .scan(0, |at, ins| {
                let place = *at;
                *at += if matches!(ins, Ins::Await(..)) { 4 } else { 1 };
                Some(place)
            })
            .collect();
        let lines = code.iter().enumerate().flat_map(|(pc, ins)| written(ins, pc, &places, program.results));
        lines.enumerate().for_each(|(pc, line)| writeln!(out, "  @{pc}: {line}").expect("a string"));
    }
    // Conditions on final states look at registers as well.
    let all = (0..program.threads.len()).flat_map(|t| (0..REGISTERS).map(move |reg| (t, reg)));
    for (t, reg) in all.filter(|_| program.observed) {
        match program.results {
            0 => writeln!(out, "check never (t{t}:r{reg} == 9) \"nine\" on sc").expect("a string"),
            _ => writeln!(out, "observe t{t}r{reg} = t{t}:r{reg}").expect("a string"),
        }
    }
    out
}

fn written(ins: &Ins, pc: usize, places: &[usize], results: usize) -> Vec<String> {
    let line = match *ins {
        Ins::Load(reg, loc) => format!("r{reg} := load x{loc}"),
        Ins::Store(loc, Value::Const(value)) => format!("store x{loc}, {value}"),
        Ins::Store(loc, Value::Next(reg)) => format!("store x{loc}, ((r{reg} + 1) % 3)"),
        Ins::Cas(reg, loc, expected, new) => format!("r{reg} := cas x{loc}, {expected}, {new}"),
        Ins::Await(reg, loc, value) => {
            let (load, wait) = (format!("r{reg} := load x{loc}"), format!("assume (r{reg} == {value})"));
            return vec!["atomic begin".into(), load, wait, "atomic end".into()];
        }
        Ins::Choose(reg) => format!("r{reg} := choose 0, 1"),
        Ins::Assume(reg, value) => format!("assume (r{reg} == {value})"),
        Ins::If(reg, value, other) => {
            format!("branch (r{reg} == {value}) then @{} else @{}", places[pc + 1], places[other])
        }
        Ins::Goto(to) => format!("jump @{}", places[to]),
        Ins::Begin(name) => format!("block begin b{name}"),
        Ins::Commit => "block commit".into(),
        Ins::End => ["block end", "block end r0", "block end r0, r1"][results].into(),
        Ins::Halt => "halt".into(),
    };
    vec![line]
}

/// For each instruction the registers that may be read from there on.
fn may_be_read(code: &[Ins], results: usize, at_the_end: bool) -> Vec<[bool; REGISTERS]> {
    let mut live = vec![[false; REGISTERS]; code.len() + 1];
    // As many rounds as there are instructions are enough.
    for pc in (0..=code.len()).flat_map(|_| (0..code.len()).rev()) {
        let next = live[pc + 1];
        live[pc] = match code[pc] {
            Ins::Halt => [at_the_end; REGISTERS],
            Ins::Goto(to) => live[to],
            Ins::If(reg, _, other) => std::array::from_fn(|r| r == reg || next[r] || live[other][r]),
            Ins::Assume(reg, _) | Ins::Store(_, Value::Next(reg)) => std::array::from_fn(|r| r == reg || next[r]),
            Ins::Load(reg, _) | Ins::Cas(reg, ..) | Ins::Await(reg, ..) | Ins::Choose(reg) => {
                std::array::from_fn(|r| r != reg && next[r])
            }
            Ins::End => std::array::from_fn(|r| r < results || next[r]),
            Ins::Store(..) | Ins::Begin(_) | Ins::Commit => next,
        };
    }
    live
}

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
struct State {
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
        let mut start = State { memory, threads: vec![Thread::default(); threads], shadow: BTreeSet::from([serial]) };
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

    fn steps(&self, state: &State, t: usize) -> Vec<Result<State, Wrong>> {
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
    fn performed(&self, state: &mut State, t: usize, pc: usize) -> Result<(), Wrong> {
        if state.threads[t].in_block {
            state.threads[t].opened = true;
        } else {
            self.commit(state, t)?;
            self.hand_on(state, t, pc)?;
        }
        self.go_on(state, t)
    }

    /// Runs on and compares memory if nobody is in a block then.
    fn go_on(&self, state: &mut State, t: usize) -> Result<(), Wrong> {
        self.run_on(state, t)?;
        if state.threads.iter().all(|thread| !thread.opened) {
            let State { memory, shadow, .. } = state;
            shadow.retain(|serial| serial.memory == *memory);
        }
        if state.shadow.is_empty() { Err(Wrong) } else { Ok(()) }
    }

    /// Runs a thread to its next access or choice.
    fn run_on(&self, state: &mut State, t: usize) -> Result<(), Wrong> {
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
    fn commit(&self, state: &mut State, t: usize) -> Result<(), Wrong> {
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
    fn hand_on(&self, state: &mut State, t: usize, pc: usize) -> Result<(), Wrong> {
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

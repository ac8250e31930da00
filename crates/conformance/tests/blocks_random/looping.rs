//! Programs whose blocks wait, choose and loop, and whose threads may run for ever, under `sc`: a generator, and a machine with a shadow
//! that is written from the definition alone.
//!
//! A thread is a list of instructions. A step is one access or one choice and whatever comes behind it up to the next; a block commits
//! with the access before its mark. The shadow is a set of serial runs, one for each way to choose in blocks.

use std::fmt::Write;

use super::{LOCATIONS, Random, Value};

/// Two for blocks, one for accesses outside of them.
pub const REGISTERS: usize = 3;
pub const OUTSIDE: usize = 2;

#[derive(Clone, Copy, Debug)]
pub enum Ins {
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
    pub threads: Vec<Vec<Ins>>,
    pub memory: Vec<i128>,
    /// Whether all registers are looked at in the end, and which ones every block returns.
    pub observed: bool,
    pub results: usize,
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
pub fn may_be_read(code: &[Ins], results: usize, at_the_end: bool) -> Vec<[bool; REGISTERS]> {
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

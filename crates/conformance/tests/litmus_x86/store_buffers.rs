//! An x86 machine with store buffers, by brute force: the judge of the litmus front end's lowering and of the model `tso`.
//!
//! It runs the instructions as the parser read them and shares nothing with the lowering, the axioms or the engines: each thread has
//! registers, flags and a first-in first-out buffer of stores; a load looks into its own buffer first; a locked instruction, an
//! exchange with memory and `MFENCE` wait until the buffer is empty (Owens, Sarkar, Sewell: "A better x86 memory model: x86-TSO").
//! If a thread waits for its buffer after every store, the same machine is sequentially consistent.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::FenceSet;
use cyrano_litmus::ast::{Value, Var};
use cyrano_litmus::x86::ast::{Alu, Cc, Instr, Mem, Op, Operand, Register, Thread, Unary};
use cyrano_litmus::{Code, Shown, Test};

/// Where addresses start: far away from the numbers that tests use.
const BASE: u64 = 0x1000;

/// A final state as a test shows it.
pub type Shows = BTreeSet<Vec<Shown>>;

/// All final states of a test, or why there are none.
pub fn outcomes(test: &Test, buffered: bool) -> Result<Shows, String> {
    let Code::X86(threads) = &test.code else { return Err("this is no assembly test".to_owned()) };
    let names = test.program.locations.iter().map(|location| location.name.clone());
    let names: Vec<String> = names.filter(|name| !name.starts_with('%')).collect();
    let machine = Machine { threads, names, buffered };
    let start = machine.start(test)?;
    let mut seen = BTreeSet::from([start.clone()]);
    let mut work = vec![start];
    let mut shown = Shows::new();
    while let Some(state) = work.pop() {
        if machine.is_done(&state) {
            shown.insert(machine.show(test, &state)?);
        }
        for next in machine.steps(&state)? {
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    Ok(shown)
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Configuration {
    memory: Vec<u64>,
    threads: Vec<Local>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Local {
    line: usize,
    registers: BTreeMap<String, u64>,
    flags: Flags,
    buffer: Vec<(usize, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Flags {
    zero: bool,
    sign: bool,
    carry: bool,
    overflow: bool,
}

struct Machine<'t> {
    threads: &'t [Thread],
    names: Vec<String>,
    buffered: bool,
}

impl Machine<'_> {
    fn location(&self, name: &str) -> Result<usize, String> {
        self.names.iter().position(|known| known == name).ok_or_else(|| format!("no location {name}"))
    }

    fn start(&self, test: &Test) -> Result<Configuration, String> {
        let mut state =
            Configuration { memory: vec![0; self.names.len()], threads: vec![Local::default(); self.threads.len()] };
        for init in &test.init {
            let value = match &init.value {
                Some(Value::Int(value)) => *value as u64,
                Some(Value::Address(name)) => address(self.location(&name.text)?),
                None => 0,
            };
            match &init.var {
                Var::Loc(name) => state.memory[self.location(&name.text)?] = value,
                Var::Reg { thread, name } => {
                    let thread = usize::try_from(*thread).map_err(|error| error.to_string())?;
                    let (name, bits) = plain(&name.text);
                    state.threads[thread].registers.insert(name, low(value, bits));
                }
            }
        }
        Ok(state)
    }

    fn is_done(&self, state: &Configuration) -> bool {
        let ended = |(local, thread): (&Local, &Thread)| local.line >= thread.lines.len() && local.buffer.is_empty();
        state.threads.iter().zip(self.threads).all(ended)
    }

    fn show(&self, test: &Test, state: &Configuration) -> Result<Vec<Shown>, String> {
        let mut values = Vec::new();
        for column in &test.columns {
            let value = match column.name.split_once(':') {
                Some((thread, register)) => {
                    let thread: usize = thread.parse().map_err(|_| "a bad column".to_owned())?;
                    let (name, bits) = plain(register);
                    let value = state.threads[thread].registers.get(&name).copied().unwrap_or(0);
                    if bits == 32 { value as u32 as i32 as i128 } else { value as i128 }
                }
                None => {
                    let value = state.memory[self.location(&column.name)?];
                    // A word of 32 bits is shown as a signed number.
                    if value >> 32 == 0 { value as u32 as i32 as i128 } else { value as i128 }
                }
            };
            let known = self.names.iter().enumerate().find(|(at, _)| address(*at) as i128 == value);
            values.push(match known {
                Some((_, name)) if column.pointer => Shown::Address(name.clone()),
                _ => Shown::Int(value),
            });
        }
        Ok(values)
    }

    fn steps(&self, state: &Configuration) -> Result<Vec<Configuration>, String> {
        let mut next = Vec::new();
        for thread in 0..self.threads.len() {
            if !state.threads[thread].buffer.is_empty() {
                let mut drained = state.clone();
                let (location, value) = drained.threads[thread].buffer.remove(0);
                drained.memory[location] = value;
                next.push(drained);
            }
            next.extend(self.step(state, thread)?);
        }
        Ok(next)
    }

    /// The next instruction of a thread, if it can be executed now.
    fn step(&self, state: &Configuration, thread: usize) -> Result<Option<Configuration>, String> {
        let local = &state.threads[thread];
        let Some(line) = self.threads[thread].lines.get(local.line) else { return Ok(None) };
        let mut run = Run { machine: self, state: state.clone(), thread };
        run.local().line += 1;
        let Some(instr) = &line.instr else { return Ok(Some(run.state)) };
        let drains = instr.lock
            || matches!(&instr.op, Op::Xchg { a, b } if a.is_mem() || b.is_mem())
            || matches!(instr.op, Op::Fence(FenceSet::FULL));
        // Without buffers each store reaches memory before the next instruction, but not at once: an instruction that reads and writes
        // memory without `LOCK` does so in two steps.
        if (drains || !self.buffered) && !local.buffer.is_empty() {
            return Ok(None);
        }
        run.execute(instr, drains)?;
        Ok(Some(run.state))
    }
}

/// An instruction being executed.
struct Run<'m> {
    machine: &'m Machine<'m>,
    state: Configuration,
    thread: usize,
}

impl Run<'_> {
    fn local(&mut self) -> &mut Local {
        &mut self.state.threads[self.thread]
    }

    fn execute(&mut self, instr: &Instr, direct: bool) -> Result<(), String> {
        let bits = instr.bits.unwrap_or(32);
        match &instr.op {
            Op::Mov { dst, src } => {
                let value = self.value(src, bits)?;
                self.set(dst, value, bits, direct)?;
            }
            Op::Xchg { a, b } => {
                let (first, second) = (self.value(a, bits)?, self.value(b, bits)?);
                self.set(a, second, bits, direct)?;
                self.set(b, first, bits, direct)?;
            }
            Op::Alu { alu, dst, src } => {
                let (a, b) = (self.value(dst, bits)?, self.value(src, bits)?);
                let result = match alu {
                    Alu::Add => self.add(a, b, bits),
                    Alu::Sub => self.sub(a, b, bits),
                    Alu::And => self.logic(a & b, bits),
                    Alu::Or => self.logic(a | b, bits),
                    Alu::Xor => self.logic(a ^ b, bits),
                };
                self.set(dst, result, bits, direct)?;
            }
            Op::Unary { unary, dst } => {
                let old = self.value(dst, bits)?;
                let carry = self.local().flags.carry;
                let flags = self.local().flags;
                let result = match unary {
                    Unary::Inc => self.add(old, 1, bits),
                    Unary::Dec => self.sub(old, 1, bits),
                    Unary::Neg => self.sub(0, old, bits),
                    Unary::Not => low(!old, bits),
                };
                match unary {
                    Unary::Inc | Unary::Dec => self.local().flags.carry = carry,
                    Unary::Not => self.local().flags = flags,
                    Unary::Neg => {}
                }
                self.set(dst, result, bits, direct)?;
            }
            Op::Cmp { a, b } => {
                let (a, b) = (self.value(a, bits)?, self.value(b, bits)?);
                self.sub(a, b, bits);
            }
            Op::Test { a, b } => {
                let (a, b) = (self.value(a, bits)?, self.value(b, bits)?);
                self.logic(a & b, bits);
            }
            Op::Cmpxchg { dst, src } => {
                let accumulator = Operand::Reg(Register { name: "AX".to_owned(), bits });
                let (expected, found) = (self.value(&accumulator, bits)?, self.value(dst, bits)?);
                self.sub(expected, found, bits);
                if expected == found {
                    let new = self.value(&Operand::Reg(src.clone()), bits)?;
                    self.set(dst, new, bits, direct)?;
                } else {
                    self.set(&accumulator, found, bits, direct)?;
                }
            }
            Op::Xadd { dst, src } => {
                let source = Operand::Reg(src.clone());
                let (a, b) = (self.value(dst, bits)?, self.value(&source, bits)?);
                let sum = self.add(a, b, bits);
                self.set(&source, a, bits, direct)?;
                self.set(dst, sum, bits, direct)?;
            }
            Op::Cmov { cc, dst, src } => {
                let (value, target) = (self.value(src, bits)?, Operand::Reg(dst.clone()));
                let kept = self.value(&target, bits)?;
                let taken = self.holds(*cc);
                self.set(&target, if taken { value } else { kept }, bits, direct)?;
            }
            Op::Jmp { to } => self.jump(&to.text)?,
            Op::Jcc { cc, to } => {
                if self.holds(*cc) {
                    self.jump(&to.text)?;
                }
            }
            Op::Fence(_) | Op::Nop => {}
        }
        Ok(())
    }

    fn jump(&mut self, label: &str) -> Result<(), String> {
        let lines = &self.machine.threads[self.thread].lines;
        let to = lines.iter().position(|line| line.labels.iter().any(|name| name.text == label));
        self.local().line = to.ok_or_else(|| format!("no label {label}"))?;
        Ok(())
    }

    fn target(&mut self, mem: &Mem) -> Result<usize, String> {
        match mem {
            Mem::Loc(name) => self.machine.location(&name.text),
            Mem::Reg(register, _) => {
                let value = self.local().registers.get(&register.name).copied().unwrap_or(0);
                let count = self.machine.names.len();
                (0..count).find(|at| address(*at) == value).ok_or_else(|| "a pointer to nothing".to_owned())
            }
        }
    }

    fn value(&mut self, operand: &Operand, bits: u8) -> Result<u64, String> {
        Ok(match operand {
            Operand::Reg(register) => {
                low(self.local().registers.get(&register.name).copied().unwrap_or(0), register.bits)
            }
            Operand::Imm(value) => low(*value as u64, bits),
            Operand::Address(name) => address(self.machine.location(&name.text)?),
            Operand::Mem(mem) => {
                let location = self.target(mem)?;
                let own = self.local().buffer.iter().rev().find(|(at, _)| *at == location).map(|(_, value)| *value);
                low(own.unwrap_or(self.state.memory[location]), bits)
            }
        })
    }

    fn set(&mut self, operand: &Operand, value: u64, bits: u8, direct: bool) -> Result<(), String> {
        match operand {
            // Writing 32 bits of a register clears the others.
            Operand::Reg(register) => {
                _ = self.local().registers.insert(register.name.clone(), low(value, register.bits))
            }
            Operand::Mem(mem) => {
                let location = self.target(mem)?;
                if direct {
                    self.state.memory[location] = low(value, bits);
                } else {
                    self.local().buffer.push((location, low(value, bits)));
                }
            }
            Operand::Imm(_) | Operand::Address(_) => return Err("a constant is written".to_owned()),
        }
        Ok(())
    }

    fn result(&mut self, value: u64, carry: bool, overflow: bool, bits: u8) -> u64 {
        let value = low(value, bits);
        self.local().flags = Flags { zero: value == 0, sign: negative(value, bits), carry, overflow };
        value
    }

    fn add(&mut self, a: u64, b: u64, bits: u8) -> u64 {
        let wide = u128::from(a) + u128::from(b);
        let (sum, carry) = (low(wide as u64, bits), wide >> bits != 0);
        let overflow = negative(a, bits) == negative(b, bits) && negative(sum, bits) != negative(a, bits);
        self.result(sum, carry, overflow, bits)
    }

    fn sub(&mut self, a: u64, b: u64, bits: u8) -> u64 {
        let difference = low(a.wrapping_sub(b), bits);
        let overflow = negative(a, bits) != negative(b, bits) && negative(difference, bits) != negative(a, bits);
        self.result(difference, a < b, overflow, bits)
    }

    fn logic(&mut self, value: u64, bits: u8) -> u64 {
        self.result(value, false, false, bits)
    }

    fn holds(&mut self, cc: Cc) -> bool {
        let Flags { zero, sign, carry, overflow } = self.local().flags;
        match cc {
            Cc::E => zero,
            Cc::Ne => !zero,
            Cc::L => sign != overflow,
            Cc::Ge => sign == overflow,
            Cc::Le => zero || sign != overflow,
            Cc::G => !zero && sign == overflow,
            Cc::B => carry,
            Cc::Ae => !carry,
            Cc::Be => carry || zero,
            Cc::A => !carry && !zero,
            Cc::S => sign,
            Cc::Ns => !sign,
            Cc::O => overflow,
            Cc::No => !overflow,
        }
    }
}

fn address(location: usize) -> u64 {
    BASE + 16 * location as u64
}

/// The lowest bits of a value.
fn low(value: u64, bits: u8) -> u64 {
    if bits == 32 { value & 0xffff_ffff } else { value }
}

fn negative(value: u64, bits: u8) -> bool {
    value >> (bits - 1) & 1 == 1
}

/// The machine's register behind a name, and how many of its bits are meant.
fn plain(name: &str) -> (String, u8) {
    let upper = name.trim_start_matches('%').to_ascii_uppercase();
    let numbered = upper.starts_with('R') && upper[1..].starts_with(|letter: char| letter.is_ascii_digit());
    if numbered {
        return match upper.strip_suffix('D') {
            Some(name) => (name.to_owned(), 32),
            None => (upper, 64),
        };
    }
    match (upper.strip_prefix('R'), upper.strip_prefix('E')) {
        (Some(rest), _) => (rest.to_owned(), 64),
        (_, Some(rest)) => (rest.to_owned(), 32),
        _ => (upper, 32),
    }
}

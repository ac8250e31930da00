//! A thread's region, as far as what it has performed determines it.
//!
//! The code of a region is walked once in the order of the text, which is the order of instruction numbers, for there are no
//! jumps back. A register whose value hangs on an access that has not been performed is *unknown*. A branch on an unknown condition is taken
//! both ways, with half of the *weight* each; where ways meet their weights add up. So an instruction has weight 1 if it is
//! executed in any case, 0 if in no case, and something in between as long as that is open. Weights are sums of powers of one half, which floating point numbers
//! hold exactly for as many open branches in a row as a region can have (`MOST_OPEN`).

use cyrano_ir::{EvalError, LocalExpr, Op, Place, Program};

use crate::own::region::{Region, Units, is_barrier};
use crate::state::{Data, Entry};

/// How many branches in a row may be open.
const MOST_OPEN: f64 = 1.0 / (1u64 << 50) as f64;

/// What a thread's region looks like.
#[derive(Default)]
pub(crate) struct Look {
    /// What can be performed now.
    pub ready: Vec<Ready>,
    /// Choices that can be made now.
    pub choices: Vec<Choice>,
    /// Where the region ends, once everything in it is done, and the registers there.
    pub exit: Option<(u32, Vec<i128>)>,
    /// Whether something was performed that is not executed: the guess was wrong.
    pub wrong: bool,
    /// An assertion that fails on the way to the exit.
    pub failed: Option<u32>,
    /// Whether an assertion was evaluated on the way to the exit.
    pub asserted: bool,
    /// A computation that goes wrong in any case.
    pub error: Option<(u32, EvalError)>,
    /// A `limit` that does not hold.
    pub limited: Option<u32>,
    /// An `assume` that does not hold.
    pub dropped: bool,
}

/// An access or an atomic section that can be performed.
pub(crate) struct Ready {
    pub pc: u32,
    /// The registers before it.
    pub regs: Vec<Option<i128>>,
}

/// A choice that can be made.
pub(crate) struct Choice {
    pub pc: u32,
    /// Whether it has to be made in any case.
    pub certain: bool,
}

/// A way into an instruction.
struct Arrival {
    pc: u32,
    weight: f64,
    regs: Vec<Option<i128>>,
}

struct Walk<'a> {
    program: &'a Program,
    region: &'a Region,
    /// What was performed in the region, by instruction.
    done: &'a [Entry],
    /// The units that were performed.
    performed: Units,
    look: Look,
    arrivals: Vec<Arrival>,
    /// The units met so far that are executed in any case and have not been performed.
    waiting: Units,
    /// How many of the entries in `done` were met.
    met: usize,
    /// Whether an access or a choice was met that has not been performed.
    open: bool,
    exits: Vec<(u32, f64, Vec<Option<i128>>)>,
}

/// Looks at a region with these registers of the thread at its start.
pub(crate) fn look(program: &Program, region: &Region, done: &[Entry], regs: &[i128]) -> Look {
    let regs = region.registers.iter().map(|register| Some(regs[*register as usize])).collect();
    let mut performed = Units::default();
    done.iter().filter_map(|entry| region.unit(entry.instr)).for_each(|unit| performed.insert(unit));
    let mut walk = Walk {
        program,
        region,
        done,
        performed,
        look: Look::default(),
        arrivals: vec![Arrival { pc: region.start, weight: 1.0, regs }],
        waiting: Units::default(),
        met: 0,
        open: false,
        exits: Vec::new(),
    };
    while let Some(arrival) = walk.next_arrival() {
        walk.run(arrival);
    }
    walk.finish()
}

/// An unknown value, in the place of an error.
enum Miss {
    Unknown,
    Error(EvalError),
}

type Known<T> = Result<T, Miss>;

pub(crate) fn eval(expr: &LocalExpr, regs: &[Option<i128>]) -> Option<Result<i128, EvalError>> {
    match value(expr, regs) {
        Ok(value) => Some(Ok(value)),
        Err(Miss::Error(error)) => Some(Err(error)),
        Err(Miss::Unknown) => None,
    }
}

/// The value of an expression. Both sides of `&&` and `||` are looked at only as far as evaluation itself would.
fn value(expr: &LocalExpr, regs: &[Option<i128>]) -> Known<i128> {
    let mut unknown = false;
    let result = expr.eval(&mut |place| match place_register(place, regs) {
        Ok(register) => Ok(regs[register as usize].unwrap_or_else(|| {
            unknown = true;
            0
        })),
        Err(Miss::Unknown) => {
            unknown = true;
            Ok(0)
        }
        Err(Miss::Error(error)) => Err(error),
    });
    if unknown { Err(Miss::Unknown) } else { result.map_err(Miss::Error) }
}

fn place_register(place: &Place, regs: &[Option<i128>]) -> Known<u32> {
    match place {
        Place::Reg(reg) => Ok(reg.0),
        Place::Elem { base, len, index } => {
            let index = value(index, regs)?;
            let inside = u32::try_from(index).ok().filter(|i| i < len);
            inside.map(|i| base.0 + i).ok_or(Miss::Error(EvalError::OutOfBounds { index, len: *len }))
        }
    }
}

/// The location that an address denotes, if that is known.
pub(crate) fn location(
    program: &Program,
    addr: &cyrano_ir::Addr,
    regs: &[Option<i128>],
) -> Option<Result<u32, EvalError>> {
    match addr {
        cyrano_ir::Addr::Fixed(loc) => Some(Ok(loc.0)),
        cyrano_ir::Addr::Indexed { array, index } => {
            let index = eval(index, regs)?;
            Some(index.and_then(|index| program.element(*array, index)).map(|loc| loc.0))
        }
    }
}

/// Gives a place a value; if it is not known which register it is, every one that it can be becomes unknown.
pub(crate) fn set(place: &Place, regs: &mut [Option<i128>], new: Option<i128>) -> Result<(), EvalError> {
    match (place_register(place, regs), place) {
        (Ok(register), _) => regs[register as usize] = new,
        (Err(Miss::Unknown), Place::Elem { base, len, .. }) => {
            regs[base.index()..base.index() + *len as usize].fill(None);
        }
        (Err(Miss::Error(error)), _) => return Err(error),
        (Err(Miss::Unknown), Place::Reg(_)) => {}
    }
    Ok(())
}

impl Walk<'_> {
    /// What was performed at an instruction.
    fn done_at(&self, pc: u32) -> Option<i128> {
        let at = self.done.binary_search_by_key(&pc, |entry| entry.instr).ok()?;
        match self.done[at].data {
            Data::Known(value, _) => Some(value),
            Data::Waiting(_) => None,
        }
    }

    /// The first instruction that some way leads to, with all ways that lead there.
    fn next_arrival(&mut self) -> Option<Arrival> {
        let first = self.arrivals.iter().map(|arrival| arrival.pc).min()?;
        let mut merged: Option<Arrival> = None;
        let mut at = 0;
        while at < self.arrivals.len() {
            if self.arrivals[at].pc != first {
                at += 1;
                continue;
            }
            let other = self.arrivals.swap_remove(at);
            merged = Some(match merged {
                None => other,
                Some(one) => merge(one, &other),
            });
        }
        merged
    }

    fn arrive(&mut self, pc: u32, weight: f64, regs: Vec<Option<i128>>) {
        self.arrivals.push(Arrival { pc, weight, regs });
    }

    fn run(&mut self, arrival: Arrival) {
        let Arrival { mut pc, mut weight, mut regs } = arrival;
        loop {
            if self.arrivals.iter().any(|other| other.pc == pc) {
                return self.arrive(pc, weight, regs);
            }
            let region = self.region;
            let op = region.op(pc);
            if is_barrier(op) {
                self.exits.push((pc, weight, regs));
                return;
            }
            match op {
                Op::Jump(to) => return self.arrive(to.0, weight, regs),
                Op::Branch { cond, then_to, else_to } => {
                    return self.branch(pc, cond, (then_to.0, else_to.0), weight, regs);
                }
                Op::AtomicBegin => {
                    pc = self.section(pc, weight, &mut regs);
                    continue;
                }
                Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } => self.access(pc, op, weight, &mut regs),
                Op::Choose { dst, .. } => self.choice(pc, dst, weight, &mut regs),
                Op::Assign { .. } | Op::Assert { .. } => self.compute(pc, op, weight, &mut regs),
                Op::Assume(cond) | Op::Limit { cond, .. } if !self.assume(pc, cond, weight, &regs) => weight = 0.0,
                _ => {}
            }
            if weight == 0.0 {
                return;
            }
            pc += 1;
        }
    }

    fn branch(&mut self, pc: u32, cond: &LocalExpr, to: (u32, u32), weight: f64, regs: Vec<Option<i128>>) {
        match eval(cond, &regs) {
            Some(Ok(0)) => self.arrive(to.1, weight, regs),
            Some(Ok(_)) => self.arrive(to.0, weight, regs),
            Some(Err(error)) => self.error(pc, weight, error),
            None if to.0 == to.1 => self.arrive(to.0, weight, regs),
            None => {
                debug_assert!(weight > MOST_OPEN, "a region with that many open branches");
                self.arrive(to.0, weight / 2.0, regs.clone());
                self.arrive(to.1, weight / 2.0, regs);
            }
        }
    }

    fn error(&mut self, pc: u32, weight: f64, error: EvalError) {
        if weight == 1.0 {
            self.look.error.get_or_insert((pc, error));
        }
    }

    fn compute(&mut self, pc: u32, op: &Op, weight: f64, regs: &mut [Option<i128>]) {
        let operand = op.operands()[0];
        let mut known = eval(operand, regs);
        if let Some(Err(error)) = known {
            self.error(pc, weight, error);
            known = Some(Ok(0));
        }
        let known = known.and_then(Result::ok);
        if let Op::Assign { dst, .. } = op {
            if let Err(error) = set(dst, regs, known) {
                self.error(pc, weight, error);
            }
        } else if let Some(holds) = known.filter(|_| weight == 1.0) {
            self.look.asserted = true;
            if holds == 0 {
                self.look.failed.get_or_insert(pc);
            }
        }
    }

    /// Whether the way goes on.
    fn assume(&mut self, pc: u32, cond: &LocalExpr, weight: f64, regs: &[Option<i128>]) -> bool {
        match eval(cond, regs) {
            Some(Ok(0)) if weight == 1.0 && matches!(self.region.op(pc), Op::Limit { .. }) => {
                self.look.limited.get_or_insert(pc);
                false
            }
            Some(Ok(0)) => {
                self.look.dropped |= weight == 1.0;
                false
            }
            Some(Err(error)) => {
                self.error(pc, weight, error);
                false
            }
            Some(Ok(_)) | None => true,
        }
    }

    fn choice(&mut self, pc: u32, dst: &Place, weight: f64, regs: &mut [Option<i128>]) {
        let made = self.done_at(pc);
        self.meet(made.is_some());
        if made.is_none() {
            self.look.choices.push(Choice { pc, certain: weight == 1.0 });
        }
        if let Err(error) = set(dst, regs, made) {
            self.error(pc, weight, error);
        }
    }

    fn access(&mut self, pc: u32, op: &Op, weight: f64, regs: &mut [Option<i128>]) {
        let done = self.done_at(pc);
        let unit = self.region.unit(pc).unwrap_or_default();
        self.meet(done.is_some());
        if done.is_none() {
            if self.may_come_next(unit) {
                self.offer(pc, op, weight, regs);
            } else {
                self.late(unit, weight);
            }
            self.wait(unit, weight);
        }
        if let Some(dst) = op.dst()
            && let Err(error) = set(dst, regs, done)
        {
            self.error(pc, weight, error);
        }
    }

    /// An access that is in order, if all that it needs is known.
    fn offer(&mut self, pc: u32, op: &Op, weight: f64, regs: &[Option<i128>]) {
        let Some(addr) = op.addr() else { return };
        let mut known = true;
        match location(self.program, addr, regs) {
            Some(Err(error)) => return self.error(pc, weight, error),
            located => known &= located.is_some(),
        }
        for operand in op.operands() {
            match eval(operand, regs) {
                Some(Err(error)) => self.error(pc, weight, error),
                value => known &= value.is_some(),
            }
        }
        if known {
            self.look.ready.push(Ready { pc, regs: regs.to_vec() });
        }
    }

    /// Something was met that can be performed.
    fn meet(&mut self, done: bool) {
        if done {
            self.met += 1;
        } else {
            self.open = true;
        }
    }

    fn wait(&mut self, unit: usize, weight: f64) {
        if weight == 1.0 {
            self.waiting.insert(unit);
        }
    }

    /// Axiom 9: nothing that precedes it is executed in any case and still to come, and nothing that it precedes has been performed.
    /// What precedes it and may yet turn out to be executed rules itself out by coming too late.
    fn may_come_next(&self, unit: usize) -> bool {
        let region = self.region;
        (region.before[unit] & self.waiting).is_empty() && (region.after[unit] & self.performed).is_empty()
    }

    /// Notes a unit that comes too late and has to come.
    fn late(&mut self, unit: usize, weight: f64) {
        self.look.wrong |= weight == 1.0 && !(self.region.after[unit] & self.performed).is_empty();
    }

    /// An atomic section, which is performed as a whole or not at all. Returns where it ends.
    fn section(&mut self, begin: u32, weight: f64, regs: &mut [Option<i128>]) -> u32 {
        let region = self.region;
        let length = region.code[(begin - region.start) as usize..].iter().position(|op| matches!(op, Op::AtomicEnd));
        let end = begin + length.map_or(1, |length| length as u32 + 1);
        let accesses = || (begin..end).filter(|pc| region.unit(*pc).is_some());
        if let Some(unit) = accesses().next().and_then(|first| region.unit(first)) {
            let done = accesses().next().is_some_and(|first| self.done_at(first).is_some());
            accesses().for_each(|_| self.meet(done));
            if !done {
                if self.may_come_next(unit) {
                    self.look.ready.push(Ready { pc: begin, regs: regs.to_vec() });
                } else {
                    self.late(unit, weight);
                }
                self.wait(unit, weight);
            }
        }
        for pc in begin + 1..end - 1 {
            let op = region.op(pc);
            match op {
                Op::Assign { .. } | Op::Assert { .. } => self.compute(pc, op, weight, regs),
                _ if op.access_kind().is_some() => {
                    let value = self.done_at(pc);
                    if let Some(Err(error)) = op.dst().map(|dst| set(dst, regs, value)) {
                        self.error(pc, weight, error);
                    }
                }
                _ => {}
            }
        }
        end
    }

    fn finish(mut self) -> Look {
        self.look.wrong |= self.met != self.done.len();
        if !self.open
            && let [(pc, weight, regs)] = &self.exits[..]
        {
            debug_assert!(*weight == 1.0, "nothing is open where everything is done");
            self.look.exit = Some((*pc, regs.iter().map(|value| value.unwrap_or(0)).collect()));
        }
        self.look
    }
}

fn merge(mut one: Arrival, other: &Arrival) -> Arrival {
    one.weight += other.weight;
    for (a, b) in one.regs.iter_mut().zip(&other.regs) {
        if a != b {
            *a = None;
        }
    }
    one
}

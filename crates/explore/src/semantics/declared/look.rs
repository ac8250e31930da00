//! A thread's region, as far as what it has performed determines it.
//!
//! The code of a region is walked once in the order of the text, which is the order of instruction numbers, for there are no
//! jumps back. A register whose value hangs on an access that has not been performed is *unknown*. A branch on an unknown condition is taken
//! both ways, with half of the *weight* each; where ways meet their weights add up. So an instruction has weight 1 if it is
//! executed in any case, 0 if in no case, and something in between as long as that is open. Weights are sums of powers of one half, which floating point numbers
//! hold exactly for as many open branches in a row as a region can have (`MOST_OPEN`).
//! On the way it is found out what each access follows, see `follow`.

mod section;

use std::ops::Range;

use cyrano_ir::dataflow::reads;
use cyrano_ir::{Addr, EvalError, Expr, LocalExpr, Op, Place, Program};

use crate::reductions::ample::Footprint;
use crate::reductions::timestamps::{additions, constants};
use crate::semantics::declared::follow::{Follows, Way, reach};
use crate::semantics::declared::partial::{eval, location, set};
use crate::semantics::declared::region::{Region, Units, WIDE, is_barrier};
use crate::semantics::declared::sight::{Choice, Look, Open, Ready};
use crate::semantics::state::{Data, Entry, What};

/// How many branches in a row may be open.
const MOST_OPEN: f64 = 1.0 / (1u64 << 50) as f64;

/// A way into an instruction.
struct Arrival<const W: usize> {
    pc: u32,
    weight: f64,
    way: Way<W>,
}

/// An access that was met: its unit, and the locations that it may be of.
type Located = (usize, (u32, u32));

struct Lookahead<'a, const W: usize> {
    program: &'a Program,
    region: &'a Region,
    /// What was performed in the region, by instruction.
    done: &'a [Entry],
    /// Pairs that were performed against the order of the text: the one that came first, and the one that came too late, perhaps.
    inverted: &'a [Entry],
    /// The units that were performed.
    performed: Units<W>,
    look: Look,
    arrivals: Vec<Arrival<W>>,
    /// The units that were met.
    seen: Units<W>,
    /// For each instruction that was met and is no access what it hands on to those that follow it.
    handed: Vec<Option<Follows<W>>>,
    located: Vec<Located>,
    /// How many of the entries in `done` were met.
    met: usize,
    /// Whether an access or a choice was met that has not been performed.
    open: bool,
    exits: Vec<(u32, f64, Way<W>)>,
}

/// Looks at a region from an instruction of it, with these registers of the thread there.
pub(crate) fn look(program: &Program, region: &Region, from: u32, queue: &[Entry], regs: &[i128]) -> Look {
    match region.size {
        0..=64 => look_in::<1>(program, region, from, queue, regs),
        _ => look_in::<WIDE>(program, region, from, queue, regs),
    }
}

fn look_in<const W: usize>(program: &Program, region: &Region, from: u32, queue: &[Entry], regs: &[i128]) -> Look {
    let (done, inverted) = queue.split_at(queue.partition_point(|entry| entry.what == What::Assign));
    let regs = region.registers.iter().map(|register| Some(regs[*register as usize])).collect();
    let mut performed = Units::<W>::default();
    done.iter().filter_map(|entry| region.unit(entry.instr)).for_each(|unit| performed.insert(unit));
    let mut walk = Lookahead {
        program,
        region,
        done,
        inverted,
        performed,
        look: Look::default(),
        arrivals: vec![Arrival { pc: from, weight: 1.0, way: Way::new(regs, region.code.len()) }],
        seen: Units::default(),
        handed: vec![None; region.code.len()],
        located: Vec::new(),
        met: 0,
        open: false,
        exits: Vec::new(),
    };
    while let Some(arrival) = walk.next_arrival() {
        walk.run(arrival);
    }
    walk.finish()
}

impl<const W: usize> Lookahead<'_, W> {
    /// What was performed at an instruction.
    fn done_at(&self, pc: u32) -> Option<i128> {
        let at = self.done.binary_search_by_key(&pc, |entry| entry.instr).ok()?;
        match self.done[at].data {
            Data::Known(value, _) => Some(value),
            Data::Waiting(_) => None,
        }
    }

    /// The first instruction that some way leads to, with all ways that lead there.
    fn next_arrival(&mut self) -> Option<Arrival<W>> {
        let first = self.arrivals.iter().map(|arrival| arrival.pc).min()?;
        let mut merged: Option<Arrival<W>> = None;
        let mut at = 0;
        while at < self.arrivals.len() {
            if self.arrivals[at].pc != first {
                at += 1;
                continue;
            }
            let other = self.arrivals.swap_remove(at);
            merged = Some(match merged {
                None => other,
                Some(mut one) => {
                    one.weight += other.weight;
                    one.way.meet(&other.way);
                    one
                }
            });
        }
        merged
    }

    fn arrive(&mut self, pc: u32, weight: f64, way: Way<W>) {
        self.arrivals.push(Arrival { pc, weight, way });
    }

    fn run(&mut self, arrival: Arrival<W>) {
        let Arrival { mut pc, mut weight, mut way } = arrival;
        loop {
            if self.arrivals.iter().any(|other| other.pc == pc) {
                return self.arrive(pc, weight, way);
            }
            let region = self.region;
            let op = region.op(pc);
            if is_barrier(op) {
                self.exits.push((pc, weight, way));
                return;
            }
            self.note_sums(op, &way.regs);
            match op {
                Op::Jump(to) => return self.arrive(to.0, weight, way),
                Op::Branch { cond, then_to, else_to } => {
                    self.hand_on(pc, op, &mut way);
                    return self.branch(pc, cond, (then_to.0, else_to.0), weight, way);
                }
                Op::AtomicBegin => {
                    pc = self.section(pc, weight, &mut way);
                    continue;
                }
                Op::Access(_) => self.access(pc, op, weight, &mut way),
                Op::Choose { dst, .. } => self.choice(pc, op, dst, weight, &mut way),
                Op::Assign { .. } | Op::Assert { .. } => {
                    self.compute(pc, op, weight, &mut way);
                }
                Op::Assume(cond) | Op::Limit { cond, .. } => {
                    self.hand_on(pc, op, &mut way);
                    if !self.assume(pc, cond, weight, &way.regs) {
                        weight = 0.0;
                    }
                }
                _ => {}
            }
            if weight == 0.0 {
                return;
            }
            pc += 1;
        }
    }

    fn branch(&mut self, pc: u32, cond: &LocalExpr, to: (u32, u32), weight: f64, mut way: Way<W>) {
        match way.eval(cond) {
            Some(Ok(0)) => self.arrive(to.1, weight, way),
            Some(Ok(_)) => self.arrive(to.0, weight, way),
            Some(Err(error)) => self.error(pc, weight, error),
            None if to.0 == to.1 => self.arrive(to.0, weight, way),
            None => {
                debug_assert!(weight > MOST_OPEN, "a region with that many open branches");
                let mut other = way.clone();
                other.assumed.push((pc, true));
                self.arrive(to.0, weight / 2.0, other);
                way.assumed.push((pc, false));
                self.arrive(to.1, weight / 2.0, way);
            }
        }
    }

    /// What an instruction follows because the order lists it.
    fn listed(&self, pc: u32, way: &Way<W>) -> Follows<W> {
        let (units, others) = &self.region.listed[(pc - self.region.start) as usize];
        let units = units.resized();
        let mut all = Follows { must: units & way.units, may: units & self.seen };
        for from in others.iter().map(|from| *from as usize) {
            let Some(handed) = self.handed[from] else { continue };
            all = all | if way.has_passed(from) { handed } else { handed.either(Follows::default()) };
        }
        all
    }

    /// What an instruction that assigns, chooses or decides follows; it hands that on.
    fn hand_on(&mut self, pc: u32, op: &Op, way: &mut Way<W>) -> Follows<W> {
        let follows = self.listed(pc, way) | way.of_op(op);
        let at = (pc - self.region.start) as usize;
        self.handed[at] = Some(follows);
        way.pass(at);
        follows
    }

    /// What an access follows; it hands on itself.
    fn access_follows(&mut self, pc: u32, op: &Op, way: &mut Way<W>) -> Follows<W> {
        let unit = self.region.unit(pc).unwrap_or_default();
        let mut follows = self.listed(pc, way) | way.of_op(op);
        let witness = |addr: &&Addr| matches!(addr, Addr::Fixed(loc) if self.program.is_witness(*loc));
        let addr = op.addr().filter(|addr| !witness(addr));
        let (first, end) = addr.map_or((0, 0), |addr| reach(self.program, addr, &way.regs));
        for (other, (other_first, other_end)) in self.located.iter().filter(|_| self.region.same) {
            if first.max(*other_first) >= end.min(*other_end) {
                continue;
            }
            let known = end - first == 1 && other_end - other_first == 1;
            let certain = known && way.units.contains(*other);
            let one = Follows::unit(*other);
            follows = follows | if certain { one } else { one.either(Follows::default()) };
        }
        if self.region.same {
            self.located.push((unit, (first, end)));
        }
        self.seen.insert(unit);
        way.units.insert(unit);
        follows
    }

    /// Axiom 9: whether a unit that has not been performed may come next. If it has been performed, whether that was right.
    fn judge(&mut self, unit: usize, pc: u32, done: bool, mut follows: Follows<W>) -> bool {
        follows.must.remove(unit);
        follows.may.remove(unit);
        let in_time = follows.must.within(self.performed);
        if done {
            let late = self.inverted.iter().filter(|pair| pair.instr == pc);
            let late = late.filter_map(|pair| self.region.unit(other(pair)));
            self.look.wrong |= !in_time || late.into_iter().any(|unit| follows.must.contains(unit));
            self.look.performed.push((pc, follows.may.resized()));
        }
        in_time && !done
    }

    /// Notes what an instruction without an access adds to, as far as it is known.
    fn note_sums(&mut self, op: &Op, regs: &[Option<i128>]) {
        if !self.region.timed || op.access_kind().is_some() {
            return;
        }
        for operand in op.operands() {
            additions(operand, &mut |sum| {
                sum.for_each_var(&mut |place| {
                    if let Ok(register) = place.register(regs)
                        && let Some(value) = regs[register.index()]
                    {
                        let own = self.region.registers[register.index()];
                        self.look.sums.push((own, value, constants(sum)));
                    }
                });
            });
        }
    }

    fn error(&mut self, pc: u32, weight: f64, error: EvalError) {
        if weight == 1.0 {
            self.look.error.get_or_insert((pc, error));
        }
    }

    /// An assignment or an assertion; what an assignment follows.
    fn compute(&mut self, pc: u32, op: &Op, weight: f64, way: &mut Way<W>) -> Follows<W> {
        let operand = op.operands()[0];
        let mut known = way.eval(operand);
        if let Some(Err(error)) = known {
            self.error(pc, weight, error);
            known = Some(Ok(0));
        }
        let known = known.and_then(Result::ok);
        if let Op::Assign { dst, .. } = op {
            let follows = self.hand_on(pc, op, way);
            way.note(dst, follows);
            self.assign(pc, dst, known, weight, way);
            return follows;
        }
        if let Some(holds) = known.filter(|_| weight == 1.0) {
            self.look.asserted = true;
            if holds == 0 {
                self.look.failed.get_or_insert(pc);
            }
        }
        Follows::default()
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

    fn choice(&mut self, pc: u32, op: &Op, dst: &Place, weight: f64, way: &mut Way<W>) {
        let made = self.done_at(pc);
        self.meet(made.is_some());
        if made.is_none() {
            self.look.choices.push(Choice { pc, certain: weight == 1.0 });
        }
        let follows = self.hand_on(pc, op, way);
        way.note(dst, follows);
        self.assign(pc, dst, made, weight, way);
    }

    fn access(&mut self, pc: u32, op: &Op, weight: f64, way: &mut Way<W>) {
        let done = self.done_at(pc);
        let unit = self.region.unit(pc).unwrap_or_default();
        self.meet(done.is_some());
        self.look.accesses_left |= done.is_none();
        let follows = self.access_follows(pc, op, way);
        let ready = self.judge(unit, pc, done.is_some(), follows) && self.offer(pc, op, weight, &way.regs);
        if done.is_none() {
            self.leave_open((pc, unit), weight == 1.0, ready, follows, self.footprint(op, way));
        }
        self.deliver(pc, op, done, weight, way);
    }

    /// What an access may touch.
    fn footprint(&self, op: &Op, way: &Way<W>) -> Footprint {
        let (Some(kind), Some(addr)) = (op.access_kind(), op.addr()) else { return Footprint::default() };
        let (first, end) = reach(self.program, addr, &way.regs);
        let Addr::Indexed { index: Expr::Var(Place::Reg(index)), .. } = addr else {
            return Footprint::of(kind, first..end);
        };
        if way.regs[index.index()].is_some() || way.assumed.is_empty() {
            return Footprint::of(kind, first..end);
        }
        // Not those elements with which the way would not lead here.
        let mut regs = way.regs.clone();
        Footprint::of(
            kind,
            (first..end).filter(|loc| {
                regs[index.index()] = Some((loc - first).into());
                way.assumed.iter().all(|(branch, holds)| match self.region.op(*branch) {
                    Op::Branch { cond, .. } => !matches!(eval(cond, &regs), Some(Ok(value)) if (value != 0) != *holds),
                    _ => true,
                })
            }),
        )
    }

    /// Notes what has not been performed.
    fn leave_open(&mut self, at: (u32, usize), certain: bool, ready: bool, follows: Follows<W>, footprint: Footprint) {
        let open = |units: Units<W>| {
            let mut units = units.without(self.performed);
            units.remove(at.1);
            units.resized()
        };
        let (must, may) = (open(follows.must), open(follows.may));
        self.look.open.push(Open { pc: at.0, unit: at.1, certain, ready, must, may, footprint });
    }

    /// Gives an access's destination its value.
    fn deliver(&mut self, pc: u32, op: &Op, value: Option<i128>, weight: f64, way: &mut Way<W>) {
        let Some(dst) = op.dst() else { return };
        let from = Follows::unit(self.region.unit(pc).unwrap_or_default()) | way.of_index(dst);
        way.note(dst, from);
        self.assign(pc, dst, value, weight, way);
    }

    /// Gives a place a value, if that is known.
    fn assign(&mut self, pc: u32, dst: &Place, value: Option<i128>, weight: f64, way: &mut Way<W>) {
        if !way.assumed.is_empty() {
            let written = dst.registers();
            way.assumed.retain(|(branch, _)| !mentions(self.region.op(*branch), &written));
        }
        if let Err(error) = set(dst, &mut way.regs, value) {
            self.error(pc, weight, error);
        }
    }

    /// Offers an access that is in order, if all that it needs is known; says whether it is.
    fn offer(&mut self, pc: u32, op: &Op, weight: f64, regs: &[Option<i128>]) -> bool {
        let Some(addr) = op.addr() else { return false };
        let mut known = true;
        match location(self.program, addr, regs) {
            Some(Err(error)) => {
                self.error(pc, weight, error);
                return false;
            }
            located => known &= located.is_some(),
        }
        for operand in op.operands() {
            match eval(operand, regs) {
                Some(Err(error)) => self.error(pc, weight, error),
                value => known &= value.is_some(),
            }
        }
        self.look.waits |= !known;
        if known {
            self.look.ready.push(Ready { pc, regs: regs.to_vec(), certain: weight == 1.0 });
        }
        known
    }

    /// Something was met that can be performed.
    fn meet(&mut self, done: bool) {
        if done {
            self.met += 1;
        } else {
            self.open = true;
        }
    }

    fn finish(mut self) -> Look {
        self.look.wrong |= self.met != self.done.len();
        self.look.ends = self.exits.iter().map(|(pc, ..)| *pc).collect();
        if !self.open
            && let [(pc, weight, way)] = &self.exits[..]
        {
            debug_assert!(*weight == 1.0, "nothing is open where everything is done");
            self.look.exit = Some((*pc, way.regs.iter().map(|value| value.unwrap_or(0)).collect()));
        }
        self.look
    }
}

/// Whether a branch names one of these registers.
fn mentions(op: &Op, registers: &Range<usize>) -> bool {
    let mut found = false;
    reads(op, &mut |register| found |= registers.contains(&register.index()));
    found
}

/// The access of a pair that was performed later.
pub(crate) fn other(pair: &Entry) -> u32 {
    match pair.data {
        Data::Known(pc, _) => pc as u32,
        Data::Waiting(_) => 0,
    }
}

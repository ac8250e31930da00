//! Ranking of timestamps (reduction `timestamps`).
//!
//! A timestamp is only compared, copied and incremented by a constant. What a program can do from a state therefore depends on
//! the order of its timestamps, on how they compare with the constants it uses, and on how many increments apart they
//! are. So before a state is stored its timestamps are renumbered: up to the largest constant they stay, above it every
//! gap between neighbours that is larger than `gap` becomes `gap`.
//!
//! **Why this is exact.** Let two states be related when they differ only in timestamps above the constants, these have the same
//! order and equalities, and neighbouring gaps below `gap` are equal while the others are at least `gap` in both. Comparing
//! and copying preserve the relation. Incrementing `t` by `c` preserves it when the gap above `t` is below `gap` and so equal
//! in both, or when there is nothing above `t`. Gaps to values that the same step has made are known exactly, since ranking happens
//! only between steps. The remaining case, an increment below a gap that may have been
//! shortened, is *detected*: the search then starts again with a larger `gap`. A plain order-preserving renumbering
//! (`gap` of 1) without this check invents equalities: `t + 1` may seem to meet a timestamp that is really further away.
//!
//! Witnesses are rebuilt without ranking, so they show the values that the program really computes.

use cyrano_ir::{Addr, FinalVar, LocalExpr, Op, Place, Program, Property, RmwOp, Ty};

use crate::faults::Fault;
use crate::machine::Machine;
use crate::state::{Data, State, Value, What};
use crate::step::Stepper;

/// What is a timestamp in a program, and how far apart they are kept.
pub(crate) struct Timestamps {
    locations: Vec<bool>,
    /// For each thread, its registers.
    registers: Vec<Vec<bool>>,
    /// Timestamps up to this value are never renumbered.
    anchor: i64,
    gap: i64,
}

impl Timestamps {
    pub fn new(program: &Program, gap: i64) -> Self {
        let is = |ty: Ty| ty == Ty::Timestamp;
        let threads = program.threads.iter();
        let mut new = Self {
            locations: program.locations.iter().map(|l| is(l.ty)).collect(),
            registers: threads.map(|t| t.registers.iter().map(|r| is(r.ty)).collect()).collect(),
            anchor: 0,
            gap,
        };
        new.anchor = new.largest_constant(program);
        new
    }

    /// The largest constant that a timestamp starts with, is set to or is compared with.
    fn largest_constant(&self, program: &Program) -> i64 {
        let mut largest = 0;
        let timed = |ty: Ty| ty == Ty::Timestamp;
        let locations = program.locations.iter().filter(|l| timed(l.ty)).map(|l| l.init);
        let registers = program.threads.iter().flat_map(|t| &t.registers);
        let inits = locations.chain(registers.filter(|r| timed(r.ty)).map(|r| r.init));
        inits.for_each(|init| largest = largest.max(init));
        for (thread, code) in program.threads.iter().enumerate() {
            for instr in &code.code {
                if self.concerns(program, thread, &instr.op) {
                    instr.op.operands().iter().for_each(|e| e.for_each_const(&mut |c| largest = largest.max(c)));
                }
                if let Op::Choose { dst, from } = &instr.op
                    && self.is_place(thread, dst)
                {
                    from.iter().for_each(|c| largest = largest.max(*c));
                }
            }
        }
        largest
    }

    fn concerns(&self, program: &Program, thread: usize, op: &Op) -> bool {
        op.dst().is_some_and(|dst| self.is_place(thread, dst))
            || op.addr().is_some_and(|addr| self.is_addr(program, addr))
            || op.operands().iter().any(|e| self.mentions(thread, e))
    }

    fn mentions(&self, thread: usize, expr: &LocalExpr) -> bool {
        let mut found = false;
        expr.for_each_var(&mut |place| found |= self.is_place(thread, place));
        found
    }

    fn is_place(&self, thread: usize, place: &Place) -> bool {
        let (Place::Reg(reg) | Place::Elem { base: reg, .. }) = place;
        self.registers[thread][reg.index()]
    }

    fn is_addr(&self, program: &Program, addr: &Addr) -> bool {
        let loc = match addr {
            Addr::Fixed(loc) => *loc,
            Addr::Indexed { array, .. } => program.arrays[array.index()].base,
        };
        self.locations[loc.index()]
    }
}

/// Whether a final condition or an observation looks at timestamps, so that they must not be renumbered.
pub(crate) fn observed(program: &Program, property: Option<&Property>) -> bool {
    let timed = |var: &FinalVar| match var {
        FinalVar::Loc(loc) => program.location(*loc).ty == Ty::Timestamp,
        FinalVar::Reg(thread, reg) => program.thread(*thread).registers[reg.index()].ty == Ty::Timestamp,
    };
    match property {
        None | Some(Property::Observations(_)) => program.observed.iter().any(|o| timed(&o.var)),
        Some(Property::Assertions | Property::Transactions(_) | Property::Progress(_)) => false,
        Some(Property::Final { cond, .. }) => {
            let mut found = false;
            cond.for_each_var(&mut |var| found |= timed(var));
            found
        }
    }
}

impl Machine<'_> {
    /// Renumbers the timestamps of a state.
    pub fn rank(&self, state: &mut State, scratch: &mut Vec<i64>) {
        let Some(timestamps) = &self.timestamps else {
            return;
        };
        scratch.clear();
        self.for_each_timestamp(state, &mut |value| scratch.push(*value));
        scratch.retain(|value| *value > timestamps.anchor);
        if scratch.is_empty() {
            return;
        }
        scratch.sort_unstable();
        scratch.dedup();
        let gap = if self.config.has_fault(Fault::CollapseTimestamps) { 1 } else { timestamps.gap };
        self.for_each_timestamp(state, &mut |value| {
            if *value > timestamps.anchor {
                *value = renumber(scratch, timestamps.anchor, gap, *value);
            }
        });
    }

    /// Visits the timestamps of a state, in registers only those that are encoded.
    fn for_each_timestamp(&self, state: &mut State, visit: &mut impl FnMut(&mut i64)) {
        let Some(timestamps) = &self.timestamps else {
            return;
        };
        for (value, timed) in state.memory.iter_mut().zip(&timestamps.locations) {
            if *timed {
                visit(value);
            }
        }
        for (t, thread) in state.threads.iter_mut().enumerate() {
            let (info, timed) = (&self.threads[t], &timestamps.registers[t]);
            for reg in &info.live[thread.pc as usize] {
                let at = info.base + *reg as usize;
                if timed[*reg as usize] && state.pending.get(at).is_none_or(|p| *p == 0) {
                    visit(&mut state.regs[at]);
                }
            }
            for entry in &mut thread.queue {
                match (&mut entry.data, entry.what) {
                    (Data::Waiting(captured), _) => {
                        for (reg, value) in captured {
                            if let Value::Known(value) = value
                                && timed[*reg as usize]
                            {
                                visit(value);
                            }
                        }
                    }
                    (Data::Known(first, second), What::Access(kind)) if timestamps.locations[entry.loc as usize] => {
                        let op = &self.program.threads[t].code[entry.instr as usize].op;
                        let adds =
                            kind == cyrano_ir::AccessKind::Rmw && matches!(op, Op::Rmw { op: RmwOp::FetchAdd(_), .. });
                        if !adds && kind.writes() {
                            visit(first);
                        }
                        if kind == cyrano_ir::AccessKind::Rmw && !adds {
                            visit(second);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The new number of `value`, one of the sorted `values` above `anchor`.
fn renumber(values: &[i64], anchor: i64, gap: i64, value: i64) -> i64 {
    let mut new = anchor;
    let mut last = anchor;
    for v in values {
        new += (v - last).min(gap);
        last = *v;
        if *v == value {
            return new;
        }
    }
    unreachable!("every timestamp above the anchor was collected")
}

impl Stepper<'_> {
    /// Called when an instruction that may increment a timestamp computes: notes if the gap above one was too small to be sure.
    #[inline]
    pub(crate) fn note_increment(&mut self, state: &State, thread: usize, op: &Op, memory: Option<i64>) {
        if self.m.timestamps.is_some() {
            let base = self.m.threads[thread].base;
            let mut values = Vec::new();
            self.incremented(thread, op, memory, &mut values, |place| {
                crate::local::register(place, &state.regs[base..]).ok().map(|reg| state.regs[base + reg as usize])
            });
            self.check_gaps(&values);
        }
    }

    /// The same for what a deferred read-modify-write found in memory and added to; its operands were looked at before.
    pub(crate) fn note_memory_increment(&mut self, op: &Op, memory: i64) {
        let Some(timestamps) = &self.m.timestamps else {
            return;
        };
        let timed = op.addr().is_some_and(|addr| timestamps.is_addr(self.m.program, addr));
        if timed && (increments_expected(op) || matches!(op, Op::Rmw { op: RmwOp::FetchAdd(_), .. })) {
            self.check_gaps(&[memory]);
        }
    }

    /// The same for a computation whose operands were captured when it was issued.
    #[inline]
    pub(crate) fn note_increment_captured(&mut self, thread: usize, op: &Op, captured: &[(u32, Value)]) {
        if self.m.timestamps.is_some() {
            let mut values = Vec::new();
            let read = |place: &Place| crate::local::read_captured(place, captured).ok();
            self.incremented(thread, op, None, &mut values, read);
            self.check_gaps(&values);
        }
    }

    /// Collects the timestamps that an instruction adds something to.
    fn incremented(
        &self,
        thread: usize,
        op: &Op,
        memory: Option<i64>,
        values: &mut Vec<i64>,
        read: impl Fn(&Place) -> Option<i64>,
    ) {
        let Some(timestamps) = &self.m.timestamps else {
            return;
        };
        if increments_expected(op) {
            // Unless it succeeds it computes nothing; the caller asks again then, with what it found in memory.
            values.extend(memory);
            return;
        }
        if let Op::Rmw { addr, op: RmwOp::FetchAdd(_), .. } = op
            && timestamps.is_addr(self.m.program, addr)
        {
            values.extend(memory);
        }
        for operand in op.operands() {
            additions(operand, &mut |sum| {
                sum.for_each_var(&mut |place| {
                    if timestamps.is_place(thread, place) {
                        values.extend(read(place));
                    }
                });
            });
        }
    }

    /// Remembers the timestamps of the state that a step starts from: only the gaps between these may have been shortened.
    pub(crate) fn note_timestamps(&mut self, state: &State) {
        self.started_with.clear();
        if self.m.timestamps.is_some() {
            let mut copy = state.clone();
            self.m.for_each_timestamp(&mut copy, &mut |value| self.started_with.push(*value));
        }
    }

    fn check_gaps(&mut self, values: &[i64]) {
        let Some(timestamps) = &self.m.timestamps else {
            return;
        };
        for value in values {
            let above = self.started_with.iter().filter(|other| *other > value).min();
            let shortened = above.is_some_and(|next| *next > timestamps.anchor && next - value >= timestamps.gap);
            self.notes.gap_too_small |= shortened;
        }
    }
}

/// Whether it is a compare-and-swap that increments what it expects, like `cas(clk, l, l + 1)`.
fn increments_expected(op: &Op) -> bool {
    use cyrano_ir::{BinOp, Expr};
    let Op::Rmw { op: RmwOp::Cas { expected, new }, .. } = op else {
        return false;
    };
    matches!(new, Expr::Binary(BinOp::Add, left, right) if **left == *expected && matches!(**right, Expr::Const(_)))
}

/// Visits the sums in an expression.
fn additions<'e>(expr: &'e LocalExpr, visit: &mut impl FnMut(&'e LocalExpr)) {
    use cyrano_ir::{BinOp, Expr};
    match expr {
        Expr::Const(_) | Expr::Var(_) => {}
        Expr::Unary(_, arg) => additions(arg, visit),
        Expr::Binary(op, left, right) => {
            if *op == BinOp::Add {
                visit(expr);
            }
            additions(left, visit);
            additions(right, visit);
        }
    }
}

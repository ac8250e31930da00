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
//! Timestamps that never meet in a copy or a comparison ([`Clocks`]) are ranked separately: the relation is one for each class,
//! and no step mixes two.
//!
//! **Remainders.** Where a program looks at remainders of a class by `m` (the parity of a version number, `t % 2`), gaps of that class that are at
//! least `gap` are also congruent modulo `m` in related states, and one that is shortened is shortened by a multiple of `m`. By induction from the
//! constants upwards, which are the same in both, every timestamp keeps its remainder; adding a constant keeps congruence, so the
//! relation is preserved as before. `m` is the least common multiple of all constants that members of the class are divided by.
//!
//! **The shadow** (commit-atomicity) is part of a state like any other: its memories, copies of registers and results that are owed are renumbered
//! together with those of the program, of whose classes they are, and what the serial run of a unit adds to is looked at like what a thread adds to. A
//! timestamp of the shadow is only compared, for equality, with the one of the same location or register.
//!
//! Witnesses are rebuilt without ranking, so they show the values that the program really computes.

use cyrano_ir::dataflow::{Class, Clocks};
use cyrano_ir::{
    AccessKind, Addr, Change, FinalVar, LocId, LocalExpr, Miss, Op, Place, Program, Property, RegId, Registers,
    ThreadId, Ty,
};

use crate::criteria::shadow::{Marks, Member};
use crate::faults::Fault;
use crate::semantics::local::Captured;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, State, Value, What};
use crate::semantics::step::Stepper;

/// A timestamp, its class and number, and what is added to it at most.
pub(crate) type Increment = (Class, i128, i128);

/// What is a timestamp in a program, and how far apart they are kept.
pub(crate) struct Timestamps {
    /// The class of each location that is one.
    locations: Vec<Option<Class>>,
    /// For each thread, its registers.
    registers: Vec<Vec<Option<Class>>>,
    /// Timestamps up to this value are never renumbered.
    anchor: i128,
    gap: i128,
    clocks: Clocks,
    /// For each thread and instruction, whether it may add to something.
    adds: Vec<Vec<bool>>,
}

impl Timestamps {
    pub fn new(program: &Program, gap: i128) -> Self {
        let clocks = Clocks::new(program);
        let is = |ty: Ty, class: Class| (ty == Ty::Timestamp).then_some(class);
        let locations = program.locations.iter().enumerate();
        let locations = locations.map(|(at, l)| is(l.ty, clocks.location(LocId::new(at)))).collect();
        let of_thread = |(t, thread): (usize, &cyrano_ir::Thread)| {
            let class = |at: usize| clocks.register(ThreadId::new(t), RegId::new(at));
            thread.registers.iter().enumerate().map(|(at, r)| is(r.ty, class(at))).collect()
        };
        let registers = program.threads.iter().enumerate().map(of_thread).collect();
        let adds = program.threads.iter().map(|t| t.code.iter().map(|instr| adds(&instr.op)).collect()).collect();
        let mut new = Self { locations, registers, anchor: 0, gap, clocks, adds };
        new.anchor = new.largest_constant(program);
        new
    }

    /// The largest constant that a timestamp starts with, is set to or is compared with.
    fn largest_constant(&self, program: &Program) -> i128 {
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
                    && self.place(thread, dst).is_some()
                {
                    from.iter().for_each(|c| largest = largest.max(*c));
                }
            }
        }
        largest
    }

    fn concerns(&self, program: &Program, thread: usize, op: &Op) -> bool {
        op.dst().is_some_and(|dst| self.place(thread, dst).is_some())
            || op.addr().is_some_and(|addr| self.addr(program, addr).is_some())
            || op.operands().iter().any(|e| self.mentions(thread, e))
    }

    fn mentions(&self, thread: usize, expr: &LocalExpr) -> bool {
        let mut found = false;
        expr.for_each_var(&mut |place| found |= self.place(thread, place).is_some());
        found
    }

    fn place(&self, thread: usize, place: &Place) -> Option<Class> {
        let (Place::Reg(reg) | Place::Elem { base: reg, .. }) = place;
        self.registers[thread][reg.index()]
    }

    fn addr(&self, program: &Program, addr: &Addr) -> Option<Class> {
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
        Some(Property::Invariant(invariant)) => {
            let mut found = false;
            invariant.cond.for_each_var(&mut |var| found |= var.value().is_some_and(|var| timed(&var)));
            found
        }
        Some(
            Property::Assertions
            | Property::Races
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            // They are compared with those of the serial run, which are renumbered as well.
            | Property::CommitAtomicity,
        ) => false,
        Some(Property::Final { cond, .. }) => {
            let mut found = false;
            cond.for_each_var(&mut |var| found |= timed(var));
            found
        }
    }
}

impl Machine<'_> {
    /// Renumbers the timestamps of a state, and the names.
    pub fn rank(&self, state: &mut State, scratch: &mut Vec<(Class, i128)>) {
        self.renumber_names(state);
        let Some(timestamps) = &self.timestamps else {
            return;
        };
        scratch.clear();
        self.for_each_timestamp(state, &mut |class, value| scratch.push((class, *value)));
        scratch.retain(|(_, value)| *value > timestamps.anchor);
        if scratch.is_empty() {
            return;
        }
        scratch.sort_unstable();
        scratch.dedup();
        let gap = if self.config.has_fault(Fault::CollapseTimestamps) { 1 } else { timestamps.gap };
        self.for_each_timestamp(state, &mut |class, value| {
            if *value > timestamps.anchor {
                let kept = Kept { anchor: timestamps.anchor, gap, modulus: timestamps.clocks.modulus(class) };
                *value = renumber(scratch, class, kept, *value);
            }
        });
    }

    /// Visits the timestamps of a state, in registers only those that are encoded.
    fn for_each_timestamp(&self, state: &mut State, visit: &mut impl FnMut(Class, &mut i128)) {
        let Some(timestamps) = &self.timestamps else {
            return;
        };
        for (value, class) in state.memory.iter_mut().zip(&timestamps.locations) {
            if let Some(class) = class {
                visit(*class, value);
            }
        }
        (0..self.threads.len()).for_each(|thread| self.for_each_timestamp_of(thread, state, visit));
        if let (Some(shadow), Some(shadows)) = (&mut state.shadow, &self.shadows) {
            for member in &mut shadow.members {
                timestamps.for_each_of_member(member, &shadows.threads, visit);
            }
        }
    }

    /// Visits the timestamps of one part of a state's tuple: a location, or a thread.
    pub(crate) fn for_each_timestamp_in(
        &self,
        part: usize,
        state: &mut State,
        visit: &mut impl FnMut(Class, &mut i128),
    ) {
        if let Some(value) = state.memory.get_mut(part) {
            let class = self.timestamps.as_ref().and_then(|timestamps| timestamps.class_of(part));
            class.into_iter().for_each(|class| visit(class, value));
        } else if let Some(thread) = part.checked_sub(self.shared_parts()).filter(|at| *at < self.threads.len()) {
            self.for_each_timestamp_of(thread, state, visit);
        }
    }

    /// Visits the timestamps of a thread.
    fn for_each_timestamp_of(&self, t: usize, state: &mut State, visit: &mut impl FnMut(Class, &mut i128)) {
        let Some(timestamps) = &self.timestamps else {
            return;
        };
        let (info, timed, thread) = (&self.threads[t], &timestamps.registers[t], &mut state.threads[t]);
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            if let Some(class) = timed[*reg as usize]
                && state.pending.get(at).is_none_or(|p| *p == 0)
            {
                visit(class, &mut state.regs[at]);
            }
        }
        for entry in &mut thread.queue {
            match (&mut entry.data, entry.what) {
                (Data::Waiting(captured), _) => {
                    for (reg, value) in captured {
                        if let (Value::Known(value), Some(class)) = (value, timed[*reg as usize]) {
                            visit(class, value);
                        }
                    }
                }
                // What was read out of order.
                (Data::Known(read, _), What::Assign) if self.own_order.is_some() => {
                    let dst = self.program.threads[t].code[entry.instr as usize].op.dst();
                    if let Some(class) = dst.and_then(|dst| timestamps.place(t, dst)) {
                        visit(class, read);
                    }
                }
                (Data::Known(first, second), What::Access(kind)) => {
                    let Some(class) = timestamps.locations[entry.loc as usize] else { continue };
                    // A plain store does not say where it stands.
                    let op = &self.program.threads[t].code[entry.instr as usize].op;
                    let adds = kind == AccessKind::Rmw && matches!(op.change(), Some(Change::Add(_)));
                    if !adds && kind.writes() {
                        visit(class, first);
                    }
                    if kind == AccessKind::Rmw && !adds {
                        visit(class, second);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Timestamps {
    /// The class of a location, if it holds a timestamp.
    pub fn class_of(&self, location: usize) -> Option<Class> {
        self.locations[location]
    }

    /// All classes of timestamps, each once.
    pub fn classes(&self) -> Vec<Class> {
        let all = self.locations.iter().chain(self.registers.iter().flatten());
        let mut classes: Vec<Class> = all.flatten().copied().collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Visits the timestamps of a member of the shadow: all that is encoded.
    fn for_each_of_member(&self, member: &mut Member, marks: &[Marks], visit: &mut impl FnMut(Class, &mut i128)) {
        for (value, class) in member.memory.iter_mut().zip(&self.locations) {
            class.iter().for_each(|class| visit(*class, value));
        }
        for ((copy, marks), timed) in member.threads.iter_mut().zip(marks).zip(&self.registers) {
            for reg in &marks.live[copy.pc as usize] {
                timed[*reg as usize].iter().for_each(|class| visit(*class, &mut copy.regs[*reg as usize]));
            }
            for owed in &mut copy.owed {
                let Some((end, handed_on)) = owed.split_first_mut() else { continue };
                let registers = usize::try_from(*end).map_or(&[][..], |end| &marks.handed_on[end]);
                for (reg, value) in registers.iter().zip(handed_on) {
                    timed[*reg as usize].iter().for_each(|class| visit(*class, value));
                }
            }
        }
    }

    /// Whether an instruction may add to something.
    pub fn may_add(&self, thread: usize, pc: u32) -> bool {
        self.adds[thread][pc as usize]
    }
}

/// What renumbering keeps: everything up to the anchor, gaps up to a size, and remainders.
#[derive(Clone, Copy)]
struct Kept {
    anchor: i128,
    gap: i128,
    modulus: i128,
}

/// The new number of `value`, one of the sorted `values` above the anchor.
fn renumber(values: &[(Class, i128)], class: Class, kept: Kept, value: i128) -> i128 {
    let mut new = kept.anchor;
    let mut last = kept.anchor;
    for (_, v) in values.iter().filter(|(of, _)| *of == class) {
        let gap = v - last;
        new += if gap > kept.gap { kept.gap + (gap - kept.gap) % kept.modulus } else { gap };
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
    pub(crate) fn note_increment(&mut self, state: &State, thread: usize, pc: u32, memory: Option<i128>) {
        if self.m.timestamps.as_ref().is_some_and(|timestamps| timestamps.adds[thread][pc as usize]) {
            let regs = &state.regs[self.m.threads[thread].base..];
            let mut values = Vec::new();
            if let Some(timestamps) = &self.m.timestamps {
                timestamps.incremented(
                    (self.m.program, thread),
                    self.m.op(thread, pc),
                    memory,
                    &mut values,
                    known(regs),
                );
            }
            self.check_gaps(&values);
        }
    }

    /// The same for what a deferred read-modify-write found in memory and added to; its operands were looked at before.
    pub(crate) fn note_memory_increment(&mut self, op: &Op, memory: i128) {
        let Some(timestamps) = &self.m.timestamps else {
            return;
        };
        let class = op.addr().and_then(|addr| timestamps.addr(self.m.program, addr));
        if let Some(class) = class
            && (increments_expected(op) || matches!(op.change(), Some(Change::Add(_))))
        {
            self.check_gaps(&[(class, memory, added(op))]);
        }
    }

    /// The same for sums that were computed when a region was looked at: registers of a thread, their values, and what is added.
    pub(crate) fn note_sums(&mut self, thread: usize, sums: &[(u32, i128, i128)]) {
        let Some(timestamps) = self.m.timestamps.as_ref().filter(|_| !sums.is_empty()) else { return };
        let of = |(register, value, by): &(u32, i128, i128)| {
            timestamps.registers[thread][*register as usize].map(|class| (class, *value, *by))
        };
        let values: Vec<Increment> = sums.iter().filter_map(of).collect();
        self.check_gaps(&values);
    }

    /// The same for an access out of order, which finds this in memory; the registers of its region are these of its thread.
    pub(crate) fn note_sums_of_access(
        &mut self,
        (thread, pc): (usize, u32),
        memory: i128,
        registers: &[u32],
        regs: &[Option<i128>],
    ) {
        let Some(timestamps) = &self.m.timestamps else { return };
        let seen = Known { registers, regs };
        let read = |place: &Place| seen.read(place.register(&seen).ok()?).ok();
        let mut values = Vec::new();
        timestamps.incremented((self.m.program, thread), self.m.op(thread, pc), Some(memory), &mut values, read);
        self.check_gaps(&values);
    }

    /// The same for a computation whose operands were captured when it was issued.
    #[inline]
    pub(crate) fn note_increment_captured(&mut self, thread: usize, op: &Op, captured: &[(u32, Value)]) {
        if let Some(timestamps) = &self.m.timestamps {
            let mut values = Vec::new();
            let captured = Captured(captured);
            let read = |place: &Place| captured.read(place.register(&captured).ok()?).ok();
            timestamps.incremented((self.m.program, thread), op, None, &mut values, read);
            self.check_gaps(&values);
        }
    }

    /// Remembers the timestamps of the state that a step starts from: only the gaps between these may have been shortened.
    pub(crate) fn note_timestamps(&mut self, state: &State) {
        self.started_with.clear();
        if self.m.timestamps.is_some() {
            let mut copy = state.clone();
            self.m.for_each_timestamp(&mut copy, &mut |class, value| self.started_with.push((class, *value)));
        }
    }

    /// Notes if one of these timestamps, which something is added to, has a gap above it that may have been shortened.
    pub(crate) fn check_gaps(&mut self, values: &[Increment]) {
        if let Some(increments) = &mut self.increments {
            return increments.extend(values);
        }
        let Some(timestamps) = &self.m.timestamps else {
            return;
        };
        let started_with = &self.started_with;
        let next = |class: Class, last: i128| {
            let above = started_with.iter().filter(|(of, other)| *of == class && *other > last);
            above.map(|(_, other)| *other).min()
        };
        self.notes.gap_too_small |= values.iter().any(|increment| timestamps.gets_lost(*increment, next));
    }
}

impl Timestamps {
    /// Whether a gap above a timestamp that something is added to may have been shortened; `next` is the next timestamp above another one.
    pub fn gets_lost(&self, (class, value, by): Increment, next: impl Fn(Class, i128) -> Option<i128>) -> bool {
        let mut last = value;
        // The sum may get past several timestamps; every gap on the way has to be known.
        while last <= value.saturating_add(by) {
            let Some(above) = next(class, last) else { break };
            if above > self.anchor && above - last >= self.gap {
                return true;
            }
            last = above;
        }
        false
    }

    /// Collects the timestamps that an instruction adds something to.
    pub(crate) fn incremented(
        &self,
        (program, thread): (&Program, usize),
        op: &Op,
        memory: Option<i128>,
        values: &mut Vec<Increment>,
        read: impl Fn(&Place) -> Option<i128>,
    ) {
        let accessed = op.addr().and_then(|addr| self.addr(program, addr));
        if increments_expected(op) {
            // Unless it succeeds it computes nothing; the caller asks again then, with what it found in memory.
            values.extend(accessed.zip(memory).map(|(class, value)| (class, value, added(op))));
            return;
        }
        if matches!(op.change(), Some(Change::Add(_))) {
            values.extend(accessed.zip(memory).map(|(class, value)| (class, value, added(op))));
        }
        for operand in op.operands() {
            additions(operand, &mut |sum| {
                sum.for_each_var(&mut |place| {
                    if let Some(class) = self.place(thread, place) {
                        values.extend(read(place).map(|value| (class, value, constants(sum))));
                    }
                });
            });
        }
    }
}

/// The registers of a region, as far as they are known.
struct Known<'a> {
    registers: &'a [u32],
    regs: &'a [Option<i128>],
}

impl Registers for Known<'_> {
    type Miss = Miss;

    fn read(&self, register: RegId) -> Result<i128, Miss> {
        let at = self.registers.binary_search(&register.0).map_err(|_| Miss::Unknown)?;
        self.regs[at].ok_or(Miss::Unknown)
    }
}

/// What a place holds, as far as that is known from a thread's registers.
pub(crate) fn known(regs: &[i128]) -> impl Fn(&Place) -> Option<i128> {
    |place| crate::semantics::local::register(place, regs).ok().map(|reg| regs[reg as usize])
}

/// What an instruction adds at most to what is in memory.
fn added(op: &Op) -> i128 {
    op.operands().into_iter().map(constants).max().unwrap_or(0)
}

/// The sum of the constants in an expression.
pub(crate) fn constants(expr: &LocalExpr) -> i128 {
    let mut sum = 0i128;
    expr.for_each_const(&mut |value| sum = sum.saturating_add(value.max(0)));
    sum
}

/// Whether it is a compare-and-swap that increments what it expects, like `cas(clk, l, l + 1)`.
fn increments_expected(op: &Op) -> bool {
    use cyrano_ir::{BinOp, Expr};
    let Some(Change::Cas { expected, new }) = op.change() else { return false };
    matches!(new, Expr::Binary(BinOp::Add, left, right) if **left == *expected && matches!(**right, Expr::Const(_)))
}

/// Whether an instruction may add to something.
fn adds(op: &Op) -> bool {
    let mut found = matches!(op.change(), Some(Change::Add(_)));
    op.operands().into_iter().for_each(|operand| additions(operand, &mut |_| found = true));
    found
}

/// Visits the sums in an expression.
pub(crate) fn additions<'e>(expr: &'e LocalExpr, visit: &mut impl FnMut(&'e LocalExpr)) {
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

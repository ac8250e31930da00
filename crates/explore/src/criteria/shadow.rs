//! Commit-atomicity (Flanagan, section 4): beside the execution a *shadow*, in which the blocks that committed have run one at a time, in
//! the order of their commits. The instrumented semantics is derived from the program: nobody writes the shadow by hand.
//!
//! A *unit* is an atomic block, or an access outside of blocks (an atomic section of them counts as one). A unit commits together with an
//! access: `Commit` stands in the thread's queue behind that access and happens when it is performed, by which time every branch before
//! it has been decided, because nothing is issued beyond an undecided branch. Then the shadow runs the thread's units up to this one, from
//! the thread's copy in the shadow and on the shadow's memory, to their end. A unit ends when everything up to its end is performed
//! (`End` in the queue); what it hands on then, the registers that are still live and its results, must be what the shadow's run
//! handed on. Since copies and threads agree at the end of every unit, memory alone is compared when of every thread exactly the units up to
//! some point are performed: first in its queue comes a `Begin` that no access has opened, or an access outside of blocks that none has
//! overtaken, or nothing at all, and it does not stand in a block.
//!
//! A choice in a block is made anew in the shadow, in every possible way, so that the shadow is a set of [`Member`]s. Those that do not fit
//! are dropped; when none is left, no serial run in this order does what was done. Whenever memory is compared, one member is left.
//!
//! Marks are nothing to memory and issuing them is never a step: running on to the next rest at once is part of what a commit *is* here, not
//! a reduction. Reductions that rearrange queues are off.

use cyrano_engine::Violation;
use cyrano_ir::dataflow::{Liveness, expr_reads};
use cyrano_ir::{Blocks, InstrId, Op, Program, RegId};

use crate::criteria::serial::Way;
use crate::encoding::codec::{put, take};
use crate::faults::Fault;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, Entry, State, Value, What};
use crate::semantics::step::{Stepper, Successor, Successors};

/// What the shadow needs to know about a program.
pub(crate) struct Shadows {
    pub threads: Vec<Marks>,
}

/// What it needs to know about one thread's code.
pub(crate) struct Marks {
    /// For each instruction, whether it is in a block.
    pub inside: Vec<bool>,
    /// Whether it is in a block and before its commit point.
    pub uncommitted: Vec<bool>,
    /// Whether it is in an atomic section.
    pub in_section: Vec<bool>,
    /// The registers that are live before it.
    pub live: Vec<Vec<u32>>,
    /// For the end of a block, what it hands on; else what an access here would.
    pub handed_on: Vec<Vec<u32>>,
}

impl Shadows {
    pub fn of(program: &Program) -> Self {
        let live = Liveness::of_program(program);
        Self { threads: program.threads.iter().zip(&live).map(|(thread, live)| Marks::of(thread, live)).collect() }
    }

    pub fn initial(&self, program: &Program) -> Shadow {
        let copy = |thread: &cyrano_ir::Thread| Copied {
            regs: thread.registers.iter().map(|register| register.init).collect(),
            ..Copied::default()
        };
        let threads = program.threads.iter().map(copy).collect();
        Shadow {
            members: vec![Member { memory: program.initial_memory(), threads }],
            chosen: vec![Vec::new(); program.threads.len()],
        }
    }
}

impl Marks {
    fn of(thread: &cyrano_ir::Thread, live: &Liveness) -> Self {
        let blocks = Blocks::of(thread);
        let all = || (0..thread.code.len()).map(InstrId::new);
        let registers = || (0..thread.registers.len()).map(RegId::new);
        let live_at = |pc: InstrId| -> Vec<u32> {
            let known = pc.index() < thread.code.len();
            registers().filter(|reg| known && live.is_live(pc, *reg)).map(|reg| reg.0).collect()
        };
        let handed_on = |pc: InstrId| {
            let mut handed = live_at(InstrId(pc.0 + 1));
            if let Op::BlockEnd(results) = &thread.code[pc.index()].op {
                results.iter().for_each(|result| expr_reads(result, &mut |reg| handed.push(reg.0)));
                handed.sort_unstable();
                handed.dedup();
            }
            handed
        };
        Self {
            inside: all().map(|pc| blocks.inside(pc)).collect(),
            uncommitted: all().map(|pc| blocks.uncommitted(pc)).collect(),
            in_section: in_section(thread),
            live: all().map(live_at).collect(),
            handed_on: all().map(handed_on).collect(),
        }
    }
}

/// For each instruction whether it is in an atomic section: a section's text is in one piece.
fn in_section(thread: &cyrano_ir::Thread) -> Vec<bool> {
    let mut inside = false;
    let mut all = Vec::with_capacity(thread.code.len());
    for instr in &thread.code {
        all.push(inside);
        match instr.op {
            Op::AtomicBegin => inside = true,
            Op::AtomicEnd => inside = false,
            _ => {}
        }
    }
    all
}

/// What a state remembers.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct Shadow {
    /// The ways in which the serial run can have gone, sorted.
    pub members: Vec<Member>,
    /// For each thread the choices that it made outside of blocks and that the shadow has yet to make.
    pub chosen: Vec<Vec<i128>>,
}

/// One way.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Member {
    pub memory: Vec<i128>,
    pub threads: Vec<Copied>,
}

/// A thread in the shadow: it stands between units.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Copied {
    pub pc: u32,
    /// Its registers; those that are dead are 0.
    pub regs: Vec<i128>,
    /// What its units handed on that the thread itself has yet to hand on: where it goes on, then the registers.
    pub owed: Vec<Vec<i128>>,
}

macro_rules! clone_by_parts {
    ($type:ty, $($field:ident),*) => {
        impl Clone for $type {
            fn clone(&self) -> Self {
                let mut copy = Self::default();
                copy.clone_from(self);
                copy
            }

            /// Reuses the buffers.
            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)*
            }
        }
    };
}
clone_by_parts!(Shadow, members, chosen);
clone_by_parts!(Member, memory, threads);
clone_by_parts!(Copied, pc, regs, owed);

impl Entry {
    /// Whether it only marks something for the shadow.
    #[inline]
    pub fn is_mark(&self) -> bool {
        matches!(self.what, What::Begin | What::Commit | What::End)
    }

    /// Whether it is an access of an atomic block. (Commands of transactions, which the flag is for elsewhere, have no blocks.)
    fn in_block(&self) -> bool {
        self.spare
    }

    /// Whether a later access of its thread has been performed.
    fn overtaken(&self) -> bool {
        self.stale
    }
}

impl Machine<'_> {
    /// Appends the bytes of a shadow.
    pub fn encode_shadow(&self, shadow: &Shadow, state: &State, out: &mut Vec<u8>) {
        let Some(shadows) = &self.shadows else { return };
        put(out, shadow.members.len() as i128);
        for member in &shadow.members {
            let same = member.memory == state.memory;
            put(out, same.into());
            if !same {
                member.memory.iter().for_each(|value| put(out, *value));
            }
            for (copy, marks) in member.threads.iter().zip(&shadows.threads) {
                put_copy(out, copy, marks);
            }
        }
        for (thread, chosen) in state.threads.iter().zip(&shadow.chosen) {
            put(out, thread.latest_done.into());
            put_all(out, chosen);
        }
    }

    /// Reads it back; the rest of the state has been read.
    pub fn decode_shadow(&self, input: &mut &[u8], state: &mut State) {
        let (Some(shadows), Some(shadow)) = (&self.shadows, &mut state.shadow) else { return };
        let members = take(input) as usize;
        shadow.members.resize_with(members, Member::default);
        for member in &mut shadow.members {
            member.memory.clone_from(&state.memory);
            if take(input) == 0 {
                member.memory.iter_mut().for_each(|value| *value = take(input));
            }
            member.threads.resize_with(shadows.threads.len(), Copied::default);
            for ((copy, marks), code) in member.threads.iter_mut().zip(&shadows.threads).zip(&self.program.threads) {
                copy.regs.resize(code.registers.len(), 0);
                take_copy(input, copy, marks);
            }
        }
        for (thread, chosen) in state.threads.iter_mut().zip(&mut shadow.chosen) {
            thread.latest_done = take(input) != 0;
            *chosen = take_all(input);
        }
    }
}

/// Appends a thread's copy.
pub(crate) fn put_copy(out: &mut Vec<u8>, copy: &Copied, marks: &Marks) {
    put(out, copy.pc.into());
    marks.live[copy.pc as usize].iter().for_each(|reg| put(out, copy.regs[*reg as usize]));
    put(out, copy.owed.len() as i128);
    copy.owed.iter().for_each(|owed| put_all(out, owed));
}

/// Reads a thread's copy back, which has its registers.
pub(crate) fn take_copy(input: &mut &[u8], copy: &mut Copied, marks: &Marks) {
    copy.pc = take(input) as u32;
    copy.regs.fill(0);
    marks.live[copy.pc as usize].iter().for_each(|reg| copy.regs[*reg as usize] = take(input));
    let owed = take(input) as usize;
    copy.owed = (0..owed).map(|_| take_all(input)).collect();
}

pub(crate) fn put_all(out: &mut Vec<u8>, values: &[i128]) {
    put(out, values.len() as i128);
    values.iter().for_each(|value| put(out, *value));
}

pub(crate) fn take_all(input: &mut &[u8]) -> Vec<i128> {
    let len = take(input);
    (0..len).map(|_| take(input)).collect()
}

/// An access behind these has been performed.
fn overtake(queue: &mut [Entry]) {
    queue.iter_mut().filter(|entry| entry.access().is_some()).for_each(|entry| entry.stale = true);
}

/// Whether a thread is in none of its blocks, as far as its accesses are performed.
pub(crate) fn is_outside(state: &State, thread: usize, marks: &Marks) -> bool {
    let thread = &state.threads[thread];
    let first = thread.queue.iter().find(|entry| entry.is_mark() || entry.access().is_some());
    match first {
        Some(entry) if entry.access().is_some() => !entry.in_block() && !entry.overtaken(),
        Some(entry) => entry.what == What::Begin,
        None => !marks.inside[thread.pc as usize],
    }
}

impl<'m> Stepper<'m> {
    /// A block begins.
    pub(crate) fn block_begin(&mut self, successor: &mut Successor) {
        if self.m.shadows.is_some() {
            let begin = Entry::new(What::Begin, 0, 0, Data::NONE);
            successor.state.threads[successor.thread].queue.push(begin);
        }
    }

    /// The unit commits with the access that was issued last.
    pub(crate) fn unit_commits(&mut self, successor: &mut Successor) {
        if self.m.shadows.is_none() {
            return;
        }
        let thread = &mut successor.state.threads[successor.thread];
        let last = thread.queue.iter().rposition(|entry| entry.access().is_some());
        let waits = last.filter(|_| !thread.latest_done).map(|at| (0, Value::Pending(at as u16)));
        let data = waits.map_or(Data::NONE, |waits| Data::Waiting(vec![waits]));
        thread.queue.push(Entry::new(What::Commit, 0, 0, data));
        self.let_happen(successor);
    }

    /// The unit whose last instruction stands at `pc` ends.
    pub(crate) fn unit_ends(&mut self, successor: &mut Successor, pc: u32) {
        let Some(shadows) = &self.m.shadows else { return };
        let thread = successor.thread;
        let base = self.m.threads[thread].base;
        let state = &mut successor.state;
        let value = |reg: &u32| {
            let at = base + *reg as usize;
            match state.pending.get(at).copied().unwrap_or(0) {
                0 => (*reg, Value::Known(state.regs[at])),
                position => (*reg, Value::Pending(position - 1)),
            }
        };
        let handed: Vec<_> = shadows.threads[thread].handed_on[pc as usize].iter().map(value).collect();
        state.threads[thread].queue.push(Entry::new(What::End, pc, 0, Data::Waiting(handed)));
        self.let_happen(successor);
    }

    /// A unit whose last instruction stands at `pc` ends, and there is no shadow to compare with what it hands on; see `movers`. Nothing is
    /// pending there.
    pub(crate) fn note_end(&mut self, successor: &mut Successor, pc: u32) {
        let Some(ends) = &self.m.ends else { return };
        let regs = &successor.state.regs[self.m.threads[successor.thread].base..];
        let handed = ends.threads[successor.thread].handed_on[pc as usize].iter().map(|reg| regs[*reg as usize]);
        successor.handed_on.extend(std::iter::once(i128::from(pc)).chain(handed));
    }

    /// An access outside of blocks, or a section of them that ends at `pc`, has been issued.
    fn outside_unit(&mut self, successor: &mut Successor, pc: u32) {
        let Some(shadows) = self.m.shadows.as_ref().or(self.m.ends.as_ref()) else { return };
        if !shadows.threads[successor.thread].inside[pc as usize] {
            self.unit_commits(successor);
            self.unit_ends(successor, pc);
            self.note_end(successor, pc);
        }
    }

    /// An access at `pc` has been issued; `done` says whether it has been performed as well.
    pub(crate) fn issued_for_shadow(&mut self, successor: &mut Successor, pc: u32, done: bool) {
        let Some(shadows) = self.m.shadows.as_ref().or(self.m.ends.as_ref()) else { return };
        let thread = successor.thread;
        let marks = &shadows.threads[thread];
        let in_section = marks.in_section[pc as usize];
        successor.state.threads[thread].latest_done = done;
        if let Some(entry) = successor.state.threads[thread].queue.last_mut().filter(|_| !done) {
            entry.spare = marks.inside[pc as usize];
        }
        if done {
            overtake(&mut successor.state.threads[thread].queue);
        }
        // What a section opens or commits it does at its end: its accesses are performed at once.
        if !in_section {
            self.after_unit(successor, pc, done);
        }
    }

    /// An access, or the section that ends at `pc`, has been issued and perhaps performed.
    pub(crate) fn after_unit(&mut self, successor: &mut Successor, pc: u32, done: bool) {
        if done {
            self.open_blocks(successor, usize::MAX);
        }
        self.outside_unit(successor, pc);
    }

    /// The thread made a choice at its program counter.
    pub(crate) fn chosen_for_shadow(&mut self, successor: &mut Successor, value: i128) {
        let (Some(shadows), Some(shadow)) = (&self.m.shadows, &mut successor.state.shadow) else { return };
        let thread = successor.thread;
        let pc = successor.state.threads[thread].pc as usize;
        if !shadows.threads[thread].inside[pc] {
            shadow.chosen[thread].push(value);
        }
    }

    /// The deferred access at `position` is about to be performed.
    pub(crate) fn performs_for_shadow(&mut self, successor: &mut Successor, position: usize) {
        let thread = &mut successor.state.threads[successor.thread];
        if self.m.shadows.is_none() {
            return;
        }
        overtake(&mut thread.queue[..position]);
        if !thread.queue[position + 1..].iter().any(|entry| entry.access().is_some()) {
            thread.latest_done = true;
        }
    }

    /// Accesses at positions before `position`, one of which may have been the last before it, have been performed: whatever block began
    /// before is open now.
    pub(crate) fn open_blocks(&mut self, successor: &mut Successor, position: usize) {
        if self.m.shadows.is_none() {
            return;
        }
        let thread = successor.thread;
        let mut end = position;
        let mut at = 0;
        while at < end.min(successor.state.threads[thread].queue.len()) {
            if successor.state.threads[thread].queue[at].what == What::Begin {
                self.m.remove_entry(&mut successor.state, thread, at, None);
                end = end.saturating_sub(1);
            } else {
                at += 1;
            }
        }
        self.let_happen(successor);
    }

    /// Marks whose time has come happen, in the order of the queue.
    fn let_happen(&mut self, successor: &mut Successor) {
        let thread = successor.thread;
        loop {
            let queue = &successor.state.threads[thread].queue;
            let mut accesses = false;
            let next = queue.iter().position(|entry| {
                accesses |= entry.access().is_some();
                match entry.what {
                    What::Commit => !entry.data.is_pending(),
                    What::End => !accesses && !entry.data.is_pending(),
                    _ => false,
                }
            });
            let Some(position) = next else { return };
            if queue[position].what == What::Commit {
                self.commit(successor, position);
            } else {
                self.hand_on(successor, position);
            }
        }
    }

    /// The unit at `position` commits, and with it whatever unit of the thread came before.
    fn commit(&mut self, successor: &mut Successor, position: usize) {
        let thread = successor.thread;
        let mut at = 0;
        let mut end = position;
        while at <= end {
            if successor.state.threads[thread].queue[at].what != What::Commit {
                at += 1;
                continue;
            }
            self.m.remove_entry(&mut successor.state, thread, at, None);
            self.run_shadow(successor);
            if end == 0 {
                return;
            }
            end -= 1;
        }
    }

    /// The shadow runs the next unit of the thread.
    fn run_shadow(&mut self, successor: &mut Successor) {
        let (Some(shadows), Some(shadow)) = (&self.m.shadows, &mut successor.state.shadow) else { return };
        let thread = successor.thread;
        let mut after = Vec::new();
        let (mut used, mut increments) = (0, Vec::new());
        for member in shadow.members.drain(..) {
            let (marks, chosen) = (&shadows.threads[thread], &shadow.chosen[thread]);
            let mut ran =
                Way::new(self.m.program, self.m.timestamps.as_ref(), marks, thread, chosen).run(member, &mut after);
            increments.append(&mut ran.increments);
            used = used.max(ran.chosen);
            self.notes.too_large |= ran.too_long;
        }
        shadow.chosen[thread].drain(..used);
        after.sort_unstable();
        after.dedup();
        shadow.members = after;
        let program = self.m.program;
        let ends_block =
            |owed: &Vec<i128>| matches!(program.threads[thread].code[owed[0] as usize].op, Op::BlockEnd(_));
        let last = |member: &Member| member.threads[thread].owed.last().is_some_and(ends_block);
        self.notes.committed |= shadow.members.iter().any(last);
        if shadow.members.is_empty() {
            successor.event.get_or_insert(Violation::Blocks);
        }
        self.check_gaps(&increments);
    }

    /// The unit that ends at `position` hands on what it has; members that handed on something else are dropped.
    fn hand_on(&mut self, successor: &mut Successor, position: usize) {
        let thread = successor.thread;
        let entry = self.m.remove_entry(&mut successor.state, thread, position, None);
        let Data::Waiting(captured) = entry.data else { return };
        let values = captured.iter().map(|(_, value)| match value {
            Value::Known(value) => *value,
            Value::Pending(_) => unreachable!("nothing is pending any more"),
        });
        let handed: Vec<i128> = std::iter::once(i128::from(entry.instr)).chain(values).collect();
        let any = self.m.config.has_fault(Fault::HandOnAnything);
        let Some(shadow) = &mut successor.state.shadow else { return };
        shadow.members.retain_mut(|member| {
            let owed = &mut member.threads[thread].owed;
            !owed.is_empty() && (owed.remove(0) == handed || any)
        });
        shadow.members.dedup();
        if shadow.members.is_empty() {
            successor.event.get_or_insert(Violation::Blocks);
        }
    }

    /// Compares memory in those successors in which no thread is in a block.
    pub(crate) fn compare_shadows(&mut self, out: &mut Successors) {
        let Some(shadows) = &self.m.shadows else { return };
        let any = self.m.config.has_fault(Fault::AnyMemory);
        for successor in out.iter_mut().filter(|successor| successor.event.is_none()) {
            let state = &mut successor.state;
            if !shadows.threads.iter().enumerate().all(|(thread, marks)| is_outside(state, thread, marks)) {
                continue;
            }
            let State { memory, shadow: Some(shadow), .. } = state else { continue };
            shadow.members.retain(|member| any || member.memory == *memory);
            if shadow.members.is_empty() {
                successor.event = Some(Violation::Blocks);
            }
        }
    }
}

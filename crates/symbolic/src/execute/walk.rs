//! Symbolic execution of one thread over its unrolled code (CheckFence, section 3.2).
//!
//! Blocks are followed in the order of their [`Key`]s, so that all ways into a block are known when it is reached: its guard is their
//! disjunction and its registers are chosen by them. Every loop is followed as often as its bound allows; a repetition that constants
//! of the program decide is free. What would go on beyond is recorded in [`Run::exceeded`].
//!
//! **Where a thread may stop.** At a false `assume` or `limit`, at a computation of an address or a condition that goes wrong, at a bound,
//! after an iteration that is [idle](crate::execute::idle), or before one that [nobody sees](crate::execute::unread); under a serial model before an operation; and before an atomic section that may have to wait. The guards
//! of what follows are false then. So a model of the formula is a prefix of an execution in which everything issued has been performed; every prefix
//! that an error can be seen in extends to one of these, because performing what is deferred in program order is always allowed.
//!
//! Sections that a bound cuts off, and why an insufficient bound is noticed: see [`crate::execute::units`].
//!
//! **The setup thread** runs alone. Every model keeps stores to one address, and a load before a later store to its address, in order, so
//! if it also forwards (or keeps a store before a later load of its address) each load sees the last store before it in program order:
//! memory is a symbolic array that the thread carries along, and it needs no events. Other models are refused for such programs.

use std::collections::BTreeMap;
use std::rc::Rc;

use cyrano_engine::Limits;
use cyrano_ir::dataflow::{Liveness, joins};
use cyrano_ir::{InstrId, Op, Program, ThreadId};
use cyrano_memory::Model;

use crate::execute::eval::{Registers, Taint};
use crate::execute::event::{Item, LoopKey, Run, ThreadRun, Unit, Wait};
use crate::execute::follow::Follow;
use crate::execute::idle::{Idle, Mark, Point};
use crate::execute::laps::Lap;
use crate::execute::loops::{Key, Loops};
use crate::execute::range::Range;
use crate::execute::related::Traits;
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::optional::Positions;

/// How often a loop whose repetition is certain is followed.
const CERTAIN: u32 = 512;

/// What symbolic execution needs to know.
pub(crate) struct Setting<'a> {
    pub(crate) program: &'a Program,
    pub(crate) model: &'a Model,
    pub(crate) traits: Traits,
    pub(crate) loops: &'a [Loops],
    pub(crate) live: &'a [Liveness],
    /// Where each thread may be found idle.
    pub(crate) idle: &'a [Idle],
    /// The heads of loops in which each thread may spin for ever, if that is asked under a model about relations.
    pub(crate) rounds: &'a [Vec<InstrId>],
    /// How often each loop may be repeated.
    pub(crate) bound: &'a dyn Fn(LoopKey) -> usize,
    /// What each word may hold.
    pub(crate) words: &'a [Range],
    /// The fences that may be there or not.
    pub(crate) optional: &'a Positions,
    /// What ends the walk early, if anything does: nobody asks then what it says.
    pub(crate) limits: Option<&'a Limits>,
}

/// The state of the thread at a point of its code.
#[derive(Clone)]
pub(crate) struct ThreadState {
    pub(crate) registers: Registers,
    pub(crate) control: Taint,
    /// The branches that it is in, if branches have an end: where the ways of each meet, and what everything depended on before it.
    pub(crate) scopes: Vec<(InstrId, Taint)>,
    /// The load-exclusive that a store-exclusive would belong to.
    pub(crate) reserved: Taint,
    pub(crate) unit: Option<usize>,
    pub(crate) in_section: bool,
    /// The section, if it may be cut off.
    pub(crate) section: Option<usize>,
    /// Memory, if this is the setup thread.
    pub(crate) memory: Option<Rc<Vec<Value>>>,
    /// How many branches were decided by constants of the program alone, and how many in another way.
    pub(crate) decided: (u32, u32),
}

/// A block that control may come to.
struct Pending {
    pc: InstrId,
    ways: Vec<(Lit, ThreadState)>,
}

/// Follows one thread.
pub(crate) struct ThreadWalk<'a, 'g> {
    pub(crate) set: &'a Setting<'a>,
    pub(crate) gates: &'g mut Gates,
    pub(crate) run: &'g mut Run,
    pub(crate) thread: ThreadId,
    pub(crate) out: ThreadRun,
    todo: BTreeMap<Key, Pending>,
    halts: Vec<(Lit, ThreadState)>,
    /// Each loop's head in each iteration.
    heads: BTreeMap<Key, Head>,
    /// Each point of a loop where the thread may be found idle, in each iteration.
    marks: BTreeMap<Key, Mark>,
    /// Each head of a loop where the thread may come round, in its last iteration.
    pub(crate) laps: BTreeMap<Key, Lap>,
    pub(crate) tracks: bool,
    /// The program's own order, under a model that follows it, with what instructions hand on.
    pub(crate) own: Option<Follow<'a>>,
    /// Follows every branch that a loaded value decides both ways, and goes on after errors.
    pub(crate) any_path: bool,
    /// Where the ways of a branch meet, if branches have an end.
    joins: Option<Vec<Option<InstrId>>>,
    /// Looks at final memory: the end of the section ends the walk.
    pub(crate) ghost: bool,
    pub(crate) stuck: Vec<Lit>,
    /// Whether the section that the current instruction stands in is performed as a whole.
    pub(crate) whole: Lit,
}

/// The head of a loop in one iteration.
#[derive(Clone, Copy)]
struct Head {
    guard: Lit,
    /// How many repetitions so far were not certain.
    uncertain: usize,
    decided: (u32, u32),
}

/// What comes after an instruction.
enum Next {
    /// The next one.
    On,
    /// Something else, already noted.
    Elsewhere,
}

impl<'a, 'g> ThreadWalk<'a, 'g> {
    fn new(set: &'a Setting<'a>, gates: &'g mut Gates, run: &'g mut Run, thread: ThreadId) -> Self {
        let registers = Registers { values: Vec::new(), taints: Vec::new(), open: Vec::new(), selective: false };
        let (items, placed, steps, choices) = Default::default();
        let out = ThreadRun { items, placed, steps, choices, halted: FALSE, registers };
        let tracks = set.traits.tracks;
        let any_path = gates.dry && set.traits.speculates;
        let joins = (set.traits.relational && set.program.scoped).then(|| joins(set.program.thread(thread)));
        let own = set.model.own_order(set.program).map(Follow::new);
        Self {
            set,
            gates,
            run,
            thread,
            out,
            todo: BTreeMap::new(),
            halts: Vec::new(),
            heads: BTreeMap::new(),
            marks: BTreeMap::new(),
            laps: BTreeMap::new(),
            tracks,
            own,
            any_path,
            joins,
            ghost: false,
            stuck: Vec::new(),
            whole: TRUE,
        }
    }

    /// Follows a thread that starts where `guard` holds; the setup thread starts with memory and returns it.
    pub(crate) fn thread(
        set: &'a Setting<'a>,
        gates: &'g mut Gates,
        run: &'g mut Run,
        thread: ThreadId,
        guard: Lit,
        memory: Option<Vec<Value>>,
    ) -> (ThreadRun, Option<Vec<Value>>) {
        let mut walk = Self::new(set, gates, run, thread);
        let code = set.program.thread(thread);
        let values: Vec<Value> = code.registers.iter().map(|register| Value::constant(register.init)).collect();
        let taints = if walk.tracks && memory.is_none() { vec![Taint::default(); values.len()] } else { Vec::new() };
        let open = vec![false; values.len()];
        let registers = Registers { values, taints, open, selective: set.traits.relational };
        let is_setup = memory.is_some();
        if is_setup {
            walk.own = None;
        }
        let mut state = ThreadState {
            registers,
            control: Taint::default(),
            scopes: Vec::new(),
            reserved: Taint::default(),
            unit: None,
            in_section: false,
            section: None,
            memory: memory.map(Rc::new),
            decided: (0, 0),
        };
        let mut guard = guard;
        if set.traits.serial && !code.has_operations() && !is_setup {
            guard = walk.begin_operation(guard, &mut state);
        }
        let start = set.loops[thread.index()].start();
        walk.todo.insert(start, Pending { pc: InstrId(0), ways: vec![(guard, state.clone())] });
        walk.follow();
        let halts = std::mem::take(&mut walk.halts);
        let mut memory = state.memory.take();
        if !halts.is_empty() {
            let (halted, end) = walk.merge(halts, None);
            walk.out.halted = halted;
            walk.out.registers = end.registers;
            memory = end.memory;
        } else {
            walk.out.registers = state.registers;
        }
        (walk.out, memory.map(|memory| (*memory).clone()))
    }

    /// What the section before which a thread waits would do on final memory.
    pub(crate) fn ghost(set: &'a Setting<'a>, gates: &'g mut Gates, run: &'g mut Run, wait: &Wait) -> Lit {
        let unit = run.units.len();
        run.units.push(Unit { thread: wait.thread, ends: vec![], is_operation: false, events: vec![] });
        let mut walk = Self::new(set, gates, run, wait.thread);
        walk.ghost = true;
        walk.tracks = false;
        walk.own = None;
        let mut registers = wait.registers.clone();
        registers.taints.clear();
        let state = ThreadState {
            registers,
            control: Taint::default(),
            scopes: Vec::new(),
            reserved: Taint::default(),
            unit: Some(unit),
            in_section: true,
            section: None,
            memory: None,
            decided: (0, 0),
        };
        let loops = &set.loops[wait.thread.index()];
        let begin = loops.go(&loops.start(), Some(InstrId(0)), wait.instr);
        let pc = InstrId(wait.instr.0 + 1);
        let key = loops.go(&begin, Some(wait.instr), pc);
        walk.todo.insert(key, Pending { pc, ways: vec![(wait.waits, state)] });
        let vague_before = std::mem::take(&mut walk.run.vague_waits);
        walk.follow();
        let vague = std::mem::replace(&mut walk.run.vague_waits, vague_before);
        walk.run.vague_waits |= vague;
        let stuck = std::mem::take(&mut walk.stuck);
        // A section that another choice gets through is not stuck.
        if vague { FALSE } else { walk.gates.any(stuck) }
    }

    fn loops(&self) -> &'a Loops {
        &self.set.loops[self.thread.index()]
    }

    fn follow(&mut self) {
        while let Some((key, pending)) = self.todo.pop_first() {
            if self.set.limits.is_some_and(Limits::is_over) {
                return self.todo.clear();
            }
            let pc = pending.pc;
            let (guard, state) = self.merge(pending.ways, Some(pc));
            let guard = self.unless_idle(&key, pc, guard, &state);
            let guard = self.unless_spinning(&key, pc, guard, &state);
            if guard != FALSE && self.may_repeat(&key, pc, guard, &state) {
                self.block(key, pc, guard, state);
            }
        }
    }

    /// Joins all ways to a point. Registers that no longer matter are not joined.
    fn merge(&mut self, ways: Vec<(Lit, ThreadState)>, pc: Option<InstrId>) -> (Lit, ThreadState) {
        let mut ways = ways.into_iter();
        let Some((mut guard, mut state)) = ways.next() else { return (FALSE, self.nowhere()) };
        let live = pc.map(|pc| self.set.live[self.thread.index()].live_before(pc));
        for (lit, other) in ways {
            for at in 0..state.registers.values.len() {
                if live.is_some_and(|live| !live.contains(cyrano_ir::RegId::new(at))) {
                    continue;
                }
                let (values, taints) = (&mut state.registers.values, &mut state.registers.taints);
                values[at] = self.gates.choose(lit, &other.registers.values[at], &values[at]);
                state.registers.open[at] |= other.registers.open[at];
                if !taints.is_empty() {
                    taints[at] = self.gates.join(lit, &other.registers.taints[at], &taints[at]);
                }
            }
            state.control = self.gates.join(lit, &other.control, &state.control);
            state.reserved = self.gates.join(lit, &other.reserved, &state.reserved);
            self.join_scopes(lit, &mut state, &other);
            // Control depends on more than constants where several ways meet.
            state.decided = (state.decided.0.max(other.decided.0), state.decided.1.max(other.decided.1) + 1);
            if let (Some(memory), Some(other)) = (&mut state.memory, &other.memory)
                && !Rc::ptr_eq(memory, other)
            {
                let words = memory.iter().zip(other.iter());
                *memory = Rc::new(words.map(|(one, other)| self.gates.choose(lit, other, one)).collect());
            }
            guard = self.gates.or(guard, lit);
        }
        (guard, state)
    }

    fn nowhere(&self) -> ThreadState {
        let registers = Registers { values: Vec::new(), taints: Vec::new(), open: Vec::new(), selective: false };
        ThreadState {
            registers,
            control: Taint::default(),
            scopes: Vec::new(),
            reserved: Taint::default(),
            unit: None,
            in_section: false,
            section: None,
            memory: None,
            decided: (0, 0),
        }
    }

    /// The thread does not go on where it comes back to after an idle iteration.
    fn unless_idle(&mut self, key: &Key, pc: InstrId, guard: Lit, state: &ThreadState) -> Lit {
        let idle = &self.set.idle[self.thread.index()];
        let Some(point) = idle.point(pc) else { return guard };
        if self.ghost || self.gates.dry || state.memory.is_some() || state.in_section {
            return guard;
        }
        let again = key.counts().last().is_some_and(|count| *count > 0);
        let last = self.marks.get(&key.before()).filter(|_| again);
        let guard = match last {
            Some(last) => {
                let effects = last.effects(idle, self.gates, self.run);
                let elsewhere = if point == Point::Always { FALSE } else { !last.guard };
                let goes_on = self.gates.or(effects, elsewhere);
                let stops = self.gates.and(guard, !goes_on);
                self.run.spins.push(last.spin(self.thread, pc, stops, self.run, &self.out));
                self.gates.and(guard, goes_on)
            }
            None => guard,
        };
        let guard = match idle.pauses {
            true => {
                let goes_on = self.gates.fresh();
                self.gates.and(guard, goes_on)
            }
            false => guard,
        };
        self.marks.insert(key.clone(), Mark::new(guard, self.run, &self.out));
        guard
    }

    /// Whether the bound allows the loop whose head this is to go round again.
    fn may_repeat(&mut self, key: &Key, pc: InstrId, guard: Lit, state: &ThreadState) -> bool {
        let Some(id) = self.loops().head_of(pc) else { return true };
        let counts = key.counts();
        let count = counts.last().copied().unwrap_or(0);
        let loop_key = LoopKey { thread: self.thread, id, head: pc };
        let uncertain = match count {
            0 => 0,
            _ => {
                let head = Head { guard: FALSE, uncertain: 0, decided: state.decided };
                let last = self.heads.get(&key.before()).copied().unwrap_or(head);
                let by_constants = last.decided.0 < state.decided.0 && last.decided.1 == state.decided.1;
                let certain = last.guard == guard && by_constants && count < CERTAIN;
                last.uncertain + usize::from(!certain)
            }
        };
        if uncertain > (self.set.bound)(loop_key) {
            self.cut(state, guard);
            if self.ghost {
                self.run.vague_waits = true;
            } else {
                self.run.exceeded.push((loop_key, guard));
            }
            return false;
        }
        self.heads.insert(key.clone(), Head { guard, uncertain, decided: state.decided });
        true
    }

    /// Follows straight code from `pc` to where control may come from elsewhere, too.
    fn block(&mut self, mut key: Key, mut pc: InstrId, mut guard: Lit, mut state: ThreadState) {
        let program = self.set.program;
        loop {
            let next = match program.thread(self.thread).code.get(pc.index()) {
                Some(instr) => self.step(&key, pc, &instr.op, &mut guard, &mut state),
                None => self.halt(guard, &state),
            };
            if guard == FALSE || matches!(next, Next::Elsewhere) {
                return;
            }
            let after = InstrId(pc.0 + 1);
            let joins = self.loops().joins.get(after.index()).copied().unwrap_or(false);
            let next_key = match program.thread(self.thread).code.get(after.index()) {
                Some(_) => self.loops().go(&key, Some(pc), after),
                None => {
                    self.halt(guard, &state);
                    return;
                }
            };
            if joins {
                self.arrive(next_key, after, guard, state);
                return;
            }
            (key, pc) = (next_key, after);
        }
    }

    fn arrive(&mut self, key: Key, pc: InstrId, guard: Lit, mut state: ThreadState) {
        state.leave_branches(pc);
        if guard != FALSE {
            self.todo.entry(key).or_insert_with(|| Pending { pc, ways: Vec::new() }).ways.push((guard, state));
        }
    }

    fn halt(&mut self, guard: Lit, state: &ThreadState) -> Next {
        if let Some(unit) = state.unit {
            self.run.units[unit].ends.push(guard);
        }
        self.halts.push((guard, state.clone()));
        Next::Elsewhere
    }

    fn step(&mut self, key: &Key, pc: InstrId, op: &Op, guard: &mut Lit, state: &mut ThreadState) -> Next {
        if !self.ghost {
            self.run.instructions += 1;
            self.run.reached.push((self.thread, pc, *guard));
        }
        state.leave_branches(pc);
        self.whole = state.section.map_or(TRUE, |section| self.run.sections[section].whole);
        match op {
            Op::Assign { dst, value } => self.assign(pc, dst, value, guard, state),
            Op::Access(access) => {
                *guard = self.may_pause(*guard, state);
                self.access(pc, access, guard, state);
            }
            Op::Fence(fence) if self.set.traits.relational => self.fence(*fence, *guard, state),
            Op::Fence(fence) => self.out.items.push(match self.set.optional.get(self.thread, pc) {
                Some(position) => Item::Optional(*guard, position, state.unit),
                None => Item::Fence(*guard, fence.pairs(), state.unit),
            }),
            Op::AtomicBegin => {
                self.begin_section(pc, guard, state);
                self.follow_section(pc);
            }
            Op::AtomicEnd => {
                if self.ghost {
                    return Next::Elsewhere;
                }
                (state.in_section, state.section) = (false, None);
                let in_operation = state.unit.is_some_and(|unit| self.run.units[unit].is_operation);
                if !in_operation {
                    state.unit = None;
                }
            }
            Op::OperationBegin(_) if self.set.traits.serial && state.memory.is_none() => {
                *guard = self.begin_operation(*guard, state);
            }
            Op::OperationEnd if self.set.traits.serial && state.memory.is_none() => {
                if let Some(unit) = state.unit.take() {
                    self.run.units[unit].ends.push(*guard);
                }
            }
            Op::OperationBegin(_) | Op::OperationEnd => {}
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) | Op::Progress(_) => {}
            Op::Invoke { .. } | Op::Respond(_) => {
                *guard = self.may_pause(*guard, state);
                self.call(pc, op, *guard, state);
            }
            Op::Transaction(_) => {}
            Op::Choose { dst, from } => self.choice(pc, dst, from, guard, state),
            Op::Assume(cond) => self.assume(pc, cond, guard, state),
            Op::Limit { cond, .. } => self.limit(pc, cond, guard, state),
            Op::Assert { cond, .. } => self.assert(cond, guard, state),
            Op::Branch { cond, then_to, else_to } => {
                if let Some(join) = self.joins.as_ref().and_then(|joins| joins[pc.index()]) {
                    state.scopes.push((join, state.control.clone()));
                }
                let holds = self.decide(pc, cond, guard, state);
                let (then, other) = (self.gates.and(*guard, holds), self.gates.and(*guard, !holds));
                let (then_key, else_key) =
                    (self.loops().go(key, Some(pc), *then_to), self.loops().go(key, Some(pc), *else_to));
                self.arrive(then_key, *then_to, then, state.clone());
                self.arrive(else_key, *else_to, other, state.clone());
                return Next::Elsewhere;
            }
            Op::Jump(target) => {
                let key = self.loops().go(key, Some(pc), *target);
                self.arrive(key, *target, *guard, state.clone());
                return Next::Elsewhere;
            }
            Op::Halt => return self.halt(*guard, state),
        }
        Next::On
    }
}

impl Gates {
    /// Joins the dependencies of two ways to a point; the first is taken where the literal holds.
    pub(crate) fn join(&mut self, lit: Lit, one: &Taint, other: &Taint) -> Taint {
        if one == other {
            return one.clone();
        }
        self.merged(one, other, |gates, one, other| gates.ite(lit, one, other))
    }
}

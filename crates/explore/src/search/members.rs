//! States taken apart: what all threads share, and the part of each member of a family of equal threads (`cyrano_views`).
//!
//! The *global part* is memory, the parts of the threads that are in no family, and for commit-atomicity the shadow's memory and those
//! threads' copies. A *member* is a thread's program counter, its live registers, its queue and, with a shadow, its copy. Both are bytes that are the
//! same for all members and all instances of a family, so that parts of different instances can be compared and put together.
//!
//! **Why a step needs no more than the mover and the global part.** [`Stepper::steps_of`] reads memory, the mover's own part and the shadow's
//! memory, and writes nothing else: an access is performed on memory, everything else a thread does concerns its own registers and queue. An
//! atomic section is one step of its thread, open or shut by what memory holds; a thread whose `assume` or `limit` fails stays where it is and
//! keeps nobody else from a step. What looks at all threads is left out here and must be excluded or done by whoever asks: the end of
//! a setup thread, a serial model, ranked timestamps, ample sets ([`supports`]), deadlocks ([`MembersWalker::idles`]), and whether memory is compared with the shadow's,
//! which happens when nobody is in a block ([`MembersWalker::differs`]). So the other members may be missing while a thread takes its step.
//!
//! **Counters.** Shared variables that only count are kept up to a bound (`counters`), so that they need not grow with the number of members.
//!
//! **The shadow** is a set of ways in which a serial run can have gone, each with a copy of every thread: it can be taken apart only while there is one
//! way, and there is if no block chooses. Then a commit runs the mover's copy on the shadow's memory, and nothing else.

mod counters;
mod lanes;
mod whole;

use cyrano_engine::counts::{Counting, witness};
use cyrano_engine::{EveryNumber, Limits, Query, Refusal, Violation};
use cyrano_ir::{EvalError, InstrId, Invariant, Op, Program, Property, StateExpr, StateVar, ThreadId};

use self::counters::{Counter, counters};
pub use self::whole::Whole;
use crate::Explore;
pub use crate::criteria::judge::can_wait;
use crate::criteria::shadow::{is_outside, put_all, put_copy, take_all, take_copy};
use crate::encoding::codec::{put, take};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successors};
use crate::semantics::stepping::plain;

/// Registers that are dead are left out; nothing else is reduced but steps between rests.
const CONFIG: &Explore = &plain(true, false);

/// A question about a program some of whose threads are members of families.
pub struct Members<'a> {
    machine: Machine<'a>,
    /// For each thread the number of its family, if it is in one.
    family: Vec<Option<usize>>,
    property: Option<&'a Property>,
}

/// What comes of a step.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// The global part after it.
    pub global: Vec<u8>,
    /// The mover after it; empty if a thread moved that is in no family.
    pub member: Vec<u8>,
    /// What went wrong in it.
    pub violation: Option<Violation>,
}

/// A state taken apart: the global part, and the members, each with the number of its family, in the order of the threads.
pub type Apart = (Vec<u8>, Vec<(usize, Vec<u8>)>);

/// What was found out beside steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Noted {
    /// A thread deferred as many accesses as it may.
    pub bounded: bool,
    /// A thread and an instruction whose `limit` does not always hold.
    pub limited: Option<(ThreadId, InstrId)>,
    /// Something did not fit into the engine.
    pub too_large: bool,
}

/// Whether steps depend on nothing but the mover and the global part, what is asked can be judged part by part, and the explorer is exact; `families` are the threads
/// that stand for them.
pub fn supports(query: &Query<'_>, families: &[ThreadId]) -> Result<(), Refusal> {
    let refuse = |why| Err(Refusal::EveryNumber(why));
    let (program, model) = (query.program(), query.model());
    match query.property() {
        Some(Property::Assertions | Property::CommitAtomicity) => {}
        Some(Property::Invariant(invariant)) => {
            let reads = families.iter().any(|thread| !invariant.registers(*thread).is_empty());
            if reads || witness(&invariant.cond, false, &mut Form { program, families }).is_none() {
                return refuse(EveryNumber::Presence);
            }
        }
        _ => return refuse(EveryNumber::Criterion),
    }
    if program.setup.is_some() || program.in_order || !program.transactional.is_empty() || program.has_calls() {
        return refuse(EveryNumber::Program);
    }
    if model.reordering().serial || model.reordering().own_order {
        return refuse(EveryNumber::Model { model: model.name.clone() });
    }
    if program.has_timestamps() {
        return refuse(EveryNumber::Timestamps);
    }
    if query.property() == Some(&Property::CommitAtomicity) && blocks_choose(program) {
        return refuse(EveryNumber::ChoiceInBlock);
    }
    crate::supports::supports(query)
}

/// The form of an invariant.
struct Form<'a> {
    program: &'a Program,
    families: &'a [ThreadId],
}

impl Counting for Form<'_> {
    fn is_count(&self, var: &StateVar) -> bool {
        matches!(var, StateVar::At(point) if self.families.contains(&self.program.point(*point).thread))
    }

    fn value(&mut self, _: &StateExpr) -> Result<i128, EvalError> {
        Ok(0)
    }

    fn is_form(&self) -> bool {
        true
    }
}

/// Whether an atomic block makes a choice.
fn blocks_choose(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let blocks = cyrano_ir::Blocks::of(thread);
        let chooses = |(pc, op): (usize, &Op)| matches!(op, Op::Choose { .. }) && blocks.inside(InstrId::new(pc));
        thread.code.iter().map(|instr| &instr.op).enumerate().any(chooses)
    })
}

impl<'a> Members<'a> {
    /// Prepares a question; `family` says of each thread which family it is in, if any. See [`supports`].
    pub fn new(query: Query<'a>, family: Vec<Option<usize>>, limits: &Limits) -> Self {
        Self::with(query, family, limits, CONFIG)
    }

    fn with(query: Query<'a>, family: Vec<Option<usize>>, limits: &Limits, config: &'a Explore) -> Self {
        let (program, model) = (query.program(), query.model());
        let machine = Machine::new(program, model, config, query.property(), limits.deferred, None);
        Self { machine, family, property: query.property() }
    }

    /// Takes steps; `slack` is how much more of counters is told apart than need be.
    pub fn walker(&self, slack: usize) -> MembersWalker<'_> {
        let slack = i128::try_from(slack).unwrap_or(0);
        // Registers that are not encoded come back as 0.
        let mut resting = self.machine.initial();
        resting.regs.fill(0);
        MembersWalker {
            m: &self.machine,
            family: &self.family,
            stepper: Stepper::new(&self.machine),
            successors: Successors::default(),
            state: self.machine.initial(),
            resting,
            counters: counters(&self.machine, &self.family, self.property, slack),
            invariant: match self.property {
                Some(Property::Invariant(invariant)) => Some(invariant),
                _ => None,
            },
        }
    }
}

/// Takes steps of one thread at a time.
pub struct MembersWalker<'s> {
    m: &'s Machine<'s>,
    family: &'s [Option<usize>],
    stepper: Stepper<'s>,
    successors: Successors,
    state: State,
    /// A state to start from: what is not filled in is never looked at.
    resting: State,
    counters: Vec<Counter>,
    invariant: Option<&'s Invariant>,
}

/// What a thread does in a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// It has ended.
    Ended,
    /// It waits at an atomic section.
    Waits,
    /// It can go on, or has stopped elsewhere, which is no deadlock.
    No,
}

/// What the threads in no family leave over for the weights of all members, for one counter; see `counters`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// So much.
    pub weight: i128,
    /// Whether it may be more.
    pub open: bool,
    /// The largest weight of a member in a block, if others have none.
    pub of_blocks: Option<i128>,
}

/// What an invariant comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Whether it holds with these members.
    pub holds: bool,
    /// With so many members it can be told; none if that is never so.
    pub needs: Option<usize>,
}

impl MembersWalker<'_> {
    /// Visits the states in which every thread has run to its first rest, taken apart: the global part, and the members in the order of the threads.
    pub fn initial(&mut self, mut visit: impl FnMut(&[u8], &[(usize, Vec<u8>)], Option<&Violation>)) {
        self.stepper.initial(&mut self.successors);
        let mut global = Vec::new();
        for index in 0..self.successors.len() {
            let successor = self.successors.at(index);
            let members = split(self.m, self.family, &successor.state, &mut global);
            visit(&global, &members, successor.event.as_ref());
        }
    }

    /// Visits what comes of the steps of a member, if there is one, or else of the threads that are in no family.
    pub fn steps(&mut self, global: &[u8], mover: Option<(usize, &[u8])>, mut visit: impl FnMut(&Taken)) {
        let slots = self.load(global, mover);
        for memory in self.memories() {
            self.state.memory = memory;
            slots.iter().for_each(|thread| self.steps_of(*thread, mover.is_some(), &mut visit));
        }
    }

    /// What memory may hold, where full counters may hold more.
    fn memories(&self) -> Vec<Vec<i128>> {
        let mut ways = vec![self.state.memory.clone()];
        for counter in self.counters.iter().filter(|counter| counter.is_full(&self.state)) {
            let more = |memory: &Vec<i128>| {
                (0..=counter.drop).map(|more| with(memory, counter.loc, counter.cap + more)).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(more).collect();
        }
        ways
    }

    fn steps_of(&mut self, thread: usize, is_member: bool, visit: &mut impl FnMut(&Taken)) {
        let mut taken = Taken::default();
        self.successors.clear();
        self.stepper.steps_of(&self.state, thread, &mut self.successors);
        for successor in self.successors.iter_mut().filter(|successor| !successor.dropped) {
            taken.violation.clone_from(&successor.event);
            self.counters.iter().for_each(|counter| counter.clamp(self.m, &mut successor.state, thread));
            put_global(self.m, self.family, &successor.state, &mut taken.global);
            taken.member.clear();
            if is_member {
                put_thread(self.m, &successor.state, thread, &mut taken.member);
            }
            visit(&taken);
        }
    }

    /// Whether a member, or all threads that are in no family, may be part of a deadlock with this global part, and how. Where a counter is full, what may be
    /// so for one of its values is said.
    pub fn idles(&mut self, global: &[u8], member: Option<(usize, &[u8])>) -> Idle {
        let open = self.load(global, member).into_iter();
        let open: Vec<usize> = open.filter(|slot| !self.m.done(&self.state, *slot)).collect();
        if open.is_empty() {
            return Idle::Ended;
        }
        let mut waits = false;
        for memory in self.memories() {
            self.state.memory = memory;
            waits |= open.iter().all(|slot| self.stepper.waits(&self.state, *slot));
        }
        if waits { Idle::Waits } else { Idle::No }
    }

    /// Loads a global part and a member, if there is one; the threads that this is about.
    fn load(&mut self, global: &[u8], member: Option<(usize, &[u8])>) -> Vec<usize> {
        self.load_global(global);
        let Some((family, mut bytes)) = member else {
            return (0..self.family.len()).filter(|thread| self.family[*thread].is_none()).collect();
        };
        let slot = self.slot(family);
        get_thread(self.m, slot, &mut bytes, &mut self.state);
        vec![slot]
    }

    fn load_global(&mut self, mut global: &[u8]) {
        let fixed: Vec<usize> = (0..self.family.len()).filter(|t| self.family[*t].is_none()).collect();
        self.state.clone_from(&self.resting);
        get_global(self.m, &fixed, &mut global, &mut self.state);
    }

    fn slot(&self, family: usize) -> usize {
        self.family.iter().position(|of| *of == Some(family)).expect("a family has a thread")
    }

    /// For each counter what a global part says about the weights of members; nothing if it has no weights.
    pub fn rooms(&mut self, global: &[u8]) -> Vec<Option<Room>> {
        self.load_global(global);
        let room = |counter: &Counter| {
            let weight = counter.left_over(&self.state, self.family)?;
            let of_blocks = counter.of_blocks(self.m, self.family);
            Some(Room { weight, open: counter.is_full(&self.state), of_blocks })
        };
        self.counters.iter().map(room).collect()
    }

    /// For each counter the weight of a member.
    pub fn weights(&self, family: usize, member: &[u8]) -> Vec<i128> {
        let (slot, pc) = (self.slot(family), place(member));
        self.counters.iter().map(|counter| counter.weight(slot, pc.0)).collect()
    }

    /// Whether a member stands at an atomic section that can be shut or at its end, and has nothing deferred.
    pub fn rests(&mut self, family: usize, mut member: &[u8]) -> bool {
        let slot = self.slot(family);
        self.state.clone_from(&self.resting);
        get_thread(self.m, slot, &mut member, &mut self.state);
        let (thread, code) = (&self.state.threads[slot], &self.m.program.threads[slot].code);
        let section = code[thread.pc as usize..].iter().take_while(|instr| !matches!(instr.op, Op::AtomicEnd));
        let rests = match code[thread.pc as usize].op {
            Op::Halt => true,
            Op::AtomicBegin => section.into_iter().any(|instr| matches!(instr.op, Op::Assume(_))),
            _ => false,
        };
        rests && thread.queue.is_empty()
    }

    /// At which points of the program a member stands, of those that are its family's.
    pub fn stands(&self, family: usize, member: &[u8]) -> Vec<bool> {
        let (slot, pc) = (ThreadId::new(self.slot(family)), place(member));
        self.m.program.points.iter().map(|point| point.thread == slot && point.has(pc)).collect()
    }

    /// What the invariant comes to where so many members stand at each point.
    pub fn moment(&mut self, global: &[u8], counts: &[i128]) -> Moment {
        let Some(invariant) = self.invariant else { return Moment { holds: true, needs: Some(0) } };
        self.load_global(global);
        let mut seen = Seen { m: self.m, family: self.family, state: &self.state, counts };
        let holds = seen.value(&invariant.cond).is_ok_and(|value| value != 0);
        Moment { holds, needs: witness(&invariant.cond, false, &mut seen) }
    }

    /// Whether a member is in none of its blocks.
    pub fn is_outside(&mut self, family: usize, mut member: &[u8]) -> bool {
        let Some(shadows) = &self.m.shadows else { return true };
        let slot = self.slot(family);
        self.state.clone_from(&self.resting);
        get_thread(self.m, slot, &mut member, &mut self.state);
        is_outside(&self.state, slot, &shadows.threads[slot])
    }

    /// Whether a global part is wrong if no member is in a block: no other thread is in one, and memory is not as in the serial run.
    pub fn differs(&mut self, global: &[u8]) -> bool {
        let Some(shadows) = &self.m.shadows else { return false };
        self.load_global(global);
        let mut fixed = (0..self.family.len()).filter(|t| self.family[*t].is_none());
        let outside = fixed.all(|thread| is_outside(&self.state, thread, &shadows.threads[thread]));
        let same = self.state.shadow.as_ref().is_none_or(|shadow| shadow.members[0].memory == self.state.memory);
        // What a full counter holds is not known, and so neither whether the serial run's is the same.
        let full = self.counters.iter().any(|counter| counter.is_full(&self.state));
        outside && (!same || full)
    }

    /// What was found out so far.
    pub fn noted(&self) -> Noted {
        let Notes { bounded, limited, too_large, .. } = self.stepper.notes;
        let limited = limited.map(|(thread, pc)| (ThreadId::new(thread), InstrId(pc)));
        Noted { bounded, limited, too_large }
    }

    /// The instructions that no step so far has come to.
    pub fn unreached(&self) -> Vec<(ThreadId, InstrId)> {
        self.m.unreached(self.stepper.reached.clone()).unwrap_or_default()
    }
}

/// Part of a configuration, as an invariant sees it.
struct Seen<'a> {
    m: &'a Machine<'a>,
    family: &'a [Option<usize>],
    state: &'a State,
    counts: &'a [i128],
}

impl Counting for Seen<'_> {
    fn is_count(&self, var: &StateVar) -> bool {
        matches!(var, StateVar::At(point) if self.family[self.m.program.point(*point).thread.index()].is_some())
    }

    fn value(&mut self, expr: &StateExpr) -> Result<i128, EvalError> {
        let (m, state) = (self.m, self.state);
        expr.eval(&mut |var| {
            Ok(match var {
                StateVar::Loc(loc) => state.memory[loc.index()],
                StateVar::Reg(thread, reg) => state.regs[m.threads[thread.index()].base + reg.index()],
                StateVar::At(point) if self.is_count(var) => self.counts[point.index()],
                StateVar::At(point) => {
                    let point = m.program.point(*point);
                    point.has(InstrId(state.threads[point.thread.index()].pc)).into()
                }
            })
        })
    }

    fn is_form(&self) -> bool {
        false
    }
}

/// Where a member stands.
fn place(member: &[u8]) -> InstrId {
    InstrId(take(&mut &*member) as u32)
}

/// Memory with another value in a location.
fn with(memory: &[i128], loc: usize, value: i128) -> Vec<i128> {
    let mut memory = memory.to_vec();
    memory[loc] = value;
    memory
}

fn split(m: &Machine<'_>, family: &[Option<usize>], state: &State, global: &mut Vec<u8>) -> Vec<(usize, Vec<u8>)> {
    put_global(m, family, state, global);
    let members = family.iter().enumerate().filter_map(|(thread, family)| {
        let mut member = Vec::new();
        put_thread(m, state, thread, &mut member);
        Some(((*family)?, member))
    });
    members.collect()
}

fn put_global(m: &Machine<'_>, family: &[Option<usize>], state: &State, out: &mut Vec<u8>) {
    out.clear();
    state.memory.iter().for_each(|value| put(out, *value));
    for thread in (0..family.len()).filter(|thread| family[*thread].is_none()) {
        put_thread(m, state, thread, out);
    }
    if let Some(shadow) = &state.shadow {
        // Where it went wrong there is no way left.
        shadow.members.first().iter().for_each(|way| way.memory.iter().for_each(|value| put(out, *value)));
    }
}

fn get_global(m: &Machine<'_>, fixed: &[usize], input: &mut &[u8], state: &mut State) {
    state.memory.iter_mut().for_each(|value| *value = take(input));
    fixed.iter().for_each(|thread| get_thread(m, *thread, input, state));
    if let Some(shadow) = &mut state.shadow {
        shadow.members[0].memory.iter_mut().for_each(|value| *value = take(input));
    }
}

fn put_thread(m: &Machine<'_>, state: &State, thread: usize, out: &mut Vec<u8>) {
    m.encode_thread(state, thread, out);
    if let (Some(shadow), Some(shadows)) = (&state.shadow, &m.shadows) {
        put(out, state.threads[thread].latest_done.into());
        put_all(out, &shadow.chosen[thread]);
        shadow.members.first().iter().for_each(|way| put_copy(out, &way.threads[thread], &shadows.threads[thread]));
    }
}

fn get_thread(m: &Machine<'_>, thread: usize, input: &mut &[u8], state: &mut State) {
    m.decode_thread(input, thread, state);
    if let (Some(shadow), Some(shadows)) = (&mut state.shadow, &m.shadows) {
        state.threads[thread].latest_done = take(input) != 0;
        shadow.chosen[thread] = take_all(input);
        take_copy(input, &mut shadow.members[0].threads[thread], &shadows.threads[thread]);
    }
}

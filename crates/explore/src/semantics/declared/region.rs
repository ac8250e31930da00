//! The code between two barriers, prepared: registers renumbered so that there are few, accesses numbered.

use std::ops::{BitAnd, BitOr};
use std::sync::{Arc, Mutex, PoisonError};

use cyrano_ir::dataflow::successors;
use cyrano_ir::{AccessKind, Addr, FenceSet, InstrId, Leaf, LocalExpr, Op, OwnOrder, Place, Program, RegId, ThreadId};
use rustc_hash::FxHashMap;

use crate::semantics::declared::follow::reach;
use crate::semantics::declared::partial::set;
use crate::semantics::declared::sight::Ready;
use crate::semantics::machine::Machine;

mod assume;

/// How many accesses and sections a region may have.
pub(crate) const MOST_UNITS: usize = 256;

/// A set of units: accesses, or whole atomic sections. Most regions have few, so sets come in two widths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Units<const W: usize = WIDE>([u64; W]);

/// How many words a set of all units that a region may have takes.
pub(crate) const WIDE: usize = MOST_UNITS / 64;

impl<const W: usize> Default for Units<W> {
    fn default() -> Self {
        Self([0; W])
    }
}

impl<const W: usize> Units<W> {
    pub fn insert(&mut self, unit: usize) {
        self.0[unit / 64] |= 1 << (unit % 64);
    }

    pub fn remove(&mut self, unit: usize) {
        self.0[unit / 64] &= !(1 << (unit % 64));
    }

    pub fn contains(self, unit: usize) -> bool {
        self.0[unit / 64] >> (unit % 64) & 1 == 1
    }

    /// Those that are not in the other set.
    pub fn without(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    /// Whether all of them are in the other set.
    pub fn within(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(a, b)| a & !b == 0)
    }

    /// The same set in another width, which has room for it.
    pub fn resized<const V: usize>(self) -> Units<V> {
        let mut words = [0; V];
        words.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        Units(words)
    }
}

impl<const W: usize> BitAnd for Units<W> {
    type Output = Self;

    fn bitand(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= b);
        self
    }
}

impl<const W: usize> BitOr for Units<W> {
    type Output = Self;

    fn bitor(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
        self
    }
}

/// A region.
pub(crate) struct Region {
    pub start: u32,
    /// The instructions from the start to the last one that can be reached, with the region's own registers.
    pub code: Vec<Op>,
    /// For each register of the region the thread's.
    pub registers: Vec<u32>,
    /// For each instruction the unit that it belongs to, if it is an access.
    pub units: Vec<Option<u16>>,
    /// For each instruction the units, and the instructions that are no accesses, that it follows if they are executed (axiom 9).
    pub listed: Vec<(Units, Vec<u32>)>,
    /// How many units it has.
    pub size: usize,
    /// Whether the model keeps accesses of one address in order.
    pub same: bool,
    /// Whether it may add to a timestamp, so that sums have to be looked at.
    pub timed: bool,
    /// Whether a thread may have to stop in it for ever, for what it assumes outside of atomic sections.
    pub may_stop: bool,
}

/// The regions of all threads, made when they are met.
#[derive(Default)]
pub(crate) struct Regions {
    /// For each thread and instruction the start of a region that it belongs to.
    starts: Vec<Vec<u32>>,
    known: Mutex<FxHashMap<(usize, u32), Arc<Region>>>,
}

impl Regions {
    pub fn new(program: &Program) -> Self {
        Self { starts: program.thread_ids().map(|thread| starts(program, thread)).collect(), known: Mutex::default() }
    }

    /// A region that an instruction belongs to, which `make` makes from its start.
    pub fn of(&self, thread: usize, pc: u32, make: impl FnOnce(u32) -> Region) -> Arc<Region> {
        let start = self.starts[thread][pc as usize];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((thread, start)).or_insert_with(|| Arc::new(make(start))).clone()
    }
}

/// For each instruction of a thread the start of a region that it belongs to.
fn starts(program: &Program, thread: ThreadId) -> Vec<u32> {
    let mut found = vec![None; program.thread(thread).code.len()];
    for start in first_instructions(program, thread) {
        for pc in reached(program, thread, start as u32) {
            found[pc].get_or_insert(start as u32);
        }
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// Where regions of a thread start.
fn first_instructions(program: &Program, thread: ThreadId) -> impl Iterator<Item = usize> {
    let code = &program.thread(thread).code;
    let halts = |pc: &usize| !matches!(code[*pc].op, Op::Halt);
    let behind = (0..code.len()).filter(|pc| is_barrier(&code[*pc].op)).filter(halts);
    let behind = behind.map(move |pc| behind_barrier(program, thread, pc as u32) as usize);
    std::iter::once(0).chain(behind).filter(|start| *start < code.len())
}

/// Where a thread stands that has passed a barrier: a thread that goes on for ever jumps back from there.
pub(crate) fn behind_barrier(program: &Program, thread: ThreadId, barrier: u32) -> u32 {
    let code = &program.thread(thread).code;
    let mut pc = barrier + 1;
    for _ in 0..code.len() {
        let Some(Op::Jump(to)) = code.get(pc as usize).map(|instr| &instr.op) else { break };
        pc = to.0;
    }
    pc
}

/// Whether a region ends at this instruction.
pub(crate) fn is_barrier(op: &Op) -> bool {
    match op {
        Op::Invoke { .. } | Op::Respond(_) | Op::Transaction(_) | Op::Halt => true,
        Op::Fence(fence) => fence.pairs().contains(FenceSet::FULL),
        _ => false,
    }
}

impl Region {
    pub fn op(&self, pc: u32) -> &Op {
        &self.code[(pc - self.start) as usize]
    }

    pub fn unit(&self, pc: u32) -> Option<usize> {
        self.units[(pc - self.start) as usize].map(usize::from)
    }

    /// The locations that an access or a section that is ready may touch, whatever they hold.
    pub fn touches(&self, program: &Program, ready: &Ready, touched: &mut Vec<(u32, AccessKind)>) {
        let mut regs = ready.regs.clone();
        for pc in ready.pc.. {
            let op = self.op(pc);
            if let (Some(kind), Some(addr)) = (op.access_kind(), op.addr()) {
                let (first, end) = reach(program, addr, &regs);
                touched.extend((first..end).map(|loc| (loc, kind)));
            }
            // A place whose index goes wrong ends the section.
            let _ = op.dst().map(|dst| set(dst, &mut regs, None));
            if pc == ready.pc && !matches!(op, Op::AtomicBegin) || matches!(op, Op::AtomicEnd) {
                break;
            }
        }
    }

    /// The region of a thread that starts here.
    pub fn new(m: &Machine<'_>, thread: ThreadId, start: u32, order: &OwnOrder) -> Self {
        let program = m.program;
        let same = m.model.reordering().keeps(AccessKind::Store, AccessKind::Store, true);
        let reached = ops_from(program, thread, start);
        let ops = || reached.iter().copied();
        let mut touched = vec![false; program.thread(thread).registers.len()];
        ops().filter(|op| !is_barrier(op)).for_each(|op| touch(op, &mut touched));
        let registers: Vec<u32> = (0..touched.len()).filter(|r| touched[*r]).map(|r| r as u32).collect();
        let mut new = vec![0; touched.len()];
        registers.iter().enumerate().for_each(|(at, register)| new[*register as usize] = at as u32);
        let rename = |op: &Op| if is_barrier(op) { op.clone() } else { renamed(op, &new) };
        let units = units(ops());
        let earlier = |pc: usize| {
            let (mut accesses, mut others) = (Units::<WIDE>::default(), Vec::new());
            for from in order.of(thread, InstrId::new(pc)).iter().filter_map(|from| from.0.checked_sub(start)) {
                match units[from as usize] {
                    Some(unit) => accesses.insert(unit.into()),
                    None => others.push(from),
                }
            }
            (accesses, others)
        };
        let listed = (start as usize..start as usize + units.len()).map(earlier).collect();
        let code: Vec<Op> = ops().map(rename).collect();
        let may_stop = assume::may_stop(start, &code);
        let timed = m.timestamps.is_some();
        Self { start, code, registers, size: size(&units), units, listed, same, timed, may_stop }
    }
}

/// The instructions of a region, with the barriers that it ends at.
fn reached(program: &Program, thread: ThreadId, start: u32) -> Vec<usize> {
    let code = &program.thread(thread).code;
    let mut met = vec![false; code.len()];
    let (mut work, mut all) = (vec![start as usize], Vec::new());
    while let Some(pc) = work.pop() {
        if std::mem::replace(&mut met[pc], true) {
            continue;
        }
        all.push(pc);
        if !is_barrier(&code[pc].op) {
            work.extend(successors(&code[pc].op, InstrId::new(pc)).map(InstrId::index));
        }
    }
    all
}

/// The instructions from the start of a region to its last one. What stands between and does not belong to it is left out.
fn ops_from(program: &Program, thread: ThreadId, start: u32) -> Vec<&Op> {
    let code = &program.thread(thread).code;
    let reached = reached(program, thread, start);
    let end = reached.iter().copied().max().unwrap_or(start as usize);
    let mut ops = vec![&Op::Halt; end + 1 - start as usize];
    reached.into_iter().for_each(|pc| ops[pc - start as usize] = &code[pc].op);
    ops
}

/// The most units that a region of a thread has.
pub(crate) fn largest(program: &Program, thread: ThreadId) -> usize {
    let of = |start: usize| size(&units(ops_from(program, thread, start as u32).into_iter()));
    first_instructions(program, thread).map(of).max().unwrap_or(0)
}

fn size(units: &[Option<u16>]) -> usize {
    units.iter().flatten().max().map_or(0, |last| usize::from(*last) + 1)
}

fn units<'a>(ops: impl Iterator<Item = &'a Op>) -> Vec<Option<u16>> {
    let mut next = 0;
    let mut inside = false;
    let unit = |op: &Op| {
        match op {
            Op::AtomicBegin => inside = true,
            Op::AtomicEnd => {
                inside = false;
                next += 1;
            }
            _ => {}
        }
        let found = op.access_kind().map(|_| next);
        if found.is_some() && !inside {
            next += 1;
        }
        found
    };
    ops.map(unit).collect()
}

fn touch(op: &Op, touched: &mut [bool]) {
    let mut take = |register: usize| touched[register] = true;
    op.operands().into_iter().for_each(|operand| registers_of(operand, &mut take));
    if let Some(Addr::Indexed { index, .. }) = op.addr() {
        registers_of(index, &mut take);
    }
    if let Some(dst) = op.dst() {
        place_registers(dst, &mut take);
    }
}

/// Calls `visit` on every register that an expression may read.
fn registers_of(expr: &LocalExpr, visit: &mut impl FnMut(usize)) {
    expr.for_each_var(&mut |place| place_registers(place, &mut *visit));
}

fn place_registers(place: &Place, visit: &mut dyn FnMut(usize)) {
    match place {
        Place::Reg(reg) => visit(reg.index()),
        Place::Elem { base, len, index } => {
            (0..*len as usize).for_each(|i| visit(base.index() + i));
            index.for_each_var(&mut |inner| place_registers(inner, visit));
        }
    }
}

/// The same instruction with other registers. Elements of a local array are all touched if one is, and stay next to each other.
fn renamed(op: &Op, new: &[u32]) -> Op {
    let mut op = op.clone();
    op.for_each_leaf(&mut |leaf| {
        if let Leaf::Register(register) = leaf {
            *register = RegId(new[register.index()]);
        }
    });
    op
}

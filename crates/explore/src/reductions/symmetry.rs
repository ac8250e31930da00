//! Thread symmetry (reduction `thread-symmetry`), for criteria that treat all threads alike.
//!
//! If the threads run the same code on the same kind of registers, renaming them turns executions into executions. So of the
//! states that differ only by such a renaming one is stored: the one whose bytes come first.
//!
//! **Argument.** Thread codes are compared instruction by instruction. They may differ in constants only, and wherever they
//! differ it is by the same *identity*: one value per thread, all different (`self + 1`). A renaming of threads moves program
//! counters, registers and queues from thread to thread and maps each identity to the identity of the renamed thread,
//! wherever one is stored. For this to commute with every step, identities may only be copied, stored, swapped and compared
//! for equality, with each other or with constants that are nobody's identity. Which registers and locations hold identities
//! is computed below, by following copies in both directions; anything else done with them, or a shared address that differs
//! from thread to thread, means that the reduction is not used.
//!
//! Witnesses are rebuilt without renaming.

use cyrano_ir::{Access, Addr, BinOp, Change, Expr, LocalExpr, Op, Place, Program};

use crate::encoding::codec;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, Entry, State, Value, What};

/// The most threads whose renamings are all tried.
const MOST_THREADS: usize = 4;

/// What renaming threads does to a program's states.
pub(crate) struct Symmetry {
    /// Each thread's identity; empty if the code does not mention one.
    identities: Vec<i128>,
    /// Which registers (of any thread) hold identities.
    registers: Vec<bool>,
    /// Which locations do.
    locations: Vec<bool>,
    /// All renamings but the one that changes nothing: thread `t` becomes `renaming[t]`.
    renamings: Vec<Vec<u8>>,
}

impl Symmetry {
    /// The symmetry of a program's threads, if there is one.
    pub fn of(program: &Program) -> Option<Self> {
        let threads = program.threads.len();
        if program.setup.is_some() || !(2..=MOST_THREADS).contains(&threads) {
            return None;
        }
        let first = &program.threads[0];
        let alike = |t: &cyrano_ir::Thread| {
            let kinds = t.registers.iter().map(|r| (r.ty, r.init)).eq(first.registers.iter().map(|r| (r.ty, r.init)));
            kinds && t.code.len() == first.code.len()
        };
        if !program.threads.iter().all(alike) {
            return None;
        }
        let identities = identities(program)?;
        let mut roles = Roles::new(program, identities);
        roles.follow_copies();
        roles.are_kept().then(|| Self {
            identities: roles.identities,
            registers: roles.registers,
            locations: roles.locations,
            renamings: renamings(threads),
        })
    }

    fn renamed(&self, value: i128, renaming: &[u8]) -> i128 {
        match self.identities.iter().position(|id| *id == value) {
            Some(thread) => self.identities[usize::from(renaming[thread])],
            None => value,
        }
    }
}

/// All permutations of this many threads but the identity.
pub(crate) fn renamings(threads: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![vec![]];
    for next in 0..threads as u8 {
        let longer = all.iter().flat_map(|p| {
            (0..=p.len()).map(move |at| {
                let mut q = p.clone();
                q.insert(at, next);
                q
            })
        });
        all = longer.collect();
    }
    all.retain(|p| !p.is_sorted());
    all
}

/// Each thread's identity, if the codes differ by identities only; empty if they do not differ.
fn identities(program: &Program) -> Option<Vec<i128>> {
    let mut found: Option<Vec<i128>> = None;
    for pc in 0..program.threads[0].code.len() {
        let shapes: Vec<_> = program.threads.iter().map(|t| shape(&t.code[pc].op)).collect();
        let (first, constants) = &shapes[0];
        if shapes.iter().any(|(other, others)| other != first || others.len() != constants.len()) {
            return None;
        }
        for at in 0..constants.len() {
            let tuple: Vec<i128> = shapes.iter().map(|(_, constants)| constants[at]).collect();
            if tuple.iter().all(|c| *c == tuple[0]) {
                continue;
            }
            let distinct = (1..tuple.len()).all(|i| !tuple[..i].contains(&tuple[i]));
            if !distinct || found.as_ref().is_some_and(|known| *known != tuple) {
                return None;
            }
            found = Some(tuple);
        }
    }
    Some(found.unwrap_or_default())
}

/// An instruction without the constants of its operands, and those constants.
fn shape(op: &Op) -> (Op, Vec<i128>) {
    let mut constants = Vec::new();
    let op = with_constants(op, &mut |value| constants.push(std::mem::take(value)));
    (op, constants)
}

/// The same instruction with other constants in its operands; those within indices stay.
fn with_constants(op: &Op, change: &mut impl FnMut(&mut i128)) -> Op {
    let mut op = op.clone();
    if !matches!(op, Op::BlockEnd(_) | Op::Invoke { .. } | Op::Respond(_)) {
        op.operands_mut().into_iter().for_each(|operand| operand.for_each_const_mut(change));
    }
    op
}

/// Stands for a thread's own identity in the code that is looked at.
const OWN: i128 = i128::MIN + 1;

/// Which registers and locations hold identities. All threads have the same code up to identities, so one of them is looked at.
struct Roles<'p> {
    program: &'p Program,
    identities: Vec<i128>,
    code: Vec<Op>,
    registers: Vec<bool>,
    locations: Vec<bool>,
}

/// Something that a value can come from or go to.
#[derive(Clone, Copy)]
enum End<'a> {
    Expr(&'a LocalExpr),
    Place(&'a Place),
    Addr(&'a Addr),
}

impl<'p> Roles<'p> {
    fn new(program: &'p Program, identities: Vec<i128>) -> Self {
        let code = (0..program.threads[0].code.len()).map(|pc| with_own(program, pc)).collect();
        let registers = vec![false; program.threads[0].registers.len()];
        Self { program, identities, code, registers, locations: vec![false; program.locations.len()] }
    }

    /// Copies in both directions: what is copied to or from an identity holds identities, until nothing changes.
    fn follow_copies(&mut self) {
        let code = std::mem::take(&mut self.code);
        loop {
            let before = (self.registers.clone(), self.locations.clone());
            for op in &code {
                for (from, to) in copies(op) {
                    self.unite(from, to);
                }
                op.operands().into_iter().for_each(|operand| self.follow_comparisons(operand));
            }
            if before == (self.registers.clone(), self.locations.clone()) {
                break;
            }
        }
        self.code = code;
    }

    fn unite(&mut self, one: End<'_>, other: End<'_>) {
        if self.holds(one) || self.holds(other) {
            self.mark(one);
            self.mark(other);
        }
    }

    /// What is compared with an identity holds identities.
    fn follow_comparisons(&mut self, expr: &LocalExpr) {
        match expr {
            Expr::Binary(op, left, right) => {
                if matches!(op, BinOp::Eq | BinOp::Ne) {
                    self.unite(End::Expr(left), End::Expr(right));
                }
                self.follow_comparisons(left);
                self.follow_comparisons(right);
            }
            Expr::Unary(_, arg) => self.follow_comparisons(arg),
            Expr::Const(_) | Expr::Var(_) => {}
        }
    }

    fn holds(&self, end: End<'_>) -> bool {
        match end {
            End::Expr(Expr::Const(value)) => *value == OWN,
            End::Expr(Expr::Var(place)) => self.registers[base(place)],
            End::Expr(_) => false,
            End::Place(place) => self.registers[base(place)],
            End::Addr(addr) => cells(self.program, addr).any(|loc| self.locations[loc]),
        }
    }

    fn mark(&mut self, end: End<'_>) {
        match end {
            End::Expr(Expr::Var(place)) => self.mark(End::Place(place)),
            End::Place(place) => {
                let len = if let Place::Elem { len, .. } = place { *len as usize } else { 1 };
                self.registers[base(place)..base(place) + len].fill(true);
            }
            End::Expr(_) => {}
            End::Addr(addr) => cells(self.program, addr).for_each(|loc| self.locations[loc] = true),
        }
    }

    /// Whether identities are only copied and compared, and nothing else is mistaken for one.
    fn are_kept(&self) -> bool {
        let stranger = |value: i128| !self.identities.contains(&value);
        let locations = self.program.locations.iter().zip(&self.locations);
        let registers = self.program.threads[0].registers.iter().zip(&self.registers);
        locations.into_iter().all(|(location, id)| !id || stranger(location.init))
            && registers.into_iter().all(|(register, id)| !id || stranger(register.init))
            && self.code.iter().all(|op| self.instruction_keeps(op))
    }

    fn instruction_keeps(&self, op: &Op) -> bool {
        let used_as_number = match op {
            Op::Choose { dst, .. } => self.holds(End::Place(dst)),
            Op::Access(Access { addr, change: Some(Change::Add(_)), .. }) => self.holds(End::Addr(addr)),
            _ => false,
        };
        let indexed = match op.addr() {
            Some(Addr::Indexed { index, .. }) => !self.is_number(index),
            _ => false,
        };
        let values = copies(op).into_iter().all(|(from, to)| match from {
            End::Expr(expr) => self.fits(expr, self.holds(to)),
            End::Place(_) | End::Addr(_) => self.holds(from) == self.holds(to),
        });
        let conditions = match op {
            Op::Assume(cond) | Op::Assert { cond, .. } | Op::Limit { cond, .. } | Op::Branch { cond, .. } => {
                self.is_number(cond)
            }
            _ => true,
        };
        !used_as_number && !indexed && values && conditions
    }

    /// Whether an expression is an identity (or a constant that is nobody's), or has nothing to do with one.
    fn fits(&self, expr: &LocalExpr, identity: bool) -> bool {
        match expr {
            Expr::Const(value) if identity => *value == OWN || !self.identities.contains(value),
            Expr::Var(_) if identity => self.holds(End::Expr(expr)),
            _ => !identity && self.is_number(expr),
        }
    }

    /// Whether the value of an expression is no identity and does not depend on which one it is.
    fn is_number(&self, expr: &LocalExpr) -> bool {
        match expr {
            Expr::Const(_) | Expr::Var(_) => !self.holds(End::Expr(expr)) && self.index_is_number(expr),
            Expr::Unary(_, arg) => self.is_number(arg),
            Expr::Binary(BinOp::Eq | BinOp::Ne, left, right) => {
                let identity = self.holds(End::Expr(left)) || self.holds(End::Expr(right));
                self.fits(left, identity) && self.fits(right, identity)
            }
            Expr::Binary(_, left, right) => self.is_number(left) && self.is_number(right),
        }
    }

    fn index_is_number(&self, expr: &LocalExpr) -> bool {
        match expr {
            Expr::Var(Place::Elem { index, .. }) => self.is_number(index),
            _ => true,
        }
    }
}

/// An instruction of the first thread with its own identity marked: wherever the threads' codes differ.
fn with_own(program: &Program, pc: usize) -> Op {
    let all: Vec<Vec<i128>> = program.threads.iter().map(|t| shape(&t.code[pc].op).1).collect();
    let mut marked = (0..all[0].len()).map(|at| {
        let differs = all.iter().any(|constants| constants[at] != all[0][at]);
        if differs { OWN } else { all[0][at] }
    });
    with_constants(&program.threads[0].code[pc].op, &mut |value| *value = marked.next().unwrap_or(*value))
}

/// The first register of a place.
fn base(place: &Place) -> usize {
    let (Place::Reg(reg) | Place::Elem { base: reg, .. }) = place;
    reg.index()
}

/// The locations that an address may denote.
pub(crate) fn cells(program: &Program, addr: &Addr) -> std::ops::Range<usize> {
    match addr {
        Addr::Fixed(loc) => loc.index()..loc.index() + 1,
        Addr::Indexed { array, .. } => {
            let array = &program.arrays[array.index()];
            array.base.index()..array.base.index() + array.len as usize
        }
    }
}

/// Where an instruction's values go. A compare-and-swap compares what it expects with the location, as a copy would.
fn copies(op: &Op) -> Vec<(End<'_>, End<'_>)> {
    let mut all = Vec::new();
    match op {
        Op::Assign { dst, value } => all.push((End::Expr(value), End::Place(dst))),
        Op::Access(Access { addr, dst, .. }) => {
            all.extend(op.operands().into_iter().map(|e| (End::Expr(e), End::Addr(addr))));
            all.extend(dst.iter().map(|dst| (End::Addr(addr), End::Place(dst))));
        }
        _ => {}
    }
    all
}

impl Machine<'_> {
    /// Appends the bytes that stand for a state and for all its renamings, of variables and of threads.
    pub fn encode_canonical(&self, state: &State, out: &mut Vec<u8>) {
        if !self.symmetric_threads.is_empty() {
            return self.encode_sorted(state, out);
        }
        let start = out.len();
        self.encode_by_threads(state, out);
        let mut renamed = State::default();
        for renaming in &self.variable_symmetry {
            let end = out.len();
            if self.rename_variables(renaming, state, &mut renamed) {
                self.encode_by_threads(&renamed, out);
                keep_smaller(out, start, end);
            }
        }
    }

    /// Appends the bytes that stand for a state and for all its renamings of threads.
    ///
    /// Of the renamings only those are tried that sort the threads by what each looks like by itself ([`Machine::looks`]). Renamed states
    /// have the same sorted arrangements, so the choice is the same for all of them; usually there is only one.
    fn encode_by_threads(&self, state: &State, out: &mut Vec<u8>) {
        let Some(symmetry) = &self.symmetry else {
            return self.encode(state, out);
        };
        let threads = state.threads.len();
        let start = out.len();
        let mut ends = [start; MOST_THREADS + 1];
        for t in 0..threads {
            self.looks(symmetry, state, t, out);
            ends[t + 1] = out.len();
        }
        let looks = |t: usize| &out[ends[t]..ends[t + 1]];
        // For every renaming that sorts the threads, and for the one that changes nothing.
        let as_it_is = (1..threads).all(|t| looks(t - 1) <= looks(t));
        let sorted = |renaming: &[u8]| {
            let mut arranged = [0; MOST_THREADS];
            renaming.iter().enumerate().for_each(|(t, to)| arranged[usize::from(*to)] = t);
            arranged[..threads].is_sorted_by(|a, b| looks(*a) <= looks(*b))
        };
        let tried: u32 = symmetry.renamings.iter().enumerate().filter(|(_, r)| sorted(r)).map(|(at, _)| 1 << at).sum();
        out.truncate(start);
        if as_it_is {
            self.encode(state, out);
        }
        let mut renamed = State::default();
        for renaming in symmetry.renamings.iter().enumerate().filter(|(at, _)| tried >> at & 1 == 1).map(|(_, r)| r) {
            self.rename(symmetry, state, renaming, &mut renamed);
            let end = out.len();
            self.encode(&renamed, out);
            if end > start {
                keep_smaller(out, start, end);
            }
        }
    }

    /// A thread's own part of a state, with its identity and those of others told apart but not named, as bytes.
    fn looks(&self, symmetry: &Symmetry, state: &State, t: usize, out: &mut Vec<u8>) {
        let own = symmetry.identities.get(t);
        let id = |value: i128| match symmetry.identities.contains(&value) {
            true if Some(&value) == own => OWN,
            true => OWN + 1,
            false => value,
        };
        let (thread, info) = (&state.threads[t], &self.threads[t]);
        codec::put(out, thread.pc.into());
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            let pending = state.pending.get(at).copied().unwrap_or(0);
            let value = if pending == 0 { state.regs[at] } else { 0 };
            codec::put(out, pending.into());
            codec::put(out, if symmetry.registers[*reg as usize] { id(value) } else { value });
        }
        for entry in &thread.queue {
            let mut entry = entry.clone();
            rename_entry(symmetry, &mut entry, &id);
            codec::put_entry(out, &entry);
        }
    }

    fn rename(&self, symmetry: &Symmetry, state: &State, renaming: &[u8], out: &mut State) {
        out.clone_from(state);
        let id = |value: i128| symmetry.renamed(value, renaming);
        for (value, _) in out.memory.iter_mut().zip(&symmetry.locations).filter(|(_, id)| **id) {
            *value = id(*value);
        }
        for (from, to) in renaming.iter().enumerate() {
            let to = usize::from(*to);
            let (old, new) = (self.threads[from].base, self.threads[to].base);
            for (reg, identity) in symmetry.registers.iter().enumerate() {
                let value = state.regs[old + reg];
                out.regs[new + reg] = if *identity { id(value) } else { value };
                if self.loads_wait {
                    out.pending[new + reg] = state.pending[old + reg];
                }
            }
            out.threads[to].clone_from(&state.threads[from]);
            out.threads[to].queue.iter_mut().for_each(|entry| rename_entry(symmetry, entry, &id));
        }
        if let (Some(monitor), Some(remembered)) = (&self.monitor, &state.monitor) {
            let vars: Vec<u8> = (0..monitor.size().vars).collect();
            out.monitor = Some(monitor.permute(remembered, renaming, &vars));
        }
    }
}

/// Of the bytes before and after `end` keeps those that come first.
fn keep_smaller(out: &mut Vec<u8>, start: usize, end: usize) {
    if out[end..] < out[start..end] {
        out.drain(start..end);
    } else {
        out.truncate(end);
    }
}

fn rename_entry(symmetry: &Symmetry, entry: &mut Entry, id: &impl Fn(i128) -> i128) {
    match &mut entry.data {
        Data::Known(first, second) => {
            if matches!(entry.what, What::Access(_)) && symmetry.locations[entry.loc as usize] {
                (*first, *second) = (id(*first), id(*second));
            }
        }
        Data::Waiting(captured) => {
            for (reg, value) in captured {
                if let Value::Known(value) = value
                    && symmetry.registers[*reg as usize]
                {
                    *value = id(*value);
                }
            }
        }
    }
}

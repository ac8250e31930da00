//! Shared variables that only count, looked at anew: whoever found the views says which they are and from where on their values are one.
//!
//! A counter is changed by `fetch_add` of constants only, at once and not later, and what is read from it goes to registers that are only compared with constants below
//! the bound `cap`. So no program sees which value at or above `cap` it has, and "at least `cap`" is one value.
//!
//! **Argument.** From a true value v ≥ cap, a step goes as from min(v, cap + `drop`), where `drop` is what a step takes away at most: all values of the counter in it are
//! at least `cap` in both, or v is one of the values that are tried. Each instruction is executed once in a step, unless it is in a loop of an atomic section; one that takes
//! away and is, is refused.
//!
//! **Weights.** If on every path to an instruction a thread has added the same, its *weight* there, the counter is its initial value and the weights of all threads. Where no member's weight
//! is negative and the value is below `cap`, members whose weights come to more than the others leave over are not there together.

use cyrano_engine::configuration::{Configuration, Product, Value};
use cyrano_interp::steps::handed_on;
use cyrano_ir::dataflow::{Liveness, successors};
use cyrano_ir::{
    AccessKind, Addr, BinOp, Blocks, Change, Expr, InstrId, LocId, Op, Place, Program, Property, RegId, StateVar,
    Thread, ThreadId, Ty,
};

use super::EveryNumber;
use super::parts::{Global, fixed_threads};
use crate::Certificate;

/// More than this is not taken away by one step.
const MOST_DROP: i128 = 64;

/// A counter.
pub(super) struct Counter {
    loc: LocId,
    cap: i128,
    drop: i128,
    init: i128,
    /// For each thread the registers that are read from it.
    copies: Vec<Vec<RegId>>,
    /// For each thread and instruction what the thread has added before; nothing if there are no weights.
    weights: Option<Vec<Vec<i128>>>,
    /// The largest weight of a member, if blocks are judged and one that is in no block has none.
    pub of_blocks: Option<i128>,
}

/// The counters of a certificate; `Err` if one of them does not only count.
pub(super) fn of(certificate: &Certificate, every: &EveryNumber, property: &Property) -> Result<Vec<Counter>, String> {
    let program = &certificate.program;
    let at_once = |kind| certificate.model.reordering().keeps_all_after(kind);
    let exact = at_once(AccessKind::Load) && at_once(AccessKind::Rmw);
    if !exact && !every.counters.is_empty() {
        return Err("where loads are deferred no variable only counts".into());
    }
    let counter = |(loc, cap): &(LocId, i128)| {
        let name = program.locations.get(loc.index()).map_or("?", |location| &location.name);
        Counter::new(program, property, *loc, *cap).ok_or_else(|| format!("the variable {name} does not only count"))
    };
    let counters: Vec<Counter> = every.counters.iter().map(counter).collect::<Result<_, _>>()?;
    let distinct = |at: usize| every.counters[..at].iter().all(|(loc, _)| *loc != every.counters[at].0);
    if (0..counters.len()).all(distinct) { Ok(counters) } else { Err("a variable is said to count twice".into()) }
}

impl Counter {
    fn new(program: &Program, property: &Property, loc: LocId, cap: i128) -> Option<Self> {
        let location = program.locations.get(loc.index())?;
        if location.ty != Ty::Int || location.init >= cap {
            return None;
        }
        let added: Vec<Vec<i128>> =
            program.threads.iter().map(|thread| added(program, thread, loc)).collect::<Option<_>>()?;
        let copies: Vec<Vec<RegId>> =
            program.threads.iter().map(|thread| copies(thread, loc)).collect::<Option<_>>()?;
        let blind =
            |(thread, copies): (&Thread, &Vec<RegId>)| thread.code.iter().all(|instr| is_blind(&instr.op, copies, cap));
        if !program.threads.iter().zip(&copies).all(blind) {
            return None;
        }
        if let Property::Invariant(invariant) = property {
            let own = |var: &StateVar| match var {
                StateVar::Loc(other) => *other == loc,
                StateVar::Reg(thread, register) => copies[thread.index()].contains(register),
                StateVar::At(_) => false,
            };
            (only_compared(&invariant.cond, &own, cap)).then_some(())?;
        }
        let drop: i128 = added.iter().flatten().filter(|by| **by < 0).map(|by| -by).sum();
        let weights: Option<Vec<Vec<i128>>> =
            program.threads.iter().zip(&added).map(|(thread, added)| weights(thread, added)).collect();
        let positive = |weights: &Vec<Vec<i128>>| {
            program.families.iter().all(|family| weights[family.thread.index()].iter().all(|weight| *weight >= 0))
        };
        let weights = weights.filter(positive);
        let judges_blocks = *property == Property::CommitAtomicity;
        if judges_blocks && program.thread_ids().any(|thread| hands_on(program, thread, &copies[thread.index()])) {
            return None;
        }
        let of_blocks = weights.as_ref().filter(|_| judges_blocks).and_then(|weights| of_blocks(program, weights));
        (drop <= MOST_DROP).then_some(Self { loc, cap, drop, init: location.init, copies, weights, of_blocks })
    }

    /// Whether the value is only known to be at least the bound.
    pub fn is_full(&self, memory: &[i128]) -> bool {
        memory[self.loc.index()] >= self.cap
    }

    /// The values that stand for all of them then.
    pub fn values(&self) -> impl Iterator<Item = i128> + use<> {
        self.cap..=self.cap + self.drop
    }

    /// A configuration with another value of the counter.
    pub fn with(&self, at: &Product, value: i128) -> Product {
        let mut at = at.clone();
        at.at.memory[self.loc.index()] = value;
        at
    }

    /// Forgets what nobody sees after a step of a thread.
    pub fn clamp(&self, at: &mut Configuration, thread: ThreadId) {
        let value = &mut at.memory[self.loc.index()];
        *value = (*value).min(self.cap);
        for register in &self.copies[thread.index()] {
            if let Value::Known(value) = &mut at.threads[thread.index()].registers[register.index()] {
                *value = (*value).min(self.cap);
            }
        }
    }

    /// What threads in no family leave over for all members, if there are weights; more than that if the counter is full.
    pub fn left_over(&self, global: &Global, program: &Program) -> Option<i128> {
        let weights = self.weights.as_ref()?;
        let lanes = fixed_threads(program).into_iter().zip(&global.fixed);
        let fixed: i128 = lanes.map(|(thread, single)| weights[thread.index()][single.lane.pc.index()]).sum();
        Some(global.memory[self.loc.index()] - self.init - fixed)
    }

    /// What a thread that stands at an instruction has added; 0 if there are no weights.
    pub fn weight(&self, thread: ThreadId, pc: InstrId) -> i128 {
        self.weights.as_ref().map_or(0, |weights| weights[thread.index()][pc.index()])
    }
}

/// Whether a unit of a thread hands on a copy, which is compared with what the serial run has.
fn hands_on(program: &Program, thread: ThreadId, copies: &[RegId]) -> bool {
    let live = &Liveness::of_program(program)[thread.index()];
    let thread = program.thread(thread);
    let blocks = Blocks::of(thread);
    let ends = |(pc, op): &(InstrId, &Op)| match op {
        Op::BlockEnd(_) => true,
        op => !blocks.inside(*pc) && matches!(op, Op::Access(_) | Op::AtomicEnd),
    };
    let instructions = thread.code.iter().enumerate().map(|(pc, instr)| (InstrId::new(pc), &instr.op));
    instructions
        .filter(ends)
        .any(|(pc, _)| handed_on(thread, live, pc).iter().any(|register| copies.contains(register)))
}

/// The largest weight of a member, if those that are in no block have none.
fn of_blocks(program: &Program, weights: &[Vec<i128>]) -> Option<i128> {
    let members = || program.families.iter().map(|family| family.thread);
    let light = |thread: ThreadId| {
        let blocks = Blocks::of(program.thread(thread));
        let weights = weights[thread.index()].iter().enumerate();
        weights.into_iter().all(|(pc, weight)| *weight == 0 || blocks.inside(InstrId::new(pc)))
    };
    let most = || members().flat_map(|thread| weights[thread.index()].iter().copied()).max();
    if members().all(light) { most() } else { None }
}

/// What each instruction adds; nothing if one may do something else to the variable, or take away more than once in a step.
fn added(program: &Program, thread: &Thread, loc: LocId) -> Option<Vec<i128>> {
    let sections = in_sections(thread);
    let of = |(pc, op): (usize, &Op)| {
        let Some(access) = op.access().filter(|access| program.cells(&access.addr).contains(&loc.index())) else {
            return Some(0);
        };
        match (&access.addr, &access.change) {
            (Addr::Fixed(_), None) => Some(0),
            (Addr::Fixed(_), Some(Change::Add(Expr::Const(by)))) if access.kind == AccessKind::Rmw => {
                (*by >= 0 || !sections[pc] || !comes_back(thread, pc)).then_some(*by)
            }
            _ => None,
        }
    };
    thread.code.iter().map(|instr| &instr.op).enumerate().map(of).collect()
}

/// For each instruction whether it may be in an atomic section.
fn in_sections(thread: &Thread) -> Vec<bool> {
    let mut inside = vec![false; thread.code.len()];
    let begins = (0..inside.len()).filter(|pc| matches!(thread.code[*pc].op, Op::AtomicBegin)).collect::<Vec<_>>();
    begins.into_iter().for_each(|begin| walk(thread, begin, &mut inside));
    inside
}

/// Whether a section may come to an instruction twice.
fn comes_back(thread: &Thread, pc: usize) -> bool {
    let mut met = vec![false; thread.code.len()];
    walk(thread, pc, &mut met);
    met[pc]
}

/// All that can follow an instruction before the section ends.
fn walk(thread: &Thread, from: usize, met: &mut [bool]) {
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        if matches!(thread.code[at].op, Op::AtomicEnd) {
            continue;
        }
        for next in successors(&thread.code[at].op, InstrId::new(at)) {
            if !std::mem::replace(&mut met[next.index()], true) {
                todo.push(next.index());
            }
        }
    }
}

/// The registers that are read from the variable; nothing if one is an element of an array.
fn copies(thread: &Thread, loc: LocId) -> Option<Vec<RegId>> {
    let accesses = thread.code.iter().filter_map(|instr| instr.op.access());
    let own = accesses.filter(|access| matches!(&access.addr, Addr::Fixed(at) if *at == loc));
    let copy = |dst: &Place| match dst {
        Place::Reg(register) => Some(*register),
        Place::Elem { .. } => None,
    };
    own.into_iter().filter_map(|access| access.dst.as_ref()).map(copy).collect()
}

/// Whether an instruction sees no difference between values of copies from the bound on.
fn is_blind(op: &Op, copies: &[RegId], cap: i128) -> bool {
    let element = |place: &Place| matches!(place, Place::Elem { .. }) && touches(place, copies);
    let has = |of: &dyn Fn(&Place) -> bool, expr: &Expr<Place>| {
        let mut found = false;
        expr.for_each_var(&mut |place| found |= of(place));
        found
    };
    let own = |place: &Place| touches(place, copies);
    let index = match op.addr() {
        Some(Addr::Indexed { index, .. }) => has(&own, index),
        _ => false,
    };
    let operands = op.operands();
    !index
        && !op.dst().is_some_and(element)
        && operands.iter().all(|operand| !has(&element, operand) && only_compared(operand, &own, cap))
}

/// Whether a place is a copy, may be one, or is found by one.
fn touches(place: &Place, copies: &[RegId]) -> bool {
    match place {
        Place::Reg(register) => copies.contains(register),
        Place::Elem { base, len, index } => {
            let mut found = copies.iter().any(|copy| (base.0..base.0 + len).contains(&copy.0));
            index.for_each_var(&mut |inner| found |= touches(inner, copies));
            found
        }
    }
}

/// Whether an expression does nothing with its `own` variables but compare them with constants below the bound.
fn only_compared<V>(expr: &Expr<V>, own: &impl Fn(&V) -> bool, cap: i128) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::Var(var) => !own(var),
        Expr::Unary(_, arg) => only_compared(arg, own, cap),
        Expr::Binary(op, left, right) => {
            let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
            let direct = match (&**left, &**right) {
                (Expr::Var(var), Expr::Const(with)) | (Expr::Const(with), Expr::Var(var)) => own(var) && *with < cap,
                _ => false,
            };
            compares && direct || only_compared(left, own, cap) && only_compared(right, own, cap)
        }
    }
}

/// What a thread has added before each instruction; nothing if that differs between paths.
fn weights(thread: &Thread, added: &[i128]) -> Option<Vec<i128>> {
    let mut weights: Vec<Option<i128>> = vec![None; added.len()];
    let mut todo = vec![(0, 0)];
    while let Some((pc, weight)) = todo.pop() {
        if weights[pc].is_some_and(|known| known != weight) {
            return None;
        }
        if weights[pc].replace(weight).is_none() {
            let next = successors(&thread.code[pc].op, InstrId::new(pc));
            todo.extend(next.map(|next| (next.index(), weight + added[pc])));
        }
    }
    Some(weights.into_iter().map(Option::unwrap_or_default).collect())
}

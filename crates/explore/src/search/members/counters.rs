//! Shared variables that grow with the number of threads, because they count: readers in a lock, calls under way in a driver.
//!
//! A *counter* is changed by `fetch_add` of constants only, and what is read from it is only compared with constants. Its values from some `cap` on, above all
//! constants that it and its copies are compared with, are one: "at least `cap`". No comparison tells them apart, so for registers that is exact. For the
//! counter itself a step that takes something away leads from "at least `cap`" to every value that it may have then.
//!
//! **Argument.** From a value v ≥ cap a step is taken with cap, cap + 1, … up to cap + `drop`, where `drop` is all that a step can take away. A larger v behaves like the last of
//! these: whatever is read from the counter in the step is at least `cap` for both, and so is what is left. A step executes each instruction once, outside of loops in atomic
//! sections; a variable that such a loop takes away from is no counter. Values above `cap` become `cap` afterwards, and those of
//! registers that copy the counter as well, wherever else they come from: nothing is done with these registers but comparisons with smaller constants.
//!
//! **Weights.** Along all paths to an instruction a thread has added the same to the counter (a *weight*; else there are none). Since `fetch_add` is performed when it is
//! passed (there are no counters where loads or such accesses are deferred), the counter is always its initial value plus the weights of all threads. So where its value is known exactly
//! and no member's weight is negative, members whose weights come to more than what the other threads leave over cannot be there together.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Addr, BinOp, Change, Expr, InstrId, LocalExpr, Op, Place, Property, StateVar, Thread, Ty};

use crate::criteria::shadow::Marks;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;

/// A counter.
pub(crate) struct Counter {
    pub loc: usize,
    /// From here on values are not told apart.
    pub cap: i128,
    /// What a step can take away at most.
    pub drop: i128,
    /// For each thread the registers that hold copies.
    copies: Vec<Vec<u32>>,
    /// For each thread and instruction what the thread has added before it; none if that is not the same on all paths, or a member may have taken away.
    weights: Option<Vec<Vec<i128>>>,
    init: i128,
}

/// The counters of a program; `slack` raises their caps.
pub(crate) fn counters(
    m: &Machine<'_>,
    family: &[Option<usize>],
    property: Option<&Property>,
    slack: i128,
) -> Vec<Counter> {
    if m.loads_wait {
        return Vec::new();
    }
    (0..m.program.locations.len()).filter_map(|loc| Counter::new(m, family, property, loc, slack)).collect()
}

impl Counter {
    fn new(
        m: &Machine<'_>,
        family: &[Option<usize>],
        property: Option<&Property>,
        loc: usize,
        slack: i128,
    ) -> Option<Self> {
        let (program, location) = (m.program, &m.program.locations[loc]);
        let added: Vec<Vec<Option<i128>>> =
            program.threads.iter().map(|thread| added(m, thread, loc)).collect::<Option<_>>()?;
        let repeats = program.threads.iter().zip(&added).any(|(thread, added)| repeats(thread, added));
        if repeats {
            return None;
        }
        let grows = |thread: usize| family[thread].is_some() && added[thread].iter().flatten().any(|by| *by > 0);
        if location.ty != Ty::Int || !(0..family.len()).any(grows) {
            return None;
        }
        let copies: Vec<Vec<u32>> =
            program.threads.iter().map(|thread| copies(m, thread, loc)).collect::<Option<_>>()?;
        let mut largest = location.init.max(0);
        for (at, (thread, copies)) in program.threads.iter().zip(&copies).enumerate() {
            thread.code.iter().try_for_each(|instr| compared(&instr.op, copies, &mut largest))?;
            if m.shadows.as_ref().is_some_and(|shadows| hands_on(thread, &shadows.threads[at], copies)) {
                return None;
            }
        }
        if let Some(Property::Invariant(invariant)) = property {
            let own = |var: &StateVar| match var {
                StateVar::Loc(at) => at.index() == loc,
                StateVar::Reg(thread, reg) => copies[thread.index()].contains(&reg.0),
                StateVar::At(_) => false,
            };
            in_comparisons(&invariant.cond, &own, &mut largest)?;
        }
        let changes = || added.iter().flatten().flatten();
        let drop = changes().filter(|by| **by < 0).map(|by| -by).sum();
        let weights: Option<Vec<Vec<i128>>> =
            program.threads.iter().zip(&added).map(|(thread, added)| weights(thread, added)).collect();
        let fit = |weights: &Vec<Vec<i128>>| {
            weights.iter().zip(family).all(|(weights, family)| family.is_none() || weights.iter().all(|w| *w >= 0))
        };
        let cap = largest + 1 + slack;
        Some(Self { loc, cap, drop, copies, weights: weights.filter(fit), init: location.init })
    }

    /// Whether values of a state's counter are not told apart.
    pub fn is_full(&self, state: &State) -> bool {
        state.memory[self.loc] >= self.cap
    }

    /// Forgets what is not told apart.
    pub fn clamp(&self, m: &Machine<'_>, state: &mut State, thread: usize) {
        let value = &mut state.memory[self.loc];
        *value = (*value).min(self.cap);
        for reg in &self.copies[thread] {
            let value = &mut state.regs[m.threads[thread].base + *reg as usize];
            *value = (*value).min(self.cap);
        }
    }

    /// What threads in no family leave over for the weights of all members, if there are weights; at least so much if the counter is full.
    pub fn left_over(&self, state: &State, family: &[Option<usize>]) -> Option<i128> {
        let weights = self.weights.as_ref()?;
        let fixed = (0..family.len()).filter(|thread| family[*thread].is_none());
        let fixed: i128 = fixed.map(|thread| weights[thread][state.threads[thread].pc as usize]).sum();
        Some(state.memory[self.loc] - self.init - fixed)
    }

    /// The weight of a thread at an instruction; 0 if there are none.
    pub fn weight(&self, thread: usize, pc: u32) -> i128 {
        self.weights.as_ref().map_or(0, |weights| weights[thread][pc as usize])
    }

    /// The largest weight of a member, if one that is in no block has none.
    pub fn of_blocks(&self, m: &Machine<'_>, family: &[Option<usize>]) -> Option<i128> {
        let (weights, shadows) = (self.weights.as_ref()?, m.shadows.as_ref()?);
        let members = || (0..family.len()).filter(|thread| family[*thread].is_some());
        let light = |thread: usize| {
            let outside = weights[thread].iter().zip(&shadows.threads[thread].inside).filter(|(_, inside)| !**inside);
            outside.into_iter().all(|(weight, _)| *weight == 0)
        };
        members().all(light).then(|| members().flat_map(|thread| weights[thread].iter().copied()).max())?
    }
}

/// Whether a unit of a thread hands on a copy, which is compared with the serial run's; see `shadow`.
fn hands_on(thread: &Thread, marks: &Marks, copies: &[u32]) -> bool {
    let ends = |pc: usize, op: &Op| match op {
        Op::BlockEnd(_) => true,
        op => !marks.inside[pc] && (op.access().is_some() || matches!(op, Op::AtomicEnd)),
    };
    let ends = thread.code.iter().enumerate().filter(|(pc, instr)| ends(*pc, &instr.op));
    ends.into_iter().any(|(pc, _)| marks.handed_on[pc].iter().any(|reg| copies.contains(reg)))
}

/// For each instruction what it adds, if it is an access to the counter that changes it; nothing if something else may be done to it.
fn added(m: &Machine<'_>, thread: &Thread, loc: usize) -> Option<Vec<Option<i128>>> {
    let of = |op: &Op| {
        let Some(access) = op.access().filter(|access| m.program.cells(&access.addr).contains(&loc)) else {
            return Some(None);
        };
        if !matches!(access.addr, Addr::Fixed(_)) {
            return None;
        }
        match &access.change {
            None => Some(None),
            Some(Change::Add(Expr::Const(by))) => Some(Some(*by)),
            _ => None,
        }
    };
    thread.code.iter().map(|instr| of(&instr.op)).collect()
}

/// Whether one step may take away several times at the same place: in a loop of an atomic section.
fn repeats(thread: &Thread, added: &[Option<i128>]) -> bool {
    let begins = |pc: &usize| matches!(thread.code[*pc].op, Op::AtomicBegin);
    let mut inside = vec![false; added.len()];
    { (0..added.len()).filter(begins) }.for_each(|begin| reach(thread, begin, &mut inside));
    let takes = (0..added.len()).filter(|pc| inside[*pc] && added[*pc].is_some_and(|by| by < 0));
    takes.into_iter().any(|pc| {
        let mut reached = vec![false; added.len()];
        reach(thread, pc, &mut reached);
        reached[pc]
    })
}

/// What a thread comes to from an instruction without leaving the section that it is in.
fn reach(thread: &Thread, from: usize, reached: &mut [bool]) {
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if matches!(thread.code[at].op, Op::AtomicEnd) {
            continue;
        }
        let next = successors(&thread.code[at].op, InstrId::new(at)).map(InstrId::index);
        work.extend(next.filter(|next| !std::mem::replace(&mut reached[*next], true)));
    }
}

/// The registers that accesses to the counter write; nothing if one of them is an element of an array.
fn copies(m: &Machine<'_>, thread: &Thread, loc: usize) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for access in thread.code.iter().filter_map(|instr| instr.op.access()) {
        if !m.program.cells(&access.addr).contains(&loc) {
            continue;
        }
        match &access.dst {
            None => {}
            Some(Place::Reg(reg)) => found.push(reg.0),
            Some(Place::Elem { .. }) => return None,
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// Whether an instruction does nothing with copies but compare them with constants, of which the largest is noted.
fn compared(op: &Op, copies: &[u32], largest: &mut i128) -> Option<()> {
    let own = |place: &Place| mentions(place, copies);
    // An element is no copy, even if it is compared with a constant: a copy as its index says which one it is.
    let elements = |operand: &&LocalExpr| {
        let mut found = false;
        operand.for_each_var(&mut |place| found |= matches!(place, Place::Elem { .. }) && own(place));
        found
    };
    if op.operands().iter().any(elements) {
        return None;
    }
    op.operands().into_iter().try_for_each(|operand| in_comparisons(operand, &own, largest))?;
    let within = |index: &LocalExpr| in_comparisons(index, &own, largest).is_some() && !reads(index, copies);
    let mut indices = Vec::new();
    if let Some(Addr::Indexed { index, .. }) = op.addr() {
        indices.push(index);
    }
    if let Some(Place::Elem { base, len, index }) = op.dst() {
        let range = base.0..base.0 + len;
        if copies.iter().any(|copy| range.contains(copy)) {
            return None;
        }
        indices.push(index);
    }
    indices.into_iter().all(within).then_some(())
}

/// Whether a place may be a copy.
fn mentions(place: &Place, copies: &[u32]) -> bool {
    match place {
        Place::Reg(reg) => copies.contains(&reg.0),
        Place::Elem { base, len, index } => {
            copies.iter().any(|copy| (base.0..base.0 + len).contains(copy)) || reads(index, copies)
        }
    }
}

fn reads(expr: &LocalExpr, copies: &[u32]) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |place| found |= mentions(place, copies));
    found
}

/// Whether variables of an expression that are its `own` are only compared with constants.
fn in_comparisons<V>(expr: &Expr<V>, own: &impl Fn(&V) -> bool, largest: &mut i128) -> Option<()> {
    match expr {
        Expr::Const(_) => Some(()),
        Expr::Var(var) => (!own(var)).then_some(()),
        Expr::Unary(_, arg) => in_comparisons(arg, own, largest),
        Expr::Binary(op, left, right) => {
            let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
            match (&**left, &**right) {
                (Expr::Var(var), Expr::Const(with)) | (Expr::Const(with), Expr::Var(var)) if compares && own(var) => {
                    *largest = (*largest).max(*with);
                    Some(())
                }
                _ => {
                    in_comparisons(left, own, largest)?;
                    in_comparisons(right, own, largest)
                }
            }
        }
    }
}

/// What a thread has added before each instruction, if that is the same on all paths; 0 where it never comes to.
fn weights(thread: &Thread, added: &[Option<i128>]) -> Option<Vec<i128>> {
    let mut known: Vec<Option<i128>> = vec![None; thread.code.len()];
    let mut work = vec![(0, 0)];
    while let Some((pc, weight)) = work.pop() {
        match known[pc] {
            Some(old) if old != weight => return None,
            Some(_) => continue,
            None => known[pc] = Some(weight),
        }
        let after = weight + added[pc].unwrap_or(0);
        work.extend(successors(&thread.code[pc].op, InstrId::new(pc)).map(|next| (next.index(), after)));
    }
    Some(known.into_iter().map(|weight| weight.unwrap_or(0)).collect())
}

//! Threads that differ in their names only: [`Identities`].
//!
//! Thread codes are compared instruction by instruction. They may differ in constants only, and wherever they differ it is by the same *identity*: one
//! value per thread, all different (`self + 1`). A renaming of threads maps each identity to the identity of the renamed thread, wherever one is held.
//! For this to commute with every step, identities may only be copied, stored, swapped and compared for equality, with each other or with
//! constants that are nobody's identity. Which registers and locations hold identities is computed here, by following copies in both
//! directions; anything else done with them, or a shared address that differs from thread to thread, means that there are none.

use super::same_registers;
use crate::access::{Access, Addr, Change};
use crate::expr::{BinOp, Expr};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program};

/// What renaming threads does to values.
#[derive(Clone, Debug)]
pub struct Identities {
    /// Each thread's identity; empty if the code does not mention one.
    pub values: Vec<i128>,
    /// Which registers (of any thread) hold identities.
    pub registers: Vec<bool>,
    /// Which locations do.
    pub locations: Vec<bool>,
}

impl Identities {
    /// Those of a program whose threads are the same but for them: then every permutation of the threads is an automorphism.
    pub fn of(program: &Program) -> Option<Self> {
        let (first, others) = program.threads.split_first()?;
        let alike = |thread| same_registers(first, thread) && thread.code.len() == first.code.len();
        if program.setup.is_some() || !others.iter().all(alike) {
            return None;
        }
        let mut roles = Roles::new(program, identities(program)?);
        roles.follow_copies();
        let Roles { identities: values, registers, locations, .. } = roles.are_kept().then_some(roles)?;
        Some(Self { values, registers, locations })
    }

    /// What becomes of an identity if thread `t` becomes `renaming[t]`; other values stay.
    pub fn renamed(&self, value: i128, renaming: &[u8]) -> i128 {
        match self.values.iter().position(|id| *id == value) {
            Some(thread) => self.values[usize::from(renaming[thread])],
            None => value,
        }
    }
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

/// Stands for a thread's own identity in the code that is looked at. No other value of a program is this one.
pub const OWN: i128 = i128::MIN + 1;

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
            End::Addr(addr) => self.program.cells(addr).any(|loc| self.locations[loc]),
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
            End::Addr(addr) => self.program.cells(addr).for_each(|loc| self.locations[loc] = true),
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

//! Which words an access may touch, whatever the bounds of loops are.
//!
//! Each register and each word of memory has one range for the whole program: what is ever assigned to it, or stored there. Ranges grow until they
//! are enough; those that keep growing become everything.
//!
//! **Invariant:** over-approximates every execution. A value that a load returns was computed from values of other loads, without a circle (axiom 7), so
//! what is closed under all instructions has all of them. A computation that goes wrong gives 0, which every range has.

use std::collections::BTreeSet;

use cyrano_ir::dataflow::writes;
use cyrano_ir::{Access, Addr, BinOp, Change, Expr, InstrId, LocId, LocalExpr, Op, Place, Program, Thread, ThreadId};

use crate::execute::range::Range;

/// The rounds after which what still grows becomes everything.
const ROUNDS: usize = 12;

/// The words that each access may touch.
pub(crate) struct Aliases {
    touched: Vec<Vec<BTreeSet<LocId>>>,
}

impl Aliases {
    /// Of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let with_zero = |value| Range::of(vec![0, value]);
        let registers = |thread: &Thread| thread.registers.iter().map(|register| with_zero(register.init)).collect();
        let mut flow = Flow {
            program,
            registers: program.threads.iter().map(registers).collect(),
            words: program.locations.iter().map(|location| with_zero(location.init)).collect(),
            grown: true,
            widens: false,
        };
        for round in 0.. {
            if !std::mem::take(&mut flow.grown) {
                break;
            }
            flow.widens = round >= ROUNDS;
            for (thread, code) in program.threads.iter().enumerate() {
                code.code.iter().for_each(|instr| flow.instruction(thread, &instr.op));
            }
        }
        let of_thread = |(thread, code): (usize, &Thread)| {
            let touched = |op: &Op| op.access().map_or_else(BTreeSet::new, |access| flow.touched(thread, &access.addr));
            code.code.iter().map(|instr| touched(&instr.op)).collect()
        };
        Self { touched: program.threads.iter().enumerate().map(of_thread).collect() }
    }

    /// What an instruction may touch.
    pub(crate) fn touched(&self, thread: ThreadId, pc: InstrId) -> &BTreeSet<LocId> {
        &self.touched[thread.index()][pc.index()]
    }
}

/// The ranges so far.
struct Flow<'p> {
    program: &'p Program,
    registers: Vec<Vec<Range>>,
    words: Vec<Range>,
    grown: bool,
    widens: bool,
}

impl Flow<'_> {
    fn instruction(&mut self, thread: usize, op: &Op) {
        let value = match op {
            Op::Assign { value, .. } => self.eval(thread, value),
            Op::Choose { from, .. } => Range::of(from.clone()),
            Op::Access(access) => self.access(thread, access),
            _ => Range::all(),
        };
        for register in writes(op).into_iter().flat_map(|write| write.registers()) {
            let slot = &mut self.registers[thread][register.index()];
            self.grown |= grow(slot, &value, self.widens);
        }
    }

    /// Stores what an access may store; what it may read.
    fn access(&mut self, thread: usize, access: &Access) -> Range {
        let touched = self.touched(thread, &access.addr);
        let read = touched.iter().fold(Range::none(), |all, word| all.join(&self.words[word.index()]));
        let written = access.change.as_ref().map(|change| match change {
            Change::Set(value) | Change::Cas { new: value, .. } => self.eval(thread, value),
            Change::Add(more) => read.binary(BinOp::Add, &self.eval(thread, more)),
        });
        for (word, value) in touched.iter().zip(written.iter().cycle()) {
            self.grown |= grow(&mut self.words[word.index()], value, self.widens);
        }
        read
    }

    fn touched(&self, thread: usize, addr: &Addr) -> BTreeSet<LocId> {
        let (array, index) = match addr {
            Addr::Fixed(loc) => return BTreeSet::from([*loc]),
            Addr::Indexed { array, index } => (&self.program.arrays[array.index()], self.eval(thread, index)),
        };
        (0..array.len).filter(|at| index.contains(i128::from(*at))).map(|at| LocId(array.base.0 + at)).collect()
    }

    fn eval(&self, thread: usize, expr: &LocalExpr) -> Range {
        match expr {
            Expr::Const(value) => Range::one(*value),
            Expr::Var(Place::Reg(register)) => self.registers[thread][register.index()].clone(),
            Expr::Var(Place::Elem { base, len, .. }) => {
                let elements = &self.registers[thread][base.index()..base.index() + *len as usize];
                elements.iter().fold(Range::none(), |all, element| all.join(element))
            }
            Expr::Unary(op, arg) => self.eval(thread, arg).unary(*op),
            Expr::Binary(op, left, right) => self.eval(thread, left).binary(*op, &self.eval(thread, right)),
        }
    }
}

/// Joins a range with what is new; says whether it has grown.
fn grow(slot: &mut Range, value: &Range, widens: bool) -> bool {
    let joined = slot.join(value);
    let grown = joined != *slot;
    if grown {
        *slot = if widens { Range::all() } else { joined };
    }
    grown
}

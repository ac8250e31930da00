//! Transactional data that decides nothing holds one value.
//!
//! The criteria by conflicts look at which variables a transaction loads and stores, never at values. So (reduction `collapsed-data`,
//! for these criteria only, under models in which loads are performed in program order) every store to a transactional variable stores 0, and
//! variables start with 0, if nothing can tell the difference. What it brings: states that differ in data only are one, and each variable
//! holds one value, which `repeats` needs to keep queues of deferred stores short.
//!
//! *When nothing can tell.* A register is *tainted* where it may hold something computed from a loaded transactional variable. Then
//! - no tainted register is in a condition, an address, an index, or in what is stored to another location;
//! - no read-modify-write but an exchange touches a transactional variable, since others compare it or compute with it;
//! - a tainted register is an operand only of operators that have a result for every operand, so that no error depends on it.
//!
//! **Argument.** Take an execution of the program and run its threads in the same order, with the same choices, on the collapsed program.
//! By induction over the steps both are at the same instruction of every thread, untainted registers and other locations hold the same values, and
//! the same accesses have been performed: conditions, addresses, choices and errors depend on untainted registers alone. The same holds the
//! other way round. Which accesses may be performed next depends on kinds, locations and fences; dependencies on values order loads with what
//! follows them, which here stays in order anyway. So both programs have the same histories of memory events, and the criteria by conflicts are
//! about these. An expression that may fail is still computed, and its value thrown away (`e & 0`), so that errors stay.
//!
//! A counterexample is given back with the values of the program itself ([`mod@values`]), and is replayed like any other.

pub(crate) mod values;

use cyrano_engine::Cause;
use cyrano_ir::dataflow::{RegSet, expr_reads, tainted_before};
use cyrano_ir::{
    AccessKind, Addr, BinOp, Change, Expr, InstrId, LocalExpr, Op, Place, Program, Property, ThreadId, Ty, UnOp,
};
use cyrano_memory::Model;

use crate::semantics::machine::Machine;

/// What can be done about a program's data.
#[derive(Debug)]
pub(crate) enum Data {
    /// Every variable holds one value as it is, or values matter to the question.
    Plain,
    /// The program with one value for all data.
    Collapsed(Box<Program>),
    /// This instruction can tell values apart.
    Needed(ThreadId, InstrId),
}

/// Collapses the data of a program where the question allows it.
pub(crate) fn collapse(program: &Program, model: &Model, property: Option<&Property>) -> Data {
    let Some(Property::Transactions(criterion)) = property else { return Data::Plain };
    let in_order = [AccessKind::Load, AccessKind::Rmw].into_iter().all(|kind| model.reordering().keeps_all_after(kind));
    if program.has_calls() || !criterion.is_about_memory() || model.reordering().own_order || !in_order {
        return Data::Plain;
    }
    let data = is_data(program);
    if data
        .iter()
        .zip(crate::reductions::repeats::constant_variables(program))
        .all(|(data, constant)| !data || constant)
    {
        return Data::Plain;
    }
    match deciding(program, &data) {
        Some((thread, instr)) => Data::Needed(thread, instr),
        None => Data::Collapsed(Box::new(collapsed(program, &data))),
    }
}

/// For each location, whether it is a transactional variable.
fn is_data(program: &Program) -> Vec<bool> {
    let mut data = vec![false; program.locations.len()];
    program.transactional.iter().for_each(|loc| data[loc.index()] = true);
    data
}

/// Whether an address is one of data; none if it may be either.
fn touches(program: &Program, addr: &Addr, data: &[bool]) -> Option<bool> {
    let mut cells = program.cells(addr).map(|loc| data[loc]);
    let first = cells.next()?;
    cells.all(|other| other == first).then_some(first)
}

/// The first instruction that can tell what data holds.
fn deciding(program: &Program, data: &[bool]) -> Option<(ThreadId, InstrId)> {
    let timestamp = program.transactional.iter().any(|loc| program.location(*loc).ty == Ty::Timestamp);
    program.thread_ids().find_map(|id| {
        let thread = program.thread(id);
        let source = |op: &Op| {
            op.access_kind().is_some_and(AccessKind::reads)
                && op.addr().is_some_and(|addr| touches(program, addr, data) != Some(false))
        };
        let tainted = tainted_before(thread, source);
        let decides = |(pc, tainted): &(usize, RegSet)| {
            let op = &thread.code[*pc].op;
            Look { program, data, tainted }.decides(op)
                || timestamp && op.addr().is_some_and(|addr| touches(program, addr, data) != Some(false))
        };
        tainted.into_iter().enumerate().find(decides).map(|(pc, _)| (id, InstrId::new(pc)))
    })
}

/// One instruction, with the registers that are tainted before it.
struct Look<'a> {
    program: &'a Program,
    data: &'a [bool],
    tainted: &'a RegSet,
}

impl Look<'_> {
    /// Whether the instruction can tell what data holds, or may be about data and something else.
    fn decides(&self, op: &Op) -> bool {
        let about_data = match op.addr().map(|addr| touches(self.program, addr, self.data)) {
            Some(None) => return true,
            Some(Some(about_data)) => about_data,
            None => false,
        };
        if matches!(op.addr(), Some(Addr::Indexed { index, .. }) if self.reads(index))
            || op.dst().is_some_and(|dst| self.chosen_by_data(dst))
        {
            return true;
        }
        match op {
            Op::Assign { value, .. } => !self.total(value),
            Op::Access(access) if about_data && access.kind.writes() => {
                access.set().is_none_or(|value| !self.total(value))
            }
            _ => op.operands().into_iter().any(|operand| self.reads(operand)),
        }
    }

    fn reads(&self, expr: &LocalExpr) -> bool {
        let mut found = false;
        expr_reads(expr, &mut |reg| found |= self.tainted.contains(reg));
        found
    }

    fn chosen_by_data(&self, place: &Place) -> bool {
        matches!(place, Place::Elem { index, .. } if self.reads(index))
    }

    /// Whether tainted registers are operands of operators only that have a result for all operands.
    fn total(&self, expr: &LocalExpr) -> bool {
        match expr {
            Expr::Const(_) => true,
            Expr::Var(place) => !self.chosen_by_data(place),
            // Whether the right side is computed depends on the left one.
            Expr::Binary(BinOp::And | BinOp::Or, left, right) => self.total(left) && infallible(right),
            Expr::Binary(op, left, right) if never_fails(*op) => self.total(left) && self.total(right),
            Expr::Unary(UnOp::Not | UnOp::Wrap(_), arg) => self.total(arg),
            other => !self.reads(other),
        }
    }
}

fn never_fails(op: BinOp) -> bool {
    use BinOp::{And, BitAnd, BitOr, BitXor, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, BitAnd | BitOr | BitXor | Eq | Ne | Lt | Le | Gt | Ge | And | Or)
}

/// Whether an expression has a value whatever its registers hold.
fn infallible(expr: &LocalExpr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(Place::Reg(_)) => true,
        Expr::Var(Place::Elem { len, index, .. }) => {
            matches!(**index, Expr::Const(index) if (0..i128::from(*len)).contains(&index))
        }
        Expr::Unary(op, arg) => matches!(op, UnOp::Not | UnOp::Wrap(_)) && infallible(arg),
        Expr::Binary(op, left, right) => never_fails(*op) && infallible(left) && infallible(right),
    }
}

/// The value that all data has.
const VALUE: i128 = 0;

fn collapsed(program: &Program, data: &[bool]) -> Program {
    let mut collapsed = program.clone();
    for loc in &program.transactional {
        collapsed.locations[loc.index()].init = VALUE;
    }
    for instr in collapsed.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        let about_data = instr.op.addr().is_some_and(|addr| touches(program, addr, data) == Some(true));
        if let Some(Change::Set(value)) = instr.op.access_mut().and_then(|access| access.change.as_mut())
            && about_data
        {
            *value = forgotten(value);
        }
    }
    collapsed
}

/// The expression with its value thrown away.
fn forgotten(value: &LocalExpr) -> LocalExpr {
    match infallible(value) {
        true => Expr::Const(VALUE),
        false => Expr::binary(BinOp::BitAnd, value.clone(), Expr::Const(VALUE)),
    }
}

/// What a store always stores, as far as its text tells.
pub(crate) fn stored(value: &LocalExpr) -> Option<i128> {
    match value {
        Expr::Const(value) => Some(*value),
        Expr::Binary(BinOp::BitAnd, _, mask) if **mask == Expr::Const(VALUE) => Some(VALUE),
        _ => None,
    }
}

/// Why a queue was too short: if repeated stores to data can fill it without end, which instruction is to blame.
pub(crate) fn endless(
    machine: &Machine<'_>,
    property: Option<&Property>,
    bound: usize,
) -> (Cause, Vec<(ThreadId, InstrId)>) {
    let program = machine.program;
    if machine.limits_repeats {
        if let Data::Needed(thread, instr) = collapse(program, machine.model, property) {
            return (Cause::Repeated { bound, decides: true }, vec![(thread, instr)]);
        }
        if let Some(place) = first_variable(program) {
            return (Cause::Repeated { bound, decides: false }, vec![place]);
        }
    }
    (Cause::Deferred(bound), Vec::new())
}

/// The first store to transactional data that may change it.
fn first_variable(program: &Program) -> Option<(ThreadId, InstrId)> {
    let data = is_data(program);
    let changes = |op: &Op| {
        let writes = op.access_kind().is_some_and(AccessKind::writes);
        let addr = op.addr().filter(|addr| writes && touches(program, addr, &data) != Some(false))?;
        let value = op.access().and_then(|access| access.stored()).and_then(stored);
        Some(program.cells(addr).any(|loc| value != Some(program.locations[loc].init)))
    };
    program.thread_ids().find_map(|id| {
        let code = &program.thread(id).code;
        let at = code.iter().position(|instr| changes(&instr.op) == Some(true))?;
        Some((id, InstrId::new(at)))
    })
}

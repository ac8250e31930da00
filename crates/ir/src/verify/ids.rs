//! Invariants 3, 4, 5, 7, 9, 13 and 14: everything that is named exists and is not a gap, threads end, choices are not empty, headers head something, accesses are whole.

use super::Errors;
use crate::access::{Access, Addr};
use crate::cond::{FinalVar, Point, Property, StateVar};
use crate::fence::Fence;
use crate::guards::{ALIVE, FREED};
use crate::ids::{ArrayId, InstrId, LocId, RegId};
use crate::op::Op;
use crate::program::{LocalExpr, OwnOrder, Place, Program, Thread, Ty};

/// Checks arrays, observables and the conditions of checks.
pub(super) fn check_tables(program: &Program, errors: &mut Errors) {
    for array in &program.arrays {
        if !fits(array.base.0, array.len, program.locations.len()) {
            let (name, base, len) = (&array.name, array.base, array.len);
            let message = format!("array `{name}` ({len} from {base}) exceeds the locations");
            errors.push(message);
        }
    }
    for loc in &program.transactional {
        match program.locations.get(loc.index()) {
            None => errors.push(format!("transactional variable {loc} does not exist")),
            Some(location) if location.ty == Ty::Gap => errors.push(format!("transactional variable {loc} is a gap")),
            Some(location) if location.ty == Ty::Header => {
                errors.push(format!("transactional variable {loc} is a header"));
            }
            Some(_) => {}
        }
    }
    check_headers(program, errors);
    if let Some(setup) = program.setup.filter(|setup| setup.index() >= program.threads.len()) {
        errors.push(format!("setup: there is no thread {setup}"));
    }
    for (at, family) in program.families.iter().enumerate() {
        let thread = family.thread;
        if thread.index() >= program.threads.len() || program.setup == Some(thread) {
            errors.push(format!("family `{}`: there is no such thread {thread}", family.name));
        }
        if program.families[..at].iter().any(|other| other.thread == thread) {
            errors.push(format!("family `{}`: thread {thread} stands for two families", family.name));
        }
    }
    program.orders.iter().for_each(|order| check_order(program, order, errors));
    for observable in &program.observed {
        if let Some(problem) = missing(program, observable.var) {
            errors.push(format!("observed `{}`: {problem}", observable.name));
        }
    }
    for point in &program.points {
        check_point(program, point, errors);
    }
    for check in &program.checks {
        check_property(program, &check.property, errors);
    }
}

/// Checks that headers stand in front of words.
fn check_headers(program: &Program, errors: &mut Errors) {
    let words = program.locations.iter().enumerate().filter(|(_, location)| location.ty == Ty::Header);
    for (at, header) in words {
        let next = program.locations.get(at + 1).map(|next| next.ty);
        if next.is_none_or(|next| matches!(next, Ty::Gap | Ty::Header)) {
            errors.push(format!("the header `{}` stands in front of nothing", header.name));
        }
        if ![ALIVE, FREED].contains(&header.init) {
            errors.push(format!("the header `{}` is neither alive nor freed", header.name));
        }
        if let Some(order) = program.orders.first() {
            errors.push(format!("an order for `{}`, but `{}` is a header", order.model, header.name));
        }
    }
}

/// Checks that an order fits the code: one list per instruction, of earlier ones, ascending; and no jump back but right behind the end of a transaction.
fn check_order(program: &Program, order: &OwnOrder, errors: &mut Errors) {
    let fits = order.before.len() == program.threads.len()
        && order.before.iter().zip(&program.threads).all(|(before, thread)| before.len() == thread.code.len());
    let lists = || order.before.iter().flat_map(|thread| thread.iter().enumerate());
    let earlier = |(at, before): (usize, &Vec<InstrId>)| {
        before.is_sorted_by(|a, b| a < b) && before.last().is_none_or(|last| last.index() < at)
    };
    if !fits || !lists().all(earlier) {
        errors.push(format!("the order for `{}` does not fit the code", order.model));
    }
    for thread in &program.threads {
        let back = thread.code.iter().enumerate().any(|(pc, instr)| match &instr.op {
            Op::Jump(to) => to.index() <= pc && !(pc > 0 && matches!(thread.code[pc - 1].op, Op::Transaction(_))),
            Op::Branch { then_to, else_to, .. } => then_to.index() <= pc || else_to.index() <= pc,
            _ => false,
        });
        if back {
            errors.push(format!("thread `{}` jumps back, so it cannot have an order of its own", thread.name));
        }
    }
}

/// Checks that the instructions of a point exist, and ascend.
fn check_point(program: &Program, point: &Point, errors: &mut Errors) {
    let code = program.threads.get(point.thread.index()).map_or(0, |thread| thread.code.len());
    let exists = point.places.last().is_none_or(|last| last.index() < code);
    if !exists || !point.places.is_sorted_by(|a, b| a < b) {
        errors.push(format!("the point `{}` does not fit the code of {}", point.label, point.thread));
    }
}

fn check_property(program: &Program, property: &Property, errors: &mut Errors) {
    match property {
        Property::Final { cond, text, .. } => cond.for_each_var(&mut |var| {
            if let Some(problem) = missing(program, *var) {
                errors.push(format!("check `{text}`: {problem}"));
            }
        }),
        Property::Invariant(invariant) => invariant.cond.for_each_var(&mut |var| {
            let problem = match *var {
                StateVar::At(point) => {
                    (point.index() >= program.points.len()).then(|| format!("there is no point {point}"))
                }
                var => var.value().and_then(|var| missing(program, var)),
            };
            if let Some(problem) = problem {
                errors.push(format!("check `{}`: {problem}", invariant.text));
            }
        }),
        Property::Observations(allowed) => {
            let columns = program.observed.len();
            if let Some(row) = allowed.iter().find(|row| row.len() != columns) {
                errors.push(format!("check observations: an outcome of {} values for {columns} columns", row.len()));
            }
        }
        Property::Assertions
        | Property::Transactions(_)
        | Property::Progress(_)
        | Property::Live(_)
        | Property::Structure(_)
        | Property::CommitAtomicity
        | Property::Races => {}
    }
}

/// Checks the registers and the code of one thread.
pub(super) fn check_thread(program: &Program, thread: &Thread, errors: &mut Errors) {
    for register in thread.registers.iter().filter(|register| matches!(register.ty, Ty::Gap | Ty::Header)) {
        let what = if register.ty == Ty::Gap { "gap" } else { "header" };
        errors.push(format!("register `{}` is a {what}", register.name));
    }
    match thread.code.last() {
        None => errors.push("the thread has no code"),
        Some(last) => {
            if !matches!(last.op, Op::Halt | Op::Jump(_) | Op::Branch { .. }) {
                let message = "the last instruction falls through the end of the code";
                errors.push_at(thread.code.len() - 1, message);
            }
        }
    }
    for (pc, instr) in thread.code.iter().enumerate() {
        let mut problems = Problems { program, thread, found: Vec::new() };
        problems.op(&instr.op);
        for problem in problems.found {
            errors.push_at(pc, problem);
        }
    }
}

/// What is wrong with one instruction.
struct Problems<'a> {
    program: &'a Program,
    thread: &'a Thread,
    found: Vec<String>,
}

impl Problems<'_> {
    fn op(&mut self, op: &Op) {
        match op {
            Op::Invoke { method, args } if args.len() != method.arity() => {
                self.found.push(format!("{} arguments for `{}`", args.len(), method.name()));
            }
            Op::Choose { from, .. } if from.is_empty() => {
                self.found.push("a choice from no values".into());
            }
            Op::Fence(Fence::Named { name, at: Some(at) }) => {
                self.location(*at);
                if name.name() != "synchronize_srcu" {
                    self.found.push(format!("a `{name}` is not about a location"));
                }
            }
            Op::Jump(target) => self.target(*target),
            Op::Branch { then_to, else_to, .. } => {
                self.target(*then_to);
                self.target(*else_to);
            }
            _ => {}
        }
        self.found.extend(op.access().and_then(Access::problem));
        op.dst().into_iter().for_each(|dst| self.place(dst));
        match op.addr() {
            Some(Addr::Fixed(loc)) => self.location(*loc),
            Some(Addr::Indexed { array, index }) => {
                self.array(*array);
                self.expr(index);
            }
            None => {}
        }
        op.operands().into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &LocalExpr) {
        expr.for_each_var(&mut |place| self.place(place));
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Reg(reg) => self.registers(*reg, 1),
            Place::Elem { base, len, index } => {
                self.registers(*base, *len);
                self.expr(index);
            }
        }
    }

    fn registers(&mut self, base: RegId, len: u32) {
        if fits(base.0, len, self.thread.registers.len()) {
            return;
        }
        self.found.push(if len == 1 {
            format!("there is no register {base}")
        } else {
            format!("the local array of {len} from {base} exceeds the registers")
        });
    }

    fn location(&mut self, loc: LocId) {
        match self.program.locations.get(loc.index()) {
            None => self.found.push(format!("there is no location {loc}")),
            Some(location) if location.ty == Ty::Gap => self.found.push(format!("location {loc} is a gap")),
            Some(_) => {}
        }
    }

    fn array(&mut self, array: ArrayId) {
        if array.index() >= self.program.arrays.len() {
            self.found.push(format!("there is no array {array}"));
        }
    }

    fn target(&mut self, target: InstrId) {
        if target.index() >= self.thread.code.len() {
            self.found.push(format!("there is no instruction {target}"));
        }
    }
}

/// What is missing for a variable of a final state, if anything is.
fn missing(program: &Program, var: FinalVar) -> Option<String> {
    match var {
        FinalVar::Loc(loc) => match program.locations.get(loc.index()) {
            None => Some(format!("there is no location {loc}")),
            Some(location) => (location.ty == Ty::Gap).then(|| format!("location {loc} is a gap")),
        },
        FinalVar::Reg(thread, reg) => match program.threads.get(thread.index()) {
            None => Some(format!("there is no thread {thread}")),
            Some(owner) if reg.index() < owner.registers.len() => None,
            Some(_) => Some(format!("{thread} has no register {reg}")),
        },
    }
}

/// Whether `base..base + len` lies within a table of `size` entries; an empty run may stand at its end.
fn fits(base: u32, len: u32, size: usize) -> bool {
    u64::from(base) + u64::from(len) <= size as u64
}

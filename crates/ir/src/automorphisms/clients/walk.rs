//! The automorphism itself: the codes of threads, walked in pairs.

use super::Calls;
use crate::automorphisms::Pairs;
use crate::dataflow::past_jumps;
use crate::{Access, AccessKind, Addr, Expr, InstrId, LocalExpr, Location, Method, Op, Place, Program, Thread, reply};

/// Whether renaming threads, variables and values like this changes nothing.
pub(super) fn is_automorphism(
    program: &Program,
    calls: &Calls,
    thread: &dyn Fn(usize) -> usize,
    variable: &dyn Fn(usize) -> usize,
    value: &dyn Fn(i128) -> i128,
) -> bool {
    let mut locations = Pairs::new(program.locations.len());
    let variables = program.transactional.len();
    let transactional = |n: usize| program.transactional[n].index();
    if !(0..variables).all(|n| locations.add(transactional(n), transactional(variable(n))).is_some()) {
        return false;
    }
    for from in 0..program.threads.len() {
        let to = thread(from);
        let registers = Pairs::new(program.threads[from].registers.len());
        let mut walk = SymmetryWalk { program, calls, from, to, variable, value, locations: &mut locations, registers };
        if walk.walk().is_none() {
            return false;
        }
    }
    let alike = |(a, b): (usize, usize)| {
        let (a, b) = (&program.locations[a], &program.locations[b]);
        a.ty == b.ty && a.init == b.init
    };
    let kept = |(location, holds): (&Location, &bool)| !holds || value(location.init) == location.init;
    if !program.locations.iter().zip(&calls.locations).all(kept) {
        return false;
    }
    locations.complete().is_some_and(|map| map.into_iter().enumerate().all(alike))
}

fn constant(expr: &LocalExpr) -> Option<i128> {
    match expr {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}

/// A walk through the codes of two threads in pairs.
struct SymmetryWalk<'a> {
    program: &'a Program,
    calls: &'a Calls,
    from: usize,
    to: usize,
    variable: &'a dyn Fn(usize) -> usize,
    value: &'a dyn Fn(i128) -> i128,
    locations: &'a mut Pairs,
    registers: Pairs,
}

impl SymmetryWalk<'_> {
    fn walk(&mut self) -> Option<()> {
        let (one, other) = (&self.program.threads[self.from], &self.program.threads[self.to]);
        (one.code.len() == other.code.len() && one.registers.len() == other.registers.len()).then_some(())?;
        let first = self.calls.starts[self.from][0];
        let chooses = |thread: &Thread| thread.code[..first].iter().map(|i| i.op.clone()).collect::<Vec<_>>();
        (chooses(one) == chooses(other)).then_some(())?;
        let mut code = Pairs::new(one.code.len());
        let mut work: Vec<(usize, usize)> = self.paired_calls()?;
        let mut done = vec![false; one.code.len()];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (past_jumps(&one.code, a), past_jumps(&other.code, b));
            code.add(a, b)?;
            if a < first || b < first {
                (a == b).then_some(())?;
            } else if !std::mem::replace(&mut done[a], true) {
                work.extend(self.instruction(a, b)?);
            }
        }
        let registers = std::mem::replace(&mut self.registers, Pairs::new(0)).complete()?;
        let alike = |(a, b): (usize, usize)| {
            let holds = self.calls.registers[self.from][a];
            let (a, b) = (&one.registers[a], &other.registers[b]);
            a.ty == b.ty && a.init == b.init && (!holds || (self.value)(a.init) == a.init)
        };
        registers.into_iter().enumerate().all(alike).then_some(())
    }

    /// Which call of the other thread each call is renamed to.
    fn paired_calls(&self) -> Option<Vec<(usize, usize)>> {
        let call = |thread: usize, pc: usize| match &self.program.threads[thread].code[pc].op {
            Op::Invoke { method, args } => {
                let args: Option<Vec<i128>> = args.iter().map(constant).collect();
                Some((*method, args?))
            }
            _ => None,
        };
        let ends = |thread: usize| {
            let starts = self.calls.starts[thread].iter().copied();
            starts.filter(move |pc| call(thread, *pc).is_some_and(|(method, _)| method == Method::Commit))
        };
        let (from, to): (Vec<usize>, Vec<usize>) = (ends(self.from).collect(), ends(self.to).collect());
        // An end is lowered once, or once for each variable.
        let end = |n: usize| if to.len() == 1 { Some(to[0]) } else { to.get((self.variable)(n)).copied() };
        let mut pairs = Vec::new();
        for (n, pc) in from.iter().enumerate() {
            pairs.push((*pc, end(n)?));
        }
        for pc in self.calls.starts[self.from].iter().filter(|pc| !from.contains(pc)) {
            let (method, mut args) = call(self.from, *pc)?;
            args[0] = i128::try_from((self.variable)(usize::try_from(args[0]).ok()?)).ok()?;
            args.iter_mut().skip(1).for_each(|arg| *arg = (self.value)(*arg));
            let mut starts = self.calls.starts[self.to].iter();
            let partner = starts.find(|other| call(self.to, **other) == Some((method, args.clone())))?;
            pairs.push((*pc, *partner));
        }
        Some(pairs)
    }

    /// Compares two instructions; gives the pairs that come next.
    fn instruction(&mut self, a: usize, b: usize) -> Option<Vec<(usize, usize)>> {
        let (left, right) = (&self.program.threads[self.from].code[a].op, &self.program.threads[self.to].code[b].op);
        let to = |x: &InstrId, y: &InstrId| (x.index(), y.index());
        let mut next = vec![(a + 1, b + 1)];
        match (left, right) {
            (Op::Invoke { .. }, Op::Invoke { .. }) => {}
            (Op::Assign { dst, value }, Op::Assign { dst: other, value: as_well }) => {
                let holds = self.calls.holds(&self.calls.place(self.from, dst));
                self.place(dst, other)?;
                self.content(value, as_well, holds)?;
            }
            (Op::Access(access), Op::Access(other)) if (access.kind, access.tags) == (other.kind, other.tags) => {
                let holds = self.calls.holds(&self.calls.cells(self.program, &access.addr));
                match (access.stored(), other.stored()) {
                    (Some(value), Some(as_well)) => self.content(value, as_well, holds)?,
                    // A read-modify-write of a value would compare or compute with it.
                    _ if access.kind == AccessKind::Rmw && holds => return None,
                    _ => self.change(access, other)?,
                }
                self.addr(&access.addr, &other.addr)?;
                match (&access.dst, &other.dst) {
                    (None, None) => {}
                    (Some(dst), Some(other)) => self.place(dst, other)?,
                    _ => return None,
                }
            }
            (Op::Respond(value), Op::Respond(as_well)) => {
                let code = constant(value).is_some_and(|code| reply::word(code).is_some());
                self.content(value, as_well, !code)?;
            }
            (Op::Assume(cond), Op::Assume(other)) | (Op::Assert { cond, .. }, Op::Assert { cond: other, .. }) => {
                self.content(cond, other, false)?;
            }
            (
                Op::Branch { cond, then_to, else_to },
                Op::Branch { cond: other, then_to: then_there, else_to: else_there },
            ) => {
                self.content(cond, other, false)?;
                next = vec![to(then_to, then_there), to(else_to, else_there)];
            }
            (Op::Fence(x), Op::Fence(y)) if x == y => {}
            (Op::AtomicBegin, Op::AtomicBegin) | (Op::AtomicEnd, Op::AtomicEnd) => {}
            (Op::Halt, Op::Halt) => next.clear(),
            _ => return None,
        }
        Some(next)
    }

    fn change(&mut self, left: &Access, right: &Access) -> Option<()> {
        let kind = |access: &Access| access.change.as_ref().map(std::mem::discriminant);
        (kind(left) == kind(right)).then_some(())?;
        left.operands().into_iter().zip(right.operands()).try_for_each(|(a, b)| self.content(a, b, false))
    }

    /// What goes to a place, or decides something. Where values may be it is one of them, elsewhere it has nothing to do with them.
    fn content(&mut self, left: &LocalExpr, right: &LocalExpr, value: bool) -> Option<()> {
        match (left, right) {
            (Expr::Const(a), Expr::Const(b)) if value => ((self.value)(*a) == *b).then_some(()),
            (Expr::Var(a), Expr::Var(b)) if value => self.place(a, b),
            _ if value || self.calls.mentions(self.from, left) => self.untouched(left, right),
            _ => self.expr(left, right),
        }
    }

    /// Values that are computed with: nothing to worry about as long as values keep their names.
    fn untouched(&mut self, left: &LocalExpr, right: &LocalExpr) -> Option<()> {
        let keeps = (1..=i128::from(u8::MAX)).all(|value| (self.value)(value) == value);
        if keeps { self.expr(left, right) } else { None }
    }

    fn addr(&mut self, left: &Addr, right: &Addr) -> Option<()> {
        match (left, right) {
            (Addr::Fixed(a), Addr::Fixed(b)) => self.locations.add(a.index(), b.index()),
            (Addr::Indexed { array, index }, Addr::Indexed { array: other, index: there }) if array == other => {
                let array = &self.program.arrays[array.index()];
                let cells = array.base.index()..array.base.index() + array.len as usize;
                cells.into_iter().try_for_each(|cell| self.locations.add(cell, cell))?;
                self.content(index, there, false)
            }
            _ => None,
        }
    }

    fn place(&mut self, left: &Place, right: &Place) -> Option<()> {
        match (left, right) {
            (Place::Reg(a), Place::Reg(b)) => self.registers.add(a.index(), b.index()),
            (Place::Elem { base, len, index }, Place::Elem { base: other, len: also, index: there })
                if base == other && len == also =>
            {
                let cells = base.index()..base.index() + *len as usize;
                cells.into_iter().try_for_each(|cell| self.registers.add(cell, cell))?;
                self.content(index, there, false)
            }
            _ => None,
        }
    }

    fn expr(&mut self, left: &LocalExpr, right: &LocalExpr) -> Option<()> {
        match (left, right) {
            (Expr::Const(a), Expr::Const(b)) => (a == b).then_some(()),
            (Expr::Var(a), Expr::Var(b)) => self.place(a, b),
            (Expr::Unary(op, a), Expr::Unary(other, b)) if op == other => self.expr(a, b),
            (Expr::Binary(op, a, c), Expr::Binary(other, b, d)) if op == other => {
                self.expr(a, b)?;
                self.expr(c, d)
            }
            _ => None,
        }
    }
}

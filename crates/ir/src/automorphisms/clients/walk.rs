//! The automorphism itself: the codes of threads, walked in pairs.

use super::Calls;
use crate::automorphisms::{Named, Pairs, twins};
use crate::dataflow::past_jumps;
use crate::{AccessKind, Addr, Expr, LocalExpr, Location, Method, Op, Place, Program, RegId, Thread, reply};

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
        let on = vec![(a + 1, b + 1)];
        match left {
            Op::Invoke { .. } => return matches!(right, Op::Invoke { .. }).then_some(on),
            Op::Assign { .. } | Op::Access(_) | Op::Respond(_) | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd => {}
            Op::Assume(_) | Op::Assert { .. } | Op::Branch { .. } | Op::Halt => {}
            _ => return None,
        }
        let mut targets = Vec::new();
        for pair in twins(&self.image(left)?, right)? {
            match pair {
                (Named::Location(a), Named::Location(b)) => self.locations.add(a.index(), b.index())?,
                (Named::Register(a), Named::Register(b)) => self.registers.add(a.index(), b.index())?,
                (Named::Target(a), Named::Target(b)) => targets.push((a.index(), b.index())),
                (a, b) => (a == b).then_some(())?,
            }
        }
        // An element of an array may be any.
        if let Some(Addr::Indexed { array, .. }) = left.addr() {
            let array = &self.program.arrays[array.index()];
            let mut cells = array.base.index()..array.base.index() + array.len as usize;
            cells.try_for_each(|cell| self.locations.add(cell, cell))?;
        }
        for (base, len, _) in elements(left) {
            (base.index()..base.index() + len as usize).try_for_each(|cell| self.registers.add(cell, cell))?;
        }
        Some(match left {
            Op::Branch { .. } => targets,
            Op::Halt => Vec::new(),
            _ => on,
        })
    }

    /// An instruction with its values renamed, if it does nothing else with values than copying them. Where they keep their names it may.
    fn image(&self, op: &Op) -> Option<Op> {
        let (calls, mut image) = (self.calls, op.clone());
        let holds = match op {
            Op::Assign { dst, .. } => calls.holds(&calls.place(self.from, dst)),
            Op::Access(access) => calls.holds(&calls.cells(self.program, &access.addr)),
            Op::Respond(value) => constant(value).is_none_or(|code| reply::word(code).is_none()),
            _ => false,
        };
        // A read-modify-write of a value would compare or compute with it.
        let compares = op.access_kind() == Some(AccessKind::Rmw) && holds;
        let copied = |operand: &LocalExpr| match operand {
            Expr::Const(_) | Expr::Var(_) => holds || !calls.mentions(self.from, operand),
            _ => !holds && !calls.mentions(self.from, operand),
        };
        let index = match op.addr() {
            Some(Addr::Indexed { index, .. }) => Some(index),
            _ => None,
        };
        let mut indices = elements(op).into_iter().map(|(.., index)| index).chain(index);
        let renames = (1..=i128::from(u8::MAX)).any(|value| (self.value)(value) != value);
        let copies = op.operands().into_iter().all(copied) && !indices.any(|index| calls.mentions(self.from, index));
        for operand in image.operands_mut() {
            match operand {
                Expr::Const(value) if holds => *value = (self.value)(*value),
                _ => {}
            }
        }
        (!compares && (copies || !renames)).then_some(image)
    }
}

/// The elements of local arrays that an instruction names: the first register, how many there are, and which one.
fn elements(op: &Op) -> Vec<(RegId, u32, &LocalExpr)> {
    let mut places: Vec<&Place> = op.dst().into_iter().collect();
    op.operands().into_iter().for_each(|operand| operand.for_each_var(&mut |place| places.push(place)));
    if let Some(Addr::Indexed { index, .. }) = op.addr() {
        index.for_each_var(&mut |place| places.push(place));
    }
    let mut found = Vec::new();
    while let Some(place) = places.pop() {
        if let Place::Elem { base, len, index } = place {
            found.push((*base, *len, &**index));
            index.for_each_var(&mut |place| places.push(place));
        }
    }
    found
}

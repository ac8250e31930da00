//! Locals whose calls end while somebody may know of them ([`crate::flow::kept`]).
//!
//! Such a local has a header like what `malloc` makes, which the end of its call marks as freed, so that every later access to it is an error; so does
//! `pthread_exit` for all calls of the thread. In a loop each call has an object of its own, up to a bound. The locals of `main` live until the program ends, unless
//! `main` ends by `pthread_exit`. A block's local lives until its call ends.
//!
//! Models about relations know no freed memory: [`without_ends`] leaves the ends out, and says of which locals.

use cyrano_ir::guards::FREED;
use cyrano_ir::{Expr as Ir, InstrId, LocalExpr, Op, Program, Ty};

use super::heap::header;
use super::{Lowerer, Spot};
use crate::tree::{FuncId, Function, Local, LocalId};

/// What the names of their headers end with.
pub(crate) const ENDED: &str = ".ended";

impl Lowerer<'_, '_> {
    /// Makes the kept locals of the call that begins.
    pub(super) fn begin_locals(&mut self, func: FuncId) {
        if self.is_main() && !self.shared.main_exits {
            return;
        }
        let checked = self.shared.checked;
        for (at, local) in checked.functions[func.0].locals.iter().enumerate() {
            let id = LocalId(at);
            if !self.shared.escapes.in_memory(func, id) || !self.shared.kept.is_kept(func, id) {
                continue;
            }
            let object = self.new_local(&checked.functions[func.0], local);
            let Some(frame) = self.frame() else { return };
            frame.locals[at] = Some(Spot::Memory { base: object.clone(), offset: 0 });
            frame.ending.push(object);
        }
    }

    fn new_local(&mut self, function: &Function, local: &Local) -> LocalExpr {
        let (ty, name) = (&local.ty, &format!("{}.{}", function.name, local.name));
        let (checked, span) = (self.shared.checked, self.shared.sources.span(function.loc));
        let first = self.shared.memory.local(checked, ty, name, span);
        if self.repeats == 0 {
            return Ir::Const(first);
        }
        let what = format!("calls that make `{name}` anew");
        self.next_of_pool(first, what, |memory| memory.local(checked, ty, name, span))
    }

    /// Whether the call around is that of `main`, with which a program begins.
    fn is_main(&self) -> bool {
        self.end.is_some() && self.shared.thread == 0 && self.frames.len() == 1
    }

    /// The end of the call around.
    pub(super) fn end_locals(&mut self) {
        if !self.is_main() {
            self.end_all(self.frames.len().saturating_sub(1));
        }
    }

    /// The end of these calls.
    pub(super) fn end_all(&mut self, from: usize) {
        let ending: Vec<_> = self.frames[from..].iter().rev().flat_map(|frame| frame.ending.clone()).collect();
        ending.iter().for_each(|object| self.emit(Op::store(header(object), Ir::Const(FREED))));
    }
}

/// The program in which no local ends, and the headers of those that did; none if there are none.
pub(crate) fn without_ends(program: &Program) -> Option<(Program, Vec<cyrano_ir::Location>)> {
    let is_end = |location: &cyrano_ir::Location| location.ty == Ty::Header && location.name.ends_with(ENDED);
    let ends: Vec<_> = program.locations.iter().filter(|location| is_end(location)).cloned().collect();
    if ends.is_empty() {
        return None;
    }
    let mut program = program.clone();
    let headers: Vec<bool> = program.locations.iter().map(is_end).collect();
    let frees = program.locations.iter().any(|location| location.ty == Ty::Header && !is_end(location));
    let list: Vec<_> = program.arrays.iter().map(|array| array.headers).collect();
    for thread in &mut program.threads {
        for (at, instr) in thread.code.iter_mut().enumerate() {
            let ends = match instr.op.addr() {
                Some(cyrano_ir::Addr::Fixed(loc)) => headers[loc.index()],
                Some(cyrano_ir::Addr::Indexed { array, .. }) => list[array.index()] && !frees,
                _ => false,
            };
            if ends {
                instr.op = Op::Jump(InstrId::new(at + 1));
            }
        }
    }
    let gaps = program.locations.iter_mut().zip(&headers).filter(|(_, is_end)| **is_end);
    gaps.for_each(|(location, _)| location.ty = Ty::Gap);
    if !frees {
        program.arrays.retain(|array| !array.headers);
    }
    Some((program, ends))
}

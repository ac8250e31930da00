//! What the clients of an stm with values may exchange: threads, variables, values.
//!
//! An exchange of names is extended to an automorphism of the lowered program: a permutation of locations, and for each pair of threads one of
//! registers and one of instructions. The operations of the client are paired by their numbers, each begins with its call; from there the
//! codes are walked in pairs, and each pair of instructions must be the same up to the renaming, which grows on the way and has to stay
//! one-to-one. The code in front of the first call, which chooses operations, is the same for all threads and looks at nothing but numbers of
//! operations; whoever exchanges names exchanges those. Initial values must agree.
//! Values are found by following copies from the transactional variables: where one may be, constants are renamed, and whatever else is
//! done with one means that values cannot be exchanged. Then a step of a state, renamed, is a step of the renamed state.
//!
//! Threads and variables are only tried in a circle, which for two of them is everything: memories go through the others beginning with
//! the next one. Of executions that differ by names one is looked at (`client-symmetry` in `crates/explore/src/criteria/values.rs`).

use crate::access::{AccessKind, Addr, Change};
use crate::expr::Expr;
use crate::op::Op;
use crate::{Interchangeable, LocalExpr, Place, Program};

use walk::is_automorphism;

mod walk;

/// What may be exchanged in a program with this many values.
pub fn interchangeable(program: &Program, values: i128) -> Interchangeable {
    let Some(calls) = Calls::of(program) else { return Interchangeable::default() };
    let (threads, variables) = (program.threads.len(), program.transactional.len());
    let same = |value: i128| value;
    let rotated = |by: usize, of: usize| move |n: usize| (n + by) % of;
    let none = rotated(0, usize::MAX);
    let all_values: Vec<i128> = (1..=values).collect();
    let exchanged = |low: i128| {
        let swap = move |value: i128| match value {
            v if v == low => low + 1,
            v if v == low + 1 => low,
            v => v,
        };
        is_automorphism(program, &calls, &none, &none, &swap)
    };
    Interchangeable {
        threads: threads > 1 && is_automorphism(program, &calls, &rotated(1, threads), &none, &same),
        locations: variables > 1 && is_automorphism(program, &calls, &none, &rotated(1, variables), &same),
        values: if values > 1 && (1..values).all(exchanged) { all_values } else { Vec::new() },
    }
}

/// The calls of each thread, and what may hold values.
struct Calls {
    starts: Vec<Vec<usize>>,
    registers: Vec<Vec<bool>>,
    locations: Vec<bool>,
}

impl Calls {
    fn of(program: &Program) -> Option<Self> {
        let is_call = |op: &Op| matches!(op, Op::Invoke { .. });
        let starts = program.threads.iter().map(|thread| {
            let calls = thread.code.iter().enumerate().filter(|(_, instr)| is_call(&instr.op));
            calls.map(|(pc, _)| pc).collect::<Vec<_>>()
        });
        let starts: Vec<_> = starts.collect();
        if starts.iter().any(|calls| calls.is_empty() || calls.len() != starts[0].len()) {
            return None;
        }
        let mut locations = vec![false; program.locations.len()];
        program.transactional.iter().for_each(|loc| locations[loc.index()] = true);
        let registers = program.threads.iter().map(|thread| vec![false; thread.registers.len()]).collect();
        let mut calls = Self { starts, registers, locations };
        while calls.follow_copies(program) {}
        Some(calls)
    }

    /// Marks what values are copied to and from; whether anything was new.
    fn follow_copies(&mut self, program: &Program) -> bool {
        let mut grown = false;
        for (thread, code) in program.threads.iter().enumerate() {
            for instr in &code.code {
                let (from, to) = match &instr.op {
                    Op::Assign { dst, value: Expr::Var(from) } => (self.place(thread, from), self.place(thread, dst)),
                    Op::Access(access) => match (access.kind, &access.dst, &access.change) {
                        (AccessKind::Load, Some(dst), _) => {
                            (self.cells(program, &access.addr), self.place(thread, dst))
                        }
                        (AccessKind::Store, _, Some(Change::Set(Expr::Var(from)))) => {
                            (self.place(thread, from), self.cells(program, &access.addr))
                        }
                        _ => continue,
                    },
                    Op::Respond(Expr::Var(from)) => {
                        let place = self.place(thread, from);
                        grown |= self.mark(&place);
                        continue;
                    }
                    _ => continue,
                };
                if self.holds(&from) != self.holds(&to) || self.holds(&from) && !(self.full(&from) && self.full(&to)) {
                    grown |= self.mark(&from) | self.mark(&to);
                }
            }
        }
        grown
    }

    fn place(&self, thread: usize, place: &Place) -> Cells {
        let (first, len) = match place {
            Place::Reg(reg) => (reg.index(), 1),
            Place::Elem { base, len, .. } => (base.index(), *len as usize),
        };
        Cells { thread: Some(thread), first, len }
    }

    fn cells(&self, program: &Program, addr: &Addr) -> Cells {
        let (first, len) = match addr {
            Addr::Fixed(loc) => (loc.index(), 1),
            Addr::Indexed { array, .. } => {
                let array = &program.arrays[array.index()];
                (array.base.index(), array.len as usize)
            }
        };
        Cells { thread: None, first, len }
    }

    fn of_cells(&mut self, cells: &Cells) -> &mut [bool] {
        let all = match cells.thread {
            Some(thread) => &mut self.registers[thread],
            None => &mut self.locations,
        };
        &mut all[cells.first..cells.first + cells.len]
    }

    fn marks(&self, cells: &Cells) -> &[bool] {
        let all = match cells.thread {
            Some(thread) => &self.registers[thread],
            None => &self.locations,
        };
        &all[cells.first..cells.first + cells.len]
    }

    fn holds(&self, cells: &Cells) -> bool {
        self.marks(cells).contains(&true)
    }

    fn full(&self, cells: &Cells) -> bool {
        !self.marks(cells).contains(&false)
    }

    fn mark(&mut self, cells: &Cells) -> bool {
        let grown = !self.full(cells);
        self.of_cells(cells).fill(true);
        grown
    }

    fn mentions(&self, thread: usize, expr: &LocalExpr) -> bool {
        let mut found = false;
        expr.for_each_var(&mut |place| found |= self.holds(&self.place(thread, place)));
        found
    }
}

/// Neighbouring registers of a thread, or locations.
struct Cells {
    thread: Option<usize>,
    first: usize,
    len: usize,
}

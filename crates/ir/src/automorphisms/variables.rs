//! Transactional variables that are treated alike: [`Renaming`].
//!
//! A permutation of the variables is extended to an automorphism of the program: a permutation of locations, and for each thread one of registers and
//! one of instructions. The client's commands are paired by their numbers (the reads of the variables, then their writes, then `end`: `lower_client`
//! in the front end); from there the codes are walked in pairs, and each pair of instructions must be the same up to the renaming, which grows on
//! the way and has to stay one-to-one. Initial values must agree. The dispatch of a command is not walked.

use super::{Named, Pairs, permutations, same_location, same_register, twins};
use crate::access::Addr;
use crate::dataflow::successors;
use crate::expr::{BinOp, Expr};
use crate::ids::{InstrId, RegId};
use crate::op::Op;
use crate::program::{Place, Program, Thread};

/// One renaming of the variables, extended to everything.
#[derive(Clone, Debug)]
pub struct Renaming {
    /// Of the variables, by their numbers.
    pub variables: Vec<u8>,
    /// Of all locations.
    pub locations: Vec<usize>,
    /// What it does in each thread.
    pub threads: Vec<Lane>,
}

/// A thread's part of it.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Of its registers.
    pub registers: Vec<usize>,
    /// For each instruction its partner, if it was walked.
    pub code: Vec<Option<u32>>,
}

/// All renamings of at least two and at most so many variables that change nothing, but the one that renames nothing. None if some permutation is
/// not one: only a whole group picks one state of each class.
pub fn variables(program: &Program, most: u8) -> Vec<Renaming> {
    let Some(count) = u8::try_from(program.transactional.len()).ok().filter(|count| (2..=most).contains(count)) else {
        return Vec::new();
    };
    let all: Option<Vec<_>> = permutations(count).into_iter().map(|names| automorphism(program, names)).collect();
    all.unwrap_or_default()
}

fn automorphism(program: &Program, variables: Vec<u8>) -> Option<Renaming> {
    let mut locations = Pairs::new(program.locations.len());
    for (from, to) in variables.iter().enumerate() {
        locations.add(program.transactional[from].index(), program.transactional[usize::from(*to)].index())?;
    }
    let mut threads = Vec::new();
    for thread in &program.threads {
        let mut walk = PairWalk { thread, locations: &mut locations, registers: Pairs::new(thread.registers.len()) };
        let code = walk.code(&variables)?;
        let registers = walk.registers.complete()?;
        let alike = |(a, b): (usize, &usize)| same_register(&thread.registers[a], &thread.registers[*b]);
        registers.iter().enumerate().all(alike).then_some(())?;
        threads.push(Lane { registers, code });
    }
    let locations = locations.complete()?;
    let alike = |(a, b): (usize, &usize)| same_location(&program.locations[a], &program.locations[*b]);
    locations.iter().enumerate().all(alike).then_some(Renaming { variables, locations, threads })
}

/// A walk through a thread's code in pairs.
struct PairWalk<'a> {
    thread: &'a Thread,
    locations: &'a mut Pairs,
    registers: Pairs,
}

impl PairWalk<'_> {
    /// For each instruction that a command reaches its partner.
    fn code(&mut self, variables: &[u8]) -> Option<Vec<Option<u32>>> {
        let Op::Choose { dst: Place::Reg(command), from } = &self.thread.code.first()?.op else {
            return None;
        };
        let k = variables.len();
        (from.len() == 2 * k + 1).then_some(())?;
        let mut pairs = Pairs::new(self.thread.code.len());
        let mut work = vec![(0, 0)];
        pairs.add(0, 0)?;
        self.registers.add(command.index(), command.index())?;
        for number in 0..from.len() {
            let partner = match number {
                n if n < k => usize::from(variables[n]),
                n if n < 2 * k => k + usize::from(variables[n - k]),
                n => n,
            };
            let (a, b) = (self.start(*command, number)?, self.start(*command, partner)?);
            pairs.add(a, b)?;
            work.push((a, b));
        }
        let mut done = vec![false; self.thread.code.len()];
        done[0] = true;
        while let Some((a, b)) = work.pop() {
            if std::mem::replace(&mut done[a], true) {
                continue;
            }
            self.instruction(a, b)?;
            let next = |pc: usize| successors(&self.thread.code[pc].op, InstrId::new(pc)).map(InstrId::index);
            for (a, b) in next(a).zip(next(b)) {
                pairs.add(a, b)?;
                work.push((a, b));
            }
        }
        Some(pairs.partners().into_iter().map(|to| to.and_then(|to| u32::try_from(to).ok())).collect())
    }

    /// Where the command of this number starts.
    fn start(&self, command: RegId, number: usize) -> Option<usize> {
        let number = i128::try_from(number).ok()?;
        let mut pc = 1;
        loop {
            let code = &self.thread.code.get(pc)?.op;
            let tested = match code {
                Op::Branch { cond: Expr::Binary(BinOp::Eq, left, right), then_to, else_to }
                    if **left == Expr::Var(Place::Reg(command)) =>
                {
                    Some((right, then_to, else_to))
                }
                _ => None,
            };
            // The last command is reached without a test.
            let Some((value, then_to, else_to)) = tested else { return Some(pc) };
            if **value == Expr::Const(number) {
                return Some(then_to.index());
            }
            pc = else_to.index();
        }
    }

    /// Compares two instructions: the same but for registers and locations, which become partners.
    fn instruction(&mut self, a: usize, b: usize) -> Option<()> {
        let (left, right) = (&self.thread.code[a].op, &self.thread.code[b].op);
        (is_walked(left) && !has_indices(left)).then_some(())?;
        twins(left, right)?.try_for_each(|pair| match pair {
            (Named::Location(a), Named::Location(b)) => self.locations.add(a.index(), b.index()),
            (Named::Register(a), Named::Register(b)) => self.registers.add(a.index(), b.index()),
            (Named::Target(_), _) => Some(()),
            (a, b) => (a == b).then_some(()),
        })
    }
}

/// Whether it is of a kind that commands are made of.
fn is_walked(op: &Op) -> bool {
    matches!(
        op,
        Op::Assign { .. } | Op::Access(_) | Op::Assume(_) | Op::Assert { .. } | Op::Branch { .. } | Op::Jump(_)
    ) || matches!(op, Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd | Op::Transaction(_))
}

/// Whether it uses elements of arrays, which are renamed as a whole or not at all.
fn has_indices(op: &Op) -> bool {
    let indexed = |place: &Place| matches!(place, Place::Elem { .. });
    let mut found = op.dst().is_some_and(indexed) || matches!(op.addr(), Some(Addr::Indexed { .. }));
    op.operands().into_iter().for_each(|operand| operand.for_each_var(&mut |place| found |= indexed(place)));
    found
}

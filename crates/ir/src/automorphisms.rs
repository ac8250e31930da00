//! Automorphisms: renamings of threads, locations, registers, instructions and values that leave a program what it is.
//!
//! Engines that look at one of several executions which differ by such a renaming ask here which there are, and only apply them to their states and
//! formulas. All of them compare instructions in one way, [`twins`], and differ in what they let be renamed:
//!
//! | who is renamed | what may differ | used for |
//! |---|---|---|
//! | [`alike`]: groups of threads | nothing | sorting threads |
//! | [`Identities`]: all threads | constants that are a thread's own name | all permutations of threads |
//! | [`Exchange`]: two threads | the words that each has for itself, and pointers to them | ordering threads |
//! | [`Exchanges`]: several threads | the same | all permutations of threads with objects of their own |
//! | [`Renaming`]: transactional variables | locations, registers and instructions | all permutations of variables |
//! | [`interchangeable`]: the client's threads, variables, values | the same, and constants that are values | clients that differ by names |
//!
//! **Invariant:** a renaming maps the text and the initial values to themselves. That every *computation* commutes with it follows where values keep
//! their names; where they do not ([`Identities`], [`Exchange`], [`Exchanges`], [`interchangeable`]) each file says who sees to it.

mod clients;
mod exchange;
mod group;
mod identities;
mod pairs;
mod variables;

pub use clients::interchangeable;
pub use exchange::{Exchange, pointer_and_offset};
pub use group::{Exchanges, neighbours};
pub use identities::{Identities, OWN};
pub use pairs::Pairs;
pub use variables::{Lane, Renaming, variables};

use crate::dataflow::exit_registers;
use crate::ids::{InstrId, LocId, RegId, ThreadId};
use crate::leaves::Leaf;
use crate::op::Op;
use crate::program::{Location, Program, Register, Thread};

/// What a leaf names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// A constant.
    Constant(i128),
    /// A location.
    Location(LocId),
    /// A register; of an element of a local array the first one.
    Register(RegId),
    /// Where a jump goes.
    Target(InstrId),
}

/// The leaves that stand in the same places of two instructions, pair by pair, each of one kind; none if the instructions differ in anything else.
pub fn twins(one: &Op, other: &Op) -> Option<impl Iterator<Item = (Named, Named)> + use<>> {
    let ((one, leaves), (other, others)) = (skeleton(one), skeleton(other));
    (one == other).then(|| leaves.into_iter().zip(others))
}

/// An instruction without its leaves, and those.
fn skeleton(op: &Op) -> (Op, Vec<Named>) {
    let (mut op, mut leaves) = (op.clone(), Vec::new());
    op.for_each_leaf(&mut |leaf| {
        leaves.push(match leaf {
            Leaf::Constant(value) => Named::Constant(std::mem::take(value)),
            Leaf::Location(loc) => Named::Location(std::mem::replace(loc, LocId(0))),
            Leaf::Register(register) => Named::Register(std::mem::replace(register, RegId(0))),
            Leaf::Target(target) => Named::Target(std::mem::replace(target, InstrId(0))),
        });
    });
    (op, leaves)
}

/// All permutations of this many numbers but the one that changes nothing.
pub fn permutations(count: u8) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![vec![]];
    for next in 0..count {
        let longer = all.iter().flat_map(|p| {
            (0..=p.len()).map(move |at| {
                let mut q = p.clone();
                q.insert(at, next);
                q
            })
        });
        all = longer.collect();
    }
    all.retain(|p| !p.is_sorted());
    all
}

/// The groups of threads with the same code, each ascending and with at least two: any of a group may take the place of any other.
pub fn alike(program: &Program) -> Vec<Vec<usize>> {
    let same = |one: usize, other: usize| {
        let (first, second) = (&program.threads[one], &program.threads[other]);
        let ops = first.code.iter().map(|instr| &instr.op).eq(second.code.iter().map(|instr| &instr.op));
        let observed = |thread| exit_registers(program, ThreadId::new(thread));
        ops && same_registers(first, second) && observed(one) == observed(other)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for thread in (0..program.threads.len()).filter(|thread| program.setup != Some(ThreadId::new(*thread))) {
        match groups.iter_mut().find(|group| same(group[0], thread)) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Whether two threads have the same registers, but for their names.
fn same_registers(one: &Thread, other: &Thread) -> bool {
    one.registers.len() == other.registers.len()
        && one.registers.iter().zip(&other.registers).all(|(one, other)| same_register(one, other))
}

fn same_register(one: &Register, other: &Register) -> bool {
    (one.ty, one.init) == (other.ty, other.init)
}

fn same_location(one: &Location, other: &Location) -> bool {
    (one.ty, one.init) == (other.ty, other.init)
}

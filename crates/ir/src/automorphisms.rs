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
//! | [`Renaming`]: transactional variables | locations, registers and instructions | all permutations of variables |
//!
//! **Invariant:** a renaming maps the text and the initial values to themselves. That every *computation* commutes with it follows where values keep
//! their names; where they do not ([`Identities`], [`Exchange`]) each file says who sees to it.

mod exchange;
mod identities;
mod pairs;
mod variables;

pub use exchange::Exchange;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads with two registers each, over locations `x` and `y`.
    fn program(threads: &[&[&str]]) -> Program {
        let mut text = "program p\nlocation x = 0\nlocation y = 0\n".to_owned();
        for (n, code) in threads.iter().enumerate() {
            text.push_str(&format!("thread t{n}\n  register r = 0\n  register s = 0\n"));
            code.iter().enumerate().for_each(|(pc, op)| text.push_str(&format!("  @{pc}: {op}\n")));
        }
        let program = crate::text::parse(&text).expect("the test's program can be read");
        crate::verify(&program).expect("the test's program is valid");
        program
    }

    fn differences(one: &str, other: &str) -> Option<usize> {
        let program = program(&[&[one, "halt"], &[other, "halt"]]);
        let op = |thread: usize| &program.threads[thread].code[0].op;
        Some(twins(op(0), op(1))?.filter(|(one, other)| one != other).count())
    }

    #[test]
    fn instructions_of_one_shape_have_twins() {
        assert_eq!(differences("r := load x", "r := load x"), Some(0));
        assert_eq!(differences("r := load x", "s := load y"), Some(2));
        assert_eq!(differences("r := cas x, 0, 1", "s := cas x, 1, r"), None, "a constant is no register");
        assert_eq!(differences("branch r then @0 else @1", "branch s then @1 else @1"), Some(2));
        assert_eq!(differences("store x, 1", "store x, 1 {release}"), None, "tags are not renamed");
        assert_eq!(differences("fence load-load", "fence store-store"), None);
    }

    #[test]
    fn threads_are_alike_or_differ_in_their_names() {
        let [one, two] = [["store x, 1", "halt"], ["store x, 2", "halt"]];
        let same = program(&[&one, &two, &one, &one]);
        assert_eq!(alike(&same), [vec![0, 2, 3]]);
        let named = Identities::of(&program(&[&one, &two])).expect("each has its number");
        assert_eq!((named.values.as_slice(), named.locations.as_slice()), (&[1, 2][..], &[true, false][..]));
        assert_eq!([0, 1, 2].map(|value| named.renamed(value, &[1, 0])), [0, 2, 1]);
        let computed = ["fetch_add x, 1", "halt"];
        assert!(Identities::of(&program(&[&computed, &["fetch_add x, 2", "halt"]])).is_none(), "numbers, not names");
    }

    #[test]
    fn permutations_of_three() {
        assert_eq!(permutations(3).len(), 5);
        assert!(permutations(1).is_empty());
    }
}

//! Atomic blocks with commit points (Flanagan, section 3.2): which instructions are in which phase, and what is wrong with the marks.
//!
//! A block is what stands between [`Op::BlockBegin`] and [`Op::BlockEnd`]; to memory the marks are nothing at all. A thread is outside of
//! blocks, before the commit point of one, or behind it. **Where the block commits:** together with the access that stands last before
//! [`Op::BlockCommit`] in the order of execution, at the moment at which that access is performed (and the branches on the way to the mark
//! are decided). So there has to be such an access, and no choice between it and the mark.
//!
//! **Invariant:** the phases are those of all paths through the code, whether they can be taken or not.

pub mod diagnose;
pub mod serial;

use crate::dataflow::successors;
use crate::ids::InstrId;
use crate::op::Op;
use crate::program::Thread;

/// Where a thread can stand before an instruction, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Phases(u8);

const OUTSIDE: u8 = 1;
/// In a block, without an access in it.
const FRESH: u8 = 2;
/// In a block, before its commit point, the last shared thing an access.
const BEFORE: u8 = 4;
/// The same, with a choice behind the last access.
const CHOSEN: u8 = 8;
const BEHIND: u8 = 16;
const UNCOMMITTED: u8 = FRESH | BEFORE | CHOSEN;
const INSIDE: u8 = UNCOMMITTED | BEHIND;

/// What is wrong with a mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BlockProblem {
    /// A block begins in a block.
    Nested,
    /// A commit point or an end stands outside of blocks.
    Outside,
    /// A path has a second commit point.
    CommitsTwice,
    /// A path to the end has no commit point, though the block has one elsewhere.
    NoCommit,
    /// A path has no access between the beginning and the commit point.
    NothingCommits,
    /// A path has a choice between the access and the commit point.
    ChoiceCommits,
    /// The thread ends in a block.
    Unfinished,
}

/// The blocks of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    before: Vec<Phases>,
    /// Whether any block has a commit point.
    pub commits: bool,
    /// Whether there is a block at all.
    pub any: bool,
}

impl Blocks {
    /// Follows all paths through a thread's code.
    pub fn of(thread: &Thread) -> Self {
        let mut before = vec![Phases::default(); thread.code.len()];
        let mut work = vec![(InstrId(0), OUTSIDE)];
        while let Some((pc, phases)) = work.pop() {
            let Some(known) = before.get_mut(pc.index()) else { continue };
            let new = phases & !known.0;
            if new == 0 {
                continue;
            }
            known.0 |= new;
            let op = &thread.code[pc.index()].op;
            let after = after(op, new);
            work.extend(successors(op, pc).map(|next| (next, after)));
        }
        let has = |wanted: fn(&Op) -> bool| thread.code.iter().any(|instr| wanted(&instr.op));
        Self {
            before,
            commits: has(|op| matches!(op, Op::BlockCommit)),
            any: has(|op| matches!(op, Op::BlockBegin(_))),
        }
    }

    /// Whether an instruction stands in a block.
    #[inline]
    pub fn inside(&self, pc: InstrId) -> bool {
        self.before[pc.index()].0 & INSIDE != 0
    }

    /// Whether an instruction stands in a block and before its commit point.
    #[inline]
    pub fn uncommitted(&self, pc: InstrId) -> bool {
        self.before[pc.index()].0 & UNCOMMITTED != 0
    }

    /// Everything that is wrong with the marks of the thread that this was made of, by instruction.
    pub fn problems(&self, thread: &Thread) -> Vec<(InstrId, BlockProblem)> {
        let mut all = Vec::new();
        for (pc, instr) in thread.code.iter().enumerate() {
            let here = |phases: u8| self.before[pc].0 & phases != 0;
            let mut found = |wrong: bool, problem| all.extend(wrong.then_some((InstrId::new(pc), problem)));
            match instr.op {
                Op::BlockBegin(_) => found(here(INSIDE), BlockProblem::Nested),
                Op::BlockCommit => {
                    found(here(OUTSIDE), BlockProblem::Outside);
                    found(here(BEHIND), BlockProblem::CommitsTwice);
                    found(here(FRESH), BlockProblem::NothingCommits);
                    found(here(CHOSEN), BlockProblem::ChoiceCommits);
                }
                Op::BlockEnd(_) => {
                    found(here(OUTSIDE), BlockProblem::Outside);
                    found(here(UNCOMMITTED) && self.block_commits(thread, pc), BlockProblem::NoCommit);
                }
                Op::Halt => found(here(INSIDE), BlockProblem::Unfinished),
                _ => {}
            }
        }
        all
    }

    /// Whether a block that can end at `end` has a commit point.
    fn block_commits(&self, thread: &Thread, end: usize) -> bool {
        let ends_here = |begin: &InstrId| text_of(thread, *begin).contains(&InstrId::new(end));
        begins(thread).filter(ends_here).any(|begin| commits(thread, begin))
    }

    /// Where the blocks begin that have no commit point.
    pub fn without_commit(thread: &Thread) -> Vec<InstrId> {
        begins(thread).filter(|begin| !commits(thread, *begin)).collect()
    }
}

fn begins(thread: &Thread) -> impl Iterator<Item = InstrId> + '_ {
    let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::BlockBegin(_)));
    begins.map(|(pc, _)| InstrId::new(pc))
}

fn commits(thread: &Thread, begin: InstrId) -> bool {
    text_of(thread, begin).into_iter().any(|pc| matches!(thread.code[pc.index()].op, Op::BlockCommit))
}

/// The instructions that can be reached from the beginning of a block before its end, that one included.
fn text_of(thread: &Thread, begin: InstrId) -> Vec<InstrId> {
    let mut seen = vec![false; thread.code.len()];
    let mut text = Vec::new();
    let mut work = vec![begin];
    while let Some(pc) = work.pop() {
        let known = seen.get_mut(pc.index()).is_none_or(|seen| std::mem::replace(seen, true));
        if known {
            continue;
        }
        text.push(pc);
        let op = &thread.code[pc.index()].op;
        if !matches!(op, Op::BlockEnd(_)) {
            work.extend(successors(op, pc));
        }
    }
    text
}

fn after(op: &Op, phases: u8) -> u8 {
    let fresh = |inside: u8, to: u8| (phases & !inside) | if phases & inside == 0 { 0 } else { to };
    match op {
        Op::BlockBegin(_) => FRESH,
        Op::BlockCommit => fresh(UNCOMMITTED, BEHIND),
        Op::BlockEnd(_) => OUTSIDE,
        Op::Choose { .. } => fresh(BEFORE, CHOSEN),
        op if op.access_kind().is_some() => fresh(FRESH | CHOSEN, BEFORE),
        _ => phases,
    }
}

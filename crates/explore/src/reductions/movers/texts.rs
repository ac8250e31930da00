//! The blocks of a program by their texts, and what can be said about them without looking at a state.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Op, Program, Thread};

/// The blocks by thread and place.
pub(super) struct Texts {
    /// For each thread and instruction the blocks that it can stand in; hardly ever more than one.
    at: Vec<Vec<Vec<usize>>>,
    names: Vec<String>,
    open: Vec<bool>,
}

/// Where a thread is, seen from one block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Outside,
    Before,
    Behind,
}

impl Texts {
    pub fn of(program: &Program) -> Self {
        let mut texts = Self { at: Vec::new(), names: Vec::new(), open: Vec::new() };
        for thread in &program.threads {
            texts.at.push(vec![Vec::new(); thread.code.len()]);
            let outside = outside(thread);
            for (pc, instr) in thread.code.iter().enumerate() {
                if let Op::BlockBegin(name) = &instr.op {
                    texts.add(thread, name, InstrId::new(pc), &outside);
                }
            }
        }
        texts
    }

    /// Adds the block that begins at an instruction of the last thread.
    fn add(&mut self, thread: &Thread, name: &str, begin: InstrId, outside: &[bool]) {
        let block = self.names.len();
        let [before, behind] = phases(thread, begin);
        let mut open = true;
        let at = self.at.last_mut().expect("of some thread");
        for pc in 0..thread.code.len() {
            if before[pc] || behind[pc] {
                at[pc].push(block);
            }
            // Where a place says nothing about the phase, a step there says nothing about the block.
            let clear = [before[pc], behind[pc], outside[pc]].iter().filter(|here| **here).count() <= 1;
            open &= clear && !(behind[pc] && may_not_end(thread, pc));
        }
        self.names.push(name.to_owned());
        self.open.push(open);
    }

    /// Whether a block is left to be proven.
    pub fn any_open(&self) -> bool {
        self.open.contains(&true)
    }

    /// Whether no block is refuted.
    pub fn all_open(&self) -> bool {
        !self.open.contains(&false)
    }

    /// Whether an instruction stands in a block that is left to be proven.
    pub fn is_open(&self, thread: usize, pc: u32) -> bool {
        self.at[thread][pc as usize].iter().any(|block| self.open[*block])
    }

    /// The blocks at an instruction are not proven, nor is any other one of that name: threads that are alike stand for each other.
    pub fn refute(&mut self, thread: usize, pc: u32) {
        for block in &self.at[thread][pc as usize] {
            for (name, open) in self.names.iter().zip(&mut self.open) {
                *open &= *name != self.names[*block];
            }
        }
    }

    /// The blocks by name, each with whether all of its texts are proven.
    pub fn by_name(&self) -> Vec<(String, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        for (name, open) in self.names.iter().zip(&self.open) {
            match names.iter_mut().find(|(known, _)| known == name) {
                Some((_, proven)) => *proven &= open,
                None => names.push((name.clone(), *open)),
            }
        }
        names
    }

    /// For each thread and instruction whether it stands in blocks all of which are proven.
    pub fn proven_places(&self) -> Vec<Vec<bool>> {
        let names = self.by_name();
        let proven = |block: &usize| names.iter().any(|(name, proven)| *proven && *name == self.names[*block]);
        let place = |blocks: &Vec<usize>| !blocks.is_empty() && blocks.iter().all(proven);
        self.at.iter().map(|thread| thread.iter().map(place).collect()).collect()
    }
}

/// Follows all paths from an instruction, at which the thread is `first`, and calls `visit` once for each place and phase.
fn follow(thread: &Thread, start: InstrId, first: Where, mut visit: impl FnMut(usize, Where) -> bool) {
    let mut work = vec![(start, first)];
    while let Some((pc, phase)) = work.pop() {
        if pc.index() >= thread.code.len() || !visit(pc.index(), phase) {
            continue;
        }
        let op = &thread.code[pc.index()].op;
        let after = match op {
            Op::BlockBegin(_) => Where::Before,
            Op::BlockCommit if phase == Where::Before => Where::Behind,
            Op::BlockEnd(_) => Where::Outside,
            _ => phase,
        };
        work.extend(successors(op, pc).map(|next| (next, after)));
    }
}

/// Where a thread can stand before and behind the commit of the block that begins at `begin`.
fn phases(thread: &Thread, begin: InstrId) -> [Vec<bool>; 2] {
    let mut known = [vec![false; thread.code.len()], vec![false; thread.code.len()]];
    follow(thread, InstrId(begin.0 + 1), Where::Before, |pc, phase| match phase {
        Where::Outside => false,
        Where::Before => !std::mem::replace(&mut known[0][pc], true),
        Where::Behind => !std::mem::replace(&mut known[1][pc], true),
    });
    known
}

/// Where a thread can stand outside of blocks.
fn outside(thread: &Thread) -> Vec<bool> {
    let mut known = [vec![false; thread.code.len()], vec![false; thread.code.len()], vec![false; thread.code.len()]];
    follow(thread, InstrId(0), Where::Outside, |pc, phase| {
        let known = &mut known[match phase {
            Where::Outside => 0,
            Where::Before => 1,
            Where::Behind => 2,
        }];
        !std::mem::replace(&mut known[pc], true)
    });
    let [outside, ..] = known;
    outside
}

/// Whether an instruction behind a commit point could keep a run from ending.
fn may_not_end(thread: &Thread, pc: usize) -> bool {
    match &thread.code[pc].op {
        Op::Jump(to) => to.index() <= pc,
        Op::Branch { then_to, else_to, .. } => then_to.index() <= pc || else_to.index() <= pc,
        Op::Assume(_) | Op::Limit { .. } | Op::Halt => true,
        _ => false,
    }
}

//! What is wrong with the marks of atomic blocks, told in the words of a source language (Flanagan, section 3.2).
//!
//! [`super::Blocks`] finds what is wrong; this file says where to look: at the commit point that comes first on the path, at the branch
//! where a path without a commit point leaves the others. Paths are those of the lowered code, where procedures are inlined, and count
//! whether they can be taken or not.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::Diagnostic;
use crate::blocks::{BlockProblem, Blocks};
use crate::dataflow::successors;
use crate::ids::{InstrId, Span};
use crate::op::Op;
use crate::program::Thread;

/// How the marks are written in a language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The commit point: `commit`.
    pub commit: &'static str,
    /// The end: `}`.
    pub end: &'static str,
    /// A whole block, for an example.
    pub example: &'static str,
}

/// Everything that is wrong with the blocks of a thread, by instruction.
pub fn diagnose(thread: &Thread, words: Words) -> Vec<Diagnostic> {
    let paths = Paths { thread, words };
    let begins = paths.begins();
    let open: Vec<Diagnostic> = begins.iter().filter_map(|begin| paths.left_open(*begin)).collect();
    if !open.is_empty() {
        // What follows a block that is still open would only be reported as nested.
        return open;
    }
    let mut known = Blocks::of(thread).problems(thread);
    let nested = |(_, problem): &(InstrId, BlockProblem)| *problem == BlockProblem::Nested;
    if known.iter().any(nested) {
        known.retain(nested);
        return known.into_iter().filter_map(|(pc, problem)| paths.tell(pc, problem)).collect();
    }
    let told = known.into_iter().filter_map(|(pc, problem)| paths.tell(pc, problem));
    let more = begins.into_iter().flat_map(|begin| paths.never_ends(begin).or_else(|| paths.uncommitted(begin)));
    told.chain(more).collect()
}

/// The blocks without a commit point, which commit-atomicity cannot judge; `asked` is where it is asked for, if in the source.
pub fn without_commit(thread: &Thread, words: Words, asked: Option<Span>) -> Vec<Diagnostic> {
    let paths = Paths { thread, words };
    let lacking = paths.begins().into_iter().filter(|begin| !paths.commits(*begin));
    let told = lacking.map(|begin| {
        let label = format!("no {} in it", words.commit);
        let diagnostic = Diagnostic::new(paths.span(begin), "this atomic block has no commit point", label);
        let diagnostic = match asked {
            Some(asked) => diagnostic.with_related(asked, "asked for here"),
            None => diagnostic,
        };
        let help = "behind the access with which it takes effect; or check `atomicity`, which needs no commit points";
        diagnostic.with_help(format!("write {} {help}", words.commit))
    });
    told.collect()
}

struct Paths<'t> {
    thread: &'t Thread,
    words: Words,
}

impl Paths<'_> {
    fn op(&self, pc: InstrId) -> &Op {
        &self.thread.code[pc.index()].op
    }

    fn span(&self, pc: InstrId) -> Span {
        self.thread.code[pc.index()].span
    }

    fn next(&self, pc: InstrId) -> impl Iterator<Item = InstrId> + use<'_> {
        successors(self.op(pc), pc).filter(|next| next.index() < self.thread.code.len())
    }

    fn begins(&self) -> Vec<InstrId> {
        let reached = self.reached([InstrId(0)], |_| false);
        let mut all: Vec<_> = reached.into_iter().filter(|pc| matches!(self.op(*pc), Op::BlockBegin(_))).collect();
        all.sort();
        all
    }

    /// What can be reached from these instructions without going beyond one at which `stop` holds.
    fn reached(&self, from: impl IntoIterator<Item = InstrId>, stop: impl Fn(&Op) -> bool) -> HashSet<InstrId> {
        let mut seen = HashSet::new();
        let mut work: Vec<InstrId> = from.into_iter().collect();
        while let Some(pc) = work.pop() {
            if seen.insert(pc) && !stop(self.op(pc)) {
                work.extend(self.next(pc));
            }
        }
        seen
    }

    fn within(&self, begin: InstrId) -> HashSet<InstrId> {
        self.reached(self.next(begin), |op| matches!(op, Op::BlockEnd(_)) || leaves(op))
    }

    fn commits(&self, begin: InstrId) -> bool {
        self.within(begin).into_iter().any(|pc| matches!(self.op(pc), Op::BlockCommit))
    }

    /// The block around an instruction: the first one that leads to it.
    fn around(&self, pc: InstrId) -> Option<InstrId> {
        self.begins().into_iter().find(|begin| self.within(*begin).contains(&pc))
    }

    /// A commit point of the same block from which another one is reached.
    fn earlier_commit(&self, pc: InstrId) -> Option<InstrId> {
        let block = self.within(self.around(pc)?);
        let mut commits: Vec<_> = block.into_iter().filter(|at| matches!(self.op(*at), Op::BlockCommit)).collect();
        commits.sort();
        let leads = |from: &InstrId| self.reached(self.next(*from), |op| matches!(op, Op::BlockEnd(_))).contains(&pc);
        commits.into_iter().find(leads)
    }

    fn tell(&self, pc: InstrId, problem: BlockProblem) -> Option<Diagnostic> {
        let Words { commit, end, example } = self.words;
        let here = |message: String, label: &str| Diagnostic::new(self.span(pc), message, label);
        let in_block = |diagnostic: Diagnostic| match self.around(pc) {
            Some(begin) => diagnostic.with_related(self.span(begin), "the block"),
            None => diagnostic,
        };
        Some(match problem {
            BlockProblem::Nested => {
                let told = in_block(here("atomic blocks do not nest".into(), "the inner block"));
                told.with_help("the outer block makes everything in it atomic; drop the inner one")
            }
            BlockProblem::Outside => {
                let word = if matches!(self.op(pc), Op::BlockEnd(_)) { end } else { commit };
                here(format!("{word} outside of an atomic block"), "no block around it")
                    .with_help(format!("it belongs in a block: {example}"))
            }
            BlockProblem::CommitsTwice => {
                let told =
                    in_block(here("an atomic block commits twice on one path".into(), "the second commit point"));
                let told = match self.earlier_commit(pc) {
                    Some(first) if first == pc => {
                        told.with_related(self.span(first), "reached again from here, in a loop")
                    }
                    Some(first) => told.with_related(self.span(first), "the first one"),
                    None => told,
                };
                told.with_help("every path through a block has exactly one commit point: where the block takes effect")
            }
            BlockProblem::NothingCommits => {
                let what = "a commit point without an access before it in its block";
                let told = in_block(here(what.into(), "nothing commits here"));
                told.with_help(format!(
                    "a block commits together with the access before {commit}; put it behind one that every path has"
                ))
            }
            BlockProblem::ChoiceCommits => {
                let told =
                    in_block(here("a choice between a commit point and the access before it".into(), "commits here"));
                told.with_help("choose before the access with which the block commits, or behind the commit point")
            }
            // Told by `left_open`, and by `uncommitted`, which know the path.
            BlockProblem::Unfinished | BlockProblem::NoCommit => return None,
        })
    }

    /// The path that leaves the thread, or the operation around the block, before the block ends.
    fn left_open(&self, begin: InstrId) -> Option<Diagnostic> {
        let path = self.path(begin, leaves, |op| matches!(op, Op::BlockEnd(_)))?;
        let (_, before) = path.split_last()?;
        // The end of an operation belongs to whoever calls it.
        let last = before.iter().rev().find(|pc| self.span(**pc).start > self.span(begin).start);
        let told = Diagnostic::new(self.span(begin), "this atomic block does not end on every path", "begins here");
        let told = match last {
            Some(last) => told.with_related(self.span(*last), "the last thing on a path that leaves it open"),
            None => told,
        };
        Some(told.with_help(format!("write {} at the end of every path, also before `return`", self.words.end)))
    }

    fn never_ends(&self, begin: InstrId) -> Option<Diagnostic> {
        let ends = self.within(begin).into_iter().any(|pc| matches!(self.op(pc), Op::BlockEnd(_)));
        (!ends).then(|| {
            let told = Diagnostic::new(self.span(begin), "this atomic block never ends", "no path leads out of it");
            told.with_help("what goes on for ever cannot happen at once; put the loop around the block")
        })
    }

    /// The path to the end without a commit point, of a block that has one elsewhere.
    fn uncommitted(&self, begin: InstrId) -> Option<Diagnostic> {
        if !self.commits(begin) {
            return None;
        }
        let path = self.path(begin, |op| matches!(op, Op::BlockEnd(_)), |op| matches!(op, Op::BlockCommit))?;
        let (end, before) = path.split_last()?;
        // The last thing that the path does in the block tells more than the block's end, unless it is the block's beginning.
        let last =
            before.iter().rev().find(|pc| !matches!(self.op(**pc), Op::Jump(_) | Op::BlockBegin(_))).unwrap_or(end);
        let branch = before.iter().zip(&path[1..]).rev().find(|(pc, taken)| self.misses(**pc, **taken));
        let told = Diagnostic::new(
            self.span(*end),
            "a path through this atomic block has no commit point",
            "ends here without one",
        );
        let told = told.with_related(self.span(begin), "the block");
        let told = match branch {
            Some((branch, _)) => told.with_related(self.span(*branch), "the path goes past the commit point here"),
            None => told,
        };
        let told = if self.span(*last) != self.span(*end) && branch.is_none_or(|(branch, _)| branch != last) {
            told.with_related(self.span(*last), "the last thing on the path")
        } else {
            told
        };
        let help = "on this path too, behind the access that decides it; or try again in a loop until it commits";
        Some(told.with_help(format!("write {} {help}", self.words.commit)))
    }

    /// The shortest path from the beginning of a block to what is wanted, past nothing that is not.
    fn path(&self, begin: InstrId, wanted: fn(&Op) -> bool, unwanted: fn(&Op) -> bool) -> Option<Vec<InstrId>> {
        let mut from: HashMap<InstrId, InstrId> = HashMap::new();
        let mut work = VecDeque::from([begin]);
        while let Some(pc) = work.pop_front() {
            if wanted(self.op(pc)) {
                let back = std::iter::successors(Some(pc), |pc| from.get(pc).copied().filter(|_| *pc != begin));
                let mut path: Vec<InstrId> = back.collect();
                path.reverse();
                return Some(path);
            }
            for next in self.next(pc).filter(|next| !unwanted(self.op(*next))) {
                if next != begin && !from.contains_key(&next) {
                    from.insert(next, pc);
                    work.push_back(next);
                }
            }
        }
        None
    }

    /// Whether a branch could have gone another way to a commit point.
    fn misses(&self, pc: InstrId, taken: InstrId) -> bool {
        let Op::Branch { .. } = self.op(pc) else { return false };
        let others = self.next(pc).filter(|next| *next != taken);
        let found = self.reached(others, |op| matches!(op, Op::BlockEnd(_) | Op::BlockCommit));
        found.into_iter().any(|pc| matches!(self.op(pc), Op::BlockCommit))
    }
}

/// Whether nothing that follows can belong to the block any more.
fn leaves(op: &Op) -> bool {
    matches!(op, Op::OperationEnd | Op::Halt)
}

//! What a stronger way to write an access does to programs, found by compiling the text with it; and whether two programs are the same but for jumps.
//!
//! The accesses of a thread keep their numbers, in the order of the code, whatever their tags are and wherever fences stand.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Access, Instr, InstrId, Op, Program, Tags};

use crate::text::Stronger;

/// An access that gets other tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Retag {
    pub(super) program: usize,
    pub(super) thread: usize,
    /// Its number among the accesses in the code of the thread.
    access: usize,
    tags: Tags,
    failed: Option<Tags>,
}

impl Retag {
    /// Whether all of its tags are among these.
    pub(super) fn is_known(&self, known: Tags) -> bool {
        known.contains(self.tags.orders()) && self.failed.is_none_or(|failed| known.contains(failed.orders()))
    }

    /// Gives the access in a program its tags.
    pub(super) fn apply(&self, program: &mut Program) {
        let code = program.threads.get_mut(self.thread).map(|thread| &mut thread.code);
        let accesses = code.into_iter().flatten().filter_map(|instr| instr.op.access_mut());
        if let Some(access) = { accesses }.nth(self.access) {
            access.tags = self.tags;
            access.failed = self.failed;
        }
    }
}

/// The text with some replacements, which do not overlap.
pub(super) fn replaced(text: &str, ways: &[&Stronger]) -> String {
    let mut ways = ways.to_vec();
    ways.sort_by_key(|way| way.range.start);
    let (mut out, mut done) = (String::with_capacity(text.len() + 16 * ways.len()), 0);
    for way in ways {
        out.push_str(&text[done..way.range.start]);
        out.push_str(&way.text);
        done = way.range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// How the second programs differ from the first ones, if only in the tags of accesses.
pub(super) fn retags(plain: &[Program], strong: &[Program]) -> Option<Vec<Retag>> {
    let mut found = Vec::new();
    let same = plain.len() == strong.len() && plain.iter().zip(strong).all(|(a, b)| a.threads.len() == b.threads.len());
    for (program, (plain, strong)) in plain.iter().zip(strong).enumerate().filter(|_| same) {
        for (thread, (plain, strong)) in plain.threads.iter().zip(&strong.threads).enumerate() {
            if plain.code.len() != strong.code.len() {
                return None;
            }
            let mut access = 0;
            for (plain, strong) in plain.code.iter().zip(&strong.code) {
                match (&plain.op, &strong.op) {
                    (Op::Access(plain), Op::Access(strong)) if is_same_access(plain, strong) => {
                        if (plain.tags, plain.failed) != (strong.tags, strong.failed) {
                            let (tags, failed) = (strong.tags, strong.failed);
                            found.push(Retag { program, thread, access, tags, failed });
                        }
                        access += 1;
                    }
                    (plain, strong) if plain == strong => {}
                    _ => return None,
                }
            }
        }
    }
    (same && !found.is_empty()).then_some(found)
}

/// Whether two accesses differ in nothing but their tags.
fn is_same_access(a: &Access, b: &Access) -> bool {
    let bare = |access: &Access| Access { tags: Tags::default(), failed: None, ..access.clone() };
    bare(a) == bare(b)
}

/// Whether the threads of two programs have the same code, wherever it comes from and however much it jumps about.
pub(super) fn is_same_code(a: &Program, b: &Program) -> bool {
    let code = |program: &Program| program.threads.iter().map(|thread| graph(&thread.code)).collect::<Vec<_>>();
    a.locations.len() == b.locations.len() && code(a) == code(b)
}

/// An operation, and the numbers of those that can come next.
type Node = (Op, Vec<Option<usize>>);

/// The operations of code that are no jumps, in order, and the one that it starts with.
fn graph(code: &[Instr]) -> (Option<usize>, Vec<Node>) {
    let is_jump = |at: &usize| matches!(code[*at].op, Op::Jump(_));
    let resolve = |start: usize| {
        let mut at = start;
        for _ in 0..=code.len() {
            match code.get(at).map(|instr| &instr.op) {
                Some(Op::Jump(to)) => at = to.index(),
                Some(_) => return Some((0..at).filter(|at| !is_jump(at)).count()),
                None => return None,
            }
        }
        None
    };
    let node = |at: usize| {
        let op = &code[at].op;
        let next = successors(op, InstrId::new(at)).map(|to| resolve(to.index())).collect();
        let plain = match op {
            Op::Branch { cond, .. } => {
                Op::Branch { cond: cond.clone(), then_to: InstrId::new(0), else_to: InstrId::new(0) }
            }
            other => other.clone(),
        };
        (plain, next)
    };
    (resolve(0), (0..code.len()).filter(|at| !is_jump(at)).map(node).collect())
}

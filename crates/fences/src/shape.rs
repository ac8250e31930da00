//! Whether two builds of a program differ in inserted fences only.
//!
//! What counts is what a memory model sees and in which order: accesses, sections, operations, choices, checks and branches, the source
//! that each comes from, and what can follow what. Assignments and jumps do not count: a compiler may keep a copy because a fence stands
//! behind it.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Instr, InstrId, Op, Program, Span, Thread};

use crate::places::inserted;

/// Whether the second program is the first one with fences inserted, both with the spans of the original source.
pub fn same_but_for_fences(plain: &Program, fenced: &Program) -> bool {
    plain.threads.len() == fenced.threads.len()
        && plain.threads.iter().zip(&fenced.threads).all(|(plain, fenced)| shape(plain) == shape(fenced))
}

/// What is left of an instruction.
#[derive(PartialEq, Eq, Debug)]
struct Bone {
    kind: std::mem::Discriminant<Op>,
    span: Span,
    /// Which bones can come next, sorted, for a negated condition may be kept or turned round; none is the end of the code.
    next: Vec<Option<usize>>,
}

fn shape(thread: &Thread) -> Vec<Bone> {
    let code = &thread.code;
    let numbers = numbers(code);
    let bones = code.iter().enumerate().filter(|(at, _)| numbers[*at].is_some());
    let bone = |(at, instr): (usize, &Instr)| {
        let next = successors(&instr.op, InstrId::new(at)).map(|next| resolve(code, &numbers, next.index()));
        let mut next: Vec<Option<usize>> = next.collect();
        next.sort();
        Bone { kind: std::mem::discriminant(&instr.op), span: instr.span, next }
    };
    bones.map(bone).collect()
}

/// The number of each instruction that counts.
fn numbers(code: &[Instr]) -> Vec<Option<usize>> {
    let mut count = 0;
    let mut number = |instr: &Instr| {
        let counts = !matches!(instr.op, Op::Assign { .. } | Op::Jump(_)) && inserted(instr).is_none();
        count += usize::from(counts);
        counts.then(|| count - 1)
    };
    code.iter().map(&mut number).collect()
}

/// The first instruction from here that counts; none if there is none, also where jumps go in a circle.
fn resolve(code: &[Instr], numbers: &[Option<usize>], start: usize) -> Option<usize> {
    let mut at = start;
    for _ in 0..code.len() {
        let instr = code.get(at)?;
        if let Some(number) = numbers[at] {
            return Some(number);
        }
        at = successors(&instr.op, InstrId::new(at)).next()?.index();
    }
    None
}

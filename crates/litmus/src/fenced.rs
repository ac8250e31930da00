//! Programs for models that reorder pairs of accesses: what is said to be in one order with everything stands between two full fences there.
//!
//! This is how the most careful plain compilation of a sequentially consistent access looks, and how the kernel describes its fully ordered
//! functions. What else is said about an access stays, and such models refuse what they do not know.

use cyrano_ir::{FenceSet, Instr, InstrId, Op, Program, Tags, Thread};

/// The program with full fences in place of `seq_cst` and `full`; an access that fails has them as well.
pub fn fenced(program: &Program) -> Program {
    let threads = program.threads.iter().map(thread).collect();
    Program { threads, ..program.clone() }
}

/// Whether there is anything to put fences in place of.
pub fn needs_fences(program: &Program) -> bool {
    program.accesses().any(|access| access.tags.meets(replaced()))
}

fn replaced() -> Tags {
    Tags::SEQ_CST | Tags::FULL
}

fn thread(thread: &Thread) -> Thread {
    let mut code: Vec<Instr> = Vec::new();
    let mut places = Vec::new();
    let mut fence_behind = false;
    for (at, instr) in thread.code.iter().enumerate() {
        let outside = !within(thread, at);
        if matches!(instr.op, Op::AtomicBegin) || outside && instr.op.access().is_some() {
            fence_behind = unit(thread, at).any(|instr| instr.op.access().is_some_and(|a| a.tags.meets(replaced())));
        }
        let starts = matches!(instr.op, Op::AtomicBegin) || outside && instr.op.access().is_some();
        places.push(InstrId::new(code.len()));
        let fence = || Instr { op: Op::fence(FenceSet::FULL), span: instr.span };
        if starts && fence_behind {
            code.push(fence());
        }
        code.push(plain(instr));
        let ends = matches!(instr.op, Op::AtomicEnd) || outside && instr.op.access().is_some();
        if ends && fence_behind {
            code.push(fence());
        }
    }
    for instr in &mut code {
        match &mut instr.op {
            Op::Jump(to) => *to = places[to.index()],
            Op::Branch { then_to, else_to, .. } => {
                *then_to = places[then_to.index()];
                *else_to = places[else_to.index()];
            }
            _ => {}
        }
    }
    Thread { code, ..thread.clone() }
}

/// The same without the tags that fences stand for.
fn plain(instr: &Instr) -> Instr {
    let mut instr = instr.clone();
    if let Some(access) = instr.op.access_mut() {
        if access.tags.meets(replaced()) {
            access.failed = None;
        }
        access.tags = access.tags.without(replaced());
    }
    instr
}

/// Whether an instruction is inside an atomic section, its ends excluded. Sections of litmus tests are written in one piece.
fn within(thread: &Thread, at: usize) -> bool {
    let edge = |instr: &&Instr| matches!(instr.op, Op::AtomicBegin | Op::AtomicEnd);
    let last = thread.code[..at].iter().rev().find(edge);
    last.is_some_and(|instr| matches!(instr.op, Op::AtomicBegin)) && !matches!(thread.code[at].op, Op::AtomicEnd)
}

/// The instruction, or the section that begins with it.
fn unit(thread: &Thread, at: usize) -> impl Iterator<Item = &Instr> {
    let section = matches!(thread.code[at].op, Op::AtomicBegin);
    let len = thread.code[at..].iter().position(|instr| !section || matches!(instr.op, Op::AtomicEnd));
    thread.code[at..=at + len.unwrap_or(0)].iter()
}

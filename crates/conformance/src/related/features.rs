//! What a program has that models about relations differ in.

use cyrano_ir::{Access, AccessKind, Addr, Fence, LocalExpr, Op, Program, RegId, Tags, Thread, UnOp};

/// The features, in the order in which [`features`] has them.
pub const FEATURES: [&str; 12] =
    ["tags", "fences", "addr", "data", "ctrl", "rmw", "pairs", "sections", "rcu", "select", "loops", "choices"];

/// Which of them a program has. Dependencies are those on a register that some load or read-modify-write of the thread fills, before or after.
pub fn features(program: &Program) -> [bool; FEATURES.len()] {
    let threads = || program.threads.iter();
    let any = |test: &dyn Fn(usize, &Op) -> bool| {
        threads().any(|thread| thread.code.iter().enumerate().any(|(at, instr)| test(at, &instr.op)))
    };
    let access = |test: fn(&Access) -> bool| any(&|_, op| op.access().is_some_and(test));
    let depends = |of: fn(&Op) -> Vec<&LocalExpr>| {
        threads().any(|thread| {
            let loaded = loaded(thread);
            thread.code.iter().any(|instr| of(&instr.op).into_iter().any(|expr| reads(expr, &loaded)))
        })
    };
    let rcu = |fence: &Fence| matches!(fence, Fence::Named { name, .. } if name.name().starts_with("rcu"));
    let back = |at: usize, op: &Op| match op {
        Op::Jump(to) => to.index() <= at,
        Op::Branch { then_to, else_to, .. } => then_to.index() <= at || else_to.index() <= at,
        _ => false,
    };
    let selects = |op: &Op| matches!(op, Op::Assign { value, .. } if value.applies(UnOp::Wrap(cyrano_ir::IntType { bits: 1, signed: false })));
    [
        access(|access| !access.tags.without(Tags::EXCLUSIVE).is_empty()),
        any(&|_, op| matches!(op, Op::Fence(fence) if !rcu(fence))),
        depends(addresses),
        depends(written),
        depends(|op| match op {
            Op::Branch { cond, .. } | Op::Assume(cond) => vec![cond],
            _ => Vec::new(),
        }),
        access(|access| access.kind == AccessKind::Rmw),
        access(|access| access.tags.contains(Tags::EXCLUSIVE)),
        any(&|_, op| matches!(op, Op::AtomicBegin)),
        any(&|_, op| matches!(op, Op::Fence(fence) if rcu(fence))),
        any(&|_, op| selects(op)),
        any(&back),
        any(&|_, op| matches!(op, Op::Choose { .. })),
    ]
}

fn addresses(op: &Op) -> Vec<&LocalExpr> {
    match op.access().map(|access| &access.addr) {
        Some(Addr::Indexed { index, .. }) => vec![index],
        _ => Vec::new(),
    }
}

fn written(op: &Op) -> Vec<&LocalExpr> {
    op.access().filter(|access| access.kind.writes()).map(|access| access.operands()).unwrap_or_default()
}

/// The registers that are filled from memory, or from such registers.
fn loaded(thread: &Thread) -> Vec<RegId> {
    let mut loaded: Vec<RegId> = Vec::new();
    loop {
        let known = loaded.len();
        for op in thread.code.iter().map(|instr| &instr.op) {
            let fills = match op {
                Op::Assign { value, .. } => reads(value, &loaded),
                op => op.access().is_some_and(|access| access.kind.reads()),
            };
            let places = op.dst().into_iter().filter(|_| fills);
            let new: Vec<RegId> = places.flat_map(|place| place.registers().map(RegId::new)).collect();
            loaded.extend(new.into_iter().filter(|register| !loaded.contains(register)).collect::<Vec<_>>());
        }
        if loaded.len() == known {
            return loaded;
        }
    }
}

fn reads(expr: &LocalExpr, registers: &[RegId]) -> bool {
    let mut found = false;
    cyrano_ir::dataflow::expr_reads(expr, &mut |register| found |= registers.contains(&register));
    found
}

//! Whether values may come out of thin air: from a circle of writes that are computed from one another.
//!
//! **Argument.** A value that is read was written, and what was written was computed from constants and from values that were read before, and so on. If this goes on for
//! ever, it leads in a circle, and each step of the circle is a write whose value or place was computed from a read. So there is a circle of *locations*: from the location of a read
//! to that of a write which the text computes from it, through registers. Here registers are looked at without regard to the order of instructions, and an index may be
//! any of its array, so that no step is missed. Where locations have no such circle, every value comes from constants after as many writes as an execution has,
//! and symbolic values, which start from constants, miss nothing.
//!
//! A circle of one location alone goes through program order within the location and reads-from, which a coherent model ([`cyrano_memory::cat::Plan::is_coherent`]) forbids.
//! The reference has the same argument for single executions (`values` in `cyrano-interp`).

use cyrano_ir::dataflow::expr_reads;
use cyrano_ir::{Access, Addr, Change, LocalExpr, Op, Program, Thread};
use cyrano_memory::cat::Matrix;

/// Whether some value may come from nowhere but itself.
pub(super) fn has_circles(program: &Program, coherent: bool) -> bool {
    let count = program.locations.len();
    let mut leads = Matrix::new(count);
    program.threads.iter().for_each(|thread| add(program, thread, &mut leads));
    if coherent {
        (0..count).for_each(|location| leads.remove(location, location));
    }
    let ways = leads.closure();
    (0..count).any(|location| ways.contains(location, location))
}

/// Pairs of locations of which the second is written with what was read from the first.
fn add(program: &Program, thread: &Thread, leads: &mut Matrix) {
    let from = register_sources(program, thread);
    for access in thread.code.iter().filter_map(|instr| instr.op.access()).filter(|access| access.kind.writes()) {
        let mut sources: Vec<usize> = Vec::new();
        let exprs = access.operands().into_iter().chain(index(access));
        exprs.for_each(|expr| sources.extend(sources_of(expr, &from)));
        let targets = locations(program, &access.addr);
        if matches!(access.change, Some(Change::Add(_))) {
            sources.extend(targets.clone());
        }
        for target in targets {
            sources.iter().for_each(|source| leads.insert(*source, target));
        }
    }
}

/// For each register the locations that its value may have been computed from.
fn register_sources(program: &Program, thread: &Thread) -> Vec<Vec<usize>> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); thread.registers.len()];
    loop {
        let mut grown = false;
        for op in thread.code.iter().map(|instr| &instr.op) {
            let Some(place) = op.dst() else { continue };
            let mut sources = Vec::new();
            if let cyrano_ir::Place::Elem { index, .. } = place {
                sources.extend(sources_of(index, &from));
            }
            match op {
                Op::Assign { value, .. } => sources.extend(sources_of(value, &from)),
                Op::Access(access) => {
                    sources.extend(locations(program, &access.addr));
                    index(access).into_iter().for_each(|expr| sources.extend(sources_of(expr, &from)));
                }
                _ => {}
            }
            for register in place.registers() {
                for source in &sources {
                    if !from[register].contains(source) {
                        from[register].push(*source);
                        grown = true;
                    }
                }
            }
        }
        if !grown {
            return from;
        }
    }
}

fn index(access: &Access) -> Option<&LocalExpr> {
    match &access.addr {
        Addr::Indexed { index, .. } => Some(index),
        Addr::Fixed(_) => None,
    }
}

fn sources_of(expr: &LocalExpr, from: &[Vec<usize>]) -> Vec<usize> {
    let mut sources = Vec::new();
    expr_reads(expr, &mut |register| sources.extend(from[register.index()].iter().copied()));
    sources
}

/// The locations that an address may mean.
fn locations(program: &Program, addr: &Addr) -> std::ops::Range<usize> {
    match addr {
        Addr::Fixed(location) => location.index()..location.index() + 1,
        Addr::Indexed { array, .. } => {
            let array = &program.arrays[array.index()];
            array.base.index()..array.base.index() + array.len as usize
        }
    }
}

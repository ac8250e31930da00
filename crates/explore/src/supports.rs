//! For which models and programs this engine is exact, and what it says otherwise.

use cyrano_engine::Refusal;
use cyrano_ir::dataflow::{address_depends_on_load, expr_reads, local_index_depends_on_load, successors, writes};
use cyrano_ir::{AccessKind, InstrId, Op, Program, Thread, ThreadId};
use cyrano_memory::{Dependencies, Model};

/// The engine that can run everything, slowly.
const INSTEAD: &str = "interp";

/// Refuses what the queue cannot represent exactly.
pub(crate) fn supports(program: &Program, model: &Model) -> Result<(), Refusal> {
    cyrano_engine::has_own_order(program, model)?;
    if model.own_order && program.own_order(&model.name).is_some() {
        return crate::own::supports(program);
    }
    let (threads, vars) = (program.threads.len(), program.transactional.len());
    if vars > 0 && threads.max(vars) > usize::from(cyrano_criteria::monitor::LIMIT) {
        let limit = cyrano_criteria::monitor::LIMIT;
        return refuse(format!("{threads} threads with {vars} transactional variables; the limit is {limit} of each"));
    }
    let in_order = |kind| model.keeps_all_after(kind);
    if in_order(AccessKind::Load) && in_order(AccessKind::Rmw) {
        let all_in_order = in_order(AccessKind::Store);
        return if model.serial && !all_in_order { refuse(serial_and_weak(model)) } else { Ok(()) };
    }
    if model.serial {
        return refuse(serial_and_weak(model));
    }
    if model.dependencies != Dependencies::ALL {
        return refuse(format!(
            "under {} a load may be performed before an earlier load that it depends on, which would need speculation",
            model.name
        ));
    }
    if let Some((thread, instr)) = address_depends_on_load(program).first() {
        let place = place(program, *thread, *instr);
        return refuse(format!(
            "{place} uses an address that depends on a loaded value, and {} defers loads",
            model.name
        ));
    }
    if let Some((thread, instr)) = local_index_depends_on_load(program).first() {
        let place = place(program, *thread, *instr);
        return refuse(format!(
            "{place} uses an index of a local array that depends on a loaded value, and {} defers loads",
            model.name
        ));
    }
    for thread in program.thread_ids() {
        if let Some(instr) = condition_from_outside(program.thread(thread)) {
            let place = place(program, thread, instr);
            return refuse(format!(
                "{place} decides inside an atomic section by a value that was loaded before it, and {} defers loads",
                model.name
            ));
        }
    }
    Ok(())
}

fn refuse<T>(reason: String) -> Result<T, Refusal> {
    Err(Refusal { reason, instead: INSTEAD })
}

fn serial_and_weak(model: &Model) -> String {
    format!("{} is serial but does not keep every pair of accesses", model.name)
}

fn place(program: &Program, thread: ThreadId, instr: InstrId) -> String {
    format!("instruction {} of thread {}", instr.0, program.thread(thread).name)
}

/// Where a register's value came from, as seen from inside an atomic section. Ordered: later ones win where paths meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    /// Not from memory.
    Nowhere,
    /// From a load of this section.
    Inside,
    /// From a load before the section.
    Outside,
}

/// A branch, `assume` or `limit` in an atomic section whose condition may have been loaded before the section.
///
/// Such a condition orders what follows it but not what precedes it in the section, so the section could neither be issued
/// as a chain nor wait as a whole without losing executions.
fn condition_from_outside(thread: &Thread) -> Option<InstrId> {
    let mut states: Vec<Option<(bool, Vec<From>)>> = vec![None; thread.code.len()];
    let mut work = vec![(InstrId(0), (false, vec![From::Nowhere; thread.registers.len()]))];
    while let Some((pc, (inside, origins))) = work.pop() {
        let merged = match &states[pc.index()] {
            None => origins,
            Some((_, old)) => {
                let merged: Vec<From> = old.iter().zip(&origins).map(|(a, b)| *a.max(b)).collect();
                if merged == *old {
                    continue;
                }
                merged
            }
        };
        states[pc.index()] = Some((inside, merged.clone()));
        let op = &thread.code[pc.index()].op;
        let after = transfer(op, inside, merged);
        work.extend(successors(op, pc).map(|next| (next, after.clone())));
    }
    states.iter().enumerate().find_map(|(pc, state)| {
        let (inside, origins) = state.as_ref()?;
        let (Op::Branch { cond, .. } | Op::Assume(cond) | Op::Limit { cond, .. }) = &thread.code[pc].op else {
            return None;
        };
        let mut outside = false;
        expr_reads(cond, &mut |reg| outside |= origins[reg.index()] == From::Outside);
        (*inside && outside).then(|| InstrId::new(pc))
    })
}

fn transfer(op: &Op, inside: bool, mut origins: Vec<From>) -> (bool, Vec<From>) {
    match op {
        Op::AtomicBegin => {
            for origin in &mut origins {
                *origin = if *origin == From::Nowhere { From::Nowhere } else { From::Outside };
            }
            return (true, origins);
        }
        Op::AtomicEnd => return (false, origins),
        _ => {}
    }
    if let Some(write) = writes(op) {
        let mut origin = From::Nowhere;
        match op {
            Op::Load { .. } | Op::Rmw { .. } => origin = if inside { From::Inside } else { From::Outside },
            _ => op.operands().iter().for_each(|e| expr_reads(e, &mut |reg| origin = origin.max(origins[reg.index()]))),
        }
        for reg in write.registers() {
            let old = if write.is_definite() { From::Nowhere } else { origins[reg.index()] };
            origins[reg.index()] = old.max(origin);
        }
    }
    (inside, origins)
}

//! For which models and programs this engine is exact, and what it says otherwise.

use cyrano_criteria::spec::named::named;
use cyrano_engine::history::size;
use cyrano_engine::{Inexact, Query, Refusal};
use cyrano_ir::dataflow::{address_depends_on_load, expr_reads, local_index_depends_on_load, successors, writes};
use cyrano_ir::{AccessKind, InstrId, Op, Property, Thread, ThreadId, TxCriterion};
use cyrano_memory::{Dependencies, Model};

/// Refuses what the queue cannot represent exactly.
pub(crate) fn supports(query: &Query<'_>) -> Result<(), Refusal> {
    query.reorders()?;
    let (program, model) = (query.program(), query.model());
    if model.own_order(program).is_some() {
        return crate::semantics::declared::supports(program, matches!(query.property(), Some(Property::Progress(_))));
    }
    let (threads, vars) = (program.threads.len(), program.transactional.len());
    if vars > 0 && threads.max(vars) > usize::from(cyrano_criteria::monitor::LIMIT) {
        let limit = cyrano_criteria::monitor::LIMIT;
        let what = format!("{threads} threads with {vars} transactional variables; the limit is {limit} of each");
        return Err(Refusal::TooLarge(what));
    }
    if let Some(Property::Transactions(TxCriterion::Spec(spec))) = query.property()
        && let Err(why) = named(spec.name(), size(program))
    {
        return Err(Refusal::TooLarge(why.to_string()));
    }
    let in_order = |kind| model.reordering().keeps_all_after(kind);
    if in_order(AccessKind::Load) && in_order(AccessKind::Rmw) {
        let all_in_order = in_order(AccessKind::Store);
        return if model.reordering().serial && !all_in_order { Err(serial_and_weak(model)) } else { Ok(()) };
    }
    if model.reordering().serial {
        return Err(serial_and_weak(model));
    }
    if model.reordering().dependencies != Dependencies::ALL {
        return Err(Refusal::Inexact(Inexact::Speculation { model: model.name.clone() }));
    }
    if let Some((thread, instr)) = address_depends_on_load(program).first() {
        return Err(early(query, *thread, *instr, "uses an address that depends on a loaded value"));
    }
    if let Some((thread, instr)) = local_index_depends_on_load(program).first() {
        return Err(early(query, *thread, *instr, "uses an index of a local array that depends on a loaded value"));
    }
    for thread in program.thread_ids() {
        if let Some(instr) = condition_from_outside(program.thread(thread)) {
            let need = "decides inside an atomic section by a value that was loaded before it";
            return Err(early(query, thread, instr, need));
        }
    }
    Ok(())
}

fn serial_and_weak(model: &Model) -> Refusal {
    Refusal::Inexact(Inexact::SerialAndWeak { model: model.name.clone() })
}

/// The instruction does something that takes a value which may not be there yet.
fn early(query: &Query<'_>, thread: ThreadId, instr: InstrId, need: &'static str) -> Refusal {
    let place = format!("instruction {} of thread {}", instr.0, query.program().thread(thread).name);
    Refusal::Inexact(Inexact::Early { place, need, model: query.model().name.clone() })
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
            Op::Access(_) => origin = if inside { From::Inside } else { From::Outside },
            _ => op.operands().iter().for_each(|e| expr_reads(e, &mut |reg| origin = origin.max(origins[reg.index()]))),
        }
        for reg in write.registers() {
            let old = if write.is_definite() { From::Nowhere } else { origins[reg.index()] };
            origins[reg.index()] = old.max(origin);
        }
    }
    (inside, origins)
}

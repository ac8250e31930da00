//! Is a recorded execution one that a model about relations allows, and does it show what is claimed?
//!
//! Each thread is run again with the values that its reads returned, so that it gives events; who reads from whom and in which order writes hit memory is taken
//! from the record, and the model judges the whole.

use cyrano_engine::{Access, Execution, Relations, Replayed, Source, StepFacts, ThreadEnd, Violation};
use cyrano_ir::{Liveness, Program, Property, Quantifier, ThreadId};
use cyrano_memory::Model;
use cyrano_memory::cat::{Cat, Judge};

use super::freed::freed;
use super::goals::{has_race, is_done, outcome, truth, wrong};
use super::graph::Candidate;
use super::hang::{error, hang};
use super::setup;
use super::thread::{Need, Reading, Run, Status};
use super::traces::Trace;
use super::waits::deadlock;
use crate::error::ReplayError;
use crate::goals::decides;

type Result<T> = std::result::Result<T, ReplayError>;

pub(super) fn refuted<T>(what: impl std::fmt::Display) -> Result<T> {
    Err(ReplayError::new(what))
}

/// Checks an execution and the claim that comes with it; see [`crate::confirm`].
pub(crate) fn confirm(
    program: &Program,
    (model, cat): (&Model, &Cat),
    property: &Property,
    violation: Option<&Violation>,
    execution: &Execution,
) -> Result<Replayed> {
    if let Some(setup) = program.setup {
        return setup::confirm(program, (model, cat), property, violation, execution, setup);
    }
    let Some(relations) = &execution.relations else {
        return refuted(format_args!("{} is about relations, and the execution has none", model.name));
    };
    let traces: Result<Vec<Trace<'_>>> = program.thread_ids().map(|thread| rerun(program, execution, thread)).collect();
    let traces = traces?;
    let combination: Vec<&Trace<'_>> = traces.iter().collect();
    let initial = program.initial_memory();
    let mut candidate = Candidate::new(program, cat.plan().data_race().is_some(), &initial, &combination);
    relate(&mut candidate, relations, execution)?;
    let mut judge = Judge::new(cat.plan());
    if let Some((axiom, events)) = judge.objection(&candidate.graph) {
        return refuted(format_args!("{} does not allow it: axiom `{axiom}`, {} events", model.name, events.len()));
    }
    if candidate.execution() != *execution {
        return refuted("its accesses are not those of the program");
    }
    if let (Property::Races, Some(claimed @ Violation::Race { .. })) = (property, violation) {
        if !has_race(&candidate, &judge, claimed) {
            return refuted("these accesses do not race");
        }
    } else {
        claim(program, property, violation, &candidate, &judge)?;
    }
    Ok(replayed(program, &candidate, relations, execution))
}

/// A thread with the values of the record, up to where that ends: in front of the next access, also if it is a store.
fn rerun<'p>(program: &'p Program, execution: &Execution, thread: ThreadId) -> Result<Trace<'p>> {
    let kept = execution.relations.iter().flat_map(|relations| &relations.kept);
    let kept: Vec<usize> = kept.copied().collect();
    let own = execution.order.iter().enumerate().filter(|(_, access)| access.thread == thread);
    let mut run = Run::recorded(program, thread, own.clone().count());
    let mut own = own.map(|(at, access)| (access, kept.contains(&(at + 1))));
    let mut choices = execution.choices.get(thread.index()).cloned().unwrap_or_default().into_iter();
    loop {
        let done = run.accesses.len();
        let need = run.proceed(false);
        // Stores need nothing, so the record may have several before what is needed next.
        for performed in &run.accesses[done..] {
            let recorded = own.next().map(|(access, _)| access.written);
            let written = performed.write.map(|write| run.events[write].value);
            if recorded != Some(written) {
                return refuted(format_args!("a store of {} is not in the record", program.thread(thread).name));
            }
        }
        let stop = |run: Run<'p>| Ok(Trace::new(run, Status::Stopped));
        let went = match need {
            Need::End(status) => return Ok(Trace::new(run, status)),
            Need::Way(_) => unreachable!("only conditions say which way"),
            Need::Choice(from) => match choices.next() {
                Some(value) if from.contains(&value) => run.choose(value),
                Some(value) => return refuted(format_args!("{value} cannot be chosen")),
                None => return stop(run),
            },
            Need::Read(access, loc) => match own.next() {
                Some((Access { read: Some(value), .. }, kept)) => {
                    run.read(access, loc, *value, if kept { Reading::Keeping } else { Reading::Plain })
                }
                Some(_) => return refuted("a load has no value"),
                None => return stop(run),
            },
            Need::Success(access, loc) => match own.next() {
                Some((Access { written, .. }, _)) if written.is_none() || run.is_reserved(loc) => {
                    run.store_exclusive(access, loc, written.is_some())
                }
                Some(_) => return refuted("a store-exclusive without a load-exclusive succeeds"),
                None => return stop(run),
            },
        };
        if let Err(error) = went {
            let status = Status::Failed(run.pc, error);
            return Ok(Trace::new(run, status));
        }
    }
}

/// Puts the recorded relations into the graph; each read has one source, and writes to a location are in one order.
fn relate(candidate: &mut Candidate<'_, '_>, relations: &Relations, execution: &Execution) -> Result<()> {
    let access = |number: usize| execution.order.get(number.wrapping_sub(1));
    let events = |candidate: &Candidate<'_, '_>, number: usize| {
        access(number).and_then(|access| candidate.events_of(access.thread, access.index as usize))
    };
    let of_same = |candidate: &Candidate<'_, '_>, from: usize, to: usize| match from {
        0 => candidate.graph.events[to].loc.and_then(|loc| candidate.initial_write(loc)),
        _ => events(candidate, from).and_then(|(_, write)| write),
    };
    for (from, to) in &relations.rf {
        let Some(read) = events(candidate, *to).and_then(|(read, _)| read) else { return refuted("rf: no such read") };
        match of_same(candidate, *from, read) {
            Some(write) if candidate.sources(read).contains(&write) => candidate.graph.rf.insert(write, read),
            _ => return refuted("rf: a read does not see what it is said to see"),
        }
    }
    for (from, to) in &relations.co {
        let Some(later) = events(candidate, *to).and_then(|(_, write)| write) else {
            return refuted("co: no such write");
        };
        match of_same(candidate, *from, later) {
            Some(write) if candidate.graph.events[write].loc == candidate.graph.events[later].loc => {
                candidate.graph.co.insert(write, later);
            }
            _ => return refuted("co: two writes to different locations"),
        }
    }
    candidate.graph.co = std::mem::take(&mut candidate.graph.co).closure();
    check_shape(candidate)
}

fn check_shape(candidate: &Candidate<'_, '_>) -> Result<()> {
    let graph = &candidate.graph;
    for read in candidate.reads() {
        let sources = (0..graph.events.len()).filter(|write| graph.rf.contains(*write, read)).count();
        if sources != 1 {
            return refuted(format_args!("a read has {sources} sources"));
        }
    }
    for (first, writes) in candidate.writes() {
        let all: Vec<usize> = std::iter::once(first).chain(writes).collect();
        let ordered = |a: usize, b: usize| graph.co.contains(a, b) != graph.co.contains(b, a);
        let total = all.iter().all(|a| all.iter().all(|b| a == b || ordered(*a, *b)));
        if !total || all.iter().any(|write| graph.co.contains(*write, *write) || graph.co.contains(*write, first)) {
            return refuted("the writes to a location are not in one order");
        }
    }
    Ok(())
}

fn claim(
    program: &Program,
    property: &Property,
    violation: Option<&Violation>,
    candidate: &Candidate<'_, '_>,
    judge: &Judge<'_>,
) -> Result<()> {
    let (combination, memory) = (candidate.combination, candidate.memory());
    let ended = is_done(combination);
    match (property, violation) {
        (
            Property::Assertions | Property::Observations(_),
            Some(claimed @ (Violation::Assertion { .. } | Violation::Error { .. })),
        ) => match combination.iter().any(|trace| wrong(trace).as_ref() == Some(claimed))
            || freed(candidate, judge).any(|found| found == *claimed)
        {
            true => Ok(()),
            false => refuted("nothing goes wrong there"),
        },
        (Property::Assertions | Property::Observations(_), Some(claimed @ Violation::Deadlock { .. })) => {
            match deadlock(candidate).as_ref() == Some(claimed) {
                true => Ok(()),
                false => refuted("somebody can go on there"),
            }
        }
        (Property::Assertions, None) => Ok(()),
        (Property::Live(Liveness::Termination), Some(claimed @ Violation::Deadlock { .. })) => {
            match hang(program, candidate).as_ref() == Some(claimed) {
                true => Ok(()),
                false => refuted("somebody can go on there, or does not spin"),
            }
        }
        (Property::Live(Liveness::Termination), Some(claimed @ Violation::Error { .. })) => {
            match combination.iter().any(|trace| error(trace).as_ref() == Some(claimed)) {
                true => Ok(()),
                false => refuted("nothing goes wrong there"),
            }
        }
        (Property::Observations(allowed), Some(Violation::Observation { outcome: claimed })) => {
            let shown = outcome(&program.observed, combination, &memory);
            match ended && shown == *claimed && !allowed.contains(claimed) {
                true => Ok(()),
                false => refuted("it does not end like that"),
            }
        }
        (Property::Final { quantifier, cond, .. }, claimed) => {
            let fits = match claimed {
                None => *quantifier == Quantifier::Exists,
                Some(Violation::FinalState) => *quantifier != Quantifier::Exists,
                Some(_) => false,
            };
            match fits
                && ended
                && freed(candidate, judge).next().is_none()
                && decides(*quantifier, truth(cond, combination, &memory))
            {
                true => Ok(()),
                false => refuted("its final state does not decide the condition"),
            }
        }
        _ => refuted("the violation is of another property"),
    }
}

fn replayed(
    program: &Program,
    candidate: &Candidate<'_, '_>,
    relations: &Relations,
    execution: &Execution,
) -> Replayed {
    let source = |number: usize| {
        let (from, _) = relations.rf.iter().find(|(_, to)| *to == number)?;
        Some(from.checked_sub(1).map_or(Source::Initial, Source::Step))
    };
    let facts = execution.order.iter().enumerate().filter_map(|(at, access)| {
        let performed = candidate.combination[access.thread.index()].run.accesses.get(access.index as usize)?;
        let (kind, instr, loc) = (performed.kind, performed.instr, performed.loc);
        Some(StepFacts { access: *access, kind, instr, loc, source: source(at + 1), overtook: vec![], said: vec![] })
    });
    let end = |trace: &&Trace<'_>| if trace.is_done() { ThreadEnd::Done } else { ThreadEnd::At(trace.run.pc) };
    let registers = |trace: &&Trace<'_>| trace.run.registers.iter().copied().map(Some).collect();
    debug_assert_eq!(program.threads.len(), candidate.combination.len());
    Replayed {
        steps: facts.collect(),
        ends: candidate.combination.iter().map(end).collect(),
        memory: candidate.memory(),
        registers: candidate.combination.iter().map(registers).collect(),
        serial: None,
        relations: Some(Box::new(relations.clone())),
    }
}

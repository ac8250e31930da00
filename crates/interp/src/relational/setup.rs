//! Recorded executions of programs with a setup thread: it runs alone before the others start, so that what it leaves in memory is what memory holds at first.
//!
//! The setup thread is run again on memory of its own, and the rest of the record is checked against the program that starts from there.

use cyrano_engine::{Access, Execution, Relations, Replayed, Source, StepFacts, ThreadEnd, Violation};
use cyrano_ir::{InstrId, Op, Program, Property, ThreadId};
use cyrano_memory::Model;
use cyrano_memory::cat::Cat;

use super::confirm::{confirm as confirm_rest, refuted};
use super::goals::wrong;
use super::thread::{Need, Reading, Run, Status};
use super::traces::Trace;
use crate::error::ReplayError;

type Result<T> = std::result::Result<T, ReplayError>;

/// The setup thread at its end.
struct Prepared<'p> {
    trace: Trace<'p>,
    memory: Vec<i128>,
}

/// Checks an execution and the claim that comes with it.
pub(super) fn confirm(
    program: &Program,
    (model, cat): (&Model, &Cat),
    property: &Property,
    violation: Option<&Violation>,
    execution: &Execution,
    setup: ThreadId,
) -> Result<Replayed> {
    let prepared = run_alone(program, setup, execution)?;
    let (own, rest): (Vec<usize>, Vec<usize>) =
        (0..execution.order.len()).partition(|at| execution.order[*at].thread == setup);
    let told: Vec<Access> = own.iter().map(|at| execution.order[*at]).collect();
    if told != prepared.accesses(setup) {
        return refuted("the setup thread does not do what is recorded");
    }
    let done = prepared.trace.is_done();
    if !done && !rest.is_empty() {
        return refuted("others have started before the setup thread is done");
    }
    let folded = fold(program, setup, &prepared);
    let shown = without(execution, setup, &rest)?;
    let own_fault = wrong(&prepared.trace);
    let replayed = match violation {
        Some(claimed) if own_fault.as_ref() == Some(claimed) => {
            confirm_rest(&folded, (model, cat), &Property::Assertions, None, &shown)?
        }
        _ if !done => return refuted("the setup thread is not done"),
        _ => confirm_rest(&folded, (model, cat), property, violation, &shown)?,
    };
    Ok(prepared.joined(execution, replayed, setup, &rest))
}

/// Runs the setup thread with the choices of the record.
fn run_alone<'p>(program: &'p Program, setup: ThreadId, execution: &Execution) -> Result<Prepared<'p>> {
    let mut choices = execution.choices.get(setup.index()).cloned().unwrap_or_default().into_iter();
    let mut memory = program.initial_memory();
    let mut run = Run::new(program, setup, usize::MAX);
    let status = loop {
        let before = run.events.len();
        let need = run.proceed(false);
        remember(&run, before, &mut memory);
        let went = match need {
            Need::End(status) => break status,
            Need::Way(_) => unreachable!("only conditions say which way"),
            Need::Choice(from) => match choices.next() {
                Some(value) if from.contains(&value) => run.choose(value),
                Some(value) => return refuted(format_args!("{value} cannot be chosen")),
                None => break Status::Stopped,
            },
            Need::Read(access, loc) => {
                let before = run.events.len();
                let went = run.read(access, loc, memory[loc.index()], Reading::Plain);
                remember(&run, before, &mut memory);
                went
            }
            Need::Success(..) => return refuted("the setup thread has an exclusive store"),
        };
        if let Err(error) = went {
            break Status::Failed(run.pc, error);
        }
    };
    Ok(Prepared { trace: Trace::new(run, status), memory })
}

/// Memory after new events.
fn remember(run: &Run<'_>, before: usize, memory: &mut [i128]) {
    for event in run.events.iter().skip(before) {
        if let (cyrano_memory::cat::What::Write, Some(loc)) = (event.what, event.loc) {
            memory[loc.index()] = event.value;
        }
    }
}

/// The program that starts where the setup thread ended. If that has not come to its end, nobody starts.
fn fold(program: &Program, setup: ThreadId, prepared: &Prepared<'_>) -> Program {
    let mut folded = program.clone();
    folded.setup = None;
    for (location, value) in folded.locations.iter_mut().zip(&prepared.memory) {
        location.init = *value;
    }
    let thread = &mut folded.threads[setup.index()];
    for (register, value) in thread.registers.iter_mut().zip(&prepared.trace.run.registers) {
        register.init = *value;
    }
    let halt = thread.code.iter().find(|instr| matches!(instr.op, Op::Halt)).cloned();
    if let Some(first) = thread.code.first().cloned() {
        thread.code = vec![halt.unwrap_or(cyrano_ir::Instr { op: Op::Halt, ..first })];
    }
    folded
}

/// The execution without the setup thread.
fn without(execution: &Execution, setup: ThreadId, rest: &[usize]) -> Result<Execution> {
    let number = |old: usize| match old {
        0 => Some(0),
        _ => rest.binary_search(&(old - 1)).ok().map(|new| new + 1),
    };
    let moved = |pairs: &[(usize, usize)]| -> Option<Vec<(usize, usize)>> {
        pairs.iter().map(|(from, to)| Some((number(*from)?, number(*to)?))).collect()
    };
    let relations = execution.relations.as_deref().cloned().unwrap_or_default();
    let moved = (moved(&relations.rf), moved(&relations.co), moved(&relations.fr));
    let (Some(rf), Some(co), Some(fr)) = moved else { return refuted("a relation has an access of the setup thread") };
    let kept = relations.kept.iter().filter_map(|old| number(*old)).collect();
    let mut choices = execution.choices.clone();
    choices.resize(choices.len().max(setup.index() + 1), Vec::new());
    choices[setup.index()].clear();
    let order = rest.iter().map(|at| execution.order[*at]).collect();
    Ok(Execution { order, choices, relations: Some(Box::new(Relations { rf, co, fr, kept })) })
}

impl Prepared<'_> {
    fn accesses(&self, setup: ThreadId) -> Vec<Access> {
        let run = &self.trace.run;
        let value = |event: Option<usize>| event.map(|event| run.events[event].value);
        let access = |(index, done): (usize, &super::thread::Performed)| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            Access { thread: setup, index, read: value(done.read), written: value(done.write) }
        };
        run.accesses.iter().enumerate().map(access).collect()
    }

    /// What was found out about the rest, and about the setup thread.
    fn joined(&self, execution: &Execution, rest: Replayed, setup: ThreadId, places: &[usize]) -> Replayed {
        let run = &self.trace.run;
        let mut steps: Vec<Option<StepFacts>> = vec![None; execution.order.len()];
        let own: Vec<usize> = (0..steps.len()).filter(|at| places.binary_search(at).is_err()).collect();
        let mut last = vec![None; self.memory.len()];
        for (at, performed) in own.iter().zip(&run.accesses) {
            let (kind, instr, loc) = (performed.kind, performed.instr, performed.loc);
            let source = performed.read.map(|_| last[loc.index()].map_or(Source::Initial, Source::Step));
            let access = execution.order[*at];
            steps[*at] = Some(StepFacts { access, kind, instr, loc, source, overtook: vec![], said: vec![] });
            if performed.write.is_some() {
                last[loc.index()] = Some(*at);
            }
        }
        for (at, mut facts) in places.iter().zip(rest.steps) {
            facts.source = facts.source.map(|source| match source {
                Source::Step(from) => Source::Step(places[from]),
                Source::Initial => last[facts.loc.index()].map_or(Source::Initial, Source::Step),
                other => other,
            });
            steps[*at] = Some(facts);
        }
        let mut ends = rest.ends;
        ends[setup.index()] = if self.trace.is_done() { ThreadEnd::Done } else { ThreadEnd::At(run.pc) };
        if !self.trace.is_done() {
            let others = ends.iter_mut().enumerate().filter(|(thread, _)| *thread != setup.index());
            others.for_each(|(_, end)| *end = ThreadEnd::At(InstrId(0)));
        }
        let mut registers = rest.registers;
        registers[setup.index()] = run.registers.iter().copied().map(Some).collect();
        let relations = execution.relations.clone();
        Replayed { steps: steps.into_iter().flatten().collect(), ends, registers, relations, ..rest }
    }
}

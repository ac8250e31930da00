//! Commit-atomicity of one execution (Flanagan, section 4), straight from the definition: the blocks that committed are run again on a
//! memory of their own, one at a time in the order of their commits, and the two are compared.
//!
//! - An access outside of blocks, or an atomic section of them, is a *unit* like a block; it commits when it is performed.
//! - A block commits at the step at which the access before its commit point and everything that decided the way there are performed.
//!   If an earlier unit of the same thread has not committed by then, it is run first: the serial run keeps the program's order.
//! - A unit *has ended* when all accesses up to its end are performed. Then it handed on its results, and every register that may still
//!   be read; the serial run must hand on the same.
//! - When of every thread exactly the units up to some point are performed, memory must be the same.
//! - A choice within a block is made anew in the serial run, in every possible way; one of them must fit.

use cyrano_engine::{Difference, Obstacle, SerialRun, SerialUnit};
use cyrano_ir::dataflow::{Liveness, expr_reads};
use cyrano_ir::{InstrId, LocId, Op, Program, RegId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::ReplayError;
use crate::machine::Machine;
use crate::machine::stepped::{Mark, MarkKind, Step};
use crate::order::{Placing, Written};
use crate::replay::Replay;

/// How long a serial run of one block may take.
const PATIENCE: usize = 1 << 20;

/// Where the serial run of an execution's blocks parts from it.
pub(crate) fn part(program: &Program, replay: &Replay<'_>, placing: &Placing<'_>) -> Result<SerialRun, ReplayError> {
    let live = Liveness::of_program(program);
    let judge = Judge { program, replay, placing, live: &live, positions: positions(placing) };
    judge.part()
}

/// For every performed access, by number, its step.
fn positions(placing: &Placing<'_>) -> FxHashMap<usize, usize> {
    placing.order.iter().enumerate().map(|(step, event)| (*event, step)).collect()
}

/// A block, or an access outside of blocks, in the order of the program.
struct Unit<'a> {
    /// Its first instruction.
    instr: InstrId,
    name: Option<String>,
    /// Its first access.
    first: usize,
    /// The step at which it commits.
    step: Option<usize>,
    /// Its end, if the thread got there.
    end: Option<&'a Mark>,
}

/// Where a thread stands, its registers, and memory.
type Circumstances = (InstrId, Vec<Option<i128>>, Vec<i128>);

/// One way in which the serial run can go.
#[derive(Clone)]
struct Member<'p> {
    memory: Vec<i128>,
    machines: Vec<Machine<'p>>,
}

/// Why a way ends.
#[derive(Clone, Copy)]
struct Stuck {
    at: InstrId,
    why: Obstacle,
}

struct Judge<'a, 'p> {
    program: &'p Program,
    replay: &'a Replay<'p>,
    placing: &'a Placing<'a>,
    live: &'a [Liveness],
    positions: FxHashMap<usize, usize>,
}

impl<'p> Judge<'_, 'p> {
    fn part(&self) -> Result<SerialRun, ReplayError> {
        let units: Vec<Vec<Unit<'_>>> = self.program.thread_ids().map(|thread| self.units(thread)).collect();
        let machines = self.replay.threads.iter().map(|run| Machine::new(run.machine.code)).collect();
        let mut members = vec![Member { memory: self.program.initial_memory(), machines }];
        let mut done = vec![0; units.len()];
        let mut order = Vec::new();
        let mut moment = 0;
        for (step, thread, upto) in commits(&units) {
            if let Some(difference) = self.moments(moment..step, &units, &mut members) {
                return Ok(SerialRun { units: order, difference });
            }
            moment = step;
            while done[thread] <= upto {
                let unit = &units[thread][done[thread]];
                let thread_id = ThreadId::new(thread);
                let name = unit.name.clone();
                order.push(SerialUnit { thread: thread_id, name, instr: unit.instr, step });
                done[thread] += 1;
                let mut stuck = None;
                members = members.into_iter().flat_map(|member| self.run_unit(member, thread, &mut stuck)).collect();
                if let (true, Some(Stuck { at, why })) = (members.is_empty(), stuck) {
                    let difference = Difference::Stuck { thread: thread_id, instr: unit.instr, at, why };
                    return Ok(SerialRun { units: order, difference });
                }
            }
        }
        let last = self.placing.order.len().saturating_sub(1);
        if let Some(difference) = self.moments(moment..last, &units, &mut members) {
            return Ok(SerialRun { units: order, difference });
        }
        let difference = match self.first_difference(&units, &mut members) {
            Some(difference) => difference,
            None => self.memory_difference(&units, &members)?,
        };
        Ok(SerialRun { units: order, difference })
    }

    /// The units of a thread, as far as it got.
    fn units(&self, thread: ThreadId) -> Vec<Unit<'_>> {
        let machine = &self.replay.threads[thread.index()].machine;
        let mut units = Vec::new();
        let mut block: Option<Unit<'_>> = None;
        let mut first = 0;
        for mark in &machine.marks {
            match mark.kind {
                MarkKind::Begin => {
                    let name = self.name(thread, mark.pc);
                    block = Some(Unit { instr: mark.pc, name, first: mark.events, step: None, end: None });
                }
                MarkKind::Commit => {
                    let step = self.step(thread, mark, mark.events - 1);
                    block.iter_mut().for_each(|unit| unit.step = step);
                }
                MarkKind::End => {
                    units.extend(block.take().map(|unit| Unit { end: Some(mark), ..unit }));
                    first = mark.events;
                }
                MarkKind::After => {
                    let step = self.step(thread, mark, mark.events - 1);
                    let instr = machine.events[first].instr;
                    units.push(Unit { instr, name: None, first, step, end: Some(mark) });
                    first = mark.events;
                }
            }
        }
        units.extend(block);
        units
    }

    fn name(&self, thread: ThreadId, pc: InstrId) -> Option<String> {
        match &self.program.instr(thread, pc).op {
            Op::BlockBegin(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// The step at which an access of a thread, and what decided that a mark was reached, are performed.
    fn step(&self, thread: ThreadId, mark: &Mark, access: usize) -> Option<usize> {
        let start = self.placing.events.start[thread.index()];
        let needed = mark.control.iter().chain([access]);
        needed
            .map(|event| self.positions.get(&(start + event)).copied())
            .try_fold(0, |last, step| Some(last.max(step?)))
    }

    /// Runs a unit of a thread in every possible way.
    fn run_unit(&self, member: Member<'p>, thread: usize, stuck: &mut Option<Stuck>) -> Vec<Member<'p>> {
        let mut todo = vec![member];
        let mut done = Vec::new();
        let mut chosen_at = FxHashSet::default();
        while let Some(mut member) = todo.pop() {
            let ends = ends(&member.machines[thread]);
            let mut watch = Watch::default();
            loop {
                if ends_since(&member.machines[thread], ends) {
                    done.push(member);
                    break;
                }
                if member.chooses_again(thread, &mut chosen_at) {
                    break;
                }
                let fault = self.advance(&mut member, thread, &mut todo).err();
                let fault = fault.or_else(|| watch.repeats(&member, thread).then_some(Obstacle::Loops));
                if let Some(why) = fault {
                    stuck.get_or_insert(Stuck { at: member.machines[thread].pc, why });
                    break;
                }
            }
        }
        done
    }

    fn advance(&self, member: &mut Member<'p>, thread: usize, todo: &mut Vec<Member<'p>>) -> Result<(), Obstacle> {
        let machine = &mut member.machines[thread];
        match machine.step() {
            Step::Local | Step::Back(_) => Ok(()),
            Step::Stored => {
                member.note(thread);
                Ok(())
            }
            Step::Read(request) => {
                let value = member.memory[request.loc.index()];
                machine.read(request, Some(value));
                member.note(thread);
                Ok(())
            }
            Step::Choose(from) => self.choose(member, thread, from, todo),
            Step::Refused | Step::Limited | Step::Missing | Step::Halted => Err(Obstacle::Waits),
            Step::Failed(_) => Err(Obstacle::Fails),
        }
    }

    /// A choice outside of blocks is the one that was made; within a block it is made anew.
    fn choose(
        &self,
        member: &mut Member<'p>,
        thread: usize,
        from: &[i128],
        todo: &mut Vec<Member<'p>>,
    ) -> Result<(), Obstacle> {
        let machine = &member.machines[thread];
        let made = &self.replay.threads[thread].machine.outside_choices;
        let values = match made.get(machine.outside_choices.len()) {
            Some(value) if !machine.in_block() => std::slice::from_ref(value),
            None if !machine.in_block() => return Err(Obstacle::Waits),
            _ => from,
        };
        let (first, others) = values.split_first().ok_or(Obstacle::Waits)?;
        for value in others {
            let mut other = member.clone();
            other.machines[thread].choose(*value);
            todo.push(other);
        }
        match member.machines[thread].choose(*first) {
            Step::Failed(_) => Err(Obstacle::Fails),
            _ => Ok(()),
        }
    }

    /// Drops the ways in which a unit that has ended handed on something else; the first such difference if none is left.
    fn first_difference(&self, units: &[Vec<Unit<'_>>], members: &mut Vec<Member<'p>>) -> Option<Difference> {
        let mut found = None;
        members.retain(|member| {
            let difference = units.iter().enumerate().find_map(|(thread, units)| {
                let ends = member.machines[thread].marks.iter().filter(|mark| mark.kind.ends());
                let mut pairs = units.iter().zip(ends);
                pairs.find_map(|(unit, serial)| self.hands_on(thread, unit, serial))
            });
            let fits = difference.is_none();
            found = found.take().or(difference);
            fits
        });
        found.filter(|_| members.is_empty())
    }

    fn hands_on(&self, thread: usize, unit: &Unit<'_>, serial: &Mark) -> Option<Difference> {
        let real = unit.end.filter(|mark| self.is_prefix(thread, mark.events))?;
        let observed = self.observed(thread, real);
        let values: Vec<(RegId, i128, i128)> = observed
            .into_iter()
            .filter_map(|reg| {
                let (real, serial) = (real.registers[reg.index()]?, serial.registers[reg.index()]?);
                (real != serial).then_some((reg, real, serial))
            })
            .collect();
        let thread = ThreadId::new(thread);
        (!values.is_empty() || real.pc != serial.pc).then_some(Difference::HandedOn {
            thread,
            instr: unit.instr,
            values,
        })
    }

    /// The registers that a unit hands on at its end.
    fn observed(&self, thread: usize, end: &Mark) -> Vec<RegId> {
        let code = &self.program.threads[thread].code;
        let (after, results) = match &code[end.pc.index()].op {
            Op::BlockEnd(results) if end.kind == MarkKind::End => (InstrId(end.pc.0 + 1), results.as_slice()),
            _ => (end.pc, [].as_slice()),
        };
        let registers = (0..self.program.threads[thread].registers.len()).map(RegId::new);
        let mut observed: Vec<RegId> = registers.filter(|reg| self.live[thread].is_live(after, *reg)).collect();
        results.iter().for_each(|result| expr_reads(result, &mut |reg| observed.push(reg)));
        observed
    }

    /// Whether the first accesses of a thread, that many, are performed.
    fn is_prefix(&self, thread: usize, events: usize) -> bool {
        let start = self.placing.events.start[thread];
        (start..start + events).all(|event| self.placing.placed.contains(event))
    }

    /// Drops the ways with another memory at a moment on the way, behind one of these steps, at which of every thread exactly the units up to some
    /// point were performed; what differs, if none is left.
    fn moments(
        &self,
        steps: std::ops::Range<usize>,
        units: &[Vec<Unit<'_>>],
        members: &mut Vec<Member<'p>>,
    ) -> Option<Difference> {
        for performed in steps.map(|step| step + 1) {
            let quiet = (0..units.len()).all(|thread| self.is_quiet(thread, &units[thread], performed));
            let Some(memory) = self.memory_after(performed).filter(|_| quiet) else { continue };
            let parted = parting(&memory, members);
            members.retain(|member| member.memory == memory);
            if members.is_empty() {
                return Some(parted);
            }
        }
        None
    }

    /// Memory after that many steps, if all values are known.
    fn memory_after(&self, steps: usize) -> Option<Vec<i128>> {
        let mut memory = self.program.initial_memory();
        for event in &self.placing.order[..steps] {
            let facts = &self.placing.events.list[*event];
            match facts.written {
                Written::Nothing => {}
                Written::Value(value) => memory[facts.loc.index()] = value,
                Written::Unknown => return None,
            }
        }
        Some(memory)
    }

    fn memory_difference(&self, units: &[Vec<Unit<'_>>], members: &[Member<'p>]) -> Result<Difference, ReplayError> {
        let all = self.placing.order.len();
        if let Some(thread) = (0..units.len()).find(|thread| !self.is_quiet(*thread, &units[*thread], all)) {
            let name = self.program.threads[thread].name.clone();
            return no_difference(&format!("{name} is in a block"));
        }
        let memory = self.placing.memory(&self.program.initial_memory());
        if members.iter().any(|member| member.memory == memory) {
            return no_difference("memory is the same");
        }
        Ok(parting(&memory, members))
    }

    /// Whether after that many steps exactly the units up to some point are performed.
    fn is_quiet(&self, thread: usize, units: &[Unit<'_>], steps: usize) -> bool {
        let start = self.placing.events.start[thread];
        let issued = self.replay.threads[thread].machine.events.len();
        let is_performed = |event: usize| self.positions.get(&event).is_some_and(|step| *step < steps);
        let performed = (start..start + issued).filter(|event| is_performed(*event)).count();
        let begun = |unit: &&Unit<'_>| unit.first < performed;
        (start..start + performed).all(is_performed)
            && units.iter().filter(begun).all(|unit| unit.end.is_some_and(|end| end.events <= performed))
    }
}

/// How memory differs from that of the way that is nearest to it.
fn parting(memory: &[i128], members: &[Member<'_>]) -> Difference {
    let nearest = members.iter().min_by_key(|member| differing(memory, &member.memory).count());
    let values = nearest.map(|member| differing(memory, &member.memory).collect()).unwrap_or_default();
    Difference::Memory { values }
}

fn differing<'m>(real: &'m [i128], serial: &'m [i128]) -> impl Iterator<Item = (LocId, i128, i128)> + 'm {
    let pairs = real.iter().zip(serial).enumerate();
    pairs.filter(|(_, (real, serial))| real != serial).map(|(loc, (real, serial))| (LocId::new(loc), *real, *serial))
}

/// The commits by step: when, whose, and which of its units.
fn commits(units: &[Vec<Unit<'_>>]) -> Vec<(usize, usize, usize)> {
    let all = units.iter().enumerate().flat_map(|(thread, units)| {
        units.iter().enumerate().filter_map(move |(number, unit)| Some((unit.step?, thread, number)))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_unstable();
    all
}

/// How many units a machine has passed.
fn ends(machine: &Machine<'_>) -> usize {
    machine.marks.iter().filter(|mark| mark.kind.ends()).count()
}

fn ends_since(machine: &Machine<'_>, before: usize) -> bool {
    machine.marks.last().is_some_and(|mark| mark.kind.ends()) && ends(machine) > before
}

impl Member<'_> {
    /// Whether another way has made the choice that comes next, in the same circumstances.
    fn chooses_again(&self, thread: usize, chosen_at: &mut FxHashSet<Circumstances>) -> bool {
        let machine = &self.machines[thread];
        let chooses = matches!(machine.op(), Op::Choose { .. }) && machine.in_block();
        chooses && !chosen_at.insert((machine.pc, machine.registers.clone(), self.memory.clone()))
    }

    /// The last access takes effect.
    fn note(&mut self, thread: usize) {
        let event = self.machines[thread].events.last().expect("called after an access");
        if let Written::Value(value) = event.written {
            self.memory[event.loc.index()] = value;
        }
    }
}

/// Notices a run that comes back to where it was: compares with a state that is renewed at powers of two.
#[derive(Default)]
struct Watch {
    steps: usize,
    seen: Option<Circumstances>,
}

impl Watch {
    fn repeats(&mut self, member: &Member<'_>, thread: usize) -> bool {
        let machine = &member.machines[thread];
        let same = self.seen.as_ref().is_some_and(|(pc, registers, memory)| {
            *pc == machine.pc && *registers == machine.registers && *memory == member.memory
        });
        self.steps += 1;
        if self.steps.is_power_of_two() {
            self.seen = Some((machine.pc, machine.registers.clone(), member.memory.clone()));
        }
        same || self.steps > PATIENCE
    }
}

fn no_difference<T>(why: &str) -> Result<T, ReplayError> {
    Err(ReplayError::new(format_args!("the serial run of the blocks does not part from it: {why}")))
}

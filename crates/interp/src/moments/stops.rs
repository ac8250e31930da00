//! Where a thread stands between its instructions: the positions that moments are made of (`cyrano_engine::moments`).
//!
//! A thread is run again with the values that its reads returned, and stops are noted outside of atomic sections. The run ends where it needs a value
//! or a choice that is not there, where it has come back to a stop with the same registers and no access in between (Brent's search for circles: an earlier stop
//! is kept, and replaced after twice as many steps), and behind as many stops as a thread of the reference has instructions.
//! What it passes behind such a stop it has passed already, with fewer fences behind the accesses that may be outstanding: every moment there is one before.

use cyrano_ir::{AccessKind, FenceSet, InstrId};
use cyrano_memory::Model;

use crate::local::INSTRUCTION_LIMIT;
use crate::machine::stepped::Step;
use crate::machine::{Code, Machine, SECTION_LIMIT};
use crate::set::EventSet;

/// A position of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The next instruction.
    pub(crate) pc: InstrId,
    /// How many accesses, fences and choices stand before it.
    pub(crate) events: usize,
    pub(crate) fences: usize,
    pub(crate) choices: usize,
    pub(crate) registers: Vec<Option<i128>>,
}

/// A run of a thread from stop to stop.
#[derive(Clone, Debug)]
pub(crate) struct Stops {
    pub(crate) list: Vec<Stop>,
    /// The kinds of its accesses, and its fences, each with the number of accesses before it.
    kinds: Vec<AccessKind>,
    fences: Vec<(usize, FenceSet)>,
}

/// The stops of a thread, in order. `read` says what the access of a number returns: nothing ends the run, no value is that of a deferred load.
pub(crate) fn stops(code: Code<'_>, read: impl Fn(usize) -> Option<Option<i128>>, choices: &[i128]) -> Stops {
    let mut machine = Machine::new(code);
    let mut list: Vec<Stop> = vec![Stop::of(&machine)];
    let (mut kept, mut patience, mut inside) = (0, 1, 0);
    while step(&mut machine, &read, choices) && inside <= SECTION_LIMIT && list.len() <= INSTRUCTION_LIMIT {
        if machine.in_section() {
            inside += 1;
            continue;
        }
        inside = 0;
        let stop = Stop::of(&machine);
        let earlier = &list[kept];
        let as_far = earlier.is_as_far_as(&stop);
        if as_far && earlier.pc == stop.pc && earlier.registers == stop.registers {
            break;
        }
        if !as_far || list.len() - kept == patience {
            patience = if as_far { 2 * patience } else { 1 };
            kept = list.len();
        }
        list.push(stop);
    }
    Stops { list, kinds: machine.events.iter().map(|event| event.kind).collect(), fences: machine.fences }
}

/// Executes an instruction, if all that it needs is there.
fn step(machine: &mut Machine<'_>, read: &impl Fn(usize) -> Option<Option<i128>>, choices: &[i128]) -> bool {
    let next = read(machine.events.len());
    if next.is_none() && machine.op().event_kind().is_some() {
        return false;
    }
    match machine.step() {
        Step::Local | Step::Stored | Step::Back(_) => true,
        Step::Read(request) => {
            machine.read(request, next.flatten());
            true
        }
        Step::Choose(_) => {
            let chosen = choices.get(machine.choices.len()).map(|value| machine.choose(*value));
            matches!(chosen, Some(Step::Local | Step::Back(_)))
        }
        Step::Refused | Step::Limited | Step::Missing | Step::Failed(_) | Step::Halted => false,
    }
}

impl Stops {
    /// Whether a thread may be at a stop when `placed` of its accesses, by number, are performed: rules 1 and 2. The run itself sees to rule 3, if it was
    /// given the values of these accesses and no others.
    pub(crate) fn admit(&self, stop: &Stop, placed: &EventSet, model: &Model) -> bool {
        let performed = placed.iter().all(|event| event < stop.events);
        let outstanding = |event: usize| {
            let fences = self.fences[..stop.fences].iter().filter(|(before, _)| *before > event);
            let fences = fences.fold(FenceSet::NONE, |all, (_, set)| all | *set);
            model.reordering().may_be_outstanding(self.kinds[event], fences)
        };
        let mut waiting = (0..stop.events).filter(|event| !placed.contains(*event));
        performed && waiting.all(outstanding)
    }
}

impl Stop {
    fn of(machine: &Machine<'_>) -> Self {
        Self {
            pc: machine.pc,
            events: machine.events.len(),
            fences: machine.fences.len(),
            choices: machine.choices.len(),
            registers: machine.registers.clone(),
        }
    }

    fn is_as_far_as(&self, other: &Self) -> bool {
        (self.events, self.choices) == (other.events, other.choices)
    }
}

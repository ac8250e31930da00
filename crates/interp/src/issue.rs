//! From an issued access to an [`Event`]: which program-earlier accesses axioms 1, 2 and 3 put before it.

use cyrano_ir::{AccessKind, FenceSet, InstrId, LocId, Op};
use cyrano_memory::Model;

use crate::machine::Machine;
use crate::order::{Event, Written};
use crate::set::EventSet;

/// An access as the machine issued it, before the model is asked.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    pub(crate) kind: AccessKind,
    pub(crate) instr: InstrId,
    pub(crate) loc: LocId,
    pub(crate) read: Option<i128>,
    pub(crate) written: Written,
    /// What the value that it writes or compares with was computed from.
    pub(crate) data: EventSet,
    /// What the value that it writes was computed from.
    pub(crate) flow: EventSet,
    /// What its address was computed from.
    pub(crate) address: EventSet,
    /// What decided that it is executed.
    pub(crate) control: EventSet,
    /// What it follows by the program's own order, its operands apart (axiom 9).
    pub(crate) follows: EventSet,
    /// Whether the value it writes is computed from the one it reads itself.
    pub(crate) computes: bool,
    pub(crate) unit: Option<u32>,
    /// What a call or a response names, as far as it is known.
    pub(crate) said: Vec<Option<i128>>,
}

/// The machine's accesses as events, in its own numbering.
pub(crate) fn events(machine: &Machine<'_>) -> Vec<Event> {
    let mut events: Vec<Event> = (0..machine.events.len()).map(|number| event(machine, number)).collect();
    let halted = matches!(machine.code.op(machine.pc), Op::Halt);
    if machine.code.model.reordering().serial && !halted {
        let unfinished = events.last_mut().filter(|last| last.unit.is_some() && last.unit == machine.unit());
        unfinished.into_iter().for_each(|last| last.unfinished = true);
    }
    events
}

fn event(machine: &Machine<'_>, number: usize) -> Event {
    let issued = &machine.events[number];
    let (program, model) = (machine.code.program, machine.code.model);
    let depends = dependencies(model, issued);
    let mut fenced = EventSet::default();
    let mut before = depends.clone();
    if machine.code.own_order.is_some() {
        [&issued.follows, &issued.data, &issued.address].into_iter().for_each(|set| before.absorb(set));
    }
    let mut fences = FenceSet::NONE;
    let mut passed = machine.fences.iter().rev().skip_while(|(at, _)| *at > number).peekable();
    // Going backwards from the access, `fences` is the union of the fences between: a union orders what a member orders.
    for (earlier, first) in machine.events[..number].iter().enumerate().rev() {
        while let Some((_, set)) = passed.next_if(|(at, _)| *at > earlier) {
            fences |= *set;
        }
        if fences.orders(first.kind, issued.kind) {
            fenced.insert(earlier);
        }
        if keeps(machine, first, issued) {
            before.insert(earlier);
        }
    }
    before.absorb(&fenced);
    let mut flow = EventSet::default();
    if issued.kind.writes() {
        flow.absorb(&issued.flow);
        flow.absorb(&issued.address);
    }
    Event {
        thread: machine.code.thread,
        index: u32::try_from(number).expect("a thread issues fewer accesses than that"),
        kind: issued.kind,
        instr: issued.instr,
        loc: issued.loc,
        guard: program.guard(issued.loc, issued.kind).map(|header| (header, program.guard_error(issued.loc))),
        read: issued.read,
        written: issued.written,
        before,
        fenced,
        depends,
        flow,
        computes: issued.computes,
        unit: issued.unit,
        unfinished: false,
        said: issued.said.clone(),
    }
}

/// Axioms 1 and 10, with the events of transactions: these follow certain earlier accesses and precede all later ones.
fn keeps(machine: &Machine<'_>, first: &Issued, second: &Issued) -> bool {
    let tied = || second.kind != AccessKind::Mark && machine.code.program.is_tied(first.loc, second.loc);
    if first.kind == AccessKind::Mark || tied() {
        return true;
    }
    match machine.code.op(second.instr) {
        Op::Transaction(_) if machine.code.own_order.is_some() => true,
        Op::Transaction(event) => {
            let data = machine.code.program.transactional.contains(&first.loc);
            event.follows(first.kind, data)
        }
        Op::Invoke { .. } | Op::Respond(_) => true,
        _ => {
            let same = first.loc == second.loc && !machine.code.program.is_witness(first.loc);
            machine.code.model.reordering().keeps(first.kind, second.kind, same)
        }
    }
}

/// Axiom 3, as far as the model keeps it.
fn dependencies(model: &Model, issued: &Issued) -> EventSet {
    let mut depends = EventSet::default();
    if model.reordering().dependencies.data {
        depends.absorb(&issued.data);
    }
    if model.reordering().dependencies.address {
        depends.absorb(&issued.address);
    }
    if model.reordering().control_orders(issued.kind) {
        depends.absorb(&issued.control);
    }
    depends
}

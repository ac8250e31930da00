//! Base sets and relations over the events of an unrolled program, as the reference has them for one execution.

use cyrano_ir::Fence;
use cyrano_memory::cat::Base;

use super::events::{Act, Events};
use super::faults::Fault;
use crate::execute::eval::{DIRECT, Taint};
use crate::execute::event::Event;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::order::same_address;

impl Events<'_> {
    /// Whether an event belongs to a set, where it is executed.
    pub(super) fn member(&self, base: Base, part: usize, gates: &mut Gates) -> Lit {
        let it = &self.parts[part];
        let fence = |test: &dyn Fn(Fence) -> bool| matches!(it.act, Act::Fence(fence) if test(fence));
        Lit::from(match base {
            Base::Events => true,
            Base::Reads => it.act == Act::Read,
            Base::Writes => it.act == Act::Write,
            Base::Fences => fence(&|_| true),
            Base::Rmws => return it.rmw,
            Base::Initial => it.thread.is_none(),
            Base::Tagged(tags) => match it.failed {
                Some((failed, fails)) if failed.meets(tags) != it.tags.meets(tags) => {
                    return if failed.meets(tags) { fails } else { !fails };
                }
                _ => it.tags.meets(tags),
            },
            Base::Named(wanted) => fence(&|fence| matches!(fence, Fence::Named { name, .. } if name == wanted)),
            Base::Kinds(kinds) => fence(&|fence| matches!(fence, Fence::Kinds(set) if set.meets(kinds))),
            Base::Ordering(kinds) => fence(&|fence| fence.kinds().is_some_and(|set| set.meets(kinds))),
            Base::Final => {
                let later = self.co.iter().filter(|(first, ..)| *first == part);
                let later: Vec<(usize, Lit)> = later.map(|(_, second, lit)| (*second, *lit)).collect();
                let later: Vec<Lit> =
                    later.into_iter().map(|(second, lit)| gates.and(lit, self.parts[second].guard)).collect();
                return if it.act == Act::Write { !gates.any(later) } else { FALSE };
            }
            _ => false,
        })
    }

    /// The pairs of a relation, each with the literal that says that it is one where both are executed.
    pub(super) fn pairs(&self, base: Base, gates: &mut Gates) -> Vec<(usize, usize, Lit)> {
        let all = 0..self.parts.len();
        let thread = |part: usize| self.parts[part].thread;
        let flow = |event: &Event, act: Act| match act {
            Act::Write => event.from.flow.clone(),
            _ => Taint::default(),
        };
        match base {
            Base::Identity => all.map(|part| (part, part, TRUE)).collect(),
            Base::ProgramOrder | Base::SameThread => {
                let both = base == Base::SameThread;
                let mut pairs = Vec::new();
                for second in all {
                    let own = |first: &usize| thread(*first).is_some() && thread(*first) == thread(second);
                    pairs.extend((0..second).filter(own).map(|first| (first, second, TRUE)));
                    if both {
                        pairs.extend((0..second).filter(own).map(|first| (second, first, TRUE)));
                        pairs.push((second, second, TRUE));
                    }
                }
                pairs
            }
            Base::Address => self.sources(&|event, _| event.from.address.clone()),
            Base::Data | Base::DirectData if Fault::ForgetData.is_on() => Vec::new(),
            Base::Control if Fault::ForgetControl.is_on() => Vec::new(),
            Base::Data => self.sources(&flow),
            Base::DirectAddress => self.sources(&|event, _| direct(&event.from.address)),
            Base::DirectData => self.sources(&|event, act| direct(&flow(event, act))),
            Base::Compared => self.sources(&|event, act| match act {
                Act::Read => event.from.compared.clone(),
                _ => Taint::default(),
            }),
            Base::Control => {
                let mut pairs = self.sources(&|event, _| event.from.control.clone());
                for (number, part) in self.parts.iter().enumerate() {
                    if let Act::Fence(_) = part.act {
                        let control = &self.set.run.fences[part.instr.index()].control;
                        self.add(&mut pairs, control, number, None);
                    }
                }
                pairs
            }
            Base::ReadsFrom => self.rf.clone(),
            Base::Coherence => self.co.clone(),
            Base::SameLocation => {
                let mut pairs = Vec::new();
                for first in all.clone() {
                    for second in first..self.parts.len() {
                        let (a, b) = (&self.parts[first], &self.parts[second]);
                        if !a.address.meets(&b.address) {
                            continue;
                        }
                        let own =
                            Fault::AlwaysThere.is_on() || first == second || a.event.is_some() && a.event == b.event;
                        let lit = if own { TRUE } else { same_address(gates, &a.address, &b.address) };
                        pairs.push((first, second, lit));
                        if first != second {
                            pairs.push((second, first, lit));
                        }
                    }
                }
                pairs
            }
            Base::Amo | Base::Exclusive if Fault::NoHalves.is_on() => Vec::new(),
            Base::Amo => self.amo(),
            Base::Exclusive => self.sources(&|event, _| event.from.reserved.clone()),
            Base::RcuSection => self.rcu_sections(gates),
            Base::Events
            | Base::Reads
            | Base::Writes
            | Base::Fences
            | Base::Rmws
            | Base::Initial
            | Base::Final
            | Base::Tagged(_)
            | Base::Named(_)
            | Base::Kinds(_)
            | Base::Ordering(_) => unreachable!("a set"),
        }
    }

    /// Pairs from what an access was computed from to it. Within a read-modify-write nothing depends on anything.
    fn sources(&self, from: &dyn Fn(&Event, Act) -> Taint) -> Vec<(usize, usize, Lit)> {
        let mut pairs = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            if let Some(event) = part.event {
                self.add(&mut pairs, &from(&self.set.run.events[event], part.act), number, Some(event));
            }
        }
        pairs
    }

    fn add(&self, pairs: &mut Vec<(usize, usize, Lit)>, taint: &Taint, to: usize, event: Option<usize>) {
        let events = &self.set.run.events;
        let writes = self.parts[to].act == Act::Write;
        for (source, lit) in taint.iter().filter(|(source, _)| source & DIRECT == 0) {
            let own =
                |event: usize| events[event].unit.is_some() && events[event].unit == events[*source as usize].unit;
            if writes && event.is_some_and(own) {
                continue;
            }
            if let Some((read, write)) = self.halves.get(&(*source as usize))
                && let Some(from) = read.or(*write)
            {
                pairs.push((from, to, *lit));
            }
        }
    }

    pub(super) fn amo(&self) -> Vec<(usize, usize, Lit)> {
        let mut pairs = Vec::new();
        for (number, (read, write)) in &self.halves {
            let Some(write) = *write else { continue };
            if let Some(read) = *read {
                pairs.push((read, write, TRUE));
                continue;
            }
            let event = &self.set.run.events[*number];
            if !event.from.reserved.is_empty() {
                continue;
            }
            for earlier in event.unit.into_iter().flat_map(|unit| self.reads_before(unit, *number)) {
                if let Some((Some(read), _)) = self.halves.get(&earlier) {
                    pairs.push((*read, write, TRUE));
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Outermost critical sections: how deep each thread is, and where it began, as literals.
    fn rcu_sections(&self, gates: &mut Gates) -> Vec<(usize, usize, Lit)> {
        let mut pairs = Vec::new();
        for thread in self.set.program.thread_ids() {
            let mut depth = vec![TRUE];
            let mut began: Vec<(usize, Lit)> = Vec::new();
            for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| part.thread == Some(thread)) {
                let Act::Fence(Fence::Named { name, .. }) = part.act else { continue };
                match name.name() {
                    "rcu_read_lock" => {
                        let fresh = gates.and(part.guard, depth[0]);
                        began.iter_mut().for_each(|(_, lit)| *lit = gates.and(*lit, !fresh));
                        began.push((number, fresh));
                        depth.push(FALSE);
                        let deeper = |gates: &mut Gates, at: usize| {
                            let below = at.checked_sub(1).map_or(FALSE, |below| depth[below]);
                            gates.ite(part.guard, below, depth[at])
                        };
                        depth = (0..depth.len()).map(|at| deeper(gates, at)).collect();
                    }
                    "rcu_read_unlock" => {
                        let ends = depth.get(1).copied().unwrap_or(FALSE);
                        for (begin, lit) in &began {
                            pairs.push((*begin, number, gates.and(ends, *lit)));
                        }
                        let higher = |gates: &mut Gates, at: usize| {
                            let above = depth.get(at + 1).copied().unwrap_or(FALSE);
                            let above = if at == 0 { gates.or(above, depth[0]) } else { above };
                            gates.ite(part.guard, above, depth[at])
                        };
                        depth = (0..depth.len()).map(|at| higher(gates, at)).collect();
                    }
                    _ => {}
                }
            }
        }
        pairs
    }
}

/// Those that go in directly.
fn direct(taint: &Taint) -> Taint {
    let direct = taint.iter().filter(|(source, _)| source & DIRECT != 0);
    direct.map(|(source, lit)| (source & !DIRECT, *lit)).collect::<Vec<_>>().into()
}

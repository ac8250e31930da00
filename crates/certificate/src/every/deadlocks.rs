//! Deadlocks with more than k members are excluded by a second closed set, of *elements*.
//!
//! An element is a global part with members that are there: one of each family, who are followed, and some others. It stands for all
//! configurations that have these members and any others that the views allow. The set is a proof if every choice of initial members to follow has an element, if everything that follows
//! by a step of somebody who is there, or may be, has an element that says no more than is known, with the same members followed and the same others or fewer,
//! and if no element may be a deadlock: in one everybody has ended or waits, and somebody waits. Then every reachable configuration of more than k members has an
//! element, and none is a deadlock.

use std::rc::Rc;

use cyrano_ir::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::closure::{Closure, with};
use super::parts::{After, Global, Parts};
use crate::check::Refused;
use crate::judge::Seen;
use crate::state;

/// What a thread does in a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Idle {
    /// It has ended.
    Ended,
    /// It waits at an atomic section.
    Waits,
    /// It can go on, or an `assume` of it fails.
    No,
}

/// A global part, the members that are followed by family, and others, ascending.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Element {
    global: usize,
    followed: Vec<usize>,
    others: Vec<usize>,
}

impl Element {
    fn all(&self) -> Vec<usize> {
        let mut all = [self.followed.as_slice(), self.others.as_slice()].concat();
        all.sort_unstable();
        all
    }
}

/// No instance with more than k members has a deadlock, or a reason why that is not shown.
pub(super) fn exclude(closure: &mut Closure<'_, '_>, lines: &[Box<str>]) -> Result<(), Box<Refused>> {
    let mut elements = FxHashSet::default();
    for line in lines {
        let (view, others) = state::parse_element(line).map_err(|why| closure.parts.refused(why, None))?;
        let global = closure.parts.globals.number(Global { memory: view.memory, fixed: view.fixed, serial: None });
        let followed = view.members.into_iter().map(|member| closure.parts.members.number(member)).collect();
        let mut others: Vec<usize> = others.into_iter().map(|member| closure.parts.members.number(member)).collect();
        others.sort_unstable();
        elements.insert(Element { global, followed, others });
    }
    Elements { closure, idle: FxHashMap::default(), elements }.are_closed()
}

/// What a member does in a deadlock with this global part, or all threads in no family do; what may be so for one value of a full counter is said.
pub(super) fn idles(parts: &Parts<'_>, global: usize, member: Option<usize>) -> Result<Idle, Box<Refused>> {
    let movers = parts.movers(member);
    let mut waits = false;
    for at in parts.configurations(global, member) {
        let open: Vec<_> = movers.iter().filter(|thread| !parts.steps.is_done(&at.at, **thread)).collect();
        if open.is_empty() {
            return Ok(Idle::Ended);
        }
        let mut all = true;
        for thread in open {
            let lane = &at.at.threads[thread.index()];
            let at_section = matches!(parts.program().instr(*thread, lane.pc).op, Op::AtomicBegin);
            let shut = || parts.steps.of(&at.at, *thread).map(|steps| steps.is_empty());
            let shut = at_section
                && lane.queue.is_empty()
                && shut().map_err(|why| parts.refused(parts.show().beyond(why), None))?;
            all &= shut;
        }
        waits |= all;
    }
    Ok(if waits { Idle::Waits } else { Idle::No })
}

struct Elements<'s, 'a, 'c> {
    closure: &'s mut Closure<'a, 'c>,
    idle: FxHashMap<(usize, Option<usize>), Idle>,
    elements: FxHashSet<Element>,
}

impl Elements<'_, '_, '_> {
    fn are_closed(&mut self) -> Result<(), Box<Refused>> {
        let (globals, members) = self.closure.parts.initial(&mut Seen::default())?;
        for global in globals {
            let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
            for family in 0..self.closure.parts.program().families.len() {
                let own = members.iter().filter(|member| self.closure.parts.members.all[**member].0 == family);
                let own: Vec<usize> = own.copied().collect();
                chosen = chosen.iter().flat_map(|some| own.iter().map(|m| [some.as_slice(), &[*m]].concat())).collect();
            }
            for followed in chosen {
                self.covered(Element { global, followed, others: Vec::new() })?;
            }
        }
        for element in self.elements.iter().cloned().collect::<Vec<_>>() {
            self.closure.look()?;
            if self.may_be_dead(&element)? {
                let here = Some((element.global, element.all()));
                let why = "a deadlock with more members than a view has is not excluded: these may wait for ever";
                return Err(self.closure.parts.refused(why, here));
            }
            self.step(&element)?;
        }
        Ok(())
    }

    /// What is there has an element that says no more, if it can be there at all.
    fn covered(&self, mut element: Element) -> Result<(), Box<Refused>> {
        let all = element.all();
        if !self.closure.stands_for(element.global, &all) {
            return Ok(());
        }
        let others = std::mem::take(&mut element.others);
        let fewer = |chosen: u32| {
            let kept = (0..others.len()).filter(|at| chosen & (1 << at) != 0).map(|at| others[at]);
            Element { others: kept.collect(), ..element.clone() }
        };
        if (0..1_u32 << others.len().min(16)).any(|chosen| self.elements.contains(&fewer(chosen))) {
            return Ok(());
        }
        let why =
            "a deadlock with more members than a view has is not excluded: nothing in the certificate follows these";
        Err(self.closure.parts.refused(why, Some((element.global, all))))
    }

    fn idle(&mut self, global: usize, member: Option<usize>) -> Result<Idle, Box<Refused>> {
        if let Some(known) = self.idle.get(&(global, member)) {
            return Ok(*known);
        }
        let idle = idles(self.closure.parts, global, member)?;
        self.idle.insert((global, member), idle);
        Ok(idle)
    }

    /// The members that may be there beside these.
    fn beside(&self, global: usize, members: &[usize]) -> Vec<usize> {
        let fits = |other: &usize| self.closure.stands_for(global, &with(members, *other));
        self.closure.candidates(global).into_iter().filter(fits).collect()
    }

    fn may_be_dead(&mut self, element: &Element) -> Result<bool, Box<Refused>> {
        let (global, all) = (element.global, element.all());
        let mut waits = false;
        for member in std::iter::once(None).chain(all.iter().copied().map(Some)) {
            match self.idle(global, member)? {
                Idle::No => return Ok(false),
                idle => waits |= idle == Idle::Waits,
            }
        }
        let mut others = Vec::new();
        for other in self.beside(global, &all) {
            let idle = self.idle(global, Some(other))?;
            waits |= idle == Idle::Waits;
            others.extend((idle != Idle::No).then_some(other));
        }
        Ok(waits && self.make_up(global, &all, &others))
    }

    /// Whether these members, with more of `others` and nobody else, can have added what a counter has.
    fn make_up(&self, global: usize, members: &[usize], others: &[usize]) -> bool {
        let parts = &*self.closure.parts;
        parts.counters.iter().all(|counter| {
            let Some(left) = counter.left_over(&parts.globals.all[global], parts.program()) else { return true };
            let weight =
                |member: &usize| counter.weight(parts.thread_of(*member), parts.members.all[*member].1.lane.pc);
            members.iter().map(weight).sum::<i128>() >= left || others.iter().any(|other| weight(other) > 0)
        })
    }

    fn step(&mut self, element: &Element) -> Result<(), Box<Refused>> {
        let (global, all) = (element.global, element.all());
        for at in 0..element.followed.len() {
            for (next, moved) in self.after(global, Some(element.followed[at])).iter() {
                let mut after = Element { global: *next, ..element.clone() };
                after.followed[at] = moved.unwrap_or(after.followed[at]);
                self.covered(after)?;
            }
        }
        for at in 0..element.others.len() {
            let rest = [&element.others[..at], &element.others[at + 1..]].concat();
            self.step_of_other(element, &rest, element.others[at])?;
        }
        for other in self.beside(global, &all) {
            self.step_of_other(element, &element.others, other)?;
        }
        for (next, _) in self.after(global, None).iter() {
            self.covered(Element { global: *next, ..element.clone() })?;
        }
        Ok(())
    }

    /// A member moves that is not followed, beside others.
    fn step_of_other(&mut self, element: &Element, rest: &[usize], mover: usize) -> Result<(), Box<Refused>> {
        for (next, moved) in self.after(element.global, Some(mover)).iter() {
            let others = moved.map_or_else(|| rest.to_vec(), |moved| with(rest, moved));
            self.covered(Element { global: *next, followed: element.followed.clone(), others })?;
        }
        Ok(())
    }

    /// What follows by a step; nothing where a step goes wrong, for the views are closed without wrong steps, so whoever takes one is not there beside k others.
    fn after(&mut self, global: usize, member: Option<usize>) -> Rc<[After]> {
        self.closure.parts.after(global, member).unwrap_or_else(|_| Rc::from([]))
    }
}

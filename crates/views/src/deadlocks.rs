//! Deadlocks with any number of threads, after views are closed.
//!
//! In a deadlock every thread has ended or waits at an atomic section that is shut, and one waits. Views cannot exclude that alone: where a lock is taken, k members
//! that wait for it look the same with and without somebody who holds it. So this search keeps members that *are there*. An *element* is a global part with
//! such members: one of each family, who are followed from the beginning, and up to `extra` others who moved last, first only those that do not stand at a
//! section that can be shut or at their end. It stands for all configurations that have these members, and any others as long as all views are in the closed set.
//!
//! **Argument.** Let `V` be closed (crate docs), and n > k. Every configuration of n members that is reachable, with at least one of each family, has an element here: its
//! global part, and members that it has. At the beginning these are any one of each family. If one of an element's members takes a step, it is replaced by what it
//! becomes. If another one does, it is a member `x` such that all views of the element's members and `x` are in `V`, since these are members of the
//! configuration; the element's own are still there, and so is what `x` becomes. Members may be dropped from an element at any time, since it says less then. In a
//! deadlock the element's members all wait or have ended, so do the threads in no family, and there is one who waits among them or among the others. Is there no
//! element for which that is possible, no instance of n > k members has a deadlock. *Counters:* where the weights of the element's members do not come to what
//! is left over for members, there are others who make up for it; if none who waits or has ended has a weight, there is no deadlock.
//!
//! Instances of up to k members are for others to search: nothing is said about them here.

use std::collections::VecDeque;

use cyrano_engine::{Limits, Watch};
use cyrano_explore::members::Idle;
use rustc_hash::FxHashSet;

use crate::Fault;
use crate::fixpoint::Saturation;
use crate::parts::{GlobalId, MemberId};

/// Whom elements keep, from what costs little on: how many others at most, and whether also those that wait or have ended.
const KEPT: [(usize, bool); 5] = [(0, false), (1, false), (2, false), (1, true), (2, true)];

/// How many elements there may be at most.
const MOST_ELEMENTS: usize = 200_000;

/// A global part, the members that are followed by family, and others in ascending order.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    pub global: GlobalId,
    pub followed: Vec<MemberId>,
    pub others: Vec<MemberId>,
}

impl Element {
    fn all(&self) -> Vec<MemberId> {
        let mut all = [self.followed.as_slice(), self.others.as_slice()].concat();
        all.sort_unstable();
        all
    }
}

/// A search for deadlocks in what closed views stand for.
pub(crate) struct Search<'a, 's> {
    saturation: &'a mut Saturation<'s>,
    extra: usize,
    /// Whether others that wait or have ended are kept.
    idle: bool,
    known: FxHashSet<Element>,
    waiting: VecDeque<Element>,
}

/// The elements that show that no instance with more than k members, at least one of each family, has a deadlock; none if that is not known.
pub(crate) fn exclude(
    saturation: &mut Saturation<'_>,
    families: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Option<FxHashSet<Element>> {
    KEPT.into_iter().find_map(|(extra, idle)| {
        let (known, waiting) = (FxHashSet::default(), VecDeque::new());
        let mut search = Search { saturation: &mut *saturation, extra, idle, known, waiting };
        search.finds_none(families, limits, watch).then_some(search.known)
    })
}

impl Search<'_, '_> {
    fn finds_none(&mut self, families: usize, limits: &Limits, watch: &dyn Watch) -> bool {
        let (globals, members, _) = self.saturation.parts.initial();
        for global in globals {
            let mut chosen: Vec<Vec<MemberId>> = vec![Vec::new()];
            for family in 0..families {
                let own = members.iter().filter(|member| self.saturation.parts.family_of(**member) == family);
                let own: Vec<MemberId> = own.copied().collect();
                chosen = chosen.iter().flat_map(|some| own.iter().map(|m| [some.clone(), vec![*m]].concat())).collect();
            }
            chosen.into_iter().for_each(|followed| self.add(Element { global, followed, others: Vec::new() }));
        }
        while let Some(element) = self.waiting.pop_front() {
            let looks = self.known.len().is_multiple_of(1024);
            let stopped = looks && self.saturation.look(limits, watch).is_some();
            if stopped || self.known.len() > MOST_ELEMENTS || self.may_be_dead(&element) {
                return false;
            }
            self.step(&element);
        }
        true
    }

    fn add(&mut self, element: Element) {
        if !self.saturation.has(element.global, &element.all()) {
            return;
        }
        if self.known.insert(element.clone()) {
            self.waiting.push_back(element);
        }
    }

    fn beside(&self, global: GlobalId, members: &[MemberId]) -> Vec<MemberId> {
        let alone = self.saturation.fault == Some(Fault::Alone);
        if alone { Vec::new() } else { self.saturation.beside(global, members) }
    }

    /// Whether a configuration that an element stands for may be a deadlock.
    fn may_be_dead(&mut self, element: &Element) -> bool {
        let Element { global, .. } = *element;
        let all = element.all();
        let parts = &mut self.saturation.parts;
        let mut idle = vec![parts.fixed_idles(global)];
        idle.extend(all.iter().map(|member| parts.idles(global, *member)));
        if idle.contains(&Idle::No) {
            return false;
        }
        let others = self.beside(global, &all);
        let parts = &mut self.saturation.parts;
        let idle_others: Vec<MemberId> =
            others.into_iter().filter(|other| parts.idles(global, *other) != Idle::No).collect();
        let waits =
            idle.contains(&Idle::Waits) || idle_others.iter().any(|other| parts.idles(global, *other) == Idle::Waits);
        waits && parts.can_be_all(global, &all, &idle_others)
    }

    fn step(&mut self, element: &Element) {
        let global = element.global;
        let all = element.all();
        for at in 0..element.followed.len() {
            let steps = self.saturation.parts.steps_of(global, element.followed[at]);
            for (next, member) in &steps.next {
                let mut after = Element { global: *next, ..element.clone() };
                after.followed[at] = *member;
                self.add(after);
            }
        }
        for at in 0..element.others.len() {
            let mut rest = element.others.clone();
            let mover = rest.remove(at);
            self.step_of_other(element, &rest, mover);
        }
        for other in self.beside(global, &all) {
            self.step_of_other(element, &element.others, other);
        }
        let steps = self.saturation.parts.fixed_steps(global);
        steps.next.iter().for_each(|(next, _)| self.add(Element { global: *next, ..element.clone() }));
    }

    /// A step of a member that is not followed; `rest` are the others that are kept beside it.
    fn step_of_other(&mut self, element: &Element, rest: &[MemberId], mover: MemberId) {
        let steps = self.saturation.parts.steps_of(element.global, mover);
        for (next, member) in &steps.next {
            let mut others = rest.to_vec();
            if self.idle || !self.saturation.parts.rests(*member) {
                others.push(*member);
            }
            // Whoever moved last is kept.
            let too_many = others.len().saturating_sub(self.extra);
            others.drain(..too_many);
            others.sort_unstable();
            self.add(Element { global: *next, followed: element.followed.clone(), others });
        }
    }
}

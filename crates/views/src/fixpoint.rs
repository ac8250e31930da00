//! The least closed set of views, and whether something goes wrong in what it stands for.
//!
//! A view waits until it is its turn; then it is *in*. A configuration of k + 1 members is looked at when the last of its views comes in, so each is
//! looked at about once: with the view comes one member more, and all other views of the two together must be in.

use std::collections::VecDeque;

use cyrano_engine::{Counters, Limits, Stop, Watch};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parts::{GlobalId, MemberId, Parts, View};
use crate::{End, Fault, Found};

/// How often limits are looked at, in configurations.
pub const CHECK_EVERY: u64 = 4096;

/// A global part and k members, in ascending order.
type Key = Box<[u32]>;

/// A set of views that grows until it is closed.
pub(crate) struct Saturation<'s> {
    pub parts: Parts<'s>,
    k: usize,
    /// The views that are in.
    inside: FxHashSet<Key>,
    /// Those and the ones that wait.
    known: FxHashSet<Key>,
    waiting: VecDeque<Key>,
    /// For each global part with k - 1 members those that they are together with in views that are in.
    others: FxHashMap<Key, Vec<MemberId>>,
    configurations: u64,
    pub fault: Option<Fault>,
}

impl<'s> Saturation<'s> {
    pub fn new(parts: Parts<'s>, k: usize, fault: Option<Fault>) -> Self {
        Self {
            parts,
            k,
            inside: FxHashSet::default(),
            known: FxHashSet::default(),
            waiting: VecDeque::new(),
            others: FxHashMap::default(),
            configurations: 0,
            fault,
        }
    }

    /// Saturates.
    pub fn run(&mut self, limits: &Limits, watch: &dyn Watch) -> End {
        let (globals, members, wrong) = self.parts.initial();
        if let Some(wrong) = wrong {
            return End::Suspected(wrong);
        }
        for global in globals {
            self.add_all(global, &members, &mut Vec::with_capacity(self.k));
        }
        while let Some(view) = self.waiting.pop_front() {
            match self.take_in(view, limits, watch) {
                Ok(()) => {}
                Err(end) => return end,
            }
        }
        End::Proven
    }

    /// Adds every combination of k of these members, with repetitions.
    fn add_all(&mut self, global: GlobalId, members: &[MemberId], chosen: &mut Vec<MemberId>) {
        if chosen.len() == self.k {
            return self.add(global, chosen);
        }
        for at in 0..members.len() {
            chosen.push(members[at]);
            self.add_all(global, &members[at..], chosen);
            chosen.pop();
        }
    }

    /// Adds a view; the members are sorted.
    fn add(&mut self, global: GlobalId, members: &[MemberId]) {
        if !self.parts.can_be(global, members) {
            return;
        }
        let key = key(global, members);
        if self.known.insert(key.clone()) {
            self.waiting.push_back(key);
        }
    }

    /// A view comes in, and with it the configurations that it completes.
    fn take_in(&mut self, view: Key, limits: &Limits, watch: &dyn Watch) -> Result<(), End> {
        let (global, members) = (view[0], view[1..].to_vec());
        self.inside.insert(view);
        for at in distinct(&members) {
            let (rest, other) = (key(global, &without(&members, at)), members[at]);
            self.others.entry(rest).or_default().push(other);
        }
        // Whoever comes along is in views with any k - 1 of these; those with the fewest others are asked.
        let candidates = distinct(&members).filter_map(|at| self.others.get(&key(global, &without(&members, at))));
        let others = candidates.min_by_key(|others| others.len()).cloned().unwrap_or_default();
        for other in others {
            if self.fault == Some(Fault::NoTwins) && members.contains(&other) {
                continue;
            }
            let mut all = members.clone();
            all.insert(all.partition_point(|member| *member < other), other);
            if self.parts.can_be(global, &all) && self.has_views(global, &all) {
                self.configurations += 1;
                if self.configurations.is_multiple_of(CHECK_EVERY) {
                    self.look(limits, watch).map_or(Ok(()), |stop| Err(End::Stopped(stop)))?;
                }
                let moment = self.parts.moment(global, &all);
                if !moment.holds {
                    return Err(End::Suspected("invariant"));
                }
                if moment.needs.is_none_or(|needs| needs > self.k + 1) {
                    return Err(End::TooFew);
                }
                self.step(global, &all).map_err(End::Suspected)?;
            }
        }
        Ok(())
    }

    /// Whether all views of a configuration of k + 1 members are in.
    fn has_views(&self, global: GlobalId, all: &[MemberId]) -> bool {
        let mut rest = Vec::with_capacity(self.k + 1);
        distinct(all).all(|left_out| {
            rest.clear();
            rest.push(global);
            rest.extend(all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, member)| *member));
            self.inside.contains(rest.as_slice())
        })
    }

    /// Takes every step from a configuration.
    fn step(&mut self, global: GlobalId, all: &[MemberId]) -> Result<(), &'static str> {
        for at in distinct(all) {
            let steps = self.parts.steps_of(global, all[at]);
            if let Some(wrong) = steps.wrong {
                return Err(wrong);
            }
            let rest = without(all, at);
            for (next, member) in &steps.next {
                if self.fault == Some(Fault::NoExtraMember) {
                    self.add_with(*next, &rest, *member);
                    continue;
                }
                let mut after = rest.clone();
                after.insert(after.partition_point(|other| other < member), *member);
                self.add_views(*next, &after);
            }
        }
        let steps = self.parts.fixed_steps(global);
        if let Some(wrong) = steps.wrong {
            return Err(wrong);
        }
        steps.next.iter().for_each(|(next, _)| self.add_views(*next, all));
        Ok(())
    }

    /// Adds the views of a configuration of k + 1 members, which are sorted.
    fn add_views(&mut self, global: GlobalId, all: &[MemberId]) {
        if !self.parts.can_be(global, all) {
            return;
        }
        for left_out in distinct(all) {
            self.add(global, &without(all, left_out));
        }
    }

    /// Adds the views that have the mover in them, and no others: a deliberate bug.
    fn add_with(&mut self, global: GlobalId, rest: &[MemberId], mover: MemberId) {
        for left_out in 0..rest.len() {
            let mut view = rest.to_vec();
            view[left_out] = mover;
            view.sort_unstable();
            self.add(global, &view);
        }
    }

    pub fn look(&self, limits: &Limits, watch: &dyn Watch) -> Option<Stop> {
        let bytes = self.bytes();
        let (states, frontier) = (self.known.len() as u64, self.waiting.len() as u64);
        watch.progress(Counters { states, frontier, depth: 0, bytes, share: None });
        limits.exceeded(bytes)
    }

    fn bytes(&self) -> u64 {
        let view = 2 * 16 + 4 * (self.k as u64 + 1) + 16;
        let views = (self.known.len() + self.inside.len() + self.others.len()) as u64;
        self.parts.bytes() + views * view + self.inside.len() as u64 * self.k as u64 * 4
    }

    /// The members that may be there beside these, as far as views tell: all views of the two together are in.
    pub fn beside(&self, global: GlobalId, members: &[MemberId]) -> Vec<MemberId> {
        let fits = |other: &MemberId| {
            let mut all = members.to_vec();
            all.insert(all.partition_point(|member| member < other), *other);
            self.has(global, &all)
        };
        self.parts.members_ids().filter(fits).collect()
    }

    /// Whether there can be these members, as far as views tell.
    pub fn has(&self, global: GlobalId, all: &[MemberId]) -> bool {
        self.parts.can_be(global, all) && self.has_all_views(all, &mut vec![global], 0)
    }

    /// Whether all views of these members are in; if they are fewer than k, nothing is known.
    fn has_all_views(&self, all: &[MemberId], chosen: &mut Vec<u32>, from: usize) -> bool {
        if chosen.len() == self.k + 1 {
            return self.inside.contains(chosen.as_slice());
        }
        (from..all.len()).all(|at| {
            chosen.push(all[at]);
            let has = self.has_all_views(all, chosen, at + 1);
            chosen.pop();
            has
        })
    }

    /// What came of it.
    pub fn found(&self, end: End) -> Found {
        let unreached = if end == End::Proven { self.parts.unreached() } else { Vec::new() };
        Found {
            k: self.k,
            end,
            views: self.inside.len() as u64,
            configurations: self.configurations,
            bytes: self.bytes(),
            noted: self.parts.noted(),
            unreached,
            deadlock_free: false,
            can_wait: false,
        }
    }

    /// The views.
    pub fn views(&self) -> Vec<View> {
        self.inside.iter().map(|key| self.parts.view(key[0], &key[1..])).collect()
    }
}

/// The positions of members, of equal ones the first.
fn distinct(all: &[MemberId]) -> impl Iterator<Item = usize> + use<'_> {
    (0..all.len()).filter(|at| *at == 0 || all[*at] != all[at - 1])
}

/// All but the one at this position.
fn without(all: &[MemberId], at: usize) -> Vec<MemberId> {
    let mut rest = all.to_vec();
    rest.remove(at);
    rest
}

fn key(global: GlobalId, members: &[MemberId]) -> Key {
    std::iter::once(global).chain(members.iter().copied()).collect()
}

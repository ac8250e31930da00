//! The smallest instances, searched with exact values: whether anything is exercised, and that no deadlock has few members.

use cyrano_engine::Limits;
use cyrano_ir::Property;
use rustc_hash::FxHashSet;

use super::closure::with;
use super::deadlocks::{Idle, idles};
use super::parts::Parts;
use crate::check::Refused;

/// Instances with up to so many members more than one of each family are searched for something that is exercised.
const MORE: usize = 4;

/// More states than this are not searched.
const MOST: usize = 100_000;

/// A search of instances.
pub(super) struct Instances<'a, 'c> {
    parts: &'a mut Parts<'c>,
    limits: &'a Limits,
    states: usize,
}

impl<'a, 'c> Instances<'a, 'c> {
    pub fn new(parts: &'a mut Parts<'c>, limits: &'a Limits) -> Self {
        parts.be_exact();
        Self { parts, limits, states: 0 }
    }

    /// How many final states there are; `all` asks for all instances with up to `k` members to have no deadlock.
    pub fn search(&mut self, k: usize, all: bool) -> Result<u64, Box<Refused>> {
        let families = self.parts.program().families.len();
        for total in families..=(families + MORE).max(k) {
            for sizes in sums(families, total) {
                self.instance(&sizes, all && total <= k)?;
            }
            if total >= k && self.is_exercised() {
                break;
            }
        }
        match self.parts.judge.unexercised(&self.parts.seen) {
            None => Ok(self.parts.seen.ended),
            Some(nothing) => {
                let why = format!("nothing is wrong, but nothing was exercised either: {nothing}");
                Err(self.parts.refused(why, None))
            }
        }
    }

    fn is_exercised(&self) -> bool {
        self.parts.judge.unexercised(&self.parts.seen).is_none()
    }

    /// Searches the instance with so many members of each family: all of it, or until something is exercised.
    fn instance(&mut self, sizes: &[usize], all: bool) -> Result<(), Box<Refused>> {
        let mut seen = self.parts.seen;
        let (globals, members) = self.parts.initial(&mut seen)?;
        self.parts.seen = seen;
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        for (family, size) in sizes.iter().enumerate() {
            let own: Vec<usize> =
                members.iter().copied().filter(|member| self.parts.members.all[*member].0 == family).collect();
            for _ in 0..*size {
                chosen = chosen.iter().flat_map(|some| own.iter().map(|member| with(some, *member))).collect();
                chosen.sort_unstable();
                chosen.dedup();
            }
        }
        let pairs = globals.iter().flat_map(|global| chosen.iter().map(|members| (*global, members.clone())));
        let mut todo: Vec<(usize, Vec<usize>)> = pairs.collect();
        let mut known: FxHashSet<(usize, Vec<usize>)> = todo.iter().cloned().collect();
        while let Some((global, members)) = todo.pop().filter(|_| all || !self.is_exercised()) {
            self.states += 1;
            self.within_limits()?;
            let next = self.successors(global, &members)?;
            if next.is_empty() {
                self.end(global, &members, all)?;
            }
            todo.extend(next.into_iter().filter(|state| known.insert(state.clone())));
        }
        Ok(())
    }

    fn within_limits(&self) -> Result<(), Box<Refused>> {
        if self.states > MOST {
            return Err(self.parts.refused("its smallest instances have too many states to be searched", None));
        }
        let Some(stop) = self.limits.exceeded(0) else { return Ok(()) };
        let reason = format!("it was not checked to its end: {}", stop.reason());
        Err(Box::new(Refused { stopped: Some(stop), ..*self.parts.refused(reason, None) }))
    }

    fn successors(&mut self, global: usize, members: &[usize]) -> Result<Vec<(usize, Vec<usize>)>, Box<Refused>> {
        self.note_points(global, members);
        let mut next = Vec::new();
        for at in 0..members.len() {
            let rest = [&members[..at], &members[at + 1..]].concat();
            let after = self.parts.after(global, Some(members[at]))?;
            next.extend(after.iter().map(|(next, moved)| (*next, with(&rest, moved.unwrap_or(members[at])))));
        }
        let after = self.parts.after(global, None)?;
        next.extend(after.iter().map(|(next, _)| (*next, members.to_vec())));
        Ok(next)
    }

    /// Whether somebody stands where an invariant looks.
    fn note_points(&mut self, global: usize, members: &[usize]) {
        let Some(Property::Invariant(invariant)) = self.parts.certificate.property() else { return };
        let program = self.parts.program();
        let fixed = super::parts::fixed_threads(program);
        let lanes = &self.parts.globals.all[global].fixed;
        let fixed = fixed.into_iter().zip(lanes).map(|(thread, single)| (thread, single.lane.pc));
        let place = |member: &usize| (self.parts.thread_of(*member), self.parts.members.all[*member].1.lane.pc);
        let stands: Vec<_> = fixed.chain(members.iter().map(place)).collect();
        self.parts.seen.stood |= invariant.points().into_iter().any(|point| {
            let point = program.point(point);
            stands.iter().any(|(thread, pc)| *thread == point.thread && point.has(*pc))
        });
    }

    /// A state without a step.
    fn end(&mut self, global: usize, members: &[usize], all: bool) -> Result<(), Box<Refused>> {
        let mut waits = false;
        for member in std::iter::once(None).chain(members.iter().copied().map(Some)) {
            match idles(self.parts, global, member)? {
                Idle::No => return Ok(()),
                idle => waits |= idle == Idle::Waits,
            }
        }
        if waits && all {
            return Err(self.parts.refused("a deadlock: threads wait for ever", Some((global, members.to_vec()))));
        }
        self.parts.seen.ended += u64::from(!waits);
        Ok(())
    }
}

/// The ways to write `total` as a sum of so many numbers, each at least 1.
fn sums(parts: usize, total: usize) -> Vec<Vec<usize>> {
    if parts <= 1 {
        return vec![vec![total; parts]];
    }
    let with = |first: usize| sums(parts - 1, total - first).into_iter().map(move |rest| [vec![first], rest].concat());
    (1..=total + 1 - parts).flat_map(with).collect()
}

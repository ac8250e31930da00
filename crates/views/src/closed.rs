//! Whether a set of views is closed and nothing goes wrong in what it stands for: a check of the result of a saturation that shares none of its code.
//!
//! It goes the plain way: every view with every member that is seen with its global part, all combinations of k of the two together looked up, all steps taken, all
//! combinations of what comes of them looked up. It trusts the explorer's steps ([`cyrano_explore::members`]) and the argument in the crate docs, and neither the order in which
//! views were found nor what was remembered on the way. The search for deadlocks is not checked again.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use cyrano_engine::{Limits, Stop, Violation};
use cyrano_explore::members::{MembersWalker, Room};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::View;

/// Why a set of views is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refuted {
    /// A view of an initial configuration is missing.
    Beginning,
    /// A view of what follows from a configuration that it stands for is missing.
    Open,
    /// Something of this kind goes wrong.
    Wrong(&'static str),
    /// A view is none of this size, or the number of members in it is not known.
    Form,
    /// Something was left out by the steps themselves.
    LeftOut,
    /// A limit was reached.
    Stopped(Stop),
}

type Member = (usize, Vec<u8>);
/// A global part and the members of a view or a configuration by number, sorted by that.
type Numbered = (usize, Vec<usize>);
/// Whoever moved, as it is afterwards, with the global part; nothing of a thread in no family.
type After = (usize, Option<usize>);

/// A check under way.
pub(crate) struct Checker<'s> {
    walker: MembersWalker<'s>,
    k: usize,
    /// From this number on, numbers of members in blocks are one; 0 if they are not counted.
    cap: usize,
    globals: Vec<Vec<u8>>,
    global_numbers: FxHashMap<Vec<u8>, usize>,
    members: Vec<Member>,
    member_numbers: FxHashMap<Member, usize>,
    views: FxHashSet<Numbered>,
    steps: FxHashMap<(usize, Option<usize>), Vec<After>>,
    rooms: FxHashMap<usize, Rc<[Option<Room>]>>,
    inside: FxHashMap<usize, bool>,
}

impl<'s> Checker<'s> {
    pub fn new(walker: MembersWalker<'s>, k: usize, cap: usize) -> Self {
        Self {
            walker,
            k,
            cap,
            globals: Vec::new(),
            global_numbers: FxHashMap::default(),
            members: Vec::new(),
            member_numbers: FxHashMap::default(),
            views: FxHashSet::default(),
            steps: FxHashMap::default(),
            rooms: FxHashMap::default(),
            inside: FxHashMap::default(),
        }
    }

    /// The number of configurations that were looked at, if all is well.
    pub fn check(mut self, views: &[View], limits: &Limits) -> Result<u64, Refuted> {
        let mut beside: FxHashMap<usize, FxHashSet<usize>> = FxHashMap::default();
        for (global, members) in views {
            if members.len() != self.k || global.is_empty() {
                return Err(Refuted::Form);
            }
            let view = self.numbered(global, members);
            beside.entry(view.0).or_default().extend(&view.1);
            self.views.insert(view);
        }
        self.beginning()?;
        let mut seen: FxHashSet<Numbered> = FxHashSet::default();
        let all: Vec<Numbered> = self.views.iter().cloned().collect();
        for (global, members) in all {
            for other in &beside[&global] {
                let mut configuration = (global, members.clone());
                configuration.1.push(*other);
                configuration.1.sort_unstable();
                if seen.contains(&configuration) || !self.stands_for(&configuration) {
                    continue;
                }
                self.configuration(&configuration)?;
                seen.insert(configuration);
                if seen.len().is_multiple_of(4096) {
                    limits.exceeded(0).map_or(Ok(()), |stop| Err(Refuted::Stopped(stop)))?;
                }
            }
        }
        let noted = self.walker.noted();
        let left_out = noted.bounded || noted.too_large || noted.limited.is_some();
        if left_out { Err(Refuted::LeftOut) } else { Ok(seen.len() as u64) }
    }

    fn numbered(&mut self, global: &[u8], members: &[Member]) -> Numbered {
        let global = self.global(global.to_vec());
        let mut members: Vec<usize> = members.iter().map(|member| self.member(member.clone())).collect();
        members.sort_unstable();
        (global, members)
    }

    fn global(&mut self, bytes: Vec<u8>) -> usize {
        match self.global_numbers.entry(bytes) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.globals.push(new.key().clone());
                *new.insert(self.globals.len() - 1)
            }
        }
    }

    fn member(&mut self, member: Member) -> usize {
        match self.member_numbers.entry(member) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.members.push(new.key().clone());
                *new.insert(self.members.len() - 1)
            }
        }
    }

    /// Every configuration of initial members has its views.
    fn beginning(&mut self) -> Result<(), Refuted> {
        let (mut globals, mut members, mut wrong) = (FxHashSet::default(), FxHashSet::default(), None);
        self.walker.initial(|global, parts, violation| {
            wrong = wrong.or(violation.map(Violation::kind));
            globals.insert(global.to_vec());
            members.extend(parts.iter().cloned());
        });
        if let Some(kind) = wrong {
            return Err(Refuted::Wrong(kind));
        }
        let members: Vec<usize> = members.into_iter().map(|member| self.member(member)).collect();
        for mut global in globals {
            global.push(0);
            let global = self.global(global);
            let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
            for _ in 0..self.k {
                let longer =
                    |some: &Vec<usize>| members.iter().map(|m| [some.as_slice(), &[*m]].concat()).collect::<Vec<_>>();
                chosen = chosen.iter().flat_map(longer).collect();
            }
            for mut view in chosen {
                view.sort_unstable();
                if self.is_possible(global, &view) && !self.views.contains(&(global, view)) {
                    return Err(Refuted::Beginning);
                }
            }
        }
        Ok(())
    }

    /// Whether all views of a configuration of k + 1 members are there, and there can be such a configuration.
    fn stands_for(&mut self, (global, members): &Numbered) -> bool {
        (0..members.len()).all(|at| self.views.contains(&(*global, all_but(members, at))))
            && self.is_possible(*global, members)
    }

    /// Whether there can be a configuration with at least these members, by what global parts say about counters and about members in blocks.
    fn is_possible(&mut self, global: usize, members: &[usize]) -> bool {
        let (number, rooms) = self.rooms(global);
        let inside = members.iter().filter(|member| self.is_inside(**member)).count();
        let exact = number < self.cap;
        if exact && inside > number {
            return false;
        }
        let weights: Vec<Vec<i128>> = members.iter().map(|member| self.weights(*member)).collect();
        rooms.iter().enumerate().all(|(counter, room)| {
            let Some(room) = room else { return true };
            let weight: i128 = weights.iter().map(|weights| weights[counter]).sum();
            let too_heavy = !room.open && weight > room.weight;
            let others = number.saturating_sub(inside) as i128;
            let too_light = exact && room.of_blocks.is_some_and(|each| weight + each * others < room.weight);
            !too_heavy && !too_light
        })
    }

    /// How many members of a global part are in blocks, and what it says about counters.
    fn rooms(&mut self, global: usize) -> (usize, Rc<[Option<Room>]>) {
        let Some((number, bytes)) = self.globals[global].split_last() else { return (0, Rc::from([])) };
        let rooms = self.rooms.entry(global).or_insert_with(|| self.walker.rooms(bytes).into());
        (usize::from(*number), Rc::clone(rooms))
    }

    fn weights(&self, member: usize) -> Vec<i128> {
        let (family, bytes) = &self.members[member];
        self.walker.weights(*family, bytes)
    }

    fn is_inside(&mut self, member: usize) -> bool {
        if self.cap == 0 {
            return false;
        }
        let (family, bytes) = &self.members[member];
        *self.inside.entry(member).or_insert_with(|| !self.walker.is_outside(*family, bytes))
    }

    /// Nothing goes wrong in a configuration, and the views of what follows are there.
    fn configuration(&mut self, (global, members): &Numbered) -> Result<(), Refuted> {
        self.moment(*global, members)?;
        for at in 0..members.len() {
            let rest = all_but(members, at);
            for (next, moved) in self.steps(*global, Some(members[at]))? {
                self.follows(next, [rest.as_slice(), moved.as_slice()].concat())?;
            }
        }
        for (next, _) in self.steps(*global, None)? {
            self.follows(next, members.clone())?;
        }
        Ok(())
    }

    fn moment(&mut self, global: usize, members: &[usize]) -> Result<(), Refuted> {
        let mut counts: Vec<i128> = Vec::new();
        for member in members {
            let stands = self.walker.stands(self.members[*member].0, &self.members[*member].1);
            counts.resize(stands.len(), 0);
            counts.iter_mut().zip(stands).for_each(|(count, stands)| *count += i128::from(stands));
        }
        let bytes = &self.globals[global];
        let moment = self.walker.moment(&bytes[..bytes.len() - 1], &counts);
        match moment.needs {
            _ if !moment.holds => Err(Refuted::Wrong("invariant")),
            Some(needs) if needs <= self.k + 1 => Ok(()),
            _ => Err(Refuted::Form),
        }
    }

    fn follows(&mut self, global: usize, mut members: Vec<usize>) -> Result<(), Refuted> {
        members.sort_unstable();
        if !self.is_possible(global, &members) {
            return Ok(());
        }
        let there = (0..members.len()).all(|at| {
            let view = all_but(&members, at);
            self.views.contains(&(global, view.clone())) || !self.is_possible(global, &view)
        });
        if there { Ok(()) } else { Err(Refuted::Open) }
    }

    fn steps(&mut self, global: usize, mover: Option<usize>) -> Result<Vec<After>, Refuted> {
        if let Some(known) = self.steps.get(&(global, mover)) {
            return Ok(known.clone());
        }
        let bytes = self.globals[global].clone();
        let (number, bytes) = bytes.split_last().ok_or(Refuted::Form)?;
        let before = mover.map(|mover| self.members[mover].clone());
        let (mut taken, mut wrong) = (FxHashSet::default(), None);
        let part = before.as_ref().map(|(family, member)| (*family, member.as_slice()));
        self.walker.steps(bytes, part, |step| match &step.violation {
            Some(violation) => wrong = wrong.or(Some(violation.kind())),
            None => {
                taken.insert((step.global.clone(), step.member.clone()));
            }
        });
        if let Some(kind) = wrong {
            return Err(Refuted::Wrong(kind));
        }
        let mut after = Vec::new();
        for (next, member) in taken {
            let moved = before.as_ref().map(|(family, _)| self.member((*family, member)));
            let numbers = self.numbers_after(usize::from(*number), mover, moved);
            let differs = self.cap > 0 && self.walker.differs(&next);
            for number in numbers {
                let mut next = next.clone();
                next.push(number as u8);
                let next = self.global(next);
                if !self.is_possible(next, moved.as_slice()) {
                    continue;
                }
                if number == 0 && differs {
                    return Err(Refuted::Wrong(Violation::Blocks.kind()));
                }
                after.push((next, moved));
            }
        }
        self.steps.insert((global, mover), after.clone());
        Ok(after)
    }

    /// How many members may be in blocks after a step: exactly so many, unless it were too many to be told before.
    fn numbers_after(&mut self, number: usize, before: Option<usize>, after: Option<usize>) -> Vec<usize> {
        let [before, after] = [before, after].map(|member| member.is_some_and(|member| self.is_inside(member)));
        let lowest = (number + usize::from(after)).saturating_sub(usize::from(before));
        let highest = if number == self.cap { number } else { lowest };
        (lowest.min(self.cap)..=highest.min(self.cap)).collect()
    }
}

fn all_but(members: &[usize], at: usize) -> Vec<usize> {
    [&members[..at], &members[at + 1..]].concat()
}

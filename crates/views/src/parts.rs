//! Global parts and members by number, and the steps between them, each computed once.

use std::rc::Rc;

use cyrano_engine::Violation;
use cyrano_explore::members::{Idle, MembersWalker, Moment, Noted, Room};
use cyrano_ir::{InstrId, ThreadId};
use rustc_hash::FxHashMap;

use crate::Fault;

/// A view: the global part and the members, sorted, each with the number of its family.
pub type View = (Vec<u8>, Vec<(usize, Vec<u8>)>);

/// The number of a global part.
pub(crate) type GlobalId = u32;
/// The number of a member.
pub(crate) type MemberId = u32;

/// What may come next.
#[derive(Default)]
pub(crate) struct Steps {
    /// The global part and the mover after each step; of a thread in no family 0.
    pub next: Vec<(GlobalId, MemberId)>,
    /// The kind of what goes wrong in one of them.
    pub wrong: Option<&'static str>,
}

/// What is known about a member.
struct About {
    /// Whether it is in a block.
    inside: bool,
    /// Its weight for each counter.
    weights: Vec<i128>,
    /// At which points of the program it stands.
    stands: Vec<bool>,
    /// Whether it stands at an atomic section that can be shut or at its end and has nothing deferred.
    rests: bool,
}

/// Byte strings by number.
#[derive(Default)]
struct Numbers {
    known: FxHashMap<Rc<[u8]>, u32>,
    all: Vec<Rc<[u8]>>,
    bytes: u64,
}

impl Numbers {
    fn number(&mut self, bytes: &[u8]) -> u32 {
        if let Some(known) = self.known.get(bytes) {
            return *known;
        }
        let shared: Rc<[u8]> = bytes.into();
        let number = self.all.len() as u32;
        // The string with its counts, twice a pointer to it, and a slot of the table.
        self.bytes += bytes.len() as u64 + 16 + 32 + 24;
        self.known.insert(Rc::clone(&shared), number);
        self.all.push(shared);
        number
    }
}

/// All parts that were met.
pub(crate) struct Parts<'s> {
    walker: MembersWalker<'s>,
    /// The last byte of each is the number of members in blocks.
    globals: Numbers,
    /// The first two bytes of each are the number of its family.
    members: Numbers,
    /// What is known about each member.
    about: Vec<About>,
    /// What each global part says about the counters.
    rooms: Vec<Rc<[Option<Room>]>>,
    /// What the invariant comes to, by global part and counts.
    moments: FxHashMap<(GlobalId, Vec<i128>), Moment>,
    member_steps: FxHashMap<(GlobalId, MemberId), Rc<Steps>>,
    fixed_steps: FxHashMap<GlobalId, Rc<Steps>>,
    /// What members do in a deadlock, and the threads that are in no family.
    idle: FxHashMap<(GlobalId, Option<MemberId>), Idle>,
    steps: u64,
    /// From this number on, numbers of members in blocks are not told apart; 0 if they are not kept.
    cap: u8,
    fault: Option<Fault>,
}

impl<'s> Parts<'s> {
    pub fn new(walker: MembersWalker<'s>, cap: u8, fault: Option<Fault>) -> Self {
        Self {
            walker,
            globals: Numbers::default(),
            members: Numbers::default(),
            about: Vec::new(),
            rooms: Vec::new(),
            moments: FxHashMap::default(),
            member_steps: FxHashMap::default(),
            fixed_steps: FxHashMap::default(),
            idle: FxHashMap::default(),
            steps: 0,
            cap,
            fault,
        }
    }

    /// The initial global parts, the members that a configuration may begin with, and what goes wrong before that.
    pub fn initial(&mut self) -> (Vec<GlobalId>, Vec<MemberId>, Option<&'static str>) {
        let mut found = Vec::new();
        let mut wrong = None;
        self.walker.initial(|global, members, violation| {
            match violation {
                Some(violation) => wrong = wrong.or(Some(violation.kind())),
                None => found.push((global.to_vec(), members.to_vec())),
            };
        });
        let (mut globals, mut members) = (Vec::new(), Vec::new());
        for (mut global, parts) in found {
            // Nobody has performed an access, so nobody is in a block.
            global.push(0);
            globals.push(self.global(&global));
            for (family, member) in parts {
                members.push(self.member(family, &member));
            }
        }
        for all in [&mut globals, &mut members] {
            all.sort_unstable();
            all.dedup();
        }
        (globals, members, wrong)
    }

    fn member(&mut self, family: usize, bytes: &[u8]) -> MemberId {
        let mut key = (family as u16).to_le_bytes().to_vec();
        key.extend(bytes);
        let number = self.members.number(&key);
        if number as usize == self.about.len() {
            let inside = self.cap > 0 && !self.walker.is_outside(family, bytes);
            let (weights, stands) = (self.walker.weights(family, bytes), self.walker.stands(family, bytes));
            let rests = self.walker.rests(family, bytes);
            self.about.push(About { inside, weights, stands, rests });
        }
        number
    }

    fn global(&mut self, bytes: &[u8]) -> GlobalId {
        let number = self.globals.number(bytes);
        if number as usize == self.rooms.len() {
            let rooms = self.walker.rooms(&bytes[..bytes.len() - 1]);
            self.rooms.push(rooms.into());
        }
        number
    }

    fn about(&self, member: MemberId) -> &About {
        &self.about[member as usize]
    }

    /// Whether there can be a configuration with this global part and at least these members.
    pub fn can_be(&self, global: GlobalId, members: &[MemberId]) -> bool {
        let exact = Some(self.number_inside(global)).filter(|number| *number < self.cap).map(usize::from);
        let inside = members.iter().filter(|member| self.about(**member).inside).count();
        let fits = |(counter, room): (usize, &Option<Room>)| {
            let Some(room) = room else { return true };
            let more = i128::from(self.fault == Some(Fault::HeavyMembers));
            let weight = members.iter().map(|member| self.about(*member).weights[counter]).sum::<i128>() + more;
            // The others in blocks, of whom there are so many, have to make up the rest.
            let others = exact.map(|number| number.saturating_sub(inside) as i128);
            let most =
                room.of_blocks.zip(others).map(|(each, others)| weight.saturating_add(each.saturating_mul(others)));
            (room.open || weight <= room.weight) && most.is_none_or(|most| room.weight <= most)
        };
        exact.is_none_or(|number| inside <= number) && self.rooms[global as usize].iter().enumerate().all(fits)
    }

    /// What the invariant comes to with these members.
    pub fn moment(&mut self, global: GlobalId, members: &[MemberId]) -> Moment {
        let points = members.first().map_or(0, |member| self.about(*member).stands.len());
        let count = |point| members.iter().filter(|member| self.about(**member).stands[point]).count() as i128;
        let counts: Vec<i128> = (0..points).map(count).collect();
        if let Some(known) = self.moments.get(&(global, counts.clone())) {
            return *known;
        }
        let bytes = Rc::clone(&self.globals.all[global as usize]);
        let moment = self.walker.moment(&bytes[..bytes.len() - 1], &counts);
        self.moments.insert((global, counts), moment);
        moment
    }

    /// Whether members that are there and more of these `others`, and nobody else, can come to what is left over for all members.
    pub fn can_be_all(&self, global: GlobalId, members: &[MemberId], others: &[MemberId]) -> bool {
        let fits = |(counter, room): (usize, &Option<Room>)| {
            let Some(room) = room else { return true };
            let weight = |member: &MemberId| self.about(*member).weights[counter];
            members.iter().map(weight).sum::<i128>() >= room.weight || others.iter().any(|other| weight(other) > 0)
        };
        self.rooms[global as usize].iter().enumerate().all(fits)
    }

    /// What a member does in a deadlock with this global part.
    pub fn idles(&mut self, global: GlobalId, member: MemberId) -> Idle {
        self.idle_of(global, Some(member))
    }

    /// What the threads that are in no family do in a deadlock.
    pub fn fixed_idles(&mut self, global: GlobalId) -> Idle {
        self.idle_of(global, None)
    }

    fn idle_of(&mut self, global: GlobalId, member: Option<MemberId>) -> Idle {
        if let Some(known) = self.idle.get(&(global, member)) {
            return *known;
        }
        let bytes = Rc::clone(&self.globals.all[global as usize]);
        let whole = member.map(|member| Rc::clone(&self.members.all[member as usize]));
        let part = whole.as_ref().map(|whole| (family(whole), &whole[2..]));
        let idle = self.walker.idles(&bytes[..bytes.len() - 1], part);
        self.idle.insert((global, member), idle);
        idle
    }

    /// Whether a member stands at an atomic section that can be shut or at its end and has nothing deferred.
    pub fn rests(&self, member: MemberId) -> bool {
        self.about(member).rests
    }

    /// The family of a member.
    pub fn family_of(&self, member: MemberId) -> usize {
        family(&self.members.all[member as usize])
    }

    /// All members that were met.
    pub fn members_ids(&self) -> impl Iterator<Item = MemberId> + use<> {
        0..self.members.all.len() as MemberId
    }

    fn number_inside(&self, global: GlobalId) -> u8 {
        *self.globals.all[global as usize].last().expect("a global part has this number")
    }

    /// The steps of a member.
    pub fn steps_of(&mut self, global: GlobalId, member: MemberId) -> Rc<Steps> {
        if let Some(known) = self.member_steps.get(&(global, member)) {
            return Rc::clone(known);
        }
        let steps = Rc::new(self.compute(global, Some(member)));
        self.steps += steps.next.len() as u64;
        self.member_steps.insert((global, member), Rc::clone(&steps));
        steps
    }

    /// The steps of threads that are in no family.
    pub fn fixed_steps(&mut self, global: GlobalId) -> Rc<Steps> {
        if let Some(known) = self.fixed_steps.get(&global) {
            return Rc::clone(known);
        }
        let steps = Rc::new(self.compute(global, None));
        self.steps += steps.next.len() as u64;
        self.fixed_steps.insert(global, Rc::clone(&steps));
        steps
    }

    fn compute(&mut self, before: GlobalId, mover: Option<MemberId>) -> Steps {
        let bytes = Rc::clone(&self.globals.all[before as usize]);
        let Some((number, bytes)) = bytes.split_last() else { return Steps::default() };
        let whole = mover.map(|mover| Rc::clone(&self.members.all[mover as usize]));
        let mover_part = whole.as_ref().map(|whole| (family(whole), &whole[2..]));
        let mut taken = Vec::new();
        let mut wrong = None;
        self.walker.steps(bytes, mover_part, |step| match &step.violation {
            Some(violation) => wrong = wrong.or(Some(violation.kind())),
            None => taken.push((step.global.clone(), step.member.clone())),
        });
        let mut steps = Steps { next: Vec::new(), wrong };
        for (mut global, member) in taken {
            let after = mover_part.map(|(family, _)| self.member(family, &member));
            let moved = [mover, after].map(|id| id.is_some_and(|id| self.about(id).inside));
            let differs = self.cap > 0 && self.fault != Some(Fault::NoComparison) && self.walker.differs(&global);
            global.push(0);
            for inside in self.numbers_after(*number, moved) {
                *global.last_mut().expect("it has this number") = inside;
                let next = self.global(&global);
                if !self.can_be(next, after.as_slice()) {
                    continue;
                }
                if inside == 0 && differs {
                    steps.wrong = steps.wrong.or(Some(Violation::Blocks.kind()));
                    continue;
                }
                steps.next.push((next, after.unwrap_or(0)));
            }
        }
        steps.next.sort_unstable();
        steps.next.dedup();
        steps
    }

    /// How many members may be in blocks after one of them has moved.
    fn numbers_after(&self, number: u8, inside_before_and_after: [bool; 2]) -> Vec<u8> {
        match inside_before_and_after {
            [false, true] => vec![self.cap.min(number + 1)],
            [true, false] if number < self.cap || self.fault == Some(Fault::ExactNumber) => vec![number - 1],
            [true, false] => vec![number - 1, number],
            _ => vec![number],
        }
    }

    /// A view as bytes.
    pub fn view(&self, global: GlobalId, members: &[MemberId]) -> View {
        let member = |id: &MemberId| {
            let whole = &self.members.all[*id as usize];
            (family(whole), whole[2..].to_vec())
        };
        let mut members: Vec<_> = members.iter().map(member).collect();
        members.sort();
        (self.globals.all[global as usize].to_vec(), members)
    }

    pub fn noted(&self) -> Noted {
        self.walker.noted()
    }

    pub fn unreached(&self) -> Vec<(ThreadId, InstrId)> {
        self.walker.unreached()
    }

    /// How many bytes it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let known = (self.member_steps.len() + self.fixed_steps.len()) as u64;
        self.globals.bytes + self.members.bytes + known * 96 + self.steps * 8
    }
}

fn family(member: &[u8]) -> usize {
    u16::from_le_bytes([member[0], member[1]]).into()
}

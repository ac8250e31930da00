//! Global parts and members by number, and the steps between them, each taken once.
//!
//! **Commit-atomicity.** Memory is compared with that of the serial run when nobody is in a block, which a view does not see. So a global part has the number of members
//! in blocks, exactly below a `cap`, and from there on only "at least `cap`"; every step updates it, downwards from `cap` in both possible ways. Where it may be
//! 0, and no thread in no family is in a block, memory is compared. Configurations with more members in blocks than an exact number says are not there.

use std::hash::Hash;
use std::rc::Rc;

use cyrano_engine::configuration::{Configuration, Copied, Lane, Product, Serial, SharedRun, Single, Value, View, Way};
use cyrano_interp::steps::{Beyond, Step, Steps};
use cyrano_ir::{InstrId, Op, Program, Thread, ThreadId};
use rustc_hash::FxHashMap;

use super::counters::Counter;
use crate::check::Refused;
use crate::judge::{Judge, Seen, Wrong};
use crate::show::Show;
use crate::{Certificate, blocks};

/// What all threads share: memory and the threads that are in no family.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Global {
    pub memory: Vec<i128>,
    pub fixed: Vec<Single>,
    pub serial: Option<SharedRun>,
}

/// A member with the number of its family.
pub(super) type Member = (usize, Single);

/// A global part and the member that moved, if it was one, by number.
pub(super) type After = (usize, Option<usize>);

/// Things by number.
pub(super) struct Numbered<T> {
    pub all: Vec<Rc<T>>,
    known: FxHashMap<Rc<T>, usize>,
}

impl<T: Eq + Hash> Numbered<T> {
    fn new() -> Self {
        Self { all: Vec::new(), known: FxHashMap::default() }
    }

    pub fn number(&mut self, thing: T) -> usize {
        if let Some(number) = self.known.get(&thing) {
            return *number;
        }
        let thing = Rc::new(thing);
        self.all.push(Rc::clone(&thing));
        self.known.insert(thing, self.all.len() - 1);
        self.all.len() - 1
    }
}

/// The parts that were met.
pub(super) struct Parts<'c> {
    pub certificate: &'c Certificate,
    pub judge: Judge<'c>,
    pub steps: Steps<'c>,
    pub counters: Vec<Counter>,
    pub globals: Numbered<Global>,
    pub members: Numbered<Member>,
    /// From here on numbers of members in blocks are not told apart.
    cap: usize,
    /// How many steps were taken.
    pub taken: u64,
    /// What happened in them.
    pub seen: Seen,
    known: FxHashMap<(usize, Option<usize>), Rc<[After]>>,
}

/// The threads that are in no family.
pub(super) fn fixed_threads(program: &Program) -> Vec<ThreadId> {
    program.thread_ids().filter(|thread| program.families.iter().all(|family| family.thread != *thread)).collect()
}

/// A configuration with one member, or none. In the place of other members stand threads that have ended and of which nothing is known.
pub(super) fn whole(program: &Program, part: &Global, member: Option<(ThreadId, &Single)>) -> Product {
    let present: Vec<(ThreadId, &Single)> = fixed_threads(program).into_iter().zip(&part.fixed).chain(member).collect();
    let here = |thread: ThreadId| present.iter().find(|(other, _)| *other == thread).map(|(_, single)| *single);
    let singles: Vec<Single> = program
        .thread_ids()
        .map(|thread| here(thread).cloned().unwrap_or_else(|| absent(program.thread(thread), part.serial.is_some())))
        .collect();
    let serial = part.serial.as_ref().and_then(|run| {
        let copies = singles.iter().map(|single| single.serial.clone()).collect::<Option<Vec<_>>>()?;
        let (threads, chosen) = copies.into_iter().unzip();
        Some(Serial { ways: vec![Way { memory: run.memory.clone(), threads }], chosen })
    });
    let threads = singles.into_iter().map(|single| single.lane).collect();
    Product { at: Configuration { memory: part.memory.clone(), threads, running: None }, monitor: Vec::new(), serial }
}

fn absent(thread: &Thread, with_run: bool) -> Single {
    let pc = InstrId::new(thread.code.iter().position(|instr| matches!(instr.op, Op::Halt)).unwrap_or(0));
    let registers = vec![Value::Forgotten; thread.registers.len()];
    let copied = Copied { pc, registers: registers.clone(), owed: Vec::new() };
    Single {
        lane: Lane { pc, registers, queue: Vec::new(), latest_done: false },
        serial: with_run.then(|| (copied, Vec::new())),
    }
}

/// A thread of a whole configuration, if its serial run has one way or there is none.
fn single(of: &Product, thread: ThreadId) -> Single {
    let serial = of
        .serial
        .as_ref()
        .map(|serial| (serial.ways[0].threads[thread.index()].clone(), serial.chosen[thread.index()].clone()));
    Single { lane: of.at.threads[thread.index()].clone(), serial }
}

impl<'c> Parts<'c> {
    pub fn new(
        certificate: &'c Certificate,
        (judge, steps): (Judge<'c>, Steps<'c>),
        counters: Vec<Counter>,
        cap: usize,
    ) -> Self {
        let (globals, members) = (Numbered::new(), Numbered::new());
        Self {
            certificate,
            judge,
            steps,
            counters,
            globals,
            members,
            cap,
            taken: 0,
            seen: Seen::default(),
            known: FxHashMap::default(),
        }
    }

    /// From now on all values of counters and numbers of members are told apart, and what happened so far, perhaps only in what views allow, does not count.
    pub fn be_exact(&mut self) {
        self.counters.clear();
        self.cap = usize::MAX;
        self.known.clear();
        self.seen = Seen::default();
    }

    pub fn program(&self) -> &'c Program {
        &self.certificate.program
    }

    /// The thread that stands for the family of a member.
    pub fn thread_of(&self, member: usize) -> ThreadId {
        self.program().families[self.members.all[member].0].thread
    }

    /// The threads that a question about a member is about, or one about those in no family.
    pub fn movers(&self, member: Option<usize>) -> Vec<ThreadId> {
        member.map_or_else(|| fixed_threads(self.program()), |member| vec![self.thread_of(member)])
    }

    /// The configurations of a global part and a member alone; several where a counter may have several values.
    pub fn configurations(&self, global: usize, member: Option<usize>) -> Vec<Product> {
        let part = &self.globals.all[global];
        let single = member.map(|member| (self.thread_of(member), &self.members.all[member].1));
        let mut all = vec![whole(self.program(), part, single)];
        for counter in self.counters.iter().filter(|counter| counter.is_full(&part.memory)) {
            let values = |at: &Product| counter.values().map(|value| counter.with(at, value)).collect::<Vec<_>>();
            all = all.iter().flat_map(values).collect();
        }
        all
    }

    /// The initial global parts and members.
    pub fn initial(&mut self, seen: &mut Seen) -> Result<(Vec<usize>, Vec<usize>), Box<Refused>> {
        let (mut globals, mut members) = (Vec::new(), Vec::new());
        let (_, serial) = self.judge.initial();
        for step in self.steps.initial().map_err(|why| self.beyond(None, why))? {
            let to = self
                .judge
                .take((&[], serial.as_ref()), &step, seen)
                .map_err(|wrong| self.wrong(None, &step, &wrong))?;
            let Some(mut to) = to else { continue };
            self.certificate.forget(&mut to);
            self.has_one_way(&to)?;
            if to.serial.is_some() && !blocks::are_between_units(&self.steps, &to.at) {
                return Err(self.refused("a thread begins in the middle of a block", None));
            }
            globals.push(self.global_of(&to, 0));
            for (family, thread) in self.program().families.iter().map(|family| family.thread).enumerate() {
                members.push(self.members.number((family, single(&to, thread))));
            }
        }
        for all in [&mut globals, &mut members] {
            all.sort_unstable();
            all.dedup();
        }
        Ok((globals, members))
    }

    fn global_of(&mut self, of: &Product, inside: usize) -> usize {
        let fixed = fixed_threads(self.program()).into_iter().map(|thread| single(of, thread)).collect();
        let serial = of.serial.as_ref().map(|serial| SharedRun { memory: serial.ways[0].memory.clone(), inside });
        self.globals.number(Global { memory: of.at.memory.clone(), fixed, serial })
    }

    fn has_one_way(&self, of: &Product) -> Result<(), Box<Refused>> {
        match &of.serial {
            Some(serial) if serial.ways.len() != 1 => {
                Err(self.refused("the serial run of blocks can go several ways, which a view does not say", None))
            }
            _ => Ok(()),
        }
    }

    /// What follows by a step of a member, or of a thread in no family; nothing is wrong in these steps.
    pub fn after(&mut self, global: usize, member: Option<usize>) -> Result<Rc<[After]>, Box<Refused>> {
        if let Some(known) = self.known.get(&(global, member)) {
            return Ok(Rc::clone(known));
        }
        let mut after = Vec::new();
        for at in self.configurations(global, member) {
            for thread in self.movers(member) {
                after.extend(self.steps_of(&at, thread, (global, member))?);
            }
        }
        after.sort_unstable();
        after.dedup();
        let after: Rc<[After]> = after.into();
        self.known.insert((global, member), Rc::clone(&after));
        Ok(after)
    }

    fn steps_of(
        &mut self,
        at: &Product,
        thread: ThreadId,
        (global, member): (usize, Option<usize>),
    ) -> Result<Vec<After>, Box<Refused>> {
        let from = || Some((global, member.as_slice().to_vec()));
        let steps = self.steps.of(&at.at, thread).map_err(|why| self.beyond(from(), why))?;
        let mut after = Vec::new();
        for step in steps {
            self.taken += 1;
            let to = self.judge.take((&[], at.serial.as_ref()), &step, &mut self.seen);
            let Some(mut to) = to.map_err(|wrong| self.wrong(from(), &step, &wrong))? else { continue };
            self.has_one_way(&to)?;
            self.certificate.forget(&mut to);
            self.counters.iter().for_each(|counter| counter.clamp(&mut to.at, thread));
            let family = member.map(|member| self.members.all[member].0);
            let moved = family.map(|family| self.members.number((family, single(&to, thread))));
            for inside in self.numbers_after(global, member, moved) {
                let next = self.global_of(&to, inside);
                if !self.is_possible(next, moved.as_slice()) {
                    continue;
                }
                if inside == 0 {
                    self.compare(&to).map_err(|wrong| self.wrong(from(), &step, &wrong))?;
                }
                after.push((next, moved));
            }
        }
        Ok(after)
    }

    /// How many members may be in blocks after one of them has moved.
    fn numbers_after(&self, global: usize, before: Option<usize>, after: Option<usize>) -> Vec<usize> {
        let Some(run) = &self.globals.all[global].serial else { return vec![0] };
        let [left, entered] = [before, after].map(|member| member.is_some_and(|member| self.is_in_block(member)));
        let fewest = (run.inside + usize::from(entered)).saturating_sub(usize::from(left)).min(self.cap);
        if run.inside == self.cap { (fewest..=self.cap).collect() } else { vec![fewest] }
    }

    fn is_in_block(&self, member: usize) -> bool {
        !self.steps.is_between_units(&self.members.all[member].1.lane, self.thread_of(member))
    }

    /// With no member in a block: if no other thread is in one either, memory is that of the serial run. What a full counter holds is not known, and so never the same.
    fn compare(&self, at: &Product) -> Result<(), Wrong> {
        if at.serial.is_none() || !blocks::are_between_units(&self.steps, &at.at) {
            return Ok(());
        }
        if self.counters.iter().any(|counter| counter.is_full(&at.at.memory)) {
            return Err(Wrong::Unknown("nobody is in a block, and what a variable has counted is not known".into()));
        }
        self.judge.compare(&self.steps, &mut at.clone())
    }

    /// Whether there can be a configuration with at least these members, by what counters and the number of members in blocks say.
    pub fn is_possible(&self, global: usize, members: &[usize]) -> bool {
        let part = &self.globals.all[global];
        let exact = part.serial.as_ref().map(|run| run.inside).filter(|number| *number < self.cap);
        let inside = members.iter().filter(|member| exact.is_some() && self.is_in_block(**member)).count();
        let Some(others) = exact.map_or(Some(None), |exact| exact.checked_sub(inside).map(Some)) else { return false };
        self.counters.iter().all(|counter| {
            let Some(left) = counter.left_over(part, self.program()) else { return true };
            let weight = |member: &usize| counter.weight(self.thread_of(*member), self.members.all[*member].1.lane.pc);
            let here = members.iter().map(weight).sum::<i128>();
            // Who is in no block has added nothing: the others in blocks, if it is known how many they are, make up the rest.
            let most = counter.of_blocks.zip(others).map(|(each, others)| here + each * others as i128);
            (counter.is_full(&part.memory) || here <= left) && most.is_none_or(|most| left <= most)
        })
    }

    pub fn view(&self, global: usize, members: &[usize]) -> View {
        let Global { memory, fixed, serial } = (*self.globals.all[global]).clone();
        let members = members.iter().map(|member| (*self.members.all[*member]).clone()).collect();
        View { memory, fixed, members, serial }
    }

    pub fn show(&self) -> Show<'c> {
        Show { certificate: self.certificate }
    }

    pub fn refused(&self, reason: impl Into<String>, at: Option<(usize, Vec<usize>)>) -> Box<Refused> {
        let state = at.map(|(global, members)| self.show().view(&self.view(global, &members)));
        Box::new(Refused { reason: reason.into(), state, ..Refused::default() })
    }

    fn beyond(&self, at: Option<(usize, Vec<usize>)>, why: Beyond) -> Box<Refused> {
        self.refused(self.show().beyond(why), at)
    }

    fn wrong(&self, at: Option<(usize, Vec<usize>)>, step: &Step, wrong: &Wrong) -> Box<Refused> {
        let step = at.is_some().then(|| self.show().step(step));
        Box::new(Refused { step, ..*self.refused(self.show().wrong(wrong), at) })
    }
}

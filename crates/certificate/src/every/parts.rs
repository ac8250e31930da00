//! Global parts and members by number, and the steps between them, each taken once.

use std::hash::Hash;
use std::rc::Rc;

use cyrano_engine::configuration::{Configuration, Lane, Value, View};
use cyrano_interp::steps::{Beyond, Step, Steps};
use cyrano_ir::{InstrId, Op, Program, ThreadId};
use rustc_hash::FxHashMap;

use super::counters::Counter;
use crate::Certificate;
use crate::check::Refused;
use crate::judge::{Judge, Seen, Wrong};
use crate::show::Show;

/// What all threads share: memory and the threads that are in no family.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Global {
    pub memory: Vec<i128>,
    pub fixed: Vec<Lane>,
}

/// A member with the number of its family.
pub(super) type Member = (usize, Lane);

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
pub(super) fn whole(
    program: &Program,
    memory: &[i128],
    fixed: &[Lane],
    member: Option<(ThreadId, &Lane)>,
) -> Configuration {
    let absent = |thread: &cyrano_ir::Thread| Lane {
        pc: InstrId::new(thread.code.iter().position(|instr| matches!(instr.op, Op::Halt)).unwrap_or(0)),
        registers: vec![Value::Forgotten; thread.registers.len()],
        queue: Vec::new(),
        latest_done: false,
    };
    let mut threads: Vec<Lane> = program.threads.iter().map(absent).collect();
    for (thread, lane) in fixed_threads(program).into_iter().zip(fixed) {
        threads[thread.index()] = lane.clone();
    }
    if let Some((thread, lane)) = member {
        threads[thread.index()] = lane.clone();
    }
    Configuration { memory: memory.to_vec(), threads, running: None }
}

impl<'c> Parts<'c> {
    pub fn new(certificate: &'c Certificate, judge: Judge<'c>, steps: Steps<'c>, counters: Vec<Counter>) -> Self {
        let (globals, members) = (Numbered::new(), Numbered::new());
        Self {
            certificate,
            judge,
            steps,
            counters,
            globals,
            members,
            taken: 0,
            seen: Seen::default(),
            known: FxHashMap::default(),
        }
    }

    /// From now on all values of counters are told apart, and what happened so far, perhaps only in what views allow, does not count.
    pub fn be_exact(&mut self) {
        self.counters.clear();
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
    pub fn configurations(&self, global: usize, member: Option<usize>) -> Vec<Configuration> {
        let part = &self.globals.all[global];
        let lane = member.map(|member| (self.thread_of(member), &self.members.all[member].1));
        let mut all = vec![whole(self.program(), &part.memory, &part.fixed, lane)];
        for counter in self.counters.iter().filter(|counter| counter.is_full(&part.memory)) {
            let values = |at: &Configuration| counter.values().map(|value| counter.with(at, value)).collect::<Vec<_>>();
            all = all.iter().flat_map(values).collect();
        }
        all
    }

    /// The initial global parts and members.
    pub fn initial(&mut self, seen: &mut Seen) -> Result<(Vec<usize>, Vec<usize>), Box<Refused>> {
        let (mut globals, mut members) = (Vec::new(), Vec::new());
        for step in self.steps.initial().map_err(|why| self.beyond(None, why))? {
            let to = self
                .judge
                .take((&[], None), (&self.steps, &step), seen)
                .map_err(|wrong| self.wrong(None, &step, &wrong))?;
            let Some(mut to) = to else { continue };
            self.certificate.forget(&mut to);
            globals.push(self.global_of(&to.at));
            for (family, thread) in self.program().families.iter().map(|family| family.thread).enumerate() {
                members.push(self.members.number((family, to.at.threads[thread.index()].clone())));
            }
        }
        for all in [&mut globals, &mut members] {
            all.sort_unstable();
            all.dedup();
        }
        Ok((globals, members))
    }

    fn global_of(&mut self, at: &Configuration) -> usize {
        let fixed = fixed_threads(self.program()).into_iter().map(|thread| at.threads[thread.index()].clone());
        let global = Global { memory: at.memory.clone(), fixed: fixed.collect() };
        self.globals.number(global)
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
        at: &Configuration,
        thread: ThreadId,
        (global, member): (usize, Option<usize>),
    ) -> Result<Vec<After>, Box<Refused>> {
        let from = || (global, member.as_slice().to_vec());
        let steps = self.steps.of(at, thread).map_err(|why| self.beyond(Some(from()), why))?;
        let mut after = Vec::new();
        for step in steps {
            self.taken += 1;
            let to = self.judge.take((&[], None), (&self.steps, &step), &mut self.seen);
            let Some(mut to) = to.map_err(|wrong| self.wrong(Some(from()), &step, &wrong))? else { continue };
            self.certificate.forget(&mut to);
            self.counters.iter().for_each(|counter| counter.clamp(&mut to.at, thread));
            let family = member.map(|member| self.members.all[member].0);
            let moved = family.map(|family| self.members.number((family, to.at.threads[thread.index()].clone())));
            after.push((self.global_of(&to.at), moved));
        }
        Ok(after)
    }

    /// Whether there can be a configuration with at least these members, by what counters say.
    pub fn is_possible(&self, global: usize, members: &[usize]) -> bool {
        self.counters.iter().all(|counter| {
            let Some(left) = counter.left_over(&self.globals.all[global], self.program()) else { return true };
            let weight = |member: &usize| counter.weight(self.thread_of(*member), self.members.all[*member].1.pc);
            counter.is_full(&self.globals.all[global].memory) || members.iter().map(weight).sum::<i128>() <= left
        })
    }

    pub fn view(&self, global: usize, members: &[usize]) -> View {
        let Global { memory, fixed } = (*self.globals.all[global]).clone();
        View { memory, fixed, members: members.iter().map(|member| (*self.members.all[*member]).clone()).collect() }
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

//! The set of all reachable states, to be written into a certificate.
//!
//! Of the reductions only those are used that a checker absorbs: `macro-steps`, for what a thread computes between its accesses has no place in
//! an execution, and `dead-registers`, which are written as forgotten, so that the checker notices if one is looked at after all. Deferred accesses keep
//! their instructions, and an event of a transaction is a step of its own.
//!
//! **Invariant:** nothing is left out. If there are more states than may be written, or the search ends for any other reason than that all is known, there
//! is no set.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use cyrano_engine::configuration::{
    Configuration, Copied, Deferred, Entry, Forgets, Lane, Mark, Operands, Product, Serial, Value, Way,
};
use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Refusal, Verdict, Watch};
use cyrano_ir::{InstrId, LocId, Property, RegId, ThreadId};

use super::Search;
use super::observer::Observer;
use super::plain::{Bytes, Plain};
use crate::Explore;
use crate::criteria::shadow::{self, Member, Shadow};
use crate::semantics::machine::Machine;
use crate::semantics::state::{self, Data, State, What};
use crate::semantics::step::{Stepper, Successors};
use crate::semantics::stepping::PLAIN;
use crate::store::Store;

/// Why there is no set of states.
#[derive(Clone, Debug)]
pub enum Unwritten {
    /// The engine does not answer the question.
    Refused(Box<Refusal>),
    /// There are too many states.
    TooMany {
        /// More than this.
        most: usize,
        /// Whether the program has timestamps, which are not renumbered here.
        timestamps: bool,
    },
    /// Without the reductions that a checker does not know, the verdict is another one.
    Otherwise(Verdict, Option<Box<Cause>>),
    /// A criterion whose monitor has no form that a checker could read.
    NoMonitor(&'static str),
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the explorer does not run this: {why}"),
            Self::TooMany { most, timestamps } => {
                let why = "without the reductions that a checker would have to trust";
                write!(f, "there are more than {most} states, which is the most that is written, {why}")?;
                f.write_str(match timestamps {
                    true => "; timestamps are not renumbered either, so a program that counts for ever has no end of states: one without counters has a certificate",
                    false => "; fewer threads or variables (`--set`) have fewer",
                })
            }
            Self::Otherwise(verdict, why) => {
                write!(
                    f,
                    "without the reductions that a checker would have to trust the verdict is {}",
                    verdict.name()
                )?;
                why.iter().try_for_each(|why| write!(f, ": {why}"))
            }
            Self::NoMonitor(criterion) => write!(f, "what `{criterion}` remembers cannot be written down"),
        }
    }
}

impl Explore {
    /// Hands over the states of a program that has the property, at most so many, each once; `take` says how many bytes it keeps of one. If they are all
    /// there is, what is forgotten in them and the answer that they prove.
    pub fn reachable(
        &self,
        query: Query<'_>,
        most: usize,
        (limits, watch): (&Limits, &dyn Watch),
        take: &mut (dyn FnMut(&Product) -> usize + Send),
    ) -> Result<(Forgets, Answer), Unwritten> {
        self.supports(&query).map_err(|why| Unwritten::Refused(Box::new(why)))?;
        let property = query.property();
        let config = Self { certifies: true, dead_registers: self.dead_registers, fault: self.fault, ..PLAIN.clone() };
        let machine = Machine::new(query.program(), query.model(), &config, property, limits.deferred, None);
        if machine.values.is_some() || machine.spec.is_some() || machine.own_order.is_some() {
            return Err(Unwritten::NoMonitor(property.map_or("outcomes", Property::criterion)));
        }
        let limits = Limits { workers: 1, ..limits.clone() };
        let taking =
            Mutex::new(Taking { take, states: 0, bytes: 0, rests: vec![BTreeSet::new(); machine.threads.len()] });
        let store = Store::new(None, &config, 1);
        let mut search = Search::new(&machine, property, store, &limits, watch);
        let observer = || Writing { m: &machine, most, taking: &taking };
        search.run(|| Plain::new(&machine, property, Bytes::default()).observed_by(observer()));
        let (found, _) = search.finish(0, <[u8]>::to_vec);
        let (states, rests) = {
            let mut taking = taking.lock().unwrap_or_else(PoisonError::into_inner);
            (taking.states, std::mem::take(&mut taking.rests))
        };
        if states > most {
            return Err(Unwritten::TooMany { most, timestamps: query.program().has_timestamps() });
        }
        let answer = config.answer(&machine, property, found, &limits);
        if answer.verdict != Verdict::Verified || answer.execution.is_some() {
            return Err(Unwritten::Otherwise(answer.verdict, answer.reason.map(Box::new)));
        }
        Ok((machine.forgets(&rests), answer))
    }
}

/// Writes down every state that is expanded, and gives up when there are too many.
struct Writing<'m, 't> {
    m: &'m Machine<'m>,
    most: usize,
    taking: &'m Mutex<Taking<'t>>,
}

/// Who takes the states, and what is known of them.
struct Taking<'t> {
    take: &'t mut (dyn FnMut(&Product) -> usize + Send),
    states: usize,
    bytes: usize,
    /// Where each thread rests.
    rests: Vec<BTreeSet<InstrId>>,
}

impl<'m> Observer<'m> for Writing<'m, '_> {
    fn see(&mut self, stepper: &mut Stepper<'m>, state: &State, _: &mut Successors) {
        let taking = &mut *self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let product = self.m.product(state);
        taking.states += 1;
        taking.bytes += (taking.take)(&product);
        taking.rests.iter_mut().zip(&product.at.threads).for_each(|(rests, lane)| _ = rests.insert(lane.pc));
        stepper.notes.seen_enough |= taking.states > self.most;
    }

    fn bytes(&self) -> u64 {
        self.taking.lock().unwrap_or_else(PoisonError::into_inner).bytes as u64
    }
}

impl Machine<'_> {
    fn product(&self, state: &State) -> Product {
        let mut monitor = Vec::new();
        if let (Some(of), Some(remembered)) = (&self.monitor, &state.monitor) {
            of.encode(remembered, &mut monitor);
        }
        let threads = (0..self.threads.len()).map(|thread| self.lane(state, thread)).collect();
        let running = state.running.checked_sub(1).map(ThreadId);
        let serial = state.shadow.as_ref().map(|shadow| self.serial(shadow));
        Product { at: Configuration { memory: state.memory.clone(), threads, running }, monitor, serial }
    }

    pub(super) fn lane(&self, state: &State, thread: usize) -> Lane {
        let (info, lane) = (&self.threads[thread], &state.threads[thread]);
        let live = &info.live[lane.pc as usize];
        let value = |register: usize| match state.pending.get(info.base + register) {
            _ if live.binary_search(&(register as u32)).is_err() => Value::Forgotten,
            Some(position) if *position > 0 => Value::Pending(u32::from(*position) - 1),
            _ => Value::Known(state.regs[info.base + register]),
        };
        let registers = (0..self.program.threads[thread].registers.len()).map(value).collect();
        let queue = lane.queue.iter().map(|entry| self.deferred(thread, entry)).collect();
        Lane { pc: InstrId(lane.pc), registers, queue, latest_done: self.shadows.is_some() && lane.latest_done }
    }

    fn serial(&self, shadow: &Shadow) -> Serial {
        let way = |member: &Member| Way {
            memory: member.memory.clone(),
            threads: member.threads.iter().enumerate().map(|(thread, copy)| self.copied(thread, copy)).collect(),
        };
        Serial { ways: shadow.members.iter().map(way).collect(), chosen: shadow.chosen.clone() }
    }

    pub(super) fn copied(&self, thread: usize, copy: &shadow::Copied) -> Copied {
        let live = self.shadows.as_ref().map(|shadows| &shadows.threads[thread].live[copy.pc as usize]);
        let is_live = |register: &u32| live.is_none_or(|live| live.binary_search(register).is_ok());
        let values = (0_u32..).zip(&copy.regs);
        let registers =
            values.map(|(at, value)| if is_live(&at) { Value::Known(*value) } else { Value::Forgotten }).collect();
        let owed = copy.owed.iter().map(|owed| (InstrId(owed[0] as u32), owed[1..].to_vec())).collect();
        Copied { pc: InstrId(copy.pc), registers, owed }
    }

    fn deferred(&self, thread: usize, entry: &state::Entry) -> Deferred {
        let value = |value: &state::Value| match value {
            state::Value::Known(value) => Value::Known(*value),
            state::Value::Pending(position) => Value::Pending(u32::from(*position)),
        };
        let captured = |captured: &[(u32, state::Value)]| {
            let mut captured: Vec<_> = captured.iter().map(|(reg, v)| (RegId(*reg), value(v))).collect();
            captured.sort_unstable_by_key(|(register, _)| *register);
            captured
        };
        match (entry.what, &entry.data) {
            (What::Fence(kinds), _) => return Deferred::Fence(kinds),
            (What::Begin, _) => return Deferred::Mark(Mark::Begin),
            (What::Commit, Data::Waiting(waits)) => return Deferred::Mark(Mark::Commit(value(&waits[0].1))),
            (What::End, Data::Waiting(handed)) => {
                return Deferred::Mark(Mark::End { instr: InstrId(entry.instr), handed: captured(handed) });
            }
            _ => {}
        }
        let op = self.op(thread, entry.instr);
        let operands = match &entry.data {
            Data::Known(first, second) => Operands::Known([*first, *second][..op.operands().len().min(2)].to_vec()),
            Data::Waiting(waits) => Operands::Waiting(captured(waits)),
        };
        let loc = matches!(entry.what, What::Access(_)).then_some(LocId(entry.loc));
        Deferred::Op(Entry { instr: InstrId(entry.instr), loc, operands, chained: entry.chained, stale: entry.stale })
    }

    /// The registers that are forgotten where threads rest.
    pub(super) fn forgets(&self, rests: &[BTreeSet<InstrId>]) -> Forgets {
        let of = |thread: usize| {
            let registers = self.program.threads[thread].registers.len() as u32;
            let dead = |pc: InstrId| {
                let live = &self.threads[thread].live[pc.index()];
                (0..registers).filter(|register| live.binary_search(register).is_err()).map(RegId).collect()
            };
            rests[thread].iter().map(|pc| (*pc, dead(*pc))).collect()
        };
        (0..self.threads.len()).map(of).collect()
    }
}

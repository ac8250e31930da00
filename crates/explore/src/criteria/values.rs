//! Histories with values in a search: what calls and responses add to what the criterion has to remember.
//!
//! A response happens as soon as its call has nothing left to do, and a call begins only when its first access is performed. No
//! violation is lost. Compare with a history of the same accesses in which some response comes later or some call begins earlier: up to any
//! of its events the first history has the same responses and more, and more transactions of it precede others in
//! real time; its pending calls are some of those of the other, and an invocation never makes a history wrong
//! (`cyrano_criteria::values::holds`). So whatever order justifies the first history, cut down to the responses of the other,
//! justifies that one.
//!
//! The same holds of criteria that are asked once, of a whole history: its responses are the same in both, and the first has more real time.
//!
//! *Client symmetry* (reduction `client-symmetry`): where threads, locations or values are interchangeable (`Program::interchangeable`), an execution
//! of a client can be renamed so that threads make their first calls in order, and so that the first new location, or value, that somebody
//! names is always the smallest that nobody has named. The renamed execution is one of the renamed client, and the criteria do not look at
//! names. So calls that would break this order are left out; whoever counts wrong clients has to rename back.
//! Where clients run transactions again until they commit, threads and locations are interchangeable in a circle only
//! (`Interchangeable`): then the first call is one of the first thread and names the first location, and the others are free.
//!
//! *Merged histories* (reduction `merged-histories`): two histories with the same digest are one, for the criteria depend on
//! nothing else; `Digest::forget` drops what no later event can make matter.

use std::sync::{PoisonError, RwLock};

use cyrano_criteria::values::{Call, Digest, Reply, finish, holds, misplaced};
use cyrano_engine::Access;
use cyrano_engine::values::Calls;
use cyrano_ir::{Interchangeable, Op, Program, Property, ThreadId, TxCriterion, reply};
use rustc_hash::FxHashMap;

use crate::Explore;
use crate::criteria::hearing::Said;
use crate::encoding::codec::{put, take};
use crate::semantics::local::eval;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor};
use attempts::{Attempts, Order};

mod attempts;

/// The criterion, and what is the same for all states.
pub(crate) struct Values {
    criterion: TxCriterion,
    empty: Digest,
    init: Vec<i128>,
    /// How many transactions a thread can have.
    per_thread: u8,
    /// How attempts are numbered, where transactions run again until they commit.
    attempts: Option<Attempts>,
    /// The order that they are claimed to run in.
    order: Order,
    /// Whether states remember the calls themselves, so that client programs can be told apart.
    pub programs: bool,
    /// Whether digests forget what no longer matters.
    forget: bool,
    /// What clients may exchange, if that is used.
    pub renames: Interchangeable,
    memo: RwLock<FxHashMap<Digest, bool>>,
}

/// What a state remembers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    digest: Digest,
    lanes: Vec<Lane>,
    /// How many of the interchangeable locations and values have been named, the smallest first.
    named: (u8, u8),
    /// The transactions in the order of their commits, where that counts.
    commits: Vec<u8>,
}

/// What becomes of a history with another response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heeded {
    Right,
    Wrong,
    /// It has more aborted transactions that matter than there is room for.
    Crowded,
}

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Lane {
    /// How many of its transactions have ended.
    ended: u8,
    /// Whether it has made a call, where threads are interchangeable.
    begun: bool,
    /// The call that has no response yet.
    call: Option<Call>,
    /// All of its calls so far, transaction by transaction, if they are remembered.
    calls: Vec<Vec<Call>>,
}

impl Values {
    /// For a property of transactions of a program that calls a transactional memory.
    pub fn of(program: &Program, property: &Property, config: &Explore) -> Option<Self> {
        let Property::Transactions(criterion) = property else { return None };
        if !program.has_calls() {
            return None;
        }
        let size = cyrano_engine::values::size(program);
        let init = cyrano_engine::values::initial(program);
        let order = Order::of(program, *criterion)?;
        let criterion = *criterion;
        let own = size.per_thread * program.threads.len();
        let attempts = program.restarts().then(|| Attempts::new(own));
        let numbers = attempts.map_or(own, |attempts| attempts.numbers(criterion));
        let empty = Digest::new(numbers, size.locations).ok()?;
        let per_thread = u8::try_from(size.per_thread).ok()?;
        let renames = if config.client_symmetry { program.interchangeable.clone() } else { Interchangeable::default() };
        let (programs, forget) = (config.client_programs, config.merged_histories);
        let memo = RwLock::default();
        Some(Self { criterion, empty, init, per_thread, attempts, order, programs, forget, renames, memo })
    }

    /// Nothing has happened.
    pub fn initial(&self, threads: usize) -> Heard {
        let lanes = vec![Lane::default(); threads];
        Heard { digest: self.empty.clone(), lanes, named: (0, 0), commits: Vec::new() }
    }

    fn transaction(&self, thread: usize, lane: &Lane) -> u8 {
        thread as u8 * self.per_thread + lane.ended.min(self.per_thread - 1)
    }

    fn holds(&self, digest: &Digest) -> bool {
        if let Some(known) = self.memo.read().unwrap_or_else(PoisonError::into_inner).get(digest) {
            return *known;
        }
        let holds = holds(self.criterion, digest, &self.init);
        self.memo.write().unwrap_or_else(PoisonError::into_inner).insert(digest.clone(), holds);
        holds
    }

    /// Whether the call is one that has to be looked at.
    pub fn invoke(&self, heard: &mut Heard, thread: usize, call: Call) -> bool {
        if !self.is_canonical(heard, thread, call) {
            return false;
        }
        let tx = self.transaction(thread, &heard.lanes[thread]);
        heard.digest.invoke(tx, call);
        let lane = &mut heard.lanes[thread];
        lane.call = Some(call);
        if self.programs {
            let running = usize::from(lane.ended) + 1;
            lane.calls.resize(lane.calls.len().max(running), Vec::new());
            lane.calls[running - 1].push(call);
        }
        true
    }

    /// Notes what a call names; false if something smaller should have been named first.
    fn is_canonical(&self, heard: &mut Heard, thread: usize, call: Call) -> bool {
        if self.renames.threads {
            let in_circle = self.attempts.is_some();
            let before = if in_circle && heard.lanes.iter().any(|lane| lane.begun) { 0 } else { thread };
            if heard.lanes[..before].iter().any(|lane| !lane.begun) {
                return false;
            }
            let begun = if in_circle { 0..heard.lanes.len() } else { thread..thread + 1 };
            heard.lanes[begun].iter_mut().for_each(|lane| lane.begun = true);
        }
        let (loc, value) = match call {
            Call::Read(loc) => (Some(loc), None),
            Call::Write(loc, value) => (Some(loc), Some(value)),
            Call::Commit => (None, None),
        };
        let named_one = self.attempts.is_some() && heard.named.0 > 0;
        let loc = loc.filter(|_| self.renames.locations && !named_one);
        let rank = value.and_then(|value| self.renames.values.iter().position(|known| *known == value));
        name(&mut heard.named.0, loc) && name(&mut heard.named.1, rank.map(|rank| rank as u8))
    }

    /// Whether the history is still right.
    pub fn respond(&self, heard: &mut Heard, thread: usize, reply: Reply) -> Heeded {
        let tx = self.transaction(thread, &heard.lanes[thread]);
        let lane = &mut heard.lanes[thread];
        let Some(call) = lane.call.take() else { return Heeded::Right };
        heard.digest.respond(tx, call, reply);
        if self.criterion.judges(call, reply) && !self.holds(&heard.digest) {
            return Heeded::Wrong;
        }
        let mut room = true;
        match (reply, self.attempts) {
            (Reply::Aborted, Some(attempts)) => {
                room = attempts.abort(&mut heard.digest, tx, self.criterion, &self.init);
            }
            (Reply::Committed, Some(attempts)) => {
                lane.ended += 1;
                attempts.commit(&mut heard.digest, tx, self.criterion);
                if matches!(self.order, Order::Commits) {
                    heard.commits.push(tx);
                }
            }
            (Reply::Aborted | Reply::Committed, None) => lane.ended += 1,
            _ => {}
        }
        if self.forget {
            heard.digest.forget(self.criterion);
        }
        if room { Heeded::Right } else { Heeded::Crowded }
    }

    /// Whether some order, or the one that is claimed, explains a final state. Where transactions run again until they commit, all of them
    /// have, and memory counts as well; otherwise only what prefixes have left open does.
    pub fn finishes(&self, m: &Machine<'_>, state: &State) -> bool {
        let Some(heard) = &state.heard else { return true };
        if self.attempts.is_none() {
            return self.criterion.judges_prefixes() || self.holds(&heard.digest);
        }
        let memory: Vec<i128> = m.program.transactional.iter().map(|loc| state.memory[loc.index()]).collect();
        let keys = match &self.order {
            Order::Some => return finish(self.criterion, &heard.digest, &self.init, &memory).is_some(),
            Order::Commits => {
                let place = |tx: u8| heard.commits.iter().position(|other| *other == tx);
                (0..heard.digest.transactions()).map(|tx| vec![place(tx).map_or(0, |n| n as i128)]).collect()
            }
            Order::Keys(registers) => attempts::keys(m, state, registers),
        };
        misplaced(&heard.digest, &self.init, &memory, &keys).is_none()
    }

    /// Appends the bytes of what a state remembers.
    pub fn encode(&self, heard: &Heard, out: &mut Vec<u8>) {
        heard.digest.pack(&mut |word| put(out, word));
        if matches!(self.order, Order::Commits) {
            put(out, heard.commits.len() as i128);
            heard.commits.iter().for_each(|tx| put(out, i128::from(*tx)));
        }
        if self.renames.locations || !self.renames.values.is_empty() {
            put(out, heard.named.0.into());
            put(out, heard.named.1.into());
        }
        for lane in &heard.lanes {
            if self.renames.threads {
                put(out, lane.begun.into());
            }
            put(out, lane.ended.into());
            put_call(out, lane.call);
            if self.programs {
                put(out, lane.calls.len() as i128);
                for calls in &lane.calls {
                    put(out, calls.len() as i128);
                    calls.iter().for_each(|call| put_call(out, Some(*call)));
                }
            }
        }
    }

    /// Reads it back.
    pub fn decode(&self, input: &mut &[u8], heard: &mut Heard) {
        heard.digest.unpack(&mut || take(input));
        heard.commits.clear();
        if matches!(self.order, Order::Commits) {
            let commits = take(input);
            heard.commits.extend((0..commits).map(|_| take(input) as u8));
        }
        if self.renames.locations || !self.renames.values.is_empty() {
            heard.named = (take(input) as u8, take(input) as u8);
        }
        for lane in &mut heard.lanes {
            if self.renames.threads {
                lane.begun = take(input) != 0;
            }
            lane.ended = take(input) as u8;
            lane.call = take_call(input);
            lane.calls.clear();
            if self.programs {
                for _ in 0..take(input) {
                    let calls = take(input);
                    lane.calls.push((0..calls).filter_map(|_| take_call(input)).collect());
                }
            }
        }
    }
}

impl Lane {
    /// Whether this response finishes a read.
    fn reads(&self, said: i128) -> bool {
        matches!(self.call, Some(Call::Read(_))) && said >= 0
    }

    /// Whether this response finishes a write.
    fn writes(&self, said: i128) -> bool {
        matches!(self.call, Some(Call::Write(..))) && said == reply::OK
    }
}

impl Heard {
    /// The calls of each thread so far.
    pub fn calls(&self) -> Calls {
        self.lanes.iter().map(|lane| lane.calls.clone()).collect()
    }

    /// Whether this response of a thread finishes a read, and whether it finishes a write.
    pub fn finishes(&self, thread: usize, said: i128) -> (bool, bool) {
        (self.lanes[thread].reads(said), self.lanes[thread].writes(said))
    }
}

/// Names the number `new`, of which `named` are in use: the smallest ones.
fn name(named: &mut u8, new: Option<u8>) -> bool {
    let Some(new) = new else { return true };
    if new == *named {
        *named += 1;
    }
    new < *named
}

fn put_call(out: &mut Vec<u8>, call: Option<Call>) {
    match call {
        None => put(out, 0),
        Some(Call::Commit) => put(out, 1),
        Some(Call::Read(loc)) => put(out, 2 + 2 * i128::from(loc)),
        Some(Call::Write(loc, value)) => {
            put(out, 3 + 2 * i128::from(loc));
            put(out, value);
        }
    }
}

fn take_call(input: &mut &[u8]) -> Option<Call> {
    match take(input) {
        0 => None,
        1 => Some(Call::Commit),
        code if code % 2 == 0 => Some(Call::Read(((code - 2) / 2) as u8)),
        code => Some(Call::Write(((code - 3) / 2) as u8, take(input))),
    }
}

impl Stepper<'_> {
    /// A call or a response at `pc`, which comes next, happens.
    pub(crate) fn speak(&mut self, successor: &mut Successor, pc: u32) {
        self.speaks = true;
        let thread = successor.thread;
        let state = &mut successor.state;
        let index = state.threads[thread].issued;
        state.threads[thread].issued += 1;
        successor.accesses.push(Access { thread: ThreadId::new(thread), index, read: None, written: None });
        let base = self.m.threads[thread].base;
        let value = |expr| eval(expr, &state.regs[base..]);
        let op = self.m.op(thread, pc);
        let said: Result<Vec<i128>, _> = op.operands().into_iter().map(value).collect();
        let said = match said {
            Ok(said) => said,
            Err(error) => return crate::semantics::step::record_error(&mut successor.event, thread, pc, error),
        };
        self.notes.committed |= matches!(op, Op::Respond(_)) && said == [reply::COMMITTED];
        if self.m.pursuit.is_some() {
            self.note_call(successor, op, &said);
        }
        let thread = thread as u8;
        self.say(
            successor,
            match op {
                Op::Invoke { method, .. } => Said::Call(thread, cyrano_engine::values::call(*method, &said)),
                _ => Said::Reply(thread, said[0]),
            },
        );
    }
}

/// Whether an instruction is a call or a response.
pub(crate) fn speaks(op: &Op) -> bool {
    matches!(op, Op::Invoke { .. } | Op::Respond(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_survive() {
        let calls = [None, Some(Call::Commit), Some(Call::Read(3)), Some(Call::Write(2, 7)), Some(Call::Write(0, 0))];
        let mut bytes = Vec::new();
        calls.iter().for_each(|call| put_call(&mut bytes, *call));
        let mut input = &bytes[..];
        for call in calls {
            assert_eq!(take_call(&mut input), call);
        }
        assert!(input.is_empty());
    }
}

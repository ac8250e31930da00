//! Whether a search that found nothing wrong has exercised what it is about ([`cyrano_engine::vacuity`], and transactions).
//!
//! What has to have happened is in [`cyrano_engine::vacuity`]; for transactions it is found out here.
//! - A memory judged by conflicts that has no way to store cannot go wrong, and is not exercised. If nothing in it reads, only stores are asked for.
//! - Of histories with values, what the clients call is asked for: a response to a read, or a write that is done, in a transaction that commits.
//!
//! That reads finish, that stores happen and that transactions commit the search notes on its way, which is exact, for each is an event of
//! one step. That they happen in the *same* transaction is a matter of history, which states do not have: criteria forget what no longer
//! matters to them, and states that differ in it would make the search larger. So it is looked for afterwards, in a search of its own whose states are
//! those of the program, without a criterion, and for each thread what its transaction has done so far (`did`). It ends as soon as both are found: almost
//! always in the search before all others, in which one thread runs alone, whose executions are some of all. Only if no thread
//! finds them alone all executions are searched. If that cannot be completed, the verdict is `unknown`.
//! Of the reductions for criteria only `repeated-stores` is used, which leaves out stores of transactions that store to the same variable before.

use cyrano_engine::{Cause, Limits, Verdict, Watch, vacuity};
use cyrano_ir::{Method, Op, Property, Tags, TxEvent, reply};

use crate::Explore;
use crate::criteria::judge;
use crate::search;
use crate::search::Found;
use crate::semantics::machine::Machine;
use crate::semantics::step::{Notes, Stepper, Successor};

/// Bits of what a transaction has done: a finished read, a store or a write that is done, and the call under way.
const READ: u8 = 1;
const STORE: u8 = 2;
const READING: u8 = 4;
const WRITING: u8 = 8;

/// What this search may use in any case: searches on disk have little memory.
const LEAST_MEMORY: u64 = 64 << 20;

/// What a search for transactions that do something is after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pursuit {
    /// A commit after a finished read,
    read: bool,
    /// and one after a store.
    store: bool,
    /// Whether transactions are made of calls; else of accesses.
    calls: bool,
    /// The one thread that runs, if not all do.
    solo: Option<usize>,
}

impl Pursuit {
    /// Whether all of it was found.
    pub fn is_over(self, notes: Notes) -> bool {
        (!self.read || notes.committed_read) && (!self.store || notes.committed_store)
    }
}

impl Machine<'_> {
    /// Whether a thread takes no steps, because another one runs alone.
    #[inline]
    pub(crate) fn rests(&self, thread: usize) -> bool {
        self.pursuit.and_then(|pursuit| pursuit.solo).is_some_and(|solo| solo != thread)
    }

    /// Whether the instruction is a store that undoes others.
    pub(crate) fn is_rollback(&self, thread: usize, pc: u32) -> bool {
        self.op(thread, pc).has_tag(Tags::ROLLBACK)
    }
}

impl Stepper<'_> {
    /// An event of a transaction happens.
    pub(crate) fn note_event(&mut self, successor: &mut Successor, event: TxEvent) {
        match event {
            TxEvent::ReadFinish => successor.state.threads[successor.thread].did |= READ,
            TxEvent::Commit | TxEvent::Abort => self.note_transaction_end(successor, event == TxEvent::Commit),
        }
    }

    /// A transaction stores.
    pub(crate) fn note_store(&mut self, successor: &mut Successor) {
        if self.m.pursuit.is_some_and(|pursuit| !pursuit.calls) {
            successor.state.threads[successor.thread].did |= STORE;
        }
    }

    /// A call begins, or returns `said`.
    pub(crate) fn note_call(&mut self, successor: &mut Successor, op: &Op, said: &[i128]) {
        let did = &mut successor.state.threads[successor.thread].did;
        let done = match (op, *did & (READING | WRITING), said) {
            (Op::Invoke { method, .. }, ..) => {
                *did |= match method {
                    Method::Read => READING,
                    Method::Write => WRITING,
                    Method::Commit => 0,
                };
                return;
            }
            (_, _, [reply::ABORTED | reply::COMMITTED]) => {
                return self.note_transaction_end(successor, said == [reply::COMMITTED]);
            }
            (_, READING, [value]) if *value >= 0 => READ,
            (_, WRITING, [reply::OK]) => STORE,
            _ => 0,
        };
        *did = *did & (READ | STORE) | done;
    }

    fn note_transaction_end(&mut self, successor: &mut Successor, commits: bool) {
        let did = std::mem::take(&mut successor.state.threads[successor.thread].did);
        self.notes.committed_read |= commits && did & READ != 0;
        self.notes.committed_store |= commits && did & STORE != 0;
    }
}

impl Explore {
    /// Why a complete search without a hit shows nothing, if it does not; the verdict is then `vacuous`, or `unknown` if that could not be found out.
    pub(crate) fn unexercised(
        &self,
        machine: &Machine<'_>,
        property: Option<&Property>,
        found: &Found<'_, '_>,
        limits: &Limits,
    ) -> Option<(Verdict, Cause)> {
        let program = machine.program;
        let vacuous = |reason| Some((Verdict::Vacuous, Cause::Nothing(reason)));
        match property? {
            Property::Assertions => {
                let exercised = found.notes.asserted || judge::can_wait(program);
                match vacuity::can_go_wrong(program) {
                    _ if exercised => None,
                    true if found.judge.ended => None,
                    true => vacuous(vacuity::NO_ASSERTION_REACHED),
                    false => vacuous(vacuity::NO_ASSERTION),
                }
            }
            Property::Transactions(criterion) if !criterion.judges_prefixes() && !found.judge.ended => {
                vacuous(vacuity::NO_END)
            }
            Property::Transactions(_) => self.idle_transactions(machine, found.notes, limits),
            Property::Progress(_) | Property::Structure(_) if !found.notes.committed => {
                vacuous("no transaction ever commits")
            }
            Property::CommitAtomicity if !found.notes.committed => vacuous(vacuity::NO_BLOCK_COMMITS),
            Property::Final { .. } | Property::Observations(_) if !found.judge.ended => vacuous(vacuity::NO_END),
            Property::Observations(_) if program.observed.is_empty() => vacuous(vacuity::NOTHING_OBSERVED),
            Property::Invariant(invariant) if !found.notes.stood && !invariant.points().is_empty() => {
                vacuous(vacuity::NO_POINT_REACHED)
            }
            Property::Races if !vacuity::can_conflict(program) => vacuous(vacuity::NO_CONFLICT),
            Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity
            | Property::Invariant(_)
            | Property::Races
            | Property::Final { .. }
            | Property::Observations(_) => None,
        }
    }

    /// What no transaction does before it commits.
    fn idle_transactions(&self, machine: &Machine<'_>, notes: Notes, limits: &Limits) -> Option<(Verdict, Cause)> {
        let program = machine.program;
        let did = |read: bool, store: bool| {
            let Notes { committed, read: reads, stored, .. } = notes;
            vacuity::Did { committed, read: reads, stored, committed_read: read, committed_store: store }
        };
        if let Some(reason) = vacuity::idle_transactions(program, did(true, true)) {
            return Some((Verdict::Vacuous, Cause::Nothing(reason)));
        }
        let (read, store) = vacuity::wanted(program);
        let pursuit = Pursuit { read, store, calls: program.has_calls(), solo: None };
        let (seen, settled) = self.pursue(machine, pursuit, limits);
        let missing = vacuity::idle_transactions(program, did(seen.committed_read, seen.committed_store))?;
        Some(match settled {
            Ok(()) => (Verdict::Vacuous, Cause::Nothing(missing)),
            Err(why) => (Verdict::Unknown, Cause::Unexercised { missing, why: Box::new(why) }),
        })
    }

    /// Looks for transactions that do something: what was found, and whether that is all there is.
    fn pursue(&self, machine: &Machine<'_>, pursuit: Pursuit, limits: &Limits) -> (Notes, Result<(), Cause>) {
        let threads = machine.program.threads.len();
        let alone = (0..threads).filter(|_| machine.program.setup.is_none() && threads > 1).map(Some);
        let mut seen = Notes::default();
        let mut settled = Ok(());
        for solo in alone.chain([None]) {
            let (notes, result) = self.pursue_once(machine, Pursuit { solo, ..pursuit }, limits);
            seen = seen.or(notes);
            settled = result;
            if pursuit.is_over(seen) {
                break;
            }
        }
        (seen, settled)
    }

    fn pursue_once(&self, judged: &Machine<'_>, pursuit: Pursuit, limits: &Limits) -> (Notes, Result<(), Cause>) {
        let config = Self { fingerprints: false, client_programs: false, ..self.clone() };
        let Machine { program, model, .. } = *judged;
        let mut gap = judged.timestamps.is_some().then_some(1);
        loop {
            let limits = &Limits { memory: limits.memory.max(LEAST_MEMORY), ..limits.clone() };
            let mut machine = Machine::new(program, model, &config, None, limits.deferred, gap);
            machine.pursuit = Some(pursuit);
            machine.limits_repeats = judged.limits_repeats;
            let watch: &dyn Watch = &();
            let found = search::search(&machine, None, limits, watch);
            if found.notes.gap_too_small {
                gap = crate::larger(gap);
                continue;
            }
            let result = match found.stop {
                Some(stop) => Err(stop.into()),
                None if found.notes.bounded => Err(Cause::Deferred(limits.deferred)),
                None => Ok(()),
            };
            return (found.notes, result);
        }
    }
}

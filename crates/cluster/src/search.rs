//! The search of one worker: receive, insert, expand, send.
//!
//! A state that is found at level `n` is sent at time `n + 1` and arrives at time `n + 2` (initial states are sent at time 0, arrive
//! at time 1 and are level 0). States of one's own process are inserted without a detour, into the table that its workers share. A level is begun when all of it has arrived, at
//! every worker, which is what the frontier says, and was inserted by all workers of the process ([`crate::levels`]). From then on states of the next level arrive, which are
//! inserted at once; those of the level behind it, from processes that are faster, wait until this worker has begun the next one too. So no state gets a place in a
//! later level than its first.
//!
//! This is not the loop of rounds that other searches share (`cyrano_explore::rounds`): nobody calls the workers of several machines together but timely,
//! once for each level. See docs/decisions/0014-the-house.md.
//!
//! There is no back pressure in timely: all that has arrived is inserted before more is expanded.
//!
//! A search that goes on from a checkpoint begins with the level of that, at its time; what is kept on the way is the checkpointer's business
//! ([`crate::checkpointer`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cyrano_checkpoint::record::{self, Records};
use cyrano_engine::Stop;
use cyrano_explore::store::{Address, BATCH, ByteKeys, Keys, bytes_hash};
use cyrano_explore::{Packing, Space, Summary, Walker, Wrong};
use timely::dataflow::operators::Capability;
use timely::worker::Worker;

use crate::Error;
use crate::batch::{Batch, Kind};
use crate::begin::{Begin, Found};
use crate::checkpointer::{Checkpointer, Reached, States};
use crate::gather::{NAP, step};
use crate::job::Job;
use crate::levels::{Claim, WIDE};
use crate::link::Links;
use crate::mailbox::Mailbox;
use crate::remote::Remote;
use crate::saved::Piece;
use crate::sent::Outgoing;
use crate::table::{NoRoom, Partition, RecordId, owner};

/// Bytes of a batch that is sent at once.
const LETTER: usize = 1 << 15;
/// How many states are expanded before the worker looks at its inbox again.
const PORTION: usize = 1 << 10;
/// How long a worker sleeps at most that waits for others of its process, who are about to begin a level with it. They wake it then.
const BLINK: Duration = Duration::from_millis(1);

/// Where a worker is.
pub(crate) struct Here<'s> {
    pub links: &'s Links,
    pub process: usize,
    /// States of each worker of this process.
    pub counts: &'s [AtomicU64],
    /// Which of them this is.
    pub local: usize,
}

impl Here<'_> {
    /// How many workers a process has.
    fn workers(&self) -> usize {
        self.counts.len()
    }

    /// Notes how many states this worker has, and how many bytes all of this process.
    fn note(&self, states: u64, bytes: u64) {
        self.counts[self.local].store(states, Ordering::Relaxed);
        let states = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        self.links.note_progress(self.process, [states, bytes]);
    }
}

struct ClusterRun<'s, 'k> {
    job: &'s Job,
    here: &'s Here<'s>,
    index: usize,
    peers: usize,
    processes: usize,
    mailbox: Mailbox,
    walker: Walker<'s>,
    /// If states are packed here: numbers that all workers of this process share.
    packing: Option<&'s Packing<'s>>,
    /// And other processes have other ones.
    remote: Option<Remote<'s>>,
    partition: Partition,
    pending: ByteKeys,
    /// States of other processes, and what waits to be sent to each.
    outgoing: Outgoing,
    letters: Vec<Vec<u8>>,
    /// The time of the level that was begun last.
    time: u64,
    /// Whether this worker takes part in expanding it; and what is left of what it has taken.
    busy: bool,
    claim: Option<Claim>,
    /// Whether it has inserted everything of the next level and waits for the others to do so.
    ready: bool,
    /// How many states this worker has put into levels up to that one.
    settled: u64,
    /// Whether that level is a wide one.
    wide: bool,
    /// What was found out before the walker began.
    before: Summary,
    hit: Option<(u64, Wrong, RecordId)>,
    stop: Option<Stop>,
    depth: u64,
    over: bool,
    checkpointer: Option<Checkpointer<'k>>,
    trouble: Option<String>,
}

/// Searches a space.
pub(crate) fn search<'k>(
    worker: &mut Worker,
    job: &Job,
    space: &Space<'_>,
    packing: Option<&Packing<'_>>,
    here: &Here<'_>,
    begin: Begin<'k>,
) -> Result<Found<'k>, Error> {
    let (index, peers) = (worker.index(), worker.peers());
    let processes = peers / here.workers();
    let Begin { partition, round, from, checkpointer, trouble, .. } = begin;
    let mut search = ClusterRun {
        job,
        here,
        index,
        peers,
        processes,
        mailbox: Mailbox::new(worker),
        walker: match packing {
            None => space.walker(),
            Some(packing) if processes == 1 => packing.walker(),
            Some(packing) => packing.routing_walker(),
        },
        packing,
        remote: packing.map(|packing| Remote::new(packing, processes)),
        partition,
        pending: ByteKeys::default(),
        outgoing: Outgoing::new(if processes == 1 { 0 } else { job.limits.memory / here.workers() as u64 }),
        letters: vec![Vec::new(); processes],
        time: 0,
        busy: false,
        claim: None,
        ready: false,
        settled: 0,
        wide: false,
        before: Summary::default(),
        hit: None,
        stop: None,
        depth: 0,
        over: false,
        checkpointer,
        trouble,
    };
    search.run(worker, from)?;
    let bytes = search.note();
    search.partition.gather();
    let summary = search.summary();
    let ClusterRun { partition, hit, stop, depth, time, checkpointer, trouble, .. } = search;
    // Those of the process are counted once.
    let bytes = if here.local == 0 { bytes } else { 0 };
    Ok(Found { partition, bytes, round, summary, hit, stop, depth, time, checkpointer, trouble })
}

impl ClusterRun<'_, '_> {
    fn run(&mut self, worker: &mut Worker, from: Option<(u64, Piece)>) -> Result<(), Error> {
        if self.trouble.is_some() {
            self.stop_all(None);
        } else if let Some(capability) = self.mailbox.capability(0) {
            match from {
                Some((time, piece)) => self.go_on(&capability, time, piece),
                None if self.index == 0 => self.seed(&capability),
                None => {}
            }
        }
        self.finish_level();
        while worker.has_dataflows() {
            let nap = match (self.busy, self.ready) {
                (true, _) => Duration::ZERO,
                (false, true) => BLINK,
                (false, false) => NAP,
            };
            step(worker, self.here.links, nap)?;
            self.receive();
            while self.goes_on() {
                self.receive();
            }
            if self.busy {
                self.expand();
            }
        }
        Ok(())
    }

    /// Begins the next level, if that is possible.
    fn goes_on(&mut self) -> bool {
        let next = self.time + 1;
        if self.over || self.busy || !self.mailbox.is_past(next) || self.mailbox.is_over() {
            return false;
        }
        if !self.ready {
            self.ready = true;
            let (claims, states) = (self.partition.claims_from(self.settled), self.partition.len() - self.settled);
            self.partition.common.levels.ready(next, claims, states);
        }
        let begun = self.partition.common.levels.begun(next);
        begun.into_iter().for_each(|states| self.begin_level(states));
        begun.is_some()
    }

    /// Finds the initial states, and sends them at time 0, all of them: level 0 is the one of time 1.
    fn seed(&mut self, capability: &Capability<u64>) {
        let mut states = Vec::new();
        if let Some(wrong) = self.walker.initial(|state| states.push(state.to_vec())) {
            self.hit = Some((0, wrong, RecordId::NONE));
            return;
        }
        for state in states {
            let route = if self.is_routed() { self.walker.route(&state) } else { Some(bytes_hash(&state)) };
            let Some(route) = route else { return self.stop_all(None) };
            record::push(&mut self.letters[owner(route, self.processes)], RecordId::NONE.0, &state);
        }
        self.mark(capability);
        self.send_letters(capability, 1);
    }

    /// Takes up the search where a checkpoint was written: the level of this time is in the table and comes next.
    fn go_on(&mut self, capability: &Capability<u64>, time: u64, piece: Piece) {
        self.time = time.saturating_sub(1);
        self.mailbox.hold(capability.delayed(&self.time));
        self.settled = piece.states - piece.frontier;
        self.depth = piece.depth;
        self.before = piece.summary;
    }

    /// What was found out.
    fn summary(&self) -> Summary {
        let mut summary = self.before.clone();
        summary.absorb(self.walker.summary());
        summary
    }

    /// Asks everybody for a checkpoint at the next level, if there are any.
    fn mark(&self, capability: &Capability<u64>) {
        for target in (0..self.peers).filter(|_| self.checkpointer.is_some()) {
            self.mailbox.send(capability, Batch::new(Kind::Mark, self.index, target, Vec::new()));
        }
    }

    /// Inserts what has arrived, up to the level behind the one that was begun last.
    fn receive(&mut self) {
        while let Some(batch) = self.mailbox.receive(self.time + 1) {
            if self.over {
                continue;
            }
            match batch.kind {
                Kind::States => self.take(&batch),
                // What has arrived by now is of the next level at most, and this one has been dealt with.
                Kind::Mark => self.checkpointer.iter_mut().for_each(|checkpointer| checkpointer.marked = true),
                // With it came the right to send.
                Kind::Wake => {}
                Kind::Stop | Kind::Word => self.end(),
            }
        }
        // A stop does not wait for its level.
        if self.over {
            while self.mailbox.receive(u64::MAX).is_some() {}
            self.mailbox.give_up(u64::MAX);
        }
    }

    fn take(&mut self, batch: &Batch) {
        match &mut self.remote {
            Some(remote) if batch.from / self.here.workers() != self.here.process => {
                let process = batch.from / self.here.workers();
                if remote.open(&mut self.walker, process, batch.bytes(), &mut self.pending).is_none() {
                    return self.stop_all(Some(Stop::Size));
                }
            }
            _ => {
                for (parent, state) in Records(batch.bytes()).flatten() {
                    self.pending.push_hashed(bytes_hash(state), Address(parent), state);
                }
            }
        }
        self.insert();
    }

    fn insert(&mut self) {
        if self.partition.insert(&mut self.pending) == Err(NoRoom) {
            self.stop_all(Some(Stop::Memory));
        }
    }

    /// A level begins, of which this process has so many states.
    fn begin_level(&mut self, states: u64) {
        (self.time, self.ready) = (self.time + 1, false);
        if states > 0 {
            self.depth = self.time - 1;
        }
        self.keep(self.partition.len() - self.settled);
        self.settled = self.partition.len();
        if self.over {
            return;
        }
        if states == 0 {
            self.mailbox.give_up(self.time);
        }
        let capability = self.mailbox.capability(self.time);
        let levels = &self.partition.common.levels;
        levels.note_sleep(self.here.local, capability.is_none());
        self.busy = capability.is_some();
        self.wide = states >= WIDE;
        let Some(capability) = capability.filter(|_| self.wide) else { return };
        for local in levels.take_asleep() {
            let target = self.here.process * self.here.workers() + local;
            self.mailbox.send(&capability, Batch::new(Kind::Wake, self.index, target, Vec::new()));
        }
    }

    /// Lets the checkpointer know that a level begins, with so many states.
    fn keep(&mut self, frontier: u64) {
        let Some(mut checkpointer) = self.checkpointer.take() else { return };
        let reached = Reached {
            time: self.time,
            states: self.partition.len(),
            frontier,
            depth: self.depth,
            transitions: self.summary().transitions,
        };
        let states = States { partition: &self.partition, packing: self.packing };
        let kept = checkpointer.begin(states, reached, || self.summary());
        self.checkpointer = Some(checkpointer);
        if let Err(error) = kept {
            self.trouble = Some(error.to_string());
            self.stop_all(None);
        }
    }

    /// Expands a portion of the level under way.
    fn expand(&mut self) {
        let capability = self.mailbox.capability(self.time).expect("who expands a level may send at its time");
        let bytes = self.note();
        if let Some(stop) = self.job.limits.exceeded(bytes) {
            return self.stop_all(Some(stop));
        }
        let mut left = PORTION;
        while left > 0 {
            let Some(claim) = self.claim.take().or_else(|| self.partition.common.levels.claim()) else { break };
            left = self.expand_claim(claim, left);
            if self.over {
                return;
            }
        }
        self.insert();
        self.outgoing.write(&mut self.letters);
        if self.walker.must_give_up() {
            return self.stop_all(None);
        }
        let done = left > 0;
        self.send_letters(&capability, if done { 1 } else { LETTER });
        if done && !self.over {
            if self.checkpointer.as_ref().is_some_and(Checkpointer::is_due) {
                self.mark(&capability);
            }
            self.finish_level();
        }
    }

    /// Expands some records, at most so many; how many less may be expanded after that.
    fn expand_claim(&mut self, claim: Claim, mut left: usize) -> usize {
        let (routed, own, processes) = (self.is_routed(), self.here.process, self.processes);
        let common = Arc::clone(&self.partition.common);
        let mut records = common.hold();
        let Claim { first: RecordId(mut place), range } = claim;
        let mut at = Address(range.start);
        while at.0 < range.end && left > 0 {
            let (pending, outgoing) = (&mut self.pending, &mut self.outgoing);
            let mut found = |successor: &[u8], hash: Option<u64>, route: u64| {
                if owner(route, processes) == own {
                    let hash = hash.unwrap_or_else(|| bytes_hash(successor));
                    pending.push_hashed(hash, Address(place), successor);
                } else {
                    outgoing.push(route, RecordId(place), successor);
                }
            };
            let wrong = if routed {
                self.walker.expand_routed(records.state(at), |successor, route| found(successor, None, route))
            } else {
                self.walker.expand(records.state(at), |successor| {
                    let hash = bytes_hash(successor);
                    found(successor, Some(hash), hash);
                })
            };
            if let Some(wrong) = wrong {
                self.hit = Some((self.time, wrong, RecordId(place)));
                self.partition.release(records);
                self.stop_all(None);
                return left;
            }
            (at, place, left) = (records.after(at), place + 1, left - 1);
            if self.outgoing.is_full() {
                self.outgoing.write(&mut self.letters);
            }
            if self.pending.len() >= BATCH {
                match self.partition.insert_holding(&common, records, &mut self.pending) {
                    Ok(held) => records = held,
                    Err(NoRoom) => {
                        self.stop_all(Some(Stop::Memory));
                        return left;
                    }
                }
            }
        }
        self.partition.release(records);
        self.claim = (at.0 < range.end).then_some(Claim { first: RecordId(place), range: at.0..range.end });
        left
    }

    /// Nothing more is sent at the time of this level. Who has found states of the next one, or may be able to help, wants to send at its time.
    fn finish_level(&mut self) {
        self.busy = false;
        let goes_on = self.partition.len() > self.settled || self.wide && self.here.workers() > 1;
        if let Some(capability) = self.mailbox.capability(self.time).filter(|_| goes_on) {
            self.mailbox.hold(capability.delayed(&(self.time + 1)));
        }
        self.mailbox.give_up(self.time);
    }

    /// Sends letters of at least this many bytes. In each process one worker gets those of this one.
    fn send_letters(&mut self, capability: &Capability<u64>, least: usize) {
        for process in 0..self.processes {
            if self.letters[process].len() < least {
                continue;
            }
            let mut letter = std::mem::take(&mut self.letters[process]);
            if let Some(remote) = &mut self.remote
                && process != self.here.process
            {
                letter = remote.seal(&mut self.walker, process, &letter);
            }
            let target = process * self.here.workers() + self.here.local;
            self.mailbox.send(capability, Batch::new(Kind::States, self.index, target, letter));
        }
    }

    /// Whether owners come from what packed states mean, not from their bytes.
    fn is_routed(&self) -> bool {
        self.packing.is_some() && self.processes > 1
    }

    /// Notes how far this worker is; the bytes of all workers of this process.
    fn note(&mut self) -> u64 {
        // What they share is counted once.
        let shared = self.packing.filter(|_| self.here.local == 0).map_or(0, Packing::bytes);
        let beside =
            self.walker.bytes() + self.remote.as_ref().map_or(0, Remote::bytes) + self.outgoing.bytes() + shared;
        let bytes = self.partition.common.note(self.here.local, beside);
        self.here.note(self.partition.len(), bytes);
        bytes
    }

    /// Ends the search, everywhere.
    fn stop_all(&mut self, stop: Option<Stop>) {
        self.stop = self.stop.or(stop);
        if !self.over
            && let Some(capability) = self.mailbox.any_capability()
        {
            for target in (0..self.peers).filter(|target| *target != self.index) {
                self.mailbox.send(&capability, Batch::new(Kind::Stop, self.index, target, Vec::new()));
            }
        }
        self.end();
    }

    fn end(&mut self) {
        (self.over, self.busy, self.claim) = (true, false, None);
        self.pending.clear();
        self.letters.iter_mut().for_each(Vec::clear);
        self.mailbox.give_up(u64::MAX);
    }
}

//! The search of one worker: receive, insert, expand, send.
//!
//! A state that is found at level `n` is sent at time `n + 1` and arrives at time `n + 2` (initial states are sent at time 0, arrive
//! at time 1 and are level 0). States of one's own are inserted without a detour. A level is begun when all of it has arrived, at
//! every worker; that is what the frontier says. From then on states of the next level arrive, which are inserted at once; those of
//! the level behind it, from workers that are faster, wait until this worker has begun the next one too. So the records of a level lie
//! together, and no state gets a place in a later level than its first.
//!
//! There is no back pressure in timely: all that has arrived is inserted before more is expanded.
//!
//! A search that goes on from a checkpoint begins with the level of that, at its time; what is kept on the way is the keeper's business
//! ([`crate::keeper`]).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cyrano_engine::Stop;
use cyrano_explore::{Packing, Space, Summary, Walker, Wrong};
use timely::dataflow::operators::Capability;
use timely::worker::Worker;

use crate::Error;
use crate::abroad::Abroad;
use crate::batch::{Batch, Kind};
use crate::begin::{Begin, Found};
use crate::gather::{NAP, step};
use crate::job::Job;
use crate::keeper::{Keeper, Reached, States};
use crate::link::Links;
use crate::mailbox::Mailbox;
use crate::saved::Piece;
use crate::table::{BATCH, NoRoom, Pending, Place, Table, hash, owner};
use crate::wire::{length_at, push_length};

/// Bytes of a batch that is sent at once.
const LETTER: usize = 1 << 15;
/// How many states are expanded before the worker looks at its inbox again.
const PORTION: usize = 1 << 10;

/// What workers of a process share.
pub(crate) struct Here<'s> {
    pub links: &'s Links,
    pub process: usize,
    /// States and bytes of each worker of this process.
    pub counts: &'s [[AtomicU64; 2]],
    /// Which of them this is.
    pub local: usize,
}

impl Here<'_> {
    /// Notes what this worker has; the bytes of all.
    fn note(&self, states: u64, bytes: u64) -> u64 {
        self.counts[self.local][0].store(states, Ordering::Relaxed);
        self.counts[self.local][1].store(bytes, Ordering::Relaxed);
        let sum = |at: usize| self.counts.iter().map(|count| count[at].load(Ordering::Relaxed)).sum();
        self.links.note_progress(self.process, [sum(0), sum(1)]);
        sum(1)
    }
}

struct Search<'s, 'k> {
    job: &'s Job,
    here: &'s Here<'s>,
    index: usize,
    peers: usize,
    mailbox: Mailbox,
    walker: Walker<'s>,
    /// If states are packed here: numbers that all workers of this process share.
    packing: Option<&'s Packing<'s>>,
    /// And other processes have other ones.
    abroad: Option<Abroad<'s>>,
    table: Table,
    pending: Pending,
    /// What waits to be sent to each worker.
    letters: Vec<Vec<u8>>,
    /// The time of the level that was begun last, and what is left of it.
    time: u64,
    level: Range<u64>,
    /// The number of the first record that is left of it.
    next: u64,
    /// States of the levels before that one.
    settled: u64,
    /// What was found out before the walker began.
    before: Summary,
    hit: Option<(u64, Wrong, Place)>,
    stop: Option<Stop>,
    depth: u64,
    over: bool,
    keeper: Option<Keeper<'k>>,
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
    let Begin { table, round, from, keeper, trouble, .. } = begin;
    let mut search = Search {
        job,
        here,
        index,
        peers,
        mailbox: Mailbox::new(worker),
        walker: match packing {
            None => space.walker(),
            Some(packing) if peers == 1 => packing.walker(),
            Some(packing) => packing.routing_walker(),
        },
        packing,
        abroad: packing.map(|packing| Abroad::new(packing, peers, peers / here.counts.len())),
        table,
        pending: Pending::default(),
        letters: vec![Vec::new(); peers],
        time: 0,
        level: 0..0,
        next: 0,
        settled: 0,
        before: Summary::default(),
        hit: None,
        stop: None,
        depth: 0,
        over: false,
        keeper,
        trouble,
    };
    search.run(worker, from)?;
    search.note();
    let summary = search.summary();
    let Search { table, hit, stop, depth, time, keeper, trouble, .. } = search;
    Ok(Found { table, round, summary, hit, stop, depth, time, keeper, trouble })
}

impl Search<'_, '_> {
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
            let nap = if self.level.is_empty() { NAP } else { Duration::ZERO };
            step(worker, self.here.links, nap)?;
            self.receive();
            while !self.over && self.level.is_empty() && self.mailbox.is_past(self.time + 1) && !self.mailbox.is_over()
            {
                self.begin_level();
                self.receive();
            }
            if !self.level.is_empty() {
                self.expand();
            }
        }
        Ok(())
    }

    /// Finds the initial states, and sends them at time 0, all of them: level 0 is the one of time 1.
    fn seed(&mut self, capability: &Capability<u64>) {
        let mut states = Vec::new();
        if let Some(wrong) = self.walker.initial(|state| states.push(state.to_vec())) {
            self.hit = Some((0, wrong, Place::NONE));
            return;
        }
        for state in states {
            let route = if self.is_routed() { self.walker.route(&state) } else { Some(hash(&state)) };
            let Some(route) = route else { return self.stop_all(None) };
            write_record(&mut self.letters[owner(route, self.peers)], Place::NONE, &state);
        }
        self.mark(capability);
        self.send_letters(capability, 1);
    }

    /// Takes up the search where a checkpoint was written: the level of this time is in the table and comes next.
    fn go_on(&mut self, capability: &Capability<u64>, time: u64, piece: Piece) {
        self.time = time.saturating_sub(1);
        self.mailbox.hold(capability.delayed(&self.time));
        self.settled = piece.states - piece.frontier;
        let start = self.table.address(self.settled);
        self.level = start..start;
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
        for target in (0..self.peers).filter(|_| self.keeper.is_some()) {
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
                Kind::Mark => self.keeper.iter_mut().for_each(|keeper| keeper.marked = true),
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
        match &mut self.abroad {
            Some(abroad) if batch.from / self.here.counts.len() != self.here.process => {
                let process = batch.from / self.here.counts.len();
                if abroad.open(&mut self.walker, process, batch.bytes(), &mut self.pending).is_none() {
                    return self.stop_all(Some(Stop::Size));
                }
            }
            _ => {
                let mut rest = batch.bytes();
                while let Some((parent, after)) = rest.split_first_chunk::<8>() {
                    let (length, taken) = length_at(after);
                    let state = &after[taken..taken + length];
                    self.pending.push(hash(state), Place(u64::from_le_bytes(*parent)), state);
                    rest = &after[taken + length..];
                }
            }
        }
        self.insert();
    }

    fn insert(&mut self) {
        if self.table.insert(&mut self.pending) == Err(NoRoom) {
            self.stop_all(Some(Stop::Memory));
        }
    }

    /// Everything of the next level has arrived.
    fn begin_level(&mut self) {
        let start = self.level.end;
        self.time += 1;
        self.level = start..self.table.end();
        let frontier = self.table.len() - self.settled;
        if frontier > 0 {
            self.depth = self.time - 1;
        }
        self.keep(frontier);
        self.next = self.settled;
        self.settled = self.table.len();
        if frontier == 0 {
            self.level = start..start;
            self.mailbox.give_up(self.time);
        }
    }

    /// Lets the keeper know that a level begins, with so many states.
    fn keep(&mut self, frontier: u64) {
        let Some(mut keeper) = self.keeper.take() else { return };
        let reached = Reached {
            time: self.time,
            states: self.table.len(),
            frontier,
            depth: self.depth,
            transitions: self.summary().transitions,
        };
        let states = States { table: &self.table, packing: self.packing };
        let kept = keeper.begin(states, reached, || self.summary());
        self.keeper = Some(keeper);
        if let Err(error) = kept {
            self.trouble = Some(error.to_string());
            self.stop_all(None);
        }
    }

    /// Expands a portion of the level under way.
    fn expand(&mut self) {
        let Some(capability) = self.mailbox.capability(self.time) else {
            return self.stop_all(None);
        };
        let bytes = self.note();
        if let Some(stop) = self.job.limits.exceeded(bytes) {
            return self.stop_all(Some(stop));
        }
        let routed = self.is_routed();
        for _ in 0..PORTION {
            let Some((_, state, rest)) = self.table.first(self.level.clone()) else { break };
            let place = Place::new(self.index, self.next);
            let (pending, letters) = (&mut self.pending, &mut self.letters);
            let (index, peers) = (self.index, self.peers);
            let mut found = |successor: &[u8], hash: u64, owner: usize| {
                if owner == index {
                    pending.push(hash, place, successor);
                } else {
                    write_record(&mut letters[owner], place, successor);
                }
            };
            let wrong = if routed {
                let visit = |successor: &[u8], route| found(successor, hash(successor), owner(route, peers));
                self.walker.expand_routed(state, visit)
            } else {
                self.walker.expand(state, |successor| {
                    let hash = hash(successor);
                    found(successor, hash, owner(hash, peers));
                })
            };
            (self.level, self.next) = (rest, self.next + 1);
            if let Some(wrong) = wrong {
                self.hit = Some((self.time, wrong, place));
                return self.stop_all(None);
            }
            if self.pending.len() >= BATCH {
                self.insert();
            }
            if self.over {
                return;
            }
        }
        self.insert();
        if self.walker.must_give_up() {
            return self.stop_all(None);
        }
        let done = self.table.first(self.level.clone()).is_none();
        self.send_letters(&capability, if done { 1 } else { LETTER });
        if done && !self.over {
            if self.keeper.as_ref().is_some_and(Keeper::is_due) {
                self.mark(&capability);
            }
            self.finish_level();
        }
    }

    /// Nothing more is sent at the time of this level.
    fn finish_level(&mut self) {
        let start = self.level.end;
        self.level = start..start;
        if let Some(capability) = self.mailbox.capability(self.time)
            && self.table.end() > start
        {
            self.mailbox.hold(capability.delayed(&(self.time + 1)));
        }
        self.mailbox.give_up(self.time);
    }

    /// Sends letters of at least this many bytes.
    fn send_letters(&mut self, capability: &Capability<u64>, least: usize) {
        for target in 0..self.peers {
            if self.letters[target].len() < least {
                continue;
            }
            let mut letter = std::mem::take(&mut self.letters[target]);
            if let Some(abroad) = &mut self.abroad
                && target / self.here.counts.len() != self.here.process
            {
                letter = abroad.seal(&mut self.walker, target, &letter);
            }
            self.mailbox.send(capability, Batch::new(Kind::States, self.index, target, letter));
        }
    }

    /// Whether owners come from what packed states mean, not from their bytes.
    fn is_routed(&self) -> bool {
        self.packing.is_some() && self.peers > 1
    }

    /// Notes how far this worker is; the bytes of all workers of this process.
    fn note(&mut self) -> u64 {
        // What they share is counted once.
        let shared = self.packing.filter(|_| self.here.local == 0).map_or(0, Packing::bytes);
        self.table.beside = self.walker.bytes() + self.abroad.as_ref().map_or(0, Abroad::bytes) + shared;
        self.here.note(self.table.len(), self.table.bytes() + self.table.beside)
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
        self.over = true;
        self.level = self.level.end..self.level.end;
        self.letters.iter_mut().for_each(Vec::clear);
        self.mailbox.give_up(u64::MAX);
    }
}

pub(crate) fn write_record(letter: &mut Vec<u8>, parent: Place, state: &[u8]) {
    letter.extend_from_slice(&parent.0.to_le_bytes());
    push_length(letter, state.len());
    letter.extend_from_slice(state);
}

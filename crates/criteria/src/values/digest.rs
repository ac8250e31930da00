//! What the criteria depend on, in a few words of memory.
//!
//! For each transaction a [`Digest`] holds its status, which transactions had ended when it began, the value of the first read of
//! each location that it had not written itself, the last value that it wrote to each location, and whether one of its reads
//! contradicts its own earlier reads and writes (*torn*).
//!
//! **Nothing else counts.** The definitions in [`super::oracle`] speak of completed operations per transaction, of fates, and of real
//! time, which is "had ended when it began". The arguments of a call without a reply do not matter: a completion aborts it.
//! Of the operations of a transaction in a serial place, a read after an own write is legal iff it returns the last own one; a read
//! that repeats an earlier one is legal iff the values are equal; so both are decided on the spot, and the first reads remain. Others
//! see the last write to each location only.
//!
//! **Invariant:** slots that are not in use are zero, so that equal digests are equal words.

use super::{Action, Call, Event, History, Reply};
use crate::criterion::TxCriterion;

/// The most transactions that a history may have.
pub const MAX_TRANSACTIONS: usize = 32;
/// The most locations that a history may have.
pub const MAX_LOCATIONS: usize = 32;

const STATUS: i128 = 7;
const TORN: i128 = 8;
const BEFORE_SHIFT: u32 = 8;
/// Words of a transaction before its values: status, torn and who ended before; the sets of locations that it read and wrote.
const HEAD: usize = 2;

/// What the criteria depend on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Digest {
    transactions: u8,
    locations: u8,
    words: Vec<i128>,
}

/// How far a transaction has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Status {
    /// It has not begun.
    Waiting,
    /// It has begun.
    Live,
    /// It has asked to commit.
    CommitPending,
    /// It has committed.
    Committed,
    /// It has aborted.
    Aborted,
}

/// More transactions than [`MAX_TRANSACTIONS`] or more locations than [`MAX_LOCATIONS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl Digest {
    /// No transaction has begun.
    pub fn new(transactions: usize, locations: usize) -> Result<Self, TooLarge> {
        if transactions > MAX_TRANSACTIONS || locations > MAX_LOCATIONS {
            return Err(TooLarge);
        }
        let words = vec![0; transactions * (HEAD + 2 * locations)];
        Ok(Self { transactions: transactions as u8, locations: locations as u8, words })
    }

    /// How many transactions it has room for.
    pub fn transactions(&self) -> u8 {
        self.transactions
    }

    /// How many locations it has room for.
    pub fn locations(&self) -> u8 {
        self.locations
    }

    /// The words of each transaction, for tests with a bug in them.
    #[doc(hidden)]
    pub fn words_of_each(&mut self) -> impl Iterator<Item = &mut [i128]> {
        self.words.chunks_mut(HEAD + 2 * self.locations as usize)
    }

    /// The transaction has begun, if it has not before: those that have ended by now precede it.
    pub fn begin(&mut self, tx: u8) {
        if self.status(tx) == Status::Waiting {
            let ended = (0..self.transactions).filter(|t| self.status(*t) >= Status::Committed);
            let before = ended.fold(0, |mask, t| mask | 1i128 << t);
            let at = self.at(tx);
            self.words[at] = Status::Live as i128 | before << BEFORE_SHIFT;
        }
    }

    /// The transaction calls the memory; the first call begins it.
    pub fn invoke(&mut self, tx: u8, call: Call) {
        self.begin(tx);
        if call == Call::Commit {
            self.set_status(tx, Status::CommitPending);
        }
    }

    /// The memory answers a call of the transaction. The reply has to be one that such a call can have.
    pub fn respond(&mut self, tx: u8, call: Call, reply: Reply) {
        match (call, reply) {
            (_, Reply::Aborted) => self.set_status(tx, Status::Aborted),
            (_, Reply::Committed) => self.set_status(tx, Status::Committed),
            (Call::Read(loc), Reply::Value(value)) => self.read(tx, loc, value),
            (Call::Write(loc, value), _) => self.write(tx, loc, value),
            (Call::Read(_) | Call::Commit, _) => {}
        }
    }

    fn read(&mut self, tx: u8, loc: u8, value: i128) {
        let at = self.at(tx);
        let known = if self.writes(tx) >> loc & 1 == 1 {
            Some(self.written(tx, loc))
        } else if self.reads(tx) >> loc & 1 == 1 {
            Some(self.first_read(tx, loc))
        } else {
            None
        };
        match known {
            Some(known) if known == value => {}
            Some(_) => self.words[at] |= TORN,
            None => {
                self.words[at + 1] |= 1 << loc;
                self.words[at + HEAD + loc as usize] = value;
            }
        }
    }

    fn write(&mut self, tx: u8, loc: u8, value: i128) {
        let slot = self.at(tx) + HEAD + self.locations as usize + loc as usize;
        let at = self.at(tx);
        self.words[at + 1] |= 1 << (32 + loc);
        self.words[slot] = value;
    }

    fn at(&self, tx: u8) -> usize {
        tx as usize * (HEAD + 2 * self.locations as usize)
    }

    fn set_status(&mut self, tx: u8, status: Status) {
        let at = self.at(tx);
        self.words[at] = self.words[at] & !STATUS | status as i128;
    }

    /// How far a transaction has come.
    pub fn status(&self, tx: u8) -> Status {
        match self.words[self.at(tx)] & STATUS {
            0 => Status::Waiting,
            1 => Status::Live,
            2 => Status::CommitPending,
            3 => Status::Committed,
            _ => Status::Aborted,
        }
    }

    /// Whether a read of the transaction contradicts what it had read or written itself.
    pub fn is_torn(&self, tx: u8) -> bool {
        self.words[self.at(tx)] & TORN != 0
    }

    /// The set of transactions that had ended when it began.
    pub fn before(&self, tx: u8) -> u32 {
        (self.words[self.at(tx)] >> BEFORE_SHIFT) as u32
    }

    /// The set of locations that it read before it wrote them itself.
    pub fn reads(&self, tx: u8) -> u32 {
        self.words[self.at(tx) + 1] as u32
    }

    /// The set of locations that it wrote.
    pub fn writes(&self, tx: u8) -> u32 {
        (self.words[self.at(tx) + 1] >> 32) as u32
    }

    /// The value that it read first from a location in [`Digest::reads`].
    pub fn first_read(&self, tx: u8, loc: u8) -> i128 {
        self.words[self.at(tx) + HEAD + loc as usize]
    }

    /// The value that it wrote last to a location in [`Digest::writes`].
    pub fn written(&self, tx: u8, loc: u8) -> i128 {
        self.words[self.at(tx) + HEAD + self.locations as usize + loc as usize]
    }

    /// Forgets what no later event can make matter for this criterion, so that more digests are equal.
    ///
    /// For the criteria about committed transactions nothing of an aborted one counts, not even that it preceded others.
    /// For opacity the writes of an aborted transaction are seen by nobody; a committed one without writes has its place in the row
    /// and nothing more, like an aborted one; and one that has ended without either can stand anywhere between those that precede it
    /// and those that it precedes, which are ordered by real time themselves. Serializability does not ask for real time.
    pub fn forget(&mut self, criterion: TxCriterion) {
        for tx in 0..self.transactions {
            let status = self.status(tx);
            let unseen = status == Status::Aborted || status == Status::Committed && self.writes(tx) == 0;
            if criterion.is_about_committed() && status == Status::Aborted {
                self.erase(tx);
            } else if !criterion.is_about_committed() && unseen {
                self.set_status(tx, Status::Aborted);
                self.forget_writes(tx);
                if self.reads(tx) == 0 && !self.is_torn(tx) {
                    self.erase(tx);
                }
            }
            if !criterion.keeps_real_time() {
                let at = self.at(tx);
                self.words[at] &= (1 << BEFORE_SHIFT) - 1;
            }
        }
    }

    fn forget_writes(&mut self, tx: u8) {
        let at = self.at(tx);
        let locations = self.locations as usize;
        self.words[at + 1] &= i128::from(u32::MAX);
        self.words[at + HEAD + locations..at + HEAD + 2 * locations].fill(0);
    }

    /// Forgets a transaction that has ended, so that another one can have its number. The caller knows that no later event can make
    /// it matter.
    pub fn restart(&mut self, tx: u8) {
        self.erase(tx);
        let at = self.at(tx);
        self.words[at] = Status::Waiting as i128;
    }

    /// Gives a transaction that has aborted, and that precedes nobody yet, the number of one that has not begun, and forgets its writes.
    pub fn rename(&mut self, from: u8, to: u8) {
        let size = HEAD + 2 * self.locations as usize;
        let (source, target) = (self.at(from), self.at(to));
        self.words.copy_within(source..source + size, target);
        self.forget_writes(to);
        self.restart(from);
    }

    /// Adds the reads of an aborted transaction to those of another one that has a place where both are legal.
    pub fn merge_reads(&mut self, from: u8, into: u8) {
        for loc in bits(self.reads(from)) {
            self.read(into, loc, self.first_read(from, loc));
        }
    }

    /// From now on `first` precedes whatever `then` precedes.
    pub fn precede(&mut self, first: u8, then: u8) {
        for tx in 0..self.transactions {
            if self.before(tx) >> then & 1 == 1 && tx != first {
                let at = self.at(tx);
                self.words[at] |= 1 << (BEFORE_SHIFT + u32::from(first));
            }
        }
    }

    /// Writes it as few small numbers: what is not there takes no place.
    pub fn pack(&self, put: &mut impl FnMut(i128)) {
        for tx in 0..self.transactions {
            let at = self.at(tx);
            put(self.words[at] & (STATUS | TORN) | self.words[at] >> BEFORE_SHIFT << 4);
            if self.words[at] == 0 {
                continue;
            }
            put(self.reads(tx).into());
            put(self.writes(tx).into());
            bits(self.reads(tx)).for_each(|loc| put(self.first_read(tx, loc)));
            bits(self.writes(tx)).for_each(|loc| put(self.written(tx, loc)));
        }
    }

    /// Reads back what [`Digest::pack`] of a digest of the same size wrote.
    pub fn unpack(&mut self, take: &mut impl FnMut() -> i128) {
        self.words.fill(0);
        for tx in 0..self.transactions {
            let at = self.at(tx);
            let head = take();
            if head == 0 {
                continue;
            }
            self.words[at] = head & (STATUS | TORN) | head >> 4 << BEFORE_SHIFT;
            let (reads, writes) = (take() as u32, take() as u32);
            self.words[at + 1] = i128::from(reads) | i128::from(writes) << 32;
            for loc in bits(reads) {
                self.words[at + HEAD + loc as usize] = take();
            }
            for loc in bits(writes) {
                self.words[at + HEAD + self.locations as usize + loc as usize] = take();
            }
        }
    }

    /// Leaves of a transaction that it has aborted, and nobody knows that it came before anybody.
    fn erase(&mut self, tx: u8) {
        let (at, size) = (self.at(tx), HEAD + 2 * self.locations as usize);
        self.words[at..at + size].fill(0);
        self.words[at] = Status::Aborted as i128;
        for other in 0..self.transactions {
            let at = self.at(other);
            self.words[at] &= !(1 << (BEFORE_SHIFT + u32::from(tx)));
        }
    }
}

/// The members of a set, smallest first.
pub(super) fn bits(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            first as u8
        })
    })
}

/// A digest that is built from events: it remembers which calls have no reply yet.
#[derive(Clone, Debug)]
pub struct Recorder {
    digest: Digest,
    pending: Vec<Option<Call>>,
}

impl Recorder {
    /// For a history; none of its events has been seen.
    pub fn new(history: &History) -> Self {
        let (transactions, locations) = (history.transactions(), history.init().len());
        let words = vec![0; transactions as usize * (HEAD + 2 * locations)];
        let digest = Digest { transactions, locations: locations as u8, words };
        Self { digest, pending: vec![None; transactions as usize] }
    }

    /// Takes the next event; for a reply, gives the call that it answers and the reply.
    pub fn observe(&mut self, event: &Event) -> Option<(Call, Reply)> {
        match event.action {
            Action::Invoke(call) => {
                self.digest.invoke(event.tx, call);
                self.pending[event.tx as usize] = Some(call);
                None
            }
            Action::Respond(reply) => {
                let call = self.pending[event.tx as usize].take()?;
                self.digest.respond(event.tx, call, reply);
                Some((call, reply))
            }
        }
    }

    /// What has been seen so far.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }
}

//! The states of one process: one table for all of its workers.
//!
//! A state belongs to one process, by its hash; any worker of that process may insert it. The table is the explorer's ([`cyrano_explore::store`]): exact,
//! without locks for those who insert, each worker appending to chunks of its own. Where a state was found from is a [`RecordId`], for that may be
//! in another process.
//!
//! **Growing.** Workers of a cluster do not meet between rounds as those of the explorer do, so whoever uses the table holds it for reading, for a portion
//! of work at a time, and whoever finds it crowded asks for it alone. **Invariant:** a writer is settled whenever its worker does not hold the
//! table, so that who has it alone sees all records; and nobody waits for anything else while holding it, but for a disk ([`crate::log`]).
//!
//! **Places are numbers, not addresses:** a search that is resumed may have the same states in other bytes. To find a record by its number is rare,
//! so that it is enough to know where each span begins.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use cyrano_explore::Explore;
use cyrano_explore::store::{Address, ByteKeys, Span, Store, Writer};

use crate::levels::{Claim, Levels};

/// Bits of a place that are the number of a record.
const NUMBER_BITS: u32 = 40;

/// A record of some worker: whose it is, and which of them it is in the order in which that worker found them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RecordId(pub u64);

impl RecordId {
    /// How many bytes of it are in use.
    pub const BYTES: usize = 7;
    /// Where initial states come from.
    pub const NONE: Self = Self((1 << (8 * Self::BYTES)) - 1);
    /// The most workers that places can tell apart.
    pub const WORKERS: usize = (1 << (8 * Self::BYTES as u32 - NUMBER_BITS)) - 1;

    pub fn new(worker: usize, number: u64) -> Self {
        Self((worker as u64) << NUMBER_BITS | number)
    }

    pub fn worker(self) -> usize {
        (self.0 >> NUMBER_BITS) as usize
    }

    pub fn number(self) -> u64 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }
}

/// The process that owns states with this hash. Independent of the bits that the table uses.
#[inline]
pub(crate) fn owner(hash: u64, processes: usize) -> usize {
    let mixed = hash.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32;
    ((mixed * processes as u64) >> 32) as usize
}

/// There is no memory for more states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoRoom;

/// The states of a process.
pub(crate) type Records = Store<{ RecordId::BYTES }>;

/// What the workers of a process have in common during a search.
pub(crate) struct Common {
    records: RwLock<Records>,
    pub levels: Levels,
    limit: u64,
    /// Bytes that workers take beside the table.
    beside: Vec<AtomicU64>,
}

impl Common {
    /// Nothing yet, for so many workers that may take this many bytes together.
    pub fn new(explore: &Explore, limit: u64, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            records: RwLock::new(Store::new(None, explore, workers)),
            levels: Levels::new(workers),
            limit,
            beside: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// Holds the table.
    pub fn hold(&self) -> RwLockReadGuard<'_, Records> {
        self.records.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a worker takes beside the table; the bytes of all together.
    pub fn note(&self, local: usize, beside: u64) -> u64 {
        self.beside[local].store(beside, Ordering::Relaxed);
        self.hold().bytes() + self.beside()
    }

    fn beside(&self) -> u64 {
        self.beside.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }

    /// Makes room for more states. Somebody else may have been faster.
    fn make_room(&self) -> Result<(), NoRoom> {
        let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
        let limit = self.limit.saturating_sub(self.beside());
        let room = !records.is_crowded() || records.make_room::<ByteKeys>(limit, self.beside.len());
        if room { Ok(()) } else { Err(NoRoom) }
    }
}

/// What one worker has put into the table of its process.
pub(crate) struct Partition {
    pub common: Arc<Common>,
    /// The number of the worker among all.
    index: usize,
    writer: Writer,
    /// All that it wrote, in order.
    spans: Vec<Span>,
}

impl Partition {
    /// Nothing yet, for the worker with this number among all.
    pub fn new(common: &Arc<Common>, index: usize) -> Self {
        Self { common: Arc::clone(common), index, writer: Writer::default(), spans: Vec::new() }
    }

    /// How many states this worker has put there.
    pub fn len(&self) -> u64 {
        self.writer.written()
    }

    /// Inserts what waits, as far as it is new.
    pub fn insert(&mut self, pending: &mut ByteKeys) -> Result<(), NoRoom> {
        let common = Arc::clone(&self.common);
        let records = self.insert_holding(&common, common.hold(), pending)?;
        self.release(records);
        Ok(())
    }

    /// The same for somebody who holds the table and wants to hold it again afterwards.
    #[inline]
    pub fn insert_holding<'c>(
        &mut self,
        common: &'c Common,
        mut records: RwLockReadGuard<'c, Records>,
        pending: &mut ByteKeys,
    ) -> Result<RwLockReadGuard<'c, Records>, NoRoom> {
        while !records.insert(pending, &mut self.writer) {
            self.release(records);
            common.make_room()?;
            records = common.hold();
        }
        Ok(records)
    }

    /// Lets the table go.
    pub fn release(&mut self, records: RwLockReadGuard<'_, Records>) {
        records.settle(&mut self.writer);
    }

    /// The records from this number on, as something that any worker can expand.
    pub fn claims_from(&mut self, number: u64) -> Vec<Claim> {
        self.gather();
        let claim = |(range, first): (Range<u64>, u64)| Claim { first: RecordId::new(self.index, first), range };
        self.ranges_from(&self.common.hold(), number).map(claim).collect()
    }

    /// The state and the parent of a record; `None` if there is no such record.
    pub fn record(&self, number: u64) -> Option<(Vec<u8>, RecordId)> {
        let mut found = None;
        let visited: Result<(), ()> = self.visit(number..number + 1, |state, parent| {
            found = Some((state.to_vec(), parent));
            Ok(())
        });
        visited.ok().and(found)
    }

    /// Visits records by their numbers, in order.
    pub fn visit<E>(
        &self,
        numbers: Range<u64>,
        mut visit: impl FnMut(&[u8], RecordId) -> Result<(), E>,
    ) -> Result<(), E> {
        let records = self.common.hold();
        for (range, mut number) in self.ranges_from(&records, numbers.start) {
            let mut at = Address(range.start);
            while at.0 < range.end {
                if number >= numbers.end {
                    return Ok(());
                }
                visit(records.state(at), RecordId(records.parent(at).0))?;
                (at, number) = (records.after(at), number + 1);
            }
        }
        Ok(())
    }

    /// Takes note of what was written. What comes later is not part of these spans.
    pub fn gather(&mut self) {
        self.spans.extend(self.writer.take_spans());
    }

    /// The ranges of records from this number on, of those that were gathered, each with the number of its first one.
    fn ranges_from<'r>(&'r self, records: &'r Records, number: u64) -> impl Iterator<Item = (Range<u64>, u64)> + 'r {
        let after = self.spans.partition_point(|span| span.first <= number);
        self.spans[after.saturating_sub(1)..].iter().filter_map(move |Span { range, first }| {
            let (mut at, mut first) = (Address(range.start), *first);
            while first < number && at.0 < range.end {
                (at, first) = (records.after(at), first + 1);
            }
            (at.0 < range.end).then_some((at.0..range.end, first))
        })
    }
}

#[cfg(test)]
mod tests {
    use cyrano_explore::store::{BATCH, Keys, bytes_hash};

    use super::*;

    fn common(limit: u64, workers: usize) -> Arc<Common> {
        Common::new(&Explore::default(), limit, workers)
    }

    fn insert(partition: &mut Partition, states: impl IntoIterator<Item = Vec<u8>>) -> Result<(), NoRoom> {
        let mut pending = ByteKeys::default();
        for state in states {
            pending.push_hashed(bytes_hash(&state), Address(RecordId::new(3, partition.len()).0), &state);
            if pending.len() >= BATCH {
                partition.insert(&mut pending)?;
            }
        }
        partition.insert(&mut pending)
    }

    fn all(partition: &mut Partition, from: u64) -> Vec<Vec<u8>> {
        partition.gather();
        let mut states = Vec::new();
        let visited: Result<(), ()> = partition.visit(from..u64::MAX, |state, _| {
            states.push(state.to_vec());
            Ok(())
        });
        assert_eq!(visited, Ok(()));
        states
    }

    fn state(n: u32) -> Vec<u8> {
        let mut bytes = n.to_le_bytes().to_vec();
        bytes.resize(4 + n as usize % 300, n as u8);
        bytes
    }

    #[test]
    fn each_state_is_kept_once_and_in_order() {
        let mut partition = Partition::new(&common(1 << 30, 1), 0);
        for _ in 0..2 {
            insert(&mut partition, (0..20_000).map(state)).expect("there is room");
            insert(&mut partition, (0..20_000).rev().map(state)).expect("there is room");
        }
        assert_eq!(partition.len(), 20_000);
        assert!(all(&mut partition, 0).into_iter().eq((0..20_000).map(state)));
        for number in [0, 1, 63, 64, 65, 12_345, 19_999] {
            assert_eq!(partition.record(number).map(|(state, _)| state), Some(state(number as u32)));
            assert!(all(&mut partition, number).into_iter().eq((number as u32..20_000).map(state)));
        }
        assert_eq!((partition.record(20_000), partition.claims_from(20_000).len()), (None, 0));
        let claims = partition.claims_from(7);
        assert!(claims.len() > 10 && claims[0].first == RecordId::new(0, 7));
    }

    /// Workers insert overlapping states while the table grows again and again under them.
    #[test]
    fn workers_share_one_table() {
        const WORKERS: usize = 4;
        let common = common(1 << 30, WORKERS);
        let mut partitions: Vec<Partition> = (0..WORKERS).map(|local| Partition::new(&common, local)).collect();
        std::thread::scope(|scope| {
            for (at, partition) in partitions.iter_mut().enumerate() {
                let from = at as u32 * 10_000;
                scope.spawn(move || insert(partition, (from..from + 40_000).map(state)).expect("there is room"));
            }
        });
        let mut found: Vec<Vec<u8>> = partitions.iter_mut().flat_map(|partition| all(partition, 0)).collect();
        found.sort();
        let mut expected: Vec<Vec<u8>> = (0..70_000).map(state).collect();
        expected.sort();
        assert!(found == expected, "{} states", found.len());
        assert_eq!(partitions.iter().map(Partition::len).sum::<u64>(), 70_000);
    }

    #[test]
    fn long_states_and_empty_ones() {
        let mut partition = Partition::new(&common(1 << 30, 1), 0);
        let states = [vec![], vec![1; 1 << 19], vec![], vec![2; 1 << 19], vec![1; 1 << 19]];
        insert(&mut partition, states.clone()).expect("there is room");
        assert_eq!(all(&mut partition, 0), [states[0].clone(), states[1].clone(), states[3].clone()]);
    }

    #[test]
    fn memory_ends() {
        let mut partition = Partition::new(&common(3 << 20, 1), 0);
        let mut inserted = 0;
        while insert(&mut partition, (0..1000u64).map(|n| (inserted + n).to_le_bytes().to_vec())).is_ok() {
            inserted += 1000;
            assert!(inserted < 1 << 20, "it never ends");
        }
        assert!(inserted > 10_000);
    }

    #[test]
    fn records_lead_back() {
        let mut partition = Partition::new(&common(1 << 30, 1), 0);
        insert(&mut partition, [vec![7, 8]]).expect("there is room");
        partition.gather();
        assert_eq!(partition.record(0), Some((vec![7, 8], RecordId::new(3, 0))));
        assert_eq!(partition.record(1 << 30), None);
        let place = RecordId::new(1000, 12345);
        assert_eq!((place.worker(), place.number()), (1000, 12345));
        assert!(RecordId::new(RecordId::WORKERS - 1, (1 << NUMBER_BITS) - 1) < RecordId::NONE);
    }

    #[test]
    fn owners_are_even() {
        let mut counts = [0; 3];
        (0..30_000u64).for_each(|n| counts[owner(bytes_hash(&n.to_le_bytes()), 3)] += 1);
        assert!(counts.iter().all(|count| (9_000..11_000).contains(count)), "{counts:?}");
    }
}

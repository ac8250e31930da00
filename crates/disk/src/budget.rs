//! How much memory a search may take, and the chunks that its tables are made of.
//!
//! **Invariant:** a table that is emptied puts its chunks into the pool, from which all tables take; they go back to the allocator only when something
//! else has come to need their memory ([`Budget::relax`]). So the bytes in use grow to the limit once and stay there.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The bytes of a search.
pub(crate) struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    /// Of these, what workers remember.
    remembered: AtomicU64,
    full: AtomicBool,
    /// What all workers take for themselves.
    fixed: u64,
    chunk: usize,
    /// So many chunks are never given up.
    fewest: usize,
    pool: Mutex<Vec<Box<[u8]>>>,
}

/// What a worker needs beside tables: batches, blocks, buffers of runs.
const PER_WORKER: u64 = 640 << 10;
/// The least a record takes, with its slot.
const RECORD: u64 = 24;
/// Bytes for each record of a table that is sorted.
const SORTING: u64 = 24;
/// One in so many bytes is left free when room is made.
const SPARE: u64 = 16;
const SMALLEST_CHUNK: u64 = 1 << 14;
const LARGEST_CHUNK: u64 = 1 << 20;

impl Budget {
    /// For a search with this much memory, so many tables and so many workers, each of which sorts one table at a time.
    pub fn new(memory: u64, tables: usize, workers: usize) -> Self {
        let (tables, workers) = (tables as u64, workers as u64);
        let fixed = (workers * PER_WORKER).min(memory / 2);
        let sorted = SORTING * workers.min(tables);
        let limit = (memory - fixed) / (RECORD * tables + sorted) * (RECORD * tables);
        let chunk = (memory / tables / 32).clamp(SMALLEST_CHUNK, LARGEST_CHUNK) as usize;
        Self {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            remembered: AtomicU64::new(0),
            full: AtomicBool::new(false),
            fixed,
            chunk,
            fewest: 2 * tables as usize,
            pool: Mutex::default(),
        }
    }

    /// Whether somebody wanted more than there is.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Somebody made room: all tables are empty. What others have come to take since chunks were made is taken from the chunks, and a bit more,
    /// so that the next byte is not too many at once.
    pub fn relax(&self) {
        let enough = self.limit - self.limit / SPARE;
        let mut pool = self.pool.lock().expect("nobody panics with the pool");
        while self.used.load(Ordering::Relaxed) > enough && pool.len() > self.fewest {
            self.give(pool.pop().map_or(0, |chunk| chunk.len() as u64));
        }
        self.full.store(false, Ordering::Relaxed);
    }

    /// Whether so many bytes more are too many; if so, it is full.
    pub fn refuses(&self, bytes: u64) -> bool {
        let refuses = self.used.load(Ordering::Relaxed) + bytes > self.limit;
        if refuses {
            self.full.store(true, Ordering::Relaxed);
        }
        refuses
    }

    /// Takes bytes, whether there are any or not.
    pub fn take(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(used, Ordering::Relaxed);
        if used > self.limit {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    /// Gives bytes back.
    pub fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Workers remember so many bytes now. They are left at most half of the limit to count: a search that has no room for states does not get on.
    pub fn remember(&self, bytes: u64) {
        let bytes = bytes.min(self.limit / 2);
        let before = self.remembered.swap(bytes, Ordering::Relaxed);
        if bytes > before { self.take(bytes - before) } else { self.give(before - bytes) }
    }

    /// A chunk for records of which the next one takes so many bytes.
    pub fn chunk(&self, record: usize) -> Box<[u8]> {
        if record <= self.chunk
            && let Some(chunk) = self.pool.lock().expect("nobody panics with the pool").pop()
        {
            return chunk;
        }
        let size = record.max(self.chunk);
        self.take(size as u64);
        vec![0; size].into_boxed_slice()
    }

    /// Takes chunks back.
    pub fn recycle(&self, chunks: impl Iterator<Item = Box<[u8]>>) {
        let mut pool = self.pool.lock().expect("nobody panics with the pool");
        for chunk in chunks {
            if chunk.len() == self.chunk {
                pool.push(chunk);
            } else {
                self.give(chunk.len() as u64);
            }
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed) + self.fixed
    }

    /// The most bytes that were in use.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed) + self.fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_make_room_for_what_is_remembered() {
        let budget = Budget::new(64 << 20, 16, 1);
        let mut chunks = Vec::new();
        while !budget.is_full() {
            chunks.push(budget.chunk(100));
        }
        budget.recycle(chunks.into_iter());
        budget.relax();
        assert!(!budget.is_full() && budget.bytes() > 48 << 20, "{}", budget.bytes());
        budget.remember(16 << 20);
        assert!(budget.is_full());
        budget.relax();
        assert!(!budget.is_full() && budget.bytes() <= 64 << 20, "{}", budget.bytes());
        // The same again changes nothing; less is always welcome.
        budget.remember(16 << 20);
        budget.remember(15 << 20);
        assert!(!budget.is_full());
        // However much is remembered, there is room for some states.
        budget.remember(1 << 30);
        budget.relax();
        let chunk = budget.chunk(100);
        assert!(!budget.is_full() && !chunk.is_empty());
    }
}

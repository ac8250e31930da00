//! How much memory a search may take, and the chunks that its tables are made of.
//!
//! **Invariant:** chunks are never given back to the allocator while a search runs: a table that is emptied puts them into the pool, from which
//! all tables take. So the bytes in use grow to the limit once and stay there.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The bytes of a search.
pub(crate) struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    full: AtomicBool,
    /// What all workers take for themselves.
    fixed: u64,
    chunk: usize,
    pool: Mutex<Vec<Box<[u8]>>>,
}

/// What a worker needs beside tables: batches, blocks, buffers of runs.
const PER_WORKER: u64 = 640 << 10;
/// The least a record takes, with its slot.
const RECORD: u64 = 32;
/// Bytes for each record of a table that is sorted.
const SORTING: u64 = 24;
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
            full: AtomicBool::new(false),
            fixed,
            chunk,
            pool: Mutex::default(),
        }
    }

    /// Whether somebody wanted more than there is.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Somebody made room.
    pub fn relax(&self) {
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

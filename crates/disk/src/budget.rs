//! How much memory a search may take, and what of it is left for the table.

/// The bytes of a search.
pub(crate) struct Budget {
    /// For the table, the indexes of runs and what workers remember.
    limit: u64,
    /// What all workers take for themselves.
    fixed: u64,
    /// What the indexes of runs take.
    pub runs: u64,
    /// What workers remember.
    remembered: u64,
    /// The bytes that the table takes at a time.
    pub chunk: usize,
    /// The most bytes that were in use.
    pub peak: u64,
}

/// What a worker needs beside the table: states that wait, blocks, buffers of runs.
const PER_WORKER: u64 = 640 << 10;
/// The least a record takes, with its slot.
const RECORD: u64 = 24;
/// Bytes for each record of a part that is sorted.
const SORTING: u64 = 24;
const SMALLEST_CHUNK: u64 = 1 << 14;
const LARGEST_CHUNK: u64 = 1 << 20;

impl Budget {
    /// For a search with this much memory, so many parts and so many workers, each of which sorts one part at a time.
    pub fn new(memory: u64, parts: usize, workers: usize) -> Self {
        let (parts, workers) = (parts as u64, workers as u64);
        let fixed = (workers * PER_WORKER).min(memory / 2);
        let sorted = SORTING * workers.min(parts);
        let limit = (memory - fixed) / (RECORD * parts + sorted) * (RECORD * parts);
        let chunk = (memory / workers / 64).clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
        Self { limit, fixed, runs: 0, remembered: 0, chunk: 1 << chunk.ilog2(), peak: 0 }
    }

    /// What is left for the table.
    pub fn room(&self) -> u64 {
        self.limit.saturating_sub(self.runs + self.remembered)
    }

    /// Workers remember so many bytes now. They are left at most half of the limit to count: a search that has no room for states does not get on.
    pub fn remember(&mut self, bytes: u64) {
        self.remembered = bytes.min(self.limit / 2);
    }

    /// Bytes in use if the table takes so many.
    pub fn bytes(&self, table: u64) -> u64 {
        table + self.runs + self.remembered + self.fixed
    }
}

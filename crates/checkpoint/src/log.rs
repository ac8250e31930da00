//! A file of records that only grows: states in the order of their discovery. The number of a record is its place in the file.

use std::path::PathBuf;

use crate::error::Result;
use crate::files::{Appender, Block, Reader, Sum};
use crate::record;

/// The file as it is written.
pub struct Log {
    file: Appender,
    /// How many records are in the file, and those that are not there yet.
    records: u64,
    payload: Vec<u8>,
    items: u32,
    /// Bytes of a block's payload, about.
    block: usize,
    /// The blocks that were appended since somebody asked.
    fresh: Vec<Block>,
}

impl Log {
    /// Makes a new one, with blocks of about so many bytes; one that is there is replaced.
    pub fn create(path: PathBuf, block: usize) -> Result<Self> {
        Ok(Self { file: Appender::create(path)?, records: 0, payload: Vec::new(), items: 0, block, fresh: Vec::new() })
    }

    /// Goes on with one that has been read: so many records, these blocks of which nobody has asked for. What is behind them is cut off.
    pub fn reopen(path: PathBuf, block: usize, sum: Sum, records: u64, fresh: Vec<Block>) -> Result<Self> {
        Ok(Self { file: Appender::reopen(path, sum)?, records, payload: Vec::new(), items: 0, block, fresh })
    }

    /// How many records are in the file.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// What it holds.
    pub fn sum(&self) -> Sum {
        self.file.sum()
    }

    /// The same file for reading.
    pub fn reader(&self) -> Result<Reader> {
        self.file.reader()
    }

    /// Has everything written to the disk itself.
    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Appends a record, which is in the file after the next [flush](Self::flush).
    pub fn push(&mut self, parent: u64, state: &[u8]) -> Result<()> {
        record::push(&mut self.payload, parent, state);
        self.items += 1;
        if self.payload.len() >= self.block { self.flush() } else { Ok(()) }
    }

    /// Has all records in the file; the last block ends there.
    pub fn flush(&mut self) -> Result<()> {
        if self.items > 0 {
            self.fresh.push(self.file.append(&self.payload, self.items, self.records)?);
            self.records += u64::from(self.items);
            self.forget_waiting();
        }
        Ok(())
    }

    /// Forgets records that are not in the file: those of somebody who failed.
    pub fn forget_waiting(&mut self) {
        self.payload.clear();
        self.items = 0;
    }

    /// The blocks that were appended since the last call.
    pub fn take_fresh(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.fresh)
    }

    /// Forgets what was appended after this.
    pub fn rewind(&mut self, sum: Sum, records: u64) -> Result<()> {
        self.forget_waiting();
        self.records = records;
        self.fresh.retain(|block| block.first < records);
        self.file.rewind(sum)
    }
}

//! All states in the order of their discovery, each with the number of the state it was found from.
//!
//! The log is the record of a search: its levels are the frontiers, the parents in it make paths, and a table that was lost in a crash
//! is filled from it again. A state's number is its place in the log. A block never holds states of two levels.

use std::path::{Path, PathBuf};

use cyrano_checkpoint::files::{Block, Reader, Sum};
use cyrano_checkpoint::log::Log;
use cyrano_checkpoint::record::Records;
use cyrano_checkpoint::{Error, Result};

/// The parent of initial states.
pub(crate) const NO_PARENT: u64 = (1 << 40) - 1;

/// Bytes of a block's payload, about: what a worker expands at a time.
const BLOCK: usize = 1 << 14;
/// One in so many blocks is remembered when a path is looked up.
const SPARSE: usize = 64;

/// The file.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("states")
}

/// A new log.
pub(crate) fn create(dir: &Path) -> Result<Log> {
    Log::create(path(dir), BLOCK)
}

/// Goes on with a log that has been read.
pub(crate) fn reopen(dir: &Path, sum: Sum, states: u64, fresh: Vec<Block>) -> Result<Log> {
    Log::reopen(path(dir), BLOCK, sum, states, fresh)
}

/// The states on the way to the one with this number, that one included.
pub(crate) fn path_to(reader: &Reader, sum: Sum, number: u64) -> Result<Vec<Vec<u8>>> {
    let sparse = sparse_index(reader, sum, number)?;
    let mut path = Vec::new();
    let mut payload = Vec::new();
    let mut wanted = number;
    while wanted != NO_PARENT {
        let behind = sparse.partition_point(|block| block.first <= wanted);
        let mut block = sparse[behind.saturating_sub(1)];
        while block.first + u64::from(block.items) <= wanted {
            block = reader.header(block.end(), sum.length)?;
        }
        reader.payload(&block, &mut payload)?;
        let within = wanted.checked_sub(block.first).and_then(|within| usize::try_from(within).ok());
        let record = within.and_then(|within| Records(&payload).nth(within)).flatten();
        let (parent, state) = record.ok_or_else(|| senseless(reader, &block))?;
        if parent != NO_PARENT && parent >= wanted {
            return Err(senseless(reader, &block));
        }
        path.push(state.to_vec());
        wanted = parent;
    }
    path.reverse();
    Ok(path)
}

/// Some of the blocks up to that of a state.
fn sparse_index(reader: &Reader, sum: Sum, number: u64) -> Result<Vec<Block>> {
    let mut found = Vec::new();
    let mut offset = 0;
    for count in 0.. {
        let block = reader.header(offset, sum.length)?;
        if count % SPARSE == 0 {
            found.push(block);
        }
        if block.first + u64::from(block.items) > number {
            break;
        }
        offset = block.end();
    }
    Ok(found)
}

/// A block whose checksum is right and whose content is not.
pub(crate) fn senseless(reader: &Reader, block: &Block) -> Error {
    Error::damaged(reader.path(), format!("the block at byte {} makes no sense", block.offset))
}

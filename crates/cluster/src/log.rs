//! The states of one worker in a file, in the order in which it got them: a copy of its table that only grows.
//!
//! A block is a piece of one of the table's chunks; the number of its first item is the address of its first record. Records are written
//! once. Read back in the same order they get the same addresses, so that the places in them, which lead to other records of
//! all workers, stay right.

use std::path::{Path, PathBuf};

use cyrano_disk::files::{Appender, Reader, Sum, sync_dir};
use cyrano_disk::{Error, Result};
use cyrano_engine::{Limits, Stop};

use crate::saved::Piece;
use crate::table::{NoRoom, PARENT, Pending, Place, Table, hash, owner};
use crate::wire::checked_length_at;

/// Bytes of a block's payload, at most, unless a record is longer.
const BLOCK: usize = 1 << 18;

/// The file of a worker of a process.
pub(crate) fn path(dir: &Path, round: u64, local: usize) -> PathBuf {
    dir.join(format!("states-{round}-{local}"))
}

/// The round of a log with this name.
pub(crate) fn round_of_name(name: &str) -> Option<u64> {
    name.strip_prefix("states-")?.split_once('-')?.0.parse().ok()
}

/// A file with states.
pub(crate) struct Log {
    file: Appender,
    /// The address behind the last record in it.
    end: u64,
}

impl Log {
    /// Makes a new one; one that is there is replaced.
    pub fn create(dir: &Path, round: u64, local: usize) -> Result<Self> {
        let file = Appender::create(path(dir, round, local))?;
        sync_dir(dir)?;
        Ok(Self { file, end: 0 })
    }

    /// Goes on with one that has been read; what is behind it is cut off.
    pub fn reopen(dir: &Path, round: u64, local: usize, piece: &Piece) -> Result<Self> {
        Ok(Self { file: Appender::reopen(path(dir, round, local), piece.log)?, end: piece.end })
    }

    /// Appends the records of a table up to an address, and has them written to the disk itself.
    pub fn append(&mut self, table: &Table, end: u64) -> Result<Sum> {
        while let Some((address, bytes, items)) = table.stretch(self.end..end, BLOCK) {
            self.file.append(bytes, items, address)?;
            self.end = address + bytes.len() as u64;
        }
        self.end = self.end.max(end);
        self.file.sync()?;
        Ok(self.file.sum())
    }
}

/// Why states cannot be read.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The file cannot be used.
    File(Error),
    /// There is not enough memory for them.
    NoRoom,
    /// A limit was reached.
    Stopped(Stop),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

/// Reads the states of a worker, one of so many, into an empty table. Everything is checked: checksums, places, and whose states they are.
pub(crate) fn load(
    path: PathBuf,
    piece: &Piece,
    table: &mut Table,
    (index, peers): (usize, usize),
    limits: &Limits,
) -> std::result::Result<(), Trouble> {
    let reader = Reader::open(path)?;
    let mut pending = Pending::default();
    let mut trouble = None;
    let senseless = |offset: u64| {
        Error::damaged(reader.path(), format!("the block at byte {offset} does not fit what was read before"))
    };
    let read = reader.verify(piece.log, |block, payload| {
        if let Some(stop) = limits.exceeded(0) {
            trouble = Some(Trouble::Stopped(stop));
            return Err(senseless(block.offset));
        }
        let before = table.len();
        let known = gather(payload, &mut pending, (index, peers)).ok_or_else(|| senseless(block.offset))?;
        if table.insert(&mut pending) == Err(NoRoom) {
            trouble = Some(Trouble::NoRoom);
            return Err(senseless(block.offset));
        }
        let placed = table.end() == block.first.saturating_add(payload.len() as u64);
        if known != block.items || table.len() != before + u64::from(known) || !placed {
            return Err(senseless(block.offset));
        }
        Ok(())
    });
    if let (Err(_), Some(trouble)) = (&read, trouble) {
        return Err(trouble);
    }
    read?;
    if (table.len(), table.end()) != (piece.states, piece.end) {
        return Err(Error::damaged(reader.path(), "it has other states than the manifest says").into());
    }
    Ok(())
}

/// Takes a block apart; how many records it has, or `None` if it makes no sense.
fn gather(payload: &[u8], pending: &mut Pending, (index, peers): (usize, usize)) -> Option<u32> {
    let (mut rest, mut known) = (payload, 0);
    while let Some((parent, after)) = rest.split_first_chunk::<PARENT>() {
        let (length, taken) = checked_length_at(after)?;
        let state = after.get(taken..taken.checked_add(length)?)?;
        let (hash, parent) = (hash(state), Place(u64::from_le_bytes(*parent)));
        if owner(hash, peers) != index || (parent != Place::NONE && parent.worker() >= peers) {
            return None;
        }
        pending.push(hash, parent, state);
        known += 1;
        rest = &after[taken + length..];
    }
    rest.is_empty().then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(n: u32) -> Vec<u8> {
        let mut bytes = n.to_le_bytes().to_vec();
        bytes.resize(4 + n as usize % 300, n as u8);
        bytes
    }

    fn insert(table: &mut Table, numbers: std::ops::Range<u32>) {
        let mut pending = Pending::default();
        for state in numbers.map(state) {
            pending.push(hash(&state), Place::new(0, table.end()), &state);
        }
        table.insert(&mut pending).expect("there is room");
    }

    fn all(table: &Table) -> Vec<(u64, Vec<u8>)> {
        let (mut rest, mut found) = (0..table.end(), Vec::new());
        while let Some((address, state, after)) = table.first(rest) {
            found.push((address, state.to_vec()));
            rest = after;
        }
        found
    }

    #[test]
    fn states_come_back_to_their_places() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut table = Table::new(1 << 30);
        let mut log = Log::create(dir.path(), 0, 0).expect("it can be made");
        // In several steps, several chunks, and once for nothing.
        let mut piece = Piece::default();
        for part in [0..1, 1..9000, 9000..9000, 9000..30_000] {
            insert(&mut table, part);
            let sum = log.append(&table, table.end()).expect("it can be written");
            piece = Piece { log: sum, end: table.end(), states: table.len(), ..Piece::default() };
        }
        let (keep, reread) = (piece.clone(), path(dir.path(), 0, 0));
        insert(&mut table, 30_000..31_000);
        log.append(&table, table.end()).expect("it can be written");
        let mut again = Table::new(1 << 30);
        load(reread.clone(), &keep, &mut again, (0, 1), &Limits::default()).expect("it can be read");
        let expected: Vec<_> = all(&table).into_iter().take(30_000).collect();
        assert_eq!(all(&again), expected);
        // What came later is cut off, and it goes on as if it had never been there.
        let mut log = Log::reopen(dir.path(), 0, 0, &keep).expect("it is there");
        insert(&mut again, 30_000..31_000);
        let sum = log.append(&again, again.end()).expect("it can be written");
        let piece = Piece { log: sum, end: again.end(), states: again.len(), ..Piece::default() };
        let mut last = Table::new(1 << 30);
        load(reread.clone(), &piece, &mut last, (0, 1), &Limits::default()).expect("it can be read");
        assert_eq!(all(&last), all(&table));
        // Little memory, another owner, other numbers.
        let refused = |piece: &Piece, memory: u64, place: (usize, usize)| {
            load(reread.clone(), piece, &mut Table::new(memory), place, &Limits::default()).expect_err("it is refused")
        };
        assert!(matches!(refused(&piece, 1 << 17, (0, 1)), Trouble::NoRoom));
        assert!(matches!(refused(&piece, 1 << 30, (0, 2)), Trouble::File(Error::Damaged { .. })));
        let other = Piece { states: piece.states + 1, ..piece.clone() };
        assert!(matches!(refused(&other, 1 << 30, (0, 1)), Trouble::File(Error::Damaged { .. })));
    }
}

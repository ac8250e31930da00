//! The states of one worker in a file, in the order in which it got them: a copy of its table that only grows.
//!
//! Records are written once, with their states in the plain form: packed ones mean nothing to another process. Read back in the same order they get the
//! same numbers, so that the places in them, which lead to other records of all workers, stay right.

use std::path::{Path, PathBuf};

use cyrano_disk::files::{Appender, Reader, Sum, sync_dir};
use cyrano_disk::{Error, Result};
use cyrano_engine::{Limits, Stop};
use cyrano_explore::Walker;

use crate::keeper::States;
use crate::saved::Piece;
use crate::table::{NoRoom, PARENT, Pending, Place, Table, hash, owner};
use crate::wire::{checked_length_at, push_length};

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
    path: PathBuf,
    /// How many records are in it.
    records: u64,
}

impl Log {
    /// Makes a new one; one that is there is replaced.
    pub fn create(dir: &Path, round: u64, local: usize) -> Result<Self> {
        let path = path(dir, round, local);
        let file = Appender::create(path.clone())?;
        sync_dir(dir)?;
        Ok(Self { file, path, records: 0 })
    }

    /// Goes on with one that has been read; what is behind it is cut off.
    pub fn reopen(dir: &Path, round: u64, local: usize, piece: &Piece) -> Result<Self> {
        let path = path(dir, round, local);
        Ok(Self { file: Appender::reopen(path.clone(), piece.log)?, path, records: piece.states })
    }

    /// Appends the first so many records of a table, as far as they are not in it, and has them written to the disk itself.
    pub fn append(&mut self, states: States<'_>, count: u64) -> Result<Sum> {
        let table = states.table;
        let mut rest = table.address(self.records)..table.end();
        let (mut payload, mut plain) = (Vec::with_capacity(BLOCK), Vec::new());
        let mut first = self.records;
        while self.records < count {
            let Some((address, state, after)) = table.first(rest) else { break };
            let parent = table.at(address).map_or(Place::NONE, |(_, parent)| parent);
            plain.clear();
            match states.packing {
                Some(packing) if packing.unpack_any(state, &mut plain).is_some() => {}
                Some(_) => return Err(Error::damaged(&self.path, "a packed state makes no sense")),
                None => plain.extend_from_slice(state),
            }
            if !payload.is_empty() && payload.len() + PARENT + 4 + plain.len() > BLOCK {
                self.file.append(&payload, (self.records - first) as u32, first)?;
                payload.clear();
                first = self.records;
            }
            payload.extend_from_slice(&parent.0.to_le_bytes());
            push_length(&mut payload, plain.len());
            payload.extend_from_slice(&plain);
            self.records += 1;
            rest = after;
        }
        if !payload.is_empty() {
            self.file.append(&payload, (self.records - first) as u32, first)?;
        }
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

/// Reads the states of a worker, one of so many, into an empty table, packed if there is a walker that does so. Everything is checked: checksums, places, and whose states they are.
pub(crate) fn load(
    path: PathBuf,
    piece: &Piece,
    table: &mut Table,
    (index, peers): (usize, usize),
    limits: &Limits,
    mut packer: Option<&mut Walker<'_>>,
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
        let known = gather(payload, &mut pending, (index, peers), packer.as_deref_mut());
        if packer.as_ref().is_some_and(|packer| packer.must_give_up()) {
            trouble = Some(Trouble::NoRoom);
        }
        let known = known.ok_or_else(|| senseless(block.offset))?;
        if table.insert(&mut pending) == Err(NoRoom) {
            trouble = Some(Trouble::NoRoom);
            return Err(senseless(block.offset));
        }
        if known != block.items || before != block.first || table.len() != before + u64::from(known) {
            return Err(senseless(block.offset));
        }
        Ok(())
    });
    if let (Err(_), Some(trouble)) = (&read, trouble) {
        return Err(trouble);
    }
    read?;
    if table.len() != piece.states {
        return Err(Error::damaged(reader.path(), "it has other states than the manifest says").into());
    }
    Ok(())
}

/// Takes a block apart; how many records it has, or `None` if it makes no sense.
fn gather(
    payload: &[u8],
    pending: &mut Pending,
    (index, peers): (usize, usize),
    mut packer: Option<&mut Walker<'_>>,
) -> Option<u32> {
    let (mut rest, mut known, mut packed) = (payload, 0, Vec::new());
    while let Some((parent, after)) = rest.split_first_chunk::<PARENT>() {
        let (length, taken) = checked_length_at(after)?;
        let plain = after.get(taken..taken.checked_add(length)?)?;
        let (state, route) = match &mut packer {
            None => (plain, hash(plain)),
            Some(packer) => {
                packed.clear();
                packer.pack(plain, |state| packed.extend_from_slice(state));
                (&packed[..], packer.route(&packed)?)
            }
        };
        let parent = Place(u64::from_le_bytes(*parent));
        if owner(route, peers) != index || (parent != Place::NONE && parent.worker() >= peers) {
            return None;
        }
        pending.push(hash(state), parent, state);
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
            let sum = log.append(States { table: &table, packing: None }, table.len()).expect("it can be written");
            piece = Piece { log: sum, states: table.len(), ..Piece::default() };
        }
        let (keep, reread) = (piece.clone(), path(dir.path(), 0, 0));
        insert(&mut table, 30_000..31_000);
        log.append(States { table: &table, packing: None }, table.len()).expect("it can be written");
        let mut again = Table::new(1 << 30);
        load(reread.clone(), &keep, &mut again, (0, 1), &Limits::default(), None).expect("it can be read");
        let expected: Vec<_> = all(&table).into_iter().take(30_000).collect();
        assert_eq!(all(&again), expected);
        // What came later is cut off, and it goes on as if it had never been there.
        let mut log = Log::reopen(dir.path(), 0, 0, &keep).expect("it is there");
        insert(&mut again, 30_000..31_000);
        let sum = log.append(States { table: &again, packing: None }, again.len()).expect("it can be written");
        let piece = Piece { log: sum, states: again.len(), ..Piece::default() };
        let mut last = Table::new(1 << 30);
        load(reread.clone(), &piece, &mut last, (0, 1), &Limits::default(), None).expect("it can be read");
        assert_eq!(all(&last), all(&table));
        // Little memory, another owner, other numbers.
        let refused = |piece: &Piece, memory: u64, place: (usize, usize)| {
            load(reread.clone(), piece, &mut Table::new(memory), place, &Limits::default(), None)
                .expect_err("it is refused")
        };
        assert!(matches!(refused(&piece, 1 << 17, (0, 1)), Trouble::NoRoom));
        assert!(matches!(refused(&piece, 1 << 30, (0, 2)), Trouble::File(Error::Damaged { .. })));
        let other = Piece { states: piece.states + 1, ..piece.clone() };
        assert!(matches!(refused(&other, 1 << 30, (0, 1)), Trouble::File(Error::Damaged { .. })));
    }
}

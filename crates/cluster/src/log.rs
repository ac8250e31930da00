//! The states of one worker in a file, in the order in which it got them: a copy of its partition that only grows.
//!
//! Records are written once, with their states in the plain form: packed ones mean nothing to another process. Read back in the same order they get the
//! same numbers, so that the places in them, which lead to other records of all workers, stay right.

use std::path::{Path, PathBuf};

use cyrano_checkpoint::files::{Reader, Sum, sync_dir};
use cyrano_checkpoint::log::Log as File;
use cyrano_checkpoint::record::Records;
use cyrano_checkpoint::{Error, Result};
use cyrano_engine::{Limits, Stop};
use cyrano_explore::Walker;
use cyrano_explore::store::{Address, ByteKeys, bytes_hash};

use crate::checkpointer::States;
use crate::saved::Piece;
use crate::table::{NoRoom, Partition, RecordId, owner};

/// Bytes of a block's payload, about.
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
    file: File,
    path: PathBuf,
}

impl Log {
    /// Makes a new one; one that is there is replaced.
    pub fn create(dir: &Path, round: u64, local: usize) -> Result<Self> {
        let path = path(dir, round, local);
        let file = File::create(path.clone(), BLOCK)?;
        sync_dir(dir)?;
        Ok(Self { file, path })
    }

    /// Goes on with one that has been read; what is behind it is cut off.
    pub fn reopen(dir: &Path, round: u64, local: usize, piece: &Piece) -> Result<Self> {
        let path = path(dir, round, local);
        let file = File::reopen(path.clone(), BLOCK, piece.log, piece.states, Vec::new())?;
        Ok(Self { file, path })
    }

    /// Appends the first so many records of a partition, as far as they are not in it, and has them written to the disk itself.
    pub fn append(&mut self, states: States<'_>, count: u64) -> Result<Sum> {
        let Self { file, path } = self;
        let mut plain = Vec::new();
        file.forget_waiting();
        states.partition.visit(file.records()..count, |state, parent| {
            plain.clear();
            match states.packing {
                Some(packing) if packing.unpack_any(state, &mut plain).is_some() => {}
                Some(_) => return Err(Error::damaged(path, "a packed state makes no sense")),
                None => plain.extend_from_slice(state),
            }
            file.push(parent.0, &plain)
        })?;
        self.file.flush()?;
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

/// Whose states are read: those of one process of so many, with so many workers in all.
#[derive(Clone, Copy)]
pub(crate) struct Whose {
    pub process: usize,
    pub processes: usize,
    pub peers: usize,
}

/// Reads the states of a worker onto its empty partition, packed if there is a walker that does so. Everything is checked: checksums, places, and whose states they are.
pub(crate) fn load(
    path: PathBuf,
    piece: &Piece,
    partition: &mut Partition,
    whose: Whose,
    limits: &Limits,
    mut packer: Option<&mut Walker<'_>>,
) -> std::result::Result<(), Trouble> {
    let reader = Reader::open(path)?;
    let mut pending = ByteKeys::default();
    let mut trouble = None;
    let senseless = |offset: u64| {
        Error::damaged(reader.path(), format!("the block at byte {offset} does not fit what was read before"))
    };
    let read = reader.verify(piece.log, |block, payload| {
        if let Some(stop) = limits.exceeded(0) {
            trouble = Some(Trouble::Stopped(stop));
            return Err(senseless(block.offset));
        }
        let before = partition.len();
        let known = gather(payload, &mut pending, whose, packer.as_deref_mut());
        if packer.as_ref().is_some_and(|packer| packer.must_give_up()) {
            trouble = Some(Trouble::NoRoom);
        }
        let known = known.ok_or_else(|| senseless(block.offset))?;
        if partition.insert(&mut pending) == Err(NoRoom) {
            trouble = Some(Trouble::NoRoom);
            return Err(senseless(block.offset));
        }
        if known != block.items || before != block.first || partition.len() != before + u64::from(known) {
            return Err(senseless(block.offset));
        }
        Ok(())
    });
    if let (Err(_), Some(trouble)) = (&read, trouble) {
        return Err(trouble);
    }
    read?;
    if partition.len() != piece.states {
        return Err(Error::damaged(reader.path(), "it has other states than the manifest says").into());
    }
    Ok(())
}

/// Takes a block apart; how many records it has, or `None` if it makes no sense.
fn gather(payload: &[u8], pending: &mut ByteKeys, whose: Whose, mut packer: Option<&mut Walker<'_>>) -> Option<u32> {
    let (mut known, mut packed) = (0, Vec::new());
    for record in Records(payload) {
        let (parent, plain) = record?;
        let parent = RecordId(parent);
        let (state, route) = match &mut packer {
            None => (plain, bytes_hash(plain)),
            Some(packer) => {
                packed.clear();
                packer.pack(plain, |state| packed.extend_from_slice(state));
                (&packed[..], packer.route(&packed)?)
            }
        };
        if owner(route, whose.processes) != whose.process
            || (parent != RecordId::NONE && parent.worker() >= whose.peers)
        {
            return None;
        }
        pending.push_hashed(bytes_hash(state), Address(parent.0), state);
        known += 1;
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use cyrano_explore::Explore;

    use super::*;
    use crate::table::Common;

    fn state(n: u32) -> Vec<u8> {
        let mut bytes = n.to_le_bytes().to_vec();
        bytes.resize(4 + n as usize % 300, n as u8);
        bytes
    }

    fn partition(memory: u64) -> Partition {
        Partition::new(&Common::new(&Explore::default(), memory, 1), 0)
    }

    fn insert(partition: &mut Partition, numbers: std::ops::Range<u32>) {
        let mut pending = ByteKeys::default();
        for state in numbers.map(state) {
            pending.push_hashed(bytes_hash(&state), Address(RecordId::new(0, partition.len()).0), &state);
        }
        partition.insert(&mut pending).expect("there is room");
        partition.gather();
    }

    fn all(partition: &mut Partition) -> Vec<(Vec<u8>, RecordId)> {
        partition.gather();
        (0..partition.len()).filter_map(|number| partition.record(number)).collect()
    }

    #[test]
    fn states_come_back_to_their_places() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut first = partition(1 << 30);
        let mut log = Log::create(dir.path(), 0, 0).expect("it can be made");
        let only = Whose { process: 0, processes: 1, peers: 1 };
        // In several steps, several chunks, and once for nothing.
        let mut piece = Piece::default();
        for part in [0..1, 1..9000, 9000..9000, 9000..30_000] {
            insert(&mut first, part);
            let sum = log.append(States { partition: &first, packing: None }, first.len()).expect("it can be written");
            piece = Piece { log: sum, states: first.len(), ..Piece::default() };
        }
        let (keep, reread) = (piece.clone(), path(dir.path(), 0, 0));
        insert(&mut first, 30_000..31_000);
        log.append(States { partition: &first, packing: None }, first.len()).expect("it can be written");
        let mut again = partition(1 << 30);
        load(reread.clone(), &keep, &mut again, only, &Limits::default(), None).expect("it can be read");
        let expected: Vec<_> = all(&mut first).into_iter().take(30_000).collect();
        assert_eq!(all(&mut again), expected);
        // What came later is cut off, and it goes on as if it had never been there.
        let mut log = Log::reopen(dir.path(), 0, 0, &keep).expect("it is there");
        insert(&mut again, 30_000..31_000);
        let sum = log.append(States { partition: &again, packing: None }, again.len()).expect("it can be written");
        let piece = Piece { log: sum, states: again.len(), ..Piece::default() };
        let mut last = partition(1 << 30);
        load(reread.clone(), &piece, &mut last, only, &Limits::default(), None).expect("it can be read");
        assert_eq!(all(&mut last), all(&mut first));
        // Little memory, another owner, states that another worker has, other numbers.
        let refused = |piece: &Piece, partition: &mut Partition, whose: Whose| {
            load(reread.clone(), piece, partition, whose, &Limits::default(), None).expect_err("it is refused")
        };
        assert!(matches!(refused(&piece, &mut partition(1 << 17), only), Trouble::NoRoom));
        let other = Whose { processes: 2, peers: 2, ..only };
        assert!(matches!(refused(&piece, &mut partition(1 << 30), other), Trouble::File(Error::Damaged { .. })));
        let mut other = Partition::new(&last.common, 1);
        assert!(matches!(refused(&piece, &mut other, only), Trouble::File(Error::Damaged { .. })));
        let other = Piece { states: piece.states + 1, ..piece.clone() };
        assert!(matches!(refused(&other, &mut partition(1 << 30), only), Trouble::File(Error::Damaged { .. })));
    }
}

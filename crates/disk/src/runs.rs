//! Sorted runs: sets of states on disk, in order, each with what it does not share with the one before.
//!
//! ```text
//! shared, length, bytes          a state: so many bytes of the one before, then these
//! ```
//!
//! Two numbers below 16 share one byte; others are two variable-length integers behind a byte with all bits set.
//!
//! The first state of a block is whole. Of each block the place and the first state are kept in memory, so that blocks in which nothing is looked for
//! are not read.
//!
//! **Joining.** A sorted list of candidates is compared with a run in one pass. The state of the run, `k`, and the candidate, `c`, are kept with the
//! number of bytes that they share, `m`, and `k < c`. The next state shares `p` bytes with `k`: if `p > m` it differs from `c` where `k` does and is
//! smaller, too; if `p < m` it is larger; only if `p = m` bytes have to be compared.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use cyrano_checkpoint::files::{Appender, Block, Reader, Sum};
use cyrano_checkpoint::{Error, Result};

use crate::sort::common_prefix;

/// Bytes of a block's payload, about.
const BLOCK: usize = 1 << 16;
/// What stands before numbers that do not fit one byte.
const LONG: u8 = 0xff;

/// A run.
pub(crate) struct Run {
    pub number: u64,
    pub sum: Sum,
    pub states: u64,
    /// Whether a manifest on the disk names it.
    pub named: bool,
    reader: Reader,
    index: Index,
}

/// The place and the first state of each block.
#[derive(Default)]
struct Index {
    blocks: Vec<Block>,
    keys: Vec<u8>,
    ends: Vec<u64>,
}

impl Index {
    fn push(&mut self, block: Block, key: &[u8]) {
        self.blocks.push(block);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len() as u64);
    }

    fn key(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start as usize..self.ends[block] as usize]
    }

    /// The last block from `from` on whose first state is not larger than `state`.
    fn find(&self, from: usize, state: &[u8]) -> Option<usize> {
        let fits = |block: usize| block < self.blocks.len() && self.key(block) <= state;
        if !fits(from) {
            return None;
        }
        let mut step = 1;
        while fits(from + step) {
            step *= 2;
        }
        let (mut low, mut high) = (from + step / 2, (from + step).min(self.blocks.len()));
        while low + 1 < high {
            let middle = low.midpoint(high);
            if fits(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }

    fn bytes(&self) -> u64 {
        (self.keys.len() + self.ends.len() * 8 + self.blocks.len() * size_of::<Block>()) as u64
    }
}

/// The file of a run.
pub(crate) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("run-{number:06}"))
}

impl Run {
    /// Opens a run and reads all of it: it must be what its sum says.
    pub fn open(dir: &Path, number: u64, sum: Sum, states: u64) -> Result<Self> {
        let reader = Reader::open(path(dir, number))?;
        let mut index = Index::default();
        let mut found = 0;
        reader.verify(sum, |block, payload| {
            let first = Front { payload, at: 0 }.next_item().filter(|(shared, _)| *shared == 0);
            let (_, key) = first.ok_or_else(|| Error::damaged(reader.path(), "a block has no first state"))?;
            index.push(*block, key);
            found += u64::from(block.items);
            Ok(())
        })?;
        if found != states {
            return Err(Error::damaged(reader.path(), "it has another number of states than it should"));
        }
        Ok(Self { number, sum, states, named: true, reader, index })
    }

    /// Bytes that it takes in memory.
    pub fn bytes(&self) -> u64 {
        self.index.bytes()
    }

    /// Has it written to the disk itself.
    pub fn sync(&self) -> Result<()> {
        self.reader.sync()
    }

    /// Removes the file.
    pub fn remove(&self) {
        // A file that stays is in nobody's way: the next resume removes what the manifest does not name.
        let _ = std::fs::remove_file(self.reader.path());
    }

    /// Says which of so many candidates are in the run; they are sorted.
    pub fn join<'k>(&self, count: usize, key: impl Fn(usize) -> &'k [u8], mut found: impl FnMut(usize)) -> Result<()> {
        let (mut at, mut from) = (0, 0);
        let mut payload = Vec::new();
        while at < count && from < self.index.blocks.len() {
            let Some(block) = self.index.find(from, key(at)) else {
                at += 1;
                continue;
            };
            self.reader.payload(&self.index.blocks[block], &mut payload)?;
            let whole = join_block(&payload, &mut at, count, &key, &mut found);
            whole.ok_or_else(|| Error::damaged(self.reader.path(), "a block makes no sense"))?;
            from = block + 1;
        }
        Ok(())
    }
}

/// The candidates up to the end of a block; `None` if the block is not one.
///
/// The state `k` is never put together: its first `shared` bytes are those of the candidate that it was compared with last, and `rest` follows.
fn join_block<'k>(
    payload: &[u8],
    at: &mut usize,
    count: usize,
    key: &impl Fn(usize) -> &'k [u8],
    found: &mut impl FnMut(usize),
) -> Option<()> {
    let mut items = Front { payload, at: 0 };
    let mut c = key(*at);
    let (mut m, mut length) = (0, 0);
    while items.at < payload.len() {
        let (shared, rest) = items.next_item().filter(|(shared, _)| *shared <= length)?;
        length = shared + rest.len();
        if shared > m {
            continue;
        }
        let before = c;
        m = shared + common_prefix(rest, &c[shared..]);
        loop {
            let next = if m < shared { before.get(m) } else { rest.get(m - shared) };
            let order = next.cmp(&c.get(m));
            if order == Ordering::Less {
                break;
            }
            if order == Ordering::Equal {
                found(*at);
            }
            *at += 1;
            if *at == count {
                return Some(());
            }
            c = key(*at);
            m = common_prefix(&before[..shared], c);
            if m == shared {
                m += common_prefix(rest, &c[shared..]);
            }
        }
    }
    Some(())
}

/// The states of a block: how much they share with the one before, and the rest.
struct Front<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Front<'a> {
    #[inline]
    fn next_item(&mut self) -> Option<(usize, &'a [u8])> {
        let both = *self.payload.get(self.at)?;
        self.at += 1;
        let (shared, length) = match both {
            LONG => (self.number()?, self.number()?),
            _ => (usize::from(both >> 4), usize::from(both & 15)),
        };
        let rest = self.payload.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some((shared, rest))
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..28).step_by(7) {
            let byte = *self.payload.get(self.at)?;
            self.at += 1;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

fn push_item(out: &mut Vec<u8>, shared: usize, rest: &[u8]) {
    match (shared as u8) << 4 | rest.len() as u8 {
        both if shared < 16 && rest.len() < 16 && both != LONG => out.push(both),
        _ => {
            out.push(LONG);
            push_number(out, shared);
            push_number(out, rest.len());
        }
    }
    out.extend_from_slice(rest);
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A run that is being written.
pub(crate) struct Writer {
    number: u64,
    file: Appender,
    payload: Vec<u8>,
    items: u32,
    first: Vec<u8>,
    last: Vec<u8>,
    states: u64,
    index: Index,
}

impl Writer {
    pub fn create(dir: &Path, number: u64) -> Result<Self> {
        let file = Appender::create(path(dir, number))?;
        let (first, last) = (Vec::new(), Vec::new());
        Ok(Self { number, file, payload: Vec::new(), items: 0, first, last, states: 0, index: Index::default() })
    }

    /// Appends a state that is larger than all before.
    pub fn push(&mut self, state: &[u8]) -> Result<()> {
        let shared = if self.items == 0 { 0 } else { common_prefix(&self.last, state) };
        if self.items == 0 {
            self.first.clear();
            self.first.extend_from_slice(state);
        }
        push_item(&mut self.payload, shared, &state[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&state[shared..]);
        self.items += 1;
        if self.payload.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        if self.items == 0 {
            return Ok(());
        }
        let block = self.file.append(&self.payload, self.items, self.states)?;
        self.index.push(block, &self.first);
        self.states += u64::from(self.items);
        self.items = 0;
        self.payload.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<Run> {
        self.end_block()?;
        let (sum, reader) = (self.file.sum(), self.file.reader()?);
        Ok(Run { number: self.number, sum, states: self.states, named: false, reader, index: self.index })
    }
}

/// One run in a merge.
struct Cursor<'r> {
    run: &'r Run,
    block: usize,
    payload: Vec<u8>,
    at: usize,
    state: Vec<u8>,
}

impl<'r> Cursor<'r> {
    /// Goes to the next state; false if there is none.
    fn advance(&mut self) -> Result<bool> {
        if self.at == self.payload.len() {
            let Some(block) = self.run.index.blocks.get(self.block) else { return Ok(false) };
            self.run.reader.payload(block, &mut self.payload)?;
            self.block += 1;
            self.at = 0;
        }
        let mut front = Front { payload: &self.payload, at: self.at };
        let item = front.next_item().filter(|(shared, _)| *shared <= self.state.len());
        let (shared, rest) = item.ok_or_else(|| Error::damaged(self.run.reader.path(), "a block makes no sense"))?;
        self.state.truncate(shared);
        self.state.extend_from_slice(rest);
        self.at = front.at;
        Ok(true)
    }
}

/// Writes the states of several runs, none of which is in two of them, as one.
pub(crate) fn merge(runs: &[Run], mut out: Writer) -> Result<Run> {
    let mut cursors = Vec::new();
    for run in runs {
        let mut cursor = Cursor { run, block: 0, payload: Vec::new(), at: 0, state: Vec::new() };
        if cursor.advance()? {
            cursors.push(cursor);
        }
    }
    while let Some(least) = (0..cursors.len()).min_by(|a, b| cursors[*a].state.cmp(&cursors[*b].state)) {
        out.push(&cursors[least].state)?;
        if !cursors[least].advance()? {
            cursors.swap_remove(least);
        }
    }
    out.finish()
}

//! Append-only files of checked blocks.
//!
//! A file is a sequence of blocks; a block has a header and a payload:
//!
//! ```text
//! length u32, items u32, first u64, checksum u64, payload       (little endian)
//! ```
//!
//! `items` and `first` are for the user of the file: how many items the payload has and the number of the first one. The checksum is over
//! the payload and the rest of the header.
//!
//! **Invariant:** a file never changes but at its end. Its [`Sum`] says how long it is and chains the checksums of all its blocks, so that a file
//! that was truncated, changed, or put together from others is noticed, and bytes behind that length (of a write that a crash interrupted) do not
//! count.

use std::fmt::{Display, Formatter};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};

/// Bytes of a block's header.
pub const HEADER: u64 = 24;
/// What must stay free on a disk, for the manifest and for others.
const RESERVE: u64 = 1 << 20;
/// Payloads are not longer than this.
const LONGEST: u32 = 1 << 28;

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum {
    /// Its length in bytes.
    pub length: u64,
    /// How many blocks it has.
    pub blocks: u64,
    /// The checksums of its blocks, chained.
    pub chain: u64,
}

impl Display for Sum {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.length, self.blocks, self.chain)
    }
}

impl FromStr for Sum {
    type Err = ();

    /// Reads what is displayed.
    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let words: Option<Vec<u64>> = text.split(' ').map(|word| word.parse().ok()).collect();
        match words.as_deref() {
            Some([length, blocks, chain]) => Ok(Self { length: *length, blocks: *blocks, chain: *chain }),
            _ => Err(()),
        }
    }
}

/// Where a block is and what it says about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// Where it starts.
    pub offset: u64,
    /// Bytes of its payload.
    pub length: u32,
    /// Items in it.
    pub items: u32,
    /// The number of the first item.
    pub first: u64,
    checksum: u64,
}

impl Block {
    /// Where the next block starts.
    pub fn end(&self) -> u64 {
        self.offset + HEADER + u64::from(self.length)
    }

    fn of(payload: &[u8], offset: u64, items: u32, first: u64) -> Self {
        let length = payload.len() as u32;
        Self { offset, length, items, first, checksum: checksum(payload, length, items, first) }
    }

    fn header(&self) -> [u8; HEADER as usize] {
        let mut bytes = [0; HEADER as usize];
        bytes[..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.items.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8; HEADER as usize], offset: u64) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let (length, items) = (word(0) as u32, (word(0) >> 32) as u32);
        Self { offset, length, items, first: word(8), checksum: word(16) }
    }
}

fn checksum(payload: &[u8], length: u32, items: u32, first: u64) -> u64 {
    let head = (u64::from(length) << 32 | u64::from(items)).to_le_bytes();
    xxh3_64_with_seed(payload, xxh3_64_with_seed(&head, first))
}

impl Sum {
    fn add(&mut self, block: &Block) {
        self.length = block.end();
        self.blocks += 1;
        self.chain = xxh3_64_with_seed(&block.checksum.to_le_bytes(), self.chain);
    }
}

/// A file that grows.
pub struct Appender {
    path: PathBuf,
    file: File,
    sum: Sum,
    buffer: Vec<u8>,
}

impl Appender {
    /// Makes a new file; one that is there is replaced.
    pub fn create(path: PathBuf) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|error| Error::io(&path, error))?;
        Ok(Self { path, file, sum: Sum::default(), buffer: Vec::new() })
    }

    /// Goes on with a file; what is behind the length in its sum is cut off.
    pub fn reopen(path: PathBuf, sum: Sum) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|error| Error::io(&path, error))?;
        let appender = Self { path, file, sum, buffer: Vec::new() };
        appender.cut()?;
        Ok(appender)
    }

    /// Appends a block.
    pub fn append(&mut self, payload: &[u8], items: u32, first: u64) -> Result<Block> {
        let block = Block::of(payload, self.sum.length, items, first);
        needs_space(&self.path, u64::from(block.length) + HEADER)?;
        self.buffer.clear();
        self.buffer.extend_from_slice(&block.header());
        self.buffer.extend_from_slice(payload);
        if let Err(error) = write_all_at(&self.file, &self.buffer, block.offset) {
            // Half a block is of no use; if it cannot be cut off, it is behind the length that counts.
            let _ = self.cut();
            return Err(Error::io(&self.path, error));
        }
        self.sum.add(&block);
        Ok(block)
    }

    /// Forgets what was appended after this.
    pub fn rewind(&mut self, sum: Sum) -> Result<()> {
        self.sum = sum;
        self.cut()
    }

    fn cut(&self) -> Result<()> {
        self.file.set_len(self.sum.length).map_err(|error| Error::io(&self.path, error))
    }

    /// Has everything written to the disk itself.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::io(&self.path, error))
    }

    /// What it holds.
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// The same file for reading.
    pub fn reader(&self) -> Result<Reader> {
        let file = self.file.try_clone().map_err(|error| Error::io(&self.path, error))?;
        Ok(Reader { path: self.path.clone(), file })
    }
}

/// A file that is read.
pub struct Reader {
    path: PathBuf,
    file: File,
}

impl Reader {
    /// Opens a file.
    pub fn open(path: PathBuf) -> Result<Self> {
        let file = File::open(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Self { path, file })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has everything that was written to it put on the disk itself.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::io(&self.path, error))
    }

    /// The header of the block at this offset, if all of the block is before `end`. The checksum is not looked at.
    pub fn header(&self, offset: u64, end: u64) -> Result<Block> {
        let mut bytes = [0; HEADER as usize];
        if offset.checked_add(HEADER).is_none_or(|behind| behind > end) {
            return Err(Error::damaged(&self.path, format!("it ends in the middle of a block, at byte {offset}")));
        }
        self.read(&mut bytes, offset)?;
        let block = Block::parse(&bytes, offset);
        if block.length > LONGEST || block.end() > end {
            return Err(Error::damaged(&self.path, format!("the block at byte {offset} does not fit the file")));
        }
        Ok(block)
    }

    /// Reads the payload of a block and looks whether it is what was written.
    pub fn payload(&self, block: &Block, payload: &mut Vec<u8>) -> Result<()> {
        payload.resize(block.length as usize, 0);
        self.read(payload, block.offset + HEADER)?;
        if checksum(payload, block.length, block.items, block.first) != block.checksum {
            let what = format!("the block at byte {} is not what was written", block.offset);
            return Err(Error::damaged(&self.path, what));
        }
        Ok(())
    }

    /// Reads the whole file and visits all blocks; an error if it is not what its sum says.
    pub fn verify(&self, sum: Sum, mut visit: impl FnMut(&Block, &[u8]) -> Result<()>) -> Result<()> {
        let actual = self.file.metadata().map_err(|error| Error::io(&self.path, error))?.len();
        if actual < sum.length {
            let what = format!("it has {actual} bytes and should have {}", sum.length);
            return Err(Error::damaged(&self.path, what));
        }
        let mut found = Sum::default();
        let mut payload = Vec::new();
        while found.length < sum.length {
            let block = self.header(found.length, sum.length)?;
            self.payload(&block, &mut payload)?;
            found.add(&block);
            visit(&block, &payload)?;
        }
        if found != sum {
            return Err(Error::damaged(&self.path, "its blocks are not those that the manifest knows"));
        }
        Ok(())
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        read_exact_at(&self.file, buffer, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::damaged(&self.path, "it is shorter than it was"),
            _ => Error::io(&self.path, error),
        })
    }
}

/// An error if writing this many bytes would fill the disk.
pub fn needs_space(path: &Path, bytes: u64) -> Result<()> {
    match free_space(path) {
        Some(free) if free < bytes + RESERVE => Err(Error::Full { path: path.to_owned(), limited: false }),
        _ => Ok(()),
    }
}

/// How many bytes are free on the disk of a file, where that is known.
#[cfg(unix)]
pub fn free_space(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// How many bytes are free on the disk of a file, where that is known.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Makes a directory, if it is not there, that is there after a crash, too.
pub fn make_dir(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(dir).map_err(|error| Error::io(dir, error))?;
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_dir(parent.unwrap_or(Path::new(".")))
}

/// The names of what is in a directory, in order; none if there is no such directory.
pub fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Error::io(dir, error))?,
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.file_name().into_string().ok());
    let names: std::io::Result<Vec<Option<String>>> = entries.map(name).collect();
    let mut names: Vec<String> = names.map_err(|error| Error::io(dir, error))?.into_iter().flatten().collect();
    names.sort();
    Ok(names)
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Has the names in a directory written to the disk itself.
pub fn sync_dir(dir: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        return synced.map_err(|error| Error::io(dir, error));
    }
    Ok(())
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all_at(file: &File, buffer: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_all_at(file: &File, mut buffer: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, buffer, offset)?;
        buffer = &buffer[written..];
        offset += written as u64;
    }
    Ok(())
}

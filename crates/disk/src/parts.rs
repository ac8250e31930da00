//! What the numbers in packed states mean: all that a [`Packing`] has learnt, in order, in a file that grows.
//!
//! **Invariant:** before a state is in the log, everything that it takes to unpack it is in this file. So whatever part of the log a manifest names, the
//! part of this file that it names is enough for it.

use std::path::{Path, PathBuf};

use cyrano_checkpoint::files::{Appender, Reader, Sum};
use cyrano_checkpoint::{Error, Result};
use cyrano_explore::{Packing, Space};

/// Bytes of a block's payload, about.
const BLOCK: usize = 1 << 16;

/// The file.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("parts")
}

/// The file as it is written.
pub(crate) struct Parts {
    file: Appender,
    /// How many things are in it.
    written: usize,
    payload: Vec<u8>,
}

impl Parts {
    pub fn create(dir: &Path) -> Result<Self> {
        Ok(Self { file: Appender::create(path(dir))?, written: 0, payload: Vec::new() })
    }

    /// Goes on with a file that was [read](read).
    pub fn reopen(dir: &Path, sum: Sum, packing: &Packing<'_>) -> Result<Self> {
        Ok(Self { file: Appender::reopen(path(dir), sum)?, written: packing.learnt(), payload: Vec::new() })
    }

    /// Appends what was learnt since the last time.
    pub fn update(&mut self, packing: &Packing<'_>) -> Result<()> {
        while self.written < packing.learnt() {
            self.payload.clear();
            let written = packing.export(self.written, BLOCK, &mut self.payload);
            self.file.append(&self.payload, (written - self.written) as u32, self.written as u64)?;
            self.written = written;
        }
        Ok(())
    }

    pub fn sum(&self) -> Sum {
        self.file.sum()
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }
}

/// Reads the file, which must be what its sum says.
pub(crate) fn read<'s>(dir: &Path, sum: Sum, space: &'s Space<'s>) -> Result<Packing<'s>> {
    let reader = Reader::open(path(dir))?;
    let senseless = || Error::damaged(&path(dir), "it makes no sense");
    let mut packing = space.empty_packing().ok_or_else(senseless)?;
    reader.verify(sum, |block, payload| {
        let starts = block.first == packing.learnt() as u64;
        let learnt = starts && packing.import(payload);
        let ends = packing.learnt() as u64 == block.first + u64::from(block.items);
        if learnt && ends { Ok(()) } else { Err(senseless()) }
    })?;
    Ok(packing)
}

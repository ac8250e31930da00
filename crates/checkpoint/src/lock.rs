//! One process at a time in a directory.
//!
//! The operating system keeps the lock, so that of a process that has died none is left; the file says whose it is for those who wait.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// The name of the file.
pub const NAME: &str = "lock";

/// A directory that nobody else uses.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes a directory, or says who has it.
    pub fn take(dir: &Path) -> Result<Self> {
        let path = dir.join(NAME);
        let failed = |error| Error::io(&path, error);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::InUse { dir: dir.to_owned(), process: owner(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Who has it is for messages only, so a full disk is no reason to stop.
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = writeln!(file, "{}", std::process::id());
        Ok(Self { _file: file })
    }
}

/// Who has the lock, for a message.
fn owner(file: &mut File) -> String {
    let mut text = String::new();
    let number = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok());
    number.map_or_else(String::new, |number| format!(" (process {number})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_user_and_a_dead_one_does_not_count() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        // A lock file of a process that is gone.
        std::fs::write(dir.path().join(NAME), "4000000\n").expect("it can be written");
        let first = Lock::take(dir.path()).expect("nobody has it");
        let why = Lock::take(dir.path()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains(&format!("process {}", std::process::id())), "{why}");
        drop(first);
        assert!(Lock::take(dir.path()).is_ok());
    }
}

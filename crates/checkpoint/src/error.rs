//! What keeps a search from starting or from going on.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no answer.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be read or written.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no room on the disk.
    Full {
        /// Of which there is none below this directory.
        path: PathBuf,
        /// Whether it is not the disk that is full, but a file as large as this process may make one.
        limited: bool,
    },
    /// A file is not what was written.
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The checkpoint is of another search: what differs, one line each.
    Different(Vec<String>),
    /// Another process uses the directory.
    InUse {
        /// The directory.
        dir: PathBuf,
        /// The process, as far as it is known.
        process: String,
    },
    /// There is a checkpoint, and nobody asked to go on from it.
    Occupied(PathBuf),
    /// There is nothing to go on from.
    NoCheckpoint(PathBuf),
    /// Such a question cannot be asked.
    Unsupported(String),
}

/// What may fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A file cannot be read or written; a full disk is told apart.
    pub fn io(path: &Path, error: std::io::Error) -> Self {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded => Self::Full { path: path.to_owned(), limited: false },
            FileTooLarge => Self::Full { path: path.to_owned(), limited: true },
            _ => Self::Io { path: path.to_owned(), error },
        }
    }

    /// A file is not what was written.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Full { path, limited: false } => write!(f, "{}: the disk is full", path.display()),
            Self::Full { path, limited: true } => {
                write!(f, "{}: the file is as large as files of this process may be (ulimit -f)", path.display())
            }
            Self::Damaged { path, what } => {
                write!(f, "{}: the checkpoint is damaged and cannot be used: {what}", path.display())
            }
            Self::Different(lines) => {
                write!(f, "the checkpoint is of another search and cannot be resumed:")?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            Self::InUse { dir, process } => {
                write!(f, "{}: another process uses this directory{process}", dir.display())
            }
            Self::Occupied(dir) => write!(
                f,
                "{}: there is a checkpoint in this directory; go on from it with --resume, or name another directory",
                dir.display()
            ),
            Self::NoCheckpoint(dir) => write!(f, "{}: there is no checkpoint to resume", dir.display()),
            Self::Unsupported(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

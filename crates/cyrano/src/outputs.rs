//! Files that a run writes besides its result.
//!
//! **Invariants:** no output is a file that this process has read ([`source::inputs`]), by whatever name; none but a repaired source has the ending of a
//! source file; no two outputs are one file. This and whether an output can be written is found out before the search. Afterwards everything that can be
//! written is written, what cannot is reported, and neither changes the exit code of a verdict: only 0 becomes that of bad usage.
//!
//! A file is written beside its place and renamed, so a run that fails leaves an older file as it was.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cyrano_report::{Style, plain_json};
use cyrano_session::Failure;

use crate::args::{Format, OutputArgs};
use crate::failure::{self, BAD_INPUT};
use crate::{console, source};

/// Endings of files that people write by hand.
const SOURCES: [&str; 9] = ["rml", "c", "i", "h", "litmus", "tests", "model", "cat", "history"];

/// More links one behind the other are a circle.
const MOST_LINKS: usize = 40;

/// Everything that one run writes.
pub struct Outputs {
    quiet: bool,
    format: Format,
    claimed: Mutex<Vec<(String, FileName)>>,
    failed: AtomicBool,
}

impl Outputs {
    /// Nothing so far.
    pub fn new(output: &OutputArgs) -> Self {
        Self { format: output.format, ..Self::quiet(output.quiet) }
    }

    /// Nothing so far; `quiet` leaves out remarks, never failures.
    pub fn quiet(quiet: bool) -> Self {
        Self { quiet, format: Format::Text, claimed: Mutex::new(Vec::new()), failed: AtomicBool::new(false) }
    }

    /// The same without a remark for each file.
    pub fn silent(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// Makes sure that a file can be written later, for this option. All inputs have to be read by then.
    pub fn claim(&self, option: &str, path: Option<&Path>) -> Result<(), Failure> {
        let Some(path) = path else { return Ok(()) };
        let is_source = |ending: &str| SOURCES.iter().any(|source| source.eq_ignore_ascii_case(ending));
        if path.extension().and_then(OsStr::to_str).is_some_and(is_source) {
            let why = "a source file has such a name, and none is overwritten; name another file";
            return Err(Failure::input(format!("{option} {}: {why}", path.display())));
        }
        self.claim_source(option, Some(path))
    }

    /// The same for a file that may be a source.
    pub fn claim_source(&self, option: &str, path: Option<&Path>) -> Result<(), Failure> {
        let Some(path) = path else { return Ok(()) };
        let refused = |why: &str| Failure::input(format!("{option} {}: {why}", path.display()));
        let failed = |error: io::Error| refused(&format!("cannot be written: {error}"));
        let name = FileName::new(path).map_err(failed)?;
        self.allow(option, &name).map_err(|why| refused(&why))?;
        try_out(path, &name.resolved).map_err(failed)?;
        self.claimed().push((option.to_owned(), name));
        Ok(())
    }

    /// Whether a file may be written for an option that has this name; `Err` says why not.
    fn allow(&self, option: &str, name: &FileName) -> Result<(), String> {
        if source::inputs().iter().any(|input| name.is(input)) {
            return Err("this is an input of the same run, and would be destroyed; name another file".to_owned());
        }
        let claimed = self.claimed();
        match claimed.iter().find(|(_, other)| !name.is_device() && name.is(other)) {
            Some((other, _)) if other != option => Err(format!("{other} names the same file")),
            _ => Ok(()),
        }
    }

    fn claimed(&self) -> std::sync::MutexGuard<'_, Vec<(String, FileName)>> {
        self.claimed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Writes a file and says so, or reports that it cannot be written; `what` is what is in it. Whether it is there now.
    pub fn save(&self, option: &str, path: &Path, what: &str, text: &str) -> bool {
        let saved = FileName::new(path).map_err(|error| error.to_string()).and_then(|name| {
            self.allow(option, &name)?;
            write(path, &name.resolved, text.as_bytes()).map_err(|error| error.to_string())
        });
        match &saved {
            Ok(()) if !self.quiet => console::error(&format!("{what} {}", path.display())),
            Ok(()) => {}
            Err(why) => self.fail(&format!("{}: cannot be written: {why}", path.display())),
        }
        saved.is_ok()
    }

    /// Writes the result to standard output, or reports that it cannot be written.
    pub fn print(&self, text: &str) {
        let printed = match self.format {
            Format::Text => console::print(text),
            Format::Json | Format::Sarif => console::print_raw(&plain_json(text)),
            Format::Junit => console::print_raw(text),
        };
        if let Err(failure) = printed {
            self.failed.store(true, Ordering::SeqCst);
            console::error(&failure::message(&failure, false));
        }
    }

    /// Writes the result of a command that has text and JSON only: the others are refused before anything is done.
    pub fn plain(&self, output: &OutputArgs, json: impl FnOnce() -> String, text: impl FnOnce(bool, Style) -> String) {
        self.print(&match output.format {
            Format::Json => json(),
            _ => text(!output.quiet, console::style(output)),
        });
    }

    /// Reports that something could not be written.
    pub fn fail(&self, what: &str) {
        self.failed.store(true, Ordering::SeqCst);
        console::error(&format!("error: {what}"));
    }

    /// The exit code of a run whose verdict has this one.
    pub fn exit(&self, verdict: u8) -> u8 {
        if verdict == 0 && self.failed.load(Ordering::SeqCst) { BAD_INPUT } else { verdict }
    }
}

/// A file, whether it is there or not, by what it is and not by how it is spelt.
#[derive(Clone, Debug)]
pub struct FileName {
    resolved: PathBuf,
    id: Option<(u64, u64)>,
}

impl FileName {
    /// The file of a path. Links are followed, even to where there is nothing yet.
    pub fn new(path: &Path) -> io::Result<Self> {
        let special = fs::metadata(path).ok().filter(|data| !data.is_file() && !data.is_dir());
        if let Some(data) = special {
            // A pipe has no other name than this one.
            return Ok(Self { resolved: path.to_owned(), id: id(&data) });
        }
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            match fs::canonicalize(&path) {
                Ok(resolved) => {
                    let id = fs::metadata(&resolved).ok().and_then(|data| id(&data));
                    return Ok(Self { resolved, id });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            match fs::read_link(&path) {
                Ok(target) => path = parent.join(target),
                Err(_) => {
                    let name = path.file_name().ok_or_else(|| io::Error::from(ErrorKind::IsADirectory))?;
                    return Ok(Self { resolved: fs::canonicalize(parent)?.join(name), id: None });
                }
            }
        }
        Err(io::Error::other("too many links"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.resolved
    }

    fn is(&self, other: &Self) -> bool {
        self.resolved == other.resolved || self.id.is_some() && self.id == other.id
    }

    /// Whether it is there and no plain file: what is written to it destroys nothing.
    fn is_device(&self) -> bool {
        fs::metadata(&self.resolved).is_ok_and(|data| !data.is_file() && !data.is_dir())
    }
}

/// What tells a file from all others while it exists.
#[cfg(unix)]
fn id(data: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn id(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Whether it names something that is open already (`/dev/stdout`, `/dev/fd/3`), or a device: such a thing is written to as it is.
fn is_special(path: &Path, resolved: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc") || fs::metadata(resolved).is_ok_and(|data| !data.is_file())
}

/// Finds out whether a file can be written, and leaves everything as it was.
fn try_out(path: &Path, resolved: &Path) -> io::Result<()> {
    match fs::metadata(resolved) {
        Ok(data) if data.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
        // Nobody may be at the other end of a pipe yet.
        Ok(_) if is_special(path, resolved) => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(resolved).map(drop),
        Err(_) => match File::create_new(resolved) {
            Ok(_) => fs::remove_file(resolved),
            // Another process with the same output was quicker.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
    }
}

/// Writes a whole file, or leaves an older one as it was.
fn write(path: &Path, resolved: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_special(path, resolved) {
        return OpenOptions::new().append(true).open(path)?.write_all(bytes);
    }
    let Ok((unfinished, mut file)) = beside(resolved) else {
        // A folder that nobody may add files to can have a file that may be written.
        return fs::write(resolved, bytes);
    };
    let written = file.write_all(bytes).and_then(|()| {
        if let Ok(older) = fs::metadata(resolved) {
            keep_owner(&file, &older);
        }
        fs::rename(&unfinished, resolved)
    });
    if written.is_err() {
        // What cannot be removed is at least not taken for the output.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// The new file belongs to whom the older one belonged, with the same rights, as far as that is in our power.
fn keep_owner(file: &File, older: &fs::Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let _ = std::os::unix::fs::fchown(file, Some(older.uid()), Some(older.gid()));
    }
    let _ = file.set_permissions(older.permissions());
}

/// A new file in the same folder.
fn beside(resolved: &Path) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = resolved.with_file_name(format!(".cyrano-{}-{number}.new", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

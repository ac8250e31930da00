//! Reading files. Whatever is wrong with one is said in a sentence, before any front end sees it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

use cyrano_session::{Failure, Files, Source};

use crate::inputs;
use crate::library;
use crate::outputs::FileName;

/// Every file that this process has read.
static READ: Mutex<Vec<FileName>> = Mutex::new(Vec::new());

/// No program or model needs to be larger; anything that is was probably given by mistake.
pub const MAX_BYTES: u64 = 2 << 20;

/// Traces carry their program and grow with the execution.
const MAX_TRACE_BYTES: u64 = 64 << 20;

/// Larger certificates are not read.
const MAX_CERTIFICATE_BYTES: u64 = 1 << 29;

/// Files of this machine, and the built-in library.
pub struct Disk;

impl Files for Disk {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let source = history(name)?;
        match Path::new(&source.name).extension().and_then(|ending| ending.to_str()) {
            Some(ending) if PROGRAMS.contains(&ending) => Ok(source),
            _ => Err(Failure::input(format!(
                "{}: the ending does not say which language this is; expected `.rml`, `.c` or `.litmus`",
                source.name
            ))),
        }
    }

    fn beside(&self, source: &Source, name: &str) -> Result<Source, Failure> {
        match (&source.dir, source.name.strip_prefix("lib:")) {
            (Some(dir), _) => file(&dir.join(name)),
            (None, Some(entry)) => {
                let path = Path::new(entry).with_file_name(name);
                let path = path.to_string_lossy();
                let found = library::file(&path);
                let found = found.ok_or_else(|| Failure::input(format!("lib:{path}: the library has no such file")))?;
                Ok(Source { name: format!("lib:{path}"), text: found.text.to_owned(), dir: None })
            }
            (None, None) => Err(Failure::input(format!("{name}: there is no such file"))),
        }
    }
}

/// The endings that name a language of programs.
pub const PROGRAMS: [&str; 4] = ["rml", "c", "i", "litmus"];

/// Reads a history: a path, an entry of the built-in library, or what standard input held.
pub fn history(name: &str) -> Result<Source, Failure> {
    if let Some(source) = inputs::given(name) {
        return Ok(source);
    }
    match name.strip_prefix("lib:") {
        Some(entry) => library::find(entry),
        None => file(Path::new(name)),
    }
}

/// Reads a program, model or history file.
pub fn file(path: &Path) -> Result<Source, Failure> {
    read(path, MAX_BYTES)
}

/// Reads a saved trace.
pub fn trace(path: &Path) -> Result<Source, Failure> {
    read(path, MAX_TRACE_BYTES)
}

/// Reads a certificate.
pub fn certificate(path: &Path) -> Result<Source, Failure> {
    read(path, MAX_CERTIFICATE_BYTES)
}

/// Notes that a file is an input, so that no output takes its place.
pub fn is_input(path: &Path) {
    // What cannot be found cannot be read, either.
    if let Ok(name) = FileName::new(path) {
        let mut read = READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if read.iter().all(|known| known.path() != name.path()) {
            read.push(name);
        }
    }
}

/// Every file that was read so far.
pub fn inputs() -> Vec<FileName> {
    READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

fn read(path: &Path, limit: u64) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let fail = |what: String| Failure::input(format!("{name}: {what}"));
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => fail("there is no such file".to_owned()),
        _ => fail(format!("cannot be read: {error}")),
    };
    if std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Err(fail("this is a folder; expected a file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    is_input(path);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = text(&name, bytes, limit)?;
    Ok(Source { name, text, dir: Some(path.parent().unwrap_or(Path::new("")).to_owned()) })
}

/// What a file of this name holds, if it is a text that is not too large.
pub fn text(name: &str, bytes: Vec<u8>, limit: u64) -> Result<String, Failure> {
    let fail = |what: String| Failure::input(format!("{name}: {what}"));
    if bytes.len() as u64 > limit {
        return Err(fail(format!("the file is too large; at most {} MiB are read", limit >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        fail(format!("the file is not UTF-8 text (first bad byte at offset {}, line {line})", valid.len()))
    })
}

//! What a command line names as its files: paths, folders, entries of the built-in library, and standard input.
//!
//! **Invariant:** names that come out of here name one file each, in order and each once, so that what reads them knows nothing of folders.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cyrano_session::{Failure, Source};

use crate::args::SourceLanguage;
use crate::library;
use crate::source;

/// How standard input is named on a command line.
const STANDARD_INPUT: &str = "-";

/// Deeper folders are links in a circle.
const MAX_DEPTH: usize = 32;

/// What came from standard input, which can be read but once.
static GIVEN: OnceLock<Source> = OnceLock::new();

/// The files of these names; whatever is wrong with any name is said at once. In folders, those with these endings are meant.
pub fn files(names: &[String], language: Option<SourceLanguage>, endings: &[&str]) -> Result<Vec<String>, Failure> {
    let found = Failure::all(names.iter().map(|name| expanded(name, language, endings)))?;
    let mut known = BTreeSet::new();
    Ok(found.into_iter().flatten().filter(|name| known.insert(name.clone())).collect())
}

/// The one file of this name, which is no folder.
pub fn file(name: &str, language: Option<SourceLanguage>) -> Result<String, Failure> {
    if name == STANDARD_INPUT { from_standard_input(language) } else { Ok(name.to_owned()) }
}

/// What standard input held, if this is its name.
pub fn given(name: &str) -> Option<Source> {
    GIVEN.get().filter(|source| source.name == name).cloned()
}

fn expanded(name: &str, language: Option<SourceLanguage>, endings: &[&str]) -> Result<Vec<String>, Failure> {
    if name == STANDARD_INPUT {
        return from_standard_input(language).map(|name| vec![name]);
    }
    let inside = match name.strip_prefix("lib:") {
        Some(entry) => in_library(entry, endings),
        None if Path::new(name).is_dir() => in_folder(Path::new(name), endings)?,
        None => return Ok(vec![name.to_owned()]),
    };
    match (inside.is_empty(), name.starts_with("lib:")) {
        (false, _) => Ok(inside),
        (true, true) => Ok(vec![name.to_owned()]),
        (true, false) => {
            let endings: Vec<String> = endings.iter().map(|ending| format!("`.{ending}`")).collect();
            Err(Failure::input(format!("{name}: there is no {} file in this folder", or(&endings))))
        }
    }
}

/// What stands in a folder of the library; nothing if it has no such folder.
fn in_library(entry: &str, endings: &[&str]) -> Vec<String> {
    let folder = format!("{}/", entry.trim_end_matches('/'));
    let inside = library::inside(&folder).into_iter().map(|entry| entry.name);
    inside.filter(|name| has_ending(Path::new(name), endings)).map(|name| format!("lib:{name}")).collect()
}

fn in_folder(folder: &Path, endings: &[&str]) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    walk(folder, endings, &mut files, 0)?;
    files.sort();
    Ok(files.iter().map(|file| file.display().to_string()).collect())
}

fn walk(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>, depth: usize) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::input(format!("{}: cannot be read: {error}", folder.display()));
    if depth > MAX_DEPTH {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            walk(&path, endings, files, depth + 1)?;
        } else if has_ending(&path, endings) {
            files.push(path);
        }
    }
    Ok(())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

/// Reads standard input, and says what it is called from now on.
fn from_standard_input(language: Option<SourceLanguage>) -> Result<String, Failure> {
    let language = language.ok_or_else(|| {
        Failure::input(
            "-: nothing says which language standard input is in; expected `--language rml`, `c` or `litmus`",
        )
    })?;
    if let Some(source) = GIVEN.get() {
        return Ok(source.name.clone());
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(source::MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::input(format!("-: cannot be read: {error}")))?;
    let text = source::text("-", bytes, source::MAX_BYTES)?;
    // Angle brackets as compilers have them; the ending says the language, as everywhere.
    let name = format!("<stdin>.{}", language.ending());
    let source = GIVEN.get_or_init(|| Source { name, text, dir: Some(PathBuf::new()) });
    Ok(source.name.clone())
}

/// `a, b or c`.
fn or(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

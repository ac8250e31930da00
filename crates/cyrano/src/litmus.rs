//! Litmus tests: from paths and folders to files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cyrano_session::{Failure, Source};

use crate::library;
use crate::source;

/// The tests that these paths name, in order, each once; whatever is wrong with any path is said at once.
pub fn gather(paths: &[String]) -> Result<Vec<Source>, Failure> {
    let found = Failure::all(paths.iter().map(|path| {
        let found = one(path)?;
        let none = || Failure::input(format!("{path}: there is no `.litmus` file here"));
        if found.is_empty() { Err(none()) } else { Ok(found) }
    }))?;
    let mut known = BTreeSet::new();
    Ok(found.into_iter().flatten().filter(|source| known.insert(source.name.clone())).collect())
}

fn one(path: &str) -> Result<Vec<Source>, Failure> {
    if let Some(entry) = path.strip_prefix("lib:") {
        let folder = format!("{}/", entry.trim_end_matches('/'));
        let inside = library::inside(&folder).into_iter().filter(|entry| entry.name.ends_with(".litmus"));
        let found: Vec<Source> = inside
            .map(|entry| Source { name: format!("lib:{}", entry.name), text: entry.text.to_owned(), dir: None })
            .collect();
        return if found.is_empty() { library::find(entry).map(|source| vec![source]) } else { Ok(found) };
    }
    let path = Path::new(path);
    if !path.is_dir() {
        return source::file(path).map(|source| vec![source]);
    }
    let mut files = Vec::new();
    walk(path, &mut files, 0)?;
    files.sort();
    files.iter().map(|file| source::file(file)).collect()
}

/// Deeper folders are links in a circle.
const MAX_DEPTH: usize = 32;

fn walk(dir: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::input(format!("{}: cannot be read: {error}", dir.display()));
    if depth > MAX_DEPTH {
        return Ok(());
    }
    for entry in std::fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            walk(&path, files, depth + 1)?;
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            files.push(path);
        }
    }
    Ok(())
}

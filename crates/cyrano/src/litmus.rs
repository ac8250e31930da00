//! Litmus tests: from a file to a test, and from a folder to files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cyrano_ir::Diagnostic;
use cyrano_litmus::Test;

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::library;
use crate::program::{self, Loaded};
use crate::source::{self, Source};

/// Compiles a test as a program, for commands that take any program.
pub fn compile(source: Source, set: &[(String, i128)], color: ColorChoice) -> Result<Loaded, Failure> {
    if let Some((name, _)) = set.first() {
        return Err(Failure::input(format!("{}: no constant `{name}` to set; litmus tests have none", source.name)));
    }
    match cyrano_litmus::compile(&source.text) {
        Ok(Test { program, .. }) => Ok(Loaded { source, set: Vec::new(), test: None, program, clients: None }),
        Err(errors) => Err(program::complain(&source, &errors, color)),
    }
}

/// The tests that these paths name, in order, each once; whatever is wrong with any path is said at once.
pub fn gather(paths: &[String]) -> Result<Vec<Source>, Failure> {
    let mut sources: Vec<Source> = Vec::new();
    let mut known = BTreeSet::new();
    let mut errors = Vec::new();
    for path in paths {
        match one(path) {
            Ok(found) if found.is_empty() => errors.push(format!("error: {path}: there is no `.litmus` file here")),
            Ok(found) => {
                sources.extend(found.into_iter().filter(|source| known.insert(source.name.clone())));
            }
            Err(failure) => errors.push(failure.message().to_owned()),
        }
    }
    if errors.is_empty() { Ok(sources) } else { Err(Failure::Input(errors.join("\n"))) }
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

/// Diagnostics as the reason of a refusal: every one in a line of its own, with line and column.
pub fn reason(source: &Source, errors: &[Diagnostic]) -> String {
    let line = |error: &Diagnostic| {
        let (line, column) = cyrano_litmus::line_column(&source.text, error.span.start as usize);
        format!("line {line}, column {column}: {}", error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

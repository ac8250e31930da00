//! The algorithms inside the binary.

use std::path::Path;

use include_dir::{Dir, File, include_dir};

use cyrano_ir::suggest;

use cyrano_session::Failure;
use cyrano_session::Source;

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/library");

/// How the names of programs and histories end.
const ENDINGS: [&str; 4] = [".rml", ".c", ".litmus", ".history"];

/// How the names of models end.
const MODEL: &str = ".cat";

/// One built-in file.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, such as `litmus/sb.rml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Every file of the library, sorted by name; the folders' index pages too.
pub fn files() -> Vec<Entry> {
    named().into_iter().filter_map(|(name, file)| entry(name, file)).collect()
}

/// The programs and histories of the library, sorted by name.
pub fn programs() -> Vec<Entry> {
    inside("")
}

/// The programs and histories whose names start like this, sorted by name.
pub fn inside(folder: &str) -> Vec<Entry> {
    let wanted = named().into_iter().filter(|(name, _)| name.starts_with(folder) && is_program(name));
    wanted.filter_map(|(name, file)| entry(name, file)).collect()
}

/// The file of exactly this name.
pub fn file(name: &str) -> Option<Entry> {
    named().into_iter().find(|(known, _)| *known == name).and_then(|(name, file)| entry(name, file))
}

/// The models of the library, sorted by name.
pub fn models() -> Vec<Entry> {
    let wanted = named().into_iter().filter(|(name, _)| name.ends_with(MODEL));
    wanted.filter_map(|(name, file)| entry(name, file)).collect()
}

/// Any file: by its name, with or without its ending, or by the last part of its name if only one file is called so.
pub fn find_any(name: &str) -> Result<Source, Failure> {
    let known = named();
    let stem = |known: &'static str| known.rsplit_once('.').map_or(known, |(stem, _)| stem);
    let last = |known: &'static str| known.rsplit_once('/').map_or(known, |(_, last)| last);
    // Where a program and what belongs to it have one stem, the program is meant.
    let ways: [&dyn Fn(&'static str) -> bool; 5] = [
        &|known| known == name,
        &|known| stem(known) == name && (is_program(known) || known.ends_with(MODEL)),
        &|known| stem(known) == name,
        &|known| last(known) == name || last(stem(known)) == name && (is_program(known) || known.ends_with(MODEL)),
        &|known| last(stem(known)) == name,
    ];
    for fits in ways {
        let found: Vec<_> = known.iter().filter(|(known, _)| fits(known)).collect();
        match found.as_slice() {
            [] => {}
            [(name, file)] => return entry(name, file).map(Entry::source).ok_or_else(|| unknown(name, &known)),
            several => return Err(ambiguous(name, &several.iter().map(|(name, _)| *name).collect::<Vec<_>>())),
        }
    }
    Err(unknown(name, &known))
}

/// The program or history of this name, with or without its ending.
pub fn find(name: &str) -> Result<Source, Failure> {
    let mut known = named();
    known.retain(|(name, _)| is_program(name));
    let stem = |known: &'static str| ENDINGS.iter().find_map(|ending| known.strip_suffix(ending));
    let wanted = |(known, _): &&(&'static str, _)| *known == name || stem(known) == Some(name);
    let found = known.iter().find(wanted).and_then(|(name, file)| entry(name, file));
    found.map(Entry::source).ok_or_else(|| unknown(name, &known))
}

impl Entry {
    fn source(self) -> Source {
        Source { name: format!("lib:{}", self.name), text: self.text.to_owned(), dir: None }
    }
}

/// The complaint about a name that nothing has. The last part of a name is what people remember.
fn unknown(name: &str, known: &[(&'static str, &'static File<'static>)]) -> Failure {
    let last = |known: &'static str| Path::new(known).file_stem().and_then(|stem| stem.to_str()).unwrap_or(known);
    let called: Vec<&str> = known.iter().map(|(known, _)| *known).filter(|known| last(known) == name).collect();
    let part = |known: &&'static str| known.contains(name) && !name.is_empty();
    let containing: Vec<&str> = known.iter().map(|(known, _)| *known).filter(part).take(5).collect();
    let near = suggest::closest(name, known.iter().map(|(name, _)| *name)).into_iter().collect::<Vec<_>>();
    let alike = suggest::closest(name, known.iter().map(|(name, _)| last(name)));
    let alike = known.iter().map(|(known, _)| *known).filter(|known| alike == Some(last(known))).collect();
    let near =
        [called, near, containing, alike].into_iter().find(|names: &Vec<&str>| !names.is_empty()).unwrap_or_default();
    let near = near.iter().map(|near| format!("`lib:{near}`")).collect::<Vec<_>>().join(" or ");
    let help = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
    Failure::input(format!("lib:{name}: the library has no such file{help} (`cyrano library list` lists them)"))
}

fn ambiguous(name: &str, several: &[&str]) -> Failure {
    let several = several.iter().map(|name| format!("`lib:{name}`")).collect::<Vec<_>>().join(", ");
    Failure::input(format!("lib:{name}: the library has several files of this name: {several}"))
}

fn is_program(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The names of all files, sorted. Texts are looked at only where they are wanted: to go through all of them takes longer than a small check.
fn named() -> Vec<(&'static str, &'static File<'static>)> {
    let mut files = Vec::new();
    collect(&LIBRARY, &mut files);
    files.sort_unstable_by_key(|(name, _)| *name);
    files
}

fn collect(dir: &'static Dir<'static>, files: &mut Vec<(&'static str, &'static File<'static>)>) {
    files.extend(dir.files().filter_map(|file| Some((file.path().to_str()?, file))));
    dir.dirs().for_each(|dir| collect(dir, files));
}

fn entry(name: &'static str, file: &'static File<'static>) -> Option<Entry> {
    file.contents_utf8().map(|text| Entry { name, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_and_without_ending() {
        let name = |name: &str| find(name).map(|source| source.name).ok();
        assert_eq!(name("litmus/sb.rml").as_deref(), Some("lib:litmus/sb.rml"));
        assert_eq!(name("litmus/sb").as_deref(), Some("lib:litmus/sb.rml"));
        assert_eq!(name("litmus/none"), None);
        let failure = find("litmus/sbb.rml").expect_err("there is no such file");
        assert!(format!("{failure:?}").contains("did you mean"), "{failure:?}");
    }
}

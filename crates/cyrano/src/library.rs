//! The algorithms inside the binary.

use include_dir::{Dir, include_dir};

use cyrano_ir::suggest;

use crate::failure::Failure;
use crate::source::Source;

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../library");

/// How the names of programs and histories end.
const ENDINGS: [&str; 4] = [".rml", ".c", ".litmus", ".history"];

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
    let mut entries = Vec::new();
    collect(&LIBRARY, &mut entries);
    entries.sort_by_key(|entry| entry.name);
    entries
}

/// The programs and histories of the library, sorted by name.
pub fn programs() -> Vec<Entry> {
    files().into_iter().filter(|entry| ENDINGS.iter().any(|ending| entry.name.ends_with(ending))).collect()
}

/// The program or history of this name, with or without its ending.
pub fn find(name: &str) -> Result<Source, Failure> {
    let programs = programs();
    let stem = |entry: &Entry| ENDINGS.iter().find_map(|ending| entry.name.strip_suffix(ending));
    let wanted = |entry: &&Entry| entry.name == name || stem(entry) == Some(name);
    if let Some(entry) = programs.iter().find(wanted) {
        return Ok(Source { name: format!("lib:{}", entry.name), text: entry.text.to_owned(), dir: None });
    }
    let near = suggest::closest(name, programs.iter().map(|entry| entry.name));
    let help = near.map(|near| format!("; did you mean `lib:{near}`?")).unwrap_or_default();
    Err(Failure::input(format!("lib:{name}: the library has no such file{help} (`cyrano library list` lists them)")))
}

fn collect(dir: &'static Dir<'_>, entries: &mut Vec<Entry>) {
    for file in dir.files() {
        if let (Some(name), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
            entries.push(Entry { name, text });
        }
    }
    for dir in dir.dirs() {
        collect(dir, entries);
    }
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
        let message = find("litmus/sbb.rml").expect_err("there is no such file");
        assert!(message.message().contains("did you mean"), "{}", message.message());
    }
}

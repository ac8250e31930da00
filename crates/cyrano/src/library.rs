//! The algorithms inside the binary.

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

/// The program, history or model of this name, with or without its ending.
pub fn find_any(name: &str) -> Result<Source, Failure> {
    let model = file(name).or_else(|| file(&format!("{name}{MODEL}"))).filter(|entry| entry.name.ends_with(MODEL));
    match model {
        Some(entry) => Ok(Source { name: format!("lib:{}", entry.name), text: entry.text.to_owned(), dir: None }),
        None => find(name),
    }
}

/// The program or history of this name, with or without its ending.
pub fn find(name: &str) -> Result<Source, Failure> {
    let mut known = named();
    known.retain(|(name, _)| is_program(name));
    let stem = |known: &'static str| ENDINGS.iter().find_map(|ending| known.strip_suffix(ending));
    let wanted = |(known, _): &&(&'static str, _)| *known == name || stem(known) == Some(name);
    if let Some(entry) = known.iter().find(wanted).and_then(|(name, file)| entry(name, file)) {
        return Ok(Source { name: format!("lib:{}", entry.name), text: entry.text.to_owned(), dir: None });
    }
    let near = suggest::closest(name, known.iter().map(|(name, _)| *name));
    let help = near.map(|near| format!("; did you mean `lib:{near}`?")).unwrap_or_default();
    Err(Failure::input(format!("lib:{name}: the library has no such file{help} (`cyrano library list` lists them)")))
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

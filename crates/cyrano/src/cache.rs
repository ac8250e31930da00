//! Serial observations that were mined before, kept by content.
//!
//! Mining depends on nothing but the program (and this very build), so an entry holds the whole program in its text form and is
//! used only if that is the same, letter by letter. Only complete sets are kept. An entry begins with the version of its form and a checksum (SHA-256)
//! of everything behind it: one changed digit would turn a correct program into a violated one. Whatever is wrong with the folder or a file
//! in it, the observations are mined again and nobody is bothered.
//!
//! The folder is `$CYRANO_CACHE`, or `cyrano` in the user's cache folder; `CYRANO_CACHE=off` does without.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use cyrano_ir::Program;
use cyrano_session::Store;
use sha2::{Digest, Sha256};

/// The form of an entry, with its version.
const HEAD: &str = "cyrano serial observations 2";

/// The folder.
pub struct Cache;

impl Store for Cache {
    fn get(&self, program: &Program) -> Option<BTreeSet<Vec<i128>>> {
        let text = text(program)?;
        let kept = fs::read_to_string(place(&text)?).ok()?;
        parse(&kept, &text, program.observed.len())
    }

    fn put(&self, program: &Program, observations: &BTreeSet<Vec<i128>>) {
        let _ = try_store(program, observations);
    }
}

fn try_store(program: &Program, observations: &BTreeSet<Vec<i128>>) -> Option<()> {
    let text = text(program)?;
    let place = place(&text)?;
    fs::create_dir_all(place.parent()?).ok()?;
    let out = print(&text, observations);
    // Somebody else may be reading or writing the same entry.
    let unfinished = place.with_extension(format!("{}.new", std::process::id()));
    fs::write(&unfinished, out).ok()?;
    fs::rename(&unfinished, &place).ok()
}

/// An entry.
fn print(text: &str, observations: &BTreeSet<Vec<i128>>) -> String {
    let mut body = format!("{}\n", observations.len());
    for row in observations {
        let row: Vec<String> = row.iter().map(ToString::to_string).collect();
        body.push_str(&row.join(" "));
        body.push('\n');
    }
    body.push_str(text);
    format!("{HEAD}\n{}\n{body}", checksum(&body))
}

fn checksum(body: &str) -> String {
    Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the observations depend on: this build and the program.
fn text(program: &Program) -> Option<String> {
    let binary = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = binary.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    let version = env!("CARGO_PKG_VERSION");
    Some(format!("{version} {} {built}\n{}", binary.len(), cyrano_ir::text::print(program)))
}

fn place(text: &str) -> Option<PathBuf> {
    Some(folder()?.join(format!("{}.observations", checksum(text))))
}

fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = variable("CYRANO_CACHE") {
        return (folder != "off").then(|| folder.into());
    }
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?.join("cyrano"))
}

/// Reads an entry; none if it is about another program or not whole.
fn parse(kept: &str, text: &str, columns: usize) -> Option<BTreeSet<Vec<i128>>> {
    let rest = kept.strip_prefix(HEAD)?.strip_prefix('\n')?;
    let (sum, body) = rest.split_once('\n')?;
    (sum == checksum(body)).then_some(())?;
    let (count, mut rest) = body.split_once('\n')?;
    let count: usize = count.parse().ok()?;
    let mut observations = BTreeSet::new();
    for _ in 0..count {
        let (row, after) = rest.split_once('\n')?;
        let row: Vec<i128> = row.split_whitespace().map(|value| value.parse().ok()).collect::<Option<_>>()?;
        (row.len() == columns).then_some(())?;
        observations.insert(row);
        rest = after;
    }
    (rest == text && observations.len() == count).then_some(observations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_entries_of_the_same_program_count() {
        let rows = BTreeSet::from([vec![0, 1], vec![-3, 4]]);
        let entry = print("program x\n", &rows);
        assert_eq!(parse(&entry, "program x\n", 2), Some(rows));
        assert_eq!(parse(&entry, "program y\n", 2), None, "another program");
        assert_eq!(parse(&entry, "program x\n", 3), None, "other columns");
        for end in 0..entry.len() {
            assert_eq!(parse(&entry[..end], "program x\n", 2), None, "cut off at {end}");
        }
        for at in 0..entry.len() {
            let mut damaged = entry.clone().into_bytes();
            damaged[at] = if damaged[at] == b'5' { b'6' } else { b'5' };
            let damaged = String::from_utf8(damaged).expect("entries are ASCII");
            assert_eq!(parse(&damaged, "program x\n", 2), None, "changed at {at}");
        }
        let older = entry.replace("observations 2", "observations 1");
        assert_eq!(parse(&older, "program x\n", 2), None, "another version");
    }
}

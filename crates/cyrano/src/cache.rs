//! Serial observations that were mined before, kept by content.
//!
//! Mining depends on nothing but the program (and this very build), so an entry holds the whole program in its text form and is
//! used only if that is the same, letter by letter. Only complete sets are kept. Whatever is wrong with the folder or a file
//! in it, the observations are mined again and nobody is bothered.
//!
//! The folder is `$CYRANO_CACHE`, or `cyrano` in the user's cache folder; `CYRANO_CACHE=off` does without.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use cyrano_ir::Program;

const HEAD: &str = "cyrano serial observations 1";

/// The observations of a program, if they are kept.
pub fn load(program: &Program) -> Option<BTreeSet<Vec<i128>>> {
    let text = text(program)?;
    let kept = fs::read_to_string(place(&text)?).ok()?;
    parse(&kept, &text, program.observed.len())
}

/// Keeps all observations of a program.
pub fn store(program: &Program, observations: &BTreeSet<Vec<i128>>) {
    let _ = try_store(program, observations);
}

fn try_store(program: &Program, observations: &BTreeSet<Vec<i128>>) -> Option<()> {
    let text = text(program)?;
    let place = place(&text)?;
    fs::create_dir_all(place.parent()?).ok()?;
    let mut out = format!("{HEAD}\n{}\n", observations.len());
    for row in observations {
        let row: Vec<String> = row.iter().map(i128::to_string).collect();
        out.push_str(&row.join(" "));
        out.push('\n');
    }
    out.push_str(&text);
    // Somebody else may be reading or writing the same entry.
    let unfinished = place.with_extension(format!("{}.new", std::process::id()));
    fs::write(&unfinished, out).ok()?;
    fs::rename(&unfinished, &place).ok()
}

/// What the observations depend on: this build and the program.
fn text(program: &Program) -> Option<String> {
    let binary = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = binary.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    let version = env!("CARGO_PKG_VERSION");
    Some(format!("{version} {} {built}\n{}", binary.len(), cyrano_ir::text::print(program)))
}

fn place(text: &str) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Some(folder()?.join(format!("{:016x}.observations", hasher.finish())))
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
    let (count, mut rest) = rest.split_once('\n')?;
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
        let entry = format!("{HEAD}\n2\n0 1\n-3 4\nprogram x\n");
        let rows = BTreeSet::from([vec![0, 1], vec![-3, 4]]);
        assert_eq!(parse(&entry, "program x\n", 2), Some(rows));
        assert_eq!(parse(&entry, "program y\n", 2), None, "another program");
        assert_eq!(parse(&entry, "program x\n", 3), None, "other columns");
        for end in 0..entry.len() {
            assert_eq!(parse(&entry[..end], "program x\n", 2), None, "cut off at {end}");
        }
        assert_eq!(parse(&entry.replace("0 1", "0 z"), "program x\n", 2), None, "not a number");
    }
}

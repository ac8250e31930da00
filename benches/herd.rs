//! Cyrano and herd7 side by side: generated tests for each machine, all in one call, with what both say about each.
//!
//! `cargo build --release -p cyrano && cargo bench -p cyrano-benches --bench herd`, where `herd7` is on the PATH; `HERD=FILE` takes another program, with
//! `HERD_LIBDIR=FOLDER` as its library. `CYRANO=FILE` takes another binary, and arguments are folders of tests to run instead.
//! Tests that both decide and decide differently fail the benchmark; times do not, for they depend on the machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The machines, the most relations of a cycle, and whether fences and dependencies are among them.
const SUITES: [(&str, u8, &[&str]); 4] =
    [("x86", 5, &["--fences"]), ("aarch64", 4, &["--fences"]), ("riscv", 4, &[]), ("ppc", 4, &["--fences"])];

/// How many tests of a folder are run; a command line has an end.
const MOST: usize = 1500;

fn main() {
    let herd = std::env::var_os("HERD").map_or_else(|| PathBuf::from("herd7"), PathBuf::from);
    if Command::new(&herd).arg("-version").output().is_err() {
        println!("skipped: there is no `{}` (herdtools7 has it)", herd.display());
        return;
    }
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).map(Into::into).collect();
    let generated = std::env::temp_dir().join(format!("cyrano-herd-{}", std::process::id()));
    let folders = if folders.is_empty() { generate(&generated) } else { folders };
    println!("{:<40} {:>6} {:>10} {:>10} {:>7}", "", "tests", "cyrano", "herd7", "ratio");
    let different: usize = folders.iter().map(|folder| compare(folder, &herd)).sum();
    // What was generated is not needed any more; a folder that stays behind harms nobody.
    let _ = std::fs::remove_dir_all(&generated);
    if different > 0 {
        eprintln!("{different} tests are decided differently");
        std::process::exit(1);
    }
}

/// The binary: what `CYRANO` names, or the one beside this benchmark.
fn cyrano() -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("cyrano"));
    let named = std::env::var_os("CYRANO").map(PathBuf::from);
    named.or_else(beside).filter(|path| path.is_file()).unwrap_or_else(|| {
        eprintln!("there is no binary to measure; `cargo build --release -p cyrano` makes one");
        std::process::exit(2)
    })
}

/// A folder of tests for each machine.
fn generate(below: &Path) -> Vec<PathBuf> {
    let folder = |(arch, length, more): (&str, u8, &[&str])| {
        let folder = below.join(arch);
        let mut command = Command::new(cyrano());
        command.args(["litmus", "generate", "--arch", arch, "--length", &length.to_string()]).args(more);
        command.arg("--output").arg(&folder).output().expect("the binary runs");
        folder
    };
    SUITES.into_iter().map(folder).collect()
}

/// Runs both on a folder; how many tests they decide differently.
fn compare(folder: &Path, herd: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut tests: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "litmus")).collect();
    tests.sort();
    tests.truncate(MOST);
    let mut theirs = Command::new(herd);
    if let Some(library) = std::env::var_os("HERD_LIBDIR") {
        theirs.arg("-set-libdir").arg(library);
    }
    let (own, least) = observed(Command::new(cyrano()).arg("litmus").args(&tests));
    let (other, most) = observed(theirs.args(["-show", "none"]).args(&tests));
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    println!("{name:<40} {:>6} {least:>8.2} s {most:>8.2} s {:>7.1}", tests.len(), most / least);
    let both = own.iter().filter_map(|(name, verdict)| Some((name, verdict, other.get(name)?)));
    let different: Vec<_> = both.filter(|(_, own, other)| own != other).collect();
    different.iter().for_each(|(name, own, other)| println!("  {name}: {own}, herd7: {other}"));
    println!("  {} decided, {} by herd7, {} differently", own.len(), other.len(), different.len());
    different.len()
}

/// What a program says in its lines `Observation NAME VERDICT …`, and how many seconds it took.
fn observed(command: &mut Command) -> (BTreeMap<String, String>, f64) {
    let start = Instant::now();
    let output = command.output().expect("the program runs");
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some("Observation"), Some(name), Some(verdict)) = (words.next(), words.next(), words.next()) {
            found.insert(name.to_owned(), verdict.to_owned());
        }
    }
    (found, seconds)
}

//! `cyrano library`.

use std::path::Path;

use crate::args::{LibraryArgs, LibraryCommand};
use crate::console;
use crate::library::{self, Entry};
use cyrano_session::Failure;

/// Runs the command.
pub fn run(args: &LibraryArgs) -> Result<u8, Failure> {
    match &args.command {
        LibraryCommand::List { patterns } => console::print(&list(patterns)?)?,
        LibraryCommand::Show { name } => {
            let source = library::find_any(name.strip_prefix("lib:").unwrap_or(name))?;
            console::print_raw(&source.text)?;
        }
        LibraryCommand::Export { dir, force } => export(dir, *force)?,
    }
    Ok(0)
}

/// One line per program or model: its name and the sentence at the top of the file. With patterns, only those that have one of them there.
fn list(patterns: &[String]) -> Result<String, Failure> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_lowercase()).collect();
    let mut programs = [library::programs(), library::models()].concat();
    programs.retain(|entry| {
        let told = format!("lib:{} {}", entry.name, sentence(entry)).to_lowercase();
        patterns.is_empty() || patterns.iter().any(|pattern| told.contains(pattern))
    });
    if programs.is_empty() {
        let wanted = patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(" or ");
        return Err(Failure::input(format!(
            "the library has nothing about {wanted} (`cyrano library list` lists all)"
        )));
    }
    let columns = programs.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    Ok(programs.iter().map(|entry| format!("lib:{:columns$}  {}\n", entry.name, sentence(entry))).collect())
}

/// The first comment line (`//` in programs, `#` in histories); `NAME: ` before the sentence only repeats the file's name.
fn sentence(entry: &Entry) -> &'static str {
    if entry.name.ends_with(".litmus") {
        // A text in quotes stands in the head of a test.
        return entry.text.split('"').nth(1).unwrap_or("");
    }
    let first = entry.text.lines().next().unwrap_or("");
    if entry.name.ends_with(".cat") {
        return first.trim_matches('"');
    }
    let comment = first.strip_prefix("//").or_else(|| first.strip_prefix("# ")).map_or("", str::trim);
    comment.split_once(": ").map_or(comment, |(_, sentence)| sentence)
}

/// Writes every file. All conflicts are named before anything is written, so that nothing is half done.
fn export(dir: &Path, force: bool) -> Result<(), Failure> {
    let files = library::files();
    let differs = |entry: &&Entry| {
        let path = dir.join(entry.name);
        path.exists() && std::fs::read(path).ok().as_deref() != Some(entry.text.as_bytes())
    };
    let conflicts: Vec<&str> = files.iter().filter(differs).map(|entry| entry.name).collect();
    if !force && !conflicts.is_empty() {
        return Err(Failure::input(format!(
            "{} already has other versions of {} (--force overwrites them)",
            dir.display(),
            conflicts.join(", ")
        )));
    }
    for entry in &files {
        let path = dir.join(entry.name);
        let parent = path.parent().unwrap_or(dir);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, entry.text));
        written.map_err(|error| Failure::input(format!("{}: cannot be written: {error}", path.display())))?;
    }
    console::print(&format!("{} files written to {}\n", files.len(), dir.display()))
}

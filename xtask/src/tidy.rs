//! The rules of ARCHITECTURE.md that a program can check.
//!
//! - Crates depend on each other only as the map allows: arrows point one way, engines do not know each other.
//! - Engines and front ends do no IO: they neither print nor read files.
//! - Only `trace` and `report` (and the command line) serialise.
//! - Every source file opens with `//!`; files are not too long, and folders not too full.
//! - Documentation builds without warnings, and files that documents name are there.
//! - Markdown has no trailing spaces; nothing is left undone in sources (`todo!`, `dbg!`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::root;

/// For each crate the workspace crates that it may know.
const MAP: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("criteria", &["diagnostic"]),
    ("ir", &["diagnostic", "criteria"]),
    ("memory", &["ir"]),
    ("engine", &["ir", "memory", "criteria"]),
    ("rml", &["ir", "criteria"]),
    ("cfront", &["ir"]),
    ("litmus", &["ir", "cfront"]),
    ("interp", &["ir", "memory", "criteria", "engine"]),
    ("explore", &["ir", "memory", "criteria", "engine"]),
    // The sources of `explore`.
    ("faulty", &["ir", "memory", "criteria", "engine"]),
    ("graphs", &["ir", "memory", "engine"]),
    ("cyrano-loom", &["ir", "memory", "engine", "graphs", "trace"]),
    ("symbolic", &["ir", "memory", "criteria", "engine"]),
    ("checkpoint", &["ir", "engine", "explore"]),
    // Its tests read models.
    ("disk", &["ir", "memory", "engine", "explore", "graphs", "checkpoint", "rml"]),
    ("cluster", &["ir", "memory", "engine", "explore", "checkpoint"]),
    // Its tests read models.
    ("gpu", &["ir", "memory", "engine", "explore", "rml"]),
    ("views", &["ir", "engine", "explore"]),
    ("fences", &["ir", "memory", "engine", "rml"]),
    ("trace", &["ir", "memory", "criteria", "engine"]),
    ("certificate", &["ir", "memory", "criteria", "engine", "interp", "trace"]),
    ("report", &["ir", "memory", "criteria", "engine", "trace", "certificate"]),
    (
        "session",
        &[
            "ir",
            "memory",
            "criteria",
            "engine",
            "rml",
            "cfront",
            "litmus",
            "interp",
            "explore",
            "disk",
            "symbolic",
            "fences",
            "trace",
            "certificate",
            "report",
            "cluster",
            "views",
            "graphs",
            "gpu",
        ],
    ),
    ("tables", &["ir", "memory", "criteria", "engine", "symbolic", "trace", "report", "session"]),
    (
        "cyrano",
        &[
            "ir",
            "memory",
            "criteria",
            "engine",
            "rml",
            "cfront",
            "litmus",
            "interp",
            "explore",
            "disk",
            "symbolic",
            "fences",
            "trace",
            "certificate",
            "report",
            "cluster",
            "session",
            "tables",
        ],
    ),
    (
        "conformance",
        &[
            "ir",
            "memory",
            "criteria",
            "engine",
            "rml",
            "cfront",
            "litmus",
            "interp",
            "explore",
            "symbolic",
            "certificate",
        ],
    ),
];

/// Crates that must not print or read files.
const NO_IO: &[&str] = &[
    "diagnostic",
    "ir",
    "memory",
    "criteria",
    "engine",
    "rml",
    "cfront",
    "litmus",
    "interp",
    "explore",
    "graphs",
    "symbolic",
    "fences",
    "trace",
    "certificate",
    "report",
    "cluster",
    "views",
    "session",
    "tables",
];

/// Those of them that serialise; the others must not.
const SERIALISE: &[&str] = &["trace", "certificate", "report", "cluster"];

/// The longest a source file may be.
const LONGEST: usize = 550;

/// How many source files may lie side by side.
const FULLEST: usize = 30;

/// Checks formatting, lints and rules; reports every broken rule.
pub fn run() -> anyhow::Result<()> {
    crate::run("cargo", &["fmt", "--all", "--check"], &[])?;
    let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    crate::run("cargo", &lints, &[])?;
    crate::run("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    let mut broken = Vec::new();
    for (name, allowed) in MAP {
        dependencies(name, allowed, &mut broken)?;
    }
    every_crate_is_on_the_map(&mut broken)?;
    for folder in ["crates", "benches", "xtask", "fuzz"] {
        let sources = files(&root().join(folder), "rs")?;
        for path in &sources {
            source(path, &mut broken)?;
        }
        full_folders(&sources, &mut broken);
    }
    for path in files(&root(), "md")? {
        markdown(&path, &mut broken)?;
    }
    anyhow::ensure!(broken.is_empty(), "{} rules are broken:\n{}", broken.len(), broken.join("\n"));
    Ok(())
}

fn dependencies(name: &str, allowed: &[&str], broken: &mut Vec<String>) -> anyhow::Result<()> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let manifest = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let body = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    for line in body.lines().filter_map(|line| line.strip_prefix("cyrano-")) {
        let known = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if !allowed.contains(&known) {
            broken.push(format!("crates/{name} must not know crates/{known} (ARCHITECTURE.md)"));
        }
    }
    let serialises = body.lines().any(|line| line.starts_with("serde"));
    if serialises && NO_IO.contains(&name) && !SERIALISE.contains(&name) {
        broken.push(format!("crates/{name} must not serialise (ARCHITECTURE.md)"));
    }
    Ok(())
}

fn every_crate_is_on_the_map(broken: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(root().join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !MAP.iter().any(|(known, _)| *known == name) {
            broken.push(format!("crates/{name} is not on the map in xtask/src/tidy.rs"));
        }
    }
    Ok(())
}

fn source(path: &Path, broken: &mut Vec<String>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let shown = path.strip_prefix(root()).unwrap_or(path).display();
    if !text.starts_with("//!") {
        broken.push(format!("{shown} does not open with `//!`"));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        broken.push(format!("{shown} has {lines} lines: likely two ideas in one room"));
    }
    let inside = |name: &&&str| path.starts_with(root().join("crates").join(name).join("src"));
    let quiet = NO_IO.iter().find(inside).is_some();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let io = ["println!", "eprintln!", "std::fs", "std::io::stdout", "std::process"];
        let test_only = path.to_string_lossy().contains("tests");
        if quiet && !test_only && io.iter().any(|word| code.contains(word)) {
            broken.push(format!("{shown}:{} does IO (ARCHITECTURE.md)", number + 1));
        }
        let undone = ["todo", "unimplemented", "dbg"].map(|word| format!("{word}!("));
        if undone.iter().any(|word| code.contains(word)) {
            broken.push(format!("{shown}:{} is not finished", number + 1));
        }
    }
    Ok(())
}

fn full_folders(sources: &[PathBuf], broken: &mut Vec<String>) {
    let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
    sources.iter().filter_map(|path| path.parent()).for_each(|folder| *folders.entry(folder).or_default() += 1);
    for (folder, files) in folders.into_iter().filter(|(_, files)| *files > FULLEST) {
        let shown = folder.strip_prefix(root()).unwrap_or(folder).display();
        broken.push(format!("{shown} has {files} files side by side: folders would say what belongs together"));
    }
}

/// The files that a line names in backquotes: `crates/ir/src/{expr,program}.rs` is two.
fn named_files(line: &str) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let named = quoted.filter(|text| text.starts_with("crates/") && !text.contains([' ', '*', '…']));
    named.flat_map(alternatives).collect()
}

fn alternatives(text: &str) -> Vec<String> {
    let braces = text.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        None => vec![text.to_owned()],
        Some((before, (inside, after))) => {
            inside.split(',').map(|one| format!("{before}{}{after}", one.trim())).collect()
        }
    }
}

fn markdown(path: &Path, broken: &mut Vec<String>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let shown = path.strip_prefix(root()).unwrap_or(path).display();
    for (number, line) in text.lines().enumerate() {
        for file in named_files(line).iter().filter(|file| !root().join(file).exists()) {
            broken.push(format!("{shown}:{} names {file}, which is not there", number + 1));
        }
    }
    for (number, _) in text.lines().enumerate().filter(|(_, line)| line.ends_with(' ')) {
        broken.push(format!("{shown}:{} ends in a space", number + 1));
    }
    Ok(())
}

/// All files below a folder with this ending; build products are left out.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

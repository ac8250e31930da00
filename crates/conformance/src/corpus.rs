//! The library's files and what their headers promise.
//!
//! A header line `//@ MODEL: VERDICT [outcomes N]` says what the file's checks give under a model; `skip` instead of a verdict
//! says that nobody knows, and the comment above it why. `//@ MODEL PROPERTY: VERDICT` is about a progress property of an stm.

use std::path::{Path, PathBuf};

use anyhow::Context;
use cyrano_ir::Program;
use cyrano_rml::Compiled;

/// One promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Under this model
    pub model: String,
    /// the checks give this verdict,
    pub verdict: String,
    /// and there are this many outcomes.
    pub outcomes: Option<usize>,
}

/// A promise about a progress property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Under this model
    pub model: String,
    /// this property
    pub property: String,
    /// has this verdict.
    pub verdict: String,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
    /// What its header promises.
    pub expectations: Vec<Expectation>,
    /// What it promises about progress.
    pub progress: Vec<Promise>,
}

/// The library's folder in the source tree.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library")
}

/// The folder of programs that the native language has no words for, in the text form of the IR.
pub fn ir_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// The programs of [`ir_folder`] with their names, sorted.
pub fn ir_programs() -> anyhow::Result<Vec<(String, Program)>> {
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(ir_folder())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = cyrano_ir::text::parse(&std::fs::read_to_string(&path)?).with_context(|| name.clone())?;
        programs.push((name, program));
    }
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(programs)
}

/// All `.rml` files of the library with programs that every engine can run, sorted by path.
pub fn entries() -> anyhow::Result<Vec<Entry>> {
    // Memories with values have clients of a size or of their own, and headers of their own.
    of_kind(|compiled| compiled.atomic.is_none() && !compiled.program.has_calls())
}

/// The transactional memories with a client of their own. Their promises are `//@ MODEL CRITERION: VERDICT`.
pub fn with_clients() -> anyhow::Result<Vec<Entry>> {
    of_kind(|compiled| compiled.atomic.is_some())
}

/// The transactional memories with values. Their promises are `//@ MODEL CRITERION [NAME=VALUE]…: VERDICT`.
pub fn with_values() -> anyhow::Result<Vec<Entry>> {
    of_kind(|compiled| compiled.program.has_calls())
}

fn of_kind(wanted: fn(&Compiled) -> bool) -> anyhow::Result<Vec<Entry>> {
    let mut entries = all()?;
    for entry in std::mem::take(&mut entries) {
        let compiled = cyrano_rml::compile_both(&entry.source, "entry", &[]);
        let compiled = compiled.map_err(|error| anyhow::anyhow!("{}: {error:?}", entry.path.display()))?;
        if wanted(&compiled) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn all() -> anyhow::Result<Vec<Entry>> {
    let mut paths = Vec::new();
    collect(&folder(), &mut paths)?;
    paths.sort();
    let entries: anyhow::Result<Vec<Entry>> = paths.into_iter().map(|path| read(&path)).collect();
    // Algorithms have a program for each client, and headers of their own.
    Ok(entries?.into_iter().filter(|entry| !cyrano_rml::algorithm::is_algorithm(&entry.source)).collect())
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "rml") {
            paths.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Entry> {
    let source = std::fs::read_to_string(path)?;
    let lines = source.lines().filter_map(|line| line.trim().strip_prefix("//@"));
    let (mut expectations, mut progress) = (Vec::new(), Vec::new());
    for line in lines {
        match promise(line) {
            Some(promise) => progress.push(promise),
            None => expectations.push(parse(line)?),
        }
    }
    Ok(Entry { path: path.into(), source, expectations, progress })
}

/// A line with a property after the model.
fn promise(line: &str) -> Option<Promise> {
    let (about, verdict) = line.split_once(':')?;
    let (model, property) = about.trim().split_once(' ')?;
    let words = [model, property, verdict].map(|word| word.trim().to_owned());
    let [model, property, verdict] = words;
    Some(Promise { model, property, verdict })
}

fn parse(line: &str) -> anyhow::Result<Expectation> {
    let bad = || anyhow::anyhow!("`//@{line}` is not `//@ MODEL: VERDICT [outcomes N]`");
    let (model, rest) = line.split_once(':').ok_or_else(bad)?;
    let words: Vec<_> = rest.split_whitespace().collect();
    let (verdict, outcomes) = match words[..] {
        [verdict] => (verdict, None),
        [verdict, "outcomes", count] => (verdict, Some(count.parse().map_err(|_| bad())?)),
        _ => return Err(bad()),
    };
    let known = ["verified", "violated", "unknown", "bounded", "vacuous", "skip"];
    anyhow::ensure!(known.contains(&verdict), "`{verdict}` is not a verdict");
    Ok(Expectation { model: model.trim().into(), verdict: verdict.into(), outcomes })
}

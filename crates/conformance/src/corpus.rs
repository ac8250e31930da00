//! The library's files and what their headers promise.
//!
//! A header line `//@ MODEL: VERDICT [outcomes N]` says what the file's checks give under a model; `skip` instead of a verdict
//! says that nobody knows, and the comment above it why.

use std::path::{Path, PathBuf};

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

/// One file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
    /// What its header promises.
    pub expectations: Vec<Expectation>,
}

/// The library's folder in the source tree.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library")
}

/// All `.rml` files of the library, sorted by path.
pub fn entries() -> anyhow::Result<Vec<Entry>> {
    let mut paths = Vec::new();
    collect(&folder(), &mut paths)?;
    paths.sort();
    paths.into_iter().map(|path| read(&path)).collect()
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
    let expectations = lines.map(parse).collect::<anyhow::Result<_>>()?;
    Ok(Entry { path: path.into(), source, expectations })
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

//! The library's files and what their headers promise.
//!
//! The tests of the library say which files they mean ([`in_folder`], [`files`]) and what is to be compared; [`for_each`] runs them, and
//! [`kept`] holds verdicts against headers.
//!
//! A header line `//@ MODEL: VERDICT [outcomes N]` says what the file's checks give under a model; `skip` instead of a verdict
//! says that nobody knows, and the comment above it why. `//@ MODEL PROPERTY: VERDICT` is about a progress property of an stm.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use cyrano_cfront::{Test, TestFile};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_rml::Compiled;
use cyrano_rml::uses::{self, Resolver};

/// One promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Under this model
    pub model: String,
    /// this property, or the file's checks if it is empty,
    pub property: String,
    /// has this verdict,
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
    /// What its header promises about its checks.
    pub expectations: Vec<Promise>,
    /// What it promises about other properties.
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
    // Memories with values have clients of a size or of their own, and headers of their own; so have families of any size.
    of_kind(|compiled| {
        compiled.atomic.is_none() && !compiled.program.has_calls() && compiled.program.families.is_empty()
    })
}

/// The transactional memories with a client of their own. Their promises are `//@ MODEL CRITERION: VERDICT`.
pub fn with_clients() -> anyhow::Result<Vec<Entry>> {
    of_kind(|compiled| compiled.atomic.is_some())
}

/// The transactional memories with values. Their promises are `//@ MODEL CRITERION [NAME=VALUE]…: VERDICT`.
pub fn with_values() -> anyhow::Result<Vec<Entry>> {
    of_kind(|compiled| compiled.atomic.is_none() && compiled.program.has_calls())
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
    let (expectations, progress) = promises(&source)?.into_iter().partition(|promise| promise.property.is_empty());
    let source = text(path)?;
    Ok(Entry { path: path.into(), source, expectations, progress })
}

/// The text of a file of the library, with what it uses of others behind it.
pub fn text(path: &Path) -> anyhow::Result<String> {
    let own = (path.to_string_lossy().into_owned(), std::fs::read_to_string(path)?);
    let joined =
        uses::together(&own, &OnDisk).map_err(|wrong| anyhow::anyhow!("{}: {:?}", wrong.source.0, wrong.errors))?;
    Ok(joined.unwrap_or(own.1))
}

/// Files by their paths.
struct OnDisk;

impl Resolver for OnDisk {
    type Source = (String, String);

    fn text<'s>(&self, source: &'s Self::Source) -> (&'s str, &'s str) {
        (&source.0, &source.1)
    }

    fn open(&self, from: &Self::Source, name: &str) -> Result<Self::Source, String> {
        let path = match name.strip_prefix("lib:") {
            Some(entry) => folder().join(entry),
            None => Path::new(&from.0).with_file_name(name),
        };
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        Ok((path.to_string_lossy().into_owned(), text))
    }
}

/// What the header of a text promises. A line about the file's checks must have a verdict.
pub fn promises(source: &str) -> anyhow::Result<Vec<Promise>> {
    source.lines().filter_map(|line| line.trim().strip_prefix("//@")).map(promise).collect()
}

fn promise(line: &str) -> anyhow::Result<Promise> {
    let bad = || anyhow::anyhow!("`//@{line}` is not `//@ MODEL [PROPERTY]: VERDICT [outcomes N]`");
    let (about, rest) = line.split_once(':').ok_or_else(bad)?;
    let (model, property) = about.trim().split_once(' ').unwrap_or((about.trim(), ""));
    // Of a family of any size it is also said how the verdict is found: `verified, k = 2` or `violated, 3 threads`.
    let rest = rest.split_once(',').map_or(rest, |(verdict, _)| verdict);
    let (verdict, outcomes) = match rest.split_whitespace().collect::<Vec<_>>()[..] {
        [verdict, "outcomes", count] if property.is_empty() => (verdict, Some(count.parse().map_err(|_| bad())?)),
        [verdict] => (verdict, None),
        _ if property.is_empty() => return Err(bad()),
        _ => (rest.trim(), None),
    };
    let known = ["verified", "violated", "unknown", "bounded", "vacuous", "skip"];
    let checked = !property.is_empty() || model == "tests" || known.contains(&verdict);
    anyhow::ensure!(checked, "`{verdict}` is not a verdict");
    let [model, property, verdict] = [model, property.trim(), verdict].map(str::to_owned);
    Ok(Promise { model, property, verdict, outcomes })
}

/// The entries of one folder, of those that every engine can run, by the names of their files.
pub fn in_folder(folder: &str) -> Vec<(String, Entry)> {
    let mut entries = entries().expect("the library can be read");
    entries.retain(|entry| entry.path.parent().is_some_and(|parent| parent.ends_with(folder)));
    named(entries)
}

/// Entries with the names of their files.
pub fn named(entries: Vec<Entry>) -> Vec<(String, Entry)> {
    let name = |entry: &Entry| entry.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    entries.into_iter().map(|entry| (name(&entry), entry)).collect()
}

/// The files of one folder of the library with this ending, sorted, each with its name and its text.
pub fn files(folder: &str, ending: &str) -> Vec<(String, (PathBuf, String))> {
    let found = std::fs::read_dir(self::folder().join(folder)).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    let text = |path: &Path| std::fs::read_to_string(path).expect("the file can be read");
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.into_iter().map(|path| (name(&path), (path.clone(), text(&path)))).collect()
}

/// The programs of those tests of a C file that have at most so many calls, each with the test's name.
pub fn c_programs(path: &Path, source: &str, most_calls: usize) -> Vec<(String, Program)> {
    c_tests(path, source, |file| file.tests.iter().filter(|test| test.calls() <= most_calls).cloned().collect())
}

/// The programs of all tests of a C file with up to so many calls, declared or not.
pub fn all_c_tests(path: &Path, source: &str, calls: usize) -> Vec<(String, Program)> {
    c_tests(path, source, |file| cyrano_cfront::all_tests(file, calls))
}

fn c_tests(path: &Path, source: &str, tests: impl Fn(&TestFile) -> Vec<Test>) -> Vec<(String, Program)> {
    let beside = |name: &str| std::fs::read_to_string(path.with_file_name(name)).ok();
    let unit = cyrano_cfront::parse(source, "test.c", &beside).expect("the library compiles");
    let named = source.lines().find_map(|line| line.strip_prefix("//@ tests:"));
    let own = path.with_extension("tests").file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = beside(named.map_or(own.as_str(), str::trim)).expect("there is a tests file");
    let chosen = tests(&cyrano_cfront::tests(&text, &unit).expect("the tests file can be read"));
    chosen.into_iter().map(|test| (test.name.clone(), unit.program(&test).expect("the test compiles"))).collect()
}

/// Runs `test` on every case, two at a time, and panics with everything that fails it. Adds up what the tests compared.
pub fn for_each<T: Sync>(cases: &[(String, T)], test: impl Fn(&str, &T) -> Result<usize, String> + Sync) -> usize {
    let (next, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match test(name, case) {
                        Ok(count) => _ = compared.fetch_add(count, Ordering::Relaxed),
                        Err(error) => failures.lock().expect("no test panics").push(format!("{name}: {error}")),
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no test panics");
    failures.sort();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    println!("{} compared", compared.load(Ordering::Relaxed));
    compared.into_inner()
}

/// Runs `test` on every litmus test of the library, compiled.
pub fn for_each_litmus(test: impl Fn(&Entry, &Program) -> Result<usize, String> + Sync) -> usize {
    let entries = in_folder("litmus");
    assert!(entries.len() >= 40, "the library has shrunk to {} files", entries.len());
    for_each(&entries, |name, entry| {
        let program = cyrano_rml::compile(&entry.source, name, &[]);
        test(entry, &program.map_err(|error| format!("does not compile: {error:?}"))?)
    })
}

/// Whether promises are kept, those to skip left out: `verdict` gives what comes out, or nothing where that is left open. How many were decided.
pub fn kept(promises: &[Promise], verdict: impl Fn(&Promise) -> Option<Verdict>) -> Result<usize, String> {
    let mut decided = 0;
    for promise in promises.iter().filter(|promise| promise.verdict != "skip") {
        let Promise { model, property, verdict: promised, .. } = promise;
        match verdict(promise) {
            Some(found) if found.name() != promised => {
                return Err(format!("{model} {property}: the header says {promised}, it is {}", found.name()));
            }
            found => decided += usize::from(found.is_some()),
        }
    }
    Ok(decided)
}

/// An engine's answer about a property. Whatever it shows replays, and a violation is shown.
pub fn judge(engine: &dyn Engine, program: &Program, model: &Model, property: &Property, limits: &Limits) -> Answer {
    let query = Query::new(program, model, Question::Holds(property)).expect("a question");
    let answer = engine.ask(query, limits, &());
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        if let Err(error) = cyrano_interp::confirm(program, model, property, violation, execution) {
            panic!("{} under {}: what is shown does not replay: {error}", program.name, model.name);
        }
    }
    answer
}

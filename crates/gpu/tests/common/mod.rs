//! Questions about programs, the explorer's answers, and searches with the kernels compiled for this machine.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use cyrano_gpu::host::Host;
use cyrano_gpu::{GpuSearch, Settings, Told};
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;

/// A question about a program.
pub struct Case {
    pub name: String,
    pub program: Program,
    pub model: Model,
    pub property: Property,
}

/// A file, a model, and the values of constants.
pub type Instance = (&'static str, &'static str, &'static [(&'static str, i128)]);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first check of a file on a model; opacity if the file has none of its own.
pub fn case((file, model, set): Instance) -> Case {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    of_text(file, &text, model, set)
}

/// The checks of a file on a model.
pub fn cases(file: &str, model: &str) -> Vec<Case> {
    let first = case_of(file, model);
    let of = |property: &Property| Case {
        name: format!("{file} {}", property.criterion()),
        program: first.program.clone(),
        model: first.model.clone(),
        property: property.clone(),
    };
    first.program.checks.iter().map(|check| of(&check.property)).collect()
}

fn case_of(file: &str, model: &str) -> Case {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    of_text(file, &text, model, &[])
}

/// The files of a folder.
pub fn files(folder: &str, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the library is there");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(extension)).map(|name| format!("{folder}/{name}")).collect();
    names.sort();
    names
}

pub fn of_text(name: &str, text: &str, model: &str, set: &[(&str, i128)]) -> Case {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = cyrano_rml::compile(text, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let property = program.checks.first().map(|check| check.property.clone());
    let property = property.unwrap_or(Property::Transactions(TxCriterion::Opacity));
    let model = cyrano_memory::named(model).expect("a named model");
    Case { name: name.to_owned(), program, model, property }
}

impl Case {
    pub fn query(&self) -> Query<'_> {
        Query::new(&self.program, &self.model, Question::Holds(&self.property)).expect("a question")
    }

    /// What the explorer says.
    pub fn expected(&self) -> Answer {
        explorer().ask(self.query(), &limits(), &())
    }
}

/// The explorer that searches on devices agree with.
pub fn explorer() -> Explore {
    Explore { ample_sets: false, stubborn_sets: false, ..Explore::default() }
}

pub fn limits() -> Limits {
    Limits { memory: 1 << 30, ..Limits::default() }
}

/// An option of the kernels: different states have the same tag.
pub const FEW_TAGS: u32 = 2048;

/// So little room that everything happens: full tables, growth, collisions, states that are expanded again.
pub fn tiny() -> Settings {
    Settings { states: 50, growth: 2, slots: 1.05, chunk: 97, filter_bits: 3, faults: FEW_TAGS, ..Settings::default() }
}

/// Compiles the kernels to a library with the machine's C++ compiler; what is wrong if that cannot be done.
fn compile(library: &Path) -> Result<(), String> {
    let source = root().join("crates/gpu/kernels/host.cpp");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-O2", "-shared", "-fPIC", "-pthread", "-Wno-unknown-pragmas", "-o"]);
    let output = command.arg(library).arg(source).output().map_err(|error| format!("c++: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The kernels for this machine, compiled once; `None` if it has no C++ compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{}.so", std::process::id()));
        match compile(&path) {
            Ok(()) => Some(path),
            Err(why) => {
                println!("skipped: {why}");
                None
            }
        }
    });
    library.as_deref()
}

/// This machine's processor as a device.
pub fn host(threads: u32) -> Option<Host> {
    library().map(|library| Host::open(library, threads, 1 << 30).expect("it was compiled"))
}

/// What a search on a device says.
pub fn search(case: &Case, settings: Settings, device: Host) -> Result<(Answer, Told), String> {
    GpuSearch::new(explorer(), settings).run(case.query(), Box::new(device), &limits(), &())
}

/// What must be the same: verdict, and if all states were looked at, how many there are; else the depth.
#[derive(PartialEq, Eq, Debug)]
pub struct Facts {
    verdict: &'static str,
    reason: Option<String>,
    states: Option<u64>,
    transitions: Option<u64>,
    depth: u64,
    outcomes: usize,
    shown: bool,
}

pub fn facts(answer: &Answer) -> Facts {
    let all = answer.execution.is_none();
    Facts {
        verdict: answer.verdict.name(),
        reason: answer.reason.as_ref().map(Cause::to_string),
        states: all.then_some(answer.stats.states),
        transitions: all.then_some(answer.stats.transitions),
        depth: answer.stats.depth,
        outcomes: answer.outcomes.len(),
        shown: answer.execution.is_some(),
    }
}

/// Compares a search with the explorer; what it came to, or why it was refused.
pub fn compare(case: &Case, settings: Settings, threads: u32) -> Option<Result<Told, String>> {
    let found = match search(case, settings, host(threads)?) {
        Ok(found) => found,
        Err(why) => return Some(Err(why)),
    };
    let what = format!("{} on {}", case.name, case.model.name);
    assert_eq!(facts(&found.0), facts(&case.expected()), "{what}");
    Some(Ok(found.1))
}

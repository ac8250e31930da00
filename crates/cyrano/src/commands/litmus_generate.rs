//! `cyrano litmus generate`: tests from cycles of relations.

use std::collections::BTreeMap;
use std::path::Path;

use cyrano_litmus::generate::{Cycle, Edge, Relation, Target};

use crate::args::{GenerateArgs, Language};
use crate::console;
use cyrano_session::Failure;

/// Runs the command.
pub fn run(args: &GenerateArgs) -> Result<u8, Failure> {
    let cycles = if args.cycles.is_empty() { all(args)? } else { given(&args.cycles)? };
    let (mut tests, mut left_out) = (BTreeMap::new(), Vec::new());
    for cycle in &cycles {
        match cycle.text(target(args.arch)) {
            Ok(text) => _ = tests.insert(cycle.name(), text),
            Err(why) => left_out.push(format!("{cycle}: {why}")),
        }
    }
    for line in &left_out {
        console::error(&format!("left out: {line}"));
    }
    if tests.is_empty() {
        return Err(Failure::input("there is no cycle of these relations"));
    }
    match &args.output {
        None => console::print(&tests.into_values().collect::<Vec<_>>().join("\n"))?,
        Some(dir) => {
            let ending = if args.arch == Language::Rml { "rml" } else { "litmus" };
            write(dir, ending, &tests)?;
            console::print(&format!("{} tests written to {}\n", tests.len(), dir.display()))?;
        }
    }
    Ok(0)
}

/// The language of tests that an option means.
pub fn target(language: Language) -> Target {
    match language {
        Language::X86 => Target::X86,
        Language::X86_64 => Target::X86_64,
        Language::Aarch64 => Target::AArch64,
        Language::Riscv => Target::Riscv,
        Language::Ppc => Target::Ppc,
        Language::C => Target::C,
        Language::Kernel => Target::Kernel,
        Language::Rml => Target::Rml,
    }
}

fn given(texts: &[String]) -> Result<Vec<Cycle>, Failure> {
    let cycle = |text: &String| Cycle::parse(text).map_err(|why| Failure::input(format!("`{text}` is no test: {why}")));
    texts.iter().map(cycle).collect()
}

fn all(args: &GenerateArgs) -> Result<Vec<Cycle>, Failure> {
    let mut edges: Vec<Edge> = Vec::new();
    for name in &args.relations {
        let edge = Edge::parse(name.trim());
        edges.push(edge.ok_or_else(|| Failure::input(format!("there is no relation `{name}`")))?);
    }
    let mut relations = if edges.is_empty() { Relation::basic() } else { Vec::new() };
    if args.same {
        relations.extend(Relation::same());
    }
    if args.fences {
        relations.extend(Relation::fences(target(args.arch)));
    }
    if args.dependencies {
        relations.extend(Relation::dependencies(target(args.arch)));
    }
    edges.extend(relations.into_iter().map(Edge::from));
    Ok(Cycle::all(&edges, args.length.into(), args.threads.into()))
}

/// Writes every test. A file of that name with other content is somebody's work; all of them are named before anything is written.
fn write(dir: &Path, ending: &str, tests: &BTreeMap<String, String>) -> Result<(), Failure> {
    let failed =
        |path: &Path, error: std::io::Error| Failure::input(format!("{}: cannot be written: {error}", path.display()));
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let files: Vec<_> = tests.iter().map(|(name, text)| (dir.join(format!("{name}.{ending}")), text)).collect();
    let differs =
        |path: &Path, text: &str| path.exists() && std::fs::read(path).ok().as_deref() != Some(text.as_bytes());
    let others = files.iter().filter(|(path, text)| differs(path, text));
    let others: Vec<String> = others.map(|(path, _)| path.display().to_string()).collect();
    if !others.is_empty() {
        let why = "with other content, and source files are not overwritten; name another folder";
        return Err(Failure::input(format!("there are already {} {why}", others.join(", "))));
    }
    for (path, text) in &files {
        std::fs::write(path, text).map_err(|error| failed(path, error))?;
    }
    Ok(())
}

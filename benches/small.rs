//! Start-up and small inputs: the whole process, from its start to its end.
//!
//! `cargo build --release -p cyrano && cargo bench -p cyrano-benches --bench small`; `CYRANO=FILE` takes another binary, for a comparison of two builds.
//! On a loaded machine the least time says more than the median.
//! Instructions do not depend on the load: `valgrind --tool=callgrind target/release/cyrano litmus lib:herd/SB.litmus`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a single test may take, and the whole library, in milliseconds.
const ONE: f64 = 10.0;
const ALL: f64 = 1000.0;

/// What is run: what it is, the arguments, how often, the goal.
struct Row {
    what: &'static str,
    arguments: Vec<String>,
    runs: usize,
    goal: f64,
}

impl Row {
    fn new(what: &'static str, arguments: &str, runs: usize, goal: f64) -> Self {
        Self { what, arguments: arguments.split_whitespace().map(str::to_owned).collect(), runs, goal }
    }

    fn with(mut self, more: &[String]) -> Self {
        self.arguments.extend_from_slice(more);
        self
    }
}

/// The binary: what `CYRANO` names, or the one beside this benchmark.
fn binary() -> PathBuf {
    let beside = || {
        let own = std::env::current_exe().ok()?;
        Some(own.parent()?.parent()?.join("cyrano"))
    };
    let named = std::env::var_os("CYRANO").map(PathBuf::from);
    named.or_else(beside).filter(|path| path.is_file()).unwrap_or_else(|| {
        eprintln!("there is no binary to measure; `cargo build --release -p cyrano` makes one");
        std::process::exit(2)
    })
}

/// The native litmus tests of the library.
fn library(binary: &Path) -> Vec<String> {
    let listed = Command::new(binary).args(["library", "list"]).output().expect("the binary runs");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with("lib:litmus/") && name.ends_with(".rml")).map(str::to_owned).collect()
}

/// Wall times in milliseconds, least first.
fn times(program: &Path, arguments: &[String], runs: usize) -> Vec<f64> {
    let once = || {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        command.status().expect("the program runs");
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut times: Vec<f64> = (0..runs).map(|_| once()).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn main() {
    let binary = binary();
    let files = library(&binary);
    println!("{} ({} native litmus tests)", binary.display(), files.len());
    let rows = [
        Row::new("start-up alone", "--version", 100, ONE),
        Row::new("one litmus test", "litmus lib:herd/SB.litmus", 100, ONE),
        Row::new("one native test, all models", "check lib:litmus/sb.rml", 100, ONE),
        Row::new("a larger one, all models", "check lib:litmus/fig4.rml", 100, ONE),
        Row::new("every test in herd's format", "litmus lib:herd", 10, ALL),
        Row::new("every native test, sc to rmo", "check --quiet --model sc,tso,pso,rmo", 10, ALL).with(&files),
        Row::new("every native test, as declared", "check --quiet", 3, ALL).with(&files),
    ];
    println!("{:<32} {:>10} {:>10} {:>10}", "", "least", "median", "goal");
    let floor = times(Path::new("true"), &[], 100);
    println!("{:<32} {:>7.2} ms {:>7.2} ms", "a process that does nothing", floor[0], floor[floor.len() / 2]);
    for row in rows {
        let times = times(&binary, &row.arguments, row.runs);
        let (least, median) = (times[0], times[times.len() / 2]);
        let (what, goal) = (row.what, row.goal);
        let missed = if least > goal { "  missed" } else { "" };
        println!("{what:<32} {least:>7.2} ms {median:>7.2} ms {goal:>7.0} ms{missed}");
    }
}

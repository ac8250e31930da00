//! States in files against states in memory, on an instance of at least 20 million states.
//!
//! `cargo bench -p cyrano-benches --bench disk`; `N=10` takes a smaller instance (philosophers), `WORKERS=1` one thread, `DIR=/scratch` another disk than
//! that of temporary files, which needs about 100 bytes for each state.
//! The rows: the explorer without ample sets; this search with enough memory; on disk with a quarter and a sixteenth of the memory that took.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cyrano_disk::{DiskSearch, Settings};
use cyrano_engine::{Answer, Engine, Limits, Query, Question};
use cyrano_explore::Explore;

const PHILOSOPHERS: &str = include_str!("spin/philosophers.rml");

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

struct Bench<'a> {
    query: Query<'a>,
    workers: usize,
    dir: PathBuf,
    rows: Vec<(String, Answer, f64)>,
}

impl Bench<'_> {
    fn row(&mut self, what: &str, engine: &dyn Engine, memory: u64) {
        let limits = Limits { memory, workers: self.workers, ..Limits::default() };
        let (start, busy) = (Instant::now(), processor_seconds());
        let answer = engine.ask(self.query, &limits, &());
        let (seconds, busy) = (start.elapsed().as_secs_f64(), processor_seconds() - busy);
        let rate = answer.stats.states as f64 / seconds;
        let slowdown = self.rows.last().map_or(1.0, |_| seconds / self.memory_seconds().unwrap_or(seconds));
        println!(
            "{what:<28} {:>10} {:>11} states {:>12} transitions {seconds:>8.1} s {busy:>8.1} s cpu {:>9.0} states/s {:>6} MiB  x {slowdown:.2}",
            answer.verdict.name(),
            answer.stats.states,
            answer.stats.transitions,
            rate,
            answer.stats.peak_bytes >> 20,
        );
        if let Some(reason) = &answer.reason {
            println!("  {reason}");
        }
        self.rows.push((what.to_owned(), answer, seconds));
    }

    fn memory_seconds(&self) -> Option<f64> {
        self.rows.iter().find(|(what, ..)| what.starts_with("files, all")).map(|(_, _, seconds)| *seconds)
    }

    fn in_files(&mut self, what: &str, spill: bool, memory: u64) {
        let dir = self.dir.join(format!("cyrano-bench-{}", std::process::id()));
        let every = Duration::from_secs(60);
        let settings = Settings { dir: dir.clone(), resume: false, every, about: Vec::new() };
        self.row(what, &DiskSearch::new(Explore::default(), settings, spill), memory);
        println!("  {} MiB of files", size(&dir) >> 20);
        let _ = std::fs::remove_dir_all(&dir);
    }
}

/// What this process has taken of all processors so far, where that is known: on a loaded machine it says more than wall time.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

fn size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn main() {
    let set = [("N".to_owned(), setting("N", 12) as i128)];
    let program = cyrano_rml::compile(PHILOSOPHERS, "philosophers", &set).expect("the benchmark compiles");
    let model = cyrano_memory::named("sc").expect("sc is a model");
    let property = program.checks[0].property.clone();
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    let workers = setting("WORKERS", 2) as usize;
    let dir = std::env::var_os("DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let mut bench = Bench { query, workers, dir, rows: Vec::new() };
    bench.row("explorer", &Explore { ample_sets: false, ..Explore::default() }, 16 << 30);
    bench.in_files("files, all in memory", false, 16 << 30);
    let needed = bench.rows.last().map_or(1 << 30, |(_, answer, _)| answer.stats.peak_bytes);
    bench.in_files("files, a quarter in memory", true, needed / 4);
    bench.in_files("files, a 16th in memory", true, needed / 16);
    let counts = |answer: &Answer| (answer.verdict, answer.stats.states, answer.stats.transitions, answer.stats.depth);
    let first = counts(&bench.rows[0].1);
    assert!(bench.rows.iter().all(|(_, answer, _)| counts(answer) == first), "the searches do not agree");
}

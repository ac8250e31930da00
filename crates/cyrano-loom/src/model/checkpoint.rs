//! A file that says how far a search is, so that it goes on from there when the test is run again.
//!
//! Lines of words: which test it is, what was counted, which numbers threads have, and the parts that are left ([`cyrano_graphs::native::Part`]).

use std::fmt::Write;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use cyrano_graphs::native::{Counts, Keep, Part, Progress};

use crate::rt::Common;
use crate::rt::names::Names;

/// The first word of such a file.
const HEAD: &str = "cyrano-loom-checkpoint-1";

/// Where it is kept how far a search is.
pub(crate) struct Checkpoint {
    file: PathBuf,
    /// The call of `model`, which names the test.
    place: String,
    interval: u64,
    /// How many executions there are now, and were when it was kept last.
    now: AtomicU64,
    kept: AtomicU64,
}

/// Keeps it.
pub(crate) struct Keeping<'a> {
    checkpoint: &'a Checkpoint,
    common: &'a Common,
}

impl Checkpoint {
    pub(crate) fn new(file: &std::path::Path, interval: usize, place: &Location<'_>) -> Self {
        let (now, kept) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { file: file.to_owned(), place: place.to_string(), interval: interval.max(1) as u64, now, kept }
    }

    /// So many executions were looked at.
    pub(crate) fn hears(&self, executions: u64) {
        self.now.store(executions, Ordering::Relaxed);
    }

    pub(crate) fn keeping<'a>(&'a self, common: &'a Common) -> Keeping<'a> {
        Keeping { checkpoint: self, common }
    }

    /// How far the search of this test was, if the file is there. Panics if it is none.
    pub(crate) fn read(&self, common: &Common) -> Option<Progress> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let file = self.file.display();
        let mut lines = text.lines();
        let head = lines.next().and_then(|line| line.strip_prefix(HEAD));
        assert!(head.is_some(), "`{file}` is no checkpoint");
        if head.map(str::trim) != Some(&self.place) {
            // Another test of this run has written it.
            return None;
        }
        let Some((progress, threads)) = parse(lines) else { panic!("`{file}` is no checkpoint, or not a whole one") };
        *common.names.lock().unwrap_or_else(PoisonError::into_inner) = Names::with_threads(threads);
        self.now.store(progress.counts.executions, Ordering::Relaxed);
        self.kept.store(progress.counts.executions, Ordering::Relaxed);
        Some(progress)
    }
}

impl Keep for Keeping<'_> {
    fn is_due(&self) -> bool {
        let Checkpoint { now, kept, interval, .. } = self.checkpoint;
        now.load(Ordering::Relaxed) >= kept.load(Ordering::Relaxed) + interval
    }

    fn keep(&self, progress: &Progress) {
        let checkpoint = self.checkpoint;
        checkpoint.kept.store(checkpoint.now.load(Ordering::Relaxed), Ordering::Relaxed);
        let names = self.common.names.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text(&checkpoint.place, progress, names.threads());
        drop(names);
        // As a whole or not at all.
        let new = checkpoint.file.with_extension("new");
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &checkpoint.file));
        if let Err(error) = written {
            eprintln!("warning: the checkpoint `{}` was not written: {error}", checkpoint.file.display());
        }
    }
}

fn text(place: &str, progress: &Progress, threads: &[Vec<usize>]) -> String {
    let Counts { executions, blocked, events, depth, levels } = progress.counts;
    let mut text = format!("{HEAD} {place}\ncounts {executions} {blocked} {events} {depth} {levels}\n");
    let _ = writeln!(text, "share {}", progress.share);
    for by in threads {
        let _ = writeln!(text, "threads {}", words(by));
    }
    for part in &progress.parts {
        let (from, to) = part.left.unwrap_or_default();
        let _ = writeln!(text, "part {from} {to} {}", words(&part.path));
    }
    text + "end\n"
}

fn words<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Option<(Progress, Vec<Vec<usize>>)> {
    let (mut progress, mut threads) = (Progress::default(), Vec::new());
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split_whitespace();
        match word {
            "counts" => {
                let counts: Vec<u64> = numbers().map(|word| word.parse().ok()).collect::<Option<_>>()?;
                let &[executions, blocked, events, depth, levels] = counts.as_slice() else { return None };
                progress.counts = Counts { executions, blocked, events, depth, levels };
            }
            "share" => progress.share = rest.parse().ok()?,
            "threads" => threads.push(numbers().map(|word| word.parse().ok()).collect::<Option<_>>()?),
            "part" => {
                let all: Vec<u16> = numbers().map(|word| word.parse().ok()).collect::<Option<_>>()?;
                let (&[from, to], path) = all.split_first_chunk::<2>()?;
                let left = (from < to).then_some((from, to));
                progress.parts.push(Part { start: 0, path: path.to_vec(), left });
            }
            "end" => return Some((progress, threads)),
            _ => return None,
        }
    }
    None
}

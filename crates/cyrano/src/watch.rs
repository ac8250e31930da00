//! `--watch`: the same again whenever a file that was read changes.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use cyrano_session::Failure;

use crate::args::OutputArgs;
use crate::{console, failure, interrupt, source};

/// How often files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// How long nothing may change before a change is taken for whole: editors write a file in several steps.
const SETTLED: Duration = Duration::from_millis(50);

/// Empties the screen and goes to its top; what has scrolled by stays.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// A file as it was seen: when it was changed and how long it is; nothing if it is not there.
type Seen = Option<(SystemTime, u64)>;

/// Runs a command again and again until the first interrupt. Its value is that of the last run.
pub fn again(output: &OutputArgs, run: impl Fn() -> Result<u8, Failure>) -> Result<u8, Failure> {
    let stop = interrupt::install()?;
    loop {
        if std::io::stdout().is_terminal() && !console::is_dumb() {
            console::print_raw(CLEAR)?;
        }
        // A change while the command runs counts, too.
        let started = SystemTime::now();
        let result = run();
        if let Err(failure) = &result {
            console::error(&failure::message(failure, console::error_color(output.color)));
        }
        let exit = result.as_ref().map_or_else(failure::exit_code, |exit| *exit);
        let files = files();
        let seen: Vec<Seen> = files.iter().map(look).collect();
        let changed = |seen: &Seen| seen.is_none_or(|(at, _)| at > started);
        if files.is_empty() || exit == failure::INTERNAL || stop.load(Ordering::SeqCst) {
            return Ok(exit);
        }
        let noun = if files.len() == 1 { "file" } else { "files" };
        console::note(output, &format!("watching {} {noun}; Ctrl-C ends", files.len()));
        if seen.iter().any(changed) {
            continue;
        }
        while files.iter().map(look).eq(seen.iter().copied()) {
            if stop.load(Ordering::SeqCst) {
                return Ok(exit);
            }
            std::thread::sleep(PAUSE);
        }
        settle(&files);
    }
}

/// Waits until files stay as they are, and are there.
fn settle(files: &BTreeSet<PathBuf>) {
    // A file that is gone for good is complained about by the next run.
    for _ in 0..20 {
        let before: Vec<Seen> = files.iter().map(look).collect();
        std::thread::sleep(SETTLED);
        if before.iter().all(Option::is_some) && files.iter().map(look).eq(before) {
            return;
        }
    }
}

fn files() -> BTreeSet<PathBuf> {
    source::inputs().iter().map(|name| name.path().to_owned()).collect()
}

fn look(path: &PathBuf) -> Seen {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

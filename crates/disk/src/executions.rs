//! Checkpoints of a search on execution graphs.
//!
//! Such a search needs no disk to go on, only to go on later: what is left of it are a few paths through its tree ([`cyrano_graphs::Part`]), which are lines of the
//! manifest, and so are counts and observations. There is no other file.
//!
//! ```text
//! executions COMPLETE BLOCKED EVENTS DEPTH LEVELS     what was counted
//! part START FROM-TO|all PATH                         what is left, the numbers of a path with dots between
//! ```

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cyrano_checkpoint::files::make_dir;
use cyrano_checkpoint::heading::{Heading, identity_with, must_agree, now, numbers};
use cyrano_checkpoint::lock::Lock;
use cyrano_checkpoint::manifest::Manifest;
use cyrano_checkpoint::{Error, Result, Settings};
use cyrano_engine::{Answer, Limits, Query, Watch};
use cyrano_graphs::{Counts, Graphs, Keep, Part, Progress, Seen};
use cyrano_ir::{InstrId, ThreadId};

/// The engine on execution graphs, with checkpoints.
#[derive(Clone, Debug)]
pub struct KeptGraphs {
    /// The engine.
    pub graphs: Graphs,
    /// Where and how.
    pub settings: Settings,
}

impl KeptGraphs {
    /// Answers a query that the engine supports; trouble with files is an error.
    pub fn run(&self, query: &Query<'_>, limits: &Limits, watch: &dyn Watch) -> Result<Answer> {
        let dir = &self.settings.dir;
        make_dir(dir)?;
        let _lock = Lock::take(dir)?;
        // How often somebody looks is no matter of what is found.
        let switches = format!("{:?}", Graphs { pace: 0, patience: 0, ..self.graphs });
        let identity = identity_with(query, &switches, ("iterations", limits.iterations));
        let saved = self.load(&identity)?;
        let (from, before) = saved.map_or((None, 0.0), |saved| (Some(saved.progress), saved.seconds));
        let heading = Heading { identity, about: self.settings.about.clone(), widened: Vec::new() };
        let (started, failed) = (Instant::now(), Mutex::new(None));
        let (last, full) = (Mutex::new(Instant::now()), AtomicBool::new(false));
        let keeper = Keeper { settings: &self.settings, heading, before, started, last, full, failed };
        let mut answer = self.graphs.ask_kept(query, limits, watch, &keeper, from);
        answer.stats.seconds = before + started.elapsed().as_secs_f64();
        match keeper.failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            // What cannot be kept is not the end of a search; but whoever relies on it has to know.
            Some(error) if answer.reason.as_ref().and_then(cyrano_engine::Cause::stop).is_some() => Err(error),
            _ => Ok(answer),
        }
    }

    fn load(&self, identity: &[(String, String)]) -> Result<Option<Saved>> {
        let dir = &self.settings.dir;
        if !self.settings.resume {
            return if Manifest::exists(dir) { Err(Error::Occupied(dir.clone())) } else { Ok(None) };
        }
        let text = Manifest::load(dir)?;
        must_agree(&Heading::of(&text)?.identity, identity)?;
        Saved::of(&text).map(Some)
    }
}

/// What is in a checkpoint of a search on execution graphs, for people; none if there is none of that kind.
pub fn executions(dir: &Path) -> Result<Option<Executions>> {
    let text = Manifest::load(dir)?;
    if text.get(COUNTED).is_none() {
        return Ok(None);
    }
    let heading = Heading::of(&text)?;
    let Saved { progress, seconds } = Saved::of(&text)?;
    let Heading { identity, about, .. } = heading;
    Ok(Some(Executions { identity, about, progress, seconds, time: text.need("time")? }))
}

/// What is in a checkpoint of a search on execution graphs.
#[derive(Clone, PartialEq, Debug)]
pub struct Executions {
    /// Which search it is of, by name.
    pub identity: Vec<(String, String)>,
    /// What was said about it when it began, by name.
    pub about: Vec<(String, String)>,
    /// How far it has come.
    pub progress: Progress,
    /// How long that took.
    pub seconds: f64,
    /// When it was written, in seconds since 1970.
    pub time: u64,
}

/// Writes manifests.
struct Keeper<'a> {
    settings: &'a Settings,
    heading: Heading,
    before: f64,
    started: Instant,
    last: Mutex<Instant>,
    /// Whether nothing more can be written.
    full: AtomicBool,
    failed: Mutex<Option<Error>>,
}

impl Keep for Keeper<'_> {
    fn is_due(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        !self.full.load(Ordering::Relaxed) && last.elapsed() >= self.settings.every
    }

    fn keep(&self, progress: &Progress) {
        let seconds = self.before + self.started.elapsed().as_secs_f64();
        let mut out = Manifest::default();
        self.heading.add_to(&mut out);
        out.add("time", now());
        add(&mut out, progress, seconds);
        let saved = out.save(&self.settings.dir);
        self.full.store(saved.is_err(), Ordering::Relaxed);
        *self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = saved.err();
        *self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
    }
}

/// The key of what was counted.
const COUNTED: &str = "executions";

fn add(out: &mut Manifest, progress: &Progress, seconds: f64) {
    let Progress { counts, share, seen, parts } = progress;
    let Counts { executions, blocked, events, depth, levels } = counts;
    out.add("seconds", seconds);
    out.add(COUNTED, format_args!("{executions} {blocked} {events} {depth} {levels}"));
    out.add("share", share);
    let Seen { flags, unrolled, limited, ended, asserted, unsure, outcomes } = seen;
    let bits = [unrolled, ended, asserted, unsure].map(|bit| u8::from(*bit).to_string());
    out.add("seen", bits.join(" "));
    if let Some((thread, instr)) = limited {
        out.add("limited", format_args!("{} {}", thread.index(), instr.index()));
    }
    flags.iter().for_each(|flag| out.add("flag", flag));
    for outcome in outcomes {
        out.add("outcome", outcome.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    }
    for Part { start, path, left } in parts {
        let mut line = format!("{start} ");
        let _ = match left {
            Some((from, to)) => write!(line, "{from}-{to} "),
            None => write!(line, "all "),
        };
        line.push_str(&path.iter().map(ToString::to_string).collect::<Vec<_>>().join("."));
        out.add("part", line);
    }
}

/// What is read of a manifest.
struct Saved {
    progress: Progress,
    seconds: f64,
}

impl Saved {
    fn of(text: &Manifest) -> Result<Self> {
        let senseless = |key: &str| text.senseless(key);
        let counted = text.get(COUNTED).and_then(numbers::<u64>);
        let Some(&[executions, blocked, events, depth, levels]) = counted.as_deref() else {
            return Err(senseless(COUNTED));
        };
        let bits = text.get("seen").and_then(numbers::<u8>);
        let Some(&[unrolled, ended, asserted, unsure]) = bits.as_deref() else { return Err(senseless("seen")) };
        let place = |line: &str| match numbers::<usize>(line)?[..] {
            [thread, instr] => Some((ThreadId::new(thread), InstrId::new(instr))),
            _ => None,
        };
        let limited = text.get("limited").map(|line| place(line).ok_or_else(|| senseless("limited"))).transpose()?;
        let outcomes: Option<_> = text.all("outcome").map(numbers::<i128>).collect();
        let parts: Option<_> = text.all("part").map(part).collect();
        let seen = Seen {
            flags: text.all("flag").map(str::to_owned).collect(),
            unrolled: unrolled != 0,
            limited,
            ended: ended != 0,
            asserted: asserted != 0,
            unsure: unsure != 0,
            outcomes: outcomes.ok_or_else(|| senseless("outcome"))?,
        };
        let progress = Progress {
            counts: Counts { executions, blocked, events, depth, levels },
            share: text.need("share")?,
            seen,
            parts: parts.ok_or_else(|| senseless("part"))?,
        };
        Ok(Self { progress, seconds: text.need("seconds")? })
    }
}

fn part(line: &str) -> Option<Part> {
    let mut words = line.splitn(3, ' ');
    let (start, left, path) = (words.next()?, words.next()?, words.next()?);
    let left = match left {
        "all" => None,
        range => Some(range.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)))?),
    };
    let path: Option<Vec<u16>> =
        path.split('.').filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect();
    Some(Part { start: start.parse().ok()?, path: path?, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read() {
        let seen = Seen {
            flags: ["data-race".to_owned()].into(),
            limited: Some((ThreadId::new(1), InstrId::new(7))),
            unsure: true,
            outcomes: [vec![1, -2], vec![]].into(),
            ..Seen::default()
        };
        let parts = vec![
            Part { start: 0, path: vec![], left: None },
            Part { start: 0, path: vec![0, 12], left: Some((1, 3)) },
            Part { start: 2, path: vec![3], left: None },
        ];
        let counts = Counts { executions: 1, blocked: 2, events: 3, depth: 4, levels: 5 };
        let progress = Progress { counts, share: 0.1 + 0.2, seen, parts };
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut out = Manifest::default();
        add(&mut out, &progress, 1.5);
        out.save(dir.path()).expect("it can be saved");
        let text = Manifest::load(dir.path()).expect("it can be loaded");
        let saved = Saved::of(&text).expect("it can be read");
        assert_eq!((saved.progress, saved.seconds), (progress, 1.5));
        for line in ["", "0", "0 all", "0 1-2-3 4", "0 - 4", "0 all 1.x", "a all 1", "0 70000-2 1"] {
            assert_eq!(part(line), None, "{line}");
        }
    }
}

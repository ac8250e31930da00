//! What a checkpoint says: which search it is of, how far that has come, and which files count.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cyrano_engine::{Limits, Query, Question};
use cyrano_explore::{Explore, Summary, Wrong};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::files::Sum;
use crate::manifest::Manifest;
use crate::store::PARTS;

/// Which form the files of a checkpoint have; every change of it has another number.
const FILES: u32 = 2;

/// How far a search has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Progress {
    pub log: Sum,
    /// What the numbers in states mean, if these are packed.
    pub parts: Option<Sum>,
    pub states: u64,
    pub depth: u64,
    /// The number of the first state that has not been expanded.
    pub position: u64,
    /// Where the level ends to which that one belongs.
    pub level_end: u64,
    pub summary: Summary,
    pub seconds: f64,
    pub end: End,
}

/// Whether there is more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum End {
    #[default]
    Open,
    /// All states are known.
    Complete,
    /// Something goes wrong at the state of this number.
    Found(Wrong, u64),
}

/// A run in a manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RunLine {
    pub part: usize,
    pub number: u64,
    pub sum: Sum,
    pub states: u64,
}

/// A checkpoint.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Saved {
    /// What must be the same when it is resumed, by name.
    pub identity: Vec<(String, String)>,
    /// What a user may want to know, by name.
    pub about: Vec<(String, String)>,
    /// What the searches before found out that had to give up because timestamps were too close together.
    pub widened: Vec<u32>,
    pub progress: Progress,
    pub in_runs: u64,
    pub runs: Vec<RunLine>,
    pub time: u64,
}

/// What tells one search from another.
pub(crate) fn identity(query: Query<'_>, explore: &Explore, limits: &Limits) -> Vec<(String, String)> {
    let text = cyrano_ir::text::print(query.program);
    let question = match query.question {
        Question::Outcomes => "outcomes".to_owned(),
        Question::Holds(property) => {
            let whole = xxh3_64(format!("{property:?}").as_bytes());
            format!("{} ({whole:016x})", property.criterion())
        }
    };
    let model = format!("{} ({:016x})", query.model.name, xxh3_64(format!("{:?}", query.model).as_bytes()));
    let program = format!("{} ({:016x})", query.program.name, xxh3_64(text.as_bytes()));
    let mut lines = vec![
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("files".to_owned(), FILES.to_string()),
        ("program".to_owned(), program),
        ("model".to_owned(), model),
        ("check".to_owned(), question),
        ("deferred".to_owned(), limits.deferred.to_string()),
    ];
    // The explorer's switches, by their names.
    let switches = format!("{explore:?}");
    let inside = switches.trim_start_matches("Explore { ").trim_end_matches(" }");
    let pairs = inside.split(", ").filter_map(|pair| pair.split_once(": "));
    lines.extend(pairs.map(|(name, value)| (name.replace('_', "-"), value.to_owned())));
    lines
}

/// An error that names the differences if these are not the same searches.
pub(crate) fn must_agree(saved: &[(String, String)], now: &[(String, String)]) -> Result<()> {
    let value = |lines: &[(String, String)], name: &str| {
        lines.iter().find(|(n, _)| n == name).map_or_else(|| "nothing".to_owned(), |(_, value)| value.clone())
    };
    let mut differences = Vec::new();
    for (name, _) in saved.iter().chain(now.iter().filter(|(name, _)| saved.iter().all(|(n, _)| n != name))) {
        let (old, new) = (value(saved, name), value(now, name));
        if old != new {
            differences.push(format!("{name}: the checkpoint has {old}, this run has {new}"));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(Error::Different(differences)) }
}

impl Saved {
    pub fn save(&self, dir: &Path) -> Result<()> {
        let mut out = Manifest::default();
        self.identity.iter().for_each(|(name, value)| out.add("identity", format_args!("{name} {value}")));
        self.about.iter().for_each(|(name, value)| out.add("about", format_args!("{name} {value}")));
        self.widened.iter().for_each(|notes| out.add("widened", notes));
        let Progress { log, parts, states, depth, position, level_end, summary, seconds, end } = &self.progress;
        out.add("time", self.time);
        out.add("seconds", seconds);
        out.add("depth", depth);
        out.add("position", position);
        out.add("level-end", level_end);
        out.add("end", end_text(*end));
        out.add("transitions", summary.transitions);
        out.add("ended", summary.ended);
        out.add("notes", summary.notes);
        if let Some((thread, pc)) = summary.limited {
            out.add("limited", format_args!("{thread} {pc}"));
        }
        for outcome in &summary.outcomes {
            out.add("outcome", numbers(outcome));
        }
        out.add("in-runs", self.in_runs);
        if let Some(sum) = parts {
            out.add("parts", sum_text(*sum));
        }
        out.add("states", format_args!("{states} {}", sum_text(*log)));
        for RunLine { part, number, sum, states } in &self.runs {
            out.add("run", format_args!("{part} {number} {states} {}", sum_text(*sum)));
        }
        out.save(dir)
    }

    pub fn load(dir: &Path) -> Result<Self> {
        let text = Manifest::load(dir)?;
        let pairs = |key: &str| -> Vec<(String, String)> {
            let pair = |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.to_owned()));
            text.all(key).map(|line| pair(line).unwrap_or_else(|| (line.to_owned(), String::new()))).collect()
        };
        let wrong = |what: &str| text.wrong(&format!("`{what}` makes no sense"));
        let limited = text.get("limited").map(|line| {
            let words = words::<u64>(line)?;
            Some((usize::try_from(*words.first()?).ok()?, u32::try_from(*words.get(1)?).ok()?))
        });
        let outcomes: Option<_> = text.all("outcome").map(words::<i128>).collect();
        let summary = Summary {
            transitions: text.need("transitions")?,
            ended: text.need("ended")?,
            outcomes: outcomes.ok_or_else(|| wrong("outcome"))?,
            notes: text.need("notes")?,
            limited: limited.map(|found| found.ok_or_else(|| wrong("limited"))).transpose()?,
        };
        let log = text.get("states").and_then(words::<u64>).filter(|words| words.len() == 4);
        let log = log.ok_or_else(|| wrong("states"))?;
        let parts = text.get("parts").map(|line| words::<u64>(line).filter(|words| words.len() == 3));
        let parts = parts.map(|found| found.ok_or_else(|| wrong("parts"))).transpose()?;
        let end = text.get("end").and_then(end_from).ok_or_else(|| wrong("end"))?;
        let progress = Progress {
            log: sum_from(&log[1..]),
            parts: parts.as_deref().map(sum_from),
            states: log[0],
            depth: text.need("depth")?,
            position: text.need("position")?,
            level_end: text.need("level-end")?,
            summary,
            seconds: text.need("seconds")?,
            end,
        };
        let run = |line: &str| {
            let words = words::<u64>(line).filter(|words| words.len() == 6)?;
            let part = usize::try_from(words[0]).ok().filter(|part| *part < PARTS)?;
            Some(RunLine { part, number: words[1], states: words[2], sum: sum_from(&words[3..]) })
        };
        let runs: Option<Vec<RunLine>> = text.all("run").map(run).collect();
        let widened: Option<Vec<u32>> = text.all("widened").map(|line| line.parse().ok()).collect();
        Ok(Self {
            identity: pairs("identity"),
            about: pairs("about"),
            widened: widened.ok_or_else(|| wrong("widened"))?,
            progress,
            in_runs: text.need("in-runs")?,
            runs: runs.ok_or_else(|| wrong("run"))?,
            time: text.need("time")?,
        })
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

fn sum_text(sum: Sum) -> String {
    format!("{} {} {}", sum.length, sum.blocks, sum.chain)
}

fn sum_from(words: &[u64]) -> Sum {
    Sum { length: words[0], blocks: words[1], chain: words[2] }
}

fn words<T: std::str::FromStr>(line: &str) -> Option<Vec<T>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn numbers(values: &[i128]) -> String {
    values.iter().map(i128::to_string).collect::<Vec<_>>().join(" ")
}

fn end_text(end: End) -> String {
    match end {
        End::Open => "open".to_owned(),
        End::Complete => "complete".to_owned(),
        End::Found(Wrong::Here, number) => format!("state {number}"),
        End::Found(Wrong::InStep, number) => format!("step {number}"),
    }
}

fn end_from(text: &str) -> Option<End> {
    match text.split_once(' ') {
        None if text == "open" => Some(End::Open),
        None if text == "complete" => Some(End::Complete),
        Some(("state", number)) => Some(End::Found(Wrong::Here, number.parse().ok()?)),
        Some(("step", number)) => Some(End::Found(Wrong::InStep, number.parse().ok()?)),
        _ => None,
    }
}

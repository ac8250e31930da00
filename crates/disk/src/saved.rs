//! What a checkpoint says: which search it is of, how far that has come, and which files count.

use std::path::Path;

use cyrano_checkpoint::Result;
use cyrano_checkpoint::files::Sum;
use cyrano_checkpoint::heading::{Heading, add_summary, numbers, read_summary};
use cyrano_checkpoint::manifest::Manifest;
use cyrano_explore::{Summary, Wrong};

use crate::store::PARTS;

/// How far a search has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Reached {
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
    pub heading: Heading,
    pub progress: Reached,
    pub in_runs: u64,
    pub runs: Vec<RunLine>,
    pub time: u64,
}

impl Saved {
    pub fn save(&self, dir: &Path) -> Result<()> {
        let mut out = Manifest::default();
        self.heading.add_to(&mut out);
        let Reached { log, parts, states, depth, position, level_end, summary, seconds, end } = &self.progress;
        out.add("time", self.time);
        out.add("seconds", seconds);
        out.add("depth", depth);
        out.add("position", position);
        out.add("level-end", level_end);
        out.add("end", end_text(*end));
        add_summary(&mut out, "", summary);
        out.add("in-runs", self.in_runs);
        if let Some(sum) = parts {
            out.add("parts", sum);
        }
        out.add("states", format_args!("{states} {log}"));
        for RunLine { part, number, sum, states } in &self.runs {
            out.add("run", format_args!("{part} {number} {states} {sum}"));
        }
        out.save(dir)
    }

    pub fn load(dir: &Path) -> Result<Self> {
        let text = Manifest::load(dir)?;
        let log = text.get("states").and_then(|line| line.split_once(' '));
        let log = log.and_then(|(states, sum)| Some((states.parse().ok()?, sum.parse().ok()?)));
        let (states, log) = log.ok_or_else(|| text.senseless("states"))?;
        let parts = text.get("parts").map(|line| line.parse().map_err(|()| text.senseless("parts"))).transpose()?;
        let end = text.get("end").and_then(end_from).ok_or_else(|| text.senseless("end"))?;
        let progress = Reached {
            log,
            parts,
            states,
            depth: text.need("depth")?,
            position: text.need("position")?,
            level_end: text.need("level-end")?,
            summary: read_summary(&text, "")?,
            seconds: text.need("seconds")?,
            end,
        };
        let run = |line: &str| {
            let [part, number, states, length, blocks, chain] = numbers::<u64>(line)?.try_into().ok()?;
            let part = usize::try_from(part).ok().filter(|part| *part < PARTS)?;
            Some(RunLine { part, number, states, sum: Sum { length, blocks, chain } })
        };
        let runs: Option<Vec<RunLine>> = text.all("run").map(run).collect();
        Ok(Self {
            heading: Heading::of(&text)?,
            progress,
            in_runs: text.need("in-runs")?,
            runs: runs.ok_or_else(|| text.senseless("run"))?,
            time: text.need("time")?,
        })
    }
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

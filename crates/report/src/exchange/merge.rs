//! Joins the reports of several runs into one.
//!
//! Shards of one campaign come back in the order of the whole, so that all of them together are the report of a run without shards.
//! Reports of whole runs are put one behind the other. A result that several reports have counts once if they agree on it.
//!
//! **Invariant:** nothing is made up and nothing is lost quietly: what is missing is named in [`Merged::shard`], and reports that contradict one
//! another, or come from different commands, files or versions, are refused.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::exchange::saved::{Saved, SavedReport};
use crate::exchange::shard::ShardReport;
use crate::results::checks::CheckReport;
use crate::results::litmus::LitmusReport;

/// What became of several reports.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The results.
    pub results: Saved,
    /// Which part of a campaign they are; none if nothing is missing.
    pub shard: Option<ShardReport>,
    /// How many results were in more than one report.
    pub repeated: usize,
}

/// Joins reports; the error says why they do not go together.
pub fn merge(reports: Vec<SavedReport>) -> Result<Merged, String> {
    let Some((first, rest)) = reports.split_first() else { return Err("there is no report to join".to_owned()) };
    for other in rest {
        go_together(first, other)?;
    }
    let all_shards = first.shard.is_some();
    let shard = first.shard.clone().map(|first| joined(first, rest)).filter(|shard| !shard.missing().is_empty());
    let mut checks = Vec::new();
    let mut tests = Vec::new();
    let of_checks = matches!(first.results, Saved::Checks(_));
    for report in reports {
        let positions = report.shard.as_ref().map(ShardReport::positions);
        match report.results {
            Saved::Checks(results) => checks.push(Part { name: report.name, positions, results }),
            Saved::Litmus(results) => tests.push(Part { name: report.name, positions, results }),
        }
    }
    let (results, repeated) = if of_checks {
        let (checks, repeated) = join(checks, all_shards)?;
        (Saved::Checks(checks), repeated)
    } else {
        let (tests, repeated) = join(tests, all_shards)?;
        (Saved::Litmus(tests), repeated)
    };
    Ok(Merged { results, shard, repeated })
}

/// Whether two reports can be joined.
fn go_together(first: &SavedReport, other: &SavedReport) -> Result<(), String> {
    let (a, b) = (&first.name, &other.name);
    if first.version != other.version {
        return Err(format!("{b} was written by cyrano {}, but {a} by cyrano {}", other.version, first.version));
    }
    let kind = |report: &SavedReport| match report.results {
        Saved::Checks(_) => "checks",
        Saved::Litmus(_) => "litmus tests",
    };
    if kind(first) != kind(other) {
        return Err(format!("{b} is a report of {}, but {a} of {}", kind(other), kind(first)));
    }
    match (&first.shard, &other.shard) {
        (None, None) => Ok(()),
        (Some(one), Some(two)) => same_campaign(one, two)
            .map_err(|difference| format!("{b} and {a} are not shards of the same campaign: {difference}")),
        (Some(shard), None) => Err(format!("{a} is {}, but {b} is no shard", shard.name())),
        (None, Some(shard)) => Err(format!("{b} is {}, but {a} is no shard", shard.name())),
    }
}

/// Whether two shards are parts of the same whole; the error is the difference, the second one first.
fn same_campaign(one: &ShardReport, two: &ShardReport) -> Result<(), String> {
    if one.command != two.command {
        return Err(format!("the command is `{}` there and `{}` here", two.command, one.command));
    }
    if one.count != two.count {
        return Err(format!("there are {} shards there and {} here", two.count, one.count));
    }
    let names = one.options.keys().chain(two.options.keys());
    for name in names {
        let shown = |shard: &ShardReport| match shard.options.get(name) {
            None => "not given".to_owned(),
            Some(values) => format!("`{}`", values.join(", ")),
        };
        if one.options.get(name) != two.options.get(name) {
            return Err(format!("{name} is {} there and {} here", shown(two), shown(one)));
        }
    }
    let files = one.inputs.keys().chain(two.inputs.keys());
    if let Some(file) = files.into_iter().find(|file| one.inputs.get(*file) != two.inputs.get(*file)) {
        return Err(format!("{file}, or what it is checked with, is not the same"));
    }
    if one.checks != two.checks {
        return Err(format!("there are {} checks there and {} here", two.checks, one.checks));
    }
    Ok(())
}

/// The first shard with the indices of the others too.
fn joined(mut first: ShardReport, rest: &[SavedReport]) -> ShardReport {
    first.indices.extend(rest.iter().filter_map(|report| report.shard.as_ref()).flat_map(|shard| &shard.indices));
    first.indices.sort_unstable();
    first.indices.dedup();
    first
}

/// The results of one report.
struct Part<T> {
    name: String,
    /// Their places in the whole, if this is a shard.
    positions: Option<Vec<usize>>,
    results: Vec<T>,
}

/// Puts results in order, each once; the number says how many there were more than once.
fn join<T: Outcome>(parts: Vec<Part<T>>, shards: bool) -> Result<(Vec<T>, usize), String> {
    let mut whole: BTreeMap<usize, (T, String)> = BTreeMap::new();
    // Whole runs: the place of a check, which a run may have had several times.
    let mut places: HashMap<(String, usize), usize> = HashMap::new();
    let mut repeated = 0;
    for part in parts {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (at, result) in part.results.into_iter().enumerate() {
            let subject = result.subject();
            let place = if shards {
                part.positions.as_ref().and_then(|positions| positions.get(at).copied()).unwrap_or(at)
            } else {
                let times = seen.entry(subject.clone()).or_default();
                *times += 1;
                let next = places.len();
                *places.entry((subject.clone(), *times)).or_insert(next)
            };
            match whole.entry(place) {
                Entry::Vacant(free) => {
                    free.insert((result, part.name.clone()));
                }
                Entry::Occupied(known) => {
                    repeated += 1;
                    agree(known.get(), &(result, part.name.clone()))?;
                }
            }
        }
    }
    Ok((whole.into_values().map(|(result, _)| result).collect(), repeated))
}

fn agree<T: Outcome>(one: &(T, String), two: &(T, String)) -> Result<(), String> {
    let ((first, a), (second, b)) = (one, two);
    if first.subject() != second.subject() {
        let (one, two) = (first.subject(), second.subject());
        return Err(format!("{b} has `{two}` where {a} has `{one}`"));
    }
    if first.conclusion() != second.conclusion() {
        let (subject, one, two) = (first.subject(), first.conclusion(), second.conclusion());
        return Err(format!("`{subject}` is {two} in {b}, but {one} in {a}; leave one of them out"));
    }
    Ok(())
}

/// A result of any kind.
trait Outcome {
    /// What was checked.
    fn subject(&self) -> String;
    /// What came out, without what it cost.
    fn conclusion(&self) -> String;
}

impl Outcome for CheckReport {
    fn subject(&self) -> String {
        let set = self.set.iter().map(|(name, value)| format!(", {name} = {value}"));
        let instance = self.instance.iter().map(|(name, size)| format!(", {name} = {size}"));
        let sizes: String = set.chain(instance).collect();
        format!("{}: {} on {}{sizes}", self.file, self.title(), self.model.as_deref().unwrap_or("-"))
    }

    fn conclusion(&self) -> String {
        self.verdict.name().to_owned()
    }
}

impl Outcome for LitmusReport {
    fn subject(&self) -> String {
        format!("{}: {} on {}", self.file, self.name, self.model)
    }

    fn conclusion(&self) -> String {
        let holds = match self.holds {
            Some(true) => ", holds",
            Some(false) => ", does not hold",
            None => "",
        };
        let differs = if self.differs { ", not as expected" } else { "" };
        let disagreement = if self.disagreement.is_some() { ", engines disagree" } else { "" };
        format!("{}{holds}{differs}{disagreement}", self.outcome())
    }
}

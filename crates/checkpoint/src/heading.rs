//! What every checkpoint says: which search it is of, and what that has found out beside states.

use std::fmt::Display;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cyrano_engine::{Limits, Query, Question};
use cyrano_explore::{Explore, Summary};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::manifest::Manifest;

/// Which form the files of a checkpoint have; every change of it has another number.
const FILES: u32 = 3;

/// Which search a checkpoint is of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Heading {
    /// What must be the same when it is resumed, by name.
    pub identity: Vec<(String, String)>,
    /// What a user may want to know, by name.
    pub about: Vec<(String, String)>,
    /// What the searches before found out that had to give up because timestamps were too close together.
    pub widened: Vec<u32>,
}

impl Heading {
    /// Writes it into a manifest.
    pub fn add_to(&self, out: &mut Manifest) {
        self.identity.iter().for_each(|(name, value)| out.add("identity", format_args!("{name} {value}")));
        self.about.iter().for_each(|(name, value)| out.add("about", format_args!("{name} {value}")));
        self.widened.iter().for_each(|notes| out.add("widened", notes));
    }

    /// Reads that of a manifest.
    pub fn of(text: &Manifest) -> Result<Self> {
        let pairs = |key: &str| -> Vec<(String, String)> {
            let pair = |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.to_owned()));
            text.all(key).map(|line| pair(line).unwrap_or_else(|| (line.to_owned(), String::new()))).collect()
        };
        let widened: Option<Vec<u32>> = text.all("widened").map(|line| line.parse().ok()).collect();
        let widened = widened.ok_or_else(|| text.senseless("widened"))?;
        Ok(Self { identity: pairs("identity"), about: pairs("about"), widened })
    }
}

/// What tells one search of the explorer from another.
pub fn identity(query: Query<'_>, explore: &Explore, limits: &Limits) -> Vec<(String, String)> {
    identity_with(&query, &format!("{explore:?}"), ("deferred", limits.deferred))
}

/// What tells one search from another, of an engine with these switches, as its debug output has them, and this bound.
pub fn identity_with(query: &Query<'_>, switches: &str, (bound, most): (&str, usize)) -> Vec<(String, String)> {
    let text = cyrano_ir::text::print(query.program());
    let question = match query.question() {
        Question::Outcomes => "outcomes".to_owned(),
        Question::Holds(property) => {
            let whole = xxh3_64(format!("{property:?}").as_bytes());
            format!("{} ({whole:016x})", property.criterion())
        }
    };
    let model = format!("{} ({:016x})", query.model().name, xxh3_64(format!("{:?}", query.model()).as_bytes()));
    let program = format!("{} ({:016x})", query.program().name, xxh3_64(text.as_bytes()));
    let mut lines = vec![
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("files".to_owned(), FILES.to_string()),
        ("program".to_owned(), program),
        ("model".to_owned(), model),
        ("check".to_owned(), question),
        (bound.to_owned(), most.to_string()),
    ];
    let inside = switches.split_once("{ ").map_or(switches, |(_, inside)| inside).trim_end_matches(" }");
    let pairs = inside.split(", ").filter_map(|pair| pair.split_once(": "));
    lines.extend(pairs.map(|(name, value)| (name.replace('_', "-"), value.to_owned())));
    lines
}

/// An error that names the differences if these are not the same searches.
pub fn must_agree(saved: &[(String, String)], now: &[(String, String)]) -> Result<()> {
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

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

/// Writes a summary, with this behind the keys.
pub fn add_summary(out: &mut Manifest, suffix: &str, summary: &Summary) {
    let Summary { transitions, ended, outcomes, notes, limited } = summary;
    out.add(&format!("found{suffix}"), format_args!("{transitions} {} {notes}", u8::from(*ended)));
    if let Some((thread, pc)) = limited {
        out.add(&format!("limited{suffix}"), format_args!("{thread} {pc}"));
    }
    for outcome in outcomes {
        out.add(&format!("outcome{suffix}"), joined(outcome));
    }
}

/// Reads what was written like that.
pub fn read_summary(text: &Manifest, suffix: &str) -> Result<Summary> {
    let [found, limited, outcome] = ["found", "limited", "outcome"].map(|name| format!("{name}{suffix}"));
    let first = text.get(&found).and_then(numbers::<u64>);
    let Some(&[transitions, ended, notes]) = first.as_deref() else { return Err(text.senseless(&found)) };
    let notes = u32::try_from(notes).map_err(|_| text.senseless(&found))?;
    let place = |line: &str| match numbers::<u64>(line)?[..] {
        [thread, pc] => Some((usize::try_from(thread).ok()?, u32::try_from(pc).ok()?)),
        _ => None,
    };
    let place = text.get(&limited).map(|line| place(line).ok_or_else(|| text.senseless(&limited))).transpose()?;
    let outcomes: Option<_> = text.all(&outcome).map(numbers::<i128>).collect();
    let outcomes = outcomes.ok_or_else(|| text.senseless(&outcome))?;
    Ok(Summary { transitions, ended: ended != 0, outcomes, notes, limited: place })
}

/// The numbers of a line.
pub fn numbers<T: FromStr>(line: &str) -> Option<Vec<T>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn joined(values: &[impl Display]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

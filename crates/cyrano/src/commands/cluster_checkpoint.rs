//! `cyrano checkpoint info` for the parts of a cluster's checkpoints.

use cyrano_cluster::{Info, Level};
use indicatif::{HumanBytes, HumanCount};

use super::checkpoint::{SHOWN, moment, row};

/// What is in some parts: of all processes, or of those whose directories are here.
pub fn text(parts: &[Info]) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| row(&mut out, name, value);
    let Some(first) = parts.first() else { return out };
    let shown = |name: &str| SHOWN.contains(&name) || matches!(name, "processes" | "workers");
    for (name, value) in first.about.iter().chain(first.identity.iter().filter(|(name, _)| shown(name))) {
        line(name, value);
    }
    line("search", &state(parts));
    let sum = |count: fn(&Info) -> u64| parts.iter().map(count).sum::<u64>();
    line("states", &HumanCount(sum(|part| part.states)).to_string());
    line("transitions", &HumanCount(sum(|part| part.transitions)).to_string());
    line("frontier", &HumanCount(sum(|part| part.frontier)).to_string());
    line("time", &format!("{:.1} s", parts.iter().map(|part| part.seconds).fold(0.0, f64::max)));
    line("size", &HumanBytes(sum(|part| part.bytes)).to_string());
    for part in parts {
        let levels: Vec<String> = part.more.levels.iter().map(|level| level.level.to_string()).collect();
        let states = HumanCount(part.states);
        let text = format!("levels {}; {states} states, written {}", levels.join(" and "), moment(part.time));
        line(&format!("process {}", part.more.process), &text);
    }
    out
}

/// Where these parts could go on.
fn state(parts: &[Info]) -> String {
    let processes = parts.first().map_or(0, |part| part.more.processes);
    let whose = if parts.len() == processes { "" } else { ", as far as the parts here tell" };
    let common = |level: &&Level| parts.iter().all(|part| part.more.levels.contains(level));
    let newest = parts.first().and_then(|part| part.more.levels.iter().filter(common).max());
    match newest {
        Some(level) if level.complete => format!("complete{whose}"),
        Some(level) => format!("not complete; --resume goes on with level {}{whose}", level.level),
        None => "there is no level that all parts have: it cannot be resumed".to_owned(),
    }
}

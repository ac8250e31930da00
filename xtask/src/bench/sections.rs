//! The tables that have both sides: without reductions, with each side's own, and memory beside Spin's compression.

use anyhow::ensure;

use super::cyrano::{Asked, Cyrano};
use super::machine::load;
use super::measure::{Pair, alternately};
use super::models::{Constants, Model};
use super::spin::{Build, Pan, Sizes};
use super::table::{Table, mib, millions, missed, ratio, seconds, whole};

/// Goals: times Spin's states per second, and the part of Spin's wall time.
const SPEED: f64 = 2.0;
const WALL: f64 = 0.5;

/// A heading, a table, and the load around it. The load after is mostly the measurement itself.
pub fn section(heading: &str, table: &Table, before: &str) -> String {
    format!("\n### {heading}\n\n{table}\nLoad before {before}, after {}.\n", load())
}

/// Without reductions, one core each. Fails if counts differ.
pub fn plain(cyrano: &Cyrano, chosen: &[&Model], runs: usize) -> anyhow::Result<(String, Vec<Pair>)> {
    let before = load();
    let mut table = Table::new(&[
        "model",
        "states",
        "transitions",
        "M states/s",
        "Spin",
        "ratio",
        "bytes/state",
        "Spin",
        "RSS/state",
        "Spin",
        "wall s",
        "Spin",
        "ratio",
        "goals missed",
    ]);
    let (mut results, mut different) = (Vec::new(), Vec::new());
    for model in chosen {
        let pair = alternately(cyrano, model, Build::Plain, Asked::PLAIN, runs)?;
        if !pair.ours.agrees(&pair.spins) {
            different.push(format!("{}: {:?} and {:?}", model.name, pair.ours, pair.spins));
        }
        table.row(plain_row(model.name, &pair));
        results.push(pair);
    }
    ensure!(different.is_empty(), "counts differ:\n{}", different.join("\n"));
    Ok((section("No reductions, one core each", &table, &before), results))
}

fn plain_row(name: &str, pair: &Pair) -> Vec<String> {
    let Pair { ours, spins, .. } = pair;
    let speed = ours.rate() / spins.rate();
    let memory = ours.bytes_per_state() <= spins.bytes_per_state();
    let goals = [("speed", speed >= SPEED), ("memory", memory)];
    vec![
        name.to_owned(),
        ours.states.to_string(),
        ours.transitions.to_string(),
        millions(ours.rate()),
        millions(spins.rate()),
        ratio(speed),
        whole(ours.bytes_per_state()),
        whole(spins.bytes_per_state()),
        whole(ours.resident_per_state()),
        whole(spins.resident_per_state()),
        seconds(ours.usage.wall),
        seconds(spins.usage.wall),
        ratio(spins.usage.wall / ours.usage.wall),
        missed(&goals),
    ]
}

/// Each side as it is meant to be used.
pub fn best(cyrano: &Cyrano, chosen: &[&Model], runs: usize) -> anyhow::Result<String> {
    let before = load();
    let mut table = Table::new(&[
        "model",
        "states",
        "Spin",
        "wall s",
        "Spin",
        "ratio",
        "cpu s",
        "Spin",
        "RSS MiB",
        "Spin",
        "pan built s",
        "goals missed",
    ]);
    for model in chosen {
        let Pair { ours, spins, built } = alternately(cyrano, model, Build::Reduced, Asked::BEST, runs)?;
        table.row(vec![
            model.name.to_owned(),
            ours.states.to_string(),
            spins.states.to_string(),
            seconds(ours.usage.wall),
            seconds(spins.usage.wall),
            ratio(spins.usage.wall / ours.usage.wall),
            seconds(ours.usage.cpu),
            seconds(spins.usage.cpu),
            mib(ours.usage.rss),
            mib(spins.usage.rss),
            seconds(built),
            missed(&[("wall time", ours.usage.wall <= WALL * spins.usage.wall)]),
        ]);
    }
    Ok(section("Each side's best reductions", &table, &before))
}

/// Spin with compressed states, beside the results of [`plain`]; one run, for memory does not vary.
pub fn collapse(chosen: &[&Model], results: &[Pair]) -> anyhow::Result<String> {
    let before = load();
    let mut table = Table::new(&[
        "model",
        "bytes/state",
        "Spin",
        "Spin COLLAPSE",
        "M states/s",
        "Spin",
        "Spin COLLAPSE",
        "goals missed",
    ]);
    for (model, pair) in chosen.iter().zip(results) {
        eprintln!("{}: {:?}", model.name, Build::Collapse);
        let pan = Pan::build(model.name, &Constants::new(), Build::Collapse)?;
        let (_, sizes) = pan.run(Sizes::UNKNOWN)?;
        let (run, _) = pan.run(sizes)?;
        ensure!(run.agrees(&pair.spins), "{}: with COLLAPSE Spin counts {run:?}", model.name);
        table.row(vec![
            model.name.to_owned(),
            whole(pair.ours.bytes_per_state()),
            whole(pair.spins.bytes_per_state()),
            whole(run.bytes_per_state()),
            millions(pair.ours.rate()),
            millions(pair.spins.rate()),
            millions(run.rate()),
            missed(&[("memory", pair.ours.bytes_per_state() <= run.bytes_per_state())]),
        ]);
    }
    Ok(section("Memory, Spin with COLLAPSE", &table, &before))
}

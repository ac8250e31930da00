//! `cargo xtask bench growth`: time and memory of both sides against the size of a model, with and without reductions.

use anyhow::ensure;

use super::cyrano::{Asked, Cyrano};
use super::document;
use super::measure::Run;
use super::models::{Constants, SERIES, Series, label};
use super::plot::{self, Line};
use super::spin::{Build, Pan, Sizes};
use super::table::{NOTHING, Table, mib, seconds};

/// One of the lines of every plot.
#[derive(Clone, Copy, Debug)]
enum Side {
    Cyrano { reduced: bool },
    Spin(Build),
}

const SIDES: [Side; 4] = [
    Side::Cyrano { reduced: false },
    Side::Spin(Build::Plain),
    Side::Cyrano { reduced: true },
    Side::Spin(Build::Reduced),
];

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Cyrano { reduced: false } => "Cyrano",
            Self::Cyrano { reduced: true } => "Cyrano, reduced",
            Self::Spin(Build::Reduced) => "Spin, reduced",
            Self::Spin(_) => "Spin",
        }
    }

    fn class(self) -> &'static str {
        if matches!(self, Self::Cyrano { .. }) { "cyrano" } else { "spin" }
    }

    fn reduced(self) -> bool {
        matches!(self, Self::Cyrano { reduced: true } | Self::Spin(Build::Reduced))
    }

    /// One run on one core; nothing if it takes too long or too much.
    fn run(self, cyrano: &Cyrano, model: &str, constants: &Constants, limit: u32) -> anyhow::Result<Option<Run>> {
        match self {
            Self::Cyrano { reduced } => {
                cyrano.try_run(model, constants, Asked { reduced, workers: Some(1), seconds: Some(limit) })
            }
            Self::Spin(build) => {
                let pan = Pan::build(model, constants, build)?;
                let Some((_, sizes)) = pan.try_run(Sizes::UNKNOWN, Some(limit))? else { return Ok(None) };
                Ok(pan.try_run(sizes, Some(limit))?.map(|(run, _)| run))
            }
        }
    }
}

/// What each side needed for one size; nothing from where its line has ended.
type Measured = (u32, [Option<Run>; SIDES.len()]);

/// Whether these plots exist.
pub fn known(names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let all: Vec<&str> = SERIES.iter().map(|series| series.name).collect();
        ensure!(all.contains(&name.as_str()), "no plot `{name}`; there are {}", all.join(", "));
    }
    Ok(())
}

/// Measures and draws; the document gets the numbers if no plot was left out.
pub fn run(cyrano: &Cyrano, names: &[String], limit: u32) -> anyhow::Result<()> {
    let folder = crate::root().join("docs").join("benchmarks");
    std::fs::create_dir_all(&folder)?;
    let mut text = format!("\nEach run was given {limit} seconds and 8 GiB.\n");
    for series in SERIES.iter().filter(|series| names.is_empty() || names.iter().any(|name| name == series.name)) {
        let measured = measure(cyrano, series, limit)?;
        let title = title(series);
        std::fs::write(
            folder.join(format!("{}.svg", series.name)),
            plot::draw(&title, series.label, &lines(&measured)),
        )?;
        let part =
            format!("\n### {title}\n\n![{title}](benchmarks/{}.svg)\n\n{}", series.name, table(series, &measured));
        println!("{part}");
        text += &part;
    }
    if names.is_empty() {
        document::replace("growth", &text)?;
    }
    Ok(())
}

fn title(series: &Series) -> String {
    let fixed: Vec<String> = series.fixed.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let with = if fixed.is_empty() { String::new() } else { format!(" ({})", fixed.join(", ")) };
    format!("{} by {}{with}", series.model, series.label)
}

fn measure(cyrano: &Cyrano, series: &Series, limit: u32) -> anyhow::Result<Vec<Measured>> {
    let mut measured = Vec::new();
    let mut goes_on = [true; SIDES.len()];
    for size in series.sizes.clone() {
        let mut constants = series.fixed.to_vec();
        constants.push((series.size, size));
        let label = label(series.model, &constants);
        eprintln!("{label}");
        let mut runs = [None; SIDES.len()];
        for ((side, run), goes_on) in SIDES.iter().zip(&mut runs).zip(&mut goes_on) {
            if *goes_on {
                *run = side.run(cyrano, series.model, &constants, limit)?;
                *goes_on = run.is_some();
            }
        }
        if let [Some(ours), Some(spins), ..] = &runs {
            ensure!(ours.agrees(spins), "{label}: counts differ: {ours:?} and {spins:?}");
        }
        if goes_on == [false; SIDES.len()] {
            break;
        }
        measured.push((size, runs));
    }
    Ok(measured)
}

fn lines(measured: &[Measured]) -> Vec<Line> {
    let points = |at: usize| {
        let runs = measured.iter().filter_map(|(size, runs)| Some((*size, runs[at]?.usage)));
        runs.map(|(size, usage)| (size, usage.cpu, usage.rss)).collect()
    };
    let line = |(at, side): (usize, &Side)| Line {
        name: side.name(),
        class: side.class(),
        dashed: side.reduced(),
        points: points(at),
    };
    SIDES.iter().enumerate().map(line).collect()
}

fn table(series: &Series, measured: &[Measured]) -> Table {
    let mut columns = vec![series.label.to_owned(), "states".to_owned()];
    columns.extend(SIDES.iter().map(|side| format!("{}, s", side.name())));
    columns.extend(SIDES.iter().map(|side| format!("{}, MiB", side.name())));
    let mut table = Table::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for (size, runs) in measured {
        let cell = |shown: Option<String>| shown.unwrap_or_else(|| NOTHING.to_owned());
        let unreduced = runs[0].or(runs[1]).map(|run| run.states.to_string());
        let mut row = vec![size.to_string(), cell(unreduced)];
        row.extend(runs.iter().map(|run| cell(run.map(|run| seconds(run.usage.cpu)))));
        row.extend(runs.iter().map(|run| cell(run.map(|run| mib(run.usage.rss)))));
        table.row(row);
    }
    table
}

//! `cargo xtask bench`: Cyrano and Spin side by side, on the models of `benches/spin`.
//!
//! Each model is there twice, at the same grain; without reductions both sides must count the same states and transitions, and the
//! command fails if they do not. Goals that are missed are shown and do not fail it, for they depend on the machine.

mod cyrano;
mod document;
mod growth;
mod machine;
mod measure;
mod models;
mod plot;
mod process;
mod quick;
mod sections;
mod spin;
mod svg;
mod table;
mod workers;

use anyhow::{Context, bail, ensure};

use cyrano::Cyrano;
use models::{MODELS, Model};

const USAGE: &str = "\
cargo xtask bench [--quick | --best] [--runs N] [MODEL...]
cargo xtask bench growth [--limit SECONDS] [NAME...]

(nothing)   all tables; with all models they go into docs/benchmarks.md
--quick     only the counts, on small instances
--best      only the table with each side's reductions
--runs N    how often each side runs (3)
growth      time and memory against the size, as plots in docs/benchmarks/
--limit S   how long a run of `growth` may take (30)

CYRANO names a program to measure instead of the one that is built first.";

/// What is to be done.
#[derive(Debug, PartialEq)]
enum Mode {
    Tables,
    Best,
    Quick,
    Growth,
}

/// The command line.
#[derive(Debug)]
struct Options {
    mode: Mode,
    runs: usize,
    limit: u32,
    names: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    if arguments.iter().any(|word| ["--help", "-h"].contains(word)) {
        println!("{USAGE}");
        return Ok(());
    }
    let options = parse(arguments)?;
    if options.mode == Mode::Growth {
        growth::known(&options.names)?;
    }
    let chosen = if options.mode == Mode::Growth { Vec::new() } else { choose(&options.names)? };
    spin::provide()?;
    let cyrano = Cyrano::provide()?;
    match options.mode {
        Mode::Quick => quick::run(&cyrano, &chosen),
        Mode::Best => sections::best(&cyrano, &chosen, options.runs).map(|section| println!("{section}")),
        Mode::Tables => tables(&cyrano, &chosen, options.runs),
        Mode::Growth => growth::run(&cyrano, &options.names, options.limit),
    }
}

fn parse(arguments: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options { mode: Mode::Tables, runs: 3, limit: 30, names: Vec::new() };
    let mut words = arguments.iter().copied();
    let mut modes = 0;
    while let Some(word) = words.next() {
        let mode = match word {
            "--quick" => Some(Mode::Quick),
            "--best" => Some(Mode::Best),
            "growth" => Some(Mode::Growth),
            _ => None,
        };
        match (mode, word) {
            (Some(mode), _) => {
                options.mode = mode;
                modes += 1;
            }
            (None, "--runs") => options.runs = number(word, words.next())? as usize,
            (None, "--limit") => options.limit = number(word, words.next())?,
            (None, _) if word.starts_with('-') => bail!("unknown option `{word}`\n{USAGE}"),
            (None, _) => options.names.push(word.to_owned()),
        }
    }
    ensure!(modes <= 1, "--quick, --best and growth exclude each other\n{USAGE}");
    Ok(options)
}

fn number(option: &str, word: Option<&str>) -> anyhow::Result<u32> {
    let word = word.with_context(|| format!("{option} needs a number"))?;
    let value = word.parse::<u32>().with_context(|| format!("{option} {word}"))?;
    ensure!(value >= 1, "{option} must be at least 1");
    Ok(value)
}

fn choose(names: &[String]) -> anyhow::Result<Vec<&'static Model>> {
    for name in names {
        let known: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        ensure!(known.contains(&name.as_str()), "no model `{name}`; there are {}", known.join(", "));
    }
    Ok(MODELS.iter().filter(|model| names.is_empty() || names.iter().any(|name| name == model.name)).collect())
}

/// All sections, printed as they are done; the document is written only if nothing was left out.
fn tables(cyrano: &Cyrano, chosen: &[&Model], runs: usize) -> anyhow::Result<()> {
    let mut text = machine::describe(runs)?;
    print!("{text}");
    let (plain, results) = sections::plain(cyrano, chosen, runs)?;
    println!("{plain}");
    text += &plain;
    let best = sections::best(cyrano, chosen, runs)?;
    println!("{best}");
    text += &best;
    let collapse = sections::collapse(chosen, &results)?;
    println!("{collapse}");
    text += &collapse;
    let workers = workers::table(cyrano, chosen, runs)?;
    println!("{workers}");
    text += &workers;
    if chosen.len() == MODELS.len() {
        document::replace("measured", &text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let options = parse(&["--runs", "5", "mcs"]).expect("is well-formed");
        assert_eq!((options.mode, options.runs, options.names), (Mode::Tables, 5, vec!["mcs".to_owned()]));
        assert_eq!(parse(&["--quick"]).expect("is well-formed").mode, Mode::Quick);
        for wrong in [&["--runs"][..], &["--runs", "0"], &["--slow"], &["--quick", "--best"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(choose(&["nobody".to_owned()]).is_err());
        assert_eq!(choose(&[]).expect("all").len(), MODELS.len());
    }
}

//! One worker against two, and whether there was a second core for the other one.
//!
//! Two processes with one worker each are run at the same time. If they take as long as one alone, the second core is free; if twice as
//! long, there is none. That counts whatever the two share: other people's load, caches, the bandwidth of memory.
//!
//! The instances are larger than those that Spin is compared on, so that one worker takes seconds: starting a process and the first
//! levels of a search, which are too small to share, should not count.

use anyhow::ensure;

use super::cyrano::{Asked, Cyrano};
use super::machine::load;
use super::measure::{median, middle};
use super::models::Model;
use super::sections::section;
use super::table::{Table, missed, ratio, seconds};

/// The goal, where the second core is free.
const SPEED_UP: f64 = 1.7;

/// Free means that two at a time do at least this many times the work of one.
const FREE: f64 = 1.8;

/// Without reductions; fails if two workers count differently from one.
pub fn table(cyrano: &Cyrano, chosen: &[&Model], runs: usize) -> anyhow::Result<String> {
    let before = load();
    let columns =
        ["model", "states", "wall s, 1 worker", "2 workers", "ratio", "two processes", "their work", "goals missed"];
    let mut table = Table::new(&columns);
    for model in chosen {
        eprintln!("{}: workers", model.name);
        let large = model.large();
        let two = Asked { workers: Some(2), ..Asked::PLAIN };
        let (mut ones, mut twos, mut both) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..runs {
            ones.push(cyrano.run(model.name, &large, Asked::PLAIN)?);
            twos.push(cyrano.run(model.name, &large, two)?);
            both.push(cyrano.run_twice(model.name, &large, Asked::PLAIN)?);
        }
        let same = ones.iter().chain(&twos).all(|run| run.agrees(&ones[0]));
        ensure!(same, "{}: the number of workers changes the counts: {ones:?} {twos:?}", model.name);
        let (one, two, both) = (median(&ones).usage.wall, median(&twos).usage.wall, middle(both));
        table.row(vec![
            model.name.to_owned(),
            ones[0].states.to_string(),
            seconds(one),
            seconds(two),
            ratio(one / two),
            seconds(both),
            ratio(2.0 * one / both),
            verdict(one / two, 2.0 * one / both),
        ]);
    }
    Ok(section("Two workers", &table, &before))
}

fn verdict(speed_up: f64, free: f64) -> String {
    if speed_up < SPEED_UP && free < FREE {
        return "second core not free".to_owned();
    }
    missed(&[("two workers", speed_up >= SPEED_UP)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_holds_only_where_there_is_a_second_core() {
        assert_eq!(verdict(1.75, 1.9), "none");
        assert_eq!(verdict(1.2, 1.9), "two workers");
        assert_eq!(verdict(1.2, 1.1), "second core not free");
        assert_eq!(verdict(1.75, 1.1), "none");
    }
}

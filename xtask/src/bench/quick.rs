//! The counts of small instances: a test of the models, and of the explorer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::ensure;

use super::cyrano::{Asked, Cyrano};
use super::machine::processors;
use super::models::{Constants, Model, label};
use super::spin::{Build, Pan, Sizes};

/// Compares all small instances of these models, as many at a time as there are processors; fails if counts differ.
pub fn run(cyrano: &Cyrano, chosen: &[&Model]) -> anyhow::Result<()> {
    let instances: Vec<(&str, Constants)> =
        chosen.iter().flat_map(|model| model.small().map(|constants| (model.name, constants))).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..processors() {
            scope.spawn(|| {
                while let Some((name, constants)) = instances.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = compare(cyrano, name, constants);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    ensure!(results.len() == instances.len(), "only {} of {} instances ran", results.len(), instances.len());
    let mut different = 0;
    for result in results {
        different += usize::from(!result?);
    }
    ensure!(different == 0, "counts differ on {different} of {} instances", instances.len());
    println!("{} instances, equal counts", instances.len());
    Ok(())
}

fn compare(cyrano: &Cyrano, name: &str, constants: &Constants) -> anyhow::Result<bool> {
    let (spins, _) = Pan::build(name, constants, Build::Counting)?.run(Sizes::SMALL)?;
    let ours = cyrano.run(name, constants, Asked::PLAIN)?;
    let equal = ours.agrees(&spins);
    println!(
        "{} {}: {} and {} states, {} and {} transitions",
        if equal { "equal    " } else { "DIFFERENT" },
        label(name, constants),
        ours.states,
        spins.states,
        ours.transitions,
        spins.transitions
    );
    Ok(equal)
}

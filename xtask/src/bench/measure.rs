//! One run of one side, and the median of several that alternate between the sides.

use anyhow::ensure;

use super::cyrano::{Asked, Cyrano};
use super::models::{Constants, Model};
use super::process::Usage;
use super::spin::{Build, Pan, Sizes};

/// What one run counted and used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    pub states: u64,
    pub transitions: u64,
    /// What the states take: Cyrano's reported peak, Spin's states and hash table.
    pub bytes: f64,
    pub usage: Usage,
}

impl Run {
    /// States per second of processor time, which other people's load disturbs less than wall time.
    pub fn rate(&self) -> f64 {
        self.states as f64 / self.usage.cpu.max(1e-4)
    }

    pub fn bytes_per_state(&self) -> f64 {
        self.bytes / self.states.max(1) as f64
    }

    pub fn resident_per_state(&self) -> f64 {
        self.usage.rss / self.states.max(1) as f64
    }

    /// Whether both counted the same.
    pub fn agrees(&self, other: &Self) -> bool {
        (self.states, self.transitions) == (other.states, other.transitions)
    }
}

/// Both sides on one model.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub ours: Run,
    pub spins: Run,
    /// Seconds that building `pan` took, which are in no other number.
    pub built: f64,
}

/// The median of each number, and of counts the first.
pub fn median(runs: &[Run]) -> Run {
    let of = |number: fn(&Run) -> f64| middle(runs.iter().map(number).collect());
    let usage = Usage { wall: of(|r| r.usage.wall), cpu: of(|r| r.usage.cpu), rss: of(|r| r.usage.rss) };
    Run { bytes: of(|r| r.bytes), usage, ..runs[0] }
}

/// The middle number, or the mean of the middle two.
pub fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => (numbers[half - 1] + numbers[half]) / 2.0,
        _ => numbers[half],
    }
}

/// Runs both sides in turns. Runs of one side must count the same, unless reductions may depend on the schedule of threads.
pub fn alternately(cyrano: &Cyrano, model: &Model, build: Build, asked: Asked, runs: usize) -> anyhow::Result<Pair> {
    let name = model.name;
    eprintln!("{name}: {build:?}");
    let none = Constants::new();
    let pan = Pan::build(name, &none, build)?;
    // A first run, not counted, says which sizes to give to Spin.
    let (_, sizes) = pan.run(Sizes::UNKNOWN)?;
    let (mut ours, mut spins) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        ours.push(cyrano.run(name, &none, asked)?);
        spins.push(pan.run(sizes)?.0);
    }
    ensure!(asked.reduced || ours.iter().all(|run| run.agrees(&ours[0])), "{name}: Cyrano's runs count differently");
    ensure!(spins.iter().all(|run| run.agrees(&spins[0])), "{name}: Spin's runs count differently");
    Ok(Pair { ours: median(&ours), spins: median(&spins), built: pan.built })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(middle(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(middle(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        let run = |wall| Run { states: 10, transitions: 20, bytes: 80.0, usage: Usage { wall, cpu: 0.5, rss: 200.0 } };
        let middle = median(&[run(5.0), run(1.0), run(2.0)]);
        assert_eq!(middle, run(2.0));
        assert_eq!((middle.rate(), middle.bytes_per_state(), middle.resident_per_state()), (20.0, 8.0, 20.0));
    }
}

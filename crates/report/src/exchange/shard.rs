//! A part of a matrix of checks that several runs share (`--shard I/N`).
//!
//! The checks of a command have an order that depends on nothing but its arguments and files. Check k, counted from 0, belongs to shard
//! `k mod N + 1`, so that neighbours, which tend to take equally long, go to different shards.
//!
//! **Invariant:** every check is in exactly one shard, and the order of a shard's checks is that of the whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::style::count;

/// Which part of a matrix of checks a report has, and what the matrix is made from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShardReport {
    /// The shards whose checks these are, from 1, in order; several if reports were joined and some are missing.
    pub indices: Vec<u16>,
    /// How many shards there are.
    pub count: u16,
    /// How many checks all shards have together.
    pub checks: usize,
    /// The command: `check`, `litmus`.
    pub command: String,
    /// Its arguments by name, without those that say nothing about what is checked.
    pub options: BTreeMap<String, Vec<String>>,
    /// The files, each with a hash of all that its checks depend on.
    pub inputs: BTreeMap<String, String>,
}

impl ShardReport {
    /// The shard, from 1, that the check at this position belongs to, from 0.
    pub fn of_position(position: usize, count: u16) -> u16 {
        // The remainder is less than the number of shards.
        (position % usize::from(count.max(1))) as u16 + 1
    }

    /// How many checks a shard has.
    pub fn size(&self, index: u16) -> usize {
        let before = usize::from(index).saturating_sub(1);
        self.checks.saturating_sub(before).div_ceil(usize::from(self.count.max(1)))
    }

    /// How many checks these shards have.
    pub fn len(&self) -> usize {
        self.indices.iter().map(|index| self.size(*index)).sum()
    }

    /// Whether these shards have no check.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The positions of their checks in the whole, in order.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let of = |index: &u16| {
            let first = usize::from(*index).saturating_sub(1);
            (first..self.checks).step_by(usize::from(self.count.max(1)))
        };
        let mut all: Vec<usize> = self.indices.iter().flat_map(of).collect();
        all.sort_unstable();
        all
    }

    /// The other shards that have checks.
    pub fn missing(&self) -> Vec<u16> {
        (1..=self.count).filter(|index| self.indices.binary_search(index).is_err() && self.size(*index) > 0).collect()
    }

    /// `shard 2 of 3`.
    pub fn name(&self) -> String {
        format!("{} of {}", shards(&self.indices), self.count)
    }

    /// `shard 2 of 3: 364 of 1,092 checks`.
    pub fn sentence(&self) -> String {
        let number = match self.len() {
            0 => "none".to_owned(),
            some => count(some as u64),
        };
        format!("{}: {number} of {} checks", self.name(), count(self.checks as u64))
    }

    /// What is missing, if anything is: `shard 2 of 3 is missing: 364 of 1,092 checks`.
    pub fn missing_sentence(&self) -> Option<String> {
        let missing = self.missing();
        let verb = match missing.as_slice() {
            [] => return None,
            [_] => "is",
            _ => "are",
        };
        let number: usize = missing.iter().map(|index| self.size(*index)).sum();
        let (number, all) = (count(number as u64), count(self.checks as u64));
        Some(format!("{} of {} {verb} missing: {number} of {all} checks", shards(&missing), self.count))
    }
}

fn shards(indices: &[u16]) -> String {
    let numbers: Vec<String> = indices.iter().map(u16::to_string).collect();
    format!("shard{} {}", if indices.len() == 1 { "" } else { "s" }, numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(indices: &[u16], count: u16, checks: usize) -> ShardReport {
        let (command, options, inputs) = ("check".to_owned(), BTreeMap::new(), BTreeMap::new());
        ShardReport { indices: indices.to_vec(), count, checks, command, options, inputs }
    }

    #[test]
    fn every_check_is_in_one_shard() {
        for checks in 0..20 {
            for count in 1..8 {
                let mut all = Vec::new();
                for index in 1..=count {
                    let shard = shard(&[index], count, checks);
                    assert_eq!(shard.positions().len(), shard.len());
                    assert!(shard.positions().iter().all(|at| ShardReport::of_position(*at, count) == index));
                    all.extend(shard.positions());
                }
                all.sort_unstable();
                assert_eq!(all, (0..checks).collect::<Vec<_>>(), "{checks} checks in {count} shards");
            }
        }
    }

    #[test]
    fn shards_without_checks_are_not_missed() {
        assert_eq!(shard(&[1, 3], 5, 3).missing(), [2]);
        assert_eq!(shard(&[1, 2, 3], 5, 3).missing(), [0; 0]);
        assert_eq!(shard(&[4], 5, 3).sentence(), "shard 4 of 5: none of 3 checks");
        let two = shard(&[2], 4, 10);
        assert_eq!(two.missing_sentence().as_deref(), Some("shards 1, 3, 4 of 4 are missing: 7 of 10 checks"));
    }
}

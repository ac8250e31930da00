//! The part of a run's checks that one of several processes does.
//!
//! What a check depends on goes into the report with it, so that only parts of the same whole are joined later (`cyrano report merge`).

use std::collections::BTreeMap;
use std::str::FromStr;

use cyrano_report::ShardReport;

/// One of several parts, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u16,
    count: u16,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let parts = text.split_once('/').filter(|(index, count)| is_number(index) && is_number(count));
        let (index, count) = parts.ok_or("expected I/N, for example 1/3 for the first of three parts")?;
        let too_many = |_| format!("there can be at most {} shards", u16::MAX);
        let count: u16 = count.parse().map_err(too_many)?;
        if count == 0 {
            return Err("there has to be at least one shard".to_owned());
        }
        let index = index.parse().ok().filter(|index| (1..=count).contains(index));
        let index =
            index.ok_or_else(|| format!("shards are numbered from 1: expected 1/{count} to {count}/{count}"))?;
        Ok(Self { index, count })
    }
}

impl Shard {
    /// The jobs of this part, in order.
    pub fn part<T>(self, jobs: Vec<T>) -> Vec<T> {
        let own = |at: &usize| ShardReport::of_position(*at, self.count) == self.index;
        jobs.into_iter().enumerate().filter(|(at, _)| own(at)).map(|(_, job)| job).collect()
    }

    /// The same part of the executions of one check.
    pub(crate) fn of_executions(self) -> cyrano_graphs::Share {
        cyrano_graphs::Share { index: self.index - 1, count: self.count }
    }

    /// What the report says about it: of so many checks, which depend on these inputs, of this command with these options.
    pub fn report(
        self,
        checks: usize,
        inputs: Inputs,
        (command, options): (String, BTreeMap<String, Vec<String>>),
    ) -> ShardReport {
        let (indices, count) = (vec![self.index], self.count);
        ShardReport { indices, count, checks, command, options, inputs: inputs.hashes() }
    }
}

/// Files with a hash of everything that their checks depend on.
#[derive(Default)]
pub struct Inputs(BTreeMap<String, u64>);

impl Inputs {
    /// Adds a text that checks of this file depend on.
    pub fn add(&mut self, file: &str, text: &str) {
        // FNV-1a, which is the same on every machine; the last byte tells two texts from one.
        let hash = self.0.entry(file.to_owned()).or_insert(0xcbf2_9ce4_8422_2325);
        let bytes = text.bytes().chain([0xff]);
        *hash = bytes.fold(*hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    }

    /// The hashes.
    pub fn hashes(self) -> BTreeMap<String, String> {
        self.0.into_iter().map(|(file, hash)| (file, format!("{hash:016x}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_from_one_on_are_parts() {
        let shard = |index, count| Ok(Shard { index, count });
        assert_eq!("1/3".parse(), shard(1, 3));
        assert_eq!("3/3".parse(), shard(3, 3));
        assert_eq!("65535/65535".parse(), shard(65535, 65535));
        let check = |text: &str, part: &str| {
            let why = text.parse::<Shard>().expect_err("this is no shard");
            assert!(why.contains(part), "{text}: {why}");
        };
        check("0/3", "expected 1/3 to 3/3");
        check("4/3", "expected 1/3 to 3/3");
        check("99999999999999999999/3", "expected 1/3 to 3/3");
        check("1/0", "at least one shard");
        check("1/65536", "at most 65535");
        for text in ["a/b", "1", "", "/", "1/", "/3", "-1/3", "+1/3", "1/3/5", " 1/3", "1.0/3"] {
            check(text, "expected I/N");
        }
    }

    #[test]
    fn every_job_is_in_one_part() {
        let jobs: Vec<usize> = (0..10).collect();
        let part = |index| Shard { index, count: 3 }.part(jobs.clone());
        assert_eq!([part(1), part(2), part(3)], [vec![0, 3, 6, 9], vec![1, 4, 7], vec![2, 5, 8]]);
    }
}

//! Sorting and runs against sets of the standard library, on random strings of all lengths with long shared prefixes and zeros.

use std::collections::BTreeSet;
use std::path::Path;

use cyrano_explore::store::Address;

use crate::runs::{Run, Writer, merge};
use crate::sort::{Entry, sort};

/// Numbers that look random and are the same in every run (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// A string of which many others are prefixes, or differ in zeros at the end only.
    fn string(&mut self) -> Vec<u8> {
        let mut string = vec![b'p'; [0, 7, 8, 9, 100][self.below(5) as usize]];
        for _ in 0..self.below(20) {
            string.push(self.below(3) as u8);
        }
        string
    }
}

fn strings(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    (0..count).map(|_| random.string()).collect()
}

#[test]
fn addresses_are_sorted_as_slices_are() {
    for count in [0, 1, 5, 13, 20_000] {
        let strings: Vec<Vec<u8>> = strings(2, count).into_iter().collect::<BTreeSet<_>>().into_iter().rev().collect();
        let state = |address: Address| strings[address.0 as usize].as_slice();
        let mut entries: Vec<Entry> = (0..strings.len() as u64).map(|at| Entry::new(Address(at))).collect();
        sort(&mut entries, state);
        assert!(entries.is_sorted_by(|a, b| state(a.address) < state(b.address)));
    }
}

fn write(dir: &Path, number: u64, states: &BTreeSet<Vec<u8>>) -> Run {
    let mut out = Writer::create(dir, number).expect("a file can be made");
    states.iter().try_for_each(|state| out.push(state)).expect("it can be written");
    out.finish().expect("it can be written")
}

fn joined(run: &Run, candidates: &[Vec<u8>]) -> Vec<usize> {
    let mut found = Vec::new();
    run.join(candidates.len(), |at| &candidates[at], |at| found.push(at)).expect("it can be read");
    found
}

#[test]
fn a_join_finds_what_is_in_the_run() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    // Long states, so that there are many blocks; and few candidates, so that some are left out.
    let mut states: BTreeSet<Vec<u8>> = strings(3, 20_000).into_iter().collect();
    states.extend(strings(4, 2_000).into_iter().map(|state| [state, vec![9; 300]].concat()));
    let run = write(dir.path(), 0, &states);
    for (seed, count) in [(3, 20_000), (5, 20_000), (5, 3), (6, 0), (4, 2_000)] {
        let mut candidates: BTreeSet<Vec<u8>> = strings(seed, count).into_iter().collect();
        candidates.extend(strings(4, count / 9).into_iter().map(|state| [state, vec![9; 300]].concat()));
        let candidates: Vec<Vec<u8>> = candidates.into_iter().collect();
        let expected: Vec<usize> = (0..candidates.len()).filter(|at| states.contains(&candidates[*at])).collect();
        assert_eq!(joined(&run, &candidates), expected, "seed {seed}");
    }
    let all: Vec<Vec<u8>> = states.into_iter().collect();
    assert_eq!(joined(&run, &all).len(), all.len());
}

#[test]
fn a_merge_has_all_states_of_its_runs() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let all: BTreeSet<Vec<u8>> = strings(7, 30_000).into_iter().collect();
    let mut parts = vec![BTreeSet::new(); 4];
    // The last one stays empty.
    for (at, state) in all.iter().enumerate() {
        parts[at * at % 3].insert(state.clone());
    }
    let runs: Vec<Run> = parts.iter().enumerate().map(|(at, part)| write(dir.path(), at as u64, part)).collect();
    let merged = merge(&runs, Writer::create(dir.path(), 9).expect("a file can be made")).expect("they can be read");
    assert_eq!(merged.states, all.len() as u64);
    let opened = Run::open(dir.path(), 9, merged.sum, merged.states).expect("it is what was written");
    let sorted: Vec<Vec<u8>> = all.into_iter().collect();
    assert_eq!(joined(&opened, &sorted).len(), sorted.len());
    assert!(Run::open(dir.path(), 8, merged.sum, merged.states).is_err());
    assert!(Run::open(dir.path(), 1, merged.sum, merged.states).is_err());
}

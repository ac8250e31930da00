//! All clients of a size: how many there are, and how many of them are wrong.
//!
//! A search tells which calls the clients had made when something went wrong. Every client that begins with these calls is wrong: the
//! set of wrong clients is a union of products of *cylinders*, one for each thread. The union is counted thread by thread: the
//! programs of a thread fall into classes that begin with the same recorded calls, and for each class what is left is a smaller union.

use std::collections::BTreeSet;

use cyrano_criteria::values::Call;
use cyrano_engine::values::Calls;
use cyrano_ir::Interchangeable;
use cyrano_rml::algorithm::{ClientSpace, Values};

/// How many clients of a size there are.
pub fn total(space: &ClientSpace) -> u128 {
    let one = Shape::new(space).programs(&[]);
    (0..space.threads).fold(1, |all: u128, _| all.saturating_mul(one))
}

/// How many of them begin with some of these calls, or with what they become when interchangeable things are renamed.
pub fn wrong(space: &ClientSpace, found: &BTreeSet<Calls>, renames: &Interchangeable) -> u128 {
    let all: BTreeSet<Calls> = found.iter().flat_map(|calls| renamed(space, calls, renames)).collect();
    let tuples: Vec<&[Vec<Call>]> = all.iter().map(Vec::as_slice).collect();
    Shape::new(space).union(&tuples, space.threads.into())
}

/// A client under every renaming. Where every write has its own value, the place says which, and the value is left out.
fn renamed(space: &ClientSpace, calls: &Calls, renames: &Interchangeable) -> Vec<Calls> {
    let identity = |n: usize| vec![(0..n).collect::<Vec<usize>>()];
    let threads = if renames.threads { permutations(calls.len()) } else { identity(calls.len()) };
    let locs = usize::from(space.locs);
    let locations = if renames.locations { permutations(locs) } else { identity(locs) };
    let values = permutations(renames.values.len());
    let distinct = space.values == Values::Distinct;
    let mut all = Vec::new();
    for ((threads, locations), values) in threads
        .iter()
        .flat_map(|t| locations.iter().map(move |l| (t, l)))
        .flat_map(|both| values.iter().map(move |v| (both, v)))
    {
        let loc = |loc: u8| locations.get(usize::from(loc)).map_or(loc, |new| *new as u8);
        let value = |value: i128| match renames.values.iter().position(|known| *known == value) {
            _ if distinct => 0,
            Some(rank) => renames.values[values[rank]],
            None => value,
        };
        let call = |call: &Call| match *call {
            Call::Read(at) => Call::Read(loc(at)),
            Call::Write(at, written) => Call::Write(loc(at), value(written)),
            Call::Commit => Call::Commit,
        };
        let mut client: Calls = vec![Vec::new(); calls.len()];
        for (thread, own) in calls.iter().enumerate() {
            client[threads[thread]] = own.iter().map(call).collect();
        }
        all.push(client);
    }
    all
}

/// All permutations of so many numbers.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

/// The shortest of these, and among them the first.
pub fn smallest(found: &BTreeSet<Calls>) -> Option<&Calls> {
    found.iter().min_by_key(|calls| calls.iter().map(Vec::len).sum::<usize>())
}

/// A client in words: `{ read(0); write(1, 1); commit } || { … }`.
pub fn in_words(calls: &Calls) -> String {
    let call = |call: &Call| match call {
        Call::Read(loc) => format!("read({loc})"),
        Call::Write(loc, value) => format!("write({loc}, {value})"),
        Call::Commit => "commit()".to_owned(),
    };
    let thread = |calls: &Vec<Call>| format!("{{ {} }}", calls.iter().map(call).collect::<Vec<_>>().join("; "));
    calls.iter().map(thread).collect::<Vec<_>>().join(" || ")
}

/// What a thread of a client looks like.
struct Shape {
    txns: (u32, u32),
    ops: (u32, u32),
    /// How many different operations there are at each place.
    choices: u128,
}

impl Shape {
    fn new(space: &ClientSpace) -> Self {
        let values = match &space.values {
            Values::Distinct => 1,
            Values::Among(values) => values.len() as u128,
        };
        let range = |range: &std::ops::RangeInclusive<u8>| (u32::from(*range.start()), u32::from(*range.end()));
        Self { txns: range(&space.txns), ops: range(&space.ops), choices: u128::from(space.locs) * (1 + values) }
    }

    /// How many programs of a thread begin with these calls. Calls that repeat a transaction do not count; there are none where clients
    /// are told apart.
    fn programs(&self, calls: &[Call]) -> u128 {
        let ended = calls.iter().filter(|call| **call == Call::Commit).count() as u32;
        let open = calls.iter().rev().take_while(|call| **call != Call::Commit).count() as u32;
        let fresh = calls.last() == Some(&Call::Commit) || calls.is_empty();
        if fresh {
            return (self.txns.0..=self.txns.1).filter(|n| *n >= ended).map(|n| self.blocks(n - ended)).sum();
        }
        let rest: u128 = (self.ops.0.max(open)..=self.ops.1).map(|n| self.choices.pow(n - open)).sum();
        let later = (self.txns.0..=self.txns.1).filter(|n| *n > ended).map(|n| self.blocks(n - ended - 1));
        rest.saturating_mul(later.sum())
    }

    /// How many ways there are to write this many transactions.
    fn blocks(&self, transactions: u32) -> u128 {
        let one: u128 = (self.ops.0..=self.ops.1).map(|n| self.choices.saturating_pow(n)).sum();
        one.saturating_pow(transactions)
    }

    /// How many tuples of programs, one for each of the threads, lie in one of these products of cylinders.
    fn union(&self, tuples: &[&[Vec<Call>]], threads: usize) -> u128 {
        if tuples.is_empty() {
            return 0;
        }
        if threads == 0 {
            return 1;
        }
        self.class(&[], tuples, threads)
    }

    /// The same for those whose first thread begins with these calls; every tuple here has a first part that begins with them or is
    /// a beginning of them.
    fn class(&self, calls: &[Call], tuples: &[&[Vec<Call>]], threads: usize) -> u128 {
        let next: BTreeSet<Call> = tuples.iter().filter_map(|tuple| tuple[0].get(calls.len()).copied()).collect();
        let short: Vec<&[Vec<Call>]> =
            tuples.iter().filter(|tuple| tuple[0].len() <= calls.len()).map(|tuple| &tuple[1..]).collect();
        let mut left = self.programs(calls);
        let mut count = 0;
        for call in next {
            let longer: Vec<Call> = calls.iter().copied().chain([call]).collect();
            let size = self.programs(&longer);
            left -= size.min(left);
            let fits = |tuple: &&&[Vec<Call>]| tuple[0].get(calls.len()).is_none_or(|c| *c == call);
            let fitting: Vec<&[Vec<Call>]> = tuples.iter().filter(fits).copied().collect();
            count += self.class(&longer, &fitting, threads);
        }
        count + left.saturating_mul(self.union(&short, threads - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(txns: std::ops::RangeInclusive<u8>, ops: std::ops::RangeInclusive<u8>) -> ClientSpace {
        ClientSpace { threads: 2, txns, ops, locs: 2, values: Values::Distinct, retry: 0 }
    }

    /// All programs of a thread.
    fn programs(space: &ClientSpace) -> Vec<Vec<Call>> {
        let mut blocks: Vec<Vec<Call>> = vec![];
        for n in space.ops.clone() {
            let mut all = vec![vec![]];
            for _ in 0..n {
                let step = |p: &Vec<Call>| {
                    let ops = [Call::Read(0), Call::Read(1), Call::Write(0, 1), Call::Write(1, 1)];
                    ops.map(|op| p.iter().copied().chain([op]).collect::<Vec<_>>())
                };
                all = all.iter().flat_map(step).collect();
            }
            blocks.extend(all.into_iter().map(|mut p: Vec<Call>| {
                p.push(Call::Commit);
                p
            }));
        }
        let mut threads = vec![];
        for n in space.txns.clone() {
            let mut all = vec![vec![]];
            for _ in 0..n {
                all = all.iter().flat_map(|p: &Vec<Call>| blocks.iter().map(move |b| [&p[..], b].concat())).collect();
            }
            threads.extend(all);
        }
        threads
    }

    #[test]
    fn unions_are_counted() {
        let prefixes = |seed: usize, all: &[Vec<Call>]| -> BTreeSet<Calls> {
            let pick = |n: usize| {
                let program = &all[(seed * 7919 + n * 104_729) % all.len()];
                program[..(seed + n * 3) % (program.len() + 1)].to_vec()
            };
            (0..4).map(|n| vec![pick(2 * n), pick(2 * n + 1)]).collect()
        };
        for space in [space(1..=1, 2..=2), space(1..=1, 1..=2), space(1..=2, 1..=1)] {
            let all = programs(&space);
            assert_eq!(total(&space), (all.len() * all.len()) as u128);
            for seed in 0..40 {
                let found = prefixes(seed, &all);
                let hit =
                    |a: &Vec<Call>, b: &Vec<Call>| found.iter().any(|c| a.starts_with(&c[0]) && b.starts_with(&c[1]));
                let expected =
                    all.iter().flat_map(|a| all.iter().map(move |b| (a, b))).filter(|(a, b)| hit(a, b)).count();
                let none = Interchangeable::default();
                assert_eq!(wrong(&space, &found, &none), expected as u128, "seed {seed}: {found:?}");
                let all = Interchangeable { threads: true, locations: true, values: vec![] };
                let orbit: BTreeSet<Calls> = found.iter().flat_map(|calls| renamed(&space, calls, &all)).collect();
                assert!(orbit.len() >= found.len() / 4 && orbit.len() <= 4 * found.len());
                assert_eq!(wrong(&space, &found, &all), wrong(&space, &orbit, &none), "seed {seed}: {found:?}");
            }
        }
    }
}

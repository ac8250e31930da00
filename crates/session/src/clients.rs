//! All clients of a size: how many there are, and how many of them are wrong.
//!
//! A client is a program for each thread: some transactions, each with all of its operations and its commit. An execution of it need not make
//! all of these calls: where a transaction is aborted early the rest of it is skipped. A search tells which calls had been made when
//! something went wrong, transaction by transaction. Every client whose transactions begin with these calls has that execution, so it
//! is wrong: the set of wrong clients is a union of products of *cylinders*, one for each transaction. The union is counted
//! transaction by transaction: those that begin with the same recorded calls form a class, and for each class what is left is a
//! smaller union. So the number is that of clients, never more than there are, and never 0 where something went wrong.

use std::collections::{BTreeSet, HashMap};

use cyrano_criteria::values::Call;
use cyrano_engine::values::Calls;
use cyrano_ir::Interchangeable;
use cyrano_rml::algorithm::{ClientSpace, Values};

/// How many clients of a size there are.
pub fn total(space: &ClientSpace) -> u128 {
    let one = Shape::new(space).programs();
    (0..space.threads).fold(1, |all: u128, _| all.saturating_mul(one))
}

/// How many of them begin with some of these calls, or with what they become when interchangeable things are renamed.
pub fn wrong(space: &ClientSpace, found: &BTreeSet<Calls>, renames: &Interchangeable) -> u128 {
    let all: BTreeSet<Calls> = found.iter().flat_map(|calls| renamed(space, calls, renames)).collect();
    let all: Vec<Calls> = all.into_iter().collect();
    let shape = Shape::new(space);
    let mut union = Union { shape, threads: space.threads.into(), found: &all, known: HashMap::new() };
    union.from((0, 0), &(0..all.len()).collect::<Vec<_>>())
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
            client[threads[thread]] = own.iter().map(|calls| calls.iter().map(call).collect()).collect();
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
    found.iter().min_by_key(|calls| calls.iter().flatten().map(Vec::len).sum::<usize>())
}

/// A client in words: `{ read(0); write(1, 1); commit() } || { read(0); … read(1) }`. What an aborted transaction would still have done
/// does not matter and is left out.
pub fn in_words(calls: &Calls) -> String {
    let call = |call: &Call| match call {
        Call::Read(loc) => format!("read({loc})"),
        Call::Write(loc, value) => format!("write({loc}, {value})"),
        Call::Commit => "commit()".to_owned(),
    };
    let transaction = |calls: &Vec<Call>| calls.iter().map(call).collect::<Vec<_>>().join("; ");
    let thread = |transactions: &Vec<Vec<Call>>| {
        let mut words = String::new();
        for (number, calls) in transactions.iter().enumerate() {
            let committed = number > 0 && transactions[number - 1].last() == Some(&Call::Commit);
            words += if number == 0 {
                ""
            } else if committed {
                "; "
            } else {
                "; … "
            };
            words += &transaction(calls);
        }
        format!("{{ {words} }}")
    };
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

    /// How many programs a thread can have.
    fn programs(&self) -> u128 {
        let one = self.transactions(&[]);
        (self.txns.0..=self.txns.1).fold(0, |all: u128, n| all.saturating_add(one.saturating_pow(n)))
    }

    /// How many transactions begin with these calls.
    fn transactions(&self, calls: &[Call]) -> u128 {
        let made = calls.len() as u32;
        if calls.last() == Some(&Call::Commit) {
            return u128::from((self.ops.0..=self.ops.1).contains(&(made - 1)));
        }
        let rest = (self.ops.0.max(made)..=self.ops.1).map(|n| self.choices.saturating_pow(n - made));
        rest.fold(0, u128::saturating_add)
    }
}

/// A union of products of cylinders that is being counted.
struct Union<'f> {
    shape: Shape,
    threads: usize,
    found: &'f [Calls],
    /// What is known already, by thread, transaction and the products that are left.
    known: HashMap<(usize, u32, Vec<usize>), u128>,
}

impl Union<'_> {
    /// How many ways there are to go on from a transaction of a thread such that one of these products has them all.
    fn from(&mut self, (thread, txn): (usize, u32), left: &[usize]) -> u128 {
        if left.is_empty() {
            return 0;
        }
        if thread == self.threads {
            return 1;
        }
        if txn == self.shape.txns.1 {
            return self.from((thread + 1, 0), left);
        }
        let key = (thread, txn, left.to_vec());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut count = self.class((thread, txn), &[], left);
        if txn >= self.shape.txns.0 {
            // The thread has no further transaction.
            let short = |number: &usize| self.found[*number][thread].len() <= txn as usize;
            let short: Vec<usize> = left.iter().copied().filter(short).collect();
            count = count.saturating_add(self.from((thread + 1, 0), &short));
        }
        self.known.insert(key, count);
        count
    }

    /// The same for those whose next transaction begins with these calls; in each product the recorded calls of that transaction begin
    /// with them, or are a beginning of them.
    fn class(&mut self, (thread, txn): (usize, u32), calls: &[Call], left: &[usize]) -> u128 {
        let found = self.found;
        let recorded = |number: usize| found[number][thread].get(txn as usize).map(Vec::as_slice).unwrap_or_default();
        let next: BTreeSet<Call> =
            left.iter().filter_map(|number| recorded(*number).get(calls.len()).copied()).collect();
        let mut others = self.shape.transactions(calls);
        let mut count: u128 = 0;
        for call in next {
            let longer: Vec<Call> = calls.iter().copied().chain([call]).collect();
            others = others.saturating_sub(self.shape.transactions(&longer));
            let fits = |number: &usize| recorded(*number).get(calls.len()).is_none_or(|c| *c == call);
            let fitting: Vec<usize> = left.iter().copied().filter(fits).collect();
            count = count.saturating_add(self.class((thread, txn), &longer, &fitting));
        }
        let short: Vec<usize> = left.iter().copied().filter(|number| recorded(*number).len() <= calls.len()).collect();
        count.saturating_add(others.saturating_mul(self.from((thread, txn + 1), &short)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(txns: std::ops::RangeInclusive<u8>, ops: std::ops::RangeInclusive<u8>) -> ClientSpace {
        ClientSpace { threads: 2, txns, ops, locs: 2, values: Values::Distinct, retry: 0 }
    }

    /// A thread of a client: its transactions.
    type Thread = Vec<Vec<Call>>;

    /// All programs of a thread.
    fn programs(space: &ClientSpace) -> Vec<Thread> {
        let mut blocks: Thread = vec![];
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
            let mut all: Vec<Thread> = vec![vec![]];
            for _ in 0..n {
                all = all
                    .iter()
                    .flat_map(|p| blocks.iter().map(move |b| [&p[..], std::slice::from_ref(b)].concat()))
                    .collect();
            }
            threads.extend(all);
        }
        threads
    }

    /// The beginning of a program, with one of its transactions aborted early.
    fn beginning(program: &Thread, seed: usize) -> Thread {
        let mut made: Thread = program[..seed % (program.len() + 1)].to_vec();
        for (number, calls) in made.iter_mut().enumerate() {
            calls.truncate(1 + (seed / 3 + number) % calls.len());
        }
        made
    }

    #[test]
    fn unions_are_counted() {
        let prefixes = |seed: usize, all: &[Thread]| -> BTreeSet<Calls> {
            let pick = |n: usize| beginning(&all[(seed * 7919 + n * 104_729) % all.len()], seed + n * 5);
            (0..4).map(|n| vec![pick(2 * n), pick(2 * n + 1)]).collect()
        };
        let begins = |program: &Thread, made: &Thread| {
            made.len() <= program.len() && made.iter().zip(program).all(|(made, all)| all.starts_with(made))
        };
        for space in [space(1..=1, 2..=2), space(1..=1, 1..=2), space(1..=2, 1..=1), space(2..=2, 1..=1)] {
            let all = programs(&space);
            assert_eq!(total(&space), (all.len() * all.len()) as u128);
            for seed in 0..40 {
                let found = prefixes(seed, &all);
                let hit = |a: &Thread, b: &Thread| found.iter().any(|c| begins(a, &c[0]) && begins(b, &c[1]));
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

    #[test]
    fn aborted_transactions_are_told_from_longer_ones() {
        let calls = vec![vec![vec![Call::Read(0)], vec![Call::Write(1, 1), Call::Commit]], vec![]];
        assert_eq!(in_words(&calls), "{ read(0); … write(1, 1); commit() } || {  }");
        let found = BTreeSet::from([calls]);
        let none = Interchangeable::default();
        // The first transaction reads location 0, the second one writes location 1, the other thread does anything.
        assert_eq!(wrong(&space(2..=2, 1..=1), &found, &none), 16);
        assert_eq!(total(&space(2..=2, 1..=1)), 256);
    }
}

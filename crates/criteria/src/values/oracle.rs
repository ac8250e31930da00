//! The definitions, by brute force: every completion, every order. Slow and obviously right.
//!
//! # What is judged
//! The *completed operations* of a transaction are the reads that returned a value and the writes that returned `ok`.
//! It is *committed* or *aborted* if a reply said so, *commit-pending* if its commit has no reply yet, else *live*.
//! Transaction a *precedes* b in real time if a has committed or aborted before the first event of b.
//! A *completion* of a history aborts every live transaction and commits or aborts each commit-pending one.
//!
//! A history is **accepted** iff every prefix of it satisfies the criterion; for final-state opacity, iff it does itself.
//!
//! # The criteria
//! **Opacity** (final-state opacity of Guerraoui and Kapalka, for every prefix). Some completion is equivalent to a sequential
//! history, that is, its transactions can be put in a row, such that (1) the row keeps real time and (2) every transaction is
//! legal: executed after those committed transactions that stand before it in the row, and only those, on the initial values,
//! each of its reads returns what the last write to that location wrote, its own writes included.
//!
//! **Final-state opacity**: the same of the whole history only. It is what Lesani and Palsberg (Theorem 1) show of their patterns.
//!
//! **Strict serializability**: the same for the committed transactions of some completion only. Neither values nor real time of
//! the others count.
//!
//! **Serializability**: the same without real time.
//!
//! **Snapshot isolation** (Berenson et al., in terms of values and real time). For some completion, each committed transaction has
//! two instants in its lifetime, a snapshot and, after it, a commit. All instants are ordered, such that (1) the commit of a stands
//! before the snapshot of b if a precedes b in real time; (2) each transaction is legal when it is executed on the initial values
//! after the writes of those whose commits stand before its snapshot, in the order of their commits; (3) the first committer wins:
//! if a and b write a location in common, not both snapshots stand before both commits.
//! The classical text lets the snapshot be "any time before the first read". Here it may be any time in the lifetime, because the
//! criteria judge values and not when they were learned: so strict serializability implies snapshot isolation (put both instants at
//! the place of the transaction in the row), which "before the reply to the first read" would not give.
//!
//! # Every prefix
//! It makes a difference for all of them, and for the same reason: a transaction may read from another that is still live, and go wrong
//! with it, before the other asks to commit and all is well again. For `committed` transactions this means: the reader has
//! committed and the writer has not even tried to (`library/histories/late_commit.history`, which is final-state opaque).

use super::{Action, Call, Event, History, Reply};
use crate::criterion::TxCriterion;

/// A completed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Read(u8, i128),
    Write(u8, i128),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Live,
    CommitPending,
    Committed,
    Aborted,
}

#[derive(Clone, Debug)]
struct Transaction {
    operations: Vec<Operation>,
    fate: Fate,
    /// The indices of its first event, and of the last if it has ended.
    begin: usize,
    end: Option<usize>,
}

/// Whether the criterion accepts the history: every prefix of it that counts satisfies it.
pub fn accepts(criterion: TxCriterion, history: &History) -> bool {
    let whole = history.events().len();
    let first = if criterion.judges_prefixes() { 0 } else { whole };
    (first..=whole).all(|end| satisfies(criterion, history, end))
}

/// Whether the first `end` events satisfy the criterion, whatever shorter prefixes do.
pub fn satisfies(criterion: TxCriterion, history: &History, end: usize) -> bool {
    completions(transactions(&history.events()[..end])).into_iter().any(|mut completion| {
        if criterion.is_about_committed() {
            completion.retain(|tx| tx.fate == Fate::Committed);
        }
        match criterion {
            TxCriterion::SnapshotIsolation => has_snapshots(&completion, history.init()),
            _ => has_row(&completion, history.init(), criterion.keeps_real_time()),
        }
    })
}

/// Whether the end of a run is as the criterion wants it: some row as above leaves this memory behind.
/// Snapshot isolation says nothing about the end.
pub fn ends(criterion: TxCriterion, history: &History, memory: &[i128]) -> bool {
    let mut all = transactions(history.events());
    if criterion.is_about_committed() {
        all.retain(|tx| tx.fate == Fate::Committed);
    }
    if criterion == TxCriterion::SnapshotIsolation {
        return true;
    }
    some_permutation(all.len(), &mut |row| {
        let row: Vec<&Transaction> = row.iter().map(|i| &all[*i]).collect();
        is_row(&row, history.init(), criterion.keeps_real_time()) && leaves(&row, history.init()) == memory
    })
}

/// Whether **every** row of the committed transactions that is sorted by their keys is legal and leaves this memory behind.
/// `keys` has one list for each transaction of the history.
pub fn ends_in_order(history: &History, memory: &[i128], keys: &[Vec<i128>]) -> bool {
    let mut ids: Vec<usize> = history.events().iter().map(|event| event.tx.into()).collect();
    ids.sort_unstable();
    ids.dedup();
    let committed: Vec<(Transaction, &Vec<i128>)> = ids
        .into_iter()
        .map(|id| (transaction(history.events(), id as u8), &keys[id]))
        .filter(|(tx, _)| tx.fate == Fate::Committed)
        .collect();
    !some_permutation(committed.len(), &mut |row| {
        let sorted = row.windows(2).all(|pair| committed[pair[0]].1 <= committed[pair[1]].1);
        let row: Vec<&Transaction> = row.iter().map(|i| &committed[*i].0).collect();
        sorted && !(is_row(&row, history.init(), false) && leaves(&row, history.init()) == memory)
    })
}

/// What the committed transactions of a row leave behind.
fn leaves(row: &[&Transaction], init: &[i128]) -> Vec<i128> {
    after(init, row.iter().copied().filter(|tx| tx.fate == Fate::Committed))
}

fn transactions(events: &[Event]) -> Vec<Transaction> {
    let mut ids: Vec<u8> = events.iter().map(|event| event.tx).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| transaction(events, id)).collect()
}

fn transaction(events: &[Event], id: u8) -> Transaction {
    let mine: Vec<usize> = (0..events.len()).filter(|i| events[*i].tx == id).collect();
    let mut operations = Vec::new();
    let (mut fate, mut end) = (Fate::Live, None);
    for (call, reply) in mine.iter().step_by(2).zip(mine.iter().skip(1).step_by(2)) {
        match (events[*call].action, events[*reply].action) {
            (Action::Invoke(Call::Read(loc)), Action::Respond(Reply::Value(value))) => {
                operations.push(Operation::Read(loc, value));
            }
            (Action::Invoke(Call::Write(loc, value)), Action::Respond(Reply::Ok)) => {
                operations.push(Operation::Write(loc, value));
            }
            (_, Action::Respond(Reply::Committed)) => (fate, end) = (Fate::Committed, Some(*reply)),
            _ => (fate, end) = (Fate::Aborted, Some(*reply)),
        }
    }
    let waits = mine.len() % 2 == 1;
    if waits && mine.last().is_some_and(|last| events[*last].action == Action::Invoke(Call::Commit)) {
        fate = Fate::CommitPending;
    }
    Transaction { operations, fate, begin: mine[0], end }
}

fn completions(transactions: Vec<Transaction>) -> Vec<Vec<Transaction>> {
    let mut all = vec![Vec::new()];
    for tx in transactions {
        let fates: &[Fate] = match tx.fate {
            Fate::Live | Fate::Aborted => &[Fate::Aborted],
            Fate::Committed => &[Fate::Committed],
            Fate::CommitPending => &[Fate::Aborted, Fate::Committed],
        };
        let with = |fate: &Fate, part: &Vec<Transaction>| {
            let mut part = part.clone();
            part.push(Transaction { fate: *fate, ..tx.clone() });
            part
        };
        all = fates.iter().flat_map(|fate| all.iter().map(move |part| with(fate, part))).collect();
    }
    all
}

fn precedes(a: &Transaction, b: &Transaction) -> bool {
    a.end.is_some_and(|end| end < b.begin)
}

/// Executes a transaction; says whether every read returned what it should have.
fn is_legal(tx: &Transaction, memory: &[i128]) -> bool {
    let mut memory = memory.to_vec();
    tx.operations.iter().all(|operation| match *operation {
        Operation::Read(loc, value) => memory[loc as usize] == value,
        Operation::Write(loc, value) => {
            memory[loc as usize] = value;
            true
        }
    })
}

/// What the writes of these transactions, one after the other, leave behind.
fn after<'a>(init: &[i128], row: impl Iterator<Item = &'a Transaction>) -> Vec<i128> {
    let mut memory = init.to_vec();
    for operation in row.flat_map(|tx| &tx.operations) {
        if let Operation::Write(loc, value) = *operation {
            memory[loc as usize] = value;
        }
    }
    memory
}

/// Whether some row of these transactions keeps real time, if it has to, and makes all of them legal.
fn has_row(transactions: &[Transaction], init: &[i128], real_time: bool) -> bool {
    some_permutation(transactions.len(), &mut |row| {
        let row: Vec<&Transaction> = row.iter().map(|i| &transactions[*i]).collect();
        is_row(&row, init, real_time)
    })
}

/// Whether a row keeps real time, if it has to, and makes all of its transactions legal.
fn is_row(row: &[&Transaction], init: &[i128], real_time: bool) -> bool {
    let in_time = |at: usize| row[at + 1..].iter().all(|later| !precedes(later, row[at]));
    let legal = |at: usize| is_legal(row[at], &leaves(&row[..at], init));
    (0..row.len()).all(|at| (!real_time || in_time(at)) && legal(at))
}

/// Whether some order of snapshots and commits of these committed transactions is as it should be.
/// Instant `2 i` is the snapshot of transaction `i`, `2 i + 1` its commit.
fn has_snapshots(transactions: &[Transaction], init: &[i128]) -> bool {
    let n = transactions.len();
    some_permutation(2 * n, &mut |order| {
        let place = |instant: usize| order.iter().position(|other| *other == instant);
        let snapshot = |i: usize| place(2 * i);
        let commit = |i: usize| place(2 * i + 1);
        let pair_is_fine = |a: usize, b: usize| {
            let in_time = !precedes(&transactions[a], &transactions[b]) || commit(a) < snapshot(b);
            let overlap = snapshot(a) < commit(b) && snapshot(b) < commit(a);
            in_time && !(overlap && write_in_common(&transactions[a], &transactions[b]))
        };
        let legal = |i: usize| {
            let before = order.iter().take_while(|instant| **instant != 2 * i);
            let commits = before.filter(|instant| **instant % 2 == 1).map(|instant| &transactions[*instant / 2]);
            is_legal(&transactions[i], &after(init, commits))
        };
        (0..n).all(|a| snapshot(a) < commit(a) && legal(a) && (0..n).all(|b| a == b || pair_is_fine(a, b)))
    })
}

fn write_in_common(a: &Transaction, b: &Transaction) -> bool {
    let writes =
        |tx: &Transaction, loc: u8| tx.operations.iter().any(|o| matches!(o, Operation::Write(l, _) if *l == loc));
    a.operations.iter().any(|operation| matches!(operation, Operation::Write(loc, _) if writes(b, *loc)))
}

/// Whether some permutation of `0..n` passes the test.
fn some_permutation(n: usize, test: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    fn extend(row: &mut Vec<usize>, n: usize, test: &mut dyn FnMut(&[usize]) -> bool) -> bool {
        if row.len() == n {
            return test(row);
        }
        for next in 0..n {
            if !row.contains(&next) {
                row.push(next);
                if extend(row, n, test) {
                    return true;
                }
                row.pop();
            }
        }
        false
    }
    extend(&mut Vec::new(), n, test)
}

//! The monitors against the oracle: on all short histories, on random long ones, and under renaming.

use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::{Monitor, State};
use crate::history::{Action, Event, History, Size};
use crate::oracle::{self, Criterion};

fn monitor(criterion: Criterion, threads: u8, vars: u8) -> Monitor {
    Monitor::new(criterion, Size { threads, vars }).expect("the test's size is small")
}

/// Compares the verdicts of monitor and oracle on every history up to a length.
///
/// Both languages are prefix-closed, so only accepted histories are extended. Of histories that the definition cannot tell
/// apart ([`normal_form`]), whatever follows, the shortest is extended once for each monitor state. Threads and variables are
/// named in the order of their appearance.
fn check_all(criterion: Criterion, threads: u8, vars: u8, length: usize) {
    let monitor = monitor(criterion, threads, vars);
    let mut level = vec![(History::new(), monitor.initial())];
    let mut seen: FxHashSet<(History, State)> = level.iter().cloned().collect();
    for left in (0..length).rev() {
        let mut next = Vec::new();
        for (history, state) in &level {
            for event in monitor.size().alphabet() {
                let longer = [history.as_slice(), &[event]].concat();
                let mut after = *state;
                let verdict = monitor.step(&mut after, event);
                let expected = oracle::accepts_last(criterion, &longer);
                assert_eq!(verdict.is_ok(), expected, "{criterion:?}: {} {verdict:?} {state:?}", show(&longer));
                if expected && left > 0 {
                    let (threads, vars) = by_appearance(&longer, monitor.size());
                    let renamed: History = longer.iter().map(|e| rename(*e, &threads, &vars)).collect();
                    let class = (normal_form(&renamed), monitor.permute(&after, &threads, &vars));
                    if seen.insert(class.clone()) {
                        next.push(class);
                    }
                }
            }
        }
        level = next;
    }
}

/// The renaming that numbers threads and variables in the order of their appearance.
fn by_appearance(history: &[Event], size: Size) -> (Vec<u8>, Vec<u8>) {
    let number = |seen: &mut dyn Iterator<Item = u8>, n: u8| {
        let mut order: Vec<u8> = Vec::new();
        for item in seen.chain(0..n) {
            if !order.contains(&item) {
                order.push(item);
            }
        }
        let mut names = vec![0; n as usize];
        (0..n).zip(&order).for_each(|(name, &item)| names[item as usize] = name);
        names
    };
    let threads = number(&mut history.iter().map(|e| e.thread), size.threads);
    (threads, number(&mut history.iter().filter_map(|e| e.action.variable()), size.vars))
}

/// A history that the definition cannot tell from the given one, now or after any continuation.
///
/// What the definition leaves out for good is left out. Then, of the next events of all threads, the lowest thread's goes
/// first, unless its order with an event that stands before it matters.
fn normal_form(history: &[Event]) -> History {
    let mut left: Vec<Event> = Vec::new();
    let mut first = Vec::new();
    for (i, event) in history.iter().enumerate() {
        let next = history[i + 1..].iter().find(|e| e.thread == event.thread);
        let dropped = matches!(event.action, Action::Load(_)) && next.is_some_and(|e| e.action != Action::ReadFinish);
        let last = left.iter().rfind(|e| e.thread == event.thread);
        let idle =
            event.action == Action::ReadFinish && !matches!(last, Some(e) if matches!(e.action, Action::Load(_)));
        if !dropped && !idle {
            first.push(last.is_none_or(|e| is_finish(*e)));
            left.push(*event);
        }
    }
    let mut taken = vec![false; left.len()];
    let mut out = History::new();
    while out.len() < left.len() {
        let ready =
            |&j: &usize| !taken[j] && (0..j).all(|i| taken[i] || !ordered((left[i], first[i]), (left[j], first[j])));
        let next = (0..left.len()).filter(ready).min_by_key(|&j| left[j].thread).expect("the first one left is ready");
        taken[next] = true;
        out.push(left[next]);
    }
    out
}

/// Whether the definition looks at the order of two events; each comes with whether it is the first of its transaction.
fn ordered(a: (Event, bool), b: (Event, bool)) -> bool {
    let loads = |e: Event| matches!(e.action, Action::Load(_));
    let variable = a.0.action.variable();
    a.0.thread == b.0.thread
        || (variable.is_some() && variable == b.0.action.variable() && !(loads(a.0) && loads(b.0)))
        || (is_finish(a.0) && b.1)
        || (a.1 && is_finish(b.0))
}

fn is_finish(event: Event) -> bool {
    matches!(event.action, Action::Commit | Action::Abort)
}

fn rename(event: Event, threads: &[u8], vars: &[u8]) -> Event {
    let action = match event.action {
        Action::Load(v) => Action::Load(vars[v as usize]),
        Action::Store(v) => Action::Store(vars[v as usize]),
        Action::Cas(v) => Action::Cas(vars[v as usize]),
        Action::Rollback(v) => Action::Rollback(vars[v as usize]),
        other => other,
    };
    Event { thread: threads[event.thread as usize], action }
}

fn renamings(threads: u8, vars: u8) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = |n| permutations((0..n).collect());
    all(threads).into_iter().flat_map(|t| all(vars).into_iter().map(move |v| (t.clone(), v))).collect()
}

fn permutations(items: Vec<u8>) -> Vec<Vec<u8>> {
    if items.is_empty() {
        return vec![items];
    }
    let with_first = |i: usize| {
        let mut rest = items.clone();
        let first = rest.remove(i);
        permutations(rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..items.len()).flat_map(with_first).collect()
}

fn show(history: &[Event]) -> String {
    history.iter().map(Event::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn opacity_on_all_short_histories() {
    check_all(Criterion::Opacity, 2, 2, 7);
    check_all(Criterion::Opacity, 3, 2, 6);
    check_all(Criterion::Opacity, 2, 3, 6);
}

#[test]
fn strict_serializability_on_all_short_histories() {
    check_all(Criterion::StrictSerializability, 2, 2, 7);
    check_all(Criterion::StrictSerializability, 3, 2, 6);
    check_all(Criterion::StrictSerializability, 2, 3, 6);
}

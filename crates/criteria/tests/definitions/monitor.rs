//! The monitors against the oracle, on all short histories and on random long ones; renaming and encoding; sizes; the paper's
//! counterexamples.

use cyrano_criteria::criterion::TxCriterion;
use proptest::prelude::*;
use rustc_hash::FxHashSet;

use cyrano_criteria::history::{Action, Event, History, Parsed, Size};
use cyrano_criteria::monitor::{Monitor, MonitorState, Rejection};
use cyrano_criteria::oracle;

fn monitor(criterion: TxCriterion, threads: u8, vars: u8) -> Monitor {
    Monitor::new(criterion, Size { threads, vars }).expect("the test's size is small")
}

/// Compares the verdicts of monitor and oracle on every history up to a length.
///
/// Both languages are prefix-closed, so only accepted histories are extended. Of histories that the definition cannot tell
/// apart ([`normal_form`]), whatever follows, the shortest is extended once for each monitor state. Threads and variables are
/// named in the order of their appearance.
fn check_all(criterion: TxCriterion, threads: u8, vars: u8, length: usize) {
    let monitor = monitor(criterion, threads, vars);
    let mut level = vec![(History::new(), monitor.initial())];
    let mut seen: FxHashSet<(History, MonitorState)> = level.iter().cloned().collect();
    for left in (0..length).rev() {
        let mut next = Vec::new();
        for (history, state) in &level {
            for event in monitor.size().alphabet_with_begin() {
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
        let again = event.action == Action::Begin && last.is_some_and(|e| e.action == Action::Begin);
        if !dropped && !idle && !again {
            first.push(event.action == Action::Begin || last.is_none_or(|e| is_finish(*e)));
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

fn show(history: &[Event]) -> String {
    history.iter().map(Event::to_string).collect::<Vec<_>>().join(", ")
}

/// Walks at random, always along accepted events, and calls `visit` with each history, its state, and every event after it.
fn walk(
    monitor: &Monitor,
    choices: &[u16],
    mut visit: impl FnMut(&[Event], &MonitorState, Event, Result<MonitorState, Rejection>),
) {
    let (mut history, mut state) = (History::new(), monitor.initial());
    for choice in choices {
        let mut open = Vec::new();
        for event in monitor.size().alphabet_with_begin() {
            let mut after = state;
            let result = monitor.step(&mut after, event).map(|()| after);
            visit(&history, &state, event, result);
            let last = history.iter().rfind(|e| e.thread == event.thread);
            let uses = event.action == Action::ReadFinish && last.is_some_and(|e| matches!(e.action, Action::Load(_)));
            if result.is_ok() && (uses || event.action != Action::ReadFinish) {
                // Most loads should be used, or nothing interesting happens.
                open.extend(std::iter::repeat_n((event, after), if uses { 12 } else { 1 }));
            }
        }
        let (event, after) = open[*choice as usize % open.len()];
        history.push(event);
        state = after;
    }
}

/// Compares monitor and oracle at every step of a random walk.
fn check_walk(monitor: &Monitor, choices: &[u16]) {
    walk(monitor, choices, |history, state, event, result| {
        let longer = [history, &[event]].concat();
        let expected = oracle::accepts_last(monitor.criterion(), &longer);
        assert_eq!(result.is_ok(), expected, "{}: {result:?} {state:?}", show(&longer));
    });
}

/// Compares renaming before and after each step, and reads back what was encoded.
fn check_renaming(monitor: &Monitor, choices: &[u16], threads: &[u8], vars: &[u8]) {
    walk(monitor, choices, |history, state, event, result| {
        let mut other = monitor.permute(state, threads, vars);
        let other_result = monitor.step(&mut other, rename(event, threads, vars));
        let expected = result.map(|after| monitor.permute(&after, threads, vars));
        assert_eq!(other_result.map(|()| other), expected, "{} then {event}", show(history));
        let mut bytes = Vec::new();
        monitor.encode(state, &mut bytes);
        bytes.push(0xff);
        assert_eq!(monitor.decode(&bytes), Some((*state, bytes.len() - 1)), "{}", show(history));
    });
}

fn choices(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), length)
}

fn renaming(n: u8) -> impl Strategy<Value = Vec<u8>> {
    Just((0..n).collect::<Vec<u8>>()).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn long_histories(choices in choices(20..31), opacity: bool) {
        let criterion = if opacity { TxCriterion::Opacity } else { TxCriterion::StrictSerializability };
        check_walk(&monitor(criterion, 3, 3), &choices);
        check_walk(&monitor(criterion, 4, 2), &choices);
        check_walk(&monitor(criterion, 2, 2), &choices);
    }

    #[test]
    fn renaming_commutes_with_steps(
        choices in choices(20..61), threads in renaming(4), vars in renaming(3), opacity: bool
    ) {
        let criterion = if opacity { TxCriterion::Opacity } else { TxCriterion::StrictSerializability };
        check_renaming(&monitor(criterion, 4, 3), &choices, &threads, &vars);
    }

    #[test]
    fn renaming_of_two_threads(choices in choices(20..61), vars in renaming(2), opacity: bool) {
        let criterion = if opacity { TxCriterion::Opacity } else { TxCriterion::StrictSerializability };
        check_renaming(&monitor(criterion, 2, 2), &choices, &[1, 0], &vars);
    }

    #[test]
    fn the_largest_size(choices in choices(40..61), opacity: bool) {
        let criterion = if opacity { TxCriterion::Opacity } else { TxCriterion::StrictSerializability };
        let monitor = monitor(criterion, 8, 8);
        let mut bytes = 0;
        walk(&monitor, &choices, |history, state, event, result| {
            // A sample of the 280 events is enough, and the search for cycles instead of orders.
            if (history.len() + event.thread as usize).is_multiple_of(8) {
                let longer = [history, &[event]].concat();
                let expected = oracle::explain_last(criterion, &longer).is_none();
                assert_eq!(result.is_ok(), expected, "{}: {result:?}", show(&longer));
            }
            let mut out = Vec::new();
            monitor.encode(state, &mut out);
            bytes = bytes.max(out.len());
        });
        prop_assert!(bytes <= 128, "{bytes} bytes");
    }
}

/// All histories that are short enough; with `CYRANO_LONG` one event longer, which takes ten times as long.
fn check_sizes(criterion: TxCriterion) {
    let more = usize::from(std::env::var_os("CYRANO_LONG").is_some_and(|value| !value.is_empty()));
    check_all(criterion, 2, 2, 6 + more);
    check_all(criterion, 3, 2, 5 + more);
    check_all(criterion, 2, 3, 5 + more);
}

#[test]
fn opacity_on_all_short_histories() {
    check_sizes(TxCriterion::Opacity);
}

#[test]
fn strict_serializability_on_all_short_histories() {
    check_sizes(TxCriterion::StrictSerializability);
}

/// Checks at which event a monitor rejects a history, and why.
fn check(criterion: TxCriterion, text: &str, expect: Option<(usize, Rejection)>) {
    let source = format!("history memory\n{}", text.replace(", ", "\n"));
    let Parsed { history, names, .. } = cyrano_criteria::history::parse(&source).expect("the test's history is one");
    let monitor = monitor(criterion, names.threads.len() as u8, names.variables.len() as u8);
    let mut state = monitor.initial();
    let steps = history.iter().enumerate();
    let mut rejected = steps.filter_map(|(i, event)| monitor.step(&mut state, *event).err().map(|why| (i, why)));
    assert_eq!(rejected.next(), expect, "{text}");
}

/// Checks the number of reachable states: the canonical form decides it, and the cost of every exploration with it.
fn check_states(criterion: TxCriterion, threads: u8, vars: u8, expect: usize) {
    let monitor = monitor(criterion, threads, vars);
    let mut seen = FxHashSet::from_iter([monitor.initial()]);
    let mut open = vec![monitor.initial()];
    while let Some(state) = open.pop() {
        for event in monitor.size().alphabet() {
            let mut after = state;
            if monitor.step(&mut after, event).is_ok() && seen.insert(after) {
                open.push(after);
            }
        }
    }
    assert_eq!(seen.len(), expect, "{criterion:?}, {threads} threads, {vars} variables");
}

#[test]
fn state_counts() {
    check_states(TxCriterion::Opacity, 2, 1, 167);
    check_states(TxCriterion::StrictSerializability, 2, 1, 408);
    check_states(TxCriterion::Opacity, 2, 2, 6_432);
    check_states(TxCriterion::StrictSerializability, 2, 2, 40_969);
    check_states(TxCriterion::Opacity, 3, 1, 12_887);
}

/// Table 3 of the paper.
#[test]
fn the_counterexamples_of_table_3() {
    use TxCriterion::{Opacity, StrictSerializability};
    let w1 = "1 load x, 1 rfin, 2 store x, 1 store x";
    let w2 = "1 store x, 2 load y, 2 rfin, 2 load x, 2 rfin, 1 rollback x";
    let w3 = "1 load x, 1 rfin, 2 load y, 2 rfin, 2 store x, 1 store y";
    let w4 = "1 load x, 1 rfin, 2 store x, 1 load x, 1 rfin";
    check(Opacity, w1, Some((3, Rejection::Cycle)));
    check(Opacity, w2, Some((5, Rejection::Rollback)));
    check(Opacity, w3, Some((5, Rejection::Cycle)));
    check(Opacity, w4, Some((4, Rejection::Stale)));
    for w in [w1, w2, w3, w4] {
        check(StrictSerializability, w, None);
    }
    check(StrictSerializability, &format!("{w1}, 1 commit, 2 commit"), Some((5, Rejection::Stale)));
    check(StrictSerializability, &format!("{w2}, 1 abort, 2 commit"), Some((7, Rejection::Stale)));
    check(StrictSerializability, &format!("{w3}, 2 commit, 1 commit"), Some((7, Rejection::Cycle)));
    check(StrictSerializability, &format!("{w4}, 2 commit, 1 commit"), Some((6, Rejection::Stale)));
    check(StrictSerializability, &format!("{w4}, 2 commit, 1 abort"), None);
}

/// Longer histories on which a careless canonical form would go wrong.
#[test]
fn what_must_not_be_forgotten() {
    // Thread 1's transaction began before thread 2's finished, although nothing is left of what it did.
    let late = "3 load x, 3 rfin, 2 store x, 2 commit, 1 load y, 1 rfin, 3 store y";
    check(TxCriterion::Opacity, late, Some((6, Rejection::Cycle)));
    check(TxCriterion::Opacity, &format!("1 store z, 1 rollback z, {late}"), None);
    // Thread 1's transaction comes before all others but thread 2's, which begins with a load that is used late.
    let begins_with_load =
        "2 load y, 1 load z, 1 rfin, 1 load x, 1 rfin, 3 store x, 3 commit, 2 rfin, 2 store z, 1 store y";
    check(TxCriterion::Opacity, begins_with_load, Some((9, Rejection::Cycle)));
    let commits = begins_with_load.replace("1 store y", "2 commit, 1 store y, 1 commit");
    check(TxCriterion::StrictSerializability, &commits, Some((11, Rejection::Cycle)));
    // Only an aborted transaction comes after thread 1's; the next one of its thread need not.
    let aborts =
        "1 load y, 1 rfin, 1 store x, 2 load x, 2 rfin, 2 abort, 2 store y, 2 commit, 1 load y, 1 rfin, 1 commit";
    check(TxCriterion::StrictSerializability, aborts, Some((10, Rejection::Stale)));
    // What follows thread 2's transaction does so over thread 1's, which follows it by a store until it commits.
    let over =
        "2 load x, 2 rfin, 1 load y, 1 rfin, 3 store y, 3 store z, 3 commit, 1 store x, 1 commit, 2 load z, 2 rfin";
    check(TxCriterion::Opacity, over, Some((10, Rejection::Stale)));
    check(TxCriterion::StrictSerializability, &format!("{over}, 2 commit"), Some((11, Rejection::Stale)));
}

#[test]
fn sizes_beyond_the_limit_are_refused() {
    let size = Size { threads: 9, vars: 2 };
    assert_eq!(Monitor::new(TxCriterion::Opacity, size), Err(cyrano_criteria::monitor::TooLarge(size)));
    assert!(Monitor::new(TxCriterion::Opacity, Size { threads: 8, vars: 8 }).is_ok());
}

/// TL2 with three threads: the third transaction takes its clock value between the other two.
#[test]
fn a_begin_is_earlier_than_the_first_event() {
    let literal = "3 load x, 3 rfin, 1 store x, 1 commit, 2 store y, 3 load y, 3 rfin";
    check(TxCriterion::Opacity, literal, Some((6, Rejection::Stale)));
    check(TxCriterion::Opacity, &format!("2 begin, {literal}"), None);
}

//! What each property asks for, by definition: the histories that have to be in the language because a given one is.
//!
//! Slow and obviously right, one history at a time. [`transform`](super::transform) does the same for all histories of an automaton.
//! The definitions are in the module doc of [`structure`](super).

use crate::criterion::Structure;
use crate::history::{Action, Event, History, Size};
use crate::oracle::Outcome;

/// A transaction with all its events, loads that are never used among them (FOIL, section 2.4.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Whose.
    pub thread: u8,
    /// The indices of its events.
    pub events: Vec<usize>,
    /// What has become of it; one that rolls back aborts, even if it has not done so yet.
    pub outcome: Outcome,
    /// Whether it has ended.
    pub ended: bool,
}

/// The transactions of a history, in the order of their first events.
pub fn parts(history: &[Event]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, event) in history.iter().enumerate() {
        let open = |part: &Part| part.thread == event.thread && !part.ended;
        let number = parts.iter().position(open).unwrap_or_else(|| {
            let outcome = Outcome::Unfinished;
            parts.push(Part { thread: event.thread, events: Vec::new(), outcome, ended: false });
            parts.len() - 1
        });
        parts[number].events.push(at);
        match event.action {
            Action::Commit if parts[number].outcome == Outcome::Unfinished => {
                parts[number].outcome = Outcome::Committed
            }
            Action::Abort | Action::Rollback(_) => parts[number].outcome = Outcome::Aborted,
            _ => {}
        }
        parts[number].ended |= matches!(event.action, Action::Commit | Action::Abort);
    }
    parts
}

/// The histories that have to be in a language with this property (for monotonicity, one of which has to be), over this many threads and variables, that has this history.
///
/// A property about executions asks for nothing here, and `reduction` for what its parts ask for.
pub fn images(property: Structure, size: Size, history: &[Event]) -> Vec<History> {
    match property {
        Structure::TransactionProjection => transactions(history),
        Structure::ThreadSymmetry => threads(history, size.threads, false),
        Structure::SequentialRenaming => threads(history, size.threads, true),
        Structure::VariableProjection => variables(history, size.vars),
        Structure::SettledProjection => settled(history, size.vars),
        Structure::Monotonicity => sequential(history),
        Structure::Completion => [completions(history), prompt(history)].concat(),
        Structure::Reduction => Structure::PREMISES.into_iter().flat_map(|part| images(part, size, history)).collect(),
        Structure::ConflictCommutativity => exchanges(history, None),
        Structure::AbortIsolation | Structure::PendingIsolation => Vec::new(),
    }
}

/// The history without read-finishes that finish no load, which say nothing.
pub fn without_idle(history: &[Event]) -> History {
    let idle = |at: usize| {
        let before = history[..at].iter().rfind(|event| event.thread == history[at].thread);
        history[at].action == Action::ReadFinish && !before.is_some_and(|event| matches!(event.action, Action::Load(_)))
    };
    of(history, |at| !idle(at))
}

fn of(history: &[Event], keep: impl Fn(usize) -> bool) -> History {
    (0..history.len()).filter(|at| keep(*at)).map(|at| history[at]).collect()
}

fn some_aborted(parts: &[Part]) -> bool {
    parts.iter().any(|part| part.outcome == Outcome::Aborted)
}

/// P1: without the aborted transactions, and without any of the unfinished ones.
fn transactions(history: &[Event]) -> Vec<History> {
    let parts = parts(history);
    let open: Vec<&Part> = parts.iter().filter(|part| part.outcome == Outcome::Unfinished).collect();
    let without = |dropped: u32| {
        let drops = |part: &Part| match part.outcome {
            Outcome::Committed => false,
            Outcome::Aborted => true,
            Outcome::Unfinished => open.iter().position(|o| *o == part).is_some_and(|at| dropped >> at & 1 == 1),
        };
        of(history, |at| !parts.iter().any(|part| part.events.contains(&at) && drops(part)))
    };
    (0..1u32 << open.len()).map(without).collect()
}

/// P2: one thread's transactions are another's. In the weak form the history is sequential but for its last event, whose thread stays as it is.
fn threads(history: &[Event], number: u8, weak: bool) -> Vec<History> {
    let parts = parts(history);
    let overlap = |x: &Part, y: &Part| x.events[0] < *last(y) && y.events[0] < *last(x);
    let apart = |one: u8, other: u8| {
        let of_thread = |thread: u8| parts.iter().filter(move |part| part.thread == thread);
        of_thread(one)
            .all(|x| of_thread(other).all(|y| !(overlap(x, y) || unfinished_before(x, y) || unfinished_before(y, x))))
    };
    let (row, row_and_step) = is_row(history);
    if some_aborted(&parts) || weak && !row_and_step {
        return Vec::new();
    }
    let last_thread = history.last().map(|event| event.thread);
    let stays = |thread: u8| weak && !row && last_thread == Some(thread);
    let mut images = Vec::new();
    for (from, to) in pairs(number).filter(|(from, _)| parts.iter().any(|part| part.thread == *from)) {
        if apart(from, to) && !stays(from) && !stays(to) {
            let rename =
                |event: &Event| Event { thread: if event.thread == from { to } else { event.thread }, ..*event };
            images.push(history.iter().map(rename).collect());
        }
    }
    images
}

/// An unfinished transaction never ends, so nothing follows it in its thread.
fn unfinished_before(x: &Part, y: &Part) -> bool {
    x.outcome == Outcome::Unfinished && x.events[0] < y.events[0]
}

fn last(part: &Part) -> &usize {
    part.events.last().expect("a transaction has events")
}

/// Whether the transactions follow one another; and whether they do but for the last event, or for a load and its read-finish at the end.
fn is_row(history: &[Event]) -> (bool, bool) {
    let read = matches!(history, [.., load, end] if load.thread == end.thread
        && matches!((load.action, end.action), (Action::Load(_), Action::ReadFinish)));
    let row =
        |history: &[Event]| parts(history).iter().all(|part| last(part) - part.events[0] + 1 == part.events.len());
    let before = |less: usize| &history[..history.len().saturating_sub(less)];
    (row(history), row(before(if read { 2 } else { 1 })))
}

/// All ordered pairs of different threads.
fn pairs(threads: u8) -> impl Iterator<Item = (u8, u8)> {
    let pairs = (0..threads).flat_map(move |from| (0..threads).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to)
}

/// P3: without the events of one variable, and without transactions that have nothing left; one that is unfinished may still have its beginning.
fn variables(history: &[Event], number: u8) -> Vec<History> {
    let parts = parts(history);
    if some_aborted(&parts) {
        return Vec::new();
    }
    (0..number).flat_map(|variable| without(history, &parts, variable)).collect()
}

/// P3 in the weak form: whoever is not the last one has committed, and the last event is one that stays.
fn settled(history: &[Event], number: u8) -> Vec<History> {
    let parts = parts(history);
    let Some(end) = history.len().checked_sub(1) else { return Vec::new() };
    let open = |part: &Part| part.outcome != Outcome::Committed && *last(part) != end;
    if some_aborted(&parts) || parts.iter().any(open) || history[end].action == Action::Begin {
        return Vec::new();
    }
    let stays =
        |variable: &u8| !parts.iter().any(|part| part.events.contains(&end) && gone(history, part, end, *variable));
    (0..number).filter(stays).flat_map(|variable| without(history, &parts, variable)).collect()
}

/// Whether an event is about a variable; a read-finish is about what was loaded.
fn gone(history: &[Event], part: &Part, at: usize, variable: u8) -> bool {
    match history[at].action {
        Action::ReadFinish => {
            let before = part.events.iter().rfind(|own| **own < at);
            before.is_some_and(|own| history[*own].action == Action::Load(variable))
        }
        action => action.variable() == Some(variable),
    }
}

fn without(history: &[Event], parts: &[Part], variable: u8) -> Vec<History> {
    let gone = |part: &Part, at: usize| gone(history, part, at, variable);
    let is_end = |at: &usize| matches!(history[*at].action, Action::Begin | Action::Commit);
    let empty = |part: &Part| part.events.iter().all(|at| is_end(at) || gone(part, *at));
    let open: Vec<usize> = (0..parts.len()).filter(|at| empty(&parts[*at]) && !parts[*at].ended).collect();
    let image = |begun: u32| {
        let keeps = |at: usize| {
            let number =
                parts.iter().position(|part| part.events.contains(&at)).expect("every event is of a transaction");
            let begins = open.iter().position(|open| *open == number).is_some_and(|bit| begun >> bit & 1 == 1);
            let part = &parts[number];
            !gone(part, at) && (!empty(part) || begins && history[at].action == Action::Begin)
        };
        of(history, keeps)
    };
    (0..1u32 << open.len()).map(image).collect()
}

/// P4: what came before the last step, one transaction after the other, and then that step.
fn sequential(history: &[Event]) -> Vec<History> {
    let Some((op, before)) = history.split_last() else { return Vec::new() };
    let whole = parts(before);
    let open: Vec<&Part> = whole.iter().filter(|part| part.outcome == Outcome::Unfinished).collect();
    if some_aborted(&whole) || open.len() != 1 || open[0].thread != op.thread || op.action == Action::Abort {
        return Vec::new();
    }
    let load = last(open[0]);
    let (before, step) = match (op.action, before[*load].action) {
        // A read is one step, unless somebody stores in the middle of it.
        (Action::ReadFinish, Action::Load(v)) if !before[*load..].iter().any(|event| stores(event.action, v)) => {
            (of(before, |at| at != *load), vec![before[*load], *op])
        }
        _ => (before.to_vec(), vec![*op]),
    };
    rows(&before).into_iter().map(|row| [row, step.clone()].concat()).collect()
}

fn stores(action: Action, variable: u8) -> bool {
    matches!(action, Action::Store(v) | Action::Cas(v) if v == variable)
}

/// All rows of the transactions of a history that keep conflicts, of all loads, and real time.
fn rows(history: &[Event]) -> Vec<History> {
    let parts = parts(history);
    let before = |x: &Part, y: &Part| {
        let real_time = x.outcome != Outcome::Unfinished && *last(x) < y.events[0];
        real_time || x.events.iter().any(|i| y.events.iter().any(|j| i < j && conflict(history, *i, *j)))
    };
    let mut rows = Vec::new();
    extend(&parts, &before, &mut Vec::new(), &mut rows);
    let row = |order: Vec<usize>| order.iter().flat_map(|at| parts[*at].events.iter().map(|at| history[*at])).collect();
    rows.into_iter().map(row).collect()
}

fn extend(parts: &[Part], before: &impl Fn(&Part, &Part) -> bool, row: &mut Vec<usize>, rows: &mut Vec<Vec<usize>>) {
    if row.len() == parts.len() {
        rows.push(row.clone());
    }
    for next in 0..parts.len() {
        let waits = |other: usize| other != next && !row.contains(&other) && before(&parts[other], &parts[next]);
        let own_thread =
            |other: usize| other < next && !row.contains(&other) && parts[other].thread == parts[next].thread;
        if !row.contains(&next) && !(0..parts.len()).any(|other| waits(other) || own_thread(other)) {
            row.push(next);
            extend(parts, before, row, rows);
            row.pop();
        }
    }
}

fn conflict(history: &[Event], i: usize, j: usize) -> bool {
    let (one, other) = (history[i].action, history[j].action);
    let accesses = |action: Action, v: u8| action == Action::Load(v) || stores(action, v);
    one.variable().is_some_and(|v| accesses(one, v) && accesses(other, v) && (stores(one, v) || stores(other, v)))
}

/// Two neighbouring events exchanged, of commands that overlap: an earlier event of the second one's command conflicts with one of the first
/// one's. `firsts` says which events are the first ones of their commands; without it all events of a thread are one command, so that more is
/// asked for.
pub fn exchanges(history: &[Event], firsts: Option<&[bool]>) -> Vec<History> {
    let starts = |at: usize| {
        let own = (0..=at).rev().filter(|i| history[*i].thread == history[at].thread);
        own.into_iter().find(|i| firsts.is_some_and(|firsts| firsts[*i])).unwrap_or(0)
    };
    let earlier = |at: usize| {
        let (first, second) = (history[at].thread, history[at + 1].thread);
        let of = |event: usize| (starts(event)..=event).filter(move |i| history[*i].thread == history[event].thread);
        first != second && of(at + 1).any(|i| of(at).any(|j| i < j && conflict(history, i, j)))
    };
    let exchange = |at: usize| {
        let mut image = history.to_vec();
        image.swap(at, at + 1);
        image
    };
    (0..history.len().saturating_sub(1)).filter(|at| earlier(*at)).map(exchange).collect()
}

/// Completion: a transaction that has not committed may be left out, or only read and perhaps commit after its last read; one that has rolled
/// nothing back may also stay as it is, or commit after its last read or store.
fn completions(history: &[Event]) -> Vec<History> {
    let parts = parts(history);
    let mut choices = vec![Vec::new()];
    for part in &parts {
        let possible = fates(history, part);
        let longer = |chosen: &Vec<Fate>, fate: &Fate| [&chosen[..], &[*fate]].concat();
        choices = choices.iter().flat_map(|chosen| possible.iter().map(move |fate| longer(chosen, fate))).collect();
    }
    choices.iter().map(|fates| with(history, &parts, fates)).collect()
}

/// Completion, too: a read that has finished has done so right behind its load.
fn prompt(history: &[Event]) -> Vec<History> {
    let load = |at: usize| (0..at).rfind(|before| history[*before].thread == history[at].thread);
    let finishes = (0..history.len()).filter(|at| history[*at].action == Action::ReadFinish);
    let reads = finishes.filter_map(|at| Some((load(at)?, at)));
    let image = |(load, at): (usize, usize)| {
        let mut image = history.to_vec();
        image[load + 1..=at].rotate_right(1);
        image
    };
    reads.filter(|(load, _)| matches!(history[*load].action, Action::Load(_))).map(image).collect()
}

/// What becomes of a transaction in an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    IsLeftOut,
    /// It stays, perhaps without its stores, and perhaps commits behind this event.
    Stays {
        reads: bool,
        last: Option<usize>,
    },
}

fn fates(history: &[Event], part: &Part) -> Vec<Fate> {
    let last = |counts: fn(Action) -> bool| part.events.iter().rfind(|at| counts(history[**at].action)).copied();
    let stays = |reads: bool, last: Option<usize>| {
        let commits = last.map(|_| Fate::Stays { reads, last });
        [Fate::Stays { reads, last: None }].into_iter().chain(commits)
    };
    let all = stays(false, last(|a| matches!(a, Action::ReadFinish | Action::Store(_) | Action::Cas(_))));
    let reads = stays(true, last(|a| matches!(a, Action::ReadFinish | Action::Cas(_))));
    // What follows an aborted transaction must not become a part of it.
    let reads = reads.skip(usize::from(part.ended)).chain([Fate::IsLeftOut]);
    match part.outcome {
        Outcome::Committed => vec![Fate::Stays { reads: false, last: None }],
        Outcome::Aborted => reads.collect(),
        Outcome::Unfinished => all.chain(reads).collect(),
    }
}

fn with(history: &[Event], parts: &[Part], fates: &[Fate]) -> History {
    let mut image = History::new();
    for (at, event) in history.iter().enumerate() {
        let number = parts.iter().position(|part| part.events.contains(&at)).expect("every event is of a transaction");
        let Fate::Stays { reads, last } = fates[number] else { continue };
        if last.is_some_and(|last| last < at) {
            continue;
        }
        let own = |action: Action| Event { action, ..*event };
        match event.action {
            Action::Cas(v) if reads => image.extend([own(Action::Load(v)), own(Action::ReadFinish)]),
            Action::Store(_) | Action::Rollback(_) if reads => {}
            _ => image.push(*event),
        }
        image.extend((last == Some(at)).then_some(own(Action::Commit)));
    }
    image
}

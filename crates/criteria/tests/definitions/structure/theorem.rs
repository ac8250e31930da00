//! The reduction theorem (FOIL, section 8) by brute force.
//!
//! P1 to P4 say "if this history is in the language, so are those", so each set of histories has a *least* language with these properties that
//! contains it. There is a memory that has them, is opaque for two threads and two variables and has a given history exactly if the least language
//! of that history is opaque for two threads and two variables. So one closure for each shortest history that is not opaque decides about
//! every memory there can be, as far as the length goes.
//!
//! Here transactions begin with their first events and images are wanted as they are. What escapes then also escapes from weaker premises; that
//! nothing escapes from those of `reduction` is shown in [`memories`](super::memories).

use cyrano_criteria::criterion::{Structure, TxCriterion};
use cyrano_criteria::history::{Action, Event, History, Size};
use cyrano_criteria::monitor::{Monitor, MonitorState};
use cyrano_criteria::structure::images::images;
use std::collections::BTreeSet;

/// An event about a variable.
type Verb = fn(u8) -> Action;

/// What a thread does in one go: reads are not interrupted here.
const VERBS: [&[Verb]; 4] =
    [&[Action::Load, |_| Action::ReadFinish], &[Action::Store], &[|_| Action::Commit], &[|_| Action::Abort]];

/// Calls `found` on every shortest history over this many threads and variables that is not opaque, up to renaming, of at most so many letters.
fn bad_histories(size: Size, letters: usize, found: &mut dyn FnMut(&[Event])) {
    let monitor = Monitor::new(TxCriterion::Opacity, size).expect("small");
    let start = Walk { history: Vec::new(), state: monitor.initial(), threads: 0, vars: 0 };
    walk(&monitor, &start, letters, found);
}

struct Walk {
    history: History,
    state: MonitorState,
    /// How many threads and variables have been named.
    threads: u8,
    vars: u8,
}

fn walk(monitor: &Monitor, at: &Walk, letters: usize, found: &mut dyn FnMut(&[Event])) {
    if letters == 0 {
        return;
    }
    let Size { threads, vars } = monitor.size();
    for thread in 0..threads.min(at.threads + 1) {
        for (number, verb) in VERBS.iter().enumerate() {
            let known = if number < 2 { vars.min(at.vars + 1) } else { 1 };
            for variable in 0..known {
                let mut next = Walk { history: at.history.clone(), state: at.state, ..*at };
                next.threads = next.threads.max(thread + 1);
                next.vars = if number < 2 { next.vars.max(variable + 1) } else { next.vars };
                if number == 3 && has_stored(&at.history, thread) || number >= 2 && is_idle(&at.history, thread) {
                    continue;
                }
                let mut rejected = false;
                for action in *verb {
                    let event = Event { thread, action: action(variable) };
                    next.history.push(event);
                    rejected |= monitor.step(&mut next.state, event).is_err();
                }
                match rejected {
                    true => found(&next.history),
                    false => walk(monitor, &next, letters - 1, found),
                }
            }
        }
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event.action, Action::Commit | Action::Abort)
}

fn has_stored(history: &[Event], thread: u8) -> bool {
    let own = history.iter().rev().filter(|event| event.thread == thread);
    own.take_while(|event| !is_end(event)).any(|event| matches!(event.action, Action::Store(_)))
}

fn is_idle(history: &[Event], thread: u8) -> bool {
    history.iter().rev().find(|event| event.thread == thread).is_none_or(is_end)
}

/// Whether there is a language with these properties that has the history and is opaque for two threads and two variables.
pub fn escapes(properties: &[Structure], bad: &[Event]) -> bool {
    some_language(properties, BTreeSet::new(), vec![bad.to_vec()])
}

/// The same for languages that have these histories; monotonicity lets one choose between rows.
fn some_language(properties: &[Structure], mut known: BTreeSet<History>, mut work: Vec<History>) -> bool {
    let size = Size { threads: 3, vars: 3 };
    while let Some(history) = work.pop() {
        if !known.insert(history.clone()) {
            continue;
        }
        let count = |values: BTreeSet<u8>| values.len();
        let small = count(history.iter().map(|event| event.thread).collect()) <= 2
            && count(history.iter().filter_map(|event| event.action.variable()).collect()) <= 2;
        if small && !is_opaque(&history) {
            return false;
        }
        work.extend(history.split_last().map(|(_, before)| before.to_vec()));
        let all = properties.iter().filter(|property| **property != Structure::Monotonicity);
        work.extend(all.flat_map(|property| images(*property, size, &history)));
    }
    let monotone = properties.contains(&Structure::Monotonicity);
    let rows = known.iter().map(|history| images(Structure::Monotonicity, size, history));
    let open =
        rows.into_iter().find(|rows| monotone && !rows.is_empty() && !rows.iter().any(|row| known.contains(row)));
    open.is_none_or(|rows| rows.into_iter().any(|row| some_language(properties, known.clone(), vec![row])))
}

fn is_opaque(history: &[Event]) -> bool {
    let monitor = Monitor::new(TxCriterion::Opacity, Size { threads: 4, vars: 4 }).expect("small");
    let mut state = monitor.initial();
    history.iter().all(|event| monitor.step(&mut state, *event).is_ok())
}

pub fn told(history: &[Event]) -> String {
    history.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// All that the theorem needs.
pub const REPAIRED: [Structure; 4] =
    [Structure::Completion, Structure::SequentialRenaming, Structure::SettledProjection, Structure::Monotonicity];

/// The shortest bad histories of exactly this size, of at most so many letters, of which some language escapes; no more of them than wanted.
fn escaping(size: Size, letters: usize, properties: &[Structure], wanted: usize) -> Vec<History> {
    let mut found = Vec::new();
    bad_histories(size, letters, &mut |history| {
        let threads = history.iter().map(|event| event.thread + 1).max();
        let vars = history.iter().filter_map(|event| event.action.variable()).map(|v| v + 1).max();
        if (threads, vars) == (Some(size.threads), Some(size.vars)) && found.len() < wanted {
            found.extend(escapes(properties, history).then(|| history.to_vec()));
        }
    });
    found
}

#[test]
fn the_theorem_fails_as_printed() {
    let found = escaping(Size { threads: 3, vars: 2 }, 5, &Structure::PREMISES, usize::MAX);
    let found: Vec<String> = found.iter().map(|history| told(history)).collect();
    assert_eq!(found.len(), 41);
    // Nobody commits: 1 before 3 because of x, 3 before 2 because of x, 2 before 1 because of y.
    let shown = "1 load x; 1 rfin; 2 load y; 2 rfin; 3 store x; 2 load x; 2 rfin; 1 store y";
    assert!(found.iter().any(|history| history == shown), "{found:?}");
}

#[test]
fn no_premise_can_be_left_out() {
    for missing in REPAIRED {
        let rest: Vec<Structure> = REPAIRED.into_iter().filter(|property| *property != missing).collect();
        let sizes = [(3, 2), (2, 3)].map(|(threads, vars)| Size { threads, vars });
        let found = sizes.into_iter().find_map(|size| escaping(size, 5, &rest, 1).pop());
        assert!(found.is_some(), "{missing:?} is not needed for histories this short");
    }
}

//! The reduction theorem as `reduction` uses it, by brute force: with the beginnings of transactions, reads that others interrupt, compare-and-swaps,
//! rollbacks, and the freedom of an image to be in the language with shorter transactions.
//!
//! All premises say "if this history is in the language, so is one of those", so the languages with them are closed under union and there is a *largest*
//! one that is opaque for two threads and two variables. A history escapes exactly if that one has it. A history is *excluded*, not in the largest
//! one, if it is not opaque and small, or if all that one of the premises lets one choose from is excluded. That is an induction, so a history whose
//! exclusion would rest on itself is not; only histories that are not opaque are followed, so more may look as if they escaped than do, never
//! fewer.
//!
//! That what is rolled back was used or overwritten by nobody, and that who aborts has rolled back all, is a premise of its own: no projection
//! shows it, because the paper's projections leave out who aborts.

use super::theorem::{REPAIRED, escapes, told};
use super::transducers::{ENDS, shorter};
use cyrano_criteria::criterion::{Structure, TxCriterion};
use cyrano_criteria::history::{Action, Event, History, Size};
use cyrano_criteria::monitor::{Monitor, MonitorState};
use cyrano_criteria::oracle::{ill_formed, split};
use cyrano_criteria::structure::images::images;
use std::collections::{BTreeSet, HashMap};

const SIZE: Size = Size { threads: 3, vars: 3 };

/// What is known to be excluded, for histories with their threads and variables in the order of appearance: the premises do not know names.
struct Proofs {
    monitor: Monitor,
    known: HashMap<History, bool>,
}

impl Proofs {
    fn new() -> Self {
        Self { monitor: Monitor::new(TxCriterion::Opacity, SIZE).expect("small"), known: HashMap::new() }
    }

    /// The shortest prefix that is not opaque.
    fn bad<'h>(&self, history: &'h [Event]) -> Option<&'h [Event]> {
        let mut state = self.monitor.initial();
        let wrong = history.iter().position(|event| self.monitor.step(&mut state, *event).is_err());
        wrong.map(|at| &history[..=at])
    }

    fn excluded(&mut self, bad: &[Event]) -> bool {
        let bad = canonical(bad);
        let (threads, vars) = named(&bad);
        if threads <= 2 && vars <= 2 || is_ill_formed(&bad) {
            return true;
        }
        if let Some(known) = self.known.get(&bad) {
            return *known;
        }
        self.known.insert(bad.clone(), false);
        let found = REPAIRED.into_iter().any(|premise| {
            let mut images = images(premise, SIZE, &bad);
            images.retain(|image| *image != bad);
            // Short ones have fewer choices.
            images.sort_by_key(|image| (image.len(), image.clone()));
            images.dedup();
            match premise {
                Structure::Monotonicity => !images.is_empty() && images.iter().all(|image| self.impossible(image)),
                _ => images.iter().any(|image| self.impossible(image)),
            }
        });
        self.known.insert(bad, found);
        found
    }

    /// Whether the image is excluded, however short its transactions are.
    fn impossible(&mut self, image: &[Event]) -> bool {
        self.bad(image).is_some()
            && shorter(image, &unsaid(image)).iter().all(|one| {
                let bad = self.bad(one).map(<[Event]>::to_vec);
                bad.is_some_and(|bad| self.excluded(&bad))
            })
    }
}

fn is_ill_formed(history: &[Event]) -> bool {
    ill_formed(TxCriterion::Opacity, history, &split(history)).is_some()
}

/// What the transactions that are under way may have done without saying so.
fn unsaid(history: &[Event]) -> Vec<(u8, &'static [&'static [Action]])> {
    const COMMITS: [&[Action]; 2] = [&[], &[Action::Commit]];
    let last = |thread: u8| history.iter().rev().find(|event| event.thread == thread).map(|event| event.action);
    let ends = |thread: u8| match last(thread)? {
        Action::Commit | Action::Abort => None,
        Action::Load(_) => Some((thread, &ENDS[..])),
        _ => Some((thread, &COMMITS[..])),
    };
    (0..SIZE.threads).filter_map(ends).collect()
}

/// How many threads and variables there are.
fn named(history: &[Event]) -> (usize, usize) {
    let threads: BTreeSet<u8> = history.iter().map(|event| event.thread).collect();
    let vars: BTreeSet<u8> = history.iter().filter_map(|event| event.action.variable()).collect();
    (threads.len(), vars.len())
}

fn canonical(history: &[Event]) -> History {
    let (mut threads, mut vars) = (Vec::new(), Vec::new());
    fn number(known: &mut Vec<u8>, name: u8) -> u8 {
        let at = known.iter().position(|one| *one == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        });
        at as u8
    }
    let rename = |event: &Event| Event {
        thread: number(&mut threads, event.thread),
        action: event.action.with_variable(|v| number(&mut vars, v)),
    };
    history.iter().map(rename).collect()
}

/// A history that is opaque, and how many more accesses and ends may follow.
struct Walk {
    history: History,
    state: MonitorState,
    left: usize,
    /// Whether there are compare-and-swaps and rollbacks.
    all: bool,
}

/// Calls `found` on every shortest history that is not opaque and not ill-formed, up to renaming. Transactions begin before they act, and have an access
/// before they end.
fn walk(monitor: &Monitor, at: &Walk, found: &mut dyn FnMut(&[Event])) {
    let (threads, vars) = named(&at.history);
    for thread in 0..monitor.size().threads.min(threads as u8 + 1) {
        for action in next(at, thread, monitor.size().vars.min(vars as u8 + 1)) {
            let cost = usize::from(!matches!(action, Action::Begin | Action::ReadFinish));
            if cost > at.left || action == Action::Begin && at.left == 0 {
                continue;
            }
            let event = Event { thread, action };
            let mut state = at.state;
            let history = [&at.history[..], &[event]].concat();
            match monitor.step(&mut state, event) {
                Err(_) if is_ill_formed(&history) => {}
                Err(_) => found(&history),
                Ok(_) => walk(monitor, &Walk { history, state, left: at.left - cost, ..*at }, found),
            }
        }
    }
}

/// What a thread may do next.
fn next(at: &Walk, thread: u8, vars: u8) -> Vec<Action> {
    let own = at.history.iter().rev().filter(|event| event.thread == thread).map(|event| event.action);
    let running: Vec<Action> = own.take_while(|action| !matches!(action, Action::Commit | Action::Abort)).collect();
    let Some(last) = running.first() else { return vec![Action::Begin] };
    let stored = |v: u8| running.iter().any(|action| matches!(action, Action::Store(w) | Action::Cas(w) if *w == v));
    let mut next = Vec::new();
    next.extend(matches!(last, Action::Load(_)).then_some(Action::ReadFinish));
    for v in 0..vars {
        next.extend([Action::Load(v), Action::Store(v)]);
        next.extend(at.all.then_some(Action::Cas(v)));
        next.extend((at.all && stored(v)).then_some(Action::Rollback(v)));
    }
    next.extend([Action::Commit, Action::Abort].into_iter().filter(|_| running.len() > 1));
    next
}

/// How many shortest bad histories of exactly this size there are, of at most so many accesses and ends, and those that may escape.
fn remaining(size: Size, letters: usize, all_actions: bool) -> (usize, Vec<History>) {
    let mut proofs = Proofs::new();
    let (mut all, mut left) = (0, Vec::new());
    let monitor = Monitor::new(TxCriterion::Opacity, size).expect("small");
    let start = Walk { history: Vec::new(), state: monitor.initial(), left: letters, all: all_actions };
    walk(&monitor, &start, &mut |history| {
        if named(history) == (usize::from(size.threads), usize::from(size.vars)) {
            all += 1;
            left.extend((!proofs.excluded(history)).then(|| history.to_vec()));
        }
    });
    (all, left)
}

/// With `CYRANO_LONG` more letters, which takes minutes.
#[test]
fn no_memory_escapes() {
    let long = std::env::var_os("CYRANO_LONG").is_some_and(|value| !value.is_empty());
    let more: &[_] = if long { &[(3, 2, 4, true), (2, 3, 5, true), (3, 2, 5, false)] } else { &[] };
    for (threads, vars, letters, all) in [(3, 2, 4, false), (2, 3, 5, false)].iter().chain(more).copied() {
        let (number, left) = remaining(Size { threads, vars }, letters, all);
        println!("{threads} × {vars}, {letters} letters: {number} histories, {} left", left.len());
        assert!(left.is_empty(), "{threads} × {vars}: {}", told(&left[0]));
        assert!(number > 5_000, "{number} histories of {threads} threads and {vars} variables");
    }
}

fn events(text: &str) -> History {
    let vars = ["x", "y", "z"];
    let event = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let v = words.get(2).map_or(0, |name| vars.iter().position(|var| var == name).expect("a variable") as u8);
        let action = match words[1] {
            "begin" => Action::Begin,
            "load" => Action::Load(v),
            "rfin" => Action::ReadFinish,
            "store" => Action::Store(v),
            "rollback" => Action::Rollback(v),
            "abort" => Action::Abort,
            other => panic!("{other}"),
        };
        Event { thread: words[0].parse::<u8>().expect("a thread") - 1, action }
    };
    text.split(';').map(event).collect()
}

/// Who has rolled back is a part of a cycle as a reader. That is why completion may leave out stores.
#[test]
fn who_rolls_back_has_read() {
    let bad = events(
        "1 begin; 2 begin; 3 begin; 1 store y; 2 load y; 2 rfin; 2 load x; 2 rfin; 2 store z; 2 rollback z; 2 abort; 3 store x; 1 load x; 1 rfin",
    );
    let mut proofs = Proofs::new();
    assert_eq!(proofs.bad(&bad), Some(&bad[..]));
    assert!(proofs.excluded(&bad) && !escapes(&REPAIRED, &bad));
    let mut weaker = REPAIRED;
    weaker[0] = Structure::TransactionProjection;
    assert!(escapes(&weaker, &bad));
}

/// A read that others interrupt leaves no row that keeps all conflicts. That is why completion has reads that finish at once.
#[test]
fn interrupted_reads_can_be_prompt() {
    let bad =
        events("1 begin; 1 load x; 1 rfin; 2 begin; 2 store x; 2 load y; 3 begin; 3 store y; 1 load y; 1 rfin; 2 rfin");
    let mut proofs = Proofs::new();
    assert_eq!(proofs.bad(&bad), Some(&bad[..]));
    assert!(images(Structure::Monotonicity, SIZE, &bad).is_empty());
    assert!(proofs.excluded(&bad) && !escapes(&REPAIRED, &bad));
}

/// That rollbacks are in order for two threads and two variables says nothing about more: `reduction` has to assume it.
#[test]
fn rollbacks_are_a_premise_of_their_own() {
    for bad in [
        "1 begin; 2 begin; 3 begin; 3 load y; 3 rfin; 1 store x; 2 load x; 2 rfin; 1 rollback x",
        "1 begin; 2 begin; 3 begin; 2 load x; 2 rfin; 3 load y; 3 rfin; 1 store x; 1 abort",
    ] {
        let bad = events(bad);
        assert!(is_ill_formed(&bad) && escapes(&REPAIRED, &bad), "{}", told(&bad));
    }
}

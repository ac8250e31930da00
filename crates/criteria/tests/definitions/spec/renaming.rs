//! States up to renaming: the automaton of a monitor by orbits is the monitor, and comparisons come to the same with and without.

use std::sync::Arc;

use cyrano_criteria::criterion::TxCriterion;
use cyrano_criteria::history::{Action, Event, Size};
use cyrano_criteria::monitor::{Monitor, MonitorState};
use cyrano_criteria::oracle;
use cyrano_criteria::spec::automaton::{Automaton, StateId};
use cyrano_criteria::spec::compare::{Comparison, compare, inclusion};
use cyrano_criteria::spec::named::{named, plain};
use cyrano_criteria::spec::orbits::Orbits;
use cyrano_criteria::spec::renamings::{Renaming, RenamingSet, Renamings};
use proptest::prelude::*;

const CRITERIA: [&str; 2] = ["opacity", "strict-serializability"];

fn monitor(name: &str, size: Size) -> Monitor {
    Monitor::new(TxCriterion::from_name(name).expect("a criterion"), size).expect("a size")
}

fn length(history: &Option<Vec<Event>>) -> Option<usize> {
    history.as_ref().map(Vec::len)
}

/// Compares with renamings and without; both give histories of the same length that only the one side has.
fn check(left: &str, right: &str, threads: u8, vars: u8) -> (Comparison, Comparison) {
    let size = Size { threads, vars };
    let with = |find: fn(&str, Size) -> Result<Box<dyn Automaton>, _>| {
        let (mut left, mut right) = (find(left, size).expect("a name"), find(right, size).expect("a name"));
        let compared = compare(&mut *left, &mut *right, |_| true).expect("nothing stops it");
        (compared, left.states(), right.states())
    };
    let (on, off) = (with(named), with(plain));
    assert_eq!(on.0.equivalent, off.0.equivalent, "{left} and {right}, {threads} x {vars}");
    assert_eq!(length(&on.0.left_only), length(&off.0.left_only));
    assert_eq!(length(&on.0.right_only), length(&off.0.right_only));
    if on.0.equivalent {
        assert_eq!((on.1, on.2), (off.1, off.2), "an orbit has as many states as it has renamings");
    }
    for (history, own, other) in [(&on.0.left_only, left, right), (&on.0.right_only, right, left)] {
        let Some(history) = history else { continue };
        let accepts = |name: &str| TxCriterion::from_name(name).map(|of| oracle::accepts(of, history));
        assert_ne!(accepts(own), Some(false), "{own} has it");
        assert_ne!(accepts(other), Some(true), "{other} does not have it");
    }
    (on.0, off.0)
}

#[test]
fn renamings_change_no_comparison() {
    for (threads, vars) in [(2, 1), (2, 2), (3, 1)] {
        let (on, off) = check("opacity", "strict-serializability", threads, vars);
        assert!(on.pairs * 3 < off.pairs * 2, "{} of {} pairs", on.pairs, off.pairs);
        for name in CRITERIA {
            let (on, off) = check(name, name, threads, vars);
            assert!(on.pairs * 3 < off.pairs * 2, "{} of {} pairs", on.pairs, off.pairs);
        }
    }
    // One side alone can rename.
    check("foil-det", "opacity", 2, 1);
    check("strict-serializability", "foil-nondet", 2, 1);
    // More renamings than are looked at: the same automata.
    let size = Size { threads: 5, vars: 1 };
    assert!(named("opacity", size).expect("a size").renamings().is_none());
}

/// A monitor that rejects a commit in all states that renamings make of one.
struct Gap {
    orbits: Orbits,
    at: StateId,
}

impl Gap {
    /// Behind these events.
    fn behind(history: &[Event], size: Size) -> Self {
        let mut orbits = Orbits::new(monitor("opacity", size)).expect("few renamings");
        let state = run(&mut orbits, history).expect("an opaque history");
        let at = representative(&orbits, state);
        Self { orbits, at }
    }
}

fn representative(orbits: &Orbits, state: StateId) -> StateId {
    orbits.renamed(state, orbits.to_representative(state).iter().next().expect("some renaming leads there"))
}

/// The state that a history leads a deterministic automaton to.
fn run(automaton: &mut dyn Automaton, history: &[Event]) -> Option<StateId> {
    let mut state = automaton.initial()[0];
    for event in history {
        let letter = automaton.alphabet().iter().position(|letter| letter == event).expect("a letter");
        let mut successors = Vec::new();
        automaton.successors(state, letter, &mut successors);
        state = *successors.first()?;
    }
    Some(state)
}

impl Automaton for Gap {
    fn name(&self) -> &'static str {
        "gap"
    }

    fn size(&self) -> Size {
        self.orbits.size()
    }

    fn alphabet(&self) -> &[Event] {
        self.orbits.alphabet()
    }

    fn initial(&mut self) -> Vec<StateId> {
        self.orbits.initial()
    }

    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>) {
        let commit = self.alphabet()[letter].action == Action::Commit;
        if !commit || representative(&self.orbits, state) != self.at {
            self.orbits.successors(state, letter, out);
        }
    }

    fn states(&self) -> usize {
        self.orbits.states()
    }

    fn renamings(&self) -> Option<Arc<Renamings>> {
        self.orbits.renamings()
    }

    fn renamed(&self, state: StateId, by: Renaming) -> StateId {
        self.orbits.renamed(state, by)
    }

    fn to_representative(&self, state: StateId) -> RenamingSet {
        self.orbits.to_representative(state)
    }
}

/// The way to a difference leads through several renamings, and comes out in the names of the two languages.
#[test]
fn the_history_that_tells_them_apart_is_one() {
    let size = Size { threads: 3, vars: 2 };
    let event = |thread, action| Event { thread, action };
    let way = [
        event(2, Action::Load(1)),
        event(2, Action::ReadFinish),
        event(0, Action::Store(1)),
        event(1, Action::Store(0)),
        event(1, Action::Load(1)),
    ];
    let mut gap = Gap::behind(&way, size);
    let mut opacity = Orbits::new(monitor("opacity", size)).expect("few renamings");
    let found = inclusion(&mut opacity, &mut gap, |_| true).expect("nothing stops it").outside.expect("a gap");
    let (last, before) = found.split_last().expect("it is not empty");
    assert!(found.len() <= way.len() + 1 && last.action == Action::Commit, "{found:?}");
    assert!(run(&mut opacity, &found).is_some(), "opacity has it: {found:?}");
    assert!(run(&mut gap, before).is_some() && run(&mut gap, &found).is_none(), "the gap is there: {found:?}");
}

/// What the states of an automaton by orbits stand for, told by the monitor itself.
fn follow(name: &str, size: Size, letters: &[prop::sample::Index]) {
    let monitor = monitor(name, size);
    let mut orbits = Orbits::new(monitor).expect("few renamings");
    let alphabet = orbits.alphabet().to_vec();
    let mut known: Vec<(MonitorState, StateId)> = Vec::new();
    let mut state = monitor.initial();
    let mut id = orbits.initial()[0];
    for letter in letters {
        known.push((state, id));
        let letter = letter.index(alphabet.len());
        let mut next = state;
        let accepted = monitor.step(&mut next, alphabet[letter]).is_ok();
        let mut successors = Vec::new();
        orbits.successors(id, letter, &mut successors);
        assert_eq!(successors.len(), usize::from(accepted), "{:?}", alphabet[letter]);
        if accepted {
            (state, id) = (next, successors[0]);
        }
    }
    for (state, id) in &known {
        for (other, number) in &known {
            assert_eq!(state == other, id == number, "a state has one number");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn orbits_step_as_the_monitor_does(
        letters in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        size in prop::sample::select(vec![(2, 2), (3, 2), (3, 3), (4, 2), (2, 4), (1, 1)]),
        name in prop::sample::select(CRITERIA.to_vec()),
    ) {
        follow(name, Size { threads: size.0, vars: size.1 }, &letters);
    }
}

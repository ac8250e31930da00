//! What `docs/foil-specifications.md` says about the paper's automata.

use super::discipline::{Orderly, Rules};
use super::trimmed::Trimmed;
use cyrano_criteria::criterion::TxCriterion;
use cyrano_criteria::history::{Event, History, Size};
use cyrano_criteria::monitor::Monitor;
use cyrano_criteria::spec::Specification;
use cyrano_criteria::spec::automaton::{Automaton, Numbered, reachable_states};
use cyrano_criteria::spec::compare::{compare, inclusion};
use cyrano_criteria::spec::foil::Aborts::{Forgotten, Remembered};
use cyrano_criteria::spec::foil::TwoThreads;
use cyrano_criteria::spec::foil_det::FoilDet;
use cyrano_criteria::spec::foil_nondet::FoilNondet;
use cyrano_criteria::spec::named::{NAMES, NameError, named};

fn two_by(vars: u8) -> Size {
    Size { threads: 2, vars }
}

fn automaton(name: &str, vars: u8) -> Box<dyn Automaton> {
    named(name, two_by(vars)).expect("a name and a size that exist")
}

fn text(history: &Option<History>) -> String {
    let words = |h: &History| h.iter().map(Event::to_string).collect::<Vec<_>>().join("; ");
    history.as_ref().map_or("-".to_owned(), words)
}

/// Compares two specifications; `-` where a side has nothing of its own.
fn check(left: &str, right: &str, vars: u8, left_only: &str, right_only: &str) {
    check_pair(&mut *automaton(left, vars), &mut *automaton(right, vars), left_only, right_only);
}

fn check_pair(left: &mut dyn Automaton, right: &mut dyn Automaton, left_only: &str, right_only: &str) {
    let found = compare(left, right, |_| true).expect("nothing stops it");
    assert_eq!((&*text(&found.left_only), &*text(&found.right_only)), (left_only, right_only));
}

#[test]
fn names_and_sizes() {
    for (name, _) in NAMES {
        assert_eq!(automaton(name, 1).name(), name);
    }
    let three = Size { threads: 3, vars: 1 };
    assert!(matches!(named("foil-det", three), Err(NameError::Foil(_))));
    assert!(matches!(named("opacity", Size { threads: 2, vars: 200 }), Err(NameError::Monitor(_))));
    assert!(matches!(named("opaque", three), Err(NameError::Unknown(_))));
}

#[test]
fn reachable_states_two_by_one() {
    let count = |name| reachable_states(&mut *automaton(name, 1), |_| true);
    assert_eq!(count("foil-nondet"), Some(2079));
    assert_eq!(count("foil-det"), Some(1013));
    assert_eq!(count("foil-det-fixed"), Some(601));
    assert_eq!(reachable_states(&mut *automaton("foil-det", 1), |_| false), None);
}

#[test]
fn reachable_states_two_by_two() {
    assert_eq!(reachable_states(&mut *automaton("foil-nondet", 2), |_| true), Some(172_780));
    assert_eq!(reachable_states(&mut *automaton("foil-det", 2), |_| true), Some(99_136));
    assert_eq!(reachable_states(&mut *automaton("foil-det-fixed", 2), |_| true), Some(71_053));
}

#[test]
fn the_two_algorithms_are_equivalent() {
    for vars in 1..=2 {
        check("foil-nondet", "foil-det", vars, "-", "-");
        check("foil-nondet-sound", "foil-det-sound", vars, "-", "-");
    }
}

#[test]
fn the_fixed_one_is_opacity() {
    check("foil-det-fixed", "opacity", 1, "-", "-");
    check("foil-det-fixed", "opacity", 2, "-", "-");
}

#[test]
fn printed_they_are_neither_sound_nor_complete() {
    let unsound = "1 store x; 2 load x; 2 rfin; 2 abort; 1 store x";
    for name in ["foil-nondet", "foil-det"] {
        check(name, "opacity", 1, unsound, "1 load x; 1 load x");
        check(name, "opacity", 2, unsound, "1 load x; 1 load x");
    }
}

#[test]
fn with_aborts_remembered_they_are_sound() {
    for name in ["foil-nondet-sound", "foil-det-sound"] {
        check(name, "opacity", 1, "-", "1 load x; 1 load x");
        check(name, "opacity", 2, "-", "1 load x; 1 load x");
    }
}

/// Which of the printed algorithms, the sound ones and opacity accept a history.
fn check_history(history: &str, foil: bool, sound: bool, opacity: bool) {
    for (name, expected) in [
        ("foil-nondet", foil),
        ("foil-det", foil),
        ("foil-nondet-sound", sound),
        ("foil-det-sound", sound),
        ("foil-det-fixed", opacity),
        ("opacity", opacity),
    ] {
        assert_eq!(accepts(&mut *automaton(name, 2), history), expected, "{name}: {history}");
    }
}

fn accepts(automaton: &mut dyn Automaton, history: &str) -> bool {
    let mut states = automaton.initial();
    for event in history.split("; ") {
        let letter = automaton.alphabet().iter().position(|e| e.to_string() == event).expect("an event");
        let mut next = Vec::new();
        states.iter().for_each(|&state| automaton.successors(state, letter, &mut next));
        states = next;
    }
    !states.is_empty()
}

#[test]
fn the_histories_of_the_document() {
    check_history("1 store x; 2 load x; 2 rfin; 2 abort; 1 store x", true, false, false);
    check_history("1 store x; 2 load x; 2 rfin; 2 load y; 2 rfin; 2 abort; 1 store y", true, false, false);
    check_history("1 store x; 2 load x; 2 rfin; 2 load y; 2 rfin; 2 commit; 1 store y", false, false, false);
    check_history("1 store x; 2 load x; 2 rfin; 2 load y; 2 rfin; 1 store y", false, false, false);
    check_history("1 load x; 1 load x", false, false, true);
    check_history("1 load x; 1 store x", false, false, true);
    check_history("1 load x; 1 commit", false, false, true);
    check_history("1 load x; 1 abort", true, true, true);
    check_history("1 store x; 1 rollback x; 1 load x", false, false, true);
    check_history("1 store x; 1 rollback x; 1 commit", false, false, true);
    check_history("1 store x; 1 rollback x; 1 rfin", false, false, true);
    check_history("1 rfin; 1 commit", true, true, true);
    check_history("1 store x; 2 store x; 1 load x", false, false, true);
    check_history("1 store x; 2 store x; 1 load x; 1 rfin", false, false, false);
    check_history("1 store x; 2 store x; 1 load x; 1 commit", false, false, true);
    check_history("1 load x; 1 rfin; 2 store y; 1 store y; 1 rollback y; 2 store x", false, false, true);
    check_history("1 load x; 1 rfin; 2 cas x; 2 rollback x; 1 store x", false, false, true);
}

const FINISHED_LOADS: Rules = Rules {
    loads_finish: true,
    finishes_follow_loads: false,
    rollback_ends: false,
    rollbacks_uncontended: false,
    no_rollback: false,
    no_abort: false,
};
const ENDING_ROLLBACKS: Rules = Rules { rollback_ends: true, ..FINISHED_LOADS };
const ORDERLY: Rules = Rules { finishes_follow_loads: true, ..ENDING_ROLLBACKS };

/// Compares with opacity on orderly histories; trimmed means that only histories count whose transactions can still end.
fn check_orderly<S: Specification>(spec: S, rules: Rules, trimmed: bool, opacity_only: &str) {
    let opacity = Monitor::new(TxCriterion::Opacity, spec.size()).expect("a small size");
    let (spec, opacity) = (Orderly { spec, rules }, Orderly { spec: opacity, rules });
    if trimmed {
        check_pair(&mut Trimmed::new(spec), &mut Trimmed::new(opacity), "-", opacity_only);
    } else {
        check_pair(&mut Numbered::new(spec), &mut Numbered::new(opacity), "-", opacity_only);
    }
}

/// Each rule takes one reason for incompleteness away and shows the next.
fn check_reasons(vars: u8) {
    let det = || TwoThreads::new(two_by(vars), FoilDet(Remembered)).expect("two threads");
    check_orderly(det(), FINISHED_LOADS, false, "1 store x; 1 rollback x; 1 load x");
    check_orderly(det(), ENDING_ROLLBACKS, false, "1 store x; 1 rollback x; 1 rfin");
    check_orderly(det(), ORDERLY, false, "1 store x; 2 store x; 1 load x");
    check_orderly(det(), ORDERLY, true, "1 load x; 1 rfin; 2 cas x; 2 rollback x; 1 store x");
    check_orderly(det(), Rules { no_rollback: true, ..ORDERLY }, true, "-");
    check_orderly(det(), Rules { rollbacks_uncontended: true, ..ORDERLY }, true, "-");
}

#[test]
fn reasons_for_incompleteness_two_by_one() {
    check_reasons(1);
    // The other algorithm has the same language, so this one check of trimming guesses is enough.
    let nondet = TwoThreads::new(two_by(1), FoilNondet(Remembered)).expect("two threads");
    check_orderly(nondet, Rules { rollbacks_uncontended: true, ..ORDERLY }, true, "-");
}

#[test]
fn reasons_for_incompleteness_two_by_two() {
    check_reasons(2);
}

/// Whether the printed deterministic algorithm is a part of a criterion on the histories that follow some rules.
fn check_sound(criterion: TxCriterion, rules: Rules, vars: u8) {
    let spec = TwoThreads::new(two_by(vars), FoilDet(Forgotten)).expect("two threads");
    let monitor = Monitor::new(criterion, two_by(vars)).expect("a small size");
    let (mut spec, mut monitor) =
        (Numbered::new(Orderly { spec, rules }), Numbered::new(Orderly { spec: monitor, rules }));
    let found = inclusion(&mut spec, &mut monitor, |_| true).expect("nothing stops it");
    assert_eq!(text(&found.outside), "-");
}

#[test]
fn without_aborts_the_printed_algorithm_is_sound() {
    check_sound(TxCriterion::Opacity, Rules { no_abort: true, ..Rules::default() }, 2);
}

#[test]
fn the_printed_algorithm_is_strictly_serializable() {
    check_sound(TxCriterion::StrictSerializability, Rules::default(), 1);
    check_sound(TxCriterion::StrictSerializability, Rules::default(), 2);
}

//! The comparison on hand-made automata, and against determinising both sides on random ones.

use std::collections::{BTreeSet, HashSet, VecDeque};

use proptest::prelude::*;

use cyrano_criteria::history::{Action, Event, Size};
use cyrano_criteria::spec::automaton::{Automaton, StateId};
use cyrano_criteria::spec::compare::{CompareError, Comparison, compare};

/// An automaton as a list of edges `(from, letter, to)` from state 0.
#[derive(Clone, Debug)]
struct Table {
    alphabet: Vec<Event>,
    edges: Vec<(u32, usize, u32)>,
}

impl Table {
    /// The letters are loads of as many variables.
    fn new(letters: u8, edges: &[(u32, usize, u32)]) -> Self {
        let alphabet = (0..letters).map(|v| Event { thread: 0, action: Action::Load(v) }).collect();
        Self { alphabet, edges: edges.to_vec() }
    }
}

impl Automaton for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn size(&self) -> Size {
        Size { threads: 1, vars: self.alphabet.len() as u8 }
    }

    fn alphabet(&self) -> &[Event] {
        &self.alphabet
    }

    fn initial(&mut self) -> Vec<StateId> {
        vec![StateId(0)]
    }

    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>) {
        let to: BTreeSet<u32> =
            self.edges.iter().filter(|(from, l, _)| *from == state.0 && *l == letter).map(|e| e.2).collect();
        out.extend(to.into_iter().map(StateId));
    }

    fn states(&self) -> usize {
        self.edges.len() + 1
    }
}

/// Compares and gives the distinguishing words as digits.
fn check(left: &[(u32, usize, u32)], right: &[(u32, usize, u32)], expected: (Option<&str>, Option<&str>)) {
    let (mut left, mut right) = (Table::new(3, left), Table::new(3, right));
    let found = compare(&mut left, &mut right, |_| true).expect("nothing stops it");
    assert_eq!(found.equivalent, expected == (None, None));
    let word = |history: &Option<Vec<Event>>| history.as_ref().map(|h| digits(h));
    let (left_only, right_only) = (word(&found.left_only), word(&found.right_only));
    assert_eq!((left_only.as_deref(), right_only.as_deref()), expected);
}

fn digits(history: &[Event]) -> String {
    history.iter().filter_map(|e| e.action.variable()).map(|v| char::from(b'0' + v)).collect()
}

#[test]
fn equal_languages_of_different_automata() {
    // One loop, and the same loop unrolled and made nondeterministic.
    check(&[(0, 0, 0)], &[(0, 0, 1), (0, 0, 2), (1, 0, 0), (2, 0, 1)], (None, None));
    check(&[], &[], (None, None));
}

#[test]
fn a_part_of_the_other_with_the_shortest_word() {
    // 0* against 0* with 1 after at least two: the long way round (through state 3) must not be reported.
    let right = [(0, 0, 1), (1, 0, 2), (2, 0, 2), (2, 1, 2), (0, 2, 3), (3, 2, 4), (4, 0, 2)];
    check(&[(0, 0, 0)], &right, (None, Some("2")));
    let right = [(0, 0, 1), (1, 0, 2), (2, 0, 2), (2, 1, 2)];
    check(&[(0, 0, 0)], &right, (None, Some("001")));
}

#[test]
fn incomparable_languages() {
    check(&[(0, 0, 1), (1, 1, 2)], &[(0, 0, 1), (1, 2, 2)], (Some("01"), Some("02")));
}

#[test]
fn a_choice_made_early_is_no_difference() {
    // 0(1 or 2) against 01 or 02: only the sets on the right see that they are equal.
    check(&[(0, 0, 1), (1, 1, 2), (1, 2, 2)], &[(0, 0, 1), (0, 0, 2), (1, 1, 3), (2, 2, 3)], (None, None));
}

#[test]
fn different_alphabets_and_a_stop_are_errors() {
    let (mut two, mut three) = (Table::new(2, &[]), Table::new(3, &[]));
    assert_eq!(compare(&mut two, &mut three, |_| true), Err(CompareError::Alphabets));
    let mut again = three.clone();
    assert_eq!(compare(&mut three, &mut again, |_| false), Err(CompareError::Stopped { pairs: 0 }));
}

/// The length of a shortest word of the left that the right does not have, by determinising both.
fn naive(left: &Table, right: &Table) -> Option<usize> {
    let step = |table: &Table, set: &BTreeSet<u32>, letter: usize| -> BTreeSet<u32> {
        table.edges.iter().filter(|(from, l, _)| set.contains(from) && *l == letter).map(|e| e.2).collect()
    };
    let start = (BTreeSet::from([0]), BTreeSet::from([0]));
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some(((l, r), depth)) = queue.pop_front() {
        if r.is_empty() {
            return Some(depth);
        }
        for letter in 0..left.alphabet.len() {
            let next = (step(left, &l, letter), step(right, &r, letter));
            if !next.0.is_empty() && seen.insert(next.clone()) {
                queue.push_back((next, depth + 1));
            }
        }
    }
    None
}

fn accepts(table: &Table, history: &[Event]) -> bool {
    let mut set = BTreeSet::from([0]);
    for event in history {
        let step = table.edges.iter().filter(|(from, l, _)| set.contains(from) && table.alphabet[*l] == *event);
        set = step.map(|e| e.2).collect();
    }
    !set.is_empty()
}

fn table() -> impl Strategy<Value = Table> {
    prop::collection::vec((0..6u32, 0..2usize, 0..6u32), 0..18).prop_map(|edges| Table::new(2, &edges))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn agrees_with_determinising_both(mut left in table(), mut right in table()) {
        let Comparison { equivalent, left_only, right_only, .. } =
            compare(&mut left, &mut right, |_| true).expect("nothing stops it");
        prop_assert_eq!(left_only.as_ref().map(Vec::len), naive(&left, &right));
        prop_assert_eq!(right_only.as_ref().map(Vec::len), naive(&right, &left));
        prop_assert_eq!(equivalent, left_only.is_none() && right_only.is_none());
        if let Some(word) = left_only {
            prop_assert!(accepts(&left, &word) && !accepts(&right, &word));
        }
        if let Some(word) = right_only {
            prop_assert!(accepts(&right, &word) && !accepts(&left, &word));
        }
    }
}

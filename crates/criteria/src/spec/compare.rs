//! Language inclusion both ways, by antichains (De Wulf, Doyen, Henzinger and Raskin, CAV 2006).
//!
//! To show that every history of the left is one of the right, pairs of a left state and of the *set* of right states that
//! the same history leads to are searched for one whose set is empty.
//! A pair (a, S) is pruned when a pair (a, S') with S' ⊆ S has been seen: whatever leads (a, S) to an empty set leads
//! (a, S') there as well.
//! The search is breadth-first, and a pair is only ever pruned by one that was found no later, so by induction along a
//! shortest distinguishing history some pair with a smaller set is found at each of its positions in time: the history
//! that is reported is a shortest one.
//! Removing queued pairs when a smaller set turns up, as the paper does, would break this argument and is not done.
//! When the right side is deterministic its sets are single states, which only equal sets contain: one hash lookup each.
//!
//! # Renamings
//! Where both sides can rename threads and variables in their states ([`super::orbits`]), pairs that differ by a renaming are one. A renaming g maps
//! runs of either side to runs of it, so (g a, g S) leads to an empty set by the word g w exactly if (a, S) does by w. Of the pairs that renamings make
//! of one, that counts whose left state is the representative, and among these the one with the first set.
//! The way to a pair is told in the names of the pairs on it: each step has its letter and the renaming that led to the chosen pair, and the history is put
//! together from the start (`history`). Lengths stay what they are, so the history is still a shortest one; its threads and variables
//! are named in the order of their first use.
//! [`super::named::plain`] has the same automata without renamings, and the tests compare.

use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::automaton::{Automaton, StateId};
use super::renamings::{Renaming, Renamings, named_in_order};
use super::subsets::{SetId, Subsets};
use crate::history::History;

/// How two languages compare.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// Whether they are the same.
    pub equivalent: bool,
    /// A shortest history that only the left has.
    pub left_only: Option<History>,
    /// A shortest history that only the right has.
    pub right_only: Option<History>,
    /// How many pairs were visited, both ways together.
    pub pairs: usize,
}

/// Why there is no comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompareError {
    /// The two automata are not over the same events.
    Alphabets,
    /// The callback stopped the search after this many pairs.
    Stopped {
        /// Visited so far.
        pairs: usize,
    },
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alphabets => f.write_str("the two specifications are not over the same events"),
            Self::Stopped { pairs } => write!(f, "stopped after {pairs} pairs"),
        }
    }
}

impl std::error::Error for CompareError {}

/// Compares two languages. The callback gets the number of pairs visited from time to time and says whether to go on.
pub fn compare(
    left: &mut dyn Automaton,
    right: &mut dyn Automaton,
    mut go_on: impl FnMut(usize) -> bool,
) -> Result<Comparison, CompareError> {
    let forth = inclusion(left, right, &mut go_on)?;
    let back = inclusion(right, left, |pairs| go_on(forth.pairs + pairs)).map_err(|error| match error {
        CompareError::Stopped { pairs } => CompareError::Stopped { pairs: forth.pairs + pairs },
        other => other,
    })?;
    Ok(Comparison {
        equivalent: forth.outside.is_none() && back.outside.is_none(),
        left_only: forth.outside,
        right_only: back.outside,
        pairs: forth.pairs + back.pairs,
    })
}

/// Whether one language is part of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inclusion {
    /// A shortest history of the left that is not one of the right, if there is any.
    pub outside: Option<History>,
    /// How many pairs were visited.
    pub pairs: usize,
}

/// Searches for a shortest history that only the left has.
pub fn inclusion(
    left: &mut dyn Automaton,
    right: &mut dyn Automaton,
    mut go_on: impl FnMut(usize) -> bool,
) -> Result<Inclusion, CompareError> {
    if left.alphabet() != right.alphabet() {
        return Err(CompareError::Alphabets);
    }
    let letters = left.alphabet().len();
    let mut search = Antichains::new(left, right);
    let mut found = search.start();
    let mut next = 0;
    while found.is_none() && next < search.pairs.len() {
        if next % 4096 == 0 && !go_on(next) {
            return Err(CompareError::Stopped { pairs: next });
        }
        found = (0..letters).find_map(|letter| search.expand(next, letter));
        next += 1;
    }
    Ok(Inclusion { outside: found.map(|last| search.history(last)), pairs: search.pairs.len() })
}

/// A left state with the right states that the same history leads to, and how it was found.
struct Pair {
    left: StateId,
    right: SetId,
    /// The pair before it, the letter that led here, and how threads and variables were renamed then; none for an initial pair.
    from: Option<(u32, u16, Renaming)>,
}

struct Antichains<'a> {
    left: &'a mut dyn Automaton,
    right: Subsets<'a>,
    /// All pairs found, which is also the queue.
    pairs: Vec<Pair>,
    seen: FxHashSet<(StateId, SetId)>,
    /// For each left state the sets seen with it that had no subset before them, by size.
    minimal: FxHashMap<StateId, Vec<SetId>>,
    /// The renamings that both sides can apply, if there are any.
    group: Option<Arc<Renamings>>,
    scratch: Vec<StateId>,
}

impl<'a> Antichains<'a> {
    fn new(left: &'a mut dyn Automaton, right: &'a mut dyn Automaton) -> Self {
        let group = left.renamings().filter(|group| right.renamings().as_ref() == Some(group));
        Self {
            left,
            right: Subsets::new(right),
            pairs: Vec::new(),
            seen: FxHashSet::default(),
            minimal: FxHashMap::default(),
            group,
            scratch: Vec::new(),
        }
    }

    /// Adds the initial pairs; the position of one with an empty set if there is any.
    fn start(&mut self) -> Option<usize> {
        let right = self.right.initial();
        let initial = self.left.initial();
        initial.into_iter().fold(None, |hit, left| hit.or(self.add(Pair { left, right, from: None })))
    }

    /// Adds the successors of a pair; the position of one with an empty set if there is any.
    fn expand(&mut self, at: usize, letter: usize) -> Option<usize> {
        let Pair { left, right, .. } = self.pairs[at];
        let mut successors = std::mem::take(&mut self.scratch);
        successors.clear();
        self.left.successors(left, letter, &mut successors);
        let mut hit = None;
        if !successors.is_empty() {
            let right = self.right.step(right, letter);
            for &left in &successors {
                let (left, right, renaming) = self.chosen(left, right);
                let from = Some((at as u32, letter as u16, renaming));
                hit = hit.or(self.add(Pair { left, right, from }));
            }
        }
        self.scratch = successors;
        hit
    }

    /// The pair that counts for all that renamings make of this one, and what leads to it.
    fn chosen(&mut self, left: StateId, right: SetId) -> (StateId, SetId, Renaming) {
        if self.group.is_none() {
            return (left, right, Renaming::IDENTITY);
        }
        let renamings = self.left.to_representative(left).iter();
        let chosen = renamings.map(|by| (self.right.renamed(right, by), by)).min();
        let (right, by) = chosen.expect("some renaming leads to the representative");
        (self.left.renamed(left, by), right, by)
    }

    /// Adds a pair unless one that is at least as hard to satisfy is there; its position if its set is empty.
    fn add(&mut self, pair: Pair) -> Option<usize> {
        if !self.seen.insert((pair.left, pair.right)) || self.is_covered(&pair) {
            return None;
        }
        let empty = self.right.len(pair.right) == 0;
        self.pairs.push(pair);
        empty.then(|| self.pairs.len() - 1)
    }

    /// Whether a proper subset was seen with the same left state. Otherwise the set is remembered as a minimal one.
    fn is_covered(&mut self, pair: &Pair) -> bool {
        if self.right.is_deterministic() {
            return false;
        }
        let size = self.right.len(pair.right);
        let minimal = self.minimal.entry(pair.left).or_default();
        let smaller = minimal.partition_point(|&set| self.right.len(set) < size);
        if minimal[..smaller].iter().any(|&set| self.right.is_subset(set, pair.right)) {
            return true;
        }
        let place = minimal.partition_point(|&set| self.right.len(set) <= size);
        minimal.insert(place, pair.right);
        false
    }

    /// The history that leads to a pair. A pair on the way stands for its renaming by `names`.
    fn history(&self, last: usize) -> History {
        let mut steps = Vec::new();
        let mut at = &self.pairs[last];
        while let Some((parent, letter, renaming)) = at.from {
            steps.push((usize::from(letter), renaming));
            at = &self.pairs[parent as usize];
        }
        let alphabet = self.left.alphabet();
        let Some(group) = &self.group else {
            return steps.iter().rev().map(|(letter, _)| alphabet[*letter]).collect();
        };
        let mut names = Renaming::IDENTITY;
        let mut events = Vec::new();
        for (letter, renaming) in steps.into_iter().rev() {
            events.push(alphabet[group.letter(names, letter)]);
            names = group.product(names, group.inverse(renaming));
        }
        named_in_order(&events, self.left.size())
    }
}

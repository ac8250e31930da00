//! "The outcome is none of these" as a circuit: the set becomes a minimal acyclic automaton over the columns.
//!
//! Observation sets have thousands of members and little structure to describe (CheckFence, section 3.3): which values may follow depends on few facts
//! about those before. Equal rests of outcomes are one state, so the circuit has a gate for each transition and not for each outcome.
//! How many states there are depends on the order of the columns; taking turns between threads often has fewer than one thread after the other,
//! so both are tried.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{FinalVar, Observable};
use rustc_hash::FxHashMap;

use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A node: what each value leads to.
type Node = BTreeMap<i128, usize>;

/// An automaton. Node 0 is the end; nodes lead to nodes with smaller numbers.
#[derive(Default)]
struct Automaton {
    states: Vec<Node>,
    known: FxHashMap<Vec<(i128, usize)>, usize>,
    root: usize,
}

impl Automaton {
    fn new(outcomes: &BTreeSet<Vec<i128>>) -> Self {
        let mut this = Self { states: vec![Node::new()], ..Self::default() };
        let all: Vec<&[i128]> = outcomes.iter().map(Vec::as_slice).collect();
        this.root = this.state(&all);
        this
    }

    /// The state that accepts exactly these rests, which are sorted and of one length.
    fn state(&mut self, rests: &[&[i128]]) -> usize {
        if rests.first().is_none_or(|rest| rest.is_empty()) {
            return 0;
        }
        let mut state = Node::new();
        for group in rests.chunk_by(|one, other| one[0] == other[0]) {
            let rests: Vec<&[i128]> = group.iter().map(|rest| &rest[1..]).collect();
            let next = self.state(&rests);
            state.insert(group[0][0], next);
        }
        let key: Vec<(i128, usize)> = state.iter().map(|(value, next)| (*value, *next)).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.states.push(state);
            self.states.len() - 1
        })
    }
}

/// The columns in turns: the first of each thread, then the second of each, and so on; memory last.
fn in_turns(observed: &[Observable]) -> Vec<usize> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut columns: Vec<(usize, usize, usize)> = Vec::new();
    for (column, observable) in observed.iter().enumerate() {
        let thread = match observable.var {
            FinalVar::Reg(thread, _) => thread.index(),
            FinalVar::Loc(_) => usize::MAX,
        };
        let turn = seen.entry(thread).or_default();
        columns.push((if thread == usize::MAX { usize::MAX } else { *turn }, thread, column));
        *turn += 1;
    }
    columns.sort_unstable();
    columns.into_iter().map(|(.., column)| column).collect()
}

/// Whether the values are none of these outcomes.
pub(crate) fn none_of(
    gates: &mut Gates,
    observed: &[Observable],
    values: &[Value],
    allowed: &BTreeSet<Vec<i128>>,
) -> Lit {
    let fitting: BTreeSet<Vec<i128>> =
        allowed.iter().filter(|outcome| outcome.len() == values.len()).cloned().collect();
    if fitting.is_empty() {
        return TRUE;
    }
    let natural: Vec<usize> = (0..values.len()).collect();
    let automata = [natural, in_turns(observed)].map(|columns| {
        let arranged = fitting.iter().map(|outcome| columns.iter().map(|column| outcome[*column]).collect());
        (Automaton::new(&arranged.collect()), columns)
    });
    let smaller = automata.into_iter().min_by_key(|(automaton, _)| automaton.states.len());
    let Some((automaton, columns)) = smaller else { return TRUE };
    let mut reached: BTreeMap<usize, Vec<Lit>> = BTreeMap::from([(automaton.root, vec![TRUE])]);
    for column in columns {
        let mut next: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for (state, ways) in reached {
            let here = gates.any(ways);
            for (value, to) in &automaton.states[state] {
                let equal = gates.equals(&values[column], *value);
                let way = gates.and(here, equal);
                next.entry(*to).or_default().push(way);
            }
        }
        reached = next;
    }
    let accepted = reached.into_values().flatten().collect::<Vec<Lit>>();
    let accepted = if values.is_empty() { TRUE } else { gates.any(accepted) };
    if accepted == TRUE { FALSE } else { !accepted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rests_are_shared() {
        let outcomes = (0..4).flat_map(|a| (0..4).map(move |b| vec![a, b, a])).collect();
        // A state for the start, four that remember the first value, four after the second, and the end.
        assert_eq!(Automaton::new(&outcomes).states.len(), 10);
    }

    #[test]
    fn members_are_members() {
        let outcomes: BTreeSet<Vec<i128>> = [vec![0, 1], vec![1, 0], vec![1, 2]].into();
        let mut gates = Gates::new(false);
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let values = [Value::constant(a), Value::constant(b)];
            let observable = |thread| {
                let var = FinalVar::Reg(cyrano_ir::ThreadId(thread), cyrano_ir::RegId(0));
                Observable { name: String::new(), var }
            };
            let none = none_of(&mut gates, &[observable(0), observable(1)], &values, &outcomes);
            assert_eq!(none == FALSE, outcomes.contains(&vec![a, b]), "{a}, {b}");
        }
    }
}

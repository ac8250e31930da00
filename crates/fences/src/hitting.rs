//! Minimum hitting sets by branch and bound.
//!
//! Branch on an element of an open clause with the fewest elements left; an element that was tried is excluded from the branches that
//! follow. The bound adds up, over open clauses that share no element, what each one costs at least.
//!
//! A solution must also not contain any of the *blocked* sets. Taking more elements never undoes that, so a branch that contains
//! one is cut; and since every element that a branch takes is one that hits an open clause, a cheapest solution is
//! always reached (a solution that has more is dearer).
//!
//! Candidates may be [`Levels`] of the same thing. Then a solution takes one of them at most, and contains a blocked set if it has everything of it or something
//! stronger instead. Taking an element rules out its rivals, which no solution has that has the element; so the argument stays.

use crate::clause::Candidate;

/// What is asked.
pub(crate) struct Problem<'a> {
    /// The cost of each candidate, positive.
    pub(crate) costs: &'a [u32],
    /// Each has to be hit.
    pub(crate) clauses: &'a [Vec<Candidate>],
    /// None may be contained.
    pub(crate) blocked: &'a [Vec<Candidate>],
    /// What the candidates are to each other, if they are not all independent.
    pub(crate) levels: Option<&'a Levels>,
}

/// Candidates of which some cannot be taken together, for they are weaker and stronger forms of one thing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Levels {
    /// What each candidate is a form of.
    pub(crate) slots: Vec<usize>,
    /// The forms of the same thing that are at least as strong, itself among them.
    pub(crate) at_least: Vec<Vec<Candidate>>,
}

/// A cheapest set that hits every clause and contains no blocked set, sorted; none if there is none.
pub(crate) fn minimum(problem: &Problem<'_>) -> Option<Vec<Candidate>> {
    let state = vec![Choice::Open; problem.costs.len()];
    let mut branch = Branch { problem, state, taken: Vec::new(), cost: 0, best: None };
    branch.search();
    let mut best = branch.best.map(|(_, set)| set)?;
    best.sort();
    Some(best)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Open,
    Taken,
    Excluded,
}

struct Branch<'a> {
    problem: &'a Problem<'a>,
    state: Vec<Choice>,
    taken: Vec<Candidate>,
    cost: u64,
    best: Option<(u64, Vec<Candidate>)>,
}

impl<'a> Branch<'a> {
    fn search(&mut self) {
        let blocked = self.problem.blocked.iter().any(|set| set.iter().all(|c| self.is_reached(*c)));
        let Some(bound) = self.bound().filter(|_| !blocked) else { return };
        if self.best.as_ref().is_some_and(|(cost, _)| self.cost + bound >= *cost) {
            return;
        }
        let Some(clause) = self.open_clauses().min_by_key(|clause| self.left(clause).count()) else {
            self.best = Some((self.cost, self.taken.clone()));
            return;
        };
        let mut options: Vec<Candidate> = self.left(clause).collect();
        options.sort_by_key(|candidate| (self.problem.costs[candidate.0], *candidate));
        for candidate in &options {
            let cost = u64::from(self.problem.costs[candidate.0]);
            self.state[candidate.0] = Choice::Taken;
            let ruled_out = self.rule_out_rivals(*candidate);
            self.taken.push(*candidate);
            self.cost += cost;
            self.search();
            ruled_out.into_iter().for_each(|rival| self.state[rival] = Choice::Open);
            self.cost -= cost;
            self.taken.pop();
            self.state[candidate.0] = Choice::Excluded;
        }
        options.iter().for_each(|candidate| self.state[candidate.0] = Choice::Open);
    }

    fn is(&self, candidate: Candidate, state: Choice) -> bool {
        self.state[candidate.0] == state
    }

    /// Whether a candidate was taken, or something stronger instead.
    fn is_reached(&self, candidate: Candidate) -> bool {
        match self.problem.levels {
            Some(levels) => levels.at_least[candidate.0].iter().any(|other| self.is(*other, Choice::Taken)),
            None => self.is(candidate, Choice::Taken),
        }
    }

    /// Excludes the open candidates that cannot be taken together with this one, and tells which.
    fn rule_out_rivals(&mut self, candidate: Candidate) -> Vec<usize> {
        let Some(levels) = self.problem.levels else { return Vec::new() };
        let slot = levels.slots[candidate.0];
        let open = |other: &usize| levels.slots[*other] == slot && self.state[*other] == Choice::Open;
        let rivals: Vec<usize> = (0..self.state.len()).filter(open).collect();
        rivals.iter().for_each(|rival| self.state[*rival] = Choice::Excluded);
        rivals
    }

    /// The clauses that are not hit yet.
    fn open_clauses(&self) -> impl Iterator<Item = &'a Vec<Candidate>> {
        let clauses = self.problem.clauses.iter();
        clauses.filter(|clause| !clause.iter().any(|candidate| self.is(*candidate, Choice::Taken)))
    }

    fn left<'c>(&self, clause: &'c [Candidate]) -> impl Iterator<Item = Candidate> + use<'_, 'c, 'a> {
        clause.iter().copied().filter(|candidate| self.is(*candidate, Choice::Open))
    }

    /// What the open clauses cost at least; none if one of them cannot be hit any more.
    fn bound(&self) -> Option<u64> {
        let mut touched = vec![false; self.state.len()];
        let mut bound = 0;
        for clause in self.open_clauses() {
            let cheapest = self.left(clause).map(|candidate| self.problem.costs[candidate.0]).min()?;
            if self.left(clause).all(|candidate| !touched[candidate.0]) {
                bound += u64::from(cheapest);
                self.left(clause).for_each(|candidate| touched[candidate.0] = true);
            }
        }
        Some(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sets(of: &[&[usize]]) -> Vec<Vec<Candidate>> {
        of.iter().map(|set| set.iter().copied().map(Candidate).collect()).collect()
    }

    fn check(costs: &[u32], clauses: &[&[usize]], blocked: &[&[usize]], expected: Option<&[usize]>) {
        let (clauses, blocked) = (sets(clauses), sets(blocked));
        let found = minimum(&Problem { costs, clauses: &clauses, blocked: &blocked, levels: None });
        let expected = expected.map(|set| set.iter().copied().map(Candidate).collect());
        assert_eq!(found, expected);
    }

    #[test]
    fn small_ones() {
        check(&[1; 3], &[], &[], Some(&[]));
        check(&[1; 3], &[], &[&[]], None);
        check(&[1; 3], &[&[]], &[], None);
        check(&[1; 3], &[&[0, 1], &[1, 2]], &[], Some(&[1]));
        check(&[1, 3, 1], &[&[0, 1], &[1, 2]], &[], Some(&[0, 2]));
        check(&[1; 3], &[&[0, 1], &[1, 2]], &[&[1]], Some(&[0, 2]));
        check(&[1; 3], &[&[0, 1], &[1, 2]], &[&[1], &[0, 2]], None);
    }

    /// Every subset, one by one: the cost of the cheapest that will do.
    fn brute_force(problem: &Problem<'_>) -> Option<u32> {
        let count = problem.costs.len();
        let has = |set: usize, candidate: &Candidate| set >> candidate.0 & 1 == 1;
        let fine = (0..1usize << count).filter(|set| {
            let hits = problem.clauses.iter().all(|clause| clause.iter().any(|c| has(*set, c)));
            hits && !problem.blocked.iter().any(|blocked| blocked.iter().all(|c| has(*set, c)))
        });
        let cost = |set: usize| (0..count).filter(|c| has(set, &Candidate(*c))).map(|c| problem.costs[c]).sum();
        fine.map(cost).min()
    }

    proptest! {
        #[test]
        fn as_brute_force(
            costs in proptest::collection::vec(1u32..5, 8),
            clauses in proptest::collection::vec(proptest::collection::btree_set(0usize..8, 1..5), 0..8),
            blocked in proptest::collection::vec(proptest::collection::btree_set(0usize..8, 1..4), 0..5),
        ) {
            let list = |sets: Vec<std::collections::BTreeSet<usize>>| -> Vec<Vec<Candidate>> {
                sets.into_iter().map(|set| set.into_iter().map(Candidate).collect()).collect()
            };
            let (clauses, blocked) = (list(clauses), list(blocked));
            let problem = Problem { costs: &costs, clauses: &clauses, blocked: &blocked, levels: None };
            let found = minimum(&problem);
            let cost = found.as_ref().map(|set| set.iter().map(|c| costs[c.0]).sum::<u32>());
            prop_assert_eq!(cost, brute_force(&problem));
            if let Some(set) = found {
                prop_assert!(clauses.iter().all(|clause| clause.iter().any(|c| set.contains(c))));
                prop_assert!(!blocked.iter().any(|b| b.iter().all(|c| set.contains(c))));
            }
        }
    }
}

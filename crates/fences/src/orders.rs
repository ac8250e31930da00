//! Minimal sets of orders that make an algorithm correct, found by counterexamples.
//!
//! The algorithms of Lesani and Palsberg (*Proving Non-opacity*, section 4) run out of order but for the orders that they declare. As with
//! fences, an order only takes executions away, so the loop of `search` carries over: guess a cheapest set that hits all
//! clauses, put it to the judge, learn a clause or have a repair.
//!
//! What differs is how a clause comes about. An order is closed under transitivity, also through statements that are not executed, so two
//! orders together may forbid an execution that neither forbids alone, and the candidates that forbid it alone are not all that
//! matter. So the set that was refused is *grown*: candidates are added as long as the execution stays possible. A set that
//! forbids the execution cannot be a part of the grown one, for orders only take away; it has one of the candidates that are left
//! out, and these are the clause. (The same duality of correction sets and hitting sets as in `search`.)
//!
//! **Invariant:** a clause misses the set that was refused, or the search ends: the counterexample ignores an order.

use crate::clause::Candidate;
use crate::hitting::{Problem, minimum};
use crate::outcome::{End, Verdict};
use crate::suite::Judgement;

/// So many units of taste weigh as much as one order.
const ORDER: u32 = 1 << 16;

/// An algorithm that can be given orders, by their numbers, and a judge.
pub trait Orderable {
    /// A counterexample.
    type Wrong;

    /// How many candidates there are.
    fn candidates(&self) -> usize;

    /// How much a candidate forbids, for the choice between sets of equal size: the less, the better.
    fn strength(&self, candidate: usize) -> u32;

    /// Whether the algorithm is correct with these orders.
    fn judge(&self, set: &[usize]) -> Judgement<Self::Wrong>;

    /// Whether a counterexample stays possible with these orders. More orders never make it possible again.
    fn allows(&self, wrong: &Self::Wrong, set: &[usize]) -> bool;

    /// The candidates of these that forbid a counterexample on their own.
    fn forbidding(&self, wrong: &Self::Wrong, among: &[usize]) -> Vec<usize> {
        among.iter().copied().filter(|candidate| !self.allows(wrong, &[*candidate])).collect()
    }
}

/// What a search for orders found.
#[derive(Clone, Debug)]
pub struct OrdersOutcome<W> {
    /// How it ended.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    /// The sets, smallest first; each is minimal by inclusion, the first one has the fewest orders.
    pub sets: Vec<OrderSet>,
    /// Whether these are all that are minimal by inclusion.
    pub complete: bool,
    /// How many questions the judge was asked.
    pub questions: usize,
    /// The counterexamples that were found on the way; the last one is the one that no order prevents, if it is irreparable.
    pub counterexamples: Vec<W>,
}

impl<W> OrdersOutcome<W> {
    /// Whether each order of each set was shown to be needed.
    pub fn minimal(&self) -> bool {
        !self.sets.is_empty() && self.sets.iter().all(|set| set.prevents.iter().all(Option::is_some))
    }
}

/// A set of orders that makes the algorithm correct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderSet {
    /// The numbers of the orders, ascending.
    pub orders: Vec<usize>,
    /// For each order the number of a counterexample that the others of the set allow.
    pub prevents: Vec<Option<usize>>,
}

/// Finds up to `most` minimal sets of orders.
pub fn synthesise_orders<A: Orderable>(algorithm: &A, most: usize) -> OrdersOutcome<A::Wrong> {
    let mut search =
        OrderSynthesis { algorithm, questions: 0, clauses: Vec::new(), wrong: Vec::new(), found: Vec::new() };
    let end = search.run(most);
    let sets: Vec<OrderSet> = search.found.iter().map(|set| search.proven(set)).collect();
    let verdict = if sets.is_empty() { end.verdict } else { Verdict::Repaired };
    OrdersOutcome {
        verdict,
        reason: end.reason,
        sets,
        complete: end.complete,
        questions: search.questions,
        counterexamples: search.wrong,
    }
}

struct OrderSynthesis<'a, A: Orderable> {
    algorithm: &'a A,
    questions: usize,
    clauses: Vec<Vec<Candidate>>,
    wrong: Vec<A::Wrong>,
    found: Vec<Vec<Candidate>>,
}

impl<A: Orderable> OrderSynthesis<'_, A> {
    fn run(&mut self, most: usize) -> End {
        let strength = |candidate| self.algorithm.strength(candidate).min(ORDER >> 6);
        let costs: Vec<u32> = (0..self.algorithm.candidates()).map(|n| ORDER + strength(n)).collect();
        while self.found.len() < most {
            let problem = Problem { costs: &costs, clauses: &self.clauses, blocked: &self.found, levels: None };
            let Some(set) = minimum(&problem) else {
                let reason = self.found.is_empty().then(|| "it goes wrong whatever is kept in order".to_owned());
                return End { reason, ..End::new(Verdict::Irreparable) };
            };
            self.questions += 1;
            match self.algorithm.judge(&numbers(&set)) {
                Judgement::Correct if set.is_empty() => return End::new(Verdict::AlreadyCorrect),
                Judgement::Correct => self.found.push(set),
                Judgement::Unknown(reason) => return End::because(Verdict::Unknown, reason),
                Judgement::Wrong(wrong) => {
                    let wrong = wrong.evidence;
                    let clause = clause(self.algorithm, &wrong, &set);
                    self.wrong.push(wrong);
                    match clause {
                        Some(clause) if clause.is_empty() && self.found.is_empty() => {
                            let reason = "it goes wrong without anything that an order could forbid";
                            return End::because(Verdict::Irreparable, reason);
                        }
                        Some(clause) if clause.is_empty() => {
                            return End::because(Verdict::Unknown, "the judge contradicts itself");
                        }
                        Some(clause) => self.clauses.push(clause),
                        None => {
                            return End::because(
                                Verdict::Unknown,
                                "a counterexample ignores an order that was asked for",
                            );
                        }
                    }
                }
            }
        }
        End { complete: false, ..End::new(Verdict::Repaired) }
    }

    fn proven(&self, set: &[Candidate]) -> OrderSet {
        let orders = numbers(set);
        let without = |order: &usize| {
            let rest: Vec<usize> = orders.iter().copied().filter(|other| other != order).collect();
            self.wrong.iter().position(|wrong| self.algorithm.allows(wrong, &rest))
        };
        let prevents = orders.iter().map(without).collect();
        OrderSet { orders, prevents }
    }
}

fn numbers(set: &[Candidate]) -> Vec<usize> {
    set.iter().map(|candidate| candidate.0).collect()
}

/// The candidates outside a maximal set that contains the refused one and allows its counterexample; none if the refused one does not.
fn clause<A: Orderable>(algorithm: &A, wrong: &A::Wrong, refused: &[Candidate]) -> Option<Vec<Candidate>> {
    let refused = numbers(refused);
    if !algorithm.allows(wrong, &refused) {
        return None;
    }
    let others: Vec<usize> = (0..algorithm.candidates()).filter(|candidate| !refused.contains(candidate)).collect();
    let mut left_out = algorithm.forbidding(wrong, &others);
    let innocent: Vec<usize> = others.into_iter().filter(|candidate| !left_out.contains(candidate)).collect();
    let mut grown = refused;
    grow(algorithm, wrong, &mut grown, &innocent, &mut left_out);
    left_out.sort_unstable();
    Some(left_out.into_iter().map(Candidate).collect())
}

/// Adds what can be added, all at once if possible; each half, if not.
fn grow<A: Orderable>(
    algorithm: &A,
    wrong: &A::Wrong,
    grown: &mut Vec<usize>,
    more: &[usize],
    left_out: &mut Vec<usize>,
) {
    if more.is_empty() {
        return;
    }
    let all: Vec<usize> = grown.iter().chain(more).copied().collect();
    if algorithm.allows(wrong, &all) {
        *grown = all;
    } else if let [single] = more {
        left_out.push(*single);
    } else {
        let (first, second) = more.split_at(more.len() / 2);
        grow(algorithm, wrong, grown, first, left_out);
        grow(algorithm, wrong, grown, second, left_out);
    }
}

//! Minimal sets of edits that make a program correct under a model about relations, found by counterexamples.
//!
//! An *edit* puts a fence of a machine into a gap or gives an access a stronger order. Each gap and each access is a *slot* that takes one edit at most, and edits of a
//! slot may be weaker and stronger forms of one another (`dmb ishld` and `dmb ish`). One set is *within* another if that has, for each of its edits, one in the same slot that is at least as strong.
//!
//! # The argument
//!
//! Under the built-in models a stronger fence or order only takes executions away, as relations of fences and orders stand in axioms where more of them means more cycles.
//! So the loop of `search` carries over: guess a cheapest set that hits all clauses, put it to the judge, learn a clause or have a repair.
//! Which edits forbid an execution is the model's to say, and two of them together may forbid what neither forbids alone. So, as for orders (`orders`), the set that was refused is
//! *raised*, slot by slot, to stronger edits as long as the replay still accepts the counterexample. What forbids it is not within the raised set; it has an edit that is not, and these are the
//! clause.
//! Costs grow with strength, so that a set of least cost has no correct one within it.
//!
//! # What does not rest on it
//!
//! A cat file of a user's may have fences that allow more. Even so, every set that is reported was put to the judge as it is ([`Editable::check_again`]), and that an edit is needed is shown by a
//! counterexample that was replayed on the program in which that edit alone is missing or weaker. Only that no other set is cheaper, and that there is none at all, would not be known.
//!
//! **Invariant:** a clause misses the set that was refused, or the search ends: the counterexample ignores an edit.

use crate::clause::Candidate;
use crate::hitting::{Levels, Problem, minimum};
use crate::outcome::{End, Verdict};
use crate::suite::Judgement;

/// A program that can be edited, by the numbers of edits, and a judge.
pub trait Editable {
    /// A counterexample.
    type Wrong;

    /// The edits.
    fn offers(&self) -> &[Offer];

    /// Whether the program is correct with these edits.
    fn judge(&self, set: &[usize]) -> Judgement<Self::Wrong>;

    /// The same with nothing that was found out before, on what a user would have.
    fn check_again(&self, set: &[usize]) -> Judgement<Self::Wrong>;

    /// Whether a counterexample stays possible with these edits.
    fn allows(&self, wrong: &Self::Wrong, set: &[usize]) -> bool;
}

/// An edit, as far as the choice matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The gap or the access.
    pub slot: usize,
    /// What it costs; more than what is weaker.
    pub cost: u32,
    /// The edits of the slot that are at least as strong, itself among them.
    pub at_least: Vec<usize>,
}

/// What a search for edits found.
#[derive(Clone, Debug)]
pub struct EditsOutcome<W> {
    /// How it ended.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    /// The sets, cheapest first.
    pub sets: Vec<EditSet>,
    /// If nothing is known to repair the program: the best guess, and why it is not known to be enough.
    pub undecided: Option<(EditSet, String)>,
    /// Whether these are all sets that have no correct one within them.
    pub complete: bool,
    /// How many questions the judge was asked.
    pub questions: usize,
    /// The counterexamples that were found on the way; the last one is the one that no edit prevents, if it is irreparable.
    pub counterexamples: Vec<W>,
}

/// A set of edits that makes the program correct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditSet {
    /// The numbers of the edits, ascending.
    pub edits: Vec<usize>,
    /// For each of them a counterexample to the set without it.
    pub prevents: Vec<Option<usize>>,
    /// Whether for each of them, and for each weaker edit in its place, there is a counterexample.
    pub minimal: bool,
}

/// Finds up to `most` minimal sets of edits.
pub fn synthesise_edits<P: Editable>(program: &P, most: usize) -> EditsOutcome<P::Wrong> {
    let offers = program.offers();
    let levels = Levels {
        slots: offers.iter().map(|offer| offer.slot).collect(),
        at_least: offers.iter().map(|offer| offer.at_least.iter().copied().map(Candidate).collect()).collect(),
    };
    let mut search = Search { program, levels, questions: 0, clauses: Vec::new(), wrong: Vec::new(), sets: Vec::new() };
    let (end, undecided) = search.run(most);
    let Search { questions, wrong, sets, .. } = search;
    let verdict = if sets.is_empty() { end.verdict } else { Verdict::Repaired };
    let undecided = undecided.filter(|_| verdict == Verdict::Unknown);
    let (reason, complete) = (end.reason, end.complete);
    EditsOutcome { verdict, reason, sets, undecided, complete, questions, counterexamples: wrong }
}

struct Search<'a, P: Editable> {
    program: &'a P,
    levels: Levels,
    questions: usize,
    clauses: Vec<Vec<Candidate>>,
    wrong: Vec<P::Wrong>,
    sets: Vec<EditSet>,
}

/// Why the search is over, and what is left undecided.
type Ended = (End, Option<(EditSet, String)>);

impl<P: Editable> Search<'_, P> {
    fn run(&mut self, most: usize) -> Ended {
        let costs: Vec<u32> = self.program.offers().iter().map(|offer| offer.cost).collect();
        let mut found: Vec<Vec<Candidate>> = Vec::new();
        while self.sets.len() < most {
            let levels = Some(&self.levels);
            let problem = Problem { costs: &costs, clauses: &self.clauses, blocked: &found, levels };
            let Some(set) = minimum(&problem) else {
                let reason = self.sets.is_empty().then(|| "it goes wrong whatever is put in order".to_owned());
                return (End { reason, ..End::new(Verdict::Irreparable) }, None);
            };
            let edits = numbers(&set);
            let mut judgement = self.judge(&edits);
            if matches!(judgement, Judgement::Correct) && !set.is_empty() {
                self.questions += 1;
                judgement = self.program.check_again(&edits);
            }
            match judgement {
                Judgement::Correct if set.is_empty() => return (End::new(Verdict::AlreadyCorrect), None),
                Judgement::Correct => {
                    let proven = self.proven(&edits);
                    self.sets.push(proven);
                    found.push(set);
                }
                Judgement::Unknown(reason) => {
                    let guess = (!edits.is_empty()).then(|| (self.known(&edits), reason.clone()));
                    return (End::because(Verdict::Unknown, reason), guess);
                }
                Judgement::Wrong(wrong) => {
                    if let Err(end) = self.learn(wrong.evidence, &edits) {
                        return (end, None);
                    }
                }
            }
        }
        (End { complete: false, ..End::new(Verdict::Repaired) }, None)
    }

    fn judge(&mut self, set: &[usize]) -> Judgement<P::Wrong> {
        self.questions += 1;
        self.program.judge(set)
    }

    /// Adds the clause of a counterexample to a set.
    fn learn(&mut self, wrong: P::Wrong, set: &[usize]) -> Result<(), End> {
        let clause = clause(self.program, &wrong, set);
        self.wrong.push(wrong);
        match clause {
            Some(clause) if clause.is_empty() && self.sets.is_empty() => {
                Err(End::because(Verdict::Irreparable, "it goes wrong with the strongest fences everywhere as well"))
            }
            Some(clause) if clause.is_empty() => Err(End::because(Verdict::Unknown, "the judge contradicts itself")),
            Some(clause) => {
                self.clauses.push(clause);
                Ok(())
            }
            None => Err(End::because(Verdict::Unknown, "a counterexample ignores a fence that was asked for")),
        }
    }

    /// The number of a known counterexample that a set allows.
    fn refuting(&self, set: &[usize]) -> Option<usize> {
        self.wrong.iter().position(|wrong| self.program.allows(wrong, set))
    }

    /// A set with what is known to go wrong without each of its edits.
    fn known(&self, set: &[usize]) -> EditSet {
        let prevents = set.iter().map(|edit| self.refuting(&without(set, *edit))).collect();
        EditSet { edits: set.to_vec(), prevents, minimal: false }
    }

    /// The same for a correct set, and for weaker edits in their place, where necessary by asking.
    fn proven(&mut self, set: &[usize]) -> EditSet {
        let mut minimal = true;
        for edit in set {
            for weaker in self.weaker(set, *edit) {
                if self.refuting(&weaker).is_some() {
                    continue;
                }
                match self.judge(&weaker) {
                    Judgement::Wrong(wrong) => self.wrong.push(wrong.evidence),
                    _ => minimal = false,
                }
            }
        }
        EditSet { minimal, ..self.known(set) }
    }

    /// The set without an edit, and with each weaker edit in its place.
    fn weaker(&self, set: &[usize], edit: usize) -> Vec<Vec<usize>> {
        let offers = self.program.offers();
        let below = |other: &usize| *other != edit && offers[*other].at_least.contains(&edit);
        let rest = without(set, edit);
        let replaced = |other: usize| {
            let mut all = [rest.as_slice(), &[other]].concat();
            all.sort_unstable();
            all
        };
        std::iter::once(rest.clone()).chain((0..offers.len()).filter(below).map(replaced)).collect()
    }
}

fn without(set: &[usize], edit: usize) -> Vec<usize> {
    set.iter().copied().filter(|other| *other != edit).collect()
}

fn numbers(set: &[Candidate]) -> Vec<usize> {
    set.iter().map(|candidate| candidate.0).collect()
}

/// The edits that are not within a raised set that allows the counterexample to the refused one; none if the refused one forbids it.
fn clause<P: Editable>(program: &P, wrong: &P::Wrong, refused: &[usize]) -> Option<Vec<Candidate>> {
    if !program.allows(wrong, refused) {
        return None;
    }
    let offers = program.offers();
    let slots = offers.iter().map(|offer| offer.slot + 1).max().unwrap_or(0);
    let mut raised = Raised { program, wrong, levels: vec![None; slots] };
    refused.iter().for_each(|edit| raised.levels[offers[*edit].slot] = Some(*edit));
    let all: Vec<usize> = (0..slots).collect();
    raised.raise(&all);
    let within = |edit: usize| {
        let level = raised.levels[offers[edit].slot];
        level.is_some_and(|level| offers[edit].at_least.contains(&level))
    };
    let clause = (0..offers.len()).filter(|edit| !within(*edit));
    let clause: Vec<Candidate> = clause.map(Candidate).collect();
    (!clause.iter().any(|edit| refused.contains(&edit.0))).then_some(clause)
}

/// A set that allows a counterexample, slot by slot.
struct Raised<'a, P: Editable> {
    program: &'a P,
    wrong: &'a P::Wrong,
    levels: Vec<Option<usize>>,
}

impl<P: Editable> Raised<'_, P> {
    /// Raises slots as far as the counterexample stays possible: all at once to what is strongest; each half, if that is too much.
    fn raise(&mut self, slots: &[usize]) {
        let before = self.levels.clone();
        slots.iter().for_each(|slot| self.levels[*slot] = self.above(*slot).first().copied().or(self.levels[*slot]));
        if before == self.levels || self.is_possible() {
            return;
        }
        self.levels = before;
        if let [slot] = slots {
            for level in self.above(*slot).into_iter().skip(1) {
                let before = self.levels[*slot].replace(level);
                if self.is_possible() {
                    return;
                }
                self.levels[*slot] = before;
            }
        } else {
            let (first, second) = slots.split_at(slots.len() / 2);
            self.raise(first);
            self.raise(second);
        }
    }

    /// What a slot can be raised to, dear ones first.
    fn above(&self, slot: usize) -> Vec<usize> {
        let offers = self.program.offers();
        let fits = |edit: &usize| match self.levels[slot] {
            Some(level) => level != *edit && offers[level].at_least.contains(edit),
            None => true,
        };
        let mut above: Vec<usize> = (0..offers.len()).filter(|edit| offers[*edit].slot == slot).filter(fits).collect();
        above.sort_by_key(|edit| std::cmp::Reverse(offers[*edit].cost));
        above
    }

    fn is_possible(&self) -> bool {
        let mut set: Vec<usize> = self.levels.iter().copied().flatten().collect();
        set.sort_unstable();
        self.program.allows(self.wrong, &set)
    }
}

//! The loop: guess a cheapest set that hits all clauses, put it to the judge, learn a clause or have a repair.
//!
//! *All minimal sets.* A set that was found is blocked together with everything that contains it, and the search goes on. The next
//! set that the judge accepts is minimal again: a smaller correct one would hit all clauses, would not be blocked, and would
//! be cheaper. When no set is left, all have been found (the duality that MARCO uses for unsatisfiable subsets).
//!
//! *Where the judge does not know.* With some fences but not enough a loop may go on beyond every bound, and nobody knows about a set that would be tried. Then
//! the search goes the other way: from all fences, if these are known to be enough, to fewer. What is left is correct, and a fence of it that nothing speaks against
//! was not shown to be needed; that no cheaper set would do is not claimed.

use std::collections::BTreeSet;

use cyrano_ir::{FenceSet, Program};
use cyrano_memory::Model;

use crate::clause::{Candidate, clause};
use crate::fence::{Costs, Fence, merge};
use crate::hitting::{Problem, minimum};
use crate::outcome::{Counterexample, End, Outcome, Repair, Undecided, Verdict};
use crate::places::Places;
use crate::suite::{Judgement, Ruling, Suite, Wrong};

/// After so many rounds without a repair it is worth asking whether there is one at all.
const PATIENCE: usize = 8;

/// So much distaste weighs as much as one unit of cost: more than a set of fences comes to.
const TASTE: u32 = 1 << 12;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Stop after so many sets; 1 asks for one of least cost, a large number for all minimal sets.
    pub sets: usize,
    /// What each kind costs.
    pub costs: Costs,
    /// Which kinds are worth trying; what is left out is never inserted. See [`Options::for_models`].
    pub kinds: FenceSet,
    /// Stop after so many sets that the judge was asked about.
    pub rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { sets: 1, costs: Costs::default(), kinds: FenceSet::FULL, rounds: 10_000 }
    }
}

impl Options {
    /// Leaves out the kinds that all of these models keep anyway.
    #[must_use]
    pub fn for_models(mut self, models: &[Model]) -> Self {
        // Only models that reorder pairs are repaired for.
        let reordering = models.iter().filter(|model| model.cat().is_none());
        let relaxed = reordering.map(|model| model.reordering().relaxed());
        self.kinds = relaxed.fold(FenceSet::NONE, |kinds, more| kinds | more);
        self
    }
}

/// Finds fences that make all programs of the suite correct.
pub fn synthesise<S: Suite>(suite: &S, options: &Options) -> Outcome<S::Evidence> {
    let mut search = Synthesis {
        suite,
        options,
        questions: 0,
        rounds: 0,
        counterexamples: Vec::new(),
        sets: Vec::new(),
        undecided: None,
        correct: Vec::new(),
        sequential: BTreeSet::new(),
    };
    let end = search.run().unwrap_or_else(|end| end);
    let Synthesis { questions, rounds, counterexamples, sets, undecided, .. } = search;
    let verdict = if sets.is_empty() { end.verdict } else { Verdict::Repaired };
    let proven = sets.iter().all(|set| set.prevents.iter().all(Option::is_some));
    Outcome {
        verdict,
        reason: end.reason,
        complete: end.complete,
        minimal: proven && !sets.is_empty(),
        undecided: undecided.filter(|_| verdict == Verdict::Unknown),
        sets,
        rounds,
        questions,
        counterexamples,
    }
}

struct Synthesis<'a, S: Suite> {
    suite: &'a S,
    options: &'a Options,
    questions: usize,
    rounds: usize,
    counterexamples: Vec<Counterexample<S::Evidence>>,
    sets: Vec<Repair>,
    /// The cheapest set that prevents every counterexample, and about which the judge does not know.
    undecided: Option<Undecided>,
    /// Sets that the judge accepted, sorted each.
    correct: Vec<Vec<Candidate>>,
    /// The programs that were judged under sequential consistency, where fences change nothing.
    sequential: BTreeSet<usize>,
}

/// A way to judge programs with fences.
type Judge<S> = fn(&S, &[Fence], &[Program]) -> Ruling<<S as Suite>::Evidence>;

/// A counterexample and the number of the program that it is of.
struct Found<E> {
    program: usize,
    wrong: Wrong<E>,
}

/// What came of a set.
enum Trial<E> {
    Correct,
    Wrong(Found<E>),
    Unknown(String),
}

impl<S: Suite> Synthesis<'_, S> {
    /// Runs to the end; the two sides of the result differ only in that `?` may return one of them.
    fn run(&mut self) -> Result<End, End> {
        let first = match self.ask(&[], S::judge)? {
            Trial::Correct => return Ok(End::new(Verdict::AlreadyCorrect)),
            Trial::Unknown(reason) => return Err(End::because(Verdict::Unknown, reason)),
            Trial::Wrong(found) => found,
        };
        let places = Places::new(self.suite).map_err(|reason| End::because(Verdict::Unknown, reason))?;
        let table = Table::new(self.suite, &places, self.options);
        self.refine(&table, first)
    }

    fn refine(&mut self, table: &Table<'_>, first: Found<S::Evidence>) -> Result<End, End> {
        let mut clauses: Vec<Vec<Candidate>> = Vec::new();
        let mut found: Vec<Vec<Candidate>> = Vec::new();
        clauses.push(self.learn(table, first, &[])?);
        while found.len() < self.options.sets {
            let problem = Problem { costs: &table.weights, clauses: &clauses, blocked: &found, levels: None };
            let Some(set) = minimum(&problem) else { return Ok(End::new(Verdict::Irreparable)) };
            if self.rounds >= self.options.rounds {
                return Err(End::because(Verdict::Unknown, format!("no end after {} rounds", self.rounds)));
            }
            self.rounds += 1;
            if self.rounds == PATIENCE && found.is_empty() {
                self.try_everything(table)?;
            }
            match self.try_set(table, &set)? {
                Trial::Correct => {
                    self.sets.push(table.repair(&set, &clauses));
                    found.push(set);
                }
                Trial::Wrong(wrong) => clauses.push(self.learn(table, wrong, &set)?),
                Trial::Unknown(reason) if found.is_empty() => {
                    let repair = table.repair(&set, &clauses);
                    self.undecided = Some(Undecided { repair, reason: reason.clone() });
                    return self.weed(table, clauses, &reason);
                }
                Trial::Unknown(reason) => return Err(End::because(Verdict::Unknown, reason)),
            }
        }
        Ok(End { complete: false, ..End::new(Verdict::Repaired) })
    }

    /// Nobody knows about a cheapest set. If the program is correct with all fences, takes away what it is known to be correct without, dear ones first, in
    /// smaller and smaller pieces.
    fn weed(&mut self, table: &Table<'_>, mut clauses: Vec<Vec<Candidate>>, reason: &str) -> Result<End, End> {
        let mut set = table.useful.clone();
        set.sort_by_key(|candidate| std::cmp::Reverse(table.weights[candidate.0]));
        if !self.is_enough(table, &set, &mut clauses)? {
            return Err(End::because(Verdict::Unknown, reason));
        }
        let mut size = set.len();
        while size > 1 {
            size = size.div_ceil(2);
            let mut at = 0;
            while at < set.len() {
                let end = set.len().min(at + size);
                let rest = [&set[..at], &set[end..]].concat();
                if self.is_enough(table, &rest, &mut clauses)? {
                    set = rest;
                } else {
                    at = end;
                }
            }
        }
        set.sort();
        self.sets.push(table.repair(&set, &clauses));
        let why = format!("whether other sets of fences are cheaper is not known: {reason}");
        Ok(End { complete: false, ..End::because(Verdict::Repaired, why) })
    }

    /// Whether a set is known to be correct; learns from it if it is wrong.
    fn is_enough(
        &mut self,
        table: &Table<'_>,
        set: &[Candidate],
        clauses: &mut Vec<Vec<Candidate>>,
    ) -> Result<bool, End> {
        if clauses.iter().any(|clause| !clause.iter().any(|candidate| set.contains(candidate))) {
            return Ok(false);
        }
        let mut sorted = set.to_vec();
        sorted.sort();
        match self.try_set(table, &sorted)? {
            Trial::Correct => Ok(true),
            Trial::Unknown(_) => Ok(false),
            Trial::Wrong(wrong) => {
                clauses.push(self.learn(table, wrong, &sorted)?);
                Ok(false)
            }
        }
    }

    /// Ends the search if not even all fences together help. The clauses would show it too, in the end.
    fn try_everything(&mut self, table: &Table<'_>) -> Result<(), End> {
        let fences = table.fences(&table.useful);
        match self.ask(&fences, S::judge_briefly)? {
            Trial::Wrong(found) => {
                Err(self.irreparable(found.wrong, "it goes wrong even with a fence at every position"))
            }
            Trial::Correct | Trial::Unknown(_) => Ok(()),
        }
    }

    /// Records a counterexample to a set and gives its clause.
    fn learn(
        &mut self,
        table: &Table<'_>,
        found: Found<S::Evidence>,
        set: &[Candidate],
    ) -> Result<Vec<Candidate>, End> {
        let clause = table.clause(&found, set)?;
        let wrong = found.wrong;
        if clause.is_empty() {
            return Err(self.irreparable(wrong, "it goes wrong without any reordering that a fence could forbid"));
        }
        self.counterexamples.push(Counterexample { wrong, clause: table.fences(&clause) });
        Ok(clause)
    }

    /// No fence prevents this counterexample. If a set was accepted before, somebody is wrong, and nothing is claimed.
    fn irreparable(&mut self, wrong: Wrong<S::Evidence>, reason: &str) -> End {
        if !self.sets.is_empty() {
            return End::because(Verdict::Unknown, format!("the judge contradicts itself: {reason}"));
        }
        self.counterexamples = vec![Counterexample { wrong, clause: Vec::new() }];
        End::because(Verdict::Irreparable, reason)
    }

    /// Puts a set to the judge, unless a part of it is known to be correct: more fences do no harm.
    fn try_set(&mut self, table: &Table<'_>, set: &[Candidate]) -> Result<Trial<S::Evidence>, End> {
        let within = |known: &Vec<Candidate>| known.iter().all(|candidate| set.binary_search(candidate).is_ok());
        if self.correct.iter().any(within) {
            return Ok(Trial::Correct);
        }
        let trial = self.ask(&table.fences(set), S::judge)?;
        if matches!(trial, Trial::Correct) {
            self.correct.push(set.to_vec());
        }
        Ok(trial)
    }

    /// Asks the judge; a program that is wrong for the first time is looked at under sequential consistency too, where no fence helps.
    fn ask(&mut self, fences: &[Fence], judge: Judge<S>) -> Result<Trial<S::Evidence>, End> {
        let fences = merge(fences);
        let programs = self.suite.build(&fences).map_err(|reason| End::because(Verdict::Unknown, reason))?;
        self.questions += 1;
        let Ruling { program, judgement } = judge(self.suite, &fences, &programs);
        match judgement {
            Judgement::Correct => Ok(Trial::Correct),
            Judgement::Unknown(reason) => Ok(Trial::Unknown(reason)),
            Judgement::Wrong(wrong) => {
                self.judge_sequentially(&programs, program)?;
                Ok(Trial::Wrong(Found { program, wrong }))
            }
        }
    }

    fn judge_sequentially(&mut self, programs: &[Program], number: usize) -> Result<(), End> {
        if !self.sequential.insert(number) {
            return Ok(());
        }
        self.questions += 1;
        match self.suite.judge_sequentially(programs, number) {
            Judgement::Wrong(wrong) => {
                Err(self.irreparable(wrong, "it goes wrong under sequential consistency as well"))
            }
            Judgement::Correct | Judgement::Unknown(_) => Ok(()),
        }
    }
}

/// The candidates: what they stand for and what they cost.
struct Table<'a> {
    places: &'a Places,
    /// What each costs, by number, also those that are not worth trying.
    costs: Vec<u32>,
    /// The same, so that of two sets with equal costs the one that a reader minds less is cheaper.
    weights: Vec<u32>,
    /// Those that are.
    useful: Vec<Candidate>,
    kinds: FenceSet,
}

impl<'a> Table<'a> {
    fn new<S: Suite>(suite: &S, places: &'a Places, options: &Options) -> Self {
        let all = || Candidate::all(places.positions.len());
        let weights: Vec<u32> = places.positions.iter().map(|position| suite.weight(position).max(1)).collect();
        let cost =
            |candidate: Candidate| options.costs.of(candidate.kind()).saturating_mul(weights[candidate.place().0]);
        let costs = all().map(cost).collect();
        let useful = all().filter(|candidate| options.kinds.contains(candidate.kind())).collect();
        let mut table = Self { places, costs, weights: Vec::new(), useful, kinds: options.kinds };
        let weight = |candidate: Candidate| {
            let cost = table.costs[candidate.0].saturating_mul(TASTE);
            cost.saturating_add(suite.distaste(&table.fence(candidate)))
        };
        table.weights = all().map(weight).collect();
        table
    }

    fn fence(&self, candidate: Candidate) -> Fence {
        Fence { position: self.places.positions[candidate.place().0].clone(), kind: candidate.kind() }
    }

    fn fences(&self, set: &[Candidate]) -> Vec<Fence> {
        set.iter().map(|candidate| self.fence(*candidate)).collect()
    }

    /// The clause of a counterexample to a set. That it misses the set is what makes the search end, so it is checked.
    fn clause<E>(&self, found: &Found<E>, set: &[Candidate]) -> Result<Vec<Candidate>, End> {
        let Found { program, wrong } = found;
        let clause = clause(self.places, *program, &wrong.execution, &wrong.replayed);
        let mut clause = clause.map_err(|reason| End::because(Verdict::Unknown, reason))?;
        clause.retain(|candidate| self.kinds.contains(candidate.kind()));
        match clause.iter().find(|candidate| set.contains(candidate)) {
            None => Ok(clause),
            Some(candidate) => {
                let Fence { position, kind } = self.fence(*candidate);
                let reason = format!("a counterexample ignores the {kind} fence behind line {}", position.line);
                Err(End::because(Verdict::Unknown, reason))
            }
        }
    }

    /// A set with the proof that none of it can go: for each fence a clause that only it hits.
    fn repair(&self, set: &[Candidate], clauses: &[Vec<Candidate>]) -> Repair {
        let hits = |clause: &[Candidate], fence: &Candidate| {
            clause.contains(fence) && set.iter().filter(|other| clause.contains(other)).count() == 1
        };
        let prevents = set.iter().map(|fence| clauses.iter().position(|clause| hits(clause, fence)));
        let cost = set.iter().map(|candidate| u64::from(self.costs[candidate.0])).sum();
        Repair { fences: self.fences(set), prevents: prevents.collect(), cost }
    }
}

//! Smaller executions that show the same thing.
//!
//! A reader's effort grows with three things, in this order: accesses that overtook one another, switches from one thread to another,
//! steps. Three kinds of small changes are tried until none helps: leaving steps out (large chunks first, as in delta debugging),
//! moving a run of steps of one thread, moving one step. A change is looked at only if it lowers the effort and is made only if the
//! callback, which replays and confirms, accepts the result.
//!
//! **Invariants:** every intermediate execution is a confirmed one, so whenever the search ends, by its budget or because it is told to
//! stop, the violation is still there; and unless it is told to stop, the result depends on the input alone, for the budget counts
//! work and not time.
//!
//! Leaving out a step in the middle of a thread makes it overtaken by what follows, which counts as effort;
//! this is why only what nobody needs at the end of a thread disappears. Choices at a thread's end that lead nowhere go last.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use cyrano_engine::{Access, Execution};
use serde::{Deserialize, Serialize};

/// How often the callback may be asked.
const MAX_TRIALS: usize = 4_000;

/// How many steps all replays together may have; a replay of a long execution costs more than a short one.
const MAX_REPLAYED: usize = 400_000;

/// How many steps all candidates together may have that are only looked at.
const MAX_EXAMINED: usize = 40_000_000;

/// What an execution asks of its reader; smaller is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// Pairs of a performed access and a program-earlier one of its thread that was performed later or not at all.
    pub reorderings: usize,
    /// How often the next step is another thread's.
    pub switches: usize,
    /// Performed accesses.
    pub steps: usize,
}

/// The smallest execution that was found, and what it was made from.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The execution.
    pub execution: Execution,
    /// The effort before.
    pub from: Effort,
    /// The effort now.
    pub to: Effort,
    /// Whether no further change helps; otherwise the budget ended or somebody said stop.
    pub complete: bool,
}

/// The smallest execution reachable by small changes that `accept` all agrees to.
pub fn minimise(execution: &Execution, accept: &dyn Fn(&Execution) -> bool) -> Execution {
    minimise_until(execution, accept, &|| false).execution
}

/// The same; the search ends with what it has as soon as `stop` says so.
pub fn minimise_until(
    execution: &Execution,
    accept: &dyn Fn(&Execution) -> bool,
    stop: &dyn Fn() -> bool,
) -> Minimised {
    let from = Effort::of(&execution.order);
    let mut search = Minimiser {
        best: execution.clone(),
        effort: from,
        rejected: HashSet::new(),
        trials: 0,
        replayed: 0,
        examined: 0,
        ended: false,
        accept,
        stop,
    };
    search.drop_chunks();
    while search.drop_steps() || search.move_runs() || search.move_steps() {}
    search.drop_choices();
    Minimised { from, to: search.effort, complete: !search.ended, execution: search.best }
}

impl Effort {
    /// That of an execution.
    pub fn of(order: &[Access]) -> Self {
        Self {
            reorderings: reorderings(order),
            switches: order.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count(),
            steps: order.len(),
        }
    }
}

/// How many pairs of a performed access and a program-earlier one that was performed later or not at all there are.
fn reorderings(order: &[Access]) -> usize {
    // For each thread the numbers of its accesses so far, sorted; as most accesses come in program order, most are appended.
    let mut performed: Vec<Vec<u32>> = Vec::new();
    let mut missing = 0;
    for access in order {
        let thread = access.thread.index();
        if performed.len() <= thread {
            performed.resize(thread + 1, Vec::new());
        }
        let before = performed[thread].partition_point(|index| *index < access.index);
        missing += (access.index as usize).saturating_sub(before);
        performed[thread].insert(before, access.index);
    }
    missing
}

struct Minimiser<'a> {
    best: Execution,
    effort: Effort,
    /// Hashes of the orders that were refused; a collision costs a candidate and nothing else.
    rejected: HashSet<u64>,
    trials: usize,
    replayed: usize,
    examined: usize,
    /// Whether the budget ended the search, or somebody else.
    ended: bool,
    accept: &'a dyn Fn(&Execution) -> bool,
    stop: &'a dyn Fn() -> bool,
}

impl Minimiser<'_> {
    /// Whether the search is over.
    fn is_over(&mut self) -> bool {
        let spent = self.trials >= MAX_TRIALS || self.replayed >= MAX_REPLAYED || self.examined >= MAX_EXAMINED;
        self.ended |= spent || (self.stop)();
        self.ended
    }

    /// Takes the candidate if it is better and still valid.
    fn consider(&mut self, order: Vec<Access>) -> bool {
        self.examined += order.len() + 1;
        let effort = Effort::of(&order);
        if effort >= self.effort || self.is_over() {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        order.iter().for_each(|access| (access.thread, access.index).hash(&mut hasher));
        let hash = hasher.finish();
        if self.rejected.contains(&hash) {
            return false;
        }
        let accepted = self.try_out(Execution { order, choices: self.best.choices.clone(), relations: None });
        if accepted {
            self.effort = effort;
        } else {
            self.rejected.insert(hash);
        }
        accepted
    }

    /// Takes the candidate if it is still valid.
    fn try_out(&mut self, candidate: Execution) -> bool {
        self.trials += 1;
        self.replayed += candidate.order.len() + 1;
        let accepted = (self.accept)(&candidate);
        if accepted {
            self.best = candidate;
        }
        accepted
    }

    /// Forgets the last choices of each thread that lead to nothing that is performed.
    fn drop_choices(&mut self) {
        for thread in 0..self.best.choices.len() {
            loop {
                let mut candidate = self.best.clone();
                let shorter = candidate.choices[thread].pop().is_some();
                if !shorter || self.is_over() || !self.try_out(candidate) {
                    break;
                }
            }
        }
    }

    /// Leaves out consecutive steps, half of them at first, then a quarter, and so on; single steps are [`Self::drop_steps`]'s.
    fn drop_chunks(&mut self) {
        let mut size = self.best.order.len() / 2;
        while size > 1 && !self.is_over() {
            let mut end = self.best.order.len();
            while end > 0 && !self.ended {
                let start = end.saturating_sub(size);
                let mut order = self.best.order.clone();
                order.drain(start..end);
                self.consider(order);
                end = start;
            }
            size /= 2;
        }
    }

    fn drop_steps(&mut self) -> bool {
        let mut any = false;
        for at in (0..self.best.order.len()).rev() {
            if self.is_over() {
                return false;
            }
            let mut order = self.best.order.clone();
            order.remove(at);
            any |= self.consider(order);
        }
        any
    }

    fn move_steps(&mut self) -> bool {
        let mut any = false;
        for from in 0..self.best.order.len() {
            let mut helps = useful_moves(&self.best.order, from);
            for to in 0..helps.len() {
                if !helps[to] {
                    continue;
                }
                if self.is_over() {
                    return false;
                }
                let mut order = self.best.order.clone();
                let step = order.remove(from);
                order.insert(to, step);
                if self.consider(order) {
                    any = true;
                    helps = useful_moves(&self.best.order, from);
                }
            }
        }
        any
    }

    /// Moves each run of one thread's steps behind another run of that thread, or in front of it.
    fn move_runs(&mut self) -> bool {
        let runs = runs(&self.best.order);
        for (i, from) in runs.iter().enumerate() {
            for (j, to) in runs.iter().enumerate() {
                let same_thread = self.best.order[from.start].thread == self.best.order[to.start].thread;
                if i == j || !same_thread {
                    continue;
                }
                if self.is_over() {
                    return false;
                }
                let mut order = self.best.order.clone();
                let moved: Vec<Access> = order.drain(from.clone()).collect();
                let at = if i < j { to.start - moved.len() } else { to.end };
                order.splice(at..at, moved);
                if self.consider(order) {
                    return true;
                }
            }
        }
        false
    }
}

/// For each position whether moving the step there lowers the effort. Only pairs with what the step moves past change.
fn useful_moves(order: &[Access], from: usize) -> Vec<bool> {
    let step = order[from];
    let overtakes = |first: Access, second: Access| first.thread == second.thread && first.index > second.index;
    let differ = |a: Option<&Access>, b: Option<&Access>| a.zip(b).is_some_and(|(a, b)| a.thread != b.thread) as i64;
    let before = from.checked_sub(1).and_then(|at| order.get(at));
    let after = order.get(from + 1);
    let taken_out = differ(before, after) - differ(before, Some(&step)) - differ(Some(&step), after);
    let put_in = |left: Option<&Access>, right: Option<&Access>| {
        differ(left, Some(&step)) + differ(Some(&step), right) - differ(left, right)
    };
    let mut helps = vec![false; order.len()];
    let mut pairs = 0i64;
    for to in from + 1..order.len() {
        pairs += overtakes(order[to], step) as i64 - overtakes(step, order[to]) as i64;
        helps[to] = (pairs, taken_out + put_in(Some(&order[to]), order.get(to + 1))) < (0, 0);
    }
    pairs = 0;
    for to in (0..from).rev() {
        pairs += overtakes(step, order[to]) as i64 - overtakes(order[to], step) as i64;
        let left = to.checked_sub(1).and_then(|at| order.get(at));
        helps[to] = (pairs, taken_out + put_in(left, Some(&order[to]))) < (0, 0);
    }
    helps
}

/// The maximal runs of steps of one thread.
fn runs(order: &[Access]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let chunks = order.chunk_by(|a, b| a.thread == b.thread);
    let lengths = chunks.map(<[Access]>::len);
    lengths
        .map(|len| {
            let run = start..start + len;
            start = run.end;
            run
        })
        .collect()
}

#[cfg(test)]
mod tests;

//! From an execution after which threads only spin to one that goes on for ever: each spinning thread does its last iteration again and again.
//!
//! The formula has seen to it that the loads of that iteration find in final memory what they found ([`crate::formula::hang`]). So the iterations of all spinning
//! threads, one thread after the other, are a round.

use cyrano_engine::{Access, Execution, Extent, Fate, Lasso};
use cyrano_ir::ThreadId;

use crate::execute::event::Spin;
use crate::formula::encode::Encoding;
use crate::formula::lit::Lit;

/// How many rounds an execution shows.
const ROUNDS: usize = 3;

/// Adds rounds to an execution in which some thread spins; none if no thread does.
pub(crate) fn lasso(encoding: &Encoding, execution: &mut Execution, value: &dyn Fn(Lit) -> bool) -> Option<Lasso> {
    let spins: Vec<&Spin> = encoding.run.spins.iter().filter(|spin| value(spin.settled)).collect();
    let suspect = spins.iter().find(|spin| !value(spin.passes)).map(|spin| (spin.thread, Fate::Spins));
    let blocked = || encoding.run.waits.iter().find(|wait| value(wait.waits)).map(|wait| (wait.thread, Fate::Blocked));
    let (thread, fate) = suspect.or_else(|| blocked().filter(|_| !spins.is_empty()))?;
    let stem = extent(execution);
    let last: Vec<Iteration> = spins.iter().filter_map(|spin| iteration(encoding, execution, spin, value)).collect();
    for round in 1..=ROUNDS {
        last.iter().for_each(|iteration| iteration.repeat(execution, round));
    }
    let none = vec![0; execution.choices.len()];
    let steps = last.iter().map(|iteration| iteration.accesses.len()).sum();
    let mut round = Extent { steps, choices: none.clone(), issued: none };
    for iteration in &last {
        round.choices[iteration.thread.index()] = iteration.choices.len();
        round.issued[iteration.thread.index()] = iteration.accesses.len();
    }
    Some(Lasso { thread, fate, stem, round, rounds: ROUNDS })
}

/// What a thread does in its last iteration.
struct Iteration {
    thread: ThreadId,
    /// Its accesses in program order.
    accesses: Vec<Access>,
    choices: Vec<i128>,
}

impl Iteration {
    /// The same once more.
    fn repeat(&self, execution: &mut Execution, round: usize) {
        let later = u32::try_from(self.accesses.len() * round).unwrap_or(u32::MAX);
        let again = |access: &Access| Access { index: access.index.saturating_add(later), ..*access };
        execution.order.extend(self.accesses.iter().map(again));
        execution.choices[self.thread.index()].extend(&self.choices);
    }
}

/// The end of what a thread does: its last accesses and choices.
fn iteration(
    encoding: &Encoding,
    execution: &Execution,
    spin: &Spin,
    value: &dyn Fn(Lit) -> bool,
) -> Option<Iteration> {
    let run = encoding.run.threads.get(spin.thread.index())?;
    let steps = run.steps[spin.steps.clone()].iter().filter(|step| value(step.guard)).count();
    let made = run.choices[spin.choices.clone()].iter().filter(|(guard, _)| value(*guard)).count();
    let mut accesses: Vec<Access> =
        execution.order.iter().filter(|access| access.thread == spin.thread).copied().collect();
    accesses.sort_unstable_by_key(|access| access.index);
    let choices = &execution.choices[spin.thread.index()];
    Some(Iteration {
        thread: spin.thread,
        accesses: accesses.split_off(accesses.len().checked_sub(steps)?),
        choices: choices[choices.len().checked_sub(made)?..].to_vec(),
    })
}

/// How much an execution has in which nothing is deferred.
fn extent(execution: &Execution) -> Extent {
    let mut issued = vec![0; execution.choices.len()];
    execution.order.iter().for_each(|access| issued[access.thread.index()] += 1);
    Extent { steps: execution.order.len(), choices: execution.choices.iter().map(Vec::len).collect(), issued }
}

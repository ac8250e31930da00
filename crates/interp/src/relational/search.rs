//! All executions of a program: one trace per thread, who reads from whom, in which order writes hit each location; and the model has the last word.
//!
//! **Argument** for what is not tried. Most models demand that program order within each location agrees with who reads from whom and who overwrites whom
//! (`Plan::is_coherent` tells from the text of their conditions). Then a thread's writes to a location hit it in program order, a read sees no later write of its
//! own thread, and none that an earlier write of its own thread has overwritten; such executions would be rejected anyway. More of this kind is in `rules`.
//! `tests/pruning.rs` compares with trying them all.

use std::ops::ControlFlow;

use cyrano_engine::Stop;
use cyrano_ir::{LocId, Program};
use cyrano_memory::cat::{Cat, Judge, Level, What};
use rustc_hash::FxHashMap;

use super::graph::Candidate;
use super::rules::Rules;
use super::traces::Trace;
use crate::meter::Meter;
use crate::set::EventSet;

/// The most events that one execution may have.
const EVENT_LIMIT: usize = 160;

/// For each location its initial write, and the writes of threads.
type Locations = [(usize, Vec<usize>)];

/// How much of a combination somebody wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Nothing.
    Nothing,
    /// One execution that is allowed.
    Any,
    /// All of them.
    All,
}

/// Somebody who looks at executions.
pub(super) trait Goal {
    /// What it wants to see of a combination, some execution of which may raise a flag or not.
    fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want;

    /// Looks at an execution that the model allows.
    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()>;
}

/// Why an enumeration ends before its end.
enum Halt {
    Limit(Stop),
    /// The goal has seen enough of the combination.
    Seen,
    /// The goal has seen enough.
    Enough,
}

/// Whether what a coherent model rejects anyway is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pruning {
    On,
    #[cfg(test)]
    Off,
}

/// Shows all executions to a goal.
pub(super) fn pursue(
    program: &Program,
    cat: &Cat,
    threads: Vec<Vec<Trace<'_>>>,
    goal: &mut impl Goal,
    meter: &mut Meter<'_>,
) -> Result<(), Stop> {
    pursue_with(program, cat, threads, goal, meter, Pruning::On)
}

/// The same with or without leaving anything out.
pub(super) fn pursue_with(
    program: &Program,
    cat: &Cat,
    mut threads: Vec<Vec<Trace<'_>>>,
    goal: &mut impl Goal,
    meter: &mut Meter<'_>,
    pruning: Pruning,
) -> Result<(), Stop> {
    let initial = program.initial_memory();
    number_values(&initial, &mut threads);
    let later = offers_from(&threads);
    let rules = if pruning == Pruning::On { Rules::of(cat.plan()) } else { Rules::default() };
    let judge = Judge::new(cat.plan());
    let (initial, threads, later) = (&*initial, &*threads, &*later);
    let races = cat.plan().data_race().is_some();
    let mut search = Search { program, races, initial, threads, later, judge, rules, goal, meter };
    match search.extend(&mut Vec::new(), &EventSet::default(), &EventSet::default()) {
        Err(Halt::Limit(stop)) => Err(stop),
        Ok(()) | Err(Halt::Enough | Halt::Seen) => Ok(()),
    }
}

/// Numbers the location-value pairs and fills `needs` and `offers`.
fn number_values(initial: &[i128], threads: &mut [Vec<Trace<'_>>]) {
    let mut numbers: FxHashMap<(LocId, i128), usize> = FxHashMap::default();
    let mut number = |pair: (LocId, i128)| {
        let fresh = numbers.len();
        *numbers.entry(pair).or_insert(fresh)
    };
    for trace in threads.iter_mut().flatten() {
        let reads = trace.values(What::Read).filter(|(loc, value)| *value != initial[loc.index()]);
        let (needs, offers) = (reads.map(&mut number).collect(), trace.values(What::Write).map(&mut number).collect());
        (trace.needs, trace.offers) = (needs, offers);
    }
}

/// For each thread what it and the threads after it can offer at most.
fn offers_from(threads: &[Vec<Trace<'_>>]) -> Vec<EventSet> {
    let mut later = vec![EventSet::default(); threads.len() + 1];
    for at in (0..threads.len()).rev() {
        let mut offers = later[at + 1].clone();
        threads[at].iter().for_each(|trace| offers.absorb(&trace.offers));
        later[at] = offers;
    }
    later
}

struct Search<'a, 'p, 'm, G> {
    program: &'a Program,
    /// Whether the model knows races.
    races: bool,
    initial: &'a [i128],
    threads: &'a [Vec<Trace<'p>>],
    later: &'a [EventSet],
    judge: Judge<'a>,
    /// What need not be tried.
    rules: Rules,
    goal: &'a mut G,
    meter: &'a mut Meter<'m>,
}

impl<'a, 'p, G: Goal> Search<'a, 'p, '_, G> {
    /// One trace for each thread, as long as every value that is read can still be offered by somebody.
    fn extend(&mut self, chosen: &mut Vec<&'a Trace<'p>>, needs: &EventSet, offers: &EventSet) -> Result<(), Halt> {
        let Some(traces) = self.threads.get(chosen.len()) else { return self.combination(chosen) };
        for trace in traces {
            self.meter.tick().map_err(Halt::Limit)?;
            let (mut needs, mut offers) = (needs.clone(), offers.clone());
            needs.absorb(&trace.needs);
            offers.absorb(&trace.offers);
            let mut possible = offers.clone();
            possible.absorb(&self.later[chosen.len() + 1]);
            if needs.within(&possible) {
                chosen.push(trace);
                self.extend(chosen, &needs, &offers)?;
                chosen.pop();
            }
        }
        Ok(())
    }

    fn combination(&mut self, combination: &[&'a Trace<'p>]) -> Result<(), Halt> {
        if self.goal.wants(combination, true) == Want::Nothing {
            return Ok(());
        }
        let mut candidate = Candidate::new(self.program, self.races, self.initial, combination);
        let events = candidate.graph.events.len();
        if events > EVENT_LIMIT {
            return Err(Halt::Limit(Stop::Size));
        }
        self.meter.stats.depth = self.meter.stats.depth.max(events as u64);
        if !self.judge.passes(&candidate.graph, Level::Events) {
            return Ok(());
        }
        let want = self.goal.wants(combination, !self.rules.flags || self.judge.may_flag());
        if want == Want::Nothing {
            return Ok(());
        }
        let reads = candidate.reads();
        match self.reads_from(&mut candidate, &reads, want) {
            Err(Halt::Seen) => Ok(()),
            other => other,
        }
    }

    /// A write for each read.
    fn reads_from(&mut self, candidate: &mut Candidate<'_, 'p>, reads: &[usize], want: Want) -> Result<(), Halt> {
        self.meter.tick().map_err(Halt::Limit)?;
        let Some((read, rest)) = reads.split_first() else {
            if !self.judge.passes(&candidate.graph, Level::ReadsFrom) {
                return Ok(());
            }
            let writes = candidate.writes();
            return self.coherence(candidate, &writes, want);
        };
        for write in candidate.sources(*read) {
            if self.rules.coherent && candidate.is_hidden(write, *read) {
                continue;
            }
            candidate.source[*read] = Some(write);
            if !self.rules.may_read(candidate, *read) {
                continue;
            }
            candidate.graph.rf.insert(write, *read);
            self.reads_from(candidate, rest, want)?;
            candidate.graph.rf.remove(write, *read);
        }
        candidate.source[*read] = None;
        Ok(())
    }

    /// An order for the writes to each location.
    fn coherence(&mut self, candidate: &mut Candidate<'_, 'p>, locations: &Locations, want: Want) -> Result<(), Halt> {
        let Some(((first, writes), rest)) = locations.split_first() else { return self.judged(candidate, want) };
        let before = self.rules.before(candidate, *first);
        self.order(candidate, vec![*first], writes.clone(), (&before, rest), want)
    }

    /// Orders of the writes that are left behind those that are placed.
    fn order(
        &mut self,
        candidate: &mut Candidate<'_, 'p>,
        placed: Vec<usize>,
        left: Vec<usize>,
        (before, rest): (&[(usize, usize)], &Locations),
        want: Want,
    ) -> Result<(), Halt> {
        self.meter.tick().map_err(Halt::Limit)?;
        if left.is_empty() {
            return self.coherence(candidate, rest, want);
        }
        for (at, next) in left.iter().enumerate() {
            let po = &candidate.graph.po;
            let late = |other: &usize| po.contains(*other, *next) || before.contains(&(*other, *next));
            if self.rules.coherent && left.iter().any(late) || !self.rules.may_follow(candidate, &placed, *next) {
                continue;
            }
            placed.iter().for_each(|earlier| candidate.graph.co.insert(*earlier, *next));
            let (mut more, mut fewer) = (placed.clone(), left.clone());
            fewer.remove(at);
            more.push(*next);
            self.order(candidate, more, fewer, (before, rest), want)?;
            placed.iter().for_each(|earlier| candidate.graph.co.remove(*earlier, *next));
        }
        Ok(())
    }

    fn judged(&mut self, candidate: &Candidate<'_, 'p>, want: Want) -> Result<(), Halt> {
        self.meter.stats.states += 1;
        if !self.judge.passes(&candidate.graph, Level::Coherence) {
            return Ok(());
        }
        if self.goal.found(candidate, &self.judge).is_break() {
            return Err(Halt::Enough);
        }
        if want == Want::Any { Err(Halt::Seen) } else { Ok(()) }
    }
}

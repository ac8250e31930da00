//! Termination under models about relations, in its bounded form, as the reference has it: every thread has ended or spins, some spin, and each read of a last round
//! ([`crate::execute::laps`]) has seen the write that comes last in coherence order, but for writes of last rounds, which write what they have found.

use rustc_hash::FxHashMap;

use super::{Act, Fault, Relational};
use crate::execute::event::Run;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit};

/// No thread can go on, and some spin; says of each that spins whether it has seen the latest writes.
pub(crate) fn hang(gates: &mut Gates, run: &mut Run, found: &Relational) -> Lit {
    let sees = Sees::new(run, found);
    for number in 0..run.spins.len() {
        let settled = sees.settled(gates, run, found, number);
        run.spins[number].settled = settled;
    }
    let spins = gates.any(run.spins.iter().map(|spin| spin.settled));
    let mut all = spins;
    for (thread, own) in run.threads.iter().enumerate() {
        let of_thread = run.spins.iter().filter(|spin| spin.thread.index() == thread).map(|spin| spin.settled);
        let quiet = gates.any(of_thread.chain([own.halted]));
        all = gates.and(all, quiet);
    }
    let errors = gates.any(run.errors.iter().copied());
    gates.and(all, !errors)
}

/// What reads see, and what comes later.
struct Sees {
    /// For each access that reads the writes that it may read from.
    sources: FxHashMap<usize, Vec<(usize, Lit)>>,
    /// For each write those that may come later.
    later: FxHashMap<usize, Vec<(usize, Lit)>>,
    /// For each access that a last round may have done, that it is one.
    last: FxHashMap<usize, Vec<Lit>>,
}

impl Sees {
    fn new(run: &Run, found: &Relational) -> Self {
        let (mut sources, mut later, mut last) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        for (write, read, lit) in &found.rf {
            if let Some(event) = found.parts[*read].event {
                sources.entry(event).or_insert_with(Vec::new).push((*write, *lit));
            }
        }
        for (first, second, lit) in &found.co {
            later.entry(*first).or_insert_with(Vec::new).push((*second, *lit));
        }
        for spin in &run.spins {
            let own = spin.events.clone().filter(|event| run.events[*event].thread == spin.thread);
            own.for_each(|event| last.entry(event).or_insert_with(Vec::new).push(spin.stops));
        }
        Self { sources, later, last }
    }

    fn settled(&self, gates: &mut Gates, run: &Run, found: &Relational, number: usize) -> Lit {
        let spin = &run.spins[number];
        let own = spin.events.clone().filter(|event| run.events[*event].thread == spin.thread);
        let mut stale = Vec::new();
        for read in own {
            for (write, sees) in self.sources.get(&read).into_iter().flatten() {
                for (other, after) in self.later.get(write).into_iter().flatten() {
                    let late = gates.all([*sees, *after, found.parts[*other].guard]);
                    if late != FALSE && !Fault::StaleRounds.is_on() {
                        let same = self.repeats(gates, run, found, *other, read);
                        stale.push(gates.and(late, !same));
                    }
                }
            }
        }
        let stale = gates.any(stale);
        gates.and(spin.stops, !stale)
    }

    /// Whether a write is one of a last round, and writes what an access has read.
    fn repeats(&self, gates: &mut Gates, run: &Run, found: &Relational, write: usize, read: usize) -> Lit {
        debug_assert_eq!(found.parts[write].act, Act::Write);
        let Some(event) = found.parts[write].event else { return FALSE };
        let Some(last) = self.last.get(&event) else { return FALSE };
        let (Some((written, _)), Some(value)) = (&run.events[event].write, &run.events[read].read) else {
            return FALSE;
        };
        let of_round = gates.any(last.iter().copied());
        let same = gates.equal(written, value);
        gates.and(of_round, same)
    }
}

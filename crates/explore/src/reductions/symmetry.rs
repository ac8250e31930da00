//! Thread symmetry (reduction `thread-symmetry`), for criteria that treat all threads alike.
//!
//! If the threads run the same code on the same kind of registers, renaming them turns executions into executions. So of the
//! states that differ only by such a renaming one is stored: the one whose bytes come first.
//!
//! **Argument.** A renaming of threads moves program counters, registers and queues from thread to thread and maps each *identity*, the
//! constant by which a thread's code differs from the others', to the identity of the renamed thread, wherever one is stored. It commutes with every
//! step, because identities are only copied and compared ([`Identities`]).
//!
//! Witnesses are rebuilt without renaming.

use cyrano_ir::Program;
use cyrano_ir::automorphisms::{Identities, OWN, permutations};

use crate::encoding::codec;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, Entry, State, Value, What};

/// The most threads whose renamings are all tried.
const MOST_THREADS: usize = 4;

/// What renaming threads does to a program's states.
pub(crate) struct Symmetry {
    identities: Identities,
    /// All renamings but the one that changes nothing: thread `t` becomes `renaming[t]`.
    pub renamings: Vec<Vec<u8>>,
}

impl Symmetry {
    /// The symmetry of a program's threads, if there is one.
    pub fn of(program: &Program) -> Option<Self> {
        let threads =
            u8::try_from(program.threads.len()).ok().filter(|count| (2..=MOST_THREADS as u8).contains(count))?;
        Some(Self { identities: Identities::of(program)?, renamings: permutations(threads) })
    }
}

impl Machine<'_> {
    /// Whether states stand for others whose threads are in other places.
    pub(crate) fn exchanges_threads(&self) -> bool {
        self.symmetry.is_some() || !self.symmetric_threads.is_empty() || !self.exchanges.is_empty()
    }

    /// Appends the bytes that stand for a state and for all its renamings, of variables and of threads.
    pub fn encode_canonical(&self, state: &State, out: &mut Vec<u8>) {
        if !self.symmetric_threads.is_empty() {
            return self.encode_sorted(state, out);
        }
        if !self.exchanges.is_empty() {
            return self.encode_exchanged(state, out);
        }
        let start = out.len();
        self.encode_by_threads(state, out);
        let mut renamed = State::default();
        for renaming in &self.variable_symmetry {
            let end = out.len();
            if self.rename_variables(renaming, state, &mut renamed) {
                self.encode_by_threads(&renamed, out);
                keep_smaller(out, start, end);
            }
        }
    }

    /// Appends the bytes that stand for a state and for all its renamings of threads.
    ///
    /// Of the renamings only those are tried that sort the threads by what each looks like by itself ([`Machine::looks`]). Renamed states
    /// have the same sorted arrangements, so the choice is the same for all of them; usually there is only one.
    fn encode_by_threads(&self, state: &State, out: &mut Vec<u8>) {
        let Some(symmetry) = &self.symmetry else {
            return self.encode(state, out);
        };
        let threads = state.threads.len();
        let start = out.len();
        let mut ends = [start; MOST_THREADS + 1];
        for t in 0..threads {
            self.looks(symmetry, state, t, out);
            ends[t + 1] = out.len();
        }
        let looks = |t: usize| &out[ends[t]..ends[t + 1]];
        // For every renaming that sorts the threads, and for the one that changes nothing.
        let as_it_is = (1..threads).all(|t| looks(t - 1) <= looks(t));
        let sorted = |renaming: &[u8]| {
            let mut arranged = [0; MOST_THREADS];
            renaming.iter().enumerate().for_each(|(t, to)| arranged[usize::from(*to)] = t);
            arranged[..threads].is_sorted_by(|a, b| looks(*a) <= looks(*b))
        };
        let tried: u32 = symmetry.renamings.iter().enumerate().filter(|(_, r)| sorted(r)).map(|(at, _)| 1 << at).sum();
        out.truncate(start);
        if as_it_is {
            self.encode(state, out);
        }
        let mut renamed = State::default();
        for renaming in symmetry.renamings.iter().enumerate().filter(|(at, _)| tried >> at & 1 == 1).map(|(_, r)| r) {
            self.rename(symmetry, state, renaming, &mut renamed);
            let end = out.len();
            self.encode(&renamed, out);
            if end > start {
                keep_smaller(out, start, end);
            }
        }
    }

    /// A thread's own part of a state, with its identity and those of others told apart but not named, as bytes.
    fn looks(&self, symmetry: &Symmetry, state: &State, t: usize, out: &mut Vec<u8>) {
        let own = symmetry.identities.values.get(t);
        let id = |value: i128| match symmetry.identities.values.contains(&value) {
            true if Some(&value) == own => OWN,
            true => OWN + 1,
            false => value,
        };
        let (thread, info) = (&state.threads[t], &self.threads[t]);
        codec::put(out, thread.pc.into());
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            let pending = state.pending.get(at).copied().unwrap_or(0);
            let value = if pending == 0 { state.regs[at] } else { 0 };
            codec::put(out, pending.into());
            codec::put(out, if symmetry.identities.registers[*reg as usize] { id(value) } else { value });
        }
        for entry in &thread.queue {
            let mut entry = entry.clone();
            rename_entry(symmetry, &mut entry, &id);
            codec::put_entry(out, &entry);
        }
    }

    /// A state with its variables renamed and then its threads, each by a renaming with this number; none if it says nothing where a thread rests.
    pub fn renamed(&self, state: &State, variables: Option<usize>, threads: Option<usize>) -> Option<State> {
        let mut renamed = state.clone();
        if let Some(at) = variables
            && !self.rename_variables(&self.variable_symmetry[at], state, &mut renamed)
        {
            return None;
        }
        if let Some(one) = threads.and_then(|at| self.exchanges.get(at)) {
            return Some(self.exchanged_by(one, state));
        }
        let (Some(symmetry), Some(at)) = (&self.symmetry, threads) else { return Some(renamed) };
        let mut out = State::default();
        self.rename(symmetry, &renamed, &symmetry.renamings[at], &mut out);
        Some(out)
    }

    fn rename(&self, symmetry: &Symmetry, state: &State, renaming: &[u8], out: &mut State) {
        out.clone_from(state);
        let id = |value: i128| symmetry.identities.renamed(value, renaming);
        for (value, _) in out.memory.iter_mut().zip(&symmetry.identities.locations).filter(|(_, id)| **id) {
            *value = id(*value);
        }
        for (from, to) in renaming.iter().enumerate() {
            let to = usize::from(*to);
            let (old, new) = (self.threads[from].base, self.threads[to].base);
            for (reg, identity) in symmetry.identities.registers.iter().enumerate() {
                let value = state.regs[old + reg];
                out.regs[new + reg] = if *identity { id(value) } else { value };
                if self.loads_wait {
                    out.pending[new + reg] = state.pending[old + reg];
                }
            }
            out.threads[to].clone_from(&state.threads[from]);
            out.threads[to].queue.iter_mut().for_each(|entry| rename_entry(symmetry, entry, &id));
        }
        if let (Some(monitor), Some(remembered)) = (&self.monitor, &state.monitor) {
            let vars: Vec<u8> = (0..monitor.size().vars).collect();
            out.monitor = Some(monitor.permute(remembered, renaming, &vars));
        }
    }
}

/// Of the bytes before and after `end` keeps those that come first.
fn keep_smaller(out: &mut Vec<u8>, start: usize, end: usize) {
    if out[end..] < out[start..end] {
        out.drain(start..end);
    } else {
        out.truncate(end);
    }
}

fn rename_entry(symmetry: &Symmetry, entry: &mut Entry, id: &impl Fn(i128) -> i128) {
    match &mut entry.data {
        Data::Known(first, second) => {
            if matches!(entry.what, What::Access(_)) && symmetry.identities.locations[entry.loc as usize] {
                (*first, *second) = (id(*first), id(*second));
            }
        }
        Data::Waiting(captured) => {
            for (reg, value) in captured {
                if let Value::Known(value) = value
                    && symmetry.identities.registers[*reg as usize]
                {
                    *value = id(*value);
                }
            }
        }
    }
}

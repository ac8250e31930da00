//! Threads that are alike (reduction `thread-symmetry`, for assertions and commit-atomicity): threads with the same code, which mentions no
//! thread's number, may exchange their places. Of the states that differ by such an exchange one is stored: the one whose threads are
//! sorted.
//!
//! **Argument.** Exchanging two such threads, their program counters, registers, queues and copies in the shadow, turns every step into a
//! step of the other thread with the same effect on memory and on the shadow's memory; whether an assertion fails, whether all wait,
//! whether a thread is in a block, what it hands on and whether memories agree does not change. So a wrong state is reachable from a
//! state exactly if one is from its exchanged form. Any form may be taken for any other; which one is taken matters only for how many
//! are merged. Witnesses are rebuilt without exchanges. Not under a serial model, whose states name the thread that runs, and not
//! where final states are looked at, which name registers of threads.
//!
//! For the same reason, of threads that *look* the same in a state only the first one need take its steps: exchanging it with another one changes
//! nothing in the state, so the other one's steps lead to the same states, exchanged. With a shadow, where steps are dear, this is made use of.

use crate::criteria::shadow::{put_all, put_copy};
use crate::encoding::codec::{put, put_entry};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;

impl Machine<'_> {
    /// Appends the bytes of a state whose alike threads are sorted.
    pub fn encode_sorted(&self, state: &State, out: &mut Vec<u8>) {
        let mut from: Vec<usize> = (0..state.threads.len()).collect();
        for group in &self.symmetric_threads {
            let mut looks: Vec<(Vec<u8>, usize)> = group.iter().map(|t| (self.looks_alone(state, *t), *t)).collect();
            looks.sort_unstable();
            group.iter().zip(looks).for_each(|(place, (_, thread))| from[*place] = thread);
        }
        if from.is_sorted() {
            return self.encode(state, out);
        }
        self.encode(&self.exchanged(state, &from), out);
    }

    /// For each thread the first one that looks like it.
    pub fn looks_like(&self, state: &State) -> Vec<usize> {
        let mut first: Vec<usize> = (0..state.threads.len()).collect();
        for group in &self.symmetric_threads {
            let mut known: Vec<(Vec<u8>, usize)> = Vec::new();
            for thread in group {
                let own = self.looks_alone(state, *thread);
                match known.iter().find(|(known, _)| *known == own) {
                    Some((_, like)) => first[*thread] = *like,
                    None => known.push((own, *thread)),
                }
            }
        }
        first
    }

    /// A thread's own part of a state.
    pub fn looks_alone(&self, state: &State, t: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let (thread, info) = (&state.threads[t], &self.threads[t]);
        put(&mut out, thread.pc.into());
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            let pending = state.pending.get(at).copied().unwrap_or(0);
            put(&mut out, pending.into());
            put(&mut out, if pending == 0 { state.regs[at] } else { 0 });
        }
        put(&mut out, thread.latest_done.into());
        thread.queue.iter().for_each(|entry| put_entry(&mut out, entry));
        if let (Some(shadow), Some(shadows)) = (&state.shadow, &self.shadows) {
            put_all(&mut out, &shadow.chosen[t]);
            shadow.members.iter().for_each(|member| put_copy(&mut out, &member.threads[t], &shadows.threads[t]));
        }
        out
    }

    /// The state with thread `from[t]` in the place of thread `t`.
    fn exchanged(&self, state: &State, from: &[usize]) -> State {
        let mut out = state.clone();
        for (to, from) in from.iter().enumerate().filter(|(to, from)| to != *from) {
            out.threads[to].clone_from(&state.threads[*from]);
            let (old, new) = (self.threads[*from].base, self.threads[to].base);
            let len = self.program.threads[to].registers.len();
            out.regs[new..new + len].copy_from_slice(&state.regs[old..old + len]);
            if self.loads_wait {
                out.pending[new..new + len].copy_from_slice(&state.pending[old..old + len]);
            }
        }
        if let (Some(shadow), Some(before)) = (&mut out.shadow, &state.shadow) {
            for (to, from) in from.iter().enumerate() {
                shadow.chosen[to].clone_from(&before.chosen[*from]);
                for (member, before) in shadow.members.iter_mut().zip(&before.members) {
                    member.threads[to].clone_from(&before.threads[*from]);
                }
            }
            shadow.members.sort_unstable();
        }
        out
    }
}

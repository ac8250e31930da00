//! What is done to every new state before it is stored, so that fewer states differ.
//!
//! *Dead loads* (reduction `dead-loads`): a deferred load whose value nobody will look at, of a variable that is not transactional,
//! and that looks at no header, is performed as soon as it is ready. Performing it changes nothing that anybody can see, and only lets others stop waiting
//! for it; so every execution in which it comes later can be rearranged.
//!
//! *Sorted stores* (reduction `sorted-stores`): neighbours in the queue that are stores of known values to different addresses,
//! where the model does not keep the order of such stores, are sorted by address. Which of the two stands first makes no
//! difference: neither waits for the other, and whatever waits for one of them, or takes its value, finds it in either place. A store to a header
//! does wait for stores to its object, so programs with headers do without.

use cyrano_ir::AccessKind;

use crate::reductions::repeats::forget_spare;
use crate::semantics::state::{Data, Entry, State, Value, What};
use crate::semantics::step::{Stepper, Successor, Successors};

impl Stepper<'_> {
    /// Brings new states, from this one on, into their usual form.
    pub(crate) fn canonicalise(&mut self, out: &mut Successors, from: usize) {
        if !self.m.defers_any() {
            return;
        }
        for successor in out.iter_mut().skip(from).filter(|successor| successor.event.is_none()) {
            if self.m.loads_wait && self.m.config.dead_loads && self.m.shadows.is_none() {
                self.perform_dead_loads(successor);
            }
        }
        self.sort_queues(out, from);
    }

    /// Brings the queues of all threads of new states, from this one on, into their usual form.
    pub(crate) fn sort_queues(&mut self, out: &mut Successors, from: usize) {
        for successor in out.iter_mut().skip(from).filter(|successor| successor.event.is_none()) {
            for thread in &mut successor.state.threads {
                if self.m.sorts {
                    sort_stores(&mut thread.queue);
                }
                if self.m.limits_repeats {
                    forget_spare(thread);
                }
            }
        }
    }

    fn perform_dead_loads(&mut self, successor: &mut Successor) {
        let thread = successor.thread;
        while let Some(position) = self.dead_load(&successor.state, thread) {
            self.perform_entry(successor, position);
        }
    }

    /// The position of a load that can be performed and whose value nobody will look at.
    fn dead_load(&self, state: &State, thread: usize) -> Option<usize> {
        let queue = &state.threads[thread].queue;
        let candidate = |entry: &Entry| {
            let data = self.m.variables[entry.loc as usize].is_some();
            let looks = self.m.headers.guard(entry.loc, AccessKind::Load).is_some();
            entry.access() == Some(AccessKind::Load) && !data && !looks && !entry.chained
        };
        (0..queue.len()).find(|at| {
            candidate(&queue[*at])
                && !is_chained(queue, *at)
                && !self.wanted(state, thread, *at)
                && self.m.ready(queue, *at)
        })
    }

    /// Whether somebody waits for what the entry delivers.
    fn wanted(&self, state: &State, thread: usize, position: usize) -> bool {
        let info = &self.m.threads[thread];
        let rests = &state.threads[thread];
        let pending = |reg: &u32| usize::from(state.pending[info.base + *reg as usize]) == position + 1;
        let captured = |entry: &Entry| match &entry.data {
            Data::Waiting(captured) => captured.iter().any(|(_, v)| *v == Value::Pending(position as u16)),
            Data::Known(..) => false,
        };
        info.live[rests.pc as usize].iter().any(pending) || rests.queue.iter().any(captured)
    }
}

/// Whether the access at this position belongs to the same atomic section as the one before it.
fn is_chained(queue: &[Entry], at: usize) -> bool {
    queue[..at].iter().rfind(|entry| entry.access().is_some()).is_some_and(|entry| entry.chained)
}

/// Sorts neighbouring stores by address.
pub(crate) fn sort_stores(queue: &mut [Entry]) {
    let alone = |queue: &[Entry], at: usize| {
        queue[at].what == What::Access(AccessKind::Store)
            && queue[at].known()
            && !queue[at].chained
            && !is_chained(queue, at)
    };
    for end in 1..queue.len() {
        let mut at = end;
        while at > 0 && queue[at].loc < queue[at - 1].loc && alone(queue, at) && alone(queue, at - 1) {
            queue.swap(at, at - 1);
            at -= 1;
        }
    }
}

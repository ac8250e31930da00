//! Threads that do the same up to their objects (reduction `thread-symmetry`, for C tests): of the states that differ by exchanges of such threads, with
//! the words of their objects and the pointers to these, one is stored.
//!
//! The text of the program says which exchanges there may be ([`cyrano_ir::automorphisms::Exchange`]); with them go all that they generate. Whether every
//! *computation* takes part in one depends on the values that it meets: `p == q` does, `p < q` does not, nor does a number that might be taken for a pointer. Here
//! that is **tried**: steps are remembered by what they depend on ([`crate::encoding::remembering`]), and each time one is computed its images are computed as
//! well, for every renaming, and compared. One that differs ends the search, and it begins anew without exchanges.
//!
//! **Argument.** A renaming of the group is a bijection of states that maps parts to parts. What a thread does in a state depends on a key, its part and the
//! locations that it touches; and for every key of a state that was expanded, and every renaming, the renamed thread touches the renamed locations and has the
//! renamed successors, no others, and goes wrong as often. So if `g(r)` is any renamed form of an expanded state `r`, its successors are the renamed successors of `r`. By
//! induction on the length of an execution each state that it passes is a renamed form of a stored one, the initial states too, as they are
//! compared at the start. What is asked does not change: whether an assertion fails or threads wait, or whether an observation is one of a set that
//! exchanges map to itself. Ample sets are a matter of each expanded state, and whether steps go forward does not depend on the thread, so that cycles of classes have a
//! step back, too. Witnesses are rebuilt without exchanges.
//!
//! Not under a serial model, whose states name the thread that runs, and only where steps are remembered without a criterion and without ranks.

use cyrano_engine::Violation;
use cyrano_ir::Property;
use cyrano_ir::automorphisms::{Exchanges, neighbours};
use rustc_hash::FxHashSet;

use crate::criteria::judge::Judge;
use crate::reductions::canonicalise::sort_stores;
use crate::search::Found;
use crate::search::deadlocks::Deadlocks;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, State, Value};
use crate::semantics::step::{Notes, Stepper, Successors};

use crate::encoding::codec::put;
use crate::faults::Fault;

/// The most renamings that are tried for every state.
const MOST_RENAMINGS: usize = 143;

impl Machine<'_> {
    /// Lets threads exchange their places, if they can and the question stays the same.
    pub(crate) fn exchange_threads(&mut self, property: Option<&Property>) {
        let asked = matches!(property, Some(Property::Assertions | Property::Observations(_)))
            && matches!(self.config.deadlocks, Deadlocks::Wrong);
        let plain = self.has_local_steps() && self.own_order.is_none() && !self.model.reordering().serial;
        if !(self.config.thread_symmetry && asked && plain && self.symmetric_threads.is_empty()) {
            return;
        }
        let mut exchanges = neighbours(self.program, |exchange| match property {
            Some(Property::Observations(allowed)) => {
                exchange.pointers && exchange.keeps_outcomes(self.program, allowed)
            }
            _ => exchange.pointers,
        });
        while !exchanges.is_empty() {
            if let Some(all) = Exchanges::generated(self.program, &exchanges, MOST_RENAMINGS) {
                self.exchanges = all;
                return;
            }
            exchanges.pop();
        }
    }

    /// A state with its threads exchanged.
    pub(crate) fn exchanged_by(&self, one: &Exchanges, state: &State) -> State {
        let mut out = state.clone();
        for (word, value) in (0u32..).zip(&state.memory) {
            out.memory[one.word(word) as usize] = one.value(*value);
        }
        for thread in 0..state.threads.len() {
            let to = one.thread(thread);
            let (old, new) = (self.threads[thread].base, self.threads[to].base);
            for register in 0..self.program.threads[thread].registers.len() {
                out.regs[new + register] = one.value(state.regs[old + register]);
                if self.loads_wait {
                    out.pending[new + register] = state.pending[old + register];
                }
            }
            out.threads[to].clone_from(&state.threads[thread]);
            for entry in &mut out.threads[to].queue {
                if entry.access().is_some() {
                    entry.loc = one.word(entry.loc);
                }
                match &mut entry.data {
                    Data::Known(first, second) => (*first, *second) = (one.value(*first), one.value(*second)),
                    Data::Waiting(captured) => captured.iter_mut().for_each(|(_, value)| {
                        if let Value::Known(value) = value {
                            *value = one.value(*value);
                        }
                    }),
                }
            }
            if self.sorts {
                sort_stores(&mut out.threads[to].queue);
            }
        }
        out
    }

    /// Appends the bytes that stand for a state and for all forms with exchanged threads.
    pub(crate) fn encode_exchanged(&self, state: &State, out: &mut Vec<u8>) {
        let forms = self.exchanges.iter().map(|one| self.encoded(&self.exchanged_by(one, state)));
        out.extend(forms.chain([self.encoded(state)]).min().unwrap_or_default());
    }

    fn encoded(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(state, &mut bytes);
        bytes
    }

    /// What a search has found that must not exchange threads.
    pub(crate) fn cannot_exchange<'m, 'a>(&'m self, property: Option<&'a Property>) -> Found<'m, 'a> {
        Found {
            stop: None,
            path: Vec::new(),
            judge: Judge::new(self, property),
            notes: Notes { asymmetric: true, ..Notes::default() },
            reached: None,
            stats: Default::default(),
            growing: None,
        }
    }
}

/// What is seen of steps: how many another one stands for, and of the others what goes wrong in them and where they lead.
type Seen = (usize, Vec<(Option<std::mem::Discriminant<Violation>>, Vec<u8>)>);

/// Keys whose steps were tried, each with its thread.
pub(crate) type Tried = FxHashSet<(usize, Vec<u8>)>;

impl Stepper<'_> {
    /// Notes if the steps of a thread do not take part in an exchange: those of `out`, from this state.
    pub(crate) fn try_exchanges(&mut self, state: &State, thread: usize, out: &mut Successors, tried: &mut Tried) {
        let m = self.m;
        if m.config.has_fault(Fault::ExchangeAnyway) || m.exchanges.is_empty() {
            return;
        }
        let touched = self.touched(state, thread);
        let starts = m.unfinished_setup(state).is_some();
        if !starts && !tried.insert((thread, key(m, state, thread, &touched))) {
            return;
        }
        let (notes, mut images) = (self.notes, Successors::default());
        let mut kept = true;
        for one in &m.exchanges {
            let (image, to) = (m.exchanged_by(one, state), one.thread(thread));
            let mut renamed: Vec<u32> = touched.iter().map(|loc| one.word(*loc)).collect();
            renamed.sort_unstable();
            // Renamings that agree on the key may differ in what they make of its steps, so each is tried.
            tried.insert((to, key(m, &image, to, &renamed)));
            images.clear();
            self.local_steps_of(&image, to, &mut images);
            kept &= renamed == self.touched(&image, to)
                && seen(out, |state| m.encoded(&m.exchanged_by(one, state)))
                    == seen(&mut images, |state| m.encoded(state));
        }
        self.notes = notes;
        self.notes.asymmetric |= !kept;
    }

    /// Notes if the initial states are not those with exchanged threads.
    pub(crate) fn try_initial(&mut self, out: &mut Successors) {
        let m = self.m;
        let plain = seen(out, |state| m.encoded(state));
        let kept = |one: &Exchanges| seen(out, |state| m.encoded(&m.exchanged_by(one, state))) == plain;
        let all = m.exchanges.iter().all(kept);
        self.notes.asymmetric |= !all;
    }
}

/// What the steps of a thread depend on.
fn key(m: &Machine<'_>, state: &State, thread: usize, touched: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    m.encode_thread(state, thread, &mut bytes);
    for loc in touched {
        put(&mut bytes, (*loc).into());
        put(&mut bytes, state.memory[*loc as usize]);
    }
    bytes
}

fn seen(steps: &mut Successors, encoded: impl Fn(&State) -> Vec<u8>) -> Seen {
    let dropped = steps.iter_mut().filter(|step| step.dropped).count();
    let kept = steps.iter_mut().filter(|step| !step.dropped);
    let mut kept: Vec<_> =
        kept.map(|step| (step.event.as_ref().map(std::mem::discriminant), encoded(&step.state))).collect();
    kept.sort_by(|one, other| one.1.cmp(&other.1).then(one.0.is_some().cmp(&other.0.is_some())));
    (dropped, kept)
}

//! Programs with a setup thread (axiom 8 of `cyrano_memory`): it alone takes steps until it has run to its end and its queue is
//! empty; with that step the other threads run to their first rest.
//!
//! Until then the others stand before their first instruction, so that nothing they do, not even an error in a computation,
//! can happen too early.

use crate::faults::Fault;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successors};

impl Machine<'_> {
    /// The setup thread, if there is one and it is not done.
    #[inline]
    pub fn unfinished_setup(&self, state: &State) -> Option<usize> {
        let setup = self.program.setup?.index();
        let ignored = self.config.has_fault(Fault::IgnoreSetup);
        (!ignored && !self.done(state, setup)).then_some(setup)
    }
}

impl Stepper<'_> {
    /// The states in which the setup thread has run to its first rest; if that is its end, the others to theirs.
    pub(crate) fn start_setup(&mut self, out: &mut Successors) {
        let setup = self.m.program.setup.map_or(0, |setup| setup.index());
        out.at(0).thread = setup;
        self.drain(out, 0, setup);
        self.start_others(setup, out);
    }

    /// Runs the other threads to their first rest in those successors in which the setup thread is done by now.
    pub(crate) fn start_others(&mut self, setup: usize, out: &mut Successors) {
        for thread in (0..self.m.threads.len()).filter(|thread| *thread != setup) {
            for index in 0..out.len() {
                let successor = out.at(index);
                if successor.event.is_none() && self.m.unfinished_setup(&successor.state).is_none() {
                    successor.thread = thread;
                    self.drain(out, index, thread);
                }
            }
        }
        // Whatever the others did on the way, it was a step of the setup thread.
        out.iter_mut().for_each(|successor| successor.thread = setup);
    }
}

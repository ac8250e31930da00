//! Blocks that movers prove run as one step in the search with a shadow (part of the reduction `movers`).
//!
//! **Argument.** To every execution that goes wrong there is one in which the proven blocks run in one piece and that goes wrong as well (`movers`). So
//! a thread that is in such a block, an access of it performed and its end not reached, is the only one that takes steps, and these are put
//! together with the one by which it got there. If it has to wait before its commit nothing comes of it: there is an execution
//! without this attempt that goes as wrong. Behind its commit it does not wait.
//!
//! A block may loop before its commit. States that were met within the step are not gone through again, and after [`PATIENCE`] of them the thread rests where it
//! is, so that a search can notice its limits; still nobody else takes a step.
//!
//! An execution found in this way is one of the program, though there may be a shorter one.

use rustc_hash::FxHashSet;

use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{PATIENCE, Stepper, Successor, Successors};

impl Machine<'_> {
    /// Whether a thread is in a block that runs in one piece.
    fn is_amid(&self, state: &State, thread: usize) -> bool {
        let thread_state = &state.threads[thread];
        // A `Begin` in the queue says that no access of the block has been performed.
        self.whole[thread][thread_state.pc as usize] && thread_state.queue.is_empty()
    }

    /// The thread that is in a block that runs in one piece.
    pub(crate) fn amid(&self, state: &State) -> Option<usize> {
        if self.whole.is_empty() {
            return None;
        }
        (0..self.threads.len()).find(|thread| self.is_amid(state, *thread))
    }
}

impl Stepper<'_> {
    /// Goes on with successors that are amid a block that runs in one piece.
    pub(crate) fn run_whole(&mut self, out: &mut Successors) {
        if self.m.whole.is_empty() {
            return;
        }
        let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
        let mut at = 0;
        while at < out.len() {
            let successor = out.at(at);
            let rests = successor.event.is_some() || !self.m.is_amid(&successor.state, successor.thread);
            if rests || seen.len() >= PATIENCE {
                at += 1;
                continue;
            }
            let before = std::mem::take(successor);
            out.retract(at);
            let mut bytes = Vec::new();
            self.m.encode(&before.state, &mut bytes);
            if seen.insert(bytes) {
                self.go_on(&before, out);
            }
        }
    }

    /// Adds the next steps of a successor's thread, each with what came before.
    fn go_on(&mut self, before: &Successor, out: &mut Successors) {
        let from = out.len();
        self.steps_of(&before.state, before.thread, out);
        for at in from..out.len() {
            let successor = out.at(at);
            successor.accesses.splice(0..0, before.accesses.iter().copied());
            successor.choices.splice(0..0, before.choices.iter().copied());
            successor.block_committed |= before.block_committed;
        }
    }
}

//! Whoever wants to see more of a search than its states: movers look at every state and its steps, progress keeps the edges.

use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successors};
use crate::store::Address;

/// Sees what an expander comes along. With one worker states are seen in the order in which they were found.
pub(crate) trait Observer<'m>: Send {
    /// The initial states were computed.
    fn begin(&mut self, _: &mut Stepper<'m>, _initial: &mut Successors) {}
    /// The steps from a state were computed. Who has seen enough notes that.
    fn see(&mut self, _: &mut Stepper<'m>, _state: &State, _successors: &mut Successors) {}
    /// Where the next one of all states that go on is stored, be it new or not, if the expander notes places.
    fn stored(&mut self, _: Address) {}
    /// How many bytes it takes.
    fn bytes(&self) -> u64 {
        0
    }
}

/// Sees nothing.
impl Observer<'_> for () {}

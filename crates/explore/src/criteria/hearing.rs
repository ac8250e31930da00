//! What a criterion hears of a step: events of transactions, calls and responses.
//!
//! **Invariant:** what a criterion keeps after a step ([`State::monitor`], [`State::spec`], [`State::heard`]) depends on what it kept before and on what it
//! hears of the step, on nothing else; and what it hears depends on the thread's part and on memory. So either can be computed without the other:
//! a stepper that is [`Stepper::apart`] only writes down what is said, and [`Stepper::hear`] lets a criterion hear it later
//! ([`crate::encoding::hearing`]).

use cyrano_criteria::history::{Action, Event};
use cyrano_criteria::values::Call;
use cyrano_engine::Violation;

use crate::criteria::values::Heeded;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor};

/// Something that a criterion hears.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Said {
    /// A thread accesses memory: its transaction begins, unless it has.
    Access(u8),
    /// An event of a transaction.
    Event(Event),
    /// A thread calls.
    Call(u8, Call),
    /// A call of a thread returns this.
    Reply(u8, i128),
}

/// What a criterion makes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    Right,
    Wrong,
    /// Another step stands for this one, or there is no room for what it would have to remember.
    Dropped,
}

impl Stepper<'_> {
    /// Lets the criterion hear something of a step, or writes it down for later.
    pub(crate) fn say(&mut self, successor: &mut Successor, said: Said) {
        if !self.m.has_criterion() {
            return;
        }
        if self.apart {
            return successor.said.push(said);
        }
        match self.hear(&mut successor.state, said) {
            Heard::Right => {}
            Heard::Wrong => _ = successor.event.get_or_insert(Violation::Transactions),
            Heard::Dropped => successor.dropped = true,
        }
    }

    /// Lets the criterion hear something.
    pub(crate) fn hear(&mut self, state: &mut State, said: Said) -> Heard {
        match said {
            Said::Access(thread) => match (&self.m.monitor, &state.monitor) {
                (Some(monitor), Some(kept)) if monitor.can_begin(kept, thread) => {
                    self.hear_event(state, Event { thread, action: Action::Begin })
                }
                _ => Heard::Right,
            },
            Said::Event(event) => self.hear_event(state, event),
            Said::Call(thread, call) => self.hear_call(state, usize::from(thread), call),
            Said::Reply(thread, reply) => self.hear_reply(state, usize::from(thread), reply),
        }
    }

    fn hear_event(&mut self, state: &mut State, event: Event) -> Heard {
        let mut right = true;
        if let (Some(monitor), Some(state)) = (&self.m.monitor, &mut state.monitor) {
            right &= monitor.step(state, event).is_ok();
        }
        if let Some(spec) = &self.m.spec {
            let next = spec.step(state.spec, event);
            right &= next.is_some();
            state.spec = next.unwrap_or(state.spec);
        }
        if right { Heard::Right } else { Heard::Wrong }
    }

    fn hear_call(&mut self, state: &mut State, thread: usize, call: Call) -> Heard {
        let (Some(values), Some(heard)) = (&self.m.values, &mut state.heard) else { return Heard::Right };
        if values.invoke(heard, thread, call) { Heard::Right } else { Heard::Dropped }
    }

    fn hear_reply(&mut self, state: &mut State, thread: usize, reply: i128) -> Heard {
        let (Some(values), Some(heard)) = (&self.m.values, &mut state.heard) else { return Heard::Right };
        let (reads, writes) = heard.finishes(thread, reply);
        self.notes.read |= reads;
        self.notes.stored |= writes;
        match values.respond(heard, thread, cyrano_engine::values::reply(reply)) {
            Heeded::Right => Heard::Right,
            Heeded::Wrong => Heard::Wrong,
            Heeded::Crowded => {
                self.notes.crowded = true;
                Heard::Dropped
            }
        }
    }
}

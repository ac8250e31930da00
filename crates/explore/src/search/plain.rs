//! States as bytes, successors by the stepper: what works for every model and every criterion. Where a step of a thread depends on little,
//! [`crate::encoding::parts`] does the same faster.

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;
use cyrano_ir::dataflow::Class;

use crate::criteria::judge::{Hit, Judge, goes_on};
use crate::search::{Expander, Found, Reshape, Search};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successors};
use crate::store::{Address, ByteKeys, Keys, MAX_STATE, Store};

/// Searches with states as bytes.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Found<'m, 'a> {
    let store = Store::new(None, m.config, limits.workers);
    let mut search = Search::new(m, property, store, limits, watch);
    search.run(|| Plain::new(m, property));
    search.finish(0, <[u8]>::to_vec)
}

/// One worker's stepper and buffers.
pub(crate) struct Plain<'m, 'a> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    judge: Judge<'m, 'a>,
    keys: ByteKeys,
    successors: Successors,
    state: State,
    scratch: Vec<(Class, i128)>,
}

impl<'m, 'a> Plain<'m, 'a> {
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>) -> Self {
        Self {
            m,
            stepper: Stepper::new(m),
            judge: Judge::new(m, property),
            keys: ByteKeys::default(),
            successors: Successors::default(),
            state: m.initial(),
            scratch: Vec::new(),
        }
    }

    /// Lets successors wait for their insertion.
    fn collect(&mut self, parent: Address, successors: &mut Successors) {
        for successor in successors.iter_mut().filter(|successor| !successor.dropped) {
            if !goes_on(&mut self.judge, parent, successor) {
                continue;
            }
            self.m.rank(&mut successor.state, &mut self.scratch);
            let length = self.keys.push(parent, |out| self.m.encode_canonical(&successor.state, out));
            if length > MAX_STATE {
                self.keys.truncate(self.keys.len() - 1);
                self.stepper.notes.too_large = true;
            }
        }
    }
}

impl<'m, 'a> Plain<'m, 'a> {
    /// Visits the initial states.
    pub fn initial_states(&mut self, visit: impl FnMut(&[u8])) {
        self.start();
        self.keys.drain(visit);
    }

    /// Visits the successors of a state.
    pub fn successors_of(&mut self, state: &[u8], visit: impl FnMut(&[u8])) {
        self.walk(state, Address::NONE);
        self.keys.drain(visit);
    }

    /// Visits the states that wait for their insertion, and drops them.
    pub fn drain(&mut self, visit: impl FnMut(&[u8])) {
        self.keys.drain(visit);
    }

    /// Forgets transitions that are taken again.
    pub fn set_transitions(&mut self, transitions: u64) {
        self.judge.transitions = transitions;
    }

    /// What was found.
    pub fn hit(&self) -> Option<&Hit> {
        self.judge.hit.as_ref()
    }

    /// What was found out so far.
    pub fn found(&self) -> (&Judge<'m, 'a>, Notes) {
        (&self.judge, self.stepper.notes)
    }

    /// Finds the initial states.
    pub fn start(&mut self) {
        let mut successors = std::mem::take(&mut self.successors);
        self.stepper.initial(&mut successors);
        self.collect(Address::NONE, &mut successors);
        self.successors = successors;
    }

    /// Finds the successors of a state.
    pub fn walk(&mut self, bytes: &[u8], record: Address) {
        let mut state = std::mem::take(&mut self.state);
        let mut successors = std::mem::take(&mut self.successors);
        self.m.decode(bytes, &mut state);
        self.stepper.successors(&state, &mut successors);
        self.judge.look(record, &state, successors.len(), &mut self.stepper);
        self.collect(record, &mut successors);
        self.state = state;
        self.successors = successors;
    }
}

impl<'m, 'a> Expander<'m, 'a> for Plain<'m, 'a> {
    type Keys = ByteKeys;

    fn seed(&mut self) -> Result<(), Reshape> {
        self.start();
        Ok(())
    }

    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape> {
        self.walk(store.state(record), record);
        Ok(())
    }

    fn keys(&mut self) -> &mut ByteKeys {
        &mut self.keys
    }

    fn judge(&self) -> &Judge<'m, 'a> {
        &self.judge
    }

    fn notes(&self) -> Notes {
        self.stepper.notes
    }

    fn reached(&self) -> &[bool] {
        &self.stepper.reached
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn shared_bytes(&self) -> u64 {
        0
    }

    fn finish(self) -> Judge<'m, 'a> {
        self.judge
    }
}

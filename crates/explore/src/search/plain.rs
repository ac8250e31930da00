//! Successors by the stepper: what works for every model and every criterion, with states stored as bytes or in another [`Form`]. Where a step of a
//! thread depends on little, [`crate::encoding::remembering`] does the same faster.

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;
use cyrano_ir::dataflow::Class;

use crate::criteria::judge::{Judge, goes_on};
use crate::search::observer::Observer;
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
    search.run(|| Plain::new(m, property, Bytes::default()));
    search.finish(0, <[u8]>::to_vec).0
}

/// What states are stored as.
pub(crate) trait Form: Send {
    type Keys: Keys + Send;
    /// The bytes of a record's state.
    fn load<'s>(&'s mut self, store: &'s Store, record: Address) -> &'s [u8];
    /// Lets a state, whose bytes `encode` appends, wait for its insertion; says how many bytes it has.
    fn push(&mut self, m: &Machine<'_>, parent: Address, encode: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Reshape>;
    /// The states that wait.
    fn keys(&mut self) -> &mut Self::Keys;
    /// How many bytes all workers have in common, beside the store.
    fn shared_bytes(&self) -> u64;
    /// Where states were stored since the last call, if that is noted.
    fn take_places(&mut self) -> Vec<Address> {
        Vec::new()
    }
}

/// States as bytes.
#[derive(Default)]
pub(crate) struct Bytes(ByteKeys);

impl Bytes {
    /// They note where they are stored.
    pub fn noting_places() -> Self {
        let mut keys = ByteKeys::default();
        keys.places = Some(Vec::new());
        Self(keys)
    }
}

impl Form for Bytes {
    type Keys = ByteKeys;

    fn load<'s>(&'s mut self, store: &'s Store, record: Address) -> &'s [u8] {
        store.state(record)
    }

    fn push(&mut self, _: &Machine<'_>, parent: Address, encode: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Reshape> {
        Ok(self.0.push(parent, encode))
    }

    fn keys(&mut self) -> &mut ByteKeys {
        &mut self.0
    }

    fn shared_bytes(&self) -> u64 {
        0
    }

    fn take_places(&mut self) -> Vec<Address> {
        self.0.places.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// One worker's stepper and buffers.
pub(crate) struct Plain<'m, 'a, F = Bytes, O = ()> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    judge: Judge<'m, 'a>,
    form: F,
    observer: O,
    successors: Successors,
    state: State,
    scratch: Vec<(Class, i128)>,
}

impl<'m, 'a, F: Form> Plain<'m, 'a, F> {
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>, form: F) -> Self {
        Self {
            m,
            stepper: Stepper::new(m),
            judge: Judge::new(m, property),
            form,
            observer: (),
            successors: Successors::default(),
            state: m.initial(),
            scratch: Vec::new(),
        }
    }

    /// The same with somebody who sees what it comes along.
    pub fn observed_by<O: Observer<'m>>(self, observer: O) -> Plain<'m, 'a, F, O> {
        let Self { m, stepper, judge, form, observer: (), successors, state, scratch } = self;
        Plain { m, stepper, judge, form, observer, successors, state, scratch }
    }
}

impl<'m, 'a, F: Form, O: Observer<'m>> Plain<'m, 'a, F, O> {
    /// Lets successors wait for their insertion, all of them or none.
    fn collect(&mut self, parent: Address) -> Result<(), Reshape> {
        let (waiting, transitions) = (self.form.keys().len(), self.judge.transitions);
        for successor in self.successors.iter_mut().filter(|successor| !successor.dropped) {
            if !goes_on(&mut self.judge, parent, successor) {
                continue;
            }
            self.m.rank(&mut successor.state, &mut self.scratch);
            let encode = |out: &mut Vec<u8>| self.m.encode_canonical(&successor.state, out);
            let Ok(length) = self.form.push(self.m, parent, encode) else {
                self.form.keys().truncate(waiting);
                self.judge.transitions = transitions;
                return Err(Reshape);
            };
            if length > MAX_STATE {
                let last = self.form.keys().len() - 1;
                self.form.keys().truncate(last);
                self.stepper.notes.too_large = true;
            }
        }
        Ok(())
    }

    /// Takes all steps from the state that was decoded.
    fn step(&mut self, record: Address) -> Result<(), Reshape> {
        self.stepper.successors(&self.state, &mut self.successors);
        self.observer.see(&mut self.stepper, &self.state, &mut self.successors);
        if self.judge.judges_moments() {
            self.judge.moment(record, &self.state, &mut self.stepper);
        }
        self.judge.look(record, &self.state, self.successors.len(), &mut self.stepper);
        self.collect(record)
    }

    fn hand_on_places(&mut self) {
        self.form.take_places().into_iter().for_each(|record| self.observer.stored(record));
    }

    /// What was found out so far.
    pub fn found(&self) -> (&Judge<'m, 'a>, Notes) {
        (&self.judge, self.stepper.notes)
    }
}

/// States as bytes, without a store.
impl Plain<'_, '_> {
    /// Visits the initial states.
    pub fn initial_states(&mut self, visit: impl FnMut(&[u8])) {
        let done = self.seed();
        debug_assert!(done.is_ok(), "bytes have no other shape");
        self.form.0.drain(visit);
    }

    /// Visits the successors of a state.
    pub fn successors_of(&mut self, state: &[u8], visit: impl FnMut(&[u8])) {
        self.m.decode(state, &mut self.state);
        let done = self.step(Address::NONE);
        debug_assert!(done.is_ok(), "bytes have no other shape");
        self.form.0.drain(visit);
    }
}

impl<'m, 'a, F: Form, O: Observer<'m>> Expander<'m, 'a> for Plain<'m, 'a, F, O> {
    type Keys = F::Keys;

    fn seed(&mut self) -> Result<(), Reshape> {
        self.stepper.initial(&mut self.successors);
        self.observer.begin(&mut self.stepper, &mut self.successors);
        self.collect(Address::NONE)
    }

    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape> {
        self.hand_on_places();
        self.m.decode(self.form.load(store, record), &mut self.state);
        self.step(record)
    }

    fn keys(&mut self) -> &mut F::Keys {
        self.form.keys()
    }

    fn judge(&self) -> &Judge<'m, 'a> {
        &self.judge
    }

    fn stepper(&self) -> &Stepper<'m> {
        &self.stepper
    }

    fn bytes(&self) -> u64 {
        self.observer.bytes()
    }

    fn shared_bytes(&self) -> u64 {
        self.form.shared_bytes()
    }

    fn finish(mut self) -> Judge<'m, 'a> {
        self.hand_on_places();
        self.judge
    }
}

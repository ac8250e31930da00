//! States as bytes, with remembered steps: what a [`crate::Walker`] does where steps depend on little.
//!
//! The bytes of a state are those of its parts, one after the other ([`crate::encoding::codec`]): the locations, who runs under a serial model, the
//! threads. A walker numbers the values that parts have had, each walker for itself, and remembers for every thread what its steps
//! do to the numbers, by the numbers that they depend on; the argument is that of [`crate::encoding::parts`]. A successor is then the bytes of the
//! state with some parts replaced. Numbers never leave the walker: what it takes and gives is bytes.

mod copies;
pub(crate) mod dense;
pub(crate) mod dictionary;
pub(crate) mod foreign;
pub(crate) mod packing;

use cyrano_ir::Property;
use rustc_hash::FxHashMap;

use crate::criteria::judge::Judge;
use crate::encoding::codec::take;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successors};
use crate::store::{Address, MAX_STATE};

/// Beyond this many remembered steps of a thread all are forgotten.
const MOST_ENTRIES: usize = 1 << 18;
/// Bytes of a remembered step, of a place and of a value, about.
const ENTRY: usize = 160;
const PLACE: usize = 48;
const VALUE: usize = 96;

/// One walker's numbers and remembered steps.
pub(crate) struct Walk<'m, 'a> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    pub judge: Judge<'m, 'a>,
    /// For each part the values it has had.
    values: Vec<Numbers>,
    threads: Vec<Steps>,
    /// The state that is expanded: where its parts end, and their numbers.
    ends: Vec<usize>,
    numbers: Vec<u32>,
    key: Vec<u32>,
    state: State,
    successors: Successors,
    out: Vec<u8>,
}

/// The values of one part.
#[derive(Default)]
struct Numbers {
    known: FxHashMap<Box<[u8]>, u32>,
    values: Vec<Box<[u8]>>,
}

/// The steps of one thread.
#[derive(Default)]
struct Steps {
    /// By the number of the thread's part: the parts that its next steps depend on, if known, and whether it is done.
    places: Vec<Option<(Box<[u32]>, bool)>>,
    known: FxHashMap<Box<[u32]>, Entry>,
}

/// What steps do: the parts that change with their new numbers, for each step; and whether something goes wrong in a step.
#[derive(Clone, Default)]
struct Entry {
    changes: Vec<Box<[(u32, u32)]>>,
    events: Vec<cyrano_engine::Violation>,
}

impl Numbers {
    fn number(&mut self, value: &[u8]) -> u32 {
        if let Some(number) = self.known.get(value) {
            return *number;
        }
        let number = self.values.len() as u32;
        self.known.insert(value.into(), number);
        self.values.push(value.into());
        number
    }
}

/// Finds where the parts of a state end.
fn split(m: &Machine<'_>, bytes: &[u8], ends: &mut Vec<usize>) {
    ends.clear();
    let mut rest = bytes;
    for _ in 0..m.program.locations.len() + usize::from(m.model.serial) {
        take(&mut rest);
        ends.push(bytes.len() - rest.len());
    }
    for thread in 0..m.threads.len() {
        m.skip_thread(&mut rest, thread);
        ends.push(bytes.len() - rest.len());
    }
}

impl<'m, 'a> Walk<'m, 'a> {
    /// A walk, if steps depend on little.
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>) -> Option<Self> {
        if !m.has_local_steps() || !m.symmetric_threads.is_empty() {
            return None;
        }
        let parts = m.program.locations.len() + usize::from(m.model.serial) + m.threads.len();
        Some(Self {
            m,
            stepper: Stepper::new(m),
            judge: Judge::new(m, property),
            values: (0..parts).map(|_| Numbers::default()).collect(),
            threads: (0..m.threads.len()).map(|_| Steps::default()).collect(),
            ends: Vec::new(),
            numbers: Vec::new(),
            key: Vec::new(),
            state: m.initial(),
            successors: Successors::default(),
            out: Vec::new(),
        })
    }

    pub fn notes(&self) -> Notes {
        self.stepper.notes
    }

    /// Bytes of what is remembered, about.
    pub fn bytes(&self) -> u64 {
        let steps: usize =
            self.threads.iter().map(|steps| steps.known.len() * ENTRY + steps.places.len() * PLACE).sum();
        let values: usize = self.values.iter().map(|numbers| numbers.values.len() * VALUE).sum();
        (steps + values) as u64
    }

    /// The part that a thread is.
    fn thread_part(&self, thread: usize) -> usize {
        self.values.len() - self.threads.len() + thread
    }

    /// Finds the parts of a state.
    fn read(&mut self, bytes: &[u8]) {
        split(self.m, bytes, &mut self.ends);
        self.numbers.clear();
        let mut start = 0;
        for (values, end) in self.values.iter_mut().zip(&self.ends) {
            self.numbers.push(values.number(&bytes[start..*end]));
            start = *end;
        }
    }

    /// Visits the successors of a state.
    pub fn successors_of(&mut self, bytes: &[u8], mut visit: impl FnMut(&[u8])) {
        self.read(bytes);
        let (mut steps, mut done) = (0, true);
        for thread in 0..self.threads.len() {
            let part = self.thread_part(thread);
            let number = self.numbers[part] as usize;
            if self.threads[thread].places.get(number).is_none_or(Option::is_none) {
                self.learn(bytes, thread, number);
            }
            let Some(Some((depends, is_done))) = self.threads[thread].places.get(number) else {
                unreachable!("just learnt")
            };
            done &= *is_done;
            self.key.clear();
            self.key.push(number as u32);
            self.key.extend(depends.iter().map(|part| self.numbers[*part as usize]));
            if !self.threads[thread].known.contains_key(&self.key[..]) {
                self.compute(bytes, thread);
            }
            let entry = &self.threads[thread].known[&self.key[..]];
            steps += entry.changes.len() + entry.events.len();
            for change in &entry.changes {
                self.out.clear();
                let mut from = 0;
                for (part, number) in change {
                    let part = *part as usize;
                    let start = if part == 0 { 0 } else { self.ends[part - 1] };
                    self.out.extend_from_slice(&bytes[from..start]);
                    self.out.extend_from_slice(&self.values[part].values[*number as usize]);
                    from = self.ends[part];
                }
                self.out.extend_from_slice(&bytes[from..]);
                if self.out.len() > MAX_STATE {
                    self.stepper.notes.too_large = true;
                    continue;
                }
                visit(&self.out);
            }
            entry.events.iter().for_each(|event| self.judge.wrong_step(Address::NONE, event, None));
        }
        self.judge.transitions += steps as u64;
        if done || steps == 0 {
            self.m.decode(bytes, &mut self.state);
            self.judge.look(Address::NONE, &self.state, steps, &mut self.stepper);
        }
    }

    /// What the next steps of a thread depend on.
    #[cold]
    fn learn(&mut self, bytes: &[u8], thread: usize, number: usize) {
        self.m.decode(bytes, &mut self.state);
        let mut depends = self.m.touched(&self.state, thread);
        let locations = self.m.program.locations.len();
        if self.m.model.serial {
            depends.push(locations as u32);
        }
        if let Some(setup) = self.m.program.setup {
            // Until the setup thread is done only it steps; with its last step all others start.
            let all = thread == setup.index() && self.m.unfinished_setup(&self.state).is_some();
            let others = (0..self.threads.len()).filter(|t| all || *t == setup.index());
            depends.extend(others.map(|t| self.thread_part(t) as u32));
        }
        let place = Some((depends.into(), self.m.done(&self.state, thread)));
        let places = &mut self.threads[thread].places;
        places.resize(places.len().max(number + 1), None);
        places[number] = place;
    }

    /// Lets the stepper compute the steps of a thread, and remembers them under the current key.
    #[cold]
    fn compute(&mut self, bytes: &[u8], thread: usize) {
        self.m.decode(bytes, &mut self.state);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.steps_of(&self.state, thread, &mut out);
        let before: Vec<u32> = self.numbers.clone();
        let ends = self.ends.clone();
        let mut entry = Entry::default();
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            match &successor.event {
                Some(event) => entry.events.push(event.clone()),
                None => {
                    let mut encoded = Vec::new();
                    self.m.encode(&successor.state, &mut encoded);
                    self.read(&encoded);
                    let changed = self.numbers.iter().zip(&before).enumerate().filter(|(_, (new, old))| new != old);
                    entry.changes.push(changed.map(|(part, (new, _))| (part as u32, *new)).collect());
                }
            }
        }
        (self.numbers, self.ends) = (before, ends);
        self.successors = out;
        let known = &mut self.threads[thread].known;
        if known.len() >= MOST_ENTRIES {
            known.clear();
        }
        known.insert(self.key[..].into(), entry);
    }
}

//! Searches with states in memory as tuples of numbers, whose layout grows with need.
//!
//! A search runs until it is over, or until a number does not fit its bits. Then all stored tuples get a wider layout, and it goes on
//! where it was. Steps of tuples of fine parts are remembered ([`super::remembering`]); those of coarse ones are taken by the stepper, as with
//! bytes ([`crate::search::plain`]).

use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;

use crate::criteria::judge::Judge;
use crate::search::plain::{Form, Plain};
use crate::search::{End, Expander, Found, Reshape, Search};
use crate::semantics::machine::Machine;
use crate::semantics::step::Stepper;
use crate::store::{Address, Keys, Store, WordKeys, to_words};

use super::dictionary::{Cut, Dictionary};
use super::layout::{Bits, MOST_WORDS, Segment, WithWords, with_words};
use super::remembering::{Halt, InMemory, Learnt, Remembering, nothing};

/// States as tuples.
pub(super) struct Tuples<'m> {
    pub m: &'m Machine<'m>,
    cut: Cut,
    pub dictionary: Dictionary,
    /// What workers have learnt that are gone, because states have another layout now.
    learnt: Mutex<Vec<Learnt>>,
}

impl<'m> Tuples<'m> {
    /// `None` where this does not serve: for short states whose steps cannot be remembered, and where there are too many parts.
    pub fn new(m: &'m Machine<'m>, cut: Cut) -> Option<Self> {
        let serves = match cut {
            Cut::Fine => m.remembers_steps(),
            Cut::Coarse => {
                let mut first = Vec::new();
                m.encode(&m.initial(), &mut first);
                first.len() >= m.config.compressed_from
            }
        };
        let owners = cut.owners(m);
        let forms = m.has_forms();
        let room = |part: usize| match cut {
            // Parts with ranks and criteria have many values soon.
            Cut::Fine if forms => {
                if part < m.shared_parts() {
                    4
                } else {
                    512
                }
            }
            Cut::Fine if part < m.shared_parts() => 1,
            Cut::Fine if part < m.shared_parts() + m.threads.len() => 8,
            Cut::Fine | Cut::Coarse => 64,
        };
        let room = (0..owners.len()).map(room).collect();
        let dictionary = serves.then(|| Dictionary::in_memory(owners, room)).flatten()?;
        Some(Self { m, cut, dictionary, learnt: Mutex::default() })
    }

    /// Widens the layout, and all stored tuples with it; false if it would have too many words.
    fn widen(&mut self, store: &mut Store) -> bool {
        let old = fields(&self.dictionary);
        if !self.dictionary.widen_all() {
            return false;
        }
        let new = fields(&self.dictionary);
        let change = |from: &[u8], to: &mut [u8]| {
            let from: [u64; MOST_WORDS] = to_words(from);
            let mut words = [0; MOST_WORDS];
            old.iter().zip(&new).for_each(|(old, new)| new.put(&mut words, old.get(&from)));
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        };
        let (words, bytes) = self.dictionary.shape();
        with_words(words, Reshaping { store, bytes, change });
        true
    }

    /// The encoded form of a stored state.
    fn canonical(&self, stored: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let whole = self.dictionary.unpack(&to_words::<MOST_WORDS>(stored), &mut bytes);
        debug_assert!(whole.is_some(), "a stored state has numbers of this dictionary");
        self.m.canonical(bytes)
    }
}

impl Machine<'_> {
    /// The form of a state's bytes that stands for all that differ from it by a renaming.
    pub(super) fn canonical(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.symmetric_threads.is_empty() && self.symmetry.is_none() && self.variable_symmetry.is_empty() {
            return bytes;
        }
        let (mut state, mut sorted) = (self.initial(), Vec::new());
        self.decode(&bytes, &mut state);
        self.encode_canonical(&state, &mut sorted);
        sorted
    }
}

/// Where the parts lie.
pub(super) fn fields(dictionary: &Dictionary) -> Vec<Segment> {
    dictionary.layout().1.iter().map(|segments| Segment::new(segments)).collect()
}

struct Reshaping<'s, F> {
    store: &'s mut Store,
    bytes: usize,
    change: F,
}

impl<F: Fn(&[u8], &mut [u8])> WithWords for Reshaping<'_, F> {
    type Out = ();

    fn call<const W: usize>(self) {
        self.store.reshape::<WordKeys<W>>(self.bytes, self.change);
    }
}

/// Searches with states cut like this; `None` if that does not serve, or tuples get too long.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    cut: Cut,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Option<Found<'m, 'a>> {
    let mut tuples = Tuples::new(m, cut)?;
    let store = |bytes: usize| Store::new(Some(bytes), m.config, limits.workers);
    let begin = |tuples: &Tuples<'_>| Search::new(m, property, store(tuples.dictionary.shape().1), limits, watch);
    let mut search = begin(&tuples);
    while with_words(tuples.dictionary.shape().0, Running { tuples: &tuples, property, search: &mut search })
        == End::Reshape
    {
        if !tuples.widen(&mut search.store) {
            return None;
        }
        if m.config.fingerprints {
            // Those of the old layout say nothing now. What is known about the values is kept, so this happens a few times only. Steps are
            // computed again, for what a search notes on the way is noted anew.
            tuples.learnt = Mutex::default();
            search = begin(&tuples);
        }
    }
    Some(search.finish(tuples.dictionary.bytes(), |stored| tuples.canonical(stored)).0)
}

struct Running<'r, 'm, 'a> {
    tuples: &'r Tuples<'m>,
    property: Option<&'a Property>,
    search: &'r mut Search<'m, 'a>,
}

impl WithWords for Running<'_, '_, '_> {
    type Out = End;

    fn call<const W: usize>(self) -> End {
        let Self { tuples: Tuples { m, cut, dictionary, learnt }, property, search } = self;
        let keys = || WordKeys::<W>::new(dictionary.shape().1);
        match cut {
            Cut::Fine => search.run(|| {
                let mut steps = Remembering::<InMemory, W>::new(m, dictionary, nothing(m, property));
                let left = learnt.lock().unwrap_or_else(PoisonError::into_inner).pop();
                left.into_iter().for_each(|left| steps.take_up(left));
                Remembered { steps, keys: keys(), learnt }
            }),
            Cut::Coarse => search.run(|| Plain::new(m, property, Compressed::new(dictionary, keys()))),
        }
    }
}

/// A worker with remembered steps.
struct Remembered<'d, 'm, 'a, const W: usize> {
    steps: Remembering<'d, 'm, 'a, InMemory, W>,
    keys: WordKeys<W>,
    learnt: &'d Mutex<Vec<Learnt>>,
}

impl<const W: usize> Remembered<'_, '_, '_, W> {
    /// What has to be done about a state that is not expanded.
    #[cold]
    fn reshape(&self, halt: Halt) -> Reshape {
        if matches!(halt, Halt::Formless) {
            self.steps.dictionary.close();
        }
        Reshape
    }
}

impl<'m, 'a, const W: usize> Expander<'m, 'a> for Remembered<'_, 'm, 'a, W> {
    type Keys = WordKeys<W>;

    fn seed(&mut self) -> Result<(), Reshape> {
        let Self { steps, keys, .. } = self;
        let all = steps.initial(|words| keys.push(Address::NONE, words));
        all.map_err(|halt| {
            self.keys.clear();
            self.reshape(halt)
        })
    }

    #[inline]
    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape> {
        let words = store.words::<W>(record);
        let Self { steps, keys, .. } = self;
        let waiting = keys.len();
        let all = steps.successors(record, &words, &mut |new, ()| keys.push(record, new));
        all.map_err(|halt| {
            self.keys.truncate(waiting);
            self.reshape(halt)
        })
    }

    #[inline]
    fn keys(&mut self) -> &mut WordKeys<W> {
        &mut self.keys
    }

    #[inline]
    fn judge(&self) -> &Judge<'m, 'a> {
        &self.steps.judge
    }

    #[inline]
    fn stepper(&self) -> &Stepper<'m> {
        &self.steps.stepper
    }

    fn bytes(&self) -> u64 {
        self.steps.bytes()
    }

    fn shared_bytes(&self) -> u64 {
        self.steps.dictionary.bytes()
    }

    fn leave(&mut self) {
        let left = self.steps.leave();
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
    }

    fn finish(self) -> Judge<'m, 'a> {
        self.steps.judge
    }
}

/// Long states, as tuples of the numbers of their memory, threads and criterion.
struct Compressed<'d, const W: usize> {
    dictionary: &'d Dictionary,
    fields: Vec<Segment>,
    keys: WordKeys<W>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

impl<'d, const W: usize> Compressed<'d, W> {
    fn new(dictionary: &'d Dictionary, keys: WordKeys<W>) -> Self {
        let fields = fields(dictionary);
        Self { dictionary, fields, keys, bytes: Vec::new(), ends: Vec::new(), numbers: Vec::new() }
    }
}

impl<const W: usize> Form for Compressed<'_, W> {
    type Keys = WordKeys<W>;

    fn load<'s>(&'s mut self, store: &'s Store, record: Address) -> &'s [u8] {
        self.bytes.clear();
        let whole = self.dictionary.unpack(&store.words::<W>(record), &mut self.bytes);
        debug_assert!(whole.is_some(), "a stored state has numbers of this dictionary");
        &self.bytes
    }

    fn push(&mut self, m: &Machine<'_>, parent: Address, encode: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Reshape> {
        self.bytes.clear();
        encode(&mut self.bytes);
        let numbers = self.dictionary.numbers_of(m, Cut::Coarse, &self.bytes, &mut self.ends, &mut self.numbers);
        numbers.map_err(|_| Reshape)?;
        let mut words = [0; W];
        self.fields.iter().zip(&self.numbers).for_each(|(field, number)| field.put(&mut words, *number));
        self.keys.push(parent, words);
        Ok(self.bytes.len())
    }

    fn keys(&mut self) -> &mut WordKeys<W> {
        &mut self.keys
    }

    fn shared_bytes(&self) -> u64 {
        self.dictionary.bytes()
    }
}

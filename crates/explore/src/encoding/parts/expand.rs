//! Successors by remembered steps.

use cyrano_engine::Violation;
use cyrano_ir::Property;

use crate::criteria::judge::Judge;
use crate::encoding::memo::{Entry, Memo};
use crate::faults::Fault;
use crate::search::{Expander, Reshape};
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successor, Successors};
use crate::store::{Address, Keys, Store, WordKeys};

use super::Parts;
use super::layout::Field;
use super::numbered::TooWide;
use crate::reductions::ample::{Crowd, Footprint, Futures, forward};

/// Whether every step brings the thread forward; see `ample`.
type Forward = bool;

/// One worker's remembered steps.
pub(crate) struct Remembering<'p, 'm, 'a, const W: usize> {
    parts: &'p Parts<'m>,
    stepper: Stepper<'m>,
    judge: Judge<'m, 'a>,
    keys: WordKeys<W>,
    threads: Vec<ThreadSteps<W>>,
    /// The fields of threads that may exchange their places.
    alike: Vec<Vec<Field>>,
    /// If ample sets are used.
    futures: Option<Futures>,
    /// A deliberate bug.
    careless: bool,
    successors: Successors,
    state: State,
    scratch: Vec<u8>,
}

/// What is known about the steps of one thread.
struct ThreadSteps<const W: usize> {
    field: Field,
    /// By the number of the thread's part: what its steps depend on.
    places: Vec<Place<W>>,
    memo: Memo<W, [u64; W], Forward>,
}

impl<const W: usize> ThreadSteps<W> {
    /// Where it stands.
    #[inline]
    fn place(&self, words: &[u64; W]) -> &Place<W> {
        &self.places[self.field.get(words) as usize]
    }
}

/// A thread's part: where it stands.
#[derive(Clone, Copy)]
struct Place<const W: usize> {
    /// Whether the rest is known.
    known: bool,
    /// Whether the thread is done.
    done: bool,
    /// What its next steps touch, and what it can touch from here on; see `ample`.
    next: Footprint,
    future: Footprint,
    /// The bits that its next step depends on.
    depends: [u64; W],
}

impl<'p, 'm, 'a, const W: usize> Remembering<'p, 'm, 'a, W> {
    pub fn new(parts: &'p Parts<'m>, property: Option<&'a Property>) -> Self {
        let m = parts.m;
        let thread = |t: usize| ThreadSteps { field: parts.thread(t), places: Vec::new(), memo: Memo::new() };
        Self {
            parts,
            stepper: Stepper::new(m),
            judge: Judge::new(m, property),
            keys: WordKeys::new(parts.numbered.layout.bytes),
            threads: (0..m.threads.len()).map(thread).collect(),
            alike: m.symmetric_threads.iter().map(|group| group.iter().map(|t| parts.thread(*t)).collect()).collect(),
            careless: m.config.has_fault(Fault::AmpleWithoutAsking),
            futures: (m.config.ample_sets && !m.model.serial).then(|| Futures::new(m)),
            successors: Successors::default(),
            state: m.initial(),
            scratch: Vec::new(),
        }
    }

    /// Steps of a thread that were not seen before: the stepper computes them.
    #[cold]
    fn compute(&mut self, words: &[u64; W], thread: usize) -> Result<Entry<W, Forward>, TooWide> {
        let parts = self.parts;
        parts.unpack(words, &mut self.state);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.steps_of(&self.state, thread, &mut out);
        let (mut changes, mut events, mut brings_forward) = (Vec::new(), Vec::new(), true);
        let touched = parts.m.touched(&self.state, thread);
        let mut result = Ok(());
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            brings_forward &=
                forward(&self.state, &successor.state, thread) || parts.m.config.has_fault(Fault::AmpleForEver);
            match &successor.event {
                Some(event) => events.push(event.clone()),
                None => match self.change(words, thread, &touched, successor) {
                    Ok(change) => changes.push(change),
                    Err(error) => result = Err(error),
                },
            }
        }
        self.successors = out;
        result?;
        let known = self.threads[thread].places[parts.thread(thread).get(words) as usize];
        Ok(self.threads[thread].memo.add(and(words, &known.depends), &changes, &events, brings_forward))
    }

    /// The difference that a step makes.
    fn change(
        &mut self,
        words: &[u64; W],
        thread: usize,
        touched: &[u32],
        successor: &Successor,
    ) -> Result<[u64; W], TooWide> {
        let (parts, state) = (self.parts, &successor.state);
        let mut new = *words;
        if parts.m.unfinished_setup(&self.state).is_some() {
            parts.pack(state, &mut new, &mut self.scratch)?;
        } else {
            parts.store_thread(state, thread, &mut new, &mut self.scratch)?;
            touched.iter().try_for_each(|l| parts.store_location(state, *l as usize, &mut new, &mut self.scratch))?;
            parts.store_running(state, &mut new, &mut self.scratch)?;
        }
        if cfg!(debug_assertions) {
            let mut whole = *words;
            parts.pack(state, &mut whole, &mut self.scratch)?;
            assert_eq!(whole, new, "a step of thread {thread} changes a part that it does not touch");
        }
        Ok(xor(&new, words))
    }

    /// What the next step of a thread depends on.
    #[cold]
    fn learn(&mut self, words: &[u64; W], thread: usize) {
        let parts = self.parts;
        parts.unpack(words, &mut self.state);
        let mut depends = [0; W];
        let mut add = |field: Field| depends[field.word as usize] |= field.mask();
        add(parts.thread(thread));
        if !parts.m.config.has_fault(Fault::ForgetTouched) {
            parts.m.touched(&self.state, thread).into_iter().for_each(|loc| add(parts.location(loc as usize)));
        }
        parts.running().into_iter().for_each(&mut add);
        if let Some(setup) = parts.m.program.setup {
            // Until the setup thread is done only it steps; with its last step all others start.
            let all = thread == setup.index() && parts.m.unfinished_setup(&self.state).is_some();
            (0..parts.m.threads.len()).filter(|t| all || *t == setup.index()).for_each(|t| add(parts.thread(t)));
        }
        let done = parts.m.done(&self.state, thread);
        let next = parts.m.next_footprint(&self.state, thread);
        let future =
            self.futures.as_ref().map_or(Footprint::default(), |futures| futures.of(parts.m, &self.state, thread));
        let number = parts.thread(thread).get(words) as usize;
        let places = &mut self.threads[thread].places;
        if places.len() <= number {
            let (next, future) = (Footprint::default(), Footprint::default());
            places.resize(number + 1, Place { known: false, done: false, next, future, depends: [0; W] });
        }
        places[number] = Place { known: true, done, next, future, depends };
    }

    /// All successors of a state, or those of an ample set.
    fn successors(&mut self, record: Address, words: &[u64; W]) -> Result<(), TooWide> {
        let mut crowd = Crowd::default();
        let mut done = true;
        for thread in 0..self.threads.len() {
            let number = self.threads[thread].field.get(words) as usize;
            if self.threads[thread].places.get(number).is_none_or(|place| !place.known) {
                self.learn(words, thread);
            }
            let place = &self.threads[thread].places[number];
            done &= place.done;
            crowd.add(place.future);
        }
        if self.futures.is_some()
            && let Some(thread) = self.ample(words, crowd)?
        {
            self.stepper.notes.ample = true;
            self.judge.transitions += self.take_steps(record, words, thread)?;
            return Ok(());
        }
        let mut steps = 0;
        for thread in 0..self.threads.len() {
            steps += self.take_steps(record, words, thread)?;
        }
        self.judge.transitions += steps;
        if done || steps == 0 {
            self.parts.unpack(words, &mut self.state);
            self.judge.look(record, &self.state, steps as usize, &mut self.stepper);
        }
        Ok(())
    }

    /// A thread whose next steps are an ample set.
    #[inline]
    fn ample(&mut self, words: &[u64; W], crowd: Crowd) -> Result<Option<usize>, TooWide> {
        for thread in 0..self.threads.len() {
            let place = self.threads[thread].place(words);
            let alone = !place.next.meets(crowd.without(place.future)) || self.careless;
            if !place.done && alone {
                let entry = self.entry(words, thread)?;
                if entry.about && entry.steps() > 0 && !entry.goes_wrong() {
                    return Ok(Some(thread));
                }
            }
        }
        Ok(None)
    }

    /// What the steps of a thread do.
    #[inline]
    fn entry(&mut self, words: &[u64; W], thread: usize) -> Result<Entry<W, Forward>, TooWide> {
        let known = &self.threads[thread];
        match known.memo.find(&and(words, &known.place(words).depends)) {
            Some(entry) => Ok(*entry),
            None => self.compute(words, thread),
        }
    }

    /// Takes the steps of a thread, and says how many there are.
    #[inline]
    fn take_steps(&mut self, record: Address, words: &[u64; W], thread: usize) -> Result<u64, TooWide> {
        let entry = self.entry(words, thread)?;
        for change in self.threads[thread].memo.changes(&entry) {
            let mut new = xor(words, change);
            if new != *words {
                if !self.alike.is_empty() {
                    sort(&self.alike, &mut new);
                }
                self.keys.push(record, new);
            }
        }
        if entry.goes_wrong() {
            self.wrong(record, thread, &entry);
        }
        Ok(entry.steps())
    }

    #[cold]
    fn wrong(&mut self, record: Address, thread: usize, entry: &Entry<W, Forward>) {
        let events: Vec<Violation> = self.threads[thread].memo.events(entry).to_vec();
        events.iter().for_each(|event| self.judge.wrong_step(record, event, None));
    }
}

impl<'m, 'a, const W: usize> Expander<'m, 'a> for Remembering<'_, 'm, 'a, W> {
    type Keys = WordKeys<W>;

    fn seed(&mut self) -> Result<(), Reshape> {
        let mut out = std::mem::take(&mut self.successors);
        self.stepper.initial(&mut out);
        let before = self.judge.transitions;
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            if !crate::criteria::judge::goes_on(&mut self.judge, Address::NONE, successor) {
                continue;
            }
            let mut words = [0; W];
            if self.parts.pack(&successor.state, &mut words, &mut self.scratch).is_err() {
                self.keys.clear();
                self.judge.transitions = before;
                return Err(Reshape);
            }
            sort(&self.alike, &mut words);
            self.keys.push(Address::NONE, words);
        }
        self.successors = out;
        Ok(())
    }

    #[inline]
    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape> {
        let words = store.words::<W>(record);
        let waiting = self.keys.len();
        self.successors(record, &words).map_err(|TooWide| {
            self.keys.truncate(waiting);
            Reshape
        })
    }

    #[inline]
    fn keys(&mut self) -> &mut WordKeys<W> {
        &mut self.keys
    }

    #[inline]
    fn judge(&self) -> &Judge<'m, 'a> {
        &self.judge
    }

    #[inline]
    fn notes(&self) -> Notes {
        self.stepper.notes
    }

    fn reached(&self) -> &[bool] {
        &self.stepper.reached
    }

    fn bytes(&self) -> u64 {
        self.threads.iter().map(|thread| thread.memo.bytes()).sum()
    }

    fn shared_bytes(&self) -> u64 {
        self.parts.numbered.bytes()
    }

    fn finish(self) -> Judge<'m, 'a> {
        self.judge
    }
}

#[inline]
fn and<const W: usize>(words: &[u64; W], mask: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] & mask[at])
}

#[inline]
fn xor<const W: usize>(words: &[u64; W], change: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] ^ change[at])
}

/// Sorts the parts of threads that may exchange their places.
#[inline]
fn sort<const W: usize>(alike: &[Vec<Field>], words: &mut [u64; W]) {
    for group in alike {
        for end in 1..group.len() {
            let number = group[end].get(words);
            let mut at = end;
            while at > 0 && group[at - 1].get(words) > number {
                let before = group[at - 1].get(words);
                group[at].put(words, before);
                at -= 1;
            }
            if at != end {
                group[at].put(words, number);
            }
        }
    }
}

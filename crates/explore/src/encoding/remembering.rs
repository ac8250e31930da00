//! Successors by remembered steps (reduction of work, not of states: `remembered-steps`).
//!
//! A state is a tuple of the numbers of its parts ([`super::dictionary`]): each shared location, who runs under a serial model, and each thread
//! (program counter, live registers, queue). A step of a thread depends on its own part and on the locations it touches, and changes no others
//! ([`super::touch`]); so what it does is computed once for every combination of these, by the stepper, and remembered as the difference between
//! the words before and after ([`super::memo`]). A search then takes a few operations on words for each step, whatever the program and the model.
//!
//! A step with a call or a response depends on the history of calls in addition, and changes it: it is remembered by that, too. Whether a step
//! speaks is itself a matter of the thread's part and the locations.
//!
//! **Argument.** The key of a remembered step has all that the step depends on, so the same key has the same successors; the
//! difference is that of whole states. That it stays within the key is checked in debug builds; and the search without remembered
//! steps ([`crate::search::plain`]) counts the same states and transitions.
//!
//! Under a program's own order a step in which something goes wrong counts only if the others can complete what they have begun
//! ([`crate::semantics::declared`]); so whoever meets one asks the stepper again, which sees the whole state.
//!
//! Where timestamps are ranked or one renaming stands for all, a step changes parts of other threads; and a criterion for transactions hears what happens. Both
//! is looked up apart from the step, in memory ([`standing`]). The shadow of atomic blocks is left to the stepper.
//!
//! Of threads that may exchange their places ([`crate::reductions::symmetric_threads`]) the numbers are sorted: numbers never change, so neither
//! does the form that stands for all.

pub(crate) mod class;
mod fewer;
mod home;
mod increments;
mod learnt;
mod standing;
pub(crate) mod taught;

use std::sync::Arc;

use cyrano_engine::Violation;
use cyrano_ir::Property;
use rustc_hash::FxHashSet;

use crate::criteria::judge::Judge;
use crate::criteria::races::may_race;
use crate::faults::Fault;
use crate::reductions::ample::{Footprint, Futures, forward};
use crate::reductions::exchanges::Tried;
use crate::reductions::stubborn::{Deed, Plan, Taken};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successors};
use crate::store::Address;

use super::copies::Copies;
use super::dictionary::{Cut, Dictionary, NoRoom};
use super::forms::Forms;
use super::hearing::{Hearing, Speech};
use super::layout::{Bits, and, or, sort, xor};
use super::memo::{Entry, Memo};

use increments::Increments;

pub(crate) use home::{Home, InMemory, Kept};
pub(crate) use learnt::Learnt;

/// Why a state is not expanded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Halt {
    /// States have more words now.
    Reshape,
    NoRoom,
    /// Some state has no form here.
    Formless,
}

impl From<NoRoom> for Halt {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// One worker's remembered steps, for states of `W` words.
pub(crate) struct Remembering<'d, 'm, 'a, H: Home, const W: usize> {
    m: &'m Machine<'m>,
    pub dictionary: &'d Dictionary,
    pub stepper: Stepper<'m>,
    pub judge: Judge<'m, 'a>,
    /// The layout that is known here.
    version: usize,
    pub parts: Vec<H::Bits>,
    threads: Vec<ThreadSteps<H, W>>,
    /// The bits of the history of calls.
    history: [u64; W],
    /// The bits of what the invariant depends on, and the moments that were judged, by these.
    seen: [u64; W],
    judged: FxHashSet<[u64; W]>,
    /// If steps are remembered apart from the criterion, and states stored in forms of their own; see `standing`.
    forms: Option<Box<Forms>>,
    hearing: Hearing,
    /// The keys whose steps were tried in exchanges of threads.
    tried: Tried,
    /// The timestamps that steps add to; the first are none.
    increments: Increments,
    /// What was learnt apart from steps since somebody asked, if somebody wants to know.
    journal: Option<Vec<taught::Lesson<'static>>>,
    /// How many states were expanded, and how many times something was computed for one because it was not known.
    expanded: u64,
    computed: u64,
    /// The parts of threads that may exchange their places.
    symmetric: Vec<Vec<H::Bits>>,
    /// If ample sets are used.
    futures: Option<Futures>,
    /// Whether a step was dropped.
    dropped: bool,
    /// A deliberate bug.
    careless: bool,
    /// Values, if it is wanted where states belong.
    pub copies: Option<Copies>,
    successors: Successors,
    state: State,
    scratch: Vec<u8>,
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

/// What is known about the steps of one thread.
struct ThreadSteps<H: Home, const W: usize> {
    part: H::Bits,
    /// By the number of the thread's part: what its steps depend on.
    places: Vec<ThreadPart<W>>,
    memo: Memo<W, Change<H, W>, About>,
    /// The same for steps with a call or a response, whose keys have the history of calls, too.
    spoken: Memo<W, Change<H, W>, About>,
    /// By the number of the thread's part, if stubborn sets are used.
    plans: Vec<Option<Arc<Plan>>>,
}

/// What a step does: the difference of words and of the sums, what is done, and what is said.
type Change<H, const W: usize> = ([u64; W], <H as Home>::Sum, Deed, Speech);

/// What goes with the steps from one place.
#[derive(Clone, Copy)]
struct About {
    /// Whether every step brings the thread forward; see `ample`.
    forward: bool,
    /// Whether one of them has a call or a response: they are in `spoken`.
    speaks: bool,
    /// The number of the timestamps that they add to.
    increments: u32,
}

impl<H: Home, const W: usize> ThreadSteps<H, W> {
    /// Where it stands.
    #[inline]
    fn place(&self, words: &[u64; W]) -> &ThreadPart<W> {
        &self.places[self.part.get(words) as usize]
    }

    /// Where the steps of an entry are.
    #[inline]
    fn memo_of(&self, entry: &Entry<W, About>) -> &Memo<W, Change<H, W>, About> {
        if entry.about.speaks { &self.spoken } else { &self.memo }
    }
}

/// A thread's part: where it stands.
#[derive(Clone, Copy)]
struct ThreadPart<const W: usize> {
    /// Whether the rest is known.
    known: bool,
    /// Whether the thread is done.
    done: bool,
    /// What its next steps touch, and what it can touch from here on; see `ample`.
    next: Footprint,
    future: Footprint,
    /// What its next steps touch by plain accesses; see `races`.
    plain: Footprint,
    /// The bits that its next step depends on.
    depends: [u64; W],
}

impl<'d, 'm, 'a, H: Home, const W: usize> Remembering<'d, 'm, 'a, H, W> {
    /// With what was found out so far.
    pub fn new(m: &'m Machine<'m>, dictionary: &'d Dictionary, (judge, notes): (Judge<'m, 'a>, Notes)) -> Self {
        let mut stepper = Stepper::new(m);
        stepper.notes = notes;
        let thread = |_| ThreadSteps {
            part: H::Bits::new(&[]),
            places: Vec::new(),
            memo: Memo::new(),
            spoken: Memo::new(),
            plans: Vec::new(),
        };
        // Exchanges of threads go well with ample sets.
        let ranked = m.has_forms() && m.exchanges.is_empty();
        let mut new = Self {
            m,
            dictionary,
            stepper,
            judge,
            version: usize::MAX,
            parts: Vec::new(),
            threads: (0..m.threads.len()).map(thread).collect(),
            history: [0; W],
            seen: [0; W],
            judged: FxHashSet::default(),
            forms: None,
            hearing: Hearing::default(),
            increments: Increments::default(),
            journal: None,
            expanded: 0,
            computed: 0,
            symmetric: Vec::new(),
            futures: (m.config.ample_sets && !m.model.reordering().serial && m.values.is_none() && !ranked)
                .then(|| Futures::new(m)),
            tried: Tried::default(),
            dropped: false,
            careless: m.config.has_fault(Fault::AmpleWithoutAsking),
            copies: None,
            successors: Successors::default(),
            state: m.initial(),
            scratch: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
        };
        // Whoever has too few words finds out with the first state.
        let _ = new.refresh();
        if m.has_forms() {
            new.forms = Some(Box::new(Forms::new(m, m.shared_parts(), new.parts.len())));
        }
        new
    }

    /// Takes on the layout as it is now. Remembered steps stay true: their keys have zeros where the new bits are.
    #[inline]
    pub fn refresh(&mut self) -> Result<(), Halt> {
        if self.version == self.dictionary.version() { Ok(()) } else { self.take_layout() }
    }

    #[cold]
    fn take_layout(&mut self) -> Result<(), Halt> {
        let (version, segments, words) = self.dictionary.layout();
        if words > W {
            return Err(Halt::Reshape);
        }
        self.version = version;
        self.parts = segments.iter().map(|segments| H::Bits::new(segments)).collect();
        let (threads, rest) = self.parts[self.m.shared_parts()..].split_at(self.threads.len());
        self.history = [0; W];
        rest.iter().for_each(|part| part.add_to(&mut self.history));
        self.seen = [0; W];
        if let Some(named) = &self.m.named {
            let (locations, of_threads) = named.depends();
            locations.iter().for_each(|loc| self.parts[*loc as usize].add_to(&mut self.seen));
            let setup = self.m.program.setup.map(|setup| setup.index());
            of_threads.chain(setup).for_each(|thread| threads[thread].add_to(&mut self.seen));
        }
        for (thread, part) in self.threads.iter_mut().zip(threads) {
            thread.part = part.clone();
            thread.places.clear();
        }
        let parts = |group: &Vec<usize>| group.iter().map(|thread| threads[*thread].clone()).collect();
        self.symmetric = self.m.symmetric_threads.iter().map(parts).collect();
        Ok(())
    }

    /// Finds the numbers of a state's parts.
    fn numbers_of(&mut self, state: &State) -> Result<(), Halt> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        self.m.encode(state, &mut bytes);
        let found = self.dictionary.numbers_of(self.m, Cut::Fine, &bytes, &mut self.ends, &mut self.numbers);
        self.scratch = bytes;
        Ok(found?)
    }

    /// Packs a state, not sorted.
    fn words_of(&mut self, state: &State) -> Result<[u64; W], Halt> {
        self.numbers_of(state)?;
        self.packed()
    }

    /// Packs a state's bytes, not sorted.
    fn words(&mut self, bytes: &[u8]) -> Result<[u64; W], Halt> {
        self.dictionary.numbers_of(self.m, Cut::Fine, bytes, &mut self.ends, &mut self.numbers)?;
        self.packed()
    }

    /// Packs the numbers that were found.
    fn packed(&mut self) -> Result<[u64; W], Halt> {
        self.refresh()?;
        let mut words = [0; W];
        self.parts.iter().zip(&self.numbers).for_each(|(part, number)| part.put(&mut words, *number));
        Ok(words)
    }

    /// Packs a state's bytes.
    pub fn pack(&mut self, bytes: &[u8]) -> Result<[u64; W], Halt> {
        let words = self.words(bytes)?;
        if self.forms.is_some() { self.standing(words) } else { Ok(self.sorted(words)) }
    }

    /// The form that stands for all that differ by an exchange of threads.
    pub fn sorted(&self, mut words: [u64; W]) -> [u64; W] {
        sort(&self.symmetric, &mut words);
        words
    }

    /// The sum of the hashes of all values, if that is wanted.
    pub fn hashes(&mut self, words: &[u64; W]) -> u64 {
        let Some(copies) = &mut self.copies else { return 0 };
        self.parts.iter().enumerate().fold(0, |sum, (at, part)| {
            let value = copies.value(self.dictionary, at, part.get(words));
            sum.wrapping_add(value.map_or(0, |value| value.hash))
        })
    }

    fn decode(&mut self, words: &[u64; W]) {
        self.scratch.clear();
        let whole = self.dictionary.unpack(words, &mut self.scratch);
        debug_assert!(whole.is_some(), "a packed state has numbers of this dictionary");
        self.m.decode(&self.scratch, &mut self.state);
    }

    /// Steps of a thread that were not seen before: the stepper computes them.
    #[cold]
    fn compute(&mut self, words: &[u64; W], thread: usize) -> Result<Entry<W, About>, Halt> {
        self.decode(words);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.speaks = false;
        let apart = self.forms.is_some();
        self.stepper.apart = apart;
        self.stepper.increments = apart.then(Vec::new);
        self.stepper.local_steps_of(&self.state, thread, &mut out);
        self.stepper.apart = false;
        self.stepper.try_exchanges(&self.state, thread, &mut out, &mut self.tried);
        self.computed += 1;
        let increments = self.stepper.increments.take().map_or(0, |list| self.increments.number(list));
        let mut about = About { forward: true, speaks: self.stepper.speaks && !apart, increments };
        let (mut changes, mut events) = (Vec::new(), Vec::new());
        let mut result = Ok(());
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            about.forward &=
                forward(self.m, &self.state, &successor.state, thread) || self.m.config.has_fault(Fault::AmpleForEver);
            about.forward &= !self.m.sees_step(&self.state, &successor.state, thread)
                || self.m.config.has_fault(Fault::AmpleInSight);
            if let Some(event) = &successor.event {
                events.push(event.clone());
                continue;
            }
            match self.words_of(&successor.state) {
                Ok(new) => {
                    let sum = H::sum(|| self.hashes(&new).wrapping_sub(self.hashes(words)));
                    let said = self.hearing.number(&successor.said);
                    changes.push((xor(&new, words), sum, Deed::of(successor), said));
                }
                Err(halt) => result = Err(halt),
            }
        }
        self.successors = out;
        result?;
        // The layout may be another one now, and with it the bits that places depend on.
        for thread in 0..self.threads.len() {
            self.learnt(words, thread);
        }
        let silent = self.threads[thread].place(words).depends;
        let depends = if about.speaks { or(&silent, &self.history) } else { silent };
        let within = |(change, ..): &Change<H, W>| and(change, &depends) == *change;
        debug_assert!(
            changes.iter().all(within) || self.m.config.has_fault(Fault::ForgetTouched),
            "a step of thread {thread} changes a part that it does not touch"
        );
        let ThreadSteps { memo, spoken, .. } = &mut self.threads[thread];
        if !about.speaks {
            return Ok(memo.add(and(words, &silent), &changes, &events, about));
        }
        if memo.find(&and(words, &silent)).is_none() {
            memo.add(and(words, &silent), &[], &[], about);
        }
        Ok(spoken.add(and(words, &depends), &changes, &events, about))
    }

    /// Where a thread stands.
    #[inline]
    fn learnt(&mut self, words: &[u64; W], thread: usize) -> &ThreadPart<W> {
        let number = self.threads[thread].part.get(words) as usize;
        if self.threads[thread].places.get(number).is_none_or(|place| !place.known) {
            self.learn(words, thread, number);
        }
        &self.threads[thread].places[number]
    }

    /// What the next step of a thread depends on.
    #[cold]
    fn learn(&mut self, words: &[u64; W], thread: usize, number: usize) {
        self.decode(words);
        let mut depends = [0; W];
        self.threads[thread].part.add_to(&mut depends);
        if !self.m.config.has_fault(Fault::ForgetTouched) {
            let touched = self.stepper.touched(&self.state, thread);
            touched.into_iter().for_each(|loc| self.parts[loc as usize].add_to(&mut depends));
        }
        if self.m.model.reordering().serial {
            self.parts[self.m.program.locations.len()].add_to(&mut depends);
        }
        if let Some(setup) = self.m.program.setup {
            // Until the setup thread is done only it steps; with its last step all others start.
            let all = thread == setup.index() && self.m.unfinished_setup(&self.state).is_some();
            let others = self.threads.iter().enumerate().filter(|(t, _)| all || *t == setup.index());
            others.for_each(|(_, other)| other.part.add_to(&mut depends));
        }
        let done = self.m.done(&self.state, thread);
        let next = self.stepper.next_footprint(&self.state, thread);
        let future = self.futures.as_ref().map(|futures| futures.of(self.m, &self.state, thread)).unwrap_or_default();
        let plain = if self.m.races { self.m.plain_footprint(&self.state, thread) } else { Footprint::default() };
        let places = &mut self.threads[thread].places;
        if places.len() <= number {
            let none = Footprint::default();
            let unknown =
                ThreadPart { known: false, done: false, next: none, future: none, plain: none, depends: [0; W] };
            places.resize(number + 1, unknown);
        }
        places[number] = ThreadPart { known: true, done, next, future, plain, depends };
    }

    /// Judges a state as a moment of an execution, unless one like it was judged before.
    fn moment(&mut self, record: Address, words: &[u64; W]) {
        if self.m.named.is_some() && !self.judged.insert(and(words, &self.seen)) {
            return;
        }
        if self.m.races {
            for thread in 0..self.threads.len() {
                self.learnt(words, thread);
            }
            let places = self.threads.iter().map(|thread| thread.place(words));
            if !may_race(places.map(|place| (place.next, place.plain))) {
                return;
            }
        }
        self.decode(words);
        self.judge.moment(record, &self.state, &mut self.stepper);
    }

    /// What the steps of a thread do, which depend on this key.
    #[inline]
    fn entry(&mut self, words: &[u64; W], thread: usize, key: &[u64; W]) -> Result<Entry<W, About>, Halt> {
        let steps = &self.threads[thread];
        let mut found = steps.memo.find(key);
        if found.is_some_and(|entry| entry.about.speaks) {
            found = steps.spoken.find(&or(key, &and(words, &self.history)));
        }
        match found {
            Some(entry) => Ok(*entry),
            None => self.compute(words, thread),
        }
    }

    /// Takes the steps of a thread, and says how many there are.
    #[inline]
    fn take_steps(
        &mut self,
        record: Address,
        words: &[u64; W],
        thread: usize,
        key: &[u64; W],
        taken: Option<&(Arc<Plan>, Taken)>,
        visit: &mut impl FnMut([u64; W], H::Sum),
    ) -> Result<u64, Halt> {
        let entry = self.entry(words, thread, key)?;
        if self.forms.is_some() {
            let (taken, dropped) = self.take_standing(record, words, thread, &entry, visit)?;
            self.dropped |= dropped > 0;
            return Ok(taken);
        }
        let steps = &self.threads[thread];
        let mut left_out = 0;
        for (change, sum, deed, _) in steps.memo_of(&entry).changes(&entry) {
            if taken.is_some_and(|(plan, taken)| !plan.takes(*taken, *deed)) {
                left_out += 1;
                continue;
            }
            let mut new = xor(words, change);
            if new != *words {
                if !self.symmetric.is_empty() {
                    sort(&self.symmetric, &mut new);
                }
                visit(new, *sum);
            }
        }
        let all = if entry.goes_wrong() { self.wrong(record, words, thread, &entry) } else { entry.steps() };
        Ok(all - left_out)
    }

    /// Steps of a thread in which something goes wrong; says how many steps there are in all.
    #[cold]
    fn wrong(&mut self, record: Address, words: &[u64; W], thread: usize, entry: &Entry<W, About>) -> u64 {
        let memo = self.threads[thread].memo_of(entry);
        let mut steps = memo.changes(entry).len() as u64;
        if self.m.own_order.is_none() {
            let events: Vec<Violation> = memo.events(entry).to_vec();
            events.iter().for_each(|event| self.judge.wrong_step(record, event, None));
            return steps + events.len() as u64;
        }
        // Whether that can be, and whom it is to be blamed on, depends on the others.
        self.decode(words);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.steps_of(&self.state, thread, &mut out);
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            if let Some(event) = &successor.event {
                self.judge.wrong_step(record, event, Some(&successor.state));
                steps += 1;
            }
        }
        self.successors = out;
        steps
    }

    /// Bytes of what is remembered.
    pub fn bytes(&self) -> u64 {
        let judged = (self.judged.capacity() * size_of::<[u64; W]>()) as u64;
        let forms = self.forms.as_ref().map_or(0, |forms| forms.bytes()) + self.hearing.bytes();
        judged + forms + self.threads.iter().map(|thread| thread.memo.bytes() + thread.spoken.bytes()).sum::<u64>()
    }

    /// What was found out.
    pub fn into_findings(self) -> (Judge<'m, 'a>, Notes) {
        (self.judge, self.stepper.notes)
    }

    /// Bytes of what is known about places.
    pub fn place_bytes(&self) -> u64 {
        self.threads.iter().map(|thread| (thread.places.capacity() * size_of::<ThreadPart<W>>()) as u64).sum()
    }
}

/// Nothing found out yet.
pub(crate) fn nothing<'m, 'a>(m: &'m Machine<'m>, property: Option<&'a Property>) -> (Judge<'m, 'a>, Notes) {
    (Judge::new(m, property), Notes::default())
}

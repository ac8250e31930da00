//! Remembered steps for a search that takes steps itself and keeps states where no stepper is, on a device: a [`Teacher`] tells it what it has to know of
//! states, piece by piece ([`Lesson`]), and judges the states that need a look.
//!
//! What is told is what [`super::Remembering`] goes by, so whoever knows the lessons of a state knows its successors and how many steps there are. Places and
//! steps are told with every state; what is known by numbers alone, about criteria and forms, is told once, when it was computed, and stays true when
//! states get another layout.

use std::ops::Range;

use super::{About, Entry, Halt, InMemory, Remembering};
use crate::criteria::judge::goes_on;
pub use crate::encoding::forms::{FormLesson, Renamings};
pub use crate::encoding::hearing::Outcome;
use crate::encoding::layout::{Bits, Segment, and, or};
use crate::search::space::{Summary, Wrong};
use crate::semantics::step::Successors;
use crate::store::Address;

/// Bits of one part: those of `low`, moved to `shift` in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Field {
    /// Which word.
    pub word: u32,
    /// How far they are moved.
    pub shift: u32,
    /// As many ones as there are bits.
    pub low: u32,
}

impl From<Segment> for Field {
    fn from(segment: Segment) -> Self {
        Self { word: segment.word, shift: segment.shift, low: segment.low }
    }
}

/// Something to know about steps.
#[derive(Clone, Copy, Debug)]
pub enum Lesson<'l> {
    /// Where a thread's part has this number.
    Place {
        /// The thread.
        thread: usize,
        /// The number of its part.
        number: u32,
        /// Whether it is done.
        done: bool,
        /// The bits that its next step depends on.
        depends: &'l [u64],
    },
    /// What the steps of a thread do where the bits that they depend on are these.
    Steps(Steps<'l>),
    /// Nothing is wrong in states where the bits that are judged are these.
    Moment(&'l [u64]),
    /// What becomes of what the criterion keeps.
    Heard {
        /// The number of what is said.
        said: u32,
        /// The number of what it kept.
        kept: u32,
        /// What becomes of it.
        outcome: Outcome,
    },
    /// What is known about the forms of states.
    Form(FormLesson),
    /// Nothing that is added to timestamps shortens a gap where the timestamps of a state are these.
    Gaps {
        /// The timestamps.
        times: u128,
        /// The number of the list of what is added to.
        increments: u32,
    },
}

/// What the steps of a thread do.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'l> {
    /// The thread.
    pub thread: usize,
    /// The bits that they depend on.
    pub key: &'l [u64],
    /// Whether calls or responses are among them. Then the key has the bits of the history of calls, too; or, where it does not have them, it says only this.
    pub speaks: Speaks,
    /// The words of the differences that they make, one after the other.
    pub changes: &'l [u64],
    /// For each of them the number of what is said, if a criterion listens.
    pub said: &'l [u32],
    /// The number of the list of timestamps that they add to; 0 if that is none.
    pub increments: u32,
    /// In how many steps something goes wrong. These lead nowhere.
    pub wrong: usize,
}

/// Whether steps have calls or responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaks {
    /// They have none.
    No,
    /// They have; the history of calls must be asked for.
    AskHistory,
    /// They have, and these are the ones with this history.
    WithHistory,
}

/// Why a state's steps are not told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untold {
    /// States have to get another layout first.
    Reshape,
    /// The search cannot go on like this: something has no form, or too many values.
    Never,
}

impl From<Halt> for Untold {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Reshape | Halt::NoRoom => Self::Reshape,
            Halt::Formless => Self::Never,
        }
    }
}

/// Who is told.
pub trait Pupil: Sync {
    /// Whether a lesson can be left out. Of steps only thread, key and whether they speak are looked at.
    fn knows(&self, lesson: &Lesson<'_>) -> bool;
    /// Takes a lesson, which may be known.
    fn learn(&mut self, lesson: Lesson<'_>);
}

/// Who tells a search what it has to know about states of one layout.
pub trait Teacher {
    /// How many words a state has.
    fn words(&self) -> usize;
    /// Where its parts lie.
    fn fields(&self) -> Vec<Field>;
    /// Which of the parts are those of threads.
    fn threads(&self) -> Range<usize>;
    /// The threads that may exchange their places: in a state that is kept their numbers are sorted.
    fn alike(&self) -> &[Vec<usize>];
    /// The bits of the history of calls.
    fn history(&self) -> Vec<u64>;
    /// How states get their forms, and who listens; none if they are kept as they come and nobody does.
    fn forms(&self) -> Option<Renamings>;
    /// The bits that an invariant depends on, if there is one.
    fn judged(&self) -> Option<Vec<u64>>;
    /// Whether states with all threads done are to be looked at, each of them.
    fn looks_at_ends(&self) -> bool;
    /// Visits the initial states; says if something goes wrong at once.
    fn initial(&mut self, visit: &mut dyn FnMut(&[u64])) -> Result<Option<Wrong>, Untold>;
    /// Tells what is to be known about some states, and looks at them; says in which of them, or in a step from which, something goes wrong. Then others may
    /// not have been told.
    fn teach(&mut self, states: &[u64], pupil: &mut dyn Pupil) -> Result<Option<(usize, Wrong)>, Untold>;
    /// The plain form of a state.
    fn plain(&self, state: &[u64]) -> Vec<u8>;
    /// What was found out. The transitions are those that were looked at here.
    fn summary(&self) -> Summary;
    /// Bytes that it takes.
    fn bytes(&self) -> u64;
}

/// A lesson of a worker, until the pupil takes it.
pub(super) enum Told<const W: usize> {
    Place(usize, u32, bool, [u64; W]),
    Steps {
        thread: usize,
        key: [u64; W],
        speaks: Speaks,
        changes: Vec<u64>,
        said: Vec<u32>,
        increments: u32,
        wrong: usize,
    },
    Moment([u64; W]),
    Apart(Lesson<'static>),
}

impl<const W: usize> Told<W> {
    fn lesson(&self) -> Lesson<'_> {
        match self {
            Self::Place(thread, number, done, depends) => {
                Lesson::Place { thread: *thread, number: *number, done: *done, depends }
            }
            Self::Steps { thread, key, speaks, changes, said, increments, wrong } => Lesson::Steps(Steps {
                thread: *thread,
                key,
                speaks: *speaks,
                changes,
                said,
                increments: *increments,
                wrong: *wrong,
            }),
            Self::Moment(key) => Lesson::Moment(key),
            Self::Apart(lesson) => *lesson,
        }
    }
}

/// What a worker has to tell, and who is to know it.
pub(super) struct Notebook<'p, const W: usize> {
    pupil: &'p dyn Pupil,
    pub told: Vec<Told<W>>,
}

impl<'p, const W: usize> Notebook<'p, W> {
    /// An empty one.
    pub fn new(pupil: &'p dyn Pupil) -> Self {
        Self { pupil, told: Vec::new() }
    }

    /// Has it read to a pupil.
    pub fn read_to(told: Vec<Told<W>>, pupil: &mut dyn Pupil) {
        told.iter().for_each(|told| pupil.learn(told.lesson()));
    }

    fn note(&mut self, told: Told<W>) {
        if !self.pupil.knows(&told.lesson()) {
            self.told.push(told);
        }
    }
}

impl<const W: usize> Remembering<'_, '_, '_, InMemory, W> {
    /// Visits the initial states.
    pub fn initial(&mut self, mut visit: impl FnMut([u64; W])) -> Result<(), Halt> {
        let (mut out, mut bytes, mut scratch) = (Successors::default(), Vec::new(), Vec::new());
        self.stepper.initial(&mut out);
        let before = self.judge.transitions;
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            if !goes_on(&mut self.judge, Address::NONE, successor) {
                continue;
            }
            bytes.clear();
            self.m.rank(&mut successor.state, &mut scratch);
            self.m.encode(&successor.state, &mut bytes);
            let packed = self.pack(&bytes).inspect_err(|_| self.judge.transitions = before)?;
            visit(packed);
        }
        Ok(())
    }

    /// Looks at a state, and notes what is to be known about it; says if something goes wrong.
    pub(super) fn lecture(&mut self, words: &[u64; W], notes: &mut Notebook<'_, W>) -> Result<Option<Wrong>, Halt> {
        // Only what is not known is asked for here, so how often something is computed says nothing.
        (self.expanded, self.computed) = (0, 0);
        let told = self.successors(Address::NONE, words, &mut |_, ()| {}).and_then(|()| self.tell(words, notes));
        let learnt = self.journal.iter_mut().flat_map(|journal| journal.drain(..));
        notes.told.extend(learnt.map(Told::Apart));
        // If it could not be told, what goes wrong here is found when this state comes again, and not before.
        let hit = self.judge.hit.take();
        told.map(|()| hit.map(|hit| if hit.in_step { Wrong::InStep } else { Wrong::Here }))
    }

    fn tell(&mut self, words: &[u64; W], notes: &mut Notebook<'_, W>) -> Result<(), Halt> {
        for thread in 0..self.threads.len() {
            let place = *self.learnt(words, thread);
            let silent = and(words, &place.depends);
            let entry = self.entry(words, thread, &silent)?;
            let number = self.threads[thread].part.get(words);
            notes.note(Told::Place(thread, number, place.done, place.depends));
            self.tell_steps(words, thread, &silent, &entry, notes);
            if self.forms.is_some() {
                self.tell_apart(words, thread, &entry, notes)?;
            }
        }
        if self.m.named.is_some() {
            notes.note(Told::Moment(and(words, &self.seen)));
        }
        Ok(())
    }

    /// What the steps of a thread do, unless that is known.
    fn tell_steps(
        &self,
        words: &[u64; W],
        thread: usize,
        silent: &[u64; W],
        entry: &Entry<W, About>,
        notes: &mut Notebook<'_, W>,
    ) {
        let increments = entry.about.increments;
        let none = |speaks, key| Told::Steps {
            thread,
            key,
            speaks,
            changes: Vec::new(),
            said: Vec::new(),
            increments,
            wrong: 0,
        };
        let (key, speaks) = match entry.about.speaks {
            true => (or(silent, &and(words, &self.history)), Speaks::WithHistory),
            false => (*silent, Speaks::No),
        };
        if entry.about.speaks {
            notes.note(none(Speaks::AskHistory, *silent));
        }
        if notes.pupil.knows(&none(speaks, key).lesson()) {
            return;
        }
        let memo = self.threads[thread].memo_of(entry);
        let changes = memo.changes(entry).iter().flat_map(|(change, ..)| *change).collect();
        let said = memo.changes(entry).iter().map(|(.., said)| *said).collect();
        let wrong = memo.events(entry).len();
        notes.note(Told::Steps { thread, key, speaks, changes, said, increments, wrong });
    }

    /// What is known of the steps of a thread apart from them: whether something goes wrong in them, and whether gaps get lost.
    fn tell_apart(
        &mut self,
        words: &[u64; W],
        thread: usize,
        entry: &Entry<W, About>,
        notes: &mut Notebook<'_, W>,
    ) -> Result<(), Halt> {
        let kept = self.parts[self.parts.len() - 1].get(words);
        let mut goes_wrong = entry.goes_wrong();
        for at in self.threads[thread].memo.range(entry) {
            let said = self.threads[thread].memo.change(at).3;
            goes_wrong |= said != 0 && self.hearing.outcome(said, kept) == Some(Outcome::Wrong);
        }
        // Where something goes wrong the steps are other ones; nobody goes on there.
        if goes_wrong && self.judge.hit.is_none() {
            return Err(Halt::Formless);
        }
        let Self { forms, parts, .. } = self;
        if let (Some(forms), increments @ 1..) = (forms, entry.about.increments)
            && let Ok(times) = forms.times(words, parts)
        {
            notes.note(Told::Apart(Lesson::Gaps { times, increments }));
        }
        Ok(())
    }
}

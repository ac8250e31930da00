//! Remembered steps for a search that takes steps itself and keeps states where no stepper is, on a device: a [`Teacher`] tells it what it has to know of a
//! state, piece by piece ([`Lesson`]), and judges the states that need a look.
//!
//! What is told is what [`super::Remembering`] goes by, so whoever knows the lessons of a state knows its successors and how many steps there are.

use std::ops::Range;

use super::{About, Entry, Halt, InMemory, Remembering};
use crate::criteria::judge::goes_on;
pub use crate::encoding::forms::{FormLesson, Renamings};
pub use crate::encoding::hearing::Outcome;
use crate::encoding::layout::{Bits, Segment, and, or, xor};
use crate::search::space::{Summary, Wrong, summary};
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
    /// Tells what is to be known about a state, and looks at it; says if something goes wrong in it, or in a step from it.
    fn teach(&mut self, state: &[u64], tell: &mut dyn FnMut(Lesson<'_>)) -> Result<Option<Wrong>, Untold>;
    /// The plain form of a state.
    fn plain(&self, state: &[u64]) -> Vec<u8>;
    /// What was found out. The transitions are those that were looked at here.
    fn summary(&self) -> Summary;
    /// Bytes that it takes.
    fn bytes(&self) -> u64;
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

    fn tell(&mut self, words: &[u64; W], tell: &mut dyn FnMut(Lesson<'_>)) -> Result<(), Halt> {
        for thread in 0..self.threads.len() {
            let place = *self.learnt(words, thread);
            let silent = and(words, &place.depends);
            let entry = self.entry(words, thread, &silent)?;
            let number = self.threads[thread].part.get(words);
            tell(Lesson::Place { thread, number, done: place.done, depends: &place.depends });
            let memo = self.threads[thread].memo_of(&entry);
            let changes: Vec<u64> = memo.changes(&entry).iter().flat_map(|(change, ..)| *change).collect();
            let wrong = memo.events(&entry).len();
            let said: Vec<u32> = memo.changes(&entry).iter().map(|(.., said)| *said).collect();
            let increments = entry.about.increments;
            let silently =
                Steps { thread, key: &silent, speaks: Speaks::No, changes: &changes, said: &said, increments, wrong };
            if entry.about.speaks {
                let key = or(&silent, &and(words, &self.history));
                tell(Lesson::Steps(Steps { speaks: Speaks::AskHistory, changes: &[], wrong: 0, ..silently }));
                tell(Lesson::Steps(Steps { key: &key, speaks: Speaks::WithHistory, ..silently }));
            } else {
                tell(Lesson::Steps(silently));
            }
            if self.forms.is_some() {
                self.tell_forms(words, thread, &entry, tell)?;
            }
        }
        if self.m.named.is_some() {
            tell(Lesson::Moment(&and(words, &self.seen)));
        }
        Ok(())
    }

    /// The same about what a criterion hears of the steps of a thread, and about the forms of the states behind them.
    fn tell_forms(
        &mut self,
        words: &[u64; W],
        thread: usize,
        entry: &Entry<W, About>,
        tell: &mut dyn FnMut(Lesson<'_>),
    ) -> Result<(), Halt> {
        let mut goes_wrong = entry.goes_wrong();
        let criterion = self.parts.len() - 1;
        for at in self.threads[thread].memo.range(entry) {
            let (change, (), _, said) = self.threads[thread].memo.change(at);
            let mut new = xor(words, &change);
            if said != 0 {
                let kept = self.parts[criterion].get(words);
                let Some(outcome) = self.hearing.outcome(said, kept) else { continue };
                tell(Lesson::Heard { said, kept, outcome });
                match outcome {
                    Outcome::Keeps(number) => self.parts[criterion].put(&mut new, number),
                    Outcome::Wrong => goes_wrong = true,
                    Outcome::Dropped => {}
                }
                if !matches!(outcome, Outcome::Keeps(_)) {
                    continue;
                }
            }
            let Self { forms, parts, .. } = self;
            forms.as_ref().expect("states have forms").tell(&new, parts, &mut |lesson| tell(Lesson::Form(lesson)));
        }
        // Where something goes wrong the steps are other ones; nobody goes on there.
        if goes_wrong && self.judge.hit.is_none() {
            return Err(Halt::Formless);
        }
        let Self { forms, parts, .. } = self;
        if let (Some(forms), increments @ 1..) = (forms, entry.about.increments) {
            if let Ok(times) = forms.times(words, parts) {
                forms.tell_times(words, parts, &mut |lesson| tell(Lesson::Form(lesson)));
                tell(Lesson::Gaps { times, increments });
            }
        }
        Ok(())
    }

    fn found(&self) -> Option<Wrong> {
        self.judge.hit.as_ref().map(|hit| if hit.in_step { Wrong::InStep } else { Wrong::Here })
    }
}

impl<const W: usize> Teacher for Remembering<'_, '_, '_, InMemory, W> {
    fn words(&self) -> usize {
        W
    }

    fn fields(&self) -> Vec<Field> {
        self.parts.iter().map(|part| Field::from(*part)).collect()
    }

    fn threads(&self) -> Range<usize> {
        let first = self.m.shared_parts();
        first..first + self.threads.len()
    }

    fn alike(&self) -> &[Vec<usize>] {
        &self.m.symmetric_threads
    }

    fn history(&self) -> Vec<u64> {
        self.history.to_vec()
    }

    fn forms(&self) -> Option<Renamings> {
        let has = self.m.has_criterion();
        self.forms.as_ref().map(|forms| forms.renamings(has.then(|| self.parts.len() - 1)))
    }

    fn judged(&self) -> Option<Vec<u64>> {
        self.m.named.is_some().then(|| self.seen.to_vec())
    }

    fn looks_at_ends(&self) -> bool {
        self.judge.looks_at_ends()
    }

    fn initial(&mut self, visit: &mut dyn FnMut(&[u64])) -> Result<Option<Wrong>, Untold> {
        if let Err(halt) = self.initial(|state| visit(&state)) {
            self.judge.hit = None;
            return Err(halt.into());
        }
        Ok(self.found())
    }

    fn teach(&mut self, state: &[u64], tell: &mut dyn FnMut(Lesson<'_>)) -> Result<Option<Wrong>, Untold> {
        let words: [u64; W] = std::array::from_fn(|at| state.get(at).copied().unwrap_or(0));
        // Only what is not known is asked for here, so how often something is computed says nothing.
        (self.expanded, self.computed) = (0, 0);
        let told = self.successors(Address::NONE, &words, &mut |_, ()| {}).and_then(|()| self.tell(&words, tell));
        if let Err(halt) = told {
            // What goes wrong here is found when this state comes again, and not before.
            self.judge.hit = None;
            return Err(halt.into());
        }
        Ok(self.found())
    }

    fn plain(&self, state: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let whole = self.dictionary.unpack(state, &mut bytes);
        debug_assert!(whole.is_some(), "a packed state has numbers of this dictionary");
        self.m.canonical(bytes)
    }

    fn summary(&self) -> Summary {
        summary(&self.judge, self.stepper.notes)
    }

    fn bytes(&self) -> u64 {
        self.bytes() + self.place_bytes() + self.dictionary.bytes()
    }
}

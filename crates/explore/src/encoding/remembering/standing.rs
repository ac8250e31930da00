//! Remembered steps of states that are not stored as they come: timestamps are ranked, one renaming stands for all, and a criterion hears what happens.
//!
//! A step of a thread is remembered apart from the criterion, whose part [`crate::encoding::hearing`] looks up, and as it comes; the form that stands for the
//! state behind it is looked up by [`crate::encoding::forms`]. What is not known there is computed here, for whole states, by what the plain search uses.
//!
//! What a step has to say about all of a state goes with it: which timestamps it adds to, whose gaps are looked at in each state anew. Where something
//! goes wrong the stepper takes the steps again with the criterion listening, so that violations are found and counted as in the plain search.

use cyrano_ir::dataflow::Class;

use super::taught::Lesson;
use super::{About, Entry, Forms, Halt, Home, Remembering};
use crate::criteria::hearing::Heard;
use crate::encoding::forms::{FormLesson, Unknown};
use crate::encoding::hearing::{Outcome, Speech};
use crate::encoding::layout::{Bits, xor};
use crate::faults::Fault;
use crate::semantics::state::State;
use crate::store::Address;

/// After how many states it is looked whether remembering pays.
const TRIAL: u64 = 1 << 16;

impl<H: Home, const W: usize> Remembering<'_, '_, '_, H, W> {
    /// Counts a state. Where parts are so rich that something is computed for every state again and again, states have no forms here: the stepper is faster.
    #[inline]
    pub(super) fn count(&mut self) -> Result<(), Halt> {
        self.expanded += 1;
        let pays = self.forms.is_none() || !self.expanded.is_multiple_of(TRIAL) || self.computed < 4 * self.expanded;
        if pays { Ok(()) } else { Err(Halt::Formless) }
    }

    /// Takes the steps of a thread; says how many there are, and how many were dropped.
    pub(super) fn take_standing(
        &mut self,
        record: Address,
        words: &[u64; W],
        thread: usize,
        entry: &Entry<W, About>,
        visit: &mut impl FnMut([u64; W], H::Sum),
    ) -> Result<(u64, u64), Halt> {
        if entry.goes_wrong() {
            return self.take_anew(record, words, thread, visit);
        }
        let mut dropped = 0;
        let steps = self.threads[thread].memo.range(entry);
        for at in steps.clone() {
            let (change, sum, _, said) = self.threads[thread].memo.change(at);
            let mut new = xor(words, &change);
            if said != 0 {
                match self.heard(words, said)? {
                    Outcome::Keeps(number) => self.parts[self.criterion()].put(&mut new, number),
                    Outcome::Wrong => return self.take_anew(record, words, thread, visit),
                    Outcome::Dropped => {
                        dropped += 1;
                        continue;
                    }
                }
            }
            let new = self.standing(new)?;
            if new != *words {
                visit(new, sum);
            }
        }
        if entry.about.increments != 0 && !self.m.config.has_fault(Fault::ForgetGaps) {
            self.note_gaps(words, entry.about.increments)?;
        }
        Ok((steps.len() as u64 - dropped, dropped))
    }

    /// Takes the steps of a thread with the criterion listening.
    #[cold]
    fn take_anew(
        &mut self,
        record: Address,
        words: &[u64; W],
        thread: usize,
        visit: &mut impl FnMut([u64; W], H::Sum),
    ) -> Result<(u64, u64), Halt> {
        self.decode(words);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.note_timestamps(&self.state);
        self.stepper.steps_of(&self.state, thread, &mut out);
        let (mut steps, mut dropped, mut result) = (0, 0, Ok(()));
        for successor in out.iter_mut() {
            match &successor.event {
                _ if successor.dropped => dropped += 1,
                Some(event) => {
                    self.judge.wrong_step(record, event, Some(&successor.state));
                    steps += 1;
                }
                None => {
                    let found = self.words_of(&successor.state).and_then(|new| self.standing(new));
                    match found {
                        Ok(new) if new != *words => visit(new, H::sum(|| 0)),
                        Ok(_) => {}
                        Err(halt) => result = Err(halt),
                    }
                    steps += 1;
                }
            }
        }
        self.successors = out;
        result.map(|()| (steps, dropped))
    }

    /// The part of what a criterion keeps.
    fn criterion(&self) -> usize {
        self.parts.len() - 1
    }

    /// What the criterion makes of what a step says.
    #[inline]
    fn heard(&mut self, words: &[u64; W], said: Speech) -> Result<Outcome, Halt> {
        let alike = self.m.config.has_fault(Fault::HearAlike);
        let kept = if alike { 0 } else { self.parts[self.criterion()].get(words) };
        match self.hearing.outcome(said, kept) {
            Some(outcome) => Ok(outcome),
            None => self.listen(words, said, kept),
        }
    }

    #[cold]
    fn listen(&mut self, words: &[u64; W], said: Speech, kept: u32) -> Result<Outcome, Halt> {
        self.computed += 1;
        self.decode(words);
        let mut outcome = Heard::Right;
        for said in self.hearing.speech(said) {
            let heard = self.stepper.hear(&mut self.state, *said);
            // What is dropped is not looked at.
            outcome = if outcome == Heard::Dropped || heard == Heard::Right { outcome } else { heard };
            if heard == Heard::Wrong {
                break;
            }
        }
        let outcome = match outcome {
            Heard::Right => {
                let mut bytes = Vec::new();
                self.m.encode_criterion(&self.state, &mut bytes);
                Outcome::Keeps(self.dictionary.number(self.criterion(), &bytes)?)
            }
            Heard::Wrong => Outcome::Wrong,
            Heard::Dropped => Outcome::Dropped,
        };
        self.hearing.add(said, kept, outcome);
        if let Some(journal) = &mut self.journal {
            journal.push(Lesson::Heard { said, kept, outcome });
        }
        Ok(outcome)
    }

    /// Notes whether gaps above timestamps that something is added to may have been shortened.
    fn note_gaps(&mut self, words: &[u64; W], increments: u32) -> Result<(), Halt> {
        let times = self.with_forms(words, |forms, words, parts| forms.times(words, parts))?.1;
        let increments = self.increments.list(increments);
        let lost = self.forms.as_ref().is_some_and(|forms| forms.gets_lost(self.m, times, increments));
        self.stepper.notes.gap_too_small |= lost;
        Ok(())
    }

    /// The form that stands for all that are the same.
    #[inline]
    pub(super) fn standing(&mut self, words: [u64; W]) -> Result<[u64; W], Halt> {
        let ranked = self.with_forms(&words, |forms, words, parts| forms.rank(words, parts))?.0;
        Ok(self.with_forms(&ranked, |forms, words, parts| forms.rename(words, parts))?.0)
    }

    /// Does something to a tuple, and learns what is not known.
    #[inline]
    fn with_forms<R>(
        &mut self,
        words: &[u64; W],
        work: impl Fn(&mut Forms, &mut [u64; W], &[H::Bits]) -> Result<R, Unknown>,
    ) -> Result<([u64; W], R), Halt> {
        let mut new = *words;
        loop {
            let forms = self.forms.as_mut().expect("states have forms of their own");
            match work(forms, &mut new, &self.parts) {
                Ok(done) => return Ok((new, done)),
                Err(unknown) => self.teach(&new, unknown)?,
            }
        }
    }

    /// Computes what is not known about the form of a tuple.
    #[cold]
    fn teach(&mut self, words: &[u64; W], unknown: Unknown) -> Result<(), Halt> {
        self.computed += 1;
        let Some(mut forms) = self.forms.take() else { return Ok(()) };
        self.decode(words);
        let mut state = std::mem::take(&mut self.state);
        let taught = self.teach_about(&mut forms, words, unknown, &mut state);
        (self.state, self.forms) = (state, Some(forms));
        taught
    }

    fn teach_about(
        &mut self,
        forms: &mut Forms,
        words: &[u64; W],
        unknown: Unknown,
        state: &mut State,
    ) -> Result<(), Halt> {
        let before: Vec<u32> = self.parts.iter().map(|part| part.get(words)).collect();
        match unknown {
            Unknown::Times(part) => {
                let mut found = Vec::new();
                self.m.for_each_timestamp_in(part, state, &mut |class, value| found.push((class, *value)));
                if !forms.learn_times(part, before[part], &found) {
                    return Err(Halt::Formless);
                }
                self.note(|tell| forms.tell_times(part, before[part], tell));
                Ok(())
            }
            Unknown::Ranking(times) => {
                let mut scratch: Vec<(Class, i128)> = Vec::new();
                self.m.rank(state, &mut scratch);
                self.numbers_of(state)?;
                forms.learn_ranking(times, &before, &self.numbers);
                self.note(|tell| forms.tell_ranking(times, &before, tell));
                Ok(())
            }
            Unknown::Renaming(at) => {
                let (variables, threads) = (forms.renamings[at].variables, forms.renamings[at].threads);
                // A thread that rests where a renaming says nothing has no form here.
                let renamed = self.m.renamed(state, variables, threads).ok_or(Halt::Formless)?;
                self.numbers_of(&renamed)?;
                forms.learn_renaming(at, &before, &self.numbers);
                self.note(|tell| forms.tell_renaming(at, &before, tell));
                Ok(())
            }
        }
    }

    /// Writes down what was learnt about forms, if somebody wants to know.
    fn note(&mut self, tell_all: impl FnOnce(&mut dyn FnMut(FormLesson))) {
        if let Some(journal) = &mut self.journal {
            tell_all(&mut |lesson| journal.push(Lesson::Form(lesson)));
        }
    }
}

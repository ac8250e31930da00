//! All programs of a source text, judged together with one set of fences after another.
//!
//! A fence is inserted into the text and the text is compiled again, so whatever is found is a program that a user can have. Whose turn it is
//! and what need not be asked again is [`Turns`]' business; here it is decided for how long a program is asked about.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cyrano_engine::{Answer, Query};
use cyrano_ir::{FenceSet, Program};
use cyrano_memory::Model;

use super::{Ask, Candidate, Chart, Trouble, judge};
use crate::distinct_positions;
use crate::fence::{Fence, Position};
use crate::shape::same_but_for_fences;
use crate::source::Patched;
use crate::suite::{Judgement, Ruling, Suite};
use crate::text::FenceText;
use crate::turns::Turns;

/// How many seconds each test gets before the others have their turn again; then as many as there are.
pub(super) const SLICES: [Option<u64>; 4] = [Some(2), Some(10), Some(60), None];

/// How many seconds a test gets for a question that only a counterexample is an answer to. Those are found quickly by the engine that tests are put to, and a proof that there
/// is none takes the longest of all.
const BRIEFLY: u64 = 1;

pub(super) fn from_now(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// A source text and what is to hold of its programs.
pub struct Text<'a, A: Ask> {
    asker: &'a A,
    text: &'a str,
    model: &'a Model,
    language: &'static dyn FenceText,
    /// How often each block of the text runs; without them, all alike.
    weights: BTreeMap<String, u32>,
    positions: OnceCell<Vec<Position>>,
    chart: OnceCell<Option<Chart>>,
    turns: Turns<Vec<Fence>>,
    trouble: RefCell<Option<Trouble>>,
}

impl<'a, A: Ask> Text<'a, A> {
    /// The text of a source whose programs are to be correct on a model.
    pub fn new(asker: &'a A, text: &'a str, model: &'a Model, language: &'static dyn FenceText) -> Self {
        Self {
            asker,
            text,
            model,
            language,
            weights: BTreeMap::new(),
            positions: OnceCell::new(),
            chart: OnceCell::new(),
            turns: Turns::new(asker.programs().len()),
            trouble: RefCell::new(None),
        }
    }

    /// The same where blocks run as often as these weights say.
    pub fn with_weights(self, weights: BTreeMap<String, u32>) -> Self {
        Self { weights, ..self }
    }

    /// What the search could not carry.
    pub fn finish(self) -> Result<(), Trouble> {
        self.trouble.into_inner().map_or(Ok(()), Err)
    }

    /// Whether the text with fences is the same but for them.
    fn is_faithful(&self, patched: &Patched) -> bool {
        let Some(programs) = self.asker.compile(&patched.text) else { return false };
        let same =
            |(plain, program): (&Program, Program)| same_but_for_fences(plain, &patched.with_original_spans(program));
        self.asker.programs().into_iter().zip(programs).all(same)
    }

    fn find_positions(&self) -> Vec<Position> {
        let compiles = |text: &str| self.asker.compile(text).is_some();
        let found = self.language.positions(self.text, &compiles, &|patched| self.is_faithful(patched));
        if let Some(why) = self.language.nowhere().filter(|_| found.is_empty()) {
            *self.trouble.borrow_mut() = Some(Trouble::Nowhere(why));
        }
        found
    }

    fn chart(&self) -> Option<&Chart> {
        let new = || {
            let positions = distinct_positions(self).ok()?;
            let full = |position: &Position| Fence { position: position.clone(), kind: FenceSet::FULL };
            let fences: Vec<Fence> = positions.iter().map(full).collect();
            let programs = self.build(&fences).ok()?;
            Some(Chart { positions, programs })
        };
        self.chart.get_or_init(new).as_ref()
    }

    fn judge_in_slices(
        &self,
        slices: &[Option<u64>],
        fences: &[Fence],
        programs: &[Program],
    ) -> Ruling<Option<A::Trace>> {
        let has = |wanted: &Fence| {
            fences.iter().any(|fence| fence.position.at == wanted.position.at && fence.kind.contains(wanted.kind))
        };
        let within = |known: &Vec<Fence>| known.iter().all(has);
        self.turns.judge(slices, programs, within, |seconds, number| {
            let (until, mut needed) = (seconds.map(from_now), Vec::new());
            let put = |goal: usize, query: Query<'_>| {
                let candidate = Candidate { program: number, goal, fences, query };
                let asked = self.asker.ask_among(&candidate, until, &|| self.chart());
                let (answer, enough) = asked.unwrap_or_else(|| (self.asker.ask(number, query, until), None));
                needed.extend(enough.unwrap_or_else(|| fences.to_vec()));
                answer
            };
            let judgement = self.judge_by(number, &programs[number], self.model, put);
            // Where it is correct, these of the fences that it has are enough for it.
            (judgement, needed)
        })
    }

    fn judge_by(
        &self,
        number: usize,
        program: &Program,
        model: &Model,
        put: impl FnMut(usize, Query<'_>) -> Answer,
    ) -> Judgement<Option<A::Trace>> {
        let what = |_: &_| self.asker.name(number).map_or("a check".to_owned(), |test| format!("the check of {test}"));
        let judged = judge(self.asker, number, model, |_| Cow::Borrowed(program), what, put, &self.trouble);
        judged.map(|_, _, fault| fault.trace)
    }
}

impl<A: Ask> Suite for Text<'_, A> {
    type Evidence = Option<A::Trace>;

    fn positions(&self) -> Vec<Position> {
        self.positions.get_or_init(|| self.find_positions()).clone()
    }

    fn weight(&self, position: &Position) -> u32 {
        position.program.as_ref().and_then(|block| self.weights.get(block)).copied().unwrap_or(1)
    }

    fn distaste(&self, fence: &Fence) -> u32 {
        self.language.distaste(self.text, fence)
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        let patched = self.language.insert(self.text, fences);
        let programs = self.asker.compile(&patched.text).ok_or("the source with these fences does not compile")?;
        Ok(programs.into_iter().map(|program| patched.with_original_spans(program)).collect())
    }

    fn judge(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Option<A::Trace>> {
        self.judge_in_slices(&SLICES, fences, programs)
    }

    fn judge_briefly(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Option<A::Trace>> {
        match self.asker.name(0) {
            Some(_) => self.judge_in_slices(&[Some(BRIEFLY)], fences, programs),
            None => self.judge(fences, programs),
        }
    }

    fn judge_sequentially(&self, programs: &[Program], number: usize) -> Judgement<Option<A::Trace>> {
        let sc = cyrano_memory::named("sc").expect("sc is a named model");
        let until = self.asker.name(number).map(|_| from_now(BRIEFLY));
        self.judge_by(number, &programs[number], &sc, |_, query| self.asker.ask(number, query, until))
    }
}

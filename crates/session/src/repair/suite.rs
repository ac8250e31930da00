//! All programs of a source text, judged together.
//!
//! Whose turn it is and what need not be asked again is [`Turns`]' business; here it is decided who is asked, and for how long. The serial
//! observations of a test are mined once.
//!
//! **Invariant:** every counterexample that the search learns from was confirmed by the reference interpreter on the program with the
//! fences; one that is not confirmed ends the search with an internal error.

use std::cell::{OnceCell, RefCell};
use std::time::Duration;

use cyrano_engine::{Answer, Query, Question, Watch};
use cyrano_fences::source::Patched;
use cyrano_fences::{Fence, FenceText, Judgement, Position, Ruling, Suite, Turns, same_but_for_fences};
use cyrano_ir::Program;
use cyrano_memory::Model;
use cyrano_trace::Trace;

use super::sessions::{Candidate, Sessions};
use super::{Aim, Task, judged};
use crate::case::Case;
use crate::failure::{self, Failure};
use crate::run::{Answered, Runner};
use crate::select::default_model;

/// How many seconds each test gets before the others have their turn again; then as many as there are.
const SLICES: [u64; 3] = [2, 10, 60];

/// How many seconds a test gets for a question that only a counterexample is an answer to. Those are found quickly by the engine that tests are put to, and a proof that there
/// is none takes the longest of all.
const BRIEFLY: u64 = 1;

/// A source text and what is to hold of its programs.
pub(super) struct Text<'a> {
    task: &'a Task<'a>,
    /// The first program, whose source is that of all.
    case: &'a Case,
    language: &'static dyn FenceText,
    runner: &'a Runner,
    watch: &'a dyn Watch,
    positions: OnceCell<Vec<Position>>,
    turns: Turns,
    sessions: Sessions,
    /// What went wrong on our side or on the user's; the search cannot carry it.
    failure: RefCell<Option<Failure>>,
}

impl<'a> Text<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        case: &'a Case,
        language: &'static dyn FenceText,
        runner: &'a Runner,
        watch: &'a dyn Watch,
    ) -> Self {
        Self {
            task,
            case,
            language,
            runner,
            watch,
            positions: OnceCell::new(),
            turns: Turns::new(task.aims.len()),
            sessions: Sessions::default(),
            failure: RefCell::new(None),
        }
    }

    /// What the search could not carry.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn compile(&self, text: &str) -> Option<Vec<Program>> {
        let compiled = self.case.again(text, self.task.aims.iter().map(|aim| aim.case)).ok()?;
        Some(compiled.into_iter().map(|case| case.program).collect())
    }

    /// Whether the text with fences is the same but for them.
    fn is_faithful(&self, patched: &Patched) -> bool {
        let Some(programs) = self.compile(&patched.text) else { return false };
        let plain = self.task.aims.iter().map(|case| &case.case.program);
        let same =
            |(plain, program): (&Program, Program)| same_but_for_fences(plain, &patched.with_original_spans(program));
        plain.zip(programs).all(same)
    }

    fn find_positions(&self) -> Vec<Position> {
        let compiles = |text: &str| self.compile(text).is_some();
        let found = self.language.positions(&self.case.source.text, &compiles, &|patched| self.is_faithful(patched));
        if let Some(why) = self.language.nowhere().filter(|_| found.is_empty()) {
            *self.failure.borrow_mut() = Some(self.case.refused(why));
        }
        found
    }

    fn judge_in_slices(&self, slices: &[Option<u64>], fences: &[Fence], programs: &[Program]) -> Ruling<Option<Trace>> {
        self.turns.judge(slices, fences, programs, |slice, number| {
            let part = slice.map(|seconds| self.runner.part(Duration::from_secs(seconds), None));
            self.judge_with(part.as_ref().unwrap_or(self.runner), fences, number, &programs[number])
        })
    }

    /// Judges a program under the model of the task; where it is correct, which of the fences that it has are enough for it.
    fn judge_with(
        &self,
        runner: &Runner,
        fences: &[Fence],
        number: usize,
        program: &Program,
    ) -> (Judgement<Option<Trace>>, Vec<Fence>) {
        let mut needed = Vec::new();
        let ask = |goal: usize, query: Query<'_>| {
            let candidate = Candidate { case: number, goal, fences, query };
            let asked = self.sessions.ask(self, runner, &candidate, self.watch);
            let (answer, enough) = asked.unwrap_or_else(|| (self.ask(runner, number, query), None));
            needed.extend(enough.unwrap_or_else(|| fences.to_vec()));
            answer
        };
        let judgement = self.judge_by(number, program, self.task.model, ask);
        (judgement, needed)
    }

    fn ask(&self, runner: &Runner, number: usize, query: Query<'_>) -> Answer {
        let Answered { answer, .. } = match self.is_test(number) {
            true => runner.ask_symbolic_first(query, self.watch),
            false => runner.ask(query, self.watch),
        };
        answer
    }

    /// Whether this is a test of a C file. Those have too many states for the explorer.
    pub(super) fn is_test(&self, number: usize) -> bool {
        self.task.aims[number].case.test.is_some()
    }

    fn judge_by(
        &self,
        number: usize,
        program: &Program,
        model: &Model,
        mut ask: impl FnMut(usize, Query<'_>) -> Answer,
    ) -> Judgement<Option<Trace>> {
        let Aim { case, goals } = &self.task.aims[number];
        for (at, goal) in goals.iter().enumerate() {
            let property = match goal.property(self.runner, case, self.watch) {
                Ok(property) => property,
                Err(reason) => return Judgement::Unknown(reason),
            };
            let query = match Query::new(program, model, Question::Holds(&property)) {
                Ok(query) => query,
                Err(why) => return Judgement::Unknown(why.to_string()),
            };
            let answer = ask(at, query);
            let what = || case.test_name().map_or("a check".to_owned(), |test| format!("the check of {test}"));
            match judged(self.runner, case, program, (&property, model), &answer, what) {
                Ok(Judgement::Correct) => {}
                Ok(other) => return other,
                Err(why) => return self.fail(&why),
            }
        }
        Judgement::Correct
    }

    fn fail(&self, why: &str) -> Judgement<Option<Trace>> {
        let text = format!("while fences were sought for {}, {why}", self.case.source.name);
        *self.failure.borrow_mut() = Some(Failure::Internal(failure::bug(&text)));
        Judgement::Unknown(why.to_owned())
    }
}

impl Suite for Text<'_> {
    type Evidence = Option<Trace>;

    fn positions(&self) -> Vec<Position> {
        self.positions.get_or_init(|| self.find_positions()).clone()
    }

    fn distaste(&self, fence: &Fence) -> u32 {
        self.language.distaste(&self.case.source.text, fence)
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        let patched = self.language.insert(&self.case.source.text, fences);
        let programs = self.compile(&patched.text).ok_or("the source with these fences does not compile")?;
        Ok(programs.into_iter().map(|program| patched.with_original_spans(program)).collect())
    }

    fn judge(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Option<Trace>> {
        let slices: Vec<Option<u64>> = SLICES.into_iter().map(Some).chain([None]).collect();
        self.judge_in_slices(&slices, fences, programs)
    }

    fn judge_briefly(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Option<Trace>> {
        if self.case.test.is_some() {
            self.judge_in_slices(&[Some(BRIEFLY)], fences, programs)
        } else {
            self.judge(fences, programs)
        }
    }

    fn judge_sequentially(&self, programs: &[Program], number: usize) -> Judgement<Option<Trace>> {
        let part = self.is_test(number).then(|| self.runner.part(Duration::from_secs(BRIEFLY), None));
        let runner = part.as_ref().unwrap_or(self.runner);
        let ask = |_: usize, query: Query<'_>| self.ask(runner, number, query);
        self.judge_by(number, &programs[number], &default_model(), ask)
    }
}

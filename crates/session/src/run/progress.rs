//! Several questions about the progress of one program: the explorer builds their graph once.
//!
//! A run says beforehand which of the properties it is going to ask about ([`Runner::expecting`]). The first question about a program is put for all of
//! them, and what is asked later is remembered; a worker that asks meanwhile waits for the answer. Nothing is kept but answers.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cyrano_engine::{Answer, Cause, Limits, Query, Verdict, Watch};
use cyrano_ir::{Program, Progress, Property};
use cyrano_memory::Model;

use super::Runner;

/// The answers to all that is wanted, once they are there.
type Answers = Arc<OnceLock<Vec<Answer>>>;

/// What is going to be asked, and what is known.
#[derive(Clone, Default)]
pub(super) struct Expected {
    wanted: Vec<Progress>,
    known: Arc<Mutex<Vec<(Program, Model, Answers)>>>,
}

/// How many accesses a thread may defer at first where nobody has said it: clients that go on for ever may repeat stores for ever, and what goes wrong shows with few.
const FEW: usize = 2;

/// How many it may defer at last: a queue that grows for ever takes many times the states for each access more.
const MOST: usize = 16;

impl Runner {
    /// The same runner for a run that asks about these properties.
    pub fn expecting(mut self, wanted: impl IntoIterator<Item = Progress>) -> Self {
        let mut all: Vec<Progress> = Vec::new();
        for progress in wanted {
            if !all.contains(&progress) {
                all.push(progress);
            }
        }
        self.expected = Expected { wanted: all, ..Expected::default() };
        self
    }

    /// The answer to a question about progress, if it is one of several that are asked together.
    pub(super) fn ask_expected(&self, query: Query<'_>, watch: &dyn Watch) -> Option<Answer> {
        let Some(Property::Progress(progress)) = query.property() else { return None };
        let Expected { wanted, .. } = &self.expected;
        let at = wanted.iter().position(|other| other == progress).filter(|_| wanted.len() > 1)?;
        let answers = self.expected.about(&query);
        let mut limits = self.limits.clone();
        if self.raises {
            limits.deferred = limits.deferred.min(FEW);
        }
        let ask = |limits: &Limits| self.explore.ask_progress(query, wanted, limits, watch);
        let answers = answers.get_or_init(|| if self.raises { raised(&limits, ask) } else { ask(&limits) });
        answers.get(at).cloned()
    }
}

impl Expected {
    /// The place for the answers about a program under a model.
    fn about(&self, query: &Query<'_>) -> Answers {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |(program, model, _): &&(Program, Model, Answers)| (program, model) == (query.program(), query.model());
        if let Some((_, _, answers)) = known.iter().find(same) {
            return Arc::clone(answers);
        }
        let answers = Answers::default();
        known.push((query.program().clone(), query.model().clone(), Arc::clone(&answers)));
        answers
    }
}

/// Asks with larger and larger bounds as long as the bound stands in the way of an answer, as [`super::deferred`] does for one question.
fn raised(limits: &Limits, ask: impl Fn(&Limits) -> Vec<Answer>) -> Vec<Answer> {
    let mut answers = ask(limits);
    let mut wider = limits.clone();
    let cut = |answers: &[Answer], bound: usize| answers.iter().any(|a| a.reason == Some(Cause::Deferred(bound)));
    while cut(&answers, wider.deferred) && wider.deferred < MOST {
        wider.deferred *= 2;
        wider.memory = super::deferred::memory_for(limits, answers.iter().map(|a| a.stats.peak_bytes).max());
        let next = ask(&wider);
        if next.iter().all(|answer| answer.verdict == Verdict::Unknown) {
            break;
        }
        // What a smaller bound has shown is as true as before.
        for (old, new) in answers.iter_mut().zip(next) {
            if new.verdict != Verdict::Unknown && old.verdict != Verdict::Violated {
                *old = new;
            }
        }
    }
    answers
}

//! Executions that go on for ever: how they are saved, and in words.
//!
//! The steps of such a trace are those of the stem and then of every round, so that it can be replayed like any other; a reader
//! needs the first round only.

use cyrano_engine::{Fate, Lasso, StepFacts};
use cyrano_ir::{Op, Program, Progress, ThreadId, TxEvent};

use crate::TraceError;
use crate::record::Parts;
use crate::schema::{Explanation, LassoInfo, Trace, ViolationInfo};

pub(crate) fn record(program: &Program, lasso: &Lasso) -> LassoInfo {
    LassoInfo {
        thread: program.thread(lasso.thread).name.clone(),
        fate: lasso.fate.name().to_owned(),
        stem: lasso.stem.clone(),
        round: lasso.round.clone(),
        rounds: lasso.rounds,
    }
}

pub(crate) fn restore(info: &LassoInfo, thread: ThreadId) -> Result<Lasso, TraceError> {
    let unknown = || TraceError::new(format!("`{}` is nothing that happens to a thread for ever", info.fate));
    let fate = Fate::from_name(&info.fate).ok_or_else(unknown)?;
    Ok(Lasso { thread, fate, stem: info.stem.clone(), round: info.round.clone(), rounds: info.rounds })
}

impl Trace {
    /// For an execution that goes on for ever: how many of the steps come before the first round, and how many make one round.
    pub fn rounds(&self) -> Option<(usize, usize)> {
        match &self.violation {
            Some(ViolationInfo::Lasso(LassoInfo { stem, round, .. })) => Some((stem.steps, round.steps)),
            _ => None,
        }
    }
}

/// Why an endless execution violates a progress property.
pub(crate) fn explain(parts: &Parts<'_>, progress: Progress, lasso: &Lasso) -> Explanation {
    let told = Told { parts, lasso };
    let name = told.name(lasso.thread);
    let others = parts.program.thread_ids().filter(|thread| *thread != lasso.thread);
    let others: Vec<String> = others.map(|thread| told.meanwhile(thread)).collect();
    let fate = match lasso.fate {
        Fate::Aborts => format!("{name} aborts in every round and never commits"),
        Fate::Waits => format!("{name} goes on within one command for ever and never commits"),
        Fate::Spins => format!("{name} spins for ever"),
        Fate::Blocked => format!("{name} waits at an atomic section for ever and never commits"),
    };
    let meaning = match progress {
        Progress::Solo => "a thread that runs alone does not get done because of where the others stopped",
        Progress::CrashFreeSolo => {
            "a thread that runs alone does not get done although nobody else is in a transaction"
        }
        Progress::Local => "a thread that keeps trying does not get done although no other one is in its way for ever",
    };
    Explanation {
        kind: "lasso".to_owned(),
        sentence: format!("{fate}, while {}: {meaning}.", others.join(" and ")),
        thread: Some(name),
        ..Explanation::default()
    }
}

struct Told<'a> {
    parts: &'a Parts<'a>,
    lasso: &'a Lasso,
}

impl Told<'_> {
    fn name(&self, thread: ThreadId) -> String {
        self.parts.program.thread(thread).name.clone()
    }

    fn ended(&self, step: &StepFacts) -> Option<TxEvent> {
        match self.parts.program.instr(step.access.thread, step.instr).op {
            Op::Transaction(event @ (TxEvent::Commit | TxEvent::Abort)) => Some(event),
            _ => None,
        }
    }

    /// What another thread does in a round.
    fn meanwhile(&self, thread: ThreadId) -> String {
        let Lasso { stem, round, .. } = self.lasso;
        let steps = &self.parts.replayed.steps;
        let own = |from: usize, to: usize| {
            let steps = steps.get(from..to).unwrap_or_default();
            steps.iter().filter(move |step| step.access.thread == thread)
        };
        let ends: Vec<TxEvent> = own(stem.steps, stem.steps + round.steps).filter_map(|s| self.ended(s)).collect();
        let name = self.name(thread);
        if ends.contains(&TxEvent::Commit) {
            return format!("{name} commits in every round");
        }
        if ends.contains(&TxEvent::Abort) {
            return format!("{name} aborts in every round");
        }
        let chooses = round.choices.get(thread.index()).is_some_and(|choices| *choices > 0);
        if chooses || own(stem.steps, stem.steps + round.steps).next().is_some() {
            return format!("{name} goes on within one command for ever");
        }
        let since = own(0, stem.steps).collect::<Vec<_>>();
        let mut since = since.into_iter().rev().take_while(|step| self.ended(step).is_none());
        match since.any(|step| step.access.read.is_some() || step.access.written.is_some()) {
            true => format!("{name} has stopped within a transaction"),
            false => format!("{name} has stopped outside of transactions"),
        }
    }
}

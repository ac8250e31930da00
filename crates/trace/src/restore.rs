//! From a saved trace back to something that can be replayed.
//!
//! A saved trace is user input: every name and number in it is checked against the recompiled program before an engine sees it.

use std::collections::BTreeSet;
use std::fmt;

use cyrano_criteria::history::{History, Names, parse};
use cyrano_criteria::spec::own;
use cyrano_engine::{Access, Blocked, Execution, Racing, Violation};
use cyrano_ir::{InstrId, Invariant, Liveness, Program, Progress, Property, Structure, ThreadId, TxCriterion};
use cyrano_memory::Model;

use crate::schema::{End, RaceEnd, Relations, SCHEMA, SCHEMAS, Trace, ViolationInfo};

/// Criteria with a list of allowed outcomes.
const OBSERVATIONS: &str = "observations";
const ATOMICITY: &str = cyrano_criteria::table::ATOMICITY;

/// Why a text is not a usable trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    message: String,
}

impl TraceError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Reads a trace; the schema is looked at before anything else, so that a report or a newer trace is named as such.
    pub fn parse(json: &str) -> Result<Self, TraceError> {
        let not_json = |error: serde_json::Error| match error.is_eof() {
            true => TraceError::new(format!("it is cut off: the text ends within a value at line {}", error.line())),
            false => TraceError::new(format!("it is not JSON: {error}")),
        };
        let value: serde_json::Value = serde_json::from_str(json).map_err(not_json)?;
        match value.get("schema").and_then(|schema| schema.as_str()) {
            Some(known) if SCHEMAS.contains(&known) => {}
            Some(other) => {
                return Err(TraceError::new(format!("its schema is `{other}`; expected `{SCHEMA}`")));
            }
            None => return Err(TraceError::new(format!("it has no schema; expected `{SCHEMA}`"))),
        }
        let trace: Self = serde_json::from_value(value)
            .map_err(|error| TraceError::new(format!("it does not follow `{SCHEMA}`: {error}")))?;
        let relations = match trace.model.cat {
            // Without an order of the steps the relations do not follow from them.
            Some(_) => trace.relations,
            None => Relations::of(&trace.steps),
        };
        Ok(Self { schema: SCHEMA.to_owned(), relations, ..trace })
    }

    /// The trace as JSON text.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a trace has only string keys, so it always serialises");
        text + "\n"
    }

    /// The execution, to be replayed.
    pub fn execution(&self) -> Result<Execution, TraceError> {
        let mut order = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            order.push(Access {
                thread: self.thread_id(&step.thread)?,
                index: step.po,
                read: step.read,
                written: step.written,
            });
        }
        let choices = self.threads.iter().map(|thread| thread.choices.clone()).collect();
        let relations = self.model.cat.is_some().then(|| Box::new(self.relations.clone().into()));
        Ok(Execution { order, choices, relations })
    }

    /// The memory model. One with a built-in name has to be the built-in one.
    pub fn memory_model(&self) -> Result<Model, TraceError> {
        let model = Model::try_from(&self.model)?;
        match cyrano_memory::named(&model.name) {
            Some(named) if (Model { summary: named.summary.clone(), ..model.clone() }) != named => {
                Err(TraceError::new(format!("its model `{}` does not have that model's parameters", model.name)))
            }
            _ => Ok(model),
        }
    }

    /// The first recorded fact that replaying the execution does not bear out, if there is one.
    pub fn first_difference(&self, replayed: &Self) -> Option<String> {
        let told = self.as_told_then(replayed);
        let replayed = &told;
        let steps = self.steps.iter().zip(&replayed.steps).find(|(recorded, real)| recorded != real);
        if let Some((_, real)) = steps {
            return Some(format!("step {} is not as recorded", real.n));
        }
        let different = |what: &str| Some(format!("{what} is not as recorded"));
        if self.steps.len() != replayed.steps.len() {
            different("the number of steps")
        } else if self.memory != replayed.memory {
            different("final memory")
        } else if !self.initial.is_empty() && self.initial != replayed.initial {
            different("memory before the first step")
        } else if !self.changes.is_empty() && self.changes != replayed.changes {
            different("how registers change")
        } else if !self.operations.is_empty() && self.operations != replayed.operations {
            different("what the operations are")
        } else if !self.history.is_empty() && self.history != replayed.history {
            different("the history of transactions")
        } else if self.threads != replayed.threads {
            different("where the threads end")
        } else if self.explanation != replayed.explanation {
            different("the explanation")
        } else {
            None
        }
    }

    /// A trace without what traces of an older version do not have, if this is one.
    fn as_told_then(&self, now: &Self) -> Self {
        let mut then = now.clone();
        if self.explanation.waits.is_empty() {
            then.explanation.waits.clear();
        }
        let labelled = |trace: &Self| trace.steps.iter().any(|step| step.label.is_some());
        if labelled(self) || !labelled(now) {
            return then;
        }
        // Labels came together with everything else that is told about algorithms.
        for (step, recorded) in then.steps.iter_mut().zip(&self.steps) {
            (step.label, step.call, step.within) = (None, None, None);
            step.overtook.iter_mut().for_each(|overtaken| overtaken.label = None);
            step.words.clone_from(&recorded.words);
        }
        for thread in &mut then.threads {
            if let End::At { label, .. } | End::Waiting { label, .. } = &mut thread.end {
                *label = None;
            }
        }
        then.operations.clone_from(&self.operations);
        then
    }

    /// The property, as the recompiled program has it.
    pub fn find_property(&self, program: &Program) -> Result<Property, TraceError> {
        let wanted = &self.property;
        if wanted.criterion == Property::Assertions.criterion() {
            return Ok(Property::Assertions);
        }
        if wanted.criterion == Property::CommitAtomicity.criterion() {
            return Ok(Property::CommitAtomicity);
        }
        if wanted.criterion == Property::Races.criterion() {
            return Ok(Property::Races);
        }
        if let Some(text) = &wanted.specification {
            let own = own::parse(text).map_err(|_| TraceError::new("its specification cannot be read"))?;
            own::register(own).map_err(TraceError::new)?;
        }
        if let Some(criterion) = TxCriterion::from_name(&wanted.criterion) {
            return Ok(Property::Transactions(criterion));
        }
        if let Some(progress) = Progress::from_name(&wanted.criterion) {
            return Ok(Property::Progress(progress));
        }
        if let Some(liveness) = Liveness::from_name(&wanted.criterion) {
            return Ok(Property::Live(liveness));
        }
        if let Some(structure) = Structure::from_name(&wanted.criterion) {
            return Ok(Property::Structure(structure));
        }
        if [OBSERVATIONS, ATOMICITY].contains(&wanted.criterion.as_str()) {
            return self.allowed_outcomes(program).map(Property::Observations);
        }
        let declared = program.checks.iter().map(|check| &check.property);
        let mut same = declared.filter(|property| match property {
            Property::Assertions
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity
            | Property::Races
            | Property::Observations(_) => false,
            Property::Final { text, .. } | Property::Invariant(Invariant { text, .. }) => {
                property.criterion() == wanted.criterion && Some(text) == wanted.condition.as_ref()
            }
        });
        same.next().cloned().ok_or_else(|| {
            let condition = wanted.condition.as_deref().unwrap_or("");
            TraceError::new(format!("its program does not declare `check {} ({condition})`", wanted.criterion))
        })
    }

    /// The specification that the trace was checked against.
    fn allowed_outcomes(&self, program: &Program) -> Result<BTreeSet<Vec<i128>>, TraceError> {
        let allowed = self.property.allowed.as_ref();
        let allowed = allowed.ok_or_else(|| TraceError::new("it does not say which observations are allowed"))?;
        let columns = program.observed.len();
        if allowed.iter().any(|outcome| outcome.len() != columns) {
            return Err(TraceError::new(format!("an allowed observation does not have {columns} values")));
        }
        Ok(allowed.clone())
    }

    /// The violation in terms of the recompiled program.
    pub fn find_violation(&self, program: &Program) -> Result<Option<Violation>, TraceError> {
        let recorded = self.threads.iter().map(|thread| &thread.name);
        if !recorded.eq(program.threads.iter().map(|thread| &thread.name)) {
            return Err(TraceError::new("its threads are not those of its program"));
        }
        let Some(violation) = &self.violation else { return Ok(None) };
        let place = |thread: &str, instr: u32| self.place(program, thread, instr);
        Ok(Some(match violation {
            ViolationInfo::Assertion { thread, instr } => {
                let (thread, instr) = place(thread, *instr)?;
                Violation::Assertion { thread, instr }
            }
            ViolationInfo::Error { thread, instr, error } => {
                let (thread, instr) = place(thread, *instr)?;
                Violation::Error { thread, instr, error: *error }
            }
            ViolationInfo::Divergence { thread, instr } => {
                let (thread, instr) = place(thread, *instr)?;
                Violation::AtomicDiverges { thread, instr }
            }
            ViolationInfo::Deadlock { blocked } => {
                let waits = blocked.iter().map(|b| {
                    let (thread, instr) = place(&b.thread, b.instr)?;
                    Ok(Blocked { thread, instr })
                });
                Violation::Deadlock { blocked: waits.collect::<Result<_, TraceError>>()? }
            }
            ViolationInfo::Cycle => Violation::Transactions,
            ViolationInfo::Structure { missing } => {
                Violation::Structure { missing: missing.as_deref().map(restored).transpose()? }
            }
            ViolationInfo::Atomicity => Violation::Blocks,
            ViolationInfo::Lasso(info) => Violation::Lasso(crate::lasso::restore(info, self.thread_id(&info.thread)?)?),
            ViolationInfo::Observation { outcome } => Violation::Observation { outcome: outcome.clone() },
            ViolationInfo::FinalState => Violation::FinalState,
            ViolationInfo::Invariant { standing } => {
                let same = standing.iter().map(|at| &at.thread).eq(program.threads.iter().map(|thread| &thread.name));
                if !same {
                    return Err(TraceError::new("it does not say where every thread stands"));
                }
                let at = standing.iter().map(|at| Ok((at.issued, place(&at.thread, at.instr)?.1)));
                Violation::Invariant { standing: at.collect::<Result<_, TraceError>>()? }
            }
            ViolationInfo::Race { first, second } => {
                let end = |end: &RaceEnd| {
                    let (thread, instr) = place(&end.thread, end.instr)?;
                    let step = end.step.checked_sub(1).ok_or_else(|| TraceError::new("there is no step 0"))?;
                    Ok(Racing { thread, instr, step })
                };
                Violation::Race { first: end(first)?, second: end(second)? }
            }
        }))
    }

    fn place(&self, program: &Program, thread: &str, instr: u32) -> Result<(ThreadId, InstrId), TraceError> {
        let id = self.thread_id(thread)?;
        if instr as usize >= program.thread(id).code.len() {
            return Err(TraceError::new(format!("thread {thread} has no instruction {instr}")));
        }
        Ok((id, InstrId(instr)))
    }

    fn thread_id(&self, name: &str) -> Result<ThreadId, TraceError> {
        let position = self.threads.iter().position(|thread| thread.name == name);
        let id = position.and_then(|position| u16::try_from(position).ok()).map(ThreadId);
        id.ok_or_else(|| TraceError::new(format!("it has no thread `{name}`")))
    }
}

/// A history from the words of its events; threads are numbers from 1 and variables have their usual names.
fn restored(events: &[String]) -> Result<History, TraceError> {
    let wrong = || TraceError::new("the missing history cannot be read");
    let text = format!("history memory\n{}\n", events.join("\n"));
    let mut parsed = parse(&text).map_err(|_| wrong())?;
    let variable = |name: &String| (0..=u8::MAX).find(|v| Names::default().variable(*v) == *name);
    let thread = |name: &String| name.parse::<u8>().ok()?.checked_sub(1);
    let variables: Option<Vec<u8>> = parsed.names.variables.iter().map(variable).collect();
    let threads: Option<Vec<u8>> = parsed.names.threads.iter().map(thread).collect();
    let (Some(variables), Some(threads)) = (variables, threads) else { return Err(wrong()) };
    for event in &mut parsed.history {
        event.thread = threads[usize::from(event.thread)];
        event.action = event.action.with_variable(|v| variables[usize::from(v)]);
    }
    Ok(parsed.history)
}

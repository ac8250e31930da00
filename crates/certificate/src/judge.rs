//! What a claim makes of single steps and of ends: is something wrong, and has anything happened at all?
//!
//! For transactions that are judged by conflicts a state has the criterion's monitor (`cyrano_criteria::monitor`), which is told of every access and event
//! as they are performed. Whoever trusts such a certificate trusts the monitor; it is compared with the definitions on all short histories.

use cyrano_criteria::history::{Action, Event};
use cyrano_criteria::monitor::{Monitor, MonitorState};
use cyrano_engine::configuration::{Configuration, Product, Serial, Value};
use cyrano_engine::vacuity::{self, Did};
use cyrano_engine::{Violation, history};
use cyrano_interp::steps::{End, Performed, Step, Steps};
use cyrano_ir::{AccessKind, EvalError, FinalVar, Op, Program, Property, Quantifier, StateVar, ThreadId, TxEvent};

use crate::blocks;

/// What a criterion remembers beside a configuration: its monitor's state, or the serial run of blocks.
pub(crate) type Remembered = (Vec<u8>, Option<Serial>);

/// A claim about a program.
pub(crate) struct Judge<'c> {
    program: &'c Program,
    property: &'c Property,
    monitor: Option<Monitor>,
    /// The code of units, if blocks are judged.
    blocks: Option<blocks::Code<'c>>,
}

/// What was seen happening in reachable states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ended: u64,
    asserted: bool,
    pub(crate) committed: bool,
    read: bool,
    stored: bool,
    pub(crate) stood: bool,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub(crate) enum Wrong {
    /// The program does something wrong.
    Violation(Box<Violation>),
    /// The criterion rejects the history.
    History(String),
    /// A final state contradicts the claim.
    Final(String),
    /// A state contradicts the claim.
    State(String),
    /// It cannot be told, for the state does not have what it takes.
    Unknown(String),
}

impl<'c> Judge<'c> {
    pub(crate) fn new(program: &'c Program, property: &'c Property) -> Result<Self, String> {
        crate::provable(program, property)?;
        let monitor = match property {
            Property::Transactions(criterion) => {
                Some(Monitor::new(*criterion, history::size(program)).map_err(|why| why.to_string())?)
            }
            _ => None,
        };
        if monitor.is_some() && program.transactional.is_empty() {
            return Err(format!("`{}` says nothing about this program: it has no transactions", property.criterion()));
        }
        let blocks = (*property == Property::CommitAtomicity).then(|| blocks::Code::new(program));
        Ok(Self { program, property, monitor, blocks })
    }

    /// Whether failed assertions and deadlocks count.
    fn judges_steps(&self) -> bool {
        use Property::{CommitAtomicity, Final, Invariant, Races};
        !matches!(self.property, Final { .. } | Invariant(_) | Races | CommitAtomicity)
    }

    /// Whether a computation that goes wrong counts; else the execution ends there and has no final state. An invariant, like the absence of races, is about
    /// all moments of executions that nothing cuts short.
    fn judges_errors(&self) -> bool {
        !matches!(self.property, Property::Final { .. })
    }

    /// What a criterion remembers before the first step.
    pub(crate) fn initial(&self) -> Remembered {
        let monitor = self.monitor.as_ref().map_or_else(Vec::new, |monitor| encoded(monitor, &monitor.initial()));
        (monitor, self.blocks.as_ref().map(|code| blocks::initial(self.program, code)))
    }

    /// What is wrong with a state's monitor, if anything.
    pub(crate) fn remembers(&self, state: &Product) -> Result<(), String> {
        match (&self.blocks, &state.serial) {
            (Some(_), _) => blocks::remembers(self.program, state)?,
            (None, Some(_)) => return Err("a state has a serial run where no blocks are judged".into()),
            (None, None) => {}
        }
        match &self.monitor {
            None if state.monitor.is_empty() => Ok(()),
            None => Err("a state has a monitor where nothing is monitored".into()),
            Some(monitor) => self.decode(monitor, &state.monitor).map(drop),
        }
    }

    fn decode(&self, monitor: &Monitor, bytes: &[u8]) -> Result<MonitorState, String> {
        let decoded = monitor.decode(bytes).map(|(state, _)| state);
        let same = |state: &MonitorState| encoded(monitor, state) == bytes;
        decoded.filter(same).ok_or_else(|| "the monitor of a state cannot be read".into())
    }

    /// The state that a step leads to, unless the execution ends with it; where blocks are judged, before memory is compared ([`Judge::compare`]).
    pub(crate) fn take(
        &self,
        (before, serial): (&[u8], Option<&Serial>),
        step: &Step,
        seen: &mut Seen,
    ) -> Result<Option<Product>, Wrong> {
        seen.asserted |= step.asserted;
        if let (Some((thread, instr)), true) = (step.failed, self.judges_steps()) {
            return Err(Wrong::Violation(Box::new(Violation::Assertion { thread, instr })));
        }
        let monitor = self.tell(before, step, seen)?;
        match &step.wrong {
            Some(violation) if self.judges_errors() => return Err(Wrong::Violation(Box::new(violation.clone()))),
            Some(_) => return Ok(None),
            None => {}
        }
        let serial = match (&self.blocks, serial) {
            (Some(code), Some(before)) => Some(blocks::after(code, before, step, seen)?),
            _ => None,
        };
        Ok(Some(Product { at: step.to.clone(), monitor, serial }))
    }

    /// Where nobody is in a block, memory is that of a serial run.
    pub(crate) fn compare(&self, steps: &Steps<'_>, state: &mut Product) -> Result<(), Wrong> {
        blocks::compare(steps, state)
    }

    /// Tells the monitor of a step.
    fn tell(&self, before: &[u8], step: &Step, seen: &mut Seen) -> Result<Vec<u8>, Wrong> {
        let Some(monitor) = &self.monitor else { return Ok(Vec::new()) };
        let mut state = self.decode(monitor, before).map_err(Wrong::Unknown)?;
        for performed in &step.performed {
            let thread = step.thread.0 as u8;
            let begins = performed.kind != AccessKind::Mark && !performed.stale;
            let begin = (begins && monitor.can_begin(&state, thread)).then_some(Action::Begin);
            for action in begin.into_iter().chain(self.action(step.thread, performed, seen)) {
                let told = monitor.step(&mut state, Event { thread, action });
                told.map_err(|rejection| Wrong::History(rejection.to_string()))?;
            }
        }
        Ok(encoded(monitor, &state))
    }

    fn action(&self, thread: ThreadId, performed: &Performed, seen: &mut Seen) -> Option<Action> {
        let op = &self.program.instr(thread, performed.instr).op;
        if let Op::Transaction(event) = op {
            seen.committed |= *event == TxEvent::Commit;
            seen.read |= *event == TxEvent::ReadFinish;
            return Some(match event {
                TxEvent::ReadFinish => Action::ReadFinish,
                TxEvent::Commit => Action::Commit,
                TxEvent::Abort => Action::Abort,
            });
        }
        let variable = self.program.transactional.iter().position(|loc| Some(*loc) == performed.loc)?;
        let action = history::access(performed.kind, op, performed.written.is_some(), u8::try_from(variable).ok()?);
        seen.stored |= !performed.stale && matches!(action, Some(Action::Store(_) | Action::Cas(_)));
        action
    }

    /// Whether steps that can follow one another directly are to be looked at.
    pub(crate) fn is_about_races(&self) -> bool {
        matches!(self.property, Property::Races)
    }

    /// Any state, once the program has begun.
    pub(crate) fn moment(&self, at: &Configuration, seen: &mut Seen) -> Result<(), Wrong> {
        let Property::Invariant(invariant) = self.property else { return Ok(()) };
        let stands = |point| {
            let point = self.program.point(point);
            point.has(at.threads[point.thread.index()].pc)
        };
        seen.stood |= invariant.points().into_iter().any(stands);
        let mut unknown = None;
        let value = invariant.cond.eval(&mut |var| match var {
            StateVar::Loc(loc) => Ok(at.memory[loc.index()]),
            StateVar::Reg(thread, register) => value(at, FinalVar::Reg(*thread, *register)).map_err(|why| {
                unknown = Some(why);
                EvalError::Undefined
            }),
            StateVar::At(point) => Ok(stands(*point).into()),
        });
        match (unknown, value) {
            (Some(why), _) => Err(Wrong::Unknown(why)),
            (None, Ok(value)) if value != 0 => Ok(()),
            (None, Ok(_)) => Err(Wrong::State(format!("the invariant {} does not hold in it", invariant.text))),
            (None, Err(error)) => {
                Err(Wrong::State(format!("the invariant {} has no value in it: {error}", invariant.text)))
            }
        }
    }

    /// A state that no step leads on from.
    pub(crate) fn end(&self, at: &Configuration, end: End, seen: &mut Seen) -> Result<(), Wrong> {
        match end {
            End::Dropped => Ok(()),
            End::Deadlock(_) if !self.judges_steps() => Ok(()),
            End::Deadlock(blocked) => Err(Wrong::Violation(Box::new(Violation::Deadlock { blocked }))),
            End::Final => {
                seen.ended += 1;
                self.final_state(at)
            }
        }
    }

    fn final_state(&self, at: &Configuration) -> Result<(), Wrong> {
        match self.property {
            Property::Observations(allowed) => {
                let outcome = outcome(self.program, at).map_err(Wrong::Unknown)?;
                if allowed.contains(&outcome) {
                    return Ok(());
                }
                Err(Wrong::Final(format!("the outcome {} is none that is allowed", shown(&outcome))))
            }
            Property::Final { quantifier, cond, text } => {
                let mut unknown = None;
                let value = cond.eval(&mut |var| {
                    value(at, *var).map_err(|why| {
                        unknown = Some(why);
                        EvalError::Undefined
                    })
                });
                if let Some(why) = unknown {
                    return Err(Wrong::Unknown(why));
                }
                let wanted = i128::from(*quantifier == Quantifier::Always);
                match value {
                    Ok(value) if i128::from(value != 0) == wanted => Ok(()),
                    Ok(_) => Err(Wrong::Final(format!("it decides against {} ({text})", quantifier.name()))),
                    Err(error) => Err(Wrong::Final(format!("the condition {text} has no value in it: {error}"))),
                }
            }
            _ => Ok(()),
        }
    }

    /// Why nothing was exercised, if nothing was.
    pub(crate) fn unexercised(&self, seen: &Seen) -> Option<&'static str> {
        let ended = seen.ended > 0;
        match self.property {
            Property::Assertions if seen.asserted || can_wait(self.program) => None,
            Property::Assertions if !vacuity::can_go_wrong(self.program) => Some(vacuity::NO_ASSERTION),
            Property::Assertions => (!ended).then_some(vacuity::NO_ASSERTION_REACHED),
            Property::Observations(_) if self.program.observed.is_empty() => Some(vacuity::NOTHING_OBSERVED),
            Property::Invariant(invariant) => {
                let unseen = !seen.stood && !invariant.points().is_empty();
                unseen.then_some(vacuity::NO_POINT_REACHED)
            }
            Property::CommitAtomicity if blocks::Code::never_commits(self.program) => Some(vacuity::NO_COMMIT_POINT),
            Property::CommitAtomicity => (!seen.committed).then_some(vacuity::NO_BLOCK_COMMITS),
            Property::Races => (!vacuity::can_conflict(self.program)).then_some(vacuity::NO_CONFLICT),
            Property::Transactions(_) => {
                let Seen { committed, read, stored, .. } = *seen;
                // That one transaction does all of it is a matter of history, which states do not have.
                let did = Did { committed, read, stored, committed_read: true, committed_store: true };
                vacuity::idle_transactions(self.program, did)
            }
            _ => (!ended).then_some(vacuity::NO_END),
        }
    }
}

fn encoded(monitor: &Monitor, state: &MonitorState) -> Vec<u8> {
    let mut bytes = Vec::new();
    monitor.encode(state, &mut bytes);
    bytes
}

/// Whether a section can wait.
pub(crate) fn can_wait(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|instr| {
            match instr.op {
                Op::AtomicBegin => inside = true,
                Op::AtomicEnd => inside = false,
                _ => {}
            }
            inside && matches!(instr.op, Op::Assume(_))
        })
    })
}

/// What is observed of a final state.
pub(crate) fn outcome(program: &Program, at: &Configuration) -> Result<Vec<i128>, String> {
    program.observed.iter().map(|observed| value(at, observed.var)).collect()
}

fn value(at: &Configuration, var: FinalVar) -> Result<i128, String> {
    match var {
        FinalVar::Loc(loc) => Ok(at.memory[loc.index()]),
        FinalVar::Reg(thread, register) => match at.threads[thread.index()].registers[register.index()] {
            Value::Known(value) => Ok(value),
            Value::Pending(_) | Value::Forgotten => {
                Err("a register that is asked about is forgotten, or its load is outstanding".into())
            }
        },
    }
}

/// An outcome in parentheses.
pub(crate) fn shown(outcome: &[i128]) -> String {
    let values: Vec<String> = outcome.iter().map(|value| value_shown(*value)).collect();
    format!("({})", values.join(", "))
}

pub(crate) fn value_shown(value: i128) -> String {
    if value == cyrano_ir::UNDEFINED { "undefined".into() } else { value.to_string() }
}

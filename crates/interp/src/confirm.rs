//! Does a recorded execution show what is claimed?

use cyrano_criteria::history::{Event, Size};
use cyrano_criteria::spec::named::named;
use cyrano_criteria::spec::walk::rejection;
use cyrano_criteria::structure::images::{images, without_idle};
use cyrano_criteria::structure::isolation;
use cyrano_criteria::values;
use cyrano_engine::{Blocked, Execution, Query, Question, Replayed, ThreadEnd, Violation};
use cyrano_ir::{
    EvalError, FinalExpr, FinalVar, LocId, Op, Program, Property, Quantifier, Structure, ThreadId, TxCriterion,
};
use cyrano_memory::Model;

use crate::blocks;
use crate::error::ReplayError;
use crate::goals::decides;
use crate::happens::Order;
use crate::issue;
use crate::lasso;
use crate::machine::Machine;
use crate::machine::section::{self, Fate};
use crate::moments;
use crate::moments::stops::Stop;
use crate::order::{Placing, Written};
use crate::relational;
use crate::replay::{Replay, Standing};

/// How many deferred accesses a thread may issue on its way to what is claimed of it.
const PATIENCE: usize = 256;

/// Replays an execution and checks the claim: a violation of the property, or with none a witness of `exists`; for assertions
/// without a violation, only that the steps are a beginning of an execution. What may not be asked is not confirmed either.
pub fn confirm(
    program: &Program,
    model: &Model,
    property: &Property,
    violation: Option<&Violation>,
    execution: &Execution,
) -> Result<Replayed, ReplayError> {
    Query::new(program, model, Question::Holds(property)).map_err(ReplayError::new)?;
    if let Some(cat) = model.cat() {
        return relational::confirm(program, (model, cat), property, violation, execution);
    }
    let about = violation.and_then(subject);
    let patience = |thread| if about == Some(thread) { PATIENCE } else { 0 };
    let replay = Replay::new(program, model, execution, patience)?;
    let (placing, replayed) = replay.check()?;
    let claim = Claim { program, model, replay: &replay, placing: &placing, replayed: &replayed };
    if let Some(thread) = about.filter(|thread| Some(*thread) != program.setup)
        && !replay.setup_is_done(&placing)
    {
        let name = claim.name(thread);
        return unconfirmed(format_args!("{name} has not started, for the setup thread is not done (axiom 8)"));
    }
    match (property, violation) {
        (Property::Transactions(criterion), Some(Violation::Transactions)) => claim.is_rejected(*criterion)?,
        (Property::Observations(allowed), Some(Violation::Observation { outcome })) => {
            claim.shows(outcome)?;
            if allowed.contains(outcome) {
                return unconfirmed("the outcome of the final state is among the allowed ones");
            }
        }
        (Property::Progress(_) | Property::Live(_), Some(Violation::Lasso(lasso))) => {
            lasso::confirm(program, model, property, lasso, execution, &replayed.steps)?;
        }
        // An assertion that fails ends nothing.
        (Property::Live(_), Some(Violation::Assertion { .. })) => return Err(other_property()),
        (Property::Structure(structure), Some(Violation::Structure { missing })) => {
            claim.asks_in_vain(*structure, missing.as_deref())?;
        }
        (Property::CommitAtomicity, Some(Violation::Blocks)) => {
            let serial = blocks::part(program, &replay, &placing)?;
            return Ok(Replayed { serial: Some(serial), ..replayed });
        }
        (Property::Invariant(invariant), Some(Violation::Invariant { standing })) => {
            let at = moments::confirm(program, model, invariant, execution, &replayed.memory, standing)?;
            return Ok(standing_at(&replay, replayed.clone(), &at));
        }
        (Property::Races, Some(Violation::Race { first, second })) => {
            let order = Order::new(program, placing.events, &placing.order);
            holds(order.has_race(*first, *second), "these accesses do not race in this execution")?;
        }
        (Property::Invariant(_) | Property::Races, Some(violation)) if is_error(violation) => {
            claim.goes_wrong(violation)?;
            return Ok(stopped(&replay, replayed.clone(), violation));
        }
        (
            Property::Assertions
            | Property::Observations(_)
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity,
            Some(violation),
        ) => {
            claim.goes_wrong(violation)?;
            return Ok(stopped(&replay, replayed.clone(), violation));
        }
        (Property::Final { .. }, Some(Violation::NoWitness)) => return nothing_to_replay(),
        (Property::Final { quantifier: Quantifier::Exists, cond, text }, None) => {
            claim.final_state(Quantifier::Exists, cond, text)?;
        }
        (
            Property::Final { quantifier: quantifier @ (Quantifier::Never | Quantifier::Always), cond, text },
            Some(Violation::FinalState),
        ) => claim.final_state(*quantifier, cond, text)?,
        // Nothing is claimed but that the steps can be taken, as when somebody takes them by hand.
        (Property::Assertions, None) => {}
        _ => return Err(other_property()),
    }
    Ok(replayed)
}

/// Whether a computation goes wrong, which every claim about all moments says something about.
fn is_error(violation: &Violation) -> bool {
    matches!(violation, Violation::Error { .. } | Violation::AtomicDiverges { .. })
}

/// What was replayed, with the threads where they are said to stand.
fn standing_at(replay: &Replay<'_>, mut replayed: Replayed, at: &[Stop]) -> Replayed {
    for (thread, stop) in at.iter().enumerate() {
        let machine = &replay.threads[thread].machine;
        let done = matches!(machine.code.op(stop.pc), Op::Halt) && replayed.ends[thread] == ThreadEnd::Done;
        replayed.ends[thread] = if done { ThreadEnd::Done } else { ThreadEnd::At(stop.pc) };
        replayed.registers[thread].clone_from(&stop.registers);
    }
    replayed
}

/// What was replayed, with the thread that goes wrong where it does.
fn stopped(replay: &Replay<'_>, mut replayed: Replayed, violation: &Violation) -> Replayed {
    if let Violation::Assertion { thread, instr } | Violation::Error { thread, instr, .. } = violation {
        replay.stop_at(&mut replayed, *thread, *instr);
    }
    replayed
}

/// The thread that a violation is about.
fn subject(violation: &Violation) -> Option<ThreadId> {
    match violation {
        Violation::Assertion { thread, .. }
        | Violation::Error { thread, .. }
        | Violation::AtomicDiverges { thread, .. } => Some(*thread),
        Violation::Deadlock { .. }
        | Violation::Transactions
        | Violation::Lasso(_)
        | Violation::Structure { .. }
        | Violation::Blocks
        | Violation::Observation { .. }
        | Violation::FinalState
        | Violation::NoWitness
        | Violation::Invariant { .. }
        | Violation::Race { .. } => None,
    }
}

struct Claim<'a, 'p> {
    program: &'p Program,
    model: &'p Model,
    replay: &'a Replay<'p>,
    placing: &'a Placing<'a>,
    replayed: &'a Replayed,
}

impl<'p> Claim<'_, 'p> {
    fn machine(&self, thread: ThreadId) -> Option<&Machine<'p>> {
        self.replay.threads.get(thread.index()).map(|run| &run.machine)
    }

    /// The thread's name; a claim may name a thread that does not exist.
    fn name(&self, thread: ThreadId) -> String {
        let exists = thread.index() < self.program.threads.len();
        if exists { self.replay.name(thread) } else { format!("thread {}", thread.0) }
    }

    /// The brute-force oracle rejects the history, and no shorter one.
    fn is_rejected(&self, criterion: TxCriterion) -> Result<(), ReplayError> {
        if self.program.has_calls() {
            return self.is_rejected_by_values(criterion);
        }
        if !criterion.is_about_memory() {
            return Err(other_property());
        }
        let (history, _) = cyrano_engine::history::history(self.program, self.replayed);
        let rejected = match criterion {
            TxCriterion::Spec(spec) => {
                let size = cyrano_engine::history::size(self.program);
                let mut automaton = named(spec.name(), size).map_err(ReplayError::new)?;
                rejection(automaton.as_mut(), &history).is_some()
            }
            _ => !cyrano_criteria::oracle::accepts(criterion, &history),
        };
        holds(rejected, format_args!("the history of transactions satisfies {}", criterion.name()))
    }

    /// A transaction sees what it should not; or the history asks for the missing one. That the memory does not have that one is not for one
    /// execution to show.
    fn asks_in_vain(&self, structure: Structure, missing: Option<&[Event]>) -> Result<(), ReplayError> {
        let seen =
            |kind| isolation::breach(kind, &cyrano_engine::history::deeds(self.program, self.replayed)).is_some();
        let size = Size { threads: self.program.threads.len() as u8, vars: self.program.transactional.len() as u8 };
        let history = without_idle(&cyrano_engine::history::history(self.program, self.replayed).0);
        let asks = match (structure, missing) {
            (Structure::AbortIsolation, None) => seen(isolation::Kind::Abort),
            (Structure::PendingIsolation, None) => seen(isolation::Kind::Pending),
            (_, Some(missing)) => images(structure, size, &history).iter().any(|image| image == missing),
            _ => return Err(other_property()),
        };
        holds(asks, format_args!("the execution does not ask {} for that", structure.name()))
    }

    /// The same for a history with values.
    fn is_rejected_by_values(&self, criterion: TxCriterion) -> Result<(), ReplayError> {
        if !criterion.judges_prefixes() {
            self.is_final()?;
        }
        let spoken = cyrano_engine::values::history(self.program, self.replayed);
        let wrong = |history| !values::oracle::accepts(criterion, history) || self.ends_badly(criterion, history);
        let rejected = spoken.history.as_ref().is_some_and(wrong);
        holds(rejected, format_args!("the history of transactions satisfies {}", criterion.name()))
    }

    /// All transactions have committed, and no order, or not the one that is claimed, explains the memory at the end.
    fn ends_badly(&self, criterion: TxCriterion, history: &values::History) -> bool {
        if !self.program.restarts() || self.is_final().is_err() {
            return false;
        }
        let memory: Vec<i128> =
            self.program.transactional.iter().map(|loc| self.replayed.memory[loc.index()]).collect();
        match criterion {
            TxCriterion::InOrder(order) => {
                let keys = cyrano_engine::values::keys(self.program, self.replayed, order);
                keys.is_some_and(|keys| !values::oracle::ends_in_order(history, &memory, &keys))
            }
            _ => !values::oracle::ends(criterion, history, &memory),
        }
    }

    fn goes_wrong(&self, violation: &Violation) -> Result<(), ReplayError> {
        match violation {
            Violation::Assertion { thread, instr } => {
                let fails = self.machine(*thread).is_some_and(|machine| machine.failed.contains(instr));
                let thread = self.name(*thread);
                holds(fails, format_args!("the assertion in {thread} does not fail in this execution"))
            }
            Violation::Error { thread, instr, error } => {
                let happens = self.machine(*thread).is_some_and(|machine| machine.errors.contains(&(*instr, *error)));
                let happens = happens || self.placing.errors().any(|found| found == (*thread, *instr, *error));
                let thread = self.name(*thread);
                holds(happens, format_args!("there is no {error} at that place of {thread}"))
            }
            Violation::AtomicDiverges { thread, instr } => {
                let run = self.replay.threads.get(thread.index());
                let run = run.filter(|run| run.standing == Standing::BeforeSection(*instr));
                let endless = run.is_some_and(|run| self.is_endless(*thread, &run.machine));
                let thread = self.name(*thread);
                holds(endless, format_args!("{thread} does not stand before an endless atomic section"))
            }
            Violation::Deadlock { blocked } => self.deadlock(blocked),
            Violation::FinalState
            | Violation::Observation { .. }
            | Violation::Transactions
            | Violation::Lasso(_)
            | Violation::Structure { .. }
            | Violation::Invariant { .. }
            | Violation::Race { .. }
            | Violation::Blocks => Err(other_property()),
            Violation::NoWitness => nothing_to_replay(),
        }
    }

    /// Whether the section does not end when it starts now, and whether it may start now.
    fn is_endless(&self, thread: ThreadId, before: &Machine<'p>) -> bool {
        let Fate::Diverges(inside) = section::fate(before, &|loc| self.view(thread, loc)) else { return false };
        let cut = before.events.len();
        let start = self.placing.events.start[thread.index()];
        issue::events(&inside).iter().skip(cut).all(|event| {
            let before = event.before.below(cut).shifted(start);
            before.within(&self.placing.placed)
        })
    }

    /// What a location holds for a thread whose stores may be deferred.
    fn view(&self, thread: ThreadId, loc: LocId) -> i128 {
        let list = &self.placing.events.list;
        let own = list.iter().enumerate().rev().find(|(number, event)| {
            let stores = event.written != Written::Nothing && event.loc == loc;
            stores && event.thread == thread && !self.placing.placed.contains(*number)
        });
        let forwarded = own.filter(|_| self.model.reordering().forwarding).and_then(|(_, event)| event.written.value());
        forwarded.unwrap_or(self.replayed.memory[loc.index()])
    }

    fn deadlock(&self, claimed: &[Blocked]) -> Result<(), ReplayError> {
        let mut blocked = Vec::new();
        // As long as the setup thread is not done the others wait for it, which is not what they are blocked by.
        let setup = self.program.setup.filter(|_| !self.replay.setup_is_done(self.placing));
        for thread in self.program.thread_ids().filter(|thread| setup.is_none_or(|setup| setup == *thread)) {
            let run = &self.replay.threads[thread.index()];
            let performed = self.replay.first_deferred(self.placing, thread).is_none();
            match run.standing {
                Standing::Halted if performed => {}
                Standing::BeforeSection(instr) if performed && self.waits(&run.machine) => {
                    blocked.push(Blocked { thread, instr });
                }
                _ => return unconfirmed(format_args!("{} is neither done nor blocked", self.name(thread))),
            }
        }
        let same = blocked.len() == claimed.len() && blocked.iter().all(|thread| claimed.contains(thread));
        holds(same && !blocked.is_empty(), "other threads are blocked than the ones named")
    }

    fn waits(&self, before: &Machine<'p>) -> bool {
        matches!(section::fate(before, &|loc| self.replayed.memory[loc.index()]), Fate::Waits)
    }

    fn final_state(&self, quantifier: Quantifier, cond: &FinalExpr, text: &str) -> Result<(), ReplayError> {
        self.is_final()?;
        let decided = decides(quantifier, self.truth(cond));
        holds(decided, format_args!("the final state does not decide the condition {text}"))
    }

    /// The final state shows this outcome.
    fn shows(&self, outcome: &[i128]) -> Result<(), ReplayError> {
        self.is_final()?;
        let shown = self.program.observed.iter().map(|observable| self.final_value(&observable.var));
        let same = shown.eq(outcome.iter().copied());
        holds(same, "the final state shows another outcome than the one named")
    }

    /// Every thread has run to its end without an error, and nothing is deferred.
    fn is_final(&self) -> Result<(), ReplayError> {
        for thread in self.program.thread_ids() {
            let run = &self.replay.threads[thread.index()];
            let performed = self.replay.first_deferred(self.placing, thread).is_none();
            if run.standing != Standing::Halted || !performed {
                return unconfirmed(format_args!("{} has not finished", self.name(thread)));
            }
            if let Some((_, error)) = run.machine.errors.first() {
                return self.broken(thread, *error);
            }
        }
        if let Some((thread, _, error)) = self.placing.errors().next() {
            return self.broken(thread, error);
        }
        Ok(())
    }

    fn broken(&self, thread: ThreadId, error: EvalError) -> Result<(), ReplayError> {
        unconfirmed(format_args!("{} computes no final state: {error}", self.name(thread)))
    }

    fn final_value(&self, var: &FinalVar) -> i128 {
        match var {
            FinalVar::Loc(loc) => self.replayed.memory[loc.index()],
            FinalVar::Reg(thread, register) => {
                let value = self.replayed.registers[thread.index()][register.index()];
                value.expect("a thread whose accesses are all performed misses no value")
            }
        }
    }

    fn truth(&self, cond: &FinalExpr) -> Result<bool, EvalError> {
        let value = cond.eval(&mut |var| Ok(self.final_value(var)));
        value.map(|value| value != 0)
    }
}

fn unconfirmed<T>(why: impl std::fmt::Display) -> Result<T, ReplayError> {
    Err(ReplayError::new(why))
}

fn holds(holds: bool, otherwise: impl std::fmt::Display) -> Result<(), ReplayError> {
    if holds { Ok(()) } else { unconfirmed(otherwise) }
}

fn other_property() -> ReplayError {
    ReplayError::new("the property has no such violation")
}

fn nothing_to_replay<T>() -> Result<T, ReplayError> {
    unconfirmed("the claim comes without an execution; there is nothing to replay")
}

//! Transactions as blocks of steps, and why no order of them explains what they saw.
//!
//! **Invariant:** a block has the same name here as in the words of `cyrano_criteria::oracle::explain`: `T1`, `T2`, … in the order of
//! their first events. A transaction whose only events so far do not count (loads that are not used yet) comes after these.
//!
//! To which transaction a step belongs is a matter of program order: everything between two ends of transactions of its thread.

use std::collections::HashMap;

use cyrano_criteria::criterion::SpecName;
use cyrano_criteria::history::{Action, History, MEMORY, Names, Size};
use cyrano_criteria::oracle::{self, Edge, Outcome, Reason, Split, Wrong};
use cyrano_criteria::spec::named::named;
use cyrano_criteria::spec::walk::{Rejection, rejection};
use cyrano_engine::history::{history, size};
use cyrano_engine::{StepFacts, Violation};
use cyrano_ir::{Op, Program, Property, ThreadId, TxCriterion, TxEvent};

use crate::calls;
use crate::record::Parts;
use crate::rerun;
use crate::schema::{Conflict, Explanation, TransactionInfo};

/// Which step belongs to which transaction.
pub(crate) struct Blocks {
    /// For each transaction its thread and its status.
    transactions: Vec<(ThreadId, Outcome)>,
    /// The number of each step's transaction.
    of: Vec<Option<usize>>,
}

impl Blocks {
    pub(crate) fn new(parts: &Parts<'_>) -> Self {
        let (program, steps) = (parts.program, &parts.replayed.steps);
        let mut blocks = Self { transactions: Vec::new(), of: vec![None; steps.len()] };
        let found: Vec<(ThreadId, Outcome)> = if program.has_calls() {
            let outcome = |ended: Option<bool>| match ended {
                None => Outcome::Unfinished,
                Some(true) => Outcome::Committed,
                Some(false) => Outcome::Aborted,
            };
            let all = calls::transactions(parts).into_iter();
            all.map(|(thread, ended)| (ThreadId::new(thread), outcome(ended))).collect()
        } else if !program.transactional.is_empty() {
            let all = judged(parts).transactions.into_iter();
            all.map(|transaction| (ThreadId(transaction.thread.into()), transaction.outcome)).collect()
        } else {
            return blocks;
        };
        let mut numbers: HashMap<(ThreadId, usize), usize> = HashMap::new();
        for (thread, outcome) in found {
            let earlier = blocks.transactions.iter().filter(|(other, _)| *other == thread).count();
            numbers.insert((thread, earlier), blocks.transactions.len());
            blocks.transactions.push((thread, outcome));
        }
        for (at, facts) in steps.iter().enumerate() {
            let thread = facts.access.thread;
            let place = (thread, transactions_before(program, steps, facts));
            let number = *numbers.entry(place).or_insert_with(|| {
                blocks.transactions.push((thread, Outcome::Unfinished));
                blocks.transactions.len() - 1
            });
            blocks.of[at] = Some(number);
        }
        blocks
    }

    /// The name of a step's transaction.
    pub(crate) fn name(&self, step: usize) -> Option<String> {
        self.of.get(step).copied().flatten().map(name)
    }

    pub(crate) fn infos(&self, parts: &Parts<'_>) -> Vec<TransactionInfo> {
        let info = |(number, (thread, outcome)): (usize, &(ThreadId, Outcome))| {
            let mut steps = self.of.iter().enumerate().filter(|(_, of)| **of == Some(number)).map(|(at, _)| at + 1);
            let first = steps.next()?;
            Some(TransactionInfo {
                name: name(number),
                thread: parts.program.thread(*thread).name.clone(),
                first,
                last: steps.next_back().unwrap_or(first),
                status: status(*outcome).to_owned(),
            })
        };
        self.transactions.iter().enumerate().filter_map(info).collect()
    }
}

/// The register in which the client of a transactional memory keeps its choice: the reads of all variables, their writes, `end`.
const COMMAND: &str = "%cmd";

/// The commands that a thread's client chose.
pub(crate) fn commands(parts: &Parts<'_>, thread: ThreadId) -> Vec<String> {
    if parts.program.transactional.is_empty() {
        return Vec::new();
    }
    let name = |(chosen, offered): (i128, usize)| {
        let vars = (offered / 2) as i128;
        match chosen {
            read if read < vars => format!("read({read})"),
            write if write < 2 * vars => format!("write({})", write - vars),
            _ => "end".to_owned(),
        }
    };
    rerun::chosen(parts.program, parts.execution, thread, COMMAND).into_iter().map(name).collect()
}

/// How many transactions of the step's thread ended before it in program order.
fn transactions_before(program: &Program, steps: &[StepFacts], facts: &StepFacts) -> usize {
    let own = steps.iter().filter(|other| other.access.thread == facts.access.thread);
    let earlier = own.filter(|other| other.access.index < facts.access.index);
    earlier.filter(|other| ends(&program.instr(other.access.thread, other.instr).op, other)).count()
}

fn ends(op: &Op, facts: &StepFacts) -> bool {
    matches!(op, Op::Transaction(TxEvent::Commit | TxEvent::Abort)) || calls::ends(op, facts).is_some()
}

/// The transactions of the history, numbered as in the words about it.
fn judged(parts: &Parts<'_>) -> Split {
    let (history, _) = history(parts.program, parts.replayed);
    oracle::split(&history)
}

/// Why the history of the execution is not correct; `None` if it is.
pub(crate) fn explain(parts: &Parts<'_>, criterion: TxCriterion) -> Option<Explanation> {
    if parts.program.has_calls() {
        return calls::explain(parts, criterion);
    }
    if !criterion.is_about_memory() {
        return None;
    }
    let (history, steps) = history(parts.program, parts.replayed);
    if let TxCriterion::Spec(spec) = criterion {
        let names = Names { threads: Vec::new(), ..names(parts) };
        let rejected =
            explain_rejection(spec, size(parts.program), &history, &names, "step", &|event| steps[event] + 1);
        return rejected.map(|(_, explanation)| explanation);
    }
    explain_history(criterion, &history, &names(parts), &|event| steps[event] + 1).map(|(_, explanation)| explanation)
}

/// The history of the execution as a file for `cyrano history`, line by line, if the criterion rejects it (FOIL, Table 3). Where the beginnings of
/// transactions make no difference they are left out, as in the paper.
pub(crate) fn lines(parts: &Parts<'_>) -> Vec<String> {
    let Property::Transactions(criterion) = parts.property else { return Vec::new() };
    if parts.program.has_calls() || !criterion.is_about_memory() || parts.violation != Some(&Violation::Transactions) {
        return Vec::new();
    }
    let (history, _) = history(parts.program, parts.replayed);
    let plain: History = history.iter().copied().filter(|event| event.action != Action::Begin).collect();
    let told = match criterion {
        TxCriterion::Spec(_) => plain,
        _ if oracle::accepts(*criterion, &plain) => history,
        _ => plain,
    };
    let names = Names { threads: Vec::new(), ..names(parts) };
    let events = told.iter().map(|event| names.event(event));
    [MEMORY.to_owned()].into_iter().chain(events).collect()
}

/// Where a specification has no move for the history.
fn explain_rejection(
    spec: SpecName,
    size: Size,
    history: &History,
    names: &Names,
    noun: &str,
    number: &dyn Fn(usize) -> usize,
) -> Option<(usize, Explanation)> {
    let mut automaton = named(spec.name(), size).ok()?;
    let Rejection { at, place } = rejection(automaton.as_mut(), history)?;
    let place = place.map(|place| format!(", {place}")).unwrap_or_default();
    let event = names.event(&history[at]);
    let sentence = format!("`{}` has no move for `{event}`, {noun} {}{place}.", spec.name(), number(at));
    Some((at, Explanation { kind: "specification".to_owned(), sentence, ..Explanation::default() }))
}

/// The least size that a specification of a history may have; FOIL's are for two threads.
pub fn size_of(history: &History) -> Size {
    let threads = history.iter().map(|event| event.thread + 1).max().unwrap_or(0);
    let vars = history.iter().filter_map(|event| event.action.variable()).map(|variable| variable + 1).max();
    Size { threads: threads.max(2), vars: vars.unwrap_or(0).max(1) }
}

/// What the threads and the transactional variables are called.
fn names(parts: &Parts<'_>) -> Names {
    let program = parts.program;
    Names {
        threads: program.threads.iter().map(|thread| thread.name.clone()).collect(),
        variables: program.transactional.iter().map(|loc| program.location(*loc).name.clone()).collect(),
    }
}

/// Why a history is not correct, and at which event it goes wrong; `None` if it is. `number` says how an event is referred to.
pub fn explain_history(
    criterion: TxCriterion,
    history: &History,
    names: &Names,
    number: &dyn Fn(usize) -> usize,
) -> Option<(usize, Explanation)> {
    if let TxCriterion::Spec(spec) = criterion {
        return explain_rejection(spec, size_of(history), history, names, "event", number);
    }
    let wrong = oracle::explain(criterion, history)?;
    let (kind, conflicts) = match &wrong.wrong {
        Wrong::Cycle(cycle) => ("cycle", cycle.iter().map(|edge| conflict(edge, history, names, number)).collect()),
        Wrong::IllFormed(_) => ("ill-formed", Vec::new()),
    };
    let sentence = format!("{}.", wrong.words(history, names));
    Some((wrong.at, Explanation { kind: kind.to_owned(), sentence, conflicts, ..Explanation::default() }))
}

fn conflict(edge: &Edge, history: &History, names: &Names, number: &dyn Fn(usize) -> usize) -> Conflict {
    let variable = history[edge.events.0].action.variable().filter(|_| edge.reason != Reason::RealTime);
    Conflict {
        first: name(edge.from),
        second: name(edge.to),
        reason: match edge.reason {
            Reason::ReadBeforeWrite => "read-before-write",
            Reason::WriteBeforeRead => "write-before-read",
            Reason::WriteBeforeWrite => "write-before-write",
            Reason::RealTime => "real-time",
        }
        .to_owned(),
        variable: variable.map(|variable| names.variable(variable)),
        steps: (number(edge.events.0), number(edge.events.1)),
    }
}

fn name(number: usize) -> String {
    format!("T{}", number + 1)
}

fn status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Committed => "committed",
        Outcome::Aborted => "aborted",
        Outcome::Unfinished => "unfinished",
    }
}

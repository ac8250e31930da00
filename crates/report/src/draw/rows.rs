//! What a drawing of a trace has from top to bottom, whatever it is drawn with.
//!
//! Time goes downwards. An access that others of its thread overtook stands twice: where the program has it, as deferred, and where
//! it was performed. A transaction, or an operation where there are no transactions, is a block that opens with a row of its own; the calls of
//! a transaction are rows within it. The accesses of one call of a base object are one step.
//!
//! **Invariant:** every step of the trace that is not a further access of such a call has one row, in memory order, and a deferred row stands before the first step that overtook it.

use std::borrow::Cow;
use std::collections::HashSet;

use cyrano_trace::{OperationInfo, Overtaken, Step, Trace, TransactionInfo};

use crate::draw::lanes::line;
use crate::draw::lasso;
use crate::plain::{by_number, is_hidden};

/// One row.
pub(crate) enum Row<'a> {
    /// What follows repeats for ever.
    Again,
    /// A block begins; its number.
    Open { lane: usize, block: usize },
    /// A call begins; its number.
    Call { lane: usize, call: usize },
    /// An access stands here in the program and is performed later, or not at all.
    Deferred { lane: usize, deferred: Deferred },
    /// A performed access, or an event. `late`: others overtook it.
    Step { lane: usize, step: &'a Step, late: bool },
}

impl Row<'_> {
    /// Its lane, if it is in one.
    pub(crate) fn lane(&self) -> Option<usize> {
        match self {
            Self::Again => None,
            Self::Open { lane, .. }
            | Self::Call { lane, .. }
            | Self::Deferred { lane, .. }
            | Self::Step { lane, .. } => Some(*lane),
        }
    }
}

/// An access that was overtaken.
pub(crate) struct Deferred {
    /// Its label, or its line.
    pub(crate) place: String,
    /// The statement, or in words what it is if it was never performed.
    pub(crate) text: String,
    /// The step in which it is performed.
    pub(crate) performed: Option<usize>,
}

impl Deferred {
    /// `line 18`, or its label.
    pub(crate) fn at(&self) -> String {
        if self.place.parse::<usize>().is_ok() { format!("line {}", self.place) } else { self.place.clone() }
    }
}

/// A transaction or an operation.
pub(crate) struct Block {
    /// `T1 committed`, `enqueue(v)`.
    pub(crate) label: String,
    /// Its first and its last step.
    pub(crate) steps: (usize, usize),
    /// Whether it came to an end, and whether that end is an abort.
    pub(crate) finished: bool,
    pub(crate) aborted: bool,
    thread: String,
    transaction: Option<String>,
    po: (u32, u32),
}

impl Block {
    /// Whether a step belongs to it.
    pub(crate) fn has(&self, step: &Step) -> bool {
        match &self.transaction {
            Some(name) => step.transaction.as_ref() == Some(name),
            None => step.thread == self.thread && (self.po.0..=self.po.1).contains(&step.po),
        }
    }
}

/// A trace as it is drawn: without repeated rounds, and only threads that do something.
pub(crate) struct Drawing<'a> {
    pub(crate) trace: Cow<'a, Trace>,
    pub(crate) lanes: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    /// The calls of transactions.
    pub(crate) calls: Vec<Call>,
}

/// A call of a transactional memory.
pub(crate) struct Call {
    /// `read(1): 1`, `commit(), unfinished`.
    pub(crate) label: String,
    thread: String,
    /// Its first step; if it has no access, the step before it.
    first: usize,
    po: (u32, u32),
}

impl Call {
    fn has(&self, step: &Step) -> bool {
        step.thread == self.thread && (self.po.0..=self.po.1).contains(&step.po)
    }

    /// Whether it accesses nothing.
    fn is_empty(&self) -> bool {
        self.po.0 > self.po.1
    }
}

impl<'a> Drawing<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let trace = lasso::first_round(trace).map_or(Cow::Borrowed(trace), Cow::Owned);
        let acts = |name: &&String| trace.steps.iter().any(|step| step.thread == **name);
        let mut lanes: Vec<String> = trace.threads.iter().map(|thread| &thread.name).filter(acts).cloned().collect();
        // A saved trace may be anything; every step has a lane all the same.
        for step in &trace.steps {
            if !lanes.contains(&step.thread) {
                lanes.push(step.thread.clone());
            }
        }
        let (blocks, calls) = match trace.transactions.is_empty() {
            true => (operations(&trace), Vec::new()),
            false => (transactions(&trace), calls(&trace)),
        };
        Self { trace, lanes, blocks, calls }
    }

    /// The lane of a thread.
    fn lane(&self, thread: &str) -> usize {
        self.lanes.iter().position(|name| name == thread).unwrap_or(0)
    }

    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut deferred: HashSet<(&str, u32)> = HashSet::new();
        for step in self.steps() {
            let lane = self.lane(&step.thread);
            if lasso::starts_round(&self.trace, step) {
                rows.push(Row::Again);
            }
            let opened = (0..self.blocks.len()).filter(|block| self.blocks[*block].steps.0 == step.n);
            rows.extend(opened.map(|block| Row::Open { lane, block }));
            let named = |call: &usize| self.calls[*call].first == step.n && self.calls[*call].has(step);
            let begun = (0..self.calls.len()).filter(named).filter(|_| !begins_call(step));
            rows.extend(begun.map(|call| Row::Call { lane, call }));
            for overtaken in self.overtaken(step) {
                if deferred.insert((&step.thread, overtaken.po)) {
                    rows.push(Row::Deferred { lane, deferred: self.deferred(&step.thread, overtaken) });
                }
            }
            let late = deferred.contains(&(step.thread.as_str(), step.po));
            rows.push(Row::Step { lane, step, late });
            let last = step.call.as_ref().map_or(step.n, |call| call.last);
            let empty = |call: &usize| {
                let call = &self.calls[*call];
                call.is_empty() && call.thread == step.thread && (step.n..=last).contains(&call.first)
            };
            rows.extend((0..self.calls.len()).filter(empty).map(|call| Row::Call { lane, call }));
        }
        rows
    }

    /// The steps that a reader sees: not the further accesses of a base object's call.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.trace.steps.iter().filter(|step| self.shown(step.n) == step.n)
    }

    /// The number under which a step is shown.
    pub(crate) fn shown(&self, n: usize) -> usize {
        let within = n.checked_sub(1).and_then(|at| self.trace.steps.get(at)).and_then(|step| step.within);
        within.filter(|first| (1..n).contains(first)).unwrap_or(n)
    }

    /// What a step overtook, one access of each call of a base object.
    pub(crate) fn overtaken<'s>(&'s self, step: &'s Step) -> impl Iterator<Item = &'s Overtaken> {
        step.overtook.iter().filter(|overtaken| self.is_shown(step, overtaken))
    }

    /// Whether an overtaken access is no further one of a base object's call.
    pub(crate) fn is_shown(&self, step: &Step, overtaken: &Overtaken) -> bool {
        let same = |other: &&Step| other.thread == step.thread && other.po == overtaken.po;
        self.trace.steps.iter().find(same).is_none_or(|other| self.shown(other.n) == other.n)
    }

    /// The call that a step belongs to.
    pub(crate) fn call_of(&self, step: &Step) -> Option<&Call> {
        self.calls.iter().find(|call| call.has(step))
    }

    /// What a step is followed by: why a read returned any value, and the sets and maps that change with it.
    pub(crate) fn notes(&self, step: &Step) -> Vec<String> {
        let last = step.call.as_ref().map_or(step.n, |call| call.last);
        let note = step.call.as_ref().and_then(|call| call.note.clone());
        let own = self.trace.locals.iter().filter(|change| (step.n..=last).contains(&change.n));
        let own = own.filter(|change| change.thread == step.thread && change.value.value.is_none());
        let sets = own.filter_map(|change| change.value.shown.as_ref().map(|shown| (&change.value.name, shown)));
        let sets = sets.filter(|(_, shown)| *shown != "{}").map(|(name, shown)| format!("{name} = {shown}"));
        note.into_iter().chain(sets).collect()
    }

    fn deferred(&self, thread: &str, overtaken: &Overtaken) -> Deferred {
        let performed = self.trace.steps.iter().find(|step| step.thread == thread && step.po == overtaken.po);
        let place = overtaken.location.as_deref().unwrap_or("an address not known by then");
        let preposition = if overtaken.kind == "store" { "to" } else { "of" };
        let words = || format!("{} {preposition} {place}", overtaken.kind);
        Deferred {
            place: overtaken.label.clone().unwrap_or_else(|| line(overtaken.line, overtaken.used.as_ref())),
            text: performed.map_or_else(words, statement),
            performed: performed.map(|step| step.n),
        }
    }

    /// The block that a step belongs to.
    pub(crate) fn block_of(&self, step: &Step) -> Option<usize> {
        self.blocks.iter().position(|block| block.has(step))
    }

    /// `opacity on pso (tl2.rml)`.
    pub(crate) fn heading(&self) -> String {
        let trace = &self.trace;
        let test = trace.program.test.as_ref().map(|test| format!("{}: ", test.name)).unwrap_or_default();
        let condition = trace.property.condition.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        let (criterion, model, file) = (&trace.property.criterion, &trace.model.name, &trace.program.file);
        let doubt = trace.doubt().map(|doubt| format!("{doubt} — ")).unwrap_or_default();
        format!("{doubt}{test}{criterion}{condition} on {model} ({file})")
    }
}

/// The statement of a step: a call of a base object as it was made.
pub(crate) fn statement(step: &Step) -> String {
    step.call.as_ref().map_or(&step.text, |call| &call.text).clone()
}

/// Whether a step is the beginning of a call itself.
pub(crate) fn begins_call(step: &Step) -> bool {
    step.event.as_deref().is_some_and(|event| event.starts_with("call "))
}

fn calls(trace: &Trace) -> Vec<Call> {
    let shown = trace.operations.iter().filter(|operation| operation.first <= trace.steps.len());
    let label = |operation: &OperationInfo| match (&operation.result, operation.status.as_str()) {
        (Some(result), _) => format!("{}: {result}", operation.name),
        (None, "finished") => operation.name.clone(),
        (None, _) => format!("{}, unfinished", operation.name),
    };
    let call = |operation: &OperationInfo| Call {
        label: label(operation),
        thread: operation.thread.clone(),
        first: operation.first,
        po: operation.po,
    };
    shown.map(call).collect()
}

fn transactions(trace: &Trace) -> Vec<Block> {
    let shown = trace.transactions.iter().filter(|transaction| transaction.first <= trace.steps.len());
    let block = shown.map(|transaction| Block {
        label: format!("{} {}{}", transaction.name, transaction.status, repeated(trace, transaction)),
        steps: (transaction.first, transaction.last.min(trace.steps.len())),
        finished: transaction.status != "unfinished",
        aborted: transaction.status == "aborted",
        thread: transaction.thread.clone(),
        transaction: Some(transaction.name.clone()),
        po: (0, 0),
    });
    block.collect()
}

/// Which transaction runs again what this one did, or which one this one runs again.
fn repeated(trace: &Trace, transaction: &TransactionInfo) -> String {
    let after = trace.transactions.iter().find(|other| other.again.as_ref() == Some(&transaction.name));
    let after = after.map(|other| format!(", again as {}", other.name));
    let before = transaction.again.as_ref().map(|earlier| format!(", {earlier} again"));
    format!("{}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

fn operations(trace: &Trace) -> Vec<Block> {
    let shown = trace.operations.iter().filter(|operation| operation.first <= trace.steps.len());
    let block = shown.map(|operation| Block {
        label: operation.name.clone() + if operation.status == "finished" { "" } else { ", unfinished" },
        steps: (operation.first, operation.last.min(trace.steps.len())),
        finished: operation.status == "finished",
        aborted: false,
        thread: operation.thread.clone(),
        transaction: None,
        po: operation.po,
    });
    block.collect()
}

/// One line of text: line breaks and other control characters are spaces.
pub(crate) fn one_line(text: &str) -> String {
    let one = |c: char| match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if is_hidden(c) => by_number(c),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

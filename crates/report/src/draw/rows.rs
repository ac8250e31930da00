//! What a drawing of a trace has from top to bottom, whatever it is drawn with.
//!
//! Time goes downwards. An access that others of its thread overtook stands twice: where the program has it, as deferred, and where
//! it was performed. A transaction, or an operation where there are no transactions, is a block that opens with a row of its own.
//!
//! **Invariant:** every step of the trace has one row, in memory order, and a deferred row stands before the first step that overtook it.

use std::borrow::Cow;
use std::collections::HashSet;

use cyrano_trace::{Overtaken, Step, Trace};

use crate::draw::lasso;
use crate::plain::{by_number, is_hidden};

/// One row.
pub(crate) enum Row<'a> {
    /// What follows repeats for ever.
    Again,
    /// A block begins; its number.
    Open { lane: usize, block: usize },
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
            Self::Open { lane, .. } | Self::Deferred { lane, .. } | Self::Step { lane, .. } => Some(*lane),
        }
    }
}

/// An access that was overtaken.
pub(crate) struct Deferred {
    pub(crate) line: usize,
    /// The statement, or in words what it is if it was never performed.
    pub(crate) text: String,
    /// The step in which it is performed.
    pub(crate) performed: Option<usize>,
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
        let blocks = if trace.transactions.is_empty() { operations(&trace) } else { transactions(&trace) };
        Self { trace, lanes, blocks }
    }

    /// The lane of a thread.
    fn lane(&self, thread: &str) -> usize {
        self.lanes.iter().position(|name| name == thread).unwrap_or(0)
    }

    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut deferred: HashSet<(&str, u32)> = HashSet::new();
        for step in &self.trace.steps {
            let lane = self.lane(&step.thread);
            if lasso::starts_round(&self.trace, step) {
                rows.push(Row::Again);
            }
            let opened = (0..self.blocks.len()).filter(|block| self.blocks[*block].steps.0 == step.n);
            rows.extend(opened.map(|block| Row::Open { lane, block }));
            for overtaken in &step.overtook {
                if deferred.insert((&step.thread, overtaken.po)) {
                    rows.push(Row::Deferred { lane, deferred: self.deferred(&step.thread, overtaken) });
                }
            }
            let late = deferred.contains(&(step.thread.as_str(), step.po));
            rows.push(Row::Step { lane, step, late });
        }
        rows
    }

    fn deferred(&self, thread: &str, overtaken: &Overtaken) -> Deferred {
        let performed = self.trace.steps.iter().find(|step| step.thread == thread && step.po == overtaken.po);
        let place = overtaken.location.as_deref().unwrap_or("an address not known by then");
        let preposition = if overtaken.kind == "store" { "to" } else { "of" };
        let words = || format!("{} {preposition} {place}", overtaken.kind);
        Deferred {
            line: overtaken.line,
            text: performed.map_or_else(words, |step| step.text.clone()),
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

fn transactions(trace: &Trace) -> Vec<Block> {
    let shown = trace.transactions.iter().filter(|transaction| transaction.first <= trace.steps.len());
    let block = shown.map(|transaction| Block {
        label: format!("{} {}", transaction.name, transaction.status),
        steps: (transaction.first, transaction.last.min(trace.steps.len())),
        finished: transaction.status != "unfinished",
        aborted: transaction.status == "aborted",
        thread: transaction.thread.clone(),
        transaction: Some(transaction.name.clone()),
        po: (0, 0),
    });
    block.collect()
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

//! The call graph: an order in which callees come before their callers, and the cycles that forbid one.
//!
//! The search keeps its own stack: the chain of calls may be as long as the file.

use std::collections::HashMap;

use cyrano_ir::{Diagnostic, Span};

use crate::report::Reports;
use crate::syntax::ast::{AtomicBlock, Block, Name, Stmt, StmtKind};
use crate::syntax::objects::{Algorithm, Each, Method, Record};

/// What is known about calls between procedures.
pub(crate) struct Calls {
    /// All procedures, callees first; within a cycle in some order.
    pub(crate) order: Vec<usize>,
    /// Whether the procedure calls itself, directly or through others, or calls one that does.
    pub(crate) endless: Vec<bool>,
}

/// How far the search has come with a procedure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the path, at this depth.
    Open(usize),
    Done,
}

struct CallCycles<'n> {
    /// The names of what is called, and the word for it.
    names: Vec<&'n Name>,
    what: &'static str,
    callees: Vec<Vec<(usize, Span)>>,
    marks: Vec<Mark>,
    /// The procedures being visited, each with the number of its calls seen so far.
    path: Vec<(usize, usize)>,
    calls: Calls,
}

/// Orders procedures, or methods, by their bodies, and reports recursion.
pub(crate) fn order_calls<'a>(
    what: &'static str,
    bodies: impl Iterator<Item = (&'a Name, &'a Block)>,
    reports: &mut Reports,
) -> Calls {
    let (names, bodies): (Vec<&Name>, Vec<&Block>) = bodies.unzip();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (number, name) in names.iter().enumerate() {
        numbers.entry(&name.text).or_insert(number);
    }
    let count = names.len();
    let mut search = CallCycles {
        names,
        what,
        callees: bodies.into_iter().map(|body| callees_of(body, &numbers)).collect(),
        marks: vec![Mark::New; count],
        path: Vec::new(),
        calls: Calls { order: Vec::new(), endless: vec![false; count] },
    };
    for root in 0..count {
        if search.marks[root] == Mark::New {
            search.open(root);
            while search.step(reports) {}
        }
    }
    search.calls
}

impl CallCycles<'_> {
    fn open(&mut self, procedure: usize) {
        self.marks[procedure] = Mark::Open(self.path.len());
        self.path.push((procedure, 0));
    }

    /// Looks at the next call of the innermost open procedure; false when none is open.
    fn step(&mut self, reports: &mut Reports) -> bool {
        let Some((caller, seen)) = self.path.last_mut() else { return false };
        let caller = *caller;
        let call = self.callees[caller].get(*seen).copied();
        *seen += 1;
        match call {
            None => self.close(caller),
            Some((callee, span)) => match self.marks[callee] {
                Mark::New => self.open(callee),
                Mark::Open(depth) => {
                    self.calls.endless[caller] = true;
                    self.report_cycle(&self.path[depth..], span, reports);
                }
                Mark::Done => {}
            },
        }
        true
    }

    /// Everything on a circle calls, in the end, the procedure that closes it, so this marks the whole circle.
    fn close(&mut self, caller: usize) {
        self.path.pop();
        let calls_endless = self.callees[caller].iter().any(|(callee, _)| self.calls.endless[*callee]);
        self.calls.endless[caller] |= calls_endless;
        self.marks[caller] = Mark::Done;
        self.calls.order.push(caller);
    }

    /// Reports the circle of calls from the first procedure of `cycle` through the others back to it.
    fn report_cycle(&self, cycle: &[(usize, usize)], span: Span, reports: &mut Reports) {
        let Some(((first, _), through)) = cycle.split_first() else { return };
        let (first, what) = (self.names[*first], self.what);
        // A circle of more than a few procedures is not worth spelling out.
        let through: Vec<_> = through.iter().take(8).map(|(p, _)| format!("`{}`", self.names[*p].text)).collect();
        let message = match through.as_slice() {
            [] => format!("{what} `{}` calls itself", first.text),
            _ => format!("{what} `{}` calls itself through {}", first.text, through.join(", ")),
        };
        let diagnostic = Diagnostic::new(span, message, "the call that closes the circle");
        let diagnostic = diagnostic.with_related(first.span, format!("the {what}"));
        let instead = if what == "procedure" { "; use a loop" } else { "" };
        reports.add(diagnostic.with_help(format!("{what}s are inlined, so they cannot be recursive{instead}")));
    }
}

fn callees_of(block: &Block, numbers: &HashMap<&str, usize>) -> Vec<(usize, Span)> {
    let mut found = Vec::new();
    walk(block, &mut |stmt| {
        let callee = stmt.call().and_then(|call| Some((*numbers.get(call.name.text.as_str())?, call.span)));
        found.extend(callee);
    });
    found
}

/// Calls `visit` on every statement of a block, outer ones first.
pub(crate) fn walk<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    for stmt in &block.stmts {
        visit(stmt);
        for inner in inner_blocks(stmt) {
            walk(inner, visit);
        }
    }
}

impl Algorithm {
    /// Calls `visit` on every statement of its methods.
    pub(crate) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Stmt)) {
        self.methods.iter().for_each(|method| walk(&method.body, visit));
    }

    /// The method of this name.
    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name.text == name)
    }

    /// The record of this name.
    pub(crate) fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name.text == name)
    }
}

/// The blocks inside a statement.
pub(crate) fn inner_blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If { arms, otherwise } => arms.iter().map(|(_, block)| block).chain(otherwise).collect(),
        StmtKind::ChooseBlock(blocks) => blocks.iter().collect(),
        StmtKind::Tx(body, otherwise) => [body].into_iter().chain(otherwise).collect(),
        StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::Atomic(body)
        | StmtKind::AtomicBlock(AtomicBlock { body, .. })
        | StmtKind::Operation(_, body)
        | StmtKind::Each(Each { body, .. })
        | StmtKind::Foreach(_, _, body)
        | StmtKind::Forsome(_, _, body) => vec![body],
        _ => Vec::new(),
    }
}

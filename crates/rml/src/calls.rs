//! The call graph: an order in which callees come before their callers, and the cycles that forbid one.
//!
//! The search keeps its own stack: the chain of calls may be as long as the file.

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Block, Call, Rhs, Stmt, StmtKind};
use crate::names::{Names, Symbol};
use crate::report::Reports;

/// What is known about calls between procedures.
pub(crate) struct Calls {
    /// All procedures, callees first; within a cycle in some order.
    pub(crate) order: Vec<usize>,
    /// Whether the procedure calls itself, directly or through others, or calls one that does.
    pub(crate) endless: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Orders the procedures and reports recursion.
pub(crate) fn order_calls(names: &Names<'_>, reports: &mut Reports) -> Calls {
    let procs = &names.file.procs;
    let callees: Vec<Vec<(usize, Span)>> = procs.iter().map(|p| callees_of(&p.body, names)).collect();
    let mut calls = Calls { order: Vec::new(), endless: vec![false; procs.len()] };
    let mut marks = vec![Mark::New; procs.len()];
    for root in 0..procs.len() {
        if marks[root] != Mark::New {
            continue;
        }
        let mut path = vec![(root, 0)];
        marks[root] = Mark::Open;
        while let Some((at, next)) = path.last_mut() {
            let (caller, callee) = (*at, callees[*at].get(*next).copied());
            *next += 1;
            match callee {
                None => {
                    marks[caller] = Mark::Done;
                    calls.endless[caller] |= callees[caller].iter().any(|(callee, _)| calls.endless[*callee]);
                    calls.order.push(caller);
                    path.pop();
                }
                Some((callee, span)) => match marks[callee] {
                    Mark::New => {
                        marks[callee] = Mark::Open;
                        path.push((callee, 0));
                    }
                    Mark::Open => {
                        report_cycle(&path, callee, span, names, reports);
                        let start = path.iter().position(|(p, _)| *p == callee).unwrap_or(0);
                        path[start..].iter().for_each(|(p, _)| calls.endless[*p] = true);
                    }
                    Mark::Done => {}
                },
            }
        }
    }
    calls
}

fn report_cycle(path: &[(usize, usize)], callee: usize, span: Span, names: &Names<'_>, reports: &mut Reports) {
    if reports.is_full() {
        return;
    }
    let name = |index: usize| names.file.procs[index].name.text.as_str();
    let cycle = path.iter().map(|(p, _)| *p).skip_while(|p| *p != callee);
    let through: Vec<_> = cycle.skip(1).take(8).map(|p| format!("`{}`", name(p))).collect();
    let message = match through.as_slice() {
        [] => format!("procedure `{}` calls itself", name(callee)),
        _ => format!("procedure `{}` calls itself through {}", name(callee), through.join(", ")),
    };
    let diagnostic = Diagnostic::new(span, message, "the call that closes the circle");
    let diagnostic = diagnostic.with_related(names.file.procs[callee].name.span, "the procedure");
    reports.add(diagnostic.with_help("procedures are inlined, so they cannot be recursive; use a loop"));
}

fn callees_of(block: &Block, names: &Names<'_>) -> Vec<(usize, Span)> {
    let mut found = Vec::new();
    walk(block, &mut |stmt| {
        let (StmtKind::Call(call) | StmtKind::Assign(_, Rhs::Call(call))) = &stmt.kind else { return };
        found.extend(callee(call, names).map(|index| (index, call.span)));
    });
    found
}

fn callee(call: &Call, names: &Names<'_>) -> Option<usize> {
    match names.lookup(None, &call.name.text) {
        Some(Symbol::Proc(index)) => Some(index),
        _ => None,
    }
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

/// The blocks inside a statement.
pub(crate) fn inner_blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If { arms, otherwise } => arms.iter().map(|(_, block)| block).chain(otherwise).collect(),
        StmtKind::ChooseBlock(blocks) => blocks.iter().collect(),
        StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::Atomic(body)
        | StmtKind::Operation(_, body)
        | StmtKind::Foreach(_, _, body)
        | StmtKind::Forsome(_, _, body) => vec![body],
        _ => Vec::new(),
    }
}

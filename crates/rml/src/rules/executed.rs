//! `exec(L)` and `L1 < L2` in the conditions of checks (Samand, section 4): which comparisons are meant, and what their labels stand for.
//!
//! A comparison of two names of labels is about the order of execution. A constant or a result of the same name comes first.
//! Only the call of a base object has a place in that order: what else a method does is seen by nobody.

use std::collections::{HashMap, HashSet};

use cyrano_ir::BinOp;

use crate::rules::algorithm::Checker;
use crate::syntax::ast::{Claim, Executed, Expr, ExprKind, File, LabelRef, Rhs, Stmt};
use crate::syntax::objects::Client;

/// Turns comparisons of labels into what they mean.
pub(crate) fn find(file: &mut File) {
    let Some(algorithm) = &file.algorithm else { return };
    let mut labels = HashSet::new();
    algorithm.walk(&mut |stmt| labels.extend(stmt.label.iter().map(|label| label.text.clone())));
    for constant in file.consts.iter().chain(&algorithm.params).chain(&algorithm.consts) {
        labels.remove(&constant.name.text);
    }
    for result in file.clients.iter().flat_map(Client::calls).filter_map(|call| call.result.as_ref()) {
        labels.remove(&result.text);
    }
    for check in &mut file.checks {
        if let Claim::Final(_, (cond, _)) = &mut check.claim {
            rewrite(cond, &labels);
        }
    }
}

fn rewrite(expr: &mut Expr, labels: &HashSet<String>) {
    let found = match &mut expr.kind {
        ExprKind::Unary(_, arg) => return rewrite(arg, labels),
        ExprKind::Binary(op, left, right) => {
            let both = label(left, labels).zip(label(right, labels));
            match (op, both) {
                (BinOp::Lt, Some((first, second))) | (BinOp::Gt, Some((second, first))) => {
                    Executed { first, second: Some(second) }
                }
                _ => {
                    rewrite(left, labels);
                    return rewrite(right, labels);
                }
            }
        }
        _ => return,
    };
    expr.kind = ExprKind::Executed(Box::new(found));
}

/// The label that an operand names.
fn label(expr: &Expr, labels: &HashSet<String>) -> Option<LabelRef> {
    match &expr.kind {
        ExprKind::Name(name) => labels.contains(&name.text).then(|| LabelRef { call: None, label: name.clone() }),
        ExprKind::Member(member) if member.thread_index.is_none() && member.index.is_none() => {
            Some(LabelRef { call: Some(member.thread.clone()), label: member.var.clone() })
        }
        _ => None,
    }
}

/// Calls `visit` on everything of this kind in a condition.
pub(crate) fn each<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Executed)) {
    match &expr.kind {
        ExprKind::Executed(executed) => visit(executed),
        ExprKind::Unary(_, arg) => each(arg, visit),
        ExprKind::Binary(_, left, right) => {
            each(left, visit);
            each(right, visit);
        }
        _ => {}
    }
}

/// Checks the labels of a condition about a client.
pub(crate) fn check(cond: &Expr, client: &Client, checker: &mut Checker<'_, '_>) {
    let mut labels: HashMap<&str, &Stmt> = HashMap::new();
    checker.algorithm.walk(&mut |stmt| {
        stmt.label.iter().for_each(|label| {
            labels.insert(&label.text, stmt);
        });
    });
    let calls: Vec<&str> = client.calls().filter_map(|call| Some(call.label.as_ref()?.text.as_str())).collect();
    let mut named = Vec::new();
    each(cond, &mut |executed| {
        named.extend([Some(&executed.first), executed.second.as_ref()].into_iter().flatten().map(|label| {
            let ordered = executed.second.is_some();
            (label, ordered)
        }));
    });
    let mut known: Vec<&str> = labels.keys().copied().collect();
    known.sort_unstable();
    for (LabelRef { call, label }, ordered) in named {
        if let Some(call) = call.as_ref().filter(|call| !calls.contains(&call.text.as_str())) {
            checker.unknown("call of this client with the label", call, calls.iter().copied());
        }
        match labels.get(label.text.as_str()) {
            None => checker.unknown("label", label, known.iter().copied()),
            Some(stmt) if ordered && !has_place(stmt, checker) => {
                let message = format!("`{}` has no place in the order of execution", label.text);
                let help = "name a statement that calls a base object, or one with `new`";
                checker.complain(label.span, message, "calls no base object", help);
            }
            Some(_) => {}
        }
    }
}

/// Whether a statement is a call of a base object.
fn has_place(stmt: &Stmt, checker: &Checker<'_, '_>) -> bool {
    match stmt.rhs() {
        Some(Rhs::New(_)) => true,
        Some(Rhs::Access(access)) => {
            let of_set = checker.algorithm.locals.iter().any(|local| local.name.text == access.object.text);
            access.field.is_some() || !of_set
        }
        _ => false,
    }
}

//! The checker for clients and for what checks are about.

use std::collections::{HashMap, HashSet};

use cyrano_ir::{Method as TmMethod, Span, TxCriterion};

use crate::rules::algorithm::{Checker, Global, count, is_builtin};
use crate::rules::labels::once;
use crate::rules::table;
use crate::syntax::ast::{CheckDecl, Claim, Expr, ExprKind, File, Name};
use crate::syntax::objects::{About, Client, ClientCall, Tx};

/// Checks the clients and checks of a file.
pub(crate) fn check(file: &File, checker: &mut Checker<'_, '_>) {
    let mut names: HashMap<&str, Span> = HashMap::new();
    for client in &file.clients {
        once(&client.name, &mut names, "client", checker.reports);
        one_client(client, checker);
    }
    for check in &file.checks {
        one_check(check, file, checker);
    }
}

fn one_client(client: &Client, checker: &mut Checker<'_, '_>) {
    if client.threads.is_empty() {
        let message = format!("`{}` has no threads", client.name.text);
        checker.complain(client.name.span, message, "empty", "write `thread { tx { … } }`");
    }
    let mut results: HashMap<&str, Span> = HashMap::new();
    for thread in &client.threads {
        let mut own: HashSet<&str> = HashSet::new();
        for (position, tx) in thread.txns.iter().enumerate() {
            tx.retry.iter().for_each(|retry| checker.constant(retry));
            for call in &tx.calls {
                client_call(call, &own, checker);
                let Some(name) = &call.result else { continue };
                result_name(name, &mut results, checker);
                own.insert(&name.text);
            }
            ends(tx, position + 1 == thread.txns.len(), checker);
        }
    }
}

fn result_name<'a>(name: &'a Name, results: &mut HashMap<&'a str, Span>, checker: &mut Checker<'_, '_>) {
    if is_builtin(&name.text) || matches!(checker.globals.get(name.text.as_str()), Some((Global::Const, _))) {
        let message = format!("`{}` means something already", name.text);
        checker.complain(name.span, message, "not a new name", "choose another name for the result");
    }
    once(name, results, "result", checker.reports);
}

/// Nothing follows a commit, and a transaction before another one ends with it.
fn ends(tx: &Tx, last: bool, checker: &mut Checker<'_, '_>) {
    let commit = tx.calls.iter().position(|call| call.method.text == TmMethod::Commit.name());
    match commit {
        Some(at) if at + 1 < tx.calls.len() => {
            let after = &tx.calls[at + 1];
            checker.complain(after.span, "a transaction ends with `commit()`", "behind it", "start another `tx { … }`");
        }
        None if !last => {
            let message = "a transaction that another one follows ends with `commit()`";
            checker.complain(tx.span, message, "does not end", "call `commit()` at its end");
        }
        _ => {}
    }
    if tx.calls.is_empty() {
        checker.complain(tx.span, "this transaction does nothing", "empty", "call `read`, `write` or `commit`");
    }
}

fn client_call(call: &ClientCall, own: &HashSet<&str>, checker: &mut Checker<'_, '_>) {
    let Some(method) = TmMethod::ALL.into_iter().find(|method| method.name() == call.method.text) else {
        return checker.unknown("method that clients call", &call.method, TmMethod::ALL.map(TmMethod::name));
    };
    if call.args.len() != method.arity() {
        let message =
            format!("`{}` takes {}, not {}", method.name(), count(method.arity(), "argument"), call.args.len());
        checker.complain(call.span, message, "wrong number of arguments", "`read(i)`, `write(i, v)` and `commit()`");
    }
    for arg in &call.args {
        no_sets(arg, checker);
        arg.for_each_name(&mut |name| value_name(name, own, checker));
    }
}

fn value_name(name: &Name, own: &HashSet<&str>, checker: &mut Checker<'_, '_>) {
    let text = name.text.as_str();
    let constant = matches!(checker.globals.get(text), Some((Global::Const, _)));
    if constant || own.contains(text) || (is_builtin(text) && text != "tx") {
        return;
    }
    let mut known: Vec<_> = checker.constants().into_iter().chain(own.iter().copied()).collect();
    known.sort_unstable();
    checker.unknown("constant or earlier result", name, known);
}

fn no_sets(expr: &Expr, checker: &mut Checker<'_, '_>) {
    match &expr.kind {
        ExprKind::In(..) | ExprKind::Tuple(_) => {
            checker.reports.add(table::no_sets(expr.span));
        }
        ExprKind::Unary(_, arg) => no_sets(arg, checker),
        ExprKind::Binary(_, left, right) => {
            no_sets(left, checker);
            no_sets(right, checker);
        }
        _ => checker.reports.extend(table::refuse_in_algorithm(expr)),
    }
}

fn one_check(check: &CheckDecl, file: &File, checker: &mut Checker<'_, '_>) {
    if let Claim::CommitAtomicity
    | Claim::Atomicity
    | Claim::Structure(_)
    | Claim::Transactions(TxCriterion::InOrder(_)) = check.claim
    {
        let help = "check `opacity`, another criterion, `assertions` or a condition over results";
        checker.complain(check.span, "this cannot be claimed of an algorithm", "not here", help);
    }
    let clients: Vec<&Client> = match &check.about {
        About::Last(Some(index)) => vec![&file.clients[*index]],
        About::Last(None) => {
            let help = "write it behind the client, or `for clients threads 2, txns 1, ops 2`";
            checker.complain(check.span, "there is no client before this check", "about which client?", help);
            return;
        }
        About::Named(_) if matches!(check.claim, Claim::Progress(_)) => {
            let help = "write `for clients threads 2, ops 2`, or nothing";
            checker.complain(check.span, "progress is about threads that go on for ever", "a client that ends", help);
            return;
        }
        About::Named(names) => {
            let known: Vec<_> = file.clients.iter().map(|client| client.name.text.as_str()).collect();
            let find = |name: &Name| file.clients.iter().find(|client| client.name.text == name.text);
            for name in names.iter().filter(|name| find(name).is_none()) {
                checker.unknown("client", name, known.iter().copied());
            }
            names.iter().filter_map(find).collect()
        }
        About::All(space, span) => {
            if let Claim::Final(..) = check.claim {
                let help = "name a client, or check a criterion like `opacity`";
                checker.complain(*span, "a condition is about the results of one client", "about all clients", help);
            }
            let bounds = [&space.threads, &space.txns, &space.ops, &space.locs, &space.retry];
            for bound in bounds.into_iter().flatten() {
                checker.constant(&bound.first);
                bound.last.iter().for_each(|last| checker.constant(last));
            }
            space.values.iter().flatten().for_each(|value| checker.constant(value));
            return;
        }
    };
    let Claim::Final(_, (cond, _)) = &check.claim else { return };
    no_sets(cond, checker);
    for client in clients {
        let calls = client.threads.iter().flat_map(|thread| &thread.txns).flat_map(|tx| &tx.calls);
        let results: HashSet<&str> = calls.filter_map(|call| Some(call.result.as_ref()?.text.as_str())).collect();
        cond.for_each_name(&mut |name| value_name(name, &results, checker));
    }
}

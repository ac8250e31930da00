//! The checker for clients and for what checks are about.

use std::collections::{HashMap, HashSet};

use cyrano_ir::{Diagnostic, Method as TmMethod, Span, TxCriterion};

use crate::rules::algorithm::{Checker, Global, count, is_builtin};
use crate::rules::labels::once;
use crate::rules::{executed, table};
use crate::syntax::ast::{CheckDecl, Claim, Expr, ExprKind, File, Name};
use crate::syntax::objects::{About, Client, ClientCall, ClientStmt, Tx};

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
    let (mut results, mut labels) = (HashMap::new(), HashMap::new());
    for call in client.calls() {
        call.label.iter().for_each(|label| once(label, &mut labels, "label", checker.reports));
        call.result.iter().for_each(|name| result_name(name, &mut results, checker));
    }
    for thread in &client.threads {
        let txns = thread.txns();
        statements(&thread.body, None, &mut HashSet::new(), checker);
        for (position, tx) in txns.iter().enumerate() {
            ends(tx, position + 1 == txns.len(), checker);
        }
    }
}

/// Checks statements of a client, perhaps those of a transaction; `own` are the results so far.
fn statements<'a>(
    list: &'a [ClientStmt],
    inside: Option<&'a Tx>,
    own: &mut HashSet<&'a str>,
    checker: &mut Checker<'_, '_>,
) {
    for stmt in list {
        match stmt {
            ClientStmt::Tx(tx) => {
                transaction(tx, inside, checker);
                statements(&tx.body, Some(tx), own, checker);
            }
            ClientStmt::Call(call) => {
                client_call(call, inside, own, checker);
                own.extend(call.result.iter().map(|name| name.text.as_str()));
            }
            ClientStmt::If { arms, otherwise } => {
                for (cond, body) in arms {
                    values(cond, own, checker);
                    statements(body, inside, own, checker);
                }
                statements(otherwise, inside, own, checker);
            }
        }
    }
}

fn transaction(tx: &Tx, inside: Option<&Tx>, checker: &mut Checker<'_, '_>) {
    tx.retry.iter().for_each(|retry| checker.constant(retry));
    if let Some(outer) = inside {
        let diagnostic = Diagnostic::new(tx.span, "transactions do not nest", "the inner one");
        checker.reports.add(diagnostic.with_related(outer.span, "the outer one").with_help("end one before the other"));
    }
}

fn result_name<'a>(name: &'a Name, results: &mut HashMap<&'a str, Span>, checker: &mut Checker<'_, '_>) {
    if is_builtin(&name.text) || matches!(checker.globals.get(name.text.as_str()), Some((Global::Const, _))) {
        let message = format!("`{}` means something already", name.text);
        checker.complain(name.span, message, "not a new name", "choose another name for the result");
    }
    once(name, results, "result", checker.reports);
}

/// Nothing follows a commit, and a transaction before another one ends with it on every path.
fn ends(tx: &Tx, last: bool, checker: &mut Checker<'_, '_>) {
    let (_, every) = commits(&tx.body, checker);
    if !every && !last {
        let message = "a transaction that another one follows ends with `commit()`";
        checker.complain(tx.span, message, "does not end", "call `commit()` at its end");
    }
    if ClientStmt::calls(&tx.body).is_empty() {
        checker.complain(tx.span, "this transaction does nothing", "empty", "call `read`, `write` or `commit`");
    }
}

/// Whether some path through statements commits, and whether every path does.
fn commits(list: &[ClientStmt], checker: &mut Checker<'_, '_>) -> (bool, bool) {
    let (mut some, mut every) = (false, false);
    for stmt in list {
        let after = ClientStmt::calls(std::slice::from_ref(stmt)).first().copied();
        if let (true, Some(after)) = (some, after) {
            checker.complain(after.span, "a transaction ends with `commit()`", "behind it", "start another `tx { … }`");
            break;
        }
        let (some_here, every_here) = match stmt {
            ClientStmt::Tx(_) => (false, false),
            ClientStmt::Call(call) => {
                let commit = call.method.text == TmMethod::Commit.name();
                (commit, commit)
            }
            ClientStmt::If { arms, otherwise } => {
                let bodies = arms.iter().map(|(_, body)| body).chain([otherwise]);
                let ways = bodies.map(|body| commits(body, checker)).collect::<Vec<_>>();
                (ways.iter().any(|way| way.0), ways.iter().all(|way| way.1))
            }
        };
        some |= some_here;
        every |= every_here;
    }
    (some, every)
}

fn client_call(call: &ClientCall, inside: Option<&Tx>, own: &HashSet<&str>, checker: &mut Checker<'_, '_>) {
    if checker.algorithm.is_memory() {
        let Some(method) = TmMethod::ALL.into_iter().find(|method| method.name() == call.method.text) else {
            return checker.unknown("method that clients call", &call.method, TmMethod::ALL.map(TmMethod::name));
        };
        if inside.is_none() {
            let message = format!("`{}` outside of a transaction", method.name());
            checker.complain(call.span, message, "no transaction around it", "put it into `tx { … }`");
        }
        let (wanted, given) = (method.arity(), call.args.len());
        if given != wanted {
            let message = format!("`{}` takes {}, not {given}", method.name(), count(wanted, "argument"));
            let help = "`read(i)`, `write(i, v)` and `commit()`";
            checker.complain(call.span, message, "wrong number of arguments", help);
        }
    } else {
        checker.call(&call.method, call.args.len());
    }
    call.args.iter().for_each(|arg| values(arg, own, checker));
}

/// Checks an expression over constants and results.
fn values(expr: &Expr, own: &HashSet<&str>, checker: &mut Checker<'_, '_>) {
    no_sets(expr, false, checker);
    expr.for_each_name(&mut |name| value_name(name, own, checker));
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

fn no_sets(expr: &Expr, at_the_end: bool, checker: &mut Checker<'_, '_>) {
    match &expr.kind {
        ExprKind::In(..) | ExprKind::Tuple(_) => {
            checker.reports.add(table::no_sets(expr.span));
        }
        ExprKind::Executed(_) if at_the_end => {}
        ExprKind::Unary(_, arg) => no_sets(arg, at_the_end, checker),
        ExprKind::Binary(_, left, right) => {
            no_sets(left, at_the_end, checker);
            no_sets(right, at_the_end, checker);
        }
        _ => checker.reports.extend(table::refuse_in_algorithm(expr)),
    }
}

fn one_check(check: &CheckDecl, file: &File, checker: &mut Checker<'_, '_>) {
    if let Claim::CommitAtomicity
    | Claim::Atomicity
    | Claim::Structure(_)
    | Claim::Live(_)
    | Claim::Invariant(_)
    | Claim::Races
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
            if let Claim::Final(..) | Claim::Observations = check.claim {
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
    no_sets(cond, true, checker);
    for client in clients {
        executed::check(cond, client, checker);
        let results = client.calls().filter_map(|call| Some(call.result.as_ref()?.text.as_str())).collect();
        cond.for_each_name(&mut |name| value_name(name, &results, checker));
    }
}

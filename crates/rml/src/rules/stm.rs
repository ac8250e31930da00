//! The rules of an stm as a whole: its commands, its transactional variables, and what may be claimed about it.

use std::collections::HashMap;

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::resolve::calls::walk;
use crate::resolve::names::{BodyId, Names, Shape, Symbol, VarId};
use crate::rules::checker::Checker;
use crate::rules::client::ONLY_THREADS;
use crate::syntax::ast::{CheckDecl, Claim, Command, Place, Rhs, Rmw, RmwArgs, Stmt, StmtKind};

impl<'a> Checker<'a, '_> {
    /// Checks what the file claims and observes: final states belong to `threads`, criteria for transactions to an `stm`.
    pub(crate) fn check_claims(&mut self, labels: &HashMap<&str, Span>) {
        let file = self.names.file;
        let Some((kind, program)) = file.program else { return };
        let (is_stm, has_client) = (file.stm().is_some(), file.client.is_some());
        for check in &file.checks {
            if let Some(span) = check.about_span {
                let help = "leave it out: the check is about the whole program";
                self.complain(span, "only the clients of an `algorithm` are chosen by `for`", "not here", help);
            }
            self.check_label(check, labels);
            let message = match &check.claim {
                claim if has_client => match Self::refused_of_client(claim, file.has_values()) {
                    Some(message) => message,
                    None => continue,
                },
                Claim::Invariant(_) | Claim::Races if is_stm => ONLY_THREADS.to_owned(),
                Claim::Final(..) if is_stm => {
                    "the threads of an stm never end, so there are no final states".to_owned()
                }
                Claim::Transactions(criterion) if !is_stm => {
                    format!("`{}` is a property of an `stm`, not of `threads`", criterion.name())
                }
                Claim::Progress(_) if !is_stm => "progress is a property of an `stm`, not of `threads`".to_owned(),
                Claim::Live(liveness) if is_stm => {
                    format!("`{}` is a property of `threads`, not of an `stm`", liveness.name())
                }
                Claim::Structure(structure) if !is_stm => {
                    format!("`{}` is a property of an `stm`, not of `threads`", structure.name())
                }
                Claim::CommitAtomicity | Claim::Atomicity if is_stm => {
                    "the atomic blocks of an stm are its transactions, which have criteria of their own".to_owned()
                }
                _ => continue,
            };
            let help = match is_stm {
                true if has_client && !file.has_values() => {
                    "check `opacity`, `strict-serializability`, `assertions` or a condition over final states"
                }
                true if has_client => "check `atomicity`, `assertions` or a condition over final states",
                true => "check `opacity`, `strict-serializability`, `progress` or `assertions`",
                false => "check `assertions`, `termination`, or a condition over final states",
            };
            let diagnostic = Diagnostic::new(check.span, message, "not here").with_help(help);
            self.reports.add(diagnostic.with_related(program, format!("this is `{}`", kind.word())));
        }
        for observed in file.observed.iter().filter(|_| is_stm && !has_client) {
            let message = "the threads of an stm never end, so there is nothing to observe";
            let help = "an stm is judged by its histories: `check opacity;`";
            self.reports.complain(observed.span, message, "observed here", help);
        }
    }

    /// A label that is asked about is one of a statement.
    fn check_label(&mut self, check: &CheckDecl, labels: &HashMap<&str, Span>) {
        let Claim::Live(liveness) = &check.claim else { return };
        let Some(label) = liveness.label().filter(|label| !labels.contains_key(label.name())) else { return };
        let help = match closest(label.name(), labels.keys().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write it in front of a statement: `L: x := 1;`".to_owned(),
        };
        self.complain(check.span, format!("no statement has the label `{}`", label.name()), "unknown label", help);
    }

    /// Checks the parts of an stm; whether `end` may commit.
    pub(crate) fn check_stm(&mut self) -> bool {
        let Some(stm) = self.names.file.stm() else { return false };
        let mut commits = false;
        for command in Command::ALL {
            let Some(procedure) = self.names.file.command(command) else {
                self.report_missing(command, stm);
                continue;
            };
            if command == Command::End {
                commits = self.procs[procedure].events[TxEvent::Commit as usize].is_some();
                if !commits && !self.names.file.broken {
                    let span = self.names.file.procs[procedure].name.span;
                    let help = "end a successful transaction with `commit`";
                    self.complain(span, "this stm never commits", "no `commit` in here", help);
                }
            }
        }
        self.check_data(stm);
        commits
    }

    fn report_missing(&mut self, command: Command, stm: Span) {
        if self.names.file.broken {
            return;
        }
        let help = match command {
            Command::Read if self.names.file.has_values() => "add one: `read(v) { … return r }`",
            Command::Read => "add one: `read(v) { … rfin }`",
            Command::Write => "add one: `write(v) { … }`",
            Command::End => "add one: `end { … commit }`",
        };
        let message = format!("this stm has no `{}`", command.word());
        self.complain(stm, message, "lacks a command", help);
    }

    /// There are as many transactional variables as `vars` says, and at least one.
    fn check_data(&mut self, stm: Span) {
        let Some((vars, span)) = self.names.value("vars") else { return };
        if vars < 1 {
            let message = format!("an stm cannot have {vars} variables");
            self.complain(span, message, "the number of variables", "`vars` is at least 1");
            return;
        }
        let data = || self.names.vars.iter().filter(|var| var.data);
        let Some(first) = data().next() else {
            if !self.names.file.incomplete {
                let help = "declare the variables that transactions read and write: `data g[vars];`";
                self.complain(stm, "this stm has no transactional variables", "lacks `data`", help);
            }
            return;
        };
        let words = data().map(|var| match var.shape {
            Shape::Scalar => Some(1),
            Shape::Array(len) => Some(i128::from(len)),
            Shape::Unknown => None,
        });
        let Some(words) = words.sum::<Option<i128>>() else { return };
        if words != vars {
            let message = format!("{words} transactional variables are declared, but `vars` is {vars}");
            let help = "declare one array of `vars` elements, or give `vars` another value";
            self.reports.complain(first.name.span, message, "declared here", help);
        }
    }

    /// Of the read-modify-writes only `cas` has a place among the events of a history.
    pub(crate) fn check_data_rmw(&mut self, rmw: &Rmw) {
        let word = match rmw.op {
            RmwArgs::Cas(..) => return,
            RmwArgs::Exchange(_) => "exchange",
            RmwArgs::FetchAdd(_) => "fetch_add",
        };
        if self.data_var(&rmw.target).is_some() && !self.in_client() {
            let message = format!("`{word}` cannot be applied to a transactional variable");
            let help = "load and store it, or use `cas`";
            self.complain(rmw.target.span, message, "declared as `data`", help);
        }
    }

    /// The transactional variable that a place belongs to.
    pub(crate) fn data_var(&self, place: &Place) -> Option<VarId> {
        data_var(self.names, self.body, place)
    }
}

fn data_var(names: &Names<'_>, body: Option<BodyId>, place: &Place) -> Option<VarId> {
    match names.lookup(body, &place.name.text) {
        Some(Symbol::Var(var)) if names.var(var).data => Some(var),
        _ => None,
    }
}

/// Whether some statement stores to a transactional variable.
pub(crate) fn stores_data(names: &Names<'_>) -> bool {
    let mut stores = false;
    for (index, procedure) in names.file.procs.iter().enumerate() {
        let is_data = |place| data_var(names, Some(names.proc_body(index)), place).is_some();
        walk(&procedure.body, &mut |stmt: &Stmt| {
            stores |= match &stmt.kind {
                StmtKind::Assign(place, Rhs::Rmw(rmw)) => is_data(place) || is_data(&rmw.target),
                StmtKind::Assign(place, _) | StmtKind::ChooseValue(place, _) => is_data(place),
                StmtKind::Do(Rhs::Rmw(rmw)) => is_data(&rmw.target),
                _ => false,
            };
        });
    }
    stores
}

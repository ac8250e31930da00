//! The rules of a given client: what its threads may do inside transactions and outside of them, and what may be claimed.
//!
//! A client sees constants, the stm's `data`, its commands `read` and `write`, and nothing else of the stm. Inside a transaction `data` is
//! touched by the commands alone, outside of it directly. Of an stm without values it does not even see `data`: all that it does is to run
//! transactions, whose reads return nothing (FOIL, section 2.3).

use cyrano_ir::{Diagnostic, Span, TxCriterion};

use crate::resolve::names::{Shape, Symbol, VarId};
use crate::resolve::typing::Kind;
use crate::rules::checker::Checker;
use crate::rules::table::{Home, Unit};
use crate::syntax::ast::{Block, Call, Claim, Command, Name};

/// What is said of claims about the states and accesses of threads.
pub(crate) const ONLY_THREADS: &str = "invariants and races are properties of `threads`";

impl<'a> Checker<'a, '_> {
    /// Whether the body being checked is a thread of a given client.
    pub(crate) fn in_client(&self) -> bool {
        self.body.is_some_and(|body| self.names.is_client(body))
    }

    /// What kind of block the statement being checked stands in.
    pub(crate) fn home(&self) -> Home {
        match self.place.around.at(Unit::Transaction) {
            Some(_) => Home::Transaction,
            None if self.in_client() => Home::Client,
            None if self.names.file.stm().is_some() => Home::Stm,
            None => Home::Threads,
        }
    }

    /// Reports an access to `data` in a transaction that the stm would not know of; whether it did.
    pub(crate) fn bypasses_stm(&mut self, var: VarId, span: Span, write: bool) -> bool {
        let declared = self.names.var(var);
        let Some(tx) = self.place.around.at(Unit::Transaction).filter(|_| declared.data) else { return false };
        let text = self.names.text(span);
        let (message, help) = match write {
            true => (format!("a transaction writes `{text}` without the stm"), "write `write(address, value);`"),
            false => (format!("a transaction reads `{text}` without the stm"), "write `r := read(address);`"),
        };
        let diagnostic = Diagnostic::new(span, message, "declared as `data`").with_related(tx, "the transaction");
        self.reports.add(diagnostic.with_help(help));
        true
    }

    /// Checks a call in a client; the kind of the result, if there is one.
    pub(crate) fn check_client_call(&mut self, call: &'a Call, procedure: usize) -> Option<Kind> {
        self.check_args(call, procedure);
        let command = self.names.file.procs[procedure].command;
        if self.place.around.at(Unit::Transaction).is_none() {
            let message = format!("`{}` outside of a transaction", call.name.text);
            let data = self.names.vars.iter().find(|var| var.data).map_or("g", |var| &var.name.text);
            let help = match command {
                _ if !self.names.file.has_values() => "put it into `tx { … }`".to_owned(),
                Some(Command::Write) => format!("put it into `tx {{ … }}`, or store without the stm: `{data}[…] := …`"),
                _ => format!("put it into `tx {{ … }}`, or load without the stm: `r := {data}[…]`"),
            };
            self.complain(call.span, message, "no transaction around it", help);
        }
        (command == Some(Command::Read) && self.names.file.has_values()).then_some(Kind::Int)
    }

    /// Checks a transaction, and what is done if it aborts.
    pub(crate) fn check_tx(&mut self, body: &'a Block, otherwise: Option<&'a Block>, span: Span) {
        self.check_inside(Unit::Transaction, body, span);
        let Some(otherwise) = otherwise else { return };
        if self.names.file.has_values() {
            let message = "a transaction of an stm with values runs again until it commits";
            let help = "drop the `else`: what a client ends with is compared with transactions that do not abort";
            self.complain(span, message, "has an `else`", help);
        }
        self.check_block(otherwise);
    }

    /// Reports a name that exists in the stm but is none of the client's business; whether it did.
    pub(crate) fn is_hidden(&mut self, name: &Name) -> bool {
        let Some(symbol) = self.body.and_then(|body| self.names.hidden(body, &name.text)) else { return false };
        let text = &name.text;
        let end = matches!(symbol, Symbol::Proc(p) if self.names.file.procs[p].command == Some(Command::End));
        let help = match end {
            true => "a transaction ends with its `}`".to_owned(),
            false if self.names.file.has_values() => {
                "a client uses `read` and `write`, the stm's `data`, constants and locals of its own".to_owned()
            }
            false => "a client uses `read` and `write`, constants and locals of its own".to_owned(),
        };
        let diagnostic =
            Diagnostic::new(name.span, format!("`{text}` belongs to the stm"), "in a client").with_help(help);
        self.reports.add(diagnostic.with_related(self.names.span_of(symbol), "declared here"));
        true
    }

    /// Why a file with a client cannot claim this.
    pub(crate) fn refused_of_client(claim: &Claim, values: bool) -> Option<String> {
        match claim {
            Claim::Atomicity if !values => Some("without values there is nothing to compare at the end".to_owned()),
            Claim::Transactions(TxCriterion::InOrder(_)) if values => {
                Some("orders are for an stm without a client of its own".to_owned())
            }
            Claim::Transactions(_) => None,
            Claim::Progress(_) => Some("progress is about all clients, and this stm has one of its own".to_owned()),
            Claim::Live(liveness) => Some(format!("`{}` is a property of `threads`", liveness.name())),
            Claim::Structure(structure) => {
                Some(format!("`{}` is about all clients, and this stm has one of its own", structure.name()))
            }
            Claim::CommitAtomicity => Some("a client has no commit points".to_owned()),
            Claim::Invariant(_) | Claim::Races | Claim::Linearizability => Some(ONLY_THREADS.to_owned()),
            Claim::Atomicity | Claim::Assertions | Claim::Observations | Claim::Final(..) => None,
        }
    }

    /// Checks that the client fits its stm: the number of threads, and `data` that has addresses.
    pub(crate) fn check_client(&mut self) {
        let Some(client) = self.names.file.client else { return };
        let counts: Option<i128> = self.names.counts.iter().map(|count| count.map(i128::from)).sum();
        if let (Some((threads, _)), Some(found)) = (self.names.value("threads"), counts)
            && threads != found
        {
            let plural = if found == 1 { "" } else { "s" };
            let message = format!("the client has {found} thread{plural}, but `threads` is {threads}");
            self.complain(client, message, "the client", format!("declare `const threads = {found};`"));
        }
        let named = self.names.file.has_values();
        let data: Vec<_> = self.names.vars.iter().filter(|var| var.data && named).collect();
        if let Some(var) = data.iter().find(|var| data.len() > 1 || var.shape == Shape::Scalar) {
            let message = "a client needs one array of `data`, for it computes addresses";
            let help = "declare `data g[vars];` and name the addresses by constants";
            self.complain(var.name.span, message, "not the only one, or no array", help);
        }
    }
}

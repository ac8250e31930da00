//! The rules of an stm with values: its constants, what its reads return, the orders it declares, and what may be claimed of it.

use cyrano_ir::{COMMIT_ORDER, Diagnostic, Span, TxCriterion};

use crate::resolve::names::{Shape, Symbol};
use crate::resolve::typing::{Kind, TIMESTAMP_HELP};
use crate::rules::checker::Checker;
use crate::syntax::ast::{CheckDecl, Claim, Command, Expr, Name, VarKind};

/// The most transactions and the most locations that a history with values may have.
const MOST: i128 = 32;
/// The most operations of a transaction, and the most values that are written.
const MOST_CHOICES: i128 = 16;

impl<'a> Checker<'a, '_> {
    /// Checks what only an stm with values has, or must not have.
    pub(crate) fn check_values(&mut self) {
        let file = self.names.file;
        for check in &file.checks {
            self.check_criterion(check);
        }
        let end = file.command(Command::End).map(|end| &file.procs[end]);
        if let Some(param) = end.and_then(|end| end.params.first()).filter(|_| !file.has_values()) {
            let help = "it ends a whole transaction: `end { … commit }`";
            let message = "`end` has no parameter";
            self.complain(param.name.span, message, "not here", help);
        }
        if file.has_values() {
            self.check_client_size();
        } else if let Some(order) = file.orders.first() {
            let help = "give `write` a second parameter, the value: `write(v, e) { … }`";
            let message = "only an stm with values can say in which order its transactions run";
            self.complain(order.name.span, message, "declared here", help);
        }
        for (index, order) in file.orders.iter().enumerate() {
            if let Some(first) = file.orders[..index].iter().find(|other| other.name.text == order.name.text) {
                let message = format!("the order `{}` is declared twice", order.name.text);
                let diagnostic = Diagnostic::new(order.name.span, message, "declared again");
                self.reports.add(diagnostic.with_related(first.name.span, "first declared here"));
            }
            order.keys.iter().for_each(|key| self.check_key(key));
        }
    }

    /// A key is a local that every thread keeps while the commit returns.
    fn check_key(&mut self, key: &'a Name) {
        let Some(symbol) = self.find(key) else { return };
        let fits = match symbol {
            Symbol::Var(var) => {
                let var = self.names.var(var);
                var.kind == VarKind::Local && var.body.is_none() && var.shape == Shape::Scalar
            }
            _ => false,
        };
        if !fits {
            let message = format!("`{}` cannot be the key of an order", key.text);
            let help = "a key is a `local` of the stm that is no array; it counts as it is when `commit` is reached";
            self.complain(key.span, message, "not a local", help);
        }
    }

    fn check_criterion(&mut self, check: &CheckDecl) {
        let file = self.names.file;
        if file.stm().is_none() {
            return;
        }
        let (message, help) = match &check.claim {
            Claim::Transactions(TxCriterion::InOrder(order)) => {
                let declared = || file.orders.iter().map(|order| order.name.text.as_str());
                if file.has_values() && (order.name() == COMMIT_ORDER || declared().any(|name| name == order.name())) {
                    return;
                }
                let known: Vec<_> = declared().chain([COMMIT_ORDER]).map(|name| format!("`{name}`")).collect();
                let help = format!("the orders of this stm are {}", known.join(", "));
                (format!("this stm has no order `{}`", order.name()), help)
            }
            Claim::Transactions(criterion) if !criterion.is_by_conflicts() && !file.has_values() => {
                let message = format!("`{}` is a property of an stm with values", criterion.name());
                (message, "give `write` a second parameter, or check `opacity` or `strict-serializability`".to_owned())
            }
            Claim::Structure(structure) if file.has_values() => {
                let message = format!("`{}` is a property of an stm without values", structure.name());
                (message, "take the second parameter of `write` away: its histories are judged by conflicts".to_owned())
            }
            Claim::Progress(_) if file.has_values() && file.client.is_none() => {
                let message = "progress is a property of an stm without values".to_owned();
                (message, "the clients of an stm with values run until each transaction has committed".to_owned())
            }
            _ => return,
        };
        self.complain(check.span, message, "claimed here", help);
    }

    fn check_client_size(&mut self) {
        let names = self.names;
        for (name, most) in [("txns", MOST), ("ops", MOST_CHOICES), ("values", MOST_CHOICES), ("vars", MOST)] {
            if let Some((found, span)) = names.value(name).filter(|(found, _)| !(1..=most).contains(found)) {
                self.refuse_size(name, found, 1, most, span);
            }
        }
        let (Some((ops, _)), Some((fewest, span))) = (names.value("ops"), names.value("min_ops")) else { return };
        if !(0..=ops).contains(&fewest) && ops >= 1 {
            self.refuse_size("min_ops", fewest, 0, ops, span);
        }
        let (Some((threads, span)), Some((txns, _))) = (names.value("threads"), names.value("txns")) else { return };
        let all = threads.saturating_mul(txns);
        if all > MOST && txns <= MOST {
            let message = format!("{all} transactions are too many");
            let help = format!("a history with values has at most {MOST}");
            self.complain(span, message, "`threads` times `txns`", help);
        }
    }

    fn refuse_size(&mut self, name: &str, found: i128, least: i128, most: i128, span: Span) {
        let help = format!("`{name}` lies between {least} and {most}");
        self.complain(span, format!("`{name}` cannot be {found}"), "the constant", help);
    }

    /// Checks what a command returns: only a read of an stm with values returns something.
    pub(crate) fn check_command_result(&mut self, command: Command, value: &Expr, kind: Kind) {
        if command == Command::Read && self.names.file.has_values() {
            if kind == Kind::Timestamp {
                let message = "a read cannot return a timestamp";
                self.complain(value.span, message, "a timestamp", TIMESTAMP_HELP);
            }
            return;
        }
        let help = match self.names.file.has_values() {
            true => "only `read` returns something: the value that it found",
            false => "what a read returns is the value of its last load of `data`",
        };
        self.complain(value.span, "a command cannot return a value", "a value", help);
    }
}

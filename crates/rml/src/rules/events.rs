//! The events of transactions: `rfin` in reads, `commit` in `end`, `abort` and `rollback` anywhere in an stm.
//!
//! An event ends the command, so what follows it is never reached, which is an error and not dead code to be dropped in silence.
//! That is decided on the source, where a condition counts as one that may or may not hold;
//! that every path through a command has its event is decided on the lowered code.

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::resolve::calls::walk;
use crate::resolve::names::Symbol;
use crate::rules::checker::{Checker, goes_on};
use crate::rules::table::Unit;
use crate::syntax::ast::{Block, Call, Command, Expr, Place, Stmt, StmtKind};

impl<'a> Checker<'a, '_> {
    /// Checks `rfin`, `commit` or `abort`.
    pub(crate) fn check_event(&mut self, event: TxEvent, span: Span) {
        if event == TxEvent::Commit && self.names.file.stm().is_none() {
            return self.check_commit(span);
        }
        self.facts.events[event as usize].get_or_insert(span);
        if event == TxEvent::ReadFinish && self.names.file.has_values() {
            let help = "end it with `return` and the value that was read";
            self.complain(span, "a read of an stm with values returns a value", "without a value", help);
        }
        if self.place.around.at(Unit::Section).is_some() {
            self.leaves_atomic(event.name(), span);
        }
        if let (Some(home), Some(command)) = (home_of(event), self.command())
            && home != command
        {
            let message = format!("`{}` outside of `{}`", event.name(), home.word());
            let label = format!("stands in `{}`", command.word());
            self.complain(span, message, &label, ending(command));
        }
    }

    /// Checks `rollback place := value`.
    pub(crate) fn check_rollback(&mut self, place: &'a Place, value: &'a Expr, span: Span) {
        let value = self.kind_of(value);
        let target = self.check_target(place);
        self.check_fit(value, target, span);
        match self.data_var(place) {
            None if target == crate::resolve::typing::Kind::Wrong => {}
            None => {
                let text = self.names.text(place.span);
                let message = format!("`{text}` is not a transactional variable");
                let help = format!("only `data` is rolled back; write `{text} := …`");
                self.complain(place.span, message, "not declared as `data`", help);
            }
            Some(_) if !self.stores_data => {
                let message = "a rollback of something that was never stored";
                let help = "nothing in this stm stores to `data`, so there is nothing to undo";
                self.complain(span, message, "undoes a store", help);
            }
            Some(_) => {}
        }
    }

    fn command(&self) -> Option<Command> {
        self.body.and_then(|body| self.names.command(body))
    }

    /// A call counts as every event that the procedure may end the command with.
    pub(crate) fn check_called_events(&mut self, call: &Call, procedure: usize) {
        if self.names.file.procs[procedure].command.is_some() {
            let message = format!("`{}` is a command and cannot be called", call.name.text);
            let help = "only clients call commands; move what they share to a procedure";
            self.complain(call.name.span, message, "called here", help);
            return;
        }
        let events = self.procs[procedure].events;
        for ((event, name), found) in TxEvent::ALL.into_iter().zip(events) {
            let Some(found) = found else { continue };
            self.facts.events[event as usize].get_or_insert(found);
            let place = match (home_of(event), self.command()) {
                _ if self.place.around.at(Unit::Section).is_some() => "an atomic section",
                (Some(home), Some(command)) if home != command => command.word(),
                _ => continue,
            };
            let place = if place.contains(' ') { place.to_owned() } else { format!("`{place}`") };
            let message = format!("`{}` contains `{name}` and cannot be called in {place}", call.name.text);
            let diagnostic = Diagnostic::new(call.span, message, "called here");
            self.reports.add(diagnostic.with_related(found, format!("the `{name}`")));
        }
    }

    /// Reports the first statement of a block that an event keeps from being reached.
    pub(crate) fn check_reached(&mut self, block: &'a Block) {
        if self.names.file.stm().is_none() {
            return;
        }
        let stops = block.stmts.iter().position(|stmt| !self.completes(stmt));
        let Some((stopping, next)) = stops.and_then(|at| Some((&block.stmts[at], block.stmts.get(at + 1)?))) else {
            return;
        };
        if let Some(event) = self.event_in(stopping) {
            let diagnostic = Diagnostic::new(next.span, "this statement is never reached", "unreachable");
            let help = "`rfin`, `commit` and `abort` end the command; remove what follows, or move it before them";
            self.reports.add(diagnostic.with_related(event, "the command ends here").with_help(help));
        }
    }

    /// Whether every path through a procedure's body ends the command.
    pub(crate) fn ends(&self, block: &Block) -> bool {
        let mut returns = false;
        walk(block, &mut |stmt| returns |= matches!(stmt.kind, StmtKind::Return(_)));
        let stops = block.stmts.iter().find(|stmt| !self.completes(stmt));
        !returns && stops.is_some_and(|stmt| self.event_in(stmt).is_some())
    }

    /// Whether control may go on behind the statement.
    fn completes(&self, stmt: &Stmt) -> bool {
        goes_on(stmt, &|stmt| match &stmt.kind {
            StmtKind::Transaction(_) | StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
            _ => self.calls_end(stmt),
        })
    }

    fn calls_end(&self, stmt: &Stmt) -> bool {
        let Some(call) = stmt.call() else { return false };
        match self.names.lookup(None, &call.name.text) {
            Some(Symbol::Proc(procedure)) => self.procs[procedure].ends,
            _ => false,
        }
    }

    /// The first event in a statement, or the first call that always leads to one.
    fn event_in(&self, stmt: &Stmt) -> Option<Span> {
        let is_event = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Transaction(_)) || self.calls_end(stmt);
        let mut found = is_event(stmt).then_some(stmt.span);
        for block in crate::resolve::calls::inner_blocks(stmt) {
            walk(block, &mut |inner| {
                if found.is_none() && is_event(inner) {
                    found = Some(inner.span);
                }
            });
        }
        found
    }
}

/// The one command that an event may end; any may abort.
fn home_of(event: TxEvent) -> Option<Command> {
    Command::ALL.into_iter().find(|command| command.success() == Some(event))
}

fn ending(command: Command) -> String {
    match command.success() {
        Some(event) => format!("`{}` ends with `{}` or `abort`", command.word(), event.name()),
        None => format!("`{}` ends at its last statement or with `abort`", command.word()),
    }
}

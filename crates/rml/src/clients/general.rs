//! The most general client of an stm (FOIL, section 2): each thread chooses a command, carries it out and chooses again.
//!
//! A command is lowered once for each variable, with its parameter as a constant. The commands are numbered: the reads of the
//! variables, then their writes, then `end`. Whatever ends a command leads back to the choice, so no thread ever halts.
//! **Invariant:** a `halt` that can be reached is a path on which a command ends without saying how, and is reported.

use cyrano_ir::{Diagnostic, Instr, Op, Place, Span, TxEvent, Ty};

use crate::lower::thread::Lower;
use crate::report::{Fallible, Reported};
use crate::syntax::ast::{Command, Proc};

impl Lower<'_, '_, '_> {
    /// Lowers the client and the commands that it calls.
    pub(crate) fn lower_client(&mut self, stm: Span) -> Fallible<()> {
        if self.own.shared.names.file.has_values() {
            return self.lower_values_client(stm);
        }
        let choices = self.client_choices()?;
        let client = self.label();
        self.own.client = Some(client);
        self.place(client);
        let dst = Place::Reg(self.register("%cmd", Ty::Int, stm)?);
        let span = |procedure: usize| self.own.shared.names.file.procs[procedure].name.span;
        let options: Vec<_> = (0..).zip(&choices).map(|(n, (procedure, _))| (n, span(*procedure))).collect();
        let starts = self.choose_among(dst, &options, stm)?;
        for ((procedure, variable), start) in choices.into_iter().zip(starts) {
            self.place(start);
            self.run_command(procedure, variable.as_slice(), (client, None))?;
        }
        Ok(())
    }

    /// All commands in the client's order, with their variables; those that are missing are reported by the checker.
    fn client_choices(&self) -> Fallible<Vec<(usize, Option<i128>)>> {
        let names = self.own.shared.names;
        let (vars, _) = names.value("vars").filter(|(vars, _)| *vars > 0).ok_or(Reported)?;
        let mut choices = Vec::new();
        for command in Command::ALL {
            let procedure = names.file.command(command).ok_or(Reported)?;
            match command {
                Command::End => choices.push((procedure, None)),
                _ => choices.extend((0..vars).map(|variable| (procedure, Some(variable)))),
            }
        }
        Ok(choices)
    }

    /// Leaves a body. A write ends in silence; the other commands should have ended before.
    pub(crate) fn end_body(&mut self, span: Span) -> Fallible<()> {
        let command = self.own.shared.names.command(self.frame.own.body);
        if self.own.values.is_some() && command == Some(Command::Write) {
            return self.respond_and_go_on(Command::Write, span);
        }
        match command.and_then(Command::success) {
            Some(_) => self.emit(Op::Halt, span),
            None => self.leave(self.frame.on_return, self.frame.in_operation, span),
        }
    }

    /// An event ends the command that it stands in, or that called the procedure that it stands in.
    pub(crate) fn lower_event(&mut self, event: TxEvent, span: Span) -> Fallible<()> {
        if self.own.client.is_none() && event == TxEvent::Commit {
            return self.emit(Op::BlockCommit, span);
        }
        if let Some(tx) = &self.own.tx {
            let target = match event {
                TxEvent::Commit => tx.after,
                TxEvent::Abort => tx.retry,
                TxEvent::ReadFinish => tx.finished,
            };
            if !self.own.shared.names.file.has_values() {
                self.emit(Op::Transaction(event), span)?;
            }
            return self.leave(target, false, span);
        }
        let client = self.own.client.ok_or(Reported)?;
        if self.own.values.is_some() {
            return self.lower_transaction_end(event, span);
        }
        self.emit(Op::Transaction(event), span)?;
        self.leave(client, false, span)
    }

    /// Reports every way to the end of a command that should have ended before.
    pub(crate) fn report_open_ends(&mut self, code: &[Instr]) {
        let file = self.own.shared.names.file;
        if self.own.client.is_none() || file.broken || self.reports.has_skipped() {
            return;
        }
        for halt in code.iter().filter(|instr| instr.op == Op::Halt) {
            let within = |procedure: &&Proc| {
                let name = procedure.name.span;
                procedure.command.is_some()
                    && name.start <= halt.span.start
                    && halt.span.end <= procedure.body.close.end
            };
            let Some(procedure) = file.procs.iter().find(within) else { continue };
            let Some(success) = procedure.command.and_then(Command::success) else { continue };
            // An stm that never commits is reported as such, and every path through `end` would only say it again.
            if success == TxEvent::Commit && !self.own.shared.checked.commits {
                continue;
            }
            let returns = success == TxEvent::ReadFinish && file.has_values();
            let (command, event) = (&procedure.name.text, if returns { "return" } else { success.name() });
            let message = format!("a path through `{command}` ends without `{event}` or `abort`");
            let diagnostic = Diagnostic::new(halt.span, message, "the path ends here");
            let diagnostic = diagnostic.with_related(procedure.name.span, "the command");
            let help = format!("end every path through `{command}` with `{event}` or `abort`");
            self.reports.add(diagnostic.with_help(help));
        }
    }
}

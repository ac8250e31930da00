//! Calls: procedures are inlined.

use cyrano_ir::{Expr as IrExpr, LocalExpr, Place, Span};

use crate::expand::fold::fold;
use crate::lower::Frame;
use crate::lower::thread::{Body, Lower};
use crate::report::{Fallible, Reported};
use crate::resolve::names::Symbol;
use crate::syntax::ast::Call;

impl<'a> Lower<'a, '_, '_> {
    /// Inlines a call; a returned value goes to `result`.
    pub(crate) fn lower_call(&mut self, call: &'a Call, result: Option<Place>) -> Fallible<()> {
        let names = self.own.shared.names;
        if names.is_client(self.frame.own.body) {
            return self.lower_client_call(call, result);
        }
        let procedure = match names.lookup(None, &call.name.text) {
            Some(Symbol::Proc(index)) if self.may_inline(index) => index,
            _ => return Err(Reported),
        };
        let args: Fallible<Vec<LocalExpr>> = call.args.iter().map(|arg| fold(arg, self)).collect();
        let (args, on_return) = (args?, self.label());
        let in_operation = self.in_operation;
        let callee = Frame { result, in_operation, ..Frame::new(Body::new(names.proc_body(procedure)), on_return) };
        let body = &names.file.procs[procedure].body;
        let passed = self.within(callee, |lower| {
            lower.pass_args(call.span, procedure, args)?;
            lower.lower_block(body)
        });
        self.place(on_return);
        passed
    }

    /// Whether a call of the procedure has an end; commands are called by the client alone.
    fn may_inline(&self, procedure: usize) -> bool {
        !self.own.shared.checked.endless[procedure] && self.own.shared.names.file.procs[procedure].command.is_none()
    }

    /// A constant for a parameter that is never assigned stays a constant, so that array elements keep fixed addresses.
    pub(crate) fn pass_args(&mut self, span: Span, procedure: usize, args: Vec<LocalExpr>) -> Fallible<()> {
        let names = self.own.shared.names;
        let params = &names.file.procs[procedure].params;
        if params.len() != args.len() {
            return Err(Reported);
        }
        for (param, value) in params.iter().zip(args) {
            let var = names.local(self.frame.own.body, &param.name.text).ok_or(Reported)?;
            match value {
                IrExpr::Const(value) if !self.own.shared.checked.assigned.contains(&var) => {
                    self.frame.own.fixed.insert(var, value);
                }
                value => {
                    let dst = Place::Reg(self.home(var)?);
                    self.assign(dst, value, span)?;
                }
            }
        }
        Ok(())
    }
}

//! Calls of the file's own functions.

use super::{Checker, Fallible, Symbol, intrinsic};
use crate::ast::{self, Name};
use crate::atomics;
use crate::source::{Loc, Problem};
use crate::tree::{Expr, ExprKind};

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &Name, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let found = self.find(&callee.text).cloned();
        let own = matches!(&found, Some((Symbol::Function(func), _)) if self.out.functions[func.0].body.is_some());
        let built_in = callee.text.starts_with("__") && atomics::knows(&callee.text);
        if !own && (found.is_some() || built_in) {
            match atomics::resolve(callee, args, loc) {
                Ok(Some((family, called))) => return self.atomic(family, called, loc),
                Ok(None) => {}
                Err(complaint) => return Err(self.complain(complaint)),
            }
        }
        let Some((symbol, declared)) = found else {
            // The arguments may have errors of their own.
            args.iter().for_each(|arg| drop(self.expr(arg)));
            return Err(self.unknown("function", &callee.text, callee.loc));
        };
        let Symbol::Function(func) = symbol else {
            return Err(self.error(callee.loc, format!("`{}` is not a function", callee.text), "cannot be called"));
        };
        if self.out.functions[func.0].body.is_none() && intrinsic::is_intrinsic(&callee.text) {
            return self.intrinsic(callee, args, loc);
        }
        let (params, returns) = (self.out.functions[func.0].params.clone(), self.out.functions[func.0].returns.clone());
        if params.len() != args.len() {
            let message = format!("`{}` takes {} arguments, not {}", callee.text, params.len(), args.len());
            let problem = Problem::new(loc, message, "this call");
            return Err(self.report(problem.with_related(declared, "declared here")));
        }
        let checked: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let converted: Vec<_> = checked.into_iter().zip(&params).map(|(arg, ty)| self.coerce(arg?, ty)).collect();
        let args = converted.into_iter().collect::<Fallible<Vec<_>>>()?;
        let position = self.position();
        self.current().calls.push((func, callee.loc));
        Ok(Expr::new(ExprKind::Call { func, args, position }, returns, loc))
    }
}

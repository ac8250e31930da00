//! Calls of the file's own functions.

use super::{Checker, Fallible, Symbol, intrinsic, threads};
use crate::ast::{self, Name};
use crate::atomics;
use crate::source::{Loc, Problem};
use crate::tree::{Expr, ExprKind, FuncId, Global, GlobalId, Lvalue, LvalueKind, Room};
use crate::types::{Signature, Type};

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &Name, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let found = self.find(&callee.text).cloned();
        // To call these is wrong whatever they do, by a convention of competitions in verification.
        let defined = self.own.contains(callee.text.as_str()) && !threads::FAILURES.contains(&callee.text.as_str());
        let own = matches!(&found, Some((Symbol::Function(_), _))) && defined;
        let built_in = callee.text.starts_with("__") && atomics::knows(&callee.text);
        if !own && (found.is_some() || built_in) {
            match atomics::resolve(callee, args, loc) {
                Ok(Some((family, called))) => return self.atomic(family, called, loc),
                Ok(None) => {}
                Err(complaint) => return Err(self.complain(complaint)),
            }
        }
        if let (None, Some(plain)) = (&found, callee.text.strip_prefix("__builtin_")) {
            let plain = Name { text: plain.into(), loc: callee.loc };
            if intrinsic::is_intrinsic(&plain.text) {
                return self.intrinsic(&plain, args, loc);
            }
            if let Some(made) = self.thread_call(callee, args, loc) {
                return made;
            }
        }
        if found.is_none() && !defined && threads::is_known_anyway(&callee.text) {
            match self.thread_call(callee, args, loc) {
                Some(made) => return made,
                None if intrinsic::is_intrinsic(&callee.text) => return self.intrinsic(callee, args, loc),
                None => {}
            }
        }
        let Some((symbol, declared)) = found else {
            // The arguments may have errors of their own.
            args.iter().for_each(|arg| drop(self.expr(arg)));
            return Err(self.unknown("function", &callee.text, callee.loc));
        };
        let Symbol::Function(func) = symbol else {
            let name = ast::Expr { kind: ast::ExprKind::Name(callee.text.clone()), loc: callee.loc };
            let pointer = self.expr(&name)?;
            return self.call_pointer(pointer, args, loc);
        };
        if !self.sources.is_stub(loc) {
            self.out.mentioned.insert(callee.text.clone());
        }
        if !own && intrinsic::is_intrinsic(&callee.text) {
            return self.intrinsic(callee, args, loc);
        }
        if !own && let Some(expr) = self.thread_call(callee, args, loc) {
            return expr;
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

    /// A call of whatever function the pointer points to.
    pub(super) fn call_pointer(&mut self, callee: Expr, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let signature = match &callee.ty {
            Type::Pointer(to) => match &**to {
                Type::Function(signature) => Some((**signature).clone()),
                _ => None,
            },
            _ => None,
        };
        let checked: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let Some(signature) = signature else {
            let message = format!("`{}` is not a function", self.show(&callee.ty));
            return Err(self.error(callee.loc, message, "cannot be called"));
        };
        if !signature.params.is_empty() && signature.params.len() != args.len() {
            let message = format!("this function takes {} arguments, not {}", signature.params.len(), args.len());
            return Err(self.error(loc, message, "this call"));
        }
        let mut given = Vec::new();
        for (index, arg) in checked.into_iter().enumerate() {
            given.push(match signature.params.get(index) {
                Some(ty) => arg.and_then(|arg| self.coerce(arg, ty)),
                None => arg,
            });
        }
        let args = given.into_iter().collect::<Fallible<Vec<_>>>()?;
        let position = self.position();
        Ok(Expr::new(ExprKind::CallPointer { callee: Box::new(callee), args, position }, signature.returns, loc))
    }

    /// The address of a function, which is that of a word that nobody may touch.
    pub(super) fn function_address(&mut self, func: FuncId, loc: Loc) -> Expr {
        let function = &self.out.functions[func.0];
        let signature = Signature { returns: function.returns.clone(), params: function.params.clone() };
        let ty = Type::Function(Box::new(signature));
        let (name, at) = (function.name.clone(), function.loc);
        let new = GlobalId(self.out.globals.len());
        let id = *self.out.functions[func.0].address.get_or_insert(new);
        if id == new {
            self.out.globals.push(Global { name, ty: ty.clone(), init: Vec::new(), room: Room::Start, loc: at });
        }
        let place = Lvalue { kind: LvalueKind::Global(id), ty: ty.clone(), loc };
        Expr::new(ExprKind::AddrOf(place), ty.pointer(), loc)
    }
}

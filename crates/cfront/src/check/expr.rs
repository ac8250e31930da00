//! Expressions: names, places, members, conversions.

use cyrano_ir::IntType;
use cyrano_ir::suggest::closest;

use super::{Checker, Fallible, Reported, Symbol};
use crate::ast::{self, Designator, Name};
use crate::source::{Loc, Problem};
use crate::tree::{Expr, ExprKind, Lvalue, LvalueKind};
use crate::types::integers::{self, INT};
use crate::types::{SIZE, StructId, Type};

impl Checker<'_> {
    /// A value; arrays become pointers to their first element.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Fallible<Expr> {
        let loc = expr.loc;
        match &expr.kind {
            ast::ExprKind::Int { value, unsigned, long, decimal } => {
                let ty = integers::of_constant(*value, *unsigned, *long, *decimal);
                Ok(Expr::new(ExprKind::Const(*value), Type::Int(ty), loc))
            }
            ast::ExprKind::Name(name) => match self.find(name) {
                Some((Symbol::Constant(value, ty), _)) => {
                    let constant = Expr::new(ExprKind::Const(*value), ty.clone(), loc);
                    self.out.mentioned.insert(name.clone());
                    Ok(constant)
                }
                Some((Symbol::Function(func), _)) => Ok(self.function_address(*func, loc)),
                _ => self.read(expr),
            },
            ast::ExprKind::Member { .. }
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Deref(_)
            | ast::ExprKind::Str(_) => self.read(expr),
            ast::ExprKind::Call { callee, args } => self.call(callee, args, loc),
            ast::ExprKind::CallPointer { callee, args } => {
                let callee = self.expr(callee)?;
                self.call_pointer(callee, args, loc)
            }
            ast::ExprKind::AddrOf(inner) => self.address(inner, loc),
            ast::ExprKind::Unary(op, arg) => self.unary(*op, arg, loc),
            ast::ExprKind::Binary(op, left, right) => self.binary(*op, left, right, loc),
            ast::ExprKind::Assign(None, target, value) => self.assign(target, value, loc),
            ast::ExprKind::Assign(Some(op), target, value) => {
                let value = self.expr(value)?;
                self.update(*op, target, value, false, loc)
            }
            ast::ExprKind::Step { by, prefix, target } => {
                let one = Expr::new(ExprKind::Const(1), Type::Int(INT), loc);
                let op = if *by > 0 { cyrano_ir::BinOp::Add } else { cyrano_ir::BinOp::Sub };
                self.update(op, target, one, !prefix, loc)
            }
            ast::ExprKind::Cond(cond, a, b) => self.conditional(cond, a, b, loc),
            ast::ExprKind::Comma(list) => {
                let list: Vec<_> = list.iter().map(|part| self.expr(part)).collect();
                let list = list.into_iter().collect::<Fallible<Vec<_>>>()?;
                let ty = list.last().map_or(Type::Void, |last| last.ty.clone());
                Ok(Expr::new(ExprKind::Comma(list), ty, loc))
            }
            ast::ExprKind::Cast(ty, value) => self.cast(ty, value, loc),
            ast::ExprKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                self.size_of(&ty, loc)
            }
            ast::ExprKind::SizeofExpr(value) => {
                let ty = self.type_of(value)?;
                self.size_of(&ty, loc)
            }
            ast::ExprKind::Alignof(ty) => {
                let ty = self.resolve(ty)?;
                self.complete(&ty, loc)?;
                let align = i128::from(self.out.types.layout(&ty).align);
                Ok(Expr::new(ExprKind::Const(align), Type::Int(SIZE), loc))
            }
            ast::ExprKind::Compound(ty, items) => {
                let mut found = self.resolve(ty)?;
                match found {
                    Type::Array(..) => self.read(expr),
                    _ => self.list_value(&mut found, items, loc),
                }
            }
            ast::ExprKind::Statement(list) => self.statement_value(list, loc),
            ast::ExprKind::Generic(value, choices) => {
                let ty = self.expr(value)?.ty;
                let mut other = None;
                for (wanted, value) in choices {
                    match wanted {
                        None => other = Some(value),
                        Some(wanted) if self.resolve(wanted)? == ty => return self.expr(value),
                        Some(_) => {}
                    }
                }
                match other {
                    Some(value) => self.expr(value),
                    None => {
                        let message = format!("no choice for `{}`", self.show(&ty));
                        Err(self.error(loc, message, "in this selection"))
                    }
                }
            }
            ast::ExprKind::Offsetof(ty, path) => self.offset_of(ty, path, loc),
            ast::ExprKind::Error => Err(Reported),
        }
    }

    /// In bytes, as a C compiler for LP64 has it.
    fn offset_of(&mut self, ty: &ast::TypeExpr, path: &[Designator], loc: Loc) -> Fallible<Expr> {
        let mut ty = self.resolve(ty)?;
        self.complete(&ty, loc)?;
        let mut bits = 0;
        for part in path {
            match part {
                Designator::Field(name) => {
                    let Type::Struct(mut id) = ty else {
                        return Err(self.error(
                            name.loc,
                            format!("`{}` has no fields", self.show(&ty)),
                            "not a struct",
                        ));
                    };
                    for field in self.path_of(id, name)? {
                        bits += self.out.types.offsets(id).1[field];
                        ty = self.out.types.fields(id)[field].ty.clone();
                        if let Type::Struct(inner) = ty {
                            id = inner;
                        }
                    }
                }
                Designator::Index(index) | Designator::Range(index, _) => {
                    let Type::Array(element, _) = ty else {
                        let message = format!("`{}` has no elements", self.show(&ty));
                        return Err(self.error(index.loc, message, "not an array"));
                    };
                    let at = u64::try_from(self.constant(index)?).unwrap_or_default();
                    bits += self.out.types.layout(&element).size.saturating_mul(8).saturating_mul(at);
                    ty = *element;
                }
            }
        }
        Ok(Expr::new(ExprKind::Const(i128::from(bits / 8)), Type::Int(SIZE), loc))
    }

    fn size_of(&mut self, ty: &Type, loc: Loc) -> Fallible<Expr> {
        self.complete(ty, loc)?;
        let size = i128::from(self.out.types.layout(ty).size);
        Ok(Expr::new(ExprKind::Const(size), Type::Int(SIZE), loc))
    }

    /// The type of an expression that is not evaluated; an array stays one.
    pub(super) fn type_of(&mut self, expr: &ast::Expr) -> Fallible<Type> {
        match &expr.kind {
            ast::ExprKind::Name(_)
            | ast::ExprKind::Member { .. }
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Str(_)
            | ast::ExprKind::Deref(_) => Ok(self.lvalue(expr)?.ty),
            _ => Ok(self.expr(expr)?.ty),
        }
    }

    fn read(&mut self, expr: &ast::Expr) -> Fallible<Expr> {
        let lvalue = self.lvalue(expr)?;
        let (ty, loc) = (lvalue.ty.clone(), lvalue.loc);
        match ty {
            Type::Array(element, 0) => {
                // Of a flexible array nobody knows how many elements it has.
                Ok(Expr::new(ExprKind::AddrOf(lvalue), element.pointer(), loc))
            }
            Type::Array(element, _) => {
                let zero = Expr::new(ExprKind::Const(0), Type::Int(INT), loc);
                let first = LvalueKind::Index(Box::new(lvalue), Box::new(zero));
                let first = Lvalue { kind: first, ty: (*element).clone(), loc };
                Ok(Expr::new(ExprKind::AddrOf(first), element.pointer(), loc))
            }
            Type::Void => Err(self.error(loc, "`void` has no value", "cannot be read")),
            Type::Function(_) => Ok(Expr::new(ExprKind::AddrOf(lvalue), ty.pointer(), loc)),
            Type::Atomic(inner) => Ok(Expr::new(ExprKind::Read(lvalue), *inner, loc)),
            ty => {
                let ty = self.narrow_field(&lvalue).map_or(ty, Type::Int);
                Ok(Expr::new(ExprKind::Read(lvalue), ty, loc))
            }
        }
    }

    /// A bit-field of fewer bits than an `int` has is promoted to `int`, whatever it was declared with (C11, 6.3.1.1).
    pub(super) fn narrow_field(&self, lvalue: &Lvalue) -> Option<IntType> {
        let LvalueKind::Field(base, index) = &lvalue.kind else { return None };
        let (Type::Struct(id), Type::Int(declared)) = (&base.ty, &lvalue.ty) else { return None };
        let width = self.out.types.fields(*id).get(*index)?.bits.width;
        (self.out.types.is_scalar(&base.ty) && width < INT.bits && declared.bits >= INT.bits).then_some(INT)
    }

    /// A place.
    pub(super) fn lvalue(&mut self, expr: &ast::Expr) -> Fallible<Lvalue> {
        let loc = expr.loc;
        match &expr.kind {
            ast::ExprKind::Name(name) => self.variable(name, loc),
            ast::ExprKind::Deref(pointer) => {
                let pointer = self.expr(pointer)?;
                let ty = self.pointee(&pointer)?;
                Ok(Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty, loc })
            }
            ast::ExprKind::Index(base, index) => self.index(base, index, loc),
            ast::ExprKind::Member { base, arrow, field } => self.member(base, *arrow, field, loc),
            ast::ExprKind::Str(text) => Ok(self.string(&text.chars, loc)),
            ast::ExprKind::Compound(ty, items) => self.compound(ty, items, loc),
            _ => {
                let value = self.expr(expr)?;
                let ty = value.ty.clone();
                Ok(Lvalue { kind: LvalueKind::Value(Box::new(value)), ty, loc })
            }
        }
    }

    fn variable(&mut self, name: &str, loc: Loc) -> Fallible<Lvalue> {
        let (kind, ty) = match self.find(name).cloned() {
            Some((Symbol::Global(id), _)) => (LvalueKind::Global(id), self.out.globals[id.0].ty.clone()),
            Some((Symbol::Local(id), _)) => (LvalueKind::Local(id), self.current().locals[id.0].ty.clone()),
            Some((Symbol::Function(_), _)) => {
                return Err(self.error(loc, format!("the function `{name}` is used as a value"), "call it"));
            }
            Some((Symbol::Type(_), _)) => return Err(self.error(loc, format!("`{name}` is a type"), "not a value")),
            Some((Symbol::Constant(..), _)) => return Err(self.error(loc, format!("`{name}` is a constant"), "here")),
            None => return Err(self.unknown("variable", name, loc)),
        };
        Ok(Lvalue { kind, ty, loc })
    }

    /// What a pointer points to.
    pub(super) fn pointee(&mut self, pointer: &Expr) -> Fallible<Type> {
        match &pointer.ty {
            Type::Pointer(to) if **to == Type::Void => {
                let problem = Problem::new(pointer.loc, "a `void *` points to nothing that can be used", "a `void *`");
                Err(self.report(problem.with_help("cast it to the type of pointer that it is")))
            }
            Type::Pointer(to) => Ok((**to).clone()),
            other => {
                let message = format!("`{}` is not a pointer", self.show(other));
                Err(self.error(pointer.loc, message, "expected a pointer"))
            }
        }
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, loc: Loc) -> Fallible<Lvalue> {
        let is_place = !matches!(base.kind, ast::ExprKind::Call { .. });
        let array = if is_place { Some(self.lvalue(base)?) } else { None };
        let number = self.integer(index);
        if let Some(array) = array
            && let Type::Array(element, len @ 1..) = &array.ty
        {
            let (ty, len) = ((**element).clone(), *len);
            let number = number?;
            if let Some(value) = super::fold(&number, &self.out.types, &|_| None)
                && !(0..i128::from(len)).contains(&value)
            {
                let message = format!("index {value} is outside an array of {len} elements");
                return Err(self.error(index.loc, message, "out of bounds"));
            }
            return Ok(Lvalue { kind: LvalueKind::Index(Box::new(array), Box::new(number)), ty, loc });
        }
        let pointer = self.expr(base)?;
        let ty = self.pointee(&pointer)?;
        self.complete(&ty, loc)?;
        self.not_recast(&pointer)?;
        let pointer_ty = pointer.ty.clone();
        let kind = ExprKind::PtrAdd { ptr: Box::new(pointer), index: Box::new(number?), minus: false };
        let moved = Expr::new(kind, pointer_ty, loc);
        Ok(Lvalue { kind: LvalueKind::Deref(Box::new(moved)), ty, loc })
    }

    fn member(&mut self, base: &ast::Expr, arrow: bool, field: &Name, loc: Loc) -> Fallible<Lvalue> {
        let base = if arrow {
            let pointer = self.expr(base)?;
            let ty = self.pointee(&pointer)?;
            Lvalue { loc: pointer.loc, kind: LvalueKind::Deref(Box::new(pointer)), ty }
        } else {
            self.lvalue(base)?
        };
        if let Type::Atomic(_) = base.ty {
            let problem = Problem::new(loc, "a field of an atomic object", "C11 does not define this access");
            return Err(self.report(problem.with_help("load the whole object, or make the field atomic")));
        }
        let Type::Struct(id) = base.ty else {
            let shown = self.show(&base.ty);
            let problem = Problem::new(base.loc, format!("`{shown}` is not a struct"), "has no fields");
            let problem = match &base.ty {
                Type::Pointer(_) if !arrow => problem.with_help(format!("use `->{}`", field.text)),
                _ => problem,
            };
            return Err(self.report(problem));
        };
        let path = self.path_of(id, field)?;
        Ok(path.into_iter().fold(base, |base, index| {
            let ty = match base.ty {
                Type::Struct(id) => self.out.types.fields(id)[index].ty.clone(),
                _ => Type::Void,
            };
            Lvalue { kind: LvalueKind::Field(Box::new(base), index), ty, loc }
        }))
    }

    /// The way to a member by its name.
    pub(super) fn path_of(&mut self, id: StructId, field: &Name) -> Fallible<Vec<usize>> {
        if let Some(path) = self.out.types.path(id, &field.text) {
            return Ok(path);
        }
        let members = self.out.types.members(id);
        let guess = closest(&field.text, members.iter().map(|member| member.name.as_str())).map(str::to_string);
        let message = format!("`{}` has no field `{}`", self.out.types.def(id).name, field.text);
        Err(self.report(Problem::new(field.loc, message, "unknown field").with_guess(guess.as_deref())))
    }

    /// Whether a member of a word is nothing but the word.
    fn is_word(&self, ty: &Type, field: usize) -> bool {
        matches!(ty, Type::Struct(id) if self.out.types.fields(*id)[field].bits.is_word())
    }

    fn address(&mut self, inner: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        if let ast::ExprKind::Name(name) = &inner.kind
            && let Some((Symbol::Function(func), _)) = self.find(name)
        {
            return Ok(self.function_address(*func, loc));
        }
        let lvalue = self.lvalue(inner)?;
        match &lvalue.kind {
            LvalueKind::Value(_) => return Err(self.error(loc, "this has no address", "a value, not a place")),
            LvalueKind::Field(base, field) if self.out.types.is_scalar(&base.ty) && !self.is_word(&base.ty, *field) => {
                let problem = Problem::new(loc, "a field of a word has no address", "part of a word");
                let shown = self.show(&base.ty);
                let why = match &base.ty {
                    Type::Struct(id) if self.out.types.def(*id).spec.is_some_and(|spec| self.words.contains(&spec)) => {
                        Some(format!("`{shown}` is one word, because `cas`, `exchange` or a union takes it as a whole"))
                    }
                    Type::Struct(id) if self.out.types.def(*id).union => {
                        Some(format!("`{shown}` is one word, whose members share it"))
                    }
                    _ => None,
                };
                return Err(self.report(match why {
                    Some(why) => problem.with_help(why),
                    None => problem,
                }));
            }
            _ => {}
        }
        let ty = lvalue.ty.clone().pointer();
        Ok(Expr::new(ExprKind::AddrOf(lvalue), ty, loc))
    }

    /// An integer, of whatever type.
    pub(super) fn integer(&mut self, expr: &ast::Expr) -> Fallible<Expr> {
        let checked = self.expr(expr)?;
        match checked.ty.is_integer() {
            true => Ok(checked),
            false => {
                let message = format!("expected an integer, found `{}`", self.show(&checked.ty));
                Err(self.error(expr.loc, message, "not an integer"))
            }
        }
    }

    /// A condition: any integer or pointer.
    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Fallible<Expr> {
        if matches!(expr.kind, ast::ExprKind::Str(_)) {
            // `assert(holds && "why")`: a string has an address.
            return Ok(Expr::new(ExprKind::Const(1), Type::Int(INT), expr.loc));
        }
        let checked = self.expr(expr)?;
        match checked.ty.is_castable() {
            true => Ok(checked),
            false => {
                let message = format!("`{}` is not a condition", self.show(&checked.ty));
                Err(self.error(expr.loc, message, "expected an integer or a pointer"))
            }
        }
    }

    /// The value as one of another type, if C converts it without a cast.
    pub(super) fn coerce(&mut self, value: Expr, to: &Type) -> Fallible<Expr> {
        let fits = match (&value.ty, to) {
            (from, to) if from == to => return Ok(value),
            (Type::Bool | Type::Int(_), Type::Bool | Type::Int(_)) | (Type::Pointer(_), Type::Bool) => true,
            (Type::Pointer(from), Type::Pointer(to)) => match (&**from, &**to) {
                (Type::Function(from), Type::Function(to)) => from.fits(to),
                (from, to) => *from == Type::Void || *to == Type::Void,
            },
            (Type::Int(_) | Type::Bool, Type::Pointer(_)) => matches!(value.kind, ExprKind::Const(0)),
            _ => false,
        };
        if fits {
            let loc = value.loc;
            return Ok(Expr::new(ExprKind::Convert(Box::new(value)), to.clone(), loc));
        }
        let (expected, found) = (self.show(to), self.show(&value.ty));
        let problem = Problem::new(value.loc, format!("expected `{expected}`, found `{found}`"), "of another type");
        let problem = match value.ty.is_castable() && to.is_castable() {
            true => problem.with_help(format!("if this is meant, cast it: `({expected})`")),
            false => problem,
        };
        Err(self.report(problem))
    }

    fn cast(&mut self, ty: &ast::TypeExpr, value: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        let to = self.resolve(ty)?.plain().clone();
        if let Some(moved) = self.moved_by_bytes(&to, value, loc)? {
            return Ok(moved);
        }
        let value = self.expr(value)?;
        if to == Type::Void || (value.ty.is_castable() && to.is_castable()) {
            return Ok(Expr::new(ExprKind::Convert(Box::new(value)), to, loc));
        }
        if value.ty == to {
            return Ok(value);
        }
        let message = format!("`{}` cannot be cast to `{}`", self.show(&value.ty), self.show(&to));
        Err(self.error(loc, message, "this cast"))
    }
}

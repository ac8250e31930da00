//! Objects without a name, and objects as bytes: strings, compound literals, what lies around a member, memory that is filled and copied.

use cyrano_ir::BinOp;

use super::{Checker, Fallible};
use crate::ast::{self, InitItem};
use crate::flow::escape::strip;
use crate::source::{Loc, Problem};
use crate::tree::{Expr, ExprKind, Global, GlobalId, Intrinsic, Local, LocalId, Lvalue, LvalueKind, Room};
use crate::types::arith::LONG;
use crate::types::integers::INT;
use crate::types::{MAX_WORDS, Type};

/// The type of characters.
const CHAR: cyrano_ir::IntType = cyrano_ir::IntType { bits: 8, signed: true };

impl Checker<'_> {
    /// The array that a string is; equal strings are one.
    pub(super) fn string(&mut self, chars: &[i128], loc: Loc) -> Lvalue {
        let len = u32::try_from(chars.len() + 1).unwrap_or(u32::MAX);
        let ty = Type::Array(Box::new(Type::Int(CHAR)), len);
        let new = GlobalId(self.out.globals.len());
        let id = *self.strings.entry(chars.to_vec()).or_insert(new);
        if id == new {
            let name = format!("string#{}", self.strings.len());
            let char = |value: &i128| Expr::new(ExprKind::Const(*value), Type::Int(CHAR), loc);
            let init = (0..).zip(chars.iter().map(char)).collect();
            self.out.globals.push(Global { name, ty: ty.clone(), init, room: Room::Start, loc });
        }
        Lvalue { kind: LvalueKind::Global(id), ty, loc }
    }

    /// The object of a compound literal: a local of the call, or outside of functions a global.
    pub(super) fn compound(&mut self, ty: &ast::TypeExpr, items: &[InitItem], loc: Loc) -> Fallible<Lvalue> {
        let mut ty = self.resolve(ty)?;
        let value = self.list_value(&mut ty, items, loc)?;
        self.complete(&ty, loc)?;
        if self.current().returns.is_none() {
            let init = self.constant_words(value);
            let id = GlobalId(self.out.globals.len());
            let name = format!("literal#{}", id.0);
            self.out.globals.push(Global { name, ty: ty.clone(), init, room: Room::Start, loc });
            return Ok(Lvalue { kind: LvalueKind::Global(id), ty, loc });
        }
        let locals = &mut self.current().locals;
        let id = LocalId(locals.len());
        locals.push(Local { name: format!("literal#{}", id.0), ty: ty.clone() });
        let place = Lvalue { kind: LvalueKind::Local(id), ty: ty.clone(), loc };
        let plain = ty.plain().clone();
        let made = Expr::new(ExprKind::Assign(place.clone(), Box::new(value)), plain, loc);
        let address = Expr::new(ExprKind::AddrOf(place), ty.clone().pointer(), loc);
        let pointer = Expr::new(ExprKind::Comma(vec![made, address]), ty.clone().pointer(), loc);
        Ok(Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty, loc })
    }

    /// `(T *)((char *)p - offsetof(T, member))` and its like: a pointer that is moved by bytes, to something whose place is known.
    pub(super) fn moved_by_bytes(&mut self, to: &Type, value: &ast::Expr, loc: Loc) -> Fallible<Option<Expr>> {
        let (Type::Pointer(target), ast::ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), left, by)) =
            (to, &value.kind)
        else {
            return Ok(None);
        };
        let ast::ExprKind::Cast(bytes, pointer) = &left.kind else { return Ok(None) };
        let bytes = self.resolve(bytes)?;
        let moves = match &bytes {
            Type::Pointer(to) => matches!(&**to, Type::Void | Type::Int(CHAR)) || self.out.types.layout(to).size == 1,
            // Adding to an integer may be about marks.
            Type::Int(_) => is_offset(by),
            _ => false,
        };
        if !moves {
            return Ok(None);
        }
        let pointer = self.expr(pointer)?;
        let pointer = strip(&pointer).clone();
        let Type::Pointer(from) = &pointer.ty else { return Ok(None) };
        let by = self.integer(by)?;
        let Some(by) = super::fold(&by, &self.out.types, &|_| None).and_then(|by| u64::try_from(by).ok()) else {
            return Ok(None);
        };
        let types = &self.out.types;
        let size = types.layout(from).size;
        let words = match op {
            BinOp::Sub => types.word_at(target, by),
            _ => types.word_at(from, by),
        };
        let steps = (by.is_multiple_of(size) && types.is_complete(from)).then(|| by / size * types.wide_words(from));
        let Some(words) = words.or(steps).filter(|words| *words <= MAX_WORDS) else {
            let problem =
                Problem::new(loc, "a pointer is moved by bytes to where nothing is known to begin", "this cast");
            return Err(self.report(problem.with_help("write `(T *)((char *)p - offsetof(T, member))`")));
        };
        let word = Type::Int(LONG).pointer();
        let start = Expr::new(ExprKind::Convert(Box::new(pointer)), word, loc);
        let index = Expr::new(ExprKind::Const(i128::from(words)), Type::Int(INT), loc);
        let kind = ExprKind::PtrAdd { ptr: Box::new(start), index: Box::new(index), minus: *op == BinOp::Sub };
        Ok(Some(Expr::new(kind, to.clone(), loc)))
    }

    /// `memset`: each word gets the value that has this byte everywhere.
    pub(super) fn fill(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<(Intrinsic, Vec<Expr>)> {
        let (target, ty, count) = self.whole_objects(&args[0], &args[2])?;
        let byte = self.integer(&args[1])?;
        let byte = super::fold(&byte, &self.out.types, &|_| None).map(|byte| byte & 0xff);
        let Some(values) = byte.and_then(|byte| self.filled(&ty, byte)) else {
            let shown = self.show(&ty);
            let problem = Problem::new(loc, format!("`memset` of `{shown}` with this value"), "not 0");
            return Err(self.report(problem.with_help("integers are filled with a constant, pointers with 0")));
        };
        Ok((Intrinsic::Fill(values.repeat(count)), vec![target]))
    }

    /// `memcpy` and `memmove`.
    pub(super) fn copy(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<(Intrinsic, Vec<Expr>)> {
        let (target, ty, count) = self.whole_objects(&args[0], &args[2])?;
        let (source, from, number) = self.whole_objects(&args[1], &args[2])?;
        let words = self.out.types.words(&ty) as usize * count;
        if self.shapes(&ty).repeat(count) != self.shapes(&from).repeat(number) {
            let (ty, from) = (self.show(&ty), self.show(&from));
            let problem = Problem::new(loc, format!("a copy of `{from}` to `{ty}`"), "of another shape");
            return Err(
                self.report(problem.with_help("memory has words and no bytes: copy between objects of one type"))
            );
        }
        Ok((Intrinsic::Copy(u32::try_from(words).unwrap_or(u32::MAX)), vec![target, source]))
    }

    /// A pointer as it was before it became a `void *`, the type of what it points to, and how many of these so many bytes are.
    fn whole_objects(&mut self, pointer: &ast::Expr, bytes: &ast::Expr) -> Fallible<(Expr, Type, usize)> {
        let pointer = self.expr(pointer)?;
        let pointer = strip(&pointer).clone();
        let ty = self.pointee(&pointer)?;
        self.complete(&ty, pointer.loc)?;
        let bytes_loc = bytes.loc;
        let bytes = self.constant(bytes)?;
        let size = i128::from(self.out.types.layout(&ty).size);
        let words = i128::from(self.out.types.words(&ty));
        if bytes < 0 || bytes % size != 0 || bytes / size * words > i128::from(MAX_WORDS) {
            let message = format!("{bytes} bytes are not a number of `{}`, which has {size}", self.show(&ty));
            let problem = Problem::new(bytes_loc, message, "a part of an object");
            return Err(
                self.report(problem.with_help("memory has words and no bytes: name whole objects, `sizeof(T)`"))
            );
        }
        Ok((pointer, ty, usize::try_from(bytes / size).unwrap_or_default()))
    }

    /// The words of a value all of whose bytes are this one; none if that is not a value of the type.
    fn filled(&self, ty: &Type, byte: i128) -> Option<Vec<i128>> {
        let types = &self.out.types;
        match ty.plain() {
            Type::Bool => (byte <= 1).then(|| vec![byte]),
            Type::Int(int) => {
                let all = (0..i128::from(int.bits / 8)).map(|at| byte << (8 * at)).sum();
                Some(vec![int.wrap(all)])
            }
            Type::Array(element, len) => Some(self.filled(element, byte)?.repeat(*len as usize)),
            Type::Struct(id) if !types.is_scalar(ty.plain()) => {
                let fields = types.fields(*id).iter().map(|field| self.filled(&field.ty, byte));
                Some(fields.collect::<Option<Vec<_>>>()?.concat())
            }
            _ => (byte == 0).then(|| vec![0]),
        }
    }

    /// Numbers for the types of the words of an object, but for signs and for what pointers point to.
    fn shapes(&self, ty: &Type) -> Vec<usize> {
        let types = &self.out.types;
        match ty.plain() {
            Type::Array(element, len) => self.shapes(element).repeat(*len as usize),
            Type::Struct(id) if !types.is_scalar(ty.plain()) => {
                types.fields(*id).iter().flat_map(|field| self.shapes(&field.ty)).collect()
            }
            Type::Int(int) => vec![usize::from(int.bits)],
            Type::Bool => vec![1],
            Type::Struct(id) => vec![1 + usize::from(u8::MAX) + id.0],
            _ => vec![0],
        }
    }

    /// A struct that ends in an array of no length, with so many elements there.
    pub(super) fn with_elements(&mut self, ty: &Type, size: &ast::Expr) -> Fallible<Option<Type>> {
        let Type::Struct(id) = ty else { return Ok(None) };
        let Some(crate::types::FieldDef { ty: Type::Array(element, 0), .. }) = self.out.types.fields(*id).last() else {
            return Ok(None);
        };
        let element = (**element).clone();
        let bytes = self.constant(size)?;
        let each = i128::from(self.out.types.layout(&element).size);
        let len = u32::try_from(bytes / each).ok().filter(|len| u64::from(*len) <= MAX_WORDS && bytes % each == 0);
        let Some(len) = len else {
            return Err(self.error(size.loc, format!("{bytes} bytes are no elements of this struct's array"), "here"));
        };
        let mut def = self.out.types.def(*id).clone();
        if let Some(last) = def.fields.iter_mut().flatten().last() {
            last.ty = Type::Array(Box::new(element), len);
        }
        self.out.types.structs.push(def);
        Ok(Some(Type::Struct(crate::types::StructId(self.out.types.structs.len() - 1))))
    }
}

/// Whether an expression is an `offsetof`.
fn is_offset(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Offsetof(..) => true,
        ast::ExprKind::Cast(_, inner) => is_offset(inner),
        _ => false,
    }
}

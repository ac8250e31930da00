//! Initialisers: lists to words.

use std::collections::BTreeMap;

use super::{Checker, Fallible, Reported};
use crate::ast::{self, Designator, Init, InitItem};
use crate::source::Loc;
use crate::tree::{Expr, ExprKind};
use crate::types::{StructId, Type};

impl Checker<'_> {
    /// The type of a declaration; an array without a length gets that of its initialiser.
    pub(super) fn with_length(&mut self, ty: Type, decl: &ast::Decl) -> Fallible<Type> {
        let (Type::Array(element, 0), Some(Init::List(items, loc))) = (&ty, &decl.init) else { return Ok(ty) };
        let (mut next, mut longest) = (0u32, 0u32);
        for item in items {
            next = self.position_of(item, next, 0, *loc)? + 1;
            longest = longest.max(next);
        }
        Ok(Type::Array(element.clone(), longest))
    }

    /// Which element of an array of `len` elements (0: as many as are needed) an item is, if `next` is the next one.
    fn position_of(&mut self, item: &InitItem, next: u32, len: u32, loc: Loc) -> Fallible<u32> {
        let at = match &item.designator {
            Some(Designator::Index(index)) => {
                let value = self.constant(index)?;
                u32::try_from(value).map_err(|_| self.error(index.loc, "not an index", "here"))?
            }
            Some(Designator::Field(name)) => return Err(self.error(name.loc, "an array has no fields", "here")),
            None => next,
        };
        if (len > 0 && at >= len) || u64::from(at) >= crate::types::MAX_WORDS {
            return Err(self.error(loc, format!("too many values for an array of {len}"), "this list"));
        }
        Ok(at)
    }

    /// The words of a global that do not start as 0.
    pub(super) fn global_init(&mut self, decl: &ast::Decl, ty: &mut Type) -> Vec<(u32, Expr)> {
        let Some(init) = &decl.init else { return Vec::new() };
        let Ok(value) = self.init_value(ty, init) else { return Vec::new() };
        let mut words = Vec::new();
        flatten(value, 0, &mut words);
        for (_, word) in &words {
            // Addresses are not known yet; any will do to see whether the expression is constant.
            if super::fold(word, &self.out.types, &|_| Some(8)).is_none() {
                self.error(word.loc, "this is not a constant", "globals start with constants");
            }
        }
        words
    }

    /// The value of an initialiser as one of the type.
    pub(super) fn init_value(&mut self, ty: &mut Type, init: &Init) -> Fallible<Expr> {
        if let Type::Atomic(inner) = ty {
            return self.init_value(&mut inner.clone(), init);
        }
        match init {
            Init::Expr(expr) => {
                let value = self.expr(expr)?;
                self.coerce(value, ty)
            }
            Init::List(items, loc) => self.list_value(ty, items, *loc),
        }
    }

    /// The value of a list in braces.
    pub(super) fn list_value(&mut self, ty: &mut Type, items: &[InitItem], loc: Loc) -> Fallible<Expr> {
        match ty.clone() {
            Type::Struct(id) => {
                self.complete(ty, loc)?;
                self.struct_value(id, items, loc)
            }
            Type::Array(element, len) => self.array_value(ty, &element, len, items, loc),
            _ => match items {
                [InitItem { designator: None, init }] => self.init_value(ty, init),
                _ => Err(self.error(loc, format!("a list for a `{}`", self.show(ty)), "expected one value")),
            },
        }
    }

    fn struct_value(&mut self, id: StructId, items: &[InitItem], loc: Loc) -> Fallible<Expr> {
        let members = self.out.types.members(id);
        let mut values = BTreeMap::new();
        let mut next = members.iter().position(|member| member.listed);
        for item in items {
            match &item.designator {
                Some(Designator::Field(name)) => {
                    let path = self.path_of(id, name)?;
                    next = members.iter().position(|member| member.path == path);
                }
                Some(Designator::Index(index)) => {
                    return Err(self.error(index.loc, "a struct has no elements", "here"));
                }
                None => {}
            }
            let Some((at, member)) = next.and_then(|at| Some((at, members.get(at)?))) else {
                return Err(self.error(loc, "too many values for this struct", "this list"));
            };
            let value = self.init_value(&mut member.ty.clone(), &item.init)?;
            values.insert(member.path.clone(), value);
            next = (at + 1..members.len()).find(|at| members[*at].listed);
        }
        Ok(self.assembled(id, &mut Vec::new(), &mut values, loc))
    }

    /// The value of a struct, or of a member without a name, from those of its members.
    fn assembled(
        &self,
        id: StructId,
        path: &mut Vec<usize>,
        values: &mut BTreeMap<Vec<usize>, Expr>,
        loc: Loc,
    ) -> Expr {
        let mut parts = Vec::new();
        for (at, field) in self.out.types.fields(id).iter().enumerate() {
            path.push(at);
            parts.push(match field.ty {
                Type::Struct(inner) if field.name.is_empty() => Some(self.assembled(inner, path, values, loc)),
                _ => values.remove(path),
            });
            path.pop();
        }
        let ty = Type::Struct(id);
        if self.out.types.is_scalar(&ty) {
            let fields = parts.into_iter().zip(self.out.types.fields(id));
            let zero = |field: &crate::types::FieldDef| Expr::new(ExprKind::Const(0), field.ty.clone(), loc);
            let words = fields.map(|(value, field)| value.unwrap_or_else(|| zero(field))).collect();
            return Expr::new(ExprKind::Word(words), ty, loc);
        }
        let parts = parts.into_iter().enumerate();
        let parts = parts.filter_map(|(index, value)| Some((self.out.types.offset(id, index), value?)));
        Expr::new(ExprKind::Aggregate(parts.collect()), ty, loc)
    }

    fn array_value(&mut self, ty: &mut Type, element: &Type, len: u32, items: &[InitItem], loc: Loc) -> Fallible<Expr> {
        let mut parts = Vec::new();
        let (mut next, mut longest) = (0u32, 0u32);
        for item in items {
            next = self.position_of(item, next, len, loc)?;
            let value = self.init_value(&mut element.clone(), &item.init)?;
            parts.push((next * self.out.types.words(element), value));
            next += 1;
            longest = longest.max(next);
        }
        let len = if len == 0 { longest } else { len };
        if len == 0 {
            return Err(self.error(loc, "an array without elements", "this list"));
        }
        *ty = Type::Array(Box::new(element.clone()), len);
        Ok(Expr::new(ExprKind::Aggregate(parts), ty.clone(), loc))
    }

    /// A local's declaration: its value, with 0 for what a list leaves out.
    pub(super) fn local_init(&mut self, ty: &mut Type, init: &Init) -> Fallible<Expr> {
        let value = self.init_value(ty, init)?;
        if matches!(value.ty, Type::Void) { Err(Reported) } else { Ok(value) }
    }
}

/// The words of a value, nested lists included.
fn flatten(value: Expr, at: u32, words: &mut Vec<(u32, Expr)>) {
    match value.kind {
        ExprKind::Aggregate(parts) => parts.into_iter().for_each(|(offset, part)| flatten(part, at + offset, words)),
        _ => words.push((at, value)),
    }
}

//! Initialisers: lists to words (C11, 6.7.9).
//!
//! A list is read from left to right with a *way* into what it initialises: designators set it, and every value moves it on. Where braces are left out
//! the way goes on into the parts of a part until the value fits.

use std::collections::BTreeMap;

use super::{Checker, Fallible, Reported};
use crate::ast::{self, Designator, Init, InitItem};
use crate::source::Loc;
use crate::tree::{Expr, ExprKind, Room};
use crate::types::{MAX_WORDS, StructId, Type};

/// The numbers of a member or an element, from the outside in.
type Way = Vec<usize>;

/// What a list gives to a type or to a part of one.
enum Given {
    Value(Expr),
    Parts(BTreeMap<usize, Given>),
}

impl Checker<'_> {
    /// The type of a declaration; an array without a length gets that of its initialiser.
    pub(super) fn with_length(&mut self, ty: Type, decl: &ast::Decl) -> Fallible<Type> {
        let (Type::Array(element, 0), Some(init)) = (&ty, &decl.init) else { return Ok(ty) };
        let mut made = ty.clone();
        let Init::List(items, loc) = init else {
            self.init_value(&mut made, init)?;
            return Ok(made);
        };
        let flat = items.iter().any(|item| matches!(item.init, Init::Expr(_)));
        if self.has_parts(element) && flat || matches!(&items[..], [InitItem { init: Init::Expr(_), .. }]) {
            // The values say where elements begin.
            self.list_value(&mut made, items, *loc)?;
            return Ok(made);
        }
        let (mut next, mut longest) = (0, 0);
        for item in items {
            next = match item.designators.first() {
                Some(Designator::Index(at) | Designator::Range(_, at)) => self.index_of(at, 0)?,
                Some(Designator::Field(name)) => return Err(self.error(name.loc, "an array has no fields", "here")),
                None => next,
            } + 1;
            longest = longest.max(next);
        }
        Ok(Type::Array(element.clone(), u32::try_from(longest).unwrap_or(u32::MAX)))
    }

    /// The words of a global that do not start as 0.
    pub(super) fn global_init(&mut self, decl: &ast::Decl, ty: &mut Type) -> Vec<(u32, Expr)> {
        let Some(init) = &decl.init else { return Vec::new() };
        let Ok(value) = self.init_value(ty, init) else { return Vec::new() };
        self.constant_words(value)
    }

    /// The words of a value that is constant.
    pub(super) fn constant_words(&mut self, value: Expr) -> Vec<(u32, Expr)> {
        let mut words = Vec::new();
        flatten(value, 0, &mut words);
        for (_, word) in &words {
            // Addresses are not known yet; any will do to see whether the expression is constant. That of a thread's own variable is not.
            let globals = &self.out.globals;
            let address = |id: usize| globals.get(id).filter(|global| global.room == Room::Start).map(|_| 8);
            if super::fold(word, &self.out.types, &address).is_none() {
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
            Init::Expr(ast::Expr { kind: ast::ExprKind::Str(text), loc }) if is_text(ty) => {
                self.text_value(ty, &text.chars, *loc)
            }
            Init::Expr(ast::Expr { kind: ast::ExprKind::Compound(literal, items), loc })
                if matches!(ty, Type::Array(..)) =>
            {
                // GNU C: an array from a compound literal of its type.
                let mut found = self.resolve(literal)?;
                let value = self.list_value(&mut found, items, *loc)?;
                if let (Type::Array(_, 0), Type::Array(..)) = (&ty, &found) {
                    *ty = found.clone();
                }
                if found == *ty { Ok(value) } else { self.coerce(value, ty) }
            }
            Init::Expr(expr) => {
                let value = self.expr(expr)?;
                self.coerce(value, ty)
            }
            Init::List(items, loc) => self.list_value(ty, items, *loc),
        }
    }

    /// A local's declaration: its value, with 0 for what a list leaves out.
    pub(super) fn local_init(&mut self, ty: &mut Type, init: &Init) -> Fallible<Expr> {
        let value = self.init_value(ty, init)?;
        if matches!(value.ty, Type::Void) { Err(Reported) } else { Ok(value) }
    }

    /// The value of a list in braces.
    pub(super) fn list_value(&mut self, ty: &mut Type, items: &[InitItem], loc: Loc) -> Fallible<Expr> {
        if let (true, [InitItem { designators, init }]) = (is_text(ty) || !self.has_parts(ty), items)
            && designators.is_empty()
            && (!self.has_parts(ty) || matches!(init, Init::Expr(ast::Expr { kind: ast::ExprKind::Str(_), .. })))
        {
            return self.init_value(ty, init);
        }
        if !self.has_parts(ty) {
            if items.is_empty() {
                return Ok(Expr::new(ExprKind::Const(0), ty.plain().clone(), loc));
            }
            return Err(self.error(loc, format!("a list for a `{}`", self.show(ty)), "expected one value"));
        }
        if let Type::Struct(_) = ty {
            self.complete(ty, loc)?;
        }
        let mut given = Given::Parts(BTreeMap::new());
        let mut next = self.first_part(ty).map(|first| vec![first]);
        let mut longest = 0;
        for item in items {
            let ways = match item.designators.is_empty() {
                false => self.designated(ty, &item.designators)?,
                true => vec![next.clone().ok_or_else(|| self.too_many(ty, loc))?],
            };
            next = None;
            for (way, value) in self.placed(ty, ways, &item.init)? {
                longest = longest.max(way.first().map_or(0, |first| first + 1));
                next = self.following(ty, way.clone());
                self.give(&mut given, ty, &way, value)?;
            }
        }
        if let Type::Array(element, 0) = ty {
            if longest == 0 {
                return Err(self.error(loc, "an array without elements", "this list"));
            }
            *ty = Type::Array(element.clone(), u32::try_from(longest).unwrap_or(u32::MAX));
        }
        Ok(self.assembled(given, ty, loc))
    }

    fn too_many(&mut self, ty: &Type, loc: Loc) -> Reported {
        let message = match ty {
            Type::Array(_, len) => format!("too many values for an array of {len}"),
            _ => "too many values for this struct".into(),
        };
        self.error(loc, message, "this list")
    }

    /// Whether a list has values for parts of it.
    fn has_parts(&self, ty: &Type) -> bool {
        matches!(ty.plain(), Type::Struct(_) | Type::Array(..))
    }

    /// The type of a part; an array whose length is not known has as many as are asked for.
    fn part(&self, ty: &Type, at: usize) -> Option<Type> {
        match ty.plain() {
            Type::Struct(id) => self.out.types.members(*id).get(at).map(|member| member.ty.clone()),
            Type::Array(element, len) => (*len == 0 || at < *len as usize).then(|| (**element).clone()),
            _ => None,
        }
    }

    fn at_way(&self, ty: &Type, way: &[usize]) -> Option<Type> {
        way.iter().try_fold(ty.clone(), |ty, at| self.part(&ty, *at))
    }

    /// The first part that has a value in a list without designators.
    fn first_part(&self, ty: &Type) -> Option<usize> {
        match ty.plain() {
            Type::Struct(id) => self.out.types.members(*id).iter().position(|member| member.listed),
            _ => Some(0),
        }
    }

    /// The part behind one.
    fn following(&self, ty: &Type, mut way: Way) -> Option<Way> {
        while let Some(last) = way.pop() {
            let around = self.at_way(ty, &way)?;
            let next = match around.plain() {
                Type::Struct(id) => {
                    let members = self.out.types.members(*id);
                    (last + 1..members.len()).find(|at| members[*at].listed)
                }
                Type::Array(_, len) => Some(last + 1).filter(|at| *at < *len as usize || *len == 0 && way.is_empty()),
                _ => None,
            };
            if let Some(next) = next {
                way.push(next);
                return Some(way);
            }
        }
        None
    }

    /// An index that stands in a designator.
    fn index_of(&mut self, index: &ast::Expr, len: u32) -> Fallible<usize> {
        let value = self.constant(index)?;
        let at = usize::try_from(value).ok().filter(|at| (*at as u64) < MAX_WORDS);
        match at.filter(|at| len == 0 || *at < len as usize) {
            Some(at) => Ok(at),
            None => Err(self.error(index.loc, format!("too many values for an array of {len}"), "not an index of it")),
        }
    }

    /// Where designators lead; to several places if there is a range.
    fn designated(&mut self, ty: &Type, designators: &[Designator]) -> Fallible<Vec<Way>> {
        let mut ways = vec![Way::new()];
        for designator in designators {
            let around = ways.first().and_then(|way| self.at_way(ty, way)).ok_or(Reported)?;
            let parts = match (designator, around.plain()) {
                (Designator::Field(name), Type::Struct(id)) => {
                    let path = self.path_of(*id, name)?;
                    let members = self.out.types.members(*id);
                    vec![members.iter().position(|member| member.path == path).ok_or(Reported)?]
                }
                (Designator::Index(index), Type::Array(_, len)) => vec![self.index_of(index, *len)?],
                (Designator::Range(from, to), Type::Array(_, len)) => {
                    (self.index_of(from, *len)?..=self.index_of(to, *len)?).collect()
                }
                (Designator::Field(name), _) => return Err(self.error(name.loc, "an array has no fields", "here")),
                (Designator::Index(index) | Designator::Range(index, _), _) => {
                    return Err(self.error(index.loc, "a struct has no elements", "here"));
                }
            };
            let longer =
                |way: Way| parts.iter().map(move |part| [way.clone(), vec![*part]].concat()).collect::<Vec<_>>();
            ways = ways.into_iter().flat_map(longer).collect();
        }
        Ok(ways)
    }

    /// The value of an item at each of these places, or at the first part there that it fits.
    fn placed(&mut self, ty: &Type, ways: Vec<Way>, init: &Init) -> Fallible<Vec<(Way, Expr)>> {
        let several = ways.len() > 1;
        let mut found = Vec::new();
        for way in ways {
            let Some(target) = self.at_way(ty, &way) else { return Err(Reported) };
            let (way, value) = self.fitting(ty, way, target, init)?;
            if several && !self.is_constant(&value) {
                return Err(self.error(value.loc, "a range of elements takes a constant", "evaluated more than once"));
            }
            found.push((way, value));
        }
        Ok(found)
    }

    fn is_constant(&self, value: &Expr) -> bool {
        let mut words = Vec::new();
        flatten(value.clone(), 0, &mut words);
        words.iter().all(|(_, word)| super::fold(word, &self.out.types, &|_| Some(8)).is_some())
    }

    fn fitting(&mut self, ty: &Type, mut way: Way, mut target: Type, init: &Init) -> Fallible<(Way, Expr)> {
        let Init::Expr(expr) = init else { return Ok((way, self.init_value(&mut target, init)?)) };
        let mut text = None;
        if let ast::ExprKind::Str(found) = &expr.kind {
            text = Some(&found.chars);
        }
        let mut value = None;
        loop {
            if let (Some(chars), true) = (text, is_text(&target)) {
                return Ok((way, self.text_value(&mut target, chars, expr.loc)?));
            }
            if !self.has_parts(&target) {
                let value = value.map_or_else(|| self.expr(expr), Ok)?;
                return Ok((way, self.coerce(value, target.plain())?));
            }
            if value.is_none() && text.is_none() {
                value = Some(self.expr(expr)?);
            }
            if let Some(value) = value.take_if(|value| value.ty == *target.plain()) {
                return Ok((way, value));
            }
            let first = self.first_part(&target);
            let Some((first, part)) = first.and_then(|first| Some((first, self.part(&target, first)?))) else {
                return Err(self.too_many(ty, expr.loc));
            };
            way.push(first);
            target = part;
        }
    }

    /// Notes a value; of a union the last one counts.
    fn give(&mut self, given: &mut Given, ty: &Type, way: &[usize], value: Expr) -> Fallible<()> {
        let Some((first, rest)) = way.split_first() else {
            *given = Given::Value(value);
            return Ok(());
        };
        let part = self.part(ty, *first).ok_or(Reported)?;
        let Given::Parts(parts) = given else {
            return Err(self.error(value.loc, "a part of what has a value already", "initialised twice"));
        };
        if let Type::Struct(id) = ty.plain() {
            parts.retain(|other, _| other == first || !self.overlap(*id, *other, *first));
        }
        self.give(parts.entry(*first).or_insert_with(|| Given::Parts(BTreeMap::new())), &part, rest, value)
    }

    /// Whether two members lie in different members of a union.
    fn overlap(&self, id: StructId, one: usize, other: usize) -> bool {
        let members = self.out.types.members(id);
        let (one, other) = (&members[one].path, &members[other].path);
        let shared = one.iter().zip(other).take_while(|(a, b)| a == b).count();
        let around = one[..shared].iter().try_fold(id, |id, at| match self.out.types.fields(id).get(*at)?.ty {
            Type::Struct(inner) => Some(inner),
            _ => None,
        });
        around.is_some_and(|id| self.out.types.def(id).union)
    }

    fn assembled(&self, given: Given, ty: &Type, loc: Loc) -> Expr {
        let parts = match given {
            Given::Value(value) => return value,
            Given::Parts(parts) => parts,
        };
        match ty.plain() {
            Type::Array(element, _) => {
                let words = self.out.types.words(element);
                let parts = parts.into_iter().map(|(at, part)| {
                    (u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(words), self.assembled(part, element, loc))
                });
                Expr::new(ExprKind::Aggregate(parts.collect()), ty.plain().clone(), loc)
            }
            Type::Struct(id) => {
                let members = self.out.types.members(*id);
                let values = parts
                    .into_iter()
                    .map(|(at, part)| (members[at].path.clone(), self.assembled(part, &members[at].ty, loc)));
                self.struct_value(*id, &mut Vec::new(), &mut values.collect(), loc)
            }
            other => Expr::new(ExprKind::Const(0), other.clone(), loc),
        }
    }

    /// The value of a struct, or of a member without a name, from those of its members.
    fn struct_value(
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
                Type::Struct(inner) if field.name.is_empty() => Some(self.struct_value(inner, path, values, loc)),
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

    /// An array of characters from a string.
    fn text_value(&mut self, ty: &mut Type, chars: &[i128], loc: Loc) -> Fallible<Expr> {
        let Type::Array(element, len) = ty.clone() else { return Err(Reported) };
        let len = if len == 0 { u32::try_from(chars.len() + 1).unwrap_or(u32::MAX) } else { len };
        if chars.len() > len as usize || u64::from(len) > MAX_WORDS {
            return Err(self.error(loc, format!("too many characters for an array of {len}"), "this string"));
        }
        let wrapped = |value: &i128| match &*element {
            Type::Int(ty) => ty.wrap(*value),
            _ => *value,
        };
        let parts = (0..).zip(chars.iter().map(wrapped));
        let parts = parts.map(|(at, value)| (at, Expr::new(ExprKind::Const(value), (*element).clone(), loc)));
        *ty = Type::Array(element.clone(), len);
        Ok(Expr::new(ExprKind::Aggregate(parts.collect()), ty.clone(), loc))
    }
}

/// Whether a string may initialise it.
fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Array(element, _) if matches!(&**element, Type::Int(ty) if ty.bits == 8))
}

/// The words of a value, nested lists included.
fn flatten(value: Expr, at: u32, words: &mut Vec<(u32, Expr)>) {
    match value.kind {
        ExprKind::Aggregate(parts) => parts.into_iter().for_each(|(offset, part)| flatten(part, at + offset, words)),
        _ => words.push((at, value)),
    }
}

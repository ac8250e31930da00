//! From types as written to types.

use cyrano_ir::IntType;

use super::{Checker, Fallible, Reported, Symbol};
use crate::ast::{self, EnumSpec, Name, StructSpec, TypeExpr};
use crate::source::Loc;
use crate::types::integers::INT;
use crate::types::{Bits, FieldDef, MAX_WORDS, POINTER_BITS, Signature, Store, StructDef, StructId, Type, WORD_BITS};

impl Checker<'_> {
    /// The type; structs and enums that it defines are declared.
    pub(super) fn resolve(&mut self, ty: &TypeExpr) -> Fallible<Type> {
        self.resolve_for(ty, None)
    }

    /// The same, where a struct without a tag is named after what the declaration declares. For a function: what it returns.
    pub(super) fn resolve_for(&mut self, ty: &TypeExpr, name: Option<&Name>) -> Fallible<Type> {
        match ty {
            TypeExpr::Void => Ok(Type::Void),
            TypeExpr::Bool => Ok(Type::Bool),
            TypeExpr::Int(ty) => Ok(Type::Int(*ty)),
            TypeExpr::Named(name) => self.named(name),
            TypeExpr::TypeOf(value) => self.type_of(value),
            TypeExpr::Struct(spec) => self.struct_spec(spec, name),
            TypeExpr::Enum(spec) => self.enum_spec(spec),
            TypeExpr::Pointer(to) => match &**to {
                TypeExpr::Function { returns, params } => Ok(self.signature(returns, params)?.pointer()),
                to => Ok(self.resolve_for(to, name)?.pointer()),
            },
            TypeExpr::Array(element, Some(size)) => self.array(element, size),
            TypeExpr::Array(element, None) => {
                let element = self.resolve(element)?;
                Ok(Type::Array(Box::new(element), 0))
            }
            TypeExpr::Function { returns, .. } => self.resolve(returns),
            TypeExpr::Atomic(inner) => {
                let inner = self.resolve_for(inner, name)?;
                Ok(if inner.is_atomic() { inner } else { Type::Atomic(Box::new(inner)) })
            }
            // `convert` has reported it.
            TypeExpr::Error => Err(Reported),
        }
    }

    /// The type of a function.
    fn signature(&mut self, returns: &TypeExpr, params: &[ast::Param]) -> Fallible<Type> {
        let returns = self.resolve(returns)?;
        let params: Vec<_> = params.iter().map(|param| self.resolve_param(&param.ty)).collect();
        let params = params.into_iter().collect::<Fallible<Vec<_>>>()?;
        Ok(Type::Function(Box::new(Signature { returns, params })))
    }

    /// The type of a parameter: arrays and functions are pointers.
    pub(super) fn resolve_param(&mut self, ty: &TypeExpr) -> Fallible<Type> {
        if let TypeExpr::Function { returns, params } = ty {
            return Ok(self.signature(returns, params)?.pointer());
        }
        match self.resolve(ty)? {
            function @ Type::Function(_) => Ok(function.pointer()),
            Type::Array(element, _) => Ok(element.pointer()),
            other => Ok(other),
        }
    }

    /// Objects of the type can exist.
    pub(super) fn complete(&mut self, ty: &Type, loc: Loc) -> Fallible<()> {
        let words = self.out.types.wide_words(ty);
        let shown = self.show(ty);
        if !self.out.types.is_complete(ty) {
            return Err(self.error(loc, format!("`{shown}` is an incomplete type"), "its size is not known"));
        }
        self.atomic_scalars(ty, loc)?;
        if words == 0 {
            return Err(self.error(loc, format!("`{shown}` has no size"), "nothing to store"));
        }
        if words > MAX_WORDS {
            let message = format!("`{shown}` is too large: {words} words, at most {MAX_WORDS}");
            return Err(self.error(loc, message, "here"));
        }
        Ok(())
    }

    /// An object that is atomic as a whole is one word.
    fn atomic_scalars(&mut self, ty: &Type, loc: Loc) -> Fallible<()> {
        match ty {
            Type::Array(element, _) => self.atomic_scalars(element, loc),
            Type::Atomic(inner) if !self.out.types.is_scalar(inner) => {
                if let Some(again) = self.as_word(inner, false) {
                    return Err(again);
                }
                let message = format!("`{}` is not one word", self.show(inner));
                Err(self.error(loc, message, "cannot be read and written at once"))
            }
            _ => Ok(()),
        }
    }

    fn named(&mut self, name: &Name) -> Fallible<Type> {
        match self.find(&name.text) {
            Some((Symbol::Type(ty), _)) => Ok(ty.clone()),
            _ => Err(self.unknown("type", &name.text, name.loc)),
        }
    }

    fn array(&mut self, element: &TypeExpr, size: &ast::Expr) -> Fallible<Type> {
        let element = self.resolve(element)?;
        let len = self.constant(size)?;
        match u32::try_from(len) {
            // No elements: GNU C's way to write a flexible array.
            Ok(len) if u64::from(len) <= MAX_WORDS => Ok(Type::Array(Box::new(element), len)),
            _ => Err(self.error(size.loc, format!("an array cannot have {len} elements"), "its length")),
        }
    }

    fn struct_spec(&mut self, spec: &StructSpec, name: Option<&Name>) -> Fallible<Type> {
        if let Some(ty) = self.defined.get(&spec.id) {
            return ty.clone().ok_or(Reported);
        }
        let id = match &spec.tag {
            None => {
                let kind = if spec.union { "union" } else { "struct" };
                let name = name.map(|name| name.text.as_str()).filter(|name| !name.is_empty());
                self.new_struct(name.unwrap_or(kind), Some(spec.id))
            }
            Some(tag) => {
                let depth = if spec.fields.is_some() { 1 } else { self.scopes.len() };
                let known = self.scopes.iter().rev().take(depth).find_map(|scope| scope.tags.get(&tag.text));
                match known.copied() {
                    Some(id) => id,
                    None => {
                        let id = self.new_struct(&tag.text, Some(spec.id));
                        if let Some(scope) = self.scopes.last_mut() {
                            scope.tags.insert(tag.text.clone(), id);
                        }
                        id
                    }
                }
            }
        };
        if let Some(fields) = &spec.fields {
            if self.out.types.def(id).fields.is_some() {
                let message = format!("`struct {}` is defined twice", self.out.types.def(id).name);
                return Err(self.error(spec.loc, message, "defined again"));
            }
            let defined = self.define_struct(id, fields, spec);
            self.defined.insert(spec.id, defined.ok().map(|()| Type::Struct(id)));
            defined?;
        }
        Ok(Type::Struct(id))
    }

    fn new_struct(&mut self, name: &str, spec: Option<usize>) -> StructId {
        self.out.types.structs.push(StructDef {
            name: name.into(),
            fields: None,
            spec,
            word: false,
            declared: false,
            union: false,
            exact: false,
            in_parts: false,
        });
        StructId(self.out.types.structs.len() - 1)
    }

    fn define_struct(&mut self, id: StructId, fields: &[ast::Field], spec: &StructSpec) -> Fallible<()> {
        // One member shares its room with nobody.
        let union = spec.union && fields.len() > 1;
        let narrow = fields.iter().filter(|field| field.bits.is_some()).count();
        let inferred = self.words.contains(&spec.id);
        let apart = |field: &ast::Field| field.name.text.is_empty() && field.bits.as_ref().is_some_and(is_zero);
        let parts = fields.iter().any(apart);
        if let Some(last) = fields.last().filter(|field| apart(field) || parts && (spec.word || union || inferred)) {
            let message = "a bit-field of no bits at the end of a struct, or in one that is one word";
            return Err(self.error(last.name.loc, message, "here"));
        }
        let word = spec.word || union || inferred || (narrow > 0 && narrow == fields.len() && !parts);
        let def = &mut self.out.types.structs[id.0];
        // A struct that was declared before is known by the definition.
        (def.spec, def.word, def.declared, def.union) = (Some(spec.id), word, spec.word, union);
        let mut made: Vec<FieldDef> = Vec::new();
        let mut failed = false;
        let mut rest = fields;
        while let Some(field) = rest.first() {
            // A bit-field of no bits begins another location.
            let bit_fields = rest.iter().take_while(|field| field.bits.is_some() && !word);
            let run = bit_fields.enumerate().take_while(|(at, field)| *at == 0 || !apart(field)).count();
            let field = match run {
                0 => self.field(field, word, rest.len() == 1 && !made.is_empty()),
                _ => self.group(&rest[..run]),
            };
            rest = &rest[run.max(1)..];
            match field {
                Ok(field) => made.push(field),
                Err(Reported) => failed = true,
            }
        }
        self.out.types.structs[id.0].fields = Some(made);
        self.distinct(id);
        let placed = if word { self.place_fields(id, spec.loc) } else { Ok(()) };
        if failed { Err(Reported) } else { placed }
    }

    /// No two members have one name, also if one of them is in a member without a name.
    fn distinct(&mut self, id: StructId) {
        let members = self.out.types.members(id);
        for (at, member) in members.iter().enumerate() {
            if members[..at].iter().any(|other| other.name == member.name) {
                let loc = self.out.types.fields(id)[member.path[0]].loc;
                self.error(loc, format!("the field `{}` is declared twice", member.name), "declared again");
            }
        }
    }

    /// Bit-fields beside ordinary fields: a word of their own.
    fn group(&mut self, run: &[ast::Field]) -> Fallible<FieldDef> {
        let id = self.new_struct("struct", None);
        let loc = run[0].name.loc;
        let fields: Vec<_> = run.iter().map(|field| self.field(field, true, false)).collect();
        let fields = fields.into_iter().collect::<Fallible<Vec<_>>>()?;
        let def = &mut self.out.types.structs[id.0];
        (def.word, def.fields) = (true, Some(fields));
        self.place_fields(id, loc)?;
        Ok(FieldDef { name: String::new(), ty: Type::Struct(id), loc, bits: Bits::default(), narrow: false })
    }

    /// Finds the bits of each field of a word: where C has them, or one behind the other if they do not fit like this.
    fn place_fields(&mut self, id: StructId, loc: Loc) -> Fallible<()> {
        let types = &self.out.types;
        let (layout, starts) = types.offsets(id);
        let exact = layout.size * 8 <= u64::from(WORD_BITS) && !types.def(id).declared;
        if types.def(id).union && !exact {
            return Err(self.error(loc, "this union is larger than a word", "more than 64 bits"));
        }
        let whole = layout.size * 8;
        let mut shift = 0u64;
        let mut placed = Vec::new();
        for (field, start) in types.fields(id).iter().zip(starts) {
            let width = match &field.ty {
                _ if field.narrow => field.bits.width.into(),
                Type::Pointer(_) if !exact => u64::from(POINTER_BITS),
                Type::Bool if !exact => 1,
                ty => types.layout(ty).size * 8,
            };
            let store = match field.narrow {
                true => Store::Shared,
                false if width == whole && exact => Store::Whole,
                false => Store::Part,
            };
            placed.push((if exact { start } else { shift }, width, store));
            shift += width;
        }
        let def = &mut self.out.types.structs[id.0];
        def.exact = exact;
        if !exact && shift > u64::from(WORD_BITS) {
            let message = format!("this struct has {shift} bits; a word has {WORD_BITS}");
            let problem = crate::source::Problem::new(loc, message, "one word");
            return Err(self.report(problem.with_help("give its integers a width: `unsigned count : 8;`")));
        }
        for (field, (shift, width, store)) in def.fields.iter_mut().flatten().zip(placed) {
            let small = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
            field.bits = Bits { shift: small(shift), width: small(width), store, ..field.bits };
        }
        Ok(())
    }

    /// Makes a struct that is used as a whole one word, if it can be: the file is checked again then.
    pub(super) fn as_word(&mut self, ty: &Type, in_union: bool) -> Option<Reported> {
        let Type::Struct(id) = ty else { return None };
        let types = &self.out.types;
        let fields = types.fields(*id);
        let scalar = |field: &FieldDef| types.is_scalar(&field.ty) && (!in_union || self.is_exact(&field.ty));
        let small = |field: &FieldDef| match &field.ty {
            Type::Pointer(_) => u64::from(POINTER_BITS),
            ty => types.layout(ty).size * 8,
        };
        let exact = types.offsets(*id).0.size * 8 <= u64::from(WORD_BITS);
        let fits = exact || (!in_union && fields.iter().map(small).sum::<u64>() <= u64::from(WORD_BITS));
        let spec = types.def(*id).spec.filter(|_| !fields.is_empty() && fields.iter().all(scalar) && fits)?;
        self.words.insert(spec).then_some(Reported)
    }

    /// Whether the bits of a value are those that C has.
    fn is_exact(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id) => self.out.types.def(*id).exact,
            ty => self.out.types.is_scalar(ty),
        }
    }

    /// A field; the last one may be a flexible array.
    fn field(&mut self, field: &ast::Field, word: bool, last: bool) -> Fallible<FieldDef> {
        let loc = field.name.loc;
        let ty = self.resolve_for(&field.ty, Some(&field.name))?;
        match &ty {
            Type::Array(element, 0) if last && !word => self.complete(element, loc)?,
            ty => self.complete(ty, loc)?,
        }
        let (natural, signed) = match &ty {
            Type::Bool => (1, false),
            Type::Int(IntType { bits, signed }) => (*bits, *signed),
            _ => (0, false),
        };
        let mut bits = Bits { signed, ..Bits::default() };
        if let Some(width) = &field.bits {
            let value = self.constant(width)?;
            bits.width = match u8::try_from(value) {
                Ok(0) if field.name.text.is_empty() => 0,
                Ok(width @ 1..) if width <= natural => width,
                _ => {
                    let message = format!("a width of {value} bits");
                    return Err(self.error(width.loc, message, "not between 1 and the type's"));
                }
            };
        } else if word && !self.is_exact(&ty) {
            return Err(match self.as_word(&ty, true) {
                Some(again) => again,
                None => {
                    let message = format!("`{}` cannot be a part of one word", self.show(&ty));
                    let problem = crate::source::Problem::new(loc, message, "not a scalar of at most 64 bits");
                    self.report(problem.with_help("a union, or a struct of one word, has integers, pointers, and structs of these that have at most 64 bits: memory has words and no bytes"))
                }
            });
        }
        Ok(FieldDef { name: field.name.text.clone(), ty, loc, bits, narrow: field.bits.is_some() })
    }

    /// Enumerators are of type `int`; the type itself is `unsigned` unless one of them is negative, as compilers for LP64 have it.
    fn enum_spec(&mut self, spec: &EnumSpec) -> Fallible<Type> {
        if let Some(ty) = self.defined.get(&spec.id) {
            return ty.clone().ok_or(Reported);
        }
        if spec.enumerators.is_empty() {
            return self.known_enum(spec);
        }
        let declared = self.enumerators(spec);
        let ty = declared.map(|negative| Type::Int(IntType { bits: INT.bits, signed: negative }));
        self.defined.insert(spec.id, ty.clone().ok());
        if let (Some(tag), Ok(ty), Some(scope)) = (&spec.tag, &ty, self.scopes.last_mut()) {
            scope.enums.insert(tag.text.clone(), ty.clone());
        }
        ty
    }

    /// An enum that was defined before; one that was not is as good as any without negative enumerators.
    fn known_enum(&mut self, spec: &EnumSpec) -> Fallible<Type> {
        let tag = spec.tag.as_ref().map_or("", |tag| &tag.text);
        match self.scopes.iter().rev().find_map(|scope| scope.enums.get(tag)) {
            Some(ty) => Ok(ty.clone()),
            None => Err(self.error(spec.loc, format!("there is no `enum {tag}`"), "not defined so far")),
        }
    }

    /// Declares the enumerators; says whether one is negative.
    fn enumerators(&mut self, spec: &EnumSpec) -> Fallible<bool> {
        let (mut next, mut negative) = (0i128, false);
        for (name, value) in &spec.enumerators {
            if let Some(value) = value {
                next = self.constant(value)?;
            }
            if INT.wrap(next) != next {
                let message = format!("the enumerator `{}` is {next}, which is not an `int`", name.text);
                return Err(self.error(name.loc, message, "does not fit"));
            }
            negative |= next < 0;
            self.out.constants.insert(name.text.clone(), next);
            self.declare(name, Symbol::Constant(next, Type::Int(INT)));
            next += 1;
        }
        Ok(negative)
    }
}

/// Whether a width is written as 0.
fn is_zero(width: &ast::Expr) -> bool {
    matches!(width.kind, ast::ExprKind::Int { value: 0, .. })
}

//! From types as written to types.

use cyrano_ir::IntType;

use super::{Checker, Fallible, Reported, Symbol};
use crate::ast::{self, EnumSpec, Name, StructSpec, TypeExpr};
use crate::integers::INT;
use crate::source::Loc;
use crate::types::{Bits, FieldDef, MAX_WORDS, POINTER_BITS, StructDef, StructId, Type, WORD_BITS};

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
            TypeExpr::Struct(spec) => self.struct_spec(spec, name),
            TypeExpr::Enum(spec) => self.enum_spec(spec),
            TypeExpr::Pointer(to) => Ok(self.resolve_for(to, name)?.pointer()),
            TypeExpr::Array(element, Some(size)) => self.array(element, size),
            TypeExpr::Array(element, None) => {
                let element = self.resolve(element)?;
                Ok(Type::Array(Box::new(element), 0))
            }
            TypeExpr::Function { returns, .. } => self.resolve(returns),
            // `convert` has reported both.
            TypeExpr::Atomic(_) | TypeExpr::Error => Err(Reported),
        }
    }

    /// The type of a parameter: arrays are pointers.
    pub(super) fn resolve_param(&mut self, ty: &TypeExpr) -> Fallible<Type> {
        match self.resolve(ty)? {
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
        if words == 0 {
            return Err(self.error(loc, format!("`{shown}` has no size"), "nothing to store"));
        }
        if words > MAX_WORDS {
            let message = format!("`{shown}` is too large: {words} words, at most {MAX_WORDS}");
            return Err(self.error(loc, message, "here"));
        }
        Ok(())
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
            Ok(len @ 1..) if u64::from(len) <= MAX_WORDS => Ok(Type::Array(Box::new(element), len)),
            _ => Err(self.error(size.loc, format!("an array cannot have {len} elements"), "its length")),
        }
    }

    fn struct_spec(&mut self, spec: &StructSpec, name: Option<&Name>) -> Fallible<Type> {
        if let Some(ty) = self.defined.get(&spec.id) {
            return ty.clone().ok_or(Reported);
        }
        let id = match &spec.tag {
            None => self.new_struct(name.map_or("struct", |name| &name.text)),
            Some(tag) => {
                let depth = if spec.fields.is_some() { 1 } else { self.scopes.len() };
                let known = self.scopes.iter().rev().take(depth).find_map(|scope| scope.tags.get(&tag.text));
                match known.copied() {
                    Some(id) => id,
                    None => {
                        let id = self.new_struct(&tag.text);
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

    fn new_struct(&mut self, name: &str) -> StructId {
        self.out.types.structs.push(StructDef { name: name.into(), fields: None, word: false, packed: false });
        StructId(self.out.types.structs.len() - 1)
    }

    fn define_struct(&mut self, id: StructId, fields: &[ast::Field], spec: &StructSpec) -> Fallible<()> {
        let mut made: Vec<FieldDef> = Vec::new();
        let mut failed = false;
        let packed = fields.iter().filter(|field| field.bits.is_some()).count();
        let packed = packed > 0 && packed == fields.len();
        let word = spec.word || packed;
        let mut shift = 0;
        for field in fields {
            match self.field(field, word, &mut shift) {
                Ok(field) if made.iter().any(|other| other.name == field.name) => {
                    self.error(field.loc, format!("the field `{}` is declared twice", field.name), "declared again");
                }
                Ok(field) => made.push(field),
                Err(Reported) => failed = true,
            }
        }
        let def = &mut self.out.types.structs[id.0];
        (def.fields, def.word, def.packed) = (Some(made), word, packed && !spec.word);
        if word && shift > WORD_BITS {
            let message = format!("this struct has {shift} bits; a word has {WORD_BITS}");
            let problem = crate::source::Problem::new(spec.loc, message, "one word");
            return Err(self.report(problem.with_help("give its integers a width: `unsigned count : 8;`")));
        }
        if failed { Err(Reported) } else { Ok(()) }
    }

    fn field(&mut self, field: &ast::Field, word: bool, shift: &mut u32) -> Fallible<FieldDef> {
        let loc = field.name.loc;
        let ty = self.resolve_for(&field.ty, Some(&field.name))?;
        self.complete(&ty, loc)?;
        let (natural, signed) = match &ty {
            Type::Bool => (1, false),
            Type::Int(IntType { bits, signed }) => (*bits, *signed),
            Type::Pointer(_) => (POINTER_BITS, false),
            _ if word => return Err(self.error(loc, "a word struct has scalar fields only", "not a scalar")),
            _ => (0, false),
        };
        let mut width = natural;
        if let Some(bits) = &field.bits {
            if !word {
                let message = "bit-fields beside ordinary fields";
                let problem = crate::source::Problem::new(loc, message, "a bit-field");
                return Err(self.report(problem.with_help("make the struct one word: `cyrano_word struct { … }`")));
            }
            let value = self.constant(bits)?;
            width = match u8::try_from(value) {
                Ok(width @ 1..) if width <= natural => width,
                _ => {
                    return Err(self.error(
                        bits.loc,
                        format!("a width of {value} bits"),
                        "not between 1 and the type's",
                    ));
                }
            };
        }
        let bits = Bits { shift: u8::try_from(*shift).unwrap_or(u8::MAX), width, signed };
        *shift += u32::from(width);
        Ok(FieldDef { name: field.name.text.clone(), ty, loc, bits })
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

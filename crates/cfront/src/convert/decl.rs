//! Declarations: specifiers and declarators to names and types.

use cyrano_ir::IntType;
use lang_c::ast as c;
use lang_c::span::Node;

use super::Converter;
use crate::ast::{Decl, Designator, EnumSpec, Field, Init, InitItem, Name, Param, Storage, StructSpec, TypeExpr};
use crate::source::Loc;

/// The attribute that makes a struct one word.
const WORD_ATTRIBUTE: &str = "cyrano_word";

/// The words of a type, in any order.
#[derive(Default)]
struct Words {
    long: u32,
    short: bool,
    char: bool,
    int: bool,
    signed: bool,
    unsigned: bool,
    other: Option<TypeExpr>,
    word: bool,
    atomic: bool,
}

impl Converter<'_> {
    pub(super) fn declaration(&mut self, node: &Node<c::Declaration>) -> Vec<Decl> {
        let loc = self.loc(node);
        let (storage, base) = self.specifiers(&node.node.specifiers, loc);
        let thread_local = node.node.specifiers.iter().any(is_thread_local);
        if node.node.declarators.is_empty() {
            return vec![Decl { storage, thread_local, name: None, ty: base, init: None, loc }];
        }
        let mut found = Vec::new();
        for declarator in &node.node.declarators {
            let (name, ty) = self.declarator(&declarator.node.declarator, base.clone());
            let init = declarator.node.initializer.as_ref().map(|init| self.initializer(init));
            found.push(Decl { storage, thread_local, name, ty, init, loc: self.loc(declarator) });
        }
        found
    }

    pub(super) fn specifiers(&mut self, specifiers: &[Node<c::DeclarationSpecifier>], loc: Loc) -> (Storage, TypeExpr) {
        let mut storage = Storage::Plain;
        let mut words = Words::default();
        for node in specifiers {
            match &node.node {
                c::DeclarationSpecifier::StorageClass(class) => match class.node {
                    c::StorageClassSpecifier::Typedef => storage = Storage::Typedef,
                    c::StorageClassSpecifier::Extern => storage = Storage::Extern,
                    c::StorageClassSpecifier::Static => storage = Storage::Static,
                    c::StorageClassSpecifier::Auto
                    | c::StorageClassSpecifier::Register
                    | c::StorageClassSpecifier::ThreadLocal => {}
                },
                c::DeclarationSpecifier::TypeSpecifier(ty) => self.type_word(ty, &mut words),
                c::DeclarationSpecifier::TypeQualifier(qualifier) => self.qualifier(qualifier, &mut words),
                c::DeclarationSpecifier::Function(_) => {}
                c::DeclarationSpecifier::Alignment(_) => self.refuse(self.loc(node), "alignment"),
                c::DeclarationSpecifier::Extension(list) => self.attributes(list, &mut words),
            }
        }
        (storage, self.finish_type(words, loc))
    }

    fn specifier_qualifiers(&mut self, specifiers: &[Node<c::SpecifierQualifier>], loc: Loc) -> TypeExpr {
        let mut words = Words::default();
        for node in specifiers {
            match &node.node {
                c::SpecifierQualifier::TypeSpecifier(ty) => self.type_word(ty, &mut words),
                c::SpecifierQualifier::TypeQualifier(qualifier) => self.qualifier(qualifier, &mut words),
                c::SpecifierQualifier::Extension(list) => self.attributes(list, &mut words),
            }
        }
        self.finish_type(words, loc)
    }

    /// Every access of the source is an access of the program, so that `volatile` and `const` change nothing.
    fn qualifier(&mut self, node: &Node<c::TypeQualifier>, words: &mut Words) {
        if node.node == c::TypeQualifier::Atomic {
            words.atomic = true;
        }
    }

    fn attributes(&mut self, list: &[Node<c::Extension>], words: &mut Words) {
        for node in list {
            match &node.node {
                c::Extension::Attribute(attribute) if attribute.name.node == WORD_ATTRIBUTE => words.word = true,
                c::Extension::Attribute(attribute) if is_harmless(&attribute.name.node) => {}
                c::Extension::Attribute(attribute) => {
                    self.refuse(self.loc(node), format!("the attribute `{}`", attribute.name.node));
                }
                _ => self.refuse(self.loc(node), "this extension"),
            }
        }
    }

    fn type_word(&mut self, node: &Node<c::TypeSpecifier>, words: &mut Words) {
        let loc = self.loc(node);
        let other = match &node.node {
            c::TypeSpecifier::Void => TypeExpr::Void,
            c::TypeSpecifier::Bool => TypeExpr::Bool,
            c::TypeSpecifier::Char => return words.char = true,
            c::TypeSpecifier::Short => return words.short = true,
            c::TypeSpecifier::Int => return words.int = true,
            c::TypeSpecifier::Long => return words.long += 1,
            c::TypeSpecifier::Signed => return words.signed = true,
            c::TypeSpecifier::Unsigned => return words.unsigned = true,
            c::TypeSpecifier::TypedefName(name) => TypeExpr::Named(self.name(name)),
            c::TypeSpecifier::Struct(spec) => self.struct_spec(spec),
            c::TypeSpecifier::Enum(spec) => self.enum_spec(&spec.node, loc),
            c::TypeSpecifier::Float | c::TypeSpecifier::Double | c::TypeSpecifier::TS18661Float(_) => {
                self.refuse(loc, "floating-point numbers");
                TypeExpr::Error
            }
            c::TypeSpecifier::Atomic(ty) => {
                words.atomic = true;
                self.type_name(ty)
            }
            c::TypeSpecifier::TypeOf(of) => match &of.node {
                c::TypeOf::Expression(expr) => TypeExpr::TypeOf(Box::new(self.expr(expr))),
                c::TypeOf::Type(ty) => self.type_name(ty),
            },
            c::TypeSpecifier::Complex => {
                self.refuse(loc, "this type");
                TypeExpr::Error
            }
        };
        words.other = Some(other);
    }

    fn finish_type(&mut self, words: Words, loc: Loc) -> TypeExpr {
        let atomic = words.atomic;
        let ty = self.plain_type(words, loc);
        if atomic { TypeExpr::Atomic(Box::new(ty)) } else { ty }
    }

    fn plain_type(&mut self, words: Words, loc: Loc) -> TypeExpr {
        let bits = match &words {
            Words { other: Some(TypeExpr::Struct(spec)), word, .. } => {
                let mut spec = spec.clone();
                spec.word |= word;
                return TypeExpr::Struct(spec);
            }
            Words { other: Some(other), .. } => return other.clone(),
            Words { char: true, .. } => 8,
            Words { short: true, .. } => 16,
            Words { long: 1.., .. } => 64,
            Words { int: true, .. } | Words { signed: true, .. } | Words { unsigned: true, .. } => 32,
            _ => {
                self.refuse(loc, "a declaration without a type");
                return TypeExpr::Error;
            }
        };
        TypeExpr::Int(IntType { bits, signed: !words.unsigned })
    }

    fn struct_spec(&mut self, node: &Node<c::StructType>) -> TypeExpr {
        let loc = self.loc(node);
        let union = node.node.kind.node == c::StructKind::Union;
        let tag = node.node.identifier.as_ref().map(|name| self.name(name));
        let fields = node.node.declarations.as_ref().map(|list| {
            let mut fields = Vec::new();
            for declaration in list {
                match &declaration.node {
                    c::StructDeclaration::Field(field) => self.fields(field, &mut fields),
                    c::StructDeclaration::StaticAssert(_) => self.refuse(self.loc(declaration), "a static assertion"),
                }
            }
            fields
        });
        self.specs += 1;
        TypeExpr::Struct(Box::new(StructSpec { id: self.specs, tag, fields, word: false, union, loc }))
    }

    fn fields(&mut self, node: &Node<c::StructField>, fields: &mut Vec<Field>) {
        let loc = self.loc(node);
        let base = self.specifier_qualifiers(&node.node.specifiers, loc);
        if node.node.declarators.is_empty() {
            match base {
                TypeExpr::Struct(_) => {
                    fields.push(Field { name: Name { text: String::new(), loc }, ty: base, bits: None })
                }
                _ => self.refuse(loc, "a field without a name"),
            }
            return;
        }
        for declarator in &node.node.declarators {
            let bits = declarator.node.bit_width.as_ref().map(|width| self.expr(width));
            let named = declarator.node.declarator.as_ref().map(|d| self.declarator(d, base.clone()));
            let (name, ty) = match named {
                Some((Some(name), ty)) => (name, ty),
                None if bits.is_some() => (Name { text: String::new(), loc: self.loc(declarator) }, base.clone()),
                _ => {
                    self.refuse(self.loc(declarator), "a field without a name");
                    continue;
                }
            };
            fields.push(Field { name, ty, bits });
        }
    }

    fn enum_spec(&mut self, spec: &c::EnumType, loc: Loc) -> TypeExpr {
        let tag = spec.identifier.as_ref().map(|name| self.name(name));
        let mut enumerators = Vec::new();
        for enumerator in &spec.enumerators {
            let value = enumerator.node.expression.as_ref().map(|value| self.expr(value));
            enumerators.push((self.name(&enumerator.node.identifier), value));
        }
        self.specs += 1;
        TypeExpr::Enum(Box::new(EnumSpec { id: self.specs, tag, enumerators, loc }))
    }

    /// Pointers belong to the type from left to right, arrays and functions from right to left.
    pub(super) fn declarator(&mut self, node: &Node<c::Declarator>, base: TypeExpr) -> (Option<Name>, TypeExpr) {
        let mut ty = base;
        let mode = node.node.extensions.iter().find_map(|extension| mode_bits(&extension.node));
        if let (TypeExpr::Int(int), Some(bits)) = (&ty, mode) {
            ty = TypeExpr::Int(IntType { bits, ..*int });
        }
        let matters = |node: &&Node<c::Extension>| match &node.node {
            c::Extension::Attribute(attribute) => !is_harmless(&attribute.name.node) && mode_bits(&node.node).is_none(),
            _ => true,
        };
        if let Some(extension) = node.node.extensions.iter().find(matters) {
            self.refuse(self.loc(extension), "an attribute in this place (`cyrano_word` stands before `struct`)");
        }
        let is_pointer =
            |derived: &&Node<c::DerivedDeclarator>| matches!(derived.node, c::DerivedDeclarator::Pointer(_));
        for derived in node.node.derived.iter().filter(is_pointer) {
            ty = TypeExpr::Pointer(Box::new(ty));
            if is_atomic(&derived.node) {
                ty = TypeExpr::Atomic(Box::new(ty));
            }
        }
        for derived in node.node.derived.iter().rev().filter(|derived| !is_pointer(derived)) {
            ty = self.derived(derived, ty);
        }
        match &node.node.kind.node {
            c::DeclaratorKind::Abstract => (None, ty),
            c::DeclaratorKind::Identifier(name) => (Some(self.name(name)), ty),
            c::DeclaratorKind::Declarator(inner) => self.declarator(inner, ty),
        }
    }

    fn derived(&mut self, node: &Node<c::DerivedDeclarator>, ty: TypeExpr) -> TypeExpr {
        let loc = self.loc(node);
        match &node.node {
            c::DerivedDeclarator::Array(array) => {
                let size = match &array.node.size {
                    c::ArraySize::Unknown => None,
                    c::ArraySize::VariableExpression(size) | c::ArraySize::StaticExpression(size) => {
                        Some(Box::new(self.expr(size)))
                    }
                    c::ArraySize::VariableUnknown => {
                        self.refuse(loc, "arrays of variable length");
                        None
                    }
                };
                TypeExpr::Array(Box::new(ty), size)
            }
            c::DerivedDeclarator::Function(function) => {
                if function.node.ellipsis == c::Ellipsis::Some {
                    // Only functions without a body have them, and those are known by their names.
                    return TypeExpr::Function { returns: Box::new(ty), params: Vec::new() };
                }
                let params = function.node.parameters.iter().map(|param| self.param(param));
                let params: Vec<_> = params.collect();
                let only_void = params.len() == 1 && params[0].name.is_none() && matches!(params[0].ty, TypeExpr::Void);
                let params = if only_void { Vec::new() } else { params };
                TypeExpr::Function { returns: Box::new(ty), params }
            }
            // `f()` is read by the library as a list of no names.
            c::DerivedDeclarator::KRFunction(names) => {
                if !names.is_empty() {
                    self.refuse(loc, "a function with old-style parameters");
                }
                TypeExpr::Function { returns: Box::new(ty), params: Vec::new() }
            }
            c::DerivedDeclarator::Pointer(_) => TypeExpr::Pointer(Box::new(ty)),
            c::DerivedDeclarator::Block(_) => {
                self.refuse(loc, "blocks");
                TypeExpr::Error
            }
        }
    }

    fn param(&mut self, node: &Node<c::ParameterDeclaration>) -> Param {
        let loc = self.loc(node);
        let (_, base) = self.specifiers(&node.node.specifiers, loc);
        let (name, ty) = match &node.node.declarator {
            Some(declarator) => self.declarator(declarator, base),
            None => (None, base),
        };
        Param { name, ty, loc }
    }

    pub(super) fn type_name(&mut self, node: &Node<c::TypeName>) -> TypeExpr {
        let base = self.specifier_qualifiers(&node.node.specifiers, self.loc(node));
        match &node.node.declarator {
            Some(declarator) => self.declarator(declarator, base).1,
            None => base,
        }
    }

    fn initializer(&mut self, node: &Node<c::Initializer>) -> Init {
        match &node.node {
            c::Initializer::Expression(expr) => Init::Expr(self.expr(expr)),
            c::Initializer::List(items) => Init::List(self.init_items(items), self.loc(node)),
        }
    }

    pub(super) fn init_items(&mut self, items: &[Node<c::InitializerListItem>]) -> Vec<InitItem> {
        let mut found = Vec::new();
        for item in items {
            let designators = item.node.designation.iter().map(|one| match &one.node {
                c::Designator::Member(name) => Designator::Field(self.name(name)),
                c::Designator::Index(index) => Designator::Index(self.expr(index)),
                c::Designator::Range(range) => {
                    Designator::Range(self.expr(&range.node.from), self.expr(&range.node.to))
                }
            });
            let designators = designators.collect();
            found.push(InitItem { designators, init: self.initializer(&item.node.initializer) });
        }
        found
    }
}

fn is_thread_local(node: &Node<c::DeclarationSpecifier>) -> bool {
    let c::DeclarationSpecifier::StorageClass(class) = &node.node else { return false };
    class.node == c::StorageClassSpecifier::ThreadLocal
}

/// Whether an attribute changes nothing here: it is about how code is made, or about what compilers complain of.
fn is_harmless(name: &str) -> bool {
    let name = name.trim_start_matches("__").trim_end_matches("__");
    matches!(
        name,
        "noinline"
            | "always_inline"
            | "unused"
            | "used"
            | "noreturn"
            | "nothrow"
            | "aligned"
            | "const"
            | "pure"
            | "leaf"
            | "noclone"
            | "warn_unused_result"
            | "format"
            | "cold"
            | "hot"
            | "deprecated"
            | "flatten"
            | "optimize"
            | "nonnull"
            | "malloc"
            | "returns_nonnull"
            | "fallthrough"
            | "artificial"
            | "gnu_inline"
            | "visibility"
            | "access"
            | "alloc_size"
            | "alloc_align"
            | "assume_aligned"
            | "sentinel"
            | "format_arg"
            | "noipa"
            | "no_instrument_function"
            | "no_sanitize"
            | "tls_model"
    )
}

/// The width that `__attribute__((mode(…)))` gives an integer, as the C library's headers have it.
fn mode_bits(extension: &c::Extension) -> Option<u8> {
    let c::Extension::Attribute(attribute) = extension else { return None };
    let plain = |name: &str| name.trim_start_matches("__").trim_end_matches("__").to_owned();
    let [argument] = &attribute.arguments[..] else { return None };
    let c::Expression::Identifier(mode) = &argument.node else { return None };
    if plain(&attribute.name.node) != "mode" {
        return None;
    }
    match plain(&mode.node.name).as_str() {
        "QI" | "byte" => Some(8),
        "HI" => Some(16),
        "SI" => Some(32),
        "DI" | "word" | "pointer" => Some(64),
        _ => None,
    }
}

/// Whether `_Atomic` stands behind the star.
fn is_atomic(derived: &c::DerivedDeclarator) -> bool {
    let c::DerivedDeclarator::Pointer(qualifiers) = derived else { return false };
    let atomic = |node: &Node<c::PointerQualifier>| matches!(&node.node, c::PointerQualifier::TypeQualifier(qualifier) if qualifier.node == c::TypeQualifier::Atomic);
    qualifiers.iter().any(atomic)
}

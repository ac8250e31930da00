//! Types, and how values lie in memory: one word per scalar.
//!
//! A struct whose fields share one word (a *word struct*) counts as a scalar, and so does a union. Pointer arithmetic follows this layout.
//! The fields of such a word lie where a C compiler for LP64 puts them if they fit into 64 bits that way, so that a union of integers and
//! structs shows in one member what was stored in another. Bit-fields beside ordinary fields are a word of their own, a *group*.
//!
//! `sizeof` and `_Alignof` are those of a C compiler for LP64 ([`Types::layout`]), so that what a program computes from them is right.
//! Nothing else depends on them: `malloc` looks at the type, and no pointer is moved by bytes.

pub(crate) mod arith;
pub mod integers;

use std::collections::BTreeSet;

use cyrano_ir::{IntType, Ty, WORD};

use crate::flow::addresses::Holder;
use crate::source::Loc;
use crate::types::integers::{INT, promoted};

/// The bits that a pointer takes in a word struct.
pub(crate) const POINTER_BITS: u8 = 16;

/// The bits that a word struct may have in all.
pub(crate) const WORD_BITS: u32 = 64;

/// The largest type, in words.
pub(crate) const MAX_WORDS: u64 = 4096;

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Type {
    Void,
    Bool,
    Int(IntType),
    Pointer(Box<Type>),
    Array(Box<Type>, u32),
    Struct(StructId),
    Function(Box<Signature>),
    /// The type of an object that is accessed atomically (C11, 6.2.5); no value has such a type.
    Atomic(Box<Type>),
}

/// What a function takes and gives; one without parameters says nothing about them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Signature {
    pub(crate) returns: Type,
    pub(crate) params: Vec<Type>,
}

impl Signature {
    /// Whether a function of the one may be called as one of the other.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        let silent = self.params.is_empty() || other.params.is_empty();
        self.returns == other.returns && (silent || self.params == other.params)
    }
}

/// A struct type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StructId(pub(crate) usize);

/// A struct's definition.
#[derive(Clone, Debug)]
pub(crate) struct StructDef {
    pub(crate) name: String,
    /// None while it is only declared.
    pub(crate) fields: Option<Vec<FieldDef>>,
    /// Its number in the file; none for a group.
    pub(crate) spec: Option<usize>,
    /// Whether the fields share one word.
    pub(crate) word: bool,
    /// Whether the file says so: its size is that of a word then.
    pub(crate) declared: bool,
    /// Whether all of them begin where the struct begins.
    pub(crate) union: bool,
    /// Whether the fields are where C has them.
    pub(crate) exact: bool,
    /// Whether fields are assigned one by one; such a word starts as 0, because its other fields may be undefined.
    pub(crate) in_parts: bool,
}

/// The size and the alignment of a type, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct FieldDef {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) loc: Loc,
    /// In a word struct: which bits are its.
    pub(crate) bits: Bits,
    /// Whether it is a bit-field.
    pub(crate) narrow: bool,
}

/// A run of bits in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bits {
    pub(crate) shift: u8,
    pub(crate) width: u8,
    pub(crate) signed: bool,
    pub(crate) store: Store,
}

impl Bits {
    /// Whether a field is nothing but its word: a value of the one is the value of the other.
    pub(crate) fn is_word(self) -> bool {
        self.store == Store::Whole && self.shift == 0 && !self.signed
    }
}

/// How a field of a word in memory is assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Store {
    /// As the whole word, which has nothing else in it.
    Whole,
    /// By itself: its neighbours do not take part.
    #[default]
    Part,
    /// Together with its neighbours, which are read before: bit-fields are one memory location (C11, 3.14).
    Shared,
}

/// A member of a struct, perhaps within members that have no name.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) path: Vec<usize>,
    /// Whether a list of values without names has one for it: of a union it has one for the first member.
    pub(crate) listed: bool,
}

/// How far a layout has come, in bits.
struct Cursor {
    bits: u64,
    end: u64,
    align: u64,
}

/// What `sizeof` gives.
pub(crate) const SIZE: IntType = IntType { bits: 64, signed: false };

impl Type {
    pub(crate) fn pointer(self) -> Self {
        Self::Pointer(Box::new(self))
    }

    /// The type of the values of such objects.
    pub(crate) fn plain(&self) -> &Self {
        match self {
            Self::Atomic(inner) => inner,
            ty => ty,
        }
    }

    /// Whether its values are pointers once arrays have become such.
    pub(crate) fn is_pointer_like(&self) -> bool {
        matches!(self, Self::Pointer(_) | Self::Array(..))
    }

    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self, Self::Atomic(_))
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self, Self::Pointer(_))
    }

    /// The integer type after promotion, if it is an integer.
    pub(crate) fn promoted(&self) -> Option<IntType> {
        match self {
            Self::Bool => Some(INT),
            Self::Int(ty) => Some(promoted(*ty)),
            _ => None,
        }
    }

    /// Whether casts between it and the like are possible.
    pub(crate) fn is_castable(&self) -> bool {
        matches!(self, Self::Bool | Self::Int(_) | Self::Pointer(_))
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.promoted().is_some()
    }
}

/// All struct types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    pub(crate) structs: Vec<StructDef>,
    /// Integers that hold addresses, once that is known.
    pub(crate) addresses: BTreeSet<Holder>,
}

impl Types {
    pub(crate) fn def(&self, id: StructId) -> &StructDef {
        &self.structs[id.0]
    }

    pub(crate) fn fields(&self, id: StructId) -> &[FieldDef] {
        self.def(id).fields.as_deref().unwrap_or_default()
    }

    /// Whether a value of the type is one word.
    pub(crate) fn is_scalar(&self, ty: &Type) -> bool {
        match ty {
            Type::Void | Type::Array(..) | Type::Function(_) => false,
            Type::Struct(id) => self.def(*id).word,
            Type::Atomic(inner) => self.is_scalar(inner),
            _ => true,
        }
    }

    /// Whether objects of the type can exist.
    pub(crate) fn is_complete(&self, ty: &Type) -> bool {
        match ty {
            Type::Void | Type::Function(_) => false,
            Type::Array(element, _) => self.is_complete(element),
            Type::Struct(id) => self.def(*id).fields.is_some(),
            Type::Atomic(inner) => self.is_complete(inner),
            _ => true,
        }
    }

    /// The number of words of a value, at most [`MAX_WORDS`] for every type that was accepted.
    pub(crate) fn words(&self, ty: &Type) -> u32 {
        u32::try_from(self.wide_words(ty)).unwrap_or(u32::MAX)
    }

    /// The same without a limit.
    pub(crate) fn wide_words(&self, ty: &Type) -> u64 {
        match ty {
            Type::Void => 1,
            Type::Array(element, len) => self.wide_words(element).saturating_mul(u64::from(*len)),
            Type::Struct(id) if self.def(*id).word => 1,
            Type::Struct(id) => {
                self.fields(*id).iter().fold(0u64, |sum, field| sum.saturating_add(self.wide_words(&field.ty)))
            }
            Type::Atomic(inner) => self.wide_words(inner),
            _ => 1,
        }
    }

    /// The distance between the addresses of neighbouring values of the type.
    pub(crate) fn stride(&self, ty: &Type) -> i128 {
        i128::from(self.words(ty)) * WORD
    }

    /// The layout in C for LP64. A struct that the file declares to be one word is as large as a pointer.
    pub(crate) fn layout(&self, ty: &Type) -> Layout {
        let natural = |size| Layout { size, align: size };
        match ty {
            Type::Void | Type::Bool | Type::Function(_) => natural(1),
            Type::Int(ty) => natural(u64::from(ty.bits) / 8),
            Type::Pointer(_) => natural(8),
            Type::Array(element, len) => {
                let element = self.layout(element);
                Layout { size: element.size.saturating_mul(u64::from(*len)), align: element.align }
            }
            Type::Struct(id) if self.def(*id).declared => natural(8),
            Type::Struct(id) => self.offsets(*id).0,
            Type::Atomic(inner) => self.layout(inner),
        }
    }

    /// The layout of a struct or union in C, and the bit at which each field begins.
    pub(crate) fn offsets(&self, id: StructId) -> (Layout, Vec<u64>) {
        let mut cursor = Cursor { bits: 0, end: 0, align: 1 };
        let starts = self.fields(id).iter().map(|field| self.advance(id, field, &mut cursor)).collect();
        (Layout { size: cursor.end.div_ceil(8).next_multiple_of(cursor.align), align: cursor.align }, starts)
    }

    /// Bit-fields follow each other, but none lies across the boundary of a unit of its declared type; other fields are aligned.
    fn advance(&self, id: StructId, field: &FieldDef, cursor: &mut Cursor) -> u64 {
        if let Type::Struct(group) = field.ty
            && self.def(group).spec.is_none()
        {
            let starts: Vec<u64> = self.fields(group).iter().map(|field| self.advance(group, field, cursor)).collect();
            return starts.first().copied().unwrap_or(cursor.bits);
        }
        let unit = self.layout(&field.ty);
        let (width, unit_bits) = (if field.narrow { field.bits.width.into() } else { unit.size * 8 }, unit.size * 8);
        if width == 0 && field.narrow {
            cursor.bits = cursor.bits.next_multiple_of(unit_bits);
            return cursor.bits;
        }
        if !field.narrow {
            cursor.bits = cursor.bits.next_multiple_of(unit.align * 8);
        } else if cursor.bits / unit_bits != (cursor.bits + width - 1) / unit_bits {
            cursor.bits = cursor.bits.next_multiple_of(unit_bits);
        }
        let start = cursor.bits;
        // What has no name does not align (System V ABI for AMD64, 3.1.2).
        let aligns = !(field.narrow && field.name.is_empty());
        cursor.align = if aligns { cursor.align.max(unit.align) } else { cursor.align };
        cursor.end = cursor.end.max(start.saturating_add(width));
        cursor.bits = if self.def(id).union { 0 } else { start.saturating_add(width) };
        start
    }

    /// How many words before what begins at a byte of an object; none if nothing that has an address begins there.
    pub(crate) fn word_at(&self, ty: &Type, byte: u64) -> Option<u64> {
        match ty.plain() {
            _ if byte == 0 => Some(0),
            Type::Array(element, _) => {
                let size = self.layout(element).size;
                Some(byte / size * self.wide_words(element) + self.word_at(element, byte % size)?)
            }
            Type::Struct(id) if !self.is_scalar(ty.plain()) => {
                let starts = self.offsets(*id).1;
                let at = starts.iter().rposition(|start| *start <= byte * 8)?;
                let within = self.word_at(&self.fields(*id)[at].ty, byte - starts[at].div_ceil(8))?;
                Some(u64::from(self.offset(*id, at)) + within)
            }
            _ => None,
        }
    }

    /// The way to a member by its name, through fields without a name.
    pub(crate) fn path(&self, id: StructId, name: &str) -> Option<Vec<usize>> {
        let members = self.members(id);
        members.into_iter().find(|member| member.name == name).map(|member| member.path)
    }

    /// All members that have a name, in order.
    pub(crate) fn members(&self, id: StructId) -> Vec<Member> {
        let mut found = Vec::new();
        for (at, field) in self.fields(id).iter().enumerate() {
            let listed = at == 0 || !self.def(id).union;
            match &field.ty {
                Type::Struct(inner) if field.name.is_empty() => {
                    found.extend(self.members(*inner).into_iter().map(|member| {
                        let path = std::iter::once(at).chain(member.path).collect();
                        Member { path, listed: listed && member.listed, ..member }
                    }))
                }
                // Padding.
                _ if field.name.is_empty() => {}
                ty => found.push(Member { name: field.name.clone(), ty: ty.clone(), path: vec![at], listed }),
            }
        }
        found
    }

    /// What each word of a value starts as, if it is to start as this one.
    pub(crate) fn initial(&self, ty: &Type, init: i128) -> Vec<i128> {
        match ty {
            Type::Array(element, len) => self.initial(element, init).repeat(*len as usize),
            Type::Struct(id) if !self.def(*id).word => {
                self.fields(*id).iter().flat_map(|field| self.initial(&field.ty, init)).collect()
            }
            Type::Struct(id) if self.def(*id).in_parts && init == cyrano_ir::UNDEFINED => vec![0],
            Type::Atomic(inner) => self.initial(inner, init),
            _ => vec![init],
        }
    }

    /// The words before a field.
    pub(crate) fn offset(&self, id: StructId, field: usize) -> u32 {
        self.fields(id).iter().take(field).map(|field| self.words(&field.ty)).sum()
    }

    /// The names of all words of an object, in order, and what they hold.
    pub(crate) fn leaves(&self, ty: &Type, name: &str, found: &mut Vec<(String, Ty)>) {
        match ty {
            Type::Array(element, len) => {
                (0..*len).for_each(|index| self.leaves(element, &format!("{name}[{index}]"), found));
            }
            Type::Struct(id) if !self.def(*id).word => {
                for (at, field) in self.fields(*id).iter().enumerate() {
                    let first = found.len();
                    self.leaves(&field.ty, &format!("{name}.{}", self.shown_name(field)), found);
                    if self.addresses.contains(&Holder::Field(id.0, at)) {
                        found[first..].iter_mut().for_each(|(_, ty)| *ty = Ty::Pointer);
                    }
                }
            }
            Type::Pointer(_) => found.push((name.to_string(), Ty::Pointer)),
            // The word of a function is there for its address.
            Type::Function(_) => found.push((name.to_string(), Ty::Gap)),
            Type::Atomic(inner) => self.leaves(inner, name, found),
            _ => found.push((name.to_string(), Ty::Int)),
        }
    }

    /// The name of a field; for one without a name those of its members.
    fn shown_name(&self, field: &FieldDef) -> String {
        match &field.ty {
            Type::Struct(id) if field.name.is_empty() => {
                self.members(*id).iter().map(|member| member.name.as_str()).collect::<Vec<_>>().join("|")
            }
            _ => field.name.clone(),
        }
    }

    /// The type as C writes it, more or less.
    pub(crate) fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Bool => "bool".into(),
            Type::Int(IntType { bits: 32, signed: true }) => "int".into(),
            Type::Int(IntType { bits: 32, signed: false }) => "unsigned".into(),
            Type::Int(IntType { bits, signed }) => format!("{}int{bits}_t", if *signed { "" } else { "u" }),
            Type::Pointer(to) => match self.show(to) {
                inner if inner.ends_with('*') => format!("{inner}*"),
                inner => format!("{inner} *"),
            },
            Type::Array(element, len) => format!("{}[{len}]", self.show(element)),
            Type::Struct(id) => self.def(*id).name.clone(),
            Type::Function(signature) => {
                let params: Vec<_> = signature.params.iter().map(|ty| self.show(ty)).collect();
                format!("{} ({})", self.show(&signature.returns), params.join(", "))
            }
            Type::Atomic(inner) => format!("_Atomic({})", self.show(inner)),
        }
    }
}

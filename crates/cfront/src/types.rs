//! Types, and how values lie in memory: one word per scalar.
//!
//! A struct whose fields share one word (a *word struct*) counts as a scalar. Pointer arithmetic follows this layout.
//!
//! `sizeof` and `_Alignof` are those of a C compiler for LP64 ([`Types::layout`]), so that what a program computes from them is right.
//! Nothing else depends on them: `malloc` looks at the type, and no pointer is moved by bytes.

use std::collections::BTreeSet;

use cyrano_ir::{IntType, Ty, WORD};

use crate::addresses::Holder;
use crate::integers::{INT, promoted};
use crate::source::Loc;

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
    /// Whether the fields share one word.
    pub(crate) word: bool,
    /// Whether all of them are bit-fields, as C has them.
    pub(crate) packed: bool,
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
}

/// A run of bits in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bits {
    pub(crate) shift: u8,
    pub(crate) width: u8,
    pub(crate) signed: bool,
}

/// What `sizeof` gives.
pub(crate) const SIZE: IntType = IntType { bits: 64, signed: false };

impl Type {
    pub(crate) fn pointer(self) -> Self {
        Self::Pointer(Box::new(self))
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
            Type::Void | Type::Array(..) => false,
            Type::Struct(id) => self.def(*id).word,
            _ => true,
        }
    }

    /// Whether objects of the type can exist.
    pub(crate) fn is_complete(&self, ty: &Type) -> bool {
        match ty {
            Type::Void => false,
            Type::Array(element, _) => self.is_complete(element),
            Type::Struct(id) => self.def(*id).fields.is_some(),
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
            Type::Void | Type::Bool => natural(1),
            Type::Int(ty) => natural(u64::from(ty.bits) / 8),
            Type::Pointer(_) => natural(8),
            Type::Array(element, len) => {
                let element = self.layout(element);
                Layout { size: element.size.saturating_mul(u64::from(*len)), align: element.align }
            }
            Type::Struct(id) if self.def(*id).packed => self.packed_layout(*id),
            Type::Struct(id) if self.def(*id).word => natural(8),
            Type::Struct(id) => {
                let mut whole = Layout { size: 0, align: 1 };
                for field in self.fields(*id) {
                    let part = self.layout(&field.ty);
                    whole.size = whole.size.next_multiple_of(part.align).saturating_add(part.size);
                    whole.align = whole.align.max(part.align);
                }
                Layout { size: whole.size.next_multiple_of(whole.align), ..whole }
            }
        }
    }

    /// Bit-fields follow each other, but none lies across the boundary of a unit of its declared type.
    fn packed_layout(&self, id: StructId) -> Layout {
        let (mut bits, mut align) = (0u64, 1);
        for field in self.fields(id) {
            let unit = self.layout(&field.ty);
            let (width, unit_bits) = (u64::from(field.bits.width), unit.size * 8);
            if bits / unit_bits != (bits + width - 1) / unit_bits {
                bits = bits.next_multiple_of(unit_bits);
            }
            bits += width;
            align = align.max(unit.align);
        }
        Layout { size: bits.div_ceil(8).next_multiple_of(align), align }
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
                    self.leaves(&field.ty, &format!("{name}.{}", field.name), found);
                    if self.addresses.contains(&Holder::Field(id.0, at)) {
                        found[first..].iter_mut().for_each(|(_, ty)| *ty = Ty::Pointer);
                    }
                }
            }
            Type::Pointer(_) => found.push((name.to_string(), Ty::Pointer)),
            _ => found.push((name.to_string(), Ty::Int)),
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
        }
    }
}

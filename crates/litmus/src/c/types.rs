//! Types: their names in initial states, and `cfront`'s trees of them in functions.

use std::collections::BTreeSet;

use cyrano_cfront::ast::TypeExpr;
use cyrano_cfront::integers::INT;
use cyrano_ir::{Diagnostic, IntType, Span};

/// `_Bool`.
pub(crate) const BOOL: IntType = IntType { bits: 1, signed: false };

/// A type: an integer under some number of pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// The integer type at the bottom.
    pub int: IntType,
    /// Whether that is atomic.
    pub atomic: bool,
    /// How many pointers lead to it.
    pub pointers: usize,
}

impl Type {
    /// `int`.
    pub const INT: Self = Self { int: INT, atomic: false, pointers: 0 };

    /// What it points to.
    pub fn target(self) -> Option<Self> {
        self.pointers.checked_sub(1).map(|pointers| Self { pointers, ..self })
    }

    /// A pointer to it.
    #[must_use]
    pub fn pointer(self) -> Self {
        Self { pointers: self.pointers + 1, ..self }
    }

    /// The type of the word that holds it.
    pub fn word(self) -> IntType {
        if self.pointers > 0 { IntType { bits: 64, signed: true } } else { self.int }
    }
}

const NAMES: [(&str, u8, bool); 24] = [
    ("int", 32, true),
    ("int32_t", 32, true),
    ("s32", 32, true),
    ("uint32_t", 32, false),
    ("u32", 32, false),
    ("long", 64, true),
    ("int64_t", 64, true),
    ("s64", 64, true),
    ("intptr_t", 64, true),
    ("ssize_t", 64, true),
    ("uint64_t", 64, false),
    ("u64", 64, false),
    ("uintptr_t", 64, false),
    ("size_t", 64, false),
    ("short", 16, true),
    ("int16_t", 16, true),
    ("uint16_t", 16, false),
    ("char", 8, true),
    ("int8_t", 8, true),
    ("uint8_t", 8, false),
    ("u8", 8, false),
    ("_Bool", 1, false),
    ("bool", 1, false),
    ("atomic_t", 32, true),
];

const ATOMIC: [(&str, u8, bool); 8] = [
    ("atomic_int", 32, true),
    ("atomic_uint", 32, false),
    ("atomic_long", 64, true),
    ("atomic_ulong", 64, false),
    ("atomic_llong", 64, true),
    ("atomic_char", 8, true),
    ("atomic_short", 16, true),
    ("atomic_bool", 1, false),
];

/// Words of types that are keywords of C.
const KEYWORDS: [&str; 21] = [
    "int", "long", "short", "char", "_Bool", "_Atomic", "unsigned", "signed", "void", "float", "double", "const",
    "volatile", "restrict", "struct", "union", "enum", "static", "register", "extern", "auto",
];

/// The names that stand for types: those that are known, and others that are used as such. No keyword is one.
pub(crate) fn names<'s>(used: &[&'s str]) -> Vec<&'s str> {
    let known = NAMES.iter().chain(&ATOMIC).map(|(name, ..)| *name);
    let all: BTreeSet<&str> = known.chain(["atomic64_t"]).chain(used.iter().copied()).collect();
    all.into_iter().filter(|name| !KEYWORDS.contains(name)).collect()
}

/// The type that a parameter, declaration or cast at this place names.
pub(crate) fn of(ty: &TypeExpr, span: Span) -> Result<Type, Diagnostic> {
    let integer = |int, atomic| Type { int, atomic, pointers: 0 };
    let what = match ty {
        TypeExpr::Int(int) => return Ok(integer(*int, false)),
        TypeExpr::Bool => return Ok(integer(BOOL, false)),
        TypeExpr::Named(name) => {
            return from_words(&[&name.text], name.loc.span).map(|(int, atomic)| integer(int, atomic));
        }
        TypeExpr::Pointer(target) => return Ok(of(target, span)?.pointer()),
        TypeExpr::Atomic(inner) => return Ok(Type { atomic: true, ..of(inner, span)? }),
        TypeExpr::Array(..) => "arrays are not supported",
        TypeExpr::Struct(_) => "structures are not supported",
        TypeExpr::Enum(_) => "enumerations are not supported",
        TypeExpr::Void => "the type `void` is not supported",
        TypeExpr::Function { .. } | TypeExpr::Error => "this type is not supported",
    };
    Err(Diagnostic::new(span, what, "this type"))
}

/// The integer type that these words mean, and whether it is atomic.
pub(crate) fn from_words(words: &[&str], span: Span) -> Result<(IntType, bool), Diagnostic> {
    let refuse = |why: String| Err(Diagnostic::new(span, why, "this type"));
    let mut unsigned = false;
    let mut found: Option<(u8, bool, bool)> = None;
    for word in words {
        let plain = NAMES.iter().find(|(name, ..)| name == word).map(|(_, bits, signed)| (*bits, *signed, false));
        let atomic = ATOMIC.iter().find(|(name, ..)| name == word).map(|(_, bits, signed)| (*bits, *signed, true));
        match *word {
            "unsigned" => unsigned = true,
            "signed" | "_Atomic" => {}
            // `long int`, `unsigned long long`: the wider word counts.
            "int" if found.is_some() => {}
            _ => match plain.or(atomic) {
                Some(ty) => found = Some(ty),
                None => return refuse(format!("the type `{word}` is not supported")),
            },
        }
    }
    if found.is_none() && words.is_empty() {
        return refuse("expected a type".to_owned());
    }
    let (bits, signed, atomic) = found.unwrap_or((32, true, false));
    let atomic = atomic || words.contains(&"_Atomic");
    Ok((IntType { bits, signed: signed && !unsigned }, atomic))
}

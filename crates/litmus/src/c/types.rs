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

/// The names of integer types: their width, whether they have a sign, whether they are atomic.
const NAMES: [(u8, bool, bool, &[&str]); 16] = [
    (32, true, false, &["int", "int32_t", "s32", "atomic_t", "spinlock_t", "srcu_struct"]),
    (32, false, false, &["uint32_t", "u32"]),
    (64, true, false, &["long", "int64_t", "s64", "intptr_t", "ssize_t", "atomic64_t", "atomic_long_t"]),
    (64, false, false, &["uint64_t", "u64", "uintptr_t", "size_t"]),
    (16, true, false, &["short", "int16_t"]),
    (16, false, false, &["uint16_t"]),
    (8, true, false, &["char", "int8_t"]),
    (8, false, false, &["uint8_t", "u8"]),
    (1, false, false, &["_Bool", "bool"]),
    (32, true, true, &["atomic_int"]),
    (32, false, true, &["atomic_uint"]),
    (64, true, true, &["atomic_long", "atomic_llong"]),
    (64, false, true, &["atomic_ulong"]),
    (8, true, true, &["atomic_char"]),
    (16, true, true, &["atomic_short"]),
    (1, false, true, &["atomic_bool"]),
];

/// Words of types that are keywords of C.
const KEYWORDS: [&str; 21] = [
    "int", "long", "short", "char", "_Bool", "_Atomic", "unsigned", "signed", "void", "float", "double", "const",
    "volatile", "restrict", "struct", "union", "enum", "static", "register", "extern", "auto",
];

/// The names that stand for types: those that are known, and others that are used as such. No keyword is one.
pub(crate) fn names<'s>(used: &[&'s str]) -> Vec<&'s str> {
    let known = NAMES.iter().flat_map(|(.., names)| names.iter().copied());
    let all: BTreeSet<&str> = known.chain(used.iter().copied()).collect();
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
        // What is in a domain of sleepable RCU nobody looks at.
        TypeExpr::Struct(spec) if spec.tag.as_ref().is_some_and(|tag| tag.text == "srcu_struct") => {
            return Ok(Type::INT);
        }
        TypeExpr::Struct(_) => "structures are not supported",
        TypeExpr::Enum(_) => "enumerations are not supported",
        TypeExpr::Void => "the type `void` is not supported",
        TypeExpr::Function { .. } | TypeExpr::TypeOf(_) | TypeExpr::Error => "this type is not supported",
    };
    Err(Diagnostic::new(span, what, "this type"))
}

/// The integer type that these words mean, and whether it is atomic.
pub(crate) fn from_words(words: &[&str], span: Span) -> Result<(IntType, bool), Diagnostic> {
    let refuse = |why: String| Err(Diagnostic::new(span, why, "this type"));
    let mut unsigned = false;
    let mut found: Option<(u8, bool, bool)> = None;
    for word in words {
        let known = NAMES.iter().find(|(.., names)| names.contains(word));
        match *word {
            "unsigned" => unsigned = true,
            "signed" | "_Atomic" => {}
            // `long int`, `unsigned long long`: the wider word counts.
            "int" if found.is_some() => {}
            _ => match known {
                Some((bits, signed, atomic, _)) => found = Some((*bits, *signed, *atomic)),
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

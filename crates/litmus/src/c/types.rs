//! Types: their names in initial states and parameters, and `cfront`'s trees of them in bodies.

use cyrano_cfront::ast::TypeExpr;
use cyrano_cfront::integers::INT;
use cyrano_ir::{Diagnostic, IntType, Span};

use crate::cursor::{Cursor, Parse};
use crate::init::QUALIFIERS;

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

/// Names of types that are no keywords of C.
pub(crate) fn names() -> Vec<&'static str> {
    let all = NAMES.iter().chain(&ATOMIC).map(|(name, ..)| *name).chain(["atomic64_t"]);
    all.filter(|name| !matches!(*name, "int" | "long" | "short" | "char" | "_Bool")).collect()
}

/// The type that a declaration or cast at this place names.
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

/// Whether a word starts or continues a type.
pub(crate) fn is_type_word(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "_Atomic" | "void" | "atomic64_t")
        || QUALIFIERS.contains(&word)
        || NAMES.iter().chain(&ATOMIC).any(|(name, ..)| *name == word)
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

/// Reads a type and its stars.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Parse<Type> {
    let start = cursor.peek().span;
    let mut words = Vec::new();
    let mut span = start;
    let mut pointers = 0;
    loop {
        let token = cursor.peek();
        if token.text == "struct" || token.text == "union" {
            return Err(Diagnostic::new(token.span, "structures are not supported", "this type"));
        }
        if cursor.is("*") {
            pointers += 1;
        } else if cursor.is("(") && words.last() == Some(&"_Atomic") {
            cursor.take()?;
            let inner = read(cursor)?;
            cursor.expect(")")?;
            let mut ty = Type { atomic: true, ..inner };
            while cursor.eat("*")? {
                ty = ty.pointer();
            }
            return Ok(ty);
        } else if !is_type_word(token.text) || pointers > 0 && !QUALIFIERS.contains(&token.text) {
            break;
        } else if !QUALIFIERS.contains(&token.text) {
            words.push(token.text);
        }
        span = span.to(token.span);
        cursor.take()?;
    }
    let token = cursor.peek();
    if words.is_empty() && token.kind == crate::token::Kind::Word {
        let message = format!("the type `{}` is not supported", token.text);
        return Err(Diagnostic::new(token.span, message, "this type"));
    }
    let (int, atomic) = from_words(&words, span)?;
    Ok(Type { int, atomic, pointers })
}

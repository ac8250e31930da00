//! C's rules for the types of integers (C11, 6.3.1 and 6.4.4.1) on an LP64 machine. Litmus tests follow them too.

use cyrano_ir::IntType;

/// 32 bits, signed.
pub const INT: IntType = IntType { bits: 32, signed: true };

/// The type after integer promotion.
pub fn promoted(ty: IntType) -> IntType {
    if ty.bits < INT.bits { INT } else { ty }
}

/// The type in which two integers are combined, of their promoted types.
pub fn common(a: IntType, b: IntType) -> IntType {
    let bits = a.bits.max(b.bits);
    let unsigned = |ty: IntType| !ty.signed && ty.bits == bits;
    IntType { bits, signed: !(unsigned(a) || unsigned(b)) }
}

/// Whether every value of one type is one of the other.
pub fn fits(from: IntType, to: IntType) -> bool {
    (from.signed == to.signed && from.bits <= to.bits) || (to.signed && from.bits < to.bits)
}

/// The type of a constant, by its suffixes and its base: the first of C's list that has the value.
pub fn of_constant(value: i128, unsigned: bool, long: bool, decimal: bool) -> IntType {
    let int = |bits, signed| IntType { bits, signed };
    let candidates = [int(32, true), int(32, false), int(64, true), int(64, false)];
    let allowed =
        |ty: &IntType| (ty.bits == 64 || !long) && (!unsigned || !ty.signed) && (ty.signed || unsigned || !decimal);
    candidates.into_iter().filter(allowed).find(|ty| ty.wrap(value) == value).unwrap_or(int(64, false))
}

//! C's arithmetic: conversions, wrapping, overflow.

use super::{fails, returns};

/// The value of an expression as a `long`.
fn value(expr: &str) -> i128 {
    returns(&format!("#include <stdint.h>\nlong f(void) {{ return {expr}; }}"))[0]
}

/// The same with an operand that the front end cannot see through.
fn value_of(ty: &str, x: &str, expr: &str) -> i128 {
    returns(&format!("#include <stdint.h>\n{ty} g = {x};\nlong f(void) {{ {ty} x = g; return {expr}; }}"))[0]
}

#[test]
fn constants_and_precedence() {
    assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5);
    assert_eq!(value("(7 & 3) | (8 ^ 12)"), 7);
    assert_eq!(value("-7 / 2 * 10 + -7 % 2"), -31);
    assert_eq!(value("1 << 4 >> 2"), 4);
    assert_eq!(value("0x10 + 010 + 'a'"), 16 + 8 + 97);
    assert_eq!(value("~0"), -1);
    assert_eq!(value("!5 + !0 + !!7"), 2);
}

#[test]
fn unsigned_wraps_and_signed_overflow_is_an_error() {
    assert_eq!(value_of("unsigned", "0", "x - 1"), 4_294_967_295);
    assert_eq!(value_of("unsigned", "4294967295u", "x + 2"), 1);
    assert_eq!(value_of("uint8_t", "200", "x + 100"), 300, "narrow operands are promoted");
    assert_eq!(value_of("uint8_t", "200", "(uint8_t)(x + 100)"), 44);
    assert_eq!(value_of("int", "-1", "(unsigned)x"), 4_294_967_295);
    assert_eq!(value_of("unsigned", "0x80000000u", "(int)x"), -2_147_483_648);
    assert_eq!(value_of("unsigned", "0xffffffffu", "~x + 5"), 5);
    assert!(fails("int g = 2147483647; int f(void) { int x = g; return x + 1; }").contains("Overflow"));
    assert!(fails("int g = 40; int f(void) { return 1 << g; }").contains("Overflow"));
    assert!(fails("int g; int f(void) { return 7 / g; }").contains("DivisionByZero"));
    assert!(fails("int g; int f(void) { return 7 % g; }").contains("DivisionByZero"));
}

#[test]
fn operands_go_wrong_before_what_is_done_with_them() {
    assert!(fails("int g, h = -1; int f(void) { return h << 1 / g; }").contains("DivisionByZero"));
    assert!(fails("int g, h = -1; int f(void) { return 1 << h + 1 % g; }").contains("DivisionByZero"));
    assert!(fails("int g = 1, h = -1; int f(void) { return h << g - g; }").contains("Overflow"));
    assert!(fails("int g = -2147483647 - 1, h = -1; int f(void) { return g % h; }").contains("Overflow"));
}

#[test]
fn mixed_signs_compare_as_unsigned() {
    assert_eq!(value_of("int", "-1", "x < 1u"), 0);
    assert_eq!(value_of("int", "-1", "x < 1"), 1);
    assert_eq!(value_of("long", "-1", "x < 1ul"), 0, "64 bits too");
    assert_eq!(value_of("uint64_t", "0xffffffffffffffff", "x > 5"), 1);
    assert_eq!(value_of("uint64_t", "0xffffffffffffffff", "(long)(x >> 60)"), 15);
    assert_eq!(value_of("int8_t", "-1", "x >> 1"), -1);
}

#[test]
fn booleans_are_zero_or_one() {
    assert_eq!(value_of("int", "256", "(_Bool)x"), 1);
    assert_eq!(value_of("int", "256", "(uint8_t)x"), 0);
    assert_eq!(value_of("int", "3", "(x && 2) + (x || 0) + (x == 3)"), 3);
}

#[test]
fn assignments_convert_and_chain() {
    let source = "#include <stdint.h>
        int f(void) { int a; uint8_t b; a = b = 300; a += b; a <<= 2; a |= 1; a ^= 3; return a; }";
    assert_eq!(returns(source), [((44 + 44) << 2 | 1) ^ 3]);
    let source = "int f(void) { int a = 5; int b = a++ * 10 + a; int c = --a + a--; return b * 100 + c * 10 + a; }";
    assert_eq!(returns(source), [(50 + 6) * 100 + 10 * 10 + 4]);
}

#[test]
fn sizes_are_those_of_lp64() {
    let sizes = [
        ("char", 1),
        ("_Bool", 1),
        ("short", 2),
        ("int", 4),
        ("long", 8),
        ("long long", 8),
        ("void *", 8),
        ("enum e", 4),
        ("int[3]", 12),
        ("struct { char c; int i; }", 8),
        ("struct { char c; long l; char d; }", 24),
        ("struct { short s; char c[3]; }", 6),
        ("struct { struct { char c; int *p; } a[2]; _Bool b; }", 40),
        ("struct { unsigned a : 3; unsigned b : 30; }", 8),
        ("struct { unsigned char a : 3; unsigned char b : 4; }", 1),
        ("struct { unsigned char a : 5; unsigned char b : 4; }", 2),
        ("struct { char a : 3; long b : 20; }", 8),
    ];
    for (ty, size) in sizes {
        let source = format!("enum e {{ A }};\nlong f(void) {{ return sizeof({ty}); }}");
        assert_eq!(returns(&source), [size], "{ty}");
    }
    assert_eq!(value("_Alignof(short) + 10 * _Alignof(struct { char c; long l; })"), 82);
    assert_eq!(value_of("int16_t", "1", "sizeof x + 10 * sizeof(x + x) + 100 * sizeof &x"), 842);
    let source = "struct p { int x; int y; } a[3];
        long f(void) { struct p *q = &a[2]; return sizeof a / sizeof a[0] * 10 + (q - a); }";
    assert_eq!(returns(source), [32], "pointers count elements");
}

#[test]
fn enums_are_unsigned_unless_an_enumerator_is_negative() {
    let source = |list: &str| format!("enum e {{ {list} }};\nint f(void) {{ enum e x = 0; return x - 1 < 0; }}");
    assert_eq!(returns(&source("A, B")), [0]);
    assert_eq!(returns(&source("A = -1, B")), [1]);
    assert_eq!(returns("enum e { A, B };\nint f(void) { return A - 1 < 0; }"), [1], "enumerators are int");
}

#[test]
fn characters_are_signed() {
    assert_eq!(value("'a' + '\\0' + '\\''"), 97 + 39);
    assert_eq!(value("'\\xff'"), -1);
    assert_eq!(value("'\\101' * 1000 + '\\x7f'"), 65_127);
}

#[test]
fn values_that_nobody_looks_at_still_go_wrong() {
    assert!(fails("int g; int f(void) { return (1 / g, 2); }").contains("DivisionByZero"));
    assert!(fails("int g; int f(void) { 1 / g; return 2; }").contains("DivisionByZero"));
    assert!(fails("int g; int f(void) { (void)(1 / g); return 2; }").contains("DivisionByZero"));
    assert!(fails("int g; int f(void) { for (int i = 0; i < 1; i++, 1 / g) {} return 2; }").contains("DivisionByZero"));
}

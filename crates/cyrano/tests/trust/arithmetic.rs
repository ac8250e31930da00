//! C integers have their widths, and wrap or overflow as C11 says.
//!
//! Values of 64 unsigned bits were kept as signed ones, one of the values stood for "undefined", sizes counted words, a computation whose
//! result nobody reads was dropped though it goes wrong, and what goes wrong was blamed on the line behind it.

use super::cli::{self, Folder};

const ENGINES: [&str; 3] = ["explore", "symbolic", "interp"];

/// The only check of a call of `f()`, by each engine.
fn checks(source: &str) -> [serde_json::Value; 3] {
    let place = Folder::new(&[("f.c", source), ("f.tests", "f = f()\ntest T = ( f )\n")]);
    ENGINES.map(|engine| {
        let done = place.run(&format!("check f.c --model sc --engine {engine} --format json"));
        assert_ne!(done.code, 2, "{engine}: {}{source}", done.stderr);
        cli::json(&done)["checks"][0].clone()
    })
}

/// The file is checked without an error by every engine.
fn verified(source: &str) {
    let verdicts = checks(source).map(|check| check["verdict"].clone());
    assert!(verdicts.iter().all(|verdict| verdict == "verified"), "{verdicts:?}\n{source}");
}

/// Every claim about `x` holds, whether its value is loaded from memory or known before the program runs.
fn holds(ty: &str, value: &str, claims: &[&str]) {
    let asserts: String = claims.iter().map(|claim| format!("    assert({claim});\n")).collect();
    let head = format!("#include <cyrano.h>\n#include <limits.h>\n{ty} g = {value};\nint one = 1, n = 63;\n");
    for value in ["g", value] {
        verified(&format!("{head}int f(void)\n{{\n    {ty} x = {value};\n{asserts}    return 1;\n}}\n"));
    }
}

/// What goes wrong, by its kind and its line; every engine must say the same.
fn error(source: &str) -> (String, u64) {
    let found = checks(source).map(|check| {
        let kind =
            check["trace"]["violation"]["error"]["kind"].as_str().unwrap_or_else(|| panic!("{check:#}\n{source}"));
        (kind.to_owned(), check["explanation"]["line"].as_u64().expect("a line"))
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}\n{source}");
    found[0].clone()
}

/// The expression with `x` of the type overflows; the line before and the line behind are innocent.
fn overflows(ty: &str, value: &str, expr: &str) {
    let head = format!(
        "#include <stdint.h>\n#include <limits.h>\n{ty} g = {value}; int one = 1;\nlong f(void) {{\n{ty} x = g;\n"
    );
    for body in [format!("long y = {expr};\ny = y / 3;\nreturn y;\n"), format!("{expr};\none = 2;\nreturn one + 1;\n")]
    {
        assert_eq!(error(&format!("{head}{body}}}\n")), ("overflow".into(), 6), "{expr}\n{body}");
    }
}

#[test]
fn unsigned_values_of_64_bits_are_what_they_are() {
    let claims = [
        "(x >> n) == 1",
        "(x >> one) == 0x7fffffffffffffff",
        "x * 3 == 0xfffffffffffffffd",
        "x * x == 1",
        "x + 1 == 0",
        "x / 10 == 1844674407370955161",
        "x % 10 == 5",
        "x > INT64_MAX && x == UINT64_MAX",
        "(x << n) == 0x8000000000000000",
        "-x == 1",
        "(int64_t)x == -1",
        "((x ^ 5) * 0x100000001b3u) > 100",
    ];
    holds("uint64_t", "UINT64_MAX", &claims);
    holds("uint64_t", "0x8000000000000000", &["x != 0", "x > 1", "x >> n == 1", "(x | 1) % 2 == 1", "x + x == 0"]);
    holds("uint32_t", "UINT32_MAX", &["x * x == 1", "x * (uint64_t)x == 0xfffffffe00000001"]);
}

#[test]
fn the_least_values_are_values() {
    holds("int64_t", "INT64_MIN", &["x < 0", "x == INT64_MIN", "x / 2 == -4611686018427387904", "x >> n == -1"]);
    holds("long", "LONG_MIN", &["x + LONG_MAX == -1", "(unsigned long)x == 0x8000000000000000", "x % 10 == -8"]);
    holds("int", "INT_MIN", &["x < 0", "x == INT_MIN", "x % 2 == 0", "(unsigned)x == 0x80000000"]);
}

#[test]
fn what_is_undefined_is_reported_even_if_nobody_reads_it() {
    overflows("int", "INT_MIN", "x % -one");
    overflows("int", "INT_MIN", "x / -one");
    overflows("int64_t", "INT64_MIN", "x % -one");
    overflows("int64_t", "INT64_MIN", "x / -one");
    overflows("int64_t", "INT64_MAX", "x + one");
    overflows("int64_t", "INT64_MIN", "x - one");
    overflows("int64_t", "INT64_MAX", "x * 2");
    overflows("int64_t", "INT64_MIN", "-x");
    overflows("int", "INT_MAX", "x + one");
    overflows("int", "-1", "x << one");
    overflows("int", "1", "x << 31");
    overflows("int", "32", "one << x");
    overflows("uint64_t", "64", "one + (x >> x)");
    overflows("uint16_t", "65535", "x * x");
}

#[test]
fn sizes_are_those_of_a_compiler() {
    let claims = [
        "sizeof(int) == 4",
        "sizeof(x) == 8 && sizeof(short) == 2 && sizeof(char) == 1",
        "sizeof(struct { char c; int i; long l; }) == 16",
        "sizeof(long[3]) / sizeof(long) == 3",
        "_Alignof(int) == 4",
    ];
    holds("long", "1", &claims);
    let source = "#include <cyrano.h>\n#include <stdlib.h>\ntypedef struct { char c; int v[2]; } node_t;\nint f(void) {
        node_t *p = malloc(3 * sizeof(node_t)), *q = malloc(sizeof *q);
        p[2].v[1] = 7; q->v[1] = p[2].v[1]; q->c = 1; return q->v[1] - 7 * q->c; }\n";
    verified(source);
}

#[test]
fn static_variables_of_one_name_and_initialisers_that_refer_to_themselves() {
    let source = "#include <cyrano.h>\nint f(void) { { static int s = 1; s++; assert(s == 2); } { static int s = 5; assert(s == 5); }
        int *p; { int s = 3; p = &s; assert(*p == 3); } return 1; }\n";
    verified(source);
    let source = "#include <cyrano.h>\ntypedef struct node { struct node *next; int v; } node_t;
        node_t N[2] = {{&N[1], 1}, {&N[0], 2}}; node_t M[] = {{&M[2], 3}, {M, 4}, {&M[1], 5}}; node_t S = {&S, 6};
        int f(void) { static node_t T = {&T, 7}; assert(N[0].next->v == 2 && N[1].next == N && S.next == &S);
            assert(T.next->v == 7 && M[0].next->v == 5 && M[1].next == M); return 1; }\n";
    verified(source);
}

#[test]
fn the_preprocessor_counts_with_64_bits() {
    let claims = "#if 0x8000000000000000 < 1 || -1 < 0u || 18446744073709551615u + 1 != 0 || (1 << 62) < 0 || 0xffffffffffffffff >> 63 != 1
#error \"wrong\"\n#endif\n#if -1 > 0 || (-7) / 2 != -3 || -7 % 2 != -1 || ~0 != -1 || ~0u == -2\n#error \"wrong\"\n#endif\n";
    verified(&format!("{claims}int f(void) {{ return 1; }}\n"));
}

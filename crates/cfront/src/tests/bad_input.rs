//! Bad C: every error with its place, all of them at once.

use expect_test::{Expect, expect};

use super::errors;

fn check(source: &str, expected: &Expect) {
    expected.assert_eq(&errors(source));
}

#[test]
fn syntax_errors() {
    check(
        "int f(void) { return 1 }\n",
        &expect![[r#"
            1: syntax error: `}` is not expected here | } | not expected
              help: is a `;` missing before it?
        "#]],
    );
    check(
        "bool f(void) { return 1; }\n",
        &expect![[r#"
        1: syntax error: `bool` is not expected here | bool | not expected
          help: `bool` needs #include <stdbool.h>
    "#]],
    );
    check(
        "int f(void) { atomic { } }\n",
        &expect![[r#"
        1: syntax error: `{` is not expected here | { | not expected
          help: `atomic` needs #include <cyrano.h>
    "#]],
    );
    check(
        "int f(void) {\n",
        &expect![[r#"
        1: syntax error: the end of the file is not expected here | { | not expected
    "#]],
    );
}

#[test]
fn all_unsupported_constructs_in_one_report() {
    let source = "union u { int a; };\nfloat x;\nint f(int (*g)(void)) {\n    asm(\"nop\");\n    return g();\n}\nvoid h(int a, ...) { double d = 1.5; }\n_Atomic int z;\n";
    check(
        source,
        &expect![[r#"
            1: 8 constructs are not supported | union u { int a; } | unions
              2: float | floating-point numbers
              3: (*g)(void) | pointers to functions
              4: asm("nop") | assembly
              7: (int a, ...) | functions with variable arguments
              7: double | floating-point numbers
              7: 1.5 | floating-point numbers
              8: _Atomic | `_Atomic`: accesses are plain, use fences and the intrinsics of cyrano.h
              help: docs/c.md lists what is supported
        "#]],
    );
}

#[test]
fn names_and_types() {
    let source = "struct node { struct node *next; int value; } *top;
int count;
int f(int x) {
    int y = cuont + top->vlaue;
    top = count;
    y.a = 1;
    *x = 2;
    undefined_function(y);
    f(1, 2);
    struct missing m;
    goto nowhere;
    break;
    return top + top;
}
void g(void) { return 1; }
int count2 = f(1);
int f(int z) { return z; }
";
    check(
        source,
        &expect![[r#"
        4: there is no variable `cuont` | cuont | unknown name
          help: did you mean `count`?
        4: `node` has no field `vlaue` | vlaue | unknown field
          help: did you mean `value`?
        5: expected `node *`, found `int` | count | of another type
          help: if this is meant, cast it: `(node *)`
        6: `int` is not a struct | y | has no fields
        7: `int` is not a pointer | x | expected a pointer
        8: there is no function `undefined_function` | undefined_function | unknown name
        9: `f` takes 1 arguments, not 2 | f(1, 2) | this call
          3: f | declared here
        10: `missing` is an incomplete type | m | its size is not known
        11: there is no label `nowhere` | nowhere | unknown label
        12: `break` outside of loops and switches | break; | here
        13: `+` is not defined for `node *` and `node *` | top + top | this operation
        15: `return` with a value in a function that returns nothing | return 1; | here
        16: this is not a constant | f(1) | globals start with constants
        17: `f` has two bodies | f | defined again
    "#]],
    );
}

#[test]
fn recursion_is_refused_and_the_cycle_named() {
    let source = "int b(int);\nint a(int x) { return b(x); }\nint c(int x) { return a(x); }\nint b(int x) { return c(x); }\nint d(int x) { return d(x - 1); }\nint e(void) { int missing(void); return missing(); }\n";
    check(
        source,
        &expect![[r#"
        2: `b` is recursive: b calls c calls a calls b | b | this call closes the cycle
          4: c | `c` is called here
          3: a | `a` is called here
          help: calls are inlined; write a loop
        5: `d` is recursive: d calls d | d | this call closes the cycle
          help: calls are inlined; write a loop
        6: the function `missing` has no body | missing | called here
          6: missing | only declared here
    "#]],
    );
}

#[test]
fn intrinsics_used_wrongly() {
    let source = "#include <cyrano.h>
#include <stdlib.h>
struct two { int a; int b; } t;
struct keeps { struct two inner; } k;
void f(int n, struct two *p) {
    fence(\"store-laod\");
    fence(\"\");
    cas(&t, t, t);
    cas(n, 1, 2);
    malloc(n);
    atomic { fence(\"full\"); }
    free(p);
    fetch_add(&p, 1);
    goto in;
    atomic { in: n = 1; }
}
";
    check(
        source,
        &expect![[r#"
            6: there is no fence `store-laod` | "store-laod" | unknown kind
              help: did you mean `store-load`?
            7: this fence orders nothing | "" | an empty string
            8: `two` is not one word | &t | cannot be read and written at once
              help: make the struct one word: `cyrano_word struct { … }`
            9: `int` is not a pointer | n | expected a pointer
            10: the type of the new object is not clear | n | a size
              help: write `malloc(sizeof(T))` or `malloc(n * sizeof(T))`
            11: a fence within an atomic block | "full" | its accesses are in order already
            13: `fetch_add` on a `two *` | &p | expected a pointer to an integer
            14: a jump into an atomic block | in | from outside of it
        "#]],
    );
}

#[test]
fn words_used_wrongly() {
    let source = "#include <cyrano.h>
typedef cyrano_word struct { long a; int b; } big_t;
typedef cyrano_word struct { int a : 4; struct { int x; } b; } odd_t;
typedef struct { int a : 4; int b; } mixed_t;
typedef cyrano_word struct { int *p; int c; } w_t;
w_t g;
void f(void) { g.c = 1; int *q = &g.c; }
";
    check(
        source,
        &expect![[r#"
        2: this struct has 96 bits; a word has 64 | struct { long a; int b; } | one word
          help: give its integers a width: `unsigned count : 8;`
        3: a word struct has scalar fields only | b | not a scalar
        4: bit-fields beside ordinary fields | a | a bit-field
          help: make the struct one word: `cyrano_word struct { … }`
        7: one field of a word in memory cannot be assigned | g.c | part of a word
          help: build the word in a local variable and assign the whole word
        7: a field of a word has no address | &g.c | part of a word
    "#]],
    );
}

#[test]
fn too_much_memory() {
    check(
        "int a[4000], b[4000], c[4000];\n",
        &expect![[r#"
        1: the globals need more than 8192 words | c | too much with this one
    "#]],
    );
    check(
        "int a[5000];\n",
        &expect![[r#"
        1: an array cannot have 5000 elements | 5000 | its length
    "#]],
    );
}

#[test]
fn a_fence_that_a_call_brings_into_an_atomic_block() {
    let source = "#include <cyrano.h>\nlock_t l;\nvoid f(void) { atomic { lock(&l); } }\n";
    let unit = super::unit(source);
    let file = super::file(&unit, "f = f()\ntest T = ( f )\n");
    let found = unit.program(&file.tests[0]).expect_err("refused");
    let expected = expect![[r#"
        3: a fence within an atomic block | lock(&l); | called from an atomic block
    "#]];
    expected.assert_eq(&super::render(source, &found));
}

//! Structs, arrays, pointers, words, initialisers, undefined values.

use super::{fails, outcomes, returns};

#[test]
fn structs_nest_and_are_copied() {
    let source = "struct in { int a; int b; }; struct out { struct in i; int c; } g = { { 1, 2 }, .c = 3 };
        static struct out twice(struct out o) { o.i.a *= 2; o.i.b *= 2; o.c *= 2; return o; }
        int f(void) { struct out l = g; struct out m = twice(l); l.i.b = 7; g = m;
            return g.i.a * 1000 + g.i.b * 100 + g.c * 10 + l.i.b; }";
    assert_eq!(returns(source), [2 * 1000 + 4 * 100 + 60 + 7]);
    let swap = "struct s { int a; int b; }; int f(void) { struct s x = { 1, 2 }; x = (struct s){ x.b, x.a }; return x.a * 10 + x.b; }";
    assert_eq!(returns(swap), [21]);
}

#[test]
fn arrays_in_registers_and_in_memory() {
    let source = "int g[4] = { 1, 2, [3] = 9 };
        int f(void) { int l[4]; int s = 0; for (int i = 0; i < 4; i++) l[i] = g[i] * 2;
            for (int i = 0; i < 4; i++) s = s * 100 + l[i]; g[g[0]] = 5; return s + g[1]; }";
    assert_eq!(returns(source), [2_040_018 + 5]);
    let nested = "struct c { int v[2]; } t[2]; int f(void) { struct c l[2]; int i = 1, j = 0;
        t[i].v[j] = 3; l[j].v[i] = 4; l[i].v[i] = 5; return t[1].v[0] * 100 + l[0].v[1] * 10 + l[1].v[1]; }";
    assert_eq!(returns(nested), [345]);
}

#[test]
fn an_index_out_of_bounds_is_an_error() {
    assert!(fails("int g[3], k = 3; int f(void) { return g[k]; }").contains("index outside an array of 3"));
    assert!(fails("int k = 3; int f(void) { int l[3] = { 0 }; return l[k]; }").contains("OutOfBounds"));
    assert!(
        fails("struct { int a[2]; int b; } g; int k = -1; int f(void) { g.a[k] = 1; return 0; }")
            .contains("index outside")
    );
    assert!(
        fails("int g[2], h; int f(void) { int *p = g; return p[2]; }").contains("BadPointer"),
        "the gap behind the object"
    );
}

#[test]
fn pointers_to_anything() {
    let source = "#include <stddef.h>
        int x = 1, y = 2; int *p = &y; struct n { struct n *next; int v; } a = { NULL, 5 }, b = { &a, 6 };
        static void swap(int *l, int *r) { int t = *l; *l = *r; *r = t; }
        int f(void) { int l = 8; swap(&l, &x); swap(&x, p); struct n *q = &b; int **pp = &p; *pp = &l;
            return (x * 10 + y) * 1000 + q->next->v * 100 + *p * 10 + (q->next->next == NULL); }";
    assert_eq!(returns(source), [28 * 1000 + 500 + 10 + 1]);
}

#[test]
fn bad_pointers_are_errors() {
    assert!(fails("struct n { int v; }; struct n *g; int f(void) { return g->v; }").contains("NullPointer"));
    assert!(fails("int *g = (int *)12; int f(void) { return *g; }").contains("BadPointer"));
    assert!(fails("int f(void) { int *p; return *p; }").contains("Undefined"));
}

#[test]
fn undefined_values_may_be_copied_but_not_used() {
    let malloc = "#include <stdlib.h>\nstruct n { int a; int b; };";
    let copied =
        format!("{malloc} int f(void) {{ struct n *p = malloc(sizeof(struct n)); int x = p->a; p->b = x; return 1; }}");
    assert_eq!(returns(&copied), [1]);
    let used = format!("{malloc} int f(void) {{ struct n *p = malloc(sizeof *p); int x = p->a; return x + 1; }}");
    assert!(fails(&used).contains("Undefined"));
    let tested = format!("{malloc} int f(void) {{ struct n *p = malloc(sizeof *p); if (p->a) return 1; return 2; }}");
    assert!(fails(&tested).contains("Undefined"));
    assert!(fails("int f(void) { int x; return x; }").contains("Undefined"), "a result is used by the client");
    let ends = "int g; static int h(int k) { if (k) return 3; } int f(void) { return h(g) + 1; }";
    assert!(fails(ends).contains("Undefined"), "the end of a function without a return");
    let round =
        "int f(void) { int s = 0; for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; s += x; } return s; }";
    assert!(fails(round).contains("Undefined"), "a variable of an earlier round");
}

#[test]
fn marks_in_the_low_bits_of_pointers() {
    let source = "#include <stdint.h>
        struct n { struct n *next; int v; } a = { 0, 4 };
        int f(void) { uintptr_t u = (uintptr_t)&a | 1; struct n *p = (struct n *)(u & ~(uintptr_t)1);
            return (int)(u & 1) * 10 + p->v; }";
    assert_eq!(returns(source), [14]);
}

#[test]
fn several_fields_in_one_word() {
    let source = "#include <cyrano.h>
        typedef struct n { int v; } n_t; n_t a = { 3 }, b = { 4 };
        typedef cyrano_word struct { n_t *ptr; unsigned count : 8; int s : 4; } w_t;
        w_t g = { &a, 255, -3 };
        int f(void) { w_t w = g; w_t x = { &b, w.count + 1, w.s }; bool won = cas(&g, w, x); w_t y; y.ptr = g.ptr; y.count = 9; y.s = -8;
            return won * 10000 + w.ptr->v * 1000 + g.ptr->v * 100 + (int)(g.count + y.count) * 10 + w.s + y.s + (y.ptr == x.ptr)
                + (g == x) * 100000; }";
    assert_eq!(returns(source), [100_000 + 10_000 + 3000 + 400 + 90 - 3 - 8 + 1]);
    let bits = "struct f { unsigned a : 3; unsigned b : 5; } g; int f(void) { struct f l = { 9, 17 }; g = l; return (int)(g.a * 100 + g.b); }";
    assert_eq!(returns(bits), [117], "a struct of bit-fields is one word");
}

#[test]
fn narrow_bit_fields_are_promoted_to_int() {
    let bits = |then: &str| {
        format!(
            "struct f {{ unsigned a : 5; unsigned long b : 20; }}; int f(void) {{ struct f l = {{ 17, 3 }}; {then} }}"
        )
    };
    assert_eq!(returns(&bits("return l.a < -1;")), [0]);
    assert_eq!(returns(&bits("return (l.a - 18) / 2 + (int)(l.b - 4 < 0) * 10;")), [10]);
    assert_eq!(returns(&bits("l.a /= -16; return (int)l.a;")), [31]);
}

#[test]
fn a_word_is_one_access() {
    let source = "#include <cyrano.h>
        typedef cyrano_word struct { unsigned a : 4; unsigned b : 4; } w_t; w_t g;
        void put(unsigned v) { g = (w_t){ v, v }; }  unsigned get(void) { w_t w = g; return w.a * 16 + w.b; }";
    let tests = "p = put(in {1, 2})\ng = get()\ntest T = ( p | g )\n";
    let found = outcomes(source, tests, "relaxed");
    let expected = [[1, 0], [1, 17], [2, 0], [2, 34]].map(|o| o.to_vec());
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn globals_start_as_zero_or_as_initialised() {
    let source = "enum { A, B = 5, C } e = C; int z; _Bool t = 7; int m[2][2] = { { 1, 2 }, { 3 } }; static int *p = &m[1][0];
        int f(void) { static int calls = 40; calls++; return (int)e * 10000 + z + t * 1000 + m[0][1] * 100 + *p * 10 + m[1][1] + calls; }";
    assert_eq!(returns(source), [60_000 + 1000 + 200 + 30 + 41]);
}

/// The words of memory that hold addresses though their type is an integer.
#[track_caller]
fn check_addresses(functions: &str, expected: &[&str]) {
    let source = format!(
        "#include <stdint.h>\n#include <stdlib.h>\n#include <cyrano.h>\n\
         typedef struct node {{ uintptr_t next; uintptr_t count; }} node_t;\nnode_t n; uintptr_t top; uintptr_t total;\n{functions}"
    );
    let unit = crate::parse(&source, "f.c", &|_| None).expect("the file is right");
    let (memory, _) = crate::memory::Memory::new(&unit.checked, &unit.sources);
    let found = memory.words.iter().filter(|word| word.ty == cyrano_ir::Ty::Pointer).map(|word| word.name.as_str());
    assert_eq!(found.collect::<Vec<_>>(), expected, "{functions}");
}

#[test]
fn integers_that_hold_addresses_are_known() {
    // Converted to, from, marked and unmarked, by way of a function and of a cas.
    check_addresses("void f(void) { n.next = (uintptr_t)&n; n.count = n.count + 1; }", &["n.next"]);
    check_addresses("node_t *f(void) { return (node_t *)(top & ~(uintptr_t)1); }", &["top"]);
    check_addresses(
        "static uintptr_t m(uintptr_t v) { return v | 1; } void f(void) { top = m((uintptr_t)&n); }",
        &["top"],
    );
    check_addresses("bool f(void) { return cas(&n.next, 0, (uintptr_t)&n | 1); }", &["n.next"]);
    check_addresses("void f(void) { top = (uintptr_t)&n; n.next = top; total = 8; }", &["n.next", "top"]);
}

#[test]
fn other_integers_are_numbers() {
    check_addresses("void f(void) { n.count = 8; total = n.count; top++; n.next = 16; }", &[]);
    // What is a number at times is never shown as an address.
    check_addresses("void f(void) { top = (uintptr_t)&n; top = 16; }", &[]);
    check_addresses("void f(void) { top = (uintptr_t)&n; total = top; total = total + 8; }", &[]);
    check_addresses("void f(void) { top = (uintptr_t)&n; fetch_add(&top, 8); }", &[]);
    check_addresses("void f(void) { uintptr_t *p = &top; top = (uintptr_t)&n; *p = 16; }", &[]);
    check_addresses("void f(void) { total = (uintptr_t)&n >> 3; }", &[]);
    // A test may pass any number.
    check_addresses("void f(uintptr_t v) { if (v == 0) v = (uintptr_t)&n; top = v; }", &[]);
}

#[test]
fn an_index_that_is_constant_in_the_end_is_checked_too() {
    let message = "index outside an array of 3 elements";
    assert_eq!(fails("int a[3], b[3]; int f(void) { return a[(0, 5)]; }"), message);
    assert_eq!(fails("int a[3], g, b[3]; int f(void) { return a[g = -1]; }"), message);
    assert_eq!(fails("int g; int f(void) { int a[3] = { 1 }, b[3] = { 2 }; return a[g = 3] + b[0]; }"), message);
}

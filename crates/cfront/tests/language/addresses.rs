//! Integers that hold addresses.

/// The words of memory that hold addresses though their type is an integer.
#[track_caller]
fn check_addresses(functions: &str, expected: &[&str]) {
    let source = format!(
        "#include <stdint.h>\n#include <stdlib.h>\n#include <cyrano.h>\n\
         typedef struct node {{ uintptr_t next; uintptr_t count; }} node_t;\nnode_t n; uintptr_t top; uintptr_t total;\n{functions}"
    );
    let unit = cyrano_cfront::parse(&source, "f.c", &|_| None).expect("the file is right");
    assert_eq!(unit.pointers(), expected, "{functions}");
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

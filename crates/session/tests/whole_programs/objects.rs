//! Objects as a whole and as parts: initialisers, strings, literals, copies, flexible arrays, and the way from a member to what is around it.

use cyrano_engine::Verdict::{Verified, Violated};

use super::check;

/// A program of these lines; each must hold, and is wrong if what it says at its end is not.
fn holds(before: &str, lines: &[&str]) {
    let program = |lines: &[String]| {
        format!("#include <stddef.h>\n#include <string.h>\n{before} int main(void) {{ {} return 0; }}", lines.concat())
    };
    let plain: Vec<String> = lines.iter().map(|line| format!("assert({line});")).collect();
    check(&program(&plain), [Verified; 3]);
    for at in 0..lines.len() {
        let mut spoilt = plain.clone();
        spoilt[at] = format!("assert(!({}));", lines[at]);
        check(&program(&spoilt), [Violated; 3]);
    }
}

#[test]
fn lists_initialise_parts() {
    holds(
        "struct p { int x, y; } pts[] = { 1, 2, [3] = { .y = 4 }, 5, 6 }; int grid[2][3] = { 1, 2, 3, 4 }; \
         struct { struct p a[2]; int z; } deep = { .a[1].y = 7, 8 }; int some[6] = { [1 ... 3] = 9, 1 }; \
         union { int a; unsigned b; } u = { .a = 1, .b = 2 }; struct { struct p p; int z; } whole = { .p = { 3 }, 4 };",
        &[
            "sizeof pts / sizeof pts[0] == 5 && pts[4].x == 5 && pts[4].y == 6 && pts[3].x == 0 && pts[3].y == 4",
            "grid[1][0] == 4 && grid[1][1] == 0",
            "deep.a[1].y == 7 && deep.z == 8 && deep.a[1].x == 0",
            "some[0] == 0 && some[1] == 9 && some[3] == 9 && some[4] == 1 && some[5] == 0",
            "u.b == 2",
            "whole.p.x == 3 && whole.p.y == 0 && whole.z == 4",
        ],
    );
}

#[test]
fn strings_are_arrays() {
    holds(
        "const char *names[] = { \"one\", \"two\" }; char text[] = \"hi\\n\", more[8] = \"ab\" \"c\";",
        &[
            "strlen(names[1]) == 3 && names[0][1] == 'n' && strcmp(\"two\", names[1]) == 0 && strcmp(\"two\", \"twp\") < 0",
            "sizeof text == 4 && text[2] == '\\n' && text[3] == 0",
            "more[2] == 'c' && more[7] == 0 && sizeof(\"\\x41\\101\") == 3 && \"\\x41\\101\"[1] == 'A'",
        ],
    );
}

#[test]
fn members_lead_to_what_is_around_them() {
    holds(
        "#define container_of(p, type, member) ({ const typeof(((type *)0)->member) *__m = (p); \
           (type *)((char *)__m - offsetof(type, member)); })\n\
         struct in { int a; short b[3]; long c; }; struct link { struct link *next; }; \
         struct item { int key; char tag; struct in in; struct link link; } it = { .key = 3 };",
        &[
            "container_of(&it.link, struct item, link)->key == 3",
            "(struct item *)((char *)&it.in.c - offsetof(struct item, in.c)) == &it",
            "*((short *)((char *)&it + offsetof(struct item, in.b[2])) - 2) == 0 && offsetof(struct item, in.b[2]) == 16",
            "(struct item *)((unsigned long)&it.in.b[1] - offsetof(struct item, in.b[1])) == &it",
        ],
    );
}

#[test]
fn objects_are_filled_and_copied() {
    holds(
        "struct s { int a; char c[3]; struct s *next; } one = { 1, { 2, 3, 4 }, &one }, two; int list[4]; \
         int fill(void) { memset(list, 0xff, sizeof list); return list[3]; } \
         int copy(void) { memcpy(&two, &one, sizeof two); return two.c[1] + (two.next == &one); } \
         int clear(void) { struct s s; memset(&s, 0, sizeof s); return s.a + s.c[2] + (s.next != 0); } \
         int move(void) { for (int i = 0; i < 4; i++) list[i] = i; memmove(list + 1, list, 3 * sizeof(int)); \
           return list[3] * 10 + list[1]; }",
        &["fill() == -1", "copy() == 4", "clear() == 0", "move() == 20"],
    );
}

#[test]
fn literals_are_objects() {
    holds(
        "struct p { int x, y; }; int sum(const int *list) { return list[0] + list[2]; } int *global = (int[]){ 7, 8 }; \
         int twice(struct p *p) { p->x *= 2; return p->x + p->y; }",
        &["sum((int[]){ 1, 2, 3 }) == 4", "global[1] == 8", "twice(&(struct p){ 3, .y = 1 }) == 7"],
    );
}

#[test]
fn structs_may_end_in_an_array() {
    let text = "struct list { int count; int items[]; }; \
        int main(void) { struct list *list = malloc(sizeof(struct list) + 3 * sizeof(int)); list->count = 3; \
          for (int i = 0; i < LAST; i++) list->items[i] = i; assert(list->items[2] == 2 && list->count == 3); return 0; }";
    check(&text.replace("LAST", "3"), [Verified; 3]);
    check(&text.replace("LAST", "4"), [Violated; 3]);
    check(&text.replace("LAST", "2"), [Violated; 3]);
}

#[test]
fn alignments_are_powers_of_two() {
    let text =
        "int main(void) { int *p = aligned_alloc(ALIGN, 16 * sizeof(int)); p[15] = 1; assert(p[15] == 1); return 0; }";
    check(&text.replace("ALIGN", "64"), [Verified; 3]);
    check(&text.replace("ALIGN", "48"), [Violated; 3]);
    check(&text.replace("ALIGN", "128"), [Violated; 3]);
}

#[test]
fn functions_that_are_not_called_may_have_anything() {
    let text = "double half(double x) { return x / 2; } static float two(void) { return 2.0f; } \
        int main(void) { assert(1 < 2); return 0; }";
    check(text, [Verified; 3]);
}

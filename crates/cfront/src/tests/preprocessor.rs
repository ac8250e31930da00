//! Directives, macros, includes, and where their tokens come from.

use super::{errors, returns};

#[test]
fn macros_expand_once() {
    let source = "#define ONE 1\n#define ADD(a, b) ((a) + (b))\n#define x x + ONE\n#define EMPTY()\nint f(void) { int y = 3; EMPTY();\n#undef ONE\n#define ONE 2\n
        return ADD(ADD(y, ONE), \\\n 40); }";
    assert_eq!(returns(source), [45]);
}

#[test]
fn conditions_choose_lines() {
    let source = "#define A 3\n#if defined(A) && A * 2 == 6\n#define R 1\n#elif 1\n#define R 2\n#else\n#error no\n#endif
#ifdef B\n#if nonsense (\n#endif\nint g = broken\n#endif\n#ifndef B\nint f(void) { return R + __CYRANO__ * 10; }\n#endif\n";
    assert_eq!(returns(source), [11]);
}

#[test]
fn files_beside_the_source_are_included() {
    let source = "#include \"h.h\"\nint f(void) { return twice(4); }\n";
    let header = |name: &str| {
        (name == "h.h").then(|| "#pragma once\n#include \"h.h\"\nstatic int twice(int x) { return x * 2; }".into())
    };
    assert!(crate::parse(source, "t", &header).is_ok());
    let broken = |name: &str| (name == "h.h").then(|| "\n\nint twice(int x) { return y; }".into());
    let found = crate::parse(source, "t", &broken).expect_err("y is unknown");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "h.h:3: there is no variable `y`");
    assert_eq!(&source[found[0].span.range()], "#include \"h.h\"");
}

#[test]
fn what_it_cannot_do_is_said() {
    let check = |source: &str, expected: &str| {
        let found = errors(source);
        assert!(found.contains(expected), "{found}");
    };
    check("#include <stdio.h>\n", "1: there is no header `stdio.h`");
    check("#pragma omp parallel\n", "the directive `#pragma` is not supported");
    check("#defien X\n", "did you mean `define`?");
    check("#define F(a, ...) a\n", "variable arguments");
    check("#define F(a) #a\n", "`#` in a macro is not supported");
    check("#if 1 +\n#endif\n", "this condition cannot be evaluated: it ends too early");
    check("#if 1 / 0\n#endif\n", "division by zero");
    check("#endif\n", "this `#endif` has no `#if`");
    check("#if 1\n", "this `#if` has no `#endif`");
    check("#error too old\n", "#error too old");
    check("#define F(a) a\nint x = F(1, 2);\n", "macro `F` takes 1 arguments, not 2");
    check("int x = 'a;\n", "this has no closing '");
    check("/* \n", "this comment has no end");
    check("int x = 1 @ 2;\n", "unexpected character `@`");
}

#[test]
fn places_survive_macros() {
    let source = "#define GET(p) ((p)->valu)\nstruct s { int value; } g;\nint f(void) { return GET(&g); }\n";
    let found = errors(source);
    assert!(found.starts_with("3: `s` has no field `valu` | GET"), "{found}");
}

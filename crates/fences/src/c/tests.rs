//! Gaps in C, and what the text looks like with fences in them.

use cyrano_ir::Span;

use super::*;

/// Puts a fence into each of the gaps whose numbers are given and shows the text; `§` in what is expected is the fence.
#[track_caller]
fn check(text: &str, chosen: &[usize], expected: &str) {
    let gaps = gaps::gaps(text);
    let fence = |number: &usize| Fence { position: gaps[*number].position.clone(), kind: FenceSet::SS };
    let fences: Vec<Fence> = chosen.iter().map(fence).collect();
    let patched = insert(text, &fences);
    assert_eq!(patched.text, expected.replace('§', "fence(\"store-store\");"));
    spans_are_kept(text, &patched, &fences);
}

/// Every word of the original is found again, and every fence is at its position.
#[track_caller]
fn spans_are_kept(text: &str, patched: &Patched, fences: &[Fence]) {
    let mut inserted: Vec<usize> = Vec::new();
    let mut words = Vec::new();
    for token in token::tokens(&patched.text) {
        let back = patched.original(Span::new(token.start, token.end));
        match &patched.text[token.start..token.end] {
            "fence" => inserted.push(back.start as usize),
            _ if back.start == back.end => {}
            word => words.push((word.to_owned(), back)),
        }
    }
    inserted.sort_unstable();
    assert_eq!(inserted, fences.iter().map(|fence| fence.position.at).collect::<Vec<_>>());
    let original = token::tokens(text).into_iter();
    let original: Vec<_> =
        original.map(|token| (text[token.start..token.end].to_owned(), Span::new(token.start, token.end))).collect();
    assert_eq!(words, original);
}

/// The lines of all gaps, each with the function it is in.
#[track_caller]
fn lines(text: &str, expected: &[(usize, &str)]) {
    let gaps = gaps::gaps(text);
    let found: Vec<_> = gaps.iter().map(|gap| &gap.position).collect();
    let found: Vec<_> = found.iter().map(|at| (at.line, at.program.as_deref().unwrap_or("none"))).collect();
    assert_eq!(found, expected);
    let mut offsets: Vec<usize> = gaps.iter().map(|gap| gap.position.at).collect();
    offsets.dedup();
    assert_eq!(offsets.len(), gaps.len(), "two gaps have one offset");
}

#[test]
fn behind_statements_and_at_the_start_of_blocks() {
    let text = "void f(int *p)\n{\n    *p = 1; // why\n    int x = 2;\n}\n";
    lines(text, &[(2, "f"), (3, "f"), (4, "f")]);
    check(text, &[0], "void f(int *p)\n{\n    §\n    *p = 1; // why\n    int x = 2;\n}\n");
    check(text, &[1], "void f(int *p)\n{\n    *p = 1; // why\n    §\n    int x = 2;\n}\n");
    check(text, &[2], "void f(int *p)\n{\n    *p = 1; // why\n    int x = 2;\n    §\n}\n");
    check("void f() { a(); b(); }", &[0, 1], "void f() { § a(); § b(); }");
    check("void f()\r\n{\r\n  a();\r\n}\r\n", &[1], "void f()\r\n{\r\n  a();\r\n  §\r\n}\r\n");
    check("void f() {\n}\n", &[0], "void f() {\n    §\n}\n");
    check("void f() { a(); /* b */ }", &[1], "void f() { a(); § /* b */ }");
}

#[test]
fn only_function_bodies_have_gaps() {
    lines("struct s { int a; int b; };\nint t[] = { 1, 2 };\nenum e { A, B };\nint x;\n", &[]);
    lines("typedef struct { int a; } s;\nint g(s *x);\nint g(s *x) { return (x->a); }\n", &[(3, "g")]);
    lines("#define F { a; b; }\n#define G(x) do { x; } \\\n  while (0);\nint x;", &[]);
    lines("void f() { int t[] = { 1, 2 }; g((s){ 1 }); }", &[(1, "f"); 3]);
}

#[test]
fn atomic_blocks_have_none_inside() {
    lines("void f() {\n  atomic {\n    a(); if (b) c();\n  }\n  d();\n}", &[(1, "f"), (4, "f"), (5, "f")]);
}

#[test]
fn a_branch_without_braces_gets_them() {
    let text = "void f() {\n    if (a)\n        b();\n    c();\n}\n";
    // Behind `{`, at the start and the end of the branch, behind the `if`, behind the last statement.
    lines(text, &[(1, "f"), (2, "f"), (3, "f"), (3, "f"), (4, "f")]);
    check(text, &[1], "void f() {\n    if (a) {\n        §\n        b();\n    }\n    c();\n}\n");
    check(text, &[2], "void f() {\n    if (a) {\n        b();\n        §\n    }\n    c();\n}\n");
    check(text, &[1, 2], "void f() {\n    if (a) {\n        §\n        b();\n        §\n    }\n    c();\n}\n");
    check(text, &[3], "void f() {\n    if (a)\n        b();\n    §\n    c();\n}\n");
    check(text, &[2, 3], "void f() {\n    if (a) {\n        b();\n        §\n    }\n    §\n    c();\n}\n");
}

#[test]
fn a_branch_in_one_line() {
    let text = "void f() { if (a) b(); c(); }";
    check(text, &[1, 2], "void f() { if (a) { § b(); § } c(); }");
    check(text, &[3], "void f() { if (a) b(); § c(); }");
    let text = "void f() {\n  if (a) b(); // why\n}";
    check(text, &[1], "void f() {\n  if (a) { § b(); // why\n  }\n}");
    // The indentation says that it is behind the `if`.
    check("void f() {\n  if (a)\n    b();\n}", &[3], "void f() {\n  if (a)\n    b();\n  §\n}");
}

#[test]
fn a_jump_has_no_gap_behind_it() {
    let text = "int f() {\n  if (a)\n    return 1;\n  return 0;\n}";
    lines(text, &[(1, "f"), (2, "f"), (3, "f")]);
    check(text, &[1], "int f() {\n  if (a) {\n    §\n    return 1;\n  }\n  return 0;\n}");
    check(text, &[2], "int f() {\n  if (a)\n    return 1;\n  §\n  return 0;\n}");
}

#[test]
fn both_branches() {
    let text = "void f() {\n  if (a)\n    b();\n  else // so\n    c();\n  d();\n}";
    lines(text, &[(1, "f"), (2, "f"), (3, "f"), (4, "f"), (5, "f"), (5, "f"), (6, "f")]);
    check(
        text,
        &[2, 3],
        "void f() {\n  if (a) {\n    b();\n    §\n  }\n  else { // so\n    §\n    c();\n  }\n  d();\n}",
    );
    let chain = "void f() { if (a) b(); else if (c) { d(); } else e(); }";
    // Behind the first `else`, before the second test.
    check(chain, &[3], "void f() { if (a) b(); else { § if (c) { d(); } else e(); } }");
}

#[test]
fn an_else_belongs_to_the_nearest_if() {
    let text = "void f() { if (a) if (b) c(); else d(); e(); }";
    // The start of the outer branch, then its end, which is the end of the inner `if` with its `else`.
    check(text, &[1], "void f() { if (a) { § if (b) c(); else d(); } e(); }");
    check(text, &[2], "void f() { if (a) { if (b) c(); else d(); § } e(); }");
}

#[test]
fn nested_bodies_end_in_order() {
    let text = "void f() {\n  if (a)\n    while (b)\n      c(); // why\n  d();\n}";
    let gaps = gaps::gaps(text);
    let ends: Vec<usize> = (0..gaps.len()).filter(|number| gaps[*number].position.line == 4).collect();
    assert_eq!(ends.len(), 3);
    let expected =
        "void f() {\n  if (a) {\n    while (b) {\n      c(); // why\n      §\n    }\n    §\n  }\n  §\n  d();\n}";
    check(text, &ends, expected);
}

#[test]
fn loops() {
    let text = "void f() {\n  do {\n    a();\n  } while (b);\n  for (i = 0; i < 2; i++)\n    c();\n  while (d);\n}";
    lines(text, &[(1, "f"), (2, "f"), (3, "f"), (4, "f"), (5, "f"), (6, "f"), (6, "f"), (7, "f"), (7, "f")]);
    check("void f() { while (a); }", &[1], "void f() { while (a) { §; } }");
    check("void f() { do a(); while (b); }", &[1, 2], "void f() { do { § a(); § } while (b); }");
    check("void f() { for (;;) { a(); } }", &[1], "void f() { for (;;) { § a(); } }");
}

#[test]
fn labels_and_cases() {
    let text = "void f() {\nagain:\n  a();\n  switch (b) {\n  case 1: c(); break;\n  default:\n    d();\n  }\n}";
    let expected = [(1, "f"), (2, "f"), (3, "f"), (4, "f"), (5, "f"), (5, "f"), (6, "f"), (7, "f"), (8, "f")];
    lines(text, &expected);
    check("void f() {\nx:\n  a();\n}", &[1], "void f() {\nx:\n  §\n  a();\n}");
    check("void f() { x = a ? b : c; }", &[1], "void f() { x = a ? b : c; § }");
}

#[test]
fn kinds_at_one_position_are_one_statement() {
    let text = "void f() { a(); }";
    let at = gaps::gaps(text)[1].position.clone();
    let fences = [FenceSet::LS, FenceSet::LL].map(|kind| Fence { position: at.clone(), kind });
    assert_eq!(insert(text, &fences).text, "void f() { a(); fence(\"load-load load-store\"); }");
}

#[test]
fn what_is_not_accepted_is_left_out() {
    let text = "void f() { a(); b(); c(); d(); }";
    let accepted = |patched: &Patched| !patched.text.contains("b(); fence") && !patched.text.contains("{ fence");
    let found = positions(text, &accepted);
    let before: Vec<&str> = found.iter().map(|position| &text[position.at - 4..position.at]).collect();
    assert_eq!(before, ["a();", "c();", "d();"]);
}

/// Text that is no C gives gaps of some kind, and ends.
#[test]
fn nonsense_is_survived() {
    for text in [
        "",
        "}",
        "f() {",
        "f() { if",
        "f() { if (",
        "f() { else x",
        "f() { do",
        "f() {{{",
        "f() { case",
        ") {",
        "f( { ; }",
        "f() { a",
        "f() { if (a) }",
        "f() { while (b) } }",
        "f() { x: }",
    ] {
        let all: Vec<Fence> =
            positions(text, &|_| true).into_iter().map(|position| Fence { position, kind: FenceSet::LL }).collect();
        assert!(insert(text, &all).text.len() >= text.len());
    }
    let deep = format!("void f() {{ {} }}", "if (a) ".repeat(2_000));
    assert!(positions(&deep, &|_| true).len() < 2_000);
}

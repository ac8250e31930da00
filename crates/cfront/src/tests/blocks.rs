//! Atomic blocks with commit points.

use expect_test::expect;

use super::{file, program, render, unit};

const ONE: &str = "f = f()\ntest T = ( f | f )\n";

/// The code of the first thread, one instruction per line.
fn check(source: &str, expect: expect_test::Expect) {
    let text = cyrano_ir::text::print(&program(source, ONE));
    let code = text.lines().skip_while(|line| !line.starts_with("thread")).skip(1);
    let code = code.take_while(|line| !line.starts_with("thread")).filter(|line| line.starts_with("  @"));
    let lines: Vec<&str> = code.map(|line| line.split(" ; ").next().unwrap_or(line).trim()).collect();
    expect.assert_eq(&lines.join("\n"));
}

fn check_errors(source: &str, expect: expect_test::Expect) {
    let unit = unit(source);
    let file = file(&unit, ONE);
    let errors = unit.program(file.test("T").expect("the test is called T")).expect_err("the blocks are wrong");
    expect.assert_eq(&render(source, &errors));
}

#[test]
fn a_block() {
    check(
        "#include <cyrano.h>\nint m, data; int f(void) { int old; atomic_begin(); while (!cas(&m, 0, 1)) ; commit_point();
           old = data; data = old + 1; m = 0; atomic_end(); return old; }",
        expect![[r#"
              @0: operation begin f
              @1: block begin f
              @2: %1 := cas m, 0, 1
              @3: branch (defined(%1) == 0) then @4 else @2
              @4: block commit
              @5: f.old := load data
              @6: store data, fit_i32((defined(f.old) + 1))
              @7: store m, 0
              @8: block end
              @9: thread1.f1.result := f.old
              @10: operation end
              @11: halt"#]],
    );
}

#[test]
fn commits_in_functions_and_several_ends() {
    let source = "#include <cyrano.h>\nint m, data;
        static bool try(void) { if (cas(&m, 0, 1)) { commit_point(); return true; } commit_point(); return false; }
        int f(void) { atomic_begin(); if (!try()) { atomic_end(); return 0; } data = 1; m = 0; atomic_end(); return 1; }";
    assert!(program(source, ONE).has_blocks());
}

#[test]
fn what_is_wrong() {
    let wrong = |body: &str| format!("#include <cyrano.h>\nint x;\nint f(void) {{\n{body}\n}}");
    check_errors(
        &wrong("atomic_begin();\nif (x == 0) {\ncommit_point(); }\natomic_end();\nreturn 0;"),
        expect![[r#"
        7: a path through this atomic block has no commit point | atomic_end(); | ends here without one
          4: atomic_begin(); | the block
          5: x == 0 | the path goes past the commit point here
          help: write `commit_point()` on this path too, behind the access that decides it; or try again in a loop until it commits
    "#]],
    );
    check_errors(
        &wrong("atomic_begin();\nx = 1; commit_point();\nwhile (x) {\ncommit_point(); }\natomic_end(); return 0;"),
        expect![[r#"
            7: an atomic block commits twice on one path | commit_point(); | the second commit point
              4: atomic_begin(); | the block
              5: commit_point(); | the first one
              help: every path through a block has exactly one commit point: where the block takes effect
        "#]],
    );
    check_errors(
        &wrong("atomic_begin();\ncommit_point(); x = 1;\natomic_end(); return 0;"),
        expect![[r#"
        5: a commit point without an access before it in its block | commit_point(); | nothing commits here
          4: atomic_begin(); | the block
          help: a block commits together with the access before `commit_point()`; put it behind one that every path has
    "#]],
    );
    check_errors(
        &wrong("atomic_begin(); x = 1;\nint r = choose(0, 1);\ncommit_point(); atomic_end(); return r;"),
        expect![[r#"
            6: a choice between a commit point and the access before it | commit_point(); | commits here
              4: atomic_begin(); | the block
              help: choose before the access with which the block commits, or behind the commit point
        "#]],
    );
    check_errors(
        &wrong("atomic_begin(); x = 1; commit_point();\nif (x == 2) {\nreturn 1; }\natomic_end(); return 0;"),
        expect![[r#"
            4: this atomic block does not end on every path | atomic_begin(); | begins here
              6: return 1; | the last thing on a path that leaves it open
              help: write `atomic_end()` at the end of every path, also before `return`
        "#]],
    );
    check_errors(
        &wrong("atomic_begin(); x = 1;\natomic_begin(); commit_point(); atomic_end(); atomic_end(); return 0;"),
        expect![[r#"
            5: atomic blocks do not nest | atomic_begin(); | the inner block
              4: atomic_begin(); | the block
              help: the outer block makes everything in it atomic; drop the inner one
        "#]],
    );
    check_errors(
        &wrong("x = 1;\ncommit_point();\nreturn 0;"),
        expect![[r#"
        5: `commit_point()` outside of an atomic block | commit_point(); | no block around it
          help: it belongs in a block: `atomic_begin(); … commit_point(); … atomic_end();`
    "#]],
    );
    check_errors(
        &wrong("atomic_begin();\natomic { x = 1;\ncommit_point(); }\natomic_end(); return 0;"),
        expect![[r#"
        6: a mark of an atomic block within `atomic { … }` | commit_point(); | within a section
          help: the accesses of a section happen at one point anyway; put the mark before or behind it
    "#]],
    );
}

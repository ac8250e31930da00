//! Diagnostics about the events of transactions: where they may stand, what they end, and what a rollback undoes.

use expect_test::expect;

use super::stm_errors::check_stm;

#[test]
fn events_in_the_wrong_command() {
    check_stm(
        "proc finish { rfin } proc done { commit } proc both { if l == 0 { finish } done }
         read(v) { if l == 0 { commit } if l == 1 { done } finish }
         write(v) { if l == 0 { rfin } if l == 1 { both } if l == 2 { commit } }
         end { if l == 0 { rfin } else if l == 1 { finish } done }",
        expect![[r#"
            error: `commit` outside of `end`
              3 |          read(v) { if l == 0 { commit } if l == 1 { done } finish }
                |                                ^^^^^^ stands in `read`
              help: `read` ends with `rfin` or `abort`
            error: `done` contains `commit` and cannot be called in `read`
              3 |          read(v) { if l == 0 { commit } if l == 1 { done } finish }
                |                                                     ^^^^ called here
              2 | proc finish { rfin } proc done { commit } proc both { if l == 0 { finish } done }
                |                                  ^^^^^^ the `commit`
            error: `rfin` outside of `read`
              4 |          write(v) { if l == 0 { rfin } if l == 1 { both } if l == 2 { commit } }
                |                                 ^^^^ stands in `write`
              help: `write` ends at its last statement or with `abort`
            error: `both` contains `rfin` and cannot be called in `write`
              4 |          write(v) { if l == 0 { rfin } if l == 1 { both } if l == 2 { commit } }
                |                                                    ^^^^ called here
              2 | proc finish { rfin } proc done { commit } proc both { if l == 0 { finish } done }
                |               ^^^^ the `rfin`
            error: `both` contains `commit` and cannot be called in `write`
              4 |          write(v) { if l == 0 { rfin } if l == 1 { both } if l == 2 { commit } }
                |                                                    ^^^^ called here
              2 | proc finish { rfin } proc done { commit } proc both { if l == 0 { finish } done }
                |                                  ^^^^^^ the `commit`
            error: `commit` outside of `end`
              4 |          write(v) { if l == 0 { rfin } if l == 1 { both } if l == 2 { commit } }
                |                                                                       ^^^^^^ stands in `write`
              help: `write` ends at its last statement or with `abort`
            error: `rfin` outside of `read`
              5 |          end { if l == 0 { rfin } else if l == 1 { finish } done }
                |                            ^^^^ stands in `end`
              help: `end` ends with `commit` or `abort`
            error: `finish` contains `rfin` and cannot be called in `end`
              5 |          end { if l == 0 { rfin } else if l == 1 { finish } done }
                |                                                    ^^^^^^ called here
              2 | proc finish { rfin } proc done { commit } proc both { if l == 0 { finish } done }
                |               ^^^^ the `rfin`
        "#]],
    );
}

#[test]
fn paths_without_an_event() {
    check_stm(
        "read(v) { l := g[v]; if l == 0 { rfin } else if l == 1 { abort } else if l == 2 { return } }
         write(v) { if l == 0 { return } g[v] := 1; }
         end { while l == 0 { l := x; if l == 3 { commit } } }",
        expect![[r#"
            error: a path through `read` ends without `rfin` or `abort`
              2 | read(v) { l := g[v]; if l == 0 { rfin } else if l == 1 { abort } else if l == 2 { return } }
                |                                                                                   ^^^^^^ the path ends here
              2 | read(v) { l := g[v]; if l == 0 { rfin } else if l == 1 { abort } else if l == 2 { return } }
                | ^^^^ the command
              help: end every path through `read` with `rfin` or `abort`
            error: a path through `read` ends without `rfin` or `abort`
              2 | read(v) { l := g[v]; if l == 0 { rfin } else if l == 1 { abort } else if l == 2 { return } }
                |                                                                                            ^ the path ends here
              2 | read(v) { l := g[v]; if l == 0 { rfin } else if l == 1 { abort } else if l == 2 { return } }
                | ^^^^ the command
              help: end every path through `read` with `rfin` or `abort`
            error: a path through `end` ends without `commit` or `abort`
              4 |          end { while l == 0 { l := x; if l == 3 { commit } } }
                |                                                              ^ the path ends here
              4 |          end { while l == 0 { l := x; if l == 3 { commit } } }
                |          ^^^ the command
              help: end every path through `end` with `commit` or `abort`
        "#]],
    );
}

#[test]
fn only_real_paths_count() {
    let source = "stm s { data g[vars]; local l; proc out { if l == 0 { abort } else { abort } }
        read(v) { if v == 0 { rfin } if v == 1 { abort } } write(v) { } end { loop { if l == 1 { commit } l := 1; } } }";
    super::program(source, &[]);
    let three = [("vars".to_owned(), 3)];
    let Err(crate::CompileError::Diagnostics(errors)) = crate::compile(source, "test", &three) else {
        panic!("the third variable has no path");
    };
    assert_eq!(errors[0].message, "a path through `read` ends without `rfin` or `abort`");
}

#[test]
fn never_commits() {
    check_stm(
        "read(v) { rfin } write(v) { } end { x := 0; } proc unused { commit }",
        expect![[r#"
        error: this stm never commits
          2 | read(v) { rfin } write(v) { } end { x := 0; } proc unused { commit }
            |                               ^^^ no `commit` in here
          help: end a successful transaction with `commit`
    "#]],
    );
    check_stm(
        "read(v) { rfin } write(v) { } end { abort }",
        expect![[r#"
        error: this stm never commits
          2 | read(v) { rfin } write(v) { } end { abort }
            |                               ^^^ no `commit` in here
          help: end a successful transaction with `commit`
    "#]],
    );
}

#[test]
fn unreachable_statements() {
    check_stm(
        "proc stop { x := 0; abort } proc maybe { if l == 1 { return } abort } proc either { if l == 0 { stop } else { abort } x := 1; }
         read(v) { rfin; l := 1; }
         write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
         end { choose { commit } or { stop } l := 1; l := 2; }",
        expect![[r#"
            error: this statement is never reached
              2 | proc stop { x := 0; abort } proc maybe { if l == 1 { return } abort } proc either { if l == 0 { stop } else { abort } x := 1; }
                |                                                                                                                       ^^^^^^ unreachable
              2 | proc stop { x := 0; abort } proc maybe { if l == 1 { return } abort } proc either { if l == 0 { stop } else { abort } x := 1; }
                |                                                                                                 ^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
            error: this statement is never reached
              3 |          read(v) { rfin; l := 1; }
                |                          ^^^^^^ unreachable
              3 |          read(v) { rfin; l := 1; }
                |                    ^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
            error: this statement is never reached
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                       ^^^^^^ unreachable
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                 ^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
            error: this statement is never reached
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                                                                                  ^^^^^^ unreachable
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                                                                          ^^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
            error: this statement is never reached
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                                                                                                    ^^^^^^ unreachable
              4 |          write(v) { if l == 0 { stop; l := 1; } maybe; loop { if l == 0 { break } else { abort } l := 1; } either; return; l := 2; }
                |                                                                                                            ^^^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
            error: this statement is never reached
              5 |          end { choose { commit } or { stop } l := 1; l := 2; }
                |                                              ^^^^^^ unreachable
              5 |          end { choose { commit } or { stop } l := 1; l := 2; }
                |                         ^^^^^^ the command ends here
              help: `rfin`, `commit` and `abort` end the command; remove what follows, or move it before them
        "#]],
    );
}

#[test]
fn rollbacks() {
    check_stm(
        "read(v) { rfin } write(v) { rollback g[v] := 0; } end { commit }",
        expect![[r#"
        error: a rollback of something that was never stored
          2 | read(v) { rfin } write(v) { rollback g[v] := 0; } end { commit }
            |                             ^^^^^^^^^^^^^^^^^^ undoes a store
          help: nothing in this stm stores to `data`, so there is nothing to undo
    "#]],
    );
    check_stm(
        "read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }",
        expect![[r#"
            error: `x` is not a transactional variable
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                 ^ not declared as `data`
              help: only `data` is rolled back; write `x := …`
            error: `l` is not a transactional variable
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                                  ^ not declared as `data`
              help: only `data` is rolled back; write `l := …`
            error: unknown name `y`
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                                                   ^ not declared
            error: `g` is an array
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                                                                    ^ used here
              1 | stm s { data g[vars]; shared x; local l;
                |              ^ declared here
              help: choose one of its 2 elements: `g[0]`
            error: an array index cannot read the shared variable `x`
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                                                                                       ^ shared
              help: load it into a local first: `r := x`
            error: expected `:=`, found `0`
              2 | read(v) { rfin } write(v) { g[v] := 1; rollback x := 0; rollback l := 0; rollback y := 1; rollback g := 1; rollback g[x] := 0; rollback g[v] 0; } end { commit }
                |                                                                                                                                              ^ expected `:=`
        "#]],
    );
}

#[test]
fn events_and_atomic_sections() {
    check_stm(
        "proc stop { abort } read(v) { atomic { l := g[v]; if l == 0 { abort } if l == 1 { stop } } rfin } write(v) { } end { commit }",
        expect![[r#"
            error: `abort` cannot leave an atomic section
              2 | proc stop { abort } read(v) { atomic { l := g[v]; if l == 0 { abort } if l == 1 { stop } } rfin } write(v) { } end { commit }
                |                                                               ^^^^^ leaves the section
              2 | proc stop { abort } read(v) { atomic { l := g[v]; if l == 0 { abort } if l == 1 { stop } } rfin } write(v) { } end { commit }
                |                               ^^^^^^ the section
              help: remember the decision in a local and act on it behind the section
            error: `stop` contains `abort` and cannot be called in an atomic section
              2 | proc stop { abort } read(v) { atomic { l := g[v]; if l == 0 { abort } if l == 1 { stop } } rfin } write(v) { } end { commit }
                |                                                                                   ^^^^ called here
              2 | proc stop { abort } read(v) { atomic { l := g[v]; if l == 0 { abort } if l == 1 { stop } } rfin } write(v) { } end { commit }
                |             ^^^^^ the `abort`
        "#]],
    );
}

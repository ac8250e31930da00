//! `threads`: what is observed, what constants can be set, and what changes nothing.

use cyrano_rml::{CompileError, compile};

use super::program;

#[test]
fn observed_by_default_are_the_locals_that_threads_mention() {
    let source = "threads { shared x; local r, unused; index i; proc q(a) { local t; t := a }
        thread p0 { local s[2]; r := x; q(r); i := 1; s[0] := 1 } thread p1 { r := x } }";
    let names: Vec<_> = program(source, &[]).observed.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["p0.r", "s[0]", "s[1]", "p1.r"]);
    let names = program("threads { shared x, a[2]; thread p { x := 1 } }", &[]).observed;
    let names: Vec<_> = names.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["x", "a[0]", "a[1]"]);
}

#[test]
fn set_overrides_constants() {
    let source = "const N = 1 / 0; const M = N * 2; threads { shared x[M]; thread p[N] { x[0] := M } }";
    let program = program(source, &[("N", 9), ("N", 3)]);
    assert_eq!(program.constants, [("N".to_owned(), 3), ("M".to_owned(), 6)]);
    assert_eq!((program.threads.len(), program.locations.len()), (3, 6));
}

#[test]
fn labels_change_nothing() {
    let without = "threads { shared x; proc p { x := 1 } thread t { local r; if r { p } while r { r := 2; skip } } }";
    let with = "threads { shared x; proc p { P1: x := 1 } thread t { local r; A: if r { B: p } C: while r { D: r := 2; E: skip } } }";
    let code = |source: &str| {
        let threads = program(source, &[]).threads;
        threads.into_iter().flat_map(|thread| thread.code).map(|instr| format!("{:?}", instr.op)).collect::<Vec<_>>()
    };
    assert_eq!(code(with), code(without));
    program("stm { data g[vars]; read(v) { R: rfin } write(v) { W: g[v] := 1 } end { E: commit } }", &[]);
    program("threads { const a = 1, b = a + 1; shared x; thread t { x := b } }", &[]);
}

#[test]
fn commits_in_procedures() {
    let source = "threads { shared x; local r;
        proc inner { loop { r := cas(x, 0, 1); if r == 0 { commit; return; } if r == 2 { commit; break; } } }
        proc outer { x := 2; inner; }
        thread p[2] { atomic name returns r { outer; x := 0; } atomic { outer; } } }
      check commit_atomicity;";
    assert!(program(source, &[]).has_blocks());
}

#[test]
fn unknown_constants() {
    let set = [("M".to_owned(), 1), ("N".to_owned(), 1)];
    let error = compile("const N = 1; threads { thread p { skip } }", "test", &set);
    let (names, known) = (vec!["M".to_owned()], vec!["N".to_owned()]);
    assert_eq!(error, Err(CompileError::UnknownConstants { names, known }));
}

//! Tests of `cyrano_ir::blocks::serial`.

use cyrano_ir::Program;
use cyrano_ir::blocks::serial::*;
use cyrano_ir::text;

fn check(program: &Program, expected: &[&str]) {
    assert_eq!(cyrano_ir::verify(program), Ok(()));
    let printed = text::print(program);
    let code = printed.lines().filter(|line| line.starts_with("  @") || line.starts_with("observe"));
    let code: Vec<&str> = code.map(|line| line.split(" ; ").next().unwrap_or(line).trim()).collect();
    assert_eq!(code, expected);
}

#[test]
fn results_are_kept_and_blocks_become_operations() {
    let source = "program p\nlocation x = 0\nthread w\n  register r = 0\n  @0: block begin b\n  @1: r := load x\n  \
                  @2: branch (r == 0) then @1 else @3\n  @3: block commit\n  @4: block end r\n  @5: jump @0\n\
                  thread q\n  @0: store x, 1\n  @1: jump @0\n";
    let shown = observed(&text::parse(source).expect("it is a program"));
    check(
        &shown,
        &[
            "@0: block begin b",
            "@1: r := load x",
            "@2: branch (r == 0) then @1 else @3",
            "@3: block commit",
            "@4: %b.result0.1 := r",
            "@5: block end r",
            "@6: jump @0",
            "@0: store x, 1",
            "@1: jump @0",
            "observe x = x",
            "observe \"w.b#1\" = w:%b.result0.1",
        ],
    );
    check(
        &serial(&shown),
        &[
            "@0: operation begin b",
            "@1: r := load x",
            "@2: branch (r == 0) then @1 else @3",
            "@3: jump @4",
            "@4: %b.result0.1 := r",
            "@5: operation end",
            "@6: jump @0",
            "@0: operation begin nothing",
            "@1: operation end",
            "@2: store x, 1",
            "@3: jump @0",
            "observe x = x",
            "observe \"w.b#1\" = w:%b.result0.1",
        ],
    );
}

//! The text form: what is printed can be read back, and whatever else is read never panics.

mod random;

use cyrano_ir::text::{MAX_DEPTH, TextError, parse, print};
use cyrano_ir::{Expr, Instr, Op, Place, Program, RegId, Span, Thread, UnOp, verify};
use expect_test::{Expect, expect};

use random::Random;

/// One program with every construct.
const EVERYTHING: &str = r#"
program everything // comments and blank lines are dropped

const N = 2
location x = 0 ; 3..4
location clk: timestamp = 1
location "flag[0]" = -5
location "flag[1]" = 0
location %gap: gap = 0
array flag = "flag[0]" of 3
thread p0
  register r1 = 0
  register ts: timestamp = 0
  register %1 = 0
  register "buf[0]" = 0
  register "buf[1]" = 0
  register dup = 0
  register dup = 0
  @0: r1 := (-(5) + -r1) ; 10..12
  @1: "buf[0]"[(r1 % 2) of 2] := load flag[!(r1 == 0)]
  @2: store x, "buf[0]"[1 of 2] {release}
  @3: ts := load clk {acquire seq_cst}
  @4: %1 := cas x, 0, (r1 - -3)
  @5: cas clk, ts, (ts + 1)
  @6: exchange flag[0], #6
  @7: fetch_add clk, 1
  @8: fence none
  @9: fence load-load store-store
  @10: operation begin "push left"
  @11: atomic begin
  @12: assume (#5 || r1)
  @13: atomic end
  @14: operation end
  @15: r1 := choose 0, -1
  @16: assert (r1 <= 0) "says \"no\"\n"
  @17: assert 1
  @18: branch (r1 << 1) then @20 else @19
  @19: jump @0
  @20: limit (fit_i32(defined(r1)) < 4) "objects"
  @21: r1 := load flag[target(wrap_u64(r1))]
  @22: halt ; 90..94
thread "worker[0]"
  @0: halt
setup "worker[0]"
observe r1 = p0:r1
observe "p0.dup" = p0:#5
observe x = x
check assertions
check observations (0, -1, 2) (3, 4, 5) on tso
check exists ((p0:r1 == 0) && ("flag[1]" != 1)) "r1 = 0 /\\ flag[1]" on sc, "my/model" ; 100..120
check never p0:%1 "%1"
check always 1 "true"
"#;

#[track_caller]
fn check_round_trip(program: &Program) {
    let text = print(program);
    assert_eq!(parse(&text).as_ref(), Ok(program), "{text}");
}

#[track_caller]
fn check_error(text: &str, expect: Expect) {
    let error = parse(text).expect_err("the text is wrong");
    expect.assert_eq(&error.to_string());
}

fn everything() -> Program {
    parse(EVERYTHING).expect("it is a program")
}

#[test]
fn random_programs_round_trip() {
    let mut random = Random::new(0x5eed);
    for _ in 0..4_000 {
        check_round_trip(&random.program());
    }
}

/// Cuts and splices printed programs: every result is an error or a program that round-trips.
#[test]
fn damaged_text_never_panics() {
    let mut random = Random::new(0xbad);
    let mut read = 0;
    for _ in 0..4_000 {
        let mut text: Vec<char> = print(&random.program()).chars().collect();
        for _ in 0..=random.below(3) {
            let (from, to) = (random.below(text.len()), random.below(text.len()));
            match random.below(3) {
                0 => drop(text.remove(from)),
                1 => text.swap(from, to),
                _ => text.insert(from, text[to]),
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(program) = parse(&text) {
            check_round_trip(&program);
            read += 1;
        }
    }
    assert!(read > 100, "only {read} damaged programs could still be read");
}

#[test]
fn everything_round_trips() {
    let program = everything();
    check_round_trip(&program);
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn everything_printed() {
    expect![[r#"
        program everything
        const N = 2
        location x = 0 ; 3..4
        location clk: timestamp = 1
        location "flag[0]" = -5
        location "flag[1]" = 0
        location %gap: gap = 0
        array flag = "flag[0]" of 3
        thread p0
          register r1 = 0
          register ts: timestamp = 0
          register %1 = 0
          register "buf[0]" = 0
          register "buf[1]" = 0
          register dup = 0
          register dup = 0
          @0: r1 := (-(5) + -r1) ; 10..12
          @1: "buf[0]"[(r1 % 2) of 2] := load flag[!(r1 == 0)]
          @2: store x, "buf[0]"[1 of 2] {release}
          @3: ts := load clk {acquire seq_cst}
          @4: %1 := cas x, 0, (r1 - -3)
          @5: cas clk, ts, (ts + 1)
          @6: exchange flag[0], #6
          @7: fetch_add clk, 1
          @8: fence none
          @9: fence load-load store-store
          @10: operation begin "push left"
          @11: atomic begin
          @12: assume (#5 || r1)
          @13: atomic end
          @14: operation end
          @15: r1 := choose 0, -1
          @16: assert (r1 <= 0) "says \"no\"\n"
          @17: assert 1
          @18: branch (r1 << 1) then @20 else @19
          @19: jump @0
          @20: limit (fit_i32(defined(r1)) < 4) "objects"
          @21: r1 := load flag[target(wrap_u64(r1))]
          @22: halt ; 90..94
        thread "worker[0]"
          @0: halt
        setup "worker[0]"
        observe r1 = p0:r1
        observe p0.dup = p0:#5
        observe x = x
        check assertions
        check observations (0, -1, 2) (3, 4, 5) on tso
        check exists ((p0:r1 == 0) && ("flag[1]" != 1)) "r1 = 0 /\\ flag[1]" on sc, "my/model" ; 100..120
        check never p0:%1 "%1"
        check always 1 "true"
    "#]]
    .assert_eq(&print(&everything()));
}

#[test]
fn bad_lines() {
    check_error("", expect!["line 1: there is no program"]);
    check_error("\n// nothing\n", expect!["line 2: there is no program"]);
    check_error("location x = 0", expect!["line 1: expected `program`, found `location`"]);
    check_error("program p\nlocation x", expect!["line 2: expected `=`, found the end of the line"]);
    check_error(
        "program p\nlocation x = 999999999999999999999999999999999999999999",
        expect!["line 2: `999999999999999999999999999999999999999999` does not fit into 128 bits"],
    );
    check_error("program p\nlocation x = 0 0", expect!["line 2: expected the end of the line, found `0`"]);
    check_error("program p\nlocation x: string = 0", expect!["line 2: expected `timestamp`, found `string`"]);
    check_error("program p\nregister r = 0", expect!["line 2: a register before the first thread"]);
    check_error("program p\n@0: halt", expect!["line 2: an instruction before the first thread"]);
    check_error("program p\nfence load-load", expect!["line 2: `fence` starts no line of this form"]);
    check_error("program \"p", expect!["line 1: a quoted text does not end"]);
    check_error("program \"\\q\"", expect!["line 1: unknown escape in a quoted text"]);
    check_error("program \"\\u{d800}\"", expect!["line 1: unknown escape in a quoted text"]);
    check_error("program p\nobserve x = y", expect!["line 2: there is no location `y` so far"]);
    check_error("program p\nobserve x = #70000:r", expect!["line 2: 70000 is out of range"]);
    check_error("program p\nsetup p", expect!["line 2: there is no thread `p` so far"]);
    check_error("program p\ncheck observations (1", expect!["line 2: expected `)`, found the end of the line"]);
    check_error("program p\ncheck sometimes", expect!["line 2: `sometimes` is nothing to check"]);
    check_error("program p\ncheck never 1", expect!["line 2: the condition's text in quotes is missing"]);
    check_error("program p\nlocation é = 0", expect!["line 2: unexpected character `é`"]);
}

#[test]
fn bad_instructions() {
    let check = |op: &str, expect: Expect| {
        let text = format!("program p\nlocation x = 0\nthread t\nregister r = 0\nregister d = 0\nregister d = 0\n{op}");
        check_error(&text, expect);
    };
    check("@1: halt", expect!["line 7: instruction @1 stands at @0"]);
    check("@0: r := (r + 1", expect!["line 7: expected `)`, found the end of the line"]);
    check("@0: r := (r 1)", expect!["line 7: expected an operator or `)`, found `1`"]);
    check("@0: r := x", expect!["line 7: there is no register `x` so far"]);
    check("@0: r := d", expect!["line 7: there are several registers `d`: use a number"]);
    check("@0: r := load r", expect!["line 7: there is no location `r` so far"]);
    check("@0: r := load x[0]", expect!["line 7: there is no array `x` so far"]);
    check("@0: r := store x, 1", expect!["line 7: only a store that is `exclusive` has a result"]);
    check("@0: load x", expect!["line 7: `load` cannot stand here"]);
    check("@0: fence", expect!["line 7: expected a word, found the end of the line"]);
    check("@0: fence load-fence", expect!["line 7: `load-fence` is no kind of fence"]);
    check("@0: atomic", expect!["line 7: expected `end`, found the end of the line"]);
    check("@0: limit r", expect!["line 7: what is limited, in quotes, is missing"]);
    check("@0: r := wrap_u900(r)", expect!["line 7: there is no register `wrap_u900` so far"]);
    check("@0: r := defined r", expect!["line 7: there is no register `defined` so far"]);
    check("@0: jump @-1", expect!["line 7: -1 is out of range"]);
    check("@0: halt ; 3", expect!["line 7: expected `..`, found the end of the line"]);
}

#[test]
fn depth_is_limited_and_the_limit_is_reached() {
    let nested = |depth: usize, innermost| {
        let value = (1..depth).fold(innermost, |inner, _| Expr::unary(UnOp::Neg, inner));
        let op = Op::Assign { dst: Place::Reg(RegId(0)), value };
        let code = vec![Instr { op, span: Span::default() }];
        Program { threads: vec![Thread { code, ..Thread::default() }], ..Program::default() }
    };
    check_round_trip(&nested(MAX_DEPTH, Expr::Const(1)));
    check_round_trip(&nested(MAX_DEPTH, Expr::Var(Place::Reg(RegId(0)))));
    let too_deep = parse(&print(&nested(MAX_DEPTH + 2, Expr::Const(1))));
    assert!(matches!(too_deep, Err(TextError { line: 3, .. })), "{too_deep:?}");
    let endless = format!("program p\nthread t\n@0: assume {}", "(".repeat(1_000_000));
    check_error(&endless, expect!["line 3: expressions nest more than 500 deep"]);
}

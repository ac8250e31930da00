//! Tests of `cyrano_ir::dataflow::clocks`.

use cyrano_ir::dataflow::*;
use cyrano_ir::ids::LocId;

/// For each of the locations `a`, `b` and `c` the number of its class, or `-` if it is no clock.
fn check(code: &[&str], expected: &str) {
    let mut source = String::from("program p\nlocation a = 0\nlocation b = 0\nlocation c = 0\nthread t\n");
    source += "  register r = 0\n  register s = 0\n";
    for (at, instr) in code.iter().chain(&["halt"]).enumerate() {
        source += &format!("  @{at}: {instr}\n");
    }
    let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    let clocks = Clocks::new(&program);
    let classes: Vec<Class> = (0..3).map(|loc| clocks.location(LocId(loc))).collect();
    let number = |at: usize| classes.iter().position(|class| *class == classes[at]).unwrap_or(9).to_string();
    let letter = |at: usize| if clocks.is_clock(classes[at]) { number(at) } else { "-".to_owned() };
    assert_eq!((0..3).map(letter).collect::<String>(), expected, "{source}");
}

#[test]
fn what_grows_and_is_compared_is_a_clock() {
    check(&["r := load a", "store a, (r + 1)"], "0--");
    check(&["r := load a", "store b, r", "s := load c", "store a, (r + 1)"], "00-");
    check(&["r := load a", "s := load b", "store a, (r + 1)", "store b, (s + 1)"], "01-");
    check(&["r := load a", "s := load b", "store a, (r + 1)", "assume (r < s)"], "00-");
    check(&["r := cas a, 0, 1", "fetch_add b, 2"], "-1-");
}

#[test]
fn what_is_computed_otherwise_is_not() {
    check(&["r := load a", "store a, (r - 1)"], "---");
    check(&["r := load a", "store a, (r + 1)", "assume r"], "---");
    check(&["r := load a", "store a, (r + 1)", "assume ((r * 2) == 4)"], "---");
    check(&["fetch_add a, 1", "fetch_add a, -1"], "---");
    check(&["r := load a", "store a, (r + 1)", "s := load b", "store a, (s + r)"], "---");
    check(&["r := load a", "store a, (r + 1)", "invoke read r"], "---");
}

#[test]
fn remainders_are_remembered() {
    let source = "program p\nlocation a = 0\nthread t\n  register r = 0\n  @0: r := load a\n  @1: store a, (r + 1)\n  \
                  @2: assume ((r % 4) == 1)\n  @3: assume ((r % 6) == 1)\n  @4: halt\n";
    let clocks = Clocks::new(&cyrano_ir::text::parse(source).expect("a program"));
    let class = clocks.location(LocId(0));
    assert!(clocks.is_clock(class));
    assert_eq!(clocks.modulus(class), 12);
}

//! Blocks are proven by movers only if they are atomic.
//!
//! Movers once compared where two orders of steps lead and what they return, but not whether a step committed, nor what a unit hands on
//! that nobody reads in the end. And `atomicity` once called every deadlock a violation, though serial orders have it too.

use super::cli::{Folder, json};
use super::verdicts;

/// Whenever no block is active `x` is 1, so `wait` alone never ends; yet it commits between the two stores.
const WAITER: &str = "threads {
  shared x = 1, y;
  thread waiter { local r; loop { atomic wait { loop { r := x; if r == 0 { break; } } commit; } } }
  thread toggler { loop { atomic pulse { x := 0; y := 1; commit; x := 1; } } }
}
check commit-atomicity on sc;
";

/// The reader sees 0 before the block that stores it commits; what it does with it makes no difference.
const READER: &str = "threads {
  shared x = 1, y;
  thread reader { local r; loop { r := x; if r == 0 { skip; } } }
  thread toggler { loop { atomic pulse { x := 0; y := 1; commit; x := 1; } } }
}
check commit-atomicity on sc;
";

/// A block that waits for what is always the case in the end, and blocks whose waiting is a right mover.
const PROVEN: &str = "threads {
  shared m, data;
  thread w[2] { local t, d; loop { atomic add { atomic { t := m; assume t == 0; m := 1; } commit; d := data; data := 1 - d; m := 0; } } }
}
check commit-atomicity on sc;
";

fn check(source: &str, expected: &str) {
    for options in ["", "--no-reduction movers", "--no-reduction macro-steps", "--no-reduction all"] {
        let (found, _) = verdicts("blocks.rml", source, options);
        assert_eq!(found, [expected], "with `{options}`:\n{source}");
    }
}

#[test]
fn a_block_that_waits_for_the_middle_of_another() {
    check(WAITER, "violated");
}

#[test]
fn an_access_that_sees_the_middle_of_a_block() {
    check(READER, "violated");
}

#[test]
fn what_is_atomic_is_still_proven() {
    check(PROVEN, "verified");
    let report = json(&Folder::new(&[("blocks.rml", PROVEN)]).run("check blocks.rml --format json"));
    assert_eq!(report["checks"][0]["blocks"][0]["proven_by"], "movers");
}

/// The same in C.
#[test]
fn in_c() {
    let code = "#include <cyrano.h>
int x = 1, y;
void wait_(void) { while (1) { atomic_begin(); while (x != 0) ; commit_point(); atomic_end(); } }
void pulse(void) { while (1) { atomic_begin(); x = 0; y = 1; commit_point(); x = 1; atomic_end(); } }
";
    let tests = "type toggle\n\nw = wait_()\np = pulse()\n\ntest WP = ( w | p )\n";
    let place = Folder::new(&[("toggle.c", code), ("toggle.tests", tests)]);
    for options in ["", "--no-reduction movers", "--no-reduction all"] {
        let arguments = format!("toggle.c --test WP --criterion commit-atomicity --model sc {options}");
        assert_eq!(super::verdicts_in(&place, &arguments).0, ["violated"], "with `{options}`");
    }
}

/// `b` waits for what nobody does, unless `c` was first.
const NEVER: &str = "threads {
  shared x, y;
  thread p { local r; atomic b { atomic { r := y; assume r == 0; } x := 1; } }
  thread q { atomic c { y := 1; } }
}
check atomicity on sc;
";

/// Two locks in different orders: one after the other they get through.
const CROSSED: &str = "threads {
  shared a, b;
  thread p { local r; atomic first { atomic { r := a; assume r == 0; a := 1; } atomic { r := b; assume r == 0; b := 1; } a := 0; b := 0; } }
  thread q { local r; atomic second { atomic { r := b; assume r == 0; b := 1; } atomic { r := a; assume r == 0; a := 1; } a := 0; b := 0; } }
}
check atomicity on sc;
";

#[test]
fn a_deadlock_of_serial_orders_is_no_violation() {
    assert_eq!(verdicts("never.rml", NEVER, "").0, ["verified"]);
    // The final states are still compared.
    let wrong = NEVER.replace("x := 1; }", "x := 1; atomic { r := y; } x := r; }");
    assert_eq!(verdicts("never.rml", &wrong, "").0, ["violated"]);
    // Another engine does not know.
    assert_eq!(verdicts("never.rml", NEVER, "--engine symbolic").0, ["unknown"]);
    // Nobody ever gets through.
    let stuck = NEVER.replace("assume r == 0", "assume r == 2");
    assert_eq!(verdicts("never.rml", &stuck, "").0, ["vacuous"]);
}

#[test]
fn a_deadlock_of_no_serial_order_is_one() {
    for engine in ["explore", "symbolic", "interp"] {
        assert_eq!(verdicts("crossed.rml", CROSSED, &format!("--engine {engine}")).0, ["violated"], "by {engine}");
    }
    // Also if there is another one that serial orders have.
    let both = CROSSED
        .replace("thread q", "thread n { local r; atomic third { atomic { r := c; assume r == 1; } } } thread q");
    let both = both.replace("shared a, b;", "shared a, b, c;");
    assert_eq!(verdicts("both.rml", &both, "").0, ["violated"]);
}

//! Blocks are proven by movers only if they are atomic.
//!
//! Movers once compared where two orders of steps lead and what they return, but not whether a step committed, nor what a unit hands on
//! that nobody reads in the end.

use super::cli::{Place, json};
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
    for options in ["", "--no-reduction movers", "--no-reduction macro-steps"] {
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
    let report = json(&Place::new(&[("blocks.rml", PROVEN)]).run("check blocks.rml --format json"));
    assert_eq!(report["checks"][0]["blocks"][0]["proven_by"], "movers");
}

/// The same in C: each call of `wait` ends only while `pulse` is under way.
#[test]
fn in_c() {
    let code = "#include <cyrano.h>
int x = 1, y;
void wait_(void) { atomic_begin(); while (x != 0) ; commit_point(); atomic_end(); }
void pulse(void) { atomic_begin(); x = 0; y = 1; commit_point(); x = 1; atomic_end(); }
";
    let tests = "type toggle\n\nw = wait_()\np = pulse()\n\ntest WP = ( w | p )\n";
    let place = Place::new(&[("toggle.c", code), ("toggle.tests", tests)]);
    for options in ["", "--no-reduction movers"] {
        let arguments = format!("toggle.c --test WP --criterion commit-atomicity --model sc {options}");
        assert_eq!(super::verdicts_in(&place, &arguments).0, ["violated"], "with `{options}`");
    }
}

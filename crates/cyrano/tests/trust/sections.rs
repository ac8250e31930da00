//! Loops in sections and fences in units lose no execution.
//!
//! A section that a bound on its loops cut off had to come after everybody else, who could not help running: so no execution went beyond the bound, and too small a bound
//! passed for a sufficient one. A fence within an operation of a serial model was before and after the operation at once: no execution was left.

use crate::cli::{self, Folder};
use crate::{verdicts, verdicts_in};

/// The section runs beyond a bound of one only if it comes first.
const FIRST: &str = "threads { shared z = 1;
    thread p { local r, n; atomic { r := z; while n < 3 { n := n + 1; if r == 0 { break; } } } }
    thread q { z := 0; } }
check never (p.r == 1);
observe p.r;
";

#[test]
fn a_loop_in_a_section_may_need_a_larger_bound() {
    for model in ["sc", "relaxed", "sparc-rmo"] {
        for engine in ["auto", "symbolic", "interp"] {
            let options = format!("--model {model} --engine {engine}");
            assert_eq!(verdicts("first.rml", FIRST, &options).0, ["violated"], "{options}");
        }
    }
}

/// How many outcomes there are under `relaxed`, and whether these are all.
fn outcomes(place: &Folder, file: &str, engine: &str) -> (u64, bool) {
    let done = place.run(&format!("outcomes {file} --model relaxed --engine {engine} --format json"));
    let result = &cli::json(&done)["results"][0];
    (result["count"].as_u64().expect("a number"), result["complete"].as_bool().expect("yes or no"))
}

#[test]
fn both_outcomes_are_there() {
    let place = Folder::new(&[("first.rml", FIRST)]);
    assert_eq!(outcomes(&place, "first.rml", "symbolic"), (2, true));
    assert_eq!(outcomes(&place, "first.rml", "interp").0, 2);
}

#[test]
fn so_in_c() {
    let source = "#include <cyrano.h>
int z = 1;
int p(void) { int r, n = 0; atomic { r = z; while (n < 3) { n++; if (r == 0) break; } } return r; }
void q(void) { z = 0; }
";
    let tests = "p = p()\nq = q()\ntest T = ( p | q )\n";
    let place = Folder::new(&[("first.c", source), ("first.tests", tests)]);
    assert_eq!(outcomes(&place, "first.c", "symbolic"), (2, true));
    assert_eq!(outcomes(&place, "first.c", "interp").0, 2);
}

#[test]
fn two_sections_are_cut_at_once() {
    let source = "threads { shared z = 1, w;
    thread p { local r, n; atomic { r := z; while n < 5 { n := n + 1; if r == 0 { break; } } } w := 1; }
    thread q { local s, m; atomic { s := w; while m < 5 { m := m + 1; if s == 1 { break; } } } z := 0; } }
check never (p.r == 1 && q.s == 0);
";
    for engine in ["symbolic", "interp"] {
        assert_eq!(
            verdicts("two.rml", source, &format!("--model relaxed --engine {engine}")).0,
            ["violated"],
            "{engine}"
        );
    }
}

#[test]
fn a_fence_in_an_operation_of_a_serial_model() {
    let model = "model weak-units\nserial: yes\n";
    let source = "threads { shared x, y;
    thread p { local r; operation f { x := 1; fence(store-load); r := y; } }
    thread q { local s; operation g { y := 1; fence(store-load); s := x; } } }
check never (p.r == 0 && q.s == 1);
check never (p.r == 0 && q.s == 0);
";
    let place = Folder::new(&[("units.rml", source), ("weak.model", model)]);
    for engine in ["auto", "symbolic", "interp"] {
        let (verdicts, _) = verdicts_in(&place, &format!("units.rml --model ./weak.model --engine {engine}"));
        assert_eq!(verdicts, ["violated", "verified"], "{engine}");
    }
}

#[test]
fn numbers_that_differ_are_not_pointers() {
    let source = "#include <cyrano.h>
int x;
int p(void) { x = 100; return x; }
int q(void) { x = 200; return x; }
";
    let place = Folder::new(&[("two.c", source), ("two.tests", "p = p()\nq = q()\ntest T = ( p | q )\n")]);
    for model in ["relaxed", "sc"] {
        let (verdicts, code) = verdicts_in(&place, &format!("two.c --model {model} --engine symbolic"));
        assert_eq!((verdicts, code), (vec!["violated".to_owned()], 1));
    }
}

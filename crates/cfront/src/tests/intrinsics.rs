//! Fences, read-modify-writes, locks, allocation.

use cyrano_engine::{Question, Verdict};
use cyrano_ir::{Op, Property};

use super::{ask, fails, outcomes, program, returns};

const ONE: &str = "f = f()\ntest T = ( f )\n";

#[test]
fn read_modify_writes_give_what_they_should() {
    let source = "#include <cyrano.h>\nunsigned x = 5; int *p; int y;
        int f(void) { int a = cas(&x, 5, 6), b = cas(&x, 5, 7); unsigned c = fetch_add(&x, 10), d = exchange(&x, 1);
            bool e = cas(&p, NULL, &y); return a * 10000 + b * 1000 + (int)(c * 100 + d) + (int)x * 100000 + (e && p == &y) * 1000000; }";
    assert_eq!(returns(source), [1_000_000 + 100_000 + 10_000 + 600 + 16]);
    let both =
        "#include <cyrano.h>\nint a = 1, b = 2; int f(void) { bool x = dcas(&a, &b, 1, 3, 8, 9); int k = a * 10 + b;
        bool y = dcas(&a, &b, 1, 2, 8, 9); return x * 10000 + y * 1000 + k * 10000 + a * 10 + b; }";
    assert_eq!(returns(both), [1000 + 12 * 10_000 + 89]);
}

#[test]
fn published_declarations_of_cas_work() {
    let source = "extern int cas(void *loc, unsigned old, unsigned new); struct n { struct n *next; } a, *g;
        int f(void) { return cas(&g, (unsigned)0, (unsigned)&a) * 10 + (g == &a); }";
    assert_eq!(returns(source), [11]);
}

#[test]
fn comparing_with_an_undefined_word_is_an_error() {
    let source = "#include <cyrano.h>\n#include <stdlib.h>\nint f(void) { int *p = malloc(sizeof(int)); cas(p, 0, 1); return 0; }";
    assert!(fails(source).contains("Undefined"), "{}", fails(source));
}

#[test]
fn locks_exclude_and_unlocking_twice_fails() {
    let source = "#include <cyrano.h>\nlock_t l; int x; int inc(void) { lock(&l); int old = x; x = old + 1; unlock(&l); return old; }";
    let found = outcomes(source, "i = inc()\ntest T = ( i | i )\n", "relaxed");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![0, 1], vec![1, 0]]);
    let twice = "#include <cyrano.h>\nlock_t l; int f(void) { lock(&l); unlock(&l); unlock(&l); return 0; }";
    assert_eq!(fails(twice), "assert(*lock == locked)");
}

#[test]
fn fences_of_all_kinds() {
    let source = "#include <cyrano.h>\nvoid f(void) { fence(\"load-load store-store\"); fence(\"full\"); }";
    let program = program(source, ONE);
    let fences = program.threads[0].code.iter().filter_map(|instr| match &instr.op {
        Op::Fence(set) => Some(set.to_string()),
        _ => None,
    });
    let expected = ["load-load store-store", "load-load load-store store-load store-store"];
    assert_eq!(fences.collect::<Vec<_>>(), expected);
}

#[test]
fn a_double_free_is_an_error() {
    let object = "#include <stdlib.h>\nstruct n { int v; };";
    let once =
        format!("{object} int f(void) {{ struct n *p = malloc(sizeof *p); free(p); free((struct n *)0); return 1; }}");
    assert_eq!(returns(&once), [1]);
    let twice = format!("{object} int f(void) {{ struct n *p = malloc(sizeof *p); free(p); free(p); return 1; }}");
    assert!(fails(&twice).contains("DoubleFree"));
    let used = format!("{object} int f(void) {{ struct n *p = malloc(sizeof *p); p->v = 1; free(p); return p->v; }}");
    assert!(fails(&used).contains("Freed"));
    let part = format!("{object} int f(void) {{ struct n *p = malloc(2 * sizeof *p); free(p + 1); return 1; }}");
    assert!(fails(&part).contains("NotAllocated"));
}

#[test]
fn choices_and_assumptions() {
    let source = "#include <cyrano.h>\nint f(void) { int c = choose(1, 4); assume(c % 2 == 0); return c; }";
    let found = outcomes(source, ONE, "sc");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![2], vec![4]]);
}

#[test]
fn a_pool_that_is_too_small_bounds_the_verdict() {
    let source = "#include <stdlib.h>\nint f(void) { for (int i = 0; i < 6; i++) { int *p = malloc(sizeof(int)); *p = i; } return 0; }";
    let program = program(source, ONE);
    let answer = ask(&program, "sc", Question::Holds(&Property::Assertions));
    assert_eq!(answer.verdict, Verdict::Bounded, "{:?}", answer.reason);
    assert!(answer.reason.expect("a cause").to_string().contains("line 2"));
}

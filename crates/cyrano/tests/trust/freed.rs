//! Freed memory is not accessed, not freed again, and used again by malloc.

use super::cli::{self, Folder};
use super::verdicts_in;

/// What can be wrong about `free`, one operation each.
const HEAP: &str = "#include <cyrano.h>
#include <stdlib.h>
typedef struct node { int v; struct node *next; } node_t;
node_t *top;
int g;
void init(void) { node_t *n = malloc(sizeof(node_t)); n->v = 1; n->next = 0; top = n; }
int reader(void) { node_t *n = top; if (n) return n->v; return 0; }
void remover(void) { node_t *n = top; top = 0; free(n); }
void twice(void) { node_t *n = top; free(n); free(n); }
void inner(void) { free(&top->next); }
void global(void) { free(&g); }
void stack(void) { int x = 1; int *p = &x; free(p); }
void null(void) { node_t *n = 0; free(n); assert(top != 0); }
void good(void) { node_t *n = malloc(sizeof(node_t)); n->v = 1; assert(n->v == 1); free(n); }
void stale(void) { node_t *n = malloc(sizeof(node_t)); assert(n->v == n->v); }
";

const HEAP_TESTS: &str = "type heap
init = init()
r = reader()
d = remover()
t = twice()
i = inner()
b = global()
s = stack()
n = null()
g = good()
u = stale()
test use = ( r | d )
test double = ( d | d )
test twice = ( t )
test inner = ( i )
test global = ( b )
test stack = ( s )
test null = ( n )
test good = ( gg | g )
test stale = ( gu )
";

/// A stack whose `pop` never touches a freed node by itself: it takes pointer and successor in one step.
const STACK: &str = "#include <cyrano.h>
#include <stdlib.h>
typedef struct node { struct node *next; int value; } node_t;
node_t *top;
void init(void) { top = 0; }
void push(int value) {
    node_t *t; node_t *node = malloc(sizeof(node_t));
    node->value = value;
    do { t = top; node->next = t; } while (!cas(&top, t, node));
}
int pop(void) {
    node_t *t, *next; int value;
    do {
        atomic { t = top; next = t ? t->next : 0; }
        if (t == 0) return -1;
    } while (!cas(&top, t, next));
    value = t->value;
    free(t);
    return value;
}
";

const STACK_TESTS: &str =
    "type stack\ninit = init()\np = push(in {0, 1})\no = pop()\ntest A = pp ( oo | oop )\ntest B = p ( o | op )\n";

fn heap() -> Folder {
    Folder::new(&[("heap.c", HEAP), ("heap.tests", HEAP_TESTS)])
}

fn stack() -> Folder {
    Folder::new(&[("stack.c", STACK), ("stack.tests", STACK_TESTS)])
}

#[test]
fn every_engine_finds_what_is_wrong_and_nothing_else() {
    let place = heap();
    for engine in ["interp", "explore", "symbolic"] {
        for model in ["sc", "tso", "pso"] {
            let wrong = "--test use,double,twice,inner,global,stack,stale";
            let arguments = format!("heap.c --engine {engine} --model {model} --criterion assertions");
            let (found, code) = verdicts_in(&place, &format!("{arguments} {wrong}"));
            assert_eq!((found, code), (vec!["violated".to_owned(); 7], 1), "{engine}, {model}");
            let (found, code) = verdicts_in(&place, &format!("{arguments} --test null,good"));
            assert_eq!((found, code), (vec!["verified".to_owned(); 2], 0), "{engine}, {model}");
        }
    }
}

#[test]
fn a_counterexample_says_who_freed_it() {
    let said = |test: &str| {
        let done = heap().run(&format!("check heap.c --test {test} --model sc --criterion assertions --format json"));
        cli::json(&done)["checks"][0]["explanation"]["sentence"].as_str().expect("an explanation").to_owned()
    };
    let sentence = said("use");
    assert!(sentence.contains("access to freed memory") && sentence.contains("freed by thread2 in step"), "{sentence}");
    assert!(sentence.contains("line 8"), "{sentence}");
    assert!(said("twice").contains("double free"));
    for test in ["inner", "global", "stack"] {
        assert!(said(test).contains("freeing what was not allocated"), "{test}");
    }
    assert!(said("stale").contains("undefined"), "used again, memory has no content");
}

#[test]
fn memory_that_is_used_again_shows_aba() {
    let place = stack();
    for engine in ["explore", "symbolic"] {
        let arguments = format!("stack.c --engine {engine} --model sc");
        assert_eq!(
            verdicts_in(&place, &arguments),
            (vec!["violated".to_owned(), "verified".to_owned()], 1),
            "{engine}"
        );
        let (found, code) = verdicts_in(&place, &format!("{arguments} --no-reuse"));
        assert_eq!((found, code), (vec!["verified".to_owned(); 2], 0), "{engine}");
    }
}

#[test]
fn without_reuse_the_verdict_says_so() {
    let place = stack();
    let report = cli::json(&place.run("check stack.c --test B --model sc --no-reuse --format json"));
    let caveats = report["checks"][0]["caveats"].as_array().expect("caveats");
    assert!(caveats[0].as_str().is_some_and(|text| text.contains("--no-reuse")), "{caveats:?}");
    let text = place.run("check stack.c --test B --model sc --no-reuse").stdout;
    assert!(text.contains("never used again"), "{text}");
    let report = cli::json(&place.run("check stack.c --test B --model sc --format json"));
    assert!(report["checks"][0].get("caveats").is_none_or(|caveats| caveats == &serde_json::json!([])));
}

/// Under tso a store that waits is not made visible by `free`: it is no fence.
#[test]
fn free_is_no_fence() {
    let source = "#include <cyrano.h>
#include <stdlib.h>
typedef struct node { int v; } node_t;
int x, y;
node_t *a, *b;
void init(void) { x = 0; y = 0; a = malloc(sizeof(node_t)); b = malloc(sizeof(node_t)); }
int left(void) { x = 1; free(a); return y; }
int right(void) { y = 1; free(b); return x; }
";
    let tests = "type sb\ninit = init()\nl = left()\nr = right()\ntest T = ( l | r )\n";
    let place = Folder::new(&[("sb.c", source), ("sb.tests", tests)]);
    for engine in ["interp", "explore", "symbolic"] {
        let found = cli::json(&place.run(&format!("outcomes sb.c --engine {engine} --model sc,tso --format json")));
        let counts: Vec<_> = (0..2).map(|at| found["results"][at]["count"].as_u64()).collect();
        assert_eq!(counts, [Some(3), Some(4)], "{engine}: both loads see 0 under tso");
    }
}

/// The accesses of a thread to an object stay before its own `free`, under every model.
#[test]
fn freeing_what_one_has_used_is_no_error() {
    let source = "#include <cyrano.h>
#include <stdlib.h>
typedef struct node { int v; int w; } node_t;
int f(void) { node_t *n = malloc(sizeof(node_t)); n->v = 1; n->w = 2; int r = n->v; free(n); return r; }
";
    let tests = "type own\nf = f()\ntest T = ( f | f )\n";
    let place = Folder::new(&[("own.c", source), ("own.tests", tests)]);
    for engine in ["interp", "symbolic"] {
        let models = "sc,tso,pso,rmo,relaxed";
        let (found, code) = verdicts_in(&place, &format!("own.c --engine {engine} --model {models}"));
        assert_eq!((found, code), (vec!["verified".to_owned(); 5], 0), "{engine}");
    }
}

/// An operation that always returns 0 is right by its own measure, and wrong by another's.
#[test]
fn one_thread_is_a_test_where_there_is_a_reference() {
    let right = "int n; void init(void) { n = 0; } int next(void) { n = n + 1; return n; }\n";
    let wrong = "int n; void init(void) { n = 0; } int next(void) { return 0; }\n";
    let tests = "type counter\ninit = init()\nn = next()\n";
    let place = Folder::new(&[("wrong.c", wrong), ("wrong.tests", tests), ("right.c", right), ("right.tests", tests)]);
    let (found, code) = verdicts_in(&place, "wrong.c --all-tests 1 --model sc --reference right.c");
    assert_eq!((found, code), (vec!["violated".to_owned()], 1));
    let (found, _) = verdicts_in(&place, "wrong.c --all-tests 2 --model sc --reference right.c");
    assert_eq!(found.len(), 3, "n, nn and ( n | n )");
    let (found, code) = verdicts_in(&place, "wrong.c --all-tests 2 --model sc");
    assert_eq!((found, code), (vec!["verified".to_owned()], 0));
}

#[test]
fn realloc_moves_and_calloc_clears() {
    let source = |body: &str| format!("#include <cyrano.h>\n#include <stdlib.h>\nint f(void) {{ {body} }}\n");
    let cases = [
        ("int *p = calloc(2, sizeof(int)); assert(p[0] == 0 && p[1] == 0); return p[1];", "verified"),
        (
            "int *p = malloc(sizeof(int)); *p = 7; int *q = realloc(p, 2 * sizeof(int)); assert(q[0] == 7); return q[0];",
            "verified",
        ),
        (
            "int *p = malloc(2 * sizeof(int)); p[0] = 3; p[1] = 4; p = realloc(p, sizeof(int)); assert(*p == 3); return *p;",
            "verified",
        ),
        ("int *p = realloc(0, sizeof(int)); *p = 1; assert(*p == 1); free(p); return 1;", "verified"),
        (
            "int *p = malloc(sizeof(int)); *p = 7; int *q = realloc(p, 2 * sizeof(int)); assert(q); return *p;",
            "violated",
        ),
        (
            "int *p = malloc(sizeof(int)); *p = 7; int *q = realloc(p, 2 * sizeof(int)); assert(q); return q[1] + 1;",
            "violated",
        ),
        ("int *p = malloc(sizeof(int)); free(p); int *q = realloc(p, sizeof(int)); assert(q); return 1;", "violated"),
    ];
    for (body, expected) in cases {
        for engine in ["explore", "symbolic", "interp"] {
            let place = Folder::new(&[("f.c", &source(body)), ("f.tests", "f = f()\ntest T = ( f )\n")]);
            let options = format!("f.c --model sc --criterion assertions --engine {engine}");
            assert_eq!(super::verdicts_in(&place, &options).0, [expected], "{body} by {engine}");
        }
    }
}

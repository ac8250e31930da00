//! The notation of tests, and generated tests.

use std::collections::BTreeSet;

use crate::common::{file, render, unit};
use cyrano_cfront::all_tests;

const QUEUE: &str = "#include <cyrano.h>\nenum { RED = 2 }; struct q { int v; int n[2]; } q; int other;
void init(struct q *p) { p->v = 0; }
void e(struct q *p, int v) { p->v = v; }
bool d(struct q *p, int *out) { *out = p->v; return p->v != 0; }
int *where(int *p) { return p; }
void v(struct q *p, int *out) { *out = p->v; }
void declared(int x);
";

const PREAMBLE: &str = "type queue // a comment\ninit = init(&q)\ne = e(&q, in {0, 1})\nd = d(&q, out) -> found\n";

#[test]
fn the_papers_notation() {
    let unit = unit(QUEUE);
    let file = file(&unit, &format!("{PREAMBLE}test Ti2 = e ( ed | d'e )\ntest T0 = (e|d)\n"));
    assert_eq!(file.kind.as_deref(), Some("queue"));
    assert_eq!(file.operations(), ["e", "d"]);
    let shown: Vec<_> = file.tests.iter().map(|test| (test.name.as_str(), test.to_string())).collect();
    assert_eq!(shown, [("Ti2", "e ( ed | d'e )".to_string()), ("T0", "( e | d )".to_string())]);
    let program = unit.program(&file.tests[0]).expect("fine");
    let threads: Vec<_> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(threads, ["init", "thread1", "thread2"]);
    assert_eq!(program.setup, Some(cyrano_ir::ThreadId(0)));
    let columns: Vec<_> = program.observed.iter().map(|column| column.name.as_str()).collect();
    let expected = [
        "init.e1.v",
        "thread1.e1.v",
        "thread1.d2.found",
        "thread1.d2.out",
        "thread2.d1.found",
        "thread2.d1.out",
        "thread2.e2.v",
    ];
    assert_eq!(columns, expected);
}

#[test]
fn calls_when_all_threads_have_ended() {
    let unit = unit(QUEUE);
    let file = file(&unit, &format!("{PREAMBLE}test T = e ( e | d ) de'\n"));
    assert_eq!(file.tests[0].to_string(), "e ( e | d ) de'");
    let program = unit.program(&file.tests[0]).expect("fine");
    let threads: Vec<_> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(threads, ["init", "thread1", "thread2", "after"]);
    let last: Vec<_> = program.observed.iter().rev().take(3).map(|column| column.name.as_str()).collect();
    assert_eq!(last, ["after.e2.v", "after.d1.out", "after.d1.found"]);
}

#[test]
fn operations_of_one_thread() {
    let unit = unit(QUEUE);
    let declared = file(&unit, &format!("{PREAMBLE}single d\ntest T = d ( dd | e ) d\n"));
    assert_eq!(declared.tests[0].to_string(), "d ( dd | e ) d");
    let two: Vec<_> = all_tests(&declared, 2).iter().map(ToString::to_string).collect();
    assert_eq!(two, ["( e | e )", "( e | d )"]);
    assert!(declared.by_notation("( d | d )").expect("a notation").is_err());
    assert!(declared.by_notation("( d | e ) d").expect("a notation").is_ok());
    assert!(declared.by_notation("T1").is_none());
    let wrong = all_tests(&declared, 4)
        .iter()
        .filter(|test| test.threads.iter().filter(|t| t.iter().any(|s| s.operation == 1)).count() > 1)
        .count();
    assert_eq!(wrong, 0);
}

#[test]
fn long_names_and_longest_match() {
    let unit = unit(QUEUE);
    let text = "a = e(&q, 0)\nal = e(&q, 1)\nl = e(&q, RED)\ntest T = al ( alal | a l al' )\n";
    let file = file(&unit, text);
    assert_eq!(file.tests[0].to_string(), "al ( al al | a l al' )");
}

#[test]
fn mistakes_in_a_tests_file() {
    let unit = unit(QUEUE);
    let check = |text: &str, expected: &str| {
        let text = format!("{PREAMBLE}{text}\n");
        let errors = cyrano_cfront::tests(&text, &unit).expect_err(expected);
        let found = render(&text, &errors);
        assert!(found.contains(expected), "{found}");
    };
    check(
        "test T = ( e | x )",
        "there is no operation `x` | x | unknown operation\n  help: the operations are `e`, `d`",
    );
    check("test T = ( ex | d )", "there is no operation `x`");
    check("test T = ( e | d", "the test `T` has no closing parenthesis");
    check("test T = e d", "has no threads in parentheses");
    check("test T = ( e | | d )", "a thread without operations");
    check("test T = ( ' e )", "expected an operation before the prime");
    check("test T = ( e ) ( d )", "`(` is not expected here");
    check("test T = ( e ) d | e", "`|` is not expected here");
    check("single d\ntest T = d ( ed | e | d ) d", "two threads call `d`, which only one may call");
    check("single e, x", "there is no operation `x`");
    check("single e d", "`d` is not expected here");
    check("test T = ( e )\ntest T = ( d )", "the test `T` is declared twice");
    check("e = d(&q, out)", "the operation `e` is declared twice");
    check("f = dd(&q, out)", "the C file has no function `dd`");
    check("f = decalred(1)", "did you mean `declared`?");
    check("f = declared(1)", "has no body");
    check("f = e(&q)", "`e` takes 2 arguments");
    check("f = e(&q, 1, 2)", "`e` takes 2 arguments");
    check("f = e(&ohter, 1)", "there is no global `ohter` | ohter | unknown name\n  help: did you mean `other`?");
    check("f = e(&other, 1)", "the parameter is a `q *`, which the address of a `int` is not");
    check("f = e(&q, out)", "which `out`");
    check("f = e(&q, in {3..1})", "no values");
    check("f = e(&q, 5000000000)", "the parameter is a `int`, which 5000000000 is not");
    check("f = d(&q, out) -> ", "the line ends, but a name for the result");
    check("f = e(&q, 1) -> x", "the function returns nothing");
    check("f = where(&q.n[5])", "there is no element 5");
    check("f = where(&q.n[1])", "a result that is a pointer cannot be observed");
    check(
        "f = d(&q, out if fuond) -> found",
        "`fuond` is not the result of this call | fuond | the result is called `found`",
    );
    check("f = d(&q, out if)", "expected `result` or the result's name");
    check("f = v(&q, out if result)", "the function returns `void`");
    check("tset T = ( e )", "did you mean `test`?");
    check("test T = ( e ; d )", "unexpected character `;`");
}

#[test]
fn a_wrong_declaration_is_one_error() {
    let unit = unit(QUEUE);
    let errors =
        cyrano_cfront::tests("x = nowhere()\ntest T = ( x | xx )\n", &unit).expect_err("there is no such function");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn all_tests_are_all_of_them() {
    let unit = unit(QUEUE);
    let file = file(&unit, PREAMBLE);
    let two: Vec<_> = all_tests(&file, 2).iter().map(ToString::to_string).collect();
    assert_eq!(two, ["( e | e )", "( e | d )", "( d | d )"]);
    assert!(all_tests(&file, 1).is_empty());
    // Every test of up to four calls, found by another way: all ways to cut all sequences into parts, as sets of multisets.
    let mut expected = BTreeSet::new();
    for total in 2..=4usize {
        for letters in 0..1u32 << total {
            for cuts in 0..1u32 << total {
                let mut parts = vec![String::new()];
                for at in 0..total {
                    if at > 0 && cuts >> at & 1 == 1 {
                        parts.push(String::new());
                    }
                    let last = parts.len() - 1;
                    parts[last].push(if letters >> at & 1 == 1 { 'e' } else { 'd' });
                }
                // The lowest bit says whether the first part stands before the parentheses.
                let before = if cuts & 1 == 1 { parts.remove(0) } else { String::new() };
                parts.sort();
                if parts.len() >= 2 {
                    expected.insert((before, parts));
                }
            }
        }
    }
    let found = all_tests(&file, 4);
    let named = |steps: &[cyrano_cfront::Step]| {
        steps.iter().map(|s| if s.operation == 0 { 'e' } else { 'd' }).collect::<String>()
    };
    let keys: BTreeSet<_> = found
        .iter()
        .map(|test| {
            let mut threads: Vec<_> = test.threads.iter().map(|thread| named(thread)).collect();
            threads.sort();
            (named(&test.before), threads)
        })
        .collect();
    assert_eq!(keys.len(), found.len(), "none twice");
    assert_eq!(keys, expected);
}

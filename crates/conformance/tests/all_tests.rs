//! Bugs seeded into msn are found by the tests that nobody had to invent, and what only memory reuse or speed makes necessary is not a
//! bug where memory is never reused.

use cyrano_cfront::{Test, TestFile, Unit};
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::Property;
use cyrano_symbolic::Symbolic;

fn read(name: &str) -> String {
    std::fs::read_to_string(corpus::folder().join("datatypes").join(name)).expect("the library has it")
}

fn unit(source: &str) -> (Unit, TestFile) {
    let unit = cyrano_cfront::parse(source, "msn.c", &|_| None).expect("the mutant compiles");
    let file = cyrano_cfront::tests(&read("msn.tests"), &unit).expect("the tests file can be read");
    (unit, file)
}

/// Whether a test of a C file shows something that no serial execution shows. What takes too long shows nothing.
fn shows_a_bug(unit: &Unit, test: &Test, seconds: f64) -> bool {
    let program = unit.program(test).expect("the test compiles");
    let [serial, relaxed] = ["serial", "relaxed"].map(|name| cyrano_memory::named(name).expect("a named model"));
    let query = Query::new(&program, &serial, Question::Outcomes).expect("a question");
    let mined = Explore::default().ask(query, &limits(20.0, 3), &());
    assert_eq!(mined.verdict, Verdict::Verified, "mining {test}");
    let property = Property::Observations(mined.outcomes);
    let query = Query::new(&program, &relaxed, Question::Holds(&property)).expect("a question");
    let answer = Symbolic::default().ask(query, &limits(seconds, 3), &());
    if let Some(execution) = &answer.execution {
        let confirmed = cyrano_interp::confirm(&program, &relaxed, &property, answer.violation.as_ref(), execution);
        assert!(confirmed.is_ok(), "{test}: {confirmed:?}");
    }
    answer.verdict == Verdict::Violated
}

/// A test of so many calls that shows a bug. Every test gets little time, then all of them get more.
fn found(source: &str, calls: std::ops::RangeInclusive<usize>) -> Option<String> {
    let (unit, file) = unit(source);
    let mut tests = cyrano_cfront::all_tests(&file, *calls.end());
    tests.retain(|test| calls.contains(&test.calls()));
    let found = [0.2, 5.0].iter().find_map(|seconds| tests.iter().find(|test| shows_a_bug(&unit, test, *seconds)));
    found.map(ToString::to_string)
}

/// msn with one change.
fn mutant(from: &str, to: &str) -> String {
    let source = read("msn.c");
    assert_eq!(source.matches(from).count(), 1, "`{from}` is not there once");
    source.replace(from, to)
}

/// The seven fences of Fig. 9, each removed.
fn without_fence() -> Vec<String> {
    let source = read("msn.c");
    let places: Vec<usize> = source.match_indices("    fence(\"").map(|(at, _)| at).collect();
    assert_eq!(places.len(), 7, "Fig. 9 has seven fences");
    let without = places.iter().map(|at| {
        let end = source[*at..].find('\n').map_or(source.len(), |len| at + len);
        format!("{}{}", &source[..*at], &source[end..])
    });
    without.collect()
}

#[test]
fn each_missing_fence_is_found_with_three_calls() {
    for (number, source) in without_fence().iter().enumerate() {
        let found = found(source, 2..=3);
        println!("without fence {}: {found:?}", number + 1);
        assert!(found.is_some(), "nothing shows that fence {} is missing", number + 1);
    }
}

#[test]
fn bugs_of_the_algorithm_are_found() {
    let linked = "                if (cas(&tail->next, next, node))\n                    break;\n";
    let unlinked = "                if (cas(&q->tail, tail, node)) { tail->next = node; break; }\n";
    let mutants = [
        ("the tail moves before the node is linked", mutant(linked, unlinked), 3),
        ("the head moves without a cas", mutant("if (cas(&q->head, head, next)) {", "{ q->head = next;"), 3),
        (
            "a new node has no end",
            mutant("    node->value = value;\n    node->next = 0;\n", "    node->value = value;\n"),
            3,
        ),
        // Two enqueues race, and only a second dequeue misses the node that was lost.
        (
            "a node is linked in place of another",
            mutant("            if (next == 0) {\n", "            if (true) {\n"),
            4,
        ),
    ];
    for (what, source, calls) in mutants {
        let found = found(&source, calls.max(3) - 1..=calls);
        println!("{what}: {found:?}");
        assert!(found.is_some(), "{what}, and nothing shows it");
    }
}

/// msn with counted pointers and a spare node that is used again.
const REUSE: &str = include_str!("../c/msn_reuse.c");

/// The first test of so many calls that shows a bug under sc, and whether all before it were decided.
fn found_on_sc(source: &str, calls: std::ops::RangeInclusive<usize>) -> (Option<String>, bool) {
    let (unit, file) = unit(source);
    let mut tests = cyrano_cfront::all_tests(&file, *calls.end());
    tests.retain(|test| calls.contains(&test.calls()));
    let [serial, sc] = ["serial", "sc"].map(|name| cyrano_memory::named(name).expect("a named model"));
    let mut decided = true;
    for test in &tests {
        let program = unit.program(test).expect("the test compiles");
        let query = Query::new(&program, &serial, Question::Outcomes).expect("a question");
        let mined = Explore::default().ask(query, &limits(20.0, 3), &());
        assert_eq!(mined.verdict, Verdict::Verified, "mining {test}");
        let property = Property::Observations(mined.outcomes);
        let query = Query::new(&program, &sc, Question::Holds(&property)).expect("a question");
        let answer = Explore::default().ask(query, &limits(20.0, 3), &());
        if answer.verdict == Verdict::Violated {
            let execution = answer.execution.as_ref().expect("an execution");
            let confirmed = cyrano_interp::confirm(&program, &sc, &property, answer.violation.as_ref(), execution);
            assert!(confirmed.is_ok(), "{test}: {confirmed:?}");
            return (Some(test.to_string()), decided);
        }
        decided &= answer.verdict == Verdict::Verified;
    }
    (None, decided)
}

/// Where nodes are used again, the re-checks matter. Without that of `q->head`, a dequeue takes the field of a node that has become another one
/// for its successor and reports an empty queue: four calls show it. Without that of `q->tail`, an enqueue links its node behind one that is about
/// to be enqueued again, and a dequeue misses it: this takes five calls.
#[test]
fn missing_re_checks_are_found_where_nodes_are_used_again() {
    assert_eq!(found_on_sc(REUSE, 2..=4), (None, true));
    let without = |check: &str| {
        assert_eq!(REUSE.matches(check).count(), 1, "`{check}` is not there once");
        REUSE.replace(check, "{")
    };
    let (head, tail) = (without("if (head == q->head) {"), without("if (tail == q->tail) {"));
    assert_eq!(found_on_sc(&head, 2..=3), (None, true));
    let (shown, _) = found_on_sc(&head, 4..=4);
    println!("without the re-check of q->head: {shown:?}");
    assert!(shown.is_some(), "nothing shows that the re-check of q->head is missing");
    assert_eq!(found_on_sc(&tail, 2..=4), (None, true));
    let (shown, _) = found_on_sc(&tail, 5..=5);
    println!("without the re-check of q->tail: {shown:?}");
    assert!(shown.is_some(), "nothing shows that the re-check of q->tail is missing");
}

/// What is not a bug here, though a queue that reuses memory needs it, or a fast one.
///
/// The re-checks of `q->tail` and `q->head` keep a thread from using a node that was freed and used again in the meantime; memory is never
/// reused (`docs/c.md`), every change is a cas that compares with what was loaded, and fields are loaded after the pointer. For the same
/// reason a value may be loaded after the head has moved, and the head may overtake the tail. The last cas of an enqueue saves others the
/// work of moving the tail, and a dequeue that finds the tail behind comes before the enqueue that has not ended.
#[test]
fn what_only_reused_memory_or_speed_needs_is_no_bug() {
    let late = "                taken = next->value;\n                if (cas(&q->head, head, next)) {\n";
    let later = "                if (cas(&q->head, head, next)) {\n                    taken = next->value;\n";
    let mutants = [
        mutant("if (tail == q->tail) {", "{"),
        mutant("if (head == q->head) {", "{"),
        mutant("            if (head == tail) {\n", "            if (next == 0) {\n"),
        mutant("    cas(&q->tail, tail, node);\n", ""),
        mutant(late, later),
    ];
    for source in mutants {
        let (unit, file) = unit(&source);
        let tests = cyrano_cfront::all_tests(&file, 3);
        let found = tests.iter().find(|test| shows_a_bug(&unit, test, 0.5));
        assert!(found.is_none(), "{} shows a bug in\n{source}", found.expect("there is one"));
    }
}

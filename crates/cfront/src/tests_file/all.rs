//! Tests that nobody had to invent: every test with up to so many operation calls.
//!
//! A test is a sequence before the parentheses and at least two threads, each with at least one call. Threads that differ in their order
//! alone make the same test, because the observations of one are those of the other with columns permuted, serial or not.
//!
//! **What is left out, and why.** Tests with one thread, where the specification is the file itself: in every model a single thread reads its own
//! latest store, so that its only observations are serial ones; and an error of the program that a sequence of calls causes by itself is
//! met by every test that splits the sequence between two threads, whose serial executions include it. Compared with another file, though, a
//! sequence of calls may be wrong, and then [`sequential_tests`] are for that. Splitting such a sequence does not show it: the reference may have more serial executions
//! of the split one.
//!
//! **What is not left out, and why.** A test is not covered by a longer one that has it as a part, nor by one with the same calls in more
//! threads: both have more serial executions, which may explain an observation that is wrong in the smaller test. (A `dequeue` that
//! returns a value from nowhere is wrong in `( d | d )`, but may be right in `( d | de )`.) Neither is a test with a sequence before the
//! parentheses covered by one where the sequence belongs to a thread, which lets serial executions run other calls first.
//! So nothing else is skipped, but tests in which two threads call an operation that only one may call. Primed operations are restrictions of plain ones
//! and not generated; neither are calls behind the parentheses.

use cyrano_ir::Span;

use crate::tests_file::{Orders, Step, Test, TestFile};

/// All tests with up to `calls` operation calls, smaller ones first.
pub fn all_tests(file: &TestFile, calls: usize) -> Vec<Test> {
    let letters = file.interface.operations.len();
    let mut found = Vec::new();
    if letters == 0 {
        return found;
    }
    for total in 2..=calls {
        for before in 0..=total - 2 {
            let divisions = divisions(total - before, letters);
            for prefix in sequences(before, letters) {
                let tests = divisions.iter().map(|threads| test(file, prefix.clone(), threads.clone()));
                found.extend(tests.filter(|test| test.shared().is_none()));
            }
        }
    }
    found
}

/// All tests with up to `calls` operation calls, each in a thread of its own, smaller ones first. Where every order of calls is looked at these stand for all
/// others: `cyrano_graphs` has the argument. It needs operations that any thread may call; where there is one that only one thread may call, all tests are taken.
pub fn parallel_tests(file: &TestFile, calls: usize) -> Vec<Test> {
    if file.interface.operations.iter().any(|operation| operation.single) {
        return all_tests(file, calls);
    }
    let letters = file.interface.operations.len();
    let mut found = Vec::new();
    for total in 2..=calls {
        divide(total, 1, letters, None, &mut Vec::new(), &mut found);
    }
    found.into_iter().map(|threads| test(file, Vec::new(), threads)).collect()
}

/// All tests of one thread with up to `calls` operation calls, smaller ones first. A sequence before the thread would only move its beginning there.
pub fn sequential_tests(file: &TestFile, calls: usize) -> Vec<Test> {
    let letters = file.interface.operations.len();
    let sequences = (1..=calls).flat_map(|len| sequences(len, letters));
    sequences.map(|sequence| test(file, Vec::new(), vec![sequence])).collect()
}

fn test(file: &TestFile, before: Vec<Step>, threads: Vec<Vec<Step>>) -> Test {
    let (after, orders, span, interface) = (Vec::new(), Orders::default(), Span::default(), file.interface.clone());
    let mut test = Test { name: String::new(), before, threads, after, orders, span, interface };
    test.name = test.to_string();
    test
}

/// All sequences of this length.
fn sequences(len: usize, letters: usize) -> Vec<Vec<Step>> {
    let mut found = vec![Vec::new()];
    for _ in 0..len {
        let longer = found.iter().flat_map(|sequence| {
            (0..letters).map(|operation| {
                let mut longer: Vec<Step> = sequence.clone();
                longer.push(Step { operation, primed: false });
                longer
            })
        });
        found = longer.collect();
    }
    found
}

/// All ways to write so many calls as two or more threads, each once: longer threads first, threads of one length in their own order.
fn divisions(calls: usize, letters: usize) -> Vec<Vec<Vec<Step>>> {
    let mut found = Vec::new();
    divide(calls, calls - 1, letters, None, &mut Vec::new(), &mut found);
    found
}

fn divide(
    calls: usize,
    longest: usize,
    letters: usize,
    previous: Option<&Vec<Step>>,
    threads: &mut Vec<Vec<Step>>,
    found: &mut Vec<Vec<Vec<Step>>>,
) {
    if calls == 0 {
        found.push(threads.clone());
        return;
    }
    for len in (1..=longest.min(calls)).rev() {
        for sequence in sequences(len, letters) {
            if previous.is_some_and(|previous| previous.len() == len && *previous > sequence) {
                continue;
            }
            threads.push(sequence.clone());
            divide(calls - len, len, letters, Some(&sequence), threads, found);
            threads.pop();
        }
    }
}

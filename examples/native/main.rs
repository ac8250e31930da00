//! Lock-free code as a native test sees it: six small structures, each right, and with the mistake that it is known for; the tests say what is said about it.
//!
//! `cargo test -p cyrano-loom --test examples` runs them.

mod arc;
mod once_cell;
mod oneshot;
mod ring;
mod seqlock;
mod stack;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cyrano_loom::model::Builder;

/// A test that finds nothing, in all executions.
#[track_caller]
fn is_right(test: impl Fn() + Send + Sync + 'static) {
    let explored = Builder::new().explore(test);
    assert!(explored.complete, "{explored:?}");
}

/// What is said about a test that finds something.
#[track_caller]
fn is_wrong(test: impl Fn() + Send + Sync + 'static, words: &[&str]) {
    let found = catch_unwind(AssertUnwindSafe(|| Builder::new().explore(test)));
    let text = *found.expect_err("something is wrong").downcast::<String>().expect("a panic with a text");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in\n{text}");
    }
}

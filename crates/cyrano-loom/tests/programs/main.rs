//! Small programs: how many executions they have, what goes wrong in them, and what is said about it.

mod again;
mod executions;
mod loops;
mod races;
mod standard;
mod waits;
mod wrong;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cyrano_loom::model::Builder;

/// What is said about a program that is wrong.
#[track_caller]
pub(crate) fn wrong(program: impl Fn() + Send + Sync + 'static) -> String {
    let found = catch_unwind(AssertUnwindSafe(|| Builder::new().explore(program)));
    match found {
        Err(payload) => *payload.downcast::<String>().expect("a panic with a text"),
        Ok(explored) => panic!("nothing is wrong: {explored:?}"),
    }
}

#[track_caller]
pub(crate) fn says(program: impl Fn() + Send + Sync + 'static, words: &[&str]) {
    let text = wrong(program);
    for word in words {
        assert!(text.contains(word), "`{word}` is not in\n{text}");
    }
}

/// Nothing is wrong with a program; how many executions it has.
#[track_caller]
pub(crate) fn right(program: impl Fn() + Send + Sync + 'static) -> u64 {
    let explored = Builder::new().explore(program);
    assert!(explored.complete);
    explored.executions
}

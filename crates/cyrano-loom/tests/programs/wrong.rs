//! Panics, leaks, and code that does not do the same with the same past.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize as Plain;

use cyrano_loom::alloc::Track;
use cyrano_loom::model::Builder;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::AtomicUsize;
use cyrano_loom::sync::atomic::Ordering::Relaxed;
use cyrano_loom::thread;

use crate::{right, says};

#[test]
fn panics_are_told_with_the_execution() {
    says(
        || {
            let number = Arc::new(AtomicUsize::new(0));
            let other = number.clone();
            let thread = thread::spawn(move || {
                let value = other.load(Relaxed);
                other.store(value + 1, Relaxed);
            });
            let value = number.load(Relaxed);
            number.store(value + 1, Relaxed);
            thread.join().unwrap();
            assert_eq!(number.load(Relaxed), 2, "an update is lost");
        },
        &["panicked: assertion `left == right` failed: an update is lost", "load [wrong.rs:", "= 0 (Relaxed)", "<- "],
    );
    says(
        || {
            thread::spawn(|| panic!("in a thread"));
        },
        &["panicked: in a thread"],
    );
    says(
        || {
            let _ = catch_unwind(|| panic!("caught"));
            thread::yield_now();
            AtomicUsize::new(0).load(Relaxed);
        },
        &["panicked: caught"],
    );
}

#[test]
fn what_is_not_given_back_is_told() {
    says(|| std::mem::forget(Arc::new(1)), &["leak: an `Arc` was not given back", "tests/programs"]);
    says(|| std::mem::forget(Arc::new(vec![1])), &["leak: an `Arc` was not given back"]);
    says(|| std::mem::forget(Track::new(1)), &["leak: a value was not given back"]);
    right(|| drop((Arc::new(1), Track::new(vec![1]), Arc::new(String::new()))));
}

#[test]
fn other_behaviour_with_the_same_past_is_told() {
    static RUNS: Plain = Plain::new(0);
    says(
        || {
            let number = Arc::new(AtomicUsize::new(0));
            let other = number.clone();
            let thread = thread::spawn(move || other.store(1, Relaxed));
            if RUNS.fetch_add(1, Relaxed).is_multiple_of(2) {
                number.load(Relaxed);
            } else {
                number.store(5, Relaxed);
            }
            thread.join().unwrap();
        },
        &["the code under test is not deterministic", "tests/programs"],
    );
}

#[test]
fn nothing_of_an_execution_is_kept_for_the_next() {
    static KEPT: std::sync::OnceLock<AtomicUsize> = std::sync::OnceLock::new();
    says(
        || {
            let shared = Arc::new(AtomicUsize::new(0));
            let other = shared.clone();
            let thread = thread::spawn(move || other.store(1, Relaxed));
            shared.load(Relaxed);
            KEPT.get_or_init(|| AtomicUsize::new(0)).load(Relaxed);
            thread.join().unwrap();
        },
        &["this was made in another execution"],
    );
}

#[test]
fn a_limit_makes_a_search_incomplete() {
    let program = || {
        let number = Arc::new(AtomicUsize::new(0));
        let begin = || {
            let number = number.clone();
            thread::spawn(move || number.fetch_add(1, Relaxed))
        };
        let threads = [begin(), begin(), begin()];
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() < 3));
    };
    let mut builder = Builder::new();
    builder.max_permutations = Some(3);
    let explored = builder.explore(program);
    assert_eq!((explored.executions, explored.complete), (3, false));
    builder.must_complete = true;
    assert!(catch_unwind(AssertUnwindSafe(|| builder.check(program))).is_err());
}

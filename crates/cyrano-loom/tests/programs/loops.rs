//! Loops that wait, and count meanwhile.

use std::sync::atomic::AtomicUsize as Plain;

use cyrano_loom::model::{Builder, Explored};
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cyrano_loom::sync::atomic::{AtomicBool, AtomicUsize};
use cyrano_loom::{hint, thread};

use crate::{right, says};

/// A thread that waits until it is told, and gives up after so many rounds; what it saw in the end.
fn patience(rounds: usize, seen: &'static [Plain; 2], in_a_box: bool) -> Explored {
    Builder::new().explore(move || {
        let ready = Arc::new(AtomicBool::new(false));
        let other = ready.clone();
        let thread = thread::spawn(move || other.store(true, Release));
        let mut local = 0;
        let mut boxed = Box::new(0);
        while !ready.load(Acquire) {
            let count = if in_a_box { &mut *std::hint::black_box(&mut boxed) } else { &mut local };
            *count += 1;
            if *count == rounds {
                break;
            }
            thread::yield_now();
        }
        seen[usize::from(local + *boxed == rounds)].fetch_add(1, Relaxed);
        thread.join().unwrap();
    })
}

#[test]
fn a_loop_that_gives_up_does() {
    static SEEN: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    let explored = patience(4, &SEEN, false);
    assert!(explored.complete, "{explored:?}");
    assert!(SEEN.iter().all(|seen| seen.load(Relaxed) > 0), "it gives up, or is told: {SEEN:?}");
    // It is told before any of four looks, or after all of them.
    assert_eq!(explored.executions, 5);
}

#[test]
fn a_loop_that_gives_up_late_is_not_looked_at_to_its_end() {
    static SEEN: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    let explored = patience(40, &SEEN, false);
    let why = explored.incomplete.unwrap();
    assert!(why.contains("a loop that waits goes on longer than was looked at") && why.contains("loops.rs"), "{why}");
}

#[test]
fn what_is_counted_in_a_box_is_seen() {
    static SEEN: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    let explored = patience(30, &SEEN, true);
    assert!(explored.incomplete.unwrap().contains("a loop that waits goes on longer than was looked at"));
}

/// Nobody tells it: it is no livelock, as it gives up.
#[test]
fn a_loop_that_gives_up_is_no_livelock() {
    for rounds in [3, 40] {
        let explored = Builder::new().explore(move || {
            let ready = AtomicBool::new(false);
            for _ in 0..rounds {
                if ready.load(Acquire) {
                    break;
                }
                thread::yield_now();
            }
        });
        assert_eq!(explored.complete, rounds == 3, "{explored:?}");
    }
}

#[test]
fn locks_of_weak_exchanges_are_waited_for() {
    let executions = right(|| {
        let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let other = lock.clone();
        let add = |lock: &(AtomicBool, AtomicUsize)| {
            while lock.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                hint::spin_loop();
            }
            lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
            lock.0.store(false, Release);
        };
        let thread = thread::spawn(move || add(&other));
        add(&lock);
        thread.join().unwrap();
        assert_eq!(lock.1.load(Relaxed), 2);
    });
    assert!(executions > 2, "{executions}");
}

#[test]
fn weak_exchanges_fail_for_nothing() {
    let once = || {
        let number = AtomicUsize::new(0);
        assert!(number.compare_exchange_weak(0, 1, Relaxed, Relaxed).is_ok(), "it fails");
    };
    says(once, &["panicked: it fails"]);
    let mut builder = Builder::new();
    builder.spurious_failures = 0;
    assert_eq!(builder.explore(once).executions, 1);
    let twice = || {
        let number = AtomicUsize::new(0);
        let fails = (0..3).filter(|_| number.compare_exchange_weak(0, 0, Relaxed, Relaxed).is_err()).count();
        assert!(fails < 2, "twice");
    };
    right(twice);
    builder.spurious_failures = 2;
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.explore(twice))).is_err());
}

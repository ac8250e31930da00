//! Threads that wait for others, and for what never comes.

use std::sync::atomic::AtomicUsize as Plain;
use std::time::Duration;

use cyrano_loom::sync::atomic::AtomicBool;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cyrano_loom::sync::{Arc, Condvar, Mutex, RwLock};
use cyrano_loom::{hint, thread};

use crate::{right, says};

#[test]
fn locks_exclude_and_deadlock() {
    let executions = right(|| {
        let number = Arc::new(Mutex::new(0));
        let other = number.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *number.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*number.lock().unwrap(), 2);
    });
    assert_eq!(executions, 2);
    says(
        || {
            let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
            let other = locks.clone();
            let thread = thread::spawn(move || {
                let _one = other.0.lock().unwrap();
                let _two = other.1.lock().unwrap();
            });
            {
                let _two = locks.1.lock().unwrap();
                let _one = locks.0.lock().unwrap();
            }
            thread.join().unwrap();
        },
        &["deadlock: the main thread waits for ever at", "; thread 1 waits for ever at"],
    );
    let executions = right(|| {
        let number = Arc::new(RwLock::new(0));
        let other = number.clone();
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        let read = *number.read().unwrap();
        assert!(read < 2);
        thread.join().unwrap();
    });
    assert_eq!(executions, 2);
    assert!(
        right(|| {
            let lock = Arc::new(Mutex::new(()));
            let other = lock.clone();
            let thread = thread::spawn(move || other.try_lock().is_ok());
            let own = lock.try_lock().is_ok();
            let _ = (own, thread.join().unwrap());
        }) >= 3
    );
}

#[test]
fn wake_ups_are_lost_where_nobody_waits_yet() {
    let wait = |holds: bool| {
        move || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = pair.clone();
            let thread = thread::spawn(move || {
                if holds {
                    *other.0.lock().unwrap() = true;
                }
                other.1.notify_one();
            });
            let mut ready = pair.0.lock().unwrap();
            while !*ready {
                ready = pair.1.wait(ready).unwrap();
                if !holds {
                    break;
                }
            }
            drop(ready);
            thread.join().unwrap();
        }
    };
    right(wait(true));
    says(wait(false), &["deadlock: the main thread waits for ever"]);
}

#[test]
fn whichever_waits_may_be_woken() {
    static WOKEN: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    right(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let begin = |own: usize| {
            let pair = pair.clone();
            thread::spawn(move || {
                let mut tickets = pair.0.lock().unwrap();
                while *tickets == 0 {
                    tickets = pair.1.wait(tickets).unwrap();
                }
                *tickets -= 1;
                own
            })
        };
        let threads = [begin(0), begin(1)];
        for _ in 0..2 {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_one();
        }
        for thread in threads {
            WOKEN[thread.join().unwrap()].fetch_add(1, Relaxed);
        }
    });
    assert!(WOKEN.iter().all(|woken| woken.load(Relaxed) > 0));
}

#[test]
fn a_wait_with_a_limit_ends() {
    static ENDS: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    right(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_all();
        });
        let ready = pair.0.lock().unwrap();
        if !*ready {
            let (_ready, result) = pair.1.wait_timeout(ready, Duration::from_secs(1)).unwrap();
            ENDS[usize::from(result.timed_out())].fetch_add(1, Relaxed);
        }
        thread.join().unwrap();
    });
    assert!(ENDS.iter().all(|ends| ends.load(Relaxed) > 0));
}

#[test]
fn threads_park_and_are_let_go_on() {
    right(|| {
        let done = Arc::new(AtomicBool::new(false));
        let (main, other) = (thread::current(), done.clone());
        let thread = thread::spawn(move || {
            other.store(true, Relaxed);
            main.unpark();
        });
        thread::park();
        assert!(done.load(Relaxed), "who is let go on sees what was done before");
        thread.join().unwrap();
    });
    says(thread::park, &["deadlock: the main thread waits for ever"]);
}

#[test]
fn loops_that_wait_end_or_are_told() {
    let waits = |word: fn()| {
        move || {
            let ready = Arc::new(AtomicBool::new(false));
            let other = ready.clone();
            let thread = thread::spawn(move || other.store(true, Release));
            while !ready.load(Acquire) {
                word();
            }
            thread.join().unwrap();
        }
    };
    right(waits(thread::yield_now));
    right(waits(hint::spin_loop));
    says(waits(|| ()), &["does more than 1000 steps"]);
    says(
        || {
            let ready = AtomicBool::new(false);
            while !ready.load(Acquire) {
                thread::yield_now();
            }
        },
        &["livelock: the main thread reads the same for ever"],
    );
}

//! What is not atomic, and what is not synchronised.

use cyrano_loom::cell::{Cell, UnsafeCell};
use cyrano_loom::model::Builder;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cyrano_loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use cyrano_loom::thread;

use crate::{right, says};

struct Message {
    text: UnsafeCell<u32>,
    there: AtomicBool,
}

// SAFETY: who reads the text has seen that it is there; that this is not so everywhere is what the tests are about.
unsafe impl Sync for Message {}
// SAFETY: as above.
unsafe impl Send for Message {}

fn message(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let message = Arc::new(Message { text: UnsafeCell::new(0), there: AtomicBool::new(false) });
        let other = message.clone();
        let writer = thread::spawn(move || {
            // SAFETY: the pointer is used for as long as the cell is lent.
            other.text.with_mut(|text| unsafe { *text = 42 });
            other.there.store(true, store);
        });
        if message.there.load(load) {
            // SAFETY: as above.
            assert_eq!(message.text.with(|text| unsafe { *text }), 42);
        }
        writer.join().unwrap();
        // SAFETY: as above; the writer has ended.
        message.text.with_mut(|text| unsafe { *text = 1 });
    }
}

#[test]
fn cells_race_where_nothing_synchronises() {
    assert_eq!(right(message(Release, Acquire)), 2);
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
        says(message(store, load), &["data race: a read by the main thread and a write by thread 1", "tests/programs"]);
    }
}

#[test]
fn what_an_object_was_made_with_must_be_there() {
    let publish = |store: Ordering| {
        move || {
            let slot = Arc::new(AtomicPtr::<AtomicUsize>::default());
            let other = slot.clone();
            let writer = thread::spawn(move || {
                let number = Box::into_raw(Box::new(AtomicUsize::new(7)));
                other.store(number, store);
            });
            let found = slot.load(Acquire);
            if !found.is_null() {
                // SAFETY: it is given back by this thread only, in the end.
                assert_eq!(unsafe { &*found }.load(Relaxed), 7);
            }
            writer.join().unwrap();
            // SAFETY: the writer has stored it, and ended.
            drop(unsafe { Box::from_raw(slot.load(Relaxed)) });
        }
    };
    assert_eq!(right(publish(Release)), 2);
    says(publish(Relaxed), &["data race: an atomic load by the main thread and a write by thread 1"]);
}

/// In C11, and not in C++20, a later store of the same thread passes on what a release before it did.
#[test]
fn release_sequences_are_those_of_rust() {
    let program = || {
        let message = Arc::new((UnsafeCell::new(0), AtomicUsize::new(0)));
        let shared = message.clone();
        thread::spawn(move || {
            // SAFETY: the pointer is used for as long as the cell is lent.
            shared.0.with_mut(|text| unsafe { *text = 1 });
            shared.1.store(1, Release);
            shared.1.store(2, Relaxed);
        });
        if message.1.load(Acquire) == 2 {
            // SAFETY: as above.
            message.0.with(|text| unsafe { *text });
        }
    };
    says(program, &["data race"]);
    let mut builder = Builder::new();
    builder.c11_release_sequences = true;
    builder.explore(program);
}

#[test]
fn a_cell_is_not_lent_twice() {
    says(
        || {
            let cell = UnsafeCell::new(0);
            cell.with(|_| cell.with_mut(|_| ()));
        },
        &["a cell is written while it is read"],
    );
    right(|| {
        let cell = Cell::new(1);
        cell.set(cell.get() + 1);
        assert_eq!((cell.replace(5), cell.take(), cell.into_inner()), (2, 5, 0));
    });
}

/// Whoever runs first in a new run, the accesses of all others that were there before count.
#[test]
fn an_access_races_with_one_before_all_events_of_its_thread() {
    for late in [false, true] {
        let program = move || {
            let shared =
                Arc::new((AtomicUsize::new(0), Message { text: UnsafeCell::new(0), there: AtomicBool::new(false) }));
            let (one, other) = (shared.clone(), shared.clone());
            let write = |message: &Message| {
                // SAFETY: the pointer is used for as long as the cell is lent.
                message.text.with_mut(|text| unsafe { *text = 1 });
            };
            thread::spawn(move || {
                if one.0.load(Relaxed) == usize::from(late) {
                    write(&one.1);
                }
            });
            thread::spawn(move || {
                write(&other.1);
                other.1.there.store(true, Relaxed);
            });
            shared.0.store(1, Relaxed);
        };
        says(program, &["data race: a write by thread"]);
    }
}

/// The last thing that a thread does has no event after it; whoever waits for its end, or for somebody who has, comes after it.
#[test]
fn an_end_happens_before_whoever_waits_for_it() {
    let program = |waits: bool| {
        move || {
            let message = Arc::new(Message { text: UnsafeCell::new(0), there: AtomicBool::new(false) });
            let write = |message: &Message| {
                // SAFETY: the pointer is used for as long as the cell is lent.
                message.text.with_mut(|text| unsafe { *text += 1 });
            };
            let other = message.clone();
            let thread = thread::spawn(move || {
                let own = other.clone();
                let inner = thread::spawn(move || write(&own));
                if waits {
                    inner.join().unwrap();
                }
            });
            thread.join().unwrap();
            write(&message);
        }
    };
    assert_eq!(right(program(true)), 1);
    says(program(false), &["data race"]);
}

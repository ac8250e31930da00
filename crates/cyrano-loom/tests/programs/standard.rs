//! What stands in for `std`.

use std::sync::atomic::AtomicUsize as Plain;

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cyrano_loom::sync::atomic::{AtomicPtr, AtomicUsize};
use cyrano_loom::sync::{Arc, Barrier, Notify, Once, OnceLock, Weak, mpsc};
use cyrano_loom::thread;

use crate::right;

/// The value is dropped after all that was done with it, by whoever is the last.
#[test]
fn the_last_reference_drops_the_value() {
    struct Value(UnsafeCell<u32>, std::sync::Arc<Plain>);
    // SAFETY: for this test: the only accesses are a read by each thread, and a write by the last reference.
    unsafe impl Sync for Value {}
    // SAFETY: as above.
    unsafe impl Send for Value {}
    impl Drop for Value {
        fn drop(&mut self) {
            // SAFETY: the pointer is used for as long as the cell is lent.
            self.0.with_mut(|value| unsafe { *value = 1 });
            self.1.fetch_add(1, Relaxed);
        }
    }
    let drops = std::sync::Arc::new(Plain::new(0));
    let counted = drops.clone();
    let executions = right(move || {
        let value = Arc::new(Value(UnsafeCell::new(0), counted.clone()));
        let other = value.clone();
        // SAFETY: as above.
        let thread = thread::spawn(move || other.0.with(|value| unsafe { *value }));
        // SAFETY: as above.
        value.0.with(|value| unsafe { *value });
        drop(value);
        thread.join().unwrap();
    });
    assert_eq!(executions, 2);
    assert!(drops.load(Relaxed) >= 2);
}

#[test]
fn references_are_counted_where_somebody_looks() {
    static ONLY: [Plain; 2] = [Plain::new(0), Plain::new(0)];
    right(|| {
        let mut value = Arc::new(1);
        let other = value.clone();
        let thread = thread::spawn(move || drop(other));
        ONLY[usize::from(Arc::get_mut(&mut value).is_some())].fetch_add(1, Relaxed);
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
        let weak: Weak<i32> = Arc::downgrade(&value);
        assert_eq!(weak.upgrade().as_deref(), Some(&1));
        assert_eq!(Arc::try_unwrap(value), Ok(1));
        assert!(weak.upgrade().is_none());
    });
    assert!(ONLY.iter().all(|only| only.load(Relaxed) > 0));
}

#[test]
fn channels_barriers_and_messages() {
    right(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        sender.send(2).unwrap();
        drop(sender);
        let mut all: Vec<i32> = receiver.iter().collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        thread.join().unwrap();
    });
    right(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        let thread = thread::spawn(move || other.wait().is_leader());
        let leads = barrier.wait().is_leader();
        assert!(leads != thread.join().unwrap());
    });
    right(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        thread::spawn(move || other.notify());
        notify.wait();
    });
}

cyrano_loom::lazy_static! {
    static ref SHARED: AtomicUsize = AtomicUsize::new(5);
}

cyrano_loom::thread_local! {
    static OWN: std::cell::Cell<usize> = std::cell::Cell::new(1);
}

#[test]
fn what_is_made_once() {
    right(|| {
        let once = Arc::new((Once::new(), AtomicUsize::new(0), OnceLock::new()));
        let other = once.clone();
        let make = |once: &(Once, AtomicUsize, OnceLock<usize>)| {
            once.0.call_once(|| once.1.store(once.1.load(Relaxed) + 1, Relaxed));
            assert_eq!(once.1.load(Relaxed), 1);
            *once.2.get_or_init(|| 7)
        };
        let thread = thread::spawn(move || make(&other));
        assert_eq!((make(&once), thread.join().unwrap()), (7, 7));
    });
    right(|| {
        let add = || {
            OWN.set(OWN.get() + 1);
            SHARED.fetch_add(OWN.get(), AcqRel);
        };
        let thread = thread::spawn(add);
        add();
        thread.join().unwrap();
        assert_eq!(SHARED.load(SeqCst), 9);
    });
}

#[test]
fn threads_of_a_scope_borrow() {
    let executions = right(|| {
        let number = AtomicUsize::new(0);
        let read = thread::scope(|scope| {
            let one = scope.spawn(|| number.fetch_add(1, Relaxed));
            scope.spawn(|| number.fetch_add(1, Relaxed));
            one.join().unwrap()
        });
        assert!(read < 2);
        assert_eq!(number.load(Relaxed), 2);
    });
    assert_eq!(executions, 2);
}

/// A stack whose nodes come and go, so that addresses go through memory and are others in each run.
#[test]
fn pointers_go_through_memory() {
    struct Node {
        value: usize,
        next: *mut Node,
    }
    fn push(head: &AtomicPtr<Node>, value: usize) {
        let node = Box::into_raw(Box::new(Node { value, next: std::ptr::null_mut() }));
        let mut next = head.load(Relaxed);
        loop {
            // SAFETY: nobody else knows the node yet.
            unsafe { (*node).next = next };
            match head.compare_exchange(next, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => next = now,
            }
        }
    }
    let executions = right(|| {
        let head = Arc::new(AtomicPtr::default());
        let begin = |value| {
            let head = head.clone();
            thread::spawn(move || push(&head, value))
        };
        let threads = [begin(1), begin(2), begin(3)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let (mut sum, mut node) = (0, head.load(Acquire));
        while !node.is_null() {
            // SAFETY: all threads have ended, and each node is in the list once.
            let own = unsafe { Box::from_raw(node) };
            sum += own.value;
            node = own.next;
        }
        assert_eq!(sum, 6);
    });
    assert!(executions > 6, "{executions}");
}

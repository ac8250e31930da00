//! A ring that one thread puts into and another one takes out of.
//!
//! Whoever takes sees by the tail that something is there. **The mistake:** the tail is stored `Relaxed`, so that what was put there need not be there yet.

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::{AtomicUsize, Ordering};
use cyrano_loom::thread;

const SIZE: usize = 2;

struct Ring {
    slots: [UnsafeCell<u32>; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
    /// How the tail is stored.
    publishes: Ordering,
}

// SAFETY: a slot between head and tail is the consumer's, any other one the producer's.
unsafe impl Sync for Ring {}
// SAFETY: as above.
unsafe impl Send for Ring {}

impl Ring {
    fn new(publishes: Ordering) -> Self {
        let slots = std::array::from_fn(|_| UnsafeCell::new(0));
        Self { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), publishes }
    }

    /// For one thread only.
    fn put(&self, value: u32) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == SIZE {
            return false;
        }
        // SAFETY: the slot is the producer's.
        self.slots[tail % SIZE].with_mut(|slot| unsafe { *slot = value });
        self.tail.store(tail + 1, self.publishes);
        true
    }

    /// For one other thread only.
    fn take(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the slot is the consumer's.
        let value = self.slots[head % SIZE].with(|slot| unsafe { *slot });
        self.head.store(head + 1, Ordering::Release);
        Some(value)
    }
}

fn test(publishes: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let ring = Arc::new(Ring::new(publishes));
        let other = ring.clone();
        let producer = thread::spawn(move || (1..=3).filter(|value| other.put(*value)).count());
        let taken: Vec<u32> = (0..3).filter_map(|_| ring.take()).collect();
        let put = producer.join().unwrap();
        let rest: Vec<u32> = std::iter::from_fn(|| ring.take()).collect();
        assert_eq!(taken.len() + rest.len(), put, "everything is taken once");
        assert!([taken, rest].concat().is_sorted(), "in order");
    }
}

#[test]
fn a_ring_is_right() {
    crate::is_right(test(Ordering::Release));
}

#[test]
fn a_slot_that_is_not_there_yet_is_found() {
    crate::is_wrong(
        test(Ordering::Relaxed),
        &["data race: a read by the main thread and a write by thread 1", "ring.rs"],
    );
}

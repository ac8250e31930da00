//! A value that is made once, by whoever comes first.
//!
//! **The mistake:** that it is there is looked at `Relaxed`, so that the value itself need not be.

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::AtomicUsize;
use cyrano_loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use cyrano_loom::thread;

const EMPTY: usize = 0;
const BUSY: usize = 1;
const THERE: usize = 2;

struct Once {
    state: AtomicUsize,
    value: UnsafeCell<u32>,
    /// How the state is looked at.
    looks: Ordering,
}

// SAFETY: the value is written by the thread that was first, before it is there, and read afterwards.
unsafe impl Sync for Once {}
// SAFETY: as above.
unsafe impl Send for Once {}

impl Once {
    fn get_or_make(&self, make: impl FnOnce() -> u32) -> u32 {
        if self.state.compare_exchange(EMPTY, BUSY, self.looks, self.looks).is_ok() {
            // SAFETY: nobody else is first.
            self.value.with_mut(|value| unsafe { *value = make() });
            self.state.store(THERE, Release);
        }
        while self.state.load(self.looks) != THERE {
            thread::yield_now();
        }
        // SAFETY: it is there.
        self.value.with(|value| unsafe { *value })
    }
}

fn test(looks: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let once = Arc::new(Once { state: AtomicUsize::new(EMPTY), value: UnsafeCell::new(0), looks });
        let other = once.clone();
        let thread = thread::spawn(move || other.get_or_make(|| 1));
        let own = once.get_or_make(|| 2);
        assert_eq!(thread.join().unwrap(), own, "both see the same");
    }
}

#[test]
fn a_cell_is_right() {
    crate::is_right(test(Acquire));
}

#[test]
fn a_value_that_is_not_there_yet_is_found() {
    crate::is_wrong(test(Relaxed), &["data race: a read by ", "a write by ", "once_cell.rs"]);
}

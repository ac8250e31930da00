//! References that are counted: the last one to go takes the value with it.
//!
//! **The mistake:** counting down is `Relaxed`, so that what others did with the value need not be over when it is taken.

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use cyrano_loom::sync::atomic::{AtomicUsize, fence};
use cyrano_loom::thread;

struct Inner {
    count: AtomicUsize,
    value: UnsafeCell<Option<u32>>,
}

// SAFETY: the value is written by who has the last reference.
unsafe impl Sync for Inner {}
// SAFETY: as above.
unsafe impl Send for Inner {}

/// One of two references.
struct Reference {
    inner: Arc<Inner>,
    releases: Ordering,
}

impl Reference {
    fn get(&self) -> u32 {
        // SAFETY: there is a reference, so that nobody writes.
        self.inner.value.with(|value| unsafe { *value }).expect("the value is there")
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.inner.count.fetch_sub(1, self.releases) == 1 {
            fence(Acquire);
            // SAFETY: there is no other reference.
            self.inner.value.with_mut(|value| unsafe { *value = None });
        }
    }
}

fn test(releases: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let inner = Arc::new(Inner { count: AtomicUsize::new(2), value: UnsafeCell::new(Some(5)) });
        let [own, other] = [inner.clone(), inner].map(|inner| Reference { inner, releases });
        let thread = thread::spawn(move || assert_eq!(other.get(), 5));
        assert_eq!(own.get(), 5);
        drop(own);
        thread.join().unwrap();
    }
}

#[test]
fn counting_is_right() {
    crate::is_right(test(Release));
}

#[test]
fn a_value_that_goes_too_early_is_found() {
    crate::is_wrong(test(Relaxed), &["data race: a write by ", "a read by ", "arc.rs"]);
}

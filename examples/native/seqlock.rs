//! A lock whose readers do not write: they read a number, the values, and the number again, and try anew if it has changed.
//!
//! **The mistake:** no fence stands between the values and the second look at the number, which may then be older than the values.

use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cyrano_loom::sync::atomic::{AtomicUsize, fence};
use cyrano_loom::thread;

struct Lock {
    number: AtomicUsize,
    values: [AtomicUsize; 2],
}

impl Lock {
    /// For one thread only.
    fn write(&self, value: usize) {
        let number = self.number.load(Relaxed);
        self.number.store(number + 1, Relaxed);
        fence(Release);
        self.values.iter().for_each(|place| place.store(value, Relaxed));
        self.number.store(number + 2, Release);
    }

    /// The values, if nobody writes meanwhile.
    fn read(&self, has_fence: bool) -> Option<[usize; 2]> {
        let number = self.number.load(Acquire);
        let values = [self.values[0].load(Relaxed), self.values[1].load(Relaxed)];
        if has_fence {
            fence(Acquire);
        }
        (number.is_multiple_of(2) && self.number.load(Relaxed) == number).then_some(values)
    }
}

fn test(has_fence: bool) -> impl Fn() + Send + Sync {
    move || {
        let values = std::array::from_fn(|_| AtomicUsize::new(0));
        let lock = Arc::new(Lock { number: AtomicUsize::new(0), values });
        let other = lock.clone();
        let writer = thread::spawn(move || other.write(1));
        if let Some([one, other]) = lock.read(has_fence) {
            assert_eq!(one, other, "values of two writes");
        }
        writer.join().unwrap();
    }
}

#[test]
fn a_lock_is_right() {
    crate::is_right(test(true));
}

#[test]
fn values_of_two_writes_are_found() {
    crate::is_wrong(test(false), &["values of two writes", "seqlock.rs", "<- what it was made with"]);
}

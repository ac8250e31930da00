//! A channel for one value, whose receiver parks.
//!
//! **The mistake:** the receiver looks whether the value is there, then says that it waits, and does not look again. If the sender comes in between, nobody wakes it.

use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::AtomicBool;
use cyrano_loom::sync::atomic::Ordering::SeqCst;
use cyrano_loom::thread;

struct Channel {
    value: UnsafeCell<u32>,
    is_there: AtomicBool,
    waits: AtomicBool,
    receiver: thread::Thread,
}

// SAFETY: the value is written before it is there, and read afterwards.
unsafe impl Sync for Channel {}
// SAFETY: as above.
unsafe impl Send for Channel {}

impl Channel {
    fn send(&self, value: u32) {
        // SAFETY: nobody reads it before it is there.
        self.value.with_mut(|place| unsafe { *place = value });
        self.is_there.store(true, SeqCst);
        if self.waits.load(SeqCst) {
            self.receiver.unpark();
        }
    }

    fn receive(&self, looks_again: bool) -> u32 {
        if !self.is_there.load(SeqCst) {
            self.waits.store(true, SeqCst);
            if !looks_again || !self.is_there.load(SeqCst) {
                thread::park();
            }
        }
        // SAFETY: it is there.
        self.value.with(|place| unsafe { *place })
    }
}

fn test(looks_again: bool) -> impl Fn() + Send + Sync {
    move || {
        let channel = Arc::new(Channel {
            value: UnsafeCell::new(0),
            is_there: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            receiver: thread::current(),
        });
        let other = channel.clone();
        let sender = thread::spawn(move || other.send(5));
        assert_eq!(channel.receive(looks_again), 5);
        sender.join().unwrap();
    }
}

#[test]
fn a_channel_is_right() {
    crate::is_right(test(true));
}

#[test]
fn a_wake_up_that_is_lost_is_found() {
    crate::is_wrong(test(false), &["deadlock: the main thread waits for ever", "oneshot.rs"]);
}

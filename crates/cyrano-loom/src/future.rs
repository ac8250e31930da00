//! Futures that a thread waits for.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::{Mutex, Notify};

struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Polls a future until it is ready, and waits to be woken in between.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell(Notify::new()));
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => bell.0.wait(),
        }
    }
}

/// A waker that threads share.
#[derive(Debug)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// A new one, without a waker.
    #[track_caller]
    pub fn new() -> Self {
        Self { waker: Mutex::new(None) }
    }

    #[track_caller]
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        match self.waker.lock() {
            Ok(mut own) => std::mem::replace(&mut *own, waker),
            Err(_) => unreachable!("locks are not poisoned"),
        }
    }

    /// Has this waker woken next.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        drop(self.replace(Some(waker)));
    }

    /// The same, by a reference.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// The waker, which is not woken then.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.replace(None)
    }

    /// Wakes.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

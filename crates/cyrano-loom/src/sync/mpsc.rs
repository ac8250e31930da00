//! Channels without a bound.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, SendError, TryRecvError};

use crate::sync::{Condvar, Mutex, MutexGuard};

struct Queue<T> {
    messages: VecDeque<T>,
    senders: usize,
    receives: bool,
}

struct Channel<T> {
    queue: Mutex<Queue<T>>,
    comes: Condvar,
}

impl<T> Channel<T> {
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        match self.queue.lock() {
            Ok(queue) => queue,
            Err(_) => unreachable!("locks are not poisoned"),
        }
    }
}

/// `std::sync::mpsc::Sender`.
pub struct Sender<T>(Arc<Channel<T>>);

/// `std::sync::mpsc::Receiver`.
pub struct Receiver<T>(Arc<Channel<T>>);

/// A new channel.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Mutex::new(Queue { messages: VecDeque::new(), senders: 1, receives: true });
    let channel = Arc::new(Channel { queue, comes: Condvar::new() });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut queue = self.0.lock();
        if !queue.receives {
            return Err(SendError(message));
        }
        queue.messages.push_back(message);
        self.0.comes.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.senders -= 1;
        if queue.senders == 0 {
            self.0.comes.notify_all();
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let waited = self.0.comes.wait_while(self.0.lock(), |queue| queue.messages.is_empty() && queue.senders > 0);
        let Ok(mut queue) = waited else { unreachable!("locks are not poisoned") };
        queue.messages.pop_front().ok_or(RecvError)
    }

    /// The next message, if it is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut queue = self.0.lock();
        let none = if queue.senders > 0 { TryRecvError::Empty } else { TryRecvError::Disconnected };
        queue.messages.pop_front().ok_or(none)
    }

    /// The messages, until nobody sends any more.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let left = {
            let mut queue = self.0.lock();
            queue.receives = false;
            std::mem::take(&mut queue.messages)
        };
        drop(left);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

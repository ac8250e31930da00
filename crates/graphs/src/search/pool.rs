//! Work that is shared: what a search has left to do, until nobody has anything left.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is left to do, and who waits for some of it.
pub(crate) struct Pool<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
    /// How many wait for whom there is nothing.
    hungry: AtomicUsize,
    closed: AtomicBool,
}

struct State<T> {
    tasks: Vec<T>,
    waiting: usize,
    workers: usize,
}

impl<T> Pool<T> {
    pub(crate) fn new(workers: usize, tasks: Vec<T>) -> Self {
        let state = Mutex::new(State { tasks, waiting: 0, workers });
        Self { state, wake: Condvar::new(), hungry: AtomicUsize::new(0), closed: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, state: &State<T>) {
        self.hungry.store(state.waiting.saturating_sub(state.tasks.len()), Ordering::Relaxed);
    }

    /// Something to do; none once everybody is waiting or somebody has [closed](Self::close) it.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        state.waiting += 1;
        loop {
            if self.is_closed() {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                state.waiting -= 1;
                self.count(&state);
                return Some(task);
            }
            if state.waiting == state.workers {
                drop(state);
                self.close();
                return None;
            }
            self.count(&state);
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether somebody waits for whom there is nothing.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn give(&self, task: T) {
        let mut state = self.lock();
        state.tasks.push(task);
        self.count(&state);
        self.wake.notify_one();
    }

    /// What nobody has taken.
    pub(crate) fn left(self) -> Vec<T> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).tasks
    }

    /// Ends the work of all.
    pub(crate) fn close(&self) {
        let state = self.lock();
        self.closed.store(true, Ordering::Relaxed);
        self.hungry.store(0, Ordering::Relaxed);
        drop(state);
        self.wake.notify_all();
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

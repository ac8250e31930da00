//! What `std::thread` has.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cyrano_graphs::native::{Request, Written};
use cyrano_ir::LocId;

use crate::rt::{self, Place, ask};
use crate::word::{Word, tags};

/// Which thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(usize);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadId({})", self.0)
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    id: ThreadId,
    name: Option<String>,
    token: LocId,
}

impl Thread {
    /// Which one it is.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// What it is called.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Lets it go on, now or when it parks next.
    #[track_caller]
    pub fn unpark(&self) {
        fn leave_word(_: u64, _: [u64; 2]) -> Written {
            Written::Value(1)
        }
        let orders = (tags(Ordering::Release), tags(Ordering::Release));
        Word::of(self.token).update(leave_word, [0; 2], orders, Location::caller());
    }
}

/// The thread that runs.
pub fn current() -> Thread {
    rt::with(|state| {
        let fiber = &state.fibers[state.current];
        let Some(token) = fiber.token else { unreachable!("a thread that runs") };
        Thread { id: ThreadId(state.current), name: fiber.name.clone(), token }
    })
}

/// Waits until somebody lets it go on. It does not go on for nothing.
#[track_caller]
pub fn park() {
    Word::of(current().token).take(1, 0, Location::caller());
}

/// Says that the thread may wait for others: if it has read the same twice in a row, and done nothing else, it goes on once that changes.
#[track_caller]
pub fn yield_now() {
    rt::idle::idle(Location::caller());
}

/// As [`yield_now`]: time says nothing about what others have done.
#[track_caller]
pub fn sleep(_: Duration) {
    rt::idle::idle(Location::caller());
}

/// Waits for the end of a thread.
pub struct JoinHandle<T> {
    thread: Thread,
    result: Arc<Mutex<Option<T>>>,
}

/// How a thread is begun.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives it a name.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Has no meaning here: all stacks have a megabyte.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    /// Begins it.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let place = Location::caller();
        let (body, result) = with_result(body);
        let thread = begin(self.name, body, place);
        Ok(JoinHandle { thread, result })
    }
}

type WithResult<'a, T> = (Box<dyn FnOnce() + 'a>, Arc<Mutex<Option<T>>>);

fn with_result<'a, T: 'a>(body: impl FnOnce() -> T + 'a) -> WithResult<'a, T> {
    let result = Arc::new(Mutex::new(None));
    let put = Arc::clone(&result);
    let body = move || {
        let value = body();
        *put.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    (Box::new(body), result)
}

/// Begins a thread.
fn begin(name: Option<String>, body: Box<dyn FnOnce()>, place: Place) -> Thread {
    let (thread, token) = rt::with(|state| {
        let current = state.current;
        let number = state.fibers[current].spawned;
        state.fibers[current].spawned += 1;
        (state.begun(current, number), state.make(0, place))
    });
    ask::ask(Request::Spawn(thread), place);
    if std::thread::panicking() {
        // Nobody runs any more.
        std::mem::forget(body);
    } else {
        rt::with(|state| {
            state.put_fiber(thread, name.clone(), body);
            state.fibers[thread].token = Some(token);
        });
    }
    Thread { id: ThreadId(thread), name, token }
}

fn join<T>(thread: &Thread, result: &Mutex<Option<T>>, place: Place) -> std::thread::Result<T> {
    ask::ask(Request::Join(thread.id.0), place);
    let value = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.ok_or_else(|| Box::new("the thread did not come to its end") as Box<dyn Any + Send>)
}

/// Begins a thread.
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    match Builder::new().spawn(body) {
        Ok(handle) => handle,
        Err(error) => unreachable!("{error}"),
    }
}

impl<T> JoinHandle<T> {
    /// Waits for its end, and gets what it returned. That it panicked is a violation, and found before.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        join(&self.thread, &self.result, Location::caller())
    }

    /// Which thread it is.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// Where threads are begun that end before it does.
pub struct Scope<'scope, 'env: 'scope> {
    threads: Mutex<Vec<Thread>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Waits for the end of a thread of a scope.
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    result: Arc<Mutex<Option<T>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
}

/// Threads that use what is borrowed: they have come to their ends when this returns.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = Location::caller();
    let scope = Scope { threads: Mutex::default(), scope: PhantomData, env: PhantomData };
    let result = body(&scope);
    loop {
        let next = scope.threads.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(thread) = next else { return result };
        ask::ask(Request::Join(thread.id.0), place);
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Begins a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (body, result) = with_result(body);
        // SAFETY: the body and what it borrows are used by the thread only, and `scope` returns after the thread has come to its end. If it does not return, as
        // its thread panics or its execution is left, then the thread that was begun here runs no further either: a panic ends the execution with all its threads,
        // none of which is resumed, or unwound, or has its body dropped (`State::leave`).
        let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'scope>, Box<dyn FnOnce() + 'static>>(body) };
        let thread = begin(None, body, Location::caller());
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread.clone());
        ScopedJoinHandle { thread, result, scope: PhantomData }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for its end, and gets what it returned.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        join(&self.thread, &self.result, Location::caller())
    }

    /// Which thread it is.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// What each thread has for itself ([`thread_local!`](crate::thread_local!)).
#[derive(Debug)]
pub struct LocalKey<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

/// What a thread had for itself is gone, as it comes to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the thread had for itself is gone")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// Has a look at it; makes it if it is not there.
    pub fn with<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        match self.try_with(look) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same, while the thread comes to its end, too.
    pub fn try_with<R>(&'static self, look: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let address = std::ptr::from_ref(self) as usize;
        let there = || {
            rt::with(|state| {
                let fiber = &state.fibers[state.current];
                (fiber.locals.get(&address).cloned(), fiber.locals_are_gone)
            })
        };
        let value = match there() {
            (Some(value), _) => value,
            (None, true) => return Err(AccessError(())),
            (None, false) => {
                let value: Rc<dyn Any> = Rc::new((self.init)());
                rt::with(|state| {
                    let current = state.current;
                    state.fibers[current].locals.insert(address, Rc::clone(&value));
                });
                value
            }
        };
        let Some(value) = value.downcast_ref::<T>() else { unreachable!("by the key of its type") };
        Ok(look(value))
    }
}

impl<T: 'static> LocalKey<std::cell::Cell<T>> {
    /// Writes.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Reads.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(std::cell::Cell::get)
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Has a look at what the cell holds.
    pub fn with_borrow<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| look(&cell.borrow()))
    }

    /// Changes what the cell holds.
    pub fn with_borrow_mut<R>(&'static self, change: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| change(&mut cell.borrow_mut()))
    }
}

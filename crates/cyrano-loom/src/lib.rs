//! Tests of concurrent Rust code: every execution that the memory model allows, each once.
//!
//! What a test uses of `std` for threads and memory it takes from here instead, with the names that loom gave them, and [`model()`] runs it in every way:
//!
//! ```
//! use cyrano_loom::sync::Arc;
//! use cyrano_loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
//! use cyrano_loom::thread;
//!
//! cyrano_loom::model(|| {
//!     let number = Arc::new(AtomicUsize::new(0));
//!     let other = number.clone();
//!     let thread = thread::spawn(move || other.fetch_add(1, SeqCst));
//!     number.fetch_add(1, SeqCst);
//!     thread.join().unwrap();
//!     assert_eq!(number.load(SeqCst), 2);
//! });
//! ```
//!
//! The threads of a test run as coroutines, again from the start for each execution ([`rt`]); the engine of `cyrano-graphs` decides what every read returns
//! ([`cyrano_graphs::native`]). `docs/loom.md` says what differs from loom.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
mod rt;
pub mod sync;
pub mod thread;
mod word;

pub use model::model;

/// The most threads that an execution may have.
pub const MAX_THREADS: usize = cyrano_graphs::native::MAX_THREADS;

/// In loom, has choices left out from here on. Here, every execution is looked at all the same.
pub fn stop_exploring() {}

/// In loom, ends what [`stop_exploring`] began. Here, every execution is looked at all the same.
pub fn explore() {}

/// Leaves this execution: what comes of it is not looked at any further, and other threads may end or not.
#[track_caller]
pub fn skip_branch() {
    rt::fiber::close(cyrano_graphs::native::End::Left, std::panic::Location::caller());
}

/// Declares statics that each execution has anew, and makes when they are used first.
#[macro_export]
macro_rules! lazy_static {
    ($(#[$attr:meta])* static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@ [$(#[$attr])*] () static ref $name : $type = $init; $($rest)*);
    };
    ($(#[$attr:meta])* pub static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@ [$(#[$attr])*] (pub) static ref $name : $type = $init; $($rest)*);
    };
    ($(#[$attr:meta])* pub ($($scope:tt)+) static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@ [$(#[$attr])*] (pub ($($scope)+)) static ref $name : $type = $init; $($rest)*);
    };
    (@ [$($attr:tt)*] ($($visible:tt)*) static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $($attr)*
        $($visible)* static $name: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy {
            init: || $init,
            _p: ::std::marker::PhantomData,
        };
        $crate::lazy_static!($($rest)*);
    };
    () => {};
}

/// Declares what each thread of an execution has for itself.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $visible:vis static $name:ident : $type:ty = const { $init:expr } $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attr])* $visible static $name : $type = $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $visible:vis static $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attr])* $visible static $name : $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $visible:vis static $name:ident : $type:ty = $init:expr) => {
        $(#[$attr])*
        $visible static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey {
            init: || $init,
            _p: ::std::marker::PhantomData,
        };
    };
}

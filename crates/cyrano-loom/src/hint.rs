//! What `std::hint` has.

use std::panic::Location;

/// Waits for others, perhaps, as [`yield_now`](crate::thread::yield_now) does.
#[track_caller]
pub fn spin_loop() {
    crate::rt::idle::idle(Location::caller());
}

/// What cannot be reached, and panics if it is.
///
/// # Safety
///
/// Nothing can happen here; in `std`, whoever comes here may do anything.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("this was said to be unreachable")
}

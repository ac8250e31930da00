//! The slots of the table: numbers that start as zero, in large pages where the system has them.
//!
//! Slots are visited at random, so that with pages of the usual size nearly every visit would miss the processor's buffer of page
//! addresses as well; and many small pages are slow to get for several workers at once. A large table is mapped and not
//! written here: the system hands out zeros, page by page, to whichever worker touches one first.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// A large page.
const PAGE: usize = 1 << 21;

/// Slots, all empty at first.
pub(super) struct Slots {
    start: NonNull<AtomicU64>,
    len: usize,
    mapped: bool,
}

// SAFETY: it owns its memory, which holds nothing but atomics.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl Slots {
    pub fn new(len: usize) -> Self {
        let layout = layout(len);
        if let Some(start) = map(layout.size()) {
            return Self { start: start.cast(), len, mapped: true };
        }
        // SAFETY: the layout is not empty; zeros are atomics.
        let Some(start) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        Self { start: start.cast(), len, mapped: false }
    }
}

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len.max(1) * size_of::<AtomicU64>(), 64).expect("slots have a size")
}

/// Zeros in large pages, if they fill some and the system has them.
#[cfg(target_os = "linux")]
fn map(size: usize) -> Option<NonNull<u8>> {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    if size < PAGE {
        return None;
    }
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new range of addresses, which nobody else has.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), size, access, MapFlags::PRIVATE) }.ok()?;
    // SAFETY: the range is ours, and the advice changes nothing about its contents. Where it is not followed, nothing is lost.
    let _ = unsafe { madvise(start, size, Advice::LinuxHugepage) };
    NonNull::new(start.cast())
}

#[cfg(not(target_os = "linux"))]
fn map(_: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// The range was mapped, and nobody uses it any more.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: as the caller says. It fails for no range that was mapped.
    let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), size) };
}

#[cfg(not(target_os = "linux"))]
unsafe fn unmap(_: NonNull<u8>, _: usize) {}

impl Deref for Slots {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the memory is ours, as large as this, and began as zeros.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        let layout = layout(self.len);
        // SAFETY: it was made in the same way.
        unsafe {
            if self.mapped {
                unmap(self.start.cast(), layout.size());
            } else {
                dealloc(self.start.as_ptr().cast(), layout);
            }
        }
    }
}

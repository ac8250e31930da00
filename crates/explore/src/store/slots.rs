//! The slots of the table: numbers that start as zero, in large pages where the system has them.
//!
//! Slots are visited at random, so that with pages of the usual size nearly every visit would miss the processor's buffer of page
//! addresses as well; and many small pages are slow to get for several workers at once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// A large page.
const PAGE: usize = 1 << 21;

/// Slots, all empty at first.
pub(super) struct Slots {
    start: NonNull<AtomicU64>,
    len: usize,
}

// SAFETY: it owns its memory, which holds nothing but atomics.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl Slots {
    pub fn new(len: usize) -> Self {
        let layout = layout(len);
        // SAFETY: the layout is not empty.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if layout.size() >= PAGE {
            // SAFETY: the range is ours, and the advice changes nothing about its contents. Where it is not followed, nothing is lost.
            let _ =
                unsafe { rustix::mm::madvise(start.as_ptr().cast(), layout.size(), rustix::mm::Advice::LinuxHugepage) };
        }
        // SAFETY: the memory is ours and as large as the layout says; zeros are atomics.
        unsafe { start.as_ptr().write_bytes(0, layout.size()) };
        Self { start: start.cast(), len }
    }
}

fn layout(len: usize) -> Layout {
    let size = len.max(1) * size_of::<AtomicU64>();
    Layout::from_size_align(size, if size >= PAGE { PAGE } else { 64 }).expect("slots have a size")
}

impl Deref for Slots {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the memory is ours, and was written in `new`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it was made with this layout.
        unsafe { dealloc(self.start.as_ptr().cast(), layout(self.len)) };
    }
}

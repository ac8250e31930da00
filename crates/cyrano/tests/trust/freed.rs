//! Freed memory is not accessed, not freed again, and used again by malloc.

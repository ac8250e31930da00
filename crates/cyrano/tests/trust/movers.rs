//! Blocks are proven by movers only if they are atomic.

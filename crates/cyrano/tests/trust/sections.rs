//! Loops in sections and fences in units lose no execution.

//! The definitions, by brute force.

//! Synthesis against tables of what is wrong, and the texts that it changes.

mod edits;
mod orders;
mod search;
mod shape;
mod suites;
mod texts;

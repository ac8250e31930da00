//! What is said about a text, as data: where ([`Span`]), what is wrong and what would be right ([`Diagnostic`]), which name was meant
//! ([`suggest`]).
//!
//! Whoever reads a text speaks like this: front ends, the text forms of programs, models and histories.

mod diagnostic;
mod span;
pub mod suggest;

pub use diagnostic::Diagnostic;
pub use span::Span;

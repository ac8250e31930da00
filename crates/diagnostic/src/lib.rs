//! What is said about a text, as data: where ([`Span`]), what is wrong and what would be right ([`Diagnostic`]), which name was meant
//! ([`suggest`]), and which file a line comes from where several make one text ([`origin`]).
//!
//! Whoever reads a text speaks like this: front ends, the text forms of programs, models and histories.

mod diagnostic;
pub mod origin;
mod span;
pub mod suggest;

pub use diagnostic::Diagnostic;
pub use span::Span;

//! The fast decision against the definitions, the text form, the library's histories and what is said about them.

mod agreement;
mod covers;
mod decisions;
mod generate;
mod library;
mod mutants;
mod texts;

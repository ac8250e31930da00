//! What a program beside an expectation (`ui.rs`) does not say: limits, settings, properties of what is lowered, and verdicts.

mod algorithm;
mod client;
mod examples;
mod limits;
mod stm;
mod threads;
mod values;

use cyrano_ir::Program;

/// Compiles a program that must be right.
fn program(source: &str, set: &[(&str, i128)]) -> Program {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = cyrano_rml::compile(source, "test", &set).unwrap_or_else(|error| panic!("{error:#?}"));
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

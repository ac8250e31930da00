//! What a program beside an expectation (`ui.rs`) does not say: limits, settings, properties of what is lowered, and verdicts.

mod algorithm;
mod client;
mod examples;
mod limits;
mod soup;
mod stm;
mod threads;
mod ui;
mod values;

use cyrano_ir::Program;

/// Compiles a program that must be right.
fn program(source: &str, set: &[(&str, i128)]) -> Program {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = cyrano_rml::compile(source, "test", &set).unwrap_or_else(|error| panic!("{error:#?}"));
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

#[test]
fn every_keyword_is_explained() {
    const REFERENCE: &str = include_str!("../../../../docs/rml.md");
    let known: Vec<_> = REFERENCE.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<_> = cyrano_rml::RESERVED.iter().filter(|word| !known.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

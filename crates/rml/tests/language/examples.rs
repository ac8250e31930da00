//! Every example of the language reference compiles.

use super::program;

const REFERENCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rml.md"));

#[test]
fn examples_compile() {
    let blocks: Vec<_> = REFERENCE.split("```rml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 15, "the reference has lost its examples: {} are left", blocks.len());
    for block in blocks {
        program(block, &[]);
    }
}

#[test]
fn examples_of_atomic_blocks_compile() {
    const CHAPTER: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/atomicity.md"));
    let blocks: Vec<_> = CHAPTER.split("```rml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 2, "the chapter has lost its examples: {} are left", blocks.len());
    for block in blocks {
        program(block, &[]);
    }
}

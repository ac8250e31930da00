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

#[test]
fn every_keyword_is_explained() {
    let words =
        |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>();
    let known = words(REFERENCE);
    let missing: Vec<_> =
        crate::syntax::token::Token::WORDS.iter().filter(|word| !known.contains(&(**word).to_owned())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
